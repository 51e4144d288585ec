//! Zero-order hold: exact between samples, so that all bounds here are roundings, a few per step of numbers that are said beside them, unless an order in `h` is measured.

use crate::control::{one, simulation};
use bevy_ecs::entity::Entity;
use moreau_systems::*;

/// `n` integrators in a row: `ẋ_i = x_{i+1}`, `ẋ_n = u`.
fn integrators(n: usize) -> Matrix {
    let mut a = Matrix::zeros(n, n);
    (1..n).for_each(|i| a[(i - 1, i)] = 1.0);
    a
}

fn last(n: usize) -> Matrix {
    let mut b = Matrix::zeros(n, 1);
    b[(n - 1, 0)] = 1.0;
    b
}

fn spawn(simulation: &mut SystemsSimulation, system: FirstOrderLinear, x: &[f64]) -> Entity {
    let hold = Integrator::zero_order_hold();
    simulation
        .spawn_system(system, State::first_order(x), hold)
        .unwrap()
}

fn x(simulation: &SystemsSimulation, system: Entity) -> Vec<f64> {
    simulation.state(system).unwrap().x().to_vec()
}

fn step(simulation: &mut SystemsSimulation) {
    let report = simulation.step().unwrap();
    assert!(report.converged, "{report:?}");
}

fn close(found: &[f64], expected: &[f64], bound: f64) {
    for (found_entry, expected_entry) in found.iter().zip(expected) {
        let missed = (found_entry - expected_entry).abs();
        assert!(missed <= bound, "{found:?} {expected:?}: {missed:e}");
    }
}

/// `u = −K x` sampled at every step.
fn feedback_loop(simulation: &mut SystemsSimulation, system: Entity, gain: &[f64], period: f64) {
    let (n, clock) = (gain.len(), Clock::new(period));
    let sensor = Sensor::linear(system, Matrix::identity(n), clock);
    let sensor = simulation.spawn_sensor(sensor).unwrap();
    let mut row = Matrix::zeros(1, n);
    row.row_mut(0).copy_from_slice(gain);
    let law = LinearFeedback::new([row]);
    let actuator = Actuator::new(system, [sensor], last(n), law, clock);
    simulation.spawn_actuator(actuator).unwrap();
}

/// A damped oscillator `q̈ + 2q̇ + 10q = 5`: `q = ½ − e^{−t}(½ cos 3t + ⅙ sin 3t)` from rest. Steps of any length end on it.
#[test]
fn exact_for_constant_inputs_at_any_step() {
    for (h, steps) in [(1e-3, 4000), (0.1, 40), (0.8, 5), (4.0, 1)] {
        let mut simulation = simulation(h);
        let system = FirstOrderLinear {
            input: vec![0.0, 5.0].into(),
            ..FirstOrderLinear::new(Matrix::from_rows([[0.0, 1.0], [-10.0, -2.0]]))
        };
        let system = spawn(&mut simulation, system, &[0.0, 0.0]);
        for k in 1..=steps {
            step(&mut simulation);
            let t = h * f64::from(k);
            let (s, c) = libm::sincos(3.0 * t);
            let decay = libm::exp(-t);
            let q = 0.5 - decay * (0.5 * c + s / 6.0);
            let v = decay * 5.0 / 3.0 * s;
            // The decay forgets the roundings of more than some 1/h steps.
            close(&x(&simulation, system), &[q, v], 2e-15 * (1.0 + 1.0 / h));
        }
    }
}

