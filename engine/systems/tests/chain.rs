//! A thousand masses with one-sided springs between them: what is exact of them, and what their energy does.

use crate::bodies::step;
use bevy_ecs::entity::Entity;
use moreau_systems::*;

const STIFFNESS: f64 = 1e3;

/// Masses of 1 kg that touch, each a system; the first is thrown at the others with 1 m/s.
fn chain(n: usize, h: f64, gamma: f64) -> (SystemsSimulation, Vec<Entity>) {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let integrator = Integrator::MoreauJean(MoreauJean {
        gamma_for_relation: gamma,
        ..MoreauJean::default()
    });
    let masses: Vec<_> = (0..n)
        .map(|k| {
            let v = if k == 0 { 1.0 } else { 0.0 };
            let system = LagrangianLinear::new(Matrix::identity(1));
            let state = State::lagrangian([0.0], [v]);
            simulation.spawn_system(system, state, integrator).unwrap()
        })
        .collect();
    for pair in masses.windows(2) {
        let relation = LagrangianLinearRelation {
            compliance: Some(Matrix::diagonal(&[1.0 / STIFFNESS])),
            ..LagrangianLinearRelation::new([Matrix::diagonal(&[-1.0]), Matrix::identity(1)])
        };
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        simulation
            .spawn_interaction(Joins::two(pair[0], pair[1]), relation, law)
            .unwrap();
    }
    (simulation, masses)
}

/// Momentum, energy and velocities.
fn sums(simulation: &SystemsSimulation, masses: &[Entity]) -> (f64, f64, Vec<f64>) {
    let states = masses.iter().map(|m| simulation.state(*m).unwrap());
    let (q, v): (Vec<f64>, Vec<f64>) = states.map(|s| (s.q()[0], s.v()[0])).unzip();
    let springs = q.windows(2).map(|q| (q[0] - q[1]).max(0.0));
    let stored: f64 = springs.map(|x| 0.5 * STIFFNESS * x * x).sum();
    let moving: f64 = v.iter().map(|v| 0.5 * v * v).sum();
    (v.iter().sum(), stored + moving, v)
}

/// Forces act on two masses and so keep the momentum, to rounding. In the middle of the step springs keep their energy while they act, and err where they begin and end to; at
/// its end they lose some, and never give any.
#[test]
fn a_thousand_masses_keep_their_momentum_and_energy() {
    let run = |gamma: f64| {
        let (mut simulation, masses) = chain(1000, 2e-3, gamma);
        let mut energies = Vec::new();
        for _ in 0..400 {
            step(&mut simulation);
            let (momentum, energy, _) = sums(&simulation, &masses);
            assert!((momentum - 1.0).abs() < 1e-12, "{momentum}");
            energies.push(energy);
        }
        energies
    };
    let middle = run(0.5);
    let off = middle
        .iter()
        .fold(0.0, |most: f64, e| most.max((e - 0.5).abs()));
    let end = run(1.0);
    println!(
        "energy: off by {off:.1e} with γ = ½, {:.3} J left with γ = 1",
        end[399]
    );
    assert!(off < 1e-3, "{off:e}");
    assert!(end[399] < 0.49 && end.windows(2).all(|e| e[1] <= e[0] + 1e-14));
}

/// Two masses exchange their velocities in half a period of `√(m/2k)`; the contact ends with them. By their relative velocity, second order.
#[test]
fn two_masses_exchange_their_velocities() {
    let error = |h: f64| {
        let (mut simulation, masses) = chain(2, h, 0.5);
        let contact = std::f64::consts::PI / (2.0 * STIFFNESS).sqrt();
        let steps = (2.0 * contact / h).ceil() as usize;
        (0..steps).for_each(|_| step(&mut simulation));
        let (_, _, v) = sums(&simulation, &masses);
        (v[0]).abs().max((v[1] - 1.0).abs())
    };
    for h in [4e-3, 1e-3, 2.5e-4] {
        assert!(error(h) < 0.3 * STIFFNESS * h * h, "{h}: {:e}", error(h));
    }
}
