//! **Law.** Bodies spawned at once are those spawned one by one: the same ids, the same bits. A batch with a wrong
//! body leaves nothing behind.

use crate::support::*;

fn row(count: u32, wrong: Option<u32>) -> impl Iterator<Item = (RigidBody, Collider, Pose, Twist)> {
    let ball = Collider::sphere(0.1);
    (0..count).map(move |i| {
        let x = if wrong == Some(i) {
            f64::NAN
        } else {
            0.15 * f64::from(i)
        };
        let pose = Pose::at(x, 0.0, 0.1);
        let twist = Twist::linear(0.0, 0.0, f64::from(i % 3));
        (RigidBody::Dynamic, ball.clone(), pose, twist)
    })
}

#[test]
fn a_batch_equals_spawning_one_by_one() {
    let mut batch = Simulation::new(reference()).unwrap();
    let mut single = Simulation::new(reference()).unwrap();
    for simulation in [&mut batch, &mut single] {
        ground(simulation, Material::default());
    }
    let together = batch.spawn_batch(row(50, None)).unwrap();
    let alone: Vec<Entity> = row(50, None)
        .map(|body| single.spawn(body).unwrap())
        .collect();
    for (i, (a, b)) in together.iter().zip(&alone).enumerate() {
        assert_eq!(batch.world().get::<BodyId>(*a), Some(&BodyId(1 + i as u64)));
        assert_eq!(mass(&batch, *a), mass(&single, *b));
    }
    for _ in 0..20 {
        batch.step().unwrap();
        single.step().unwrap();
    }
    assert_eq!(batch.state_hash(), single.state_hash());
    assert_eq!(batch.contacts().len(), single.contacts().len());
}

#[test]
fn a_batch_with_a_wrong_body_leaves_nothing_behind() {
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    simulation.step().unwrap();
    let entities = simulation.world().entities().count_spawned();
    let error = simulation.spawn_batch(row(50, Some(30))).unwrap_err();
    assert!(
        matches!(error, StepError::Body { id: BodyId(31), .. }),
        "{error}"
    );
    assert_eq!(simulation.world().entities().count_spawned(), entities);
    assert_eq!(simulation.step().unwrap().bodies, 1);
    let next = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.1)));
    assert_eq!(
        simulation.world().get::<BodyId>(next.unwrap()),
        Some(&BodyId(1))
    );
}
