//! The secular equations of a block with rolling resistance: `S + D(α)` factored, and Newton's method on the multipliers
//! [`super::block`], whose symbols and scaling hold here.

use super::factors::{Factors, solve_three};
use std::ops::Range;

/// One number for each group.
pub(super) type Groups = [f64; 3];
/// One number for each row of the groups.
pub(super) type Rows = [f64; 5];

/// The rows of each group.
pub(super) const GROUPS: [Range<usize>; 3] = [0..2, 2..4, 4..5];
/// The group of each row.
pub(super) const GROUP_OF: [usize; 5] = [0, 0, 1, 1, 2];

/// Eigenvalues of `S` below this, with scaled entries of order one, are not far enough from the rounding errors of assembling `W`.
const SMALL: f64 = 1024.0 * f64::EPSILON;
/// `δ`: rounding is some `1e-5` of it.
const LIFT: f64 = 256.0 * SMALL;
/// Relative error of the lengths at which Newton's method goes on with `x` as an unknown of its own; the refinement squares it.
const CLOSE: f64 = 1e-3;
/// The same where `S` is so badly conditioned that `x(α)` is known to a few digits only: after [`PATIENCE`] steps.
const ROUGHLY_CLOSE: f64 = 0.1;
const PATIENCE: usize = 6;
/// What refinement stops at: a few roundings.
const GOAL: f64 = 4.0 * f64::EPSILON;
/// What an answer must have, else the safeguard is asked for a better one.
const ACCEPTED: f64 = 64.0 * f64::EPSILON;
/// Steps of the refinement; two are the rule.
const REFINEMENTS: usize = 8;

/// What of the equations belongs to the block and its law.
#[derive(Clone, Debug)]
pub(super) struct Secular {
    /// `S + δI`; identity in rows of groups without friction, which carry nothing.
    schur: [Rows; 5],
    /// `c`.
    pub(super) coupling: Rows,
    /// `μ_i`.
    pub(super) friction: Groups,
    /// `δ`: zero unless `S` is singular to rounding.
    pub(super) lift: f64,
    /// Means of the diagonal of `S` over each group.
    mean: Groups,
}

/// [`Secular`] with the velocity of one solve.
pub(super) struct Equations<'a> {
    of: &'a Secular,
    /// `b − δ x°`.
    b: Rows,
    /// `q_N < 0`.
    pub(super) q_n: f64,
}

/// `x` at multipliers `α`.
pub(super) struct Point {
    pub(super) alpha: Groups,
    pub(super) x: Rows,
    /// `‖x_i‖`.
    pub(super) length: Groups,
    slides: [bool; 3],
    /// `Z`.
    z: [Rows; 3],
}

pub(super) fn dot(a: &Rows, b: &Rows) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4]
}

/// Sums over the rows of a group.
pub(super) mod group {
    use super::{GROUPS, Rows};

    pub(in super::super) fn dot(a: &Rows, b: &Rows, i: usize) -> f64 {
        GROUPS[i].clone().map(|row| a[row] * b[row]).sum()
    }

    pub(in super::super) fn norm(x: &Rows, i: usize) -> f64 {
        dot(x, x, i).sqrt()
    }
}

impl Secular {
    /// Of the block `matrix`, measured in `unit = 1/d`.
    pub(super) fn new(matrix: &[[f64; 6]; 6], unit: &[f64; 6], friction: Groups) -> Self {
        let scaled = |i: usize, j: usize| matrix[i][j] * unit[i] * unit[j];
        let mut friction = friction;
        for (i, rows) in GROUPS.into_iter().enumerate() {
            let of_normal = unit[0] / unit[1 + rows.start];
            friction[i] *= if of_normal.is_finite() {
                of_normal
            } else {
                0.0
            };
        }
        let carries = |row: usize| friction[GROUP_OF[row]] > 0.0;
        let mut coupling = [0.0; 5];
        let mut schur = [[0.0; 5]; 5];
        for i in (0..5).filter(|row| carries(*row)) {
            coupling[i] = scaled(1 + i, 0);
            for j in (0..5).filter(|row| carries(*row)) {
                schur[i][j] = scaled(1 + i, 1 + j) - scaled(1 + i, 0) * scaled(1 + j, 0);
            }
        }
        for i in (0..5).filter(|row| !carries(*row)) {
            schur[i][i] = 1.0;
        }
        // More and more for a W that is not positive.
        let (mut lift, mut more) = (0.0, LIFT);
        while Factors::new(&schur, &[0.0; 3]).least_eigenvalue() < SMALL && lift < 1e3 {
            (0..5).for_each(|i| schur[i][i] += more);
            lift += more;
            more *= 4.0;
        }
        let mean = |i: usize| {
            GROUPS[i].clone().map(|row| schur[row][row]).sum::<f64>() / GROUPS[i].len() as f64
        };
        Self {
            schur,
            coupling,
            friction,
            lift,
            mean: [mean(0), mean(1), mean(2)],
        }
    }

