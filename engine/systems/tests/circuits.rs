//! Circuits with diodes, and an oscillator with dry friction as a relay: first-order systems under Euler–Moreau.

use crate::table::{Differences, read};
use bevy_ecs::entity::Entity;
use moreau_systems::*;

/// A system of first order with one interaction.
struct Circuit {
    system: FirstOrderLinear,
    start: Vec<f64>,
    relation: FirstOrderLinearRelation,
    law: NonsmoothLaw,
    theta: f64,
    h: f64,
}

impl Circuit {
    fn spawn(self) -> (SystemsSimulation, Entity, Entity) {
        let mut simulation = SystemsSimulation::new(Settings::new(self.h)).unwrap();
        let state = State::first_order(self.start);
        let integrator = Integrator::euler_moreau(self.theta);
        let system = simulation
            .spawn_system(self.system, state, integrator)
            .unwrap();
        let joins = Joins::one(system);
        let interaction = simulation
            .spawn_interaction(joins, self.relation, self.law)
            .unwrap();
        (simulation, system, interaction)
    }

    /// The columns that `row` makes of `t`, `x`, `y` and `λ`, beside the same of a file.
    fn compare(
        self,
        name: &str,
        columns: std::ops::Range<usize>,
        bounds: &[f64],
        row: impl Fn(&[f64], &[f64], &[f64]) -> Vec<f64>,
    ) {
        let Some(rows) = read(name) else { return };
        let (mut simulation, system, interaction) = self.spawn();
        let mut differences = Differences::default();
        for given in &rows[1..] {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{report:?} {}", simulation.time());
            let outcome = simulation.outcome(interaction).unwrap();
            let x = simulation.state(system).unwrap().x();
            let mut own = vec![simulation.time()];
            own.extend(row(x, &outcome.output, &outcome.lambda));
            differences.add(&own, &given[columns.clone()]);
        }
        differences.within(name, bounds);
    }
}

const L: f64 = 1e-2;
const C: f64 = 1e-6;
const R: f64 = 1e3;

fn coil_and_capacitor() -> Matrix {
    Matrix::from_rows([[0.0, -1.0 / C], [1.0 / L, 0.0]])
}

/// Rounding, of currents of 0.1 A and voltages of 10 V.
#[test]
fn coil_capacitor_resistor_and_diode() {
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::from_rows([[R]])),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([[-1.0, 0.0]])],
            [Matrix::from_rows([[-1.0 / C], [0.0]])],
        )
    };
    let circuit = Circuit {
        system: FirstOrderLinear::new(coil_and_capacitor()),
        start: vec![10.0, 0.0],
        relation,
        law: NonsmoothLaw::Complementarity { rows: 1 },
        theta: 0.500_000_000_000_1,
        h: 1e-5,
    };
    let bounds = [1e-12; 5];
    circuit.compare("CircuitRLCD.ref", 0..5, &bounds, |x, y, lambda| {
        vec![x[0], x[1], -y[0], lambda[0]]
    });
}

/// Rounding over 10 000 steps of stick and slip.
#[test]
fn friction_oscillator() {
    let circuit = Circuit {
        system: FirstOrderLinear::new(Matrix::from_rows([[0.0, 1.0], [-1.0, 0.0]])),
        start: vec![12.0, 6.0],
        relation: FirstOrderLinearRelation::new(
            [Matrix::from_rows([[0.0, 1.0]])],
            [Matrix::from_rows([[0.0], [1.0]])],
        ),
        law: NonsmoothLaw::sign(),
        theta: 0.5,
        h: 1e-2,
    };
    let bounds = [1e-11; 5];
    circuit.compare("FrictionOscillator.ref", 0..5, &bounds, |x, y, lambda| {
        vec![x[0], x[1], lambda[0], y[0]]
    });
}

fn bridge() -> Circuit {
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
    Circuit {
        system: FirstOrderLinear::new(coil_and_capacitor()),
        start: vec![10.0, 0.0],
        relation,
        law: NonsmoothLaw::Complementarity { rows: 4 },
        theta: 0.5,
        h: 1e-6,
    }
}

/// Rounding. The currents of the diodes are not unique where the voltage passes through zero; the states are.
#[test]
fn diode_bridge() {
    let bounds = [1e-12; 8];
    bridge().compare("DiodeBridge.ref", 0..8, &bounds, |x, y, lambda| {
        vec![
            x[0],
            x[1],
            y[0],
            -lambda[0],
            -lambda[1],
            lambda[2],
            y[0] + lambda[2],
        ]
    });
}

