//! Components are the state: what is changed between steps counts from the next step on, as if the simulation had begun there.

use crate::ball::ball;
use bevy_ecs::entity::Entity;
use moreau_systems::*;

/// Steps of a ball, with a change after the first hundred; and a simulation that begins with the state of then and the change in place.
fn with_and_without_history(
    change: impl Fn(&mut SystemsSimulation, Entity, Entity),
) -> [Vec<u64>; 2] {
    let jean = Integrator::moreau_jean(0.5);
    let (mut first, one, wall) = ball(Settings::new(5e-3), jean);
    for _ in 0..100 {
        first.step().unwrap();
    }
    let (mut second, two, other_wall) = ball(Settings::new(5e-3), jean);
    let state = first.state(one).unwrap().clone();
    second.world_mut().entity_mut(two).insert(state);
    change(&mut first, one, wall);
    change(&mut second, two, other_wall);
    let run = |simulation: &mut SystemsSimulation, ball: Entity| {
        for _ in 0..300 {
            assert!(simulation.step().unwrap().converged);
        }
        let state = simulation.state(ball).unwrap().stacked();
        state.into_iter().map(f64::to_bits).collect()
    };
    [run(&mut first, one), run(&mut second, two)]
}

#[test]
fn another_system_law_relation_or_integrator_counts_from_the_next_step() {
    let unchanged = with_and_without_history(|_, _, _| {});
    let changes: [fn(&mut SystemsSimulation, Entity, Entity); 6] = [
        |simulation, ball, _| {
            let heavy = LagrangianLinear {
                force: vec![-3.0].into(),
                damping: Some(Matrix::diagonal(&[0.7])),
                ..LagrangianLinear::new(Matrix::diagonal(&[2.0]))
            };
            simulation
                .world_mut()
                .entity_mut(ball)
                .insert(System::from(heavy));
        },
        |simulation, _, wall| {
            let law = NonsmoothLaw::NewtonImpact { restitution: 0.2 };
            simulation.world_mut().entity_mut(wall).insert(law);
        },
        |simulation, _, wall| {
            let relation = LagrangianLinearRelation {
                offset: vec![0.5],
                ..LagrangianLinearRelation::new([Matrix::identity(1)])
            };
            simulation
                .world_mut()
                .entity_mut(wall)
                .insert(Relation::from(relation));
        },
        |simulation, ball, _| {
            let integrator = Integrator::moreau_jean(1.0);
            *simulation.world_mut().get_mut::<Integrator>(ball).unwrap() = integrator;
        },
        |simulation, _, wall| {
            simulation.world_mut().despawn(wall);
        },
        |simulation, ball, _| {
            let state = State::lagrangian([0.7], [-2.0]);
            simulation.world_mut().entity_mut(ball).insert(state);
        },
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let [with, without] = with_and_without_history(change);
        assert_eq!(with, without, "change {index}");
        assert_ne!(with, unchanged[0], "change {index} does nothing");
    }
    assert_eq!(unchanged[0], unchanged[1]);
}

/// The matrices that stay from step to step are those of one `h`.
#[test]
fn another_step_counts_from_the_next_step() {
    let run = |steps: &[(f64, usize)]| {
        let (mut simulation, ball, _) =
            ball(Settings::new(steps[0].0), Integrator::moreau_jean(0.5));
        let sprung = LagrangianLinear {
            stiffness: Some(Matrix::diagonal(&[40.0])),
            damping: Some(Matrix::diagonal(&[0.5])),
            ..LagrangianLinear::new(Matrix::identity(1))
        };
        simulation
            .world_mut()
            .entity_mut(ball)
            .insert(System::from(sprung));
        for (h, count) in steps {
            simulation.set_settings(Settings::new(*h)).unwrap();
            for _ in 0..*count {
                assert!(simulation.step().unwrap().converged);
            }
        }
        (simulation.time(), simulation.state(ball).unwrap().q()[0])
    };
    let (time, mixed) = run(&[(1e-3, 500), (2e-3, 250), (1e-3, 500)]);
    let (end, fine) = run(&[(1e-3, 1500)]);
    assert!(
        (time - end).abs() < 1e-12 && (mixed - fine).abs() < 1e-2,
        "{mixed} {fine}"
    );
}

