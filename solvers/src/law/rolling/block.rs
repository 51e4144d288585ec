//! One contact with rolling and spinning resistance, solved with all others frozen.

use super::RollingCoulomb;
use crate::law::RowLaw;

/// A prepared block.
#[derive(Clone, Debug)]
pub(crate) struct RollingBlock {
    law: RollingCoulomb,
    /// The symmetric part of `W`, spare row included.
    matrix: [[f64; 6]; 6],
    step: f64,
}

impl RollingBlock {
    pub(crate) fn new(law: &RollingCoulomb, block: &[f64]) -> Self {
        let m = law.rows();
        let mut matrix = [[0.0; 6]; 6];
        for i in 0..m {
            for j in 0..m {
                matrix[i][j] = 0.5 * (block[i * m + j] + block[j * m + i]);
            }
        }
        let trace: f64 = (0..m).map(|i| matrix[i][i]).sum();
        Self {
            law: *law,
            matrix,
            step: if trace > 0.0 { 1.0 / trace } else { 0.0 },
        }
    }

    fn times(&self, r: &[f64]) -> [f64; 6] {
        self.matrix
            .map(|row| row.iter().zip(r).map(|(a, b)| a * b).sum())
    }

    /// As [`crate::law::one_block::OneBlock::relax`].
    pub(crate) fn relax(&mut self, w: &[f64], r: &mut [f64], part_of_normal: f64) {
        let m = r.len();
        let own = self.times(r);
        let mut q = [0.0; 6];
        for i in 0..m {
            q[i] = w[i] * if i == 0 { part_of_normal } else { 1.0 } - own[i];
        }
        for _ in 0..1000 {
            let w = self.times(r);
            for i in 0..m {
                r[i] -= self.step * (w[i] + q[i]);
            }
            self.law.resolve(r);
        }
    }
}
