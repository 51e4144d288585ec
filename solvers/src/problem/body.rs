//! What a problem knows of a body: its velocity and its inverse mass, in the inertial frame.

use glam::{DMat3, DVec3};

/// Velocity of a body with both parts in the inertial frame: the form in which contacts see it.
///
/// The engine's state keeps the angular velocity in the body frame; it is rotated once per step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorldTwist {
    /// Velocity of the centre of mass, m/s.
    pub linear: DVec3,
    /// Angular velocity, rad/s.
    pub angular: DVec3,
}

impl WorldTwist {
    /// Velocity (m/s) of the body point at `arm` (m) from the centre of mass.
    #[inline]
    #[must_use]
    pub fn at(&self, arm: DVec3) -> DVec3 {
        self.linear + self.angular.cross(arm)
    }

    /// Both parts are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.linear.is_finite() && self.angular.is_finite()
    }
}

/// One body's block of `Ŵ = M̂⁻¹`, inertial frame. Zero for static and kinematic bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseMass {
    /// 1/m, 1/kg.
    pub linear: f64,
    /// Inverse of `R 𝕀 Rᵀ`, symmetric, 1/(kg·m²).
    pub angular: DMat3,
}

impl InverseMass {
    /// A body that impulses do not move.
    pub const FIXED: Self = Self {
        linear: 0.0,
        angular: DMat3::ZERO,
    };

    /// True if impulses do not move the body.
    #[inline]
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.linear == 0.0 && self.angular == DMat3::ZERO
    }
}
