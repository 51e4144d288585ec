//! What primal–dual active sets see of a box problem, in each of its forms.

use crate::complementarity::dense_lu::DenseLu;
use crate::complementarity::envelope::Envelope;
use crate::complementarity::{BoxProblem, SparseBoxProblem};
use crate::{Residual, natural_map};

/// What the method sees of a problem.
pub(super) trait Rows {
    fn bounds(&self, row: usize) -> [f64; 2];
    fn scales(&self) -> &[f64];
    fn q(&self) -> &[f64];
    /// `(M z + q)` of a row.
    fn velocity(&self, row: usize, z: &[f64]) -> f64;
    fn entries(&self) -> (&[f64], &[u32]);
    fn residual(&self, z: &[f64]) -> Residual;
    fn factorize(&self, method: &mut Factors<'_>) -> bool;
    fn solve(&self, method: &mut Factors<'_>, right: &mut [f64]);
}

/// Rows between bounds, and the space for factors of `M_BB`.
pub(super) struct Factors<'a> {
    pub(super) between: &'a [u32],
    pub(super) place: &'a [u32],
    /// `1/√λ` of the rows of the dense factors.
    pub(super) roots: &'a mut Vec<f64>,
    pub(super) dense: &'a mut DenseLu,
    pub(super) sparse: &'a mut Envelope,
}

impl Rows for BoxProblem {
    fn bounds(&self, row: usize) -> [f64; 2] {
        [self.low()[row], self.high()[row]]
    }

    fn scales(&self) -> &[f64] {
        self.scales()
    }

    fn q(&self) -> &[f64] {
        self.q()
    }

    fn velocity(&self, row: usize, z: &[f64]) -> f64 {
        crate::complementarity::box_problem::dot(self.row(row), z) + self.q()[row]
    }

    fn entries(&self) -> (&[f64], &[u32]) {
        (self.matrix(), &[])
    }

    fn residual(&self, z: &[f64]) -> Residual {
        natural_map::boxes(self, z)
    }

    fn factorize(&self, method: &mut Factors<'_>) -> bool {
        let (rows, matrix, n) = (method.between, self.matrix(), self.len());
        // Any number of rows may be between their bounds next time.
        method.dense.reserve(n);
        method.roots.clear();
        method.roots.reserve(n);
        let roots = rows
            .iter()
            .map(|row| 1.0 / self.scales()[*row as usize].sqrt());
        method.roots.extend(roots);
        let roots = &method.roots;
        method.dense.factorize(rows.len(), |i, j| {
            matrix[rows[i] as usize * n + rows[j] as usize] * (roots[i] * roots[j])
        })
    }

    fn solve(&self, method: &mut Factors<'_>, right: &mut [f64]) {
        let scale = |right: &mut [f64]| {
            for (right, root) in right.iter_mut().zip(&*method.roots) {
                *right *= root;
            }
        };
        scale(right);
        method.dense.solve(right);
        scale(right);
    }
}

impl Rows for SparseBoxProblem {
    fn bounds(&self, row: usize) -> [f64; 2] {
        [self.low()[row], self.high()[row]]
    }

    fn scales(&self) -> &[f64] {
        self.scales()
    }

    fn q(&self) -> &[f64] {
        self.q()
    }

    fn velocity(&self, row: usize, z: &[f64]) -> f64 {
        self.image(row, z)
    }

    fn entries(&self) -> (&[f64], &[u32]) {
        self.entries()
    }

    fn residual(&self, z: &[f64]) -> Residual {
        natural_map::sparse_boxes(self, z)
    }

    fn factorize(&self, method: &mut Factors<'_>) -> bool {
        let (rows, place) = (method.between, method.place);
        method.sparse.factorize(rows.len(), |visit| {
            for (i, row) in rows.iter().enumerate() {
                for (column, value) in self.row(*row as usize) {
                    if place[column] != u32::MAX {
                        visit(i, place[column] as usize, value);
                    }
                }
            }
        })
    }

    fn solve(&self, method: &mut Factors<'_>, right: &mut [f64]) {
        method.sparse.solve(right);
    }
}