/// `M ẋ = A x + b + B u` with a mass that is no multiple of the unit matrix is `ẋ = M⁻¹(A x + b + B u)`.
#[test]
fn a_mass_divides_all() {
    let run = |system: FirstOrderLinear, input: Matrix| {
        let mut simulation = simulation(0.5);
        let system = spawn(&mut simulation, system, &[1.0, -1.0]);
        let law = feedback(1, |_, _, u| u[0] = 3.0);
        let actuator = Actuator::new(system, [], input, law, Clock::new(0.5));
        simulation.spawn_actuator(actuator).unwrap();
        (0..6).for_each(|_| step(&mut simulation));
        x(&simulation, system)
    };
    let a = Matrix::from_rows([[-1.0, 2.0], [-3.0, -1.0]]);
    let (mass, inverse) = (
        Matrix::from_rows([[2.0, 1.0], [0.0, 4.0]]),
        Matrix::from_rows([[0.5, -0.125], [0.0, 0.25]]),
    );
    let b = vec![1.0, 2.0];
    let with_mass = FirstOrderLinear {
        mass: Some(mass),
        input: b.clone().into(),
        ..FirstOrderLinear::new(a.clone())
    };
    let divided = FirstOrderLinear {
        input: inverse.times(&b).into(),
        ..FirstOrderLinear::new(inverse.product(&a))
    };
    let expected = run(divided, inverse.product(&last(2)));
    close(&run(with_mass, last(2)), &expected, 1e-14);
}

/// A plant and its sampled controller are the discrete-time loop `x_{k+1} = (Φ − Γ K) x_k`, with `Φ` and `Γ` of a double integrator in closed form, whatever the period.
#[test]
fn a_sampled_loop_is_the_loop_in_discrete_time() {
    for (h, gain) in [(0.1, [1.0, 1.5]), (0.7, [0.4, 0.9]), (2.0, [0.1, 0.4])] {
        let mut simulation = simulation(h);
        let system = FirstOrderLinear::new(integrators(2));
        let system = spawn(&mut simulation, system, &[1.0, -0.5]);
        feedback_loop(&mut simulation, system, &gain, h);
        let mut exact = [1.0, -0.5];
        for k in 0..60 {
            let u = -gain[0] * exact[0] - gain[1] * exact[1];
            exact = [exact[0] + h * exact[1] + 0.5 * h * h * u, exact[1] + h * u];
            step(&mut simulation);
            close(&x(&simulation, system), &exact, 4e-15 * f64::from(k + 1));
        }
    }
}

/// A controller that is slower than the step: what it holds acts on through three steps.
#[test]
fn commands_are_held_through_several_steps() {
    let (h, period, gain) = (0.1, 0.3, [1.0, 1.5]);
    let mut simulation = simulation(h);
    let system = spawn(
        &mut simulation,
        FirstOrderLinear::new(integrators(2)),
        &[1.0, 0.0],
    );
    feedback_loop(&mut simulation, system, &gain, period);
    let mut exact = [1.0, 0.0];
    for _ in 0..20 {
        let u = -gain[0] * exact[0] - gain[1] * exact[1];
        exact = [
            exact[0] + period * exact[1] + 0.5 * period * period * u,
            exact[1] + period * u,
        ];
        (0..3).for_each(|_| step(&mut simulation));
        close(&x(&simulation, system), &exact, 1e-13);
    }
}

/// Gains that put all eigenvalues of the loop to zero end any start of `n` integrators in `n` steps: `K = (1/h², 3/2h)` and `(1/h³, 2/h², 11/6h)`.
#[test]
fn deadbeat_control_ends_in_n_steps() {
    for h in [0.05, 0.3, 2.0] {
        let gains = [
            vec![1.0 / (h * h), 1.5 / h],
            vec![1.0 / (h * h * h), 2.0 / (h * h), 11.0 / (6.0 * h)],
        ];
        for gain in gains {
            let n = gain.len();
            let start = [1.0, -2.0, 0.5];
            let mut simulation = simulation(h);
            let system = FirstOrderLinear::new(integrators(n));
            let system = spawn(&mut simulation, system, &start[..n]);
            feedback_loop(&mut simulation, system, &gain, h);
            (0..n).for_each(|_| step(&mut simulation));
            // On the way x is multiplied by up to h K, and rounded.
            let way = gain.iter().fold(1.0, |most: f64, gain| most.max(h * gain));
            close(
                &x(&simulation, system),
                &[0.0; 3][..n],
                32.0 * f64::EPSILON * way,
            );
        }
    }
}

