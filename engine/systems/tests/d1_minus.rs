//! D1-minus: orders, contacts that rest and lift, energy, and what it does not take. Event-driven integration to 1e-12 stands for the exact motion where there is no closed form.

mod bad_input;
mod orders;

use crate::control::{one, simulation};
use bevy_ecs::entity::Entity;
use moreau_systems::*;

const G: f64 = 9.81;

fn step(simulation: &mut SystemsSimulation) {
    let report = simulation.step().unwrap();
    assert!(report.converged, "{report:?}");
}

fn largest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// A scene: its simulation, its systems and its interactions.
type Scene = (SystemsSimulation, Vec<Entity>, Vec<Entity>);

fn states(simulation: &SystemsSimulation, systems: &[Entity]) -> Vec<f64> {
    let states = systems
        .iter()
        .map(|system| simulation.state(*system).unwrap());
    states.flat_map(|state| state.stacked()).collect()
}

fn stepped((mut simulation, systems, _): Scene, end: f64) -> Vec<f64> {
    let steps = (end / simulation.settings().h).round() as usize;
    (0..steps).for_each(|_| step(&mut simulation));
    states(&simulation, &systems)
}

fn exact((mut simulation, systems, _): Scene, end: f64) -> Vec<f64> {
    let settings = EventSettings {
        relative: 1e-12,
        absolute: 1e-14,
        ..EventSettings::default()
    };
    let report = simulation.advance_by_events(end, &settings).unwrap();
    assert!(report.converged);
    states(&simulation, &systems)
}

/// An undamped oscillator of `ω = 1`. The method of Störmer and Verlet keeps `v² + q²(1 − h²/4)` exactly, so that for `h = 0.5` the energy never leaves its start by more than a sixteenth, over
/// a thousand vibrations; beyond `h = 2` it has no bound.
#[test]
fn vibrations_are_stable_up_to_two() {
    let swing = |h: f64, steps: usize| {
        let mut simulation = simulation(h);
        let spring = LagrangianLinear {
            stiffness: Some(one()),
            ..LagrangianLinear::new(one())
        };
        let state = State::lagrangian([1.0], [0.0]);
        let spring = simulation
            .spawn_system(spring, state, Integrator::d1_minus())
            .unwrap();
        let mut most = 0.0_f64;
        for _ in 0..steps {
            step(&mut simulation);
            let state = states(&simulation, &[spring]);
            let kept = state[1] * state[1] + state[0] * state[0] * (1.0 - 0.25 * h * h);
            most = most.max((kept - (1.0 - 0.25 * h * h)).abs());
        }
        (most, states(&simulation, &[spring]))
    };
    // A rounding a step.
    assert!(swing(0.5, 12_566).0 < 12_566.0 * f64::EPSILON);
    assert!(swing(1.99, 1000).0 < 1e-12);
    assert!(swing(2.01, 1000).1[0].abs() > 1e3);
}

/// `y = z − ½x²`, a bowl.
struct Bowl;

impl LagrangianRelation for Bowl {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = q[0][1] - 0.5 * q[0][0] * q[0][0];
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        h[0].row_mut(0).copy_from_slice(&[-q[0][0], 1.0]);
    }
}

fn point(weight: f64) -> LagrangianLinear {
    LagrangianLinear {
        force: vec![0.0, -weight].into(),
        ..LagrangianLinear::new(Matrix::identity(2))
    }
}

fn impact(restitution: f64) -> NonsmoothLaw {
    NonsmoothLaw::NewtonImpact { restitution }
}

fn bowl(h: f64) -> Scene {
    let mut simulation = simulation(h);
    let state = State::lagrangian([1.0, 0.5], [0.0, 0.0]);
    let point = simulation
        .spawn_system(point(G), state, Integrator::d1_minus())
        .unwrap();
    let bowl = simulation
        .spawn_interaction(Joins::one(point), Relation::lagrangian(Bowl), impact(0.8))
        .unwrap();
    (simulation, vec![point], vec![bowl])
}

