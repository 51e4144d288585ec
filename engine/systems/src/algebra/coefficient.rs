//! A constant matrix of a linear system, dense or sparse.

use super::{Matrix, first_not_finite};
use crate::error::{FieldError, expect_shape};
use moreau_solvers::SparseMatrix;

/// A constant matrix of a linear system, with all entries or without the zeros. Its unit is that of the quantity it stands for.
///
/// A system with a sparse one is worked out sparsely: its iteration matrix is factored without the zeros, and no square matrix of its size is formed. Small systems
/// are as fast with dense ones: from about fifteen coordinates on sparse ones are faster.
///
/// ```
/// use moreau_systems::{Coefficient, Matrix, SparseMatrix};
/// let dense = Coefficient::from(Matrix::diagonal(&[2.0, 3.0]));
/// let sparse = Coefficient::from(SparseMatrix::from_triplets(2, 2, [(0, 0, 2.0), (1, 1, 3.0)])?);
/// let mut y = [0.0, 1.0];
/// sparse.add_times(2.0, &[1.0, 1.0], &mut y);
/// assert_eq!((y, dense.shape()), ([4.0, 7.0], sparse.shape()));
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Coefficient {
    /// All entries, row by row.
    Dense(Matrix),
    /// The entries that are not zero, column by column.
    Sparse(SparseMatrix),
}

impl Default for Coefficient {
    fn default() -> Self {
        Self::Dense(Matrix::default())
    }
}

impl From<Matrix> for Coefficient {
    fn from(matrix: Matrix) -> Self {
        Self::Dense(matrix)
    }
}

impl From<SparseMatrix> for Coefficient {
    fn from(matrix: SparseMatrix) -> Self {
        Self::Sparse(matrix)
    }
}

impl Coefficient {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.shape()[0]
    }

    /// `[rows, columns]`.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        match self {
            Self::Dense(matrix) => matrix.shape(),
            Self::Sparse(matrix) => [matrix.rows(), matrix.columns()],
        }
    }

    /// The matrix, if it is dense.
    #[must_use]
    #[inline]
    pub fn dense(&self) -> Option<&Matrix> {
        match self {
            Self::Dense(matrix) => Some(matrix),
            Self::Sparse(_) => None,
        }
    }

    /// `y ← y + factor A x`; `x` has one entry a column, `y` one a row.
    #[inline]
    pub fn add_times(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        match self {
            Self::Dense(matrix) => matrix.add_times(factor, x, y),
            Self::Sparse(matrix) => {
                for (column, x) in x.iter().enumerate().take(matrix.columns()) {
                    for (row, value) in matrix.column(column) {
                        y[row] += value * (factor * x);
                    }
                }
            }
        }
    }

    /// `B ← B + factor A`, for a dense matrix of the same shape.
    #[inline]
    pub fn add_to(&self, factor: f64, sum: &mut Matrix) {
        match self {
            Self::Dense(matrix) => sum.add_scaled(factor, matrix),
            Self::Sparse(_) => {
                self.for_each(|row, column, value| sum[(row, column)] += factor * value);
            }
        }
    }

    /// `Aᵀ`, dense.
    pub(crate) fn transposed(&self) -> Matrix {
        match self {
            Self::Dense(matrix) => matrix.transposed(),
            Self::Sparse(matrix) => {
                let mut transposed = Matrix::zeros(matrix.columns(), matrix.rows());
                self.for_each(|row, column, value| transposed[(column, row)] = value);
                transposed
            }
        }
    }

    /// Every entry that is stored and, of a dense matrix, not zero, with its row and column.
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize, usize, f64)) {
        match self {
            Self::Dense(matrix) => matrix.for_each(each),
            Self::Sparse(matrix) => {
                for column in 0..matrix.columns() {
                    for (row, value) in matrix.column(column) {
                        each(row, column, value);
                    }
                }
            }
        }
    }

    /// `‖A‖`, by Frobenius.
    pub(crate) fn norm(&self) -> f64 {
        match self {
            Self::Dense(matrix) => super::norm(matrix.entries()),
            Self::Sparse(matrix) => super::norm(matrix.values()),
        }
    }

    /// Becomes a dense matrix that is written over zeros, in the memory that is there.
    #[inline]
    pub(crate) fn become_written(
        &mut self,
        [rows, columns]: [usize; 2],
        write: impl FnOnce(&mut Matrix),
    ) {
        if let Self::Dense(matrix) = self {
            matrix.become_zeros(rows, columns);
            write(matrix);
        } else {
            let mut matrix = Matrix::zeros(rows, columns);
            write(&mut matrix);
            *self = Self::Dense(matrix);
        }
    }

    /// The shape, and that all entries are finite.
    pub(crate) fn check(
        &self,
        field: &'static str,
        expected: [usize; 2],
    ) -> Result<(), FieldError> {
        match self {
            Self::Dense(matrix) => expect_shape(field, matrix, expected),
            Self::Sparse(matrix) => {
                let found = self.shape();
                if found != expected {
                    return Err(FieldError::Shape {
                        field,
                        found,
                        expected,
                    });
                }
                expect_finite_sparse(field, matrix)
            }
        }
    }
}

/// All entries are finite.
pub(crate) fn expect_finite_sparse(
    field: &'static str,
    matrix: &SparseMatrix,
) -> Result<(), FieldError> {
    let Some((k, value)) = first_not_finite(matrix.values()) else {
        return Ok(());
    };
    let row = matrix.row_index()[k];
    // The column that the entry is in: the last one that begins at it or before.
    let column = matrix.column_start().partition_point(|start| *start <= k) - 1;
    Err(FieldError::NotFinite {
        field,
        index: row * matrix.columns() + column,
        value,
    })
}
