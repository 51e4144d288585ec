//! A healthy world to which bad input is given.

pub(crate) use bevy_ecs::bundle::Bundle;
pub(crate) use bevy_ecs::entity::Entity;
pub(crate) use glam::{DQuat, DVec3};
pub(crate) use moreau::prelude::*;

pub(crate) const NOT_FINITE: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// A ball in flight over the ground, after a few steps; no gravity-driven state is at rest.
pub(crate) fn healthy() -> (Simulation, Entity) {
    let mut simulation = Simulation::new(Settings {
        threads: 1,
        ..Settings::default()
    })
    .unwrap();
    simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))
        .unwrap();
    let ball = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(0.5),
            Pose::at(0.0, 0.0, 2.0),
            Twist::linear(1.0, 0.0, 0.0),
        ))
        .unwrap();
    for _ in 0..5 {
        simulation.step().unwrap();
    }
    (simulation, ball)
}

/// All parts stand in the text.
#[track_caller]
pub(crate) fn names(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "\"{text}\" does not name \"{part}\"");
    }
}

/// Spawning the bundle is refused, names the parts and changes nothing.
#[track_caller]
pub(crate) fn refused(bundle: impl Bundle, parts: &[&str]) {
    let (mut simulation, _) = healthy();
    let hash = simulation.state_hash();
    let entities = simulation.world().entities().count_spawned();
    let error = simulation.spawn(bundle).unwrap_err();
    let StepError::Body { entity, .. } = &error else {
        panic!("{error}");
    };
    let text = error.to_string();
    names(&text, parts);
    names(&text, &[&entity.to_string()]);
    assert_eq!(simulation.state_hash(), hash, "{text}");
    assert_eq!(simulation.world().entities().count_spawned(), entities);
    simulation.step().unwrap();
}

/// Setting the bundle on the ball makes the step fail, names the parts, changes nothing, and can be mended.
#[track_caller]
pub(crate) fn step_refuses(bad: impl Bundle, good: impl Bundle, parts: &[&str]) {
    let (mut simulation, ball) = healthy();
    simulation.set(ball, bad);
    let (hash, time) = (simulation.state_hash(), simulation.time());
    let contacts = simulation.contacts().len();
    for _ in 0..2 {
        let error = simulation.step().unwrap_err();
        let text = error.to_string();
        names(&text, parts);
        names(&text, &["body 1"]);
        assert_eq!(simulation.state_hash(), hash, "{text}");
        assert_eq!(simulation.time().to_bits(), time.to_bits());
        assert_eq!(simulation.contacts().len(), contacts);
    }
    simulation.set(ball, good);
    simulation.step().unwrap();
}
