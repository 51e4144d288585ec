//! Event-driven integration of what is empty, redundant or not finite: an answer or an error that names the entity, and a world that stays as it was.

use bevy_ecs::entity::Entity;
use moreau_systems::*;

pub(crate) fn point(simulation: &mut SystemsSimulation, q: f64, v: f64) -> Entity {
    let weight = LagrangianLinear {
        force: vec![-9.81].into(),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    simulation
        .spawn_system(
            weight,
            State::lagrangian([q], [v]),
            Integrator::moreau_jean(0.5),
        )
        .unwrap()
}

pub(crate) fn advance(
    simulation: &mut SystemsSimulation,
    end: f64,
) -> Result<EventReport, SystemsError> {
    simulation.advance_by_events(end, &EventSettings::default())
}

/// Nothing has no error, which is no reason to look for a shorter step forever.
#[test]
fn an_empty_world_comes_to_its_end() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
    let report = advance(&mut simulation, 1.0).unwrap();
    assert!(report.converged);
    assert_eq!(simulation.time().to_bits(), 1.0_f64.to_bits());
}

/// A tie that is there twice, and a ring of three whose last tie the others imply: what a rigid body does under its weight.
#[test]
fn equalities_that_others_imply_do_no_harm() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
    let held = point(&mut simulation, 0.0, 0.0);
    let law = || NonsmoothLaw::Equality { rows: 1 };
    for _ in 0..2 {
        let place = LagrangianLinearRelation::new([Matrix::identity(1)]);
        simulation
            .spawn_interaction(Joins::one(held), place, law())
            .unwrap();
    }
    let ring: Vec<Entity> = (0..3)
        .map(|k| point(&mut simulation, f64::from(k), 0.5))
        .collect();
    for (i, j, offset) in [(0, 1, 1.0), (1, 2, 1.0), (2, 0, -2.0)] {
        let tie = LagrangianLinearRelation {
            offset: vec![offset],
            ..LagrangianLinearRelation::new([Matrix::identity(1), Matrix::diagonal(&[-1.0])])
        };
        simulation
            .spawn_interaction(Joins::two(ring[i], ring[j]), tie, law())
            .unwrap();
    }
    assert!(advance(&mut simulation, 1.0).unwrap().converged);
    assert!(simulation.state(held).unwrap().q()[0].abs() < 1e-12);
    for (k, body) in ring.iter().enumerate() {
        let q = simulation.state(*body).unwrap().q()[0];
        assert!((q - (k as f64 + 0.5 - 0.5 * 9.81)).abs() < 1e-9, "{k}: {q}");
    }
}

/// The height, until something of it is no number.
struct Ending(&'static str);

impl Ending {
    fn of(&self, part: &str, t: f64, value: f64) -> f64 {
        if self.0 == part && t > 0.05 {
            f64::NAN
        } else {
            value
        }
    }
}

impl LagrangianRelation for Ending {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = self.of("output", t, q[0][0]);
    }

    fn jacobian(&self, t: f64, _q: &[&[f64]], h: &mut [Matrix]) {
        h[0][(0, 0)] = self.of("jacobian", t, 1.0);
    }

    fn output_by_time(&self, t: f64, _q: &[&[f64]], rate: &mut [f64]) {
        rate[0] = self.of("rate", t, 0.0);
    }
}

/// A contact was lost without a word, and what fell through the floor was called converged; an equality wrote NaN into the state.
#[test]
fn what_is_no_number_is_an_error_of_its_interaction() {
    for part in ["output", "jacobian", "rate"] {
        for law in [
            NonsmoothLaw::NewtonImpact { restitution: 0.5 },
            NonsmoothLaw::Equality { rows: 1 },
        ] {
            let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
            let rests = point(&mut simulation, 0.0, 0.0);
            let relation = Relation::lagrangian(Ending(part));
            let contact = simulation
                .spawn_interaction(Joins::one(rests), relation, law.clone())
                .unwrap();
            let error = advance(&mut simulation, 1.0).unwrap_err();
            let SystemsError::Interaction { entity, source } = error else {
                panic!("{part}, {law:?}: {error}");
            };
            assert_eq!(entity, contact);
            assert!(matches!(source, FieldError::NotFinite { .. }), "{source}");
            let state = simulation.state(rests).unwrap();
            assert_eq!(*state, State::lagrangian([0.0], [0.0]), "{part}, {law:?}");
        }
    }
}

fn relays(
    simulation: &mut SystemsSimulation,
    start: f64,
    bounds: [f64; 2],
    count: usize,
) -> (Entity, Vec<Entity>) {
    let state = State::first_order([start]);
    let system = FirstOrderLinear::new(Matrix::zeros(1, 1));
    let system = simulation
        .spawn_system(system, state, Integrator::euler_moreau(0.5))
        .unwrap();
    let spawn = |_| {
        let relation = FirstOrderLinearRelation {
            e: Signal::varying(|t, e: &mut [f64]| e[0] = if t > 0.5 { f64::NAN } else { 0.0 }),
            ..FirstOrderLinearRelation::new([Matrix::identity(1)], [Matrix::identity(1)])
        };
        let law = NonsmoothLaw::Relay {
            lower: vec![bounds[0]],
            upper: vec![bounds[1]],
        };
        let joins = Joins::one(system);
        simulation.spawn_interaction(joins, relation, law).unwrap()
    };
    (system, (0..count).map(spawn).collect())
}