/// Over a whole period of an oscillator a constant input does nothing: `Ψ = 0`, and neither the actuator nor a multiplier can move the state, which is no error.
#[test]
fn a_hold_of_one_period_is_singular() {
    let omega = 3.0;
    let h = std::f64::consts::TAU / omega;
    let mut simulation = simulation(h);
    let a = Matrix::from_rows([[0.0, 1.0], [-omega * omega, 0.0]]);
    let system = spawn(&mut simulation, FirstOrderLinear::new(a), &[1.0, 2.0]);
    let law = feedback(1, |_, _, u| u[0] = 5.0);
    let actuator = Actuator::new(system, [], last(2), law, Clock::new(h));
    simulation.spawn_actuator(actuator).unwrap();
    // A resistor keeps the law regular: 0 ≤ λ + x_2 ⊥ λ ≥ 0.
    let relation = FirstOrderLinearRelation {
        d: Some(one()),
        ..FirstOrderLinearRelation::new([Matrix::from_rows([[0.0, 1.0]])], [last(2)])
    };
    let law = NonsmoothLaw::Complementarity { rows: 1 };
    simulation
        .spawn_interaction(Joins::one(system), relation, law)
        .unwrap();
    for k in 1..20 {
        step(&mut simulation);
        close(&x(&simulation, system), &[1.0, 2.0], 1e-13 * f64::from(k));
    }
}

/// The plant of `sliding.rs` without disturbance: `σ = x_1 + x_2` is zero to rounding from the first step that `|u| ≤ 2` allows, and `u` does not jump from there on.
#[test]
fn a_relay_slides_without_chattering() {
    let h = 0.05;
    let mut simulation = simulation(h);
    let system = FirstOrderLinear::new(integrators(2));
    let system = spawn(&mut simulation, system, &[1.0, 1.0]);
    let relation = FirstOrderLinearRelation::new([Matrix::from_rows([[1.0, 1.0]])], [last(2)]);
    let relay = NonsmoothLaw::Relay {
        lower: vec![-2.0],
        upper: vec![2.0],
    };
    let relay = simulation
        .spawn_interaction(Joins::one(system), relation, relay)
        .unwrap();
    let (mut reached, mut before) = (None, -2.0);
    for k in 0..200 {
        let start = x(&simulation, system);
        step(&mut simulation);
        let (now, u) = (
            x(&simulation, system),
            simulation.outcome(relay).unwrap().lambda[0],
        );
        let exact = [start[0] + h * start[1] + 0.5 * h * h * u, start[1] + h * u];
        close(&now, &exact, 1e-15 * 4.0);
        let sigma = now[0] + now[1];
        if reached.is_none() && u > -2.0 + 1e-9 {
            reached = Some(k);
            before = u;
        }
        if let Some(first) = reached {
            assert!(sigma.abs() < 4e-15, "{k}: {sigma:e}");
            // u falls off with x, by about h of itself a step, but for where it comes off its bound.
            assert!(
                k < first + 2 || (u - before).abs() <= 1.2 * h * before.abs(),
                "{k}"
            );
            before = u;
        }
    }
    assert!(reached.is_some_and(|k| k < 30), "{reached:?}");
    close(&x(&simulation, system), &[0.0, 0.0], 1e-3);
}

