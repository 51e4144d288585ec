//! What is worked out of a body once, when it changes.

use crate::components::inertia::Inertia;
use crate::components::{CollisionGroups, Pose, RigidBody};
use glam::DVec3;
use moreau_geometry::{Geometry, Pose as ShapePose, Shape};

/// What does not change from step to step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyConstants {
    pub(crate) kind: RigidBody,
    pub(crate) geometry: Option<Geometry>,
    /// Centre of mass in the frame of the shape, m.
    pub(crate) center_of_mass: DVec3,
    pub(crate) inertia: Inertia,
    pub(crate) groups: CollisionGroups,
    /// Largest distance of a shape point from the centre of mass, m; infinite for half-spaces.
    pub(crate) radius: f64,
    /// Characteristic half-thickness, m; zero where it is unbounded.
    pub(crate) size: f64,
}

impl BodyConstants {
    /// Pose of the shape when the body is at `pose`.
    #[inline]
    pub(crate) fn shape_pose(&self, pose: &Pose) -> ShapePose {
        pose.of_shape(self.center_of_mass).into()
    }

    /// Radius of a ball about its centre of mass, m; none for all other bodies.
    #[inline]
    pub(crate) fn ball_radius(&self) -> Option<f64> {
        match &self.geometry {
            Some(geometry) if self.center_of_mass == DVec3::ZERO => geometry.ball_radius(),
            _ => None,
        }
    }

    /// The surface is one of revolution about the z axis of the body.
    pub(crate) fn is_round(&self) -> bool {
        let shape = self.geometry.as_ref().map(Geometry::shape);
        matches!(
            shape,
            Some(Shape::Capsule { .. } | Shape::Cylinder { .. } | Shape::Cone { .. })
        )
    }

    pub(crate) fn is_dynamic(&self) -> bool {
        self.kind == RigidBody::Dynamic
    }
}
