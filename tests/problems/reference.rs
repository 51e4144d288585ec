//! The definition once more, plainly: dense matrix, plain numbers, nothing shared.
//!
//! ```text
//! F = r − P_C(r − (u + s(u))/λ),   e = √(Σ λ‖F‖²) / max(√(Σ λ‖r‖²), √(Σ ‖q‖²/λ))
//! ```

use moreau_solvers::{Law, ProblemError, SparseMatrix, StoredProblem};
use std::ops::Range;

/// The problem with the entries of `w` that are not zero.
pub(crate) fn from_dense(
    laws: &[Law],
    w: &[Vec<f64>],
    q: &[f64],
) -> Result<StoredProblem, ProblemError> {
    let mut entries = Vec::new();
    for (i, row) in w.iter().enumerate() {
        let kept = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
        entries.extend(kept.map(|(j, value)| (i, j, *value)));
    }
    StoredProblem::new(
        laws,
        &SparseMatrix::from_triplets(w.len(), w.len(), entries)?,
        q,
    )
}

/// The rows of each interaction.
pub(crate) fn interactions(problem: &StoredProblem) -> Vec<Range<usize>> {
    let mut end = 0;
    let rows = problem.laws().iter().map(|law| {
        let begin = end;
        end += law.rows();
        begin..end
    });
    rows.collect()
}

/// `W` as a dense matrix, row by row. Stored blocks have three rows; an interaction begins a new one.
pub(crate) fn dense(problem: &StoredProblem) -> Vec<Vec<f64>> {
    let mut place = Vec::new();
    let mut blocks = 0;
    for rows in interactions(problem) {
        place.extend((0..rows.len()).map(|k| (blocks + k / 3, k % 3)));
        blocks += rows.len().div_ceil(3);
    }
    let entry = |i: (usize, usize), j: (usize, usize)| {
        problem.delassus().block(i.0, j.0).to_cols_array_2d()[j.1][i.1]
    };
    let row = |i: &(usize, usize)| place.iter().map(|j| entry(*i, *j)).collect();
    place.iter().map(row).collect()
}

/// `u = W r + q`.
pub(crate) fn velocity(problem: &StoredProblem, impulse: &[f64]) -> Vec<f64> {
    let w = dense(problem);
    let sum = |row: &Vec<f64>| row.iter().zip(impulse).map(|(a, b)| a * b).sum::<f64>();
    let q = problem.free_velocity();
    w.iter().zip(q).map(|(row, q)| sum(row) + q).collect()
}

/// `λ`, one an interaction.
pub(crate) fn scales(problem: &StoredProblem) -> Vec<f64> {
    let w = dense(problem);
    let mean = |rows: Range<usize>| {
        let count = rows.len() as f64;
        rows.map(|k| w[k][k]).sum::<f64>() / count
    };
    interactions(problem).into_iter().map(mean).collect()
}

/// `max(√(Σ λ‖r‖²), √(Σ ‖q‖²/λ))`.
pub(crate) fn size(problem: &StoredProblem, impulse: &[f64]) -> f64 {
    size_over(problem, impulse, |_| true)
}

/// The same over the interactions whose law is one of these.
fn size_over(problem: &StoredProblem, impulse: &[f64], counts: impl Fn(&Law) -> bool) -> f64 {
    let (mut moved, mut free) = (0.0, 0.0);
    let q = problem.free_velocity();
    let interactions = interactions(problem).into_iter().zip(problem.laws());
    for ((rows, law), lambda) in interactions.zip(scales(problem)) {
        if lambda > 0.0 && counts(law) {
            moved += lambda * norm(&impulse[rows.clone()]).powi(2);
            free += norm(&q[rows]).powi(2) / lambda;
        }
    }
    f64::max(moved, free).sqrt()
}

/// `e_scaled`: over all interactions but equalities.
pub(crate) fn residual(problem: &StoredProblem, impulse: &[f64]) -> f64 {
    let u = velocity(problem, impulse);
    let mut sum = 0.0;
    let interactions = interactions(problem).into_iter().zip(problem.laws());
    let counts = |law: &Law| !matches!(law, Law::Equality(_));
    for ((rows, law), lambda) in interactions.zip(scales(problem)) {
        if lambda > 0.0 && counts(law) {
            let f = natural_map(law, lambda, &impulse[rows.clone()], &u[rows]);
            sum += lambda * norm(&f).powi(2);
        }
    }
    if sum > 0.0 {
        sum.sqrt() / size_over(problem, impulse, counts)
    } else {
        sum
    }
}

