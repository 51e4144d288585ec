//! The same problem in other units, and with other names and axes.
//!
//! ```text
//! mass × m:      W/m,  q,     r m          length × l:  W,  q l,  r l
//! time × 1/t:    W,    q t,   r t          (an impulse is a mass times a velocity)
//! turned axes:   TᵀWT, Tᵀq,   Tᵀr          T turns t₁, t₂ of each contact and reverses the order
//! ```

use crate::reference::{dense, from_dense, interactions};
use moreau_solvers::{Law, StoredProblem};

/// The problem with unit of mass `1/mass` and unit of velocity `1/velocity`. No bounds of impulses.
pub(crate) fn in_units(problem: &StoredProblem, mass: f64, velocity: f64) -> StoredProblem {
    let mut w = dense(problem);
    w.iter_mut().flatten().for_each(|w| *w *= 1.0 / mass);
    let q: Vec<_> = problem
        .free_velocity()
        .iter()
        .map(|q| *q * velocity)
        .collect();
    from_dense(problem.laws(), &w, &q).unwrap()
}

/// `t₁, t₂` of contact `i` in new ones: turned by a rational angle that differs from contact to contact.
fn turn(i: usize) -> [[f64; 3]; 3] {
    let [c, s] = [[0.6, 0.8], [-0.8, 0.6], [5.0 / 13.0, -12.0 / 13.0]][i % 3];
    [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]
}

/// Interactions in reverse order, contacts with turned tangents, and the impulse that goes with them.
pub(crate) fn relabelled(problem: &StoredProblem, impulse: &[f64]) -> (StoredProblem, Vec<f64>) {
    let n = problem.rows();
    let mut t = vec![vec![0.0; n]; n];
    let mut column = 0;
    let old = interactions(problem).into_iter().zip(problem.laws());
    for (index, (rows, law)) in old.enumerate().rev() {
        for (i, row) in rows.clone().enumerate() {
            for j in 0..rows.len() {
                t[row][column + j] = match law {
                    Law::Coulomb(_) => turn(index)[i][j],
                    _ => f64::from(u8::from(i == j)),
                };
            }
        }
        column += rows.len();
    }
    let laws: Vec<_> = problem.laws().iter().rev().copied().collect();
    let product = |a: &dyn Fn(usize, usize) -> f64, b: &dyn Fn(usize, usize) -> f64| {
        let entry = |i: usize, j: usize| (0..n).map(|k| a(i, k) * b(k, j)).sum::<f64>();
        let row = |i: usize| (0..n).map(|j| entry(i, j)).collect::<Vec<_>>();
        (0..n).map(row).collect::<Vec<_>>()
    };
    let w = dense(problem);
    let half = product(&|i, k| w[i][k], &|k, j| t[k][j]);
    let w = product(&|i, k| t[k][i], &|k, j| half[k][j]);
    let vector = |v: &[f64]| {
        let entry = |j: usize| (0..n).map(|i| t[i][j] * v[i]).sum::<f64>();
        (0..n).map(entry).collect::<Vec<_>>()
    };
    let q = vector(&problem.free_velocity());
    (from_dense(&laws, &w, &q).unwrap(), vector(impulse))
}
