//! Limits and ropes in the rows of a step: which hold on, and what θ the others have.

use super::{JointRows, Part, sides};
use crate::bodies::slot::Slot;
use crate::components::JointKind;
use crate::joints::Jointed;
use crate::joints::system::dot;
use crate::step::moreau_jean::theta_of_impact;
use moreau_solvers::{Law, WorldTwist};

impl JointRows {
    /// Lists the limits and ropes of these joints that push, by joint and number ([`Jointed::stops`]), if all of them hold on: they are where they push from `t_k` on, and
    /// none is an impact. False, and none, otherwise.
    pub(in crate::joints) fn holding_stops(
        &self,
        joints: &[usize],
        list: &[Jointed],
        h: f64,
        held: &mut Vec<(usize, usize)>,
    ) -> bool {
        held.clear();
        if self.staged {
            return false;
        }
        for index in self.of(joints) {
            let interaction = &self.interactions[index];
            let one_sided = interaction.law == Law::Complementarity;
            if !one_sided || self.impulse[self.first[index]] <= 0.0 {
                continue;
            }
            let struck = self.strikes.binary_search_by_key(&index, |of| of.index);
            let (joint, part) = self.parts[index];
            let number = list[joint].number_of_stop(part);
            let Some(number) = number.filter(|_| struck.is_err()) else {
                held.clear();
                return false;
            };
            if interaction.offset[0] * h > CLOSED {
                held.clear();
                return false;
            }
            held.push((joint, number));
        }
        true
    }

    /// θ of the limits and ropes of these joints that push, given the twists of a body at the beginning and the end: of an impact that with which it does not pass its
    /// end, of what holds 1; the largest. None if none pushes.
    pub(in crate::joints) fn theta_of_stops(
        &self,
        joints: &[usize],
        twists: impl Fn(Slot) -> [WorldTwist; 2],
        h: f64,
    ) -> Option<f64> {
        let pushes = self.of(joints).filter(|index| {
            let one_sided = self.interactions[*index].law == Law::Complementarity;
            one_sided && self.impulse[self.first[*index]] > 0.0
        });
        let theta = |index: usize| {
            let strike = self.strikes.binary_search_by_key(&index, |of| of.index);
            let Some(struck) = strike.ok().map(|place| self.strikes[place]) else {
                return 1.0;
            };
            if self.staged {
                return 1.0;
            }
            let interaction = &self.interactions[index];
            let mut u = [0.0; 2];
            for (side, slot) in sides(interaction) {
                for (u, twist) in u.iter_mut().zip(twists(slot)) {
                    *u += dot(&interaction.rows[0], side, &twist);
                }
            }
            theta_of_impact(struck.gap, u, h)
        };
        pushes.map(theta).reduce(f64::max)
    }
}

impl Jointed {
    /// Which of its stops a part is, as [`Jointed::stops`] counts them.
    fn number_of_stop(&self, part: Part) -> Option<usize> {
        let ropes = usize::from(matches!(self.kind, JointKind::Rope { .. }));
        let limits = |force: usize| {
            let before = self.forces[..force].iter();
            ropes + 2 * before.filter(|force| force.is_limit()).count()
        };
        match part {
            Part::Rope => Some(0),
            Part::Force(force) if self.forces[force].is_limit() => Some(limits(force)),
            Part::High(force) => Some(limits(force) + 1),
            _ => None,
        }
    }
}

/// Gap of a stop at which it is closed, m or rad: beyond what closing joints leaves.
const CLOSED: f64 = 1e-9;
