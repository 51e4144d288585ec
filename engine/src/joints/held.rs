//! Motors that hold a rate, and friction that holds: rows as rigid as those of locks, as long as the effort reaches.
//!
//! The solve gives a motor the impulse with which its coordinate has its rate `w` along the row of `t_k`. On the way rows turn, and joints that are closed at the end
//! would take a part of the rate back. So a motor whose impulse is within its bound is a row of the articulation, `ẋ − w = 0` in velocities and `x_{k+1} = x_k + h w` in places: a rotor
//! too heavy to be slowed. One at its bound is a force, and one that reaches it on the way. Where motors contradict each other or what is rigid, no impulses give them their rates: then the velocities are those
//! that were solved for, and none is a row.
//!
//! Friction that keeps its coordinate at rest within its bound is such a motor of rate 0. That of a ball joint is three, about the axes of the inertial frame, with one bound for the
//! length of their impulses.

use super::Jointed;
use super::articulation::Articulation;
use super::coordinates::Row;
use super::drift::Solution;
use super::rows::Along;
use super::system::dot;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::JointForce;
use glam::DQuat;

/// Part of its bound up to which an impulse is within it.
const WITHIN: f64 = 1.0 - 1e-9;

/// What a rate is off at most in a solution, m/s or rad/s, over 1 + the rates that it is made of: solves end far below.
const OFF: f64 = 1e-6;

/// A row that holds its rate in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    /// Place of its joint in the list, and of the force among those of the joint.
    pub(super) joint: usize,
    pub(super) force: usize,
    /// m/s or rad/s.
    pub(super) rate: f64,
    /// Its coordinate at the end of the step, m or rad.
    pub(super) end: f64,
    /// Of friction of a ball joint: which axis, and frame B in frame A at `t_k`.
    pub(super) about: Option<(usize, DQuat)>,
    /// The impulse that was solved for, what it took beyond that, and the bound of all rows of the force, N·s or N·m·s.
    impulse: f64,
    pub(super) added: f64,
    bound: f64,
}

/// What holds, of a force.
struct Holds {
    rate: f64,
    effort: f64,
    /// Where it does not, it slips: no contradiction.
    may_slip: bool,
}

impl Holds {
    fn of(force: &JointForce) -> Option<Self> {
        match *force {
            JointForce::Motor {
                velocity: rate,
                damping: f64::INFINITY,
                effort,
                ..
            } => Some(Self {
                rate,
                effort,
                may_slip: false,
            }),
            JointForce::Friction { force: effort, .. }
            | JointForce::BallFriction { torque: effort } => Some(Self {
                rate: 0.0,
                effort,
                may_slip: true,
            }),
            _ => None,
        }
    }
}

impl Held {
    /// Those of which what all rows of their force took is within its bound stay. True if they are all.
    pub(super) fn keep_those_that_reach(held: &mut Vec<Self>) -> bool {
        let before = held.len();
        Self::retain_forces(held, |rows| {
            let taken = rows.iter().map(|row| row.impulse + row.added);
            length(taken) <= rows[0].bound
        });
        held.len() == before
    }

    /// What a force took beyond what was solved for, along its coordinate; of friction of a ball joint by how much it took more, N·s or N·m·s.
    pub(super) fn beyond(rows: &[Self]) -> f64 {
        if rows[0].about.is_none() {
            return rows.iter().map(|row| row.added).sum();
        }
        let taken = rows.iter().map(|row| row.impulse + row.added);
        length(taken) - length(rows.iter().map(|row| row.impulse))
    }

    /// Both are one row of one force.
    pub(super) fn is_row_of(&self, other: &Self) -> bool {
        let axis = |held: &Self| held.about.map(|(axis, _)| axis);
        (self.joint, self.force, axis(self)) == (other.joint, other.force, axis(other))
    }

    /// The rows of each force.
    pub(super) fn by_force(held: &[Self]) -> impl Iterator<Item = &[Self]> {
        held.chunk_by(|a, b| (a.joint, a.force) == (b.joint, b.force))
    }

    fn retain_forces(held: &mut Vec<Self>, keeps: impl Fn(&[Self]) -> bool) {
        let (mut kept, mut begin) = (0, 0);
        let next = |rest: &[Self]| {
            let rows = Self::by_force(rest).next()?;
            Some((rows.len(), keeps(rows)))
        };
        while let Some((count, keeps)) = next(&held[begin..]) {
            if keeps {
                held.copy_within(begin..begin + count, kept);
                kept += count;
            }
            begin += count;
        }
        held.truncate(kept);
    }

    /// Lists those of an articulation in a step of length `h`, in the order of joints. False, and none, if some have not the rates that they are to hold.
    pub(super) fn find(
        articulation: &Articulation,
        joints: &[Jointed],
        (bodies, solution): (&Bodies, &Solution),
        h: f64,
        held: &mut Vec<Self>,
    ) -> bool {
        held.clear();
        let rows = solution.rows;
        if rows.are_of_stages() {
            // Impacts have changed the rate since.
            return true;
        }
        let mut agree = true;
        let rate_of = |slot: Slot, row: &Row, side: usize| match slot {
            Slot::NONE => 0.0,
            _ if bodies.is_awake_dynamic(slot) => dot(row, side, &solution.end[slot]),
            _ => dot(row, side, &solution.motion.free[slot]),
        };
        rows.each_force(&articulation.joints, |joint, (row, along), impulse| {
            let Some(Along { force, row: axis }) = along else {
                return;
            };
            let of = &joints[joint];
            let Some(holds) = Holds::of(&of.forces[force]) else {
                return;
            };
            let bound = h * holds.effort;
            let [a, b] = [0, 1].map(|side| rate_of(of.bodies[side], row, side));
            let size = 1.0 + holds.rate.abs() + a.abs() + b.abs();
            let has_rate = (a + b - holds.rate).abs() <= OFF * size;
            if !holds.may_slip && impulse.abs() <= WITHIN * bound {
                agree &= has_rate;
            }
            let placed = of.placed_at(|side| of.start_of(side, bodies));
            let (end, about) = match of.forces[force] {
                JointForce::BallFriction { .. } => (0.0, Some((axis, placed.b_in_a()))),
                _ => (of.coordinate(force, &placed).0 + h * holds.rate, None),
            };
            held.push(Self {
                joint,
                force,
                rate: holds.rate,
                end,
                about,
                // What slips is at its bound: friction within it holds, whatever rate the solve has left.
                impulse: if has_rate || holds.may_slip {
                    impulse
                } else {
                    f64::INFINITY
                },
                added: 0.0,
                bound,
            });
        });
        if agree {
            let within = |rows: &[Self]| {
                let taken = length(rows.iter().map(|row| row.impulse));
                taken.is_finite() && taken <= WITHIN * rows[0].bound
            };
            Self::retain_forces(held, within);
        } else {
            held.clear();
        }
        agree
    }
}

fn length(parts: impl Iterator<Item = f64>) -> f64 {
    parts.map(|part| part * part).sum::<f64>().sqrt()
}
