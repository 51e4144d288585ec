//! The law of an interaction: what two materials make of it, or what a user puts in its place.
//!
//! Most scenes have materials that say nothing but `μ` and `e`: their law is two combined numbers. Where some material says more, or the table of pairs
//! knows it, each number is that of the pair, or else what the two combine to.

use super::detected::Detected;
use crate::bodies::Bodies;
use crate::components::{Combine, Grain, Material, MaterialPair};
use crate::settings::Settings;
use glam::DVec3;
use moreau_geometry::ContactPoint;

/// Law of an interaction in one step. Default: no friction, no restitution.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InteractionLaw {
    /// `μ`, in [0, 1e3]; zero for the frictionless law.
    pub friction: f64,
    /// Newton's `e ∈ [0, 1]`.
    pub restitution: f64,
    /// Approach speed below which the contact does not bounce, m/s, ≥ 0. `None`: that of the settings
    /// ([`Settings::bounce_threshold`]).
    pub bounce_threshold: Option<f64>,
    /// Force of adhesion while the bodies touch, N, ≥ 0: of the points at which they do each takes an equal share of what its law says.
    pub cohesion: f64,
    /// `μ_R`, m, in [0, [`Material::MOST_RESISTANCE`](crate::Material::MOST_RESISTANCE)]: bound of the couple against rolling over the normal force.
    pub rolling_resistance: f64,
    /// `μ_S`, m, in the same bounds: the same against spinning.
    pub spinning_resistance: f64,
    /// Friction across a direction of the inertial frame that has a part in the plane of the contact; `friction` is then that along it. Not beside resistance against
    /// rolling or spinning.
    pub grain: Option<Grain>,
    /// Velocity at which the surfaces carry body A along body B, inertial frame, m/s: where the contact sticks, `u_T` is
    /// its tangential part. See [`Interaction::carried_by`](crate::Interaction::carried_by).
    pub surface_velocity: DVec3,
}

/// What most laws are made from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Surface {
    friction: f64,
    restitution: f64,
    frictionless: bool,
}

impl From<&Material> for Surface {
    fn from(material: &Material) -> Self {
        Self {
            friction: material.friction,
            restitution: material.restitution,
            frictionless: material.frictionless,
        }
    }
}

impl Surface {
    /// Contacts of it may restitute.
    pub(crate) fn bounces(&self) -> bool {
        self.restitution > 0.0
    }
}

/// What every contact has of its law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coefficients {
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    pub(crate) bounce_threshold: Option<f64>,
}

impl From<&InteractionLaw> for Coefficients {
    fn from(law: &InteractionLaw) -> Self {
        Self {
            friction: law.friction,
            restitution: law.restitution,
            bounce_threshold: law.bounce_threshold,
        }
    }
}

/// The coefficients that the materials make of two bodies, or of the parts of them that meet.
// Every contact asks for them: a call would cost as much as they do.
#[inline(always)]
pub(crate) fn coefficients(
    contact: &Detected,
    bodies: &Bodies,
    settings: &Settings,
) -> Coefficients {
    if bodies.some_materials_differ {
        return (&of_all(contact, bodies, settings)).into();
    }
    let [a, b] = contact.bodies.map(|slot| &bodies.surfaces[slot]);
    let friction = if a.frictionless || b.frictionless {
        0.0
    } else {
        settings.combine_friction.of(a.friction, b.friction)
    };
    Coefficients {
        friction,
        restitution: settings
            .combine_restitution
            .of(a.restitution, b.restitution),
        bounce_threshold: None,
    }
}

/// The law that they make.
pub(crate) fn of_materials(
    contact: &Detected,
    bodies: &Bodies,
    settings: &Settings,
) -> InteractionLaw {
    if bodies.some_materials_differ {
        return of_all(contact, bodies, settings);
    }
    let Coefficients {
        friction,
        restitution,
        bounce_threshold,
    } = coefficients(contact, bodies, settings);
    InteractionLaw {
        friction,
        restitution,
        bounce_threshold,
        ..InteractionLaw::default()
    }
}

