//! **Law.** An emitter gives its `k`-th body to the first step that begins at `start + k · interval` or later, in the
//! order of its list, at a place inside its box, turned by a unit quaternion; the seed of the scene decides all
//! that is random. No body appears in another that it would meet: it waits for room, and those after it with it.
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

/// Floor, four walls of the half-width `w`, and an emitter above it whose bodies are in each other's way.
fn crowded(w: f64, bodies: Vec<BodySpec>, emitter: Emitter) -> Scene {
    let wall =
        |normal: DVec3, position: DVec3| BodySpec::fixed(Shape::HalfSpace { normal }, position);
    let walls = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y].map(|n| wall(n, -w * n));
    Scene {
        seed: 3,
        settings: Settings {
            time_step: H,
            threads: 1,
            ..Settings::default()
        },
        bodies: [wall(DVec3::Z, DVec3::ZERO)]
            .into_iter()
            .chain(walls)
            .collect(),
        emitters: vec![Emitter { bodies, ..emitter }],
        ..Scene::default()
    }
}

fn solids() -> Vec<BodySpec> {
    let corner = |i: u8| [1, 2, 4].map(|bit| if i & bit == 0 { -0.09 } else { 0.07 });
    let cuboid = |x: f64, y: f64, z: f64| Shape::Cuboid {
        half_extents: DVec3::new(x, y, z),
    };
    let at = |x: f64| moreau::geometry::Frame::from_position(DVec3::new(x, 0.0, 0.0));
    [
        cuboid(0.1, 0.08, 0.06),
        Shape::Sphere { radius: 0.1 },
        Shape::Capsule {
            half_height: 0.1,
            radius: 0.05,
        },
        Shape::Cylinder {
            half_height: 0.1,
            radius: 0.08,
        },
        Shape::Cone {
            half_height: 0.1,
            radius: 0.1,
        },
        Shape::ConvexHull {
            points: (0..8).map(|i| corner(i).into()).collect(),
        },
        Shape::Compound {
            parts: vec![
                (at(0.1), cuboid(0.1, 0.03, 0.03)),
                (at(-0.1), Shape::Sphere { radius: 0.06 }),
            ],
        },
    ]
    .map(|shape| BodySpec::dynamic(shape, DVec3::ZERO))
    .into()
}

/// The deepest overlap of a pair of bodies, seen by the narrow phase alone.
fn deepest_overlap(run: &mut SceneRun) -> f64 {
    let world = run.simulation.world_mut();
    let mut bodies: Vec<_> = world
        .query::<(&BodyId, &RigidBody, &Collider, &Pose)>()
        .iter(world)
        .map(|(id, kind, collider, pose)| {
            let frame = pose.of_shape(collider.center_of_mass().unwrap());
            (*id, *kind, collider.geometry().unwrap(), frame.into())
        })
        .collect();
    bodies.sort_by_key(|(id, ..)| *id);
    let (mut deepest, mut found) = (0.0_f64, Vec::new());
    for (i, (_, kind, a, pose_a)) in bodies.iter().enumerate() {
        for (_, other, b, pose_b) in &bodies[..i] {
            if *kind == RigidBody::Dynamic || *other == RigidBody::Dynamic {
                moreau::geometry::contacts(a, pose_a, b, pose_b, 0.0, &mut found);
            }
        }
    }
    for contact in found {
        deepest = deepest.max(-contact.gap);
    }
    deepest
}

#[test]
fn no_body_appears_in_another() {
    // Far more than the box has room for: a rate of one body a step, from a box that touches floor and walls.
    let of = Emitter {
        center: DVec3::new(0.0, 0.0, 0.4),
        half_extents: DVec3::new(0.5, 0.5, 0.4),
        interval: H / 4.0,
        count: 400,
        random_orientation: true,
        ..Emitter::default()
    };
    let scene = crowded(0.5, solids(), of);
    let mut run = scene.start().unwrap();
    let mut before = 0.0;
    let mut waited = 0;
    for step in 0..60 {
        let report = run.step().unwrap();
        // What a step leaves is at most what its projection leaves; bodies that had just appeared are in it.
        let now = deepest_overlap(&mut run);
        assert!(now <= 2e-3, "{now:e} in step {step}, {before:e} before");
        before = now;
        waited += run.waiting();
        assert!(report.bodies <= 5 + 400);
    }
    assert!(waited > 0, "there was room for all of them");
}

