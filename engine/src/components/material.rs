//! Materials, and how two of them make the law of a contact.

use super::notices::seen_lost;
use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// What a body is made of.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_ecs::reflect::Component,
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[component(summary_tick)]
#[serde(default, deny_unknown_fields)]
pub struct Material {
    /// Density, kg/m³, > 0; used where the mass is not given. Default 1000.
    pub density: f64,
    /// Coulomb coefficient `μ`, in [0, [`Material::MOST_FRICTION`]]. Default 0.5.
    pub friction: f64,
    /// Newton's restitution coefficient `e ∈ [0, 1]`. Default 0.
    pub restitution: f64,
    /// Frictionless law: no tangential impulse against any partner, whatever the combination rule
    /// says. Default false.
    pub frictionless: bool,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            density: 1000.0,
            friction: 0.5,
            restitution: 0.0,
            frictionless: false,
        }
    }
}

impl Material {
    /// The largest friction coefficient. The law is solved in doubles, in which `μ²` stands beside 1: with much larger ones contacts
    /// make energy (docs/experiments.md).
    pub const MOST_FRICTION: f64 = 1e3;

    /// The default material with another friction coefficient `μ ≥ 0`.
    #[must_use]
    pub fn with_friction(friction: f64) -> Self {
        Self {
            friction,
            ..Self::default()
        }
    }

    /// The frictionless law with restitution `e ∈ [0, 1]`.
    #[must_use]
    pub fn frictionless(restitution: f64) -> Self {
        Self {
            friction: 0.0,
            restitution,
            frictionless: true,
            ..Self::default()
        }
    }
}

/// What the parts of a compound are made of, in their order: their contacts and their masses follow from these instead of from the [`Material`] of the
/// body. Without entries it is as if it were not there. A sibling of [`Collider`](crate::Collider).
///
/// Where two parts touch something at the same point with the same normal, one contact is left, of the deeper part or the first.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let runner = Shape::Cuboid { half_extents: DVec3::new(0.5, 0.02, 0.02) };
/// let runners = [Pose::at(0.0, -0.3, 0.0), Pose::at(0.0, 0.3, 0.0)].map(|pose| (pose, runner.clone()));
/// let smooth_and_rough = PartMaterials(vec![Material::with_friction(0.05), Material::with_friction(0.8)]);
/// simulation.spawn((RigidBody::Dynamic, Collider::compound(runners.to_vec()), smooth_and_rough))?;
/// # Ok::<(), StepError>(())
/// ```
#[derive(Component, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_ecs::reflect::Component,
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[component(summary_tick, on_remove = seen_lost)]
#[serde(transparent)]
pub struct PartMaterials(pub Vec<Material>);

/// What a body is made of, and its parts if that is said of each of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made<'a> {
    pub(crate) whole: &'a Material,
    /// Empty, or one for each part.
    pub(crate) parts: &'a [Material],
}

impl<'a> Made<'a> {
    pub(crate) fn of(whole: &'a Material, parts: Option<&'a PartMaterials>) -> Self {
        let parts = parts.map_or(&[][..], |parts| &parts.0);
        Self { whole, parts }
    }
}

/// How a coefficient of a contact follows from those of its two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// Arithmetic mean.
    Mean,
    /// `√(a b)`.
    #[default]
    GeometricMean,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
}

impl Combine {
    /// The combined coefficient.
    #[must_use]
    pub fn of(self, a: f64, b: f64) -> f64 {
        match self {
            // Equal coefficients combine to themselves exactly, whatever the rule.
            Self::Mean => 0.5 * a + 0.5 * b,
            Self::GeometricMean => {
                let (low, high) = (a.min(b), a.max(b));
                if high > low {
                    low.sqrt() * high.sqrt()
                } else {
                    low
                }
            }
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        }
    }
}
