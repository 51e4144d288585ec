//! Bodies with the components of `moreau` as systems.

use moreau::glam::{DQuat, DVec3};
use moreau::{Mass, Pose, Twist};
use moreau_systems::rigid_bodies::pose_and_twist;
use moreau_systems::*;

/// A pendulum that is a body of the engine: what its components say before a step is what the step begins with, and what it ends with they say after it. The inertia
/// is the same in any principal frame.
#[test]
fn the_components_of_the_engine_are_the_state() {
    let turn = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let mass = Mass::given(2.0, DVec3::new(1.0, 0.1, 1.0)).with_principal_frame(turn);
    let body = NewtonEuler::with_mass(&mass).unwrap();
    for (k, moment) in [0.1, 1.0, 1.0].into_iter().enumerate() {
        assert!((body.inertia[(k, k)] - moment).abs() < 1e-15);
    }
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let start = (Pose::at(0.5, 0.0, 0.0), Twist::default(), mass);
    let load = |body: &mut NewtonEuler| body.force = vec![0.0, 0.0, -2.0 * 9.81].into();
    let pendulum = simulation
        .spawn_rigid_body(start, load, Integrator::moreau_jean(0.5))
        .unwrap();
    let knee = Relation::lagrangian(BodyJoint::ball([-0.5, 0.0, 0.0], [0.0; 3]));
    let law = NonsmoothLaw::Equality { rows: 3 };
    simulation
        .spawn_interaction(Joins::one(pendulum), knee, law)
        .unwrap();
    for _ in 0..100 {
        assert!(simulation.step().unwrap().converged);
        let (pose, twist) = pose_and_twist(simulation.state(pendulum).unwrap()).unwrap();
        assert_eq!(simulation.world().get(pendulum), Some(&pose));
        assert_eq!(simulation.world().get(pendulum), Some(&twist));
    }
    // ½ (J + m l²) ω² = m g l sin: from level, the angle below it is that of the centre.
    let pose = *simulation.world().get::<Pose>(pendulum).unwrap();
    let twist = *simulation.world().get::<Twist>(pendulum).unwrap();
    let energy = 0.5 * 2.0 * twist.linear.length_squared()
        + 0.5 * twist.angular.y * twist.angular.y
        + 2.0 * 9.81 * pose.position.z;
    assert!(energy.abs() < 1e-4 && pose.position.z < -0.015, "{energy}");
    // What is changed by hand counts.
    let halt = Twist::default();
    simulation.world_mut().entity_mut(pendulum).insert(halt);
    assert!(simulation.step().unwrap().converged);
    let twist = simulation.world().get::<Twist>(pendulum).unwrap();
    assert!(twist.linear.length() < 0.01);
}

/// From event to event, too: a ball of the engine falls, `v = −g t`, and what is changed by hand counts.
#[test]
fn the_components_of_the_engine_go_from_event_to_event() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let mass = Mass::given(2.0, DVec3::splat(0.1));
    let start = (Pose::at(0.0, 0.0, 5.0), Twist::default(), mass);
    let load = |body: &mut NewtonEuler| body.force = vec![0.0, 0.0, -2.0 * 9.81].into();
    let ball = simulation
        .spawn_rigid_body(start, load, Integrator::moreau_jean(0.5))
        .unwrap();
    let settings = EventSettings::default();
    simulation.advance_by_events(0.5, &settings).unwrap();
    let twist = *simulation.world().get::<Twist>(ball).unwrap();
    let pose = *simulation.world().get::<Pose>(ball).unwrap();
    assert!((twist.linear.z + 0.5 * 9.81).abs() < 1e-12);
    assert!((pose.position.z - 5.0 + 0.125 * 9.81).abs() < 1e-12);
    let thrown = Twist {
        linear: DVec3::new(3.0, 0.0, 0.0),
        ..Twist::default()
    };
    simulation.world_mut().entity_mut(ball).insert(thrown);
    simulation.advance_by_events(1.5, &settings).unwrap();
    let pose = simulation.world().get::<Pose>(ball).unwrap();
    assert!((pose.position.x - 3.0).abs() < 1e-12);
}

/// A mass that follows from a shape is no mass here.
#[test]
fn a_mass_of_a_shape_is_refused() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let start = (Pose::default(), Twist::default(), Mass::from_shape());
    let refused = simulation.spawn_rigid_body(start, |_| {}, Integrator::moreau_jean(0.5));
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("not from a shape")
    );
}