/// The equation and the law of a step with a diode, checked as they stand; `Reaction` is `B λ`.
#[test]
fn a_multiplier_is_held_over_the_step() {
    let h = 2e-5;
    let (coil, capacitor, resistor) = (1e-2, 1e-6, 1e3);
    let a = Matrix::from_rows([[0.0, -1.0 / capacitor], [1.0 / coil, 0.0]]);
    let b = Matrix::from_rows([[-1.0 / capacitor], [0.0]]);
    let mut simulation = simulation(h);
    let system = spawn(
        &mut simulation,
        FirstOrderLinear::new(a.clone()),
        &[10.0, 0.0],
    );
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::diagonal(&[resistor])),
        ..FirstOrderLinearRelation::new([Matrix::from_rows([[-1.0, 0.0]])], [b.clone()])
    };
    let law = NonsmoothLaw::Complementarity { rows: 1 };
    let diode = simulation
        .spawn_interaction(Joins::one(system), relation, law)
        .unwrap();
    let [phi, gamma] = zero_order_hold(&a, &b, h);
    let mut conducts = 0;
    for _ in 0..250 {
        let start = x(&simulation, system);
        step(&mut simulation);
        let outcome = simulation.outcome(diode).unwrap();
        let (y, lambda, now) = (outcome.output[0], outcome.lambda[0], x(&simulation, system));
        let mut expected = phi.times(&start);
        gamma.add_times(1.0, &[lambda], &mut expected);
        close(&now, &expected, 1e-14 * 10.0);
        assert!(y >= -1e-12 && lambda >= 0.0 && (y * lambda).abs() < 1e-13);
        assert!((y - (resistor * lambda - now[0])).abs() < 1e-12);
        let acts = simulation.reaction(system).unwrap();
        close(acts, &[-lambda / capacitor, 0.0], 1e-10);
        conducts += usize::from(lambda > 0.0);
    }
    assert!(conducts > 20 && conducts < 230, "{conducts}");
}

/// `h(x, λ) = x + λ + λ³ − 2` and `g(x, λ) = λ + ¼ λ x`: nonlinear relations satisfy the scheme at the end of Newton's loop.
struct Bent;

impl FirstOrderRelation for Bent {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, x: &[&[f64]], lambda: &[f64], y: &mut [f64]) {
        y[0] = x[0][0] + lambda[0] + lambda[0] * lambda[0] * lambda[0] - 2.0;
    }

    fn input(&self, _t: f64, x: &[&[f64]], lambda: &[f64], r: &mut [Vec<f64>]) {
        r[0][0] = lambda[0] + 0.25 * lambda[0] * x[0][0];
    }

    fn output_by_state(&self, _t: f64, _x: &[&[f64]], _lambda: &[f64], c: &mut [Matrix]) {
        c[0][(0, 0)] = 1.0;
    }

    fn output_by_multiplier(&self, _t: f64, _x: &[&[f64]], lambda: &[f64], d: &mut Matrix) {
        d[(0, 0)] = 1.0 + 3.0 * lambda[0] * lambda[0];
    }

    fn input_by_multiplier(&self, _t: f64, x: &[&[f64]], _lambda: &[f64], b: &mut [Matrix]) {
        b[0][(0, 0)] = 1.0 + 0.25 * x[0][0];
    }

    fn input_by_state(&self, _t: f64, _x: &[&[f64]], lambda: &[f64], k: &mut [Matrix]) {
        k[0][(0, 0)] = 0.25 * lambda[0];
    }
}

#[test]
fn relations_may_be_nonlinear() {
    let h = 0.25;
    let mut simulation = simulation(h);
    let system = FirstOrderLinear::new(Matrix::diagonal(&[-1.0]));
    let system = spawn(&mut simulation, system, &[0.0]);
    let law = NonsmoothLaw::Complementarity { rows: 1 };
    let relation = Relation::first_order(Bent);
    let fed = simulation
        .spawn_interaction(Joins::one(system), relation, law)
        .unwrap();
    let (phi, psi) = (libm::exp(-h), 1.0 - libm::exp(-h));
    for _ in 0..20 {
        let start = x(&simulation, system)[0];
        step(&mut simulation);
        let (now, lambda) = (
            x(&simulation, system)[0],
            simulation.outcome(fed).unwrap().lambda[0],
        );
        let r = lambda + 0.25 * lambda * now;
        assert!((now - phi * start - psi * r).abs() < 1e-11);
        assert!((now + lambda + lambda * lambda * lambda - 2.0).abs() < 1e-11);
        close(simulation.reaction(system).unwrap(), &[r], 1e-12);
    }
}

