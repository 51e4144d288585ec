//! Machines that bodies of given motion ask for more than they reach, as a hand that pulls at a chain which is taut.
//!
//! What bodies of given motion ask of joints is a velocity: `J v = b`. Where a machine is nearly in a line, or too short, that takes velocities without bound, which do not lead
//! where they are to: their turns `ω` soon open the joints by more than what they close. There joints give way,
//!
//! ```text
//! J v + δ diag(A) μ = b,     ½ t² ω² a ≤ 4 (t ‖b − J v'‖ + ½ t² ω'² a)
//! ```
//!
//! with the least `δ > 0` for which that holds, `v'` the velocities without these impulses, `a` the arms and `t` the time of a step [Levenberg44, Marquardt63]: what a machine reaches it
//! still follows. So do those that contradict each other. The step says that it is not converged. Machines that are not driven have no need of it: joints take energy from what they are thrown at, and give none.

use super::articulation::Articulation;
use super::closing::{LEAST, MOST};
use super::drift::{Course, Drift, OPEN};
use super::given::in_world;
use super::{Joints, Lists, WORLD};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::RigidBody;
use moreau_solvers::WorldTwist;

/// Angle by which the time is bounded, rad: turns of bodies of given motion are not what joints do not reach.
const LARGEST_TURN: f64 = 0.5;
/// What joints may open beside what they close: turns that grow to twice of what they were are within a machine's reach.
const WORSE: f64 = 4.0;
/// Part of what is to be closed that joints which contradict each other leave, and what rounding does, over lengths.
const LEFT: f64 = 1e-2;
const ROUNDED: f64 = 1e-12;

impl Drift {
    /// Finds the joints that give way in a step of `h`, s.
    pub(crate) fn reach(&mut self, joints: &mut Joints, bodies: &Bodies, h: f64) {
        let mut driven = false;
        for joint in &mut joints.list {
            joint.yields = 0.0;
            driven |= joint.slots().any(|slot| moves_others(bodies, slot));
        }
        if !driven {
            return;
        }
        joints.articulate(bodies);
        let course = self.buffer();
        for articulation in &joints.articulations {
            let lists = Lists {
                joints: &joints.list,
                couplers: &joints.couplers,
            };
            let yields = course.reach((articulation, lists), bodies, h);
            for joint in &articulation.joints {
                joints.list[*joint].yields = yields;
            }
        }
    }
}

fn moves_others(bodies: &Bodies, slot: Slot) -> bool {
    let still = WorldTwist::default();
    bodies.constants[slot].kind == RigidBody::Kinematic && given(bodies, slot) != still
}

fn given(bodies: &Bodies, slot: Slot) -> WorldTwist {
    match slot {
        Slot::NONE => WorldTwist::default(),
        slot => in_world(&bodies.pose[slot], &bodies.twist[slot]),
    }
}

/// The time for which velocities are to lead on under bodies of these given motions, s: no more than a step `h`, and 0 if none of them moves.
pub(super) fn time_ahead(given: impl Iterator<Item = WorldTwist>, h: f64) -> f64 {
    let moving = given.filter(|twist| *twist != WorldTwist::default());
    let turns = moving.map(|twist| twist.angular.length());
    let turn = turns.reduce(f64::max);
    turn.map_or(0.0, |turn| h.min(LARGEST_TURN / turn))
}

impl Course {
    /// `δ` of one articulation at the beginning of a step, 0 where it reaches what it is asked for.
    fn reach(&mut self, of: (&Articulation, Lists), bodies: &Bodies, h: f64) -> f64 {
        let joints = of.0.joints.iter().map(|joint| &of.1.joints[*joint]);
        let others = joints.flat_map(|joint| joint.slots());
        let others = others.filter(|slot| moves_others(bodies, *slot));
        self.ahead = time_ahead(others.map(|slot| given(bodies, slot)), h);
        if self.ahead == 0.0 {
            return 0.0;
        }
        let pose_of = |slot: Slot| match slot {
            Slot::NONE => WORLD,
            slot => bodies.pose[slot],
        };
        let given = |slot: Slot| given(bodies, slot);
        self.take(&of.0.bodies, bodies);
        self.system.place(of, &self.poses, pose_of);
        self.system.place_rotors(of, &self.poses, pose_of);
        self.system.start_rotors(&self.twists, given);
        self.system.factor(&self.masses);
        self.yields(&given)
    }

    /// The least `δ` with which the present velocities are worth what they are to close. The present factor is of that.
    fn yields(&mut self, given: &impl Fn(Slot) -> WorldTwist) -> f64 {
        let time = self.ahead;
        let opens = self.system.opened(&self.twists, given, time);
        let most = WORSE * (opens + self.system.opened_by_turns(&self.twists, time));
        let rotors: Vec<f64> = self.system.rotors().collect();
        let mut damping = 0.0;
        loop {
            let mut twists = self.twists.clone();
            self.system.against_velocities(&twists, given);
            self.system.apply(&mut twists, |_, _| {}, |_, _| {});
            self.system.set_rotors(&rotors);
            let left = self.system.opened(&twists, given, time);
            let contradicts = damping == 0.0 && left > (LEFT * opens).max(ROUNDED);
            let leads_away = self.system.opened_by_turns(&twists, time) > most.max(OPEN);
            if !contradicts && !leads_away || damping > MOST {
                return damping;
            }
            damping = LEAST.max(10.0 * damping);
            self.system.factor_damped(&self.masses, damping);
        }
    }

    /// The velocities that joints leave where they give way. False, and nothing is done, where they do not.
    pub(super) fn give_way(&mut self, given: &impl Fn(Slot) -> WorldTwist) -> bool {
        if self.yields(given) == 0.0 {
            return false;
        }
        self.gave_way = true;
        self.system.against_velocities(&self.twists, given);
        self.push();
        self.system.factor(&self.masses);
        true
    }
}
