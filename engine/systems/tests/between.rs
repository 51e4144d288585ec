//! Relations within the step: under Moreau–Jean at `t_{k+γ}`, and where rows are taken; under Euler–Moreau with explicit multipliers.

use crate::bodies::heavy;
use bevy_ecs::entity::Entity;
use moreau_systems::*;
use std::sync::{Arc, Mutex};

const G: f64 = 9.81;

fn between(theta: f64, gamma: f64) -> Integrator {
    Integrator::MoreauJean(MoreauJean {
        theta,
        gamma_for_relation: gamma,
        rows_at: RowsAt::Converged,
        ..MoreauJean::default()
    })
}

fn step(simulation: &mut SystemsSimulation) {
    let report = simulation.step().unwrap();
    assert!(report.converged, "{report:?}");
}

/// `½(|q|² − 1)`: a unit circle.
struct Circle;

impl LagrangianRelation for Circle {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = 0.5 * (q[0][0] * q[0][0] + q[0][1] * q[0][1] - 1.0);
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        h[0].row_mut(0).copy_from_slice(q[0]);
    }
}

/// A pendulum of 1 kg and 1 m in Cartesian coordinates, from rest at the horizontal.
fn pendulum(h: f64, integrator: Integrator) -> (SystemsSimulation, Entity) {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let system = LagrangianLinear {
        force: vec![0.0, -G].into(),
        ..LagrangianLinear::new(Matrix::identity(2))
    };
    let state = State::lagrangian([1.0, 0.0], [0.0, 0.0]);
    let pendulum = simulation.spawn_system(system, state, integrator).unwrap();
    simulation
        .spawn_interaction(
            Joins::one(pendulum),
            Relation::lagrangian(Circle),
            NonsmoothLaw::Equality { rows: 1 },
        )
        .unwrap();
    (simulation, pendulum)
}

/// Largest change of the squared length and of the energy in 20 s.
fn losses(integrator: Integrator) -> [f64; 2] {
    let (mut simulation, pendulum) = pendulum(1e-2, integrator);
    let mut worst = [0.0_f64; 2];
    for _ in 0..2000 {
        step(&mut simulation);
        let state = simulation.state(pendulum).unwrap();
        let (q, v) = (state.q(), state.v());
        let length = q[0] * q[0] + q[1] * q[1] - 1.0;
        let energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) + G * q[1];
        worst = [worst[0].max(length.abs()), worst[1].max(energy.abs())];
    }
    worst
}

/// `h(q_{k+1}) − h(q_k) = h H(q_{k+½}) v_{k+½}` for what is quadratic, and `Hᵀλ` does no work on `v_{k+½}`: length and energy stay, to what Newton's loop leaves
/// in 2000 steps. With rows and law at the end of the step neither does.
#[test]
fn an_equality_in_the_middle_of_the_step_keeps_length_and_energy() {
    let kept = losses(between(0.5, 0.5));
    println!("length and energy: {kept:?}");
    assert!(kept[0] < 1e-12 && kept[1] < 1e-12, "{kept:?}");
    let lost = losses(between(0.5, 1.0));
    assert!(lost[0] > 1e-4 && lost[1] > 1.0, "{lost:?}");
}

fn angle_at_one_second(h: f64, integrator: Integrator) -> f64 {
    let (mut simulation, pendulum) = pendulum(h, integrator);
    for _ in 0..(1.0 / h).round() as usize {
        step(&mut simulation);
    }
    let q = simulation.state(pendulum).unwrap().q();
    libm::atan2(q[1], q[0])
}

/// The same pendulum by its angle, as the limit: the error of its step is 1e-9.
fn exact_angle() -> f64 {
    let mut simulation = SystemsSimulation::new(Settings::new(1.0 / 32768.0)).unwrap();
    let model = finite_differences::LagrangianByDifferences {
        size: 1,
        mass: |_: &[f64], mass: &mut Matrix| mass[(0, 0)] = 1.0,
        force: |_t: f64, q: &[f64], _v: &[f64], force: &mut [f64]| force[0] = -G * libm::cos(q[0]),
    };
    let pendulum = simulation
        .spawn_system(
            System::lagrangian(model),
            State::lagrangian([0.0], [0.0]),
            Integrator::moreau_jean(0.5),
        )
        .unwrap();
    for _ in 0..32768 {
        step(&mut simulation);
    }
    simulation.state(pendulum).unwrap().q()[0]
}