/// An input that varies is that of the start of the step: `ẋ = −x + sin t` is of first order.
#[test]
fn inputs_that_vary_are_of_first_order() {
    let error = |h: f64| {
        let mut simulation = simulation(h);
        let system = FirstOrderLinear {
            input: Signal::varying(|t, b| b[0] = libm::sin(t)),
            ..FirstOrderLinear::new(Matrix::diagonal(&[-1.0]))
        };
        let system = spawn(&mut simulation, system, &[0.0]);
        (0..(2.0 / h).round() as usize).for_each(|_| step(&mut simulation));
        let exact = 0.5 * (libm::sin(2.0) - libm::cos(2.0) + libm::exp(-2.0));
        (x(&simulation, system)[0] - exact).abs()
    };
    let order = libm::log2(error(0.02) / error(0.0025)) / 3.0;
    assert!((order - 1.0).abs() < 0.05, "{order}");
}

/// Parts of a step have a hold of their own, and a simulation that changes its step another one.
#[test]
fn every_step_has_its_own_hold() {
    let mut simulation = simulation(1.0);
    let system = || FirstOrderLinear::new(Matrix::from_rows([[0.0, 1.0], [-2.0, -0.3]]));
    let whole = spawn(&mut simulation, system(), &[1.0, 0.0]);
    let parts = spawn(&mut simulation, system(), &[1.0, 0.0]);
    simulation.set_substeps(parts, Substeps(7)).unwrap();
    for h in [1.0, 1.0, 0.3, 0.3, 1.0] {
        simulation.set_settings(Settings::new(h)).unwrap();
        step(&mut simulation);
        close(&x(&simulation, whole), &x(&simulation, parts), 1e-14);
    }
}

/// A circuit under zero-order hold and a mass under Moreau–Jean may share a multiplier, as both take that of the end of the step: a coil on a mass, `λ = i` under an equality.
#[test]
fn it_goes_with_schemes_that_have_multipliers_at_the_end() {
    let run = |integrator: Integrator, h: f64| {
        let mut simulation = simulation(h);
        let coil = FirstOrderLinear::new(Matrix::diagonal(&[-1.0]));
        let coil = simulation
            .spawn_system(coil, State::first_order([1.0]), integrator)
            .unwrap();
        let mass = LagrangianLinear::new(one());
        let state = State::lagrangian([0.0], [0.0]);
        let mass = simulation
            .spawn_system(mass, state, Integrator::moreau_jean(1.0))
            .unwrap();
        // y = i − v − λ = 0, force λ on the mass, −λ in the coil.
        let relation = FirstOrderLinearRelation {
            d: Some(one().scaled(-1.0)),
            ..FirstOrderLinearRelation::new(
                [one(), Matrix::from_rows([[0.0, -1.0]])],
                [one().scaled(-1.0), one()],
            )
        };
        let law = NonsmoothLaw::Equality { rows: 1 };
        simulation
            .spawn_interaction(Joins::two(coil, mass), relation, law)
            .unwrap();
        (0..(1.0 / h).round() as usize).for_each(|_| step(&mut simulation));
        x(&simulation, coil)[0]
    };
    let (held, euler) = (
        run(Integrator::zero_order_hold(), 1e-3),
        run(Integrator::euler_moreau(1.0), 1e-3),
    );
    // Both are of first order: x' = −2x + v, v' = x − v.
    assert!((held - euler).abs() < 2e-3, "{held} {euler}");
}

struct Cubic;

impl FirstOrderModel for Cubic {
    fn size(&self) -> usize {
        1
    }

