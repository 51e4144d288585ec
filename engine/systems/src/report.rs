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

impl StepReport {
    /// That of no step, at a time, s.
    pub(crate) fn nothing(time: f64) -> Self {
        Self {
            time,
            converged: true,
            status: SolverStatus::Converged,
            ..Self::default()
        }
    }

    /// The worst of this and of a later step of the same systems.
    pub(crate) fn add_later(&mut self, other: &Self) {
        self.time = other.time;
        self.active = self.active.max(other.active);
        self.rows = self.rows.max(other.rows);
        self.add(other);
    }

    /// The worst of this and of other systems in the same step, whose interactions and rows add up.
    pub(crate) fn add_beside(&mut self, other: &Self) {
        self.active += other.active;
        self.rows += other.rows;
        self.add(other);
    }

    fn add(&mut self, other: &Self) {
        self.newton_residual = self.newton_residual.max(other.newton_residual);
        self.newton_iterations += other.newton_iterations;
        self.projections += other.projections;
        self.overlap = self.overlap.max(other.overlap);
        let is_worse = other.residual.scaled > self.residual.scaled;
        if self.converged || !other.converged && is_worse {
            self.status = other.status;
        }
        if is_worse {
            self.residual = other.residual;
        }
        self.converged &= other.converged;
    }
}
