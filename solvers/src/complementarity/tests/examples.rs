//! Examples from the literature and closed forms.

use super::lemke::lemke;
use crate::complementarity::{BoxProblem, Lemke, LemkeSettings, SemismoothNewton};
use crate::random::Random;
use crate::{Goal, SolverStatus};
use proptest::prelude::*;

/// Ones on the diagonal and twos below: a P-matrix.
fn lower(n: usize) -> Vec<f64> {
    let entry = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => 2.0,
    };
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

/// The matrix of the exponential examples [Murty88, ch. 6] with `q_i = −Σ_{j ≤ i} 2^(n−j)`, found by trying: Lemke's method with the covering vector `e`
/// visits all bases.
fn exponential(n: usize) -> BoxProblem {
    let power = |k: usize| libm::ldexp(1.0, k as i32);
    let q = (0..n).map(|i| -(0..=i).map(|j| power(n - j)).sum::<f64>());
    BoxProblem::complementarity(lower(n), q.collect()).unwrap()
}

/// Counted with exact fractions too, for n = 3, 5 and 7.
#[test]
fn the_pivots_of_the_exponential_example_are_two_to_the_n() {
    for n in 3..=14 {
        let (report, _) = lemke(&exponential(n));
        assert!(report.converged(), "{n} {report:?}");
        assert_eq!(report.iterations, 1 << n);
    }
}

/// All entries of `q` tie at the start: under `q + (ε, ε², …)` it is again an exponential example.
#[test]
fn ties_are_broken_as_the_perturbation_says() {
    for n in 3..=12 {
        let (report, z) = lemke(&BoxProblem::complementarity(lower(n), vec![-1.0; n]).unwrap());
        assert!(report.converged(), "{n} {report:?}");
        assert_eq!(report.iterations, 1 << n);
        assert!((z[0] - 1.0).abs() + z[1..].iter().map(|z| z.abs()).sum::<f64>() < 1e-12);
    }
}

/// Matrices on which rules without care for ties run in a circle [Cottle-Pang-Stone92, ch. 4]; `q` with equal entries ties at once.
#[test]
fn degenerate_problems_do_not_cycle() {
    let cyclic = vec![1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0];
    for q in [[-1.0, -1.0, -1.0], [0.0, -1.0, -1.0], [-1.0, 0.0, 0.0]] {
        let (report, _) = lemke(&BoxProblem::complementarity(cyclic.clone(), q.to_vec()).unwrap());
        assert!(report.converged() && report.iterations < 10, "{report:?}");
    }
    // Every row ties with every other.
    for n in 2..12 {
        let m = (0..n * n).map(|k| f64::from(u8::from(k / n == k % n)) + 1.0);
        let problem = BoxProblem::complementarity(m.collect(), vec![-1.0; n]).unwrap();
        let (report, _) = lemke(&problem);
        assert!(
            report.converged() && report.iterations <= 2 * n,
            "{n} {report:?}"
        );
    }
}

/// A convex quadratic programme with equations: free multipliers by pivoting are those by elimination.
#[test]
fn free_rows_are_those_of_the_condensed_problem() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (free, rest) = (1 + random.below(4), 1 + random.below(5));
        let n = free + rest;
        let mut m: Vec<f64> = (0..n * n).map(|_| random.uniform(-1.0, 1.0)).collect();
        (0..n).for_each(|i| m[i * n + i] += 4.0);
        let q: Vec<f64> = (0..n).map(|_| random.uniform(-2.0, 2.0)).collect();
        let infinite = f64::INFINITY;
        let low = (0..n)
            .map(|i| if i < free { -infinite } else { 0.0 })
            .collect();
        let mixed = BoxProblem::new(m.clone(), q.clone(), low, vec![infinite; n]).unwrap();
        let (report, z) = lemke(&mixed);
        assert!(report.converged(), "{seed} {report:?}");
        // Gauss: the free rows eliminated one by one.
        let (mut s, mut t) = (m, q);
        for k in 0..free {
            for i in k + 1..n {
                let factor = s[i * n + k] / s[k * n + k];
                for j in k..n {
                    s[i * n + j] -= factor * s[k * n + j];
                }
                t[i] -= factor * t[k];
            }
        }
        let schur = (free..n)
            .flat_map(|i| s[i * n + free..(i + 1) * n].to_vec())
            .collect();
        let condensed = BoxProblem::complementarity(schur, t[free..].to_vec()).unwrap();
        let (report, expected) = lemke(&condensed);
        assert!(report.converged(), "{seed} {report:?}");
        for (a, b) in z[free..].iter().zip(&expected) {
            assert!((a - b).abs() < 1e-10, "{seed} {z:?} {expected:?}");
        }
    }
}

