//! The stored form, `u = W r + q`.

use super::ProblemError;
use super::check::{expect_length, first_non_finite};
use super::weak_rows::{self, Entries};
use crate::law::list::{Laws, rows_of};
use crate::{Delassus, Law, SolverReport, SparseMatrix};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// A problem with stored blocks: `u = W r + q`, interactions in any order.
///
/// ```
/// use moreau_solvers::{Law, SparseMatrix, StoredProblem};
/// // A contact in the plane and a motor of at most 2 N·s on one body.
/// let entries = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 0.5), (0, 2, 0.1), (2, 0, 0.1)];
/// let w = SparseMatrix::from_triplets(3, 3, entries.into_iter())?;
/// let laws = [Law::planar(0.3), Law::interval(-2.0, 2.0)];
/// let problem = StoredProblem::new(&laws, &w, &[-1.0, 0.2, 3.0])?;
/// assert_eq!((problem.len(), problem.rows()), (2, 3));
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredProblem {
    pub(crate) laws: Laws,
    pub(crate) delassus: Delassus,
    /// `q`, in triples.
    pub(crate) free_velocity: Vec<DVec3>,
    /// `λ`, one entry a triple, if rows of boxes are weak ([`weak_rows`]), else empty.
    pub(crate) weak_scales: Vec<f64>,
}

impl StoredProblem {
    /// Interactions with the laws `laws`. `w` is `W`, with as many rows and columns as the laws have together, 1/kg for
    /// forces; `free_velocity` is `q`, m/s, one entry a row.
    ///
    /// # Errors
    /// [`ProblemError`] if lengths disagree. Values are checked by [`Self::validate`], which every solver calls.
    pub fn new(
        laws: &[Law],
        w: &SparseMatrix,
        free_velocity: &[f64],
    ) -> Result<Self, ProblemError> {
        let mut list = Laws::default();
        laws.iter().for_each(|law| list.push(*law));
        expect_length("rows of W", w.rows(), list.rows())?;
        expect_length("columns of W", w.columns(), list.rows())?;
        expect_length("free velocity", free_velocity.len(), list.rows())?;
        let mut q = Vec::new();
        list.pack(free_velocity, &mut q);
        Ok(Self {
            delassus: Delassus::from_sparse(&list, w),
            weak_scales: scales_if_weak(&list, w),
            laws: list,
            free_velocity: q,
        })
    }

    /// Contacts in space: `q` (m/s) and the coefficient `μ ≥ 0` of each. Lengths are checked by [`Self::validate`].
    #[must_use]
    pub fn of_contacts(delassus: Delassus, free_velocity: Vec<DVec3>, friction: Vec<f64>) -> Self {
        let mut laws = Laws::default();
        friction.iter().for_each(|mu| laws.push(Law::coulomb(*mu)));
        Self {
            laws,
            delassus,
            free_velocity,
            weak_scales: Vec::new(),
        }
    }

    /// Another `q`, one entry a row.
    ///
    /// # Errors
    /// [`ProblemError`] if the length is wrong; the old one then stays.
    pub fn set_free_velocity(&mut self, free_velocity: &[f64]) -> Result<(), ProblemError> {
        expect_length("free velocity", free_velocity.len(), self.rows())?;
        self.laws.pack(free_velocity, &mut self.free_velocity);
        Ok(())
    }

