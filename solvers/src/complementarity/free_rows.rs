//! Box problems in the form that pivoting takes: bounds at zero, rows scaled, free rows eliminated.
//!
//! ```text
//! 0 ≤ x_i ≤ U_i,   y = M' x + q',   y_i ≥ 0 at x_i = 0,  y_i ≤ 0 at x_i = U_i,  y_i = 0 between
//! ```
//!
//! 1. **Scale.** `z = D z'`, `w' = D w` with `D = diag(1/√λ)` rounded to powers of two: no rounding, and entries of `M` near 1.
//! 2. **Free rows.** With `F` the free rows and `B` the others, `z_F = −M_FF⁻¹(q_F + M_FB z_B)` leaves the Schur complement
//!    `M_BB − M_BF M_FF⁻¹ M_FB` and `q_B − M_BF M_FF⁻¹ q_F`. If `M_FF` is singular, every free variable is instead the difference of two
//!    complementary ones, `z = x⁺ − x⁻`, `y^± = ±w`: both `y ≥ 0` say `w = 0`. A positive semi-definite `M` stays so either way.
//! 3. **Shift.** `z' = low + x`, or `z' = high − x` and `y = −w'` where the upper bound is the only one, or where both are finite and
//!    the velocity at the middle of the boxes is negative: then the solution is likelier there.

use super::BoxProblem;
use super::basis::State;
use super::dense_lu::DenseLu;

/// The form that pivoting takes, and the way back.
#[derive(Debug, Default)]
pub(crate) struct Standard {
    /// Number of variables `x`.
    pub(crate) n: usize,
    /// `M'`, row by row.
    pub(crate) matrix: Vec<f64>,
    /// `q'`.
    pub(crate) offset: Vec<f64>,
    /// `U`, ∞ where there is none.
    pub(crate) upper: Vec<f64>,
    /// `z'_row = Σ base + sign x` over the variables of a row.
    row: Vec<usize>,
    sign: Vec<f64>,
    base: Vec<f64>,
    /// `D`.
    scale: Vec<f64>,
    free: Vec<usize>,
    /// Free rows were split, not eliminated.
    split: bool,
    factors: DenseLu,
    /// `M_FB` of the scaled problem, row by row, and `q_F`.
    coupling: Vec<f64>,
    free_offset: Vec<f64>,
}

/// A power of two near `1/√λ`.
fn scale_of(lambda: f64) -> f64 {
    let root = 1.0 / lambda.sqrt();
    if !(root.is_finite() && root > 0.0) {
        return 1.0;
    }
    // The power of two at or below it: the root of a finite number is no subnormal one.
    f64::from_bits(root.to_bits() & f64::INFINITY.to_bits())
}

impl Standard {
    /// Takes a problem.
    pub(crate) fn set(&mut self, problem: &BoxProblem) {
        let rows = problem.len();
        self.scale.clear();
        let scales = problem.scales().iter();
        self.scale.extend(scales.map(|lambda| scale_of(*lambda)));
        self.free.clear();
        self.free
            .extend((0..rows).filter(|row| problem.is_free(*row)));
        let (free, scale) = (&self.free, &self.scale);
        let entry = |i: usize, j: usize| scale[i] * problem.row(i)[j] * scale[j];
        let factorised = self
            .factors
            .factorize(free.len(), |i, j| entry(free[i], free[j]));
        self.split = !factorised;
        self.row.clear();
        self.sign.clear();
        for row in 0..rows {
            if !problem.is_free(row) {
                self.row.push(row);
                self.sign.push(1.0);
            } else if self.split {
                self.row.extend([row, row]);
                self.sign.extend([1.0, -1.0]);
            }
        }
        self.n = self.row.len();
        self.reduce(problem);
        self.shift(problem);
    }

    /// `M'` and `q'` before the shift.
    fn reduce(&mut self, problem: &BoxProblem) {
        let (n, scale) = (self.n, &self.scale);
        let entry = |i: usize, j: usize| scale[i] * problem.row(i)[j] * scale[j];
        let offset = |i: usize| scale[i] * problem.q()[i];
        self.matrix.clear();
        self.matrix.reserve(n * n);
        self.offset.clear();
        self.coupling.clear();
        self.free_offset.clear();
        if self.free.is_empty() {
            for (i, own) in scale.iter().enumerate() {
                let columns = problem.row(i).iter().zip(scale);
                self.matrix
                    .extend(columns.map(|(m, other)| own * m * other));
                self.offset.push(offset(i));
            }
            return;
        }
        for (i, sign) in self.row.iter().zip(&self.sign) {
            let columns = self.row.iter().zip(&self.sign);
            self.matrix
                .extend(columns.map(|(j, other)| sign * other * entry(*i, *j)));
            self.offset.push(sign * offset(*i));
        }
        if self.split {
            return;
        }
        for f in &self.free {
            self.coupling.extend(self.row.iter().map(|j| entry(*f, *j)));
            self.free_offset.push(offset(*f));
        }
        // Columns of M_FF⁻¹ M_FB and M_FF⁻¹ q_F, one after the other.
        let mut column = vec![0.0; self.free.len()];
        for j in 0..=n {
            for (k, value) in column.iter_mut().enumerate() {
                *value = match j {
                    j if j < n => self.coupling[k * n + j],
                    _ => self.free_offset[k],
                };
            }
            self.factors.solve(&mut column);
            for (i, row) in self.row.iter().enumerate() {
                let terms = self.free.iter().zip(&column);
                let sum: f64 = terms.map(|(f, x)| entry(*row, *f) * x).sum();
                match j {
                    j if j < n => self.matrix[i * n + j] -= sum,
                    _ => self.offset[i] -= sum,
                }
            }
        }
    }

