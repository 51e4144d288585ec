//! LU factors of a small dense matrix, rows exchanged: `P A = L U`, in flat rows.
//!
//! The sizes here are tens to hundreds: whole rows are subtracted from whole rows, one thread, one order.

use crate::lanes::Dispatch;
use pulp::{Simd, WithSimd};

/// The factors and their space, reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct DenseLu {
    n: usize,
    /// `L` below the diagonal (its own is 1), `U` on and above.
    entries: Vec<f64>,
    order: Vec<usize>,
    work: Vec<f64>,
    size: Vec<f64>,
    dispatch: Dispatch,
}

/// A pivot below this part of the largest entry of its column counts as zero: the rounding of an elimination of hundreds of rows.
const SINGULAR: f64 = 1e-13;

impl DenseLu {
    /// Room for matrices up to `n × n`.
    pub(crate) fn reserve(&mut self, n: usize) {
        let more = |have: usize, needed: usize| needed.saturating_sub(have);
        self.entries.reserve(more(self.entries.len(), n * n));
        self.order.reserve(more(self.order.len(), n));
        self.work.reserve(more(self.work.len(), n));
        self.size.reserve(more(self.size.len(), n));
    }

    /// Factorises the `n × n` matrix of `entry(i, j)`. False if it is singular to rounding: a pivot is below `10⁻¹³` of the largest
    /// entry that its column had.
    pub(crate) fn factorize(&mut self, n: usize, entry: impl Fn(usize, usize) -> f64) -> bool {
        self.n = n;
        self.entries.clear();
        self.entries.reserve(n * n);
        for i in 0..n {
            self.entries.extend((0..n).map(|j| entry(i, j)));
        }
        self.order.clear();
        self.order.extend(0..n);
        let a = &mut self.entries;
        let size = &mut self.size;
        size.clear();
        size.resize(n, 0.0_f64);
        for row in a.chunks_exact(n.max(1)) {
            for (size, value) in size.iter_mut().zip(row) {
                *size = size.max(value.abs());
            }
        }
        for k in 0..n {
            let (mut pivot, mut largest) = (k, -1.0);
            for i in k..n {
                let value = a[i * n + k].abs();
                if value > largest {
                    (pivot, largest) = (i, value);
                }
            }
            if !(largest > SINGULAR * size[k] && largest.is_finite()) {
                return false;
            }
            if pivot != k {
                self.order.swap(pivot, k);
                let (upper, lower) = a.split_at_mut(pivot * n);
                upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            }
            let (upper, lower) = a.split_at_mut((k + 1) * n);
            let work = Elimination {
                own: &upper[k * n..],
                below: lower,
                k,
            };
            if n - k < WIDE {
                work.run();
            } else {
                self.dispatch.run(work);
            }
        }
        true
    }

    /// `b ← A⁻¹ b`.
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        self.work.clear();
        self.work.extend(self.order.iter().map(|row| b[*row]));
        let x = &mut self.work;
        for i in 0..n {
            let row = &self.entries[i * n..i * n + i];
            x[i] -= super::box_problem::dot(row, &x[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.entries[i * n..(i + 1) * n];
            let sum = super::box_problem::dot(&row[i + 1..], &x[i + 1..]);
            x[i] = (x[i] - sum) / row[i];
        }
        b.copy_from_slice(x);
    }
}

/// Rows below a pivot from which on the instruction set is picked.
const WIDE: usize = 16;

/// One column of the elimination: entries are independent of each other, and the bits the same with all instruction sets.
struct Elimination<'a> {
    own: &'a [f64],
    below: &'a mut [f64],
    k: usize,
}

impl Elimination<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { own, below, k } = self;
        let inverse = 1.0 / own[k];
        for row in below.chunks_exact_mut(own.len()) {
            let factor = row[k] * inverse;
            row[k] = factor;
            if factor != 0.0 {
                for (value, own) in row[k + 1..].iter_mut().zip(&own[k + 1..]) {
                    *value -= factor * own;
                }
            }
        }
    }
}

impl WithSimd for Elimination<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.run();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_solution_satisfies_its_equations() {
        for n in [1, 2, 5, 17] {
            let mut random = Random::new(n as u64);
            let a: Vec<f64> = (0..n * n).map(|_| random.uniform(-1.0, 1.0)).collect();
            let b: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
            let (mut lu, mut x) = (DenseLu::default(), b.clone());
            assert!(lu.factorize(n, |i, j| a[i * n + j]));
            lu.solve(&mut x);
            for i in 0..n {
                let sum: f64 = (0..n).map(|j| a[i * n + j] * x[j]).sum();
                assert!((sum - b[i]).abs() < 1e-11, "{n}: {sum} {}", b[i]);
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        let mut lu = DenseLu::default();
        let singular = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
        assert!(!lu.factorize(3, |i, j| singular[3 * i + j]));
        assert!(!lu.factorize(1, |_, _| 0.0));
        assert!(lu.factorize(0, |_, _| 0.0));
    }
}
