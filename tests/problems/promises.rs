//! What every solver promises, whatever the problem.

use crate::budgets::budgeted;
use crate::random::{self, Recipe};
use crate::{loader, reference, solvers};
use glam::{DMat3, DVec3};
use moreau_solvers::{
    Delassus, Goal, Law, Solver, SolverReport, SolverStatus, StoredProblem, natural_map,
};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Three contacts a body: sweeps need hundreds of iterations.
const CROWDED: Recipe = Recipe {
    bodies: 12,
    contacts: 36,
    joints: &[],
    redundant: false,
};
/// Fewer rows than degrees of freedom: `W` is regular.
const JOINTED: Recipe = Recipe {
    bodies: 24,
    contacts: 8,
    joints: &[1, 3, 5, 6],
    redundant: false,
};
const REDUNDANT: Recipe = Recipe {
    redundant: true,
    ..JOINTED
};
const RECIPES: [Recipe; 3] = [CROWDED, JOINTED, REDUNDANT];

fn problems() -> Vec<StoredProblem> {
    let make = |(seed, recipe): (usize, &Recipe)| random::problem(seed as u64, *recipe);
    RECIPES.iter().enumerate().map(make).collect()
}

fn solve(
    solver: &mut dyn Solver,
    problem: &StoredProblem,
    goal: &Goal,
) -> (SolverReport, Vec<f64>) {
    let mut r = vec![0.0; problem.rows()];
    let report = solver.solve(problem, &mut r, goal).unwrap();
    (report, r)
}

/// A goal reached before the limit was looked at is no failure.
fn is_or_solved(report: &SolverReport, status: SolverStatus) -> bool {
    report.status == status || report.converged() && report.residual.scaled <= 1e-12
}

fn bits(impulse: &[f64]) -> Vec<u64> {
    impulse.iter().map(|r| r.to_bits()).collect()
}

