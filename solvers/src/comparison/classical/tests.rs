//! The classical options: convergence, determinism, and the default left alone.

use super::*;
use crate::random::OwnedProblem;
use crate::{
    AlartCurnierSettings, ProjectionSettings, SolverStatus, natural_map, rows_of, rows_of_mut,
};
use crate::{Momentum, Nsgs};

fn defaults() -> ClassicalSettings {
    with_sweeps(Momentum::default(), 100_000)
}

fn with_sweeps(momentum: Momentum, max_sweeps: usize) -> ClassicalSettings {
    ClassicalSettings {
        sweeps: NsgsSettings {
            momentum,
            max_sweeps,
            ..NsgsSettings::default()
        },
        ..ClassicalSettings::default()
    }
}

fn options() -> Vec<ClassicalSettings> {
    let locals = [
        LocalSolver::Projection(ProjectionSettings::default()),
        LocalSolver::AlartCurnier(AlartCurnierSettings::default()),
        LocalSolver::Quartic,
    ];
    let mut all: Vec<_> = locals
        .map(|local| ClassicalSettings {
            local,
            ..defaults()
        })
        .into();
    all.extend([0.7, 1.3].map(|relaxation| ClassicalSettings {
        relaxation,
        ..defaults()
    }));
    let orders = [SweepOrder::Symmetric, SweepOrder::Shuffled { seed: 5 }];
    all.extend(orders.map(|order| ClassicalSettings {
        order,
        ..defaults()
    }));
    let freezing = [1e-8, 1e-2].map(|change| Freezing {
        after: 3,
        sweeps: 7,
        change,
    });
    all.extend(freezing.map(|freezing| ClassicalSettings {
        freezing: Some(freezing),
        ..defaults()
    }));
    all
}

fn solve_stored(owned: &OwnedProblem, settings: ClassicalSettings) -> (SolverReport, Vec<DVec3>) {
    let problem = owned.view().assemble();
    let mut r = vec![DVec3::ZERO; problem.len()];
    let report =
        ClassicalNsgs::new(settings).solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-8));
    (report.unwrap(), r)
}

fn solve_factored(owned: &OwnedProblem, settings: ClassicalSettings) -> (SolverReport, Vec<DVec3>) {
    let mut r = vec![DVec3::ZERO; owned.contacts.len()];
    let report = ClassicalNsgs::new(settings).solve_factored(
        &owned.view(),
        rows_of_mut(&mut r),
        &mut Vec::new(),
        &Goal::scaled(1e-8),
    );
    (report.unwrap(), r)
}

#[test]
fn every_option_converges_in_both_forms() {
    for seed in 0..6 {
        let owned = OwnedProblem::random(seed, 20, 40);
        for settings in options() {
            for solve in [solve_stored, solve_factored] {
                let (report, r) = solve(&owned, settings);
                assert!(report.converged(), "{seed}, {settings:?}: {report:?}");
                let judged = natural_map::stored(&owned.view().assemble(), rows_of(&r));
                // The two forms round differently.
                assert!(judged.scaled <= 1.01e-8, "{seed}, {settings:?}");
            }
        }
    }
}

/// In the stored form the arithmetic is that of [`Nsgs`]; in the factored form lanes visit the contacts in another order, and
/// both end within the goal of 1e-8, times the condition of these small problems.
#[test]
fn default_options_repeat_the_default_sweep() {
    let mut owned = OwnedProblem::random(3, 30, 60);
    for contact in owned.contacts.iter_mut().step_by(2) {
        contact.friction = 0.3;
    }
    let (problem, goal) = (owned.view().assemble(), Goal::scaled(1e-8));
    for momentum in [Momentum::NONE, Momentum::CAPPED] {
        let settings = with_sweeps(momentum, 100_000);
        let mut r = vec![DVec3::ZERO; problem.len()];
        let mut nsgs = Nsgs::new(settings.sweeps);
        let report = nsgs.solve(&problem, rows_of_mut(&mut r), &goal).unwrap();
        assert_eq!(solve_stored(&owned, settings), (report, r.clone()));
        let mut twists = [Vec::new(), Vec::new()];
        let [lanes, loops] = &mut twists;
        let report = nsgs.solve_factored(&owned.view(), rows_of_mut(&mut r), lanes, &goal);
        assert!(report.unwrap().converged());
        let (report, r) = solve_factored(&owned, settings);
        assert!(report.converged(), "{report:?}");
        owned.view().twist_under(rows_of(&r), loops);
        for (lanes, loops) in lanes.iter().zip(&*loops) {
            assert!((lanes.linear - loops.linear).length() <= 1e-5);
            assert!((lanes.angular - loops.angular).length() <= 1e-5);
        }
    }
}

#[test]
fn shuffles_repeat_with_their_seed_only() {
    let owned = OwnedProblem::random(8, 20, 40);
    let settings = |seed| ClassicalSettings {
        order: SweepOrder::Shuffled { seed },
        ..defaults()
    };
    for solve in [solve_stored, solve_factored] {
        let first = solve(&owned, settings(1));
        assert_eq!(first, solve(&owned, settings(1)));
        assert_ne!(first.1, solve(&owned, settings(2)).1);
    }
}

/// With a threshold that freezes everything at once the solve continues to the goal, or says that it
/// did not get there.
#[test]
fn a_solve_does_not_end_because_all_contacts_are_frozen() {
    let owned = OwnedProblem::random(2, 20, 40);
    for momentum in [Momentum::NONE, Momentum::CAPPED] {
        let settings = ClassicalSettings {
            freezing: Some(Freezing {
                after: 0,
                sweeps: 1_000_000,
                change: f64::INFINITY,
            }),
            ..with_sweeps(momentum, 100_000)
        };
        for solve in [solve_stored, solve_factored] {
            let (report, r) = solve(&owned, settings);
            let judged = natural_map::stored(&owned.view().assemble(), rows_of(&r));
            assert!(report.converged() && judged.scaled <= 1.01e-8, "{report:?}");
        }
    }
}

/// `ω = 1.9` may diverge; what comes back is the best iterate and its true residual.
#[test]
fn over_relaxation_stays_honest() {
    for seed in 0..5 {
        let owned = OwnedProblem::random(seed, 20, 60);
        let settings = ClassicalSettings {
            relaxation: 1.9,
            ..with_sweeps(Momentum::default(), 300)
        };
        let (report, r) = solve_stored(&owned, settings);
        let judged = natural_map::stored(&owned.view().assemble(), rows_of(&r));
        assert_eq!(judged, report.residual);
        assert!(report.converged() == (judged.scaled <= 1e-8));
        // Each impulse was projected and turned back to its frame: a few roundings.
        let largest = r.iter().map(|r| r.length()).fold(0.0, f64::max);
        assert!(judged.cone_violation <= 16.0 * f64::EPSILON * largest);
        assert!(report.converged() || report.status == SolverStatus::Stopped);
    }
}
