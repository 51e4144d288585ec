//! Convergence, honesty, determinism and invariance of the solver.

use super::*;
use crate::problem::{Contact, InverseMass};
use crate::random::{OwnedProblem, Random, direction, random_contact};
use crate::{SolverStatus, natural_map, rows_of, rows_of_mut};
use glam::DMat3;

fn settings(max_sweeps: usize) -> NsgsSettings {
    NsgsSettings {
        max_sweeps,
        ..NsgsSettings::default()
    }
}

fn solve(
    problem: &OwnedProblem,
    tolerance: f64,
    settings: NsgsSettings,
) -> (SolverReport, Vec<DVec3>, Vec<WorldTwist>) {
    let (mut r, mut twist) = (vec![DVec3::ZERO; problem.contacts.len()], Vec::new());
    let report = Nsgs::new(settings).solve_factored(
        &problem.view(),
        rows_of_mut(&mut r),
        &mut twist,
        &Goal::scaled(tolerance),
    );
    (report.unwrap(), r, twist)
}

fn velocity(problem: &OwnedProblem, twist: &[WorldTwist]) -> Vec<DVec3> {
    let at = |c: &Contact| {
        let [a, b] = c.bodies.map(|j| &twist[j as usize]);
        c.local_velocity(a, b) + c.offset
    };
    problem.contacts.iter().map(at).collect()
}

fn bits(r: &[DVec3], twist: &[WorldTwist]) -> Vec<u64> {
    let twists = twist.iter().flat_map(|v| [v.linear, v.angular]);
    let all = r.iter().copied().chain(twists);
    all.flat_map(|v| v.to_array().map(f64::to_bits)).collect()
}

/// With these `μ` below the bound of uniqueness in practice, `u` is the same; both are judged to
/// 1e-10, and the condition of these small problems stays below 1e4.
#[test]
fn the_factored_and_the_stored_form_agree() {
    for seed in 0..10 {
        let owned = OwnedProblem::random(seed, 20, 40);
        let stored = owned.view().assemble();
        let (report, _, twist) = solve(&owned, 1e-10, settings(100_000));
        assert!(report.converged(), "seed {seed}: {report:?}");
        let mut r = vec![DVec3::ZERO; 40];
        let report =
            Nsgs::new(settings(100_000)).solve(&stored, rows_of_mut(&mut r), &Goal::scaled(1e-10));
        assert!(report.unwrap().converged());
        for (i, u) in velocity(&owned, &twist).into_iter().enumerate() {
            let other = stored.delassus.row_times(i, &r) + stored.free_velocity[i];
            assert!((u - other).length() <= 1e-6, "seed {seed}: {u} {other}");
        }
    }
}

/// The report repeats what the judge says of the impulse returned, to the last bit.
#[test]
fn the_reported_residual_is_that_of_the_impulse_returned() {
    for (seed, sweeps) in [(1, 2_000), (2, 3), (3, 40)] {
        let owned = OwnedProblem::random(seed, 30, 60);
        let (report, r, twist) = solve(&owned, 1e-6, settings(sweeps));
        let mut scratch = Vec::new();
        let judged = natural_map::factored(&owned.view(), rows_of(&r), &mut scratch);
        assert_eq!(judged, report.residual);
        assert_eq!(report.converged(), judged.scaled <= 1e-6);
        let mut expected = Vec::new();
        owned.view().twist_under(rows_of(&r), &mut expected);
        assert_eq!(twist, expected);
        let mut r = vec![DVec3::ZERO; 60];
        let stored = owned.view().assemble();
        let report =
            Nsgs::new(settings(sweeps)).solve(&stored, rows_of_mut(&mut r), &Goal::scaled(1e-6));
        assert_eq!(
            natural_map::stored(&stored, rows_of(&r)),
            report.unwrap().residual
        );
    }
}

#[test]
fn a_spent_budget_is_a_status() {
    let owned = OwnedProblem::random(1, 30, 90);
    let (report, ..) = solve(&owned, 1e-12, settings(3));
    assert_eq!(
        (report.status, report.iterations),
        (SolverStatus::Stopped, 3)
    );
    let (report, r, _) = solve(&owned, 1e-12, settings(0));
    assert_eq!(
        (report.status, report.iterations),
        (SolverStatus::Stopped, 0)
    );
    assert!(r.iter().all(|r| *r == DVec3::ZERO) && report.residual.scaled > 1e-12);
}

#[test]
fn an_empty_problem_is_solved() {
    let owned = OwnedProblem::random(1, 3, 0);
    let (report, _, twist) = solve(&owned, 1e-4, NsgsSettings::default());
    assert!(report.converged());
    assert_eq!(twist, owned.free_twist);
}

