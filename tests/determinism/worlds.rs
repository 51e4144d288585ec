//! Worlds that are stepped at once have the bits that each has alone, on any number of threads, whatever becomes of the others.

use glam::DVec3;
use moreau::prelude::*;

const STEPS: usize = 60;

/// A pile of a size of its own; the last is large enough to be shared out by itself.
fn pile(index: usize, threads: Threads) -> Result<Simulation, StepError> {
    let settings = Settings {
        time_step: 5e-3,
        ..Settings::default()
    };
    let mut world = Simulation::with_threads(settings, threads)?;
    world.spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))?;
    let count = if index == 5 { 400 } else { 5 + 7 * index };
    for k in 0..count {
        let [i, j, l] = [k % 4, k / 4 % 4, k / 16].map(|n| n as f64);
        let at = Pose::at(0.11 * i + 0.02 * l, 0.11 * j, 0.06 + 0.12 * l);
        let shape = if k % 2 == 0 {
            Collider::sphere(0.05)
        } else {
            Collider::cuboid(0.05, 0.04, 0.05)
        };
        world.spawn((RigidBody::Dynamic, shape, at, BodyId(10 + k as u64)))?;
    }
    Ok(world)
}

fn push(world: &mut Simulation, force: &[f64]) {
    let wrench = Wrench {
        force: DVec3::X * force[0],
        ..Wrench::default()
    };
    let body = world.body(BodyId(10)).unwrap();
    world.set(body, wrench);
}

fn see(world: &mut Simulation, seen: &mut [f64]) {
    let body = world.body(BodyId(10)).unwrap();
    let place = world.pose(body).unwrap().position;
    seen.copy_from_slice(&place.to_array());
}

#[test]
fn worlds_at_once_have_the_bits_of_each_alone() {
    let forces: Vec<f64> = (0..6).map(|k| 0.3 * f64::from(k)).collect();
    let mut alone = Vec::new();
    for (index, force) in forces.iter().enumerate() {
        let mut world = pile(index, Threads::own()).unwrap();
        push(&mut world, &[*force]);
        for _ in 0..STEPS {
            world.step().unwrap();
        }
        let mut seen = [0.0; 3];
        see(&mut world, &mut seen);
        alone.push((world.state_hash(), seen));
    }
    for threads in [1, 2, 3] {
        let mut worlds = Worlds::new(6, threads, pile).unwrap();
        let mut seen = [0.0; 18];
        worlds
            .advance(STEPS / 2, (&forces, push), (&mut seen, see))
            .unwrap();
        for _ in 0..STEPS / 2 {
            assert!(worlds.step().iter().all(Result::is_ok));
        }
        worlds
            .advance(0, (&forces, push), (&mut seen, see))
            .unwrap();
        let hashes = worlds.each(|_, world| world.state_hash());
        for ((hash, place), (index, own)) in hashes
            .iter()
            .zip(seen.chunks(3))
            .zip(alone.iter().enumerate())
        {
            assert_eq!(
                (*hash, place),
                (own.0, &own.1[..]),
                "world {index}, {threads} threads"
            );
        }
    }
}

/// A world with a wrong body fails, is named, and stands still; the others go on, and it goes on once it is replaced.
#[test]
fn a_world_that_fails_leaves_the_others_alone() {
    let mut worlds = Worlds::new(3, 2, pile).unwrap();
    let mut whole = Worlds::new(3, 1, pile).unwrap();
    let body = worlds.get(1).unwrap().body(BodyId(10)).unwrap();
    let before = worlds.get_mut(1).unwrap().state_hash();
    worlds
        .get_mut(1)
        .unwrap()
        .set(body, Pose::at(f64::NAN, 0.0, 0.0));
    let nothing = |_: &mut Simulation, _: &[f64]| {};
    let unseen = |_: &mut Simulation, _: &mut [f64]| {};
    let failed = worlds.advance(4, (&[], nothing), (&mut [], unseen));
    assert!(
        matches!(failed, Err(WorldsError::World { index: 1, .. })),
        "{failed:?}"
    );
    whole.advance(4, (&[], nothing), (&mut [], unseen)).unwrap();
    for index in [0, 2] {
        let [one, other] =
            [&mut worlds, &mut whole].map(|all| all.get_mut(index).unwrap().state_hash());
        assert_eq!(one, other);
    }
    let fresh = pile(1, Threads::of_caller()).unwrap();
    *worlds.get_mut(1).unwrap() = fresh;
    assert_eq!(worlds.get_mut(1).unwrap().state_hash(), before);
    assert!(worlds.step().iter().all(Result::is_ok));
    let wrong = worlds.advance(1, (&[0.0; 4], nothing), (&mut [], unseen));
    let length = WorldsError::Length {
        what: "actions",
        found: 4,
        worlds: 3,
    };
    assert_eq!(wrong, Err(length));
    assert!(Worlds::new(0, 1, pile).unwrap().step().is_empty());
    assert!(matches!(
        Worlds::new(2, 5000, pile),
        Err(WorldsError::World { index: 0, .. })
    ));
}

/// A pool of one thread is one thread: nothing of it goes to the pool of the process, which has one for every core.
#[test]
fn worlds_run_on_no_more_threads_than_they_were_given() {
    for threads in [1, 2] {
        let mut worlds = Worlds::new(64, threads, pile).unwrap();
        let work = |_: usize, _: &mut Simulation| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            std::thread::current().id()
        };
        let mut seen = Vec::new();
        for thread in worlds.each(work) {
            if !seen.contains(&thread) {
                seen.push(thread);
            }
        }
        assert!(
            seen.len() <= threads,
            "{} threads for {threads}",
            seen.len()
        );
    }
}
