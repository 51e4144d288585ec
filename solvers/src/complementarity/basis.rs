//! The answer that belongs to a complementary basis: every row at a bound or between its bounds.
//!
//! ```text
//! z_i = low_i or high_i at a bound,     w_B = 0 between:   M_BB z_B = −(q_B + M_BN z_N)
//! ```

use super::BoxProblem;
use super::box_problem::dot;
use super::dense_lu::DenseLu;

/// Where a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// At its lower bound.
    Low,
    /// At its upper bound.
    High,
    /// Its velocity is zero.
    Between,
}

/// Space for [`Basis::point`].
#[derive(Debug, Default)]
pub(crate) struct Basis {
    lu: DenseLu,
    between: Vec<usize>,
    /// `1/√λ` of these.
    scale: Vec<f64>,
    right: Vec<f64>,
}

impl Basis {
    /// `z` of the basis, with one step of refinement; false if `M_BB` is singular to rounding. Rows must not be at infinite bounds.
    pub(crate) fn point(
        &mut self,
        problem: &BoxProblem,
        states: &[State],
        z: &mut Vec<f64>,
    ) -> bool {
        let n = problem.len();
        self.between.clear();
        z.clear();
        for (row, state) in states.iter().enumerate() {
            z.push(match state {
                State::Low => problem.low()[row],
                State::High => problem.high()[row],
                State::Between => {
                    self.between.push(row);
                    0.0
                }
            });
        }
        let between = &self.between;
        let scales = problem.scales();
        self.scale.clear();
        let roots = between.iter().map(|row| 1.0 / scales[*row].sqrt());
        self.scale.extend(roots);
        let scale = &self.scale;
        let entry = |i: usize, j: usize| {
            problem.matrix()[between[i] * n + between[j]] * (scale[i] * scale[j])
        };
        if !self.lu.factorize(between.len(), entry) {
            return false;
        }
        for _ in 0..2 {
            self.right.clear();
            for (row, scale) in between.iter().zip(scale) {
                let w = dot(problem.row(*row), z) + problem.q()[*row];
                self.right.push(-w * scale);
            }
            self.lu.solve(&mut self.right);
            for ((row, step), scale) in between.iter().zip(&self.right).zip(scale) {
                z[*row] += step * scale;
            }
        }
        z.iter().all(|z| z.is_finite())
    }
}
