//! What a step says of itself.

use moreau_solvers::{Residual, SolverStatus};

/// Outcome of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Time at the end of the step, s.
    pub time: f64,
    /// Newton's loop ended within its bound, every problem was solved to the tolerance, and the projection, if any, left no overlap beyond its own.
    pub converged: bool,
    /// Largest residual of the dynamics, relative to its terms.
    pub newton_residual: f64,
    /// Iterations of Newton's loop, over all rounds of a combined projection.
    pub newton_iterations: usize,
    /// Interactions that took part in the problem.
    pub active: usize,
    /// Rows of the last problem.
    pub rows: usize,
    /// How the worst solve of the last Newton loop ended.
    pub status: SolverStatus,
    /// Residual of the last problem by the natural map; zero without rows.
    pub residual: Residual,
    /// Corrections of positions.
    pub projections: usize,
    /// Largest overlap that is left at interactions of impact laws, m.
    pub overlap: f64,
}