/// A height above a floor at `f(t)`: `y = q − f`.
struct Floor {
    height: fn(f64) -> f64,
    rate: fn(f64) -> f64,
}

impl LagrangianRelation for Floor {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = q[0][0] - (self.height)(t);
    }

    fn jacobian(&self, _t: f64, _q: &[&[f64]], h: &mut [Matrix]) {
        h[0][(0, 0)] = 1.0;
    }

    fn output_by_time(&self, t: f64, _q: &[&[f64]], rate: &mut [f64]) {
        rate[0] = -(self.rate)(t);
    }
}

fn ball_on(floor: Floor, v: f64, h: f64) -> Scene {
    let mut simulation = simulation(h);
    let weight = LagrangianLinear {
        force: vec![-G].into(),
        ..LagrangianLinear::new(one())
    };
    let state = State::lagrangian([0.0], [v]);
    let ball = simulation
        .spawn_system(weight, state, Integrator::d1_minus())
        .unwrap();
    let floor = simulation
        .spawn_interaction(Joins::one(ball), Relation::lagrangian(floor), impact(0.0))
        .unwrap();
    (simulation, vec![ball], vec![floor])
}

/// When a contact opens.
fn lifts((mut simulation, _, contacts): Scene) -> f64 {
    loop {
        step(&mut simulation);
        assert!(simulation.time() < 10.0);
        if !simulation.outcome(contacts[0]).unwrap().closed {
            return simulation.time();
        }
    }
}

/// A table that falls ever faster, `f̈ = −4t`: what lies on it lifts at `t = g/4`, and flies with the velocity that it has then. The contact opens in the step in which its force ends, or
/// the next; the flight is off by what the force of that step is, `O(h²)`.
#[test]
fn rest_on_a_table_that_accelerates_down() {
    let table = || Floor {
        height: |t| -2.0 / 3.0 * t * t * t,
        rate: |t| -2.0 * t * t,
    };
    let t = G / 4.0;
    for h in [1e-2, 1e-3, 1e-4] {
        let late = lifts(ball_on(table(), 0.0, h)) - t;
        assert!((0.0..=2.0 * h).contains(&late), "{h}: {late:e}");
        let end = stepped(ball_on(table(), 0.0, h), 3.0);
        let left = 3.0 - t;
        let v = -2.0 * t * t - G * left;
        let q = -2.0 / 3.0 * t * t * t - 2.0 * t * t * left - 0.5 * G * left * left;
        assert!(
            largest(&end, &[q, v]) < 20.0 * h * h,
            "{h}: {end:?} {q} {v}"
        );
    }
}

/// A floor `f = 0.1 sin 12t` with `12² · 0.1 > g`: the mass lifts where `f̈ = −g`, falls back, stays (e = 0) and lifts again; event-driven integration does the same, and all is within `O(h)`.
#[test]
fn a_mass_on_an_oscillating_floor_lifts_and_lands() {
    let floor = || Floor {
        height: |t| 0.1 * libm::sin(12.0 * t),
        rate: |t| 1.2 * libm::cos(12.0 * t),
    };
    let t = libm::asin(G / 14.4) / 12.0;
    for h in [4e-3, 1e-3, 2.5e-4] {
        let late = lifts(ball_on(floor(), 1.2, h)) - t;
        assert!((0.0..=2.0 * h).contains(&late), "{h}: {late:e}");
    }
    let mut mean = [0.0; 2];
    for (mean, h) in mean.iter_mut().zip([2e-3, 2.5e-4]) {
        for k in 1..=20 {
            let end = f64::from(k) * 0.1;
            let exact = exact(ball_on(floor(), 1.2, 0.1), end);
            *mean += (stepped(ball_on(floor(), 1.2, h), end)[0] - exact[0]).abs() / 20.0;
        }
    }
    println!("oscillating floor: {mean:?}");
    assert!(mean[0] < 2.0 * 2e-3 && mean[1] < 2.0 * 2.5e-4, "{mean:?}");
}

