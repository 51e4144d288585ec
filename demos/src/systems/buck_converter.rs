//! A buck converter under sliding control: the switch between the supply and the coil is a relay on `σ = v − v_w + τ v̇`.
//!
//! ```text
//! v̇ = i/C − v/(R C),   i̇ = (V λ − v)/L,   λ ∈ [0, 1],   −σ ∈ N_[0, 1](λ)
//! ```
//!
//! The switch is closed until `σ = 0`, a swing of `L`, `C` and `R`; from then on `v̇ = (v_w − v)/τ`, with the part of the time that the switch is closed as `λ`. The numbers are our own:
//! the sources name the circuit and give none.

use super::method::Method;
use super::{Reference, Spawned, SystemScene};
use crate::catalog::{Bound, Parameter, Values};
use moreau_systems::{
    FirstOrderLinear, FirstOrderLinearRelation, Joins, Matrix, NonsmoothLaw, State, SystemsError,
    SystemsSimulation,
};

/// H, F, Ω, V, s.
const L: f64 = 1e-2;
const C: f64 = 1e-4;
const R: f64 = 10.0;
const SUPPLY: f64 = 20.0;
const TAU: f64 = 2e-3;

/// The scene.
pub const SCENE: SystemScene = SystemScene {
    name: "buck-converter",
    description: "20 V, a coil of 10 mH, a capacitor of 100 µF and 10 Ω behind a switch in sliding mode, from rest",
    parameters: &[Parameter {
        name: "v",
        description: "voltage that is wanted, V",
        default: 12.0,
        bound: Bound::Between(4.0, 16.0),
    }],
    error: "mean error of the voltage, V",
    reference: Reference::Exact(voltage),
    duration: 2e-2,
    steps: &[1e-4, 5e-5, 2.5e-5, 1.25e-5],
    spawn: |values, method, h| spawn(values.number("v"), method, h),
};

fn spawn(wanted: f64, method: &Method, h: f64) -> Result<Spawned, SystemsError> {
    let mut simulation = SystemsSimulation::new(method.settings(h))?;
    let circuit = FirstOrderLinear::new(Matrix::from_rows([
        [-1.0 / (R * C), 1.0 / C],
        [-1.0 / L, 0.0],
    ]));
    let integrator = method.integrator_of_first_order();
    let state = State::first_order([0.0, 0.0]);
    let system = simulation.spawn_system(circuit, state, integrator)?;
    let relation = FirstOrderLinearRelation {
        e: vec![-wanted].into(),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([[1.0 - TAU / (R * C), TAU / C]])],
            [Matrix::from_rows([[0.0], [SUPPLY / L]])],
        )
    };
    let law = NonsmoothLaw::Relay {
        lower: vec![0.0],
        upper: vec![1.0],
    };
    simulation.spawn_interaction(Joins::one(system), relation, law)?;
    Ok(Spawned {
        simulation,
        system,
        compared: 1,
        contacts: Vec::new(),
    })
}

/// `v` and `v̇` while the switch is closed: `v = V (1 − e^{−δt} (cos ωt + δ/ω sin ωt))`.
fn swing(t: f64) -> [f64; 2] {
    let damping = 1.0 / (2.0 * R * C);
    let rate = (1.0 / (L * C) - damping * damping).sqrt();
    let (s, c) = libm::sincos(rate * t);
    let decay = libm::exp(-damping * t);
    let v = SUPPLY * (1.0 - decay * (c + damping / rate * s));
    [v, SUPPLY * decay * s / (rate * L * C)]
}

/// When `σ` comes to zero: it rises from `−v_w` and is positive where the voltage is largest.
fn reached(wanted: f64) -> f64 {
    let sigma = |t: f64| {
        let [v, slope] = swing(t);
        v - wanted + TAU * slope
    };
    let (mut below, mut above) = (0.0, 1e-3);
    for _ in 0..100 {
        let middle = 0.5 * (below + above);
        if sigma(middle) < 0.0 {
            below = middle;
        } else {
            above = middle;
        }
    }
    above
}

/// Voltage at the time `t`, s.
fn voltage(values: &Values, t: f64) -> Vec<f64> {
    let wanted = values.number("v");
    let begin = reached(wanted);
    if t <= begin {
        return vec![swing(t)[0]];
    }
    let missing = swing(begin)[0] - wanted;
    vec![wanted + missing * libm::exp(-(t - begin) / TAU)]
}
