//! The problem of a step in global form is the one that the step has solved.

use bevy_ecs::entity::Entity;
use moreau_solvers::{Auto, Goal, natural_map};
use moreau_systems::*;

/// Points in the plane that lie on the ground with friction, one of them thrown along, tied to a bar of sparse matrices that strikes a wall.
fn world() -> (SystemsSimulation, Vec<Entity>) {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let scheme = Integrator::moreau_jean(0.5);
    let mut interactions = Vec::new();
    let mut first = None;
    for k in 0..3 {
        let point = LagrangianLinear {
            force: vec![0.0, -9.81 * f64::from(k + 1)].into(),
            ..LagrangianLinear::new(Matrix::diagonal(&[f64::from(k + 1); 2]))
        };
        let state = State::lagrangian([0.0, 0.0], [f64::from(k), -0.1]);
        let point = simulation.spawn_system(point, state, scheme).unwrap();
        // Normal, tangent.
        let relation = LagrangianLinearRelation::new([Matrix::from_rows([[0.0, 1.0], [1.0, 0.0]])]);
        let law = NonsmoothLaw::NewtonImpactFriction {
            restitution: 0.3,
            tangential_restitution: 0.0,
            friction: 0.4,
            space: Space::Plane,
        };
        let ground = simulation
            .spawn_interaction(Joins::one(point), relation, law)
            .unwrap();
        interactions.push(ground);
        first = first.or(Some(point));
    }
    let springs = [(0, 0, 90.0), (0, 1, -90.0), (1, 0, -90.0), (1, 1, 90.0)];
    let square = |entries: &[(usize, usize, f64)]| {
        SparseMatrix::from_triplets(2, 2, entries.iter().copied()).unwrap()
    };
    let bar = LagrangianLinear {
        stiffness: Some(square(&springs)),
        ..LagrangianLinear::new(square(&[(0, 0, 2.0), (1, 1, 3.0)]))
    };
    let state = State::lagrangian([0.0, 0.0], [-1.0, -1.0]);
    let bar = simulation.spawn_system(bar, state, scheme).unwrap();
    let end = SparseMatrix::from_triplets(1, 2, [(0, 1, 1.0)]).unwrap();
    let wall = LagrangianLinearRelation::new([end]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.5 };
    interactions.push(
        simulation
            .spawn_interaction(Joins::one(bar), wall, law)
            .unwrap(),
    );
    let tie = LagrangianLinearRelation::new([
        Matrix::from_rows([[1.0, 0.0]]),
        Matrix::from_rows([[-1.0, 0.0]]),
    ]);
    let joins = Joins::two(first.unwrap(), bar);
    let law = NonsmoothLaw::Equality { rows: 1 };
    interactions.push(simulation.spawn_interaction(joins, tie, law).unwrap());
    (simulation, interactions)
}

/// Its stored form is solved by the impulses of the step; a solver of global problems finds them; and the velocities are those of the states. To rounding, 1e-13 of unit sizes.
#[test]
fn the_global_form_has_the_solution_of_the_step() {
    let (mut simulation, interactions) = world();
    assert!(simulation.global_problem().unwrap().is_none());
    for _ in 0..50 {
        assert!(simulation.step().unwrap().converged);
        let problem = simulation.global_problem().unwrap().unwrap();
        let impulses: Vec<f64> = interactions
            .iter()
            .map(|own| simulation.outcome(*own).unwrap())
            .filter(|outcome| outcome.active)
            .flat_map(|outcome| outcome.lambda.clone())
            .collect();
        assert_eq!(
            (problem.degrees_of_freedom(), problem.rows()),
            (8, impulses.len())
        );
        let stored = problem.condense().unwrap();
        assert!(natural_map::stored(&stored, &impulses).scaled < 1e-12);
        let mut found = vec![0.0; impulses.len()];
        let report = Auto::default()
            .solve_global(&problem, &mut found, &Goal::scaled(1e-13))
            .unwrap();
        assert!(report.converged());
        let states = simulation.world();
        let mut v = Vec::new();
        let mut systems: Vec<(SpawnId, Vec<f64>)> = states
            .iter_entities()
            .filter_map(|own| Some((*own.get::<SpawnId>()?, own.get::<State>()?.v().to_vec())))
            .collect();
        systems.sort_by_key(|(id, _)| *id);
        systems.into_iter().for_each(|(_, own)| v.extend(own));
        for (own, state) in problem.velocity_under(&found).unwrap().iter().zip(&v) {
            assert!((own - state).abs() < 1e-11, "{own} {state}");
        }
    }
}

/// Of systems that make several steps within one it is the problem of the last of them, with its `h`: a stiff sparse bar that strikes.
#[test]
fn the_global_form_is_that_of_the_last_part_of_a_step() {
    let square = |entries: &[(usize, usize, f64)]| {
        SparseMatrix::from_triplets(2, 2, entries.iter().copied()).unwrap()
    };
    let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
    let springs = [(0, 0, 1e5), (0, 1, -1e5), (1, 0, -1e5), (1, 1, 1e5)];
    let bar = LagrangianLinear {
        stiffness: Some(square(&springs)),
        ..LagrangianLinear::new(square(&[(0, 0, 1.0), (1, 1, 1.0)]))
    };
    let state = State::lagrangian([0.0, 0.0], [-1.0, -1.0]);
    let bar = simulation
        .spawn_system(bar, state, Integrator::moreau_jean(0.5))
        .unwrap();
    simulation.set_substeps(bar, Substeps(5)).unwrap();
    let end = SparseMatrix::from_triplets(1, 2, [(0, 1, 1.0)]).unwrap();
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.0 };
    simulation
        .spawn_interaction(Joins::one(bar), LagrangianLinearRelation::new([end]), law)
        .unwrap();
    assert!(simulation.step().unwrap().converged);
    let problem = simulation.global_problem().unwrap().unwrap();
    // M + (hθ)² K with h = 2 ms, θ = ½.
    let (_, entry) = problem.mass.column(0).next().unwrap();
    assert!((entry - (1.0 + 1e-6 * 1e5)).abs() < 1e-12, "{entry}");
}

/// Multipliers that are functions of time have no such form.
#[test]
fn what_is_no_impulse_is_named() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let x = simulation
        .spawn_system(
            FirstOrderLinear::new(Matrix::identity(1)),
            State::first_order([1.0]),
            Integrator::euler_moreau(1.0),
        )
        .unwrap();
    let relation = FirstOrderLinearRelation::new([Matrix::identity(1)], [Matrix::identity(1)]);
    simulation
        .spawn_interaction(Joins::one(x), relation, NonsmoothLaw::sign())
        .unwrap();
    simulation.step().unwrap();
    let error = simulation.global_problem().unwrap_err();
    assert!(error.to_string().contains("relation"), "{error}");
}
