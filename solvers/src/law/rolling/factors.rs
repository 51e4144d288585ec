//! Small dense systems of the secular equations [`super::block`]: `S + D(α)`, 5 × 5, and three equations for the multipliers.

use super::secular::{GROUP_OF, GROUPS, Groups, Rows};

/// `L diag(p) Lᵀ`, `L` unit lower triangular, with `1/p`.
pub(super) struct Factors {
    lower: [Rows; 5],
    inverse: Rows,
}

impl Factors {
    /// Of `S + D(α)`.
    pub(super) fn new(schur: &[Rows; 5], alpha: &Groups) -> Self {
        let mut lower = [[0.0; 5]; 5];
        let mut inverse = [0.0; 5];
        for j in 0..5 {
            let mut pivot = schur[j][j] + alpha[GROUP_OF[j]];
            for (entry, inverse) in lower[j].iter_mut().zip(&inverse[..j]) {
                let scaled = *entry; // L_jk p_k
                *entry *= inverse;
                pivot -= scaled * *entry;
            }
            inverse[j] = 1.0 / pivot.max(f64::EPSILON);
            for i in j + 1..5 {
                // Until row i is at its turn it holds L_ik p_k.
                let above = lower[i].iter().zip(&lower[j]).take(j);
                lower[i][j] = above.fold(schur[i][j], |rest, (a, b)| rest - a * b);
            }
        }
        Self { lower, inverse }
    }

    /// `1/trace` of the inverse: the least eigenvalue or up to five times less.
    pub(super) fn least_eigenvalue(&self) -> f64 {
        let entry = |i: usize| {
            let mut axis = [0.0; 5];
            axis[i] = 1.0;
            self.solve(&axis)[i]
        };
        1.0 / (0..5).map(entry).sum::<f64>()
    }

    pub(super) fn solve(&self, right: &Rows) -> Rows {
        let mut y = *right;
        for i in 1..5 {
            for k in 0..i {
                y[i] -= self.lower[i][k] * y[k];
            }
        }
        for i in (0..5).rev() {
            y[i] *= self.inverse[i];
            for k in i + 1..5 {
                y[i] -= self.lower[k][i] * y[k];
            }
        }
        y
    }

    /// `Z`, columns of the groups that are wanted.
    pub(super) fn columns(&self, x: &Rows, wanted: [bool; 3]) -> [Rows; 3] {
        let mut z = [[0.0; 5]; 3];
        for j in 0..3 {
            if wanted[j] {
                let mut column = [0.0; 5];
                column[GROUPS[j].clone()].copy_from_slice(&x[GROUPS[j].clone()]);
                z[j] = self.solve(&column);
            }
        }
        z
    }
}

/// The solution of three equations by elimination with row pivots; zero along what has none.
pub(super) fn solve_three(mut a: [Groups; 3], mut b: Groups) -> Groups {
    for k in 0..3 {
        let mut pivot = k;
        for i in k + 1..3 {
            if a[i][k].abs() > a[pivot][k].abs() {
                pivot = i;
            }
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..3 {
            let factor = if a[k][k] == 0.0 {
                0.0
            } else {
                a[i][k] / a[k][k]
            };
            let pivot_row = a[k];
            for (entry, of_pivot) in a[i].iter_mut().zip(pivot_row) {
                *entry -= factor * of_pivot;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..3).rev() {
        for j in k + 1..3 {
            b[k] -= a[k][j] * b[j];
        }
        b[k] = if a[k][k] == 0.0 { 0.0 } else { b[k] / a[k][k] };
    }
    b
}
