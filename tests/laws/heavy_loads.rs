//! **Law.** Light bodies under heavy ones stand, and where the solver does not manage that, the step says so.
//!
//! With the default accuracy every island is solved to 0.01 `g h` of velocity: 0.5 mm/s at 1/200 s in the worst case, all errors in one
//! direction. They have no direction in what stands still: less than 1 mm in 10 s, a thousandth of a cube's edge.

use crate::support::*;

/// Cubes of one metre on the ground, the topmost `ratio` times as heavy as the others. Returns what moves farthest (m) in
/// `duration` seconds, the steps that were not solved, and all steps.
fn stack(count: usize, ratio: f64, duration: f64) -> (f64, usize, usize) {
    let mut simulation = Simulation::new(Settings {
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    })
    .unwrap();
    ground(&mut simulation, Material::default());
    for k in 0..=count {
        let density = if k == count { 1000.0 * ratio } else { 1000.0 };
        let material = Material {
            density,
            ..Material::default()
        };
        let at = DVec3::Z * (k as f64 + 0.5);
        let cube = (
            RigidBody::Dynamic,
            Collider::cuboid(0.5, 0.5, 0.5),
            material,
            Pose::from_position(at),
        );
        simulation.spawn(cube).unwrap();
    }
    let start = positions(&mut simulation);
    let (mut missed, mut steps, mut sweeps, mut newton) = (0, 0, 0, 0);
    while simulation.time() < duration - 1e-9 {
        let report = simulation.step().unwrap();
        missed += usize::from(!report.converged);
        sweeps += report.sweeps;
        newton += report.factorizations;
        steps += 1;
    }
    let moved = displacement(&simulation, &start);
    println!(
        "{count} under {ratio:e}: {moved:e} m, {missed} of {steps} missed, {} sweeps a step, {newton} factorizations",
        sweeps / steps
    );
    (moved, missed, steps)
}

#[test]
fn ten_cubes_carry_a_thousand_times_their_mass() {
    let (moved, missed, _) = stack(10, 1e3, 10.0);
    assert!(moved < 1e-3 && missed == 0, "{moved:e} m, {missed} steps");
}

#[test]
fn six_cubes_carry_a_thousand_and_a_hundred_thousand_times_their_mass() {
    for ratio in [1e3, 1e5] {
        let (moved, missed, _) = stack(6, ratio, 10.0);
        assert!(
            moved < 1e-3 && missed == 0,
            "{ratio:e}: {moved:e} m, {missed} steps"
        );
    }
}

#[test]
fn six_cubes_under_ten_million_times_their_mass_do_not_fall_silently() {
    let (moved, missed, _) = stack(6, 1e7, 2.0);
    assert!(moved < 1e-3 || missed > 0, "{moved:e} m, {missed} steps");
}

/// A plate 1e5 times as heavy as the hundred balls together.
#[test]
fn a_plate_lies_on_a_hundred_balls() {
    let mut simulation = Simulation::new(Settings {
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    })
    .unwrap();
    ground(&mut simulation, Material::default());
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    for k in 0..100 {
        let at = DVec3::new(0.25 * (k % 10) as f64, 0.25 * (k / 10) as f64, 0.1);
        let ball = (
            RigidBody::Dynamic,
            Collider::sphere(0.1),
            Material::default(),
            Pose::from_position(at),
        );
        simulation.spawn(ball).unwrap();
    }
    let half = DVec3::new(1.3, 1.3, 0.1);
    let density = 1e7 * 1000.0 * volume / (8.0 * half.x * half.y * half.z);
    let plate = (
        RigidBody::Dynamic,
        Collider::cuboid(half.x, half.y, half.z),
        Material {
            density,
            ..Material::default()
        },
        Pose::at(1.125, 1.125, 0.3),
    );
    let plate = simulation.spawn(plate).unwrap();
    let (mut missed, mut deepest, mut sweeps): (usize, f64, usize) = (0, 0.0, 0);
    for _ in 0..600 {
        let report = simulation.step().unwrap();
        missed += usize::from(!report.converged);
        deepest = deepest.max(report.max_penetration);
        sweeps += report.sweeps;
    }
    let z = simulation.pose(plate).unwrap().position.z;
    println!(
        "{missed} missed, {deepest:e} m deep, plate at {z}, {} sweeps a step",
        sweeps / 600
    );
    assert!(
        missed == 0 && deepest < 1e-3,
        "{missed} steps, {deepest:e} m"
    );
}

/// A tower of bodies that are 0.2 m high (planks: 4 cm), the masses (kg) from below, for some seconds in steps of such a length. Returns what moves farthest (m), the steps
/// that were not solved, and those said to have no solution.
fn tower(
    shape: &Collider,
    height: f64,
    masses: &[f64],
    (duration, time_step): (f64, f64),
) -> (f64, usize, usize) {
    let mut simulation = Simulation::new(Settings {
        sleeping: SleepSettings::OFF,
        time_step,
        ..Settings::default()
    })
    .unwrap();
    ground(&mut simulation, Material::with_friction(0.5));
    let volume = shape.geometry().unwrap().mass_properties(1.0).unwrap().mass;
    for (k, mass) in masses.iter().enumerate() {
        let material = Material {
            density: mass / volume,
            ..Material::with_friction(0.5)
        };
        let at = DVec3::Z * height * (k as f64 + 0.5);
        let pose = Pose::from_position(at);
        simulation
            .spawn((RigidBody::Dynamic, shape.clone(), material, pose))
            .unwrap();
    }
    let start = positions(&mut simulation);
    let (mut missed, mut without) = (0, 0);
    for _ in 0..(duration / time_step).round() as usize {
        let report = simulation.step().unwrap();
        missed += usize::from(!report.converged);
        without += usize::from(report.status.is_without_solution());
    }
    let moved = displacement(&simulation, &start);
    println!("{masses:?} kg at {time_step} s: {moved:e} m, {missed} missed, {without} without");
    (moved, missed, without)
}