/// A random problem with a plate (body 1) in 300 contacts: more than there are colours.
fn problem_with_overflow(contacts: usize) -> OwnedProblem {
    let mut owned = OwnedProblem::random(9, contacts / 2, contacts - 300);
    let mut random = Random::new(10);
    for i in 0..300 {
        owned.contacts.push(random_contact(&mut random, [1, 2 + i]));
    }
    // A fixed body whose velocity has negative zeros: nothing may turn them positive.
    owned.free_twist[0].linear = DVec3::splat(-0.0);
    owned
}

#[test]
fn the_bits_do_not_depend_on_threads() {
    let problems = [
        (problem_with_overflow(12_000), 30),
        (problem_with_overflow(900), 300),
        (problem_of_balls(3, 5_000, 9_000), 30),
    ];
    for (owned, sweeps) in problems {
        let mut settings = settings(sweeps);
        let run = |settings, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build()
                .unwrap()
                .install(|| solve(&owned, 1e-14, settings))
        };
        settings.parallel_from = usize::MAX;
        let (serial, r, twist) = run(settings, 1);
        assert!(serial.iterations == sweeps && (serial.restarts > 0 || sweeps < 100));
        let expected = bits(&r, &twist);
        settings.parallel_from = 0;
        for threads in [1, 2, 3, 8] {
            let (report, r, twist) = run(settings, threads);
            assert_eq!(report, serial, "{threads} threads");
            assert_eq!(bits(&r, &twist), expected, "{threads} threads");
        }
    }
}

/// Balls among themselves, on a static body, on one that turns and against generic bodies take
/// different kernels; the judge knows one. Body 2 is fixed and turns, arms off the normal.
fn problem_of_balls(seed: u64, bodies: usize, contacts: usize) -> OwnedProblem {
    let mut owned = OwnedProblem::random(seed, bodies, contacts);
    owned.inverse_mass[2] = InverseMass::FIXED;
    for mass in &mut owned.inverse_mass[3..bodies / 2] {
        mass.angular = DMat3::from_diagonal(DVec3::splat(2.5 * mass.linear));
    }
    for contact in &mut owned.contacts {
        for side in 0..2 {
            if (3..bodies / 2).contains(&(contact.bodies[side] as usize)) {
                let radius = if side == 0 { -1.0 } else { 1.2 };
                contact.arms[side] = contact.frame.x_axis * radius;
            }
        }
    }
    owned
}

#[test]
fn balls_and_generic_bodies_converge_together() {
    for seed in 0..10 {
        let owned = problem_of_balls(seed, 40, 60);
        let (report, r, _) = solve(&owned, 1e-10, settings(100_000));
        assert!(report.converged(), "seed {seed}: {report:?}");
        let stored = natural_map::stored(&owned.view().assemble(), rows_of(&r));
        assert!(stored.scaled <= 1.1e-10, "seed {seed}: {stored:?}");
    }
}

/// Buffers of an earlier solve, larger or smaller, leave no trace.
#[test]
fn a_reused_solver_gives_the_bits_of_a_fresh_one() {
    let mut solver = Nsgs::new(settings(50));
    for contacts in [900, 700, 1_000] {
        let owned = problem_with_overflow(contacts);
        let (report, r, twist) = solve(&owned, 1e-6, solver.settings);
        let (mut again, mut twist_again) = (vec![DVec3::ZERO; contacts], Vec::new());
        let result = solver.solve_factored(
            &owned.view(),
            rows_of_mut(&mut again),
            &mut twist_again,
            &Goal::scaled(1e-6),
        );
        assert_eq!(result, Ok(report));
        assert_eq!(bits(&again, &twist_again), bits(&r, &twist));
    }
}

/// A body of infinite mass that can turn is moved by impulses: its contacts must not share a colour.
#[test]
fn a_pivoted_body_is_not_fixed() {
    let mut owned = problem_with_overflow(900);
    owned.inverse_mass[1].linear = 0.0;
    assert!(!owned.inverse_mass[1].is_fixed());
    let (report, r, _) = solve(&owned, 1e-8, settings(20_000));
    assert!(report.converged(), "{report:?}");
    let stored = natural_map::stored(&owned.view().assemble(), rows_of(&r));
    assert!(stored.scaled <= 1.1e-8, "{stored:?}");
}