    fn rate(&self, _t: f64, x: &[f64], rate: &mut [f64]) {
        rate[0] = -x[0] * x[0] * x[0];
    }
}

#[test]
fn what_has_no_hold_is_named() {
    let mut simulation = simulation(0.1);
    let hold = Integrator::zero_order_hold();
    let mut refused =
        |system: System, state: State| match simulation.spawn_system(system, state, hold) {
            Err(SystemsError::System { source, .. }) => source.to_string(),
            other => panic!("{other:?}"),
        };
    let first_order = || State::first_order([1.0]);
    assert_eq!(
        refused(System::first_order(Cubic), first_order()),
        "system is FirstOrder, expected FirstOrderLinear with constant A for ZeroOrderHold"
    );
    let varying = FirstOrderLinear::varying(1, |t, a| a[(0, 0)] = t);
    assert_eq!(
        refused(varying.into(), first_order()),
        "matrix is Varying, expected FirstOrderLinear with constant A for ZeroOrderHold"
    );
    let mass = LagrangianLinear::new(one());
    assert_eq!(
        refused(mass.into(), State::lagrangian([0.0], [0.0])),
        "integrator is ZeroOrderHold, expected MoreauJean, SchatzmanPaoli or D1Minus for a Lagrangian system"
    );
    // What needs the step is said by the step: a mass without inverse, and a motion that leaves the numbers.
    let singular = FirstOrderLinear {
        mass: Some(Matrix::zeros(1, 1)),
        ..FirstOrderLinear::new(one())
    };
    let of_step = |system: FirstOrderLinear| {
        let mut simulation = crate::control::simulation(0.1);
        let own = spawn(&mut simulation, system, &[1.0]);
        match simulation.step() {
            Err(SystemsError::System { entity, source }) if entity == own => source.to_string(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of_step(singular), "mass is singular");
    let explodes = FirstOrderLinear::new(Matrix::diagonal(&[1e4]));
    assert_eq!(of_step(explodes), "exp(M⁻¹A h) is inf, expected finite");
}

/// Multipliers are held functions: a relation of degree 2 and systems with other points of the step are refused as under Euler–Moreau.
#[test]
fn relations_that_do_not_fit_are_named() {
    let mut simulation = simulation(0.1);
    let system = FirstOrderLinear::new(integrators(2));
    let held = spawn(&mut simulation, system.clone(), &[0.0, 0.0]);
    let position = || Matrix::from_rows([[1.0, 0.0]]);
    let law = || NonsmoothLaw::Complementarity { rows: 1 };
    let relation = FirstOrderLinearRelation::new([position()], [last(2)]);
    let refused = simulation.spawn_interaction(Joins::one(held), relation, law());
    assert!(matches!(
        refused,
        Err(SystemsError::Interaction {
            source: FieldError::RelativeDegree {
                found: 2,
                most: 1,
                ..
            },
            ..
        })
    ));
    let rigid = LagrangianLinearRelation::new([Matrix::zeros(1, 2)]);
    let impact = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
    let refused = simulation.spawn_interaction(Joins::one(held), rigid, impact);
    assert!(matches!(
        refused,
        Err(SystemsError::Interaction {
            source: FieldError::Kind {
                field: "relation",
                ..
            },
            ..
        })
    ));
    let middle = Integrator::EulerMoreau(EulerMoreau {
        gamma: 0.5,
        ..EulerMoreau::default()
    });
    let other = simulation
        .spawn_system(system, State::first_order([0.0, 0.0]), middle)
        .unwrap();
    let relation = FirstOrderLinearRelation {
        d: Some(one()),
        ..FirstOrderLinearRelation::new([position(), position()], [last(2), last(2)])
    };
    let refused = simulation.spawn_interaction(Joins::two(held, other), relation, law());
    assert!(matches!(
        refused,
        Err(SystemsError::Interaction {
            source: FieldError::DifferentIntegrators { .. },
            ..
        })
    ));
}
