//! Event-driven integration beside closed forms, the reference, and time stepping.

use crate::ball::ball;
use crate::mechanisms::arm;
use crate::table::{Differences, read};
use bevy_ecs::entity::Entity;
use moreau_systems::*;

const G: f64 = 9.81;

/// Time of the impact `n ≥ 0` of the bouncing ball: the first fall, then flights of `2 eᵏ √(2/g)`.
fn impact_time(n: i32) -> f64 {
    let fall = (2.0 / G).sqrt();
    fall + 2.0 * fall * (0.9 - 0.9_f64.powi(n + 1)) / 0.1
}

/// Every impact of the first hundred at its time, to the error of the integration (the motion is a parabola, so rounding); then the ball rests on its weight.
#[test]
fn a_bouncing_ball_strikes_in_time_and_comes_to_rest() {
    let (mut simulation, ball, wall) = ball(Settings::new(5e-3), Integrator::moreau_jean(0.5));
    let report = simulation
        .advance_by_events(10.0, &EventSettings::default())
        .unwrap();
    assert!(report.converged && report.time.to_bits() == 10.0_f64.to_bits());
    let impacts: Vec<&Event> = report
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Impact { .. }))
        .collect();
    // ẏ⁻ = −eⁿ √(2g), down to 1e-6.
    let expected = libm::ceil(libm::log(1e-6 / (2.0 * G).sqrt()) / libm::log(0.9)) as usize;
    assert!(
        impacts.len().abs_diff(expected + 1) <= 1,
        "{} {expected}",
        impacts.len()
    );
    let mut worst = 0.0_f64;
    for (n, event) in impacts.iter().enumerate().take(100) {
        worst = worst.max((event.time - impact_time(n as i32)).abs());
    }
    println!("impact times: {worst:.1e} s");
    assert!(worst < 1e-9);
    assert_eq!(report.accumulations, 1);
    assert!(matches!(
        report.events.last().unwrap().kind,
        EventKind::Closed
    ));
    let (state, outcome) = (
        simulation.state(ball).unwrap(),
        simulation.outcome(wall).unwrap(),
    );
    assert!(state.q()[0].abs() < 1e-12 && state.v()[0].abs() < 1e-12);
    assert!(outcome.active && (outcome.lambda[0] - G).abs() < 1e-12);
    // Time stepping goes on from there.
    assert!(simulation.step().unwrap().converged);
    assert!((simulation.time() - 10.005).abs() < 1e-12);
    assert!(simulation.state(ball).unwrap().q()[0].abs() < 1e-12);
}

/// The event-driven file of Siconos, away from the instants of impacts (it has rows before and after each): rounding, which the last bounces multiply.
#[test]
fn event_driven_file() {
    let name = "BouncingBallED.ref";
    let Some(rows) = read(name) else { return };
    let (mut simulation, ball, _) = ball(Settings::new(5e-3), Integrator::moreau_jean(0.5));
    let mut differences = Differences::default();
    let mut compared = 0;
    for given in &rows[1..] {
        let is_near = (0..200).any(|n| (given[0] - impact_time(n)).abs() < 1e-5);
        if given[0] <= simulation.time() || is_near {
            continue;
        }
        compared += 1;
        simulation
            .advance_by_events(given[0], &EventSettings::default())
            .unwrap();
        let state = simulation.state(ball).unwrap();
        differences.add(&[state.q()[0], state.v()[0]], &given[1..3]);
    }
    println!("{compared} rows of {}", rows.len());
    assert!(compared > 1600);
    differences.within(name, &[1e-11, 1e-9]);
}

/// A mass on a table, pushed by `−cos t`: it opens at `π/2`, and then `q = cos t + t − π/2`.
#[test]
fn a_contact_opens_when_its_force_comes_to_zero() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let system = LagrangianLinear {
        force: Signal::varying(|t, force| force[0] = -libm::cos(t)),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    let state = State::lagrangian([0.0], [0.0]);
    let mass = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let relation = LagrangianLinearRelation::new([Matrix::identity(1)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
    simulation
        .spawn_interaction(Joins::one(mass), relation, law)
        .unwrap();
    let report = simulation
        .advance_by_events(3.0, &EventSettings::default())
        .unwrap();
    let kinds: Vec<EventKind> = report.events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Closed, EventKind::Opened]);
    assert!((report.events[1].time - std::f64::consts::FRAC_PI_2).abs() < 1e-11);
    let q = simulation.state(mass).unwrap().q()[0];
    assert!(
        (q - libm::cos(3.0) - 3.0 + std::f64::consts::FRAC_PI_2).abs() < 1e-9,
        "{q}"
    );
}

/// A bead on a ring: `q² = 1`.
pub(crate) struct Ring;

