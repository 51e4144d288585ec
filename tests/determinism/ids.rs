//! **Law.** Bodies without id take the next one above all ever in use, in the order in which they were spawned, however
//! they were spawned and whatever storage they got.

use bevy_ecs::prelude::*;
use moreau::prelude::*;
use moreau::scene::{BodySpec, Emitter};

fn ball(x: f64) -> impl Bundle {
    (
        RigidBody::Dynamic,
        Collider::sphere(0.1),
        CollisionGroups {
            memberships: 1,
            mask: 0,
        },
        Pose::at(x, 0.0, 5.0),
    )
}

fn id(world: &World, entity: Entity) -> u64 {
    world.get::<BodyId>(entity).unwrap().0
}

/// Bodies that come and go, more than the ECS holds back before it gives their storage out again.
const VISITORS: usize = 300;

#[track_caller]
fn recycled(bodies: &[Entity]) {
    assert!(
        !bodies.is_sorted_by_key(|entity| entity.index_u32()),
        "storage is in the order of spawning: nothing is tested"
    );
}

#[test]
fn recycled_entities_take_ids_in_the_order_of_spawning() {
    for stepped in [false, true] {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let visitors: Vec<Entity> = (0..VISITORS)
            .map(|_| simulation.spawn(ball(0.0)).unwrap())
            .collect();
        if stepped {
            simulation.step().unwrap();
        }
        for entity in visitors {
            simulation.despawn(entity);
        }
        let bodies: Vec<Entity> = (0..20)
            .map(|_| simulation.spawn(ball(0.0)).unwrap())
            .collect();
        recycled(&bodies);
        simulation.step().unwrap();
        let ids: Vec<usize> = bodies
            .iter()
            .map(|entity| id(simulation.world(), *entity) as usize)
            .collect();
        // Ids are not recycled.
        assert_eq!(ids, (VISITORS..VISITORS + 20).collect::<Vec<_>>());
    }
}

#[test]
fn recycled_entities_of_a_world_of_the_user_do_too() {
    for stepped in [false, true] {
        let (mut world, mut schedule) = (World::new(), Schedule::default());
        moreau::install(&mut world, &mut schedule, Settings::default()).unwrap();
        let visitors: Vec<Entity> = (0..VISITORS).map(|_| world.spawn(ball(0.0)).id()).collect();
        if stepped {
            schedule.run(&mut world);
        }
        for entity in visitors {
            world.despawn(entity);
        }
        let bodies: Vec<Entity> = (0..20).map(|_| world.spawn(ball(0.0)).id()).collect();
        recycled(&bodies);
        schedule.run(&mut world);
        assert!(world.resource::<StepOutcome>().error().is_none());
        let ids: Vec<u64> = bodies.iter().map(|entity| id(&world, *entity)).collect();
        assert!(
            ids.is_sorted(),
            "stepped before: {stepped}; in the order of spawning the ids are {ids:?}"
        );
    }
}

#[test]
fn bodies_without_id_go_along_with_an_emitter() {
    let spec = BodySpec {
        groups: CollisionGroups {
            memberships: 1,
            mask: 0,
        },
        ..BodySpec::dynamic(
            Shape::Sphere { radius: 0.1 },
            glam::DVec3::new(0.0, 0.0, 5.0),
        )
    };
    let scene = Scene {
        emitters: vec![Emitter {
            interval: 0.01,
            count: 40,
            bodies: vec![spec],
            ..Emitter::default()
        }],
        ..Scene::default()
    };
    let mut run = scene.start().unwrap();
    let mut known: Vec<(Entity, u64)> = Vec::new();
    for step in 0..100 {
        let x = f64::from(step);
        // Into the world directly, through the simulation, both, neither.
        if step % 4 < 2 {
            run.simulation.world_mut().spawn(ball(x));
        }
        if step % 3 == 0 {
            run.simulation.spawn(ball(x)).unwrap();
        }
        run.step()
            .unwrap_or_else(|error| panic!("step {step}: {error}"));
        // No id changes, and no two bodies share one.
        let world = run.simulation.world_mut();
        for (entity, id) in &known {
            assert_eq!(self::id(world, *entity), *id, "step {step}");
        }
        known = world
            .query::<(Entity, &BodyId)>()
            .iter(world)
            .map(|(entity, id)| (entity, id.0))
            .collect();
        let mut ids: Vec<u64> = known.iter().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
        assert!(!ids.contains(&BodyId::UNASSIGNED.0));
    }
    assert_eq!(known.len(), 40 + 50 + 34);
}
