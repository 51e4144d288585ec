//! Every problem on every solver.

use crate::case::{Case, Unique};
use crate::{GOAL, ROUNDING, loader, reference, solvers, transform};
use moreau_solvers::{Goal, Law, Solver, SolverReport, SolverStatus, natural_map};

fn solve(case: &Case, solver: &mut dyn Solver) -> (SolverReport, Vec<f64>) {
    let mut r = vec![0.0; case.problem.rows()];
    let report = solver.solve(&case.problem, &mut r, &case.goal()).unwrap();
    (report, r)
}

/// Difference of two ways to compute the residual: û contains `μ‖u_T‖`, with the rounding of `u_T`.
fn rounding(case: &Case) -> f64 {
    let largest = case
        .problem
        .laws()
        .iter()
        .filter_map(Law::friction)
        .fold(0.0, f64::max);
    ROUNDING + 4.0 * f64::EPSILON * largest
}

/// `√(Σ λ‖a − b‖²)` over the reference norm.
fn impulse_distance(case: &Case, a: &[f64], b: &[f64]) -> f64 {
    let sum: f64 = squares(case, a, b)
        .map(|(lambda, square)| lambda * square)
        .sum();
    sum.sqrt() / reference::size(&case.problem, b)
}

/// `λ` and `‖a − b‖²` of each interaction.
fn squares(case: &Case, a: &[f64], b: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    let squares: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).collect();
    let interactions = reference::interactions(&case.problem).into_iter();
    let lambda = reference::scales(&case.problem).into_iter();
    lambda.zip(interactions.map(move |rows| squares[rows].iter().sum()))
}

/// `√(Σ ‖a − b‖²/λ)` over the reference norm.
fn velocity_distance(case: &Case, a: &[f64], b: &[f64]) -> f64 {
    let scaled = squares(case, a, b).filter(|(lambda, _)| *lambda > 0.0);
    let sum: f64 = scaled.map(|(lambda, square)| square / lambda).sum();
    sum.sqrt() / reference::size(&case.problem, &vec![0.0; a.len()])
}

#[test]
fn the_closed_forms_satisfy_the_definition() {
    for case in loader::all() {
        for r in &case.expect.impulses {
            let dense = reference::residual(&case.problem, r);
            let judged = natural_map::stored(&case.problem, r);
            assert!(dense <= rounding(&case), "{}: {dense:e}", case.name);
            assert!(
                judged.scaled <= rounding(&case),
                "{}: {judged:?}",
                case.name
            );
        }
    }
}

