//! A settled step allocates nothing: all buffers stay from step to step, and solvers work in their own.

#![allow(
    clippy::unwrap_used,
    unreachable_pub,
    reason = "a test that cannot set up its scene fails; the scenes are those of an example too"
)]

#[path = "../../../../tests/bad_input/counted.rs"]
mod counted;
#[path = "../../examples/scenes/mod.rs"]
mod scenes;

use counted::requested;
use moreau_systems::{
    FirstOrderLinear, FirstOrderLinearRelation, Integrator, Joins, Matrix, NonsmoothLaw, Settings,
    State, SystemsSimulation,
};

/// Bytes that `steps` steps ask for, after `settling` of them.
fn bytes(mut simulation: SystemsSimulation, settling: usize, steps: usize) -> usize {
    for _ in 0..settling {
        simulation.step().unwrap();
    }
    let (_, one) = requested(|| std::hint::black_box(Box::new(1.0_f64)));
    assert_eq!(one, 8, "the counter counts");
    let run = || (0..steps).all(|_| simulation.step().unwrap().converged);
    let (converged, bytes) = requested(run);
    assert!(converged);
    bytes
}

/// One contact, open and closed by turns, and later closed for good.
#[test]
fn a_ball_that_bounces() {
    assert_eq!(bytes(scenes::ball(), 300, 3000), 0);
}

#[test]
fn a_circuit_of_four_diodes() {
    assert_eq!(bytes(scenes::diode_bridge(), 500, 2000), 0);
}

/// A coil, a capacitor and a diode with a resistor: `Φ` and `Ψ` stay.
#[test]
fn a_circuit_under_zero_order_hold() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-5)).unwrap();
    let system = FirstOrderLinear::new(Matrix::from_rows([[0.0, -1e6], [1e2, 0.0]]));
    let state = State::first_order([10.0, 0.0]);
    let system = simulation
        .spawn_system(system, state, Integrator::zero_order_hold())
        .unwrap();
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::diagonal(&[1e3])),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([[-1.0, 0.0]])],
            [Matrix::from_rows([[-1e6], [0.0]])],
        )
    };
    let law = NonsmoothLaw::Complementarity { rows: 1 };
    simulation
        .spawn_interaction(Joins::one(system), relation, law)
        .unwrap();
    assert_eq!(bytes(simulation, 100, 2000), 0);
}

#[test]
fn a_follower_that_strikes_its_stop() {
    assert_eq!(bytes(scenes::follower(), 3000, 10_000), 0);
}

/// Newton's loop on a system and relations that are not linear, with impacts.
#[test]
fn an_arm_that_falls_on_the_ground() {
    assert_eq!(bytes(scenes::arm(), 9000, 9000), 0);
}

/// Many rows, without zeros: all springs take part in every step.
#[test]
fn a_chain_of_one_sided_springs() {
    assert_eq!(bytes(scenes::chain(100), 300, 300), 0);
}

/// Impacts that travel through a row: other rows take part in every step.
#[test]
fn a_row_of_masses_that_strike_each_other() {
    assert_eq!(bytes(scenes::row(30), 2000, 1000), 0);
}

#[test]
fn a_point_that_slides_with_friction() {
    assert_eq!(bytes(scenes::sliding_point(), 10, 1000), 0);
}

/// Ten thousand states with ten diodes, and as many nodes with a contact.
#[test]
fn systems_with_sparse_matrices() {
    assert_eq!(bytes(scenes::ladder(10_000, true), 300, 300), 0);
    assert_eq!(bytes(scenes::bar(10_000, true), 10, 100), 0);
    assert_eq!(bytes(scenes::plate(100, true), 300, 100), 0);
}

/// Vectors of ten thousand numbers, matrices with three entries a row and factors with some: a square matrix would be 800 MB.
#[test]
fn a_first_step_with_sparse_matrices_asks_for_memory_by_their_entries() {
    for scene in [scenes::ladder, scenes::bar] {
        let start = || {
            let mut simulation = scene(10_000, true);
            simulation.step().unwrap();
        };
        let (_, bytes) = requested(start);
        assert!(bytes < 200_000_000, "{bytes}");
    }
}

/// The first step makes what the following ones need, where all takes part in it; and it gives the systems their reactions, which the queries of the second
/// one take notice of.
#[test]
fn the_third_step() {
    assert_eq!(bytes(scenes::diode_bridge(), 2, 1), 0);
    assert_eq!(bytes(scenes::chain(40), 2, 1), 0);
}