impl LagrangianRelation for Ring {
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

/// A pendulum as a mass under an equality: it stays on the ring and keeps its energy, to the tolerance, over ten swings.
#[test]
fn an_equality_keeps_a_pendulum_on_its_ring() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let system = LagrangianLinear {
        force: vec![0.0, -G].into(),
        ..LagrangianLinear::new(Matrix::identity(2))
    };
    let state = State::lagrangian([1.0, 0.0], [0.0, 0.0]);
    let bead = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let law = NonsmoothLaw::Equality { rows: 1 };
    simulation
        .spawn_interaction(Joins::one(bead), Relation::lagrangian(Ring), law)
        .unwrap();
    let report = simulation
        .advance_by_events(20.0, &EventSettings::default())
        .unwrap();
    assert!(report.converged, "{report:?}");
    let state = simulation.state(bead).unwrap();
    let (q, v) = (state.q(), state.v());
    assert!((q[0] * q[0] + q[1] * q[1] - 1.0).abs() < 1e-11);
    let energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) + G * q[1];
    assert!(
        energy.abs() < 1e-6,
        "{energy:e} after {} steps",
        report.steps
    );
}

/// One description under both: the arm after its first impacts, where time stepping errs by `O(h)`.
#[test]
fn time_stepping_comes_to_the_events() {
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.7 };
    let end = 0.4;
    let (mut events, one, _) = arm(1e-4, &law);
    let report = events
        .advance_by_events(end, &EventSettings::default())
        .unwrap();
    let impacts = report
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Impact { .. }));
    let count = impacts.count();
    assert!(report.converged && count >= 1, "{report:?}");
    let exact = events.state(one).unwrap().q().to_vec();
    let errors = [1e-3, 1e-5].map(|h| {
        let (mut stepping, two, _) = arm(h, &law);
        for _ in 0..(end / h).round() as usize {
            assert!(stepping.step().unwrap().converged);
        }
        let q = stepping.state(two).unwrap().q();
        (q[0] - exact[0]).abs().max((q[1] - exact[1]).abs())
    });
    println!("{count} impacts, errors {errors:?}");
    assert!(
        errors[1] < 1e-3 && errors[1] < 0.1 * errors[0],
        "{errors:?}"
    );
}

/// Three balls in a row of which two touch: Newton's law in all contacts at once.
#[test]
fn touching_balls_are_struck_together() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let balls = [(0.0, 1.0), (1.0, 0.0), (1.0, 0.0)].map(|(q, v)| {
        let system = LagrangianLinear::new(Matrix::identity(1));
        let state = State::lagrangian([q], [v]);
        simulation
            .spawn_system(system, state, Integrator::moreau_jean(0.5))
            .unwrap()
    });
    for pair in balls.windows(2) {
        let gap = LagrangianLinearRelation::new([Matrix::diagonal(&[-1.0]), Matrix::identity(1)]);
        let law = NonsmoothLaw::NewtonImpact { restitution: 1.0 };
        simulation
            .spawn_interaction(Joins::two(pair[0], pair[1]), gap, law)
            .unwrap();
    }
    let report = simulation
        .advance_by_events(2.0, &EventSettings::default())
        .unwrap();
    // 0 ≤ ẏ⁺ + ẏ⁻: the first contact reverses, the second stays at rest; so v = (−1/3, 2/3, 2/3).
    let v = balls.map(|ball| simulation.state(ball).unwrap().v()[0]);
    let expected = [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
    assert!(
        v.iter().zip(expected).all(|(v, e)| (v - e).abs() < 1e-12),
        "{v:?}"
    );
    assert!((report.events[0].time - 1.0).abs() < 1e-12);
}

#[test]
fn what_events_cannot_do_is_an_error() {
    let (mut simulation, ball, _) = ball(Settings::new(5e-3), Integrator::moreau_jean(0.5));
    let state = simulation.state(ball).cloned();
    let error = simulation
        .advance_by_events(-1.0, &EventSettings::default())
        .unwrap_err();
    assert!(matches!(
        error,
        SystemsError::Settings(FieldError::Range { field: "end", .. })
    ));
    let loose = EventSettings {
        relative: 0.0,
        ..EventSettings::default()
    };
    assert!(simulation.advance_by_events(1.0, &loose).is_err());
    let law = NonsmoothLaw::Relay {
        lower: vec![-1.0],
        upper: vec![1.0],
    };
    let relation = LagrangianLinearRelation::new([Matrix::identity(1)]);
    let relay = simulation
        .spawn_interaction(Joins::one(ball), relation, law)
        .unwrap();
    let error = simulation
        .advance_by_events(1.0, &EventSettings::default())
        .unwrap_err();
    assert!(matches!(error, SystemsError::Interaction { entity, .. } if entity == relay));
    assert_eq!(simulation.state(ball).cloned(), state);
}

fn relay(
    simulation: &mut SystemsSimulation,
    system: FirstOrderLinear,
    start: Vec<f64>,
    output: Matrix,
    input: Matrix,
) -> [Entity; 2] {
    let integrator = Integrator::euler_moreau(0.5);
    let state = State::first_order(start);
    let system = simulation.spawn_system(system, state, integrator).unwrap();
    let relation = FirstOrderLinearRelation::new([output], [input]);
    let law = NonsmoothLaw::sign();
    [
        system,
        simulation
            .spawn_interaction(Joins::one(system), relation, law)
            .unwrap(),
    ]
}

