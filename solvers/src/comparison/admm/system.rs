//! The matrix `Ŵ + ρI` in compressed columns, and its factors.

use crate::StoredProblem;
use crate::algebra::sparse_lu::SparseLu;
use crate::infeasibility::scales;
use glam::DMat3;

/// `Ŵ`, unsymmetric as given, with every diagonal entry present.
#[derive(Debug, Default)]
pub(super) struct ScaledSystem {
    /// `√λ`, one a block, positive.
    root: Vec<f64>,
    column_start: Vec<usize>,
    row_index: Vec<usize>,
    values: Vec<f64>,
    /// Place and value of each diagonal entry of `Ŵ`.
    diagonal: Vec<(usize, f64)>,
    next: Vec<usize>,
    lu: SparseLu,
}

impl ScaledSystem {
    /// `√λ` of each block.
    pub(super) fn root(&self) -> &[f64] {
        &self.root
    }

    /// Scales `W`. A block without a usable `λ` takes the largest one.
    pub(super) fn assemble(&mut self, problem: &StoredProblem) {
        scales(problem, &mut self.root);
        for root in &mut self.root {
            *root = root.sqrt();
        }
        if self.column_start.len() != 3 * problem.triples() + 1 {
            // The storage of faer's factors does not shrink to a smaller matrix.
            self.lu = SparseLu::default();
        }
        self.place(problem);
        let entries = self.column_start.last().copied().unwrap_or(0);
        self.row_index.clear();
        self.row_index.resize(entries, 0);
        self.values.clear();
        self.values.resize(entries, 0.0);
        self.diagonal.clear();
        for row in 0..problem.triples() {
            let mut found = false;
            for (column, block) in problem.delassus.row(row) {
                found |= column == row;
                self.insert(row, column, block);
            }
            if !found {
                self.insert(row, row, &DMat3::ZERO);
            }
        }
    }

    /// Where the columns begin.
    fn place(&mut self, problem: &StoredProblem) {
        let n = problem.triples();
        self.next.clear();
        self.next.resize(n, 0);
        for row in 0..n {
            let mut found = false;
            for (column, _) in problem.delassus.row(row) {
                found |= column == row;
                self.next[column] += 3;
            }
            self.next[row] += if found { 0 } else { 3 };
        }
        self.column_start.clear();
        self.column_start.push(0);
        let mut end = 0;
        for height in &self.next {
            for _ in 0..3 {
                end += height;
                self.column_start.push(end);
            }
        }
        self.next.clear();
        self.next.extend_from_slice(&self.column_start[..3 * n]);
    }

    /// Rows come in ascending order, so that those of every column ascend.
    fn insert(&mut self, row: usize, column: usize, block: &DMat3) {
        let scale = self.root[row] * self.root[column];
        for c in 0..3 {
            let begin = self.next[3 * column + c];
            let entries = block.col(c).to_array();
            for (r, entry) in entries.into_iter().enumerate() {
                self.row_index[begin + r] = 3 * row + r;
                self.values[begin + r] = entry / scale;
            }
            self.next[3 * column + c] = begin + 3;
            if row == column {
                self.diagonal.push((begin + c, self.values[begin + c]));
            }
        }
    }

    /// Factorises `Ŵ + ρI`; false if it is singular.
    pub(super) fn factorize(&mut self, rho: f64) -> bool {
        for (place, value) in &self.diagonal {
            self.values[*place] = value + rho;
        }
        self.lu
            .factorize(&self.column_start, &self.row_index, &self.values)
            .is_ok()
    }

    /// `x ← (Ŵ + ρI)⁻¹ x`.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        self.lu.solve(x);
    }
}
