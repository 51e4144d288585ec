//! The Newton matrix in contact space: for problems of which only `W` is known.
//!
//! One 3×3 block a triple of rows, whatever its state: `B` and `C` are filled up with zeros, so that an
//! open contact is a row of the unit matrix and a slipping one has two unknowns,
//!
//! ```text
//! (I + ρ C B Ŵ) x = b   ⇔   (I + ρ B Ŵ C) t = B Ŵ b,   x = b − ρ C t
//! ```
//!
//! The rows of `W` are used as given, symmetric or not; its pattern is made symmetric.

use super::scaling::ScaledProblem;
use super::space::{NEWTON_STEPS, NewtonSpace};
use crate::algebra::block_lu::{BlockLu, Pattern, Singular};
use crate::law::linearised::Linearised;
use crate::law::list::Laws;
use crate::{Delassus, StoredProblem};
use glam::DVec3;

/// Buffers that outlive a solve.
#[derive(Debug, Default)]
pub(crate) struct ContactSpaceBuffers {
    pattern: Pattern,
    lu: BlockLu<3, 4>,
    /// Slot in the factors of each stored block of `W`.
    slots: Vec<u32>,
    reduced: Vec<[f64; 3]>,
}

/// A stored problem, scaled.
pub(crate) struct ContactSpace<'a> {
    scaled: ScaledProblem,
    space: &'a mut ContactSpaceBuffers,
}

impl<'a> ContactSpace<'a> {
    pub(crate) fn new(problem: &StoredProblem, space: &'a mut ContactSpaceBuffers) -> Self {
        let scaled = ScaledProblem::new(problem);
        space.analyse(&scaled.delassus);
        Self { scaled, space }
    }
}

impl ContactSpaceBuffers {
    /// What a successful Newton call costs, in sweeps over the same problem: times of the kernels,
    /// measured once in nanoseconds; only their ratio counts.
    pub(crate) fn newton_cost(&mut self, delassus: &Delassus) -> f64 {
        self.analyse(delassus);
        let (n, blocks) = (delassus.rows() as f64, delassus.block_count() as f64);
        let step = 12.0 * self.lu.products() as f64 + 30.0 * blocks + 400.0 * n;
        let sweep = 4.0 * blocks + 40.0 * n;
        NEWTON_STEPS * step / sweep
    }

    /// Orders the contacts for the factorisation and finds the slots of the blocks of `W`.
    fn analyse(&mut self, delassus: &Delassus) {
        let n = delassus.rows();
        let row = |row: usize| {
            delassus
                .row(row)
                .map(move |(column, _)| (row as u32, column as u32))
        };
        self.pattern.set(n, (0..n).flat_map(row));
        self.lu.analyse(&self.pattern);
        self.slots.clear();
        for row in 0..n {
            for (column, _) in delassus.row(row) {
                self.slots.push(self.lu.slot(row, column) as u32);
            }
        }
    }

    /// `I + ρ B Ŵ C`.
    fn assemble(&mut self, delassus: &Delassus, rho: f64, at: &[Linearised]) {
        self.lu.clear();
        let mut slots = self.slots.iter();
        for (row, of_row) in at.iter().enumerate() {
            for ((column, block), slot) in delassus.row(row).zip(&mut slots) {
                let of_column = &at[column];
                if of_row.rank == 0 || of_column.rank == 0 {
                    continue;
                }
                let target = self.lu.block_mut(*slot as usize);
                for (k, c) in of_column.c[..of_column.rank].iter().enumerate() {
                    let image = *block * *c * rho;
                    for (l, b) in of_row.b[..of_row.rank].iter().enumerate() {
                        target[l][k] = b.dot(image);
                    }
                }
                if row == column {
                    for (k, row) in target.iter_mut().enumerate() {
                        row[k] += 1.0;
                    }
                }
            }
        }
        if at.iter().any(Linearised::has_tail) {
            self.add_tails(delassus, rho, at);
        }
    }

    /// What the first column of a triple's `C` adds through the next triple.
    fn add_tails(&mut self, delassus: &Delassus, rho: f64, at: &[Linearised]) {
        let mut slots = self.slots.iter();
        for (row, of_row) in at.iter().enumerate() {
            for ((column, _), slot) in delassus.row(row).zip(&mut slots) {
                let of_column = &at[column];
                if of_row.rank == 0 || !of_column.has_tail() {
                    continue;
                }
                let image = delassus.block(row, column + 1) * of_column.tail * rho;
                let target = self.lu.block_mut(*slot as usize);
                for (l, b) in of_row.b[..of_row.rank].iter().enumerate() {
                    target[l][0] += b.dot(image);
                }
            }
        }
    }
}

impl NewtonSpace for ContactSpace<'_> {
    fn root(&self) -> &[f64] {
        &self.scaled.root
    }

    fn free_velocity(&self) -> &[DVec3] {
        &self.scaled.free_velocity
    }

    fn laws(&self) -> &Laws {
        &self.scaled.laws
    }

    fn times(&mut self, z: &[DVec3], out: &mut [DVec3]) {
        for (row, out) in out.iter_mut().enumerate() {
            *out = self.scaled.delassus.row_times(row, z);
        }
    }

    fn factorize(&mut self, rho: f64, at: &[Linearised]) -> Result<(), Singular> {
        self.space.assemble(&self.scaled.delassus, rho, at);
        self.space.lu.factorize(|block| at[block].rank == 0)
    }

    fn solve(&mut self, rho: f64, at: &[Linearised], x: &mut [DVec3]) {
        let space = &mut *self.space;
        space.reduced.clear();
        for (row, at) in at.iter().enumerate() {
            let mut entries = [0.0; 3];
            if at.rank > 0 {
                let product = self.scaled.delassus.row_times(row, x);
                for (entry, b) in entries.iter_mut().zip(&at.b[..at.rank]) {
                    *entry = b.dot(product);
                }
            }
            space.reduced.push(entries);
        }
        space.lu.solve(&mut space.reduced);
        for ((x, at), t) in x.iter_mut().zip(at).zip(&space.reduced) {
            for (c, t) in at.c[..at.rank].iter().zip(t) {
                *x -= *c * (rho * t);
            }
        }
        let tails = at.iter().zip(&space.reduced).enumerate();
        for (triple, (at, t)) in tails.filter(|(_, (at, _))| at.has_tail()) {
            x[triple + 1] -= at.tail * (rho * t[0]);
        }
    }
}
