//! Where a body is.

use bevy_ecs::prelude::*;
use glam::{DQuat, DVec3};
use moreau_geometry::Frame;
use serde::{Deserialize, Serialize};

/// Position of the **centre of mass** (m) and orientation (body frame to inertial frame).
///
/// A shape whose own origin is not its centre of mass (cone, hull, compound) is shifted so that
/// the two coincide.
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
pub struct Pose {
    /// `x_g`, inertial frame, m.
    pub position: DVec3,
    /// Unit quaternion `p`, `R = Φ(p)`.
    pub orientation: DQuat,
}

impl Pose {
    /// Pose at `(x, y, z)` m with the axes of the inertial frame.
    #[must_use]
    pub fn at(x: f64, y: f64, z: f64) -> Self {
        Self::from_position(DVec3::new(x, y, z))
    }

    /// Pose at `position` (m) with the axes of the inertial frame.
    #[must_use]
    pub fn from_position(position: DVec3) -> Self {
        Self {
            position,
            orientation: DQuat::IDENTITY,
        }
    }

    /// The same position with another orientation (unit quaternion).
    #[must_use]
    pub fn with_orientation(self, orientation: DQuat) -> Self {
        Self {
            orientation,
            ..self
        }
    }

    /// Pose of the shape's own frame, for a body with this pose whose centre of mass is at `center_of_mass` (m) in that
    /// frame.
    #[inline]
    #[must_use]
    pub fn of_shape(self, center_of_mass: DVec3) -> Self {
        Self {
            position: self.position - self.orientation * center_of_mass,
            orientation: self.orientation,
        }
    }

    /// The reverse of [`Pose::of_shape`]: the pose of the body, given that of its shape's own frame.
    #[inline]
    #[must_use]
    pub fn of_center_of_mass(self, center_of_mass: DVec3) -> Self {
        Self {
            position: self.position + self.orientation * center_of_mass,
            orientation: self.orientation,
        }
    }
}

impl From<Pose> for Frame {
    #[inline]
    fn from(pose: Pose) -> Self {
        Self::new(pose.position, pose.orientation)
    }
}

impl From<Frame> for Pose {
    #[inline]
    fn from(frame: Frame) -> Self {
        Self {
            position: frame.position,
            orientation: frame.orientation,
        }
    }
}
