//! A belt carries crates up to a one-way flap, which lets them through and not back.
//!
//! `cargo run --release -p moreau --example conveyor`

#![expect(clippy::print_stdout, reason = "an example prints")]

use bevy_ecs::prelude::*;
use moreau::bevy_ecs;
use moreau::prelude::*;

const BELT: BodyId = BodyId(0);
const FLAP: BodyId = BodyId(1);

/// The surface of the belt runs at 1 m/s along x where something lies on it.
fn run_belt(mut step: ResMut<StepState>) -> Result<(), BevyError> {
    step.interactions().retain(|contact, law| {
        law.surface_velocity += contact.carried_by(BELT, DVec3::X);
        true
    })?;
    Ok(())
}

/// What comes to the flap along x passes it: only contacts that push a body along x act.
fn open_flap(mut step: ResMut<StepState>) -> Result<(), BevyError> {
    step.interactions().retain(|contact, _| {
        let pushed_along_x = match contact.bodies {
            [FLAP, _] => -contact.normal.x,
            [_, FLAP] => contact.normal.x,
            _ => return true,
        };
        // A body that is still within the flap is let out.
        pushed_along_x > 0.5 && contact.gap > -0.01
    })?;
    Ok(())
}

fn main() -> Result<(), StepError> {
    let mut simulation = Simulation::new(Settings::default())?;
    simulation
        .schedule_mut()
        .add_systems((run_belt, open_flap).chain().in_set(StepPhase::Edit));
    let belt = (
        RigidBody::Static,
        Collider::cuboid(2.0, 0.5, 0.1),
        Pose::at(0.0, 0.0, -0.1),
        BELT,
    );
    simulation.spawn(belt)?;
    let flap = (
        RigidBody::Static,
        Collider::cuboid(0.02, 0.5, 0.5),
        Pose::at(1.0, 0.0, 0.5),
        FLAP,
    );
    simulation.spawn(flap)?;
    let box_at = |x: f64| {
        (
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            Pose::at(x, 0.0, 0.1),
        )
    };
    let mut crates = Vec::new();
    for x in [-1.5, -0.5] {
        crates.push(simulation.spawn(box_at(x))?);
    }
    // One is thrown back at the flap from behind.
    let thrown = simulation.spawn((box_at(1.6), Twist::linear(-4.0, 0.0, 0.0)))?;
    let mut least = f64::INFINITY;
    while simulation.time() < 2.2 {
        simulation.step()?;
        let at = simulation.pose(thrown).map_or(0.0, |pose| pose.position.x);
        least = least.min(at);
    }
    for body in &crates {
        let at = simulation.pose(*body).map(|pose| pose.position.x);
        let speed = simulation.twist(*body).map(|twist| twist.linear.x);
        println!("a crate is at {at:.3?} m, at {speed:.3?} m/s");
    }
    println!("the thrown one got back to {least:.3} m; the flap ends at 1.02 m");
    Ok(())
}
