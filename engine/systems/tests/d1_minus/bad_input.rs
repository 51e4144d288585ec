//! What D1-minus does not take, and what is no number, is named, and the world stays as it was.

use super::*;

#[test]
fn what_does_not_fit_is_named() {
    let mut simulation = simulation(0.1);
    let d1 = Integrator::d1_minus();
    let body = NewtonEuler::new(1.0, Matrix::identity(3));
    let state = State::body([0.0; 3], [1.0, 0.0, 0.0, 0.0], [0.0; 3], [0.0; 3]);
    let refused = simulation.spawn_system(body, state, d1).unwrap_err();
    assert!(
        refused
            .to_string()
            .ends_with("integrator is D1Minus, expected MoreauJean for a rigid body")
    );
    let circuit = FirstOrderLinear::new(one());
    let refused = simulation
        .spawn_system(circuit, State::first_order([0.0]), d1)
        .unwrap_err();
    assert!(matches!(
        refused,
        SystemsError::System {
            source: FieldError::Kind {
                field: "integrator",
                ..
            },
            ..
        }
    ));
    let mass = || LagrangianLinear::new(Matrix::identity(2));
    let state = || State::lagrangian([0.0, 0.0], [0.0, 0.0]);
    let wrong = Integrator::D1Minus(D1Minus {
        gap: f64::NAN,
        ..D1Minus::default()
    });
    let refused = simulation.spawn_system(mass(), state(), wrong).unwrap_err();
    assert!(matches!(
        refused,
        SystemsError::System {
            source: FieldError::Range { field: "gap", .. },
            ..
        }
    ));
    let own = simulation.spawn_system(mass(), state(), d1).unwrap();
    let other = simulation
        .spawn_system(mass(), state(), Integrator::moreau_jean(0.5))
        .unwrap();
    let mut refused = |joins: Joins, relation: Relation, law: NonsmoothLaw| match simulation
        .spawn_interaction(joins, relation, law)
    {
        Err(SystemsError::Interaction { source, .. }) => source.to_string(),
        other => panic!("{other:?}"),
    };
    let row = || Matrix::from_rows([[1.0, 0.0]]);
    let rigid = |rows: Vec<Matrix>| Relation::from(LagrangianLinearRelation::new(rows));
    assert_eq!(
        refused(
            Joins::two(own, other),
            rigid(vec![row(), row()]),
            impact(0.5)
        ),
        "its systems have integrators of different kinds or parameters, D1Minus and MoreauJean"
    );
    let friction = NonsmoothLaw::Relay {
        lower: vec![-1.0],
        upper: vec![1.0],
    };
    assert_eq!(
        refused(Joins::one(own), rigid(vec![row()]), friction),
        "law is Relay, expected NewtonImpact, MultipleImpact or Equality under D1Minus"
    );
    let compliant = LagrangianLinearRelation {
        compliance: Some(one()),
        ..LagrangianLinearRelation::new([row()])
    };
    let equality = NonsmoothLaw::Equality { rows: 1 };
    assert_eq!(
        refused(Joins::one(own), compliant.into(), equality.clone()),
        "relation is compliant, expected a rigid relation under D1Minus"
    );
    let values = FirstOrderLinearRelation::new([Matrix::zeros(1, 4)], [Matrix::zeros(2, 1)]);
    assert_eq!(
        refused(Joins::one(own), values.into(), equality),
        "relation is FirstOrder, expected a Lagrangian relation under D1Minus"
    );
}

/// A force and a mass that are what they are told to be, from a time on.
struct Faulty {
    mass: f64,
    force: f64,
}

impl LagrangianModel for Faulty {
    fn size(&self) -> usize {
        1
    }

    fn mass(&self, q: &[f64], mass: &mut Matrix) {
        mass[(0, 0)] = if q[0] > 0.5 { self.mass } else { 1.0 };
    }

    fn force(&self, t: f64, _q: &[f64], _v: &[f64], force: &mut [f64]) {
        force[0] = if t > 0.55 { self.force } else { 0.0 };
    }
}

/// The same of a relation: `y` and `H`.
struct FaultyFloor(f64, f64);

impl LagrangianRelation for FaultyFloor {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = if t > 0.55 { self.0 } else { q[0][0] };
    }

    fn jacobian(&self, t: f64, _q: &[&[f64]], h: &mut [Matrix]) {
        h[0][(0, 0)] = if t > 0.55 { self.1 } else { 1.0 };
    }
}

/// What is no number, or cannot be divided by, is an error with its entity and field, wherever in the step it comes, and leaves the world as it was.
#[test]
fn what_is_no_number_is_named() {
    let cases = [
        (f64::NAN, 0.0, 1.0, 1.0, "mass is singular"),
        (0.0, 0.0, 1.0, 1.0, "mass is singular"),
        (
            1.0,
            f64::INFINITY,
            1.0,
            1.0,
            "force is inf at entry 0, expected a finite number",
        ),
        (
            1.0,
            0.0,
            f64::NAN,
            1.0,
            "output is NaN at entry 0, expected a finite number",
        ),
        (
            1.0,
            0.0,
            -1.0,
            f64::NAN,
            "output is NaN at entry 0, expected a finite number",
        ),
    ];
    for (mass, force, y, h, expected) in cases {
        let mut simulation = simulation(0.1);
        let state = State::lagrangian([0.0], [1.0]);
        let model = System::lagrangian(Faulty { mass, force });
        let own = simulation
            .spawn_system(model, state, Integrator::d1_minus())
            .unwrap();
        let floor = Relation::lagrangian(FaultyFloor(y, h));
        let floor = simulation
            .spawn_interaction(Joins::one(own), floor, impact(0.5))
            .unwrap();
        (0..5).for_each(|_| step(&mut simulation));
        let before = states(&simulation, &[own]);
        let (entity, found) = match simulation.step() {
            Err(
                SystemsError::System { entity, source }
                | SystemsError::Interaction { entity, source },
            ) => (entity, source.to_string()),
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected);
        assert!(
            entity
                == if found.starts_with("output") {
                    floor
                } else {
                    own
                }
        );
        assert_eq!(states(&simulation, &[own]), before);
    }
}