/// The residual of one impulse, taken over to an equivalent problem, is the same up to the rounding
/// of `u`: some ten roundings a contact, relative to a residual of order one.
#[test]
fn the_residual_does_not_depend_on_labels_axes_or_units() {
    let owned = OwnedProblem::random(4, 30, 80);
    let (_, r, _) = solve(&owned, 1e-12, settings(3));
    let judge = |problem: &OwnedProblem, r: &[DVec3]| {
        natural_map::factored(&problem.view(), rows_of(r), &mut Vec::new()).scaled
    };
    let expected = judge(&owned, &r);
    let same = |name: &str, problem: &OwnedProblem, r: &[DVec3]| {
        let error = (judge(problem, r) - expected).abs();
        assert!(error <= 1e-13, "{name}: {error:e} of {expected:e}");
        let stored = natural_map::stored(&problem.view().assemble(), rows_of(r)).scaled;
        assert!((stored - expected).abs() <= 1e-13, "{name}, stored");
    };

    let mut relabelled = owned.clone();
    relabelled.contacts.reverse();
    same(
        "labels",
        &relabelled,
        &r.iter().rev().copied().collect::<Vec<_>>(),
    );

    let (mut turned, mut turned_r) = (owned.clone(), r.clone());
    let mut random = Random::new(5);
    for (contact, r) in turned.contacts.iter_mut().zip(&mut turned_r) {
        let [c, s] = direction(random.uniform(0.0, 1.0));
        let DMat3 {
            x_axis,
            y_axis,
            z_axis,
        } = contact.frame;
        contact.frame = DMat3::from_cols(x_axis, y_axis * c + z_axis * s, z_axis * c - y_axis * s);
        *r = DVec3::new(r.x, c * r.y + s * r.z, c * r.z - s * r.y);
    }
    same("axes", &turned, &turned_r);

    let mut heavy = owned.clone();
    for mass in &mut heavy.inverse_mass {
        *mass = InverseMass {
            linear: mass.linear * 1e-6,
            angular: mass.angular * 1e-6,
        };
    }
    same(
        "mass",
        &heavy,
        &r.iter().map(|r| *r * 1e6).collect::<Vec<_>>(),
    );

    let mut slow = owned.clone();
    for v in &mut slow.free_twist {
        v.linear *= 1e-3;
        v.angular *= 1e-3;
    }
    for contact in &mut slow.contacts {
        contact.offset *= 1e-3;
    }
    same(
        "time",
        &slow,
        &r.iter().map(|r| *r * 1e-3).collect::<Vec<_>>(),
    );
}

#[test]
fn bad_input_gives_a_typed_error_and_leaves_the_impulse_alone() {
    use ProblemError::{Body, Friction, Length, NotFinite};
    type Spoil = fn(&mut OwnedProblem);
    type Matches = fn(&ProblemError) -> bool;
    let cases: [(Spoil, Matches); 9] = [
        (
            |p| p.contacts[3].friction = -0.1,
            |e| matches!(e, Friction { contact: 3, .. }),
        ),
        (
            |p| p.contacts[3].friction = f64::NAN,
            |e| matches!(e, Friction { contact: 3, .. }),
        ),
        (
            |p| p.contacts[2].bodies = [1, 1],
            |e| matches!(e, Body { contact: 2, .. }),
        ),
        (
            |p| p.contacts[2].bodies = [1, 10],
            |e| {
                matches!(
                    e,
                    Body {
                        contact: 2,
                        count: 10,
                        ..
                    }
                )
            },
        ),
        (
            |p| p.contacts[5].offset.x = f64::INFINITY,
            |e| matches!(e, NotFinite { index: 5, .. }),
        ),
        (
            |p| p.contacts[5].arms[1].z = f64::NAN,
            |e| matches!(e, NotFinite { index: 5, .. }),
        ),
        (
            |p| p.free_twist[4].angular.y = f64::NAN,
            |e| matches!(e, NotFinite { index: 4, .. }),
        ),
        (
            |p| p.inverse_mass[6].angular.y_axis.y = f64::NAN,
            |e| matches!(e, NotFinite { index: 6, .. }),
        ),
        (
            |p| p.free_twist.truncate(9),
            |e| {
                matches!(
                    e,
                    Length {
                        found: 9,
                        expected: 10,
                        ..
                    }
                )
            },
        ),
    ];
    let warm = vec![DVec3::ONE; 20];
    for (number, (spoil, matches)) in cases.into_iter().enumerate() {
        let mut owned = OwnedProblem::random(1, 10, 20);
        spoil(&mut owned);
        let mut r = warm.clone();
        let result = Nsgs::default().solve_factored(
            &owned.view(),
            rows_of_mut(&mut r),
            &mut Vec::new(),
            &Goal::default(),
        );
        assert!(
            matches(&result.clone().unwrap_err()),
            "{number}: {result:?}"
        );
        assert_eq!(r, warm);
    }
    let owned = OwnedProblem::random(1, 10, 20);
    let mut solver = Nsgs::default();
    let mut short = vec![DVec3::ZERO; 19];
    let result = solver.solve_factored(
        &owned.view(),
        rows_of_mut(&mut short),
        &mut Vec::new(),
        &Goal::default(),
    );
    assert!(matches!(result, Err(Length { found: 57, .. })));
    let mut nan = vec![DVec3::ZERO; 20];
    nan[7].y = f64::NAN;
    let result = solver.solve_factored(
        &owned.view(),
        rows_of_mut(&mut nan),
        &mut Vec::new(),
        &Goal::default(),
    );
    assert!(matches!(result, Err(NotFinite { index: 7, .. })));
}