/// A relation that is gone is missed, and not remembered.
#[test]
fn a_component_that_is_taken_away_is_missed() {
    let (mut simulation, ball, wall) = ball(Settings::new(5e-3), Integrator::moreau_jean(0.5));
    simulation.step().unwrap();
    simulation.world_mut().entity_mut(wall).remove::<Relation>();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, SystemsError::Interaction { entity, .. } if entity == wall));
    simulation.world_mut().despawn(wall);
    simulation.step().unwrap();
    simulation
        .world_mut()
        .entity_mut(ball)
        .remove::<Integrator>();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, SystemsError::System { entity, .. } if entity == ball));
    simulation
        .world_mut()
        .entity_mut(ball)
        .insert(Integrator::moreau_jean(0.5));
    simulation.world_mut().entity_mut(ball).remove::<State>();
    assert!(simulation.step().is_err());
}

/// Entities that are spawned in the world itself bring their ids.
#[test]
fn an_id_that_is_missing_or_taken_is_an_error() {
    let (mut simulation, _, wall) = ball(Settings::new(5e-3), Integrator::moreau_jean(0.5));
    simulation.step().unwrap();
    let state = State::lagrangian([0.0], [0.0]);
    let point = System::from(LagrangianLinear::new(Matrix::identity(1)));
    let bundle = (point, state, Integrator::moreau_jean(0.5));
    let other = simulation.world_mut().spawn(bundle).id();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, SystemsError::System { entity, .. } if entity == other));
    simulation.world_mut().entity_mut(other).insert(SpawnId(0));
    let error = simulation.step().unwrap_err();
    assert!(
        matches!(
            error,
            SystemsError::System {
                source: FieldError::Kind { .. },
                ..
            }
        ),
        "{error}"
    );
    simulation.world_mut().entity_mut(other).insert(SpawnId(7));
    simulation.step().unwrap();
    simulation.world_mut().entity_mut(wall).remove::<SpawnId>();
    assert!(simulation.step().is_err());
}

/// Masses in a row with one-sided springs: many rows, whose matrix stays from step to step.
fn springs() -> (SystemsSimulation, Vec<Entity>, Vec<Entity>) {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-3)).unwrap();
    let masses: Vec<Entity> = (0..40)
        .map(|k| {
            let v = if k % 3 == 0 { 1.0 } else { -0.5 };
            let state = State::lagrangian([0.01 * f64::from(k)], [v]);
            let system = LagrangianLinear::new(Matrix::identity(1));
            let integrator = Integrator::moreau_jean(1.0);
            simulation.spawn_system(system, state, integrator).unwrap()
        })
        .collect();
    let springs = masses.windows(2).map(|pair| {
        let joins = Joins::two(pair[0], pair[1]);
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        simulation
            .spawn_interaction(joins, spring(1e-4), law)
            .unwrap()
    });
    let springs = springs.collect();
    (simulation, masses, springs)
}

fn spring(compliance: f64) -> LagrangianLinearRelation {
    LagrangianLinearRelation {
        offset: vec![-0.01],
        compliance: Some(Matrix::diagonal(&[compliance])),
        jacobian: vec![Matrix::diagonal(&[-1.0]), Matrix::identity(1)],
    }
}

