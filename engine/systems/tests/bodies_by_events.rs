//! Rigid bodies from event to event, beside closed forms.

use bevy_ecs::entity::Entity;
use moreau_systems::*;

const G: f64 = 9.81;

fn heavy(mass: f64, inertia: [f64; 3]) -> NewtonEuler {
    NewtonEuler {
        force: vec![0.0, 0.0, -mass * G].into(),
        ..NewtonEuler::new(mass, Matrix::diagonal(&inertia))
    }
}

fn spawn(simulation: &mut SystemsSimulation, body: NewtonEuler, state: State) -> Entity {
    simulation
        .spawn_system(body, state, Integrator::moreau_jean(0.5))
        .unwrap()
}

fn advance(simulation: &mut SystemsSimulation, end: f64) -> EventReport {
    let report = simulation
        .advance_by_events(end, &EventSettings::default())
        .unwrap();
    assert!(report.converged);
    report
}

/// `R(p) x`.
fn turned(p: [f64; 4], x: [f64; 3]) -> [f64; 3] {
    rotation::turned(p, x)
}

/// The body tumbles about its middle axis for five seconds: angular momentum in space, energy and the norm of the quaternion are kept to the tolerance of the integration, 1e-10 a step, over
/// some hundred steps.
#[test]
fn a_tumbling_body_keeps_momentum_and_energy() {
    let inertia = [5.0, 10.0, 1.0];
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let body = NewtonEuler::new(2.0, Matrix::diagonal(&inertia));
    let state = State::body(
        [0.0; 3],
        [1.0, 0.0, 0.0, 0.0],
        [0.3, -0.2, 0.1],
        [0.1, 5.0, 0.1],
    );
    let body = spawn(&mut simulation, body, state);
    let kept = |simulation: &SystemsSimulation| {
        let state = simulation.state(body).unwrap();
        let (p, v) = (state.q(), state.v());
        let spin = [v[3], v[4], v[5]];
        let momentum = [0, 1, 2].map(|k| inertia[k] * spin[k]);
        let energy: f64 = (0..3).map(|k| 0.5 * momentum[k] * spin[k]).sum();
        let norm: f64 = p[3..].iter().map(|p| p * p).sum();
        let [x, y, z] = turned([p[3], p[4], p[5], p[6]], momentum);
        [x, y, z, energy, norm]
    };
    let before = kept(&simulation);
    advance(&mut simulation, 5.0);
    for (now, before) in kept(&simulation).iter().zip(before) {
        assert!((now - before).abs() < 1e-7, "{now} {before}");
    }
    let q = simulation.state(body).unwrap().q();
    assert!((q[0] - 1.5).abs() < 1e-12 && (q[1] + 1.0).abs() < 1e-12);
}

/// A ball that spins bounces in time, `√(2/g) (1 + 2 Σ eᵏ)`, and its spin is left alone by a contact without friction.
#[test]
fn a_spinning_ball_bounces_in_time() {
    let (radius, e) = (0.1, 0.8);
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let state = State::body(
        [0.0, 0.0, 1.0 + radius],
        [1.0, 0.0, 0.0, 0.0],
        [0.5, 0.0, 0.0],
        [3.0, 2.0, 1.0],
    );
    let ball = spawn(&mut simulation, heavy(1.0, [4e-3; 3]), state);
    let floor = BodyContact::frictionless(move |_, q| ContactPoint {
        gap: q[0][2] - radius,
        point: [q[0][0], q[0][1], 0.0],
        normal: [0.0, 0.0, 1.0],
    });
    let law = NonsmoothLaw::NewtonImpact { restitution: e };
    simulation
        .spawn_interaction(Joins::one(ball), floor, law)
        .unwrap();
    let report = advance(&mut simulation, 8.0);
    let fall = (2.0 / G).sqrt();
    let mut time = fall;
    let impacts = report
        .events
        .iter()
        .filter(|event| matches!(event.kind, EventKind::Impact { .. }));
    for (n, impact) in impacts.take(20).enumerate() {
        assert!((impact.time - time).abs() < 1e-9, "{n}");
        time += 2.0 * fall * e.powi(n as i32 + 1);
    }
    let state = simulation.state(ball).unwrap();
    assert!((state.q()[0] - 4.0).abs() < 1e-9 && (state.q()[2] - radius).abs() < 1e-9);
    for (own, spin) in state.v()[3..].iter().zip([3.0, 2.0, 1.0]) {
        assert!((own - spin).abs() < 1e-9);
    }
}

