//! Interactions of more than two systems.

use bevy_ecs::entity::Entity;
use moreau_systems::*;

/// A differential gear joins three shafts, `φ₁ + φ₂ = 2 φ₃`: driven at the cage, both others turn with it, the lighter one faster where it alone is free; under every integrator and from
/// event to event. With `J = (1, 3, 2)` and a torque of 1 N·m on the cage, `φ̈₁ = λ`, `3 φ̈₂ = λ`, `2 φ̈₃ = 1 − 2 λ` and `φ̈₁ + φ̈₂ = 2 φ̈₃` give `λ = 3/10`.
#[test]
fn an_interaction_joins_three_systems() {
    for integrator in [
        Integrator::moreau_jean(0.5),
        Integrator::d1_minus(),
        Integrator::schatzman_paoli(),
    ] {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
        let shafts: Vec<Entity> = [(1.0, 0.0), (3.0, 0.0), (2.0, 1.0)]
            .into_iter()
            .map(|(inertia, torque)| {
                let shaft = LagrangianLinear {
                    force: vec![torque].into(),
                    ..LagrangianLinear::new(Matrix::diagonal(&[inertia]))
                };
                let state = State::lagrangian([0.0], [0.0]);
                simulation.spawn_system(shaft, state, integrator).unwrap()
            })
            .collect();
        let row = |factor: f64| Matrix::from_rows([[factor]]);
        let gear = LagrangianLinearRelation::new([row(1.0), row(1.0), row(-2.0)]);
        let law = || NonsmoothLaw::Equality { rows: 1 };
        let joins = Joins::all(shafts.iter().copied());
        simulation
            .spawn_interaction(joins, gear.clone(), law())
            .unwrap();
        for _ in 0..100 {
            assert!(simulation.step().unwrap().converged);
        }
        let q =
            |simulation: &SystemsSimulation, k: usize| simulation.state(shafts[k]).unwrap().q()[0];
        let closed = q(&simulation, 0) + q(&simulation, 1) - 2.0 * q(&simulation, 2);
        // At 1 s: ½ φ̈ t², which schemes of second order have exactly, but for the start of Schatzman–Paoli, which is of first order.
        let exact = [0.15, 0.05, 0.1];
        let bound = match integrator {
            Integrator::SchatzmanPaoli(_) => 0.3 * 1e-2,
            _ => 1e-13,
        };
        assert!(closed.abs() < 1e-13);
        for (k, exact) in exact.into_iter().enumerate() {
            assert!(
                (q(&simulation, k) - exact).abs() < bound,
                "{integrator:?}, {k}"
            );
        }
        let settings = EventSettings::default();
        assert!(
            simulation
                .advance_by_events(2.0, &settings)
                .unwrap()
                .converged
        );
        let closed = q(&simulation, 0) + q(&simulation, 1) - 2.0 * q(&simulation, 2);
        assert!(closed.abs() < 1e-12);
        let twice = Joins::all([shafts[0], shafts[1], shafts[0]]);
        let error = simulation
            .spawn_interaction(twice, gear, law())
            .unwrap_err();
        assert!(error.to_string().contains("twice"), "{error}");
    }
}
