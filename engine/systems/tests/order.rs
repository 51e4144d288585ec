//! Orders of convergence: 2 or 1 in smooth motion, 1 with impacts and relays.

use crate::ball::ball;
use bevy_ecs::entity::Entity;
use moreau_systems::finite_differences::{FirstOrderByDifferences, LagrangianByDifferences};
use moreau_systems::*;

/// Slope of `log error` over `log h` between steps that are `h` and `h/8`.
fn order(error: impl Fn(f64) -> f64, h: f64) -> f64 {
    libm::log2(error(h) / error(h / 8.0)) / 3.0
}

fn run(mut simulation: SystemsSimulation, system: Entity, end: f64) -> State {
    let steps = (end / simulation.settings().h).round() as usize;
    for _ in 0..steps {
        assert!(simulation.step().unwrap().converged);
    }
    simulation.state(system).unwrap().clone()
}

/// A pendulum with damping, its slopes by finite differences.
fn pendulum(h: f64, theta: f64, variation: f64) -> f64 {
    pendulum_under(h, Integrator::moreau_jean(theta), variation)
}

fn pendulum_under(h: f64, integrator: Integrator, variation: f64) -> f64 {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let model = LagrangianByDifferences {
        size: 1,
        mass: move |q: &[f64], mass: &mut Matrix| mass[(0, 0)] = 1.0 + variation * libm::cos(q[0]),
        force: move |t: f64, q: &[f64], v: &[f64], force: &mut [f64]| {
            // Of a mass that varies comes −½ M′ v².
            let of_mass = 0.5 * variation * libm::sin(q[0]) * v[0] * v[0];
            force[0] = -libm::sin(q[0]) - 0.1 * v[0] + 0.2 * libm::cos(t) + of_mass;
        },
    };
    let state = State::lagrangian([1.0], [0.3]);
    let system = simulation
        .spawn_system(System::lagrangian(model), state, integrator)
        .unwrap();
    run(simulation, system, 2.0).q()[0]
}

/// A mass that varies, taken half a step ahead: of second order with `θ = ½`.
#[test]
fn a_mass_taken_half_a_step_ahead_is_of_second_order() {
    let ahead = Integrator::MoreauJean(MoreauJean {
        mass_at: MassAt::Forecast { gamma: 0.5 },
        ..MoreauJean::default()
    });
    let exact = pendulum_under(1.0 / 8192.0, ahead, 0.1);
    let found = order(
        |h| (pendulum_under(h, ahead, 0.1) - exact).abs(),
        1.0 / 64.0,
    );
    assert!((found - 2.0).abs() < 0.12, "{found}");
    let other = pendulum(1.0 / 8192.0, 0.5, 0.1);
    assert!((exact - other).abs() < 1e-4, "both have one limit");
}

#[test]
fn moreau_jean_is_of_second_order_at_one_half_with_a_constant_mass() {
    let orders = [
        (0.5, 0.0, 2.0),
        (0.7, 0.0, 1.0),
        (1.0, 0.0, 1.0),
        (0.5, 0.1, 1.0),
    ];
    for (theta, variation, expected) in orders {
        let exact = pendulum(1.0 / 8192.0, 0.5, variation);
        let found = order(
            |h| (pendulum(h, theta, variation) - exact).abs(),
            1.0 / 64.0,
        );
        assert!(
            (found - expected).abs() < 0.12,
            "θ = {theta}, {variation}: {found}"
        );
    }
}

/// An equation whose solution is `x = sin t`.
fn first_order(h: f64, integrator: Integrator) -> f64 {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let model = FirstOrderByDifferences {
        size: 1,
        rate: |t: f64, x: &[f64], rate: &mut [f64]| {
            let s = libm::sin(t);
            rate[0] = libm::cos(t) + s * s * s - x[0] * x[0] * x[0];
        },
    };
    let state = State::first_order([0.0]);
    let system = simulation
        .spawn_system(System::first_order(model), state, integrator)
        .unwrap();
    (run(simulation, system, 2.0).x()[0] - libm::sin(2.0)).abs()
}

#[test]
fn euler_moreau_is_of_second_order_at_one_half_and_of_first_order_elsewhere() {
    for (theta, expected) in [(0.5, 2.0), (0.8, 1.0), (1.0, 1.0)] {
        let found = order(
            |h| first_order(h, Integrator::euler_moreau(theta)),
            1.0 / 16.0,
        );
        assert!((found - expected).abs() < 0.1, "θ = {theta}: {found}");
    }
}

