//! What is worked out of a body once, when it changes.

use crate::components::inertia::Inertia;
use crate::components::response::Response;
use crate::components::{CollisionGroups, Pose, RigidBody};
use glam::DVec3;
use moreau_geometry::{Frame, Geometry};

/// Distance at which a normal passes its axis, as a part of the half-thickness: those of the surface meet it.
const BESIDE: f64 = 1e-3;

/// What does not change from step to step. What passes over all bodies ask for comes first, in one cache line.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct BodyConstants {
    pub(crate) kind: RigidBody,
    /// It sees what overlaps it, and touches nothing.
    pub(crate) sensor: bool,
    pub(crate) groups: CollisionGroups,
    /// Largest distance of a shape point from the centre of mass, m; infinite for half-spaces.
    pub(crate) radius: f64,
    /// Characteristic half-thickness, m; zero where it is unbounded.
    pub(crate) size: f64,
    pub(crate) response: Response,
    pub(crate) geometry: Option<Geometry>,
    pub(crate) inertia: Inertia,
    /// Centre of mass in the frame of the shape, m.
    pub(crate) center_of_mass: DVec3,
    /// Unit vector, in the frame of the body, along an axis through its centre about which the surface is one of revolution; of balls none.
    pub(crate) axis: Option<DVec3>,
}

impl BodyConstants {
    /// Pose of the shape when the body is at `pose`.
    #[inline]
    pub(crate) fn shape_pose(&self, pose: &Pose) -> Frame {
        pose.of_shape(self.center_of_mass).into()
    }

    /// `1/m`, 1/kg; 0 for what no impulse moves.
    #[inline]
    pub(crate) fn inverse_mass(&self) -> f64 {
        if self.is_dynamic() {
            self.inertia.inverse_mass
        } else {
            0.0
        }
    }

    /// Radius of a ball about its centre of mass, m; none for all other bodies.
    #[inline]
    pub(crate) fn ball_radius(&self) -> Option<f64> {
        match &self.geometry {
            Some(geometry) if self.center_of_mass == DVec3::ZERO => geometry.ball_radius(),
            _ => None,
        }
    }

    /// The body is put together from parts.
    pub(crate) fn has_parts(&self) -> bool {
        let geometry = self.geometry.as_ref();
        geometry.is_some_and(Geometry::is_compound)
    }

    /// The surface is one of revolution.
    #[inline]
    pub(crate) fn is_round(&self) -> bool {
        self.axis.is_some()
    }

    /// The axis of a body of revolution at `pose`.
    #[inline]
    pub(crate) fn axis_at(&self, pose: &Pose) -> Option<DVec3> {
        self.axis.map(|axis| pose.orientation * axis)
    }

    /// The body is one of revolution, and this point of a rim is beside the nearest one: its normal passes the axis by, so that the bodies do not meet there
    /// unless the rim lies flat.
    pub(crate) fn is_beside(&self, pose: &Pose, point: DVec3, normal: DVec3) -> bool {
        self.axis_at(pose).is_some_and(|axis| {
            let arm = point - pose.position;
            axis.cross(arm).dot(normal).abs() > BESIDE * self.size
        })
    }

    /// Where a contact acts on a body of revolution: a point of its rim beside the nearest one is moved within the plane of the contact to where the normal meets the axis; others
    /// stay. As the body turns about its axis another point of the rim takes the place of this one, so that the gap does not change, and no moment about the axis belongs to it.
    pub(crate) fn before_axis(&self, pose: &Pose, point: DVec3, normal: DVec3) -> DVec3 {
        let Some(axis) = self.axis_at(pose) else {
            return point;
        };
        let across = axis.cross(normal);
        let beside = across.dot(point - pose.position);
        if beside.abs() > BESIDE * self.size {
            point - across * (beside / across.length_squared())
        } else {
            point
        }
    }

    pub(crate) fn is_dynamic(&self) -> bool {
        self.kind == RigidBody::Dynamic
    }
}
