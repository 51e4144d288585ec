//! Materials, and how two of them make the law of a contact.

use super::material_pairs::MaterialName;
use super::notices::seen_lost;
use bevy_ecs::prelude::*;
use glam::DVec3;
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
    /// says, unless [`MaterialPairs`](crate::MaterialPairs) has a coefficient for the two. Default false.
    pub frictionless: bool,
    /// The name by which [`MaterialPairs`](crate::MaterialPairs) know it. In scenes it is that of the table of the material. Default none.
    pub name: Option<MaterialName>,
    /// How its friction combines with that of a partner; of two materials that say so the later one in the order of [`Combine`] holds. Default
    /// `None`: as the partner says, or else [`Settings::combine_friction`](crate::Settings::combine_friction).
    pub combine_friction: Option<Combine>,
    /// The same of restitution. Default `None`: as the partner says, or else
    /// [`Settings::combine_restitution`](crate::Settings::combine_restitution).
    pub combine_restitution: Option<Combine>,
    /// Approach speed below which its contacts do not bounce, m/s, ≥ 0; of two materials that have one the larger. Default `None`: as the
    /// partner says, or else [`Settings::bounce_threshold`](crate::Settings::bounce_threshold).
    pub bounce_threshold: Option<f64>,
    /// Force with which bodies hold together as long as they touch, N, in [0, [`Material::MOST_COHESION`]], shared by the points at which they do; of two materials the larger. It bounds
    /// the pull that a contact bears, and adds to the load that friction has: see `docs/materials.md`. Default 0.
    pub cohesion: f64,
    /// Resistance against rolling `μ_R`, m, in [0, [`Material::MOST_RESISTANCE`]]: a contact with the normal force `N` bears a couple of up to `μ_R N` in its plane. Of two materials the larger.
    /// Default 0.
    pub rolling_resistance: f64,
    /// Resistance against spinning `μ_S`, m, in the same bounds: the same of a couple about the normal. Default 0.
    pub spinning_resistance: f64,
    /// Friction that is another across a direction, while [`Material::friction`] is that along it. Default none.
    pub grain: Option<Grain>,
}

/// A direction of the surface, and friction across it.
///
/// The bound of friction is the ellipse with these two coefficients as half-axes, and what slides dissipates as much as it can. Where two materials meet, the
/// coefficients combine one by one, a partner without grain counting with the same one in both directions. If both have one, the grain of the one
/// with the larger ratio of its coefficients holds (body A's if they are the same), and the other counts with `√(μ₁ μ₂)`. With rolling or spinning resistance
/// friction is `√(μ₁ μ₂)` in all directions: there is no law for both. A pair of the table that has a coefficient has it in all directions, too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_reflect::Serialize, bevy_reflect::Deserialize)
)]
#[serde(deny_unknown_fields)]
pub struct Grain {
    /// The direction, of any length but zero, in the frame of the body ([`InteractionLaw`](crate::InteractionLaw): inertial frame). What counts is its part in the plane of a
    /// contact; where it has none, friction is `across` in all directions.
    pub along: DVec3,
    /// Coulomb coefficient across it, in [0, [`Material::MOST_FRICTION`]].
    pub across: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            density: 1000.0,
            friction: 0.5,
            restitution: 0.0,
            frictionless: false,
            name: None,
            combine_friction: None,
            combine_restitution: None,
            bounce_threshold: None,
            cohesion: 0.0,
            rolling_resistance: 0.0,
            spinning_resistance: 0.0,
            grain: None,
        }
    }
}

impl Material {
    /// The largest friction coefficient. The law is solved in doubles, in which `μ²` stands beside 1: with much larger ones contacts
    /// make energy (docs/experiments.md).
    pub const MOST_FRICTION: f64 = 1e3;

    /// The largest cohesion, N. What a solve leaves is a part in 1e16 of it: an 8 kg cube at rest that holds on with this is moved by less than 1e-6 m/s, and by 0.14 m/s
    /// with 1e17.
    pub const MOST_COHESION: f64 = 1e12;

    /// The largest resistance against rolling and spinning, m: a load a thousand kilometres beside the contact. With 1e18 a step of six cubes takes half a second,
    /// with 1e189 a minute.
    pub const MOST_RESISTANCE: f64 = 1e6;

    /// It says nothing but its coefficients of friction and restitution.
    pub(crate) fn is_plain(&self) -> bool {
        let Self {
            density: _,
            friction: _,
            restitution: _,
            frictionless: _,
            name: _,
            combine_friction,
            combine_restitution,
            bounce_threshold,
            cohesion,
            rolling_resistance: _,
            spinning_resistance: _,
            grain: _,
        } = self;
        combine_friction.is_none()
            && combine_restitution.is_none()
            && bounce_threshold.is_none()
            && *cohesion <= 0.0
            && !self.has_other_law()
    }

    /// Its contacts may obey another law than Coulomb's.
    pub(crate) fn has_other_law(&self) -> bool {
        self.rolling_resistance > 0.0 || self.spinning_resistance > 0.0 || self.grain.is_some()
    }

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

/// How a coefficient of a contact follows from those of its two bodies. In the order in which the later rule of two materials holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
