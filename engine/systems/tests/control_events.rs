//! Sampling from event to event.

use crate::control::{one, simulation, x};
use moreau_systems::*;

/// From event to event instants are met exactly, whatever `h`: the discrete solution of `v̇ = −K v(t_k)` is `v_{k+1} = (1 − K T) v_k`. A ball at rest on the floor all the
/// while is closed once.
#[test]
fn event_driven_sampling() {
    let mut simulation = simulation(0.1);
    let jean = Integrator::moreau_jean(0.5);
    let mass = LagrangianLinear::new(one());
    let state = State::lagrangian([0.0], [1.0]);
    let mass = simulation.spawn_system(mass, state, jean).unwrap();
    let heavy = LagrangianLinear {
        force: vec![-9.81].into(),
        ..LagrangianLinear::new(one())
    };
    let state = State::lagrangian([0.0], [0.0]);
    let ball = simulation.spawn_system(heavy, state, jean).unwrap();
    let gap = LagrangianLinearRelation::new([one()]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
    let joins = Joins::one(ball);
    simulation.spawn_interaction(joins, gap, law).unwrap();
    let clock = Clock::new(0.07);
    let read = |t: f64, state: &State, y: &mut [f64]| (y[0], y[1]) = (state.v()[0], t);
    let sensor = Sensor::function(mass, 2, clock, read);
    let sensor = simulation.spawn_sensor(sensor).unwrap();
    let law = LinearFeedback::new([Matrix::from_rows([[3.0, 0.0]])]);
    let actuator = Actuator::new(mass, [sensor], one(), law, clock);
    simulation.spawn_actuator(actuator).unwrap();
    assert!(simulation.step().is_err(), "the period is below h");
    let report = simulation
        .advance_by_events(0.75, &EventSettings::default())
        .unwrap();
    assert!(report.converged);
    let closed = report.events.iter().filter(|e| e.kind == EventKind::Closed);
    assert_eq!(closed.count(), 1, "{:?}", report.events);
    let mut v: f64 = 1.0;
    for _ in 0..10 {
        v -= 3.0 * 0.07 * v;
    }
    let reading = simulation.reading(sensor).unwrap();
    assert_eq!(reading.instant, Some(10));
    assert!((reading.values[0] - v).abs() < 1e-13, "{reading:?}");
    assert!((reading.values[1] - 0.7).abs() < 1e-14);
    let end = simulation.state(mass).unwrap().v()[0];
    assert!((end - v * (1.0 - 3.0 * 0.05)).abs() < 1e-13, "{end}");
}

/// `ẋ = w + u` with a relay `u` and a sampled disturbance `w = 0.5`, then 1.5 from 1 s on. It slides from the start, which is said once,
/// and leaves at the instant at which the disturbance is stronger than the relay, `x = 0.5 (t − 1)`.
#[test]
fn event_driven_relay_under_a_sampled_input() {
    let mut simulation = simulation(0.1);
    let system = FirstOrderLinear::new(Matrix::zeros(1, 1));
    let start = State::first_order([0.0]);
    let integrator = Integrator::euler_moreau(0.5);
    let system = simulation.spawn_system(system, start, integrator).unwrap();
    let relation = FirstOrderLinearRelation::new([one()], [one()]);
    let joins = Joins::one(system);
    simulation
        .spawn_interaction(joins, relation, NonsmoothLaw::sign())
        .unwrap();
    let law = feedback(1, |t, _, u| u[0] = if t < 0.9 { 0.5 } else { 1.5 });
    let actuator = Actuator::new(system, [], one(), law, Clock::new(0.25));
    simulation.spawn_actuator(actuator).unwrap();
    let report = simulation
        .advance_by_events(3.0, &EventSettings::default())
        .unwrap();
    assert!(report.converged);
    let events: Vec<_> = report.events.iter().map(|e| (e.time, e.kind)).collect();
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[0], (0.0, EventKind::Sliding));
    assert_eq!(events[1], (1.0, EventKind::Switched { lambda: -1.0 }));
    assert!((x(&simulation, system) - 1.0).abs() < 1e-12);
}
