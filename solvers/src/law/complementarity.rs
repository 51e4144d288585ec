//! `0 ≤ w ⊥ r ≥ 0`: a frictionless contact, a one-sided limit, a diode, a row of an LCP; `C = [0, ∞)`, no shift, no parameter.

use super::RowLaw;
use super::linearised::{ConeMap, Linearised};
use glam::DVec3;

pub(crate) struct Complementarity;

impl RowLaw for Complementarity {
    fn rows(&self) -> usize {
        1
    }

    fn project(&self, z: &mut [f64]) {
        // A NaN goes through: an undefined row is not a solved one.
        if z[0] < 0.0 {
            z[0] = 0.0;
        }
    }

    fn violation(&self, r: &[f64]) -> f64 {
        (-r[0]).max(0.0)
    }

    fn linearise(&self, _: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        let x = y[0].x - rho * w[0].x;
        at[0] = if x > 0.0 {
            Linearised::first_row(x)
        } else {
            Linearised::default()
        };
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        to_zero(at[0].rank > 0, r[0].x, d[0].x)
    }
}

/// Where `r + t d`, `r ≥ 0`, comes to zero, if it is `closed` and falls.
pub(super) fn to_zero(closed: bool, r: f64, d: f64) -> f64 {
    if closed && d < 0.0 {
        -r / d
    } else {
        f64::INFINITY
    }
}
