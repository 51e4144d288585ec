//! Which bodies count.

use bevy_ecs::prelude::Entity;
use moreau::prelude::*;

/// Balls in a row along x, at 0, 2, 4, …
fn row(kinds: &[RigidBody]) -> (Simulation, Vec<Entity>) {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let balls = kinds.iter().zip(0..).map(|(kind, k)| {
        (
            *kind,
            Collider::sphere(0.5),
            Pose::at(2.0 * f64::from(k), 0.0, 0.5),
        )
    });
    let entities = simulation.spawn_batch(balls).unwrap();
    (simulation, entities)
}

fn along_x() -> Ray {
    Ray::new(DVec3::new(-5.0, 0.0, 0.5), DVec3::X).unwrap()
}

fn seen(simulation: &mut Simulation, filter: &QueryFilter) -> Vec<Entity> {
    let hits = simulation.queries().unwrap().ray_all(&along_x(), filter);
    hits.into_iter().map(|hit| hit.entity).collect()
}

#[test]
fn kinds_entities_groups_and_predicates_choose() {
    use RigidBody::{Dynamic, Kinematic, Static};
    let (mut simulation, e) = row(&[Dynamic, Static, Kinematic, Dynamic]);
    let every = QueryFilter::new();
    assert_eq!(seen(&mut simulation, &every), e);
    assert_eq!(seen(&mut simulation, &every.only(&[Dynamic])), [e[0], e[3]]);
    assert_eq!(
        seen(&mut simulation, &every.only(&[Static, Kinematic])),
        [e[1], e[2]]
    );
    assert_eq!(seen(&mut simulation, &every.only(&[])), []);
    assert_eq!(
        seen(&mut simulation, &every.without(&[e[0], e[2]])),
        [e[1], e[3]]
    );
    let third = |entity: Entity| entity == e[2];
    assert_eq!(seen(&mut simulation, &every.filter(&third)), [e[2]]);
    let groups = |memberships, mask| CollisionGroups { memberships, mask };
    simulation.set(e[1], groups(0b10, 0b01));
    assert_eq!(seen(&mut simulation, &every.groups(groups(0b01, 0b10))), e);
    assert_eq!(
        seen(&mut simulation, &every.groups(groups(0b01, 0b01))),
        [e[0], e[2], e[3]]
    );
    assert_eq!(
        seen(&mut simulation, &every.groups(groups(0b10, 0b10))),
        [e[0], e[2], e[3]]
    );
    // All at once.
    let all = every.only(&[Dynamic]).without(&e[..1]).awake();
    assert_eq!(seen(&mut simulation, &all), [e[3]]);
    let hit = simulation.queries().unwrap().ray(&along_x(), &all);
    assert_eq!(hit.map(|hit| hit.entity), Some(e[3]));
}

#[test]
fn sleepers_count_or_not_from_the_step_on_that_lays_them_down() {
    let (mut simulation, e) = row(&[RigidBody::Dynamic; 2]);
    let floor = simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))
        .unwrap();
    let every = QueryFilter::new();
    for _ in 0..400 {
        simulation.step().unwrap();
        let sleeping: Vec<_> = e
            .iter()
            .copied()
            .filter(|body| simulation.is_sleeping(*body))
            .collect();
        assert_eq!(seen(&mut simulation, &every.sleeping()), sleeping);
    }
    assert!(simulation.is_sleeping(e[0]));
    simulation.wake(e[0]);
    assert_eq!(seen(&mut simulation, &every.awake()), [e[0]]);
    assert_eq!(seen(&mut simulation, &every.sleeping()), [e[1]]);
    let down = Ray::new(DVec3::new(1.0, 0.0, 5.0), DVec3::NEG_Z).unwrap();
    let queries = simulation.queries().unwrap();
    assert_eq!(
        queries.ray(&down, &every.awake()).map(|hit| hit.entity),
        Some(floor)
    );
}

#[test]
fn sensors_count_unless_only_what_is_solid_is_asked_for() {
    let (mut simulation, e) = row(&[RigidBody::Static; 3]);
    let every = QueryFilter::new();
    simulation.set(e[1], Sensor);
    assert_eq!(seen(&mut simulation, &every), e);
    assert_eq!(seen(&mut simulation, &every.solid()), [e[0], e[2]]);
    assert_eq!(seen(&mut simulation, &every.sensors()), [e[1]]);
    let (ball, wide) = (Collider::sphere(1e3), Pose::default());
    let touched = |simulation: &mut Simulation| {
        let found = simulation.queries().unwrap();
        let found = found.contacts_of(&ball, &wide, 0.0, &every).unwrap();
        found.iter().any(|found| found.entity == e[1])
    };
    assert!(!touched(&mut simulation));
    simulation.world_mut().entity_mut(e[1]).remove::<Sensor>();
    assert_eq!(seen(&mut simulation, &every.solid()), e);
    assert!(touched(&mut simulation));
}
