//! **Law.** An emitter gives its `k`-th body to the first step that begins at `start + k · interval` or later, in the
//! order of its list, at a place inside its box, turned by a unit quaternion; the seed of the scene decides all
//! that is random.
//!
//! Times are compared with half a step of slack, as multiples of `h` round. Without gravity and contacts bodies
//! stay where they appear: places and orientations are compared to rounding.

use crate::support::*;
use moreau::scene::{BodySpec, Emitter};

const H: f64 = 1.0 / 200.0;

/// Bodies that meet no other: balls of two sizes in turn.
fn scene(seed: u64, emitter: Emitter) -> Scene {
    let spec = |radius| BodySpec {
        groups: CollisionGroups {
            memberships: 1,
            mask: 0,
        },
        ..BodySpec::dynamic(Shape::Sphere { radius }, DVec3::new(0.0, 0.0, 1.0))
    };
    Scene {
        seed,
        settings: weightless(),
        bodies: vec![BodySpec::fixed(
            Shape::HalfSpace { normal: DVec3::Z },
            DVec3::ZERO,
        )],
        emitters: vec![Emitter {
            bodies: vec![spec(0.1), spec(0.2)],
            ..emitter
        }],
        ..Scene::default()
    }
}

fn emitter(start: f64, interval: f64, count: usize) -> Emitter {
    Emitter {
        center: DVec3::new(3.0, -2.0, 5.0),
        half_extents: DVec3::new(0.5, 0.0, 2.0),
        start,
        interval,
        count,
        random_orientation: true,
        ..Emitter::default()
    }
}

/// Emitted bodies by id: id, radius, pose.
fn emitted(run: &mut SceneRun) -> Vec<(BodyId, f64, Pose)> {
    let world = run.simulation.world_mut();
    let mut bodies: Vec<_> = world
        .query::<(&BodyId, &Collider, &Pose)>()
        .iter(world)
        .filter_map(|(id, collider, pose)| match collider.shape() {
            Shape::Sphere { radius } => Some((*id, *radius, *pose)),
            _ => None,
        })
        .collect();
    bodies.sort_by_key(|(id, ..)| *id);
    bodies
}

#[test]
fn emitters_spawn_the_requested_number_at_the_given_times() {
    // From the start, later, at times between steps, and several in a step.
    for (start, interval, count) in [
        (0.0, 0.05, 4),
        (0.1, 0.05, 5),
        (0.0123, 0.0171, 20),
        (0.03, 0.0019, 40),
        (0.02, 0.01, 0),
    ] {
        let mut run = scene(1, emitter(start, interval, count)).start().unwrap();
        for step in 0..100 {
            let begin = f64::from(step) * H;
            let due = (0..count).filter(|k| start + *k as f64 * interval <= begin + 0.5 * H);
            let report = run.step().unwrap();
            assert_eq!(
                report.bodies,
                1 + due.count(),
                "start {start} interval {interval} at {begin} s"
            );
        }
        assert_eq!(emitted(&mut run).len(), count);
    }
}

#[test]
fn bodies_come_in_turn_inside_the_box_and_turned() {
    let of = emitter(0.0, 0.01, 40);
    let mut run = scene(7, of.clone()).start().unwrap();
    for _ in 0..100 {
        run.step().unwrap();
    }
    let bodies = emitted(&mut run);
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for (index, (id, radius, pose)) in bodies.iter().enumerate() {
        let expected = if index % 2 == 0 { 0.1 } else { 0.2 };
        assert_eq!(radius.to_bits(), f64::to_bits(expected), "body {index}");
        assert_eq!(id.0, 1 + index as u64);
        // The body's own position is added to that of the emitter.
        let offset = pose.position - of.center - DVec3::Z;
        assert!(
            offset.abs().cmple(of.half_extents + 1e-15 * 8.0).all(),
            "{offset} is outside of ±{}",
            of.half_extents
        );
        (low, high) = (low.min(offset), high.max(offset));
        let norm = pose.orientation.length();
        assert!((norm - 1.0).abs() <= 4.0 * f64::EPSILON, "norm {norm}");
        for (.., other) in &bodies[..index] {
            assert!(angle_between(pose.orientation, other.orientation) > 1e-3);
        }
    }
    // Uniform over the box: 40 draws leave a tenth of an edge empty with a probability of 0.9⁴⁰ = 1.5 %
    // at either end, and the seed is fixed.
    let extent = (high - low) / (2.0 * of.half_extents);
    assert!(extent.x > 0.8 && extent.z > 0.8, "they fill {extent}");
}

#[test]
fn without_random_orientation_bodies_keep_theirs() {
    let mut of = emitter(0.0, 0.01, 5);
    of.random_orientation = false;
    let mut run = scene(7, of).start().unwrap();
    for _ in 0..20 {
        run.step().unwrap();
    }
    for (.., pose) in emitted(&mut run) {
        assert_eq!(pose.orientation, DQuat::IDENTITY);
    }
}

#[test]
fn the_seed_decides() {
    let hash = |seed| {
        let mut run = scene(seed, emitter(0.0, 0.01, 10)).start().unwrap();
        for _ in 0..50 {
            run.step().unwrap();
        }
        run.simulation.state_hash()
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}
