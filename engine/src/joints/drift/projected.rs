//! The way of an articulation that cannot be followed: its joints stay open in the most parts, or its energy grows.
//!
//! Light links that whip under heavy loads, and loops that turn by radians in a step, are beyond what the scheme of the parts resolves, and there it is not stable. Such an articulation moves
//! with the velocities that were solved for. In each of the most parts its bodies go on as if they were free, their joints are closed there, and the velocities are projected:
//!
//! ```text
//! (q̃, ṽ) = Φ(q, v),      q' = q̃ ⊕ M⁻¹JᵀΛ,  e(q') = 0,      v' = P' ṽ
//! ```
//!
//! A free motion keeps its kinetic energy, closing places changes no velocity, seen from the bodies, and a projection in the metric of the masses is no longer than what it projects. So
//! nothing is gained, whatever is left open; of first order, and what is lost is what the parts do not resolve.

use super::course::{Course, MOST_PARTS};
use super::step::Step;
use super::transport::{Way, carry};
use crate::bodies::slot::Slot;
use crate::joints::held::Held;
use moreau_solvers::WorldTwist;

impl Course {
    /// Takes the whole step so.
    pub(super) fn go_projected<'m>(
        &mut self,
        step: &Step,
        mean: &impl Fn(Slot) -> Option<&'m WorldTwist>,
    ) {
        loop {
            self.account_for_solved(step);
            self.start(step, mean);
            let share = 1.0 / MOST_PARTS as f64;
            for part in 1..=MOST_PARTS {
                self.move_projected(step, share, part as f64 * share);
            }
            if self.holding.is_empty() || Held::keep_those_that_reach(&mut self.holding) {
                break;
            }
        }
    }

    /// A part of the length `share` of the step, up to the part `to` of it.
    fn move_projected(&mut self, step: &Step, share: f64, to: f64) {
        let h = step.settings.time_step * share;
        let given = |slot: Slot| step.solution.motion.free[slot];
        let mut own = std::mem::take(&mut self.buffers);
        own.start.clone_from(&self.poses);
        own.turned.clear();
        self.turn(step, (&own.start, h), &mut own.turned);
        own.start.clone_from(&self.poses);
        own.changes.clone_from(&self.twists);
        own.holding.clone_from(&self.holding);
        let way = Way {
            twists: &own.changes,
            time: h,
            to,
            held: &own.holding,
        };
        self.close_moved(step, &mut own.transport, &way, given);
        for (twist, angular) in self.twists.iter_mut().zip(&own.turned) {
            twist.angular = *angular;
        }
        carry(&mut self.twists, &own.start, &self.poses);
        own.rotors.clear();
        own.rotors.extend(self.system.rotors());
        self.take_moved(&mut own.transport);
        self.system.set_rotors(&own.rotors);
        self.buffers = own;
        self.stop_opening(given);
    }
}
