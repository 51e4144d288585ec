//! **Law.** A joint does no work and leaves all momenta; its places and velocities are closed to rounding at the end of every step.
//!
//! Impulses of a joint act on both bodies in one point, in opposite directions: the momentum of a free articulation is kept to rounding, and so is
//! the angular momentum. Without contacts the scheme is symmetric and of second order (`docs/theory.md` §15): energies swing by `O(h²)` and do not
//! drift. The tolerance of closed joints is rounding at lengths of some metres, 1e-12, and 1e-10 in velocities.

use crate::support::*;
use moreau_demos::built_in;

/// The report is of closed joints.
fn closed(report: &StepReport) {
    assert!(
        report.joint_error <= 1e-12,
        "open by {}",
        report.joint_error
    );
    assert!(
        report.joint_velocity <= 1e-10,
        "opens with {}",
        report.joint_velocity
    );
}

fn rod(simulation: &mut Simulation, at: DVec3, twist: Twist) -> Entity {
    let body = (
        RigidBody::Dynamic,
        Collider::cuboid(0.25, 0.03, 0.05),
        Pose::from_position(at),
        twist,
    );
    simulation.spawn(body).unwrap()
}

/// Momentum, and angular momentum about the origin.
fn momenta(simulation: &Simulation, bodies: &[Entity]) -> [DVec3; 2] {
    let mut sum = [DVec3::ZERO; 2];
    for body in bodies {
        let (pose, twist) = (
            simulation.pose(*body).unwrap(),
            simulation.twist(*body).unwrap(),
        );
        let mass = simulation.world().get::<Mass>(*body).unwrap();
        let axes = pose.orientation * mass.principal_frame();
        let spin = axes.conjugate() * (pose.orientation * twist.angular);
        let p = twist.linear * mass.mass();
        sum[0] += p;
        sum[1] += pose.position.cross(p) + axes * (mass.principal_inertia() * spin);
    }
    sum
}

