//! **Law.** Results depend on the ids of bodies and not on the order in which they were spawned or are stored.

use crate::support::*;
use bevy_ecs::entity::Entity;
use moreau::prelude::*;
use moreau::scene::Lcg;

const STEPS: usize = 60;

/// A permutation of the specs.
fn shuffled(specs: &[Spec], seed: u64) -> Vec<&Spec> {
    let mut random = Lcg::new(seed);
    let mut order: Vec<&Spec> = specs.iter().collect();
    for i in (1..order.len()).rev() {
        order.swap(i, (random.uniform() * (i + 1) as f64) as usize);
    }
    order
}

#[test]
fn spawn_order_changes_no_bit() {
    let specs = heap(4);
    let expected = run(&mut spawn(settings(2), &specs), STEPS);
    assert!(expected.1 > 100, "only {} contacts", expected.1);
    let backwards = run(&mut spawn(settings(2), specs.iter().rev()), STEPS);
    assert_eq!(backwards, expected);
    for seed in [1, 2, 3] {
        let order = shuffled(&specs, seed);
        assert_eq!(run(&mut spawn(settings(2), order), STEPS), expected);
    }
}

/// States of the specs after the run, in the order of the specs, which are spawned in another `order` with the ids that it gives.
fn states(specs: &[Spec], order: &[usize], id: impl Fn(usize) -> BodyId) -> Vec<(Pose, Twist)> {
    let mut simulation = Simulation::new(settings(2)).unwrap();
    let mut entities = vec![Entity::PLACEHOLDER; specs.len()];
    for (number, index) in order.iter().enumerate() {
        let id = id(number);
        entities[*index] = simulation
            .spawn(
                Spec {
                    id,
                    ..specs[*index].clone()
                }
                .bundle(),
            )
            .unwrap();
    }
    run(&mut simulation, STEPS);
    let state = |body: &Entity| {
        (
            simulation.pose(*body).unwrap(),
            simulation.twist(*body).unwrap(),
        )
    };
    entities.iter().map(state).collect()
}

/// Without an id a body takes the next one: then the order of spawning is that of the ids, and another order another numbering, with other
/// rounding. Only the order of ids counts, not their values.
#[test]
fn without_ids_the_order_of_spawning_is_the_order_of_ids() {
    let specs = heap(4);
    let forwards: Vec<usize> = (0..specs.len()).collect();
    let backwards: Vec<usize> = forwards.iter().rev().copied().collect();
    let none = |_| BodyId::UNASSIGNED;
    let spread = |number: usize| BodyId(7 + 5 * number as u64);
    let mut runs = Vec::new();
    for order in [&forwards, &backwards] {
        let without = states(&specs, order, none);
        assert_eq!(without, states(&specs, order, spread));
        runs.push(without);
    }
    assert_ne!(runs[0], runs[1], "the README says that they differ");
}

#[test]
fn despawned_neighbours_in_storage_change_no_bit() {
    // Bodies that come and go before the first step leave holes in the storage behind.
    let specs = heap(4);
    let expected = run(&mut spawn(settings(2), &specs), STEPS);
    let mut simulation = Simulation::new(settings(2)).unwrap();
    let mut gone: Vec<Entity> = Vec::new();
    for spec in shuffled(&specs, 9) {
        let other = (
            BodyId(100_000 + spec.id.0),
            RigidBody::Dynamic,
            Collider::sphere(1.0),
        );
        gone.push(simulation.spawn(other).unwrap());
        simulation.spawn(spec.bundle()).unwrap();
        if gone.len() > 3 {
            simulation.despawn(gone.remove(0));
        }
    }
    for body in gone {
        simulation.despawn(body);
    }
    assert_eq!(run(&mut simulation, STEPS), expected);
}

#[test]
fn a_body_added_mid_run_changes_no_bit_of_bodies_it_does_not_touch() {
    let specs = heap(3);
    let expected = run(&mut spawn(settings(2), &specs), STEPS);
    let mut simulation = spawn(settings(2), &specs);
    run(&mut simulation, STEPS / 2);
    let visitor = simulation
        .spawn((
            BodyId(6),
            RigidBody::Dynamic,
            Collider::sphere(0.1),
            Pose::at(100.0, 0.0, 50.0),
        ))
        .unwrap();
    run(&mut simulation, 3);
    simulation.despawn(visitor);
    run(&mut simulation, STEPS - STEPS / 2 - 3);
    assert_eq!(simulation.state_hash(), expected.0);
}

#[test]
fn a_body_spawned_again_in_its_state_continues_up_to_its_warm_start() {
    // Storage is new, id and state are the same: without warm starts nothing else is remembered.
    let specs = heap(3);
    let cold = Settings {
        warm_start: false,
        ..settings(2)
    };
    let expected = run(&mut spawn(cold, &specs), STEPS);
    let mut simulation = spawn(cold, &specs);
    run(&mut simulation, STEPS / 2);
    let bodies: Vec<(Entity, BodyId)> = simulation
        .world_mut()
        .query::<(Entity, &BodyId)>()
        .iter(simulation.world())
        .map(|(entity, id)| (entity, *id))
        .collect();
    for (entity, id) in bodies {
        let spec = specs.iter().find(|spec| spec.id == id).unwrap();
        let state = (
            simulation.pose(entity).unwrap(),
            simulation.twist(entity).unwrap(),
        );
        simulation.despawn(entity);
        let again = simulation.spawn(spec.bundle()).unwrap();
        simulation.set(again, state);
    }
    run(&mut simulation, STEPS - STEPS / 2);
    assert_eq!(simulation.state_hash(), expected.0);
}

#[test]
fn a_restarted_simulation_continues_with_the_same_bits() {
    // Without warm starts the state is all there is.
    let specs = heap(3);
    let cold = Settings {
        warm_start: false,
        ..settings(2)
    };
    let mut first = spawn(cold, &specs);
    run(&mut first, 20);
    let saved: Vec<(BodyId, Pose, Twist)> = first
        .world_mut()
        .query::<(&BodyId, &Pose, &Twist)>()
        .iter(first.world())
        .map(|(id, pose, twist)| (*id, *pose, *twist))
        .collect();
    let resumed: Vec<Spec> = specs
        .iter()
        .map(|spec| {
            let (_, pose, twist) = saved.iter().find(|(id, ..)| *id == spec.id).unwrap();
            Spec {
                pose: *pose,
                twist: *twist,
                ..spec.clone()
            }
        })
        .collect();
    let mut second = spawn(cold, &resumed);
    assert_eq!(run(&mut first, 20).0, run(&mut second, 20).0);
}
