//! A linear relation with sparse matrices as the step sees it: `output` and `input` of each system by their entries.

use super::{Level, Link};
use crate::algebra::coefficient::expect_finite_sparse;
use crate::algebra::{Matrix, Rows, dot};
use crate::error::FieldError;
use crate::relation::Relation;
use crate::step::block::Block;
use crate::step::scheme::Instant;
use moreau_solvers::SparseMatrix;
use smallvec::SmallVec;

/// In place of the dense `output` and `input` of a link, which are then empty.
pub(crate) struct SparseSides {
    output: SmallVec<[Rows; 2]>,
    input: SmallVec<[SparseMatrix; 2]>,
}

impl SparseSides {
    /// All entries are finite.
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let field = "jacobian";
        for output in &self.output {
            output.check(field, output.shape())?;
        }
        self.input
            .iter()
            .try_for_each(|input| expect_finite_sparse(field, input))
    }
}

type Entries = Vec<(usize, usize, f64)>;

/// All entries are within the matrix: the relation was checked.
fn matrix(rows: usize, columns: usize, entries: Entries) -> SparseMatrix {
    SparseMatrix::from_triplets(rows, columns, entries).unwrap_or_default()
}

impl Link {
    /// `output`, `input` and `feedthrough` of a linear relation with sparse matrices: see the table of [`super`].
    pub(super) fn take_sparse(&mut self, blocks: &[Block], at: Instant) {
        let m = self.rows();
        let (mut outputs, mut inputs) = (SmallVec::new(), SmallVec::new());
        let mut feedthrough = None;
        for (side, j) in self.blocks.iter().enumerate() {
            let (block, n) = (&blocks[*j], blocks[*j].size());
            let scheme = block.integrator.scheme();
            let (weight, slope) = (scheme.force_weight(at), scheme.position_slope(at));
            let (mut output, mut input) = (Entries::new(), Entries::new());
            match (&self.relation, self.level) {
                (Relation::LagrangianLinear(relation), level) => {
                    let is_compliant = level == Level::Compliant;
                    let [by_position, by_force] = if is_compliant {
                        [self.gamma * slope, weight]
                    } else {
                        [1.0, 1.0]
                    };
                    relation.jacobian[side].for_each(|row, column, value| {
                        output.push((row, column, by_position * value));
                        input.push((column, row, by_force * value));
                    });
                    feedthrough = relation.compliance.clone().filter(|_| is_compliant);
                }
                (Relation::FirstOrderLinear(relation), Level::Value { gamma }) => {
                    let is_stacked = relation.c[side].shape()[1] == 2 * n;
                    relation.c[side].for_each(|row, column, value| {
                        let by = if is_stacked && column < n { slope } else { 1.0 };
                        output.push((row, column % n, gamma * by * value));
                    });
                    relation.b[side].for_each(|row, column, value| {
                        input.push((row, column, weight * value));
                    });
                    let zero = || Matrix::zeros(m, m);
                    feedthrough = Some(relation.d.clone().unwrap_or_else(zero));
                }
                _ => {}
            }
            outputs.push(Rows::from(matrix(m, n, output)));
            inputs.push(matrix(n, m, input));
        }
        self.feedthrough = feedthrough;
        self.sparse = Some(SparseSides {
            output: outputs,
            input: inputs,
        });
    }

    /// `input` of a system, if it is sparse.
    pub(in crate::step) fn sparse_input(&self, side: usize) -> Option<&SparseMatrix> {
        self.sparse.as_ref().map(|sparse| &sparse.input[side])
    }

    /// Every entry of `input` of a system that may not be zero: row, multiplier, value.
    pub(in crate::step) fn for_each_of_input(
        &self,
        side: usize,
        mut each: impl FnMut(usize, usize, f64),
    ) {
        match self.sparse_input(side) {
            Some(input) => {
                for multiplier in 0..input.columns() {
                    for (row, value) in input.column(multiplier) {
                        each(row, multiplier, value);
                    }
                }
            }
            None => self.input[side].for_each(each),
        }
    }

    /// Adds the sizes of the terms of what acts on its systems, `|input| |λ|`.
    pub(in crate::step) fn size_actions(&self, blocks: &mut [Block]) {
        for (side, j) in self.blocks.iter().enumerate() {
            let acts = &mut blocks[*j].acts;
            self.for_each_of_input(side, |row, multiplier, value| {
                acts[row] += (value * self.lambda[multiplier]).abs();
            });
        }
    }

    /// `y ← y + output x` of a system.
    pub(in crate::step) fn add_output(&self, side: usize, x: &[f64], y: &mut [f64]) {
        match &self.sparse {
            Some(sparse) => sparse.output[side].add_times(1.0, x, y),
            None => self.output[side].add_times(1.0, x, y),
        }
    }

    /// One row of `output` times `x`.
    pub(in crate::step) fn output_dot(&self, side: usize, row: usize, x: &[f64]) -> f64 {
        match &self.sparse {
            Some(sparse) => sparse.output[side].row_dot(row, x),
            None => dot(self.output[side].row(row), x),
        }
    }

    /// `M̂⁻¹ input` of every system.
    pub(in crate::step) fn respond(&mut self, blocks: &[Block]) {
        self.responses
            .resize_with(self.blocks.len(), Matrix::default);
        let sides = self.responses.iter_mut().zip(&self.blocks).enumerate();
        for (side, (answer, j)) in sides {
            let block = &blocks[*j];
            match &self.sparse {
                Some(sparse) => {
                    let input = &sparse.input[side];
                    answer.become_zeros(input.columns(), input.rows());
                    for multiplier in 0..input.columns() {
                        let row = answer.row_mut(multiplier);
                        for (place, value) in input.column(multiplier) {
                            row[place] = value;
                        }
                        block.divide(row);
                    }
                }
                None => block.response_to(&self.input[side], answer),
            }
        }
    }

    /// Adds `input λ` to what is applied to a system, and `physical` times that to its reaction.
    pub(super) fn add_input(&self, side: usize, physical: f64, block: &mut Block) {
        if let Some(sparse) = &self.sparse {
            for (multiplier, lambda) in self.lambda.iter().enumerate() {
                for (place, value) in sparse.input[side].column(multiplier) {
                    let acts = value * lambda;
                    block.applied[place] += acts;
                    block.reaction[place] += physical * acts;
                }
            }
            return;
        }
        let sums = block.applied.iter_mut().zip(&mut block.reaction);
        for (i, (applied, reaction)) in sums.enumerate() {
            let acts = dot(self.input[side].row(i), &self.lambda);
            *applied += acts;
            *reaction += physical * acts;
        }
    }
}
