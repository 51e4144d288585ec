//! LU factors of a sparse matrix within its envelope, without exchanging rows.
//!
//! ```text
//! row i of L and column i of U from first_i on, the first place at which either has an entry:
//!
//! u_ji = a_ji − Σ_k l_jk u_ki,    l_ij = (a_ij − Σ_k l_ik u_kj)/d_j,    d_i = a_ii − Σ_k l_ik u_ki
//! ```
//!
//! No entry arises outside the envelope. A chain that is numbered from end to end has one entry a row there; rows that are not coupled are
//! islands and cost nothing. Without exchanges the factors of a P-matrix exist but may be inaccurate: whoever uses them looks at the residual.

use super::box_problem::dot;

/// The factors and their space, reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope {
    first: Vec<usize>,
    /// Where row `i` of `L`, and column `i` of `U`, begin in `lower` and `upper`; one more at the end.
    start: Vec<usize>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    diagonal: Vec<f64>,
}

/// A pivot below this part of its first value is rounding.
const SINGULAR: f64 = 1e-13;
/// Entries of the envelope at most: 64 MiB.
const MAX_ENTRIES: usize = 1 << 22;
/// Multiplications at most.
const MAX_WORK: usize = 1 << 28;

impl Envelope {
    /// Factorises the `n × n` matrix whose entries `visit` shows, those of the diagonal among them. False if a pivot vanishes or the envelope is
    /// too large.
    pub(crate) fn factorize(
        &mut self,
        n: usize,
        visit: impl Fn(&mut dyn FnMut(usize, usize, f64)),
    ) -> bool {
        self.first.clear();
        self.first.extend(0..n);
        let first = &mut self.first;
        visit(&mut |i, j, _| {
            let (low, high) = (i.min(j), i.max(j));
            first[high] = first[high].min(low);
        });
        self.start.clear();
        self.start.push(0);
        let (mut entries, mut work) = (0, 0);
        for (i, first) in self.first.iter().enumerate() {
            entries += i - first;
            work += (i - first) * (i - first);
            self.start.push(entries);
        }
        if entries > MAX_ENTRIES || work > MAX_WORK {
            return false;
        }
        for part in [&mut self.lower, &mut self.upper] {
            part.clear();
            part.resize(entries, 0.0);
        }
        self.diagonal.clear();
        self.diagonal.resize(n, 0.0);
        let (lower, upper, diagonal) = (&mut self.lower, &mut self.upper, &mut self.diagonal);
        let (first, start) = (&self.first, &self.start);
        visit(&mut |i, j, value| match i.cmp(&j) {
            std::cmp::Ordering::Greater => lower[start[i] + j - first[i]] += value,
            std::cmp::Ordering::Less => upper[start[j] + i - first[j]] += value,
            std::cmp::Ordering::Equal => diagonal[i] += value,
        });
        (0..n).all(|i| self.eliminate(i))
    }

    /// Row `i` of `L` and column `i` of `U`, from those before.
    fn eliminate(&mut self, i: usize) -> bool {
        let (first, start) = (self.first[i], self.start[i]);
        let (lower_before, lower) = self.lower.split_at_mut(start);
        let (upper_before, upper) = self.upper.split_at_mut(start);
        for j in first..i {
            let (from, other) = (first.max(self.first[j]), self.start[j]);
            let before = other + from - self.first[j]..other + j - self.first[j];
            let own = from - first..j - first;
            let column = dot(&lower_before[before.clone()], &upper[own.clone()]);
            let row = dot(&upper_before[before], &lower[own]);
            upper[j - first] -= column;
            lower[j - first] = (lower[j - first] - row) / self.diagonal[j];
        }
        let own = i - first;
        let value = self.diagonal[i];
        let pivot = value - dot(&lower[..own], &upper[..own]);
        self.diagonal[i] = pivot;
        pivot.is_finite() && pivot.abs() > SINGULAR * value.abs()
    }

    /// `b ← A⁻¹ b`.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        for i in 0..b.len() {
            let (first, range) = (self.first[i], self.start[i]..self.start[i + 1]);
            b[i] -= dot(&self.lower[range], &b[first..i]);
        }
        for i in (0..b.len()).rev() {
            let (first, range) = (self.first[i], self.start[i]..self.start[i + 1]);
            b[i] /= self.diagonal[i];
            let own = b[i];
            for (b, u) in b[first..i].iter_mut().zip(&self.upper[range]) {
                *b -= own * u;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Unsymmetric bands with an arrow, and islands between.
    #[test]
    fn a_solution_satisfies_its_equations() {
        for n in [0, 1, 2, 9, 40] {
            let mut random = Random::new(n as u64);
            let mut a = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..n {
                    let near = i.abs_diff(j) < 3 && i % 7 != 3 && j % 7 != 3;
                    if near || i + 1 == n || i == j {
                        a[i * n + j] = random.uniform(-1.0, 1.0) + if i == j { 4.0 } else { 0.0 };
                    }
                }
            }
            let b: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
            let mut x = b.clone();
            let mut lu = Envelope::default();
            assert!(lu.factorize(n, |visit| {
                for (k, value) in a.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                    visit(k / n, k % n, *value);
                }
            }));
            lu.solve(&mut x);
            for i in 0..n {
                let sum: f64 = (0..n).map(|j| a[i * n + j] * x[j]).sum();
                assert!((sum - b[i]).abs() < 1e-12, "{n}: {sum} {}", b[i]);
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_refused() {
        let mut lu = Envelope::default();
        let a = [1.0, 2.0, 2.0, 4.0];
        assert!(!lu.factorize(2, |visit| {
            for (k, value) in a.iter().enumerate() {
                visit(k / 2, k % 2, *value);
            }
        }));
        assert!(!lu.factorize(1, |visit| visit(0, 0, 0.0)));
    }
}
