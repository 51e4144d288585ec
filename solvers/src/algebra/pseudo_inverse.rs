//! The pseudo-inverse of a small dense matrix, for least-norm multipliers.
//!
//! With the singular values `σ_k` above rounding, `W⁺ w = Σ_k v_k (u_k·w)/σ_k`. It is kept as this sum: multiplied out, `W⁺` would
//! lose as many digits of the velocity as `W` has orders of magnitude between its singular values.
//!
//! The decomposition is one-sided Jacobi [Golub-VanLoan13, §8.6.3]: `W V = U Σ`, where plane rotations `V` make the columns of `W V` orthogonal,
//! pair by pair. It needs no memory but the sum itself, and finds small singular values to as many digits as large ones.

use smallvec::SmallVec;

/// Rows of the joints of a step: larger matrices are on the heap.
const FEW: usize = 6;
/// Sweeps over all pairs at most; they converge quadratically, and six are the most that were seen.
const SWEEPS: usize = 30;

/// `W⁺`, prepared once for many products.
#[derive(Clone, Debug)]
pub(crate) struct PseudoInverse {
    rows: usize,
    /// `u_k` and `v_k/σ_k` for each `k`, one after the other.
    terms: SmallVec<[f64; 2 * FEW * FEW]>,
}

impl PseudoInverse {
    /// Of `matrix`, `rows × rows`, row by row; any unit. A matrix that has no decomposition (entries that are not finite) has
    /// the inverse zero.
    pub(crate) fn new(rows: usize, matrix: &[f64]) -> Self {
        let mut terms = SmallVec::new();
        let largest = matrix.iter().fold(0.0, |most: f64, of| most.max(of.abs()));
        if largest > 0.0 && matrix.iter().all(|entry| entry.is_finite()) {
            // Squares of the scaled entries do not overflow.
            for k in 0..rows {
                terms.extend((0..rows).map(|i| matrix[i * rows + k] / largest));
                terms.extend((0..rows).map(|i| if i == k { 1.0 } else { 0.0 }));
            }
            orthogonalise(rows, &mut terms);
            keep_large(rows, largest, &mut terms);
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

/// Rotates the columns `(W V)_k`, with those of `V` after each, until any two are orthogonal.
fn orthogonalise(rows: usize, columns: &mut [f64]) {
    let own = 2 * rows;
    for _ in 0..SWEEPS {
        let mut is_done = true;
        for q in 1..rows {
            let (low, high) = columns.split_at_mut(q * own);
            let second = &mut high[..own];
            for first in low.chunks_exact_mut(own) {
                let product = |a: &[f64], b: &[f64]| -> f64 {
                    a[..rows].iter().zip(&b[..rows]).map(|(a, b)| a * b).sum()
                };
                let [p, q] = [product(first, first), product(second, second)];
                let pq = product(first, second);
                if pq.abs() <= f64::EPSILON * (p * q).sqrt() {
                    continue;
                }
                is_done = false;
                // The smaller root of t² + 2ζt = 1, the tangent of the rotation.
                let zeta = (q - p) / (2.0 * pq);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cos = 1.0 / (1.0 + t * t).sqrt();
                let sin = cos * t;
                for (a, b) in first.iter_mut().zip(&mut *second) {
                    (*a, *b) = (cos * *a - sin * *b, sin * *a + cos * *b);
                }
            }
        }
        if is_done {
            return;
        }
    }
}

/// Leaves `u_k` and `v_k/σ_k` of the singular values that are no rounding, of a matrix that was divided by `scale`.
fn keep_large(rows: usize, scale: f64, columns: &mut SmallVec<[f64; 2 * FEW * FEW]>) {
    let own = 2 * rows;
    let norm = |column: &[f64]| column[..rows].iter().map(|u| u * u).sum::<f64>().sqrt();
    let largest = columns.chunks_exact(own).map(norm).fold(0.0, f64::max);
    let rounding = largest * f64::EPSILON * rows as f64;
    let mut kept = 0;
    for k in 0..rows {
        let column = &mut columns[k * own..(k + 1) * own];
        let sigma = norm(column);
        if sigma <= rounding {
            continue;
        }
        let (u, v) = column.split_at_mut(rows);
        u.iter_mut().for_each(|u| *u /= sigma);
        v.iter_mut().for_each(|v| *v /= sigma * scale);
        columns.copy_within(k * own..(k + 1) * own, kept * own);
        kept += 1;
    }
    columns.truncate(kept * own);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn times(rows: usize, matrix: &[f64], x: &[f64]) -> Vec<f64> {
        let row = |i: usize| (0..rows).map(|j| matrix[i * rows + j] * x[j]).sum();
        (0..rows).map(row).collect()
    }

    /// `−r` of `r ← 0 − W⁺ w`.
    fn applied(rows: usize, matrix: &[f64], w: &[f64]) -> Vec<f64> {
        let mut r = vec![0.0; rows];
        PseudoInverse::new(rows, matrix).subtract_times(w, &mut r);
        r.iter().map(|r| -r).collect()
    }

    /// Penrose: `W W⁺ W x = W x`, and `W⁺ W x` is the shortest vector that `W` maps there: `W⁺ W W⁺ w = W⁺ w`. Of ranks 0 to n, of any scale.
    #[test]
    fn it_satisfies_the_conditions_of_penrose() {
        let mut random = Random::new(7);
        for case in 0..400 {
            let rows = 1 + case % 8;
            let rank = case / 8 % (rows + 1);
            let scale = 10.0_f64.powi((case % 5) as i32 * 60 - 120);
            let mut numbers = |count: usize| -> Vec<f64> {
                (0..count).map(|_| random.uniform(-1.0, 1.0)).collect()
            };
            let (left, right) = (numbers(rows * rank), numbers(rows * rank));
            let entry = |k: usize| {
                let (i, j) = (k / rows, k % rows);
                let sum: f64 = (0..rank)
                    .map(|l| left[i * rank + l] * right[j * rank + l])
                    .sum();
                scale * sum
            };
            let matrix: Vec<f64> = (0..rows * rows).map(entry).collect();
            let x = numbers(rows);
            let image = times(rows, &matrix, &x);
            let back = applied(rows, &matrix, &image);
            let again = times(rows, &matrix, &back);
            let size = image.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
            for (a, b) in again.iter().zip(&image) {
                assert!((a - b).abs() <= 1e-9 * size, "{case}: {a} for {b}");
            }
            let twice = applied(rows, &matrix, &again);
            let length = back.iter().map(|r| r * r).sum::<f64>().sqrt();
            for (a, b) in twice.iter().zip(&back) {
                assert!((a - b).abs() <= 1e-6 * length, "{case}: {a} for {b}");
            }
            // Shorter than the vector that it came from.
            let given = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(length <= given * (1.0 + 1e-6), "{case}: {length} > {given}");
        }
    }

    #[test]
    fn what_is_not_finite_has_the_inverse_zero() {
        for odd in [f64::NAN, f64::INFINITY] {
            assert_eq!(applied(2, &[1.0, odd, 0.0, 1.0], &[1.0, 1.0]), [0.0, 0.0]);
        }
        assert_eq!(applied(2, &[0.0; 4], &[1.0, 1.0]), [0.0, 0.0]);
    }
}
