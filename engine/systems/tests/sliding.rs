//! Sliding modes: `ẋ = A x + B (u + d)` with `A = [0 1; 0 0]`, `B = [0; 1]`, `σ = x_1 + x_2`, `|u| ≤ 2` and a disturbance `d = D sin ωt` that no controller knows.
//!
//! From `x = (1, 1)` and with `u = −2` there is a closed form until `σ = 0` at `t*`, and from then on `x_1 = x_1(t*) e^{−(t − t*)} = −x_2`.

use bevy_ecs::entity::Entity;
use moreau_systems::*;

const GAIN: f64 = 2.0;
const D: f64 = 0.4;
const OMEGA: f64 = 3.0;

fn model() -> [Matrix; 3] {
    let a = Matrix::from_rows([[0.0, 1.0], [0.0, 0.0]]);
    let b = Matrix::from_rows([[0.0], [1.0]]);
    [a, b, Matrix::from_rows([[1.0, 1.0]])]
}

/// The closed form of the approach.
fn approach(t: f64, d: f64) -> [f64; 2] {
    let phase = OMEGA * t;
    let once = d / OMEGA * (1.0 - libm::cos(phase));
    let twice = d / OMEGA * (t - libm::sin(phase) / OMEGA);
    [1.0 + t - 0.5 * GAIN * t * t + twice, 1.0 - GAIN * t + once]
}