/// Bodies have parts of their own, or materials say more than their coefficients.
#[inline(never)]
fn of_all(contact: &Detected, bodies: &Bodies, settings: &Settings) -> InteractionLaw {
    let [a, b] = of_parts(contact, bodies);
    let pair = bodies.pairs.find([a, b]);
    let rule = |own: [Option<Combine>; 2], other: Combine| own[0].max(own[1]).unwrap_or(other);
    let friction = || {
        if a.frictionless || b.frictionless {
            return 0.0;
        }
        let rule = rule(
            [a.combine_friction, b.combine_friction],
            settings.combine_friction,
        );
        rule.of(a.friction, b.friction)
    };
    let restitution = || {
        let rule = rule(
            [a.combine_restitution, b.combine_restitution],
            settings.combine_restitution,
        );
        rule.of(a.restitution, b.restitution)
    };
    let threshold = larger(a.bounce_threshold, b.bounce_threshold);
    let of_pair = |of: fn(&MaterialPair) -> Option<f64>, own: f64| pair.and_then(of).unwrap_or(own);
    let rolling = a.rolling_resistance.max(b.rolling_resistance);
    let spinning = a.spinning_resistance.max(b.spinning_resistance);
    let mut law = InteractionLaw {
        friction: pair.and_then(|of| of.friction).unwrap_or_else(friction),
        restitution: pair
            .and_then(|of| of.restitution)
            .unwrap_or_else(restitution),
        bounce_threshold: pair.and_then(|of| of.bounce_threshold).or(threshold),
        cohesion: pair
            .and_then(|of| of.cohesion)
            .unwrap_or_else(|| a.cohesion.max(b.cohesion)),
        rolling_resistance: of_pair(|of| of.rolling_resistance, rolling),
        spinning_resistance: of_pair(|of| of.spinning_resistance, spinning),
        grain: None,
        surface_velocity: DVec3::ZERO,
    };
    let has_one = pair.is_some_and(|of| of.friction.is_some()) || a.frictionless || b.frictionless;
    if !has_one && (a.grain.is_some() || b.grain.is_some()) {
        let rule = rule(
            [a.combine_friction, b.combine_friction],
            settings.combine_friction,
        );
        law.lay_grain([a, b], contact, bodies, rule);
    }
    law
}

/// The larger of two numbers, of those that there are.
fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (one, other) => one.or(other),
    }
}

/// What the parts that meet are made of.
fn of_parts<'a>(contact: &Detected, bodies: &'a Bodies) -> [&'a Material; 2] {
    let places = ContactPoint::parts(contact.feature);
    [0, 1].map(|side| {
        let slot = contact.bodies[side];
        let own = bodies.made_of(slot);
        let of_part = places[side].and_then(|place| own.parts.get(place));
        of_part.unwrap_or(own.whole)
    })
}

/// Part of its length that a direction must have in the plane of a contact.
const IN_PLANE: f64 = 1e-6;

impl InteractionLaw {
    /// Friction by direction, of two materials of which one has a grain.
    fn lay_grain(
        &mut self,
        materials: [&Material; 2],
        contact: &Detected,
        bodies: &Bodies,
        rule: Combine,
    ) {
        let coefficients = materials.map(|of| {
            let across = of.grain.map_or(of.friction, |grain| grain.across);
            [of.friction, across]
        });
        let ratio = |side: usize| {
            let [one, other] = coefficients[side];
            let (low, high) = (one.min(other), one.max(other));
            let even = materials[side].grain.is_none() || high <= 0.0;
            if even { 0.0 } else { high / low }
        };
        let side = usize::from(materials[0].grain.is_none() || ratio(1) > ratio(0));
        let Some(grain) = materials[side].grain else {
            return;
        };
        let [one, other] = coefficients[1 - side];
        let even = Combine::GeometricMean.of(one, other);
        let own = coefficients[side];
        let [along, across] = [0, 1].map(|k| match side {
            0 => rule.of(own[k], even),
            _ => rule.of(even, own[k]),
        });
        let direction = bodies.pose[contact.bodies[side]].orientation * grain.along;
        let in_plane = direction.reject_from_normalized(contact.normal);
        if self.rolling_resistance > 0.0 || self.spinning_resistance > 0.0 {
            self.friction = Combine::GeometricMean.of(along, across);
        } else if in_plane.length() <= IN_PLANE * direction.length() {
            self.friction = across;
        } else {
            self.friction = along;
            self.grain = Some(Grain {
                along: direction.normalize(),
                across,
            });
        }
    }
}

impl Coefficients {
    /// Approach speed below which the contact does not bounce, m/s.
    #[inline]
    pub(crate) fn bounce_threshold(&self, settings: &Settings) -> f64 {
        self.bounce_threshold
            .unwrap_or_else(|| settings.bounce_threshold())
    }
}
