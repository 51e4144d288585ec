//! Sparse LU with partial pivoting (faer: COLAMD order, supernodal or simplicial by fill), with
//! the symbolic part kept as long as the pattern stays the same.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::lu::{LuRef, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par};

/// The matrix has no usable pivot somewhere, or is too large to factorise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Singular;

/// Factors of a square matrix and the storage for the next ones.
#[derive(Default)]
pub(crate) struct SparseLu {
    column_start: Vec<usize>,
    row_index: Vec<usize>,
    symbolic: Option<SymbolicLu<usize>>,
    numeric: NumericLu<usize, f64>,
    memory: Option<MemBuffer>,
    ready: bool,
}

impl std::fmt::Debug for SparseLu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SparseLu")
            .field("columns", &self.column_start.len().saturating_sub(1))
            .field("entries", &self.row_index.len())
            .finish_non_exhaustive()
    }
}

impl SparseLu {
    /// Factorises the matrix in compressed columns; rows of a column ascend.
    pub(crate) fn factorize(
        &mut self,
        column_start: &[usize],
        row_index: &[usize],
        values: &[f64],
    ) -> Result<(), Singular> {
        self.ready = false;
        let n = column_start.len().saturating_sub(1);
        if n == 0 {
            self.ready = true;
            return Ok(());
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Singular);
        }
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, column_start, None, row_index);
        if self.symbolic.is_none()
            || self.column_start != column_start
            || self.row_index != row_index
        {
            self.symbolic =
                Some(factorize_symbolic_lu(pattern, Default::default()).map_err(|_| Singular)?);
            // faer's simplicial factors keep the length of a larger predecessor and then panic.
            self.numeric = NumericLu::new();
            self.column_start.clear();
            self.column_start.extend_from_slice(column_start);
            self.row_index.clear();
            self.row_index.extend_from_slice(row_index);
        }
        let Some(symbolic) = &self.symbolic else {
            return Err(Singular);
        };
        let request = symbolic
            .factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default())
            .or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq));
        let memory = match &mut self.memory {
            Some(memory) if memory.len() >= request.unaligned_bytes_required() => memory,
            memory => memory.insert(MemBuffer::try_new(request).map_err(|_| Singular)?),
        };
        symbolic
            .factorize_numeric_lu(
                &mut self.numeric,
                SparseColMatRef::new(pattern, values),
                Par::Seq,
                MemStack::new(memory),
                Default::default(),
            )
            .map_err(|_| Singular)?;
        self.ready = true;
        Ok(())
    }

    /// `x ← A⁻¹ x`. Without factors, `x` becomes undefined (NaN), so that it is not used unseen.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let (Some(symbolic), Some(memory), true) = (&self.symbolic, &mut self.memory, self.ready)
        else {
            if !x.is_empty() {
                x.fill(f64::NAN);
            }
            return;
        };
        let rows = x.len();
        LuRef::new_unchecked(symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(x, rows, 1),
            Par::Seq,
            MemStack::new(memory),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Well-conditioned random matrices: the error is some roundings of the condition number.
    #[test]
    fn it_solves_unsymmetric_systems_and_keeps_the_pattern() {
        let mut random = Random::new(1);
        let n = 60;
        let (mut start, mut rows) = (vec![0], Vec::new());
        for column in 0..n {
            for row in 0..n {
                if row == column || random.below(10) == 0 {
                    rows.push(row);
                }
            }
            start.push(rows.len());
        }
        let mut lu = SparseLu::default();
        for _ in 0..3 {
            let mut values: Vec<f64> = rows.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
            for column in 0..n {
                let diagonal = (start[column]..start[column + 1]).find(|k| rows[*k] == column);
                values[diagonal.unwrap()] += 10.0;
            }
            let exact: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
            let mut x = vec![0.0; n];
            for column in 0..n {
                for k in start[column]..start[column + 1] {
                    x[rows[k]] += values[k] * exact[column];
                }
            }
            lu.factorize(&start, &rows, &values).unwrap();
            lu.solve(&mut x);
            let worst = x.iter().zip(&exact).map(|(a, b)| (a - b).abs());
            assert!(worst.fold(0.0, f64::max) < 1e-13);
        }
    }

    #[test]
    fn a_singular_matrix_is_told() {
        let (start, rows) = ([0, 2, 4], [0, 1, 0, 1]);
        let mut lu = SparseLu::default();
        let _ = lu.factorize(&start, &rows, &[1.0, 2.0, 2.0, 4.0]);
        let mut x = [1.0, 1.0];
        lu.solve(&mut x);
        assert!(x.iter().any(|x| !x.is_finite()));
        assert!(lu.factorize(&start, &rows, &[f64::NAN; 4]).is_err());
    }
}
