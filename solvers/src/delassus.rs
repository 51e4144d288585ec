//! The Delassus operator `W = G Ŵ Gᵀ` in stored form: block-compressed rows of 3×3 blocks.
//!
//! Block `(α, β)` exists iff the contacts share a body that impulses move [docs/theory.md §6]. The
//! columns of a row ascend. Imported problems may be unsymmetric; rows are used as given. Three rows are the unit of storage: an
//! interaction takes as many block rows as its law needs, and spare rows are coupled to nothing.

use crate::SparseMatrix;
use crate::law::list::Laws;
use crate::problem::{Contact, FactoredProblem, Interaction, InverseMass};
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Three rows of `G` for one body: linear and angular factors.
#[derive(Clone, Copy)]
struct Lever([[DVec3; 2]; 3]);

impl Lever {
    fn of(contact: &Contact, side: usize) -> Self {
        let sign = if side == 0 { 1.0 } else { -1.0 };
        let frame = &contact.frame;
        let row = |axis: DVec3| [axis * sign, contact.arms[side].cross(axis) * sign];
        Self([frame.x_axis, frame.y_axis, frame.z_axis].map(row))
    }

    fn of_rows(other: &Interaction, triple: usize, side: usize) -> Self {
        Self([0, 1, 2].map(|k| {
            let row = 3 * triple + k;
            if row < other.law.rows() {
                other.lever(row, side)
            } else {
                [DVec3::ZERO; 2]
            }
        }))
    }

    /// `G_α Ŵ G_βᵀ` for the body.
    fn coupling(&self, other: &Self, mass: &InverseMass) -> DMat3 {
        let column = |[linear, angular]: [DVec3; 2]| {
            let (pushed, turned) = (linear * mass.linear, mass.angular * angular);
            DVec3::from(
                self.0
                    .map(|[linear, angular]| linear.dot(pushed) + angular.dot(turned)),
            )
        };
        let [x, y, z] = other.0.map(column);
        DMat3::from_cols(x, y, z)
    }
}

/// A block-sparse matrix of `rows × rows` 3×3 blocks, 1/kg.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delassus {
    row_start: Vec<usize>,
    /// Position of each diagonal block.
    diagonal: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<DMat3>,
}

impl Delassus {
    /// From rows of `(column, block)`; columns are sorted, blocks of equal column are added. The
    /// diagonal block is stored even if it is zero or not given.
    #[must_use]
    pub fn from_rows(rows: Vec<Vec<(u32, DMat3)>>) -> Self {
        let mut matrix = Self {
            row_start: vec![0],
            ..Self::default()
        };
        for (index, mut row) in rows.into_iter().enumerate() {
            row.push((index as u32, DMat3::ZERO));
            row.sort_by_key(|(column, _)| *column);
            let begin = matrix.columns.len();
            for (column, block) in row {
                match matrix.columns[begin..].last() {
                    Some(last) if *last == column => {
                        if let Some(stored) = matrix.blocks.last_mut() {
                            *stored += block;
                        }
                    }
                    _ => {
                        if column as usize == index {
                            matrix.diagonal.push(matrix.columns.len());
                        }
                        matrix.columns.push(column);
                        matrix.blocks.push(block);
                    }
                }
            }
            matrix.row_start.push(matrix.columns.len());
        }
        matrix
    }

    /// Becomes the matrix of all `n × n` blocks, row by row, of which those that are `coupled` are stored, and the diagonal.
    pub(crate) fn set_dense(&mut self, n: usize, blocks: &[DMat3], coupled: &[bool]) {
        self.row_start.clear();
        self.row_start.push(0);
        self.columns.clear();
        self.blocks.clear();
        self.diagonal.clear();
        for row in 0..n {
            for column in 0..n {
                if row == column {
                    self.diagonal.push(self.columns.len());
                }
                if row == column || coupled[row * n + column] {
                    self.columns.push(column as u32);
                    self.blocks.push(blocks[row * n + column]);
                }
            }
            self.row_start.push(self.columns.len());
        }
    }

    /// Adds to one entry of the diagonal.
    pub(crate) fn add_to_diagonal(&mut self, triple: usize, row: usize, value: f64) {
        let place = self.diagonal[triple];
        self.blocks[place].col_mut(row)[row] += value;
    }

    /// From a matrix with one row for each row of the laws. Blocks are stored where an entry is not zero and on the diagonal;
    /// a spare row has the mean of the other diagonal entries of its interaction there, or 1 if that is not positive.
    pub(crate) fn from_sparse(laws: &Laws, matrix: &SparseMatrix) -> Self {
        // Triple and place in it of each row.
        let mut place = Vec::with_capacity(laws.rows());
        for (range, law) in laws.iter() {
            place.extend((0..law.rows()).map(|k| (range.start + k / 3, k % 3)));
        }
        let mut rows: Vec<Vec<(u32, DMat3)>> = vec![Vec::new(); laws.triples()];
        for column in 0..matrix.columns() {
            let (block_column, c) = place[column];
            for (row, value) in matrix.column(column) {
                let (block_row, r) = place[row];
                let blocks = &mut rows[block_row];
                if blocks
                    .last()
                    .is_none_or(|(last, _)| *last as usize != block_column)
                {
                    blocks.push((block_column as u32, DMat3::ZERO));
                }
                if let Some((_, block)) = blocks.last_mut() {
                    block.col_mut(c)[r] = value;
                }
            }
        }
        for blocks in &mut rows {
            blocks.retain(|(_, block)| *block != DMat3::ZERO);
        }
        let mut assembled = Self::from_rows(rows);
        for (range, law) in laws.iter() {
            assembled.fill_spare_rows(range, law.rows());
        }
        assembled
    }

