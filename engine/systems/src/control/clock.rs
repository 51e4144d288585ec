//! When an instrument works.

use crate::error::{FieldError, expect_range};

/// The sampling instants `t_0 + k T`, `k = 0, 1, …`.
///
/// Under time stepping an instant is taken at the first step that begins at or after it, within rounding (10⁻⁹ `h` and eight roundings of `t`): values are those of the
/// state there. So a rate that is no multiple of `h` keeps its mean, and each instant comes late by less than `h`. `T` must be at least `h`: at most one instant falls
/// into a step. Under event-driven integration instants are met exactly, and `T` may be anything. What is spawned late begins with the instant that has passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// `t_0`, s.
    pub start: f64,
    /// `T > 0`, s.
    pub period: f64,
}

impl Clock {
    /// Instants `0, T, 2T, …`, s.
    #[must_use]
    pub fn new(period: f64) -> Self {
        Self { start: 0.0, period }
    }

    /// Instants `t_0, t_0 + T, …`, s.
    #[must_use]
    pub fn starting_at(start: f64, period: f64) -> Self {
        Self { start, period }
    }

    /// `h` is that of time stepping.
    pub(super) fn check(&self, h: Option<f64>) -> Result<(), FieldError> {
        let (start, period) = (self.start, self.period);
        expect_range("clock.start", start, start.is_finite(), "finite")?;
        let positive = period.is_finite() && period > 0.0;
        expect_range("clock.period", period, positive, "finite and > 0")?;
        // Beyond that the numbers of instants are not exact.
        let counted = (start / period).abs() < 9e15;
        let bound = "within 9e15 periods of zero";
        expect_range("clock.start", start, counted, bound)?;
        let slow = h.is_none_or(|h| period >= h * (1.0 - 1e-9));
        expect_range("clock.period", period, slow, "at least the step h")
    }

    /// The number of the last instant at or before `t`; `None` before the first.
    pub(super) fn last_instant(&self, t: f64, h: f64) -> Option<u64> {
        let slack = 1e-9 * h + 8.0 * f64::EPSILON * t.abs();
        let since = t - self.start + slack;
        (since >= 0.0).then(|| (since / self.period).floor() as u64)
    }

    /// The time of the first instant after `t`, s, of those that event-driven integration meets on its way to `end`, s.
    ///
    /// # Errors
    /// [`FieldError::Range`] if the period is so short that instants cannot be told apart on the way.
    pub(crate) fn next_after(&self, t: f64, end: f64) -> Result<f64, FieldError> {
        let last = self.last_instant(t, 0.0);
        let next = last.map_or(0, |last| last.saturating_add(1));
        let time = self.start + next as f64 * self.period;
        let rounding = 4.0 * f64::EPSILON * t.abs().max(end.abs());
        let holds = time.is_finite() && time > t && self.period > rounding;
        let bound = "longer than a rounding of the time";
        expect_range("clock.period", self.period, holds, bound)?;
        Ok(time)
    }
}
