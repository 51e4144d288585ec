//! A sparse matrix that is assembled again and again in one pattern, and its factors.

use crate::algebra::sparse_lu::{Singular, SparseLu};

/// Compressed columns with a place for each entry in the order of the assembly.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    size: usize,
    /// `(column, row)` in the order of the assembly; equal positions are added.
    positions: Vec<(u32, u32)>,
    slots: Vec<u32>,
    column_start: Vec<usize>,
    row_index: Vec<usize>,
    values: Vec<f64>,
    next: usize,
    lu: SparseLu,
    /// The pattern at hand, to be compared.
    wanted: Vec<(u32, u32)>,
}

impl Assembly {
    /// Sets the positions `(row, column)` of all entries, in the order in which [`Self::push`] will
    /// bring their values.
    pub(super) fn set_pattern(
        &mut self,
        size: usize,
        positions: impl Iterator<Item = (usize, usize)>,
    ) {
        self.wanted.clear();
        let swapped = |(row, column): (usize, usize)| (column as u32, row as u32);
        self.wanted.extend(positions.map(swapped));
        if self.size == size && self.wanted == self.positions {
            return;
        }
        std::mem::swap(&mut self.wanted, &mut self.positions);
        self.size = size;
        let mut sorted = self.positions.clone();
        sorted.sort_unstable();
        sorted.dedup();
        self.column_start.clear();
        self.column_start.resize(size + 1, 0);
        self.row_index.clear();
        for (column, row) in &sorted {
            self.column_start[*column as usize + 1] += 1;
            self.row_index.push(*row as usize);
        }
        for column in 0..size {
            self.column_start[column + 1] += self.column_start[column];
        }
        self.slots.clear();
        let slot = |position| sorted.partition_point(|other| other < position) as u32;
        self.slots.extend(self.positions.iter().map(slot));
        self.values.clear();
        self.values.resize(sorted.len(), 0.0);
    }

    /// Begins a new matrix.
    pub(super) fn clear(&mut self) {
        self.values.fill(0.0);
        self.next = 0;
    }

    /// The next entry.
    pub(super) fn push(&mut self, value: f64) {
        self.values[self.slots[self.next] as usize] += value;
        self.next += 1;
    }

    pub(super) fn factorize(&mut self) -> Result<(), Singular> {
        debug_assert_eq!(self.next, self.slots.len());
        self.lu
            .factorize(&self.column_start, &self.row_index, &self.values)
    }

    /// `x ← A⁻¹ x`.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        self.lu.solve(x);
    }

    /// `y ← y − A x`.
    pub(super) fn subtract_times(&self, x: &[f64], y: &mut [f64]) {
        for (column, factor) in x.iter().enumerate() {
            for k in self.column_start[column]..self.column_start[column + 1] {
                y[self.row_index[k]] -= self.values[k] * factor;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `[[2, 1], [0, 4]]`, with the first entry in two parts.
    #[test]
    fn entries_find_their_place() {
        let mut matrix = Assembly::default();
        for _ in 0..2 {
            matrix.set_pattern(2, [(1, 1), (0, 0), (0, 1), (0, 0)].into_iter());
            matrix.clear();
            [4.0, 1.5, 1.0, 0.5]
                .into_iter()
                .for_each(|value| matrix.push(value));
            let mut y = [4.0, 8.0];
            matrix.subtract_times(&[1.0, 2.0], &mut y);
            assert!(y[0].abs() + y[1].abs() < 1e-15);
            assert!(matrix.factorize().is_ok());
            let mut x = [4.0, 8.0];
            matrix.solve(&mut x);
            assert!((x[0] - 1.0).abs() + (x[1] - 2.0).abs() < 1e-15);
        }
    }
}
