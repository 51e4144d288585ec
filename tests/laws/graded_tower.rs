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
