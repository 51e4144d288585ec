//! Block Gauss–Seidel with the options of textbooks: any order, relaxation, frozen contacts, any local solver.
//!
//! The same method as [`crate::Nsgs`], one contact after the other on one thread. When to use it: to compare with the field's
//! classical choices. When not: for speed.

pub mod options;

pub(crate) mod stored_sweep;
mod twist_sweep;

use crate::comparison::LocalSolver;
use crate::problem::{FactoredProblem, ProblemError, StoredProblem, WorldTwist};
use crate::progress::Progress;
use crate::sweep::acceleration::{self, Relaxation as _};
use crate::sweep::explicit_sweep::ExplicitWorkspace;
use crate::{Goal, History, NsgsSettings, Solver, SolverReport, infeasibility};
use glam::DVec3;
use options::{Freezing, Schedule, SweepOptions, SweepOrder};
use stored_sweep::ClassicalStoredSweep;
use twist_sweep::{ClassicalTwistSweep, ClassicalWorkspace};

/// Settings of [`ClassicalNsgs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassicalSettings {
    /// Budget and momentum, as for [`crate::Nsgs`]; threads and vectors are not used.
    pub sweeps: NsgsSettings,
    /// How one contact is solved. Default [`LocalSolver::Exact`]. Other laws have one solve.
    pub local: LocalSolver,
    /// `ω` in `(0, 2)`: the impulse `y` of a contact, whose solve gives `x`, becomes
    /// `P_K(y + ω (x − y))`. Default 1. Larger values are faster on some piles and diverge on
    /// others; smaller ones damp.
    pub relaxation: f64,
    /// The order of the interactions. Default [`SweepOrder::Natural`].
    pub order: SweepOrder,
    /// Leave out contacts that hardly change. Default: none.
    pub freezing: Option<Freezing>,
}

impl Default for ClassicalSettings {
    fn default() -> Self {
        Self {
            sweeps: NsgsSettings::default(),
            local: LocalSolver::Exact,
            relaxation: 1.0,
            order: SweepOrder::Natural,
            freezing: None,
        }
    }
}

impl ClassicalSettings {
    fn options(&self) -> SweepOptions {
        SweepOptions {
            local: self.local,
            relaxation: self.relaxation,
            order: self.order,
            freezing: self.freezing,
        }
    }
}

/// The solver and its buffers, which are reused from solve to solve.
#[derive(Debug, Default)]
pub struct ClassicalNsgs {
    /// Settings of the next solve.
    pub settings: ClassicalSettings,
    history: History,
    best: Vec<DVec3>,
    twists: ClassicalWorkspace,
    stored: ExplicitWorkspace,
    schedule: Schedule,
}

impl ClassicalNsgs {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: ClassicalSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Solves a factored problem in place, as [`crate::Nsgs::solve_factored`].
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or not finite; `impulse` is then unchanged.
    pub fn solve_factored(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [f64],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate()?;
        let options = self.settings.options();
        problem.in_triples(impulse, &mut Vec::new(), |impulse| {
            let mut sweep = ClassicalTwistSweep::new(problem, &mut self.twists, impulse, &options);
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            acceleration::run(&mut sweep, &self.settings.sweeps, &mut progress);
            problem.twist_under_triples(progress.best(), twist);
            let report = progress.report;
            impulse.copy_from_slice(&self.best);
            Ok(report)
        })
    }
}

impl Solver for ClassicalNsgs {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        let options = self.settings.options();
        problem.in_triples(impulse, |impulse| {
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            let (space, schedule) = (&mut self.stored, &mut self.schedule);
            let mut sweep = ClassicalStoredSweep::new(problem, space, schedule, impulse, &options);
            acceleration::run(&mut sweep, &self.settings.sweeps, &mut progress);
            let mut report = progress.report;
            infeasibility::conclude(problem, sweep.impulse(), &mut report);
            impulse.copy_from_slice(&self.best);
            report
        })
    }

    fn history(&self) -> &History {
        &self.history
    }
}

#[cfg(test)]
mod tests;
