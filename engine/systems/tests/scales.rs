//! What is light, fast, short or far away beside what is not: steps and events that say they are right are so for each of them.

use crate::events_attacked::{advance, point};
use moreau_systems::*;

/// A free coordinate of any mass beside a pendulum of 1 kg that it does not act on.
struct Beside(f64);

impl LagrangianModel for Beside {
    fn size(&self) -> usize {
        2
    }

    fn mass(&self, _q: &[f64], mass: &mut Matrix) {
        (mass[(0, 0)], mass[(1, 1)]) = (self.0, 1.0);
    }

    fn force(&self, _t: f64, q: &[f64], _v: &[f64], force: &mut [f64]) {
        force[1] = -100.0 * libm::sin(q[1]);
    }

    fn force_by_position(&self, _t: f64, q: &[f64], _v: &[f64], slope: &mut Matrix) {
        slope[(1, 1)] = -100.0 * libm::cos(q[1]);
    }
}

/// Newton's loop goes on until the small equation is solved, too: the same pendulum beside any mass. Bits, since nothing of the one enters the other.
#[test]
fn a_heavy_coordinate_does_not_hide_a_light_one() {
    let end = |mass: f64| {
        let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
        let state = State::lagrangian([0.0, 2.5], [10.0, 0.0]);
        let scheme = Integrator::moreau_jean(0.5);
        let both = simulation
            .spawn_system(System::lagrangian(Beside(mass)), state, scheme)
            .unwrap();
        for _ in 0..50 {
            assert!(simulation.step().unwrap().converged);
        }
        simulation.state(both).unwrap().q()[1].to_bits()
    };
    for mass in [1e6, 1e12, 1e15] {
        assert_eq!(end(mass), end(1.0));
    }
}

/// A tumbling body of small inertia turns the same way however fast it flies.
#[test]
fn a_body_turns_as_if_it_did_not_fly() {
    let end = |speed: f64| {
        let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
        let body = NewtonEuler::new(1.0, Matrix::diagonal(&[5e-9, 1e-8, 1e-9]));
        let state = State::body(
            [0.0; 3],
            [1.0, 0.0, 0.0, 0.0],
            [speed, 0.0, 0.0],
            [3.0, 5.0, 4.0],
        );
        let top = simulation
            .spawn_system(body, state, Integrator::moreau_jean(0.5))
            .unwrap();
        for _ in 0..100 {
            assert!(simulation.step().unwrap().converged);
        }
        let v = simulation.state(top).unwrap().v().to_vec();
        [v[3], v[4], v[5]]
    };
    let rest = end(0.0);
    for speed in [1e4, 1e6] {
        for (own, rest) in end(speed).iter().zip(rest) {
            assert!((own - rest).abs() < 1e-9, "{speed}: {own} {rest}");
        }
    }
}

/// A ball at rest takes up the momentum of a pulse, `1000 N · T − m g t`, although nothing moves before it: events are looked for at eight points of a step of at most 0.1 s.
/// The estimate of a step, 2e-9 m/s, does not see where in it the force jumps: some hundred times as much is left.
#[test]
fn a_short_pulse_lifts_what_rests() {
    for (begin, length) in [(0.51, 0.02), (0.51, 0.045), (1.003, 0.03)] {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let force = Signal::varying(move |t, force| {
            let pushes = t >= begin && t < begin + length;
            force[0] = if pushes { 1000.0 } else { -10.0 };
        });
        let pushed = LagrangianLinear {
            force,
            ..LagrangianLinear::new(Matrix::identity(1))
        };
        let state = State::lagrangian([0.0], [0.0]);
        let ball = simulation
            .spawn_system(pushed, state, Integrator::moreau_jean(0.5))
            .unwrap();
        let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
        let law = NonsmoothLaw::NewtonImpact { restitution: 0.0 };
        simulation
            .spawn_interaction(Joins::one(ball), gap, law)
            .unwrap();
        let report = advance(&mut simulation, begin + length + 0.05).unwrap();
        let v = simulation.state(ball).unwrap().v()[0];
        let expected = 1000.0 * length - 10.0 * 0.05;
        assert!(report.converged && (v - expected).abs() < 1e-6, "{v}");
    }
}