    /// Number of interactions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.laws.len()
    }

    /// True without interactions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.laws.len() == 0
    }

    /// Number of rows: entries of an impulse.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.laws.rows()
    }

    /// Number of triples of rows.
    pub(crate) fn triples(&self) -> usize {
        self.free_velocity.len()
    }

    /// The laws, one an interaction.
    #[must_use]
    pub fn laws(&self) -> &[Law] {
        self.laws.as_slice()
    }

    /// `W`, in blocks of three rows.
    #[must_use]
    pub fn delassus(&self) -> &Delassus {
        &self.delassus
    }

    /// Number of ordered pairs of interactions with a block of `W`, those of each with itself included.
    #[must_use]
    pub fn coupled_pairs(&self) -> usize {
        if self.laws.triples() == self.laws.len() {
            return self.delassus.block_count();
        }
        let mut of_triple = vec![0; self.laws.triples()];
        for (interaction, (range, _)) in self.laws.iter().enumerate() {
            of_triple[range].fill(interaction);
        }
        let mut seen = vec![usize::MAX; self.laws.len()];
        let mut pairs = 0;
        for (interaction, (range, _)) in self.laws.iter().enumerate() {
            for (column, _) in range.flat_map(|triple| self.delassus.row(triple)) {
                let other = &mut seen[of_triple[column]];
                pairs += usize::from(*other != interaction);
                *other = interaction;
            }
        }
        pairs
    }

    /// `q`, m/s, one entry a row.
    #[must_use]
    pub fn free_velocity(&self) -> Vec<f64> {
        let mut rows = vec![0.0; self.rows()];
        self.laws.unpack(&self.free_velocity, &mut rows);
        rows
    }

    /// `u = W r + q` under the impulse `r`, one entry a row each; NaN if their number is wrong.
    #[must_use]
    pub fn velocity_under(&self, impulse: &[f64]) -> Vec<f64> {
        if impulse.len() != self.rows() {
            return vec![f64::NAN; self.rows()];
        }
        let mut r = Vec::new();
        self.laws.pack(impulse, &mut r);
        let u: Vec<DVec3> = (0..r.len())
            .map(|triple| self.velocity(triple, &r))
            .collect();
        let mut rows = vec![0.0; self.rows()];
        self.laws.unpack(&u, &mut rows);
        rows
    }

    /// `m × m` entries of the diagonal block of an interaction, row by row.
    pub(crate) fn block(&self, range: Range<usize>, m: usize, entries: &mut Vec<f64>) {
        entries.clear();
        for i in 0..m {
            for j in 0..m {
                let block = self
                    .delassus
                    .block(range.start + i / 3, range.start + j / 3);
                entries.push(block.col(j % 3)[i % 3]);
            }
        }
    }

    /// `λ = trace(W_αα)/m`, or the scale of a weak row ([`weak_rows`]), one entry a triple.
    pub(crate) fn scales(&self, lambda: &mut Vec<f64>) {
        lambda.clear();
        lambda.reserve(self.triples());
        for (range, law) in self.laws.iter() {
            let block = || self.delassus.diagonal(range.start);
            match law {
                Law::Coulomb(_) => {
                    let block = block();
                    lambda.push((block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0);
                    continue;
                }
                Law::PlanarCoulomb(_) => {
                    lambda.push(0.5 * (block().x_axis.x + block().y_axis.y));
                    continue;
                }
                _ => {}
            }
            let mean = self.scale(range.clone(), law.rows());
            lambda.extend(range.map(|_| mean));
        }
    }

    /// `λ` of one interaction that is no contact with friction of one coefficient: `trace(W_αα)/m`, or the scale of a weak row.
    #[inline]
    pub(crate) fn scale(&self, range: Range<usize>, m: usize) -> f64 {
        if let Some(scale) = self.weak_scales.get(range.start) {
            return *scale;
        }
        let mut trace = 0.0;
        for (k, triple) in range.enumerate() {
            let block = self.delassus.diagonal(triple);
            let diagonal = [block.x_axis.x, block.y_axis.y, block.z_axis.z];
            for entry in diagonal.iter().take(m - 3 * k) {
                trace += entry;
            }
        }
        trace / m as f64
    }

    /// `q + W r` of one triple.
    #[inline(always)]
    pub(crate) fn velocity(&self, triple: usize, impulse: &[DVec3]) -> DVec3 {
        self.free_velocity[triple] + self.delassus.row_times(triple, impulse)
    }

    /// Checks lengths, finiteness and the parameters of the laws.
    ///
    /// # Errors
    /// [`ProblemError`] names the first array, index and value at fault.
    pub fn validate(&self) -> Result<(), ProblemError> {
        let triples = self.free_velocity.len();
        expect_length("friction", self.laws.triples(), triples)?;
        expect_length("delassus", self.delassus.rows(), triples)?;
        self.laws.check()?;
        for (index, q) in self.free_velocity.iter().enumerate() {
            if !q.is_finite() {
                let value = first_non_finite(*q, DVec3::ZERO);
                return Err(ProblemError::NotFinite {
                    what: "free velocity",
                    index: self.interaction_with(index),
                    value,
                });
            }
            if let Some((column, _)) = self.delassus.row(index).find(|(c, _)| *c >= triples) {
                return Err(ProblemError::Column {
                    row: index,
                    column,
                    count: triples,
                });
            }
            let finite = |block: &DMat3| block.is_finite();
            if !self.delassus.row(index).all(|(_, block)| finite(block)) {
                return Err(ProblemError::NotFinite {
                    what: "delassus row",
                    index: self.interaction_with(index),
                    value: f64::NAN,
                });
            }
        }
        Ok(())
    }

    /// Checks the problem and the warm start, lets `solve` work on it in triples, and takes the answer back.
    pub(crate) fn in_triples(
        &self,
        impulse: &mut [f64],
        solve: impl FnOnce(&mut [DVec3]) -> SolverReport,
    ) -> Result<SolverReport, ProblemError> {
        self.validate()?;
        expect_length("impulse", impulse.len(), self.rows())?;
        if let Some(row) = impulse.iter().position(|r| !r.is_finite()) {
            return Err(ProblemError::NotFinite {
                what: "impulse",
                index: self.interaction_of(row),
                value: impulse[row],
            });
        }
        if self.laws.are_triples() {
            return Ok(solve(bytemuck::cast_slice_mut(impulse)));
        }
        let mut triples = Vec::new();
        self.laws.pack(impulse, &mut triples);
        let report = solve(&mut triples);
        self.laws.unpack(&triples, impulse);
        Ok(report)
    }

    fn interaction_with(&self, triple: usize) -> usize {
        let has = |(range, _): (Range<usize>, &Law)| range.contains(&triple);
        self.laws.iter().position(has).unwrap_or(triple)
    }

    fn interaction_of(&self, row: usize) -> usize {
        let mut end = 0;
        let behind = |law: &Law| {
            end += law.rows();
            end > row
        };
        self.laws().iter().position(behind).unwrap_or(0)
    }

    /// The true rows of the triples of an interaction.
    #[inline]
    pub(crate) fn rows_of<'a>(&self, triples: &'a [DVec3], law: &Law) -> &'a [f64] {
        &rows_of(triples)[..law.rows()]
    }
}

