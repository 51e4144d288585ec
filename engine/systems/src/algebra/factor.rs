//! LU factors with partial pivoting: plain loops for small matrices, faer for large ones and for sparse ones.
//!
//! A matrix counts as singular where a pivot is not above `n ε` times the largest entry that its row had. Sizes are relative to the row, so that
//! units of different size (metres beside radians) do not make a regular matrix look singular.

use super::sparse_factor::SparseFactor;
use super::{Coefficient, Matrix};
use faer::linalg::solvers::{PartialPivLu, Solve};
use faer::{Mat, MatMut};
use moreau_solvers::SparseMatrix;

/// From this size on faer's blocked factorisation is faster than plain loops.
const LARGE: usize = 48;

/// `P A = L U` of a square matrix.
#[derive(Clone, Debug)]
pub struct Factor {
    factors: Factors,
}

#[derive(Clone, Debug)]
enum Factors {
    /// `L` without its unit diagonal and `U` in one matrix, and the row that each step took as its pivot.
    Small {
        lu: Matrix,
        pivots: Vec<usize>,
    },
    /// Of the rows times the factors beside it.
    Large(Box<(PartialPivLu<f64>, Vec<f64>)>),
    Sparse(Box<SparseFactor>),
}

impl Factor {
    /// Factors a square matrix; `None` if it is singular to working accuracy or not finite.
    #[must_use]
    pub fn new(matrix: &Matrix) -> Option<Self> {
        let mut factor = None;
        Self::renew(&mut factor, matrix);
        factor
    }

    /// Factors a square sparse matrix without its zeros; `None` as by [`Self::new`].
    #[must_use]
    pub fn of_sparse(matrix: &SparseMatrix) -> Option<Self> {
        let is_square = matrix.rows() == matrix.columns() && matrix.rows() > 0;
        if !is_square || super::first_not_finite(matrix.values()).is_some() {
            return None;
        }
        let factor = SparseFactor::new(matrix)?;
        Some(Self {
            factors: Factors::Sparse(Box::new(factor)),
        })
    }

    /// Factors a square matrix as it is given; `None` as by [`Self::new`].
    #[must_use]
    pub fn of(matrix: &Coefficient) -> Option<Self> {
        match matrix {
            Coefficient::Dense(matrix) => Self::new(matrix),
            Coefficient::Sparse(matrix) => Self::of_sparse(matrix),
        }
    }

    /// Factors another matrix in the memory of the old factors; `None` as by [`Self::new`].
    pub(crate) fn renew(factor: &mut Option<Self>, matrix: &Matrix) {
        let n = matrix.rows();
        let old = factor.take();
        if n != matrix.columns() || super::first_not_finite(matrix.entries()).is_some() {
            return;
        }
        let factors = if n < LARGE {
            small(matrix, old)
        } else {
            large(matrix)
        };
        *factor = factors.map(|factors| Self { factors });
    }

    /// `x ← A⁻¹ x`.
    pub fn solve(&self, x: &mut [f64]) {
        match &self.factors {
            Factors::Small { lu, pivots } => solve_small(lu, pivots, x),
            Factors::Large(large) => {
                let (lu, rows) = large.as_ref();
                x.iter_mut().zip(rows).for_each(|(x, row)| *x *= row);
                let n = x.len();
                lu.solve_in_place(MatMut::from_column_major_slice_mut(x, n, 1));
            }
            Factors::Sparse(factor) => factor.solve(x),
        }
    }

    /// `A⁻¹ B`, as the rows of its transpose: row `j` is the solution for column `j` of `B`.
    #[must_use]
    pub fn solve_columns(&self, b: &Matrix) -> Matrix {
        let mut columns = Matrix::default();
        self.solve_columns_into(b, &mut columns);
        columns
    }

    /// The same of a matrix that may be sparse.
    pub(crate) fn solve_columns_of(&self, b: &Coefficient) -> Matrix {
        let mut columns = b.transposed();
        for j in 0..columns.rows() {
            self.solve(columns.row_mut(j));
        }
        columns
    }

    /// [`Self::solve_columns`] in the memory of a matrix.
    pub(crate) fn solve_columns_into(&self, b: &Matrix, columns: &mut Matrix) {
        columns.become_transposed(b);
        for j in 0..columns.rows() {
            self.solve(columns.row_mut(j));
        }
    }
}

/// Largest magnitude of each row.
fn scales(matrix: &Matrix) -> super::Row {
    let largest = |row: &[f64]| {
        row.iter()
            .fold(0.0, |most: f64, entry| most.max(entry.abs()))
    };
    (0..matrix.rows())
        .map(|row| largest(matrix.row(row)))
        .collect()
}

/// A pivot of a row with entries up to `scale` is one of rounding.
pub(super) fn vanishes(pivot: f64, scale: f64, n: usize) -> bool {
    pivot.abs() <= n as f64 * f64::EPSILON * scale
}

