//! Orders are slopes over a factor of 8 in `h`; a scheme of order `p` is off it by `O(h)`, for which 0.15 is wide, and impacts, which fall anywhere in a step, are averaged first.

use super::*;

fn order(error: impl Fn(f64) -> f64, h: f64) -> f64 {
    libm::log2(error(h) / error(h / 8.0)) / 3.0
}

/// `(1 + q²) v̇ = −q v² − q + sin t`: a mass that varies, and a force of all that there is.
struct Bead;

impl LagrangianModel for Bead {
    fn size(&self) -> usize {
        1
    }

    fn mass(&self, q: &[f64], mass: &mut Matrix) {
        mass[(0, 0)] = 1.0 + q[0] * q[0];
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        force[0] = -q[0] * v[0] * v[0] - q[0] + libm::sin(t);
    }
}

#[test]
fn smooth_motion_is_of_second_order() {
    let scene = |h: f64| {
        let mut simulation = simulation(h);
        let state = State::lagrangian([1.0], [0.5]);
        let bead = simulation
            .spawn_system(System::lagrangian(Bead), state, Integrator::d1_minus())
            .unwrap();
        (simulation, vec![bead], Vec::new())
    };
    let end = exact(scene(0.1), 2.0);
    let found = order(|h| largest(&stepped(scene(h), 2.0), &end), 1.0 / 64.0);
    assert!((found - 2.0).abs() < 0.15, "{found}");
}

/// A point swings in a bowl, whose force is `(g + ẋ²)/(1 + x²)`, by what `ÿ = 0` says. Positions, velocities and the force are of second order; `ẏ` is zero to rounding, and there is an impulse of
/// `O(h³)` beside the force of `O(1)`.
#[test]
fn a_closed_contact_is_of_second_order() {
    let end = exact(bowl(0.1), 2.0);
    let found = order(|h| largest(&stepped(bowl(h), 2.0), &end), 1.0 / 128.0);
    assert!((found - 2.0).abs() < 0.15, "{found}");
    let of_force = |h: f64| {
        let (mut simulation, systems, contacts) = bowl(h);
        let mut most = 0.0_f64;
        for _ in 0..(2.0 / h).round() as usize {
            step(&mut simulation);
            let outcome = simulation.outcome(contacts[0]).unwrap();
            let (rate, impulse, force) = (outcome.rate[0], outcome.lambda[0], outcome.force[0]);
            assert!(outcome.closed && rate.abs() < 1e-14, "{outcome:?}");
            assert!(impulse >= 0.0 && impulse < 200.0 * h * h * h, "{impulse:e}");
            let state = states(&simulation, &systems);
            let exact = (G + state[2] * state[2]) / (1.0 + state[0] * state[0]);
            most = most.max((force - exact).abs());
        }
        most
    };
    let found = order(of_force, 1.0 / 128.0);
    assert!((found - 2.0).abs() < 0.15, "force: {found}");
}

/// A pendulum as a point with `½(x² + z² − 1) = 0`: an equality has forces at both ends too.
struct Rod;

impl LagrangianRelation for Rod {
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

#[test]
fn an_equality_is_of_second_order() {
    for resting in [Resting::Closed, Resting::Bouncing] {
        let scene = |h: f64| {
            let integrator = Integrator::D1Minus(D1Minus {
                resting,
                ..D1Minus::default()
            });
            let mut simulation = simulation(h);
            let state = State::lagrangian([1.0, 0.0], [0.0, 0.0]);
            let point = simulation
                .spawn_system(point(G), state, integrator)
                .unwrap();
            let law = NonsmoothLaw::Equality { rows: 1 };
            simulation
                .spawn_interaction(Joins::one(point), Relation::lagrangian(Rod), law)
                .unwrap();
            (simulation, vec![point], Vec::new())
        };
        let end = exact(scene(0.1), 1.5);
        let found = order(|h| largest(&stepped(scene(h), 1.5), &end), 1.0 / 256.0);
        assert!((found - 2.0).abs() < 0.15, "{resting:?}: {found}");
    }
}

/// A spring of 1 N/m and a stop at −½ with e = 0.8: the time of an impact is not looked for, so that the error is of first order; it is averaged over the ends of 40 runs with some impacts each.
#[test]
fn impacts_are_of_first_order() {
    let scene = |h: f64| {
        let mut simulation = simulation(h);
        let spring = LagrangianLinear {
            stiffness: Some(one()),
            ..LagrangianLinear::new(one())
        };
        let state = State::lagrangian([1.0], [0.0]);
        let spring = simulation
            .spawn_system(spring, state, Integrator::d1_minus())
            .unwrap();
        let stop = LagrangianLinearRelation {
            offset: vec![0.5],
            ..LagrangianLinearRelation::new([one()])
        };
        simulation
            .spawn_interaction(Joins::one(spring), stop, impact(0.8))
            .unwrap();
        (simulation, vec![spring], Vec::new())
    };
    let ends = (1..=40).map(|k| 0.25 * f64::from(k));
    let exact: Vec<f64> = ends.clone().map(|end| exact(scene(0.1), end)[0]).collect();
    let error = |h: f64| -> f64 {
        let runs = ends.clone().map(|end| stepped(scene(h), end)[0]);
        runs.zip(&exact)
            .map(|(own, exact)| (own - exact).abs())
            .sum()
    };
    let found = order(error, 1.0 / 64.0);
    assert!((found - 1.0).abs() < 0.25, "{found}");
}
