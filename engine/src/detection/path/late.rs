//! The contacts that a pair has where it meets on its way.

use super::{Path, SAME_FACE, tolerance};
use crate::bodies::constants::BodyConstants;
use crate::components::{Pose, RigidBody};
use crate::interactions::detected::{Detected, Late, part_from_a};
use crate::interactions::record::{Earlier, OwnArms};
use crate::math::rotation;
use glam::DVec3;
use moreau_geometry::ContactPoint;

/// Sine of the angle between a normal and the axis of a body of revolution below which no side of the axis is that of the normal.
const LEVEL: f64 = 0.1;
/// Distance at which a normal passes that axis, as a part of its arm, up to which it meets it.
const MEETS: f64 = 1e-6;

impl Path<'_> {
    /// The arm of a contact at `time`. A normal that meets the axis of a body of revolution then has no moment about it; nor has it about the axis at `t_k`,
    /// where its impulse acts, if the arm has no part across both.
    fn without_moment(&self, side: usize, time: f64, normal: DVec3, arm: DVec3) -> DVec3 {
        let Some(axis) = self.bodies[side].axis else {
            return arm;
        };
        let across = |pose: &Pose| (pose.orientation * axis).cross(normal);
        let (before, now) = (across(self.poses[side]), across(&self.pose_at(side, time)));
        let least = before.length_squared().min(now.length_squared());
        let meets = now.dot(arm).abs() <= MEETS * arm.length();
        if least > LEVEL * LEVEL && meets {
            arm - before * (before.dot(arm) / before.length_squared())
        } else {
            arm
        }
    }

    /// The body is kinematic and turns.
    fn is_turntable(&self, side: usize) -> bool {
        let is_kinematic = self.bodies[side].kind == RigidBody::Kinematic;
        is_kinematic && self.twists[side].angular != DVec3::ZERO
    }

    /// A kinematic body turns, and the two are no farther apart at `t_k` than bodies that lie on each other: it carries the other one.
    fn carries(&self, points: &mut Vec<ContactPoint>) -> bool {
        if !self.is_turntable(0) && !self.is_turntable(1) {
            return false;
        }
        let near = 2.0 * tolerance(self.bodies);
        self.points_at(0.0, near, points);
        points.iter().any(|point| point.gap <= near)
    }

    /// The arms of a contact at `time`, that of a kinematic body to where the centre of the other was on it at `t_k`. What it carries goes along the chord from
    /// there, which the problem knows of; with the arm of the time at hand it would have the velocity that it has then, `ω² t d` off.
    fn arms_from_begin(&self, time: f64, [a, b]: [DVec3; 2]) -> [DVec3; 2] {
        let turned_back = |side: usize, between: DVec3| {
            let turns = self.is_turntable(side);
            turns.then(|| rotation::exp(-self.twists[side].angular * time) * between)
        };
        [
            turned_back(0, a - b).map_or(a, |between| b + between),
            turned_back(1, b - a).map_or(b, |between| a + between),
        ]
    }

    /// Appends the contacts of the pair at `time` within what is left of the step: of bodies of parts those on planes that are `met` then, if that is set
    /// and there are some. Parts that are not met yet have planes of their own, which the pair may have left when it gets there.
    pub(crate) fn contacts_at(
        &self,
        (time, met): (f64, bool),
        h: f64,
        points: &mut Vec<ContactPoint>,
        late: &mut Vec<Late>,
    ) {
        let [a, b] = &self.twists;
        let carries = self.carries(points);
        let most = (a.linear - b.linear).length() + self.turning();
        let margin = most * (h - time) + 2.0 * tolerance(self.bodies);
        self.surface_at((time, margin), false, points);
        let poses = [0, 1].map(|side| self.pose_at(side, time));
        let is_beside = |point: &ContactPoint, side: usize| {
            self.bodies[side].is_beside(&poses[side], point.point, point.normal)
        };
        let near = 2.0 * tolerance(self.bodies);
        let is_beside = |point: &&ContactPoint| {
            point.gap > near && (is_beside(point, 0) || is_beside(point, 1))
        };
        let is_met = |point: &&ContactPoint| {
            let of_plane =
                |met: &ContactPoint| met.gap <= near && met.normal.dot(point.normal) > SAME_FACE;
            point.gap <= near || points.iter().any(of_plane)
        };
        let of_parts = self.bodies.into_iter().any(BodyConstants::has_parts);
        let all = !met || !of_parts || points.iter().all(|point| point.gap > near);
        let met = points.iter().filter(|point| all || is_met(point));
        let from_a = part_from_a(self.bodies.map(BodyConstants::inverse_mass));
        for point in met.filter(|point| !is_beside(point)) {
            let acts = point.point + point.normal * (point.gap * (0.5 - from_a));
            let arms = [0, 1].map(|side| {
                let arm = acts - poses[side].position;
                self.without_moment(side, time, point.normal, arm)
            });
            let arms = if carries {
                self.arms_from_begin(time, arms)
            } else {
                arms
            };
            let closing = point.normal.dot(a.at(arms[0]) - b.at(arms[1]));
            let mut contact = Detected::new(self.pair, point);
            contact.gap -= time * closing;
            late.push(Late {
                contact,
                own: OwnArms {
                    arms,
                    meets: !carries,
                },
                law: None,
                earlier: Earlier::default(),
            });
        }
    }
}
