//! The law of one interaction in the splitting, row by row.

use super::Shift;
use crate::Law;

/// `v ← z` of the law for the point `v` (scaled).
#[inline]
pub(super) fn resolve(shift: Shift, law: &Law, v: &mut [f64]) {
    match shift {
        Shift::Implicit => law.resolve(v),
        Shift::Explicit => law.project(v),
    }
}

/// What a velocity `u` contributes to `−ρy`: `u` itself, moved to where the law can meet it, the dual of the recession cone.
pub(super) fn dual(shift: Shift, law: &Law, u: &mut [f64]) {
    if law.has_friction() && shift == Shift::Implicit {
        u[0] = u[0].max(0.0);
        return;
    }
    u[0] += law.shift(u);
    let mut against: smallvec::SmallVec<[f64; 6]> = u.iter().map(|u| -u).collect();
    law.project_recession(&mut against);
    for (u, back) in u.iter_mut().zip(&against) {
        *u += back;
    }
}