    /// Moves the bounds to zero.
    fn shift(&mut self, problem: &BoxProblem) {
        let n = self.n;
        let is_standard = self.free.is_empty()
            && problem.low().iter().all(|low| *low == 0.0)
            && problem.high().iter().all(|high| *high == f64::INFINITY);
        if is_standard {
            self.upper.clear();
            self.upper.resize(n, f64::INFINITY);
            self.base.clear();
            self.base.resize(n, 0.0);
            return;
        }
        let ends = |row: usize| {
            let scale = self.scale[row];
            [problem.low()[row] / scale, problem.high()[row] / scale]
        };
        let middle: Vec<f64> = (self.row.iter())
            .map(|row| {
                let [low, high] = ends(*row);
                match (low.is_finite(), high.is_finite()) {
                    (true, true) => low + 0.5 * (high - low),
                    (true, false) => low,
                    (false, true) => high,
                    (false, false) => 0.0,
                }
            })
            .collect();
        self.upper.clear();
        self.base.clear();
        for i in 0..n {
            let [low, high] = ends(self.row[i]);
            if problem.is_free(self.row[i]) {
                self.upper.push(f64::INFINITY);
                self.base.push(0.0);
                continue;
            }
            let velocity = || {
                let row = &self.matrix[i * n..(i + 1) * n];
                super::box_problem::dot(row, &middle) + self.offset[i]
            };
            let from_below = low.is_finite() && (high.is_infinite() || velocity() >= 0.0);
            self.base.push(if from_below { low } else { high });
            self.upper.push(high - low);
            if !from_below {
                self.sign[i] = -1.0;
            }
        }
        for i in 0..n {
            let row = &mut self.matrix[i * n..(i + 1) * n];
            self.offset[i] += super::box_problem::dot(row, &self.base);
            // The signs of split rows are in the matrix already.
            let sign_of = |j: usize| match problem.is_free(self.row[j]) {
                true => 1.0,
                false => self.sign[j],
            };
            let own = sign_of(i);
            for (j, value) in row.iter_mut().enumerate() {
                *value *= own * sign_of(j);
            }
            self.offset[i] *= own;
        }
    }

    /// `z` of the variables `x`.
    pub(crate) fn point(&mut self, x: &[f64], z: &mut Vec<f64>) {
        self.back(x, true, z);
    }

    /// The direction of `z` that belongs to one of `x`.
    pub(crate) fn direction(&mut self, x: &[f64]) -> Vec<f64> {
        let mut direction = Vec::new();
        self.back(x, false, &mut direction);
        direction
    }

    fn back(&mut self, x: &[f64], is_point: bool, z: &mut Vec<f64>) {
        z.clear();
        z.resize(self.scale.len(), 0.0);
        let part = if is_point { 1.0 } else { 0.0 };
        let mut moved = vec![0.0; self.n];
        for (i, x) in x.iter().enumerate() {
            moved[i] = part * self.base[i] + self.sign[i] * x;
            z[self.row[i]] += moved[i];
        }
        if !self.split && !self.free.is_empty() {
            let n = self.n;
            let mut own: Vec<f64> = (0..self.free.len())
                .map(|k| {
                    let row = &self.coupling[k * n..(k + 1) * n];
                    -part * self.free_offset[k] - super::box_problem::dot(row, &moved)
                })
                .collect();
            self.factors.solve(&mut own);
            for (row, value) in self.free.iter().zip(own) {
                z[*row] = value;
            }
        }
        for (z, scale) in z.iter_mut().zip(&self.scale) {
            *z *= scale;
        }
    }

    /// The state of every row, from that of the variables; `at_upper` of those that are not between.
    pub(crate) fn states(&self, state: impl Fn(usize) -> State, states: &mut Vec<State>) {
        states.clear();
        states.resize(self.scale.len(), State::Between);
        for (i, row) in self.row.iter().enumerate() {
            if self.split && self.free.binary_search(row).is_ok() {
                continue;
            }
            states[*row] = match (state(i), self.sign[i] < 0.0) {
                (State::Low, true) => State::High,
                (State::High, true) => State::Low,
                (state, _) => state,
            };
        }
    }
}
