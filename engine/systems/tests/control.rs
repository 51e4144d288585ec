//! Sensors and actuators at rates of their own, and sliding modes without chattering.
//!
//! `θ = 1` and `ẋ = −x + u`: implicit Euler, `x_{k+1} = (x_k + h u)/(1 + h)`, so that all that is sampled has a closed form in steps.

use bevy_ecs::entity::Entity;
use moreau_systems::*;
use std::sync::{Arc, Mutex};

pub(crate) fn simulation(h: f64) -> SystemsSimulation {
    SystemsSimulation::new(Settings::new(h)).unwrap()
}

/// `ẋ = −x`, `x(0) = 1`.
fn decay(simulation: &mut SystemsSimulation) -> Entity {
    let system = FirstOrderLinear::new(Matrix::from_rows([[-1.0]]));
    let integrator = Integrator::euler_moreau(1.0);
    simulation
        .spawn_system(system, State::first_order([1.0]), integrator)
        .unwrap()
}

pub(crate) fn one() -> Matrix {
    Matrix::identity(1)
}

/// `u = −K x`, sampled.
fn feedback_loop(
    simulation: &mut SystemsSimulation,
    system: Entity,
    gain: f64,
    [of_sensor, of_actuator]: [Clock; 2],
) -> [Entity; 2] {
    let sensor = Sensor::linear(system, one(), of_sensor);
    let sensor = simulation.spawn_sensor(sensor).unwrap();
    let law = LinearFeedback::new([one().scaled(gain)]);
    let actuator = Actuator::new(system, [sensor], one(), law, of_actuator);
    [sensor, simulation.spawn_actuator(actuator).unwrap()]
}

pub(crate) fn x(simulation: &SystemsSimulation, system: Entity) -> f64 {
    simulation.state(system).unwrap().x()[0]
}

/// The closed form with the readings at steps `read`, the commands at steps `act`.
fn expected(h: f64, gain: f64, read: &[usize], act: &[usize], steps: usize) -> Vec<f64> {
    let (mut x, mut y, mut u) = (1.0, 0.0, 0.0);
    let mut all = vec![x];
    for k in 0..steps {
        if read.contains(&k) {
            y = x;
        }
        if act.contains(&k) {
            u = -gain * y;
        }
        x = (x + h * u) / (1.0 + h);
        all.push(x);
    }
    all
}

fn run_beside(clocks: [Clock; 2], read: &[usize], act: &[usize]) {
    let (h, gain, steps) = (0.1, 2.0, 24);
    let mut simulation = simulation(h);
    let system = decay(&mut simulation);
    let [sensor, actuator] = feedback_loop(&mut simulation, system, gain, clocks);
    let expected = expected(h, gain, read, act, steps);
    for (k, expected) in expected.iter().enumerate() {
        let found = x(&simulation, system);
        assert!((found - expected).abs() < 1e-14, "{k}: {found} {expected}");
        assert!(simulation.step().unwrap().converged);
        let held = simulation.reading(sensor).unwrap();
        let last = read.iter().filter(|read| **read <= k).max();
        assert_eq!(held.instant.is_some(), last.is_some());
        if let Some(last) = last {
            assert!((held.time - h * *last as f64).abs() < 1e-12, "{k}");
            assert!(!held.values.is_empty());
        } else {
            assert!(held.values.is_empty());
        }
        let last = act.iter().filter(|act| **act <= k).max();
        let held = simulation.command(actuator).unwrap();
        assert_eq!(held.instant.is_some(), last.is_some(), "{k}");
    }
}

#[test]
fn held_between_instants_that_are_multiples_of_the_step() {
    let clock = Clock::new(0.3);
    let steps: Vec<usize> = (0..30).step_by(3).collect();
    run_beside([clock; 2], &steps, &steps);
}

#[test]
fn every_step_where_the_period_is_the_step() {
    let steps: Vec<usize> = (0..30).collect();
    run_beside([Clock::new(0.1); 2], &steps, &steps);
}

