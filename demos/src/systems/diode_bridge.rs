//! A coil and a capacitor swing across a resistor behind a bridge of four diodes.
//!
//! ```text
//! x = (u, i):   u̇ = −i/C + (λ₃ − λ₂)/C,   i̇ = u/L;      0 ≤ y ⊥ λ ≥ 0 in the four diodes
//! ```

use super::method::Method;
use super::{Reference, Spawned, SystemScene};
use moreau_systems::{
    FirstOrderLinear, FirstOrderLinearRelation, Joins, Matrix, NonsmoothLaw, State, SystemsError,
    SystemsSimulation,
};

/// H, F, Ω.
const L: f64 = 1e-2;
const C: f64 = 1e-6;
const R: f64 = 1e3;

/// The scene.
pub const SCENE: SystemScene = SystemScene {
    name: "diode-bridge",
    description: "a coil of 10 mH, a capacitor of 1 µF and a resistor of 1 kΩ behind four diodes, from 10 V",
    parameters: &[],
    error: "mean error of the voltage, V",
    reference: Reference::Finest,
    duration: 2e-3,
    steps: &[1e-5, 5e-6, 2.5e-6, 1.25e-6],
    spawn: |_, method, h| spawn(method, h),
};

fn spawn(method: &Method, h: f64) -> Result<Spawned, SystemsError> {
    let mut simulation = SystemsSimulation::new(method.settings(h))?;
    let circuit = FirstOrderLinear::new(Matrix::from_rows([[0.0, -1.0 / C], [1.0 / L, 0.0]]));
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::from_rows([
            [1.0 / R, 1.0 / R, -1.0, 0.0],
            [1.0 / R, 1.0 / R, 0.0, -1.0],
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
            [Matrix::from_rows([[0.0, 0.0, -1.0 / C, 1.0 / C], [0.0; 4]])],
        )
    };
    let integrator = method.integrator_of_first_order();
    let state = State::first_order([10.0, 0.0]);
    let system = simulation.spawn_system(circuit, state, integrator)?;
    let law = NonsmoothLaw::Complementarity { rows: 4 };
    simulation.spawn_interaction(Joins::one(system), relation, law)?;
    Ok(Spawned {
        simulation,
        system,
        compared: 1,
        contacts: Vec::new(),
    })
}