#[test]
fn a_stored_problem_with_a_foreign_column_is_an_error() {
    let problem = StoredProblem::of_contacts(
        crate::Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY), (1, DMat3::IDENTITY)]]),
        vec![-DVec3::X],
        vec![0.5],
    );
    let mut r = [DVec3::ONE];
    let result = Nsgs::default().solve(&problem, rows_of_mut(&mut r), &Goal::default());
    assert!(matches!(
        result,
        Err(ProblemError::Column {
            row: 0,
            column: 1,
            count: 1
        })
    ));
    assert_eq!(r, [DVec3::ONE]);
}

/// Starting from a solution, a budget too small for momentum to recover returns no worse.
#[test]
fn the_best_judged_iterate_is_returned() {
    for seed in 0..5 {
        let owned = OwnedProblem::random(seed, 40, 160);
        let (first, solution, _) = solve(&owned, 1e-5, settings(20_000));
        for sweeps in [1, 2, 5, 20] {
            let mut settings = settings(sweeps);
            settings.min_sweeps = 0; // the warm start is judged too
            let mut r = solution.clone();
            let mut twist = Vec::new();
            let report = Nsgs::new(settings).solve_factored(
                &owned.view(),
                rows_of_mut(&mut r),
                &mut twist,
                &Goal::scaled(0.0),
            );
            let report = report.unwrap();
            assert!(report.residual.scaled <= first.residual.scaled);
            let judged = natural_map::factored(&owned.view(), rows_of(&r), &mut twist);
            assert_eq!(judged, report.residual);
        }
    }
}

/// A sequence of iterates with given residuals, whose identity is its position.
struct Scripted {
    residuals: Vec<f64>,
    iterates: Vec<DVec3>,
    position: usize,
}

impl acceleration::Relaxation for Scripted {
    fn check_after(&self, _: usize) -> usize {
        1
    }

    fn is_empty(&self) -> bool {
        false
    }

    fn sweep(&mut self, _: acceleration::Stride) -> acceleration::SweepSums {
        self.position += 1;
        acceleration::SweepSums::default()
    }

    fn residual(&mut self) -> crate::Residual {
        crate::Residual {
            scaled: self.residuals[self.position],
            ..Default::default()
        }
    }

    fn residual_of(&mut self, _: &[DVec3]) -> crate::Residual {
        crate::Residual::default()
    }

    fn impulse(&self) -> &[DVec3] {
        &self.iterates[self.position..=self.position]
    }

    fn restart(&mut self, _: &[DVec3]) {}
}

#[test]
fn the_kept_iterate_has_the_smallest_residual_judged() {
    let mut scripted = Scripted {
        residuals: vec![0.5, 0.9, f64::NAN, 0.3, 0.4, 0.8],
        iterates: (0..6).map(|k| DVec3::splat(f64::from(k))).collect(),
        position: 0,
    };
    let mut settings = settings(5);
    settings.min_sweeps = 0;
    let (mut history, mut best) = (History::default(), Vec::new());
    let start = [DVec3::NAN];
    let mut progress = Progress::new(&Goal::scaled(1e-9), &mut history, &mut best, &start);
    acceleration::run(&mut scripted, &settings, &mut progress);
    let report = progress.report;
    assert_eq!((best[0].x, report.residual.scaled), (3.0, 0.3));
    assert_eq!(report.status, SolverStatus::Stopped);
    assert_eq!(history.samples().len(), 6);
}

/// Plain sweeps converge on these plates in wedging contacts; momentum must not blow up.
#[test]
fn momentum_does_not_diverge_where_plain_sweeps_converge() {
    for cap in [0.8, 1.0] {
        let mut settings = settings(3_000);
        settings.momentum = Momentum {
            cap,
            rises: false,
            turns_after: None,
            ..Momentum::CAPPED
        };
        let (report, ..) = solve(&problem_with_overflow(900), 1e-4, settings);
        assert!(report.converged(), "cap {cap}: {report:?}");
    }
}