/// Rounding. `W` has zeros on its diagonal. While all diodes block, the coil's end floats: the voltages `y_0` and `λ_1` across two diodes are not unique (ours differ
/// from the file's by up to 3 V), their sum, the voltage of the filter, is.
#[test]
fn diode_bridge_with_a_filter() {
    const FILTER: f64 = 300e-9;
    let mut a = Matrix::zeros(3, 3);
    a[(0, 1)] = -1.0 / C;
    a[(1, 0)] = 1.0 / L;
    a[(2, 2)] = -1.0 / (R * FILTER);
    let f = 1.0 / FILTER;
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::from_rows([
            [0.0, -1.0, 0.0, 0.0],
            [1.0, 0.0, 1.0, -1.0],
            [0.0, -1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
        ])),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([
                [0.0, 0.0, 1.0],
                [0.0, 0.0, 0.0],
                [-1.0, 0.0, 1.0],
                [1.0, 0.0, 0.0],
            ])],
            [Matrix::from_rows([
                [0.0, 0.0, -1.0 / C, 1.0 / C],
                [0.0; 4],
                [f, 0.0, f, 0.0],
            ])],
        )
    };
    let circuit = Circuit {
        system: FirstOrderLinear::new(a),
        start: vec![10.0, 0.0, 0.0],
        relation,
        law: NonsmoothLaw::Complementarity { rows: 4 },
        theta: 1.0,
        h: 1e-6,
    };
    let Some(rows) = read("DiodeBridgeCapFilter.ref") else {
        return;
    };
    let (mut simulation, system, interaction) = circuit.spawn();
    let mut differences = Differences::default();
    for given in &rows[1..] {
        assert!(simulation.step().unwrap().converged);
        let outcome = simulation.outcome(interaction).unwrap();
        let (y, lambda) = (&outcome.output, &outcome.lambda);
        let x = simulation.state(system).unwrap().x();
        let own = [
            simulation.time(),
            x[0],
            x[1],
            lambda[0],
            -y[0] - lambda[1],
            lambda[2],
        ];
        let across = given[4] + given[5];
        differences.add(
            &own,
            &[given[0], given[1], given[2], given[3], across, given[6]],
        );
    }
    differences.within("DiodeBridgeCapFilter.ref", &[1e-12; 6]);
}

/// Sliding-mode control by a relay, taken implicitly: `ẋ = u + 0.6 sin 3t`, `u ∈ −sgn(x)`. Once it has reached the surface the state stays on it to rounding and
/// the control is what the disturbance asks for: it does not chatter.
#[test]
fn an_implicit_relay_slides_without_chattering() {
    let disturbance = |t: f64| 0.6 * libm::sin(3.0 * t);
    let circuit = Circuit {
        system: FirstOrderLinear {
            input: Signal::varying(move |t, input| input[0] = disturbance(t)),
            ..FirstOrderLinear::new(Matrix::zeros(1, 1))
        },
        start: vec![0.5],
        relation: FirstOrderLinearRelation::new([Matrix::identity(1)], [Matrix::identity(1)]),
        law: NonsmoothLaw::sign(),
        theta: 1.0,
        h: 1e-2,
    };
    let (mut simulation, system, relay) = circuit.spawn();
    let (mut sliding, mut control) = (0, 0.0);
    for _ in 0..1000 {
        assert!(simulation.step().unwrap().converged);
        let x = simulation.state(system).unwrap().x()[0];
        let u = simulation.outcome(relay).unwrap().lambda[0];
        if sliding > 0 {
            assert!(x.abs() < 1e-15, "{x:e}");
            assert!((u + disturbance(simulation.time())).abs() < 1e-13);
            // It moves with the disturbance, at most 1.8/s.
            assert!(sliding == 1 || f64::abs(u - control) < 1.8e-2);
        }
        sliding += usize::from(x.abs() < 1e-15);
        control = u;
    }
    assert!(sliding > 800, "{sliding}");
}

/// A mass on a spring that a belt at 0.5 m/s drags along by dry friction of 1 N: whatever it starts with, the amplitude falls until it touches the speed of the belt
/// from below, on the circle of the radius 0.5 m about 1 m. That is the limit cycle, of the period 2π. It is reached from a phase of sticking, whose end is the one point the cycle
/// touches, so that its radius is exact but for where the slip begins within a step: below 1e-6 m.
#[test]
fn an_oscillator_on_a_belt_comes_to_its_limit_cycle() {
    let (h, belt) = (1e-3, 0.5);
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let system = FirstOrderLinear::new(Matrix::from_rows([[0.0, 1.0], [-1.0, 0.0]]));
    let state = State::first_order([12.0, 6.0]);
    let mass = simulation
        .spawn_system(system, state, Integrator::euler_moreau(0.5))
        .unwrap();
    let friction = FirstOrderLinearRelation {
        e: vec![-belt].into(),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([[0.0, 1.0]])],
            [Matrix::from_rows([[0.0], [1.0]])],
        )
    };
    let friction = simulation
        .spawn_interaction(Joins::one(mass), friction, NonsmoothLaw::sign())
        .unwrap();
    let turn = (std::f64::consts::TAU / h).round() as usize;
    let (mut sticks, mut radii) = (0, [f64::INFINITY, 0.0]);
    for step in 0..15 * turn {
        assert!(simulation.step().unwrap().converged);
        let x = simulation.state(mass).unwrap().x();
        let lambda = simulation.outcome(friction).unwrap().lambda[0];
        sticks += usize::from(lambda.abs() < 1.0 - 1e-9);
        if step >= 14 * turn {
            let radius = libm::hypot(x[0] - 1.0, x[1]);
            radii = [radii[0].min(radius), radii[1].max(radius)];
        }
    }
    println!("limit cycle: radius {radii:?} m, {sticks} steps stuck");
    assert!(sticks > 100, "it never stuck");
    assert!(
        radii.iter().all(|radius| (radius - belt).abs() < 1e-6),
        "{radii:?}"
    );
}
