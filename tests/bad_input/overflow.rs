//! Numbers at the end of their range: coefficients out of range, steps too short for a gap. The step
//! fails with a typed error and changes nothing, or the new state is finite; it never panics.

use crate::support::*;

const RULES: [Combine; 4] = [
    Combine::Mean,
    Combine::GeometricMean,
    Combine::Min,
    Combine::Max,
];

/// A step that fails and changes nothing, or leaves finite states. True if it was made.
#[track_caller]
fn sound_step(simulation: &mut Simulation, bodies: &[Entity]) -> bool {
    let (hash, time) = (simulation.state_hash(), simulation.time());
    match simulation.step() {
        Ok(_) => {
            for body in bodies {
                let (pose, twist) = (simulation.pose(*body), simulation.twist(*body));
                let (pose, twist) = (pose.unwrap(), twist.unwrap());
                assert!(pose.position.is_finite() && pose.orientation.is_finite());
                assert!(twist.linear.is_finite() && twist.angular.is_finite());
            }
            true
        }
        Err(error) => {
            assert!(
                matches!(error, StepError::Problem(_) | StepError::NonFinite { .. }),
                "{error}"
            );
            assert_eq!(simulation.state_hash(), hash, "{error}");
            assert_eq!(simulation.time().to_bits(), time.to_bits());
            false
        }
    }
}

fn settings(rule: Combine) -> Settings {
    Settings {
        combine_friction: rule,
        threads: 1,
        ..Settings::default()
    }
}

/// A block that slides on the ground.
fn sliding(settings: Settings, of_ground: f64, of_block: f64) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(settings).unwrap();
    simulation
        .spawn((
            RigidBody::Static,
            Collider::half_space(DVec3::Z),
            Material::with_friction(of_ground),
        ))
        .unwrap();
    let block = simulation.spawn(block(0.0, of_block)).unwrap();
    (simulation, block)
}

fn block(x: f64, friction: f64) -> impl Bundle {
    (
        RigidBody::Dynamic,
        Collider::cuboid(0.1, 0.1, 0.1),
        Material::with_friction(friction),
        Pose::at(x, 0.0, 0.1),
        Twist::linear(1.0, 0.5, 0.0),
    )
}

/// Of the ground, and of a body that is refused for it.
const PAIRS: [(f64, f64); 4] = [
    (2.0, f64::MAX),
    (1e3, 1e160),
    (0.0, 1e15),
    (1e3, 1e3 * (1.0 + f64::EPSILON)),
];

/// The step is refused for a friction coefficient, and changes nothing.
#[track_caller]
fn refused_for_friction(simulation: &mut Simulation, value: f64) {
    let hash = simulation.state_hash();
    let error = simulation.step().unwrap_err();
    names_friction(&error, value);
    assert_eq!(simulation.state_hash(), hash);
}

#[track_caller]
fn names_friction(error: &StepError, value: f64) {
    assert!(matches!(error, StepError::Body { .. }), "{error}");
    let text = error.to_string();
    for part in ["friction", &value.to_string(), "in [0, 1e3]"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn enormous_friction_in_the_first_step() {
    for rule in RULES {
        for (a, b) in PAIRS {
            assert!(rule.of(a, b).is_finite(), "{rule:?} of {a:e} and {b:e}");
            let (mut simulation, block) = sliding(settings(rule), a, 0.5);
            simulation.set(block, Material::with_friction(b));
            refused_for_friction(&mut simulation, b);
            // It can be mended.
            simulation.set(block, Material::with_friction(0.5));
            simulation.step().unwrap();
        }
    }
}

#[test]
fn enormous_friction_of_a_body_that_comes_later() {
    for rule in RULES {
        for (a, b) in PAIRS {
            let (mut simulation, first) = sliding(settings(rule), a, 0.5);
            for _ in 0..3 {
                assert!(sound_step(&mut simulation, &[first]));
            }
            let hash = simulation.state_hash();
            let error = simulation.spawn(block(5.0, b)).unwrap_err();
            names_friction(&error, b);
            assert_eq!(simulation.state_hash(), hash);
            assert!(sound_step(&mut simulation, &[first]));
        }
    }
}

#[test]
fn the_largest_friction_is_accepted() {
    for rule in RULES {
        let most = Material::MOST_FRICTION;
        let (mut simulation, block) = sliding(settings(rule), most, most);
        for _ in 0..100 {
            assert!(sound_step(&mut simulation, &[block]));
        }
    }
}

#[test]
fn a_step_too_short_for_the_gap() {
    // g/h is not a number: a typed error, in the first step and after others.
    let tiny = Settings {
        time_step: 1e-320,
        margin: 0.1,
        threads: 1,
        ..Settings::default()
    };
    let near = || {
        (
            RigidBody::Dynamic,
            Collider::sphere(0.5),
            Pose::at(3.0, 0.0, 0.501),
        )
    };
    let ground = (RigidBody::Static, Collider::half_space(DVec3::Z));
    for steps in [0, 3] {
        let mut simulation = Simulation::new(tiny).unwrap();
        simulation.spawn(ground.clone()).unwrap();
        let first = simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::sphere(0.5),
                Pose::at(0.0, 0.0, 9.0),
            ))
            .unwrap();
        for _ in 0..steps {
            // Nothing is near yet.
            simulation.step().unwrap();
        }
        let second = simulation.spawn(near()).unwrap();
        for _ in 0..2 {
            assert!(!sound_step(&mut simulation, &[first, second]));
        }
        simulation
            .set_settings(Settings {
                time_step: 1e-3,
                ..tiny
            })
            .unwrap();
        simulation.step().unwrap();
        // And the other way round: the settings change behind bodies that are there.
        simulation.set_settings(tiny).unwrap();
        assert!(!sound_step(&mut simulation, &[first, second]));
        simulation.despawn(second);
        simulation.step().unwrap();
    }
}

