//! **Law.** Neither impacts without friction nor ideal joints add energy, nor do both together.
//!
//! A body on joints that is struck within the step ends as with a mean velocity. The energy of a spin depends on the pose at which momentum is added: with a mean spin,
//! and the rest of it at the end, a rod that turns fast took in a quarter of its energy at one impact.

use crate::support::*;

/// What joins the middle of a rod to a ball half a metre away.
fn joint(kind: JointKind, [rod, ball]: [Entity; 2]) -> Joint {
    let frames = match kind {
        JointKind::Ball | JointKind::Revolute | JointKind::Universal => {
            [Pose::at(0.25, 0.0, 0.0), Pose::at(-0.25, 0.0, 0.0)]
        }
        _ => [Pose::default(); 2],
    };
    Joint::new(rod, ball, kind).with_frames(frames)
}

/// A rod and a ball on a joint in a room of 2 m, weightless, for 4 s: the largest kinetic energy over that of the throw.
fn thrown(kind: JointKind, restitution: f64, time_step: f64) -> f64 {
    let mut simulation = Simulation::new(Settings {
        time_step,
        gravity: DVec3::ZERO,
        ..Settings::default()
    })
    .unwrap();
    let material = Material::frictionless(restitution);
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for normal in [axis, -axis] {
            let wall = Collider::half_space(normal);
            let at = Pose::from_position(-normal);
            simulation
                .spawn((RigidBody::Static, wall, material, at))
                .unwrap();
        }
    }
    let twist = Twist {
        linear: DVec3::new(3.0, 1.0, 2.0),
        angular: DVec3::splat(5.0),
    };
    let mut body = |collider: Collider, x: f64| {
        let at = Pose::at(x, 0.0, 0.0);
        simulation
            .spawn((RigidBody::Dynamic, collider, material, at, twist))
            .unwrap()
    };
    let rod = body(Collider::cuboid(0.144, 0.018, 0.018), -0.25);
    let ball = body(Collider::sphere(0.1), 0.25);
    simulation
        .spawn_joint(joint(kind, [rod, ball]), ())
        .unwrap();
    let (mut begin, mut most) = (0.0, 0.0_f64);
    for step in 0..libm::round(4.0 / time_step) as usize {
        let report = simulation.step().unwrap();
        // No wall is reached in the first step.
        if step == 0 {
            begin = report.energy.kinetic;
        }
        most = most.max(report.energy.kinetic / begin);
    }
    most
}

/// The parts of a step keep 1e-5 of the energy; a rod and a ball strike the walls less than 200 times.
#[test]
fn what_bounces_on_a_joint_gains_no_energy() {
    let kinds = [
        JointKind::Distance { length: 0.5 },
        JointKind::Rope { length: 0.6 },
        JointKind::Ball,
        JointKind::Revolute,
        JointKind::Universal,
    ];
    for kind in kinds {
        for restitution in [0.5, 0.95, 1.0] {
            for time_step in [1.0 / 60.0, 5e-3] {
                let most = thrown(kind, restitution, time_step);
                assert!(most < 1.002, "{kind:?} {restitution} {time_step}: {most}");
            }
        }
    }
}
