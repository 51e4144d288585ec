//! A dense matrix, stored row by row.

use smallvec::{SmallVec, smallvec};
use std::ops::{Index, IndexMut};

/// A dense matrix of `rows × columns` entries, row by row. Its unit is that of the quantity it stands for.
///
/// ```
/// use moreau_systems::Matrix;
/// let a = Matrix::from_rows([[0.0, 1.0], [-4.0, 0.0]]);
/// assert_eq!(a.times(&[1.0, 2.0]), [2.0, -4.0]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    /// Of small matrices in the matrix itself.
    entries: SmallVec<[f64; 16]>,
}

impl Matrix {
    /// All entries zero.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            entries: smallvec![0.0; rows * columns],
        }
    }

    /// From the entries as they are written.
    #[must_use]
    pub fn from_rows<const R: usize, const C: usize>(entries: [[f64; C]; R]) -> Self {
        Self {
            rows: R,
            columns: C,
            entries: entries.into_iter().flatten().collect(),
        }
    }

    /// The square matrix with this diagonal.
    #[must_use]
    pub fn diagonal(diagonal: &[f64]) -> Self {
        let n = diagonal.len();
        let mut matrix = Self::zeros(n, n);
        for (i, entry) in diagonal.iter().enumerate() {
            matrix[(i, i)] = *entry;
        }
        matrix
    }

    /// The unit matrix.
    #[must_use]
    pub fn identity(n: usize) -> Self {
        Self::diagonal(&vec![1.0; n])
    }

    /// Number of rows.
    #[must_use]
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// `[rows, columns]`.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        [self.rows, self.columns]
    }

    /// All entries, row by row.
    #[must_use]
    #[inline]
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// The entries of one row.
    #[must_use]
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.entries[row * self.columns..(row + 1) * self.columns]
    }

    /// The entries of one row.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.entries[row * self.columns..(row + 1) * self.columns]
    }

    /// Sets all entries.
    pub fn fill(&mut self, value: f64) {
        self.entries.fill(value);
    }

    /// `A x`; `x` has one entry a column.
    #[must_use]
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        self.add_times(1.0, x, &mut y);
        y
    }

    /// `y ← y + factor A x`.
    #[inline]
    pub fn add_times(&self, factor: f64, x: &[f64], y: &mut [f64]) {
        for (row, y) in y.iter_mut().enumerate().take(self.rows) {
            *y += factor * super::dot(self.row(row), x);
        }
    }

    /// `A ← A + factor B`, for a matrix of the same shape.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        super::add(&mut self.entries, factor, &other.entries);
    }

    /// `factor A`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut matrix = self.clone();
        matrix.scale(factor);
        matrix
    }

    /// `Aᵀ`.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let mut matrix = Self::default();
        matrix.become_transposed(self);
        matrix
    }

    /// Takes this shape, all entries zero, in the memory that is there.
    pub(crate) fn become_zeros(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.entries.clear();
        self.entries.resize(rows * columns, 0.0);
    }

    /// A copy in the memory that is there.
    pub(crate) fn become_copy(&mut self, other: &Self) {
        (self.rows, self.columns) = (other.rows, other.columns);
        self.entries.clear();
        self.entries.extend_from_slice(&other.entries);
    }

    /// A transposed copy in the memory that is there.
    pub(crate) fn become_transposed(&mut self, other: &Self) {
        self.become_zeros(other.columns, other.rows);
        for i in 0..other.rows {
            for (j, entry) in other.row(i).iter().enumerate() {
                self[(j, i)] = *entry;
            }
        }
    }

    /// Every entry that is not zero, with its row and column.
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize, usize, f64)) {
        for row in 0..self.rows {
            for (column, value) in self.row(row).iter().enumerate() {
                if *value != 0.0 {
                    each(row, column, *value);
                }
            }
        }
    }

    /// `A ← factor A`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.entries.iter_mut().for_each(|entry| *entry *= factor);
    }

    /// `A B`.
    #[must_use]
    pub fn product(&self, other: &Self) -> Self {
        let mut matrix = Self::zeros(self.rows, other.columns);
        for i in 0..self.rows {
            for (k, factor) in self.row(i).iter().enumerate().take(other.rows) {
                super::add(matrix.row_mut(i), *factor, other.row(k));
            }
        }
        matrix
    }

    /// One column.
    #[must_use]
    pub fn column(&self, column: usize) -> Vec<f64> {
        (0..self.rows).map(|row| self[(row, column)]).collect()
    }

    /// `[A B]`: the columns of another matrix with as many rows follow.
    #[must_use]
    pub fn beside(&self, other: &Self) -> Self {
        let mut matrix = Self::zeros(self.rows, self.columns + other.columns);
        for row in 0..self.rows {
            matrix.row_mut(row)[..self.columns].copy_from_slice(self.row(row));
            matrix.row_mut(row)[self.columns..].copy_from_slice(other.row(row));
        }
        matrix
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.entries[row * self.columns + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.entries[row * self.columns + column]
    }
}
