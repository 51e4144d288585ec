//! `−w ∈ N_B(r)` with the ball `B = { ‖r‖ ≤ ρ } ⊂ ℝ³`: dry friction of a ball joint, any three rows whose effort is bounded together.
//!
//! ```text
//! w = 0 if ‖r‖ < ρ,     w = −α r, α ≥ 0 if ‖r‖ = ρ
//! ```
//!
//! It is the law of largest dissipation, `r` minimises `w·r` over `B`; no direction is preferred. `B` is bounded and there is no shift, so
//! that one block is a trust-region problem, `min ½ rᵀW r + qᵀr` over `B`. With `W = Q diag(d) Qᵀ`, `b = Qᵀq`:
//!
//! ```text
//! r(α) = −Q (b_k/(d_k + α)),     α = 0 if ‖r(0)‖ ≤ ρ,     else ‖r(α)‖ = ρ                                 (1)
//! ```
//!
//! `1/‖r(α)‖` is concave and rises, so that Newton's method on `1/‖r(α)‖ = 1/ρ` rises to the root from any `α` below it. One is
//! `max(0, ‖b‖/ρ − max d, |b_k|/ρ − d_k)`, at which no denominator is zero but under `b_k = 0`.
//!
//! Reference: A. R. Conn, N. I. M. Gould, P. L. Toint, *Trust-region methods*, 2000, §7.3.

use super::linearised::{ConeMap, Linearised};
use super::one_contact::jacobi_rotation;
use super::{Defect, RowLaw};
use glam::{DMat3, DVec3};

/// Three impulses whose norm is bounded.
///
/// ```
/// use moreau_solvers::Law;
/// let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let mut r = [0.0; 3];
/// Law::ball(10.0).solve_block(&unit, &[0.0, 6.0, 8.0], &mut r); // it holds
/// assert!((r[1] + 6.0).abs() + (r[2] + 8.0).abs() < 1e-14);
/// Law::ball(5.0).solve_block(&unit, &[0.0, 6.0, 8.0], &mut r); // it slips, and is opposed by its bound
/// assert!((r[1] + 3.0).abs() + (r[2] + 4.0).abs() < 1e-14);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// `ρ ≥ 0`, N·s or N·m·s; infinite for free multipliers.
    pub radius: f64,
}

impl Ball {
    /// The ball of the impulses `factor · r`.
    pub(super) fn scaled(&self, factor: f64) -> Self {
        Self {
            radius: self.radius * factor,
        }
    }

    /// The nearest point of the ball. A NaN goes through: an undefined interaction is not a solved one.
    fn nearest(&self, x: DVec3) -> DVec3 {
        let length = x.length();
        if length > self.radius {
            x * (self.radius / length)
        } else {
            x
        }
    }
}

fn three(z: &[f64]) -> DVec3 {
    DVec3::new(z[0], z[1], z[2])
}

impl RowLaw for Ball {
    fn rows(&self) -> usize {
        3
    }

    fn project(&self, z: &mut [f64]) {
        if super::is_undefined(z) {
            return z.fill(f64::NAN);
        }
        z.copy_from_slice(&self.nearest(three(z)).to_array());
    }

    fn project_recession(&self, z: &mut [f64]) {
        if self.radius.is_finite() {
            z.fill(0.0);
        }
    }

    fn violation(&self, r: &[f64]) -> f64 {
        (three(r).length() - self.radius).max(0.0)
    }

    fn is_unilateral(&self) -> bool {
        false
    }

    fn defect(&self) -> Option<Defect> {
        let ok = self.radius >= 0.0;
        (!ok).then_some(Defect {
            what: "radius",
            value: self.radius,
            bound: "≥ 0",
        })
    }

    /// On the sphere `P = ρ n`, `n = x/‖x‖`, and `∂P/∂x = (ρ/‖x‖) (I − n nᵀ)`, of rank two.
    fn linearise(&self, _: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        let x = y[0] - w[0] * rho;
        let length = x.length();
        if length < self.radius {
            at[0] = Linearised::free(x);
            return;
        }
        at[0] = Linearised {
            point: self.nearest(x),
            ..Linearised::default()
        };
        if self.radius > 0.0 && length.is_finite() {
            let root = (self.radius / length).sqrt();
            let (a, b) = (x / length).any_orthonormal_pair();
            at[0].push_square(a * root);
            at[0].push_square(b * root);
        }
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        let (r, d) = (r[0], d[0]);
        let square = d.length_squared();
        if at[0].rank < 3 || square == 0.0 || self.radius.is_infinite() {
            return f64::INFINITY;
        }
        // t² d·d + 2 t r·d = ρ² − r·r ≥ 0: the positive root, without cancellation.
        let (along, room) = (r.dot(d), self.radius * self.radius - r.length_squared());
        let root = (along * along + square * room.max(0.0)).sqrt();
        if along > 0.0 {
            room / (along + root)
        } else {
            (root - along) / square
        }
    }
}