    /// Gives the spare rows of an interaction of `m` rows their diagonal entries.
    pub(crate) fn fill_spare_rows(&mut self, range: Range<usize>, m: usize) {
        if m == 3 * range.len() {
            return;
        }
        let at = |k: usize| (range.start + k / 3, k % 3);
        let diagonal = |(triple, c): (usize, usize)| self.diagonal(triple).col(c)[c];
        let mean = (0..m).map(|k| diagonal(at(k))).sum::<f64>() / m as f64;
        let spare = if mean > 0.0 { mean } else { 1.0 };
        for k in m..3 * range.len() {
            let (triple, c) = at(k);
            self.blocks[self.diagonal[triple]].col_mut(c)[c] = spare;
        }
    }

    /// Assembles `W` of a factored problem, body by body.
    #[must_use]
    pub fn assemble(problem: &FactoredProblem) -> Self {
        if !problem.interactions.is_empty() {
            return Self::assemble_rows(problem);
        }
        let mut touching = vec![Vec::new(); problem.inverse_mass.len()];
        for (index, contact) in problem.contacts.iter().enumerate() {
            for (side, body) in contact.bodies.iter().enumerate() {
                touching[*body as usize].push((index, side));
            }
        }
        let rows = problem.contacts.iter().map(|contact| {
            let mut row = Vec::new();
            for (side, body) in contact.bodies.iter().enumerate() {
                let mass = &problem.inverse_mass[*body as usize];
                if mass.is_fixed() {
                    continue;
                }
                for &(other, other_side) in &touching[*body as usize] {
                    let block = contact.coupling(side, &problem.contacts[other], other_side, mass);
                    row.push((other as u32, block));
                }
            }
            row
        });
        Self::from_rows(rows.collect())
    }

    /// [`Self::assemble`] from rows: of a problem with other interactions than contacts.
    fn assemble_rows(problem: &FactoredProblem) -> Self {
        // Levers of every triple: body, and the linear and angular factors of its rows.
        let mut levers: Vec<Vec<(u32, Lever)>> = Vec::new();
        for contact in problem.contacts {
            let of = |side: usize| (contact.bodies[side], Lever::of(contact, side));
            levers.push([0, 1].map(of).to_vec());
        }
        let mut head = 0;
        for other in problem.interactions {
            for k in 0..other.triples() {
                let of = |side: usize| (other.bodies[side], Lever::of_rows(other, k, side));
                if other.linked {
                    levers[head].extend([0, 1].map(of));
                    levers.push(Vec::new());
                } else {
                    head = levers.len();
                    levers.push([0, 1].map(of).to_vec());
                }
            }
        }
        let mut touching = vec![Vec::new(); problem.inverse_mass.len()];
        for (triple, sides) in levers.iter().enumerate() {
            for (side, (body, _)) in sides.iter().enumerate() {
                touching[*body as usize].push((triple, side));
            }
        }
        let row = |sides: &Vec<(u32, Lever)>| {
            let mut row = Vec::new();
            for (body, lever) in sides {
                let mass = &problem.inverse_mass[*body as usize];
                if mass.is_fixed() {
                    continue;
                }
                for &(other, side) in &touching[*body as usize] {
                    row.push((other as u32, lever.coupling(&levers[other][side].1, mass)));
                }
            }
            row
        };
        let mut assembled = Self::from_rows(levers.iter().map(row).collect());
        let mut head = 0;
        for (range, other) in problem.others() {
            if !other.linked {
                head = range.start;
            }
            for row in 0..other.law.rows() {
                let place = assembled.diagonal[head + row / 3];
                assembled.blocks[place].col_mut(row % 3)[row % 3] += other.compliance[row];
            }
            assembled.fill_spare_rows(range, other.law.rows());
        }
        assembled
    }

