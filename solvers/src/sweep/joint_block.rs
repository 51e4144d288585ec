//! The linear block of one joint, prepared for repeated exact solves.

use crate::Delassus;
use faer::Mat;
use faer::linalg::solvers::Svd;
use glam::{DMat3, DVec3};
use std::ops::Range;

/// Inverse of `W_JJ`, the pseudo-inverse where it is singular, in 3×3 blocks.
#[derive(Clone, Debug)]
pub(crate) struct JointBlock {
    blocks: Range<usize>,
    /// Row by row.
    inverse: Vec<DMat3>,
    velocity: Vec<DVec3>,
    change: Vec<DVec3>,
}

impl JointBlock {
    pub(crate) fn new(delassus: &Delassus, blocks: Range<usize>) -> Self {
        let n = blocks.len();
        let entry = |i: usize, j: usize| {
            let block = delassus.block(blocks.start + i / 3, blocks.start + j / 3);
            block.col(j % 3)[i % 3]
        };
        let matrix = Mat::from_fn(3 * n, 3 * n, entry);
        // A block that has no decomposition carries no multiplier.
        let inverse = match Svd::new(matrix.as_ref()) {
            Ok(svd) => svd.pseudoinverse(),
            Err(_) => Mat::zeros(3 * n, 3 * n),
        };
        let block = |i: usize, j: usize| {
            let column = |c| DVec3::from([0, 1, 2].map(|r| inverse[(3 * i + r, 3 * j + c)]));
            DMat3::from_cols(column(0), column(1), column(2))
        };
        Self {
            inverse: (0..n * n).map(|k| block(k / n, k % n)).collect(),
            blocks,
            velocity: vec![DVec3::ZERO; n],
            change: vec![DVec3::ZERO; n],
        }
    }

    pub(crate) fn blocks(&self) -> Range<usize> {
        self.blocks.clone()
    }

    /// `W_JJ⁻¹ u_J`, with the velocity of each block given.
    pub(crate) fn solve(&mut self, velocity: impl Fn(usize) -> DVec3) -> &[DVec3] {
        let n = self.blocks.len();
        for (u, block) in self.velocity.iter_mut().zip(self.blocks.clone()) {
            *u = velocity(block);
        }
        for (i, change) in self.change.iter_mut().enumerate() {
            let row = &self.inverse[i * n..(i + 1) * n];
            *change = row.iter().zip(&self.velocity).map(|(w, u)| *w * *u).sum();
        }
        &self.change
    }
}
