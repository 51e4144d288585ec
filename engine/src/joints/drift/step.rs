//! One articulation in a step: where its bodies are, and in how many parts the step is taken.

use super::course::MOST_PARTS;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::Pose;
use crate::joints::articulation::Articulation;
use crate::joints::coupled::Coupled;
use crate::joints::held::Held;
use crate::joints::reach::time_ahead;
use crate::joints::rows::JointRows;
use crate::joints::system::Push;
use crate::joints::{Jointed, Lists, WORLD};
use crate::math::rotation;
use crate::motion::Motion;
use crate::settings::{JointOrder, Settings};
use crate::step::solved::Pushed;
use moreau_solvers::{InverseMass, WorldTwist};

/// Angle that a body turns by in a part of a step at most, rad: Newton steps with the matrix at its beginning take away as much of an error.
const LARGEST_TURN: f64 = 0.5;
/// `ω h` of a part at most, for the swing of a body about joints under load; 2 is where it would blow up.
const LARGEST_SWING: f64 = 1.0;

/// What a drift starts from.
#[derive(Clone, Copy)]
pub(crate) struct Solution<'a> {
    pub(crate) motion: &'a Motion,
    pub(crate) end: &'a [WorldTwist],
    pub(crate) pushed: &'a [Pushed],
    pub(crate) rows: &'a JointRows,
}

/// One articulation in a step.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) articulation: &'a Articulation,
    pub(super) joints: &'a [Jointed],
    pub(super) couplers: &'a [Coupled],
    pub(super) bodies: &'a Bodies,
    pub(super) solution: &'a Solution<'a>,
    pub(super) settings: &'a Settings,
    /// Contacts or limits push it: its velocities are those that were solved for.
    pub(super) struck: bool,
    /// Drag slows some of its bodies.
    pub(super) dragged: bool,
    /// Stiff forces of users hold some of them.
    pub(super) stiff: bool,
    /// θ of what pushes it, 1 if one of these is no impact.
    pub(super) theta: f64,
}

impl<'a> Step<'a> {
    /// Finds what pushes an articulation, and the motors that hold their rates. Limits and ropes that hold on through the step are `locked` if nothing else pushes.
    pub(super) fn new<'m>(
        articulation: &'a Articulation,
        (Lists { joints, couplers }, bodies, settings): (Lists<'a>, &'a Bodies, &'a Settings),
        solution: &'a Solution,
        mean: &impl Fn(Slot) -> Option<&'m WorldTwist>,
        (holding, locked): (&mut Vec<Held>, &mut Vec<(usize, usize)>),
    ) -> Self {
        let slots = &articulation.bodies;
        let is_pushed =
            |slot: &Slot| !matches!(solution.pushed[*slot], Pushed::Not) || mean(*slot).is_some();
        let is_stiff = slots.iter().any(|slot| bodies.is_stiff(*slot));
        let pushed = slots.iter().map(|slot| match solution.pushed[*slot] {
            Pushed::Not => 0.0,
            Pushed::Struck(theta) => theta,
            Pushed::Held => 1.0,
        });
        let twists = |slot: Slot| {
            let end = match bodies.is_awake_dynamic(slot) {
                true => solution.end[slot],
                false => solution.motion.free[slot],
            };
            [solution.motion.begin[slot], end]
        };
        let rows = solution.rows;
        let stops = rows.theta_of_stops(&articulation.joints, twists, settings.time_step);
        let given = (bodies, solution);
        let agree = Held::find(articulation, joints, given, settings.time_step, holding);
        let stops = if agree && !is_stiff { stops } else { Some(1.0) };
        let pushed_by_more = slots.iter().any(is_pushed) || !agree || is_stiff;
        let own = &articulation.joints;
        let h = settings.time_step;
        locked.clear();
        let hold = !pushed_by_more && rows.holding_stops(own, joints, h, locked);
        let stops = if hold { None } else { stops };
        let drags = |slot: &Slot| bodies.constants[*slot].response.has_drag();
        Self {
            articulation,
            joints,
            couplers,
            bodies,
            solution,
            settings,
            struck: slots.iter().any(is_pushed) || stops.is_some(),
            dragged: slots.iter().any(drags),
            stiff: is_stiff,
            theta: pushed.fold(stops.unwrap_or(0.0), f64::max),
        }
    }

    pub(super) fn of(&self) -> (&'a Articulation, Lists<'a>) {
        let lists = Lists {
            joints: self.joints,
            couplers: self.couplers,
        };
        (self.articulation, lists)
    }