fn natural_map(law: &Law, lambda: f64, r: &[f64], u: &[f64]) -> Vec<f64> {
    let shift = match law {
        Law::Coulomb(law) => law.friction * norm(&u[1..]),
        Law::PlanarCoulomb(law) => law.friction * u[1].abs(),
        Law::Cohesion(law) => law.friction * norm(&u[1..]),
        Law::Rolling(law) => {
            let spin = law.spinning.map_or(0.0, |mu| mu * u[5].abs());
            law.friction * norm(&u[1..3]) + law.rolling * norm(&u[3..5]) + spin
        }
        Law::Complementarity | Law::Interval(_) | Law::Ball(_) | Law::Equality(_) => 0.0,
        other => panic!("no definition of {other:?}"),
    };
    let mut target: Vec<f64> = r.iter().zip(u).map(|(r, u)| r - u / lambda).collect();
    target[0] -= shift / lambda;
    let nearest = nearest(law, &target);
    r.iter()
        .zip(nearest)
        .map(|(r, nearest)| r - nearest)
        .collect()
}

/// The nearest point of the set of impulses.
fn nearest(law: &Law, z: &[f64]) -> Vec<f64> {
    match law {
        Law::Equality(_) => z.to_vec(),
        Law::Complementarity => vec![z[0].max(0.0)],
        Law::Interval(law) => vec![z[0].max(law.low).min(law.high)],
        Law::Ball(law) => {
            let shorter = (law.radius / norm(z)).min(1.0);
            z.iter().map(|z| z * shorter).collect()
        }
        Law::Coulomb(law) => nearest_in_cone(z, &[(law.friction, 1..3)]),
        Law::PlanarCoulomb(law) => nearest_in_cone(z, &[(law.friction, 1..2)]),
        Law::Cohesion(law) => {
            let mut z = z.to_vec();
            z[0] += law.pull_off;
            let mut nearest = nearest_in_cone(&z, &[(law.friction, 1..3)]);
            nearest[0] -= law.pull_off;
            nearest
        }
        Law::Rolling(law) => {
            let mut discs = vec![(law.friction, 1..3), (law.rolling, 3..5)];
            discs.extend(law.spinning.map(|mu| (mu, 5..6)));
            nearest_in_cone(z, &discs)
        }
        other => panic!("no definition of {other:?}"),
    }
}

/// The nearest point of `{ ‖z_d‖ ≤ μ_d z_N }` over all discs `d`. With the normal part `N` every disc has the radius `μ_d N`;
/// half the squared distance has the derivative `N − n − Σ μ_d (‖z_d‖ − μ_d N)₊`, which rises: its root by halving.
fn nearest_in_cone(z: &[f64], discs: &[(f64, Range<usize>)]) -> Vec<f64> {
    let slope = |n: f64| {
        let pull =
            |(mu, rows): &(f64, Range<usize>)| mu * (norm(&z[rows.clone()]) - mu * n).max(0.0);
        n - z[0] - discs.iter().map(pull).sum::<f64>()
    };
    if discs
        .iter()
        .all(|(mu, rows)| norm(&z[rows.clone()]) <= mu * z[0])
    {
        return z.to_vec();
    }
    let (mut low, mut high) = (
        0.0,
        norm(z) * (1.0 + discs.iter().map(|d| d.0).sum::<f64>()),
    );
    if slope(low) >= 0.0 {
        high = low;
    }
    loop {
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            break;
        }
        if slope(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut nearest = z.to_vec();
    nearest[0] = high;
    for (mu, rows) in discs {
        let (length, radius) = (norm(&z[rows.clone()]), mu * high);
        if length > radius {
            nearest[rows.clone()]
                .iter_mut()
                .for_each(|x| *x *= radius / length);
        }
    }
    nearest
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