/// A table at `a sin ωt`.
struct Table {
    amplitude: f64,
    frequency: f64,
}

impl LagrangianRelation for Table {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = q[0][0] - self.amplitude * libm::sin(self.frequency * t);
    }

    fn jacobian(&self, _t: f64, _q: &[&[f64]], h: &mut [Matrix]) {
        h[0][(0, 0)] = 1.0;
    }

    fn output_by_time(&self, t: f64, _q: &[&[f64]], rate: &mut [f64]) {
        rate[0] = -self.amplitude * self.frequency * libm::cos(self.frequency * t);
    }
}

/// A mass on a table that shakes with 5 g leaves it where the table falls faster than it, `sin ωt = 1/5`, from a slow table to ultrasound.
#[test]
fn what_lies_on_a_table_that_shakes_leaves_in_time() {
    for frequency in [1e2, 1e4, 5.235_987_755_982_989e5, 3e6] {
        let amplitude = 5.0 * 9.81 / (frequency * frequency);
        let rate = amplitude * frequency;
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let mass = point(&mut simulation, 0.0, rate);
        let table = Relation::lagrangian(Table {
            amplitude,
            frequency,
        });
        let law = NonsmoothLaw::NewtonImpact { restitution: 0.0 };
        simulation
            .spawn_interaction(Joins::one(mass), table, law)
            .unwrap();
        let settings = EventSettings {
            largest_step: 0.05 / frequency,
            absolute: 1e-10 * amplitude,
            gap: 1e-9 * amplitude,
            rate: 1e-9 * rate,
            resting_rate: 1e-6 * rate,
            ..EventSettings::default()
        };
        let report = simulation
            .advance_by_events(4.0 / frequency, &settings)
            .unwrap();
        let opened = report
            .events
            .iter()
            .find(|event| event.kind == EventKind::Opened);
        let phase = opened.unwrap().time * frequency;
        assert!(report.converged);
        assert!(
            (phase - libm::asin(0.2)).abs() < 1e-8,
            "{frequency}: {phase}"
        );
    }
}

/// `ẋ = λ`, `|λ| ≤ 1`, cannot follow an output that moves three times as fast, at any frequency: `λ` is at a bound where it would have to be `3 cos ωt`.
#[test]
fn a_relay_does_not_slide_along_what_is_faster() {
    for frequency in [10.0, 1e5, 1.047_197_551_196_597_6e6, 1e7] {
        let amplitude = 3.0 / frequency;
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let still = FirstOrderLinear::new(Matrix::zeros(1, 1));
        let x = simulation
            .spawn_system(
                still,
                State::first_order([0.0]),
                Integrator::euler_moreau(1.0),
            )
            .unwrap();
        let relation = FirstOrderLinearRelation {
            e: Signal::varying(move |t, e| e[0] = -amplitude * libm::sin(frequency * t)),
            ..FirstOrderLinearRelation::new([Matrix::identity(1)], [Matrix::identity(1)])
        };
        let relay = simulation
            .spawn_interaction(Joins::one(x), relation, NonsmoothLaw::sign())
            .unwrap();
        let settings = EventSettings {
            largest_step: 0.05 / frequency,
            ..EventSettings::default()
        };
        // At ωt = 13.19 sliding would take λ = 3 cos ωt = 2.4.
        let report = simulation
            .advance_by_events(13.19 / frequency, &settings)
            .unwrap();
        let lambda = simulation.outcome(relay).unwrap().lambda[0];
        assert!(report.converged && (lambda - 1.0).abs() < 1e-12, "{lambda}");
    }
}

