//! The law of an interaction: what two materials make of it, or what a user puts in its place.

use super::detected::Detected;
use crate::bodies::Bodies;
use crate::components::Material;
use crate::settings::Settings;
use glam::DVec3;
use moreau_geometry::ContactPoint;

/// Law of an interaction in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InteractionLaw {
    /// `μ`, in [0, 1e3]; zero for the frictionless law.
    pub friction: f64,
    /// Newton's `e ∈ [0, 1]`.
    pub restitution: f64,
    /// Velocity at which the surfaces carry body A along body B, inertial frame, m/s: where the contact sticks, `u_T` is
    /// its tangential part. See [`Interaction::carried_by`](crate::Interaction::carried_by).
    pub surface_velocity: DVec3,
}

/// The law that the materials make of two bodies, or of the parts of them that meet.
#[inline]
pub(crate) fn of_materials(
    contact: &Detected,
    bodies: &Bodies,
    settings: &Settings,
) -> InteractionLaw {
    let [a, b] = if bodies.part_materials.is_empty() {
        contact.bodies.map(|slot| &bodies.materials[slot])
    } else {
        of_parts(contact, bodies)
    };
    let friction = if a.frictionless || b.frictionless {
        0.0
    } else {
        settings.combine_friction.of(a.friction, b.friction)
    };
    InteractionLaw {
        friction,
        restitution: settings
            .combine_restitution
            .of(a.restitution, b.restitution),
        surface_velocity: DVec3::ZERO,
    }
}

/// What the parts that meet are made of.
#[inline(never)]
fn of_parts<'a>(contact: &Detected, bodies: &'a Bodies) -> [&'a Material; 2] {
    let places = ContactPoint::parts(contact.feature);
    [0, 1].map(|side| {
        let slot = contact.bodies[side];
        let own = bodies.made_of(slot);
        let of_part = places[side].and_then(|place| own.parts.get(place));
        of_part.unwrap_or(own.whole)
    })
}
