//! The sweep with options: any order, relaxation, frozen contacts, any local solver.
//!
//! On one thread, since an order other than that of the colours has no relay; natural is the order
//! of the colours, backwards is its reverse, and a shuffle mixes all contacts.

use super::{Iterate, Packed, TwistSweep};
use crate::sweep::acceleration::SweepSums;
use crate::sweep::options::Schedule;
use glam::DVec3;

impl TwistSweep<'_> {
    /// One sweep from the extrapolated twists.
    pub(super) fn sweep_classically(&mut self, beta: f64) -> SweepSums {
        let space = &mut *self.space;
        let (twists, masses) = (&mut space.twists[..], &space.masses[..]);
        let schedule = &mut space.schedule;
        let mut sums = SweepSums::default();
        let backwards = schedule.next_sweep();
        for turn in 0..schedule.len() {
            let position = schedule.contact(turn, backwards);
            let (packed, iterate) = (&space.packed[position], &mut space.iterates[position]);
            let [a, b] = packed.bodies.map(|j| j as usize);
            let (twist, mass) = ([&twists[a], &twists[b]], [&masses[a], &masses[b]]);
            let [new_a, new_b] = packed.push(twist, mass, |relative| {
                let step = Step {
                    relative,
                    beta,
                    position,
                };
                step.take(packed, iterate, schedule, &mut sums)
            });
            let [a, b] = packed.targets.map(|j| j as usize);
            twists[a] = new_a;
            twists[b] = new_b;
        }
        sums
    }
}

/// One contact's turn.
struct Step {
    relative: DVec3,
    beta: f64,
    position: usize,
}

impl Step {
    /// Solves the contact, or leaves it as it was before the extrapolation if it is frozen. Returns
    /// the change that the twists have to follow.
    fn take(
        &self,
        packed: &Packed,
        iterate: &mut Iterate,
        schedule: &mut Schedule,
        sums: &mut SweepSums,
    ) -> DVec3 {
        let start = iterate.now + (iterate.now - iterate.before) * self.beta;
        let solved = if schedule.skips(self.position) {
            iterate.now
        } else {
            let u = DVec3::from(packed.axes.map(|axis| axis.dot(self.relative))) + packed.offset;
            let q = u - packed.local.apply_principal(start);
            let memory = &mut iterate.alpha;
            let solved = schedule
                .options
                .solve(&packed.local, q, packed.friction, start, memory);
            schedule.note(self.position, start, solved);
            solved
        };
        sums.add_change(packed.lambda, [iterate.now, start, solved]);
        iterate.before = iterate.now;
        iterate.now = solved;
        solved - start
    }
}
