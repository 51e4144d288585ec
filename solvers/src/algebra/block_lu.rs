//! Sparse LU of a matrix in dense blocks, for the Newton matrices.
//!
//! Why not a general sparse LU: Newton matrices come in many with one pattern, in blocks of 3
//! (contacts) or 6 (bodies), and are symmetric in pattern. One minimum-degree order of the block
//! graph serves them all; pivots are taken inside the diagonal blocks only, so nothing moves and
//! nothing is allocated, and blocks of open contacts are skipped. A general LU reorders and
//! analyses every matrix anew and does more arithmetic, because it must expect any row as a pivot.
//! The price: pivots outside the diagonal block cannot be chosen. The caller refines and checks
//! each solution, and has [`crate::algebra::sparse_lu`] for the rare matrix that needs more.
//!
//! ```text
//! for each row i:  for each k < i in it:  L_ik = A_ik U_kk⁻¹;  A_ij −= L_ik U_kj  for j > k in row k
//! ```

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

pub(crate) use crate::algebra::sparse_lu::Singular;

/// A dense block, row by row, rows padded to an even length so that they fill registers of two.
pub(crate) type Block<const N: usize, const P: usize> = [[f64; P]; N];

/// Which blocks of a square matrix exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    start: Vec<usize>,
    columns: Vec<u32>,
    /// `(row, column)` in any order, while it is built.
    pairs: Vec<(u32, u32)>,
}

impl Pattern {
    /// The pattern of `rows` rows with the blocks that `pairs` names, and their transposes.
    pub(crate) fn set(&mut self, rows: usize, pairs: impl IntoIterator<Item = (u32, u32)>) {
        self.pairs.clear();
        for (row, column) in pairs {
            self.pairs.push((row, column));
            self.pairs.push((column, row));
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.start.clear();
        self.start.resize(rows + 1, 0);
        self.columns.clear();
        for (row, column) in &self.pairs {
            self.start[*row as usize + 1] += 1;
            self.columns.push(*column);
        }
        for row in 0..rows {
            self.start[row + 1] += self.start[row];
        }
    }

    fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    pub(crate) fn row(&self, row: usize) -> &[u32] {
        &self.columns[self.start[row]..self.start[row + 1]]
    }
}

/// Factors of a matrix of `N × N` blocks and the place where it is assembled.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockLu<const N: usize, const P: usize> {
    pattern: Pattern,
    /// Position in the order of elimination of each block row, and its inverse.
    place: Vec<u32>,
    order: Vec<u32>,
    row_start: Vec<usize>,
    /// First column beyond the diagonal, in each row.
    diagonal: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<Block<N, P>>,
    /// Slot of each column in the row at work.
    slot: Vec<u32>,
    idle: Vec<bool>,
    work: Vec<[f64; N]>,
}

impl<const N: usize, const P: usize> BlockLu<N, P> {
    /// Chooses the order and lays out the factors for a symmetric pattern. Does nothing if the
    /// pattern is the last one: from step to step it often is.
    pub(crate) fn analyse(&mut self, pattern: &Pattern) {
        if self.pattern == *pattern {
            return;
        }
        self.pattern.clone_from(pattern);
        let n = pattern.rows();
        self.order = minimum_degree(pattern);
        self.place = vec![0; n];
        for (place, block) in self.order.iter().enumerate() {
            self.place[*block as usize] = place as u32;
        }
        let upper = self.eliminate(pattern);
        let mut lower = vec![Vec::new(); n];
        for (row, columns) in upper.iter().enumerate() {
            for column in columns {
                lower[*column as usize].push(row as u32);
            }
        }
        self.row_start.clear();
        self.diagonal.clear();
        self.columns.clear();
        for row in 0..n {
            self.row_start.push(self.columns.len());
            self.columns.extend_from_slice(&lower[row]);
            self.diagonal.push(self.columns.len());
            self.columns.push(row as u32);
            self.columns.extend_from_slice(&upper[row]);
        }
        self.row_start.push(self.columns.len());
        self.slot = vec![0; n];
        self.idle = vec![false; n];
        self.work = vec![[0.0; N]; n];
    }

    /// Columns beyond the diagonal of each row of `U`, ascending: its own, and those that its
    /// children in the elimination tree pass on.
    fn eliminate(&self, pattern: &Pattern) -> Vec<Vec<u32>> {
        let n = pattern.rows();
        let mut upper: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut inherited: Vec<Vec<usize>> = vec![Vec::new(); n];
        for row in 0..n {
            let own = pattern.row(self.order[row] as usize).iter();
            let mut columns: Vec<u32> = own.map(|block| self.place[*block as usize]).collect();
            for child in &inherited[row] {
                columns.extend_from_slice(&upper[*child]);
            }
            columns.sort_unstable();
            columns.dedup();
            columns.retain(|column| *column as usize > row);
            if let Some(parent) = columns.first() {
                inherited[*parent as usize].push(row);
            }
            upper[row] = columns;
        }
        upper
    }

