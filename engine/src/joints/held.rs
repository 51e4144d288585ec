//! Motors that hold a rate: rows as rigid as those of locks, as long as the effort reaches.
//!
//! The solve gives a motor the impulse with which its coordinate has its rate `w` along the row of `t_k`. On the way rows turn, and joints that are closed at the end
//! would take a part of the rate back. So a motor whose impulse is within its bound is a row of the articulation, `ẋ − w = 0` in velocities and `x_{k+1} = x_k + h w` in places: a rotor
//! too heavy to be slowed. One at its bound is a force.

use super::Jointed;
use super::articulation::Articulation;
use super::rows::JointRows;
use crate::bodies::Bodies;
use crate::components::JointForce;

/// Part of its bound up to which an impulse is within it.
const WITHIN: f64 = 1.0 - 1e-9;

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
    /// What it took beyond the impulse that was solved for, N·s or N·m·s.
    pub(super) added: f64,
}

impl Held {
    /// Appends those of an articulation in a step of length `h`, in the order of joints.
    pub(super) fn find(
        articulation: &Articulation,
        joints: &[Jointed],
        (bodies, rows): (&Bodies, &JointRows),
        h: f64,
        held: &mut Vec<Self>,
    ) {
        if rows.are_of_stages() {
            // Impacts have changed the rate since.
            return;
        }
        rows.each_force(&articulation.joints, |joint, (_, force), impulse| {
            let Some(force) = force else { return };
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
                let placed = of.placed_at(|side| of.start_of(side, bodies));
                let end = of.coordinate(force, &placed).0 + h * rate;
                held.push(Self {
                    joint,
                    force,
                    rate,
                    end,
                    added: 0.0,
                });
            }
        });
    }
}
