//! Event-driven integration of what is empty, redundant or not finite: an answer or an error that names the entity, and a world that stays as it was.

use bevy_ecs::entity::Entity;
use moreau_systems::*;

fn point(simulation: &mut SystemsSimulation, q: f64, v: f64) -> Entity {
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

fn advance(simulation: &mut SystemsSimulation, end: f64) -> Result<EventReport, SystemsError> {
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
