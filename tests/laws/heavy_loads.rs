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
