//! What a solver says of its answer.

use crate::Residual;

/// How a solve ended. All but [`SolverStatus::Converged`] return the best impulse found, with the
/// residual that it reached: they are findings, not errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SolverStatus {
    /// The residual recomputed by [`crate::natural_map`] is within the goal.
    Converged,
    /// The budget of iterations ran out first; also the status before a solve begins.
    #[default]
    Stopped,
    /// The time limit struck first.
    TimedOut,
    /// The solve was cancelled.
    Cancelled,
    /// No impulse keeps the bodies apart: a certificate was found.
    Infeasible,
    /// The impulses grow without bound, or overflow, and no certificate of infeasibility was
    /// found: `W` is not positive semi-definite, or the contacts jam.
    Unbounded,
    /// Lemke's path ended on a ray, and there is no certificate of infeasibility: of most matrices that says nothing about other
    /// solutions.
    Ray,
    /// Every complementary basis was searched, and none is a solution; there is no certificate of infeasibility.
    NoSolution,
}

/// Outcome of one solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverReport {
    /// How it ended.
    pub status: SolverStatus,
    /// Residual of the impulse returned, recomputed from the definition.
    pub residual: Residual,
    /// Gauss–Seidel sweeps, or iterations of a method without sweeps. Of an island that [`Auto`](crate::Auto) solves by itself its share of the whole.
    pub iterations: usize,
    /// Matrix factorisations: one a Newton step, few for ADMM, none for sweeps. Of islands as above.
    pub factorizations: usize,
    /// Times that the momentum was restarted.
    pub restarts: usize,
    /// Times that the full residual was computed.
    pub certificates: usize,
    /// Largest root mean square of `λ_α‖F_α‖` over the closed contacts of an island, m/s. Of time steps only.
    pub island_velocity: f64,
    /// The contact with the largest `λ_α‖F_α‖`, if it is not zero. Of time steps only.
    pub worst_contact: Option<u32>,
    /// Where the status is [`SolverStatus::Infeasible`] or [`SolverStatus::Unbounded`]: the contact that is farthest from its law
    /// in the islands without solution. Of time steps only.
    pub conflict: Option<u32>,
}

impl SolverReport {
    /// True if the goal was reached.
    #[must_use]
    pub fn converged(&self) -> bool {
        self.status == SolverStatus::Converged
    }
}
