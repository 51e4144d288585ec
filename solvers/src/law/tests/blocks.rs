//! Random blocks of any size, and the measure by which the answer of one is judged.

use crate::law::Law;
use crate::random::Random;

/// One interaction with all others frozen.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) law: Law,
    /// `W`, row by row.
    pub(super) matrix: Vec<f64>,
    pub(super) q: Vec<f64>,
}

impl Block {
    pub(super) fn rows(&self) -> usize {
        self.q.len()
    }

    pub(super) fn solve(&self) -> Vec<f64> {
        let mut r = vec![0.0; self.rows()];
        self.law.solve_block(&self.matrix, &self.q, &mut r);
        r
    }

    /// `W r + q`.
    pub(super) fn velocity(&self, r: &[f64]) -> Vec<f64> {
        let rows = self.matrix.chunks(self.rows());
        rows.zip(&self.q)
            .map(|(row, q)| row.iter().zip(r).map(|(a, r)| a * r).sum::<f64>() + q)
            .collect()
    }

    /// `λ = trace(W)/m`.
    pub(super) fn lambda(&self) -> f64 {
        let m = self.rows();
        (0..m).map(|i| self.matrix[i * m + i]).sum::<f64>() / m as f64
    }

    /// `r − P_C(r − (w + s(w))/λ)`.
    pub(super) fn natural_map(&self, r: &[f64]) -> Vec<f64> {
        let w = self.velocity(r);
        let shift = self.law.shift(&w);
        let lambda = self.lambda();
        let mut point: Vec<f64> = r.iter().zip(&w).map(|(r, w)| r - w / lambda).collect();
        point[0] -= shift / lambda;
        self.law.project(&mut point);
        r.iter().zip(&point).map(|(r, p)| r - p).collect()
    }

    /// `λ‖F‖/max(λ‖r‖, ‖q‖)`: `e_scaled` of a problem of one interaction [docs/theory.md §7].
    pub(super) fn residual(&self, r: &[f64]) -> f64 {
        let size = (self.lambda() * length(r)).max(length(&self.q));
        self.lambda() * length(&self.natural_map(r)) / size
    }
}

pub(super) fn length(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum::<f64>().sqrt()
}

/// `A Aᵀ` with `A` of `rank` columns, entries in `[-1, 1]`; rows scaled by `scale`.
pub(super) fn gram(random: &mut Random, m: usize, rank: usize, scale: &[f64]) -> Vec<f64> {
    let a: Vec<f64> = (0..m * rank).map(|_| random.uniform(-1.0, 1.0)).collect();
    let entry = |i: usize, j: usize| -> f64 {
        let dot: f64 = (0..rank).map(|k| a[i * rank + k] * a[j * rank + k]).sum();
        dot * (scale[i] * scale[j])
    };
    (0..m * m).map(|k| entry(k / m, k % m)).collect()
}
