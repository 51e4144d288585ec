//! How a body moves.

use bevy_ecs::prelude::*;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Velocity of a body: `v = (v_g, Ω)`.
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
pub struct Twist {
    /// `v_g`, velocity of the centre of mass, **inertial** frame, m/s.
    pub linear: DVec3,
    /// `Ω`, angular velocity, **body** frame, rad/s.
    pub angular: DVec3,
}

impl Twist {
    /// A twist without rotation, m/s.
    #[must_use]
    pub fn linear(x: f64, y: f64, z: f64) -> Self {
        Self {
            linear: DVec3::new(x, y, z),
            angular: DVec3::ZERO,
        }
    }

    /// From velocities in the **inertial** frame, m/s and rad/s, of a body with this orientation.
    #[must_use]
    pub fn from_inertial_frame(linear: DVec3, angular: DVec3, orientation: DQuat) -> Self {
        Self {
            linear,
            angular: orientation.conjugate() * angular,
        }
    }

    /// From velocities in the **body** frame, m/s and rad/s, of a body with this orientation.
    #[must_use]
    pub fn from_body_frame(linear: DVec3, angular: DVec3, orientation: DQuat) -> Self {
        Self {
            linear: orientation * linear,
            angular,
        }
    }

    /// `(v_g, ω)`, both in the **inertial** frame, m/s and rad/s.
    #[must_use]
    pub fn in_inertial_frame(&self, orientation: DQuat) -> (DVec3, DVec3) {
        (self.linear, orientation * self.angular)
    }

    /// `(Rᵀv_g, Ω)`, both in the **body** frame, m/s and rad/s.
    #[must_use]
    pub fn in_body_frame(&self, orientation: DQuat) -> (DVec3, DVec3) {
        (orientation.conjugate() * self.linear, self.angular)
    }
}