/// What was worked out of components that have changed since is not used: matrices of systems, of relations, of the problem, factors of its rows.
#[test]
fn nothing_that_stays_from_step_to_step_outlives_what_it_was_made_of() {
    let mass = |simulation: &mut SystemsSimulation, entity: Entity| {
        let heavy = LagrangianLinear::new(Matrix::diagonal(&[3.0]));
        // In place, right after a step: the change is later than what the step wrote.
        *simulation.world_mut().get_mut::<System>(entity).unwrap() = System::from(heavy);
    };
    let compliance = |simulation: &mut SystemsSimulation, entity: Entity| {
        let soft = Relation::from(spring(1e-2));
        *simulation.world_mut().get_mut::<Relation>(entity).unwrap() = soft;
    };
    let law = |simulation: &mut SystemsSimulation, entity: Entity| {
        let both = NonsmoothLaw::Equality { rows: 1 };
        *simulation
            .world_mut()
            .get_mut::<NonsmoothLaw>(entity)
            .unwrap() = both;
    };
    type Change<'a> = &'a dyn Fn(&mut SystemsSimulation, &[Entity], &[Entity]);
    let changes: [Change<'_>; 5] = [
        &|_, _, _| {},
        &|simulation, masses, _| mass(simulation, masses[7]),
        &|simulation, _, springs| compliance(simulation, springs[7]),
        &|simulation, _, springs| law(simulation, springs[7]),
        &|simulation, _, _| simulation.set_settings(Settings::new(5e-4)).unwrap(),
    ];
    let bits = |simulation: &SystemsSimulation, masses: &[Entity]| -> Vec<u64> {
        let states = masses.iter().map(|mass| simulation.state(*mass).unwrap());
        let states = states.flat_map(State::stacked);
        states.map(f64::to_bits).collect()
    };
    let mut ends: Vec<Vec<u64>> = Vec::new();
    for (index, change) in changes.into_iter().enumerate() {
        let (mut old, masses, springs_of_old) = springs();
        for _ in 0..50 {
            assert!(old.step().unwrap().converged);
        }
        let (mut new, masses_of_new, springs_of_new) = springs();
        for (from, to) in masses.iter().zip(&masses_of_new) {
            let state = old.state(*from).unwrap().clone();
            new.world_mut().entity_mut(*to).insert(state);
        }
        for (from, to) in springs_of_old.iter().zip(&springs_of_new) {
            let outcome = old.outcome(*from).unwrap().clone();
            new.world_mut().entity_mut(*to).insert(outcome);
        }
        change(&mut old, &masses, &springs_of_old);
        change(&mut new, &masses_of_new, &springs_of_new);
        for _ in 0..30 {
            assert!(old.step().unwrap().converged && new.step().unwrap().converged);
        }
        let end = bits(&old, &masses);
        assert_eq!(end, bits(&new, &masses_of_new), "change {index}");
        assert!(!ends.contains(&end), "change {index} does nothing");
        ends.push(end);
    }
}

/// What is remembered is a component too: a number that is none is an error of that entity and field, in a plant that is kept and in one that is made anew.
#[test]
fn memory_that_is_no_number_is_named() {
    let (mut simulation, own, wall) = ball(Settings::new(5e-3), Integrator::schatzman_paoli());
    simulation.step().unwrap();
    let named = |simulation: &mut SystemsSimulation| match simulation.step().unwrap_err() {
        SystemsError::System { entity, source } | SystemsError::Interaction { entity, source } => {
            let FieldError::NotFinite { field, .. } = source else {
                panic!("{source}");
            };
            (entity, field)
        }
        other => panic!("{other}"),
    };
    let outcome = Outcome {
        active: true,
        lambda: vec![f64::NAN],
        ..Outcome::default()
    };
    for kept in [true, false] {
        if !kept {
            let system = simulation.world().get::<System>(own).unwrap().clone();
            simulation.world_mut().entity_mut(own).insert(system);
        }
        let mut edited = simulation.world_mut().entity_mut(wall);
        edited.insert(outcome.clone());
        assert_eq!(named(&mut simulation), (wall, "lambda"));
        let mut edited = simulation.world_mut().entity_mut(wall);
        edited.insert(Outcome::default());
        let mut edited = simulation.world_mut().entity_mut(own);
        edited.insert(Previous(vec![f64::NAN]));
        assert_eq!(named(&mut simulation), (own, "previous"));
        simulation.world_mut().entity_mut(own).remove::<Previous>();
        simulation.step().unwrap();
    }
}