/// Sweeps of Jacobi's method; three or four are the rule.
const SWEEPS: usize = 16;
/// Newton steps; about five are the rule, and they rise all the way.
const STEPS: usize = 100;

/// A prepared block: `W = Q diag(d) Qᵀ`.
#[derive(Clone, Debug)]
pub(crate) struct BallBlock {
    radius: f64,
    /// `Q`.
    axes: DMat3,
    /// `d ≥ 0`; what is below rounding is zero.
    values: DVec3,
}

impl BallBlock {
    /// Prepares the symmetric part of `block`. One with entries that are not finite carries no impulse.
    pub(crate) fn new(law: &Ball, block: &DMat3) -> Self {
        let symmetric = (*block + block.transpose()) * 0.5;
        if !symmetric.is_finite() {
            return Self {
                radius: 0.0,
                axes: DMat3::IDENTITY,
                values: DVec3::ZERO,
            };
        }
        let (axes, values) = eigen(symmetric);
        let least = 8.0 * f64::EPSILON * values.max_element();
        let values = DVec3::from_array(values.to_array().map(|d| if d > least { d } else { 0.0 }));
        Self {
            radius: law.radius,
            axes,
            values,
        }
    }

    /// As [`crate::law::one_block::OneBlock::relax`].
    pub(crate) fn relax(&self, w: &[f64], r: &mut [f64]) {
        let (w, old) = (three(w), self.axes.transpose() * three(r));
        if w.is_nan() || old.is_nan() {
            return r.fill(f64::NAN);
        }
        let b = self.axes.transpose() * w - self.values * old;
        // What is left of a velocity that nothing changes is rounding of this size.
        let noise = 16.0 * f64::EPSILON * (w.length() + self.values.max_element() * old.length());
        let solved = self.axes * self.solve(b, noise);
        r.copy_from_slice(
            &Ball {
                radius: self.radius,
            }
            .nearest(solved)
            .to_array(),
        );
    }

    /// `r` along the axes.
    fn solve(&self, b: DVec3, noise: f64) -> DVec3 {
        if self.radius <= 0.0 {
            return DVec3::ZERO;
        }
        let (d, radius) = (self.values.to_array(), self.radius);
        let mut b = b.to_array();
        for (b, d) in b.iter_mut().zip(d) {
            // Nothing bounds a free multiplier that does nothing: it is zero.
            if d == 0.0 && (b.abs() <= noise || radius.is_infinite()) {
                *b = 0.0;
            }
        }
        let at = |alpha: f64| {
            let part = |k: usize| {
                if b[k] == 0.0 {
                    0.0
                } else {
                    -b[k] / (d[k] + alpha)
                }
            };
            DVec3::new(part(0), part(1), part(2))
        };
        let held = at(0.0);
        if held.length() <= radius {
            return held;
        }
        let length = DVec3::from_array(b).length();
        let mut alpha = (length / radius - self.values.max_element()).max(0.0);
        for (b, d) in b.iter().zip(d) {
            alpha = alpha.max(b.abs() / radius - d);
        }
        let mut r = at(alpha);
        for _ in 0..STEPS {
            let size = r.length();
            let excess = size / radius - 1.0;
            if excess.is_nan() || excess <= 2.0 * f64::EPSILON {
                break;
            }
            let mut slope = 0.0;
            for (r, d) in r.to_array().into_iter().zip(d) {
                // A term without velocity has no denominator.
                if r != 0.0 {
                    slope += (r / size) * (r / size) / (d + alpha);
                }
            }
            let next = alpha + excess / slope;
            if next.is_nan() || next <= alpha {
                break;
            }
            alpha = next;
            r = at(alpha);
        }
        r
    }
}

/// Axes, as columns, and values of a symmetric matrix, by Jacobi's method.
fn eigen(mut matrix: DMat3) -> (DMat3, DVec3) {
    let mut axes = DMat3::IDENTITY;
    for _ in 0..SWEEPS {
        let mut turned = false;
        for [p, q] in [[0, 1], [0, 2], [1, 2]] {
            let (a, o, d) = (matrix.col(p)[p], matrix.col(q)[p], matrix.col(q)[q]);
            let (c, s, t) = jacobi_rotation(a, o, d);
            if t == 0.0 {
                continue;
            }
            turned = true;
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = c;
            turn.col_mut(p)[q] = -s;
            turn.col_mut(q)[p] = s;
            turn.col_mut(q)[q] = c;
            matrix = turn.transpose() * matrix * turn;
            // As they are in exact arithmetic.
            matrix.col_mut(p)[p] = a - t * o;
            matrix.col_mut(q)[q] = d + t * o;
            matrix.col_mut(p)[q] = 0.0;
            matrix.col_mut(q)[p] = 0.0;
            axes *= turn;
        }
        if !turned {
            break;
        }
    }
    let values = [matrix.x_axis.x, matrix.y_axis.y, matrix.z_axis.z];
    (axes, DVec3::from_array(values.map(|d| d.max(0.0))))
}
