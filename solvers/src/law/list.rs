//! The laws of a problem, and where the rows of each interaction lie.
//!
//! Callers see rows: an interaction of `m` rows has `m` entries in a vector of impulses. Inside the solvers rows come in
//! triples, the unit of vectors, of the blocks of `W` and of Newton's factors: an interaction takes `⌈m/3⌉` of them, and the
//! spare rows of the last one have a unit of their own on the diagonal of `W` and nothing else, so that their impulse is zero.
//! Contacts in space fill their triple.

use super::{Defect, Law};
use crate::ProblemError;
use glam::DVec3;
use std::ops::Range;

/// Laws in the order of their interactions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Laws {
    laws: Vec<Law>,
    /// First triple of each interaction.
    first: Vec<u32>,
    triples: usize,
    rows: usize,
}

impl Laws {
    pub(crate) fn clear(&mut self) {
        self.laws.clear();
        self.first.clear();
        self.triples = 0;
        self.rows = 0;
    }

    pub(crate) fn push(&mut self, law: Law) {
        let rows = law.rows();
        self.laws.push(law);
        self.first.push(self.triples as u32);
        self.triples = self.triples.saturating_add(rows.div_ceil(3));
        self.rows = self.rows.saturating_add(rows);
    }

    /// Number of interactions.
    pub(crate) fn len(&self) -> usize {
        self.laws.len()
    }

    pub(crate) fn triples(&self) -> usize {
        self.triples
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn as_slice(&self) -> &[Law] {
        &self.laws
    }

    /// The triples of an interaction.
    #[inline]
    pub(crate) fn range(&self, interaction: usize) -> Range<usize> {
        let next = self.first.get(interaction + 1);
        self.first[interaction] as usize..next.map_or(self.triples, |next| *next as usize)
    }

    #[inline]
    pub(crate) fn law(&self, interaction: usize) -> &Law {
        &self.laws[interaction]
    }

    /// The laws with their triples.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Range<usize>, &Law)> {
        (0..self.len()).map(|interaction| (self.range(interaction), &self.laws[interaction]))
    }

    /// Every interaction is a triple, in this order.
    pub(crate) fn are_triples(&self) -> bool {
        self.rows == 3 * self.triples && self.triples == self.len()
    }

    /// The laws of the impulses `root · r`, `root` given for each triple (one value an interaction).
    pub(crate) fn scaled(&self, root: &[f64]) -> Self {
        let mut scaled = self.clone();
        for (law, first) in scaled.laws.iter_mut().zip(&self.first) {
            *law = law.scaled(root[*first as usize]);
        }
        scaled
    }

    /// Typed errors for parameters out of range.
    pub(crate) fn check(&self) -> Result<(), ProblemError> {
        for (interaction, law) in self.laws.iter().enumerate() {
            check(interaction, law)?;
        }
        Ok(())
    }

    /// Rows to triples, spare rows zero. The lengths must agree.
    pub(crate) fn pack(&self, rows: &[f64], triples: &mut Vec<DVec3>) {
        triples.clear();
        if self.are_triples() {
            triples.extend(rows.as_chunks().0.iter().map(|row| DVec3::from_array(*row)));
            return;
        }
        triples.resize(self.triples, DVec3::ZERO);
        let mut rest = rows;
        for (range, law) in self.iter() {
            let (own, others) = rest.split_at(law.rows());
            rows_of_mut(&mut triples[range])[..own.len()].copy_from_slice(own);
            rest = others;
        }
    }

    /// Triples to rows.
    pub(crate) fn unpack(&self, triples: &[DVec3], rows: &mut [f64]) {
        let mut rest = rows;
        for (range, law) in self.iter() {
            let (own, others) = rest.split_at_mut(law.rows());
            own.copy_from_slice(&rows_of(&triples[range])[..own.len()]);
            rest = others;
        }
    }
}

/// A law whose parameters are in range, else [`ProblemError::Friction`] or [`ProblemError::Law`].
pub(crate) fn check(interaction: usize, law: &Law) -> Result<(), ProblemError> {
    match (law.defect(), law) {
        (None, _) => Ok(()),
        (Some(defect), Law::Coulomb(_) | Law::PlanarCoulomb(_)) => Err(ProblemError::Friction {
            contact: interaction,
            value: defect.value,
        }),
        (Some(Defect { what, value, bound }), _) => Err(ProblemError::Law {
            interaction,
            what,
            value,
            bound,
        }),
    }
}

/// Vectors of contacts as rows, three each.
#[inline]
#[must_use]
pub fn rows_of(triples: &[DVec3]) -> &[f64] {
    bytemuck::cast_slice(triples)
}

/// [`rows_of`], to be changed.
#[inline]
#[must_use]
pub fn rows_of_mut(triples: &mut [DVec3]) -> &mut [f64] {
    bytemuck::cast_slice_mut(triples)
}
