//! What a solve is to reach, and what it may cost.

use crate::{Residual, SolverStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Target residuals and limits of one solve. Budgets of iterations are settings of each solver,
/// since an iteration means something else in each.
///
/// A time limit only ends a solve: as long as it does not strike, results do not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a> {
    /// `e_scaled` to reach, of equalities and of all other interactions; infinite if it does not matter. Default 1e-4.
    pub scaled: f64,
    /// `e_fclib` to reach; infinite (the default) if it does not matter.
    pub fclib: f64,
    /// Time after which the best iterate is returned with [`SolverStatus::TimedOut`].
    pub time_limit: Option<Duration>,
    /// Set it from another thread to get the best iterate with [`SolverStatus::Cancelled`].
    pub cancel: Option<&'a AtomicBool>,
}

impl Default for Goal<'_> {
    fn default() -> Self {
        Self::scaled(1e-4)
    }
}

impl Goal<'_> {
    /// `e_scaled ≤ tolerance`, without limits.
    #[must_use]
    pub fn scaled(tolerance: f64) -> Self {
        Self {
            scaled: tolerance,
            fclib: f64::INFINITY,
            time_limit: None,
            cancel: None,
        }
    }

    /// `e_fclib ≤ tolerance`, without limits.
    #[must_use]
    pub fn fclib(tolerance: f64) -> Self {
        Self {
            scaled: f64::INFINITY,
            fclib: tolerance,
            ..Self::scaled(tolerance)
        }
    }

    /// Both residuals within `tolerance`, without limits.
    #[must_use]
    pub fn both(tolerance: f64) -> Self {
        Self {
            fclib: tolerance,
            ..Self::scaled(tolerance)
        }
    }

    /// How many times too large a residual is: the goal is reached at 1 and below. Infinite for
    /// an undefined residual, so that nothing undefined passes for solved.
    #[must_use]
    pub fn excess(&self, residual: &Residual) -> f64 {
        let part = |value: f64, tolerance: f64| {
            if value.is_nan() {
                f64::INFINITY
            } else if tolerance.is_infinite() {
                0.0
            } else {
                // A tolerance of zero keeps the order of the residuals.
                value / tolerance.max(f64::MIN_POSITIVE)
            }
        };
        part(residual.whole(), self.scaled).max(part(residual.fclib, self.fclib))
    }
}

/// Watches the limits of a goal from the moment that it is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch<'a> {
    deadline: Option<Instant>,
    cancel: Option<&'a AtomicBool>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(goal: &Goal<'a>) -> Self {
        Self {
            deadline: goal
                .time_limit
                .and_then(|limit| Instant::now().checked_add(limit)),
            cancel: goal.cancel,
        }
    }

    /// The status to stop with, if a limit struck.
    pub(crate) fn stopped(&self) -> Option<SolverStatus> {
        if self.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(SolverStatus::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Some(SolverStatus::TimedOut),
            _ => None,
        }
    }
}
