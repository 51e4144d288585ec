//! **Law.** What a step reports of itself is true: the momentum balance holds to rounding, impulses lie in their
//! cones, and the residuals are those of the problem and the impulses that the simulation hands out.
//!
//! A new velocity is the sum of the free one and of the body's impulses over its mass, in doubles: the balance
//! misses by a few ε of the largest impulse or momentum times the number of contacts of a body, some
//! tens. 1e-13 of the larger of the two is 450 ε. An impulse on the boundary of its cone misses it by the rounding
//! of a norm, 4 ε of itself. The residual is the same function of the same numbers: the same bits. The stored
//! form rounds `W r` otherwise, by about 1e-15 of the largest term: 1e-12 of 1.

use crate::support::*;
use moreau::solvers::{natural_map, rows_of};

/// Bodies of many shapes, thrown into a box with friction and restitution.
fn messy(settings: Settings) -> Simulation {
    let mut simulation = Simulation::new(settings).unwrap();
    let material = |i: usize| Material {
        density: 200.0 * (1 + i % 7) as f64,
        friction: 0.2 * (i % 5) as f64,
        restitution: 0.3 * (i % 3) as f64,
        frictionless: i % 11 == 3,
        ..Material::default()
    };
    closed_box(&mut simulation, 0.8, material(2));
    let mut random = Lcg::new(5);
    for i in 0..27 {
        let cell = DVec3::new((i % 3) as f64, (i / 3 % 3) as f64, (i / 9) as f64) - 1.0;
        let shape = match i % 5 {
            0 => Collider::sphere(0.15),
            1 => Collider::cuboid(0.12, 0.15, 0.1),
            2 => Collider::capsule(0.1, 0.08),
            3 => Collider::cylinder(0.1, 0.12),
            _ => Collider::cone(0.12, 0.12),
        };
        let body = (
            RigidBody::Dynamic,
            shape,
            material(i),
            Pose::from_position(cell * 0.48).with_orientation(random.rotation()),
            Twist {
                linear: random.symmetric_vector() * 3.0,
                angular: random.symmetric_vector() * 5.0,
            },
        );
        simulation.spawn(body).unwrap();
    }
    simulation
}

fn engineering() -> Settings {
    Settings {
        threads: 1,
        ..Settings::default()
    }
}

#[test]
fn momentum_and_cones_hold_to_rounding() {
    let mut simulation = messy(engineering());
    let bodies: Vec<Entity> = simulation
        .world_mut()
        .query::<(Entity, &RigidBody)>()
        .iter(simulation.world())
        .filter(|(_, kind)| **kind == RigidBody::Dynamic)
        .map(|(entity, _)| entity)
        .collect();
    let (mut closed, mut worst): (usize, [f64; 2]) = (0, [0.0; 2]);
    for step in 0..300 {
        let report = simulation.step().unwrap();
        closed += report.closed_contacts;
        let impulse = simulation
            .impulses()
            .iter()
            .fold(0.0_f64, |largest, r| largest.max(r.length()));
        let momentum = bodies.iter().fold(0.0_f64, |largest, body| {
            let m = mass(&simulation, *body).unwrap().mass();
            largest.max(m * simulation.twist(*body).unwrap().linear.length())
        });
        worst[0] = worst[0].max(report.momentum_residual / impulse.max(momentum));
        assert!(
            report.momentum_residual <= 1e-13 * impulse.max(momentum),
            "momentum misses by {:e} N·s of {impulse} and {momentum} in step {step}",
            report.momentum_residual
        );
        if impulse > 0.0 {
            worst[1] = worst[1].max(report.cone_violation / impulse);
        }
        assert!(
            report.cone_violation <= 4.0 * f64::EPSILON * impulse,
            "an impulse is {:e} N·s outside of its cone, of {impulse}",
            report.cone_violation
        );
    }
    assert!(closed > 3000, "only {closed} closed contacts");
    println!("worst: momentum {:e}, cone {:e}", worst[0], worst[1]);
}

#[test]
fn reported_residuals_match_the_public_problem_and_impulses() {
    let mut simulation = messy(engineering());
    let (mut twist, mut contacts, mut staged) = (Vec::new(), 0, 0);
    for step in 0..200 {
        let report = simulation.step().unwrap();
        let problem = simulation.problem().unwrap();
        let impulses = simulation.impulses();
        if report.stages == 0 {
            assert_eq!(problem.contacts.len(), report.contacts);
        }
        staged += usize::from(report.stages > 0);
        assert_eq!(impulses.len(), problem.contacts.len());
        contacts += report.contacts;
        let judged = natural_map::factored(&problem, rows_of(impulses), &mut twist);
        assert_eq!(judged.fclib.to_bits(), report.e_fclib.to_bits());
        assert_eq!(judged.scaled.to_bits(), report.e_scaled.to_bits());
        let stored = problem.assemble();
        stored.validate().unwrap();
        let stored = natural_map::stored(&stored, rows_of(impulses));
        assert!(
            (stored.scaled - judged.scaled).abs() <= 1e-12,
            "step {step}: e_scaled {:e} stored, {:e} factored",
            stored.scaled,
            judged.scaled
        );
        // In units of m: both norms weigh ‖F‖ with the mass at the contacts.
        assert!(
            (stored.fclib - judged.fclib).abs() <= 1e-12 * (1.0 + 1e3 * judged.fclib),
            "step {step}: e_fclib {:e} stored, {:e} factored",
            stored.fclib,
            judged.fclib
        );
    }
    assert!(contacts > 1000, "only {contacts} contacts");
    assert!(staged > 0, "no step had several stages");
}

#[test]
fn there_is_no_problem_before_the_first_and_after_a_failed_step() {
    let mut simulation = messy(engineering());
    assert!(simulation.problem().is_none() && simulation.impulses().is_empty());
    simulation.step().unwrap();
    assert!(simulation.problem().is_some());
    let good = simulation.settings();
    let bad = Settings {
        time_step: -1.0,
        ..good
    };
    simulation.world_mut().insert_resource(bad);
    simulation.step().unwrap_err();
    assert!(simulation.problem().is_none() && simulation.impulses().is_empty());
    simulation.set_settings(good).unwrap();
    simulation.step().unwrap();
    assert!(simulation.problem().is_some());
}

#[test]
fn a_simulation_whose_first_step_fails_has_no_problem() {
    let mut simulation = messy(engineering());
    let bad = Settings {
        margin: f64::NAN,
        ..engineering()
    };
    simulation.world_mut().insert_resource(bad);
    simulation.step().unwrap_err();
    assert!(simulation.problem().is_none() && simulation.impulses().is_empty());
}
