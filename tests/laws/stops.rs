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

/// Heights of a ball of 1 kg that swings by 40° about the origin on a rope or a distance joint, for ten periods at 60 Hz; the energy at the end over that at the beginning.
fn swung(kind: JointKind) -> (Vec<DVec3>, f64) {
    let settings = Settings {
        threads: 1,
        time_step: 1.0 / 60.0,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let (sin, cos) = libm::sincos(40.0_f64.to_radians());
    let body = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::splat(1e-3)),
        Pose::at(sin, 0.0, -cos),
    );
    let body = simulation.spawn(body).unwrap();
    let joint = Joint::to_world(body, kind).with_frames([Pose::default(); 2]);
    simulation.spawn_joint(joint, ()).unwrap();
    let (mut places, mut energy) = (Vec::new(), 0.0);
    for _ in 0..1240 {
        let report = simulation.step().unwrap();
        assert!(report.converged && report.joint_error <= 1e-9);
        places.push(simulation.pose(body).unwrap().position);
        energy = (report.energy.total() + 9.81) / (9.81 * (1.0 - cos));
    }
    (places, energy)
}

/// A rope that stays taut is a distance joint: of second order, without a loss of energy.
#[test]
fn a_taut_rope_swings_as_a_distance_joint() {
    let (rope, energy) = swung(JointKind::Rope { length: 1.0 });
    let (distance, _) = swung(JointKind::Distance { length: 1.0 });
    for (k, (rope, distance)) in rope.iter().zip(&distance).enumerate() {
        let apart = (*rope - *distance).length();
        assert!(apart <= 1e-9, "step {k}: {apart:e} m apart");
    }
    // Swings of second order, (ω h)²/24 with ω² = g/l.
    let bound = 9.81 / 3600.0 / 24.0;
    assert!((energy - 1.0).abs() <= bound, "{energy}");
}

/// Places of a bob of 1 kg that swings on a carriage, which is pressed on its limit or held by a joint.
fn swung_on_a_carriage(pressed: bool) -> Vec<DVec3> {
    let settings = Settings {
        threads: 1,
        time_step: 1.0 / 60.0,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let own = Mass::given(1.0, DVec3::splat(0.01));
    let carriage = simulation.spawn((RigidBody::Dynamic, own)).unwrap();
    let bob = (RigidBody::Dynamic, own, Pose::at(0.6, 0.0, -0.8));
    let bob = simulation.spawn(bob).unwrap();
    let axis = JointAxis::Z;
    let (kind, forces) = if pressed {
        let limit = JointForce::Limit {
            axis,
            low: 0.0,
            high: 5.0,
            restitution: 0.0,
        };
        let effort = -100.0;
        let press = JointForce::Applied { axis, effort };
        (JointKind::Prismatic, vec![limit, press])
    } else {
        (JointKind::Fixed, Vec::new())
    };
    let slide = Joint::to_world(carriage, kind).at(DVec3::ZERO, DVec3::X);
    simulation.spawn_joint(slide, JointForces(forces)).unwrap();
    let hinge = Joint::new(carriage, bob, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    simulation.spawn_joint(hinge, NoCollision).unwrap();
    let mut places = Vec::new();
    for step in 0..1200 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{step}: {:?}", report.status);
        assert!(report.energy.energy_gap.abs() <= 1e-12, "{step}: gap");
        let place = simulation.pose(carriage).unwrap().position.x;
        assert!(place.abs() <= 1e-9, "{step}: {place} m off its limit");
        places.push(simulation.pose(bob).unwrap().position);
    }
    places
}

/// A carriage that is pressed on its limit holds what swings on it as a joint does: of second order, without a loss of energy.
#[test]
fn a_pressed_limit_holds_what_swings_as_a_joint_does() {
    let (pressed, held) = (swung_on_a_carriage(true), swung_on_a_carriage(false));
    for (k, (pressed, held)) in pressed.iter().zip(&held).enumerate() {
        let apart = (*pressed - *held).length();
        assert!(apart <= 1e-9, "step {k}: {apart:e} m apart");
    }
}