/// `t*`.
fn reached(d: f64) -> f64 {
    let [mut low, mut high] = [0.5, 1.5];
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        let [first, second] = approach(middle, d);
        if first + second > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// `x_1` and `−x_2` in the sliding mode.
fn slides(t: f64, d: f64) -> f64 {
    let begin = reached(d);
    approach(begin, d)[0] * libm::exp(begin - t)
}

fn plant(h: f64, d: f64) -> (SystemsSimulation, Entity) {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let system = FirstOrderLinear {
        input: Signal::varying(move |t, b| b[1] = d * libm::sin(OMEGA * t)),
        ..FirstOrderLinear::new(model()[0].clone())
    };
    let start = State::first_order([1.0, 1.0]);
    let integrator = Integrator::euler_moreau(0.5);
    let system = simulation.spawn_system(system, start, integrator).unwrap();
    (simulation, system)
}

fn relay() -> NonsmoothLaw {
    NonsmoothLaw::Relay {
        lower: vec![-GAIN],
        upper: vec![GAIN],
    }
}

/// A run to 4 s: `t`, `x` and `u` after each step.
type Run = Vec<(f64, [f64; 2], f64)>;

fn run(
    mut simulation: SystemsSimulation,
    system: Entity,
    u: impl Fn(&SystemsSimulation) -> f64,
) -> Run {
    let steps = (4.0 / simulation.settings().h).round() as usize;
    let one = |_| {
        assert!(simulation.step().unwrap().converged);
        let x = simulation.state(system).unwrap().x();
        (simulation.time(), [x[0], x[1]], u(&simulation))
    };
    (0..steps).map(one).collect()
}

/// The relay within the step.
fn implicit(h: f64) -> Run {
    let (mut simulation, system) = plant(h, D);
    let [_, b, c] = model();
    let relation = FirstOrderLinearRelation::new([c], [b]);
    let joins = Joins::one(system);
    let relay = simulation.spawn_interaction(joins, relation, relay());
    let relay = relay.unwrap();
    run(simulation, system, |s| s.outcome(relay).unwrap().lambda[0])
}

/// A controller that reads `x` every `period` and acts at once.
fn sampled(h: f64, d: f64, period: f64, law: impl Controller + 'static) -> Run {
    let (mut simulation, system) = plant(h, d);
    let clock = Clock::new(period);
    let sensor = Sensor::linear(system, Matrix::identity(2), clock);
    let sensor = simulation.spawn_sensor(sensor).unwrap();
    let actuator = Actuator::new(system, [sensor], model()[1].clone(), law, clock);
    let actuator = simulation.spawn_actuator(actuator).unwrap();
    run(simulation, system, |s| {
        s.command(actuator).unwrap().values[0]
    })
}

/// `u = −2 sgn σ`.
fn sign() -> impl Controller {
    feedback(1, |_, y, u| u[0] = -(y[0][0] + y[0][1]).signum() * GAIN)
}

fn sliding(period: f64) -> SlidingMode {
    let [a, b, c] = model();
    SlidingMode::new([&a, &b, &c], [vec![-GAIN], vec![GAIN]], period).unwrap()
}

/// The largest `|σ|` and change of `u` from a time on, and the sum of the changes.
fn measure(run: &Run, from: f64) -> [f64; 3] {
    let late: Vec<_> = run.iter().filter(|(t, ..)| *t >= from).collect();
    let sigma = late.iter().map(|(_, x, _)| (x[0] + x[1]).abs());
    let changes = || late.windows(2).map(|pair| (pair[1].2 - pair[0].2).abs());
    [
        sigma.fold(0.0, f64::max),
        changes().fold(0.0, f64::max),
        changes().sum(),
    ]
}

/// `σ` is zero to rounding from the first step that can reach it, the input follows `−x_2 − d`; the sampled sign overshoots by a multiple of `h` and its input jumps in every
/// step or two.
#[test]
fn the_implicit_relay_does_not_chatter() {
    let mut ratios = Vec::new();
    for h in [2e-2, 1e-2, 5e-3, 2.5e-3] {
        let from = reached(D) + 2.0 * h;
        let [sigma, jump, variation] = measure(&implicit(h), from);
        let [chatter, chatter_jump, chatter_variation] = measure(&sampled(h, D, h, sign()), from);
        println!(
            "h {h:.1e}: |σ| {sigma:.1e} jump {jump:.2e} variation {variation:.4}; \
             sampled sign |σ| {:.2} h variation {chatter_variation:.1}",
            chatter / h
        );
        assert!(sigma <= 1e-14, "{sigma:e}");
        // |u̇| ≤ |x_1| + ω D.
        assert!(jump <= 2.3 * h, "{jump:e}");
        assert!((1.0 * h..4.0 * h).contains(&chatter), "{chatter:e}");
        assert!(chatter_jump >= 2.0 * GAIN);
        ratios.push(chatter_variation / variation);
    }
    for pair in ratios.windows(2) {
        assert!((1.8..2.2).contains(&(pair[1] / pair[0])), "{ratios:?}");
    }
}

/// The mode is reached within a step of `t*`. States are then of second order: the step of the landing ends on `σ = 0` as well and is wrong by `h²` alone.
#[test]
fn the_mode_is_reached_in_its_time() {
    let mut errors = Vec::new();
    for h in [2e-2, 1e-2, 5e-3, 2.5e-3] {
        let run = implicit(h);
        let first = run.iter().find(|(_, x, _)| (x[0] + x[1]).abs() < 1e-12);
        let late = first.unwrap().0 - reached(D);
        assert!((-1e-2 * h..=h * 1.01).contains(&late), "{late:e}, h {h:e}");
        let (t, x, _) = run[run.len() - 1];
        let exact = slides(t, D);
        let error = (x[0] - exact).abs().max((x[1] + exact).abs());
        println!(
            "h {h:.1e}: reached {:.2} h late, error {error:.1e}",
            late / h
        );
        assert!(error <= 0.03 * h * h, "{error:e}");
        errors.push(error);
    }
    assert!(
        errors[0] >= 6.0 * errors[3],
        "order one at least: {errors:?}"
    );
}

/// Sampled with a model: without disturbance `σ = 0` at all instants, with it `|σ| ≤ T D` and a little; the input moves by multiples of `T`. The sampled sign at that rate
/// overshoots by `2 T` and more.
#[test]
fn the_sampled_mode_attenuates_disturbances() {
    for period in [0.1, 0.05, 0.025] {
        let (h, from) = (period / 10.0, reached(D) + 2.0 * period);
        let undisturbed = sampled(h, 0.0, period, sliding(period));
        for (k, (t, x, _)) in undisturbed.iter().enumerate() {
            if (k + 1) % 10 == 0 && *t >= from {
                assert!((x[0] + x[1]).abs() < 1e-13, "{t}: {x:?}");
            }
        }
        let [sigma, jump, _] = measure(&sampled(h, D, period, sliding(period)), from);
        let [chatter, ..] = measure(&sampled(h, D, period, sign()), from);
        println!(
            "T {period}: |σ| {:.3} T D, jump {:.2} T; sampled sign |σ| {:.2} T",
            sigma / (period * D),
            jump / period,
            chatter / period
        );
        assert!((0.8..1.2).contains(&(sigma / (period * D))), "{sigma:e}");
        assert!(jump <= 3.0 * period, "{jump:e}");
        assert!(chatter >= 2.0 * period && chatter >= 4.0 * sigma);
    }
}

/// Two inputs that act on both `σ`: at each instant the inclusion `−σ⁺ ∈ N_[lo, hi](u)` holds for what the plant then does.
#[test]
fn two_inputs_that_are_coupled() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
    let (zero, b) = (
        Matrix::zeros(2, 2),
        Matrix::from_rows([[2.0, 1.0], [-0.5, 1.0]]),
    );
    let start = State::first_order([1.0, -1.3]);
    let integrator = Integrator::euler_moreau(0.5);
    let system = FirstOrderLinear::new(zero.clone());
    let system = simulation.spawn_system(system, start, integrator).unwrap();
    let clock = Clock::new(0.1);
    let sensor = Sensor::linear(system, Matrix::identity(2), clock);
    let sensor = simulation.spawn_sensor(sensor).unwrap();
    let bounds = [vec![-1.0, -0.5], vec![1.0, 0.8]];
    let (c, [lower, upper]) = (Matrix::identity(2), bounds.clone());
    let law = SlidingMode::new([&zero, &b, &c], bounds, 0.1).unwrap();
    let actuator = Actuator::new(system, [sensor], b, law, clock);
    let actuator = simulation.spawn_actuator(actuator).unwrap();
    for _ in 0..40 {
        simulation.step().unwrap();
        let sigma = simulation.state(system).unwrap().x();
        let u = &simulation.command(actuator).unwrap().values;
        for i in 0..2 {
            // The projection of u − σ onto the bounds is u.
            let missed = u[i] - (u[i] - sigma[i]).clamp(lower[i], upper[i]);
            assert!(missed.abs() < 1e-13, "{sigma:?} {u:?}");
        }
    }
    let sigma = simulation.state(system).unwrap().x();
    assert!(sigma.iter().all(|sigma| sigma.abs() < 1e-14), "{sigma:?}");
}

