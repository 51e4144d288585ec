//! The definition once more, plainly: dense matrix, plain numbers, nothing shared.
//!
//! ```text
//! F = r − P_K(r − û/λ),   e = √(Σ λ‖F‖²) / max(√(Σ λ‖r‖²), √(Σ ‖q‖²/λ))
//! ```

use glam::DVec3;
use moreau_solvers::StoredProblem;

/// `W` as a dense matrix, row by row.
pub(crate) fn dense(problem: &StoredProblem) -> Vec<Vec<f64>> {
    let n = problem.len();
    let mut w = vec![vec![0.0; 3 * n]; 3 * n];
    for i in 0..n {
        for (j, block) in problem.delassus.row(i) {
            for (r, c) in (0..9).map(|k| (k / 3, k % 3)) {
                w[3 * i + r][3 * j + c] = block.to_cols_array_2d()[c][r];
            }
        }
    }
    w
}

/// `u = W r + q`.
pub(crate) fn velocity(problem: &StoredProblem, impulse: &[DVec3]) -> Vec<DVec3> {
    let flat: Vec<f64> = impulse.iter().flat_map(|r| r.to_array()).collect();
    let w = dense(problem);
    let entry = |i: usize| w[i].iter().zip(&flat).map(|(a, b)| a * b).sum::<f64>();
    (0..problem.len())
        .map(|b| DVec3::from([0, 1, 2].map(|r| entry(3 * b + r))) + problem.free_velocity[b])
        .collect()
}

/// `λ`, one a block.
pub(crate) fn scales(problem: &StoredProblem) -> Vec<f64> {
    let w = dense(problem);
    let mean = |b: usize| (0..3).map(|r| w[3 * b + r][3 * b + r]).sum::<f64>() / 3.0;
    (0..problem.len()).map(mean).collect()
}

/// `max(√(Σ λ‖r‖²), √(Σ ‖q‖²/λ))`.
pub(crate) fn size(problem: &StoredProblem, impulse: &[DVec3]) -> f64 {
    let (mut moved, mut free) = (0.0, 0.0);
    for (b, lambda) in scales(problem).into_iter().enumerate() {
        if lambda > 0.0 {
            moved += lambda * norm(impulse[b].to_array()).powi(2);
            free += norm(problem.free_velocity[b].to_array()).powi(2) / lambda;
        }
    }
    moved.max(free).sqrt()
}

/// `e_scaled`.
pub(crate) fn residual(problem: &StoredProblem, impulse: &[DVec3]) -> f64 {
    let u = velocity(problem, impulse);
    let mut sum = 0.0;
    for (b, lambda) in scales(problem).into_iter().enumerate() {
        if lambda > 0.0 {
            let f = natural_map(problem.friction.get(b).copied(), lambda, impulse[b], u[b]);
            sum += lambda * norm(f).powi(2);
        }
    }
    if sum > 0.0 {
        sum.sqrt() / size(problem, impulse)
    } else {
        sum
    }
}

fn natural_map(friction: Option<f64>, lambda: f64, r: DVec3, u: DVec3) -> [f64; 3] {
    let Some(mu) = friction else {
        return [u.x / lambda, u.y / lambda, u.z / lambda];
    };
    let sliding = (u.y * u.y + u.z * u.z).sqrt();
    let target = [
        r.x - (u.x + mu * sliding) / lambda,
        r.y - u.y / lambda,
        r.z - u.z / lambda,
    ];
    let nearest = nearest_in_cone(mu, target);
    [r.x - nearest[0], r.y - nearest[1], r.z - nearest[2]]
}

/// The nearest point of the cone: the point itself, or the best one on the generator below it, or
/// the apex.
fn nearest_in_cone(mu: f64, z: [f64; 3]) -> [f64; 3] {
    let tangential = (z[1] * z[1] + z[2] * z[2]).sqrt();
    if tangential <= mu * z[0] {
        return z;
    }
    let unit = if tangential > 0.0 {
        [z[1] / tangential, z[2] / tangential]
    } else {
        [0.0, 0.0]
    };
    let generator = [1.0, mu * unit[0], mu * unit[1]];
    let along = (z[0] + mu * tangential) / (1.0 + mu * mu);
    generator.map(|g| g * along.max(0.0))
}

fn norm(v: [f64; 3]) -> f64 {
    (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt()
}
