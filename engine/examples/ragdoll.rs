//! A ragdoll falls down a flight of stairs: balls and hinges with limits and friction, closed to rounding whatever hits it.
//!
//! `cargo run --release -p moreau --example ragdoll`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;

/// A limb: half-length and radius of its capsule (m), mass (kg), centre (m).
type Limb = (f64, f64, f64, DVec3);

fn limb(simulation: &mut Simulation, (half, radius, mass, at): Limb) -> Result<Entity, StepError> {
    simulation.spawn((
        RigidBody::Dynamic,
        Collider::capsule(half, radius),
        Mass::scaled_to(mass),
        Material::with_friction(0.4),
        Pose::from_position(at),
    ))
}

/// Muscle tone of a joint: it resists, and holds still below its bound.
fn shoulder() -> JointForces {
    JointForces(vec![JointForce::BallFriction { torque: 2.0 }])
}

fn knee() -> JointForces {
    let axis = JointAxis::RotationZ;
    let limit = JointForce::Limit {
        axis,
        low: -2.3,
        high: 0.05,
        restitution: 0.0,
    };
    JointForces(vec![limit, JointForce::Friction { axis, force: 1.0 }])
}

fn main() -> Result<(), StepError> {
    let mut simulation = Simulation::new(Settings::default())?;
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    for step in 0..8_u32 {
        let (x, top) = (0.3 * f64::from(step), 0.2 * f64::from(8 - step));
        let stair = Collider::cuboid(0.15, 1.0, 0.5 * top);
        simulation.spawn((RigidBody::Static, stair, Pose::at(x, 0.0, 0.5 * top)))?;
    }
    let at = |y: f64, z: f64| DVec3::new(-0.02, y, 1.65 + z);
    let torso = limb(&mut simulation, (0.2, 0.13, 35.0, at(0.0, 1.15)))?;
    let head = limb(&mut simulation, (0.03, 0.1, 5.0, at(0.0, 1.63)))?;
    let neck = Joint::new(torso, head, JointKind::Ball).at(at(0.0, 1.49), DVec3::Z);
    simulation.spawn_joint(neck, (shoulder(), NoCollision))?;
    for side in [-1.0, 1.0] {
        let (arm, leg) = (0.25 * side, 0.1 * side);
        let upper = limb(&mut simulation, (0.11, 0.045, 2.5, at(arm, 1.2)))?;
        let lower = limb(&mut simulation, (0.12, 0.04, 1.5, at(arm, 0.9)))?;
        let thigh = limb(&mut simulation, (0.16, 0.07, 8.0, at(leg, 0.6)))?;
        let shin = limb(&mut simulation, (0.16, 0.05, 4.0, at(leg, 0.2)))?;
        let joints = [
            (torso, upper, JointKind::Ball, at(arm, 1.35), shoulder()),
            (upper, lower, JointKind::Revolute, at(arm, 1.05), knee()),
            (torso, thigh, JointKind::Ball, at(leg, 0.83), shoulder()),
            (thigh, shin, JointKind::Revolute, at(leg, 0.4), knee()),
        ];
        for (a, b, kind, place, forces) in joints {
            let joint = Joint::new(a, b, kind).at(place, DVec3::Y);
            simulation.spawn_joint(joint, (forces, NoCollision))?;
        }
    }
    // A push.
    simulation.set(torso, Twist::linear(2.5, 0.0, 0.0));
    let (mut open, mut worst): (f64, f64) = (0.0, 0.0);
    while simulation.time() < 4.0 {
        let report = simulation.step()?;
        open = open.max(report.joint_error);
        worst = worst.max(report.e_scaled);
    }
    let lies = simulation.pose(head).map(|pose| pose.position);
    println!("its head is at {lies:.2?}");
    println!("joints opened by {open:.1e} m or rad at most, worst residual {worst:.1e}");
    Ok(())
}