#[test]
fn a_free_articulation_keeps_its_momenta_and_its_energy() {
    let kinds = [
        JointKind::Ball,
        JointKind::Revolute,
        JointKind::Universal,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Fixed,
        JointKind::Planar,
    ];
    let settings = Settings {
        gravity: DVec3::ZERO,
        ..reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let mut bodies = Vec::new();
    for i in 0..8 {
        let at = DVec3::X * (0.5 * f64::from(i));
        let spin = Twist {
            linear: DVec3::new(0.1, -0.2, 0.3),
            angular: DVec3::ZERO,
        };
        bodies.push(rod(&mut simulation, at, spin));
    }
    for (i, kind) in kinds.into_iter().enumerate() {
        let joint = Joint::new(bodies[i], bodies[i + 1], kind);
        let point = DVec3::X * (0.5 * i as f64 + 0.25);
        let joint = joint.at(point, DVec3::new(0.2, 1.0, 0.5));
        simulation.spawn_joint(joint, NoCollision).unwrap();
    }
    // A kick at one end.
    let kick = Twist {
        linear: DVec3::new(0.1, 1.0, 2.0),
        angular: DVec3::new(3.0, -1.0, 2.0),
    };
    simulation.set(bodies[0], kick);
    simulation.step().unwrap();
    let begin = momenta(&simulation, &bodies);
    let energy = simulation.state().unwrap().report().energy.kinetic;
    for _ in 0..400 {
        let report = simulation.step().unwrap();
        closed(&report);
        let now = momenta(&simulation, &bodies);
        for (now, begin) in now.into_iter().zip(begin) {
            // Rounding of 400 steps in lengths of 4 m.
            assert!((now - begin).length() < 1e-10 * (1.0 + begin.length()));
        }
        let gain = report.energy.kinetic / energy - 1.0;
        // The bound of a step on what joints do is 1e-5 of the energy; swings of second order stay below ten times that.
        assert!(gain.abs() < 1e-4, "{gain:e}");
    }
}

#[test]
fn a_hanging_chain_with_a_hundredfold_end_swings_without_gaining_energy() {
    let mut run = built_in("chain:n=50,ratio=100").unwrap().start().unwrap();
    let mut first = None;
    for _ in 0..2000 {
        let report = run.step().unwrap();
        closed(&report);
        assert!(report.converged);
        let total = report.energy.total();
        let first = *first.get_or_insert(total);
        // It exchanges 70 J with gravity; energies swing by (ω h)²/24 of that, with ω² = g/l of a chain of 5 m: 1.4e-4 J.
        assert!(total - first < 2e-4, "{}", total - first);
    }
}

#[test]
fn a_linkage_of_one_degree_of_freedom_keeps_its_energy() {
    let mut run = built_in("fourbar").unwrap().start().unwrap();
    let mut first = None;
    for _ in 0..1000 {
        let report = run.step().unwrap();
        closed(&report);
        let total = report.energy.total();
        let first = *first.get_or_insert(total);
        // It exchanges 20 J with gravity; (ω h)²/24 of that for ω of 10 rad/s.
        assert!((total - first).abs() < 2e-3, "{}", total - first);
    }
}

#[test]
fn the_ledger_closes_with_joints_and_contacts() {
    let mut run = built_in("bridge").unwrap().start().unwrap();
    for _ in 0..300 {
        let report = run.step().unwrap();
        closed(&report);
        let gap = report.energy.energy_gap.abs();
        assert!(gap < 1e-12 * report.energy.total().abs(), "{gap:e}");
        assert!(
            report.momentum_residual < 1e-9,
            "{}",
            report.momentum_residual
        );
    }
}

/// A rope goes tight in the step in which its body gets there, and does not throw it back.
#[test]
fn a_rope_is_free_until_it_is_tight() {
    let settings = Settings {
        time_step: 0.01,
        gravity: DVec3::NEG_Y * 10.0,
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let body = (
        RigidBody::Dynamic,
        Mass::given(1.0, DVec3::splat(0.1)),
        Pose::at(0.1, 0.9, 0.0),
    );
    let body = simulation.spawn(body).unwrap();
    let rope = Joint::to_world(body, JointKind::Rope { length: 1.0 });
    let rope = rope.with_frames([Pose::default(); 2]);
    simulation.spawn_joint(rope, ()).unwrap();
    let tight = (2.0 * (0.9 + 0.99_f64.sqrt()) / 10.0).sqrt();
    for step in 1..=262 {
        simulation.step().unwrap();
        let t = 0.01 * f64::from(step);
        let pose = simulation.pose(body).unwrap();
        if t < tight {
            assert!((pose.position.x - 0.1).abs() < 1e-9, "{t}: {pose:?}");
        }
        let length = pose.position.length_squared();
        assert!(length < 1.0 + 1e-4, "{t}: {length}");
    }
}

#[test]
fn a_motor_stalls_at_its_bound_and_turns_what_it_can() {
    // An arm of m g l = 5·9.81·0.25 N·m, level: 12.3 N·m.
    for (effort, holds) in [(12.0, false), (13.0, true)] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let arm = (
            RigidBody::Dynamic,
            Mass::given(5.0, DVec3::new(0.01, 0.1, 0.1)),
            Pose::at(0.25, 0.0, 0.0),
        );
        let arm = simulation.spawn(arm).unwrap();
        let motor = JointForce::Motor {
            axis: JointAxis::RotationZ,
            position: 0.0,
            velocity: 0.0,
            stiffness: 0.0,
            damping: f64::INFINITY,
            effort,
        };
        let hinge = Joint::to_world(arm, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        let hinge = simulation
            .spawn_joint(hinge, JointForces(vec![motor]))
            .unwrap();
        for _ in 0..20 {
            closed(&simulation.step().unwrap());
        }
        let torque = simulation.joint_reaction(hinge).unwrap().torque.z.abs();
        let sunk = -simulation.pose(arm).unwrap().position.z;
        if holds {
            assert!(sunk.abs() < 1e-9, "{sunk}");
            assert!((torque - 5.0 * 9.81 * 0.25).abs() < 1e-6, "{torque}");
        } else {
            assert!(sunk > 1e-5, "{sunk}");
            assert!((torque - effort).abs() < 1e-6, "{torque}");
        }
    }
}

/// With `e = 1` a limit is a mirror: `u_{k+1} = −u_k`, and with θ = ½ the pendulum is where it was.
#[test]
fn an_elastic_limit_keeps_the_energy_of_a_pendulum() {
    for order in [moreau::JointOrder::Second, moreau::JointOrder::Fourth] {
        for h in [0.01, 2e-3] {
            let settings = Settings {
                time_step: h,
                joint_order: order,
                ..reference()
            };
            let mut simulation = Simulation::new(settings).unwrap();
            let mass = Mass::given(1.0, DVec3::new(0.02, 0.09, 0.08));
            let arm = (RigidBody::Dynamic, mass, Pose::at(0.5, 0.0, 0.0));
            let arm = simulation.spawn(arm).unwrap();
            let limit = JointForce::Limit {
                axis: JointAxis::RotationZ,
                low: -1.0,
                high: 1.0,
                restitution: 1.0,
            };
            let hinge = Joint::to_world(arm, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
            let hinge = (hinge, JointForces(vec![limit]));
            simulation.spawn_joint(hinge.0, hinge.1).unwrap();
            let (mut struck, mut last) = (0, 0.0);
            for _ in 0..(5.0 / h).round() as usize {
                closed(&simulation.step().unwrap());
                let pose = simulation.pose(arm).unwrap();
                let energy = kinetic_energy(&simulation, arm).unwrap() + G * pose.position.z;
                // Of second order: a fifth of (ω h)² of 4 J, with 5 rad/s.
                assert!(energy.abs() < 20.0 * h * h, "{order:?} {h}: {energy}");
                let rate = simulation.twist(arm).unwrap().angular.y;
                struck += usize::from(rate < 0.0 && last > 1.0);
                last = rate;
            }
            assert!(struck > 2, "{struck}");
        }
    }
}

#[test]
fn a_limit_stops_a_pendulum_and_restitution_throws_it_back() {
    for e in [0.0, 0.5] {
        let settings = Settings {
            time_step: 1e-3,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let arm = (
            RigidBody::Dynamic,
            Mass::given(1.0, DVec3::splat(0.01)),
            Pose::at(1.0, 0.0, 0.0),
        );
        let arm = simulation.spawn(arm).unwrap();
        let limit = JointForce::Limit {
            axis: JointAxis::RotationZ,
            low: f64::NEG_INFINITY,
            high: 0.5,
            restitution: e,
        };
        let hinge = Joint::to_world(arm, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
        simulation
            .spawn_joint(hinge, JointForces(vec![limit]))
            .unwrap();
        let mut highest = f64::NEG_INFINITY;
        for step in 0..1500 {
            closed(&simulation.step().unwrap());
            let position = simulation.pose(arm).unwrap().position;
            let angle = libm::atan2(-position.z, position.x);
            // To first order the stop is met exactly; an impact ends within a step's way of it.
            assert!(angle < 0.5 + 4e-3, "{step}: {angle}");
            if step > 400 {
                highest = highest.max(position.z);
            }
        }
        // From level it falls sin ½; it comes back up by e² of that.
        let drop = libm::sin(0.5);
        let back = drop * (1.0 - e * e);
        assert!(
            (highest + back).abs() < 1e-2,
            "e {e}: {highest}, expected {}",
            -back
        );
    }
}

#[test]
fn joints_go_with_their_bodies_and_wrong_ones_are_refused() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let a = rod(&mut simulation, DVec3::ZERO, Twist::default());
    let b = rod(&mut simulation, DVec3::X * 0.5, Twist::default());
    let hinge = Joint::new(a, b, JointKind::Revolute).at(DVec3::X * 0.25, DVec3::Y);
    let hinge = simulation.spawn_joint(hinge, NoCollision).unwrap();
    assert_eq!(simulation.step().unwrap().joints, 1);
    simulation.despawn(b);
    assert_eq!(simulation.step().unwrap().joints, 0);
    assert!(simulation.world().get_entity(hinge).is_err());
    // One that is disabled as well.
    let c = rod(&mut simulation, DVec3::X, Twist::default());
    let hinge = Joint::new(a, c, JointKind::Revolute).at(DVec3::X * 0.5, DVec3::Y);
    let hinge = simulation
        .spawn_joint(hinge, (NoCollision, JointDisabled))
        .unwrap();
    assert_eq!(simulation.step().unwrap().joints, 0);
    simulation.despawn(c);
    assert_eq!(simulation.step().unwrap().joints, 0);
    assert!(simulation.world().get_entity(hinge).is_err());
    let wrong = |simulation: &mut Simulation, joint: Joint, forces: Vec<JointForce>| {
        let error = simulation
            .spawn_joint(joint, JointForces(forces))
            .unwrap_err();
        let report = simulation.step().unwrap();
        assert_eq!(report.joints, 0, "{error}");
        error.to_string()
    };
    let to_a = |kind| Joint::to_world(a, kind);
    let s = &mut simulation;
    let motor = |axis, effort| JointForce::Motor {
        axis,
        position: 0.0,
        velocity: f64::NAN,
        stiffness: 1.0,
        damping: 1.0,
        effort,
    };
    assert!(wrong(s, Joint::new(a, a, JointKind::Ball), vec![]).contains("to itself"));
    assert!(wrong(s, Joint::new(a, b, JointKind::Ball), vec![]).contains("no body"));
    assert!(
        wrong(
            s,
            to_a(JointKind::Ball).at(DVec3::ZERO, DVec3::ZERO),
            vec![]
        )
        .contains("axis zero")
    );
    assert!(wrong(s, to_a(JointKind::Distance { length: -1.0 }), vec![]).contains("length is -1"));
    let locked = motor(JointAxis::X, 1.0);
    assert!(wrong(s, to_a(JointKind::Revolute), vec![locked]).contains("locks"));
    let nan = motor(JointAxis::RotationZ, 1.0);
    assert!(wrong(s, to_a(JointKind::Revolute), vec![nan]).contains("NaN"));
    let crossed = JointForce::Limit {
        axis: JointAxis::RotationZ,
        low: 1.0,
        high: 0.0,
        restitution: 0.0,
    };
    assert!(wrong(s, to_a(JointKind::Revolute), vec![crossed]).contains("low limit is 1"));
}

#[test]
fn what_hangs_at_rest_falls_asleep_and_wakes_when_its_motor_is_told_to() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let bob = (
        RigidBody::Dynamic,
        Collider::sphere(0.1),
        Pose::at(0.0, 0.0, -1.0),
    );
    let bob = simulation.spawn(bob).unwrap();
    let motor = |velocity| {
        JointForces(vec![JointForce::Motor {
            axis: JointAxis::RotationZ,
            position: 0.0,
            velocity,
            stiffness: 0.0,
            damping: f64::INFINITY,
            effort: f64::INFINITY,
        }])
    };
    let hinge = Joint::to_world(bob, JointKind::Revolute).at(DVec3::ZERO, DVec3::Y);
    let hinge = simulation.spawn_joint(hinge, motor(0.0)).unwrap();
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    assert!(simulation.is_sleeping(bob));
    simulation.set(hinge, motor(1.0));
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    let spin = simulation.twist(bob).unwrap().angular.length();
    // What gravity changes within a step: h² g/2 over the length of the arm, 1.2e-4 rad/s.
    assert!((spin - 1.0).abs() < 1.3e-4, "{spin}");
}

#[test]
fn joints_give_the_same_bits_on_any_number_of_threads() {
    let hash = |threads| {
        let mut scene = built_in("bridge").unwrap();
        scene.settings.threads = threads;
        let mut run = scene.start().unwrap();
        for _ in 0..150 {
            run.step().unwrap();
        }
        run.simulation.state_hash()
    };
    assert_eq!(hash(1), hash(2));
}
