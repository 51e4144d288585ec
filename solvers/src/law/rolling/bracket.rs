//! The safeguard of a block with rolling resistance [`super::block`]: it always finds a solution.
//!
//! For given `n > 0` the groups minimise `½ xᵀS x + b·x` over the discs `‖x_i‖ ≤ μ_i n`: strictly convex, so that `x(n)` is
//! continuous, and
//!
//! ```text
//! ψ(n) = n + q_N + c·x(n)        is w_N        ψ(0) = q_N < 0,   ψ(∞) = ∞, since ‖x(n)‖ ≤ 2‖S⁻¹‖‖b‖
//! ```
//!
//! has a root, which is bracketed and halved; as soon as Newton's method on all unknowns converges from inside the bracket, its answer is taken.
//! `x(n)` comes from the dual problem: with `x(α) = −(S + D(α))⁻¹ b`,
//!
//! ```text
//! max over α ≥ 0 of   d(α) = ½ b·x(α) − ½ Σ α_i (μ_i n)²,      ∂d/∂α_i = ½ (‖x_i‖² − (μ_i n)²),    ∂²d/∂α_i∂α_j = −x_i·(Z_j)_i
//! ```
//!
//! `d` is concave. A step is that of the secular equations for all groups, if `d` rises with it, else one group after the other is
//! solved: `d` rises with each, and in one multiplier Newton's method on `1/‖x_i‖` is that of a trust region, which never fails.

use super::factors::solve_three;
use super::secular::{Candidate, Equations, Groups, Point, Rows};

/// Halvings of the bracket; 60 exhaust the mantissa, the others the exponents.
const HALVINGS: usize = 120;
/// Factors of four until the sign changes: `‖x(n)‖` is at most `2‖b‖/ε`, and smaller impulses than `1e-60` of the guess are none.
const EXPANSIONS: usize = 100;
/// Steps on the dual function; about 6 are the rule.
const DUAL_STEPS: usize = 100;
/// Steps for one group; about 5 are the rule.
const COORDINATE_STEPS: usize = 20;
/// Relative error of the lengths that decides which side of the root `n` is on.
const EXACT: f64 = 1e-12;
/// Below this an error that no longer falls is rounding, in a badly conditioned block.
const NOISE: f64 = 1e-2;
/// Steps of Newton's method tried from each new end of the bracket.
const NEWTON_STEPS: usize = 8;
/// Halvings from one try of Newton's method to the next.
const STRIDE: usize = 3;

/// `x` of a solution; `best` is what Newton's method left.
#[cold]
pub(super) fn solve(problem: &Equations<'_>, mut best: Candidate) -> Candidate {
    let mut alpha = problem.isotropic_multipliers();
    let mut n = -problem.q_n;
    let (mut low, mut high) = (0.0, f64::INFINITY);
    for step in 0..EXPANSIONS + HALVINGS {
        let x = section(problem, n, &mut alpha);
        if step % STRIDE == 0 {
            match problem.newton(alpha, NEWTON_STEPS) {
                Ok(found) => return found,
                Err(other) => best.keep(other),
            }
        }
        best.keep(problem.refine(problem.in_discs(&x, n), alpha));
        if best.is_solution() {
            return best;
        }
        // ψ(n) has the sign of n − n(x).
        if n < problem.normal(&x) {
            low = n;
        } else {
            high = n;
        }
        n = if high == f64::INFINITY {
            4.0 * low
        } else if low == 0.0 {
            0.25 * high
        } else if high > 4.0 * low {
            (low * high).sqrt()
        } else {
            0.5 * (low + high)
        };
        if n <= low || n >= high || !n.is_finite() {
            break;
        }
    }
    best
}

/// `x(n)`; `alpha` are multipliers to begin with, and become those of `x(n)`.
fn section(problem: &Equations<'_>, n: f64, alpha: &mut Groups) -> Rows {
    let radius = problem.friction().map(|mu| mu * n);
    let dual = |alpha: &Groups, x: &Rows| {
        let held: f64 = (0..3).map(|i| alpha[i] * radius[i] * radius[i]).sum();
        0.5 * (problem.work(x) - held)
    };
    let (mut least, mut vain) = (f64::INFINITY, 0);
    for _ in 0..DUAL_STEPS {
        let at = problem.at(alpha, |_, i| radius[i]);
        let error = at.error(&radius);
        if error < 0.5 * least {
            (least, vain) = (error, 0);
        } else {
            vain += 1;
        }
        if error <= EXACT || (error <= NOISE && vain >= 3) {
            return at.x;
        }
        let step = newton_step(&at, &radius);
        let next = [0, 1, 2].map(|i| (alpha[i] + step[i]).max(0.0));
        let rise: f64 = (0..3)
            .map(|i| {
                0.5 * (at.length[i] - radius[i]) * (at.length[i] + radius[i]) * (next[i] - alpha[i])
            })
            .sum();
        if rise > 0.0 && dual(&next, &problem.impulse(&next)) >= dual(alpha, &at.x) + 1e-4 * rise {
            *alpha = next;
        } else {
            (0..3).for_each(|i| hold_one(problem, alpha, &radius, i));
        }
    }
    problem.impulse(alpha)
}

/// The step of the secular equations.
fn newton_step(at: &Point, radius: &Groups) -> Groups {
    let curvature = at.curvature();
    let mut matrix = [[0.0; 3]; 3];
    let mut right = [0.0; 3];
    for i in 0..3 {
        matrix[i][i] = 1.0;
        if curvature[i][i] > 0.0 {
            matrix[i] = curvature[i];
            right[i] = secular_value(at.length[i], radius[i]);
        }
    }
    solve_three(matrix, right)
}

/// Maximises `d` in `α_i` alone.
fn hold_one(problem: &Equations<'_>, alpha: &mut Groups, radius: &Groups, i: usize) {
    for _ in 0..COORDINATE_STEPS {
        let at = problem.at(alpha, |_, i| radius[i]);
        let (gap, curvature) = (at.length[i] - radius[i], at.curvature()[i][i]);
        let done = gap.abs() <= EXACT * radius[i] || (gap < 0.0 && alpha[i] == 0.0);
        if done || curvature.is_nan() || curvature <= 0.0 {
            return;
        }
        alpha[i] = (alpha[i] + secular_value(at.length[i], radius[i]) / curvature).max(0.0);
    }
}

/// The right-hand side of (2) of [`super::block`] for a given radius.
fn secular_value(length: f64, radius: f64) -> f64 {
    length * (length / radius) * (length - radius)
}