/// The same relay on a mass under Moreau–Jean, `x = (q, v)` and `u` its force.
#[test]
fn a_mass_slides_too() {
    let h = 1e-2;
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let mass = LagrangianLinear {
        force: Signal::varying(|t, force| force[0] = D * libm::sin(OMEGA * t)),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    let start = State::lagrangian([1.0], [1.0]);
    let integrator = Integrator::moreau_jean(0.5);
    let mass = simulation.spawn_system(mass, start, integrator).unwrap();
    let (c, b) = (Matrix::from_rows([[1.0, 1.0]]), Matrix::identity(1));
    let relation = FirstOrderLinearRelation::new([c], [b]);
    let joins = Joins::one(mass);
    simulation
        .spawn_interaction(joins, relation, relay())
        .unwrap();
    for _ in 0..400 {
        assert!(simulation.step().unwrap().converged);
        let state = simulation.state(mass).unwrap();
        if simulation.time() > reached(D) + 2.0 * h {
            assert!((state.q()[0] + state.v()[0]).abs() < 1e-14);
        }
    }
    let error = simulation.state(mass).unwrap().q()[0] - slides(4.0, D);
    assert!(error.abs() < 0.1 * h, "{error:e}");
}

/// A buck converter of our own (20 V in, 10 mH, 100 µF, 10 Ω; the sources give no numbers): the switch is a relay on `σ = v − 12 V + τ v̇`, between open and closed. The
/// voltage is exact in the mode, and the switch is what averages to it, 12/20, without switching at all.
#[test]
fn buck_converter() {
    const SUPPLY: f64 = 20.0;
    const WANTED: f64 = 12.0;
    let (coil, capacitor, load, tau) = (1e-2, 1e-4, 10.0, 2e-3);
    let mut simulation = SystemsSimulation::new(Settings::new(1e-5)).unwrap();
    let a = Matrix::from_rows([
        [0.0, -1.0 / coil],
        [1.0 / capacitor, -1.0 / (load * capacitor)],
    ]);
    let start = State::first_order([0.0, 0.0]);
    let integrator = Integrator::euler_moreau(0.5);
    let circuit = simulation
        .spawn_system(FirstOrderLinear::new(a), start, integrator)
        .unwrap();
    let c = Matrix::from_rows([[tau / capacitor, 1.0 - tau / (load * capacitor)]]);
    let b = Matrix::from_rows([[SUPPLY / coil], [0.0]]);
    let relation = FirstOrderLinearRelation {
        e: vec![-WANTED].into(),
        ..FirstOrderLinearRelation::new([c], [b])
    };
    let switch = NonsmoothLaw::Relay {
        lower: vec![0.0],
        upper: vec![1.0],
    };
    let joins = Joins::one(circuit);
    let switch = simulation
        .spawn_interaction(joins, relation, switch)
        .unwrap();
    let mut largest = 0.0_f64;
    for _ in 0..5_000 {
        assert!(simulation.step().unwrap().converged);
        if simulation.time() > 0.01 {
            largest = largest.max(simulation.outcome(switch).unwrap().output[0].abs());
        }
    }
    let x = simulation.state(circuit).unwrap().x();
    let duty = simulation.outcome(switch).unwrap().lambda[0];
    println!("buck: {} V, duty {duty}, |σ| {largest:.1e}", x[1]);
    assert!(largest < 1e-11, "{largest:e}");
    assert!((x[1] - WANTED).abs() < 1e-7, "{}", x[1]);
    assert!((duty - WANTED / SUPPLY).abs() < 1e-7, "{duty}");
}