/// An output that is no number was a relay that never switches again; a bound that is infinite was an error of the system's rate.
#[test]
fn relays_without_numbers_are_named() {
    let cases = [
        (2.0, [-1.0, 1.0], "output"),
        (0.1, [-1.0, 1.0], "output"),
        (2.0, [f64::NEG_INFINITY, 1.0], "lower"),
        (2.0, [-1.0, f64::INFINITY], "upper"),
    ];
    for (start, bounds, expected) in cases {
        let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
        let (system, relays) = relays(&mut simulation, start, bounds, 1);
        let error = advance(&mut simulation, 1.0).unwrap_err();
        let SystemsError::Interaction { entity, source } = error else {
            panic!("{error}");
        };
        assert_eq!(entity, relays[0]);
        assert!(matches!(source, FieldError::NotFinite { field, .. } if field == expected));
        let state = simulation.state(system).unwrap();
        assert_eq!(*state, State::first_order([start]));
    }
}

/// Relays that do the same: together they come to zero and stay there, and what each does is left open, within its bounds. Every step is solved: next to zero their `λ` are large beside the free
/// velocity, which is no sign of a problem without solution, since no relay goes beyond its bounds.
#[test]
fn relays_that_do_the_same_are_solved() {
    for count in [2, 3, 5, 20, 60] {
        for k in 0..20 {
            let mut simulation = SystemsSimulation::new(Settings::new(0.01)).unwrap();
            let start = 0.0025 * f64::from(k) * count as f64;
            let (system, _) = relays(&mut simulation, start, [-1.0, 1.0], count);
            for _ in 0..20 {
                let before = simulation.state(system).unwrap().x()[0];
                let report = simulation.step().unwrap();
                assert!(report.converged, "{count}, {start}: {report:?}");
                let x = simulation.state(system).unwrap().x()[0];
                let exact = (before - 0.01 * count as f64).max(0.0);
                assert!((x - exact).abs() < 1e-14, "{count}, {start}: {x}");
            }
        }
    }
}

/// What contradicts itself, in places or in rates, is not solved.
#[test]
fn equalities_that_contradict_each_other_are_not_converged() {
    for other in [Held([-1.0, 0.0]), Held([0.0, -1.0])] {
        let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
        let held = point(&mut simulation, 0.0, 0.0);
        for relation in [Held([0.0, 0.0]), other] {
            let law = NonsmoothLaw::Equality { rows: 1 };
            simulation
                .spawn_interaction(Joins::one(held), Relation::lagrangian(relation), law)
                .unwrap();
        }
        assert!(!advance(&mut simulation, 1.0).unwrap().converged);
    }
}

/// `q + b + c t = 0`.
struct Held([f64; 2]);

impl LagrangianRelation for Held {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        let [b, c] = self.0;
        y[0] = q[0][0] + b + c * t;
    }

    fn jacobian(&self, _t: f64, _q: &[&[f64]], h: &mut [Matrix]) {
        h[0][(0, 0)] = 1.0;
    }

    fn output_by_time(&self, _t: f64, _q: &[&[f64]], rate: &mut [f64]) {
        [_, rate[0]] = self.0;
    }
}

/// A bar on twenty supports, of which any two would do, under a load that moves: what solvers leave open does not hold it up, and its supports carry its weight.
#[test]
fn a_bar_on_many_supports_goes_on() {
    for solver in ["auto", "nsgs", "psor"] {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        assert!(simulation.set_solver_named(solver));
        let force = Signal::varying(|t, force| {
            (force[0], force[1]) = (-10.0, -9.0 * libm::sin(3.0 * t));
        });
        let bar = LagrangianLinear {
            force,
            ..LagrangianLinear::new(Matrix::diagonal(&[1.0, 0.3]))
        };
        let bar = simulation
            .spawn_system(
                bar,
                State::lagrangian([0.0; 2], [0.0; 2]),
                Integrator::moreau_jean(0.5),
            )
            .unwrap();
        let supports: Vec<Entity> = (0..20)
            .map(|k| {
                let x = -1.0 + 2.0 * f64::from(k) / 19.0;
                let gap = LagrangianLinearRelation::new([Matrix::from_rows([[1.0, x]])]);
                let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
                simulation
                    .spawn_interaction(Joins::one(bar), gap, law)
                    .unwrap()
            })
            .collect();
        let report = advance(&mut simulation, 2.0).unwrap();
        let forces = supports
            .iter()
            .map(|support| simulation.outcome(*support).unwrap().lambda[0]);
        let weight: f64 = forces.sum();
        assert!(report.converged && report.steps < 2000, "{solver}");
        assert!((weight - 10.0).abs() < 1e-9, "{solver}: {weight}");
    }
}

/// Instants of a sensor that nothing depends on do not change when an accumulation is seen.
#[test]
fn a_sensor_does_not_hide_an_accumulation() {
    let seen = |period: Option<f64>| {
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        let ball = point(&mut simulation, 1.0, 0.0);
        let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
        let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
        simulation
            .spawn_interaction(Joins::one(ball), gap, law)
            .unwrap();
        if let Some(period) = period {
            let reads = Matrix::from_rows([[1.0, 0.0]]);
            simulation
                .spawn_sensor(Sensor::linear(ball, reads, Clock::new(period)))
                .unwrap();
        }
        let settings = EventSettings {
            accumulation: Some(Accumulation {
                impacts: 5,
                within: 0.1,
            }),
            ..EventSettings::default()
        };
        let report = simulation.advance_by_events(2.0, &settings).unwrap();
        assert!(report.accumulating.is_some());
        report.time
    };
    let alone = seen(None);
    for period in [0.1, 0.01] {
        assert!((seen(Some(period)) - alone).abs() < 1e-9);
    }
}
