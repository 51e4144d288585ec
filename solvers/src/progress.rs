//! The bookkeeping that all solvers share: the best iterate by the true residual, the history, the
//! limits and the report.

use crate::goal::Watch;
use crate::history::History;
use crate::{Goal, Residual, SolverReport, SolverStatus};
use glam::DVec3;

/// A solve in progress.
pub(crate) struct Progress<'a> {
    pub(crate) goal: Goal<'a>,
    pub(crate) report: SolverReport,
    pub(crate) watch: Watch<'a>,
    history: &'a mut History,
    best: &'a mut Vec<DVec3>,
    excess: f64,
    best_is_last: bool,
}

impl<'a> Progress<'a> {
    /// Starts the clock; `start` is returned if nothing better is ever judged.
    pub(crate) fn new(
        goal: &Goal<'a>,
        history: &'a mut History,
        best: &'a mut Vec<DVec3>,
        start: &[DVec3],
    ) -> Self {
        history.clear();
        best.clear();
        best.extend_from_slice(start);
        let infinite = Residual {
            scaled: f64::INFINITY,
            fclib: f64::INFINITY,
            ..Residual::default()
        };
        Self {
            goal: *goal,
            report: SolverReport {
                status: SolverStatus::Stopped,
                residual: infinite,
                ..SolverReport::default()
            },
            watch: Watch::new(goal),
            history,
            best,
            excess: f64::INFINITY,
            best_is_last: false,
        }
    }

    /// Takes notice of the true residual of an iterate and keeps the iterate if it is the best so
    /// far. A non-finite residual is never kept. Returns its excess over the goal.
    pub(crate) fn judge(&mut self, residual: &Residual, impulse: &[DVec3]) -> f64 {
        let report = &mut self.report;
        report.certificates += 1;
        self.history
            .record(report.iterations, report.factorizations, residual);
        let excess = self.goal.excess(residual);
        self.best_is_last = excess < self.excess;
        if self.best_is_last {
            self.excess = excess;
            report.residual = *residual;
            self.best.clear();
            self.best.extend_from_slice(impulse);
        }
        if excess <= 1.0 {
            report.status = SolverStatus::Converged;
        }
        excess
    }

    /// The best iterate so far, or the start.
    pub(crate) fn best(&self) -> &[DVec3] {
        self.best
    }

    /// The iterate that was judged last is the best one.
    pub(crate) fn best_is_last(&self) -> bool {
        self.best_is_last
    }

    /// How many times too large the residual of the best iterate is; infinite before the first.
    pub(crate) fn excess(&self) -> f64 {
        self.excess
    }

    /// The goal is reached.
    pub(crate) fn converged(&self) -> bool {
        self.excess <= 1.0
    }

    /// The goal is reached or a limit struck: time to return. Sets the status.
    pub(crate) fn finished(&mut self) -> bool {
        if self.converged() {
            return true;
        }
        match self.watch.stopped() {
            Some(status) => {
                self.report.status = status;
                true
            }
            None => false,
        }
    }
}