#[test]
fn every_solver_solves_every_problem() {
    let mut failed = Vec::new();
    for case in loader::all() {
        println!("{}: {}", case.name, case.title);
        for (name, mut solver) in solvers::all() {
            let (report, r) = solve(&case, solver.as_mut());
            let e = reference::residual(&case.problem, &r);
            let SolverReport {
                status,
                iterations,
                factorizations,
                ..
            } = report;
            println!("  {name:20} {status:?} {iterations} ({factorizations}) e = {e:.1e}");
            let here = format!("{} on {name}: {report:?}, dense {e:e}", case.name);
            assert!(
                (e - report.residual.scaled).abs() <= rounding(&case),
                "{here}"
            );
            if report.converged() {
                assert!(e <= GOAL + rounding(&case), "{here}");
            }
            let told = status == SolverStatus::Infeasible;
            if case.is_due(name) && !report.converged() || !case.expect.solvable && !told {
                failed.push(here);
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// `e_scaled` is relative to an impulse that grows as long as one lets it: a loose goal is met sooner
/// or later, and only a proof tells.
#[test]
fn a_loose_goal_does_not_hide_that_there_is_no_solution() {
    for case in loader::all() {
        for (name, mut solver) in solvers::all() {
            if case.expect.solvable {
                continue;
            }
            for tolerance in [1e-8, 1e-6, 1e-4, 1e-3] {
                let mut r = vec![0.0; case.problem.rows()];
                let goal = Goal::scaled(tolerance);
                let report = solver.solve(&case.problem, &mut r, &goal).unwrap();
                let here = format!("{} on {name} to {tolerance:e}: {report:?}", case.name);
                assert_eq!(report.status, SolverStatus::Infeasible, "{here}");
            }
        }
    }
}

/// Closed forms, and the solvers among each other.
#[test]
fn answers_agree_where_they_are_unique() {
    for case in loader::all() {
        let within = GOAL * case.expect.sensitivity;
        let mut first: Option<Vec<f64>> = None;
        for (name, mut solver) in solvers::all() {
            let (report, r) = solve(&case, solver.as_mut());
            if !report.converged() {
                continue;
            }
            let here = format!("{} on {name}", case.name);
            let u = reference::velocity(&case.problem, &r);
            if !case.expect.impulses.is_empty() {
                let to = |known: &Vec<f64>| impulse_distance(&case, &r, known);
                let nearest = case.expect.impulses.iter().map(to).fold(f64::MAX, f64::min);
                assert!(nearest <= within, "{here}: {nearest:e} from {r:?}");
            }
            if let Some(known) = &case.expect.velocity {
                let distance = velocity_distance(&case, &u, known);
                assert!(distance <= within, "{here}: {distance:e}, u = {u:?}");
            }
            let other = first.get_or_insert_with(|| r.clone());
            let other_u = reference::velocity(&case.problem, other);
            let distance = match case.expect.unique {
                Unique::Impulse => impulse_distance(&case, &r, other),
                Unique::Velocity => velocity_distance(&case, &u, &other_u),
                Unique::Nothing => 0.0,
            };
            assert!(distance <= 2.0 * within, "{here}: {distance:e}");
        }
    }
}

/// Powers of two keep all digits: the same iterations, and `e_scaled` equal to the rounding of the
/// factorisations, whose inner scalings need not be powers of two.
#[test]
fn units_do_not_matter() {
    let [mass, time] = [20, 10].map(|n| f64::from(1 << n));
    for case in loader::all().into_iter().filter(|case| !case.expect.both) {
        for (name, mut solver) in solvers::all() {
            let (report, r) = solve(&case, solver.as_mut());
            for (m, v) in [(mass, 1.0), (1.0, time), (1.0 / mass, 1.0 / time)] {
                let problem = transform::in_units(&case.problem, m, v);
                let mut other = vec![0.0; r.len()];
                let again = solver.solve(&problem, &mut other, &case.goal()).unwrap();
                let here = format!("{} on {name}: {report:?} {again:?}", case.name);
                assert_eq!(report.status, again.status, "{here}");
                assert_eq!(report.iterations, again.iterations, "{here}");
                assert_eq!(report.factorizations, again.factorizations, "{here}");
                let change = (report.residual.scaled - again.residual.scaled).abs();
                assert!(change <= 1e-15, "{here}");
                let back: Vec<_> = other.iter().map(|r| *r / (m * v)).collect();
                assert!(impulse_distance(&case, &back, &r) <= ROUNDING, "{here}");
            }
        }
    }
}

#[test]
fn names_and_axes_do_not_matter() {
    for case in loader::all() {
        let (_, mut solver) = solvers::all().swap_remove(0);
        let (_, r) = solve(&case, solver.as_mut());
        let off: Vec<_> = r
            .iter()
            .enumerate()
            .map(|(row, r)| r * 0.9 + 0.01 * (row % 3) as f64)
            .collect();
        for r in [r, off] {
            let (problem, turned) = transform::relabelled(&case.problem, &r);
            let before = reference::residual(&case.problem, &r);
            let after = reference::residual(&problem, &turned);
            let judged = natural_map::stored(&problem, &turned).scaled;
            let within = rounding(&case) * (1.0 + before);
            assert!(
                (before - after).abs() <= within,
                "{}: {before:e} {after:e}",
                case.name
            );
            assert!(
                (before - judged).abs() <= within,
                "{}: {before:e} {judged:e}",
                case.name
            );
        }
    }
}
