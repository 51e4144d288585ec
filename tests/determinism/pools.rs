//! **Law.** Simulations may share one pool of threads, or run in that of their caller; their results do not depend on it.

use crate::support::*;
use moreau::prelude::*;
use std::sync::Arc;

fn hash(threads: Threads, size: i32) -> (u64, Simulation) {
    let specs = heap(size as usize);
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
