//! Honesty, islands, budgets and reuse.

use super::*;
use crate::problem::{Contact, InverseMass};
use crate::random::{OwnedProblem, of_triples};
use crate::{Delassus, Law, SolverStatus, natural_map, rows_of, rows_of_mut};
use glam::DMat3;
use std::time::Duration;

fn solve_factored(
    auto: &mut Auto,
    problem: &OwnedProblem,
    goal: &Goal,
) -> (SolverReport, Vec<DVec3>) {
    let (mut r, mut twist) = (vec![DVec3::ZERO; problem.contacts.len()], Vec::new());
    let report = auto.solve_factored(&problem.view(), rows_of_mut(&mut r), &mut twist, goal);
    (report.unwrap(), r)
}

/// A free ball between two fixed bodies that close at 1 m/s each.
fn squeezed() -> OwnedProblem {
    let moving = |speed: f64| WorldTwist {
        linear: DVec3::X * speed,
        angular: DVec3::ZERO,
    };
    let contact = |other: u32, normal: DVec3| Contact {
        bodies: [0, other],
        frame: DMat3::from_cols(normal, DVec3::Y, normal.cross(DVec3::Y)),
        arms: [-0.1 * normal, DVec3::ZERO],
        offset: DVec3::ZERO,
        friction: 0.5,
    };
    let ball = InverseMass {
        linear: 1.0,
        angular: DMat3::from_diagonal(DVec3::splat(250.0)),
    };
    OwnedProblem {
        inverse_mass: vec![ball, InverseMass::FIXED, InverseMass::FIXED],
        free_twist: vec![WorldTwist::default(), moving(1.0), moving(-1.0)],
        contacts: vec![contact(1, DVec3::X), contact(2, -DVec3::X)],
    }
}

/// The residual is relative to an impulse that grows: only the proof tells.
#[test]
fn a_squeezed_ball_is_infeasible_in_either_form() {
    let owned = squeezed();
    for tolerance in [1e-2, 1e-4, 1e-8] {
        let goal = Goal::scaled(tolerance);
        let (report, _) = solve_factored(&mut Auto::default(), &owned, &goal);
        assert!(!report.converged(), "{tolerance:e}: {report:?}");
        let mut r = vec![DVec3::ZERO; 2];
        let stored = owned.view().assemble();
        let report = Auto::default()
            .solve(&stored, rows_of_mut(&mut r), &goal)
            .unwrap();
        assert_eq!(report.status, SolverStatus::Infeasible, "{tolerance:e}");
    }
}

/// `e_scaled` has no scale for blocks without one; they must hold all the same.
#[test]
fn a_row_that_nothing_moves_is_not_overlooked() {
    let problem = |block: DMat3, q: DVec3, law: Law| {
        let w = Delassus::from_rows(vec![vec![(0, block)]]);
        of_triples(&[law], w, vec![q])
    };
    let (joint, contact) = (Law::equality(3), Law::coulomb(0.5));
    for flawed in [
        problem(DMat3::ZERO, DVec3::new(0.0, 7.0, 0.0), joint),
        problem(DMat3::ZERO, -DVec3::X, contact),
        problem(-DMat3::IDENTITY, -DVec3::X, contact),
    ] {
        let mut r = vec![DVec3::ZERO];
        let report = Auto::default().solve(&flawed, rows_of_mut(&mut r), &Goal::scaled(1e-8));
        assert!(!report.unwrap().converged());
    }
}

/// Shares are set before the islands are solved; the whole must reach the goal after it.
#[test]
fn many_islands_reach_the_goal_together() {
    let mut auto = Auto::default();
    auto.settings.first.max_sweeps = 5; // leaves most islands to Newton
    for seed in 0..20 {
        let owned = OwnedProblem::random(seed, 60, 50);
        let (report, r) = solve_factored(&mut auto, &owned, &Goal::scaled(1e-9));
        assert!(report.converged(), "seed {seed}: {report:?}");
        let judged = natural_map::factored(&owned.view(), rows_of(&r), &mut Vec::new());
        assert_eq!(judged, report.residual);
    }
}

#[test]
fn a_reused_solver_gives_the_bits_of_a_fresh_one() {
    let mut used = Auto::default();
    used.settings.first.max_sweeps = 5;
    for seed in 0..12 {
        let owned = OwnedProblem::random(seed, 8 + 5 * (seed as usize % 4), 60);
        let goal = Goal::scaled(1e-9);
        let (report, r) = solve_factored(&mut used, &owned, &goal);
        let path = used.path().to_vec();
        let mut fresh = Auto::new(used.settings);
        assert_eq!((report, r), solve_factored(&mut fresh, &owned, &goal));
        assert_eq!(path, fresh.path());
        let stored = owned.view().assemble();
        let (mut r, mut s) = (vec![DVec3::ZERO; 60], vec![DVec3::ZERO; 60]);
        let report = used.solve(&stored, rows_of_mut(&mut r), &goal);
        assert_eq!(report, fresh.solve(&stored, rows_of_mut(&mut s), &goal));
        assert_eq!(r, s);
    }
}

