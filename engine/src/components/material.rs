//! Materials, and how two of them make the law of a contact.

use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// What a body is made of.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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

/// How a coefficient of a contact follows from those of its two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
