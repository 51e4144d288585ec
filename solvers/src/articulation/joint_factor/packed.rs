//! Dense blocks of rows, and their factor.

use super::packing::Packing;
use super::{JointBlock, JointLink};
use crate::articulation::factor::{Factor, Six};
use crate::articulation::joints::{add_product, dot};
use crate::articulation::plan::{FIXED, Plan};
use crate::lanes::Dispatch;
use crate::problem::InverseMass;
use glam::DVec3;
use pulp::{Simd, WithSimd};

/// What is factorised: masses of the bodies, and rows.
type Given<'a> = (&'a [InverseMass], &'a [JointBlock], &'a [JointLink]);

/// `N` rows between two bodies; those that are not used are zero.
#[derive(Clone, Copy, Debug)]
struct Rows<const N: usize> {
    /// `J` and `J M⁻¹`, side by side.
    lever: [[Six; N]; 2],
    push: [[Six; N]; 2],
    compliance: [f64; N],
}

/// What the first row of a dense block takes of one more body.
#[derive(Clone, Copy, Debug)]
struct More {
    block: usize,
    body: u32,
    lever: Six,
    push: Six,
}

/// The factor of dense blocks of `N` rows.
#[derive(Debug, Default)]
pub(super) struct Packed<const N: usize> {
    rows: Vec<Rows<N>>,
    /// By blocks.
    more: Vec<More>,
    factor: Factor<N>,
    x: Vec<[f64; N]>,
}

impl<const N: usize> Packed<N> {
    pub(super) fn factorize(&mut self, packing: &Packing, plan: &Plan, given: Given) {
        self.take(packing, given);
        Dispatch::new(true).run(Factorize(self, packing, plan));
    }

    /// Seats the rows.
    fn take(&mut self, packing: &Packing, (masses, blocks, links): Given) {
        self.rows.clear();
        let none = Rows {
            lever: [[[0.0; 6]; N]; 2],
            push: [[[0.0; 6]; N]; 2],
            compliance: [0.0; N],
        };
        self.rows.resize(packing.graph.ends.len(), none);
        for (block, seat) in blocks.iter().zip(&packing.seats) {
            let rows = &mut self.rows[seat.block];
            for (row, own) in block.used().iter().zip(seat.first..) {
                for (side, body) in block.bodies.iter().enumerate() {
                    let Some(body) = body else { continue };
                    let there = side ^ usize::from(seat.turned);
                    let mut lever = [0.0; 6];
                    lever.copy_from_slice(&row[6 * side..6 * side + 6]);
                    rows.lever[there][own] = lever;
                    rows.push[there][own] = pushed(&lever, &masses[*body as usize]);
                }
            }
            let compliance = &block.compliance[..seat.count];
            rows.compliance[seat.rows()].copy_from_slice(compliance);
        }
        self.more.clear();
        self.more.extend(links.iter().map(|link| More {
            block: packing.seats[link.block as usize].block,
            body: link.body,
            lever: link.row,
            push: pushed(&link.row, &masses[link.body as usize]),
        }));
    }

    /// `A`, block by block.
    #[inline(always)]
    fn assemble(&mut self, packing: &Packing, plan: &Plan) {
        let ends = &packing.graph.ends;
        self.factor.clear(plan);
        for (block, rows) in self.rows.iter().enumerate() {
            let diagonal = &mut self.factor.diagonal[plan.place[block] as usize];
            for side in (0..2).filter(|side| ends[block][*side] != FIXED) {
                add_product(diagonal, &rows.push[side], &rows.lever[side]);
            }
            for (row, compliance) in rows.compliance.iter().enumerate() {
                diagonal[row][row] += compliance;
            }
        }
        for [position, row, column] in &plan.entries {
            let entry = &mut self.factor.below[*position as usize];
            let (low, high) = (*row as usize, *column as usize);
            for (side, body) in ends[low].iter().enumerate() {
                for (other, its) in ends[high].iter().enumerate() {
                    if body == its && *body != FIXED {
                        let lever = &self.rows[high].lever[other];
                        add_product(entry, &self.rows[low].push[side], lever);
                    }
                }
            }
        }
        if !self.more.is_empty() {
            self.link(packing, plan);
        }
    }

    /// Adds what links contribute to `A`.
    fn link(&mut self, packing: &Packing, plan: &Plan) {
        let ends = &packing.graph.ends;
        for more in &self.more {
            let diagonal = &mut self.factor.diagonal[plan.place[more.block] as usize];
            diagonal[0][0] += dot(&more.push, &more.lever);
        }
        let of = |block: u32| {
            let begin = self
                .more
                .partition_point(|more| more.block < block as usize);
            let own = &self.more[begin..];
            &own[..own.partition_point(|more| more.block == block as usize)]
        };
        for [position, low, high] in &plan.entries {
            let entry = &mut self.factor.below[*position as usize];
            let [rows, columns] = [low, high].map(|block| &self.rows[*block as usize]);
            let [of_rows, of_columns] = [low, high].map(|block| &ends[*block as usize]);
            for more in of(*high) {
                for side in (0..2).filter(|side| of_rows[*side] == more.body) {
                    for (entry, push) in entry.iter_mut().zip(&rows.push[side]) {
                        entry[0] += dot(push, &more.lever);
                    }
                }
            }
            for more in of(*low) {
                for side in (0..2).filter(|side| of_columns[*side] == more.body) {
                    for (entry, lever) in entry[0].iter_mut().zip(&columns.lever[side]) {
                        *entry += dot(&more.push, lever);
                    }
                }
                for other in of(*high).iter().filter(|other| other.body == more.body) {
                    entry[0][0] += dot(&more.push, &other.lever);
                }
            }
        }
    }

    /// `x ← A⁻¹ x`, by the blocks that were given.
    pub(super) fn solve(&mut self, packing: &Packing, plan: &Plan, x: &mut [[f64; 6]]) {
        self.x.clear();
        self.x.resize(self.rows.len(), [0.0; N]);
        for (seat, x) in packing.seats.iter().zip(&*x) {
            for (own, x) in self.x[seat.block][seat.rows()].iter_mut().zip(x) {
                *own = *x;
            }
        }
        Dispatch::new(true).run(Solve(&mut self.factor, plan, &mut self.x));
        for (seat, x) in packing.seats.iter().zip(x) {
            for (own, x) in self.x[seat.block][seat.rows()].iter().zip(x) {
                *x = *own;
            }
        }
    }
}

/// `M⁻¹` times a part of a row.
fn pushed(lever: &Six, mass: &InverseMass) -> Six {
    let of = |k: usize| DVec3::from_slice(&lever[k..k + 3]);
    let mut push = [0.0; 6];
    (of(0) * mass.linear).write_to_slice(&mut push[..3]);
    (mass.angular * of(3)).write_to_slice(&mut push[3..]);
    push
}

/// Assembles and factorises, with the instructions of the machine.
struct Factorize<'a, const N: usize>(&'a mut Packed<N>, &'a Packing, &'a Plan);

impl<const N: usize> WithSimd for Factorize<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(packed, packing, plan) = self;
        packed.assemble(packing, plan);
        packed.factor.factorize(plan);
    }
}

/// One solve, the same way.
struct Solve<'a, const N: usize>(&'a mut Factor<N>, &'a Plan, &'a mut [[f64; N]]);

impl<const N: usize> WithSimd for Solve<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(factor, plan, x) = self;
        factor.solve(plan, x);
    }
}
