//! Orders of convergence of bodies, of multipliers between the ends of a step, and of event-driven integration through impacts.

use crate::bodies::{moreau_jean, step};
use moreau_systems::*;

/// Slope of `log error` over `log h` between steps that are `h` and `h/8`.
fn order(error: impl Fn(f64) -> f64, h: f64) -> f64 {
    libm::log2(error(h) / error(h / 8.0)) / 3.0
}

/// Attitude and spin of a body that tumbles without moments after 1 s.
fn tumble(h: f64, theta: f64) -> Vec<f64> {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let body = NewtonEuler::new(2.0, Matrix::diagonal(&[5.0, 10.0, 1.0]));
    let state = State::body([0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.1, 3.0, 0.4]);
    let body = simulation
        .spawn_system(body, state, moreau_jean(theta, RowsAt::Iterate))
        .unwrap();
    (0..(1.0 / h).round() as usize).for_each(|_| step(&mut simulation));
    let state = simulation.state(body).unwrap();
    [&state.q()[3..], &state.v()[3..]].concat()
}

/// The gyroscopic moment is that of both ends: of second order at one half, of first elsewhere.
#[test]
fn a_free_body_is_of_second_order_at_one_half() {
    let exact = tumble(1.0 / 16384.0, 0.5);
    for (theta, expected) in [(0.5, 2.0), (1.0, 1.0)] {
        let error = |h: f64| {
            let end = tumble(h, theta);
            let differences = end.iter().zip(&exact).map(|(a, b)| (a - b).abs());
            differences.fold(0.0, f64::max)
        };
        let found = order(error, 1.0 / 256.0);
        assert!((found - expected).abs() < 0.06, "θ = {theta}: {found}");
    }
}

/// `ẋ = −x + λ`, `0 ≤ x + λ − 2 ⊥ λ ≥ 0` is `ẋ = 2 − 2x` below 2: from `x = 0` it stays below 1, and `x = 1 − e^{−2t}`.
fn fed(h: f64, integrator: EulerMoreau) -> f64 {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let system = FirstOrderLinear::new(Matrix::from_rows([[-1.0]]));
    let system = simulation
        .spawn_system(
            system,
            State::first_order([0.0]),
            Integrator::EulerMoreau(integrator),
        )
        .unwrap();
    let relation = FirstOrderLinearRelation {
        d: Some(Matrix::identity(1)),
        e: vec![-2.0].into(),
        ..FirstOrderLinearRelation::new([Matrix::identity(1)], [Matrix::identity(1)])
    };
    let law = NonsmoothLaw::Complementarity { rows: 1 };
    simulation
        .spawn_interaction(Joins::one(system), relation, law)
        .unwrap();
    // What the standard scheme remembers at the start is nothing: it is given here.
    simulation
        .world_mut()
        .entity_mut(system)
        .insert(Reaction(vec![2.0]));
    (0..(1.0 / h).round() as usize).for_each(|_| step(&mut simulation));
    let x = simulation.state(system).unwrap().x()[0];
    (x - (1.0 - libm::exp(-2.0))).abs()
}

/// Both schemes are of second order at `θ = γ = ½` while no multiplier begins or ends to act, and of first for any other `γ`.
#[test]
fn multipliers_have_the_order_of_their_gamma() {
    for gamma_for_relation in [false, true] {
        for (gamma, expected) in [(0.0, 1.0), (0.25, 1.0), (0.5, 2.0), (1.0, 1.0)] {
            let integrator = EulerMoreau {
                gamma,
                gamma_for_relation,
                ..EulerMoreau::default()
            };
            let found = order(|h| fed(h, integrator), 1.0 / 32.0);
            assert!(
                (found - expected).abs() < 0.12,
                "γ = {gamma}, {gamma_for_relation}: {found}"
            );
        }
    }
}

/// A spring of 1 N/m, a mass of 1 kg and a stop at −½ with e = 0.8, from 1 m: between impacts an arc of a circle in the plane of `q` and `v`.
fn exact_place(end: f64) -> f64 {
    let (mut q, mut v, mut left) = (1.0_f64, 0.0_f64, end);
    loop {
        // q cos t + v sin t = r cos(t − φ) comes down to −½.
        let (r, phase) = (libm::hypot(q, v), libm::atan2(v, q));
        let flight = if r > 0.5 {
            phase + libm::acos(-0.5 / r)
        } else {
            f64::INFINITY
        };
        if flight >= left {
            return r * libm::cos(left - phase);
        }
        left -= flight;
        (q, v) = (-0.5, 0.8 * r * libm::sin(flight - phase));
    }
}

/// Dormand and Prince's pair is of order 5, and so are the times of impacts, roots on a dense output that errs by `h⁵`. Tolerances are so wide that every step is the longest one.
#[test]
fn event_driven_integration_has_the_order_of_its_runge_kutta_method() {
    let error = |h: f64| {
        let mut simulation = SystemsSimulation::new(Settings::new(1.0)).unwrap();
        let spring = LagrangianLinear {
            stiffness: Some(Matrix::identity(1)),
            ..LagrangianLinear::new(Matrix::identity(1))
        };
        let state = State::lagrangian([1.0], [0.0]);
        let spring = simulation
            .spawn_system(spring, state, Integrator::moreau_jean(0.5))
            .unwrap();
        let stop = LagrangianLinearRelation {
            offset: vec![0.5],
            ..LagrangianLinearRelation::new([Matrix::identity(1)])
        };
        let law = NonsmoothLaw::NewtonImpact { restitution: 0.8 };
        simulation
            .spawn_interaction(Joins::one(spring), stop, law)
            .unwrap();
        let settings = EventSettings {
            relative: 1e6,
            absolute: 1e6,
            largest_step: h,
            ..EventSettings::default()
        };
        let report = simulation.advance_by_events(12.0, &settings).unwrap();
        assert!(report.converged);
        let impacts = report.events.iter();
        let impacts = impacts.filter(|event| matches!(event.kind, EventKind::Impact { .. }));
        assert_eq!(impacts.count(), 3);
        (simulation.state(spring).unwrap().q()[0] - exact_place(12.0)).abs()
    };
    for h in [0.2, 0.1] {
        let found = libm::log2(error(h) / error(0.25 * h)) / 2.0;
        assert!((found - 5.0).abs() < 0.3, "from {h}: {found}");
    }
}