/// Masses in a column under gravity, each above the one before, the first above the ground.
fn column(q: &[f64], mass: &[f64], e: f64, integrator: Integrator, h: f64) -> Scene {
    let mut simulation = simulation(h);
    let mut systems: Vec<Entity> = Vec::new();
    let mut contacts = Vec::new();
    for (k, (q, m)) in q.iter().zip(mass).enumerate() {
        let weight = LagrangianLinear {
            force: vec![-G * m].into(),
            ..LagrangianLinear::new(Matrix::diagonal(&[*m]))
        };
        let state = State::lagrangian([*q], [0.0]);
        systems.push(simulation.spawn_system(weight, state, integrator).unwrap());
        let (joins, rows) = if k == 0 {
            (Joins::one(systems[0]), vec![one()])
        } else {
            (
                Joins::two(systems[k], systems[k - 1]),
                vec![one(), one().scaled(-1.0)],
            )
        };
        let relation = LagrangianLinearRelation::new(rows);
        contacts.push(
            simulation
                .spawn_interaction(joins, relation, impact(e))
                .unwrap(),
        );
    }
    (simulation, systems, contacts)
}

/// Three masses that lie on each other carry what is above them as forces, without any impulse, and stay where they are: to rounding, whatever `e`.
#[test]
fn a_column_rests() {
    let mass = [1.0, 2.0, 4.0];
    let (mut simulation, systems, contacts) =
        column(&[0.0; 3], &mass, 0.9, Integrator::d1_minus(), 1e-3);
    for _ in 0..500 {
        step(&mut simulation);
        for (k, contact) in contacts.iter().enumerate() {
            let outcome = simulation.outcome(*contact).unwrap();
            let weight = G * mass[k..].iter().sum::<f64>();
            assert!((outcome.force[0] - weight).abs() < 1e-12, "{outcome:?}");
            assert!(outcome.closed && outcome.lambda[0] < 1e-15);
        }
        let impulse = simulation.reaction(systems[2]).unwrap()[0];
        assert!((impulse - 1e-3 * 4.0 * G).abs() < 1e-14);
    }
    let rest = states(&simulation, &systems);
    assert!(largest(&rest, &[0.0; 6]) < 1e-13, "{rest:?}");
}

/// A ball comes to rest after infinitely many bounces, at `√(2/g)(1 + e)/(1 − e)`: from then on it is closed, less than the depth of an impact below the floor, and stays.
#[test]
fn an_accumulation_ends_in_rest() {
    let e = 0.7;
    for h in [1e-2, 1e-3] {
        let (mut simulation, systems, contacts) =
            column(&[1.0], &[1.0], e, Integrator::d1_minus(), h);
        let end = libm::sqrt(2.0 / G) * (1.0 + e) / (1.0 - e);
        while simulation.time() < end + 20.0 * h {
            step(&mut simulation);
        }
        let rest = states(&simulation, &systems);
        assert!(
            rest[0] <= 1e-8 && rest[0] > -5.0 * h && rest[1].abs() < 1e-14,
            "{rest:?}"
        );
        (0..1000).for_each(|_| step(&mut simulation));
        assert!(largest(&states(&simulation, &systems), &rest) < 1e-13);
        let outcome = simulation.outcome(contacts[0]).unwrap();
        assert!(outcome.closed && (outcome.force[0] - G).abs() < 1e-12);
    }
}

/// Constant forces: flights are parabolas to rounding, so that energy changes by impacts alone, which take it for any `e ≤ 1` that is the same in all contacts.
#[test]
fn energy_is_never_created() {
    let mass = [1.0, 0.3, 2.0];
    for e in [0.0, 0.5, 0.9, 1.0] {
        for h in [1e-2, 3e-3] {
            let (mut simulation, systems, _) =
                column(&[0.4, 0.9, 1.1], &mass, e, Integrator::d1_minus(), h);
            let energy = |simulation: &SystemsSimulation| -> f64 {
                let states = systems.iter().map(|s| simulation.state(*s).unwrap());
                let each = states.zip(mass).map(|(state, m)| {
                    let (q, v) = (state.q()[0], state.v()[0]);
                    m * (0.5 * v * v + G * q)
                });
                each.sum()
            };
            let mut before = energy(&simulation);
            for k in 0..(4.0 / h) as usize {
                step(&mut simulation);
                let now = energy(&simulation);
                let made = now - before;
                assert!(made < 1e-12, "{e} {h} {k}: {made:e}");
                before = now;
            }
        }
    }
}