fn small(matrix: &Matrix, old: Option<Factor>) -> Option<Factors> {
    let n = matrix.rows();
    let (mut lu, mut pivots) = match old {
        Some(Factor {
            factors: Factors::Small { lu, pivots },
        }) => (lu, pivots),
        _ => (Matrix::default(), Vec::with_capacity(n)),
    };
    lu.become_copy(matrix);
    pivots.clear();
    let mut scale = scales(matrix);
    for k in 0..n {
        // The pivot is the largest entry relative to its row.
        let size = |row: usize| lu[(row, k)].abs() / scale[row];
        let pivot = (k..n).fold(
            k,
            |best, row| if size(row) > size(best) { row } else { best },
        );
        if vanishes(lu[(pivot, k)], scale[pivot], n) {
            return None;
        }
        if pivot != k {
            for column in 0..n {
                (lu[(k, column)], lu[(pivot, column)]) = (lu[(pivot, column)], lu[(k, column)]);
            }
            scale.swap(k, pivot);
        }
        pivots.push(pivot);
        for row in k + 1..n {
            let factor = lu[(row, k)] / lu[(k, k)];
            lu[(row, k)] = factor;
            if factor != 0.0 {
                for column in k + 1..n {
                    lu[(row, column)] -= factor * lu[(k, column)];
                }
            }
        }
    }
    Some(Factors::Small { lu, pivots })
}

fn solve_small(lu: &Matrix, pivots: &[usize], x: &mut [f64]) {
    if let [x] = x {
        *x /= lu[(0, 0)];
        return;
    }
    for (k, pivot) in pivots.iter().enumerate() {
        x.swap(k, *pivot);
    }
    for row in 0..x.len() {
        x[row] -= super::dot(&lu.row(row)[..row], &x[..row]);
    }
    for row in (0..x.len()).rev() {
        let rest = super::dot(&lu.row(row)[row + 1..], &x[row + 1..]);
        x[row] = (x[row] - rest) / lu[(row, row)];
    }
}

fn large(matrix: &Matrix) -> Option<Factors> {
    let n = matrix.rows();
    // A power of two, so that rows of different units compete for pivots and nothing is rounded.
    let rows: Vec<f64> = scales(matrix)
        .into_iter()
        .map(super::sparse_factor::to_one)
        .collect();
    let lu = Mat::from_fn(n, n, |i, j| rows[i] * matrix[(i, j)]).partial_piv_lu();
    let singular = (0..n).any(|k| vanishes(lu.U()[(k, k)], 1.0, n));
    (!singular).then(|| Factors::Large(Box::new((lu, rows))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `A x = b` for a matrix that is diagonally dominant after a reversal of its rows, on both sides of the limit of the plain loops.
    #[test]
    fn both_factorisations_solve() {
        for n in [1, 2, 7, LARGE - 1, LARGE, LARGE + 20] {
            let mut a = Matrix::zeros(n, n);
            for i in 0..n {
                for j in 0..n {
                    a[(i, j)] = 1.0 / (1 + i + 2 * j) as f64;
                }
                a[(i, n - 1 - i)] += 4.0;
            }
            let x: Vec<f64> = (0..n).map(|i| i as f64 - 3.0).collect();
            let mut b = a.times(&x);
            Factor::new(&a).unwrap().solve(&mut b);
            for (x, b) in x.iter().zip(&b) {
                assert!((x - b).abs() <= 1e-12 * n as f64, "{n}");
            }
        }
    }

    /// Rows of any unit, on both sides of the limit.
    #[test]
    fn rows_of_small_units_are_no_rounding() {
        for n in [LARGE - 1, LARGE] {
            let mut a = Matrix::identity(n);
            (a[(0, 0)], a[(0, 1)]) = (1e-20, 0.5e-20);
            let mut b = a.times(&vec![1.0; n]);
            Factor::new(&a).unwrap().solve(&mut b);
            assert!(b.iter().all(|x| (x - 1.0).abs() < 1e-14), "{n}");
            (a[(0, 0)], a[(0, 1)]) = (0.0, 0.0);
            assert!(Factor::new(&a).is_none());
        }
    }

    #[test]
    fn singular_matrices_are_refused_and_small_units_are_not() {
        assert!(Factor::new(&Matrix::from_rows([[1.0, 2.0], [0.1, 0.2]])).is_none());
        assert!(Factor::new(&Matrix::diagonal(&[1.0, 0.0])).is_none());
        assert!(Factor::new(&Matrix::diagonal(&[1.0, 1e-30])).is_some());
        assert!(Factor::new(&Matrix::from_rows([[f64::NAN]])).is_none());
        assert!(Factor::new(&Matrix::zeros(2, 3)).is_none());
    }
}
