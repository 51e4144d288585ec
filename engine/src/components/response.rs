//! How a body responds to gravity and to what it moves through.

use super::notices::lost;
use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// Gravity acts on the body times this factor: 0 floats, −1 rises. Bodies without it have 1. For dynamic bodies.
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
#[component(summary_tick, on_remove = lost)]
pub struct GravityScale(pub f64);

impl Default for GravityScale {
    fn default() -> Self {
        Self(1.0)
    }
}

/// Drag in proportion to the velocity, as rates of decay, 1/s; bodies without it have none. For dynamic bodies.
///
/// ```text
/// m v̇ = … − d m v,      𝕀 Ω̇ = … − c 𝕀 Ω
/// ```
///
/// It is implicit, in the velocities that the step ends with: a free body slows down by `1/(1 + h d)` a step, for any `d`, and what is held still is not dragged.
/// Its work is in the ledger as external work.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
#[component(summary_tick, on_remove = lost)]
#[serde(default, deny_unknown_fields)]
pub struct Drag {
    /// `d`, ≥ 0.
    pub linear: f64,
    /// `c`, ≥ 0.
    pub angular: f64,
}

/// Both of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Response {
    pub(crate) gravity: GravityScale,
    pub(crate) drag: Drag,
}

impl Response {
    pub(crate) fn new(gravity: Option<&GravityScale>, drag: Option<&Drag>) -> Self {
        Self {
            gravity: gravity.copied().unwrap_or_default(),
            drag: drag.copied().unwrap_or_default(),
        }
    }

    /// The body is dragged.
    pub(crate) fn has_drag(&self) -> bool {
        self.drag != Drag::default()
    }

    /// `1 + h d` and `1 + h c`: the masses of implicit drag over those of the body.
    pub(crate) fn heavier(&self, h: f64) -> [f64; 2] {
        [1.0 + h * self.drag.linear, 1.0 + h * self.drag.angular]
    }
}
