//! Ten cubes on a floor: they stand, and every step says how well it is solved.
//!
//! `cargo run --release -p moreau --example hello_stack`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;

fn main() -> Result<(), StepError> {
    let mut simulation = Simulation::new(Settings::default())?;
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    // Clones of a collider share its shape.
    let cube = Collider::cuboid(0.1, 0.1, 0.1);
    let at = |k: u32| Pose::at(0.0, 0.0, 0.1 + 0.2 * f64::from(k));
    let cubes = (0..10).map(|k| (RigidBody::Dynamic, cube.clone(), at(k)));
    let cubes = simulation.spawn_batch(cubes)?;
    let mut worst: f64 = 0.0;
    while simulation.time() < 5.0 {
        let report = simulation.step()?;
        worst = worst.max(report.e_scaled);
    }
    let top = simulation.pose(cubes[9]).map(|pose| pose.position);
    let sleeping = cubes.iter().filter(|cube| simulation.is_sleeping(**cube));
    println!(
        "the top is at {top:?}, {} of 10 sleep, worst residual {worst:.1e}",
        sleeping.count()
    );
    Ok(())
}
