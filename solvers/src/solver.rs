//! What all solvers of stored problems have in common.

use crate::history::History;
use crate::{Goal, ProblemError, SolverReport, StoredProblem};

/// A method for friction-contact problems. Settings and buffers belong to the implementing type;
/// buffers are reused from solve to solve.
///
/// Every implementation works on the caller's `impulse`, returns the best iterate by the true
/// residual, and gives the same bits on any number of threads.
pub trait Solver {
    /// Solves in place: `impulse` (one entry a row of the problem; N·s, for couples N·m·s) is the warm start and receives the
    /// best impulse found.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or not finite; `impulse` is then unchanged.
    /// A goal that was not reached is no error but a [`crate::SolverStatus`].
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError>;

    /// History of residuals of the last solve.
    fn history(&self) -> &History;
}
