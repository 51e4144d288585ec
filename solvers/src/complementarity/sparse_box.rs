//! A box problem with the entries of `M` that are not zero, row by row: of thousands of rows that are coupled to few others.
//!
//! The problem is that of [`super::BoxProblem`]; buffers are reused from one problem to the next.

use crate::ProblemError;
use crate::law::{Law, list};
use crate::problem::weak_rows::{self, Entries, WEAK};
use std::ops::Range;

/// `w = M z + q`, `−w ∈ N_[low, high](z)`, row by row. It is filled by [`Self::push_row`] and [`Self::close`]; `q` may change alone, by [`Self::set_q`].
///
/// ```
/// use moreau_solvers::complementarity::SparseBoxProblem;
/// let mut problem = SparseBoxProblem::default();
/// problem.push_row(&[(0, 2.0), (1, -1.0)], [0.0, f64::INFINITY]);
/// problem.push_row(&[(0, -1.0), (1, 2.0)], [0.0, f64::INFINITY]);
/// problem.close()?;
/// problem.set_q(&[-1.0, 0.5])?;
/// assert_eq!(problem.len(), 2);
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SparseBoxProblem {
    /// Where the entries of each row end.
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    offset: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    scales: Vec<f64>,
}

impl SparseBoxProblem {
    /// No rows; the memory stays.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.columns.clear();
        self.values.clear();
        self.low.clear();
        self.high.clear();
    }

    /// One more row: its entries with their columns, which ascend, and its bounds.
    pub fn push_row(&mut self, entries: &[(u32, f64)], [low, high]: [f64; 2]) {
        self.columns
            .extend(entries.iter().map(|(column, _)| *column));
        self.values.extend(entries.iter().map(|(_, value)| *value));
        self.ends.push(self.columns.len());
        self.low.push(low);
        self.high.push(high);
    }

    /// All rows are there: checks them, and finds their scales. `q` is zero.
    ///
    /// # Errors
    /// [`ProblemError`] names the row at fault: an entry that is not finite, a column beyond the rows, an empty box.
    pub fn close(&mut self) -> Result<(), ProblemError> {
        let n = self.ends.len();
        for row in 0..n {
            for (column, value) in self.row(row) {
                if column >= n {
                    let (row, count) = (row, n);
                    return Err(ProblemError::Column { row, column, count });
                }
                if !value.is_finite() {
                    let what = "row of M";
                    return Err(ProblemError::NotFinite {
                        what,
                        index: row,
                        value,
                    });
                }
            }
            list::check(row, &Law::interval(self.low[row], self.high[row]))?;
        }
        self.find_scales();
        self.offset.clear();
        self.offset.resize(n, 0.0);
        Ok(())
    }

    /// Another `q`.
    ///
    /// # Errors
    /// [`ProblemError`] if its length is wrong or an entry is not finite; the old one then stays.
    pub fn set_q(&mut self, q: &[f64]) -> Result<(), ProblemError> {
        crate::problem::expect_length("q", q.len(), self.len())?;
        if let Some(index) = q.iter().position(|q| !q.is_finite()) {
            let (what, value) = ("q", q[index]);
            return Err(ProblemError::NotFinite { what, index, value });
        }
        self.offset.copy_from_slice(q);
        Ok(())
    }

    /// The scale of a row is its diagonal entry unless that is weak ([`weak_rows`]).
    fn find_scales(&mut self) {
        let n = self.len();
        let mut scales = std::mem::take(&mut self.scales);
        scales.clear();
        scales.extend((0..n).map(|row| {
            let own = self.row(row).find(|(column, _)| *column == row);
            own.map_or(0.0, |(_, value)| value)
        }));
        let largest = self.values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        if !scales.iter().all(|scale| *scale > WEAK * largest)
            && let Some(found) = weak_rows::scales(&scales, |_| true, self)
        {
            scales = found;
        }
        self.scales = scales;
    }

    fn range(&self, row: usize) -> Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[row]
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The entries of a row of `M` with their columns.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.range(row);
        let columns = self.columns[range.clone()].iter();
        columns
            .zip(&self.values[range])
            .map(|(column, value)| (*column as usize, *value))
    }

    /// `(M z + q)` of a row.
    #[must_use]
    pub fn image(&self, row: usize, z: &[f64]) -> f64 {
        let product: f64 = self.row(row).map(|(column, value)| value * z[column]).sum();
        product + self.offset[row]
    }

    /// The law of a row.
    #[must_use]
    pub fn law(&self, row: usize) -> Law {
        super::box_problem::law_of(self.low[row], self.high[row])
    }

    /// `q`.
    #[must_use]
    pub fn q(&self) -> &[f64] {
        &self.offset
    }

    /// Lower bounds, −∞ where there is none.
    #[must_use]
    pub fn low(&self) -> &[f64] {
        &self.low
    }

    /// Upper bounds, ∞ where there is none.
    #[must_use]
    pub fn high(&self) -> &[f64] {
        &self.high
    }

    /// `λ` of every row: its diagonal entry, or the scale of a weak row.
    #[must_use]
    pub(crate) fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// All entries, in the order of the rows, and their columns.
    pub(crate) fn entries(&self) -> (&[f64], &[u32]) {
        (&self.values, &self.columns)
    }
}

impl Entries for SparseBoxProblem {
    fn visit(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for row in 0..self.len() {
            for (column, value) in self.row(row) {
                visit(row, column, value.abs());
            }
        }
    }
}
