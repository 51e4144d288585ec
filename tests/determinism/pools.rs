//! **Law.** Simulations may share one pool of threads, or run in that of their caller; their results do not depend on it.

use crate::support::*;
use bevy_ecs::prelude::{Schedule, World};
use moreau::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

fn hash(threads: Threads, size: usize) -> (u64, Simulation) {
    let specs = heap(size);
    let mut simulation = Simulation::with_threads(settings(0), threads).unwrap();
    for spec in &specs {
        simulation.spawn(spec.bundle()).unwrap();
    }
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    (simulation.state_hash(), simulation)
}

#[test]
fn many_simulations_share_one_pool() {
    let threads = Threads::shared(2).unwrap();
    let expected = hash(Threads::own(), 7).0;
    for _ in 0..6 {
        let (hash, simulation) = hash(threads.clone(), 7);
        assert_eq!(hash, expected);
        let pools = simulation.state().unwrap().threads().pool();
        assert!(Arc::ptr_eq(pools.unwrap(), threads.pool().unwrap()));
    }
}

#[test]
fn a_simulation_runs_in_the_pool_of_its_caller() {
    let expected = hash(Threads::own(), 7).0;
    let (outside, simulation) = hash(Threads::of_caller(), 7);
    assert_eq!(outside, expected);
    assert!(simulation.state().unwrap().threads().pool().is_none());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
    let inside = pool.unwrap().install(|| hash(Threads::of_caller(), 7).0);
    assert_eq!(inside, expected);
}

#[test]
fn simulations_that_step_at_once_do_not_disturb_each_other() {
    let expected = hash(Threads::own(), 7).0;
    let threads = Threads::shared(2).unwrap();
    std::thread::scope(|scope| {
        let runs = [(); 6].map(|()| scope.spawn(|| hash(threads.clone(), 7).0));
        for run in runs {
            assert_eq!(run.join().unwrap(), expected);
        }
    });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let hashes: Vec<u64> = pool.unwrap().install(|| {
        let runs = (0..6).into_par_iter();
        runs.map(|_| hash(Threads::of_caller(), 7).0).collect()
    });
    assert_eq!(hashes, [expected; 6]);
}

#[test]
fn users_of_install_have_the_threads_of_a_simulation() {
    let (mut world, mut schedule) = (World::new(), Schedule::default());
    moreau::install(&mut world, &mut schedule, settings(2)).unwrap();
    for spec in heap(7) {
        world.spawn(spec.bundle());
    }
    for _ in 0..10 {
        schedule.run(&mut world);
    }
    let threads = world.resource::<StepState>().threads();
    assert_eq!(threads.pool().unwrap().current_num_threads(), 2);
    let expected: Vec<_> = world.resource::<StepState>().states().collect();
    let (_, simulation) = hash(Threads::shared(2).unwrap(), 7);
    assert!(simulation.state().unwrap().states().eq(expected));
}

#[test]
fn small_simulations_hold_no_threads() {
    for _ in 0..64 {
        let mut simulation = Simulation::new(Settings::default()).unwrap();
        let ball = (RigidBody::Dynamic, Collider::sphere(0.5));
        simulation.spawn(ball).unwrap();
        simulation.step().unwrap();
        assert!(simulation.state().unwrap().threads().pool().is_none());
    }
}

#[test]
fn one_thread_is_that_of_the_caller() {
    let mut simulation = spawn(settings(1), &heap(7));
    simulation.step().unwrap();
    assert!(simulation.state().unwrap().threads().pool().is_none());
}
