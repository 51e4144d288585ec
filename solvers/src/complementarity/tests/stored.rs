//! Methods on stored problems, through [`Solver`]; zero diagonals and wrong input.

use crate::complementarity::{BoxProblem, Enumeration, EnumerationSettings, Lemke};
use crate::{
    Goal, Law, ProblemError, Solver, SolverStatus, SparseMatrix, StoredProblem, natural_map,
};

fn stored(laws: &[Law], m: &[f64], q: &[f64]) -> StoredProblem {
    let n = q.len();
    let entries = m
        .iter()
        .enumerate()
        .map(|(k, value)| (k / n, k % n, *value));
    let w = SparseMatrix::from_triplets(n, n, entries).unwrap();
    StoredProblem::new(laws, &w, q).unwrap()
}

/// `z₁` free with `w₁ = z₂ − 1 = 0`, `w₂ = −z₁ + 2`: the diagonal is zero, and nothing but the scale of weak rows sees an error.
#[test]
fn the_judge_sees_rows_without_a_diagonal() {
    let laws = [Law::equality(1), Law::Complementarity];
    let problem = stored(&laws, &[0.0, 1.0, -1.0, 0.0], &[-1.0, 2.0]);
    let of = |z: &[f64]| natural_map::stored(&problem, z).whole();
    assert!(of(&[2.0, 1.0]).abs() <= 0.0);
    for wrong in [[0.0, 0.0], [2.0, 0.5], [1.0, 1.0]] {
        assert!(of(&wrong) > 0.1, "{wrong:?} {}", of(&wrong));
    }
    let mut z = [0.0; 2];
    let report = Lemke::default()
        .solve(&problem, &mut z, &Goal::scaled(1e-12))
        .unwrap();
    assert!(report.converged(), "{report:?}");
    assert!((z[0] - 2.0).abs() + (z[1] - 1.0).abs() <= 1e-15, "{z:?}");
}

#[test]
fn both_forms_of_a_box_problem_are_judged_alike() {
    let laws = [
        Law::equality(2),
        Law::Complementarity,
        Law::interval(-1.0, 2.0),
    ];
    let m: Vec<f64> = (0..16).map(|k| f64::from((7 * k) % 5) - 1.0).collect();
    let problem = stored(&laws, &m, &[1.0, -1.0, -2.0, 0.5]);
    let dense = BoxProblem::from_stored(&problem, "a test").unwrap();
    assert_eq!(dense.matrix(), &m[..]);
    let single = dense.to_stored().unwrap();
    for z in [[0.0; 4], [1.0, -2.0, 0.5, 3.0]] {
        let [a, b] = [
            natural_map::boxes(&dense, &z),
            natural_map::stored(&single, &z),
        ];
        for (a, b) in [
            (a.scaled, b.scaled),
            (a.constraint, b.constraint),
            (a.fclib, b.fclib),
        ] {
            assert!((a - b).abs() <= 1e-14 * b, "{a} {b}");
        }
    }
}

#[test]
fn a_law_that_is_no_box_is_refused_by_its_index() {
    let laws = [Law::Complementarity, Law::planar(0.3)];
    let problem = stored(
        &laws,
        &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        &[-1.0; 3],
    );
    let mut z = [0.5; 3];
    let error = Lemke::default()
        .solve(&problem, &mut z, &Goal::default())
        .unwrap_err();
    let expected = ProblemError::Unsupported {
        interaction: 1,
        method: "Lemke's method",
    };
    assert_eq!((error, z), (expected, [0.5; 3]));
}

#[test]
fn a_search_through_too_many_bases_is_refused() {
    let problem = BoxProblem::complementarity(vec![1.0; 9], vec![-1.0; 3]).unwrap();
    let settings = EnumerationSettings {
        max_bases: 7,
        ..EnumerationSettings::default()
    };
    let error = Enumeration::new(settings)
        .solve_box(&problem, &mut [0.0; 3], &Goal::default())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "complementary bases: 8, at most 7 are supported"
    );
}

#[test]
fn wrong_numbers_of_a_box_problem_are_named() {
    let new = |m: &[f64], q: &[f64], low: &[f64], high: &[f64]| {
        BoxProblem::new(m.to_vec(), q.to_vec(), low.to_vec(), high.to_vec())
            .unwrap_err()
            .to_string()
    };
    assert!(new(&[1.0], &[1.0, 2.0], &[0.0; 2], &[1.0; 2]).contains("M: length 1, expected 4"));
    assert!(new(&[1.0], &[1.0], &[0.0; 2], &[1.0]).contains("lower bounds"));
    assert!(new(&[f64::NAN], &[1.0], &[0.0], &[1.0]).contains("row of M"));
    assert!(new(&[1.0], &[f64::INFINITY], &[0.0], &[1.0]).contains('q'));
    assert!(new(&[1.0], &[1.0], &[2.0], &[1.0]).contains("upper bound of interaction 0 is 1"));
    assert!(new(&[1.0], &[1.0], &[f64::NAN], &[1.0]).contains("lower bound"));
    let many = vec![0.0; super::super::MAX_DENSE_ROWS + 1];
    assert!(new(&[], &many, &[], &[]).contains("at most 16384"));
}

/// `w₁ = −z₂ − 1` is negative for all `z ≥ 0`.
#[test]
fn a_problem_without_feasible_point_is_infeasible() {
    let laws = [Law::Complementarity; 2];
    let problem = stored(&laws, &[0.0, -1.0, 1.0, 0.0], &[-1.0, 1.0]);
    for solver in [
        &mut Lemke::default() as &mut dyn Solver,
        &mut Enumeration::default(),
    ] {
        let mut z = [0.0; 2];
        let report = solver
            .solve(&problem, &mut z, &Goal::scaled(1e-10))
            .unwrap();
        assert_eq!(report.status, SolverStatus::Infeasible, "{report:?}");
    }
}

/// `w₁ = −z₁ + z₂ − 1`, `w₂ = 1`: feasible for large `z₂`, which the second row forbids.
#[test]
fn a_feasible_problem_without_solution_is_told_from_an_infeasible_one() {
    let problem = BoxProblem::complementarity(vec![-1.0, 1.0, 0.0, 0.0], vec![-1.0, 1.0]).unwrap();
    let mut search = Enumeration::default();
    let report = search
        .solve_box(&problem, &mut [0.0; 2], &Goal::scaled(1e-10))
        .unwrap();
    assert_eq!(
        report.status,
        SolverStatus::NoSolution,
        "{:?}",
        search.solutions()
    );
    let report = Lemke::default()
        .solve_box(&problem, &mut [0.0; 2], &Goal::scaled(1e-10))
        .unwrap();
    assert_eq!(report.status, SolverStatus::Ray);
}
