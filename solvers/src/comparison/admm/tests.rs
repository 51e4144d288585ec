//! Convergence, honesty and reuse of the solver.

use super::*;
use crate::random::{OwnedProblem, Random};
use crate::{Delassus, Nsgs, NsgsSettings, SolverStatus, rows_of, rows_of_mut};
use glam::DMat3;

fn solve(problem: &StoredProblem, tolerance: f64, shift: Shift) -> (SolverReport, Vec<DVec3>) {
    let mut admm = Admm::new(AdmmSettings {
        shift,
        ..AdmmSettings::default()
    });
    let mut r = vec![DVec3::ZERO; problem.len()];
    let report = admm.solve(problem, rows_of_mut(&mut r), &Goal::scaled(tolerance));
    (report.unwrap(), r)
}

/// `u` is the same for these `μ`; both are judged to 1e-10 and the condition stays below 1e4.
#[test]
fn it_agrees_with_gauss_seidel() {
    for seed in 0..10 {
        let problem = OwnedProblem::random(seed, 20, 40).view().assemble();
        let mut r = vec![DVec3::ZERO; 40];
        let settings = NsgsSettings {
            max_sweeps: 100_000,
            ..NsgsSettings::default()
        };
        let report = Nsgs::new(settings).solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-10));
        assert!(report.unwrap().converged());
        for shift in [Shift::Implicit, Shift::Explicit] {
            let (report, other) = solve(&problem, 1e-10, shift);
            assert!(report.converged(), "seed {seed}: {report:?}");
            assert!(report.factorizations >= 1 && report.factorizations < 40);
            for block in 0..40 {
                let [a, b] = [&r, &other].map(|r| problem.delassus.row_times(block, r));
                assert!((a - b).length() <= 1e-6, "seed {seed}: {a} {b}");
            }
        }
    }
}

#[test]
fn the_reported_residual_is_that_of_the_impulse_returned() {
    for tolerance in [1e-3, 1e-9, 0.0] {
        let problem = OwnedProblem::random(1, 20, 40).view().assemble();
        let (report, r) = solve(&problem, tolerance, Shift::Implicit);
        assert_eq!(natural_map::stored(&problem, rows_of(&r)), report.residual);
        assert_eq!(report.converged(), report.residual.scaled <= tolerance);
    }
}

/// The second solve of one solver, and one that starts at the solution.
#[test]
fn reused_buffers_do_not_change_the_result() {
    let first = OwnedProblem::random(1, 20, 40).view().assemble();
    let second = OwnedProblem::random(2, 10, 25).view().assemble();
    let mut admm = Admm::new(AdmmSettings::default());
    let goal = Goal::scaled(1e-8);
    let mut run = |problem: &StoredProblem, r: &mut [DVec3]| {
        let report = admm.solve(problem, rows_of_mut(r), &goal).unwrap();
        (report, r.to_vec())
    };
    let mut r = vec![DVec3::ZERO; 40];
    let alone = run(&first, &mut r);
    assert_eq!(run(&first, &mut r).0.iterations, 0);
    run(&second, &mut [DVec3::ZERO; 25]);
    assert_eq!(run(&first, &mut [DVec3::ZERO; 40]), alone);
}

/// A start close by costs less than none.
#[test]
fn a_warm_start_pays() {
    let problem = OwnedProblem::random(5, 20, 40).view().assemble();
    let (cold, mut r) = solve(&problem, 1e-8, Shift::Implicit);
    for r in &mut r {
        *r *= 1.0 + 1e-6;
    }
    let mut admm = Admm::new(AdmmSettings::default());
    let warm = admm
        .solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-8))
        .unwrap();
    assert!(warm.converged() && warm.iterations < cold.iterations);
}

#[test]
fn contacts_that_nothing_moves_do_no_harm() {
    let rows = vec![vec![], vec![(1, DMat3::ZERO)], vec![(2, DMat3::IDENTITY)]];
    let problem = StoredProblem::of_contacts(
        Delassus::from_rows(rows),
        vec![
            DVec3::new(0.0, 1.0, 0.0),
            DVec3::X,
            DVec3::new(-1.0, 0.1, 0.0),
        ],
        vec![0.5; 3],
    );
    let mut r = vec![DVec3::ZERO; 3];
    let goal = Goal::both(1e-10);
    let report = Admm::default()
        .solve(&problem, rows_of_mut(&mut r), &goal)
        .unwrap();
    assert!(report.converged(), "{report:?}");
    assert!((r[2] - DVec3::new(1.0, -0.1, 0.0)).length() <= 1e-9);
    assert_eq!([r[0], r[1]], [DVec3::ZERO; 2]);
}

/// `W` unsymmetric by 5 % of its entries: the true `u` of the rows as given is judged.
#[test]
fn an_unsymmetric_operator_is_solved_as_given() {
    let mut random = Random::new(1);
    for seed in 0..5 {
        let mut problem = OwnedProblem::random(seed, 20, 30).view().assemble();
        let rows = (0..30).map(|i| {
            let row = problem.delassus.row(i);
            row.map(|(j, b)| (j as u32, *b + *b * (0.05 * random.uniform(-1.0, 1.0))))
                .collect()
        });
        problem.delassus = Delassus::from_rows(rows.collect());
        let (report, _) = solve(&problem, 1e-9, Shift::Implicit);
        assert!(report.converged(), "seed {seed}: {report:?}");
    }
}

#[test]
fn an_indefinite_operator_is_not_reported_as_converged() {
    let problem = StoredProblem::of_contacts(
        Delassus::from_rows(vec![vec![(
            0,
            DMat3::from_diagonal(DVec3::new(-1.0, 3.0, 3.0)),
        )]]),
        vec![DVec3::new(-1.0, 0.5, 0.0)],
        vec![0.5],
    );
    let (report, r) = solve(&problem, 1e-8, Shift::Implicit);
    assert!(!report.converged() && r[0].is_finite(), "{report:?}");
}

#[test]
fn limits_end_a_solve() {
    let problem = OwnedProblem::random(1, 20, 40).view().assemble();
    let goal = Goal {
        time_limit: Some(std::time::Duration::ZERO),
        ..Goal::scaled(0.0)
    };
    let mut r = vec![DVec3::ZERO; 40];
    let report = Admm::default()
        .solve(&problem, rows_of_mut(&mut r), &goal)
        .unwrap();
    assert_eq!(
        (report.status, report.iterations),
        (SolverStatus::TimedOut, 10)
    );
}
