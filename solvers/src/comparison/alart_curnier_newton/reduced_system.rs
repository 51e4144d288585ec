//! The reduced form: `(I − D + D R W) dr = −Φ` in the space of the contacts.
//!
//! The row of an open contact is one of the unit matrix. The block factors leave it out, and its
//! known `dr = −Φ` goes to the right-hand side of the others.

use super::assembly::Assembly;
use super::{Derivatives, Failure, NewtonSystem, is_solved, norm};
use crate::algebra::block_lu::{BlockLu, Pattern};
use crate::law::list::Laws;
use crate::newton::scaling::ScaledProblem;
use crate::{Delassus, StoredProblem};
use glam::DVec3;

/// Buffers that outlive a solve.
#[derive(Debug, Default)]
pub(super) struct ReducedBuffers {
    pattern: Pattern,
    lu: BlockLu<3, 4>,
    /// Slot in the factors of each stored block of `W`.
    slots: Vec<u32>,
    general: Assembly,
    entries: Vec<[f64; 3]>,
    flat: Vec<f64>,
    defect: Vec<DVec3>,
}

/// A stored problem, scaled.
pub(super) struct ReducedSystem<'a> {
    scaled: ScaledProblem,
    space: &'a mut ReducedBuffers,
    /// The pattern of the general factorisation is set.
    prepared: bool,
}

/// Which factors solve.
#[derive(Clone, Copy, PartialEq)]
enum Factors {
    Blocks,
    General,
}

impl<'a> ReducedSystem<'a> {
    pub(super) fn new(problem: &StoredProblem, space: &'a mut ReducedBuffers) -> Self {
        let scaled = ScaledProblem::new(problem);
        space.analyse(&scaled.delassus);
        Self {
            scaled,
            space,
            prepared: false,
        }
    }

    fn factorize(&mut self, with: Factors, at: &Derivatives) -> Result<(), Failure> {
        let (delassus, space) = (&self.scaled.delassus, &mut *self.space);
        let singular = |_| Failure::Singular;
        match with {
            Factors::Blocks => {
                space.assemble_blocks(delassus, at);
                let idle = |block| at.is_open(block);
                space.lu.factorize(idle).map_err(singular)
            }
            Factors::General => {
                if !self.prepared {
                    self.prepared = true;
                    let n = delassus.rows();
                    let columns = |row| delassus.row(row).map(move |(column, _)| (row, column));
                    let blocks = (0..n).flat_map(columns);
                    let entries = blocks.flat_map(|(row, column)| {
                        (0..9).map(move |k| (3 * row + k / 3, 3 * column + k % 3))
                    });
                    space.general.set_pattern(3 * n, entries);
                }
                space.assemble_general(delassus, at);
                space.general.factorize().map_err(singular)
            }
        }
    }

    /// `x ← (I − D + D R W)⁻¹ x` with the last factors.
    fn solve(&mut self, with: Factors, at: &Derivatives, x: &mut [DVec3]) {
        let (delassus, space) = (&self.scaled.delassus, &mut *self.space);
        match with {
            Factors::Blocks => {
                space.entries.clear();
                for (row, x_row) in x.iter().enumerate() {
                    let mut known = DVec3::ZERO;
                    if !at.is_open(row) {
                        for (column, block) in delassus.row(row) {
                            if at.is_open(column) {
                                known += *block * x[column];
                            }
                        }
                        known = at.map[row].apply(at.penalty(row) * known);
                    }
                    space.entries.push((*x_row - known).to_array());
                }
                space.lu.solve(&mut space.entries);
                for (x, entries) in x.iter_mut().zip(&space.entries) {
                    *x = DVec3::from(*entries);
                }
            }
            Factors::General => {
                space.flat.clear();
                space.flat.extend(x.iter().flat_map(|x| x.to_array()));
                space.general.solve(&mut space.flat);
                for (x, entries) in x.iter_mut().zip(space.flat.chunks_exact(3)) {
                    *x = DVec3::from_slice(entries);
                }
            }
        }
    }

