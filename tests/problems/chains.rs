//! Chains of joints and rows that repeat others: linear algebra is the reference.

use crate::random::Random;
use crate::{GOAL, reference, solvers};
use moreau_solvers::{Goal, Law, StoredProblem};

/// `W = G Gᵀ` for the rows of `G`.
fn gram(g: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let dot = |a: &Vec<f64>, b: &Vec<f64>| a.iter().zip(b).map(|(a, b)| a * b).sum();
    g.iter()
        .map(|a| g.iter().map(|b| dot(a, b)).collect())
        .collect()
}

/// Solves `A x = b` by elimination with pivots.
fn linear_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))
            .unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let (upper, lower) = a.split_at_mut(i);
            for (x, y) in lower[0].iter_mut().zip(&upper[k]).skip(k) {
                *x -= factor * y;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}

/// Point masses of 1 kg in a row, the first on a wall, each on a ball joint to the one before it, the last on a surface with
/// friction: blocks of three rows, the contact last. Velocities are random.
fn chain(seed: u64, links: usize, friction: f64) -> (StoredProblem, Vec<Vec<f64>>) {
    let mut random = Random(seed);
    let mut g = Vec::new();
    for link in 0..links {
        for axis in 0..3 {
            let mut row = vec![0.0; 3 * links];
            row[3 * link + axis] = 1.0;
            if link > 0 {
                row[3 * link - 3 + axis] = -1.0;
            }
            g.push(row);
        }
    }
    // A joint leaves no freedom to points: one row of every joint is free, as of a rod.
    let keep = |row: usize| row % 3 != (row / 3) % 3;
    let mut rows: Vec<_> = (0..g.len())
        .filter(|row| keep(*row))
        .map(|row| g[row].clone())
        .collect();
    for axis in 0..3 {
        let mut row = vec![0.0; 3 * links];
        row[3 * links - 3 + axis] = 1.0;
        rows.push(row);
    }
    let w = gram(&rows);
    let mut laws = vec![Law::equality(2); links];
    laws.push(Law::coulomb(friction));
    let mut q: Vec<_> = rows.iter().map(|_| random.uniform(-1.0, 1.0)).collect();
    let normal = q.len() - 3;
    q[normal] = -1.0;
    (reference::from_dense(&laws, &w, &q).unwrap(), w)
}

/// The joints eliminated, the contact alone, and back.
fn dense_answer(problem: &StoredProblem, w: &[Vec<f64>]) -> Vec<f64> {
    let n = problem.rows();
    let (joints, q) = (n - 3, problem.free_velocity());
    let joint_block: Vec<Vec<f64>> = w[..joints]
        .iter()
        .map(|row| row[..joints].to_vec())
        .collect();
    let column = |j: usize| {
        linear_solve(
            joint_block.clone(),
            w[..joints].iter().map(|r| r[j]).collect(),
        )
    };
    let moved: Vec<Vec<f64>> = (joints..n).map(column).collect();
    let free = linear_solve(joint_block.clone(), q[..joints].to_vec());
    let dot = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
    let mut block = Vec::new();
    let mut alone = Vec::new();
    for i in joints..n {
        block.extend((joints..n).map(|j| w[i][j] - dot(&w[i][..joints], &moved[j - joints])));
        alone.push(q[i] - dot(&w[i][..joints], &free));
    }
    let mut contact = [0.0; 3];
    problem.laws()[problem.len() - 1].solve_block(&block, &alone, &mut contact);
    let mut right: Vec<_> = q[..joints].iter().map(|q| -q).collect();
    for (k, right) in right.iter_mut().enumerate() {
        *right -= dot(&w[k][joints..], &contact);
    }
    let mut answer = linear_solve(joint_block, right);
    answer.extend(contact);
    answer
}

/// `W` of a chain of `n` links has a condition of about `n²`; the factor 10 is for the size of multipliers against `q`.
#[test]
fn a_chain_of_equalities_with_a_contact_at_its_end_is_solved_as_a_dense_system() {
    let mut failed = Vec::new();
    for (links, friction) in [(1, 0.5), (4, 0.3), (4, 3.0), (12, 0.5), (40, 0.4)] {
        let (problem, w) = chain(links as u64, links, friction);
        let answer = dense_answer(&problem, &w);
        let exact = reference::residual(&problem, &answer);
        assert!(exact <= 1e-12, "{links}: {exact:e}");
        let size = answer.iter().map(|r| r * r).sum::<f64>().sqrt();
        for (name, mut solver) in solvers::all() {
            let mut r = vec![0.0; problem.rows()];
            let report = solver.solve(&problem, &mut r, &Goal::scaled(GOAL)).unwrap();
            let pairs = r.iter().zip(&answer);
            let error = pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            let within = 10.0 * (links * links) as f64 * GOAL * size;
            if !report.converged() || error > within {
                failed.push(format!(
                    "{links} links on {name}: {error:e} off, {report:?}"
                ));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Two rows are sums of others: the multipliers that solvers find from zero have no part along what moves nothing.
#[test]
fn redundant_equalities_get_the_multipliers_of_least_norm() {
    // r₁ + r₂ − r₅ and r₃ − 2 r₄ − r₆ turn into nothing.
    let nothing = [
        [1.0, 1.0, 0.0, 0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0, -2.0, 0.0, -1.0],
    ];
    for seed in 0..6 {
        let mut random = Random(seed);
        let mut row = || {
            (0..12)
                .map(|_| random.uniform(-1.0, 1.0))
                .collect::<Vec<f64>>()
        };
        let mut joint: Vec<_> = (0..4).map(|_| row()).collect();
        let sum = |a: &[f64], x: f64, b: &[f64]| a.iter().zip(b).map(|(a, b)| a + x * b).collect();
        joint.push(sum(&joint[0], 1.0, &joint[1]));
        joint.push(sum(&joint[2], -2.0, &joint[3]));
        let contact: Vec<_> = (0..3).map(|_| row()).collect();
        let velocity: Vec<f64> = row();
        for joint_first in [true, false] {
            let (g, laws) = if joint_first {
                (
                    [&joint[..], &contact].concat(),
                    [Law::equality(6), Law::coulomb(0.3)],
                )
            } else {
                (
                    [&contact[..], &joint].concat(),
                    [Law::coulomb(0.3), Law::equality(6)],
                )
            };
            let dot = |row: &Vec<f64>| row.iter().zip(&velocity).map(|(a, b)| a * b).sum();
            let q: Vec<f64> = g.iter().map(dot).collect();
            let problem = reference::from_dense(&laws, &gram(&g), &q).unwrap();
            let first = if joint_first { 0 } else { 3 };
            for (name, mut solver) in solvers::all() {
                let mut r = vec![0.0; 9];
                let report = solver.solve(&problem, &mut r, &Goal::scaled(GOAL)).unwrap();
                let here = format!("{name} {seed}: {report:?}");
                assert!(report.converged(), "{here}");
                let size = r.iter().map(|r| r * r).sum::<f64>().sqrt();
                for nothing in nothing {
                    let part: f64 = nothing.iter().zip(&r[first..]).map(|(a, b)| a * b).sum();
                    assert!(part.abs() <= 1e-9 * size, "{here}: {part:e}");
                }
            }
        }
    }
}
