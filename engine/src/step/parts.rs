//! Motors do work, joints do none: a driven machine that moves slowly is taken through a step at once.

use crate::{
    Joint, JointAxis, JointForce, JointForces, JointKind, Mass, Pose, RigidBody, Settings,
    Simulation,
};
use glam::DVec3;

/// A light crank that a strong motor turns by a rod on which a heavy slider hangs: the motor's force alone would move the crank far.
#[test]
fn a_driven_machine_takes_its_steps_at_once() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let mut bar = |x: f64, mass: f64| {
        let body = (
            RigidBody::Dynamic,
            Mass::given(mass, DVec3::splat(1e-2 * mass)),
            Pose::at(x, 0.0, 0.0),
        );
        simulation.spawn(body).unwrap()
    };
    let [crank, rod, slider] = [(0.1, 0.1), (0.45, 0.1), (0.7, 50.0)].map(|(x, m)| bar(x, m));
    let motor = JointForce::Motor {
        axis: JointAxis::RotationZ,
        position: 0.0,
        velocity: 1.0,
        stiffness: 0.0,
        damping: f64::INFINITY,
        effort: f64::INFINITY,
    };
    let hinge = |joint: Joint, x: f64| joint.at(DVec3::X * x, DVec3::Y);
    let shaft = hinge(Joint::to_world(crank, JointKind::Revolute), 0.0);
    let pin = hinge(Joint::new(crank, rod, JointKind::Revolute), 0.2);
    let wrist = hinge(Joint::new(rod, slider, JointKind::Revolute), 0.7);
    let way = Joint::to_world(slider, JointKind::Prismatic).at(DVec3::X * 0.7, DVec3::X);
    simulation
        .spawn_joint(shaft, JointForces(vec![motor]))
        .unwrap();
    for joint in [pin, wrist, way] {
        simulation.spawn_joint(joint, ()).unwrap();
    }
    for step in 0..400 {
        simulation.step().unwrap();
        let parts = simulation.state().unwrap().drift.parts;
        // The first ones bring it up to its speed.
        assert!(step < 3 || parts <= 4, "{parts} parts in step {step}");
    }
}
