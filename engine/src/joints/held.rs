//! Motors that hold a rate: rows as rigid as those of locks, as long as the effort reaches.
//!
//! The solve gives a motor the impulse with which its coordinate has its rate `w` along the row of `t_k`. On the way rows turn, and joints that are closed at the end
//! would take a part of the rate back. So a motor whose impulse is within its bound is a row of the articulation, `ẋ − w = 0` in velocities and `x_{k+1} = x_k + h w` in places: a rotor
//! too heavy to be slowed. One at its bound is a force, and one that reaches it on the way. Where motors contradict each other or what is rigid, no impulses give them their rates: then the velocities are those
//! that were solved for, and none is a row.

use super::Jointed;
use super::articulation::Articulation;
use super::coordinates::Row;
use super::drift::Solution;
use super::rows::Along;
use super::system::dot;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::JointForce;

/// Part of its bound up to which an impulse is within it.
const WITHIN: f64 = 1.0 - 1e-9;

/// What a rate is off at most in a solution, m/s or rad/s, over 1 + the rates that it is made of: solves end far below.
const OFF: f64 = 1e-6;

/// A motor that holds its rate in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Held {
    /// Place of its joint in the list, and of the motor among its forces.
    pub(super) joint: usize,
    pub(super) force: usize,
    /// m/s or rad/s.
    pub(super) rate: f64,
    /// Its coordinate at the end of the step, m or rad.
    pub(super) end: f64,
    /// The impulse that was solved for, what it took beyond that, and its bound, N·s or N·m·s.
    impulse: f64,
    pub(super) added: f64,
    bound: f64,
}

impl Held {
    /// What it took is within its bound.
    pub(super) fn reaches(&self) -> bool {
        (self.impulse + self.added).abs() <= self.bound
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
            let Some(Along { force, .. }) = along else {
                return;
            };
            let of = &joints[joint];
            let JointForce::Motor {
                velocity: rate,
                damping: f64::INFINITY,
                effort,
                ..
            } = of.forces[force]
            else {
                return;
            };
            if impulse.abs() <= WITHIN * h * effort {
                let [a, b] = [0, 1].map(|side| rate_of(of.bodies[side], row, side));
                let size = 1.0 + rate.abs() + a.abs() + b.abs();
                agree &= (a + b - rate).abs() <= OFF * size;
                let placed = of.placed_at(|side| of.start_of(side, bodies));
                let end = of.coordinate(force, &placed).0 + h * rate;
                held.push(Self {
                    joint,
                    force,
                    rate,
                    end,
                    impulse,
                    added: 0.0,
                    bound: h * effort,
                });
            }
        });
        if !agree {
            held.clear();
        }
        agree
    }
}
