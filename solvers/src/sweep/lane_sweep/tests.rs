//! Lanes against the one-contact solve, and what the bits of a sweep may not depend on.

use super::*;
use crate::problem::InverseMass;
use crate::random::{OwnedProblem, Random, random_contact};
use crate::{Goal, Momentum, Nsgs, NsgsSettings, OneContact, Solver, rows_of_mut};
use glam::DMat3;

/// `pairs` pairs of free bodies, each with the numbers of contacts that `points` gives, on no other body.
fn separate_pairs(seed: u64, pairs: usize, points: impl Fn(usize) -> usize) -> OwnedProblem {
    let mut owned = OwnedProblem::random(seed, 2 * pairs + 1, 0);
    let mut random = Random::new(seed + 100);
    for pair in 0..pairs {
        for _ in 0..points(pair) {
            let contact = random_contact(&mut random, [2 * pair + 1, 2 * pair + 2]);
            owned.contacts.push(contact);
        }
    }
    owned
}

/// Turns every body into a ball of inertia `0.4/(1/m)` with arms along the normal.
fn into_balls(owned: &mut OwnedProblem) {
    for mass in &mut owned.inverse_mass[1..] {
        mass.angular = DMat3::from_diagonal(DVec3::splat(2.5 * mass.linear));
    }
    for contact in &mut owned.contacts {
        contact.arms = [-1.0, 1.2].map(|radius| contact.frame.x_axis * radius);
    }
}

fn sweep_twice(owned: &OwnedProblem, simd: bool) -> (Residual, Vec<DVec3>) {
    let (problem, mut space) = (owned.view(), LaneWorkspace::default());
    let start = vec![DVec3::ZERO; owned.contacts.len()];
    let mut sweep = LaneSweep::new(&problem, &mut space, &start, false, simd).unwrap();
    sweep.sweep(Stride::PLAIN);
    sweep.sweep(Stride::PLAIN);
    let residual = sweep.residual();
    (residual, sweep.impulse().to_vec())
}

/// Contacts that share no body with others are solved exactly by two visits, and as the scalar solve does:
/// both end at rounding, 1e-12 leaves room for blocks of condition 100.
#[test]
fn separate_contacts_get_the_impulse_of_the_one_contact_solve() {
    for seed in 0..40 {
        let mut owned = separate_pairs(seed, 21, |_| 1);
        for kind in ["full blocks", "balls"] {
            if kind == "balls" {
                into_balls(&mut owned);
            }
            if seed % 4 == 0 {
                owned.contacts.iter_mut().for_each(|c| c.friction *= 3.0);
            }
            let (residual, impulse) = sweep_twice(&owned, true);
            assert!(residual.scaled <= 1e-13, "{kind} {seed}: {residual:?}");
            for (contact, r) in owned.contacts.iter().zip(impulse) {
                let [a, b] = contact.bodies.map(|j| j as usize);
                let (masses, free) = (&owned.inverse_mass, &owned.free_twist);
                let block = contact.local_block(&masses[a], &masses[b]);
                let q = contact.local_velocity(&free[a], &free[b]) + contact.offset;
                let expected = OneContact::new(&block).solve(q, contact.friction);
                let error = (r - expected).length();
                assert!(
                    error <= 1e-12 * (1.0 + expected.length()),
                    "{kind} {seed}: {r} {expected}"
                );
            }
        }
    }
}

/// All numbers of points, lanes that are not full, and more points than a visit takes.
#[test]
fn pairs_of_any_number_of_points_converge() {
    let owned = separate_pairs(5, 29, |pair| 1 + pair % 6);
    let (problem, mut space) = (owned.view(), LaneWorkspace::default());
    let start = vec![DVec3::ZERO; owned.contacts.len()];
    let mut sweep = LaneSweep::new(&problem, &mut space, &start, false, true).unwrap();
    let first = sweep.residual().scaled;
    for _ in 0..20_000 {
        sweep.sweep(Stride::PLAIN);
    }
    let last = sweep.residual().scaled;
    assert!(first > 0.1 && last <= 1e-10, "{first} {last}");
}

