//! The budgets of islands that are solved one by one.
//!
//! What an island takes counts as its share of the whole. So each of them has the budget that it would have alone, and all together take no more than the
//! whole would.

use crate::SolverReport;

/// Sweeps and factorisations.
pub(super) type Work = [usize; 2];

/// What was spent before the islands, and on them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    before: Work,
    /// In solves of the whole.
    now: [f64; 2],
}

/// The work of a report.
pub(super) fn work(report: &SolverReport) -> Work {
    [report.iterations, report.factorizations]
}

impl Spent {
    pub(super) fn at(report: &SolverReport) -> Self {
        Self {
            before: work(report),
            now: [0.0; 2],
        }
    }

    /// Before the islands: what each of them starts from.
    pub(super) fn before(&self) -> Work {
        self.before
    }

    /// Adds what an island took that is so large a part of the whole.
    pub(super) fn add(&mut self, own: &SolverReport, part: f64, report: &mut SolverReport) {
        for (now, own) in self.now.iter_mut().zip(work(own)) {
            *now += own as f64 * part;
        }
        let [sweeps, factorizations] = self.now.map(|now| now.ceil() as usize);
        report.iterations = self.before[0] + sweeps;
        report.factorizations = self.before[1] + factorizations;
        report.restarts += own.restarts;
    }
}
