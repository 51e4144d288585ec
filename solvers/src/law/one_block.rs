//! The diagonal block of one interaction, prepared for repeated exact solves with all others frozen.
//!
//! ```text
//! find r:   −( w + s(w) ) ∈ N_C(r),   w = W_αα r + q                 W_αα symmetric positive semi-definite
//! ```
//!
//! | law | solve |
//! |---|---|
//! | Coulomb, planar, cohesion | [`OneContact`]: a secular equation; cohesion for `r + (a, 0, 0)` |
//! | elliptic | the same for `S W S`, `S = diag(1, μ₁, μ₂)`, coefficient 1 |
//! | complementarity, interval | the clamped quotient |
//! | ball | [`BallBlock`]: a secular equation |
//! | equality | the pseudo-inverse: least-norm multipliers |
//! | rolling, spinning | [`RollingBlock`] |

use super::ball::BallBlock;
use super::rolling::block::RollingBlock;
use super::{Interval, Law, RowLaw};
use crate::OneContact;
use crate::algebra::pseudo_inverse::PseudoInverse;
use glam::{DMat3, DVec3};

/// One prepared block.
#[derive(Clone, Debug)]
pub(crate) enum OneBlock {
    /// Coulomb's law with the coefficient.
    Contact(OneContact, f64),
    /// Planar, elliptic and cohesive contact.
    Changed(Box<ChangedContact>),
    /// One row: `W` and its interval.
    Row(f64, Interval),
    Linear(Box<PseudoInverse>),
    Ball(Box<BallBlock>),
    Rolling(Box<RollingBlock>),
}

/// Coulomb's law for `S⁻¹ r + (a, 0, 0)`, with the block `S W S`.
#[derive(Clone, Debug)]
pub(crate) struct ChangedContact {
    local: OneContact,
    friction: f64,
    /// The diagonal of `S`.
    axes: DVec3,
    pull_off: f64,
}

impl ChangedContact {
    fn new(block: DMat3, friction: f64, axes: DVec3, pull_off: f64) -> Self {
        let scale = DMat3::from_diagonal(axes);
        Self {
            local: OneContact::new(&(scale * block * scale)),
            friction,
            axes,
            pull_off,
        }
    }

    fn solve(&self, q: DVec3, memory: &mut f64) -> DVec3 {
        let local = &self.local;
        let mut q = local.to_principal(q * self.axes);
        q -= local.apply_principal(DVec3::X * self.pull_off);
        let r = local.solve_principal_from(q, self.friction, memory);
        (local.from_principal(r) - DVec3::X * self.pull_off) * self.axes
    }
}

impl OneBlock {
    /// Prepares the symmetric part of `block`, `m × m`, row by row; for equalities the whole of it.
    pub(crate) fn new(law: &Law, block: &[f64]) -> Self {
        let m = law.rows();
        let entry = |i: usize, j: usize| block[i * m + j];
        let matrix = |n: usize, spare: f64| {
            let at = |i: usize, j: usize| match (i < n && j < n, i == j) {
                (true, _) => entry(i, j),
                (false, true) => spare,
                (false, false) => 0.0,
            };
            DMat3::from_cols_array_2d(&[0, 1, 2].map(|j| [0, 1, 2].map(|i| at(i, j))))
        };
        match law {
            Law::Coulomb(law) => Self::Contact(OneContact::new(&matrix(3, 0.0)), law.friction),
            Law::PlanarCoulomb(law) => {
                let spare = 0.5 * (entry(0, 0) + entry(1, 1));
                let changed = ChangedContact::new(matrix(2, spare), law.friction, DVec3::ONE, 0.0);
                Self::Changed(Box::new(changed))
            }
            Law::EllipticCoulomb(law) => {
                let axes = DVec3::new(1.0, law.friction[0], law.friction[1]);
                Self::Changed(Box::new(ChangedContact::new(
                    matrix(3, 0.0),
                    1.0,
                    axes,
                    0.0,
                )))
            }
            Law::Cohesion(law) => {
                let (mu, a) = (law.friction, law.pull_off);
                Self::Changed(Box::new(ChangedContact::new(
                    matrix(3, 0.0),
                    mu,
                    DVec3::ONE,
                    a,
                )))
            }
            Law::Complementarity => Self::Row(
                block[0],
                Interval {
                    low: 0.0,
                    high: f64::INFINITY,
                },
            ),
            Law::Interval(law) => Self::Row(block[0], *law),
            Law::Ball(law) => Self::Ball(Box::new(BallBlock::new(law, &matrix(3, 0.0)))),
            Law::Equality(_) => Self::Linear(Box::new(PseudoInverse::new(m, block))),
            Law::Rolling(law) => Self::Rolling(Box::new(RollingBlock::new(law, block))),
        }
    }

    /// `r` for the velocity `q` without it.
    pub(crate) fn solve(&mut self, q: &[f64], r: &mut [f64]) {
        r.fill(0.0);
        self.relax(q, r, 1.0, &mut 0.0);
    }

    /// Replaces the impulse `r` by the solution, given the velocity `w` that the interaction has with it. Of the correction of a
    /// contact's normal impulse the given part is made. `memory` belongs to the interaction: 0 at first.
    pub(crate) fn relax(
        &mut self,
        w: &[f64],
        r: &mut [f64],
        part_of_normal: f64,
        memory: &mut f64,
    ) {
        match self {
            Self::Contact(local, friction) => {
                let mut u = local.to_principal(DVec3::from_slice(w));
                u.x *= part_of_normal;
                let q = u - local.apply_principal(local.to_principal(DVec3::from_slice(r)));
                let solved = local.solve_principal_from(q, *friction, memory);
                r.copy_from_slice(&local.from_principal(solved).to_array());
            }
            Self::Changed(changed) => {
                let m = r.len();
                let three = |z: &[f64]| DVec3::new(z[0], z[1], z.get(2).copied().unwrap_or(0.0));
                let mut u = three(w);
                u.x *= part_of_normal;
                let solved = changed.solve(u - changed.apply(three(r)), memory);
                r.copy_from_slice(&solved.to_array()[..m]);
            }
            Self::Row(block, interval) => r[0] = row(*block, interval, w[0], r[0]),
            Self::Linear(inverse) => inverse.subtract_times(w, r),
            Self::Ball(block) => block.relax(w, r),
            Self::Rolling(block) => block.relax(w, r, part_of_normal),
        }
    }
}

impl ChangedContact {
    /// `W r`: `S⁻¹ (S W S) S⁻¹ r`; rows without friction take part through their own zero.
    fn apply(&self, r: DVec3) -> DVec3 {
        let over = |x: f64, s: f64| if s > 0.0 { x / s } else { 0.0 };
        let [x, y, z] = self.axes.to_array();
        let inner = DVec3::new(r.x, over(r.y, y), over(r.z, z));
        let local = &self.local;
        let w = local.from_principal(local.apply_principal(local.to_principal(inner)));
        DVec3::new(over(w.x, x), over(w.y, y), over(w.z, z))
    }
}

/// The impulse of one row of the velocity `w` under the impulse `r`.
fn row(block: f64, interval: &Interval, w: f64, r: f64) -> f64 {
    let mut solved = [if block > 0.0 { r - w / block } else { 0.0 }];
    if block.is_nan() || block <= 0.0 {
        // No impulse changes the velocity: it is at the end that the law names, if there is one.
        if w > 0.0 && interval.low.is_finite() {
            solved[0] = interval.low;
        } else if w < 0.0 && interval.high.is_finite() {
            solved[0] = interval.high;
        }
    }
    interval.project(&mut solved);
    solved[0]
}