    /// `−Φ − (I − D + D R W) dr` in the buffer; its norm. `du` receives `W dr`.
    fn defect(&mut self, at: &Derivatives, phi: &[DVec3], dr: &[DVec3], du: &mut [DVec3]) -> f64 {
        self.space.defect.clear();
        for (block, phi) in phi.iter().enumerate() {
            du[block] = self.scaled.delassus.row_times(block, dr);
            let defect = -*phi - at.apply(block, dr[block], du[block]);
            self.space.defect.push(defect);
        }
        norm(&self.space.defect)
    }

    /// Solves and refines once; false if that is not good enough.
    fn solve_refined(
        &mut self,
        with: Factors,
        at: &Derivatives,
        phi: &[DVec3],
        dr: &mut [DVec3],
        du: &mut [DVec3],
    ) -> bool {
        for (dr, phi) in dr.iter_mut().zip(phi) {
            *dr = -*phi;
        }
        self.solve(with, at, dr);
        self.defect(at, phi, dr, du);
        let mut correction = std::mem::take(&mut self.space.defect);
        self.solve(with, at, &mut correction);
        for (dr, correction) in dr.iter_mut().zip(&correction) {
            *dr += *correction;
        }
        self.space.defect = correction;
        is_solved(self.defect(at, phi, dr, du), norm(phi))
    }
}

impl ReducedBuffers {
    /// Orders the contacts for the factorisation and finds the slots of the blocks of `W`.
    fn analyse(&mut self, delassus: &Delassus) {
        let n = delassus.rows();
        let row = |row: usize| {
            let columns = delassus.row(row);
            columns.map(move |(column, _)| (row as u32, column as u32))
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

    fn assemble_blocks(&mut self, delassus: &Delassus, at: &Derivatives) {
        self.lu.clear();
        let mut slots = self.slots.iter();
        for row in 0..delassus.rows() {
            let derivative = at.scaled(row);
            for ((column, block), slot) in delassus.row(row).zip(&mut slots) {
                if at.is_open(row) || at.is_open(column) {
                    continue;
                }
                let mut entry = derivative * *block;
                if row == column {
                    entry += at.rest(row);
                }
                let rows = entry.transpose().to_cols_array_2d();
                for (target, row) in self.lu.block_mut(*slot as usize).iter_mut().zip(rows) {
                    target[..3].copy_from_slice(&row);
                }
            }
        }
    }

    fn assemble_general(&mut self, delassus: &Delassus, at: &Derivatives) {
        self.general.clear();
        for row in 0..delassus.rows() {
            let derivative = at.scaled(row);
            for (column, block) in delassus.row(row) {
                let mut entry = derivative * *block;
                if row == column {
                    entry += at.rest(row);
                }
                for value in entry.transpose().to_cols_array() {
                    self.general.push(value);
                }
            }
        }
    }
}

impl NewtonSystem for ReducedSystem<'_> {
    fn root(&self) -> &[f64] {
        &self.scaled.root
    }

    fn laws(&self) -> &Laws {
        &self.scaled.laws
    }

    fn velocity(&self, r: &[DVec3], u: &mut [DVec3]) {
        let q = &self.scaled.free_velocity;
        for (row, (u, q)) in u.iter_mut().zip(q).enumerate() {
            *u = self.scaled.delassus.row_times(row, r) + *q;
        }
    }

    fn step(
        &mut self,
        at: &Derivatives,
        phi: &[DVec3],
        dr: &mut [DVec3],
        du: &mut [DVec3],
        factorizations: &mut usize,
    ) -> Result<(), Failure> {
        for with in [Factors::Blocks, Factors::General] {
            *factorizations += 1;
            let made = self.factorize(with, at).is_ok();
            if made && self.solve_refined(with, at, phi, dr, du) {
                return Ok(());
            }
        }
        Err(Failure::Singular)
    }

    fn advance(&mut self, _: f64, _: &[DVec3]) {}
}