#[test]
fn every_solver_has_a_budget() {
    let names = |solvers: Vec<(&'static str, _)>| -> Vec<&str> {
        let names: Vec<(&'static str, Box<dyn Solver>)> = solvers;
        names.into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names(solvers::all()), names(budgeted(1)));
}

/// Limits are looked at between sweeps and steps: no solver does more than its first batch.
#[test]
fn a_time_limit_of_zero_returns_at_once_with_the_residual_reached() {
    for problem in problems() {
        let goal = Goal {
            time_limit: Some(Duration::ZERO),
            ..Goal::scaled(1e-12)
        };
        for (name, mut solver) in solvers::all() {
            let (report, r) = solve(solver.as_mut(), &problem, &goal);
            let here = format!("{name}: {report:?}");
            assert!(is_or_solved(&report, SolverStatus::TimedOut), "{here}");
            assert_eq!(report.residual, natural_map::stored(&problem, &r), "{here}");
            assert!(
                report.iterations <= 100 && report.factorizations <= 1,
                "{here}"
            );
        }
    }
}

#[test]
fn limits_do_not_strike_on_what_is_solved() {
    let cancel = AtomicBool::new(true);
    for problem in problems() {
        let (_, start) = solve(
            solvers::all().swap_remove(0).1.as_mut(),
            &problem,
            &Goal::scaled(1e-9),
        );
        let goal = Goal {
            time_limit: Some(Duration::ZERO),
            cancel: Some(&cancel),
            ..Goal::scaled(1e-4)
        };
        for (name, mut solver) in solvers::all() {
            let mut r = start.clone();
            let report = solver.solve(&problem, &mut r, &goal).unwrap();
            assert!(report.converged(), "{name}: {report:?}");
        }
    }
}

#[test]
fn a_cancelled_solve_says_so_and_returns_the_best_so_far() {
    let cancel = AtomicBool::new(true);
    for problem in problems() {
        let goal = Goal {
            cancel: Some(&cancel),
            ..Goal::scaled(1e-12)
        };
        for (name, mut solver) in solvers::all() {
            let (report, r) = solve(solver.as_mut(), &problem, &goal);
            let here = format!("{name}: {report:?}");
            assert!(is_or_solved(&report, SolverStatus::Cancelled), "{here}");
            assert_eq!(report.residual, natural_map::stored(&problem, &r), "{here}");
            let samples = solver.history().samples();
            let best = samples.iter().map(|s| s.scaled).fold(f64::MAX, f64::min);
            assert!(report.residual.scaled <= best, "{here}");
        }
    }
}

/// Whatever is done to a good start that misses a goal out of reach, nothing worse comes back.
#[test]
fn no_solve_returns_something_worse_than_its_start() {
    let mut worse = Vec::new();
    for (k, problem) in problems().into_iter().enumerate() {
        let mut nsgs = solvers::all().swap_remove(0).1;
        let (first, start) = solve(nsgs.as_mut(), &problem, &Goal::scaled(1e-9));
        for (name, mut solver) in budgeted(1) {
            let mut r = start.clone();
            let report = solver.solve(&problem, &mut r, &Goal::scaled(0.0)).unwrap();
            let (after, before) = (report.residual.scaled, first.residual.scaled);
            if after > before {
                worse.push(format!("{name} on {k}: {before:e}, then {after:e}"));
            }
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

#[test]
fn a_tiny_budget_is_a_status_and_no_error() {
    for (k, problem) in problems().into_iter().enumerate() {
        for budget in [0, 1, 2, 5] {
            for (name, mut solver) in budgeted(budget) {
                let (report, r) = solve(solver.as_mut(), &problem, &Goal::scaled(1e-12));
                let here = format!("{name} with {budget} on {k}: {report:?}");
                assert!(is_or_solved(&report, SolverStatus::Stopped), "{here}");
                assert_eq!(report.residual, natural_map::stored(&problem, &r), "{here}");
                // Some keep a budget a stage, and a rejected step is followed by sweeps.
                let sweeps = report.iterations <= 20 * budget.max(1) + budget;
                assert!(sweeps && report.factorizations <= budget + 1, "{here}");
            }
        }
    }
}

/// Not one sample may be better than what was returned; without thinning, one is just as good.
#[test]
fn the_history_is_the_way_to_the_report() {
    for case in loader::all() {
        for (name, mut solver) in solvers::all() {
            let (report, _) = solve(solver.as_mut(), &case.problem, &Goal::scaled(1e-10));
            let here = format!("{} on {name}: {report:?}", case.name);
            let samples = solver.history().samples();
            assert!(!samples.is_empty(), "{here}");
            let ascending = samples.windows(2).all(|pair| {
                pair[0].iterations <= pair[1].iterations
                    && pair[0].factorizations <= pair[1].factorizations
            });
            assert!(ascending, "{here}");
            let last = samples[samples.len() - 1];
            assert!(last.iterations <= report.iterations, "{here}");
            assert!(last.factorizations <= report.factorizations, "{here}");
            let best = samples.iter().map(|s| s.scaled).fold(f64::MAX, f64::min);
            assert!(report.residual.scaled <= best, "{here}, sampled {best:e}");
            if samples.len() == report.certificates {
                assert!(best <= report.residual.scaled, "{here}, sampled {best:e}");
            }
        }
    }
}

#[test]
fn the_residual_of_the_report_is_that_of_the_impulse() {
    for case in loader::all() {
        for (name, mut solver) in solvers::all() {
            for goal in [Goal::scaled(1e-10), Goal::both(1e-6), Goal::fclib(1e-3)] {
                let (report, r) = solve(solver.as_mut(), &case.problem, &goal);
                let judged = natural_map::stored(&case.problem, &r);
                let here = format!("{} on {name}: {report:?} {judged:?}", case.name);
                assert!(report.residual == judged, "{here}");
            }
        }
    }
}

/// A flawed problem, and what its error has to name.
type Flaw = (StoredProblem, &'static str, &'static str);

/// The arrays of contacts in space.
#[derive(Clone)]
struct Parts {
    delassus: Delassus,
    q: Vec<DVec3>,
    friction: Vec<f64>,
}

fn flaws(good: &StoredProblem) -> Vec<Flaw> {
    let parts = Parts {
        delassus: good.delassus().clone(),
        q: good
            .free_velocity()
            .chunks(3)
            .map(DVec3::from_slice)
            .collect(),
        friction: good.laws().iter().filter_map(Law::friction).collect(),
    };
    let with = |what, index, change: &dyn Fn(&mut Parts)| {
        let mut parts = parts.clone();
        change(&mut parts);
        let problem = StoredProblem::of_contacts(parts.delassus, parts.q, parts.friction);
        (problem, what, index)
    };
    let matrix = |change: &dyn Fn(usize, usize, DMat3) -> (usize, DMat3), rows: usize| {
        let row = |i: usize| {
            let blocks = good.delassus().row(i).map(|(j, block)| {
                let (column, block) = change(i, j, *block);
                (column as u32, block)
            });
            blocks.collect()
        };
        Delassus::from_rows((0..rows).map(row).collect())
    };
    let n = good.len();
    let bad = |value: f64| move |i, j, b| (j, if i == 4 && i == j { b * value } else { b });
    let nan = matrix(&bad(f64::NAN), n);
    let infinite = matrix(&bad(f64::INFINITY), n);
    let beyond = matrix(&|i, j, b| (if i == 4 && j == 4 { 1000 } else { j }, b), n);
    let short = matrix(&|_, j, b| (j, b), n - 1);
    vec![
        with("delassus", "4", &|p| p.delassus = nan.clone()),
        with("delassus", "4", &|p| p.delassus = infinite.clone()),
        with("row 4", "1000", &|p| p.delassus = beyond.clone()),
        with("delassus", "length", &|p| p.delassus = short.clone()),
        with("free velocity", "5", &|p| p.q[5].y = f64::NAN),
        with("free velocity", "0", &|p| p.q[0].x = f64::INFINITY),
        with("friction", "3", &|p| p.friction[3] = -1e-9),
        with("friction", "2", &|p| p.friction[2] = f64::NAN),
        with("friction", "1", &|p| p.friction[1] = f64::INFINITY),
        with("friction", "length", &|p| {
            p.friction.pop();
        }),
        with("friction", "length", &|p| p.friction.push(0.5)),
    ]
}

#[test]
fn bad_input_is_named_and_leaves_the_impulse_alone() {
    let good = random::problem(0, CROWDED);
    let start: Vec<_> = (0..good.len())
        .flat_map(|i| [-0.0, i as f64, f64::MIN_POSITIVE / 3.0])
        .collect();
    for ((name, mut solver), (_, mut fresh)) in solvers::all().into_iter().zip(solvers::all()) {
        for (problem, what, index) in flaws(&good) {
            let mut r = start.clone();
            let error = solver.solve(&problem, &mut r, &Goal::default());
            let error = error.unwrap_err().to_string();
            assert!(
                error.contains(what) && error.contains(index),
                "{name}: {error}, not {what} {index}"
            );
            assert_eq!(bits(&r), bits(&start), "{name}: {error}");
        }
        let mut with_nan = start.clone();
        with_nan[3 * 7 + 2] = f64::NAN;
        for (r, index) in [(with_nan, "7"), (start[1..].to_vec(), "length")] {
            let mut after = r.clone();
            let error = solver.solve(&good, &mut after, &Goal::default());
            let error = error.unwrap_err().to_string();
            assert!(
                error.contains("impulse") && error.contains(index),
                "{name}: {error}"
            );
            assert_eq!(bits(&r), bits(&after), "{name}");
        }
        let (_, after) = solve(solver.as_mut(), &good, &Goal::default());
        let (_, first) = solve(fresh.as_mut(), &good, &Goal::default());
        assert_eq!(bits(&after), bits(&first), "{name} after errors");
    }
}

/// Nothing left over from earlier solves, and no number of threads, shows in the result.
#[test]
fn the_bits_are_a_function_of_the_problem() {
    let goal = Goal::scaled(1e-9);
    let problems = problems();
    let count = solvers::all().len();
    let fresh = |k: usize| solvers::all().swap_remove(k).1;
    for k in 0..count {
        let name = solvers::all()[k].0;
        let mut used = fresh(k);
        for (number, problem) in problems.iter().enumerate() {
            let (report, r) = solve(fresh(k).as_mut(), problem, &goal);
            let same = |how: &str, (other, s): (SolverReport, Vec<f64>)| {
                assert_eq!(report, other, "{name} {how} on {number}");
                assert_eq!(bits(&r), bits(&s), "{name} {how} on {number}");
            };
            same("after others", solve(used.as_mut(), problem, &goal));
            same("again", solve(used.as_mut(), problem, &goal));
            for threads in [1, 2, 3, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                let pool = pool.build().unwrap();
                let run = || solve(fresh(k).as_mut(), problem, &goal);
                same("in a pool", pool.install(run));
            }
        }
    }
}

/// A joint's rows have to stand still: `‖u_J‖` as part of `q`, over `e_scaled` with `λ` about 2 and an
/// impulse of up to 10 times `q`.
#[test]
fn joints_hold_on_every_solver() {
    for recipe in [JOINTED, REDUNDANT] {
        for seed in 0..5 {
            let problem = random::problem(seed, recipe);
            for (name, mut solver) in solvers::all() {
                let (report, r) = solve(solver.as_mut(), &problem, &Goal::scaled(1e-9));
                let here = format!("{name} on {recipe:?} {seed}: {report:?}");
                assert!(report.converged(), "{here}");
                let e = reference::residual(&problem, &r);
                assert!(e <= 1.001e-9, "{here}, dense {e:e}");
                let u = reference::velocity(&problem, &r);
                let free: f64 = problem.free_velocity().iter().map(|q| q.abs()).sum();
                let interactions = reference::interactions(&problem).into_iter();
                for (rows, law) in interactions.zip(problem.laws()) {
                    if matches!(law, Law::Equality(_)) {
                        let left = u[rows].iter().fold(0.0, |left: f64, u| left.max(u.abs()));
                        assert!(left <= 1e-8 * free, "{here}: {left:e}");
                    }
                }
            }
        }
    }
}

/// `u_N = −r_N − 1` is negative for every impulse; with entries of any size, as in a damaged file.
#[test]
fn a_block_of_negative_trace_is_never_solved() {
    for size in [1e-200, 1.0, 1e91, 1e200] {
        let good = DMat3::from_diagonal(DVec3::splat(0.01));
        let blocks = [good, DMat3::from_diagonal(DVec3::splat(-size))];
        let rows = blocks.iter().enumerate();
        let delassus =
            Delassus::from_rows(rows.map(|(k, block)| vec![(k as u32, *block)]).collect());
        let problem = StoredProblem::of_contacts(delassus, vec![DVec3::NEG_X; 2], vec![0.3; 2]);
        for (name, mut solver) in budgeted(50) {
            let mut r = vec![0.0; problem.rows()];
            let made = solver.solve(&problem, &mut r, &Goal::scaled(1e-8));
            let is_solved = made.as_ref().is_ok_and(|report| report.converged());
            assert!(
                !is_solved && r.iter().all(|r| !r.is_nan()),
                "{name}, {size:e}: {made:?}, {r:?}"
            );
        }
    }
}
