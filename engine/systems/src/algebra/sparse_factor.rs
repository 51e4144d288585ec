//! LU factors of a sparse matrix: columns in the order of AMD where it is symmetric and in COLAMD's elsewhere, pivots by size within a column (faer, simplicial).
//!
//! ```text
//! P S A Q = L U        S: rows scaled by powers of two to a largest entry in [1, 2)
//! ```
//!
//! AMD's order has half of COLAMD's entries in the factors of a mesh, as long as nearly all pivots are on the diagonal. Those of masses, stiffnesses and conductances are; of
//! skew-symmetric matrices, as of coils and capacitors, they are not, and the factors fill up: thus COLAMD, which does not ask where pivots are.
//!
//! Rows of `L` and `U` are kept as those of `A`, so that a solve works in place: first `L`, then `U`, then the order of the unknowns as a list of swaps. Zeros of the
//! right side are passed over: the answer to a force at one place costs what it reaches.

use super::factor::vanishes;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::lu::simplicial::{
    SimplicialLu, factorize_simplicial_numeric_lu, factorize_simplicial_numeric_lu_scratch,
};
use faer::sparse::linalg::{amd, colamd};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use moreau_solvers::SparseMatrix;

/// `P S A Q = L U`.
#[derive(Clone, Debug)]
pub(super) struct SparseFactor {
    /// `S`.
    scale: Vec<f64>,
    /// Row of the pivot of each column.
    pivot_row: Vec<usize>,
    /// `L` without its unit diagonal, `U` without its diagonal, and that.
    lower: Columns,
    upper: Columns,
    diagonal: Vec<f64>,
    /// `x` by rows of pivots becomes `x` by unknowns by swapping each entry, in turn, with this one.
    swaps: Vec<usize>,
}

/// Compressed columns.
#[derive(Clone, Debug)]
struct Columns {
    start: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl Columns {
    fn with_capacity(columns: usize, entries: usize) -> Self {
        let mut start = Vec::with_capacity(columns + 1);
        start.push(0);
        Self {
            start,
            rows: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        }
    }

    /// `x ← x − factor · column`.
    fn subtract(&self, column: usize, factor: f64, x: &mut [f64]) {
        let range = self.start[column]..self.start[column + 1];
        for (row, value) in self.rows[range.clone()].iter().zip(&self.values[range]) {
            x[*row] -= factor * value;
        }
    }
}

impl SparseFactor {
    /// `None` if it is singular to working accuracy, see [`super::factor`]; the matrix is square, not empty and finite.
    pub(super) fn new(matrix: &SparseMatrix) -> Option<Self> {
        let n = matrix.columns();
        let scale = scales(matrix);
        let rows = matrix.row_index();
        let values: Vec<f64> = rows
            .iter()
            .zip(matrix.values())
            .map(|(row, value)| scale[*row] * value)
            .collect();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, matrix.column_start(), None, rows);
        let request = colamd::order_scratch::<usize>(n, n, rows.len())
            .or(amd::order_scratch::<usize>(n, rows.len()))
            .or(factorize_simplicial_numeric_lu_scratch::<usize, f64>(n, n));
        let mut memory = MemBuffer::try_new(request).ok()?;
        let stack = MemStack::new(&mut memory);
        let (mut order, mut place) = (vec![0; n], vec![0; n]);
        if is_symmetric(matrix) {
            amd::order(&mut order, &mut place, pattern, Default::default(), stack).ok()?;
        } else {
            colamd::order(&mut order, &mut place, pattern, Default::default(), stack).ok()?;
        }
        let (mut pivot_row, mut pivot_of) = (vec![0; n], vec![0; n]);
        let mut lu = SimplicialLu::new();
        factorize_simplicial_numeric_lu(
            &mut pivot_row,
            &mut pivot_of,
            &mut lu,
            SparseColMatRef::new(pattern, &values),
            PermRef::new_checked(&order, &place, n),
            MemStack::new(&mut memory),
        )
        .ok()?;
        let (upper, diagonal) = split(lu.u_factor_unsorted(), &pivot_row);
        // Rows have a largest entry of 1 to 2.
        let vanishes = |pivot: &f64| !pivot.is_finite() || vanishes(*pivot, 1.0, n);
        if diagonal.iter().any(vanishes) {
            return None;
        }
        let (lower, _) = split(lu.l_factor_unsorted(), &pivot_row);
        Some(Self {
            scale,
            swaps: swaps(&pivot_row, &order),
            pivot_row,
            lower,
            upper,
            diagonal,
        })
    }

    /// `x ← A⁻¹ x`.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for (x, scale) in x.iter_mut().zip(&self.scale) {
            *x *= scale;
        }
        for (column, row) in self.pivot_row.iter().enumerate() {
            let known = x[*row];
            if known != 0.0 {
                self.lower.subtract(column, known, x);
            }
        }
        for (column, row) in self.pivot_row.iter().enumerate().rev() {
            if x[*row] != 0.0 {
                let known = x[*row] / self.diagonal[column];
                x[*row] = known;
                self.upper.subtract(column, known, x);
            }
        }
        for (entry, other) in self.swaps.iter().enumerate() {
            x.swap(entry, *other);
        }
    }
}

