//! Constant rows of a linear relation, dense or sparse.

use super::coefficient::expect_finite_sparse;
use super::{Matrix, dot};
use crate::error::{FieldError, expect_shape};
use moreau_solvers::SparseMatrix;

/// The rows of a linear relation, `H` or `C`: dense, from a [`Matrix`], or sparse, from a [`SparseMatrix`]. Its unit is that of the quantity it stands for.
///
/// Sparse rows are those of large systems: what a relation costs beside the answer of its systems is then its number of entries.
///
/// ```
/// use moreau_systems::{Rows, SparseMatrix};
/// let rows = Rows::from(SparseMatrix::from_triplets(1, 5000, [(0, 7, 1.0), (0, 8, -1.0)])?);
/// assert_eq!(rows.shape(), [1, 5000]);
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rows(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Dense(Matrix),
    /// The transposed matrix: its columns are the rows.
    Sparse(SparseMatrix),
}

impl From<Matrix> for Rows {
    fn from(matrix: Matrix) -> Self {
        Self(Kind::Dense(matrix))
    }
}

impl From<SparseMatrix> for Rows {
    fn from(matrix: SparseMatrix) -> Self {
        let columns = (0..matrix.columns()).flat_map(|column| {
            let entries = matrix.column(column);
            entries.map(move |(row, value)| (column, row, value))
        });
        let transposed = SparseMatrix::from_triplets(matrix.columns(), matrix.rows(), columns);
        // All entries are within the matrix.
        Self(Kind::Sparse(transposed.unwrap_or_default()))
    }
}

impl Rows {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.shape()[0]
    }

    /// `[rows, columns]`.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        match &self.0 {
            Kind::Dense(matrix) => matrix.shape(),
            Kind::Sparse(transposed) => [transposed.columns(), transposed.rows()],
        }
    }

    pub(crate) fn is_sparse(&self) -> bool {
        matches!(self.0, Kind::Sparse(_))
    }

    /// `y ← y + factor A x`.
    #[inline]
    pub(crate) fn add_times(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        match &self.0 {
            Kind::Dense(matrix) => matrix.add_times(factor, x, y),
            Kind::Sparse(transposed) => {
                for (row, y) in y.iter_mut().enumerate().take(transposed.columns()) {
                    *y += factor * transposed.column_dot(row, x);
                }
            }
        }
    }

    /// One row times `x`.
    pub(crate) fn row_dot(&self, row: usize, x: &[f64]) -> f64 {
        match &self.0 {
            Kind::Dense(matrix) => dot(matrix.row(row), x),
            Kind::Sparse(transposed) => transposed.column_dot(row, x),
        }
    }

    /// Every entry that may not be zero, with its row and column.
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize, usize, f64)) {
        match &self.0 {
            Kind::Dense(matrix) => matrix.for_each(each),
            Kind::Sparse(transposed) => {
                for row in 0..transposed.columns() {
                    for (column, value) in transposed.column(row) {
                        each(row, column, value);
                    }
                }
            }
        }
    }

    /// `B ← B + A`, for a dense matrix of the same shape.
    pub(crate) fn add_to(&self, sum: &mut Matrix) {
        match &self.0 {
            Kind::Dense(matrix) => sum.add_scaled(1.0, matrix),
            Kind::Sparse(_) => self.for_each(|row, column, value| sum[(row, column)] += value),
        }
    }

    /// The shape, and that all entries are finite.
    pub(crate) fn check(
        &self,
        field: &'static str,
        expected: [usize; 2],
    ) -> Result<(), FieldError> {
        let found = self.shape();
        match &self.0 {
            Kind::Dense(matrix) => expect_shape(field, matrix, expected),
            Kind::Sparse(_) if found != expected => Err(FieldError::Shape {
                field,
                found,
                expected,
            }),
            Kind::Sparse(transposed) => {
                expect_finite_sparse(field, transposed).map_err(|error| match error {
                    // Counted row by row of the rows.
                    FieldError::NotFinite {
                        field,
                        index,
                        value,
                    } => FieldError::NotFinite {
                        field,
                        index: index % found[0] * found[1] + index / found[0],
                        value,
                    },
                    other => other,
                })
            }
        }
    }
}