/// Equalities are of second order at `γ = θ = ½`, of first with rows and law at the end.
#[test]
fn an_equality_in_the_middle_of_the_step_is_of_second_order() {
    let exact = exact_angle();
    let whole = std::f64::consts::TAU;
    let exact = exact - whole * (exact / whole).round();
    for (gamma, expected) in [(0.5, 2.0), (1.0, 1.0)] {
        let error = |h: f64| (angle_at_one_second(h, between(0.5, gamma)) - exact).abs();
        let found = libm::log2(error(1.0 / 128.0) / error(1.0 / 1024.0)) / 3.0;
        assert!((found - expected).abs() < 0.12, "γ = {gamma}: {found}");
    }
}

/// A bar on a ball joint, from rest at 45° below the horizontal: `θ̈ = (0.5 g/1.25) cos θ`, so that `θ(1) = 1.8313313` (`joints/SPEC.md` of the references).
#[test]
fn a_joint_of_a_body_in_the_middle_of_the_step_is_of_second_order() {
    let error = |h: f64, gamma: f64| {
        let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
        let half = 0.5 * std::f64::consts::FRAC_1_SQRT_2;
        let start = State::body(
            [half, 0.0, -half],
            rotation::exp([0.0, std::f64::consts::FRAC_PI_4, 0.0]),
            [0.0; 3],
            [0.0; 3],
        );
        let bar = heavy(Matrix::diagonal(&[0.1, 1.0, 1.0]));
        let bar = simulation
            .spawn_system(bar, start, between(0.5, gamma))
            .unwrap();
        let knee = BodyJoint::ball([-0.5, 0.0, 0.0], [0.0; 3]);
        let law = NonsmoothLaw::Equality { rows: 3 };
        simulation
            .spawn_interaction(Joins::one(bar), Relation::lagrangian(knee), law)
            .unwrap();
        (0..(1.0 / h).round() as usize).for_each(|_| step(&mut simulation));
        let q = simulation.state(bar).unwrap().q();
        (libm::atan2(-q[2], q[0]) - 1.831_331_3).abs()
    };
    for (gamma, expected) in [(0.5, 2.0), (1.0, 1.0)] {
        let found = libm::log2(error(1.0 / 32.0, gamma) / error(1.0 / 256.0, gamma)) / 3.0;
        assert!((found - expected).abs() < 0.12, "γ = {gamma}: {found}");
    }
}

/// Rates of both sides of the impact are in the law, whatever `γ`.
#[test]
fn impacts_restitute_with_relations_within_the_step() {
    for (gamma, restitution) in [(0.5, 1.0), (0.5, 0.5), (0.25, 0.5), (1.0, 0.5)] {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
        let ball = simulation
            .spawn_system(
                LagrangianLinear::new(Matrix::identity(1)),
                State::lagrangian([0.001], [-1.0]),
                between(0.5, gamma),
            )
            .unwrap();
        let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
        let law = NonsmoothLaw::NewtonImpact { restitution };
        simulation
            .spawn_interaction(Joins::one(ball), gap, law)
            .unwrap();
        step(&mut simulation);
        let v = simulation.state(ball).unwrap().v()[0];
        assert!((v - restitution).abs() < 1e-14, "γ = {gamma}: {v}");
    }
}

/// A compliant contact that is pressed is a spring, at `γ = θ = ½` one that keeps its energy.
#[test]
fn a_compliant_contact_in_the_middle_of_the_step_keeps_its_energy() {
    let stiffness = 400.0;
    let energy = |integrator: Integrator| {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
        let system = LagrangianLinear {
            force: vec![-100.0].into(),
            ..LagrangianLinear::new(Matrix::identity(1))
        };
        let state = State::lagrangian([-0.25], [0.5]);
        let mass = simulation.spawn_system(system, state, integrator).unwrap();
        let relation = LagrangianLinearRelation {
            compliance: Some(Matrix::diagonal(&[1.0 / stiffness])),
            ..LagrangianLinearRelation::new([Matrix::identity(1)])
        };
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        let contact = simulation
            .spawn_interaction(Joins::one(mass), relation, law)
            .unwrap();
        for _ in 0..1000 {
            step(&mut simulation);
            assert!(simulation.outcome(contact).unwrap().lambda[0] > 0.0);
        }
        let state = simulation.state(mass).unwrap();
        let (q, v) = (state.q()[0], state.v()[0]);
        0.5 * v * v + 0.5 * stiffness * (q + 0.25) * (q + 0.25)
    };
    let kept = energy(between(0.5, 0.5));
    assert!((kept - 0.125).abs() < 1e-11, "{kept}");
    let lost = energy(between(0.5, 1.0));
    assert!(lost < 0.01, "{lost}");
}

