//! Masses in a row with one-sided springs before each, thrown against a wall: springs push and never pull, so that the row comes apart again from its free end.
//!
//! ```text
//! 0 ≤ q_i − q_{i−1} + λ_i/k ⊥ λ_i ≥ 0        displacements from where all springs are unloaded; q_{−1} = 0 is the wall
//! ```
//!
//! Every mass is a system of its own and every spring an interaction of two, so that a step of many masses is a sparse problem.

use super::method::Method;
use super::{Reference, Spawned, SystemScene};
use crate::catalog::{Bound, Parameter};
use bevy_ecs::entity::Entity;
use moreau_systems::{
    FirstOrderLinear, FirstOrderLinearRelation, Joins, LagrangianLinear, LagrangianLinearRelation,
    Matrix, NonsmoothLaw, Relation, State, SystemsError, SystemsSimulation,
};

/// Of a spring, N/m; speed at the start, m/s.
const STIFFNESS: f64 = 1000.0;
const SPEED: f64 = -1.0;

/// The scene.
pub const SCENE: SystemScene = SystemScene {
    name: "spring-chain",
    description: "masses of 1 kg with one-sided springs of 1000 N/m between them are thrown against one more of these",
    parameters: &[Parameter {
        name: "n",
        description: "number of masses",
        default: 10.0,
        bound: Bound::Whole(1, 1000),
    }],
    error: "mean error of the place of the mass next to the wall, m",
    reference: Reference::Finest,
    duration: 1.0,
    steps: &[4e-3, 2e-3, 1e-3, 5e-4],
    spawn: |values, method, h| spawn(values.whole("n"), method, h),
};

fn spawn(n: usize, method: &Method, h: f64) -> Result<Spawned, SystemsError> {
    let mut simulation = SystemsSimulation::new(method.settings(h))?;
    let mut masses: Vec<Entity> = Vec::with_capacity(n);
    for _ in 0..n {
        masses.push(if method.is_first_order() {
            let system = FirstOrderLinear::new(Matrix::from_rows([[0.0, 1.0], [0.0, 0.0]]));
            let state = State::first_order([0.0, SPEED]);
            simulation.spawn_system(system, state, method.integrator_of_first_order())?
        } else {
            let system = LagrangianLinear::new(Matrix::identity(1));
            let state = State::lagrangian([0.0], [SPEED]);
            simulation.spawn_system(system, state, method.integrator())?
        });
    }
    for (k, mass) in masses.iter().enumerate() {
        let (joins, signs) = match k.checked_sub(1).and_then(|before| masses.get(before)) {
            Some(before) => (Joins::two(*mass, *before), vec![1.0, -1.0]),
            None => (Joins::one(*mass), vec![1.0]),
        };
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        simulation.spawn_interaction(joins, spring(method, &signs), law)?;
    }
    Ok(Spawned {
        simulation,
        system: masses[0],
        compared: 1,
        contacts: Vec::new(),
    })
}

/// The spring between masses that count with these signs.
fn spring(method: &Method, signs: &[f64]) -> Relation {
    let compliance = Some(Matrix::diagonal(&[1.0 / STIFFNESS]));
    if method.is_first_order() {
        let output = signs.iter().map(|sign| Matrix::from_rows([[*sign, 0.0]]));
        let input = signs.iter().map(|sign| Matrix::from_rows([[0.0], [*sign]]));
        let (output, input): (Vec<_>, Vec<_>) = (output.collect(), input.collect());
        return Relation::from(FirstOrderLinearRelation {
            d: compliance,
            ..FirstOrderLinearRelation::new(output, input)
        });
    }
    let rows: Vec<_> = signs
        .iter()
        .map(|sign| Matrix::diagonal(&[*sign]))
        .collect();
    Relation::from(LagrangianLinearRelation {
        compliance,
        ..LagrangianLinearRelation::new(rows)
    })
}
