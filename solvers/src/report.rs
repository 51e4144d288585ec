//! What a solver says of its answer.

use crate::Residual;

/// How a solve ended. `Stopped` is not an error: the best impulse found is returned with the
/// residual that it reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolverStatus {
    /// The residual recomputed by [`crate::natural_map`] is within the tolerance.
    #[default]
    Converged,
    /// The budget of sweeps ran out first.
    Stopped,
}

/// Outcome of one solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverReport {
    /// How it ended.
    pub status: SolverStatus,
    /// Residual of the impulse returned, recomputed from the definition.
    pub residual: Residual,
    /// Gauss–Seidel sweeps done.
    pub sweeps: usize,
    /// Times that the momentum was restarted.
    pub restarts: usize,
    /// Times that the full residual was computed.
    pub certificates: usize,
}

impl SolverReport {
    /// True if the tolerance was met.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.status == SolverStatus::Converged
    }
}