    /// Number of block rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.row_start.len().saturating_sub(1)
    }

    /// Number of stored blocks.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The blocks of row `row`, columns ascending.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, &DMat3)> {
        let range = self.row_start[row]..self.row_start[row + 1];
        let columns = self.columns[range.clone()].iter().map(|c| *c as usize);
        columns.zip(&self.blocks[range])
    }

    /// `W_αβ/(s_α s_β)`.
    pub(crate) fn scaled(&self, scale: &[f64]) -> Self {
        let mut matrix = self.clone();
        for row in 0..self.rows() {
            for position in self.row_start[row]..self.row_start[row + 1] {
                let column = self.columns[position] as usize;
                matrix.blocks[position] *= 1.0 / (scale[row] * scale[column]);
            }
        }
        matrix
    }

    /// The block at `(row, row)`.
    #[inline]
    #[must_use]
    pub fn diagonal(&self, row: usize) -> &DMat3 {
        &self.blocks[self.diagonal[row]]
    }

    /// The block at `(row, column)`, zero where none is stored.
    #[must_use]
    pub fn block(&self, row: usize, column: usize) -> DMat3 {
        self.row(row)
            .find(|(c, _)| *c == column)
            .map_or(DMat3::ZERO, |(_, block)| *block)
    }

    /// `Σ_β W_αβ x_β` for block row `row`.
    #[inline]
    #[must_use]
    pub fn row_times(&self, row: usize, x: &[DVec3]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (column, block) in self.row(row) {
            sum += *block * x[column];
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{OwnedProblem, Random};
    use crate::rows_of;

    fn trace(matrix: &Delassus) -> f64 {
        let block = |i| matrix.block(i, i);
        let sum = |b: DMat3| b.x_axis.x + b.y_axis.y + b.z_axis.z;
        (0..matrix.rows()).map(|i| sum(block(i))).sum()
    }

    /// `W = G Ŵ Gᵀ` with symmetric `Ŵ ≥ 0`. Entries are some ten roundings of at most the trace.
    #[test]
    fn the_assembled_operator_is_symmetric_and_positive_semidefinite() {
        for seed in 0..20 {
            let problem = OwnedProblem::random(seed, 12, 40);
            let matrix = Delassus::assemble(&problem.view());
            let mut random = Random::new(seed);
            for (row, column) in (0..40).flat_map(|i| (0..40).map(move |j| (i, j))) {
                let block = matrix.block(row, column);
                let difference = block - matrix.block(column, row).transpose();
                let bound = 64.0 * f64::EPSILON * 12.0; // ‖W_αβ‖ ≤ 1/m + ‖I⁻¹‖ arm² < 2 × 12
                assert!(difference.to_cols_array().iter().all(|e| e.abs() <= bound));
            }
            for _ in 0..100 {
                let x: Vec<_> = (0..40).map(|_| random.vector()).collect();
                let form: f64 = (0..40).map(|i| x[i].dot(matrix.row_times(i, &x))).sum();
                let square: f64 = x.iter().map(|x| x.length_squared()).sum();
                assert!(form >= -64.0 * f64::EPSILON * trace(&matrix) * square);
            }
        }
    }

    #[test]
    fn a_block_exists_if_and_only_if_the_contacts_share_a_free_body() {
        let problem = OwnedProblem::random(1, 30, 50);
        let matrix = Delassus::assemble(&problem.view());
        for (i, a) in problem.contacts.iter().enumerate() {
            let columns: Vec<_> = matrix.row(i).map(|(column, _)| column).collect();
            assert!(columns.is_sorted());
            for (j, b) in problem.contacts.iter().enumerate() {
                let shared = a.bodies.iter().any(|k| *k != 0 && b.bodies.contains(k));
                assert_eq!(columns.contains(&j), shared, "{i} {j}");
            }
        }
    }

    /// The two forms differ by the rounding of sums over the contacts of a body, here below 20.
    #[test]
    fn stored_and_factored_forms_give_the_same_velocities() {
        for seed in 0..20 {
            let owned = OwnedProblem::random(seed, 12, 60);
            let (factored, stored) = (owned.view(), owned.view().assemble());
            let mut random = Random::new(seed);
            let r: Vec<_> = (0..60).map(|_| random.vector()).collect();
            let mut twist = Vec::new();
            factored.twist_under(rows_of(&r), &mut twist);
            for (i, contact) in owned.contacts.iter().enumerate() {
                let [a, b] = contact.bodies.map(|j| &twist[j as usize]);
                let through_bodies = contact.local_velocity(a, b) + contact.offset;
                let u = stored.delassus.row_times(i, &r) + stored.free_velocity[i];
                assert!((u - through_bodies).length() <= 1e-12 * u.length().max(1.0));
            }
        }
    }

    /// Both forms of the diagonal blocks, to ten roundings of entries below 24.
    #[test]
    fn the_local_block_is_the_diagonal_block() {
        let problem = OwnedProblem::random(3, 12, 200);
        let matrix = Delassus::assemble(&problem.view());
        for (i, contact) in problem.contacts.iter().enumerate() {
            let [a, b] = contact.bodies.map(|j| &problem.inverse_mass[j as usize]);
            let difference = contact.local_block(a, b) - matrix.block(i, i);
            let entries = difference.to_cols_array();
            assert!(entries.iter().all(|e| e.abs() <= 240.0 * f64::EPSILON));
        }
    }

    #[test]
    fn rows_are_sorted_and_equal_columns_are_added() {
        let one = DMat3::IDENTITY;
        let matrix = Delassus::from_rows(vec![vec![(1, one), (0, one), (1, one)], vec![]]);
        assert_eq!(matrix.block_count(), 3); // the diagonal is always stored
        assert_eq!(matrix.block(0, 1), one * 2.0);
        assert_eq!(matrix.block(1, 1), DMat3::ZERO);
    }
}
