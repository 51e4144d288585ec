//! The dense form of a problem whose laws are rows of boxes.
//!
//! ```text
//! w = M z + q,      −w ∈ N_[low, high](z)   row by row:
//! w_i ≥ 0 where z_i = low_i,   w_i ≤ 0 where z_i = high_i,   w_i = 0 between
//! ```
//!
//! | name | low | high | law |
//! |---|---|---|---|
//! | linear complementarity problem (LCP) | 0 | ∞ | [`Law::Complementarity`] |
//! | free row of a mixed problem (MLCP) | −∞ | ∞ | [`Law::Equality`] |
//! | relay | −1 | 1 | [`Law::Interval`] |
//!
//! `M` may be unsymmetric, and its diagonal zero or negative.

use crate::problem::weak_rows::{self, Entries};
use crate::{Law, ProblemError, SparseMatrix, StoredProblem};
use std::ops::Range;

/// Rows that a dense problem may have: 2 GiB of entries.
pub const MAX_DENSE_ROWS: usize = 16_384;

/// A box problem whose numbers have been checked: `M` and `q` are finite, the boxes are not empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxProblem {
    n: usize,
    matrix: Vec<f64>,
    offset: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
    scales: Vec<f64>,
}

/// `a · b`, four partial sums.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a4.iter().zip(b4) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

impl BoxProblem {
    /// `n = q.len()` rows; `matrix` is `M`, row by row.
    ///
    /// ```
    /// use moreau_solvers::complementarity::BoxProblem;
    /// let relay = BoxProblem::new(vec![2.0], vec![0.5], vec![-1.0], vec![1.0])?;
    /// assert_eq!(relay.len(), 1);
    /// assert!(BoxProblem::new(vec![2.0], vec![0.5], vec![1.0], vec![-1.0]).is_err());
    /// # Ok::<(), moreau_solvers::ProblemError>(())
    /// ```
    ///
    /// # Errors
    /// [`ProblemError`] names the array and the index at fault: lengths that disagree, an entry of `M` or `q` that is not finite, an
    /// empty box, or more than [`MAX_DENSE_ROWS`] rows.
    pub fn new(
        matrix: Vec<f64>,
        q: Vec<f64>,
        low: Vec<f64>,
        high: Vec<f64>,
    ) -> Result<Self, ProblemError> {
        let mut problem = Self {
            n: q.len(),
            matrix,
            offset: q,
            low,
            high,
            scales: Vec::new(),
        };
        problem.check()?;
        problem.find_scales();
        Ok(problem)
    }

    fn check(&self) -> Result<(), ProblemError> {
        let n = self.n;
        check_size(n)?;
        let lengths = [
            ("M", self.matrix.len(), n * n),
            ("lower bounds", self.low.len(), n),
            ("upper bounds", self.high.len(), n),
        ];
        for (what, found, expected) in lengths {
            crate::problem::expect_length(what, found, expected)?;
        }
        expect_finite("row of M", &self.matrix, n)?;
        expect_finite("q", &self.offset, 1)?;
        for (row, (low, high)) in self.low.iter().zip(&self.high).enumerate() {
            crate::law::list::check(row, &Law::interval(*low, *high))?;
        }
        Ok(())
    }

    /// Another problem in the memory of this one: `matrix` is `M`, row by row, `bounds` are those of the rows; `q` is zero.
    ///
    /// # Errors
    /// As [`Self::new`]; then there are no rows.
    pub fn refill(&mut self, matrix: &[f64], bounds: &[[f64; 2]]) -> Result<(), ProblemError> {
        self.n = bounds.len();
        self.matrix.clear();
        self.matrix.extend_from_slice(matrix);
        self.low.clear();
        self.low.extend(bounds.iter().map(|[low, _]| low));
        self.high.clear();
        self.high.extend(bounds.iter().map(|[_, high]| high));
        self.offset.clear();
        self.offset.resize(self.n, 0.0);
        if let Err(error) = self.check() {
            *self = Self::default();
            return Err(error);
        }
        self.find_scales();
        Ok(())
    }

    /// Another `q`.
    ///
    /// # Errors
    /// [`ProblemError`] if its length is wrong or an entry is not finite; the old one then stays.
    pub fn set_q(&mut self, q: &[f64]) -> Result<(), ProblemError> {
        crate::problem::expect_length("q", q.len(), self.n)?;
        expect_finite("q", q, 1)?;
        self.offset.copy_from_slice(q);
        Ok(())
    }

