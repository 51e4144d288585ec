//! What all solvers of stored problems have in common.

use crate::complementarity::Boxes;
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

    /// The same of a problem whose laws are rows of boxes, without the stored form. `None`: this solver needs that form, or did not solve the problem;
    /// `z` is then as it was.
    ///
    /// # Errors
    /// As [`Self::solve`].
    fn solve_boxes(
        &mut self,
        _problem: Boxes<'_>,
        _z: &mut [f64],
        _goal: &Goal,
    ) -> Result<Option<SolverReport>, ProblemError> {
        Ok(None)
    }

    /// History of residuals of the last solve.
    fn history(&self) -> &History;
}
