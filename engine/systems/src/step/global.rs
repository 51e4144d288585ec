//! The problem of a step in global form: velocities of all systems and impulses of all interactions together [docs/theory.md §6; Acary-Bremond-Huber18].
//!
//! ```text
//! M̂ z = H λ + f,   u = Hᵀ z + w,   the law of each interaction;     f = M̂ z_free,   w = w^τ − Hᵀ z^τ
//! ```
//!
//! That of the last Newton iteration. Its stored form, `W = Hᵀ M̂⁻¹ H` and `q = Hᵀ z_free + w`, is the problem that the step has solved.

use super::Plant;
use super::block::Block;
use super::link::Level;
use super::scheme::Instant;
use crate::error::{FieldError, SystemsError};
use moreau_solvers::{GlobalProblem, SparseMatrix};

impl Plant {
    /// See [`crate::SystemsSimulation::global_problem`].
    pub(crate) fn global_problem(&self) -> Result<GlobalProblem, SystemsError> {
        let mut begin = Vec::with_capacity(self.blocks.len());
        let (mut n, mut mass, mut force) = (0, Vec::new(), Vec::new());
        for block in &self.blocks {
            begin.push(n);
            block.for_each_of_iteration(self.own(block), |row, column, value| {
                mass.push((n + row, n + column, value));
            });
            n += block.size();
            force.resize(n, 0.0);
        }
        for (row, column, value) in &mass {
            let block = begin.partition_point(|begin| begin <= column) - 1;
            force[*row] += value * self.blocks[block].free(column - begin[block]);
        }
        let (mut m, mut kinematic) = (0, Vec::new());
        let (mut offset, mut laws) = (Vec::new(), Vec::new());
        for link in self.links.iter().filter(|link| link.active) {
            if !matches!(link.level, Level::Velocity | Level::Position) {
                return Err(link.named()(FieldError::Kind {
                    field: "relation",
                    found: "one whose multipliers are functions of time",
                    expected: "a rigid Lagrangian relation for the global form",
                }));
            }
            let h = self.own(&self.blocks[link.blocks[0]]).h;
            link.law.append_to(link.unit(h), &mut laws);
            let mut w = link.offset.to_vec();
            for (side, j) in link.blocks.iter().enumerate() {
                link.for_each_of_input(side, |row, multiplier, value| {
                    kinematic.push((begin[*j] + row, m + multiplier, value));
                    w[multiplier] -= value * self.blocks[*j].before(row);
                });
            }
            m += link.rows();
            offset.extend(w);
        }
        Ok(GlobalProblem {
            mass: SparseMatrix::from_triplets(n, n, mass)?,
            kinematic: SparseMatrix::from_triplets(n, m, kinematic)?,
            force,
            offset,
            laws,
        })
    }

    /// The last step that a system made within this one.
    fn own(&self, block: &Block) -> Instant {
        let h = self.at.h / f64::from(block.substeps);
        let t = self.at.end() - h;
        Instant { t, h }
    }
}

impl Block {
    /// Every entry of `M̂` that may not be zero.
    fn for_each_of_iteration(&self, at: Instant, mut each: impl FnMut(usize, usize, f64)) {
        if self.system.is_sparse() {
            let slopes = self.integrator.scheme().slopes(at);
            let entries = self.sparse_entries(&slopes);
            entries
                .into_iter()
                .for_each(|(row, column, value)| each(row, column, value));
        } else {
            self.matrices[0].for_each(each);
        }
    }

    /// An entry of `z^τ`.
    fn before(&self, i: usize) -> f64 {
        self.z[i] - self.change[i] - self.response[i]
    }

    /// An entry of `z_free`.
    fn free(&self, i: usize) -> f64 {
        self.z[i] - self.response[i]
    }
}
