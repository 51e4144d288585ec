//! Scenes that are measured, and in whose steps allocations are counted.

mod arm;
mod large;

pub use arm::arm;
pub use large::{bar, ladder, plate};
use moreau_systems::*;

/// A point above a wall under gravity, e = 0.9.
pub fn ball() -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(5e-3)).unwrap();
    let system = LagrangianLinear {
        force: vec![-9.81].into(),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    let state = State::lagrangian([1.0], [0.0]);
    let ball = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.9 };
    simulation
        .spawn_interaction(Joins::one(ball), gap, law)
        .unwrap();
    simulation
}

/// Four diodes between a resonator and a resistor.
pub fn diode_bridge() -> SystemsSimulation {
    let (l, c, r) = (1e-2, 1e-6, 1e3);
    let mut simulation = SystemsSimulation::new(Settings::new(1e-6)).unwrap();
    let system = FirstOrderLinear::new(Matrix::from_rows([[0.0, -1.0 / c], [1.0 / l, 0.0]]));
    let state = State::first_order([10.0, 0.0]);
    let circuit = simulation
        .spawn_system(system, state, Integrator::euler_moreau(0.5))
        .unwrap();
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::from_rows([
            [1.0 / r, 1.0 / r, -1.0, 0.0],
            [1.0 / r, 1.0 / r, 0.0, -1.0],
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
        ])),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([
                [0.0, 0.0],
                [0.0, 0.0],
                [-1.0, 0.0],
                [1.0, 0.0],
            ])],
            [Matrix::from_rows([[0.0, 0.0, -1.0 / c, 1.0 / c], [0.0; 4]])],
        )
    };
    let law = NonsmoothLaw::Complementarity { rows: 4 };
    simulation
        .spawn_interaction(Joins::one(circuit), relation, law)
        .unwrap();
    simulation
}

/// A mass on a spring that strikes a stop: the cam follower of the sources.
pub fn follower() -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-4)).unwrap();
    let system = LagrangianLinear {
        stiffness: Some(Matrix::diagonal(&[1430.8])),
        ..LagrangianLinear::new(Matrix::diagonal(&[1.221]))
    };
    let state = State::lagrangian([0.4], [0.4]);
    let follower = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let relation = LagrangianLinearRelation::new([Matrix::identity(1)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.8 };
    simulation
        .spawn_interaction(Joins::one(follower), relation, law)
        .unwrap();
    simulation
}

/// Masses of 1 kg in a row, each a system, with one-sided springs between them and one-sided walls; the first is thrown at the others.
pub fn chain(masses: usize) -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let integrator = Integrator::moreau_jean(1.0);
    let systems: Vec<_> = (0..masses)
        .map(|k| {
            let v = if k == 0 { 1.0 } else { 0.0 };
            let state = State::lagrangian([k as f64 * 0.01], [v]);
            let system = LagrangianLinear::new(Matrix::identity(1));
            simulation.spawn_system(system, state, integrator).unwrap()
        })
        .collect();
    for pair in systems.windows(2) {
        let relation = LagrangianLinearRelation {
            offset: vec![-0.01],
            compliance: Some(Matrix::diagonal(&[1e-4])),
            jacobian: vec![Matrix::diagonal(&[-1.0]), Matrix::identity(1)],
        };
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        simulation
            .spawn_interaction(Joins::two(pair[0], pair[1]), relation, law)
            .unwrap();
    }
    simulation
}

/// Masses of 1 kg in a row, 1 mm apart, the first thrown at the others, e = 0.5.
pub fn row(masses: usize) -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let systems: Vec<_> = (0..masses)
        .map(|k| {
            let v = if k == 0 { 1.0 } else { 0.0 };
            let state = State::lagrangian([k as f64 * 0.011], [v]);
            let system = LagrangianLinear::new(Matrix::identity(1));
            simulation
                .spawn_system(system, state, Integrator::moreau_jean(0.5))
                .unwrap()
        })
        .collect();
    for pair in systems.windows(2) {
        let relation = LagrangianLinearRelation {
            offset: vec![-0.01],
            ..LagrangianLinearRelation::new([Matrix::diagonal(&[-1.0]), Matrix::identity(1)])
        };
        let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
        simulation
            .spawn_interaction(Joins::two(pair[0], pair[1]), relation, law)
            .unwrap();
    }
    simulation
}

/// A point on a rough plane, pushed along it: it slides under Coulomb's law.
pub fn sliding_point() -> SystemsSimulation {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let system = LagrangianLinear {
        force: vec![-9.81, 4.0, 1.0].into(),
        ..LagrangianLinear::new(Matrix::identity(3))
    };
    let state = State::lagrangian([0.0; 3], [0.0, 0.1, 0.0]);
    let point = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let law = NonsmoothLaw::NewtonImpactFriction {
        restitution: 0.0,
        tangential_restitution: 0.0,
        friction: 0.3,
        space: Space::Space,
    };
    let relation = LagrangianLinearRelation::new([Matrix::identity(3)]);
    simulation
        .spawn_interaction(Joins::one(point), relation, law)
        .unwrap();
    simulation
}