/// Powers of two that bring the largest entry of each row to [1, 2); 1 for a row of zeros.
fn scales(matrix: &SparseMatrix) -> Vec<f64> {
    let mut largest = vec![0.0_f64; matrix.rows()];
    for (row, value) in matrix.row_index().iter().zip(matrix.values()) {
        largest[*row] = largest[*row].max(value.abs());
    }
    largest.into_iter().map(to_one).collect()
}

/// The power of two that brings a number to [1, 2); 1 for zero. That of a number so small that it would overflow is the largest there is.
pub(super) fn to_one(number: f64) -> f64 {
    if number > 0.0 {
        let (_, exponent) = libm::frexp(number);
        libm::ldexp(1.0, (1 - exponent).min(1023))
    } else {
        1.0
    }
}

/// True if it is symmetric to 1e-12 of each entry, some roundings of sums of elements in another order.
fn is_symmetric(matrix: &SparseMatrix) -> bool {
    let (start, rows, values) = (matrix.column_start(), matrix.row_index(), matrix.values());
    // Columns ascend, and so do the rows of each: the partners of a column's entries come in the order in which they stand in it.
    let mut next = start.to_vec();
    for column in 0..matrix.columns() {
        for (row, value) in matrix.column(column) {
            let place = next[row];
            let is_there = place < start[row + 1] && rows[place] == column;
            if !is_there || (values[place] - value).abs() > 1e-12 * value.abs() {
                return false;
            }
            next[row] += 1;
        }
    }
    true
}

/// The columns of a factor without its diagonal, with the rows of the matrix that was factored, and its diagonal.
fn split(factor: SparseColMatRef<'_, usize, f64>, pivot_row: &[usize]) -> (Columns, Vec<f64>) {
    let n = pivot_row.len();
    let start = factor.symbolic().col_ptr();
    let (rows, values) = (factor.symbolic().row_idx(), factor.val());
    let entries = start.last().map_or(0, |end| end.saturating_sub(n));
    let mut columns = Columns::with_capacity(n, entries);
    let mut diagonal = vec![0.0; n];
    for column in 0..n {
        for k in start[column]..start[column + 1] {
            if rows[k] == column {
                diagonal[column] = values[k];
            } else {
                columns.rows.push(pivot_row[rows[k]]);
                columns.values.push(values[k]);
            }
        }
        columns.start.push(columns.rows.len());
    }
    (columns, diagonal)
}

