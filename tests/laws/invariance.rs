//! **Law.** The motion does not depend on the frame it is described in: turning and shifting the whole scene,
//! gravity included, turns and shifts its motion. It does not depend on the choice of the tangents either,
//! which the turned scene chooses otherwise.
//!
//! To rounding times conditioning: the two runs solve the same problems in other coordinates, each to the solver's
//! 1e-11; a difference grows by a bounded factor at each impact of round bodies. 1e-8 of the
//! size of the scene after 120 steps allows a growth of 1e3.

use crate::support::*;

/// Spheres and blocks that fall onto a slab and onto each other, seen through `frame`.
fn motion(frame: DQuat, shift: DVec3, steps: usize) -> Vec<(Pose, DVec3, DVec3)> {
    let mut simulation = Simulation::new(Settings {
        gravity: frame * DVec3::new(0.0, 0.0, -G),
        ..reference()
    })
    .unwrap();
    let place = |position: DVec3, orientation: DQuat| {
        Pose::from_position(frame * position + shift).with_orientation(frame * orientation)
    };
    simulation
        .spawn((
            RigidBody::Static,
            Collider::cuboid(2.0, 2.0, 0.1),
            place(DVec3::new(0.0, 0.0, -0.1), DQuat::IDENTITY),
        ))
        .unwrap();
    let specs = [
        (Collider::sphere(0.2), DVec3::new(0.0, 0.0, 0.25)),
        (Collider::sphere(0.15), DVec3::new(0.13, 0.02, 0.65)),
        (Collider::cuboid(0.2, 0.15, 0.1), DVec3::new(0.7, 0.1, 0.12)),
        (Collider::capsule(0.1, 0.1), DVec3::new(0.65, 0.15, 0.4)),
    ];
    let bodies: Vec<Entity> = specs
        .into_iter()
        .map(|(shape, position)| {
            simulation
                .spawn((
                    RigidBody::Dynamic,
                    shape,
                    Material {
                        restitution: 0.2,
                        ..Material::default()
                    },
                    place(position, turn(DVec3::Z, 0.3)),
                    Twist {
                        linear: frame * DVec3::new(0.5, 0.2, 0.0),
                        angular: DVec3::new(0.0, 0.0, 1.0),
                    },
                ))
                .unwrap()
        })
        .collect();
    let mut closed = 0;
    for _ in 0..steps {
        closed += simulation.step().unwrap().closed_contacts;
    }
    assert!(closed > steps, "only {closed} contacts");
    bodies
        .into_iter()
        .map(|body| {
            let (pose, twist) = (
                simulation.pose(body).unwrap(),
                simulation.twist(body).unwrap(),
            );
            let seen = Pose::from_position(frame.conjugate() * (pose.position - shift))
                .with_orientation(frame.conjugate() * pose.orientation);
            (seen, frame.conjugate() * twist.linear, twist.angular)
        })
        .collect()
}

#[test]
fn the_motion_does_not_depend_on_the_frame() {
    let steps = 120;
    let here = motion(DQuat::IDENTITY, DVec3::ZERO, steps);
    for (frame, shift) in [
        (turn(DVec3::Z, 0.9), DVec3::ZERO),
        (turn(DVec3::X, std::f64::consts::FRAC_PI_2), DVec3::ONE),
        (
            turn(DVec3::new(0.48, 0.6, 0.64), 2.0),
            DVec3::new(-1.0, 3.0, 2.0),
        ),
    ] {
        let there = motion(frame, shift, steps);
        for (body, (a, b)) in here.iter().zip(&there).enumerate() {
            let error = [
                (a.0.position - b.0.position).length(),
                angle_between(a.0.orientation, b.0.orientation),
                (a.1 - b.1).length(),
                (a.2 - b.2).length(),
            ];
            println!("body {body}: {error:?}");
            assert!(
                error.iter().all(|e| *e <= 1e-8),
                "body {body} seen from {frame}: {error:?}"
            );
        }
    }
}