#[test]
fn the_bits_do_not_depend_on_the_instruction_set() {
    for seed in 0..5 {
        let mut owned = OwnedProblem::random(seed, 300, 900);
        for half in 0..2 {
            if half == 1 {
                into_balls(&mut owned);
            }
            let bits = |simd| {
                let (residual, impulse) = sweep_twice(&owned, simd);
                let impulse: Vec<_> = impulse
                    .iter()
                    .map(|r| r.to_array().map(f64::to_bits))
                    .collect();
                (residual.scaled.to_bits(), impulse)
            };
            assert_eq!(bits(true), bits(false));
        }
    }
}

/// Empty lanes compute with a row that never changes; a velocity that is none must not spread.
#[test]
fn an_infinite_velocity_stays_with_its_bodies() {
    let mut owned = separate_pairs(8, 5, |_| 1);
    owned.free_twist[1].linear.x = f64::INFINITY;
    let (_, impulse) = sweep_twice(&owned, true);
    owned.free_twist[1].linear.x = 0.0;
    let (_, expected) = sweep_twice(&owned, true);
    assert_eq!(impulse[1..], expected[1..]);
}

/// A row of bodies with contacts to the next two, on a ground that moves.
fn long_row(bodies: usize) -> OwnedProblem {
    let mut owned = OwnedProblem::random(4, bodies, 0);
    let mut random = Random::new(77);
    owned.free_twist[0].linear = DVec3::new(0.1, 0.0, 0.0);
    owned.inverse_mass[0] = InverseMass::FIXED;
    for j in 1..bodies {
        for other in [0, j + 1, j + 2] {
            if other < bodies {
                let contact = random_contact(&mut random, [j.min(other), j.max(other)]);
                owned.contacts.push(contact);
            }
        }
    }
    owned
}

#[test]
fn a_round_has_no_slab_twice_and_units_share_out_the_contacts() {
    let owned = long_row(5_000);
    let (problem, mut space) = (owned.view(), LaneWorkspace::default());
    let start = vec![DVec3::ZERO; owned.contacts.len()];
    let _ = LaneSweep::new(&problem, &mut space, &start, false, true).unwrap();
    let cut = &space.cut;
    assert!(cut.len() > 3, "{}", cut.len());
    for round in &cut.rounds {
        let mut slabs: Vec<u32> = round.iter().flat_map(|task| task.slabs).collect();
        // The last slab has no next one.
        let twice = round.iter().filter(|task| task.slabs[0] == task.slabs[1]);
        let count = slabs.len() - twice.count();
        slabs.sort_unstable();
        slabs.dedup();
        assert_eq!(slabs.len(), count);
    }
    let mut first: Vec<u32> = cut.rounds[0].iter().flat_map(|task| task.slabs).collect();
    first.sort_unstable();
    assert!(first.into_iter().eq(0..cut.len() as u32));
    let tasks = cut.rounds.iter().flatten();
    let mut units: Vec<u32> = tasks
        .flat_map(|task| task.inside.into_iter().chain(task.between))
        .collect();
    units.sort_unstable();
    assert!(units.into_iter().eq(0..cut.units.len() as u32));
    let mut seen = vec![0; owned.contacts.len()];
    for (unit, slabs) in space.units.iter().zip(&cut.units) {
        for member in &lock(unit).members {
            let first = member.contact as usize;
            let own = first..first + member.points as usize;
            for (contact, seen) in own.clone().zip(&mut seen[own]) {
                *seen += 1;
                let bodies = owned.contacts[contact].bodies.iter().filter(|j| **j != 0);
                let mut own = bodies.map(|j| cut.slab_of(*j));
                assert!(own.all(|slab| slabs.contains(&slab)));
            }
        }
    }
    assert!(seen.iter().all(|count| *count == 1));
}

