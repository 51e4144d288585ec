//! The law of an interaction: what two materials make of it, or what a user puts in its place.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::settings::Settings;
use glam::DVec3;

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

/// The law that the materials of two bodies make.
#[inline]
pub(crate) fn of_materials(
    [a, b]: [Slot; 2],
    bodies: &Bodies,
    settings: &Settings,
) -> InteractionLaw {
    let (a, b) = (&bodies.materials[a], &bodies.materials[b]);
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