/// A coil of 1 H and a mass of 1 kg, which the current pushes and whose speed is a voltage, `±K`: what one gets the other gives, and with both taken in the
/// middle of the step their energy stays. Systems of two kinds may differ in all but `γ`.
#[test]
fn a_motor_in_the_middle_of_the_step_keeps_its_energy() {
    let full = |gamma: f64| {
        Integrator::EulerMoreau(EulerMoreau {
            gamma,
            gamma_for_relation: true,
            ..EulerMoreau::default()
        })
    };
    let spawn = |first: Integrator, second: Integrator| {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
        let coil = FirstOrderLinear::new(Matrix::from_rows([[0.0]]));
        let coil = simulation
            .spawn_system(coil, State::first_order([1.0]), first)
            .unwrap();
        let mass = LagrangianLinear {
            stiffness: Some(Matrix::identity(1)),
            ..LagrangianLinear::new(Matrix::identity(1))
        };
        let mass = simulation
            .spawn_system(mass, State::lagrangian([0.0], [0.3]), second)
            .unwrap();
        // λ = (force, voltage): 0 = λ − K (i, −v).
        let k = 3.0;
        let relation = FirstOrderLinearRelation {
            d: Some(Matrix::identity(2)),
            ..FirstOrderLinearRelation::new(
                [
                    Matrix::from_rows([[-k], [0.0]]),
                    Matrix::from_rows([[0.0, 0.0], [0.0, k]]),
                ],
                [
                    Matrix::from_rows([[0.0, 1.0]]),
                    Matrix::from_rows([[1.0, 0.0]]),
                ],
            )
        };
        let law = NonsmoothLaw::Equality { rows: 2 };
        let tie = simulation.spawn_interaction(Joins::two(coil, mass), relation, law);
        tie.map(|_| (simulation, coil, mass))
    };
    let energy = |gamma: f64| {
        let spawned = spawn(full(gamma), between(0.5, gamma)).unwrap();
        let (mut simulation, coil, mass) = spawned;
        (0..1000).for_each(|_| step(&mut simulation));
        let x = simulation.state(coil).unwrap().x()[0];
        let state = simulation.state(mass).unwrap();
        let (q, v) = (state.q()[0], state.v()[0]);
        0.5 * (x * x + v * v + q * q)
    };
    let kept = energy(0.5);
    assert!((kept - 0.545).abs() < 1e-11, "{kept}");
    let lost = energy(1.0);
    assert!(lost < 0.3, "{lost}");
    let mixed = spawn(full(0.5), between(0.5, 1.0));
    assert!(
        matches!(
            mixed,
            Err(SystemsError::Interaction {
                source: FieldError::DifferentIntegrators { .. },
                ..
            })
        ),
        "systems of two points of the step"
    );
}

/// Notes where its rows were asked for.
struct Noting(Arc<Mutex<Vec<(f64, f64)>>>);

impl LagrangianRelation for Noting {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = q[0][0];
    }

    fn jacobian(&self, t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        self.0.lock().unwrap().push((t, q[0][0]));
        h[0][(0, 0)] = 1.0;
    }
}

/// In a step of 0.1 s from `q = 0`, `v = 2` under 10 N on 1 kg.
#[test]
fn rows_are_taken_where_it_is_said() {
    let at = |theta: f64, gamma: f64, rows_at: RowsAt| {
        let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
        let system = LagrangianLinear {
            force: vec![10.0].into(),
            ..LagrangianLinear::new(Matrix::identity(1))
        };
        let integrator = Integrator::MoreauJean(MoreauJean {
            theta,
            gamma_for_relation: gamma,
            rows_at,
            ..MoreauJean::default()
        });
        let state = State::lagrangian([0.0], [2.0]);
        let mass = simulation.spawn_system(system, state, integrator).unwrap();
        let noted = Arc::new(Mutex::new(Vec::new()));
        simulation
            .spawn_interaction(
                Joins::one(mass),
                Relation::lagrangian(Noting(noted.clone())),
                NonsmoothLaw::Relay {
                    lower: vec![0.0],
                    upper: vec![0.0],
                },
            )
            .unwrap();
        step(&mut simulation);
        noted.lock().unwrap().clone()
    };
    let has = |list: &[(f64, f64)], t: f64, q: f64| {
        let near = |(a, b): &(f64, f64)| (a - t).abs() < 1e-15 && (b - q).abs() < 1e-15;
        list.iter().any(near)
    };
    // Without a force of friction the mass is at 0.25 after the step with θ = ½, at 0.3 with θ = 1; the first iterate is at 0.2.
    assert!(has(&at(0.5, 1.0, RowsAt::Predicted), 0.1, 0.25));
    assert!(has(&at(1.0, 1.0, RowsAt::Predicted), 0.1, 0.3));
    assert!(has(&at(0.5, 1.0, RowsAt::Iterate), 0.1, 0.2));
    assert!(has(&at(0.5, 0.5, RowsAt::Iterate), 0.05, 0.1));
    assert!(has(&at(0.5, 0.5, RowsAt::Start), 0.0, 0.0));
}