/// A mass on a spring with dry friction, both 1, released at 10.5: half periods of `π`, each 2 shorter, and then it sticks where the spring holds it.
#[test]
fn a_relay_switches_in_time_and_sticks() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
    let [oscillator, friction] = relay(
        &mut simulation,
        FirstOrderLinear::new(Matrix::from_rows([[0.0, 1.0], [-1.0, 0.0]])),
        vec![10.5, 0.0],
        Matrix::from_rows([[0.0, 1.0]]),
        Matrix::from_rows([[0.0], [1.0]]),
    );
    let report = simulation
        .advance_by_events(20.0, &EventSettings::default())
        .unwrap();
    assert!(report.converged, "{report:?}");
    assert_eq!(report.events.len(), 6, "{:?}", report.events);
    for (k, event) in report.events.iter().enumerate() {
        assert!(
            (event.time - k as f64 * std::f64::consts::PI).abs() < 1e-8,
            "{event:?}"
        );
        let is_sliding = event.kind == EventKind::Sliding;
        assert_eq!(is_sliding, k == 5, "{event:?}");
    }
    let x = simulation.state(oscillator).unwrap().x();
    let lambda = simulation.outcome(friction).unwrap().lambda[0];
    assert!(
        (x[0] + 0.5).abs() < 1e-8 && x[1].abs() < 1e-12 && (lambda + 0.5).abs() < 1e-8,
        "{x:?} {lambda}"
    );
}

/// `ẋ = u + 1.5 sin t`, `u ∈ −sgn(x)`: it slides on `x = 0` until the disturbance is stronger than the control, at `sin t = 2/3`.
#[test]
fn sliding_ends_at_the_bound_of_the_control() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
    let disturbed = FirstOrderLinear {
        input: Signal::varying(|t, input| input[0] = 1.5 * libm::sin(t)),
        ..FirstOrderLinear::new(Matrix::zeros(1, 1))
    };
    let one = Matrix::identity(1);
    let [system, control] = relay(&mut simulation, disturbed, vec![0.0], one.clone(), one);
    let end = libm::asin(2.0 / 3.0);
    simulation
        .advance_by_events(0.5, &EventSettings::default())
        .unwrap();
    let lambda = simulation.outcome(control).unwrap().lambda[0];
    assert!((lambda + 1.5 * libm::sin(0.5)).abs() < 1e-13);
    let report = simulation
        .advance_by_events(1.5, &EventSettings::default())
        .unwrap();
    assert!(report.converged);
    let switched = report.events.last().unwrap();
    assert_eq!(switched.kind, EventKind::Switched { lambda: -1.0 });
    assert!((switched.time - end).abs() < 1e-9, "{switched:?} {end}");
    let x = simulation.state(system).unwrap().x()[0];
    let exact = 1.5 * (libm::cos(end) - libm::cos(1.5)) - (1.5 - end);
    assert!((x - exact).abs() < 1e-9, "{x} {exact}");
}

/// Masses on springs with stops between neighbours, thrown against a wall: contacts that have left and overlap by rounding do not hold up time.
#[test]
fn a_chain_of_impacts_comes_to_its_end() {
    for n in [4, 8, 12] {
        let mut stiffness = Matrix::zeros(n, n);
        for i in 1..n {
            stiffness[(i, i)] += 100.0;
            stiffness[(i - 1, i - 1)] += 100.0;
            stiffness[(i, i - 1)] -= 100.0;
            stiffness[(i - 1, i)] -= 100.0;
        }
        let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
        let system = LagrangianLinear {
            stiffness: Some(stiffness),
            ..LagrangianLinear::new(Matrix::identity(n))
        };
        let state = State::lagrangian(vec![0.0; n], vec![-1.0; n]);
        let masses = simulation
            .spawn_system(system, state, Integrator::moreau_jean(0.5))
            .unwrap();
        for i in 0..n {
            let mut row = Matrix::zeros(1, n);
            row[(0, i)] = 1.0;
            if i > 0 {
                row[(0, i - 1)] = -1.0;
            }
            let relation = LagrangianLinearRelation {
                offset: vec![0.05],
                ..LagrangianLinearRelation::new([row])
            };
            let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
            simulation
                .spawn_interaction(Joins::one(masses), relation, law)
                .unwrap();
        }
        let settings = EventSettings {
            largest_step: 1e-2,
            max_steps: 20_000,
            ..EventSettings::default()
        };
        let report = simulation.advance_by_events(0.5, &settings).unwrap();
        let state = simulation.state(masses).unwrap();
        let below = (0..n).map(|i| {
            let before = if i > 0 { state.q()[i - 1] } else { 0.0 };
            -(0.05 + state.q()[i] - before)
        });
        let overlap = below.fold(0.0, f64::max);
        println!(
            "{n}: {} steps, {} events, overlap {overlap:e}",
            report.steps,
            report.events.len()
        );
        assert!(
            report.converged,
            "{n}: {} of 0.5 s in {} steps",
            report.time, report.steps
        );
        assert!(overlap <= 1e-9, "{n}: {overlap:e}");
    }
}
