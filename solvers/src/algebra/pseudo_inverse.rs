//! The pseudo-inverse of a small dense matrix, for least-norm multipliers.

use faer::Mat;
use faer::linalg::solvers::Svd;

/// `W⁺`, row by row, prepared once for many products.
#[derive(Clone, Debug)]
pub(crate) struct PseudoInverse {
    rows: usize,
    inverse: Vec<f64>,
}

impl PseudoInverse {
    /// Of `matrix`, `rows × rows`, row by row.
    pub(crate) fn new(rows: usize, matrix: &[f64]) -> Self {
        let of = Mat::from_fn(rows, rows, |i, j| matrix[i * rows + j]);
        // A block that has no decomposition carries no multiplier.
        let inverse = match Svd::new(of.as_ref()) {
            Ok(svd) => svd.pseudoinverse(),
            Err(_) => Mat::zeros(rows, rows),
        };
        Self {
            rows,
            inverse: (0..rows * rows)
                .map(|k| inverse[(k / rows, k % rows)])
                .collect(),
        }
    }

    /// `r ← r − W⁺ w`.
    pub(crate) fn subtract_times(&self, w: &[f64], r: &mut [f64]) {
        for (r, row) in r.iter_mut().zip(self.inverse.chunks(self.rows)) {
            *r -= row.iter().zip(w).map(|(a, w)| a * w).sum::<f64>();
        }
    }
}
