//! The Delassus operator `W = G Ŵ Gᵀ` in stored form: block-compressed rows of 3×3 blocks.
//!
//! Block `(α, β)` exists iff the contacts share a body that impulses move [THEORY §6]. The
//! columns of a row ascend. Imported problems may be unsymmetric; rows are used as given.

use crate::problem::FactoredProblem;
use glam::{DMat3, DVec3};

/// A block-sparse matrix of `rows × rows` 3×3 blocks, 1/kg.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delassus {
    row_start: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<DMat3>,
}

impl Delassus {
    /// From rows of `(column, block)`; columns are sorted, blocks of equal column are added.
    #[must_use]
    pub fn from_rows(rows: Vec<Vec<(u32, DMat3)>>) -> Self {
        let mut matrix = Self {
            row_start: vec![0],
            ..Self::default()
        };
        for mut row in rows {
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
                        matrix.columns.push(column);
                        matrix.blocks.push(block);
                    }
                }
            }
            matrix.row_start.push(matrix.columns.len());
        }
        matrix
    }

    /// Assembles `W` of a factored problem, body by body.
    #[must_use]
    pub fn assemble(problem: &FactoredProblem) -> Self {
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