    /// Block products of one factorisation without idle rows: its cost.
    pub(crate) fn products(&self) -> usize {
        let beyond = |row: usize| self.row_start[row + 1] - self.diagonal[row];
        let factors = |row: usize| self.diagonal[row] - self.row_start[row];
        let update = |row: usize| {
            let pivots = &self.columns[self.row_start[row]..self.diagonal[row]];
            pivots
                .iter()
                .map(|pivot| beyond(*pivot as usize))
                .sum::<usize>()
        };
        (0..self.order.len())
            .map(|row| factors(row) + update(row) + 1)
            .sum()
    }

    /// Where block `(row, column)` of the matrix is assembled.
    pub(crate) fn slot(&self, row: usize, column: usize) -> usize {
        let (row, column) = (self.place[row] as usize, self.place[column]);
        let columns = &self.columns[self.row_start[row]..self.row_start[row + 1]];
        self.row_start[row] + columns.partition_point(|c| *c < column)
    }

    /// Zeroes the matrix and makes every row idle: a row of the unit matrix until it is set.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.blocks.resize(self.columns.len(), [[0.0; P]; N]);
    }

    /// The block in a slot.
    pub(crate) fn block_mut(&mut self, slot: usize) -> &mut Block<N, P> {
        &mut self.blocks[slot]
    }

    /// Factorises in place. Rows for which `idle` says so are rows of the unit matrix, and so are
    /// their columns: they are skipped.
    pub(crate) fn factorize(&mut self, idle: impl Fn(usize) -> bool) -> Result<(), Singular> {
        let n = self.order.len();
        for (place, block) in self.order.iter().enumerate() {
            self.idle[place] = idle(*block as usize);
        }
        for row in 0..n {
            if self.idle[row] {
                continue;
            }
            let (begin, diagonal) = (self.row_start[row], self.diagonal[row]);
            for slot in begin..self.row_start[row + 1] {
                self.slot[self.columns[slot] as usize] = (slot - begin) as u32;
            }
            let (done, rest) = self.blocks.split_at_mut(begin);
            for position in begin..diagonal {
                let pivot = self.columns[position] as usize;
                if self.idle[pivot] {
                    continue;
                }
                let inverse = &done[self.diagonal[pivot]];
                let factor = product(&rest[position - begin], inverse);
                rest[position - begin] = factor;
                let beyond = self.diagonal[pivot] + 1..self.row_start[pivot + 1];
                for (column, block) in self.columns[beyond.clone()].iter().zip(&done[beyond]) {
                    let target = self.slot[*column as usize] as usize;
                    subtract_product(&mut rest[target], &factor, block);
                }
            }
            let block = &mut rest[diagonal - begin];
            *block = inverse(block)?;
        }
        Ok(())
    }

    /// `x ← A⁻¹ x`, entries of idle rows unchanged.
    pub(crate) fn solve(&mut self, x: &mut [[f64; N]]) {
        for row in 0..self.order.len() {
            let mut y = x[self.order[row] as usize];
            if !self.idle[row] {
                for position in self.row_start[row]..self.diagonal[row] {
                    let column = self.columns[position] as usize;
                    if !self.idle[column] {
                        subtract_times(&mut y, &self.blocks[position], &self.work[column]);
                    }
                }
            }
            self.work[row] = y;
        }
        for row in (0..self.order.len()).rev() {
            if !self.idle[row] {
                let mut y = self.work[row];
                for position in self.diagonal[row] + 1..self.row_start[row + 1] {
                    let column = self.columns[position] as usize;
                    if !self.idle[column] {
                        subtract_times(&mut y, &self.blocks[position], &self.work[column]);
                    }
                }
                let mut z = [0.0; N];
                subtract_times(&mut z, &self.blocks[self.diagonal[row]], &y);
                self.work[row] = z.map(|z| -z);
            }
            x[self.order[row] as usize] = self.work[row];
        }
    }
}

/// Approximate minimum degree; the given order if that fails.
pub(crate) fn minimum_degree(pattern: &Pattern) -> Vec<u32> {
    let n = pattern.rows();
    let (mut start, mut rows) = (vec![0], Vec::new());
    for column in 0..n {
        let of_column = pattern.row(column);
        let begin = rows.len();
        rows.extend(
            of_column
                .iter()
                .map(|row| *row as usize)
                .filter(|row| *row != column),
        );
        rows[begin..].sort_unstable();
        start.push(rows.len());
    }
    let (mut order, mut place) = (vec![0_usize; n], vec![0_usize; n]);
    let ordered =
        MemBuffer::try_new(amd::order_scratch::<usize>(n, rows.len())).is_ok_and(|mut memory| {
            amd::order(
                &mut order,
                &mut place,
                SymbolicSparseColMatRef::new_checked(n, n, &start, None, &rows),
                amd::Control::default(),
                MemStack::new(&mut memory),
            )
            .is_ok()
        });
    if ordered {
        order.into_iter().map(|block| block as u32).collect()
    } else {
        (0..n as u32).collect()
    }
}

