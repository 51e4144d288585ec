//! Answers beside those of Lemke's method, and what is kept between solves.

use super::*;
use crate::complementarity::Lemke;
use crate::random::Random;

/// Chains of one-sided springs with M-matrices: the same answers as Lemke's method, in both forms, from no start and from the last answer.
#[test]
fn both_forms_agree_with_lemke() {
    let mut random = Random::new(3);
    let (mut method, goal) = (PrimalDual::default(), Goal::scaled(1e-13));
    for n in [1, 2, 7, 30] {
        let mut matrix = vec![0.0; n * n];
        let mut sparse = SparseBoxProblem::default();
        for i in 0..n {
            let mut row = Vec::new();
            for j in i.saturating_sub(1)..n.min(i + 2) {
                let value = if i == j { 2.1 } else { -1.0 };
                matrix[i * n + j] = value;
                row.push((j as u32, value));
            }
            sparse.push_row(&row, [0.0, f64::INFINITY]);
        }
        sparse.close().unwrap();
        let mut warm = vec![0.0; n];
        for _ in 0..5 {
            let q: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
            let dense = BoxProblem::complementarity(matrix.clone(), q.clone()).unwrap();
            sparse.set_q(&q).unwrap();
            let mut reference = vec![0.0; n];
            Lemke::default()
                .solve_box(&dense, &mut reference, &goal)
                .unwrap();
            let mut z = vec![0.0; n];
            let solved = method.solve(Boxes::Dense(&dense), &mut z, &goal);
            assert!(solved.is_some_and(|report| report.converged()));
            let solved = method.solve(Boxes::Sparse(&sparse), &mut warm, &goal);
            assert!(solved.is_some_and(|report| report.converged()));
            for (k, expected) in reference.iter().enumerate() {
                assert!((z[k] - expected).abs() < 1e-12);
                assert!((warm[k] - expected).abs() < 1e-12);
            }
        }
    }
}

/// Factors are those of the matrix that is given, whatever was solved before with the same rows between their bounds.
#[test]
fn another_matrix_is_factored_anew() {
    let (mut method, goal) = (PrimalDual::default(), Goal::scaled(1e-13));
    for diagonal in [1.0, 2.0, 4.0] {
        let matrix = vec![diagonal, 0.5, 0.5, 1.0];
        let problem = BoxProblem::complementarity(matrix, vec![-8.0, 8.0]).unwrap();
        for factorizations in [1, 0] {
            let mut z = [1.0, 0.0];
            let report = method.solve(Boxes::Dense(&problem), &mut z, &goal);
            assert!(report.is_some_and(|r| r.factorizations == factorizations));
            assert!((z[0] - 8.0 / diagonal).abs() < 1e-14);
        }
    }
}

/// Nothing is handed out of a problem without solution, and the start stays.
#[test]
fn a_problem_without_solution_has_no_answer() {
    let problem = BoxProblem::complementarity(vec![0.0], vec![-1.0]).unwrap();
    let mut z = [3.0];
    let goal = Goal::scaled(1e-10);
    let report = PrimalDual::default().solve(Boxes::Dense(&problem), &mut z, &goal);
    assert!(report.is_none() && z[0].total_cmp(&3.0).is_eq());
}