    /// The velocity that a body moves with, if impacts alone push the articulation.
    pub(super) fn mean(&self, begin: &WorldTwist, end: &WorldTwist) -> Option<WorldTwist> {
        let theta = self.theta;
        (self.struck && theta > 0.0 && theta < 1.0).then(|| WorldTwist {
            linear: end.linear * theta + begin.linear * (1.0 - theta),
            angular: end.angular * theta + begin.angular * (1.0 - theta),
        })
    }

    /// The order of its scheme: two where it is pushed, and under drag, which is not to be taken back.
    pub(super) fn order(&self) -> JointOrder {
        if self.struck || self.dragged {
            JointOrder::Second
        } else {
            self.settings.joint_order
        }
    }

    /// Drag acts in its parts.
    pub(super) fn is_dragged(&self) -> bool {
        self.dragged && !self.struck
    }

    pub(super) fn places(&self, joint: usize) -> [Option<usize>; 2] {
        let bodies = self.joints[joint].bodies;
        bodies.map(|slot| self.articulation.place(slot))
    }

    /// A body of given motion at a part of the step.
    pub(super) fn other(&self, slot: Slot, part: f64) -> Pose {
        if slot == Slot::NONE {
            return WORLD;
        }
        let (before, after) = (&self.bodies.before.pose[slot], &self.bodies.pose[slot]);
        if part >= 1.0 || before == after {
            return *after;
        }
        let turn = rotation::log(before.orientation.conjugate() * after.orientation);
        Pose {
            position: before.position + (after.position - before.position) * part,
            orientation: before.orientation * rotation::exp(turn * part),
        }
    }

    /// A body that moves as it is given drives the articulation: joints do work.
    pub(super) fn is_driven(&self) -> bool {
        self.articulation.joints.iter().any(|joint| {
            let bodies = self.joints[*joint].bodies.into_iter();
            let mut others = bodies.filter(|slot| self.articulation.place(*slot).is_none());
            others.any(|slot| {
                slot != Slot::NONE && self.solution.motion.free[slot] != WorldTwist::default()
            })
        })
    }

    /// The time for which velocities are to lead on, s; 0 if no body of given motion drives the articulation.
    pub(super) fn time_ahead(&self) -> f64 {
        let own = self.articulation.joints.iter();
        let slots = own.flat_map(|joint| self.joints[*joint].slots());
        let others = slots.filter(|slot| self.articulation.place(*slot).is_none());
        let twists = others.map(|slot| self.solution.motion.free[slot]);
        time_ahead(twists, self.settings.time_step)
    }

    /// The largest `m‖g‖` times arm of a joint, J: what a body exchanges with gravity as it swings.
    pub(super) fn swing(&self) -> f64 {
        let gravity = self.settings.gravity.length();
        let joints = self.articulation.joints.iter();
        let arms = joints.flat_map(|joint| {
            let joint = &self.joints[*joint];
            let sides = joint.bodies.into_iter().zip(&joint.frames);
            sides.filter(|(slot, _)| self.articulation.place(*slot).is_some())
        });
        let energies = arms.map(|(slot, frame)| {
            self.bodies.constants[slot].inertia.mass * gravity * frame.position.length()
        });
        energies.fold(0.0, f64::max)
    }

    /// Equal parts that the step is taken in. `swings` is a buffer.
    pub(super) fn parts(
        &self,
        twists: &[WorldTwist],
        masses: &[InverseMass],
        swings: &mut Vec<f64>,
    ) -> usize {
        let h = self.settings.time_step;
        let fastest = twists.iter().map(|twist| twist.angular.length());
        let turn = fastest.fold(0.0, f64::max) * h / LARGEST_TURN;
        swings.clear();
        swings.resize(masses.len(), 0.0);
        if !self.struck {
            // A force `f` at an arm turns a body back by `f` times the arm times the angle.
            let rows = self.solution.rows;
            rows.each_lock(&self.articulation.joints, |joint, row, impulse| {
                for (side, place) in self.places(joint).into_iter().enumerate() {
                    let Some(place) = place else { continue };
                    let joint = &self.joints[joint];
                    let arm = self.bodies.before.pose[joint.bodies[side]].orientation
                        * joint.frames[side].position;
                    let push = Push::along(row, side, impulse);
                    let inverse = &masses[place].angular;
                    let along = arm.normalize_or_zero();
                    let across = inverse.x_axis.x + inverse.y_axis.y + inverse.z_axis.z
                        - along.dot(*inverse * along);
                    swings[place] += push.linear.length() * arm.length() * across;
                }
            });
        }
        // Impulses over the step are `h f`.
        let swing = swings.iter().copied().fold(0.0, f64::max) * h;
        let parts = turn.max(swing.sqrt() / LARGEST_SWING).ceil();
        (parts as usize).clamp(1, MOST_PARTS)
    }
}
