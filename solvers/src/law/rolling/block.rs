//! One contact with rolling and spinning resistance, solved exactly with all others frozen: given a symmetric positive
//! semi-definite block `W` and `q`, find `r` with `−(w + s(w)) ∈ N_C(r)`, `w = W r + q`. No pyramid, no regularisation.
//!
//! | symbol | meaning, unit before scaling |
//! |---|---|
//! | `n = r_N` | normal impulse, N·s |
//! | `x = (x_T, x_R, x_S)` | the other impulses in three groups: friction (2 rows, N·s), rolling (2 rows, N·m·s), spinning (1 row, N·m·s) |
//! | `μ_i` | coefficient of group `i`: 1, m, m |
//! | `c = W_XN`, `W_XX` | coupling of the groups with the normal, and among themselves |
//! | `S = W_XX − c cᵀ/W_NN` | Schur complement, positive semi-definite |
//! | `b = q_X − c q_N/W_NN` | velocity of the groups once `w_N = 0` |
//! | `α_i ≥ 0` | multiplier of group `i`, `w_i = −α_i x_i` |
//! | `D(α)` | diagonal, `α_i` on the rows of group `i` |
//!
//! 1. Take-off: `q_N ≥ 0` gives `r = 0`.
//! 2. Otherwise `w_N = 0` and each group is held (`w_i = 0`, `α_i = 0`) or slides (`w_i = −α_i x_i`, `‖x_i‖ = μ_i n`):
//!
//! ```text
//! x(α) = −(S + D(α))⁻¹ b,    n(α) = −(q_N + c·x(α))/W_NN,    α_i ≥ 0 ⊥ μ_i n(α) − ‖x_i(α)‖ ≥ 0           (1)
//! ```
//!
//! It is the secular equation of Coulomb's law ([`crate::OneContact`]) with one multiplier a group: at most three unknowns.
//!
//! **Scaling.** Metres and radians mix in `W`. Each group and the normal row are measured in the square root of the mean of
//! its diagonal entries, `r' = d r`, `W' = d⁻¹ W d⁻¹`, `q' = d⁻¹ q`, `μ_i' = μ_i d_i/d_N`, which leaves discs discs: `W'_NN = 1`,
//! diagonal entries are of order one, and nothing below depends on units.
//!
//! **Singular blocks.** Where `S` is singular to rounding, (1) is solved with `S + δI` and `b − δ x°`, `δ = 6e-11`, from
//! the impulse `x°` that the contact has, and again from the answer: proximal steps. The perturbation `δ (x − x°)` goes away with the second one, or
//! with the sweeps; an impulse that nothing bounds grows by no more than `‖b‖/δ`.
//!
//! **Newton's method** on `h_i(α) = 1/‖x_i‖ − 1/(μ_i n)` over the groups with `α_i > 0` or `‖x_i‖ > μ_i n`: linear in `α` for
//! isotropic uncoupled groups, as for trust regions. With `X` the matrix of columns `x_j` (each in
//! its rows) and `Z = (S + D)⁻¹ X`,
//!
//! ```text
//! ∂x/∂α_j = −Z_j,   ∂n/∂α_j = c·Z_j,      Σ_j [ x_i·(Z_j)_i + μ_i ‖x_i‖ (‖x_i‖/(μ_i n))² c·Z_j ] Δα_j = ‖x_i‖² (‖x_i‖ − μ_i n)/(μ_i n)   (2)
//! ```
//!
//! **Refinement.** Close to the solution `x` is an unknown of its own and Newton's method runs on
//! `(S + D(α)) x + b = 0`, `‖x_i‖ = μ_i n`: its corrections go to zero, so that their rounding does too, and a badly conditioned
//! `S` costs nothing in the residual.
//!
//! **Safeguard** ([`super::bracket`]): for given `n` the groups solve a strictly convex problem on a product of discs, and
//! the remaining scalar equation in `n` is bracketed.
//!
//! The first guess comes from the impulse and the velocity that the contact has: `α_i = −w_i·x_i/‖x_i‖²` for groups that slide.
//! Without them it is the isotropic answer. Everything is deterministic, and nothing is allocated.
//!
//! References: V. Acary, F. Bourrier, *Coulomb friction with rolling resistance as a cone complementarity problem*, 2021, for the law; A. R. Conn,
//! N. I. M. Gould, P. L. Toint, *Trust-region methods*, 2000, for secular equations of one ball. Several discs with the normal impulse are ours.

use super::RollingCoulomb;
use super::bracket;
use super::secular::{GROUPS, Groups, Secular};

/// Steps of Newton's method before the safeguard takes over. It takes about 4.
const NEWTON_STEPS: usize = 16;

/// Proximal steps of a singular block: two are the rule, more only where no impulse satisfies the law.
const PASSES: usize = 8;

/// A prepared block.
#[derive(Clone, Debug)]
pub(crate) struct RollingBlock {
    /// The symmetric part of `W`, spare row included.
    matrix: [[f64; 6]; 6],
    /// `1/d`, row by row; zero for a block that carries no impulse.
    unit: [f64; 6],
    secular: Secular,
}

