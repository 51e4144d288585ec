//! An arm of two links on servos takes a crate from one table to another: joints stay closed, motors keep to their torque, and friction holds the crate on its hand.
//!
//! `cargo run --release -p moreau --example motorised_arm`

#![expect(clippy::print_stdout, reason = "an example prints")]

use moreau::prelude::*;
use std::f64::consts::PI;

fn servo(position: f64) -> JointForces {
    JointForces(vec![JointForce::Motor {
        axis: JointAxis::RotationZ,
        position,
        velocity: 0.0,
        stiffness: 4e4,
        damping: 2e3,
        effort: 2e3,
    }])
}

fn main() -> Result<(), StepError> {
    let mut simulation = Simulation::new(Settings::default())?;
    simulation.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    let link = |from: f64| {
        (
            RigidBody::Dynamic,
            Collider::cuboid(0.4, 0.04, 0.04),
            Mass::scaled_to(4.0),
            Pose::at(from + 0.4, 0.0, 1.0),
        )
    };
    let (upper, lower) = (simulation.spawn(link(0.0))?, simulation.spawn(link(0.8))?);
    let hand = (
        RigidBody::Dynamic,
        Collider::cuboid(0.15, 0.15, 0.02),
        Mass::scaled_to(1.0),
        Pose::at(1.6, 0.0, 1.06),
    );
    let hand = simulation.spawn(hand)?;
    let load = (
        RigidBody::Dynamic,
        Collider::cuboid(0.1, 0.1, 0.1),
        Mass::scaled_to(3.0),
        Material::with_friction(0.6),
        Pose::at(1.6, 0.0, 1.18),
    );
    let load = simulation.spawn(load)?;
    let at = |x: f64, z: f64| DVec3::new(x, 0.0, z);
    let shoulder = Joint::to_world(upper, JointKind::Revolute).at(at(0.0, 1.0), DVec3::NEG_Y);
    let elbow = Joint::new(upper, lower, JointKind::Revolute).at(at(0.8, 1.0), DVec3::NEG_Y);
    let wrist = Joint::new(lower, hand, JointKind::Revolute).at(at(1.6, 1.04), DVec3::NEG_Y);
    let shoulder = simulation.spawn_joint(shoulder, (servo(0.0), NoCollision))?;
    let elbow = simulation.spawn_joint(elbow, (servo(0.0), NoCollision))?;
    let wrist = simulation.spawn_joint(wrist, (servo(0.0), NoCollision))?;
    let (mut open, mut most): (f64, f64) = (0.0, 0.0);
    while simulation.time() < 4.0 {
        // Up with the upper arm, back with the lower one, and the hand stays level.
        let way = 0.5 - 0.5 * libm::cos(PI * (simulation.time() / 3.0).min(1.0));
        let (up, bend) = (1.2 * way, -1.6 * way);
        simulation.set(shoulder, servo(up));
        simulation.set(elbow, servo(bend));
        simulation.set(wrist, servo(-up - bend));
        let report = simulation.step()?;
        open = open.max(report.joint_error);
        for joint in [shoulder, elbow, wrist] {
            let efforts = simulation.joint_efforts(joint).unwrap_or_default();
            most = efforts
                .iter()
                .fold(most, |most, effort| most.max(effort.abs()));
        }
    }
    let [hand, load] = [hand, load].map(|body| simulation.pose(body).map(|pose| pose.position));
    println!("hand at {hand:.3?}, crate at {load:.3?}");
    println!("joints opened by {open:.1e} m or rad at most, motors pulled {most:.0} N·m of 2000");
    Ok(())
}
