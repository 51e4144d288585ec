//! **Law.** What comes to the end of a limit or of a rope is stopped there, at any speed, by the impulse `m v` (or `I ω`).
//!
//! It is one row, which is solved exactly: the step is converged, however large the impulse is beside the weight of a step, `m g h`.

use crate::support::*;

/// A body of 1 kg whose moment is 0.1 kg·m², on what stops it in the sixth step.
#[test]
fn what_comes_to_an_end_is_stopped_at_any_speed() {
    for time_step in [1e-2, 1e-3, 1e-4, 1e-6] {
        for speed in [1e-2, 1.0, 50.0, 1e3] {
            for mass in [1e-3, 1.0, 1e6] {
                for what in ["slide", "hinge", "rope"] {
                    stopped(what, mass, speed, time_step);
                }
            }
        }
    }
}

fn stopped(what: &str, mass: f64, speed: f64, time_step: f64) {
    let settings = Settings {
        time_step,
        threads: 1,
        gravity: DVec3::new(0.0, -9.81, 0.0),
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let gap = 5.5 * speed * time_step;
    let turns = what == "hinge";
    let twist = if turns {
        Twist {
            linear: DVec3::ZERO,
            angular: DVec3::X * speed,
        }
    } else {
        Twist::linear(speed, 0.0, 0.0)
    };
    let own = Mass::given(mass, DVec3::splat(0.1 * mass));
    let body = (RigidBody::Dynamic, own, Pose::at(1.0, 0.0, 0.0), twist);
    let body = simulation.spawn(body).unwrap();
    let limit = |axis| {
        JointForces(vec![JointForce::Limit {
            axis,
            low: -10.0,
            high: gap,
            restitution: 0.0,
        }])
    };
    let center = DVec3::X;
    let (joint, forces) = match what {
        "slide" => (JointKind::Prismatic, limit(JointAxis::Z)),
        "hinge" => (JointKind::Revolute, limit(JointAxis::RotationZ)),
        _ => (JointKind::Rope { length: 1.0 + gap }, JointForces(vec![])),
    };
    let mut joint = Joint::to_world(body, joint).at(center, DVec3::X);
    if what == "rope" {
        joint = joint.with_frames([Pose::default(); 2]);
    }
    simulation.spawn_joint(joint, forces).unwrap();
    let case = format!("{what} {mass} kg {speed} at {time_step} s");
    for _ in 0..10 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{case}: {:?}", report.status);
    }
    let twist = simulation.twist(body).unwrap();
    let left = if turns {
        twist.angular.x
    } else {
        // What falls on a rope swings to and fro about its end.
        twist.linear.x
    };
    // Gravity is across the slide and the rope: in ten steps it moves the rope round by `10 h g` at most.
    let bound = 1e-9 * speed + (10.0 * time_step * 9.81).powi(2);
    assert!(left.abs() <= bound, "{case}: {left}");
}
