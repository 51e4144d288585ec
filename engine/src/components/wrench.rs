//! External forces and moments on a body.

use bevy_ecs::prelude::*;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A force and moments that act on a dynamic body in every step until they are changed.
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
#[component(summary_tick)]
#[serde(default, deny_unknown_fields)]
pub struct Wrench {
    /// Force at the centre of mass, inertial frame, N.
    pub force: DVec3,
    /// Moment given in the inertial frame, N·m.
    pub moment: DVec3,
    /// Moment given in the body frame, N·m; added to [`Wrench::moment`].
    pub body_moment: DVec3,
}

impl Wrench {
    /// The same with a force (N) more, which acts at `arm` (m) from the centre of mass; both in the inertial frame.
    #[must_use]
    pub fn with_force_at(self, force: DVec3, arm: DVec3) -> Self {
        Self {
            force: self.force + force,
            moment: self.moment + arm.cross(force),
            ..self
        }
    }

    /// All parts are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.force.is_finite() && self.moment.is_finite() && self.body_moment.is_finite()
    }
}