/// Instants 0, 0.25, 0.5, 0.75, …: the first steps that begin then or later.
#[test]
fn instants_within_a_step_wait_for_the_next() {
    let steps = [0, 3, 5, 8, 10, 13, 15, 18, 20, 23];
    run_beside([Clock::new(0.25); 2], &steps, &steps);
}

/// The actuator acts on what the sensor read last, and nothing before either begins.
#[test]
fn two_rates_and_two_starts() {
    let clocks = [Clock::new(0.4), Clock::new(0.3)];
    run_beside(
        clocks,
        &[0, 4, 8, 12, 16, 20, 24],
        &[0, 3, 6, 9, 12, 15, 18, 21, 24],
    );
    let clocks = [Clock::starting_at(0.5, 0.4), Clock::starting_at(0.2, 0.3)];
    run_beside(clocks, &[5, 9, 13, 17, 21], &[2, 5, 8, 11, 14, 17, 20, 23]);
}

/// `θ = ½`, and the exact solution in the limit: between instants `x = u + (x_j − u) e^{−t}`. Second order in `h`, as without control.
#[test]
fn the_hold_keeps_the_second_order() {
    let (period, gain) = (0.5, 2.0);
    let error = |h: f64| {
        let mut simulation = simulation(h);
        let system = FirstOrderLinear::new(Matrix::from_rows([[-1.0]]));
        let start = State::first_order([1.0]);
        let integrator = Integrator::euler_moreau(0.5);
        let system = simulation.spawn_system(system, start, integrator).unwrap();
        feedback_loop(&mut simulation, system, gain, [Clock::new(period); 2]);
        let steps = (2.0 / h).round() as usize;
        for _ in 0..steps {
            simulation.step().unwrap();
        }
        let mut exact = 1.0;
        for _ in 0..4 {
            let u = -gain * exact;
            exact = u + (exact - u) * libm::exp(-period);
        }
        (x(&simulation, system) - exact).abs()
    };
    let ratio = error(0.05) / error(0.025);
    println!("hold: ratio {ratio:.3}");
    assert!((3.9..4.1).contains(&ratio), "{ratio}");
}

/// A force on a mass: `v = u t` and `q = u t²/2`, under both schemes of Lagrangian systems and from event to event.
#[test]
fn a_force_on_a_mass() {
    let spawn = |integrator| {
        let mut simulation = simulation(0.1);
        let mass = LagrangianLinear::new(Matrix::diagonal(&[2.0]));
        let state = State::lagrangian([0.0], [0.0]);
        let mass = simulation.spawn_system(mass, state, integrator).unwrap();
        let law = feedback(1, |t, _, u| u[0] += if t < 0.45 { 6.0 } else { -6.0 });
        let actuator = Actuator::new(mass, [], one(), law, Clock::new(0.5));
        simulation.spawn_actuator(actuator).unwrap();
        (simulation, mass)
    };
    // 3 m/s² for half a second, then none for another: 1.5 m/s and 0.375 + 0.75 m.
    let close = |state: &State, tolerance: f64| {
        assert!((state.v()[0] - 1.5).abs() < tolerance, "{state:?}");
        assert!((state.q()[0] - 1.125).abs() < tolerance, "{state:?}");
    };
    let (mut simulation, mass) = spawn(Integrator::moreau_jean(0.5));
    for _ in 0..10 {
        simulation.step().unwrap();
    }
    close(simulation.state(mass).unwrap(), 1e-14);
    let (mut simulation, mass) = spawn(Integrator::moreau_jean(0.5));
    let report = simulation
        .advance_by_events(1.0, &EventSettings::default())
        .unwrap();
    assert!(report.converged && report.events.is_empty());
    close(simulation.state(mass).unwrap(), 1e-12);
    let (mut simulation, mass) = spawn(Integrator::SchatzmanPaoli(SchatzmanPaoli));
    for _ in 0..5 {
        simulation.step().unwrap();
    }
    // q_{k+1} = 2 q_k − q_{k−1} + h² u, from rest: q_5 = h² u (1 + … + 5).
    let q = simulation.state(mass).unwrap().q()[0];
    assert!((q - 0.01 * 3.0 * 15.0).abs() < 1e-14, "{q}");
}

