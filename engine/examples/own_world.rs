//! The step in a world and a schedule of your own, with a system that makes the floor icy beyond a line.
//!
//! `cargo run --release -p moreau --example own_world`

#![expect(clippy::print_stdout, reason = "an example prints")]

use bevy_ecs::prelude::*;
use moreau::bevy_ecs;
use moreau::prelude::*;

/// Where the ice begins, m.
#[derive(Resource)]
struct Ice {
    from: f64,
}

fn make_icy(mut step: ResMut<StepState>, ice: Res<Ice>) -> Result<(), BevyError> {
    step.interactions().retain(|contact, law| {
        if contact.point.x > ice.from {
            law.friction = 0.0;
        }
        true
    })?;
    Ok(())
}

fn main() -> Result<(), StepError> {
    let (mut world, mut schedule) = (World::new(), Schedule::default());
    moreau::install(&mut world, &mut schedule, Settings::default())?;
    world.insert_resource(Ice { from: 1.0 });
    schedule.add_systems(make_icy.in_set(StepPhase::Edit));
    world.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)));
    let box_at = |y: f64, speed: f64| {
        (
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            Pose::at(0.0, y, 0.1),
            Twist::linear(speed, 0.0, 0.0),
        )
    };
    let boxes = [2.0, 5.0].map(|speed| world.spawn(box_at(speed, speed)).id());
    for _ in 0..800 {
        schedule.run(&mut world);
        if let Some(error) = world.resource::<StepOutcome>().error() {
            println!("the step failed: {error}");
        }
    }
    for body in boxes {
        let (pose, twist) = (world.get::<Pose>(body), world.get::<Twist>(body));
        if let (Some(pose), Some(twist)) = (pose, twist) {
            let (x, v) = (pose.position.x, twist.linear.x);
            println!("a box is at {x:.3} m and moves at {v:.3} m/s");
        }
    }
    Ok(())
}
