//! Projected Gauss–Seidel with over-relaxation (PSOR) [Cryer71, Cottle-Pang-Stone92 ch. 5].
//!
//! ```text
//! for i = 1 … n:   z_i ← P_[low, high]( z_i − ω (M z + q)_i / M_ii )          M z with what is newest
//! ```
//!
//! **Converges** for symmetric positive semi-definite `M` with a positive diagonal if `0 < ω < 2` and the problem has a solution (linearly), and
//! for H-matrices with a positive diagonal if `ω ≤ 1`. Otherwise it may run in a cycle. **Needs** a positive diagonal.
//!
//! **When to use it:** large problems at low accuracy, from a warm start. **When not:** badly conditioned `M`. **Cost:** `n²` a sweep.

use super::BoxProblem;
use super::box_problem::dot;
use super::method::{Memory, Method, Trial, require_positive_diagonal, solver_of_boxes};
use crate::ProblemError;

/// Settings of [`Psor`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PsorSettings {
    /// Budget of sweeps. Default 10 000.
    pub max_sweeps: usize,
    /// `ω` in `(0, 2)`. Default 1: projected Gauss–Seidel.
    pub relaxation: f64,
    /// Sweeps between two looks of the judge, at least 1. Default 4.
    pub certificate_every: usize,
}

impl Default for PsorSettings {
    fn default() -> Self {
        Self {
            max_sweeps: 10_000,
            relaxation: 1.0,
            certificate_every: 4,
        }
    }
}

/// The method and its buffers.
///
/// ```
/// use moreau_solvers::complementarity::{BoxProblem, Psor};
/// use moreau_solvers::Goal;
/// let problem = BoxProblem::complementarity(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0])?;
/// let report = Psor::default().solve_box(&problem, &mut [0.0; 2], &Goal::scaled(1e-10))?;
/// assert!(report.converged());
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct Psor {
    /// Settings of the next solve.
    pub settings: PsorSettings,
    pub(super) memory: Memory,
}

impl Psor {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: PsorSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

solver_of_boxes!(Psor);

impl Method for Psor {
    const NAME: &'static str = "projected Gauss-Seidel";

    fn admits(&self, problem: &BoxProblem) -> Result<(), ProblemError> {
        require_positive_diagonal(Self::NAME, problem)
    }

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        let n = problem.len();
        let mut z = trial.best().to_vec();
        let every = self.settings.certificate_every.max(1);
        for sweep in 1..=self.settings.max_sweeps {
            for row in 0..n {
                let entries = problem.row(row);
                let w = dot(entries, &z) + problem.q()[row];
                let step = self.settings.relaxation * w / entries[row];
                z[row] = problem.clamp(row, z[row] - step);
            }
            trial.report.iterations += 1;
            if sweep % every == 0 || sweep == self.settings.max_sweeps {
                trial.judge(&z);
                if trial.finished() || !z.iter().all(|z| z.is_finite()) {
                    break;
                }
            }
        }
        trial.end_at(&z);
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}