/// The layout follows the positions; the sweeps converge in both.
#[test]
fn positions_change_the_layout_and_not_the_problem() {
    let owned = long_row(3_000);
    let mut random = Random::new(1);
    let positions: Vec<DVec3> = owned.free_twist.iter().map(|_| random.vector()).collect();
    let solve = |positions: &[DVec3]| {
        let problem = FactoredProblem {
            positions,
            pull: &[],
            ..owned.view()
        };
        let mut space = LaneWorkspace::default();
        let start = vec![DVec3::ZERO; owned.contacts.len()];
        let mut sweep = LaneSweep::new(&problem, &mut space, &start, false, true).unwrap();
        for _ in 0..400 {
            sweep.sweep(Stride::PLAIN);
        }
        (sweep.residual().scaled, sweep.impulse().to_vec())
    };
    let ((first, r), (second, s)) = (solve(&[]), solve(&positions));
    assert!(first <= 1e-3 && second <= 1e-3, "{first} {second}");
    assert_ne!(r, s);
}

#[test]
fn fetching_ahead_changes_no_bit() {
    let mut owned = long_row(400);
    into_balls(&mut owned);
    let solve = |far: bool| {
        let (problem, mut space) = (owned.view(), LaneWorkspace::default());
        let start = vec![DVec3::ZERO; owned.contacts.len()];
        let mut sweep = LaneSweep::new(&problem, &mut space, &start, false, true).unwrap();
        sweep.far = far;
        for _ in 0..20 {
            sweep.sweep(Stride {
                beta: 0.5,
                normal: 0.7,
            });
        }
        sweep.residual();
        sweep.impulse().to_vec()
    };
    let near = solve(false);
    assert!(near.iter().any(|r| *r != DVec3::ZERO));
    assert_eq!(near, solve(true));
}

/// Sweeps with whole and with careful normal corrections end at the same impulses, here those of single contacts: of
/// balls, of bodies of any shape, and on stored blocks.
#[test]
fn careful_sweeps_have_the_same_fixed_points() {
    let any_shape = separate_pairs(3, 40, |_| 1);
    let mut balls = separate_pairs(3, 40, |_| 1);
    into_balls(&mut balls);
    for owned in [any_shape, balls] {
        let problem = owned.view();
        let start = vec![DVec3::ZERO; owned.contacts.len()];
        let mut space = LaneWorkspace::default();
        let mut end = |stride: Stride, sweeps: usize| {
            let mut sweep = LaneSweep::new(&problem, &mut space, &start, false, true).unwrap();
            for _ in 0..sweeps {
                sweep.sweep(stride);
            }
            let scaled = sweep.residual().scaled;
            (scaled, sweep.impulse().to_vec())
        };
        let careful = Stride {
            normal: 0.4,
            ..Stride::PLAIN
        };
        let (_, whole) = end(Stride::PLAIN, 2);
        // 0.6 of the error is left after every sweep.
        let (after_one, _) = end(careful, 1);
        let (after_all, careful) = end(careful, 80);
        assert!(after_one > 1e-3, "{after_one}");
        assert!(after_all < 1e-14, "{after_all}");
        let mut solver = Nsgs::new(NsgsSettings {
            momentum: Momentum {
                normal: 0.4,
                turns_after: None,
                ..Momentum::CAPPED
            },
            ..NsgsSettings::default()
        });
        let mut stored = vec![DVec3::ZERO; owned.contacts.len()];
        let goal = Goal::scaled(1e-14);
        let report = solver.solve(&problem.assemble(), rows_of_mut(&mut stored), &goal);
        assert!(report.unwrap().converged());
        for ((a, b), c) in whole.iter().zip(&careful).zip(&stored) {
            for other in [b, c] {
                assert!((*a - *other).length() <= 1e-13 * a.length(), "{a} {other}");
            }
        }
    }
}