/// A load on a link of a millionth of a millionth of its mass: held, in either order of the two rows.
#[test]
fn a_light_link_carries_a_heavy_load() {
    for load_first in [false, true] {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let mut hung = |mass: f64, q: f64| {
            let system = LagrangianLinear {
                force: vec![-10.0 * mass].into(),
                ..LagrangianLinear::new(Matrix::diagonal(&[mass]))
            };
            let state = State::lagrangian([q], [0.0]);
            simulation
                .spawn_system(system, state, Integrator::moreau_jean(0.5))
                .unwrap()
        };
        let (link, load) = (hung(1e-9, 0.0), hung(1e3, -1.0));
        let law = || NonsmoothLaw::Equality { rows: 1 };
        let ceiling = LagrangianLinearRelation::new([Matrix::identity(1)]);
        let tie = LagrangianLinearRelation {
            offset: vec![1.0],
            ..LagrangianLinearRelation::new([Matrix::identity(1), Matrix::diagonal(&[-1.0])])
        };
        if load_first {
            simulation
                .spawn_interaction(Joins::two(load, link), tie, law())
                .unwrap();
            simulation
                .spawn_interaction(Joins::one(link), ceiling, law())
                .unwrap();
        } else {
            simulation
                .spawn_interaction(Joins::one(link), ceiling, law())
                .unwrap();
            simulation
                .spawn_interaction(Joins::two(load, link), tie, law())
                .unwrap();
        }
        assert!(advance(&mut simulation, 1.0).unwrap().converged);
        // ε times the ratio of the masses, of 5 m that it would fall.
        let q = simulation.state(load).unwrap().q()[0];
        assert!((q + 1.0).abs() < 5.0 * 2.2e-16 * 1e12, "{q}");
    }
}

/// A ball comes to rest in time on a floor far away, where positions are known to a rounding of the distance: from there on bounces are taken as over, `2 √(2h/g)/(1 − e)` early with `h = 8ε d/(1 − e²)`.
#[test]
fn a_ball_rests_on_a_floor_far_away() {
    let newton = |restitution| NonsmoothLaw::NewtonImpact { restitution };
    let wave = |restitution| NonsmoothLaw::MultipleImpact {
        restitution,
        stiffness: 1.0,
        exponent: 1.5,
    };
    for floor in [300.0, 1e3, 1e5] {
        for (e, law) in [(0.5, newton(0.5)), (0.8, newton(0.8)), (0.8, wave(0.8))] {
            let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
            let ball = point(&mut simulation, floor + 1.0, 0.0);
            let gap = LagrangianLinearRelation {
                offset: vec![-floor],
                ..LagrangianLinearRelation::new([Matrix::identity(1)])
            };
            simulation
                .spawn_interaction(Joins::one(ball), gap, law)
                .unwrap();
            let rests = (2.0_f64 / 9.81).sqrt() * (1.0 + e) / (1.0 - e);
            let report = advance(&mut simulation, rests + 1.0).unwrap();
            let closed = report
                .events
                .iter()
                .find(|event| event.kind == EventKind::Closed);
            let early = rests - closed.unwrap().time;
            let height = 8.0 * f64::EPSILON * (floor + 1.0) / (1.0 - e * e);
            let bound = 2.0 * (2.0 * height / 9.81).sqrt() / (1.0 - e);
            let q = simulation.state(ball).unwrap().q()[0];
            assert!(report.converged && early.abs() < bound.max(1e-6), "{early}");
            assert!((q - floor).abs() < 1e-8 && report.events.len() < 200);
        }
    }
}

