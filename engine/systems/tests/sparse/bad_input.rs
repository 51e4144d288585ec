//! Wrong sparse matrices are typed errors that name the field.

use super::{Entries, sparse};
use bevy_ecs::entity::Entity;
use moreau_systems::*;

/// What is wrong with a system, when it is spawned or in its first step.
fn fault(system: impl Into<System>, state: State, integrator: Integrator) -> FieldError {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let spawned = simulation.spawn_system(system, state, integrator);
    match spawned.and_then(|_| simulation.step()) {
        Err(SystemsError::System { source, .. }) => source,
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_sparse_matrices_are_named() {
    let (jean, euler) = (Integrator::moreau_jean(0.5), Integrator::euler_moreau(0.5));
    let unit = |n: usize| sparse(n, &(0..n).map(|i| (i, i, 1.0)).collect());
    let at_rest = || State::lagrangian([0.0; 3], [0.0; 3]);
    let free = || LagrangianLinear::new(unit(3));
    let shape = |field, n: usize, expected: usize| FieldError::Shape {
        field,
        found: [n, n],
        expected: [expected, expected],
    };
    let damped = LagrangianLinear {
        damping: Some(unit(2)),
        ..free()
    };
    assert_eq!(fault(damped, at_rest(), jean), shape("damping", 2, 3));
    let stiff = LagrangianLinear {
        stiffness: Some(unit(4)),
        ..free()
    };
    assert_eq!(fault(stiff, at_rest(), jean), shape("stiffness", 4, 3));
    let heavy = FirstOrderLinear {
        mass: Some(unit(2)),
        ..FirstOrderLinear::new(unit(3))
    };
    let zero = || State::first_order([0.0; 3]);
    assert_eq!(fault(heavy, zero(), euler), shape("mass", 2, 3));
    let wide = SparseMatrix::from_triplets(3, 4, [(0, 0, 1.0)]).unwrap();
    let found = fault(LagrangianLinear::new(wide.clone()), at_rest(), jean);
    let of_wide = |field| FieldError::Shape {
        field,
        found: [3, 4],
        expected: [3, 3],
    };
    assert_eq!(found, of_wide("mass"));
    let found = fault(FirstOrderLinear::new(wide), zero(), euler);
    assert_eq!(found, of_wide("matrix"));
    let none = State::lagrangian([], []);
    let found = fault(LagrangianLinear::new(SparseMatrix::default()), none, jean);
    assert_eq!(found, FieldError::Empty { field: "size" });
    // The fifth entry, row by row.
    let holed = LagrangianLinear {
        stiffness: Some(sparse(3, &vec![(0, 0, 1.0), (1, 1, f64::INFINITY)])),
        ..free()
    };
    let infinite = FieldError::NotFinite {
        field: "stiffness",
        index: 4,
        value: f64::INFINITY,
    };
    assert_eq!(fault(holed, at_rest(), jean), infinite);
    let no_number = FirstOrderLinear::new(sparse(3, &vec![(2, 1, f64::NAN)]));
    match fault(no_number, zero(), euler) {
        FieldError::NotFinite { field, index, .. } => assert_eq!((field, index), ("matrix", 7)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_sparse_rows_are_named() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let unit = sparse(3, &(0..3).map(|i| (i, i, 1.0)).collect());
    let point = simulation
        .spawn_system(
            LagrangianLinear::new(unit.clone()),
            State::lagrangian([0.0; 3], [0.0; 3]),
            Integrator::moreau_jean(0.5),
        )
        .unwrap();
    let state = simulation
        .spawn_system(
            FirstOrderLinear::new(unit),
            State::first_order([0.0; 3]),
            Integrator::euler_moreau(0.5),
        )
        .unwrap();
    let mut fault = |system: Entity, relation: Relation| {
        let law = NonsmoothLaw::Equality { rows: 2 };
        match simulation.spawn_interaction(Joins::one(system), relation, law) {
            Err(SystemsError::Interaction { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    };
    let matrix = |rows: usize, columns: usize, entries: Entries| {
        SparseMatrix::from_triplets(rows, columns, entries).unwrap()
    };
    let found = fault(
        point,
        LagrangianLinearRelation::new([matrix(2, 4, vec![(0, 0, 1.0)])]).into(),
    );
    let shape = |field, found, expected| FieldError::Shape {
        field,
        found,
        expected,
    };
    assert_eq!(found, shape("jacobian", [2, 4], [2, 3]));
    let endless = vec![(0, 0, 1.0), (1, 2, f64::INFINITY)];
    let infinite = |field, index| FieldError::NotFinite {
        field,
        index,
        value: f64::INFINITY,
    };
    let rows = matrix(2, 3, endless.clone());
    let found = fault(point, LagrangianLinearRelation::new([rows.clone()]).into());
    assert_eq!(found, infinite("jacobian", 5));
    let good = || matrix(3, 2, vec![(0, 0, 1.0), (1, 1, 1.0)]);
    let of = |c, b| FirstOrderLinearRelation::new([c], [b]).into();
    assert_eq!(fault(state, of(rows, good())), infinite("c", 5));
    let outputs = || matrix(2, 3, vec![(0, 0, 1.0), (1, 1, 1.0)]);
    let input = matrix(3, 2, vec![(2, 1, f64::INFINITY)]);
    assert_eq!(fault(state, of(outputs(), input)), infinite("b", 5));
    let found = fault(state, of(outputs(), outputs()));
    assert_eq!(found, shape("b", [2, 3], [3, 2]));
}

#[test]
fn singular_sparse_matrices_are_named() {
    let jean = Integrator::moreau_jean(0.5);
    let singular = |field| FieldError::Singular { field };
    let at_rest = || State::lagrangian([0.0; 3], [0.0; 3]);
    // One coordinate without mass; three whose masses are one.
    let bare = sparse(3, &vec![(0, 0, 1.0), (2, 2, 1.0)]);
    let same = (0..9).map(|k| (k / 3, k % 3, 0.1)).collect();
    for mass in [bare, sparse(3, &same)] {
        for scheme in [jean, Integrator::schatzman_paoli()] {
            let found = fault(LagrangianLinear::new(mass.clone()), at_rest(), scheme);
            assert_eq!(found, singular("mass"));
        }
        let heavy = FirstOrderLinear {
            mass: Some(mass.clone()),
            ..FirstOrderLinear::new(SparseMatrix::from_triplets(3, 3, []).unwrap())
        };
        let (zero, euler) = (State::first_order([0.0; 3]), Integrator::euler_moreau(0.5));
        assert_eq!(fault(heavy, zero, euler), singular("mass"));
        let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
        simulation
            .spawn_system(LagrangianLinear::new(mass), at_rest(), jean)
            .unwrap();
        match simulation.advance_by_events(0.1, &EventSettings::default()) {
            Err(SystemsError::System { source, .. }) => assert_eq!(source, singular("mass")),
            other => panic!("{other:?}"),
        }
    }
    // M − hθA = 0 with a regular mass.
    let unit: Entries = (0..3).map(|i| (i, i, 1.0)).collect();
    let growth = unit.iter().map(|(i, j, _)| (*i, *j, 1000.0)).collect();
    let explosive = FirstOrderLinear::new(sparse(3, &growth));
    let (zero, euler) = (State::first_order([0.0; 3]), Integrator::euler_moreau(1.0));
    let found = fault(explosive, zero, euler);
    assert_eq!(found, singular("iteration matrix"));
}