/// The sources' rule at rest: a bounce of `ẏ⁺ = e(½hg − ẏ⁺) = ½ h g e/(1 + e)` in every step, in which the ball sinks by `½ h² g/(1 + e)`.
#[test]
fn a_ball_that_bounces_at_rest_sinks() {
    let (h, e) = (1e-3, 0.9);
    let integrator = Integrator::D1Minus(D1Minus {
        resting: Resting::Bouncing,
        ..D1Minus::default()
    });
    let (mut simulation, systems, contacts) = column(&[0.0], &[1.0], e, integrator, h);
    let bounce = 0.5 * h * G * e / (1.0 + e);
    simulation
        .world_mut()
        .entity_mut(systems[0])
        .insert(State::lagrangian([0.0], [bounce]));
    for k in 1..100 {
        step(&mut simulation);
        let sunk = -0.5 * h * h * G / (1.0 + e) * f64::from(k);
        let found = states(&simulation, &systems);
        assert!(largest(&found, &[sunk, bounce]) < 1e-15, "{k}: {found:?}");
        let outcome = simulation.outcome(contacts[0]).unwrap();
        assert!((outcome.force[0] - G).abs() < 1e-12);
        assert!((outcome.lambda[0] - 0.5 * h * G).abs() < 1e-15);
    }
}

/// The sources' rule with two contacts, one of which is at rest while the other is struck: states after so many steps of 1 ms that Siconos 4.4 has (a program of its C++ interface, written for this
/// test), to rounding. 0.5 kg falls from 0.3 m on 1 kg, which lies on the ground.
#[test]
fn the_sources_rule_takes_no_forces_beside_impacts() {
    let theirs = [
        (
            495,
            [
                2.4761442896093054e-17,
                -0.00046558500000012156,
                0.0049050000000000135,
                0.6033149999999998,
            ],
        ),
        (
            678,
            [
                2.749363237075669e-17,
                -2.4135000000099908e-05,
                0.004904999999999996,
                0.14347125000000044,
            ],
        ),
        (
            1000,
            [
                2.784881700246333e-17,
                -0.0008940231250000801,
                4.336808689942018e-19,
                0.0016350000000000002,
            ],
        ),
        (
            2400,
            [
                2.845597021905811e-17,
                -0.005472023124999961,
                4.336808689942018e-19,
                0.001634999999999675,
            ],
        ),
    ];
    let integrator = Integrator::D1Minus(D1Minus {
        resting: Resting::Bouncing,
        ..D1Minus::default()
    });
    let (mut simulation, systems, _) = column(&[0.0, 0.3], &[1.0, 0.5], 0.5, integrator, 1e-3);
    let mut steps = 0;
    for (count, [lower, upper, v_lower, v_upper]) in theirs {
        while steps < count {
            step(&mut simulation);
            steps += 1;
        }
        let own = states(&simulation, &systems);
        let missed = largest(&own, &[lower, v_lower, upper, v_upper]);
        assert!(missed < 1e-12, "{count}: {own:?}");
    }
}

/// One mass lies on the ground and another falls on it: the struck contact has `e`, the closed one none, as from event to event. In one step both go as `v_2⁺ = −e v_2⁻` says.
#[test]
fn what_rests_is_struck() {
    let e = 0.5;
    let (mut simulation, systems, contacts) =
        column(&[0.0, 1.0], &[1.0, 1.0], e, Integrator::d1_minus(), 1e-4);
    loop {
        step(&mut simulation);
        let outcome = simulation.outcome(contacts[1]).unwrap();
        if outcome.active {
            break;
        }
    }
    let found = states(&simulation, &systems);
    let fall = libm::sqrt(2.0 * G);
    // One step of falling further.
    assert!((found[3] - e * fall).abs() < 2.0 * 1e-4 * G, "{found:?}");
    assert!(
        found[1].abs() < 1e-13 && found[0].abs() < 1e-13,
        "{found:?}"
    );
    let ground = simulation.outcome(contacts[0]).unwrap();
    assert!((ground.force[0] - G).abs() < 1e-9 && ground.closed);
    assert!((ground.lambda[0] - (1.0 + e) * fall).abs() < 1e-2);
}

