//! The sweep on stored blocks with options: any order, relaxation, frozen contacts, any local solver.
//!
//! Contacts go through the options; interactions of other laws have their one solve, and are never frozen.

use super::options::{Schedule, SweepOptions};
use crate::law::one_block::OneBlock;
use crate::sweep::acceleration::{Relaxation, Stride, SweepSums};
use crate::sweep::explicit_sweep::{ExplicitSweep, ExplicitWorkspace};
use crate::{Residual, StoredProblem};
use glam::DVec3;

/// A stored problem and its iterate.
pub(crate) struct ClassicalStoredSweep<'a> {
    inner: ExplicitSweep<'a>,
    schedule: &'a mut Schedule,
}

impl<'a> ClassicalStoredSweep<'a> {
    /// Prepares the local blocks; `impulse` is the warm start.
    pub(crate) fn new(
        problem: &'a StoredProblem,
        space: &'a mut ExplicitWorkspace,
        schedule: &'a mut Schedule,
        impulse: &[DVec3],
        options: &SweepOptions,
    ) -> Self {
        schedule.begin(options, problem.len());
        Self {
            inner: ExplicitSweep::new(problem, space, impulse),
            schedule,
        }
    }

    /// `λ_α`, the weights of the norm.
    pub(crate) fn lambda(&self) -> &[f64] {
        self.inner.lambda()
    }

    /// Continues from `impulse`, at rest, and keeps what the local solvers remember.
    pub(crate) fn move_to(&mut self, impulse: &[DVec3]) {
        self.inner.move_to(impulse);
    }

    /// One contact. A frozen one drops its extrapolation too.
    fn relax(&mut self, contact: usize, part_of_normal: f64, sums: &mut SweepSums) {
        let (problem, space) = (self.inner.problem, &mut *self.inner.space);
        let schedule = &mut *self.schedule;
        let triple = problem.laws.range(contact).start;
        let (start, before) = (space.now[triple], space.before[triple]);
        let OneBlock::Contact(local, friction) = &space.local[contact] else {
            return;
        };
        let solved = if schedule.skips(contact) {
            before
        } else {
            let mut u = local.to_principal(problem.velocity(triple, &space.now));
            u.x *= part_of_normal;
            let begin = local.to_principal(start);
            let q = u - local.apply_principal(begin);
            let memory = &mut space.memory[contact];
            let solved = schedule.options.solve(local, q, *friction, begin, memory);
            let solved = local.from_principal(solved);
            schedule.note(contact, start, solved);
            solved
        };
        sums.add_change(space.lambda[triple], [before, start, solved]);
        space.now[triple] = solved;
    }
}

impl Relaxation for ClassicalStoredSweep<'_> {
    fn check_after(&self, sweeps: usize) -> usize {
        self.inner.check_after(sweeps)
    }

    fn is_exact(&self) -> bool {
        self.schedule.options.is_exact()
    }

    fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    fn sweep(&mut self, stride: Stride) -> SweepSums {
        self.inner.extrapolate(stride.beta);
        let mut sums = SweepSums::default();
        let backwards = self.schedule.next_sweep();
        for position in 0..self.schedule.len() {
            let interaction = self.schedule.contact(position, backwards);
            if let OneBlock::Contact(..) = self.inner.space.local[interaction] {
                self.relax(interaction, stride.normal, &mut sums);
            } else {
                self.inner.relax(interaction, stride.normal, &mut sums);
            }
        }
        sums
    }

    fn residual(&mut self) -> Residual {
        self.schedule.thaw();
        self.inner.residual()
    }

    fn residual_of(&mut self, impulse: &[DVec3]) -> Residual {
        self.inner.residual_of(impulse)
    }

    fn impulse(&self) -> &[DVec3] {
        self.inner.impulse()
    }

    fn restart(&mut self, impulse: &[DVec3]) {
        self.inner.restart(impulse);
    }
}