/// All sensors read before any actuator acts, in the order of spawning and not of storage; runs have the same bits.
#[test]
fn order_of_evaluation() {
    let run = || {
        let mut simulation = simulation(0.01);
        let system = decay(&mut simulation);
        let clocks = [Clock::new(0.03), Clock::new(0.02)];
        let [_, actuator] = feedback_loop(&mut simulation, system, 1.0, clocks);
        feedback_loop(&mut simulation, system, 0.7, [Clock::new(0.025); 2]);
        // Another archetype.
        let marked = simulation.world_mut();
        marked.entity_mut(actuator).insert(Previous(Vec::new()));
        for _ in 0..100 {
            simulation.step().unwrap();
        }
        x(&simulation, system)
    };
    assert_eq!(run().to_bits(), run().to_bits());
    // The order in which they work, whatever the order in which they are stored.
    let mut simulation = simulation(0.1);
    let system = decay(&mut simulation);
    let (clock, log) = (Clock::new(0.2), Arc::new(Mutex::new(Vec::new())));
    let note = |name: &'static str| {
        let log = Arc::clone(&log);
        move || log.lock().unwrap().push(name)
    };
    let mut all = Vec::new();
    for name in ["first actuator", "second actuator"] {
        let note = note(name);
        let law = feedback(1, move |_, _, _| note());
        let actuator = Actuator::new(system, [], one(), law, clock);
        all.push(simulation.spawn_actuator(actuator).unwrap());
    }
    for name in ["first sensor", "second sensor"] {
        let note = note(name);
        let sensor = Sensor::function(system, 1, clock, move |_, _, _| note());
        all.push(simulation.spawn_sensor(sensor).unwrap());
    }
    let world = simulation.world_mut();
    world.entity_mut(all[0]).insert(Previous(Vec::new()));
    world.entity_mut(all[2]).insert(Previous(Vec::new()));
    simulation.step().unwrap();
    let expected = [
        "first sensor",
        "second sensor",
        "first actuator",
        "second actuator",
    ];
    assert_eq!(*log.lock().unwrap(), expected);
}

/// What is read in an instant is what the actuators of the same instant see.
#[test]
fn actuators_see_readings_of_their_instant() {
    let mut simulation = simulation(0.1);
    let system = decay(&mut simulation);
    let [sensor, actuator] = feedback_loop(&mut simulation, system, 1.0, [Clock::new(1.0); 2]);
    simulation.step().unwrap();
    assert_eq!(simulation.reading(sensor).unwrap().values, [1.0]);
    assert_eq!(simulation.command(actuator).unwrap().values, [-1.0]);
}

