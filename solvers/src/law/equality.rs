//! `w = 0`, free multipliers: rows of joints and of mixed problems.
//!
//! Rows that say the same twice leave multipliers open: the one-block solve takes the shortest ones.

use super::linearised::{ConeMap, Linearised};
use super::{Defect, RowLaw};
use glam::DVec3;

/// `rows` rows with free multipliers, at least one; impulses in N·s or N·m·s, as the rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equality {
    /// `m ≥ 1`.
    pub rows: usize,
}

impl RowLaw for Equality {
    fn rows(&self) -> usize {
        self.rows
    }

    fn project(&self, _: &mut [f64]) {}

    fn violation(&self, _: &[f64]) -> f64 {
        0.0
    }

    fn is_unilateral(&self) -> bool {
        false
    }

    fn defect(&self) -> Option<Defect> {
        (self.rows == 0).then_some(Defect {
            what: "rows",
            value: 0.0,
            bound: "≥ 1",
        })
    }

    fn linearise(&self, _: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        for ((at, y), w) in at.iter_mut().zip(y).zip(w) {
            *at = Linearised::free(*y - *w * rho);
        }
    }
}
