//! **Law.** The number of threads changes no bit.
//!
//! Sweeps are shared among the threads from the first contact on, and the scene has thousands of
//! contacts: all parallel phases take part, with several chunks a colour.

use crate::support::*;
use moreau::prelude::*;

#[test]
fn threads_change_no_bit() {
    // A close lattice of spheres that settles under its weight: few steps, thousands of contacts.
    let n = 13;
    let mut specs = heap(2);
    specs.truncate(1);
    for i in 0..n * n * n {
        let cell = glam::DVec3::new((i % n) as f64, (i / n % n) as f64, (i / n / n) as f64);
        specs.push(Spec {
            id: BodyId(1 + i as u64),
            kind: RigidBody::Dynamic,
            collider: Collider::sphere(0.1),
            pose: Pose::from_position(cell * 0.2 + glam::DVec3::Z * 0.1),
            twist: Twist::linear(0.3 * (i % 3) as f64, 0.0, -0.1 * (i % 5) as f64),
        });
    }
    let with = |threads: usize| {
        // A tolerance that takes some sweeps, within a bounded time.
        let mut simulation = spawn(
            Settings {
                accuracy: Accuracy::Interactive,
                ..settings(threads)
            },
            &specs,
        );
        run(&mut simulation, 12)
    };
    let (hash, contacts) = with(1);
    assert!(contacts > 3000, "only {contacts} contacts");
    for threads in [2, 3, 4, 8] {
        assert_eq!(with(threads).0, hash, "{threads} threads");
    }
}

#[test]
fn threads_change_no_bit_of_a_mixed_heap() {
    let specs = heap(6);
    let with = |threads: usize| run(&mut spawn(settings(threads), &specs), 40);
    let (hash, contacts) = with(1);
    assert!(contacts > 400, "only {contacts} contacts");
    for threads in [2, 3, 4, 8] {
        assert_eq!(with(threads).0, hash, "{threads} threads");
    }
}

#[test]
fn two_runs_in_one_process_agree() {
    let specs = heap(4);
    let first = run(&mut spawn(settings(2), &specs), 60);
    let second = run(&mut spawn(settings(2), &specs), 60);
    assert_eq!(first, second);
    // The hash sees the state: one step more is another one.
    assert_ne!(run(&mut spawn(settings(2), &specs), 61).0, first.0);
}

#[test]
fn the_number_of_threads_may_change_between_steps() {
    let specs = heap(4);
    let expected = run(&mut spawn(settings(1), &specs), 40);
    let mut simulation = spawn(settings(1), &specs);
    for threads in [1, 3, 2, 8] {
        simulation.set_settings(settings(threads)).unwrap();
        run(&mut simulation, 10);
    }
    assert_eq!(simulation.state_hash(), expected.0);
}

/// Islands that sweeps leave unsolved go to Newton, whose steps are part of the result.
#[test]
fn threads_change_no_bit_of_steps_that_need_newton() {
    let with = |threads: usize| {
        let mut scene = moreau_demos::built_in("mass-ratio").unwrap();
        scene.settings.threads = threads;
        scene.settings.advanced.parallel_from = Some(0);
        let mut run = scene.start().unwrap();
        let factorizations: usize = (0..60).map(|_| run.step().unwrap().factorizations).sum();
        (run.simulation.state_hash(), factorizations)
    };
    let expected = with(1);
    assert!(expected.1 > 100, "only {} factorisations", expected.1);
    for threads in [2, 3, 4, 8] {
        assert_eq!(with(threads), expected, "{threads} threads");
    }
}

/// Articulations are moved and closed side by side; with a gait, what contacts opened of them is closed, too.
#[test]
fn threads_change_no_bit_of_many_machines() {
    for spec in ["quadruped:n=30,gait=0", "quadruped:n=30"] {
        let with = |threads: usize| {
            let mut scene = moreau_demos::built_in(spec).unwrap();
            scene.settings.threads = threads;
            let mut run = scene.start().unwrap();
            for _ in 0..30 {
                run.step().unwrap();
            }
            run.simulation.state_hash()
        };
        let hash = with(1);
        for threads in [2, 3] {
            assert_eq!(with(threads), hash, "{spec}, {threads} threads");
        }
    }
}
