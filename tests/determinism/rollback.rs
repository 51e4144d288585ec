//! **Law.** Forks, and steps that are made again after a rollback, have the bits of the steps of the world they are of.

use crate::snapshots::{Course, line, steps};
use crate::support::{entity, heap, spawn};
use bevy_ecs::name::Name;
use moreau::prelude::*;
use rayon::prelude::*;

#[test]
fn forks_side_by_side_have_the_same_bits() {
    let mut simulation = spawn(Settings::default(), &heap(4));
    steps(&mut simulation, 40);
    let forks: Vec<Simulation> = (0..64).map(|_| simulation.fork().unwrap()).collect();
    let expected = steps(&mut simulation, 15);
    let courses = forks.into_par_iter().map(|mut fork| steps(&mut fork, 15));
    let courses: Vec<Course> = courses.collect();
    assert!(courses.iter().all(|course| *course == expected));
}

#[test]
fn a_rollback_goes_back_any_number_of_its_steps() {
    let mut simulation = spawn(Settings::default(), &heap(3));
    let mut rollback = Rollback::new(10);
    let mut lines = Vec::new();
    for _ in 0..60 {
        lines.push(line(simulation.step().unwrap()));
        rollback.push(&mut simulation).unwrap();
    }
    let end = simulation.state_hash();
    assert_eq!(rollback.len(), 10);
    for back in [9, 1, 0, 4] {
        rollback.restore(&mut simulation, back).unwrap();
        for known in &lines[60 - back..] {
            let found = line(simulation.step().unwrap());
            assert_eq!(found, *known, "{back} steps back");
            rollback.push(&mut simulation).unwrap();
        }
        assert_eq!(simulation.state_hash(), end);
    }
    let error = rollback.restore(&mut simulation, 10).unwrap_err();
    assert!(matches!(
        error,
        SnapshotError::TooFarBack { back: 10, kept: 9 }
    ));
    assert_eq!(simulation.state_hash(), end);
}

/// What the bodies of a world are.
fn described(simulation: &mut Simulation) -> Vec<String> {
    type Is = (
        &'static BodyId,
        &'static RigidBody,
        &'static Material,
        &'static Mass,
        Option<&'static GravityScale>,
        Option<&'static Name>,
    );
    let mut query = simulation.world_mut().query::<Is>();
    let mut bodies: Vec<_> = query.iter(simulation.world()).collect();
    bodies.sort_by_key(|(id, ..)| **id);
    bodies.iter().map(|body| format!("{body:?}")).collect()
}

/// Snapshots share what bodies are as long as it does not change: they see it when it does.
#[test]
fn a_rollback_sees_what_bodies_are_changed_to() {
    let mut simulation = spawn(Settings::default(), &heap(2));
    let mut rollback = Rollback::new(40);
    let one = entity(&mut simulation, 5);
    for step in 0..30 {
        match step {
            5 => drop(simulation.set(one, GravityScale(0.5))),
            8 => drop(simulation.set(one, Name::new("named"))),
            11 => drop(simulation.world_mut().entity_mut(one).remove::<Name>()),
            14 => drop(
                simulation
                    .world_mut()
                    .entity_mut(one)
                    .take::<GravityScale>(),
            ),
            17 => drop(simulation.set(one, Material::with_friction(0.1))),
            20 => drop(simulation.set(one, GravityScale(1.0))),
            23 => drop(
                simulation
                    .world_mut()
                    .entity_mut(one)
                    .take::<GravityScale>(),
            ),
            26 => drop(simulation.despawn(one)),
            _ => {}
        }
        simulation.step().unwrap();
        rollback.push(&mut simulation).unwrap();
        let mut fork = Simulation::from_snapshot(rollback.back(0).unwrap()).unwrap();
        assert_eq!(
            described(&mut fork),
            described(&mut simulation),
            "step {step}"
        );
        // Without a step between a change and the next snapshot.
        let name = Name::new(format!("after step {step}"));
        if step % 3 == 1 && step < 26 {
            simulation.set(one, (name, Material::with_friction(0.4)));
            let mut other = simulation.fork().unwrap();
            assert_eq!(described(&mut other), described(&mut simulation));
            simulation.set(one, Material::default());
            simulation.world_mut().entity_mut(one).remove::<Name>();
            let mut other = simulation.fork().unwrap();
            assert_eq!(described(&mut other), described(&mut simulation));
        }
    }
}

/// A mass that is put on anew and comes to what it was wakes nobody, in what goes on and in what is restored.
#[test]
fn a_mass_that_is_what_it_was_does_not_wake_a_restored_body() {
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    let ground = (RigidBody::Static, Collider::half_space(DVec3::Z));
    simulation.spawn(ground).unwrap();
    let cube = Collider::cuboid(0.1, 0.1, 0.1);
    let cube = (RigidBody::Dynamic, cube, Pose::at(0.0, 0.0, 0.1));
    let cube = simulation.spawn(cube).unwrap();
    while !simulation.is_sleeping(cube) {
        simulation.step().unwrap();
    }
    simulation.set(cube, Mass::from_shape());
    let mut fork = simulation.fork().unwrap();
    for world in [&mut simulation, &mut fork] {
        assert_eq!(world.step().unwrap().sleeping, 1);
        assert!(world.events().sleep.is_empty());
    }
}