/// A solve that goes on takes the kind of sweeps with which the last one ended; one that starts anew forgets them, also where it has nothing to solve.
#[test]
fn a_solve_that_starts_anew_depends_on_no_solve_before() {
    let settings = AutoSettings {
        max_factorizations: 0,
        ..AutoSettings::default()
    };
    let goal = Goal::scaled(1e-6);
    let owned = OwnedProblem::random(7, 20, 60);
    let mut at_rest = OwnedProblem::random(8, 20, 60);
    at_rest.free_twist.fill(WorldTwist::default());
    for contact in &mut at_rest.contacts {
        contact.offset = DVec3::ZERO;
    }
    let ends = [false, true].map(|used| {
        let mut auto = Auto::new(settings);
        if used {
            auto.settings.first.momentum = auto.settings.first.momentum.careful();
            solve_factored(&mut auto, &owned, &goal);
            assert!(auto.careful);
            auto.settings = settings;
        }
        auto.start_anew();
        let (report, _) = solve_factored(&mut auto, &at_rest, &goal);
        assert_eq!(report.iterations, 0);
        auto.go_on();
        let (report, r) = solve_factored(&mut auto, &owned, &goal);
        (report.iterations, r)
    });
    assert!(ends[0].0 > 0);
    assert!(ends[0] == ends[1], "{} and {} sweeps", ends[0].0, ends[1].0);
}

/// Contact space and body space, stored and factored sweeps: one problem, one velocity.
#[test]
fn the_forms_agree() {
    for seed in 0..10 {
        let owned = OwnedProblem::random(seed, 20, 40);
        let stored = owned.view().assemble();
        let goal = Goal::scaled(1e-11);
        let (report, r) = solve_factored(&mut Auto::default(), &owned, &goal);
        let mut s = vec![DVec3::ZERO; 40];
        let other = Auto::default()
            .solve(&stored, rows_of_mut(&mut s), &goal)
            .unwrap();
        assert!(report.converged() && other.converged(), "seed {seed}");
        for block in 0..40 {
            let u = |r: &[DVec3]| stored.delassus.row_times(block, r) + stored.free_velocity[block];
            // 1e-11 over the condition of these small problems, below 1e4.
            assert!((u(&r) - u(&s)).length() <= 1e-7, "seed {seed}");
        }
    }
}

#[test]
fn budgets_and_limits_hold_for_all_islands_together() {
    let owned = OwnedProblem::random(3, 120, 100);
    let mut auto = Auto::default();
    auto.settings.first.max_sweeps = 2;
    auto.settings.max_factorizations = 7;
    auto.settings.max_sweeps = 30;
    let (report, _) = solve_factored(&mut auto, &owned, &Goal::scaled(1e-14));
    assert!(report.factorizations <= 7, "{report:?}");
    let goal = Goal {
        time_limit: Some(Duration::ZERO),
        ..Goal::scaled(1e-14)
    };
    let (report, _) = solve_factored(&mut Auto::default(), &owned, &goal);
    // The first certificate may come before the first look at the clock.
    assert!(report.converged() || report.status == SolverStatus::TimedOut);
}

#[test]
fn forms_of_different_size_are_refused() {
    let owned = OwnedProblem::random(1, 10, 6);
    let stored = owned.view().assemble();
    let mut r = vec![DVec3::ONE; 6];
    let global = GlobalProblem::default();
    let result =
        Auto::default().solve_condensed(&global, &stored, rows_of_mut(&mut r), &Goal::default());
    assert!(matches!(result, Err(ProblemError::Length { .. })));
    assert_eq!(r, [DVec3::ONE; 6]);
}

/// Sweeps continue where nothing is left for Newton, or all of it is too expensive.
#[test]
fn newton_cost_is_finite_if_and_only_if_an_affordable_island_is_unsolved() {
    let owned = OwnedProblem::random(5, 10, 20);
    let problem = owned.view();
    let goal = Goal::scaled(1e-6);
    let cost = |impulse: &[DVec3]| {
        let mut space = BodySpace::default();
        HardIslands::default().newton_cost(&problem, &mut space, &goal, impulse, None)
    };
    let mut impulse = vec![DVec3::ZERO; 20];
    let unsolved = cost(&impulse);
    assert!(unsolved > 0.0 && unsolved.is_finite(), "{unsolved}");
    let report = Auto::default()
        .solve_factored(
            &problem,
            rows_of_mut(&mut impulse),
            &mut Vec::new(),
            &Goal::scaled(1e-8),
        )
        .unwrap();
    assert!(report.converged());
    assert!(cost(&impulse).is_infinite());
}

