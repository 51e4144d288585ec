//! Rigid placements.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Placement of a body or shape frame in a parent frame (usually the inertial one).
///
/// Maps a point `x` of the child frame to `position + R(orientation) x`. The quaternion is taken
/// to be of unit length; keeping it so is the owner's duty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// Origin of the child frame, in the parent frame (m).
    pub position: DVec3,
    /// Unit quaternion, child frame to parent frame. In files also a turn: see [`orientation`](crate::orientation).
    #[serde(deserialize_with = "crate::orientation::deserialize")]
    pub orientation: DQuat,
}

impl Default for Frame {
    /// The identity.
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Frame {
    /// The identity: child and parent frame coincide.
    pub const IDENTITY: Self = Self {
        position: DVec3::ZERO,
        orientation: DQuat::IDENTITY,
    };

    /// Placement by origin (m) and unit quaternion.
    #[must_use]
    pub const fn new(position: DVec3, orientation: DQuat) -> Self {
        Self {
            position,
            orientation,
        }
    }

    /// Pure translation (m).
    #[must_use]
    pub const fn from_position(position: DVec3) -> Self {
        Self::new(position, DQuat::IDENTITY)
    }

    /// Point of the child frame, seen from the parent frame (m).
    #[must_use]
    pub fn transform_point(&self, point: DVec3) -> DVec3 {
        self.position + self.orientation * point
    }

    /// Point of the parent frame, seen from the child frame (m).
    #[must_use]
    pub fn inverse_transform_point(&self, point: DVec3) -> DVec3 {
        self.orientation.conjugate() * (point - self.position)
    }

    /// Vector of the child frame, in axes of the parent frame.
    #[must_use]
    pub fn rotate(&self, vector: DVec3) -> DVec3 {
        self.orientation * vector
    }

    /// Vector of the parent frame, in axes of the child frame.
    #[must_use]
    pub fn inverse_rotate(&self, vector: DVec3) -> DVec3 {
        self.orientation.conjugate() * vector
    }

    /// Placement in our parent frame of a frame placed by `child` in our child frame.
    #[must_use]
    pub fn compose(&self, child: &Self) -> Self {
        Self {
            position: self.transform_point(child.position),
            orientation: self.orientation * child.orientation,
        }
    }

    /// The inverse placement: `pose.compose(&pose.inverse())` is the identity.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let back = self.orientation.conjugate();
        Self {
            position: back * -self.position,
            orientation: back,
        }
    }

    /// Placement of `other` seen from our child frame, both given in the same parent frame.
    ///
    /// Subtracts the positions before rotating, so two near bodies far from the origin lose no
    /// digits.
    #[must_use]
    pub fn relative(&self, other: &Self) -> Self {
        let back = self.orientation.conjugate();
        Self {
            position: back * (other.position - self.position),
            orientation: back * other.orientation,
        }
    }

    /// True if every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.position.is_finite() && self.orientation.is_finite()
    }

    pub(crate) fn rotation_matrix(&self) -> DMat3 {
        DMat3::from_quat(self.orientation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_undoes_the_pose() {
        let pose = Frame::new(
            DVec3::new(1.0, -2.0, 3.0),
            DQuat::from_xyzw(0.5, -0.1, 0.3, 0.7).normalize(),
        );
        let point = DVec3::new(0.3, 0.2, -0.9);
        let there = pose.transform_point(point);
        assert!((pose.inverse_transform_point(there) - point).length() < 1e-15);
        assert!((pose.inverse().transform_point(there) - point).length() < 1e-15);
        let identity = pose.compose(&pose.inverse());
        assert!(identity.position.length() < 1e-14);
        assert!(pose.relative(&pose).orientation.x.abs() < 1e-17);
    }
}
