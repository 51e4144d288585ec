//! NNCG: the nonsmooth nonlinear conjugate gradient method on the Gauss–Seidel map
//! [Silcowitz-Niebe-Erleben10].
//!
//! The step `d = GS(r) − r` of a sweep takes the place of the negative gradient in the recursion of
//! Fletcher and Reeves:
//!
//! ```text
//! g = GS(r_k),   d_k = g − r_k,   β = ‖d_k‖²_λ/‖d_{k−1}‖²_λ
//! β > 1:   r_{k+1} = g,            p = 0                  restart
//! else:    r_{k+1} = g + β p,      p ← β p + d_k
//! ‖d‖²_λ = Σ λ_α‖d_α‖²,   λ_α = trace(W_αα)/3                independent of the units
//! ```
//!
//! **When to use it:** stored problems that plain sweeps solve slowly, because information travels
//! one body a sweep: a stack of 8 cubes takes 571 iterations to 1e-8 instead of 15 500, random
//! problems half of the plain sweeps. It costs no more than those. **When not:** on tall stacks at
//! tight tolerances (30 cubes to 1e-8 are out of reach; Newton's methods are made for them), and on
//! time steps, which [`crate::Nsgs`] solves without stored blocks. Convergence is not guaranteed;
//! the best iterate by the true residual is returned. **Cost:** one sweep and three vector
//! operations an iteration.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use moreau_solvers::{Delassus, StoredProblem, Goal, Nncg, Solver};
//! let problem = StoredProblem::of_contacts(
//!     Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
//!     vec![DVec3::new(-1.0, 0.3, 0.0)],
//!     vec![0.5],
//! );
//! let mut impulse = vec![0.0; 3];
//! let report = Nncg::default().solve(&problem, &mut impulse, &Goal::scaled(1e-10))?;
//! assert!(report.converged());
//! # Ok::<(), moreau_solvers::ProblemError>(())
//! ```

use crate::comparison::fixed_point::{self, Extrapolation, FixedPointWorkspace, Limits};
use crate::progress::Progress;
use crate::{
    Goal, History, LocalSolver, ProblemError, Solver, SolverReport, StoredProblem, infeasibility,
};
use glam::DVec3;

/// Settings of [`Nncg`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NncgSettings {
    /// Budget of iterations, one sweep each. Default 5 000.
    pub max_iterations: usize,
    /// How one contact is solved. Default [`LocalSolver::Exact`].
    pub local: LocalSolver,
}

impl Default for NncgSettings {
    fn default() -> Self {
        Self {
            max_iterations: 5_000,
            local: LocalSolver::Exact,
        }
    }
}

/// The solver and its buffers, which are reused from solve to solve.
#[derive(Debug, Default)]
pub struct Nncg {
    /// Settings of the next solve.
    pub settings: NncgSettings,
    history: History,
    best: Vec<DVec3>,
    space: FixedPointWorkspace,
    direction: Direction,
}

impl Nncg {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: NncgSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

impl Solver for Nncg {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.in_triples(impulse, |impulse| {
            let limits = Limits {
                max_sweeps: self.settings.max_iterations,
                local: self.settings.local,
            };
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            let (space, method) = (&mut self.space, &mut self.direction);
            fixed_point::run(problem, space, method, impulse, &limits, &mut progress);
            let mut report = progress.report;
            impulse.copy_from_slice(&self.best);
            infeasibility::conclude(problem, impulse, &mut report);
            report
        })
    }

    fn history(&self) -> &History {
        &self.history
    }
}

/// The search direction `p` and `‖d_{k−1}‖²_λ`.
#[derive(Debug, Default)]
struct Direction {
    p: Vec<DVec3>,
    square: f64,
}

impl Extrapolation for Direction {
    fn reset(&mut self, blocks: usize) {
        self.p.clear();
        self.p.resize(blocks, DVec3::ZERO);
        self.square = f64::INFINITY;
    }

    fn extrapolate(&mut self, lambda: &[f64], start: &[DVec3], swept: &mut [DVec3]) -> bool {
        let terms = lambda.iter().zip(start).zip(swept.iter());
        let square: f64 = terms
            .map(|((l, x), g)| l * (*g - *x).length_squared())
            .sum();
        let beta = square / self.square;
        self.square = square;
        if beta > 1.0 || beta.is_nan() {
            self.p.fill(DVec3::ZERO);
            return true;
        }
        for ((p, x), g) in self.p.iter_mut().zip(start).zip(swept) {
            let step = *p * beta;
            *p = step + (*g - *x);
            *g += step;
        }
        false
    }
}