/// Swaps that bring the entry at `from[k]` to `to[k]` for all `k`: two orders of the same places.
fn swaps(from: &[usize], to: &[usize]) -> Vec<usize> {
    let n = from.len();
    // Where each place's new entry comes from; then what is where, and where it is, as the swaps go on.
    let mut source = vec![0; n];
    for (from, to) in from.iter().zip(to) {
        source[*to] = *from;
    }
    let (mut held, mut place): (Vec<usize>, Vec<usize>) = ((0..n).collect(), (0..n).collect());
    let mut swaps = Vec::with_capacity(n);
    for (entry, source) in source.into_iter().enumerate() {
        let other = place[source];
        swaps.push(other);
        held.swap(entry, other);
        place[held[entry]] = entry;
        place[held[other]] = other;
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::super::{Factor, Matrix};
    use super::*;

    /// `A` by its entries.
    fn sparse(n: usize, entries: &[(usize, usize, f64)]) -> SparseMatrix {
        SparseMatrix::from_triplets(n, n, entries.iter().copied()).unwrap()
    }

    /// Rows far from their diagonals, units of rows and columns twelve decades apart: the answer is that of the dense factors to their rounding, some hundred `ε` for
    /// rows that their diagonals dominate after their order is reversed.
    #[test]
    fn it_solves_what_the_dense_factors_solve() {
        for n in [1, 2, 3, 30, 90] {
            let mut entries = Vec::new();
            let mut dense = Matrix::zeros(n, n);
            let unit = |k: usize| [1.0, 1e6, 1e-6][k % 3];
            for i in 0..n {
                for (j, value) in [
                    (n - 1 - i, 5.0),
                    ((7 * i + 1) % n, 1.0),
                    ((3 * i + 2) % n, -0.5),
                    (i, 0.3),
                ] {
                    let value = value * unit(i);
                    entries.push((i, j, value));
                    dense[(i, j)] += value;
                }
            }
            let exact: Vec<f64> = (0..n).map(|i| i as f64 - 3.0).collect();
            let mut x = dense.times(&exact);
            Factor::of_sparse(&sparse(n, &entries))
                .unwrap()
                .solve(&mut x);
            for (x, exact) in x.iter().zip(&exact) {
                assert!((x - exact).abs() <= 1e-13 * n as f64, "{n}: {x} {exact}");
            }
        }
    }

    #[test]
    fn singular_matrices_are_refused_and_small_units_are_not() {
        let factor = |n, entries: &[_]| Factor::of_sparse(&sparse(n, entries));
        assert!(factor(2, &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 0.1), (1, 1, 0.2)]).is_none());
        assert!(factor(2, &[(0, 0, 1.0), (1, 1, 0.0)]).is_none());
        assert!(factor(2, &[(0, 0, 1.0)]).is_none());
        assert!(factor(3, &[(0, 0, 1.0), (0, 1, 1.0), (0, 2, 1.0), (1, 0, 1.0)]).is_none());
        assert!(factor(2, &[(0, 0, 1.0), (1, 1, 1e-30)]).is_some());
        assert!(factor(2, &[(0, 0, 1e-310), (1, 1, 1e308)]).is_some());
        assert!(factor(1, &[(0, 0, f64::NAN)]).is_none());
        assert!(factor(0, &[]).is_none());
        let wide = SparseMatrix::from_triplets(1, 2, [(0, 0, 1.0)]).unwrap();
        assert!(Factor::of_sparse(&wide).is_none());
    }

    /// A chain of springs that is held nowhere moves as a whole; held at one end it does not.
    #[test]
    fn a_free_chain_is_singular_and_a_held_one_is_not() {
        let n = 3000;
        let mut entries = Vec::new();
        for i in 0..n - 1 {
            for (row, column, value) in [(i, i, 1.0), (i + 1, i + 1, 1.0), (i, i + 1, -1.0)] {
                entries.push((row, column, value));
            }
            entries.push((i + 1, i, -1.0));
        }
        assert!(Factor::of_sparse(&sparse(n, &entries)).is_none());
        entries.push((0, 0, 1.0));
        let factor = Factor::of_sparse(&sparse(n, &entries)).unwrap();
        // A force of 1 at the far end stretches each spring by 1.
        let mut x = vec![0.0; n];
        x[n - 1] = 1.0;
        factor.solve(&mut x);
        for (i, x) in x.iter().enumerate() {
            assert!((x - (i + 1) as f64).abs() < 1e-9 * n as f64);
        }
    }

    #[test]
    fn symmetry_is_of_places_and_values() {
        let symmetric = |entries: &[_]| is_symmetric(&sparse(3, entries));
        let whole = [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0), (2, 0, 2.0)];
        assert!(symmetric(&whole));
        assert!(symmetric(&[]));
        for k in [1, 3] {
            let mut other = whole;
            other[k].2 = -2.0;
            assert!(!symmetric(&other));
            let (row, column, _) = whole[k];
            other[k] = (row, 1 + column % 2, 2.0);
            assert!(!symmetric(&other));
        }
    }

    /// A grid of springs, which is symmetric, and one of coils and capacitors, which is skew beside its diagonal.
    #[test]
    fn grids_are_factored_in_the_order_that_suits_them() {
        let side = 30;
        let n = side * side;
        for sign in [-1.0, 1.0] {
            let mut entries: Vec<_> = (0..n).map(|i| (i, i, 1.0)).collect();
            for i in 0..n {
                for j in [i + 1, i + side] {
                    if j < n && (j == i + side || j % side > 0) {
                        entries.push((i, j, 3.0 * sign));
                        entries.push((j, i, -3.0));
                        if sign < 0.0 {
                            entries.extend([(i, i, 3.0), (j, j, 3.0)]);
                        }
                    }
                }
            }
            let matrix = sparse(n, &entries);
            assert_eq!(is_symmetric(&matrix), sign < 0.0);
            let factor = SparseFactor::new(&matrix).unwrap();
            // Without an order of elimination there would be as many as in a band, 2n · side.
            let filled = factor.lower.rows.len() + factor.upper.rows.len();
            assert!(filled < 3 * n * side / 2, "{sign}: {filled}");
            let exact: Vec<f64> = (0..n).map(|i| (i % 7) as f64 - 3.0).collect();
            let mut x = vec![0.0; n];
            matrix.add_times(&exact, &mut x);
            factor.solve(&mut x);
            for (x, exact) in x.iter().zip(&exact) {
                // Norms of the matrix and its inverse are below 25 and 1.
                assert!((x - exact).abs() < 1e-12, "{sign}: {x} {exact}");
            }
        }
    }

    #[test]
    fn an_order_becomes_another_by_swaps() {
        let (from, to) = ([3, 0, 4, 1, 2], [1, 4, 0, 2, 3]);
        let mut x = [0.0; 5];
        for (k, from) in from.iter().enumerate() {
            x[*from] = k as f64;
        }
        for (entry, other) in swaps(&from, &to).into_iter().enumerate() {
            x.swap(entry, other);
        }
        for (k, to) in to.iter().enumerate() {
            assert_eq!(x[*to].to_bits(), (k as f64).to_bits());
        }
    }
}