/// A damped oscillator, `q̈ + 0.2 q̇ + q = 0`, under Schatzman–Paoli: of second order if its first step is.
fn spring(h: f64, start: f64) -> f64 {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let system = LagrangianLinear {
        stiffness: Some(Matrix::identity(1)),
        damping: Some(Matrix::diagonal(&[0.2])),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    let (q, v) = (1.0, 0.5);
    let state = State::lagrangian([q], [v]);
    let integrator = Integrator::schatzman_paoli();
    let spring = simulation.spawn_system(system, state, integrator).unwrap();
    let acceleration = -0.2 * v - q;
    let previous = Previous(vec![q - h * v + start * 0.5 * h * h * acceleration]);
    simulation.world_mut().entity_mut(spring).insert(previous);
    let (end, rate) = (2.0, 0.99_f64.sqrt());
    let swing = q * libm::cos(rate * end) + (v + 0.1 * q) / rate * libm::sin(rate * end);
    (run(simulation, spring, end).q()[0] - libm::exp(-0.1 * end) * swing).abs()
}

#[test]
fn schatzman_paoli_is_of_second_order_after_a_start_of_second_order() {
    let found = order(|h| spring(h, 1.0), 1.0 / 32.0);
    assert!((found - 2.0).abs() < 0.1, "{found}");
    let found = order(|h| spring(h, 0.0), 1.0 / 32.0);
    assert!((found - 1.0).abs() < 0.1, "{found}");
}

/// Height of the bouncing ball of e = 0.9: flights of `2 eⁿ √(2/g)` after the first fall.
fn exact_height(t: f64) -> f64 {
    const G: f64 = 9.81;
    let fall = (2.0 / G).sqrt();
    if t < fall {
        return 1.0 - 0.5 * G * t * t;
    }
    let (mut begin, mut speed) = (fall, 0.9 * G * fall);
    while t > begin + 2.0 * speed / G {
        begin += 2.0 * speed / G;
        speed *= 0.9;
    }
    let t = t - begin;
    speed * t - 0.5 * G * t * t
}

/// Mean error of the height over 3 s.
fn bounce(h: f64, integrator: Integrator) -> f64 {
    let (mut simulation, ball, _) = ball(Settings::new(h), integrator);
    let steps = (3.0 / h).round() as usize;
    let mut sum = 0.0;
    for _ in 0..steps {
        assert!(simulation.step().unwrap().converged);
        let q = simulation.state(ball).unwrap().q()[0];
        sum += (q - exact_height(simulation.time())).abs();
    }
    sum / steps as f64
}

/// The time of an impact is known to `h` only. From one `h` to the next the error depends on where in the step impacts fall; over a factor of 512 that evens out.
#[test]
fn schemes_are_of_first_order_with_impacts() {
    for integrator in [Integrator::moreau_jean(0.5), Integrator::schatzman_paoli()] {
        let [coarse, fine] = [1.0 / 64.0, 1.0 / 32768.0].map(|h| bounce(h, integrator));
        let found = libm::log2(coarse / fine) / 9.0;
        assert!(
            (found - 1.0).abs() < 0.15,
            "{integrator:?}: {found} {coarse} {fine}"
        );
    }
}

/// A mass on a spring with dry friction, both 1, released at 10.5: half periods of `π` about `±1`, each 2 shorter than the one before.
fn relay(h: f64) -> f64 {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let system = FirstOrderLinear::new(Matrix::from_rows([[0.0, 1.0], [-1.0, 0.0]]));
    let state = State::first_order([10.5, 0.0]);
    let oscillator = simulation
        .spawn_system(system, state, Integrator::euler_moreau(0.5))
        .unwrap();
    let relation = FirstOrderLinearRelation::new(
        [Matrix::from_rows([[0.0, 1.0]])],
        [Matrix::from_rows([[0.0], [1.0]])],
    );
    let joins = Joins::one(oscillator);
    simulation
        .spawn_interaction(joins, relation, NonsmoothLaw::sign())
        .unwrap();
    // 10.5 → −8.5 → 6.5 → …: in the third half period x = 1 + 5.5 cos(t − 2π).
    let end = 8.0;
    let x = run(simulation, oscillator, end).x()[0];
    (x - 1.0 - 5.5 * libm::cos(end)).abs()
}

#[test]
fn euler_moreau_is_of_first_order_with_a_relay() {
    let [coarse, fine] = [1.0 / 64.0, 1.0 / 4096.0].map(relay);
    let found = libm::log2(coarse / fine) / 6.0;
    assert!(found > 0.85, "{found} {coarse} {fine}");
}

/// `ẋ = |x|² J x + …` with `J` the quarter turn: the norm stays. With one `f` in the middle of the step it stays to what Newton's loop leaves, with two at its ends by third order a step;
/// both are of second order in the angle, `|x|² t`.
#[test]
fn one_rate_in_the_middle_of_the_step_keeps_a_quadratic() {
    let swirl = |h: f64, rate_between: bool| -> [f64; 2] {
        let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
        let model = FirstOrderByDifferences {
            size: 2,
            rate: |t: f64, x: &[f64], rate: &mut [f64]| {
                let speed = (x[0] * x[0] + x[1] * x[1]) * (1.0 + libm::cos(t));
                (rate[0], rate[1]) = (-speed * x[1], speed * x[0]);
            },
        };
        let integrator = Integrator::EulerMoreau(EulerMoreau {
            rate_between,
            ..EulerMoreau::default()
        });
        let state = State::first_order([1.2, 0.0]);
        let system = simulation
            .spawn_system(System::first_order(model), state, integrator)
            .unwrap();
        let end = run(simulation, system, 2.0);
        let x = end.x();
        let angle = 1.44 * (2.0 + libm::sin(2.0));
        let (s, c) = libm::sincos(angle);
        let turned = libm::atan2(x[1] * c - x[0] * s, x[0] * c + x[1] * s);
        [libm::hypot(x[0], x[1]) - 1.2, turned]
    };
    let h = 1.0 / 32.0;
    let [norm, _] = swirl(h, true);
    assert!(norm.abs() < 1e-10, "{norm:e}");
    let [norm, _] = swirl(h, false);
    assert!(norm.abs() > 1e-6, "{norm:e}");
    for rate_between in [true, false] {
        let found = order(|h| swirl(h, rate_between)[1].abs(), h);
        assert!((found - 2.0).abs() < 0.15, "{rate_between}: {found}");
    }
}