/// A free row that depends on another: the Schur complement does not exist, and the rows are split.
#[test]
fn dependent_free_rows_are_solved_if_they_agree_and_refuted_if_not() {
    let free = [f64::NEG_INFINITY; 2];
    let of = |second: f64| {
        let m = vec![1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let low = vec![free[0], free[1], 0.0];
        BoxProblem::new(m, vec![-1.0, second, -1.0], low, vec![f64::INFINITY; 3]).unwrap()
    };
    let (report, z) = lemke(&of(-1.0));
    assert!(report.converged(), "{report:?}");
    assert!((z[0] + z[1] - 1.0).abs() < 1e-12, "{z:?}");
    let (report, _) = lemke(&of(-2.0));
    assert_eq!(report.status, SolverStatus::Infeasible);
}

/// Relays by brute force: `M = 2`, so `z = P(−q/2)`.
#[test]
fn a_relay_alone_is_a_projection() {
    for k in -40..=40 {
        let q = f64::from(k) / 10.0;
        let problem = BoxProblem::new(vec![2.0], vec![q], vec![-1.0], vec![1.0]).unwrap();
        let (report, z) = lemke(&problem);
        assert!(report.converged());
        assert!(
            (z[0] - (-q / 2.0).clamp(-1.0, 1.0)).abs() < 1e-15,
            "{q} {z:?}"
        );
    }
}

/// The last step of Newton on the minimum solves the linear system of the right active set.
#[test]
fn newton_on_the_minimum_is_exact_from_a_good_start() {
    let problem = BoxProblem::complementarity(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0]).unwrap();
    let mut z = [1.3, 2.3];
    let mut solver = SemismoothNewton::default();
    let report = solver
        .solve_box(&problem, &mut z, &Goal::scaled(1e-14))
        .unwrap();
    assert!(report.converged() && report.iterations == 1, "{report:?}");
}

#[test]
fn a_budget_that_runs_out_is_said() {
    let mut z = vec![0.0; 8];
    let mut solver = Lemke::new(LemkeSettings { max_pivots: 3 });
    let report = solver
        .solve_box(&exponential(8), &mut z, &Goal::scaled(1e-9))
        .unwrap();
    assert_eq!(report.status, SolverStatus::Stopped);
}

proptest! {
    /// P-matrices have one solution, whatever `q` [Cottle-Pang-Stone92, ch. 3]; it grows with the factor of `q`.
    #[test]
    fn the_solution_of_a_p_matrix_scales_with_q(
        entries in prop::collection::vec(-1.0..1.0_f64, 25),
        q in prop::collection::vec(-1.0..1.0_f64, 5),
        factor in 1e-6..1e6_f64,
    ) {
        let mut m = entries;
        (0..5).for_each(|i| m[6 * i] += 5.0); // dominant
        let (one, z) = lemke(&BoxProblem::complementarity(m.clone(), q.clone()).unwrap());
        let scaled = q.iter().map(|q| q * factor).collect();
        let (two, y) = lemke(&BoxProblem::complementarity(m, scaled).unwrap());
        prop_assert!(one.converged() && two.converged());
        for (z, y) in z.iter().zip(&y) {
            prop_assert!((z * factor - y).abs() <= 1e-11 * factor);
        }
    }
}