/// A block of `n³` balls of 1 kg that touch each other, on a floor, with a ball of 10 t on one of its columns.
fn burdened_block(n: usize) -> OwnedProblem {
    let ball = |mass: f64| InverseMass {
        linear: 1.0 / mass,
        angular: DMat3::from_diagonal(DVec3::splat(10.0 / mass)),
    };
    let falls = WorldTwist {
        linear: -0.05 * DVec3::Z,
        angular: DVec3::ZERO,
    };
    let mut problem = OwnedProblem {
        inverse_mass: vec![InverseMass::FIXED],
        free_twist: vec![WorldTwist::default()],
        contacts: Vec::new(),
    };
    let frames = [
        DMat3::IDENTITY,
        DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X),
        DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y),
    ];
    let mut join = |above: usize, below: usize, frame: DMat3| {
        let normal = frame.x_axis;
        let arm = if below == 0 { 0.0 } else { 0.5 };
        problem.contacts.push(Contact {
            bodies: [above as u32, below as u32],
            frame,
            arms: [-0.5 * normal, arm * normal],
            offset: DVec3::ZERO,
            friction: 0.5,
        });
    };
    let number = |[x, y, z]: [usize; 3]| 1 + x + n * (y + n * z);
    for place in 0..n * n * n {
        let at = [place % n, place / n % n, place / (n * n)];
        for axis in 0..3 {
            let mut other = at;
            if at[axis] > 0 {
                other[axis] -= 1;
                join(number(at), number(other), frames[axis]);
            } else if axis == 2 {
                join(number(at), 0, frames[2]);
            }
        }
    }
    let heavy = 1 + n * n * n;
    join(heavy, number([n / 2, n / 2, n - 1]), frames[2]);
    let masses = (1..=heavy).map(|j| ball(if j == heavy { 1e4 } else { 1.0 }));
    problem.inverse_mass.extend(masses);
    problem.free_twist.resize(heavy + 1, falls);
    problem
}

/// Only one column of a large block is hard, and Newton on the whole block is too expensive.
#[test]
fn clusters_of_an_island_too_large_for_newton_are_solved_by_newton() {
    let owned = burdened_block(9);
    let problem = owned.view();
    let goal = Goal::scaled(1e-6);
    let (report, r) = solve_factored(&mut Auto::default(), &owned, &goal);
    assert!(
        report.converged() && report.factorizations > 0,
        "{report:?}"
    );
    let judged = natural_map::factored(&problem, rows_of(&r), &mut Vec::new());
    assert_eq!(judged, report.residual);

    let mut sweeps = Auto::default();
    sweeps.settings.max_factorizations = 0;
    sweeps.settings.first.max_sweeps = report.iterations;
    let (without, r) = solve_factored(&mut sweeps, &owned, &goal);
    assert!(!without.converged(), "{without:?}");

    let (mut hard, mut space) = (HardIslands::default(), BodySpace::default());
    let mut cost = |reach| hard.newton_cost(&problem, &mut space, &goal, &r, reach);
    assert!(cost(None).is_infinite());
    assert!(cost(Some(1)) < 100.0);
}

/// Clusters of the one must not keep Newton from the other.
#[test]
fn an_island_too_large_for_newton_and_a_small_one_are_solved_together() {
    let mut owned = burdened_block(9);
    let small = OwnedProblem::random(5, 10, 20);
    let first = owned.inverse_mass.len() as u32;
    owned.inverse_mass.extend(&small.inverse_mass);
    // Its energy is that of the block.
    owned
        .free_twist
        .extend(small.free_twist.iter().map(|twist| WorldTwist {
            linear: 10.0 * twist.linear,
            angular: 10.0 * twist.angular,
        }));
    owned
        .contacts
        .extend(small.contacts.iter().map(|contact| Contact {
            bodies: contact.bodies.map(|j| first + j),
            ..*contact
        }));
    let (mut hard, mut space) = (HardIslands::default(), BodySpace::default());
    let impulse = vec![DVec3::ZERO; owned.contacts.len()];
    hard.newton_cost(
        &owned.view(),
        &mut space,
        &Goal::scaled(1e-6),
        &impulse,
        Some(1),
    );
    assert!(hard.clustered);
    let last = owned.contacts.len() - 20;
    assert!((last..last + 20).all(|k| hard.is_in_part(k)));
    let goal = Goal::scaled(1e-6);
    let (report, _) = solve_factored(&mut Auto::default(), &owned, &goal);
    assert!(report.converged(), "{report:?}");
}