#[test]
fn bodies_appear_without_any_overlap() {
    // Weightless bodies at rest stay where they appear.
    let of = Emitter {
        center: DVec3::new(0.0, 0.0, 0.5),
        half_extents: DVec3::splat(0.5),
        interval: H,
        count: 1000,
        random_orientation: true,
        ..Emitter::default()
    };
    let mut scene = crowded(0.5, solids(), of);
    scene.settings = weightless();
    let mut run = scene.start().unwrap();
    let mut bodies = 0;
    for step in 0..200 {
        bodies = run.step().unwrap().bodies;
        if step % 20 == 0 {
            let deepest = deepest_overlap(&mut run);
            assert!(deepest <= 1e-9, "{deepest:e} in step {step}");
        }
    }
    assert!((25..200).contains(&bodies), "{bodies} bodies");
    assert_eq!(run.waiting(), 1);
}

#[test]
fn a_body_waits_until_there_is_room_and_keeps_its_turn() {
    // A point from which a ball falls out of the way of the next one: 2 r = g t²/2.
    let spec = |radius| BodySpec::dynamic(Shape::Sphere { radius }, DVec3::ZERO);
    let of = Emitter {
        center: DVec3::new(0.0, 0.0, 4.0),
        interval: H,
        count: 5,
        ..Emitter::default()
    };
    let mut scene = crowded(9.0, vec![spec(0.1), spec(0.2)], of);
    scene.settings.projection.max_iterations = 0;
    let mut run = scene.start().unwrap();
    let mut steps = Vec::new();
    for step in 0..300 {
        let bodies = run.step().unwrap().bodies - 5;
        steps.resize(bodies, step);
    }
    assert_eq!(steps.len(), 5);
    // 0.3 m each time; the ball before is that far after √(2 · 0.3/g) = 0.2473 s, and a step more as time is cut into steps.
    for pair in steps.windows(2) {
        let time = f64::from(pair[1] - pair[0]) * H;
        assert!((time - 0.2473).abs() <= 2.0 * H, "{time} s, {steps:?}");
    }
    let radii: Vec<f64> = emitted(&mut run).iter().map(|(_, r, _)| *r).collect();
    assert_eq!(radii, [0.1, 0.2, 0.1, 0.2, 0.1]);
    assert_eq!(run.waiting(), 0);
}

#[test]
fn a_body_that_touches_or_meets_nothing_there_does_not_wait() {
    // On the floor to rounding, and in a body of another group.
    let ball = BodySpec::dynamic(Shape::Sphere { radius: 0.1 }, DVec3::ZERO);
    let groups = |memberships, mask| CollisionGroups { memberships, mask };
    let touching = Emitter {
        center: DVec3::new(0.3, 0.0, 0.1),
        interval: 1.0,
        count: 1,
        bodies: vec![ball.clone()],
        ..Emitter::default()
    };
    let ghost = Emitter {
        bodies: vec![BodySpec {
            groups: groups(1, 0),
            ..ball.clone()
        }],
        ..touching.clone()
    };
    let stuck = Emitter {
        center: DVec3::new(0.3, 0.0, 0.05),
        bodies: vec![ball],
        ..touching.clone()
    };
    let mut scene = crowded(9.0, Vec::new(), touching.clone());
    scene.emitters = vec![touching, ghost, stuck];
    let mut run = scene.start().unwrap();
    for _ in 0..50 {
        assert_eq!(run.step().unwrap().bodies, 5 + 2);
        assert_eq!(run.waiting(), 1);
    }
}

#[test]
fn where_bodies_wait_does_not_depend_on_the_threads() {
    let of = Emitter {
        center: DVec3::new(0.0, 0.0, 0.6),
        half_extents: DVec3::new(0.3, 0.3, 0.1),
        interval: H,
        count: 100,
        random_orientation: true,
        ..Emitter::default()
    };
    let hash = |threads| {
        let mut scene = crowded(0.5, solids(), of.clone());
        scene.settings.threads = threads;
        scene.settings.advanced.parallel_from = Some(1);
        let mut run = scene.start().unwrap();
        for _ in 0..100 {
            run.step().unwrap();
        }
        run.simulation.state_hash()
    };
    let one = hash(1);
    assert_eq!(hash(2), one);
    assert_eq!(hash(5), one);
}