    /// With the scaled velocity `q`, `q_N < 0`, near the impulse `centre`.
    pub(super) fn with(&self, q: &[f64; 6], centre: &Rows) -> Equations<'_> {
        let mut b = [0.0; 5];
        for (row, b) in b.iter_mut().enumerate() {
            if self.friction[GROUP_OF[row]] > 0.0 {
                *b = q[1 + row] - self.coupling[row] * q[0] - self.lift * centre[row];
            }
        }
        Equations {
            of: self,
            b,
            q_n: q[0],
        }
    }
}

impl Equations<'_> {
    pub(super) fn friction(&self) -> &Groups {
        &self.of.friction
    }

    /// `n`.
    pub(super) fn normal(&self, x: &Rows) -> f64 {
        -(self.q_n + dot(&self.of.coupling, x))
    }

    /// `α` if groups were isotropic and coupled with nothing: exact then.
    pub(super) fn isotropic_multipliers(&self) -> Groups {
        [0, 1, 2].map(|i| {
            let radius = self.of.friction[i] * -self.q_n;
            if radius > 0.0 {
                (group::norm(&self.b, i) / radius - self.of.mean[i]).max(0.0)
            } else {
                0.0
            }
        })
    }

    /// `max |b_i|`.
    pub(super) fn size(&self) -> f64 {
        self.b.iter().fold(0.0, |size, b| size.max(b.abs()))
    }

    /// `b·x`.
    pub(super) fn work(&self, x: &Rows) -> f64 {
        dot(&self.b, x)
    }

    /// `x(α)`.
    pub(super) fn impulse(&self, alpha: &Groups) -> Rows {
        Factors::new(&self.of.schur, alpha)
            .solve(&self.b)
            .map(|x| -x)
    }

    /// `x(α)` and its derivative with respect to the groups that slide when the radius of group `i` is `radius(n, i)`.
    pub(super) fn at(&self, alpha: &Groups, radius: impl Fn(f64, usize) -> f64) -> Point {
        let factors = Factors::new(&self.of.schur, alpha);
        let x = factors.solve(&self.b).map(|x| -x);
        let n = self.normal(&x);
        let length = [0, 1, 2].map(|i| group::norm(&x, i));
        let slides = [0, 1, 2].map(|i| alpha[i] > 0.0 || length[i] > radius(n, i));
        Point {
            alpha: *alpha,
            x,
            length,
            slides,
            z: factors.columns(&x, slides),
        }
    }

    /// `x` with groups shortened to the radii of `n` where they are longer.
    pub(super) fn in_discs(&self, x: &Rows, n: f64) -> Rows {
        let mut x = *x;
        for (i, rows) in GROUPS.into_iter().enumerate() {
            let (length, radius) = (group::norm(&x, i), self.of.friction[i] * n);
            if length > radius {
                rows.for_each(|row| x[row] *= radius / length);
            }
        }
        x
    }

    /// Newton's method from the multipliers `alpha`: `x` of a solution to rounding, or the best that was met.
    pub(super) fn newton(&self, mut alpha: Groups, steps: usize) -> Result<Candidate, Candidate> {
        let mut best = Candidate::default();
        for step in 0..steps {
            let close = if step < PATIENCE {
                CLOSE
            } else {
                ROUGHLY_CLOSE
            };
            let radius = |n: f64, i: usize| self.of.friction[i] * n;
            let at = self.at(&alpha, radius);
            let n = self.normal(&at.x);
            if n <= 0.0 || !n.is_finite() {
                // Groups are held too well: let them slide.
                let guess = self.isotropic_multipliers();
                alpha = [0, 1, 2].map(|i| (4.0 * alpha[i]).max(guess[i]));
                continue;
            }
            let bounds = [0, 1, 2].map(|i| radius(n, i));
            if at.error(&bounds) <= close {
                let refined = self.refine(at.x, at.alpha);
                best.keep(refined);
                if best.is_solution() {
                    return Ok(best);
                }
            }
            let mut matrix = [[0.0; 3]; 3];
            let mut right = [0.0; 3];
            for i in 0..3 {
                matrix[i][i] = 1.0;
                let (length, bound) = (at.length[i], bounds[i]);
                if at.slides(i) && length > 0.0 {
                    let over = length / bound;
                    let weight = self.of.friction[i] * length * over * over;
                    matrix[i] = self.row(&at.x, &at.z, i, weight);
                    right[i] = length * over * (length - bound);
                }
            }
            let step = solve_three(matrix, right);
            for i in 0..3 {
                alpha[i] = if at.slides(i) && at.length[i] > 0.0 {
                    (alpha[i] + step[i]).max(0.0)
                } else {
                    0.0
                };
            }
        }
        Err(best)
    }

    /// Row `i` of the matrix of (2): `x_i·(Z_j)_i + weight c·Z_j`.
    fn row(&self, x: &Rows, z: &[Rows; 3], i: usize, weight: f64) -> Groups {
        [0, 1, 2].map(|j| group::dot(x, &z[j], i) + weight * dot(&self.of.coupling, &z[j]))
    }

    /// Newton's method with `x` and `α` as unknowns, from a point that is close; the best that it meets.
    pub(super) fn refine(&self, mut x: Rows, mut alpha: Groups) -> Candidate {
        let mut best = Candidate::default();
        for _ in 0..=REFINEMENTS {
            let n = self.normal(&x);
            let length = [0, 1, 2].map(|i| group::norm(&x, i));
            let slides = [0, 1, 2].map(|i| alpha[i] > 0.0 || length[i] > self.of.friction[i] * n);
            let (rest, imbalance) = self.imbalance(&x, &alpha);
            let gap = self.gap(&length, &alpha, n);
            let before = best.error;
            best.keep(Candidate {
                x,
                alpha,
                error: imbalance.max(gap),
            });
            let stalls = best.error <= ACCEPTED && best.error > 0.5 * before;
            if best.error <= GOAL || stalls {
                break;
            }
            let factors = Factors::new(&self.of.schur, &alpha);
            let y = factors.solve(&rest);
            let z = factors.columns(&x, slides);
            let along = dot(&self.of.coupling, &y);
            let mut matrix = [[0.0; 3]; 3];
            let mut right = [0.0; 3];
            for i in 0..3 {
                matrix[i][i] = 1.0;
                if slides[i] && length[i] > 0.0 {
                    let (t, mu) = (length[i], self.of.friction[i]);
                    matrix[i] = self.row(&x, &z, i, mu * t);
                    right[i] = t * (t - mu * n) - group::dot(&x, &y, i) - mu * t * along;
                }
            }
            let step = solve_three(matrix, right);
            for row in 0..5 {
                let slid: f64 = (0..3).map(|j| z[j][row] * step[j]).sum();
                x[row] -= y[row] + slid;
            }
            for i in 0..3 {
                alpha[i] = if slides[i] {
                    (alpha[i] + step[i]).max(0.0)
                } else {
                    0.0
                };
            }
        }
        best
    }

    /// `(S + D(α)) x + b`, and its largest entry relative to the sum of its terms.
    fn imbalance(&self, x: &Rows, alpha: &Groups) -> (Rows, f64) {
        let mut rest = [0.0; 5];
        let mut worst = 0.0_f64;
        for i in 0..5 {
            let (mut sum, mut size) = (self.b[i], self.b[i].abs());
            for (j, x) in x.iter().enumerate() {
                let spring = if i == j { alpha[GROUP_OF[i]] } else { 0.0 };
                let term = (self.of.schur[i][j] + spring) * x;
                sum += term;
                size += term.abs();
            }
            rest[i] = sum;
            if size > 0.0 {
                worst = worst.max(sum.abs() / size);
            }
        }
        (rest, worst)
    }

    /// Largest error of the lengths relative to the whole impulse.
    fn gap(&self, length: &Groups, alpha: &Groups, n: f64) -> f64 {
        let size = length
            .iter()
            .fold(n.abs(), |size, length| size.max(*length));
        let gap = |i: usize| {
            let gap = length[i] - self.of.friction[i] * n;
            if gap > 0.0 || alpha[i] > 0.0 {
                gap.abs()
            } else {
                0.0
            }
        };
        let worst = (0..3).map(gap).fold(0.0, f64::max);
        match (size.is_finite(), worst > 0.0) {
            (false, _) => f64::INFINITY,
            (true, true) => worst / size,
            (true, false) => 0.0,
        }
    }
}

