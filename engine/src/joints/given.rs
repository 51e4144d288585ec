//! Velocities that are given to bodies from outside: what joints leave of them, before the step begins.
//!
//! Who kicks a body on a joint, or sets its velocity, says nothing of the others. The velocities `v` at `t_k` are then not those that anything strikes with:
//!
//! ```text
//! v ← v + M⁻¹Jᵀμ,   J v = 0          the nearest ones in the metric of the masses, rotors included: energy is lost, and none is gained
//! ```
//!
//! Restitution, θ and the way through the step are those of what joints leave. Velocities that fit the joints stay as they are.

use super::articulation::{self, Articulation};
use super::drift::{Course, Drift, add, turned_mass};
use super::{Joints, Lists, Push, WORLD};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{BodyId, Pose, RigidBody, Twist};
use moreau_solvers::WorldTwist;

/// Velocity along a locked row, over 1 + the largest of the machine (m/s and rad/s), from which on joints do not allow it: far beyond rounding. Rows on kinematic bodies do not
/// tell: these may begin to move, and take along what they hold within the step.
const OFF: f64 = 1e-9;
/// Velocity along a row that is small enough, m/s or rad/s.
const EXACT: f64 = 1e-12;
/// Rounds at most, and the part of the velocity that each of them may leave: those of rows that are nearly redundant leave much.
const MOST_ROUNDS: usize = 40;
const GAINS: f64 = 0.9;

impl Drift {
    /// Joints share what their bodies were given since the last step. All are looked at, and their present state alone decides: what is restored does what the other does.
    pub(crate) fn share(&mut self, joints: &mut Joints, bodies: &mut Bodies) {
        self.shared.clear();
        if joints.is_empty() {
            return;
        }
        joints.articulate(bodies);
        let lists = joints.lists();
        let mut shared = std::mem::take(&mut self.shared);
        let course = self.buffer();
        for articulation in &joints.articulations {
            let own = &articulation.bodies;
            if articulation.yields(lists) > 0.0 {
                continue;
            }
            course.take(own, bodies);
            if !course.share((articulation, lists), bodies, None) {
                continue;
            }
            for (slot, twist) in own.iter().zip(course.own_twists()) {
                shared.push((*slot, bodies.twist[*slot]));
                bodies.twist[*slot] = twist;
                bodies.before.twist[*slot] = twist;
            }
        }
        self.shared = shared;
    }

    /// A step begins: nothing is shared yet.
    pub(crate) fn begin(&mut self) {
        self.shared.clear();
    }

    /// A step failed: bodies have what they were given.
    pub(crate) fn put_back(&mut self, bodies: &mut Bodies) {
        for (slot, twist) in self.shared.drain(..) {
            bodies.twist[slot] = twist;
            bodies.before.twist[slot] = twist;
        }
    }

    pub(super) fn buffer(&mut self) -> &mut Course {
        let courses = self.courses.len().max(1);
        self.courses.resize_with(courses, Course::default);
        &mut self.courses[0]
    }
}

impl Joints {
    /// The velocities of a machine with rotors after an impulse on one of its bodies: rotors do not begin to turn by themselves. `None` for a machine without any.
    pub(crate) fn kick(
        &self,
        bodies: &Bodies,
        (kicked, push): (BodyId, &Push),
    ) -> Option<Vec<(BodyId, Twist)>> {
        let kicked = bodies.slot_of(kicked)?;
        let dynamic = |slot: Slot| bodies.constants[slot].is_dynamic();
        let all = articulation::find(self.lists(), bodies, dynamic);
        let found = all.iter().find_map(|of| Some((of, of.place(kicked)?)));
        let (articulation, place) = found?;
        let mut joints = articulation.joints.iter().map(|joint| &self.list[*joint]);
        if !joints.any(|joint| joint.rotors().next().is_some()) {
            return None;
        }
        let mut course = Course::default();
        course.take(&articulation.bodies, bodies);
        course.share((articulation, self.lists()), bodies, Some((place, push)));
        let ids = articulation.bodies.iter().map(|slot| bodies.ids[*slot]);
        Some(ids.zip(course.own_twists()).collect())
    }
}

impl Course {
    /// Poses, velocities and masses of some bodies.
    pub(super) fn take(&mut self, slots: &[Slot], bodies: &Bodies) {
        self.poses.clear();
        self.twists.clear();
        self.masses.clear();
        for slot in slots {
            let (pose, twist) = (bodies.pose[*slot], bodies.twist[*slot]);
            self.poses.push(pose);
            self.twists.push(in_world(&pose, &twist));
            self.masses.push(turned_mass(bodies, *slot, &pose));
        }
    }

    /// The velocities that joints leave, of an impulse on one of the bodies with it. False, and nothing is done, if they fit the joints.
    fn share(
        &mut self,
        of: (&Articulation, Lists),
        bodies: &Bodies,
        kick: Option<(usize, &Push)>,
    ) -> bool {
        let pose_of = |slot: Slot| match slot {
            Slot::NONE => WORLD,
            slot => bodies.pose[slot],
        };
        let given = |slot: Slot| match slot {
            Slot::NONE => WorldTwist::default(),
            slot => in_world(&bodies.pose[slot], &bodies.twist[slot]),
        };
        self.system.place(of, &self.poses, pose_of);
        self.system.place_rotors(of, &self.poses, pose_of);
        self.system.start_rotors(&self.twists, given);
        if let Some((place, push)) = kick {
            add(&mut self.twists[place], &push.change(&self.masses[place]));
        }
        let speed = |twist: &WorldTwist| twist.linear.length().max(twist.angular.length());
        let fastest = self.twists.iter().map(speed).fold(0.0, f64::max);
        let moves = |slot: Slot| bodies.constants[slot].kind == RigidBody::Kinematic;
        let off = self.system.velocity_apart_from(&self.twists, given, moves);
        if off.is_nan() || off <= OFF * (1.0 + fastest) {
            return false;
        }
        let mut last = self.system.velocity(&self.twists, given);
        self.system.factor(&self.masses);
        for _ in 0..MOST_ROUNDS {
            self.system.against_velocities(&self.twists, given);
            self.system.apply(&mut self.twists, |_, _| {}, |_, _| {});
            let left = self.system.velocity(&self.twists, given);
            if left <= EXACT || left > GAINS * last {
                break;
            }
            last = left;
        }
        true
    }

    /// The velocities, turned into the frames of the bodies.
    fn own_twists(&self) -> impl Iterator<Item = Twist> {
        let states = self.poses.iter().zip(&self.twists);
        states.map(|(pose, twist)| Twist {
            linear: twist.linear,
            angular: pose.orientation.conjugate() * twist.angular,
        })
    }
}

/// The velocities in the inertial frame.
pub(super) fn in_world(pose: &Pose, twist: &Twist) -> WorldTwist {
    WorldTwist {
        linear: twist.linear,
        angular: pose.orientation * twist.angular,
    }
}