impl RollingBlock {
    /// Prepares the symmetric part of `block`, 5 × 5 or 6 × 6, row by row. A block with `W_NN ≤ 0` or entries that are not finite
    /// carries no impulse.
    pub(crate) fn new(law: &RollingCoulomb, block: &[f64]) -> Self {
        let m = if law.spinning.is_some() { 6 } else { 5 };
        let mut matrix = [[0.0; 6]; 6];
        for i in 0..m {
            for j in 0..m {
                matrix[i][j] = 0.5 * (block[i * m + j] + block[j * m + i]);
            }
        }
        let usable = matrix[0][0] > 0.0 && matrix.as_flattened().iter().all(|w| w.is_finite());
        let unit = if usable { units(&matrix) } else { [0.0; 6] };
        Self {
            matrix,
            unit,
            secular: Secular::new(&matrix, &unit, law.coefficients()),
        }
    }

    fn times(&self, r: &[f64; 6]) -> [f64; 6] {
        self.matrix
            .map(|row| row.iter().zip(r).map(|(a, b)| a * b).sum())
    }

    /// As [`crate::law::one_block::OneBlock::relax`].
    pub(crate) fn relax(&mut self, w: &[f64], r: &mut [f64], part_of_normal: f64) {
        let m = r.len();
        let mut old = [0.0; 6];
        old[..m].copy_from_slice(r);
        let mut velocity = [0.0; 6];
        velocity[..m].copy_from_slice(w);
        velocity[0] *= part_of_normal;
        let own = self.times(&old);
        let mut q = [0.0; 6];
        for i in 0..6 {
            q[i] = (velocity[i] - own[i]) * self.unit[i];
            velocity[i] *= self.unit[i];
            old[i] = if self.unit[i] > 0.0 {
                old[i] / self.unit[i]
            } else {
                0.0
            };
        }
        let solved = self.solve_scaled(&q, &old, &velocity);
        for i in 0..m {
            r[i] = solved[i] * self.unit[i];
        }
    }

    /// The scaled impulse for the scaled velocity `q`; `old` and `velocity` are where the guess comes from.
    fn solve_scaled(&self, q: &[f64; 6], old: &[f64; 6], velocity: &[f64; 6]) -> [f64; 6] {
        if q.iter().any(|q| q.is_nan()) {
            return [f64::NAN; 6];
        }
        if q[0] >= 0.0 || self.unit[0] == 0.0 {
            return [0.0; 6];
        }
        let mut centre = [old[1], old[2], old[3], old[4], old[5]];
        let mut guess = (old[0] > 0.0).then(|| self.secular.multipliers_of(old, velocity));
        for _ in 0..PASSES {
            let problem = self.secular.with(q, &centre);
            let from = guess.unwrap_or_else(|| problem.isotropic_multipliers());
            let found = match problem.newton(from, NEWTON_STEPS) {
                Ok(found) => found,
                Err(best) => bracket::solve(&problem, best),
            };
            let (mut moved, mut size) = (0.0_f64, problem.size());
            for (x, centre) in found.x.iter().zip(&centre) {
                moved = moved.max((x - centre).abs());
                size = size.max(x.abs());
            }
            centre = found.x;
            guess = Some(found.alpha);
            if self.secular.lift * moved <= 2.0 * f64::EPSILON * size {
                break;
            }
        }
        let problem = self.secular.with(q, &centre);
        let n = problem.normal(&centre);
        if n <= 0.0 || n.is_nan() {
            return [0.0; 6];
        }
        // The last rounding: every group in its disc.
        let x = problem.in_discs(&centre, n);
        [n, x[0], x[1], x[2], x[3], x[4]]
    }
}

/// `1/d`: the root of the mean diagonal entry of the normal row and of each group. A group without any is measured like the normal row.
fn units(matrix: &[[f64; 6]; 6]) -> [f64; 6] {
    let of = |mean: f64| 1.0 / mean.sqrt();
    let normal = of(matrix[0][0]);
    let mut unit = [normal; 6];
    for rows in GROUPS {
        let count = rows.len() as f64;
        let sum: f64 = rows.clone().map(|row| matrix[1 + row][1 + row]).sum();
        let own = of(sum / count);
        if own > 0.0 && own.is_finite() {
            for row in rows {
                unit[1 + row] = own;
            }
        }
    }
    unit
}

impl Secular {
    /// `α_i = −w_i·x_i/‖x_i‖²` of the groups that slide; `r` and `w` scaled, `r_N > 0`.
    fn multipliers_of(&self, r: &[f64; 6], w: &[f64; 6]) -> Groups {
        let mut alpha = [0.0; 3];
        for (i, rows) in GROUPS.into_iter().enumerate() {
            let (mut along, mut square) = (0.0, 0.0);
            for row in rows {
                along -= w[1 + row] * r[1 + row];
                square += r[1 + row] * r[1 + row];
            }
            let radius = self.friction[i] * r[0];
            // A group within its disc is held; 1e-9 is above the rounding of any sweep.
            if along > 0.0 && square >= radius * radius * (1.0 - 1e-9) && square > 0.0 {
                alpha[i] = along / square;
            }
        }
        alpha
    }
}