/// A coil of 1 H and a capacitor of 1 F with a diode and a resistor of 2 Ω across it: `x = (voltage, current)`.
fn circuit(h: f64, integrator: Integrator) -> (SystemsSimulation, Entity, Entity) {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let system = FirstOrderLinear::new(Matrix::from_rows([[0.0, -1.0], [1.0, 0.0]]));
    let state = State::first_order([1.0, 0.0]);
    let circuit = simulation.spawn_system(system, state, integrator).unwrap();
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::from_rows([[2.0]])),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([[-1.0, 0.0]])],
            [Matrix::from_rows([[-1.0], [0.0]])],
        )
    };
    let law = NonsmoothLaw::Complementarity { rows: 1 };
    let diode = simulation
        .spawn_interaction(Joins::one(circuit), relation, law)
        .unwrap();
    (simulation, circuit, diode)
}

fn explicit(gamma_for_relation: bool) -> Integrator {
    Integrator::EulerMoreau(EulerMoreau {
        theta: 0.5,
        gamma: 0.0,
        gamma_for_relation,
        rate_between: false,
    })
}

/// `γ = 0` step by step: `x_{k+1}` under the trapezoidal rule and `h r_k`, in the standard scheme `r_k` of the step before, in the full one of `x_k`; rounding.
#[test]
fn explicit_multipliers_are_those_of_the_start_of_the_step() {
    let h = 0.05;
    for full in [false, true] {
        let (mut simulation, system, diode) = circuit(h, explicit(full));
        let ([mut voltage, mut current], mut last) = ([1.0_f64, 0.0_f64], 0.0);
        let mut conducting = 0;
        for k in 0..400 {
            step(&mut simulation);
            let of_start = (0.5 * voltage).max(0.0);
            let pushes = if full { of_start } else { last };
            // (1 − hA/2) x = (1 + hA/2) x_k + h r.
            let (s, a) = (0.5 * h, 1.0 + 0.25 * h * h);
            let right = [voltage - s * current - h * pushes, current + s * voltage];
            [voltage, current] = [(right[0] - s * right[1]) / a, (right[1] + s * right[0]) / a];
            last = (0.5 * voltage).max(0.0);
            let x = simulation.state(system).unwrap().x();
            let near = (x[0] - voltage).abs() < 1e-13 && (x[1] - current).abs() < 1e-13;
            assert!(near, "step {k}: {x:?} beside {voltage} {current}");
            let outcome = simulation.outcome(diode).unwrap();
            let lambda = if full { of_start } else { last };
            assert!((outcome.lambda[0] - lambda).abs() < 1e-13, "step {k}");
            let acts = simulation.reaction(system).unwrap()[0];
            assert!((acts + lambda).abs() < 1e-13, "step {k}: {acts}");
            conducting += usize::from(lambda > 0.0);
        }
        assert!((100..300).contains(&conducting), "{conducting}");
    }
}

/// Both forms are of first order, towards what implicit multipliers converge to.
#[test]
fn explicit_multipliers_are_of_first_order() {
    let end = |h: f64, integrator: Integrator| {
        let (mut simulation, system, _) = circuit(h, integrator);
        (0..(6.0 / h).round() as usize).for_each(|_| step(&mut simulation));
        simulation.state(system).unwrap().x()[0]
    };
    let middle = Integrator::EulerMoreau(EulerMoreau {
        gamma: 0.5,
        gamma_for_relation: true,
        ..EulerMoreau::default()
    });
    let exact = end(1.0 / 4096.0, middle);
    for full in [false, true] {
        let error = |h: f64| (end(h, explicit(full)) - exact).abs();
        let found = libm::log2(error(1.0 / 32.0) / error(1.0 / 256.0)) / 3.0;
        assert!((found - 1.0).abs() < 0.1, "full {full}: {found}");
    }
}

/// Without `D` an explicit multiplier does not reach the output.
#[test]
fn explicit_multipliers_need_a_relative_degree_of_zero() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
    for full in [false, true] {
        let system = FirstOrderLinear::new(Matrix::from_rows([[0.0]]));
        let state = State::first_order([1.0]);
        let system = simulation
            .spawn_system(system, state, explicit(full))
            .unwrap();
        let relation = FirstOrderLinearRelation::new([Matrix::identity(1)], [Matrix::identity(1)]);
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        let refused = simulation.spawn_interaction(Joins::one(system), relation, law);
        let source = match refused {
            Err(SystemsError::Interaction { source, .. }) => source,
            other => panic!("{other:?}"),
        };
        assert!(
            matches!(
                source,
                FieldError::RelativeDegree {
                    found: 1,
                    most: 0,
                    ..
                }
            ),
            "{source}"
        );
    }
}
