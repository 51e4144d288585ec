//! The pseudo-inverse of a small dense matrix, for least-norm multipliers.
//!
//! With the singular values `σ_k` above rounding, `W⁺ w = Σ_k v_k (u_k·w)/σ_k`. It is kept as this sum: multiplied out, `W⁺` would
//! lose as many digits of the velocity as `W` has orders of magnitude between its singular values.

use faer::Mat;
use faer::linalg::solvers::Svd;

/// `W⁺`, prepared once for many products.
#[derive(Clone, Debug)]
pub(crate) struct PseudoInverse {
    rows: usize,
    /// `u_k` and `v_k/σ_k` for each `k`, one after the other.
    terms: Vec<f64>,
}

impl PseudoInverse {
    /// Of `matrix`, `rows × rows`, row by row; any unit. A matrix that has no decomposition (entries that are not finite) has
    /// the inverse zero.
    pub(crate) fn new(rows: usize, matrix: &[f64]) -> Self {
        let of = Mat::from_fn(rows, rows, |i, j| matrix[i * rows + j]);
        let mut terms = Vec::new();
        if matrix.iter().all(|entry| entry.is_finite())
            && let Ok(svd) = Svd::new(of.as_ref())
        {
            let (u, sigma, v) = (svd.U(), svd.S().column_vector(), svd.V());
            let largest = (0..rows).fold(0.0, |largest: f64, k| largest.max(sigma[k]));
            // Rounding of the decomposition: a singular value this small is none.
            let rounding = largest * f64::EPSILON * rows as f64;
            for k in (0..rows).filter(|k| sigma[*k] > rounding) {
                terms.extend((0..rows).map(|i| u[(i, k)]));
                terms.extend((0..rows).map(|i| v[(i, k)] / sigma[k]));
            }
        }
        Self { rows, terms }
    }

    /// `r ← r − W⁺ w`.
    pub(crate) fn subtract_times(&self, w: &[f64], r: &mut [f64]) {
        for term in self.terms.chunks_exact(2 * self.rows) {
            let (u, v) = term.split_at(self.rows);
            let along: f64 = u.iter().zip(w).map(|(u, w)| u * w).sum();
            for (r, v) in r.iter_mut().zip(v) {
                *r -= along * v;
            }
        }
    }
}
