//! Where a relation is evaluated, and its rows there.

use super::block::Block;
use crate::algebra::Matrix;
use crate::relation::lagrangian::LagrangianRelation;
use smallvec::SmallVec;
use std::borrow::Cow;

/// A matrix for each system.
pub(crate) type Sides = SmallVec<[Matrix; 2]>;

/// A relation evaluated at a point: time, and what it sees of each system.
pub(crate) struct Point<'a> {
    pub(crate) t: f64,
    pub(crate) seen: SmallVec<[Cow<'a, [f64]>; 2]>,
    /// Velocities of each system: columns of `H`.
    pub(crate) columns: SmallVec<[usize; 2]>,
}

impl<'a> Point<'a> {
    /// With what one function gives of each system.
    pub(super) fn of(
        t: f64,
        blocks: &'a [Block],
        joined: &[usize],
        seen: impl Fn(&'a Block) -> &'a [f64],
    ) -> Self {
        let seen = joined.iter().map(|j| Cow::Borrowed(seen(&blocks[*j])));
        Self {
            t,
            seen: seen.collect(),
            columns: joined.iter().map(|j| blocks[*j].size()).collect(),
        }
    }

    pub(crate) fn slices(&self) -> SmallVec<[&[f64]; 2]> {
        self.seen.iter().map(AsRef::as_ref).collect()
    }
}

/// `H` at a point, a matrix for each system.
pub(super) fn jacobian(relation: &dyn LagrangianRelation, point: &Point) -> Sides {
    let m = relation.rows();
    let mut h: Sides = point.columns.iter().map(|n| Matrix::zeros(m, *n)).collect();
    relation.jacobian(point.t, &point.slices(), &mut h);
    h
}
