//! Where a relation is evaluated, and its rows there.

use super::block::Block;
use crate::algebra::Matrix;
use crate::relation::lagrangian::LagrangianRelation;
use smallvec::SmallVec;

/// A matrix for each system.
pub(crate) type Sides = SmallVec<[Matrix; 2]>;

/// A relation evaluated at a point: time, and what it sees of each system.
pub(crate) struct Point<'a> {
    pub(crate) t: f64,
    pub(crate) seen: SmallVec<[&'a [f64]; 2]>,
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
        let mut point = Self {
            t,
            seen: SmallVec::new(),
            columns: SmallVec::new(),
        };
        for j in joined {
            point.seen.push(seen(&blocks[*j]));
            point.columns.push(blocks[*j].size());
        }
        point
    }
}

/// `H` at a point, a matrix for each system.
pub(super) fn jacobian(relation: &dyn LagrangianRelation, point: &Point) -> Sides {
    let mut h = Sides::new();
    jacobian_into(relation, point, &mut h);
    h
}

/// [`jacobian`] in the memory that is there.
pub(super) fn jacobian_into(relation: &dyn LagrangianRelation, point: &Point, h: &mut Sides) {
    h.resize_with(point.seen.len(), Matrix::default);
    for (h, columns) in h.iter_mut().zip(&point.columns) {
        h.become_zeros(relation.rows(), *columns);
    }
    relation.jacobian(point.t, &point.seen, h);
}