/// A contact is tested where it approaches when a step begins, too: it is struck then, and not taken for one that rests.
#[test]
fn a_start_that_approaches_is_an_impact() {
    let (mut simulation, systems, _) = column(&[0.0], &[1.0], 0.5, Integrator::d1_minus(), 1e-3);
    simulation
        .world_mut()
        .entity_mut(systems[0])
        .insert(State::lagrangian([0.0], [-2.0]));
    step(&mut simulation);
    let v = states(&simulation, &systems)[1];
    assert!((v - 0.5 * (2.0 + 1e-3 * G)).abs() < 1e-14, "{v}");
}

/// The gap of an end of a rod of length 1 and radius 0.1, `side` from its middle.
struct End {
    side: f64,
}

impl LagrangianRelation for End {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = q[0][1] + self.side * libm::sin(q[0][2]) - 0.1;
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        let row = [0.0, 1.0, self.side * libm::cos(q[0][2])];
        h[0].row_mut(0).copy_from_slice(&row);
    }
}

/// A rod falls on one end, rocks and lies: both ends carry half its weight as forces. Energy comes in by the turning of the rod about an end alone, `O(h³)` of it a step, as the
/// prediction is an explicit method; impacts and closing give none.
#[test]
fn a_rod_rocks_and_lies() {
    for e in [0.0, 0.3, 0.7] {
        for h in [4e-3, 1e-3] {
            let mut simulation = simulation(h);
            let rod = LagrangianLinear {
                force: vec![0.0, -G, 0.0].into(),
                ..LagrangianLinear::new(Matrix::diagonal(&[1.0, 1.0, 1.0 / 12.0]))
            };
            let state = State::lagrangian([0.0, 0.6, 0.4], [0.5, 0.0, 0.0]);
            let rod = simulation
                .spawn_system(rod, state, Integrator::d1_minus())
                .unwrap();
            let ends = [0.5, -0.5].map(|side| {
                let relation = Relation::lagrangian(End { side });
                simulation
                    .spawn_interaction(Joins::one(rod), relation, impact(e))
                    .unwrap()
            });
            let energy = |simulation: &SystemsSimulation| {
                let state = simulation.state(rod).unwrap();
                let v = state.v();
                0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 12.0) + G * state.q()[1]
            };
            let start = energy(&simulation);
            let mut before = start;
            for k in 0..(4.0 / h) as usize {
                step(&mut simulation);
                let now = energy(&simulation);
                let bound = h * h * h * start;
                assert!(now - before < bound, "{e} {h} {k}: {:e}", now - before);
                before = now;
            }
            let state = states(&simulation, &[rod]);
            assert!(largest(&state[3..], &[0.5, 0.0, 0.0]) < 1e-12, "{state:?}");
            // Deep by an impact of some m/s at most, and not level by that.
            assert!((state[1] - 0.1).abs() < 4.0 * h && state[2].abs() < 8.0 * h);
            for end in ends {
                let outcome = simulation.outcome(end).unwrap();
                let missed = (outcome.force[0] - 0.5 * G).abs();
                assert!(outcome.closed && missed < 0.1 * G * h + 1e-9, "{outcome:?}");
            }
        }
    }
}

