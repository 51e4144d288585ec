//! **Law.** A tower of cubes stands, whatever their masses: the equilibrium is one of statics, and its margin is half an edge. Each is twice as heavy as the
//! one below it, ten of them are 1 : 512. Within the budget of games it sinks and leans by no more than a percent of an edge, as towers of equal masses do.

use crate::support::*;

const HALF: f64 = 0.1;

#[test]
fn a_tower_whose_masses_double_upwards_stands_within_the_budget_of_games() {
    for (h, count, ratio) in [
        (1.0 / 60.0, 10, 2.0_f64),
        (1.0 / 200.0, 10, 2.0),
        (1.0 / 60.0, 5, 10.0),
    ] {
        let mut simulation = Simulation::new(Settings {
            time_step: h,
            accuracy: Accuracy::Interactive,
            sleeping: SleepSettings::OFF,
            threads: 1,
            ..Settings::default()
        })
        .unwrap();
        let material = Material::with_friction(0.5);
        ground(&mut simulation, material);
        let cubes: Vec<Entity> = (0..count)
            .map(|level| {
                let cube = (
                    RigidBody::Dynamic,
                    Collider::cuboid(HALF, HALF, HALF),
                    Mass::scaled_to(ratio.powi(level)),
                    material,
                    Pose::at(0.0, 0.0, HALF * f64::from(2 * level + 1)),
                );
                simulation.spawn(cube).unwrap()
            })
            .collect();
        while simulation.time() < 10.0 {
            simulation.step().unwrap();
        }
        for (level, cube) in (0..).zip(cubes) {
            let at = DVec3::Z * (HALF * f64::from(2 * level + 1));
            let moved = (simulation.pose(cube).unwrap().position - at).length();
            assert!(moved < 0.02 * HALF, "h {h}, 1 : {ratio}: {moved} m");
        }
    }
}

/// **Law.** What does not touch has nothing to do with each other: thirty columns of three cubes of 1 : 1000 : 1e6 in any order, a centimetre apart, stand as each does alone, in
/// steps that are solved.
#[test]
fn columns_beside_each_other_stand_as_one_alone() {
    const STEPS: usize = 40;
    let tilts = |columns: i32| {
        let mut simulation = Simulation::new(Settings {
            sleeping: SleepSettings::OFF,
            threads: 1,
            ..Settings::default()
        })
        .unwrap();
        ground(&mut simulation, Material::default());
        let mut cubes = Vec::new();
        for column in 0..columns {
            for level in 0..3 {
                let mass = 1000.0_f64.powi((column + level) % 3 - 1);
                let (x, y) = (f64::from(column % 10), f64::from(column / 10));
                let z = HALF * f64::from(2 * level + 1);
                let cube = (
                    RigidBody::Dynamic,
                    Collider::cuboid(HALF, HALF, HALF),
                    Mass::scaled_to(mass),
                    Pose::at(2.1 * HALF * x, 2.1 * HALF * y, z),
                );
                cubes.push(simulation.spawn(cube).unwrap());
            }
        }
        for step in 0..STEPS {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{columns} columns, step {step}");
        }
        let tilt = |cube: &Entity| simulation.pose(*cube).unwrap().orientation.xyz().length();
        cubes.iter().map(tilt).fold(0.0, f64::max)
    };
    // What is left of a step may turn a cube by its velocity over an edge, each step anew.
    let settings = Settings::default();
    let bound = STEPS as f64
        * settings.time_step
        * settings.gravity.length()
        * settings.time_step
        * settings.tolerance()
        / HALF;
    for columns in [3, 30] {
        let tilt = tilts(columns);
        assert!(tilt <= bound, "{columns} columns: {tilt} of {bound}");
    }
}