#[inline]
fn product<const N: usize, const P: usize>(a: &Block<N, P>, b: &Block<N, P>) -> Block<N, P> {
    let mut c = [[0.0; P]; N];
    for (c, a) in c.iter_mut().zip(a) {
        for (a, b) in a.iter().zip(b) {
            for (c, b) in c.iter_mut().zip(b) {
                *c += a * b;
            }
        }
    }
    c
}

#[inline(always)]
fn subtract_product<const N: usize, const P: usize>(
    c: &mut Block<N, P>,
    a: &Block<N, P>,
    b: &Block<N, P>,
) {
    for (c, a) in c.iter_mut().zip(a) {
        let mut row = *c;
        for (a, b) in a.iter().zip(b) {
            for (c, b) in row.iter_mut().zip(b) {
                *c -= a * b;
            }
        }
        *c = row;
    }
}

#[inline(always)]
fn subtract_times<const N: usize, const P: usize>(y: &mut [f64; N], a: &Block<N, P>, x: &[f64; N]) {
    for (y, a) in y.iter_mut().zip(a) {
        for (a, x) in a.iter().zip(x) {
            *y -= a * x;
        }
    }
}

/// Gauss–Jordan with row pivots.
fn inverse<const N: usize, const P: usize>(block: &Block<N, P>) -> Result<Block<N, P>, Singular> {
    let mut a = *block;
    let mut inverse = [[0.0; P]; N];
    for (i, row) in inverse.iter_mut().enumerate() {
        row[i] = 1.0;
    }
    for column in 0..N {
        let mut pivot = column;
        for row in column + 1..N {
            if a[row][column].abs() > a[pivot][column].abs() {
                pivot = row;
            }
        }
        a.swap(column, pivot);
        inverse.swap(column, pivot);
        let scale = 1.0 / a[column][column];
        if !scale.is_finite() || scale == 0.0 {
            return Err(Singular);
        }
        a[column] = a[column].map(|x| x * scale);
        inverse[column] = inverse[column].map(|x| x * scale);
        for row in 0..N {
            if row != column {
                let factor = a[row][column];
                for k in 0..N {
                    a[row][k] -= factor * a[column][k];
                    inverse[row][k] -= factor * inverse[column][k];
                }
            }
        }
    }
    Ok(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Random symmetric patterns, dominant diagonals: the error is some roundings.
    fn solves<const N: usize, const P: usize>(seed: u64) {
        let mut random = Random::new(seed);
        let n = 40;
        let mut neighbours: Vec<Vec<u32>> = (0..n as u32).map(|i| vec![i]).collect();
        for _ in 0..100 {
            let (i, j) = (random.below(n), random.below(n));
            if i != j && !neighbours[i].contains(&(j as u32)) {
                neighbours[i].push(j as u32);
                neighbours[j].push(i as u32);
            }
        }
        let mut lu = BlockLu::<N, P>::default();
        let rows = neighbours.iter().enumerate();
        let pairs = rows.flat_map(|(i, row)| row.iter().map(move |j| (i as u32, *j)));
        let mut pattern = Pattern::default();
        pattern.set(n, pairs);
        lu.analyse(&pattern);
        for round in 0..3 {
            let idle = |i: usize| round == 1 && i.is_multiple_of(3);
            lu.clear();
            let exact: Vec<[f64; N]> = (0..n)
                .map(|_| std::array::from_fn(|_| random.uniform(-1.0, 1.0)))
                .collect();
            let mut x = vec![[0.0; N]; n];
            for i in 0..n {
                if idle(i) {
                    x[i] = exact[i];
                    continue;
                }
                for j in neighbours[i].iter().map(|j| *j as usize) {
                    if idle(j) {
                        continue;
                    }
                    let mut block: Block<N, P> =
                        std::array::from_fn(|_| std::array::from_fn(|_| random.uniform(-1.0, 1.0)));
                    if i == j {
                        for (k, row) in block.iter_mut().enumerate() {
                            row[k] += 20.0 * N as f64;
                        }
                    }
                    for (x, row) in x[i].iter_mut().zip(&block) {
                        *x += row.iter().zip(&exact[j]).map(|(a, b)| a * b).sum::<f64>();
                    }
                    let slot = lu.slot(i, j);
                    *lu.block_mut(slot) = block;
                }
            }
            assert!(lu.factorize(idle).is_ok());
            lu.solve(&mut x);
            let pairs = x.iter().flatten().zip(exact.iter().flatten());
            assert!(pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-13);
        }
    }

    #[test]
    fn it_solves_and_skips_idle_rows() {
        for seed in 0..5 {
            solves::<3, 4>(seed);
            solves::<6, 6>(seed);
        }
    }

    #[test]
    fn a_singular_block_is_told() {
        let mut lu = BlockLu::<2, 2>::default();
        let mut pattern = Pattern::default();
        pattern.set(1, [(0, 0)]);
        lu.analyse(&pattern);
        lu.clear();
        *lu.block_mut(0) = [[1.0, 2.0], [2.0, 4.0]];
        assert_eq!(lu.factorize(|_| false), Err(Singular));
    }
}
