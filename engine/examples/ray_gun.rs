//! A gun that shoots rays at a wall of crates: what is hit is pushed where it is hit.
//!
//! ```sh
//! cargo run --release -p moreau --example ray_gun
//! ```

use moreau::prelude::*;
use std::error::Error;
use std::io::Write;

/// Momentum of a shot, N·s.
const PUSH: f64 = 40.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut simulation = Simulation::new(Settings::default())?;
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    let crate_ = Collider::cuboid(0.25, 0.25, 0.25);
    for row in 0..4 {
        for column in 0..5 {
            let place = Pose::at(
                5.0,
                0.5 * f64::from(column) - 1.0,
                0.25 + 0.5 * f64::from(row),
            );
            simulation.spawn((
                RigidBody::Dynamic,
                crate_.clone(),
                Mass::scaled_to(10.0),
                place,
            ))?;
        }
    }
    let mut out = std::io::stdout().lock();
    let muzzle = DVec3::new(0.0, 0.0, 1.2);
    for shot in 0..60 {
        // The gun swings from side to side.
        let ray = Ray::new(
            muzzle,
            DVec3::new(5.0, 1.5 * libm::sin(0.3 * f64::from(shot)), 0.0),
        )?;
        // Crates alone: shots into the floor do nothing.
        let crates = QueryFilter::new().only(&[RigidBody::Dynamic]);
        match simulation.queries()?.ray(&ray, &crates) {
            Some(hit) => {
                simulation.apply_impulse(hit.entity, ray.direction() * PUSH, hit.at.point)?;
                let (id, distance) = (hit.id, hit.at.distance);
                writeln!(out, "shot {shot:2}: crate {id} at {distance:.2} m")?;
            }
            None => writeln!(out, "shot {shot:2}: nothing")?,
        }
        for _ in 0..10 {
            simulation.step()?;
        }
    }
    Ok(())
}
