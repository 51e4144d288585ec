//! **Law.** A joint holds as long as its reaction is within its bounds, and is out of the steps from the one on that follows the one in which it was not.

use crate::support::*;

/// A weight on a fixed joint that is pulled by a force that grows: it breaks in the first step in which `m g + f` is beyond the limit, and falls.
#[test]
fn a_hanging_weight_that_grows_breaks_its_joint_at_the_limit() {
    let h = Settings::default().time_step;
    for torque in [false, true] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let (mass, arm) = (3.0, 0.4);
        let body = (
            RigidBody::Dynamic,
            Mass::given(mass, DVec3::splat(0.1)),
            Pose::at(arm, 0.0, 0.0),
        );
        let body = simulation.spawn(body).unwrap();
        let limit = if torque {
            BreakLimit {
                torque: 100.0 * arm,
                ..BreakLimit::default()
            }
        } else {
            BreakLimit {
                force: 100.0,
                ..BreakLimit::default()
            }
        };
        let joint = Joint::to_world(body, JointKind::Fixed).at(DVec3::ZERO, DVec3::Z);
        let joint = simulation.spawn_joint(joint, limit).unwrap();
        let mut broke: Option<f64> = None;
        for step in 0..200 {
            let pull = 0.5 * f64::from(step);
            let wrench = Wrench {
                force: DVec3::NEG_Z * pull,
                ..Wrench::default()
            };
            simulation.set(body, wrench);
            let report = simulation.step().unwrap();
            let load = mass * 9.81 + pull;
            if let Some(before) = broke {
                assert_eq!((report.joints, report.broken_joints), (0, 0));
                let v = -simulation.twist(body).unwrap().linear.z;
                assert!((v - before - h * load / mass).abs() < 1e-10, "{v}");
                broke = Some(v);
                if v > 5.0 {
                    break;
                }
                continue;
            }
            assert_eq!(report.joints, 1);
            let bears = simulation.joint_reaction(joint).unwrap();
            let bears = if torque {
                bears.torque.length() / arm
            } else {
                bears.force.length()
            };
            assert!((bears - load).abs() < 1e-6 * load, "{bears} {load}");
            assert_eq!(report.broken_joints, usize::from(load > 100.0), "{load}");
            if report.broken_joints > 0 {
                // To the half newton that a step adds.
                assert!(load - 100.0 <= 0.5 + 1e-6, "{load}");
                assert_eq!(simulation.broken_joints(), [joint]);
                assert!(simulation.world().get::<JointBroken>(joint).is_some());
                broke = Some(0.0);
            }
        }
        assert!(broke.is_some());
        // Whole again, where it now is.
        simulation
            .world_mut()
            .entity_mut(joint)
            .remove::<JointBroken>();
        simulation
            .world_mut()
            .entity_mut(joint)
            .remove::<BreakLimit>();
        assert_eq!(simulation.step().unwrap().joints, 1);
    }
}

/// Of a chain the joint breaks that bears most, and what hangs below it falls.
#[test]
fn a_chain_breaks_at_its_top() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let mut last = None;
    let mut links = Vec::new();
    for k in 0..10 {
        let body = (
            RigidBody::Dynamic,
            Mass::given(1.0, DVec3::splat(0.01)),
            Pose::at(0.0, 0.0, -0.1 - 0.2 * f64::from(k)),
        );
        let body = simulation.spawn(body).unwrap();
        let joint = Joint::to_world(body, JointKind::Ball);
        let joint = Joint {
            bodies: [last, Some(body)],
            ..joint
        };
        let joint = joint.at(DVec3::NEG_Z * (0.2 * f64::from(k)), DVec3::Z);
        let limit = BreakLimit {
            force: 100.0,
            ..BreakLimit::default()
        };
        links.push(simulation.spawn_joint(joint, limit).unwrap());
        last = Some(body);
    }
    // It bears 98.1 N, and then 2 N more.
    for _ in 0..300 {
        let report = simulation.step().unwrap();
        assert_eq!((report.joints, report.broken_joints), (10, 0));
    }
    let wrench = Wrench {
        force: DVec3::NEG_Z * 2.0,
        ..Wrench::default()
    };
    simulation.set(last.unwrap(), wrench);
    let report = simulation.step().unwrap();
    assert_eq!(report.broken_joints, 1);
    assert_eq!(simulation.broken_joints(), links[..1]);
    assert_eq!(simulation.step().unwrap().joints, 9);
}

#[test]
fn wrong_limits_are_refused() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let body = (RigidBody::Dynamic, Collider::sphere(0.1));
    let body = simulation.spawn(body).unwrap();
    for force in [f64::NAN, -1.0] {
        let limit = BreakLimit {
            force,
            ..BreakLimit::default()
        };
        let joint = Joint::to_world(body, JointKind::Ball);
        let error = simulation.spawn_joint(joint, limit).unwrap_err();
        assert!(error.to_string().contains("break force"), "{error}");
    }
}
