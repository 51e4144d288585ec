//! Classical options of a Gauss–Seidel sweep: order, relaxation, frozen contacts, local solver.
//!
//! ```text
//! x = solve_α(y)                       by the local solver
//! x ← P_K( y + ω (x − y) )             relaxed; the projection brings a point beyond the cone back
//! ```
//!
//! A solution is a fixed point for every `ω`. None of the options is free: the default sweep is a
//! loop of its own, and these run on one thread.

use crate::OneContact;
use crate::comparison::local::{LocalSolver, onto_cone};
use glam::DVec3;

/// The order in which a sweep visits the contacts.
///
/// In the factored form and without other options the natural order is that of slabs and colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SweepOrder {
    /// The order of the problem, in every sweep. The default.
    #[default]
    Natural,
    /// Forwards and backwards in turn.
    Symmetric,
    /// A new random order in every sweep, the same for the same seed. It helps where the order of
    /// the problem is unlucky, and hurts in stacks that are numbered from the ground.
    Shuffled {
        /// Seed of the permutations.
        seed: u64,
    },
}

/// When to leave out contacts that hardly change.
///
/// The certificate covers frozen contacts too and thaws them all: no solve ends because of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freezing {
    /// Sweeps at the beginning of the solve in which nothing freezes.
    pub after: usize,
    /// Sweeps for which a contact is left out.
    pub sweeps: u32,
    /// `‖x − y‖/‖x‖` of one sweep at and below which a contact freezes.
    pub change: f64,
}

impl Default for Freezing {
    /// After 10 sweeps, contacts that changed by less than 1e-8 rest for 5.
    fn default() -> Self {
        Self {
            after: 10,
            sweeps: 5,
            change: 1e-8,
        }
    }
}

/// The options of one solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SweepOptions {
    pub(crate) local: LocalSolver,
    pub(crate) relaxation: f64,
    pub(crate) order: SweepOrder,
    pub(crate) freezing: Option<Freezing>,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self {
            local: LocalSolver::Exact,
            relaxation: 1.0,
            order: SweepOrder::Natural,
            freezing: None,
        }
    }
}

impl SweepOptions {
    /// Every contact is solved exactly at its turn.
    pub(crate) fn is_exact(&self) -> bool {
        self.local == LocalSolver::Exact
    }

    /// The relaxed impulse of one contact that starts from `start`; in the block's eigenbasis.
    pub(crate) fn solve(
        &self,
        block: &OneContact,
        q: DVec3,
        friction: f64,
        start: DVec3,
        memory: &mut f64,
    ) -> DVec3 {
        let solved = self
            .local
            .solve_principal(block, q, friction, start, memory);
        if self.relaxation - 1.0 == 0.0 {
            return solved;
        }
        onto_cone(friction, start + (solved - start) * self.relaxation)
    }
}

/// Which contact is next, and which are frozen. Its buffers are reused from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) options: SweepOptions,
    order: Vec<u32>,
    /// Sweeps for which each contact is still left out; empty without freezing.
    frozen: Vec<u32>,
    random: u64,
    sweeps: usize,
}

impl Schedule {
    /// Starts a solve of `contacts` contacts.
    pub(crate) fn begin(&mut self, options: &SweepOptions, contacts: usize) {
        self.options = *options;
        self.order.clear();
        self.order.extend(0..contacts as u32);
        self.frozen.clear();
        if options.freezing.is_some() {
            self.frozen.resize(contacts, 0);
        }
        self.random = match options.order {
            SweepOrder::Shuffled { seed } => seed,
            _ => 0,
        };
        self.sweeps = 0;
    }

    /// Begins the next sweep; true if it goes backwards.
    pub(crate) fn next_sweep(&mut self) -> bool {
        self.sweeps += 1;
        if matches!(self.options.order, SweepOrder::Shuffled { .. }) {
            self.shuffle();
        }
        self.options.order == SweepOrder::Symmetric && self.sweeps.is_multiple_of(2)
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The contact at `position` of the present sweep.
    pub(crate) fn contact(&self, position: usize, backwards: bool) -> usize {
        let position = if backwards {
            self.order.len() - 1 - position
        } else {
            position
        };
        self.order[position] as usize
    }

    /// True if the contact is left out this time, which counts.
    pub(crate) fn skips(&mut self, contact: usize) -> bool {
        match self.frozen.get_mut(contact) {
            Some(left) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    }

    /// Freezes the contact if it went from `start` to nearly the same `solved`.
    pub(crate) fn note(&mut self, contact: usize, start: DVec3, solved: DVec3) {
        let Some(freezing) = self.options.freezing else {
            return;
        };
        let bound = freezing.change * freezing.change * solved.length_squared();
        if self.sweeps > freezing.after && (solved - start).length_squared() <= bound {
            self.frozen[contact] = freezing.sweeps;
        }
    }

    /// Frozen contacts take part again.
    pub(crate) fn thaw(&mut self) {
        self.frozen.fill(0);
    }

    /// Fisher–Yates with SplitMix64 (Steele, Lea, Flood 2014).
    fn shuffle(&mut self) {
        for last in (1..self.order.len()).rev() {
            // The bias of the remainder, n/2⁶⁴, is of no account.
            let other = (next_random(&mut self.random) % (last as u64 + 1)) as usize;
            self.order.swap(last, other);
        }
    }
}

fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(order: SweepOrder, sweeps: usize) -> Vec<Vec<usize>> {
        let mut schedule = Schedule::default();
        let options = SweepOptions {
            order,
            ..SweepOptions::default()
        };
        schedule.begin(&options, 20);
        let mut all = Vec::new();
        for _ in 0..sweeps {
            let backwards = schedule.next_sweep();
            all.push((0..20).map(|k| schedule.contact(k, backwards)).collect());
        }
        all
    }

    #[test]
    fn every_sweep_visits_every_contact_once() {
        for order in [
            SweepOrder::Natural,
            SweepOrder::Symmetric,
            SweepOrder::Shuffled { seed: 7 },
        ] {
            for mut sweep in orders(order, 5) {
                sweep.sort_unstable();
                assert_eq!(sweep, (0..20).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn shuffles_differ_from_sweep_to_sweep_and_repeat_with_the_seed() {
        let first = orders(SweepOrder::Shuffled { seed: 7 }, 3);
        assert_eq!(first, orders(SweepOrder::Shuffled { seed: 7 }, 3));
        assert_ne!(first[0], first[1]);
        assert_ne!(first, orders(SweepOrder::Shuffled { seed: 8 }, 3));
    }

    #[test]
    fn symmetric_sweeps_turn_round() {
        let sweeps = orders(SweepOrder::Symmetric, 2);
        let mut back = sweeps[1].clone();
        back.reverse();
        assert_eq!(sweeps[0], back);
    }
}
