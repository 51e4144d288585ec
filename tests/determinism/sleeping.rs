//! **Law.** Which bodies sleep and wake depends on the state and on ids alone: neither on the number of threads nor on the
//! order of spawning.
//!
//! Five heaps fall asleep body by body, and are woken by a ball, a command and a support that goes.

use crate::support::*;
use bevy_ecs::entity::Entity;
use moreau::prelude::*;

const GROUND: BodyId = BodyId(0);
const BALL: BodyId = BodyId(1);

/// Heaps side by side, and a ball for later.
fn heaps() -> Vec<Spec> {
    let mut specs = heap(3);
    let one = specs.split_off(1);
    for number in 0..5 {
        for spec in &one {
            let mut spec = spec.clone();
            spec.id.0 += 1000 * number;
            spec.pose.position.x += 2.0 * number as f64;
            spec.twist.angular *= 1.0 + number as f64;
            specs.push(spec);
        }
    }
    specs.push(Spec {
        id: BALL,
        kind: RigidBody::Kinematic,
        collider: Collider::sphere(0.2),
        pose: Pose::at(-3.0, 0.2, 0.21),
        twist: Twist::default(),
    });
    specs
}

/// Hashes on the way, and how many slept in each step.
fn story<'a>(threads: usize, specs: impl IntoIterator<Item = &'a Spec>) -> (Vec<u64>, Vec<usize>) {
    let mut settings = settings(threads);
    settings.sleeping = SleepSettings {
        enabled: Some(true),
        linear: 0.05,
        angular: 1.0,
        residual: Some(1.0),
        time: 0.1,
    };
    let mut simulation = spawn(settings, specs);
    let (mut hashes, mut asleep) = (Vec::new(), Vec::new());
    for step in 0..700 {
        match step {
            400 => {
                let ball = entity(&mut simulation, BALL.0);
                let shot = (RigidBody::Dynamic, Twist::linear(8.0, 0.0, 0.5));
                assert!(simulation.set(ball, shot));
            }
            500 => {
                let body = entity(&mut simulation, 2005 + 3 * 13);
                simulation.wake(body);
            }
            600 => {
                let ground = entity(&mut simulation, GROUND.0);
                assert!(simulation.set(ground, Pose::at(0.0, 0.0, -0.1)));
            }
            _ => {}
        }
        asleep.push(simulation.step().unwrap().sleeping);
        if step % 50 == 49 {
            hashes.push(simulation.state_hash());
        }
    }
    (hashes, asleep)
}

#[test]
fn sleep_does_not_depend_on_threads_or_spawn_order() {
    let specs = heaps();
    let expected = story(1, &specs);
    let asleep = &expected.1;
    assert!(asleep[..400].iter().any(|count| *count > 15));
    // Balls go on rolling, and meet those that sleep.
    let woke = asleep.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!(woke >= 20, "{woke} steps that woke a body");
    for threads in [2, 3, 4, 8] {
        assert_eq!(story(threads, &specs), expected, "{threads} threads");
    }
    assert_eq!(story(2, specs.iter().rev()), expected);
}

/// Most of a world that sleeps: what is solved are other arrays, with the same bits.
#[test]
fn distant_sleeping_bodies_change_no_bit() {
    let specs = heap(2);
    let run_beside = |sleepers: u64| {
        let mut simulation = spawn(settings(2), &specs);
        let heap: Vec<Entity> = specs
            .iter()
            .map(|spec| entity(&mut simulation, spec.id.0))
            .collect();
        for number in 0..sleepers {
            // Ids between those of the heap, and in mid-air.
            let body = (
                BodyId(if number < 2 { 6 + number } else { 100 + number }),
                (RigidBody::Dynamic, Sleeping),
                Collider::sphere(0.1),
                Pose::at(50.0 + number as f64, 0.0, 5.0),
            );
            simulation.spawn(body).unwrap();
        }
        for _ in 0..100 {
            let report = simulation.step().unwrap();
            assert!(report.sleeping as u64 >= sleepers);
        }
        let states = heap.iter().map(|body| {
            let (pose, twist) = (simulation.pose(*body), simulation.twist(*body));
            (pose.unwrap(), twist.unwrap())
        });
        states.collect::<Vec<_>>()
    };
    assert_eq!(run_beside(0), run_beside(100));
}