#[test]
fn wrong_sensors_and_actuators() {
    let mut simulation = simulation(0.1);
    let system = decay(&mut simulation);
    let clock = Clock::new(0.1);
    let of_sensor =
        |simulation: &mut SystemsSimulation, sensor| match simulation.spawn_sensor(sensor) {
            Err(SystemsError::Sensor { source, .. }) => {
                assert!(simulation.step().is_ok(), "it is not in the world");
                source.to_string()
            }
            other => panic!("{other:?}"),
        };
    let none = Sensor::linear(system, one(), Clock::new(0.0));
    let error = of_sensor(&mut simulation, none);
    assert_eq!(error, "clock.period is 0, expected finite and > 0");
    let wide = Sensor::linear(system, Matrix::zeros(1, 2), clock);
    let error = of_sensor(&mut simulation, wide);
    assert_eq!(error, "reads has 1 rows and 2 columns, expected 1 and 1");
    let stranger = Sensor::linear(Entity::PLACEHOLDER, one(), clock);
    let error = of_sensor(&mut simulation, stranger);
    assert_eq!(error, "system is missing");
    let sensor = Sensor::linear(system, one(), clock);
    let sensor = simulation.spawn_sensor(sensor).unwrap();
    let mut of_actuator = |actuator| match simulation.spawn_actuator(actuator) {
        Err(SystemsError::Actuator { source, .. }) => source.to_string(),
        other => panic!("{other:?}"),
    };
    let law = || LinearFeedback::new([one()]);
    let error = of_actuator(Actuator::new(system, [system], one(), law(), clock));
    assert_eq!(error, "a sensor that it knows is missing");
    let error = of_actuator(Actuator::new(system, [], one(), law(), clock));
    assert_eq!(error, "gains has 1 entries, expected 0");
    let tall = Matrix::zeros(2, 1);
    let error = of_actuator(Actuator::new(system, [sensor], tall, law(), clock));
    assert_eq!(error, "input has 2 rows and 1 columns, expected 1 and 1");
    let (a, bounds) = (one(), || [vec![-1.0], vec![1.0]]);
    let sliding = SlidingMode::new([&a, &a, &a], bounds(), 0.2).unwrap();
    let error = of_actuator(Actuator::new(system, [sensor], one(), sliding, clock));
    assert_eq!(
        error,
        "clock.period is 0.1, expected that of the sliding mode"
    );
    let zero = Matrix::zeros(1, 1);
    let error = SlidingMode::new([&a, &zero, &a], bounds(), 0.2).unwrap_err();
    assert!(matches!(error, FieldError::Singular { .. }));
}

/// A rate faster than `h`, and readings and commands that are no numbers: the step does not take place, and nothing has changed.
#[test]
fn the_world_stays_as_it_was() {
    let mut simulation = simulation(0.1);
    let system = decay(&mut simulation);
    let fast = Sensor::linear(system, one(), Clock::new(0.05));
    let fast = simulation.spawn_sensor(fast).unwrap();
    let error = simulation.step().unwrap_err();
    assert!(
        matches!(error, SystemsError::Sensor { entity, source: FieldError::Range { field: "clock.period", .. } } if entity == fast)
    );
    simulation.world_mut().despawn(fast);
    let [sensor, _] = feedback_loop(&mut simulation, system, 1.0, [Clock::new(0.1); 2]);
    let law = feedback(1, |t, _, u| u[0] = if t > 0.25 { f64::NAN } else { 0.0 });
    let actuator = Actuator::new(system, [], one(), law, Clock::new(0.1));
    let actuator = simulation.spawn_actuator(actuator).unwrap();
    // From event to event the error comes in a later part, at 0.3 s.
    let error = simulation.advance_by_events(1.0, &EventSettings::default());
    assert!(
        matches!(error, Err(SystemsError::Actuator { .. })),
        "{error:?}"
    );
    assert_eq!(x(&simulation, system).to_bits(), 1.0_f64.to_bits());
    assert_eq!(simulation.reading(sensor), Some(&Reading::default()));
    for _ in 0..3 {
        simulation.step().unwrap();
    }
    let before = (
        simulation.state(system).cloned(),
        simulation.reading(sensor).cloned(),
        simulation.time(),
    );
    let error = simulation.step().unwrap_err();
    assert!(
        matches!(error, SystemsError::Actuator { entity, source: FieldError::NotFinite { field: "command", .. } } if entity == actuator)
    );
    let after = (
        simulation.state(system).cloned(),
        simulation.reading(sensor).cloned(),
        simulation.time(),
    );
    assert_eq!(before, after);
    // Without the culprit it goes on.
    simulation.world_mut().despawn(actuator);
    simulation.step().unwrap();
    simulation.world_mut().despawn(system);
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, SystemsError::Sensor { .. }), "{error:?}");
}