/// Masses that grow in proportion from 1 kg upwards to `top`.
fn growing(count: u32, top: f64) -> Vec<f64> {
    let part = |k| f64::from(k) / f64::from(count - 1);
    (0..count).map(|k| libm::pow(top, part(k))).collect()
}

/// Short steps take long: towers of ten make them too.
fn time_steps(count: u32) -> &'static [f64] {
    let all = &[1.0 / 60.0, 1.0 / 200.0];
    if count == 10 { all } else { &all[..1] }
}

fn hexagonal() -> Collider {
    let corner = |k: u32| {
        let (sin, cos) = libm::sincos(f64::from(k % 6) * std::f64::consts::FRAC_PI_3);
        DVec3::new(0.1 * cos, 0.1 * sin, if k < 6 { -0.1 } else { 0.1 })
    };
    Collider::convex_hull((0..12).map(corner).collect())
}

/// No body presses on one that is a hundred times as light, but the lowest carries 1,900 times its weight.
#[test]
fn towers_of_masses_that_grow_upwards_stand() {
    let shapes = [
        (Collider::cuboid(0.1, 0.1, 0.1), 0.2),
        (Collider::cuboid(0.3, 0.2, 0.02), 0.04),
        (Collider::cylinder(0.1, 0.1), 0.2),
        (hexagonal(), 0.2),
    ];
    for (shape, height) in &shapes {
        for (count, top) in [(6, 1e3), (10, 10.0), (10, 1e3), (20, 1e3)] {
            for time_step in time_steps(count) {
                let masses = growing(count, top);
                let (moved, missed, _) = tower(shape, *height, &masses, (10.0, *time_step));
                assert!(moved < 1e-3 && missed == 0, "{moved:e} m, {missed} steps");
            }
        }
    }
}

/// What rests has a solution, however far the solver is from it.
#[test]
fn no_stack_at_rest_is_said_to_have_no_solution() {
    let cube = Collider::cuboid(0.1, 0.1, 0.1);
    let masses = [1.0, 1.0, 1.0, 1.0, 1.0, 1e7];
    let (moved, missed, without) = tower(&cube, 0.2, &masses, (2.0, 1.0 / 60.0));
    assert!(moved < 1e-3 || missed > 0, "{moved:e} m, {missed} steps");
    assert_eq!(without, 0);
}

/// No contact carries more than 19 times the weight of its bodies: what is left in a step does not add up.
#[test]
fn towers_of_equal_masses_do_not_creep() {
    let shapes = [
        (Collider::cuboid(0.1, 0.1, 0.1), 0.2),
        (Collider::cuboid(0.3, 0.2, 0.02), 0.04),
        (Collider::cylinder(0.1, 0.1), 0.2),
        (hexagonal(), 0.2),
    ];
    for (shape, height) in &shapes {
        for count in [2, 5, 10, 20] {
            for time_step in time_steps(count) {
                let masses = vec![1.0; count as usize];
                let (moved, missed, _) = tower(shape, *height, &masses, (10.0, *time_step));
                assert!(moved < 1e-3 && missed == 0, "{moved:e} m, {missed} steps");
            }
        }
    }
}

/// A budget of block products is enough for what rests: ten cubes of 20 cm at 60 Hz stand for a minute with the preset for games. A contact
/// gives way by less than the tolerance of the projection, and a tower of ten leans by less than its contacts may.
#[test]
fn a_tower_stands_within_the_budget_of_games() {
    let settings = Settings {
        time_step: 1.0 / 60.0,
        accuracy: Accuracy::Interactive,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let material = Material::with_friction(0.5);
    ground(&mut simulation, material);
    let place = |k: u32| DVec3::Z * (0.1 + 0.2 * f64::from(k));
    let cubes: Vec<_> = (0..10)
        .map(|k| {
            let pose = Pose::from_position(place(k));
            let cube = Collider::cuboid(0.1, 0.1, 0.1);
            let cube = (RigidBody::Dynamic, cube, material, pose);
            simulation.spawn(cube).unwrap()
        })
        .collect();
    for _ in 0..3600 {
        simulation.step().unwrap();
    }
    for (k, cube) in (0_u32..).zip(&cubes) {
        let moved = simulation.pose(*cube).unwrap().position - place(k);
        let contacts = f64::from(k + 1);
        let most = 2.0 * simulation.settings().projection.tolerance * contacts * contacts;
        println!("{k} {moved}");
        assert!(moved.length() <= most, "{k} moved by {moved}, {most}");
    }
}
