//! **Law.** A spring along one rotation of a joint that leaves others free has a potential, `½ k φ²`: on whatever way a body turns, it gives back what it took and no more. What a
//! generic joint is told to lock, it locks as the joint of that name.

use crate::support::*;

const STIFFNESS: f64 = 10.0;

/// The largest kinetic energy over that of the start, of a body that turns at `speed` (rad/s) about the origin, and where it is turned to in the end.
fn turn(kind: JointKind, axis: JointAxis, damping: f64, speed: f64, h: f64) -> (f64, DQuat) {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        ..weightless()
    })
    .unwrap();
    let body = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::new(0.1, 0.12, 0.15)),
    );
    let body = simulation.spawn(body).unwrap();
    let spring = JointForce::Spring {
        axis,
        stiffness: STIFFNESS,
        damping,
        rest: 0.0,
    };
    let joint = Joint::to_world(body, kind);
    simulation
        .spawn_joint(joint, JointForces(vec![spring]))
        .unwrap();
    let twist = Twist {
        linear: DVec3::ZERO,
        angular: DVec3::new(0.78, 0.55, 0.31) * speed,
    };
    simulation.set(body, twist);
    // What the joint leaves of it.
    simulation.step().unwrap();
    let start = kinetic_energy(&simulation, body).unwrap();
    let mut most = start;
    for _ in 0..(20.0 / h) as usize {
        assert!(simulation.step().unwrap().converged);
        most = most.max(kinetic_energy(&simulation, body).unwrap());
    }
    (most / start, simulation.pose(body).unwrap().orientation)
}

fn generic(rotation: [bool; 3]) -> JointKind {
    JointKind::Generic {
        translation: [true; 3],
        rotation,
    }
}

#[test]
fn springs_of_single_rotations_give_no_energy() {
    use JointAxis::{RotationX, RotationY, RotationZ};
    let axes = [RotationX, RotationY, RotationZ];
    let mut cases = vec![];
    for axis in axes {
        cases.push((JointKind::Ball, axis));
        for locked in (0..3).filter(|i| axes[*i] != axis) {
            let mut rotation = [false; 3];
            rotation[locked] = true;
            cases.push((generic(rotation), axis));
        }
    }
    cases.extend([
        (JointKind::Universal, RotationX),
        (JointKind::Universal, RotationY),
    ]);
    let mut wrong = vec![];
    let mut count = 0;
    for (kind, axis) in cases {
        for damping in [0.0, 0.1] {
            for speed in [0.3, 3.0] {
                // Of second order in ω h, 0.05 at 5 ms; about the axis of most inertia, where it swings widest, ten times its square.
                for (h, bound) in [(5e-3, 3e-2), (1e-3, 1.2e-3)] {
                    count += 1;
                    let (most, _) = turn(kind, axis, damping, speed, h);
                    if most > 1.0 + bound {
                        wrong.push(format!(
                            "{kind:?} {axis:?} c {damping} at {speed}, {h}: {most}"
                        ));
                    }
                }
            }
        }
    }
    none_of(count, &wrong);
}

#[test]
fn a_generic_joint_with_one_rotation_locked_is_a_universal_one() {
    for axis in [JointAxis::RotationX, JointAxis::RotationY] {
        let [own, other] = [JointKind::Universal, generic([false, false, true])]
            .map(|kind| turn(kind, axis, 0.0, 1.0, 1e-3).1);
        assert!(angle_between(own, other) < 1e-9, "{axis:?}");
    }
}
