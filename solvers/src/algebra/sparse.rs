//! A scalar-sparse matrix in compressed columns, for the mass matrix and the kinematic operator
//! of problems in global form. Data only: factorisations are the solvers' business.

use crate::ProblemError;

/// Compressed columns; the row indices of a column ascend and do not repeat.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseMatrix {
    rows: usize,
    column_start: Vec<usize>,
    row_index: Vec<usize>,
    values: Vec<f64>,
}

impl SparseMatrix {
    /// From `(row, column, value)` in any order; equal positions are added.
    ///
    /// # Errors
    /// [`ProblemError::Entry`] names the first entry outside the matrix.
    pub fn from_triplets(
        rows: usize,
        columns: usize,
        triplets: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, ProblemError> {
        let mut by_column: Vec<Vec<(usize, f64)>> = vec![Vec::new(); columns];
        for (row, column, value) in triplets {
            match by_column.get_mut(column) {
                Some(entries) if row < rows => entries.push((row, value)),
                _ => {
                    return Err(ProblemError::Entry {
                        row,
                        column,
                        shape: [rows, columns],
                    });
                }
            }
        }
        let mut matrix = Self {
            rows,
            column_start: vec![0],
            ..Self::default()
        };
        for mut entries in by_column {
            entries.sort_by_key(|(row, _)| *row);
            let begin = matrix.row_index.len();
            for (row, value) in entries {
                match (matrix.row_index[begin..].last(), matrix.values.last_mut()) {
                    (Some(last), Some(stored)) if *last == row => *stored += value,
                    _ => {
                        matrix.row_index.push(row);
                        matrix.values.push(value);
                    }
                }
            }
            matrix.column_start.push(matrix.row_index.len());
        }
        Ok(matrix)
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.column_start.len().saturating_sub(1)
    }

    /// Number of stored entries.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.values.len()
    }

    /// Starts of the columns in [`Self::row_index`], and its end.
    #[must_use]
    pub fn column_start(&self) -> &[usize] {
        &self.column_start
    }

    /// Row of each entry, column by column.
    #[must_use]
    pub fn row_index(&self) -> &[usize] {
        &self.row_index
    }

    /// Value of each entry.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// `(row, value)` of one column, rows ascending.
    pub fn column(&self, column: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.column_start[column]..self.column_start[column + 1];
        let rows = self.row_index[range.clone()].iter().copied();
        rows.zip(self.values[range].iter().copied())
    }

    /// `y += A x`.
    pub fn add_times(&self, x: &[f64], y: &mut [f64]) {
        for (column, factor) in x.iter().enumerate().take(self.columns()) {
            for (row, value) in self.column(column) {
                y[row] += value * factor;
            }
        }
    }

    /// `Σ_i A_ij x_i`, one entry of `Aᵀ x`.
    #[must_use]
    pub fn column_dot(&self, column: usize, x: &[f64]) -> f64 {
        self.column(column).map(|(row, value)| value * x[row]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triplets_are_sorted_and_added() {
        let entries = [(1, 0, 2.0), (0, 0, 1.0), (1, 0, 3.0), (0, 1, 4.0)];
        let matrix = SparseMatrix::from_triplets(2, 2, entries).unwrap();
        assert_eq!(matrix.column(0).collect::<Vec<_>>(), [(0, 1.0), (1, 5.0)]);
        let mut y = vec![0.0; 2];
        matrix.add_times(&[1.0, 2.0], &mut y);
        assert_eq!(y, [9.0, 5.0]);
        assert!((matrix.column_dot(0, &[1.0, 1.0]) - 6.0).abs() < 1e-15);
    }

    #[test]
    fn an_entry_outside_is_named() {
        let error = SparseMatrix::from_triplets(2, 2, [(2, 1, 1.0)]).unwrap_err();
        assert!(error.to_string().contains("(2, 1)"), "{error}");
    }
}