/// A body on a ball joint swings: the joint holds, energy is kept, and the period of small swings is `2π √((I + m l²)/(m g l))`, to the square of the amplitude over 16.
#[test]
fn a_body_on_a_joint_swings_in_its_period() {
    let (mass, length, inertia, amplitude) = (2.0, 0.5, 0.04, 0.01);
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    // Hangs along −x of the body, turned to −z by a quarter about y, and a little more.
    let angle = std::f64::consts::FRAC_PI_2 + amplitude;
    let (s, c) = libm::sincos(0.5 * angle);
    let p = [c, 0.0, s, 0.0];
    let center = turned(p, [length, 0.0, 0.0]);
    let body = heavy(mass, [0.02, inertia, inertia]);
    let body = spawn(
        &mut simulation,
        body,
        State::body(center, p, [0.0; 3], [0.0; 3]),
    );
    let knee = BodyJoint::ball([-length, 0.0, 0.0], [0.0; 3]);
    simulation
        .spawn_interaction(Joins::one(body), knee, NonsmoothLaw::Equality { rows: 3 })
        .unwrap();
    let energy = |simulation: &SystemsSimulation| {
        let state = simulation.state(body).unwrap();
        let (q, v) = (state.q(), state.v());
        let linear: f64 = v[..3].iter().map(|v| v * v).sum();
        0.5 * mass * linear + 0.5 * inertia * v[4] * v[4] + mass * G * q[2]
    };
    let before = energy(&simulation);
    let effective = inertia + mass * length * length;
    let period = 2.0 * std::f64::consts::PI * (effective / (mass * G * length)).sqrt();
    advance(&mut simulation, 10.0 * period);
    assert!((energy(&simulation) - before).abs() < 1e-9);
    let state = simulation.state(body).unwrap();
    let q = state.q();
    let end = turned([q[3], q[4], q[5], q[6]], [-length, 0.0, 0.0]);
    for k in 0..3 {
        assert!((q[k] + end[k]).abs() < 1e-10, "{k}");
    }
    // Ten periods later it is a phase of 10 · 2π · amplitude²/16 behind: next to nothing has moved.
    let back = 10.0 * 2.0 * std::f64::consts::PI * amplitude * amplitude / 16.0;
    assert!((q[0] - center[0]).abs() < length * amplitude * back);
}

/// A bar that falls flat on two points rests on both; a bar that falls on one end is turned by it: `ω⁺` of the plane impact, `(1 + e) v d/(k² + d²)` with `k² = I/m`.
#[test]
fn a_bar_strikes_with_its_end() {
    let (mass, inertia, half, e, speed) = (3.0, 0.25, 0.5, 0.6, 2.0);
    let point = |side: f64| {
        BodyContact::frictionless(move |_, q| {
            let end = turned(
                [q[0][3], q[0][4], q[0][5], q[0][6]],
                [side * half, 0.0, 0.0],
            );
            ContactPoint {
                gap: q[0][2] + end[2],
                point: [q[0][0] + end[0], q[0][1] + end[1], q[0][2] + end[2]],
                normal: [0.0, 0.0, 1.0],
            }
        })
    };
    let law = || NonsmoothLaw::NewtonImpact { restitution: e };
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let free = NewtonEuler::new(mass, Matrix::diagonal(&[0.01, inertia, inertia]));
    let state = State::body(
        [0.0, 0.0, 0.1],
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, -speed],
        [0.0; 3],
    );
    let bar = spawn(&mut simulation, free, state);
    simulation
        .spawn_interaction(Joins::one(bar), point(1.0), law())
        .unwrap();
    advance(&mut simulation, 0.06);
    let v = simulation.state(bar).unwrap().v().to_vec();
    let square = inertia / mass;
    let spin = (1.0 + e) * speed * half / (square + half * half);
    let rise = -speed + (1.0 + e) * speed * square / (square + half * half);
    // The end at +x is pushed up: a turn about −y.
    assert!(
        (v[4] + spin).abs() < 1e-9 && (v[2] - rise).abs() < 1e-9,
        "{v:?}"
    );

    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let state = State::body([0.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
    let bar = spawn(
        &mut simulation,
        heavy(mass, [0.01, inertia, inertia]),
        state,
    );
    let ends = [1.0, -1.0].map(|side| {
        simulation
            .spawn_interaction(Joins::one(bar), point(side), law())
            .unwrap()
    });
    advance(&mut simulation, 2.0);
    let state = simulation.state(bar).unwrap();
    assert!(state.q()[2].abs() < 1e-9 && state.v().iter().all(|v| v.abs() < 1e-9));
    for end in ends {
        let force = simulation.outcome(end).unwrap().lambda[0];
        assert!((force - 0.5 * mass * G).abs() < 1e-6, "{force}");
    }
}
