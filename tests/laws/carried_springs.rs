//! **Law.** An undamped spring keeps its energy on whatever light part it sits: a flange that is fixed to something heavy, or a link between two sprung hinges, is as slow as what it
//! carries, and the spring is followed to second order.

use crate::support::*;

const LOAD: f64 = 10.0;
const STIFFNESS: f64 = 20.0;

/// Part of the energy after 5 s, of a body of 10 kg at 0.3 m on a part that turns on a sprung hinge.
fn kept(part: f64, h: f64, crossed: bool) -> f64 {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        ..weightless()
    })
    .unwrap();
    let light = (
        RigidBody::Dynamic,
        Mass::given(part, DVec3::splat(1e-3 * part)),
    );
    let light = simulation.spawn(light).unwrap();
    let load = (
        RigidBody::Dynamic,
        Mass::given(LOAD, DVec3::splat(0.1)),
        Pose::at(0.3, 0.0, 0.0),
    );
    let load = simulation.spawn(load).unwrap();
    let spring = |stiffness: f64| {
        JointForces(vec![JointForce::Spring {
            axis: JointAxis::RotationZ,
            stiffness,
            damping: 0.0,
            rest: 0.0,
        }])
    };
    let hinge = |joint: Joint, axis: DVec3| joint.at(DVec3::ZERO, axis);
    let first = hinge(Joint::to_world(light, JointKind::Revolute), DVec3::Y);
    simulation.spawn_joint(first, spring(STIFFNESS)).unwrap();
    let kind = match crossed {
        true => JointKind::Revolute,
        false => JointKind::Fixed,
    };
    let second = hinge(Joint::new(light, load, kind), DVec3::X);
    let forces = match crossed {
        true => spring(0.25 * STIFFNESS),
        false => JointForces(vec![]),
    };
    simulation.spawn_joint(second, forces).unwrap();
    let turning = |angular: DVec3, at: DVec3| Twist {
        linear: angular.cross(at),
        angular,
    };
    simulation.set(light, turning(DVec3::Y, DVec3::ZERO));
    let own = if crossed { DVec3::X * 3.0 } else { DVec3::ZERO };
    simulation.set(load, turning(DVec3::Y + own, DVec3::X * 0.3));
    let energy = |simulation: &Simulation| {
        let kinetic = [light, load].map(|body| kinetic_energy(simulation, body).unwrap());
        let turn = |body: Entity| simulation.pose(body).unwrap().orientation;
        let about_y = angle_between(DQuat::IDENTITY, turn(light));
        let about_x = angle_between(turn(light), turn(load));
        let crossed = if crossed { 0.25 * STIFFNESS } else { 0.0 };
        kinetic[0] + kinetic[1] + 0.5 * (STIFFNESS * about_y.powi(2) + crossed * about_x.powi(2))
    };
    let start = energy(&simulation);
    for _ in 0..(5.0 / h) as usize {
        assert!(simulation.step().unwrap().converged);
    }
    energy(&simulation) / start
}

/// At 5 ms the springs swing by `ω h ≤ 0.04`, whose square is the part of the energy that comes and goes.
#[test]
fn a_spring_on_a_light_part_keeps_the_energy_of_what_that_carries() {
    for crossed in [false, true] {
        for part in [10.0, 1e-2, 1e-4] {
            for h in [1e-3, 5e-3] {
                let kept = kept(part, h, crossed);
                let off = (kept - 1.0).abs();
                assert!(off < 2e-3, "{part} kg, {h} s, crossed {crossed}: {kept}");
            }
        }
    }
}