impl Point {
    pub(super) fn slides(&self, i: usize) -> bool {
        self.slides[i]
    }

    /// Largest error of the lengths relative to the radii `bounds`.
    pub(super) fn error(&self, bounds: &Groups) -> f64 {
        relative_gap(&self.length, &self.alpha, bounds)
    }

    /// `x_i·(Z_j)_i`: minus the second derivative of the dual function.
    pub(super) fn curvature(&self) -> [Groups; 3] {
        [0, 1, 2].map(|i| [0, 1, 2].map(|j| group::dot(&self.x, &self.z[j], i)))
    }
}

fn relative_gap(length: &Groups, alpha: &Groups, bounds: &Groups) -> f64 {
    (0..3).fold(0.0, |worst: f64, i| {
        let gap = length[i] - bounds[i];
        let size = length[i] + bounds[i].abs();
        if !size.is_finite() {
            f64::INFINITY
        } else if size > 0.0 && (gap > 0.0 || alpha[i] > 0.0) {
            worst.max(gap.abs() / size)
        } else {
            worst
        }
    })
}

/// An `x`, its multipliers and its error, relative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) x: Rows,
    pub(super) alpha: Groups,
    pub(super) error: f64,
}

impl Default for Candidate {
    fn default() -> Self {
        Self {
            x: [0.0; 5],
            alpha: [0.0; 3],
            error: f64::INFINITY,
        }
    }
}

impl Candidate {
    pub(super) fn is_solution(&self) -> bool {
        self.error <= ACCEPTED
    }

    /// The better of the two.
    pub(super) fn keep(&mut self, other: Self) {
        if other.error < self.error {
            *self = other;
        }
    }
}