    /// The linear complementarity problem `0 ≤ M z + q ⊥ z ≥ 0`.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn complementarity(matrix: Vec<f64>, q: Vec<f64>) -> Result<Self, ProblemError> {
        let n = q.len();
        Self::new(matrix, q, vec![0.0; n], vec![f64::INFINITY; n])
    }

    /// The dense form of a stored problem, for the method of this name.
    ///
    /// # Errors
    /// [`ProblemError::Unsupported`] names the first interaction whose law is not rows of boxes; the errors of
    /// [`StoredProblem::validate`] and [`Self::new`].
    pub fn from_stored(
        problem: &StoredProblem,
        method: &'static str,
    ) -> Result<Self, ProblemError> {
        problem.validate()?;
        let n = problem.rows();
        check_size(n)?;
        let (mut low, mut high) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for (interaction, law) in problem.laws().iter().enumerate() {
            let [lo, hi] = match law {
                Law::Complementarity => [0.0, f64::INFINITY],
                Law::Interval(law) => [law.low, law.high],
                Law::Equality(_) => [f64::NEG_INFINITY, f64::INFINITY],
                _ => {
                    return Err(ProblemError::Unsupported {
                        interaction,
                        method,
                    });
                }
            };
            low.extend((0..law.rows()).map(|_| lo));
            high.extend((0..law.rows()).map(|_| hi));
        }
        Self::new(dense(problem), problem.free_velocity(), low, high)
    }

    /// The same problem with blocks stored, one interaction a row.
    ///
    /// # Errors
    /// None for a checked problem.
    pub fn to_stored(&self) -> Result<StoredProblem, ProblemError> {
        let laws: Vec<Law> = (0..self.n).map(|row| self.law(row)).collect();
        let n = self.n;
        let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let entries = entries
            .map(|(i, j)| (i, j, self.matrix[i * n + j]))
            .filter(|(.., value)| *value != 0.0);
        let w = SparseMatrix::from_triplets(n, n, entries)?;
        StoredProblem::new(&laws, &w, &self.offset)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// `M`, row by row.
    #[must_use]
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }

    /// One row of `M`.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        &self.matrix[row * self.n..(row + 1) * self.n]
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

    /// The law of a row.
    #[must_use]
    pub fn law(&self, row: usize) -> Law {
        law_of(self.low[row], self.high[row])
    }

    /// Neither bound is finite.
    #[must_use]
    pub fn is_free(&self, row: usize) -> bool {
        self.low[row] == f64::NEG_INFINITY && self.high[row] == f64::INFINITY
    }

    /// All rows are `[0, ∞)`.
    #[must_use]
    pub fn is_complementarity(&self) -> bool {
        (0..self.n).all(|row| self.law(row) == Law::Complementarity)
    }

    /// `z` in the box of a row.
    #[must_use]
    pub(crate) fn clamp(&self, row: usize, z: f64) -> f64 {
        // A NaN goes through.
        if z < self.low[row] {
            self.low[row]
        } else if z > self.high[row] {
            self.high[row]
        } else {
            z
        }
    }

    /// `λ` of every row: its diagonal entry, or the scale of a weak row.
    #[must_use]
    pub(crate) fn scales(&self) -> &[f64] {
        &self.scales
    }

    /// `w ← M z + q`.
    pub(crate) fn image(&self, z: &[f64], w: &mut Vec<f64>) {
        w.clear();
        w.extend((0..self.n).map(|row| dot(self.row(row), z) + self.offset[row]));
    }

    /// The first row in which `M` differs from its transpose by more than the rounding `tolerance · √(λ_i λ_j)`.
    #[must_use]
    pub(crate) fn unsymmetric_row(&self, tolerance: f64) -> Option<usize> {
        let n = self.n;
        (0..n).find(|&i| {
            (0..i).any(|j| {
                let [a, b] = [self.matrix[i * n + j], self.matrix[j * n + i]];
                (a - b).abs() > tolerance * (self.scales[i] * self.scales[j]).sqrt()
            })
        })
    }

    fn find_scales(&mut self) {
        let mut scales = std::mem::take(&mut self.scales);
        scales.clear();
        scales.extend(self.matrix.iter().step_by(self.n + 1));
        // No row is weak beside the largest entry of all: then none is beside its own.
        let largest = self.matrix.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        if !scales
            .iter()
            .all(|scale| *scale > weak_rows::WEAK * largest)
            && let Some(found) = weak_rows::scales(&scales, |_| true, self)
        {
            scales = found;
        }
        self.scales = scales;
    }
}

/// The law of a row with these bounds.
pub(crate) fn law_of(low: f64, high: f64) -> Law {
    if low == f64::NEG_INFINITY && high == f64::INFINITY {
        Law::equality(1)
    } else if low.total_cmp(&0.0).is_eq() && high == f64::INFINITY {
        Law::Complementarity
    } else {
        Law::interval(low, high)
    }
}

/// The index that an error names is that of the row of so many entries.
fn expect_finite(what: &'static str, values: &[f64], width: usize) -> Result<(), ProblemError> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(k) => Err(ProblemError::NotFinite {
            what,
            index: k / width,
            value: values[k],
        }),
    }
}

impl Entries for BoxProblem {
    fn visit(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for row in 0..self.n {
            for (column, value) in self.row(row).iter().enumerate() {
                visit(row, column, value.abs());
            }
        }
    }
}

fn check_size(n: usize) -> Result<(), ProblemError> {
    if n > MAX_DENSE_ROWS {
        return Err(ProblemError::TooLarge {
            what: "rows of a dense problem",
            found: n,
            bound: MAX_DENSE_ROWS,
        });
    }
    Ok(())
}

/// `W` of a stored problem, row by row, without its spare rows.
fn dense(problem: &StoredProblem) -> Vec<f64> {
    let n = problem.rows();
    // First row and number of rows of every triple.
    let mut place: Vec<(usize, usize)> = Vec::with_capacity(problem.triples());
    let mut first = 0;
    for (range, law) in problem.laws.iter() {
        let Range { start, end } = range;
        for triple in start..end {
            let behind = 3 * (triple - start);
            place.push((first + behind, (law.rows() - behind).min(3)));
        }
        first += law.rows();
    }
    let mut matrix = vec![0.0; n * n];
    for (triple, &(row, rows)) in place.iter().enumerate() {
        for (other, block) in problem.delassus.row(triple) {
            let (column, columns) = place[other];
            for i in 0..rows {
                for j in 0..columns {
                    matrix[(row + i) * n + column + j] = block.col(j)[i];
                }
            }
        }
    }
    matrix
}