/// Two parts of a step are two steps, with what is remembered between them; corrections of positions are for Moreau–Jean and change nothing.
#[test]
fn parts_of_a_step_are_steps_and_projections_are_not_for_it() {
    let (mut halves, systems, contacts) = bowl(0.02);
    halves.set_substeps(systems[0], Substeps(2)).unwrap();
    let (mut whole, others, _) = bowl(0.01);
    whole
        .set_settings(Settings {
            projection: Projection::Combined {
                tolerance: 1e-10,
                max_iterations: 10,
                metric: Metric::Mass,
            },
            ..Settings::new(0.01)
        })
        .unwrap();
    for _ in 0..50 {
        step(&mut halves);
        step(&mut whole);
        step(&mut whole);
        let (a, b) = (states(&halves, &systems), states(&whole, &others));
        assert!(largest(&a, &b) < 1e-13, "{a:?} {b:?}");
    }
    assert!(halves.outcome(contacts[0]).unwrap().closed);
}

/// An accumulation is handed over to D1-minus, and back when the contact has carried a force for three steps.
#[test]
fn it_goes_through_an_accumulation_for_the_events_manager() {
    let (mut simulation, systems, _) = column(&[1.0], &[1.0], 0.5, Integrator::d1_minus(), 1e-3);
    let mut events = EventsManager::new(EventSettings {
        accumulation: Some(Accumulation {
            impacts: 5,
            within: 0.5,
        }),
        ..EventSettings::default()
    });
    let report = events.advance(&mut simulation, 2.5).unwrap();
    let handed = report.occurrences.iter();
    let handed = handed.filter(|occurrence| matches!(occurrence.what, Occurred::HandedOver(_)));
    assert_eq!(handed.count(), 2, "{:?}", report.occurrences);
    // Brought to y = 0 by the first step from event to event.
    let rest = states(&simulation, &systems);
    assert!(
        report.converged && largest(&rest, &[0.0, 0.0]) < 1e-9,
        "{rest:?}"
    );
}

/// What is moved away between steps does not stay closed, and what others are spawned beside it does: the same bits as without them.
#[test]
fn closed_contacts_are_remembered_where_they_were() {
    let (mut simulation, systems, contacts) = bowl(0.01);
    let (mut other, others, _) = bowl(0.01);
    for k in 0..60 {
        step(&mut simulation);
        if k == 20 {
            let system = FirstOrderLinear::new(one().scaled(-1.0));
            let state = State::first_order([1.0]);
            other
                .spawn_system(system, state, Integrator::euler_moreau(0.5))
                .unwrap();
            let body = NewtonEuler::new(1.0, Matrix::identity(3));
            let state = State::body([0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
            other
                .spawn_system(body, state, Integrator::moreau_jean(0.5))
                .unwrap();
        }
        step(&mut other);
        let same = states(&simulation, &systems)
            .iter()
            .zip(&states(&other, &others))
            .all(|(a, b)| a.to_bits() == b.to_bits());
        assert!(same, "{k}");
    }
    let lifted = State::lagrangian([0.0, 1.0], [0.0, 0.0]);
    simulation.world_mut().entity_mut(systems[0]).insert(lifted);
    step(&mut simulation);
    assert!(!simulation.outcome(contacts[0]).unwrap().active);
    let fallen = states(&simulation, &systems);
    assert!((fallen[3] + G * 0.01).abs() < 1e-15, "{fallen:?}");
}

/// Commands are held in both ends, and parts of a step are steps: a force of 6 N on 2 kg, `v = 3t`, `q = 1.5 t²`.
#[test]
fn commands_act_and_steps_have_parts() {
    for parts in [1, 3] {
        let mut simulation = simulation(0.1);
        let mass = LagrangianLinear::new(Matrix::diagonal(&[2.0]));
        let state = State::lagrangian([0.0], [0.0]);
        let mass = simulation
            .spawn_system(mass, state, Integrator::d1_minus())
            .unwrap();
        simulation.set_substeps(mass, Substeps(parts)).unwrap();
        let law = feedback(1, |_, _, u| u[0] = 6.0);
        let actuator = Actuator::new(mass, [], one(), law, Clock::new(0.5));
        simulation.spawn_actuator(actuator).unwrap();
        (0..10).for_each(|_| step(&mut simulation));
        let end = states(&simulation, &[mass]);
        assert!(largest(&end, &[1.5, 3.0]) < 1e-14, "{end:?}");
    }
}
