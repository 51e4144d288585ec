//! Bodies that lost a part of themselves: a typed error that names it, until it is back.

use crate::support::*;
use bevy_ecs::component::Component;
use moreau::BodyError;

/// Takes a component off a ball in flight, which every step then says, and puts it back.
fn taken<C: Component + Clone>(name: &str) {
    let (mut simulation, ball) = healthy();
    let before = simulation.step().unwrap();
    let kept = simulation.world().get::<C>(ball).unwrap().clone();
    simulation.world_mut().entity_mut(ball).remove::<C>();
    let hash = simulation.state_hash();
    for _ in 0..2 {
        let error = simulation.step().unwrap_err();
        let StepError::Body { entity, source, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*entity, ball, "{name}");
        assert!(
            matches!(source, BodyError::Missing { part } if *part == name),
            "{error}"
        );
        assert_eq!(simulation.state_hash(), hash);
    }
    simulation.set(ball, kept);
    let report = simulation.step().unwrap();
    assert_eq!((report.step, report.bodies), (before.step + 1, 2));
}

#[test]
fn a_body_without_one_of_its_components_fails_the_step() {
    taken::<Material>("Material");
    taken::<Pose>("Pose");
    taken::<Twist>("Twist");
    taken::<Mass>("Mass");
    taken::<Wrench>("Wrench");
    taken::<BodyId>("BodyId");
    taken::<CollisionGroups>("CollisionGroups");
}

#[test]
fn a_collider_without_a_body_fails_the_step() {
    taken::<RigidBody>("RigidBody");
    let (mut simulation, _) = healthy();
    let error = simulation.spawn(Collider::sphere(1.0)).unwrap_err();
    names(&error.to_string(), &["RigidBody", "missing"]);
    let stray = simulation.world_mut().spawn(Collider::sphere(1.0)).id();
    let error = simulation.step().unwrap_err();
    names(&error.to_string(), &["RigidBody", "missing"]);
    simulation.despawn(stray);
    simulation.step().unwrap();
}
