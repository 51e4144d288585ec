//! Dense per-body arrays of one step, between the state at `t_k` and the state at `t_{k+1}`.

use crate::bodies::Bodies;
use crate::free_motion::{FreeMotion, free_motion, prescribed_motion};
use crate::rotation;
use crate::settings::Settings;
use crate::{RigidBody, Twist};
use bevy_ecs::prelude::*;
use glam::{DMat3, DVec3};
use moreau_solvers::{InverseMass, WorldTwist};

/// Free motion and inverse masses of all bodies.
#[derive(Resource, Debug, Default)]
pub(crate) struct Motion {
    /// `v_k`, inertial frame.
    pub(crate) begin: Vec<WorldTwist>,
    /// Free drift of each body: `v_free`, `p_free`.
    pub(crate) drift: Vec<FreeMotion>,
    /// `v_free`, inertial frame, at the orientation of the drift.
    pub(crate) free: Vec<WorldTwist>,
    /// `Ŵ`, inertial frame, at the orientation of the drift.
    pub(crate) inverse_mass: Vec<InverseMass>,
    /// `v_{k+1}`, inertial frame, at the orientation of the drift.
    pub(crate) end: Vec<WorldTwist>,
}

impl Motion {
    /// Phase 1: free motion of every body, and its inverse mass in the inertial frame.
    pub(crate) fn predict(&mut self, bodies: &Bodies, settings: &Settings) {
        let h = settings.time_step;
        self.begin.clear();
        self.drift.clear();
        self.free.clear();
        self.inverse_mass.clear();
        for (slot, body) in bodies.constants.iter().enumerate() {
            let (pose, twist) = (&bodies.pose[slot], &bodies.twist[slot]);
            let drift = match body.kind {
                RigidBody::Static => FreeMotion {
                    orientation: pose.orientation,
                    ..FreeMotion::default()
                },
                RigidBody::Kinematic => prescribed_motion(pose, twist, h),
                RigidBody::Dynamic => free_motion(
                    &body.inertia,
                    pose,
                    twist,
                    &bodies.wrench[slot],
                    settings.gravity,
                    h,
                    settings.rotation,
                ),
            };
            let begin = if body.kind == RigidBody::Static {
                Twist::default()
            } else {
                *twist
            };
            self.begin.push(WorldTwist {
                linear: begin.linear,
                angular: pose.orientation * begin.angular,
            });
            self.free.push(WorldTwist {
                linear: drift.twist.linear,
                angular: drift.orientation * drift.twist.angular,
            });
            self.inverse_mass.push(if body.is_dynamic() {
                let inertia = &body.inertia;
                let axes = drift.orientation * inertia.frame;
                InverseMass {
                    linear: inertia.inverse_mass,
                    angular: if inertia.is_spherical() {
                        DMat3::from_diagonal(inertia.inverse_moments)
                    } else {
                        rotation::conjugate_diagonal(
                            &DMat3::from_quat(axes),
                            inertia.inverse_moments,
                        )
                    },
                }
            } else {
                InverseMass::FIXED
            });
            self.drift.push(drift);
        }
    }

    /// Largest speed of the centre (m/s) and angular speed (rad/s) of body `slot`, before or after
    /// the free motion.
    pub(crate) fn speeds(&self, slot: usize) -> (f64, f64) {
        let (begin, free) = (&self.begin[slot], &self.free[slot]);
        let linear = begin.linear.length().max(free.linear.length());
        (linear, begin.angular.length().max(free.angular.length()))
    }

    /// Velocity (m/s, inertial frame) of the point of body `slot` at `arm` from its centre at `t_k`.
    pub(crate) fn begin_velocity(&self, slot: usize, arm: DVec3) -> DVec3 {
        self.begin[slot].at(arm)
    }
}
