//! `−w ∈ N_[lo, hi](r)`: a relay, a motor of bounded effort, dry friction of a joint, a two-sided limit in force.
//!
//! ```text
//! w = 0 if lo < r < hi,   w ≥ 0 if r = lo,   w ≤ 0 if r = hi
//! ```

use super::linearised::{ConeMap, Linearised};
use super::{Defect, RowLaw};
use glam::DVec3;

/// An impulse within bounds, `low ≤ high`; either may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Least impulse, N·s or N·m·s.
    pub low: f64,
    /// Largest impulse, N·s or N·m·s.
    pub high: f64,
}

impl Interval {
    /// The interval of the impulses `factor · r`.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            high: self.high * factor,
        }
    }

    fn clamp(&self, x: f64) -> f64 {
        // A NaN goes through: an undefined row is not a solved one.
        if x < self.low {
            self.low
        } else if x > self.high {
            self.high
        } else {
            x
        }
    }
}

impl RowLaw for Interval {
    fn rows(&self) -> usize {
        1
    }

    fn project(&self, z: &mut [f64]) {
        z[0] = self.clamp(z[0]);
    }

    fn project_recession(&self, z: &mut [f64]) {
        let bound = |end: f64| if end.is_infinite() { end } else { 0.0 };
        let ends = Self {
            low: bound(self.low),
            high: bound(self.high),
        };
        z[0] = ends.clamp(z[0]);
    }

    fn violation(&self, r: &[f64]) -> f64 {
        (self.low - r[0]).max(r[0] - self.high).max(0.0)
    }

    fn is_unilateral(&self) -> bool {
        false
    }

    fn defect(&self) -> Option<Defect> {
        let of = |what, value, bound| Some(Defect { what, value, bound });
        if self.low.is_nan() || self.low == f64::INFINITY {
            of("lower bound", self.low, "a number below ∞")
        } else if self.high.is_nan() || self.high == f64::NEG_INFINITY {
            of("upper bound", self.high, "a number above −∞")
        } else if self.low > self.high {
            of("upper bound", self.high, "≥ the lower bound")
        } else {
            None
        }
    }

    fn linearise(&self, _: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        let x = y[0].x - rho * w[0].x;
        let inside = x > self.low && x < self.high;
        at[0] = Linearised {
            rank: usize::from(inside),
            ..Linearised::first_row(self.clamp(x))
        };
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        let (r, d) = (r[0].x, d[0].x);
        if at[0].rank == 0 || d == 0.0 {
            f64::INFINITY
        } else if d < 0.0 {
            (self.low - r) / d
        } else {
            (self.high - r) / d
        }
    }
}
