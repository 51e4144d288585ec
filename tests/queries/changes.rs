//! What was changed by hand, by systems and by steps is seen.

use crate::support::{Random, check, world};
use bevy_ecs::prelude::*;
use moreau::prelude::*;

#[test]
fn bodies_are_seen_where_they_were_put_without_a_step() {
    let mut simulation = world(60, Settings::default());
    let mut random = Random::new(5);
    let mut entities: Vec<Entity> = {
        let world = simulation.world_mut();
        world
            .query_filtered::<Entity, With<RigidBody>>()
            .iter(world)
            .collect()
    };
    for round in 0..400 {
        let k = random.below(entities.len());
        match random.below(8) {
            0 => {
                simulation.despawn(entities.swap_remove(k));
            }
            1 | 2 => {
                let body = (RigidBody::Dynamic, random.collider(), random.pose(8.0));
                entities.push(simulation.spawn(body).unwrap());
            }
            3 => {
                let pose = random.pose(8.0);
                if let Some(mut own) = simulation.world_mut().get_mut::<Pose>(entities[k]) {
                    *own = pose;
                }
            }
            4 => {
                let collider = random.collider();
                simulation.set(entities[k], collider);
            }
            5 => {
                simulation
                    .world_mut()
                    .entity_mut(entities[k])
                    .remove::<Collider>();
                entities.swap_remove(k);
            }
            6 => {
                // Another body takes the place of one that is gone.
                let gone = entities.swap_remove(k);
                simulation.despawn(gone);
                let body = (RigidBody::Static, random.collider(), random.pose(8.0));
                entities.push(simulation.world_mut().spawn(body).id());
            }
            _ => {
                let world = simulation.world_mut();
                for mut pose in world.query::<&mut Pose>().iter_mut(world) {
                    pose.position.y += 0.01;
                }
            }
        }
        check(&mut simulation, &mut random, 5);
        assert_eq!(
            simulation.queries().unwrap().len(),
            entities.len(),
            "{round}"
        );
    }
}

#[test]
fn bodies_that_a_step_moved_are_seen_where_they_are() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let floor = (RigidBody::Static, Collider::half_space(DVec3::Z));
    simulation.spawn(floor).unwrap();
    let mut random = Random::new(6);
    for k in 0..40 {
        let place = Pose::at(f64::from(k % 6), f64::from(k / 6), 1.5 + random.unit());
        let collider = random.collider();
        let turned = place.with_orientation(random.pose(1.0).orientation);
        simulation
            .spawn((RigidBody::Dynamic, collider, turned))
            .unwrap();
    }
    for _ in 0..60 {
        simulation.step().unwrap();
        check(&mut simulation, &mut random, 10);
    }
}

/// The centre of mass of a compound depends on the densities of its parts, and the place of its shape on that.
#[test]
fn the_materials_of_parts_move_the_shape() {
    let ball = Shape::Sphere { radius: 0.5 };
    let parts = vec![
        (Pose::at(-1.0, 0.0, 0.0), ball.clone()),
        (Pose::at(1.0, 0.0, 0.0), ball),
    ];
    let densities = [1.0, 3.0].map(|density| Material {
        density,
        ..Material::default()
    });
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let body = (
        RigidBody::Dynamic,
        Collider::compound(parts),
        PartMaterials(densities.to_vec()),
    );
    let body = simulation.spawn(body).unwrap();
    let ray = Ray::new(DVec3::X * 5.0, DVec3::NEG_X).unwrap();
    let end = |simulation: &mut Simulation| {
        let hit = simulation.queries().unwrap().ray(&ray, &QueryFilter::new());
        5.0 - hit.unwrap().at.distance
    };
    // The centre is at 0.5 m from the middle, towards the heavy ball, whose end is at 1.5 m.
    assert!((end(&mut simulation) - 1.0).abs() < 1e-14);
    simulation
        .world_mut()
        .entity_mut(body)
        .remove::<PartMaterials>();
    assert!((end(&mut simulation) - 1.5).abs() < 1e-14);
}

#[test]
fn a_body_that_the_step_would_refuse_is_named_and_others_are_seen_again_after_it() {
    let mut simulation = world(10, Settings::default());
    let body = simulation
        .spawn((RigidBody::Dynamic, Collider::sphere(0.1)))
        .unwrap();
    simulation.queries().unwrap();
    simulation.set(body, Pose::at(f64::NAN, 0.0, 0.0));
    for _ in 0..2 {
        let error = simulation.queries().unwrap_err();
        assert!(
            matches!(error, QueryError::Body { entity, .. } if entity == body),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains("position is NaN, expected finite"),
            "{error}"
        );
    }
    simulation.set(body, Pose::at(0.0, 0.0, 0.0));
    check(&mut simulation, &mut Random::new(7), 100);
    simulation.set(body, Collider::sphere(-1.0));
    assert!(simulation.queries().is_err());
    simulation
        .world_mut()
        .entity_mut(body)
        .remove::<CollisionGroups>();
    simulation.set(body, Collider::sphere(1.0));
    let error = simulation.queries().unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
}