/// Three bodies on hinges over the ground; the one in the middle has a part `light` of the mass and the moments of the others. The forces are those of all hinges.
fn arm(light: f64, forces: &[JointForce]) -> (Simulation, Vec<Entity>) {
    let mut simulation = Simulation::new(Settings {
        time_step: 4e-3,
        threads: 1,
        ..Settings::default()
    })
    .unwrap();
    simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))
        .unwrap();
    let (mut bodies, mut above) = (Vec::new(), None);
    for (link, part) in [1.0, light, 1.0].into_iter().enumerate() {
        let at = DVec3::new(0.3 * link as f64, 0.0, 0.5);
        let body = simulation.spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.05, 0.05),
            Mass::given(part, DVec3::splat(0.01 * part)),
            Pose::from_position(at),
        ));
        let body = body.unwrap();
        let hinge = match above {
            Some(above) => Joint::new(above, body, JointKind::Revolute),
            None => Joint::to_world(body, JointKind::Revolute),
        };
        let axis = [DVec3::X, DVec3::Y, DVec3::Z][link];
        let hinge = hinge.at(at - DVec3::X * 0.15, axis);
        simulation
            .spawn_joint(hinge, JointForces(forces.to_vec()))
            .unwrap();
        bodies.push(body);
        above = Some(body);
    }
    (simulation, bodies)
}

#[test]
fn articulations_whose_state_overflows_fail_and_change_nothing() {
    let axis = JointAxis::RotationZ;
    let mut failed = 0;
    for light in [1.0, 1e-6] {
        for power in [120, 150, 153, 160, 300] {
            let large = 10_f64.powi(power);
            let motor = |stiffness: f64, velocity: f64, damping: f64| JointForce::Motor {
                axis,
                position: 1.0,
                velocity,
                stiffness,
                damping,
                effort: f64::INFINITY,
            };
            let spring = |damping: f64| JointForce::Spring {
                axis,
                stiffness: large,
                damping,
                rest: 1.0,
            };
            for forces in [
                vec![JointForce::Applied {
                    axis,
                    effort: large,
                }],
                vec![motor(0.0, large, f64::INFINITY)],
                vec![motor(0.0, large, f64::INFINITY), spring(0.0)],
                vec![motor(0.0, large, 1.0)],
                vec![motor(large, 0.0, large)],
                vec![spring(0.0)],
                vec![spring(large)],
                vec![
                    JointForce::Applied {
                        axis,
                        effort: large,
                    },
                    JointForce::Armature {
                        axis,
                        inertia: 1e-9,
                    },
                ],
            ] {
                let (mut simulation, bodies) = arm(light, &forces);
                let mut sound = true;
                for _ in 0..8 {
                    sound = sound_step(&mut simulation, &bodies);
                    if !sound {
                        break;
                    }
                }
                if sound {
                    continue;
                }
                failed += 1;
                // It can be mended: nothing of the step that failed is left.
                let mut query = simulation.world_mut().query::<&mut JointForces>();
                for mut forces in query.iter_mut(simulation.world_mut()) {
                    forces.0.clear();
                }
                for body in &bodies {
                    simulation.set(*body, Twist::default());
                }
                assert!(sound_step(&mut simulation, &bodies), "{forces:?}");
            }
        }
    }
    println!("{failed} failed");
    assert!(failed >= 10);
}