/// `λ` of every triple, if a row of a box is weak; else nothing.
fn scales_if_weak(laws: &Laws, w: &SparseMatrix) -> Vec<f64> {
    let mut interaction_of = Vec::with_capacity(laws.rows());
    for (interaction, law) in laws.as_slice().iter().enumerate() {
        interaction_of.extend((0..law.rows()).map(|_| interaction));
    }
    let mut diagonal = vec![0.0; laws.len()];
    for (row, interaction) in interaction_of.iter().enumerate() {
        let own = w.column(row).find(|(other, _)| *other == row);
        diagonal[*interaction] += own.map_or(0.0, |(_, value)| value);
    }
    for (diagonal, law) in diagonal.iter_mut().zip(laws.as_slice()) {
        *diagonal /= law.rows() as f64;
    }
    let is_box = |interaction: usize| {
        let law = laws.law(interaction);
        matches!(
            law,
            Law::Complementarity | Law::Interval(_) | Law::Equality(_)
        )
    };
    let entries = Blocks { w, interaction_of };
    let Some(scales) = weak_rows::scales(&diagonal, is_box, &entries) else {
        return Vec::new();
    };
    let of_triples = laws.iter().zip(scales);
    of_triples
        .flat_map(|((range, _), scale)| range.map(move |_| scale))
        .collect()
}

/// Entries of `W` by interactions.
struct Blocks<'a> {
    w: &'a SparseMatrix,
    interaction_of: Vec<usize>,
}

impl Entries for Blocks<'_> {
    fn visit(&self, mut visit: impl FnMut(usize, usize, f64)) {
        for (column, j) in self.interaction_of.iter().enumerate() {
            for (row, value) in self.w.column(column) {
                visit(self.interaction_of[row], *j, value.abs());
            }
        }
    }
}
