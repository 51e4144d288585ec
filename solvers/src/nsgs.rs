//! NSGS: nonsmooth block Gauss–Seidel with the exact one-contact solve [Jean99; docs/theory.md §9].
//!
//! ```text
//! repeat:  for each contact α:  q_loc = u_α − W_αα r_α,   r_α ← solve(W_αα, q_loc, μ_α)
//! ```
//!
//! Two forms of the same method: on the twists of the bodies ([`Nsgs::solve_factored`], the
//! default: a sweep costs `O(n_c)` whatever the valence) and on stored blocks
//! ([`Solver::solve`], for imported problems). Momentum: [`crate::sweep::acceleration`].
//! When to use it: granular piles and every warm-started time step. When not: to 1e-8 on masonry
//! and on stacks with large mass ratios, where its linear rate is too close to one.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use moreau_solvers::{Delassus, StoredProblem, Goal, Nsgs, NsgsSettings, Solver};
//! let problem = StoredProblem::of_contacts(
//!     Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
//!     vec![DVec3::new(-1.0, 0.3, 0.0)],
//!     vec![0.5],
//! );
//! let mut impulse = vec![0.0; 3];
//! let report = Nsgs::new(NsgsSettings::default()).solve(&problem, &mut impulse, &Goal::scaled(1e-4))?;
//! assert!(report.converged());
//! assert!((DVec3::from_slice(&impulse) - DVec3::new(1.0, -0.3, 0.0)).length() < 1e-14); // it sticks
//! # Ok::<(), moreau_solvers::ProblemError>(())
//! ```

use crate::problem::{FactoredProblem, ProblemError, StoredProblem, WorldTwist};
use crate::progress::Progress;
use crate::sweep::acceleration::{self, Momentum, Relaxation as _};
use crate::sweep::explicit_sweep::{ExplicitSweep, ExplicitWorkspace};
use crate::sweep::lane_sweep::{LaneSweep, LaneWorkspace};
use crate::{Goal, History, Solver, SolverReport, awake, infeasibility};
use glam::DVec3;

/// Settings of [`Nsgs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NsgsSettings {
    /// Sweeps done in any case; 0 accepts a warm start that already meets the goal. Default 8: stopping on
    /// the tolerance alone lets a resting pile sink slowly, since its warm start is good enough. While sweeps
    /// keep their direction, as in structures at rest, twice as many are done.
    pub min_sweeps: usize,
    /// Budget of sweeps. Default 5 000.
    pub max_sweeps: usize,
    /// Give up when the best residual has not halved within this many sweeps. Default: never.
    pub stall_window: Option<usize>,
    /// Acceleration. Default [`Momentum::CAPPED`].
    pub momentum: Momentum,
    /// Contacts from which on the sweep is shared among the threads of the rayon pool that the
    /// solve is called in, if it is called in one.
    /// Default 3 000: smaller problems are not cut into parts. The bits of the result do not depend
    /// on it.
    pub parallel_from: usize,
    /// Use the widest vector instructions of the machine. Default true. The bits of the result do not
    /// depend on it.
    pub simd: bool,
}

impl Default for NsgsSettings {
    fn default() -> Self {
        Self {
            min_sweeps: 8,
            max_sweeps: 5_000,
            stall_window: None,
            momentum: Momentum::default(),
            parallel_from: 3_000,
            simd: true,
        }
    }
}

impl NsgsSettings {
    /// True if the threads of the pool that the caller runs in share the solve of this problem.
    pub(crate) fn shares(&self, problem: &FactoredProblem) -> bool {
        let pool = rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1;
        pool && problem.len() >= self.parallel_from
    }
}

/// The solver and its buffers, which are reused from solve to solve.
#[derive(Debug, Default)]
pub struct Nsgs {
    /// Settings of the next solve.
    pub settings: NsgsSettings,
    pub(crate) history: History,
    pub(crate) best: Vec<DVec3>,
    pub(crate) lanes: LaneWorkspace,
    pub(crate) explicit: ExplicitWorkspace,
    /// The impulse of a problem with interactions.
    triples: Vec<DVec3>,
}

impl Nsgs {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: NsgsSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Solves a factored problem in place. `impulse` (one entry a row; N·s, for couples N·m·s) is the
    /// warm start and receives the best impulse found; `twist` receives `v_free + Ŵ Gᵀ r`.
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
        problem.validate_bodies()?;
        let shared = self.settings.shares(problem);
        let mut triples = std::mem::take(&mut self.triples);
        let made = problem.in_triples(impulse, &mut triples, |impulse| {
            awake::during(shared, || {
                self.solve_on(problem, impulse, twist, goal, shared)
            })
        });
        self.triples = triples;
        made
    }

    /// The solve of a problem whose contacts have not been checked, on all threads of the pool if `shared`.
    fn solve_on(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [DVec3],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
        shared: bool,
    ) -> Result<SolverReport, ProblemError> {
        let (lanes, simd) = (&mut self.lanes, self.settings.simd);
        let mut sweep = LaneSweep::new(problem, lanes, impulse, shared, simd)?;
        let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
        acceleration::run(&mut sweep, &self.settings, &mut progress);
        lanes.twist_of_best(problem, &progress, twist);
        let report = progress.report;
        impulse.copy_from_slice(&self.best);
        Ok(report)
    }
}

impl Solver for Nsgs {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.in_triples(impulse, |impulse| {
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            let mut sweep = ExplicitSweep::new(problem, &mut self.explicit, impulse);
            acceleration::run(&mut sweep, &self.settings, &mut progress);
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