/// A cube of a millimetre on four corners, and a bar on twenty supports, begin at rest and stay it, with every solver: what they are above their supports by rounding does not let them
/// fall for a step, `g h = 0.1 m/s`. Rates are those that the tolerance of a solver leaves of `g h`.
#[test]
fn what_rests_on_many_supports_stays_at_rest() {
    let half = 5e-4;
    for solver in ["auto", "lemke", "nsgs"] {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
        assert!(simulation.set_solver_named(solver));
        let scheme = Integrator::moreau_jean(0.5);
        let cube = NewtonEuler {
            force: vec![0.0, 0.0, -9.81].into(),
            ..NewtonEuler::new(1.0, Matrix::diagonal(&[1.0 / 6.0 * 1e-6; 3]))
        };
        let state = State::body([0.0, 0.0, half], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
        let cube = simulation.spawn_system(cube, state, scheme).unwrap();
        for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let corner = BodyContact::frictionless(move |_, q| {
                let p = [q[0][3], q[0][4], q[0][5], q[0][6]];
                let arm = rotation::turned(p, [x * half, y * half, -half]);
                let point = [0, 1, 2].map(|k| q[0][k] + arm[k]);
                ContactPoint {
                    gap: point[2],
                    point,
                    normal: [0.0, 0.0, 1.0],
                }
            });
            let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
            simulation
                .spawn_interaction(Joins::one(cube), corner, law)
                .unwrap();
        }
        let bar = LagrangianLinear {
            force: vec![-10.0, 0.0].into(),
            ..LagrangianLinear::new(Matrix::diagonal(&[1.0, 0.3]))
        };
        let state = State::lagrangian([0.0; 2], [0.0; 2]);
        let bar = simulation.spawn_system(bar, state, scheme).unwrap();
        for k in 0..20 {
            let x = -1.0 + 2.0 * f64::from(k) / 19.0;
            let support = LagrangianLinearRelation::new([Matrix::from_rows([[1.0, x]])]);
            let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
            simulation
                .spawn_interaction(Joins::one(bar), support, law)
                .unwrap();
        }
        for _ in 0..300 {
            assert!(simulation.step().unwrap().converged, "{solver}");
            for system in [cube, bar] {
                let v = simulation.state(system).unwrap().v();
                assert!(v.iter().all(|v| v.abs() < 1e-9), "{solver}: {v:?}");
            }
        }
    }
}

/// A stiff bar that flies and hardly swings is right to rounding, and so said to be: its forces are small sums of large terms.
#[test]
fn what_is_right_to_rounding_is_not_called_unsolved() {
    let n = 200;
    let stiffness = 1e9;
    let mut springs = Matrix::zeros(n, n);
    for i in 0..n - 1 {
        springs[(i, i)] += stiffness;
        springs[(i + 1, i + 1)] += stiffness;
        springs[(i, i + 1)] -= stiffness;
        springs[(i + 1, i)] -= stiffness;
    }
    let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
    let bar = LagrangianLinear {
        stiffness: Some(springs),
        ..LagrangianLinear::new(Matrix::identity(n))
    };
    let q: Vec<f64> = (0..n).map(|i| 1e-6 * i as f64 / n as f64).collect();
    let state = State::lagrangian(q, vec![1.0; n]);
    let bar = simulation
        .spawn_system(bar, state, Integrator::moreau_jean(0.5))
        .unwrap();
    for _ in 0..50 {
        assert!(simulation.step().unwrap().converged);
    }
    let v = simulation.state(bar).unwrap().v();
    assert!((v.iter().sum::<f64>() / n as f64 - 1.0).abs() < 1e-12);
}

/// With `e` near 1 rounding gives at each bounce what the impact takes: the ball rests all the same, and one with `e = 1` bounces on.
#[test]
fn a_ball_that_bounces_well_rests_far_away_too() {
    for (floor, e) in [(100.0, 0.98), (1e3, 0.99), (10.0, 0.999)] {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let ball = point(&mut simulation, floor + 0.01, 0.0);
        let gap = LagrangianLinearRelation {
            offset: vec![-floor],
            ..LagrangianLinearRelation::new([Matrix::identity(1)])
        };
        let law = NonsmoothLaw::NewtonImpact { restitution: e };
        simulation
            .spawn_interaction(Joins::one(ball), gap, law)
            .unwrap();
        let rests = (0.02_f64 / 9.81).sqrt() * (1.0 + e) / (1.0 - e);
        let report = advance(&mut simulation, rests + 1.0).unwrap();
        let v = simulation.state(ball).unwrap().v()[0];
        assert!(report.converged && v.abs() < 1e-12, "{floor} {e}: {v}");
    }
}
