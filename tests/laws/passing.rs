//! **Law.** What passes by is not met: bodies that come no nearer to each other than a gap, to a wall or to a bar that turns beside them, keep their velocities.

use crate::support::*;

fn settings(time_step: f64) -> Settings {
    Settings {
        time_step,
        gravity: DVec3::ZERO,
        threads: 1,
        accuracy: Accuracy::Reference,
        ..Settings::default()
    }
}

/// Two balls that pass each other at 5 cm or more, between half-spaces that they do not reach. The plane that the pair had at the beginning would throw one of
/// them at a half-space, and what that gives it must not keep the plane.
#[test]
fn balls_that_pass_between_half_spaces_keep_their_velocities() {
    let material = Material::frictionless(1.0);
    let mut simulation = Simulation::new(settings(0.01)).unwrap();
    for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
        for side in [axis, -axis] {
            let at = Pose::from_position(side * -0.7);
            let wall = (RigidBody::Static, Collider::half_space(side), material, at);
            simulation.spawn(wall).unwrap();
        }
    }
    let balls = [
        (0.05, 1.0, [0.6, 0.0, 0.6], [-9.4, 0.0, -37.1]),
        (0.1, 12.7, [0.2, 0.0, 0.4], [10.3, 0.0, 0.0]),
    ];
    let balls = balls.map(|(radius, mass, place, velocity)| {
        let motion = (
            Pose::from_position(DVec3::from_array(place)),
            Twist {
                linear: DVec3::from_array(velocity),
                angular: DVec3::ZERO,
            },
        );
        let ball = (RigidBody::Dynamic, Collider::sphere(radius), material);
        let ball = (ball, Mass::scaled_to(mass), motion);
        (simulation.spawn(ball).unwrap(), velocity)
    });
    simulation.step().unwrap();
    for (ball, velocity) in balls {
        let now = simulation.twist(ball).unwrap().linear;
        assert_eq!(now, DVec3::from_array(velocity));
    }
}

/// A ball 5 mm above the plane of a kinematic bar that turns by 0.45 rad a step.
#[test]
fn a_ball_above_a_turning_bar_keeps_its_velocity() {
    for e in [0.0, 0.5] {
        let material = Material::frictionless(e);
        let mut simulation = Simulation::new(settings(0.005)).unwrap();
        let turn = Twist {
            linear: DVec3::ZERO,
            angular: DVec3::Z * -89.11,
        };
        let bar = Collider::cuboid(3.0, 0.1, 0.05);
        let bar = (RigidBody::Kinematic, bar, material, turn);
        simulation.spawn(bar).unwrap();
        let motion = (
            Pose::at(-0.09614, 0.14923, 0.155),
            Twist::linear(-1.578, 0.044, 0.0),
        );
        let ball = (RigidBody::Dynamic, Collider::sphere(0.1), material);
        let ball = (ball, Mass::scaled_to(1.0), motion);
        let ball = simulation.spawn(ball).unwrap();
        simulation.step().unwrap();
        let now = simulation.twist(ball).unwrap().linear;
        assert_eq!(now, DVec3::new(-1.578, 0.044, 0.0), "e {e}");
    }
}
