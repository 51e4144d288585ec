//! Wrong input is a typed error that names the entity and the field, and leaves the world as it was.

use crate::ball::ball;
use bevy_ecs::entity::Entity;
use moreau_systems::*;

fn simulation() -> SystemsSimulation {
    SystemsSimulation::new(Settings::new(1e-3)).unwrap()
}

fn number(simulation: &mut SystemsSimulation, integrator: Integrator) -> Entity {
    let system = FirstOrderLinear::new(Matrix::from_rows([[-1.0]]));
    simulation
        .spawn_system(system, State::first_order([1.0]), integrator)
        .unwrap()
}

fn point(simulation: &mut SystemsSimulation, integrator: Integrator) -> Entity {
    let system = LagrangianLinear::new(Matrix::identity(1));
    let state = State::lagrangian([1.0], [0.0]);
    simulation.spawn_system(system, state, integrator).unwrap()
}

/// What is wrong with a system.
fn of_system(system: impl Into<System>, state: State, integrator: Integrator) -> FieldError {
    let mut simulation = simulation();
    match simulation.spawn_system(system, state, integrator) {
        Err(SystemsError::System { source, .. }) => {
            assert!(simulation.step().is_ok(), "it is not in the world");
            source
        }
        other => panic!("{other:?}"),
    }
}

/// What is wrong with an interaction of systems.
fn of_interaction(
    simulation: &mut SystemsSimulation,
    joins: Joins,
    relation: impl Into<Relation>,
    law: NonsmoothLaw,
) -> FieldError {
    match simulation.spawn_interaction(joins, relation, law) {
        Err(SystemsError::Interaction { source, .. }) => {
            assert!(simulation.step().is_ok(), "it is not in the world");
            source
        }
        other => panic!("{other:?}"),
    }
}

fn output() -> LagrangianLinearRelation {
    LagrangianLinearRelation::new([Matrix::identity(1)])
}

const IMPACT: NonsmoothLaw = NonsmoothLaw::NewtonImpact { restitution: 0.5 };

#[test]
fn systems_of_wrong_sizes() {
    let jean = Integrator::moreau_jean(0.5);
    let state = State::lagrangian([0.0; 2], [0.0; 2]);
    let damped = LagrangianLinear {
        damping: Some(Matrix::identity(3)),
        ..LagrangianLinear::new(Matrix::identity(2))
    };
    let error = of_system(damped, state.clone(), jean);
    assert_eq!(
        error.to_string(),
        "damping has 3 rows and 3 columns, expected 2 and 2"
    );
    let short = State::lagrangian([0.0; 2], [0.0]);
    let error = of_system(LagrangianLinear::new(Matrix::identity(2)), short, jean);
    assert!(matches!(
        error,
        FieldError::Length {
            field: "v",
            found: 1,
            expected: 2
        }
    ));
    let pushed = LagrangianLinear {
        force: vec![1.0].into(),
        ..LagrangianLinear::new(Matrix::identity(2))
    };
    let error = of_system(pushed, state, jean);
    assert!(matches!(error, FieldError::Length { field: "force", .. }));
    let error = of_system(
        FirstOrderLinear::new(Matrix::zeros(0, 0)),
        State::first_order([]),
        jean,
    );
    assert!(matches!(error, FieldError::Empty { field: "size" }));
}

#[test]
fn systems_of_wrong_kinds_and_values() {
    let system = || LagrangianLinear::new(Matrix::identity(1));
    let state = || State::lagrangian([0.0], [0.0]);
    let error = of_system(system(), state(), Integrator::euler_moreau(0.5));
    assert!(matches!(
        error,
        FieldError::Kind {
            field: "integrator",
            ..
        }
    ));
    let error = of_system(
        system(),
        State::first_order([0.0]),
        Integrator::moreau_jean(0.5),
    );
    assert!(matches!(error, FieldError::Kind { field: "state", .. }));
    let error = of_system(system(), state(), Integrator::moreau_jean(1.5));
    assert!(matches!(error, FieldError::Range { field: "theta", .. }));
    let nowhere = State::lagrangian([f64::NAN], [0.0]);
    let error = of_system(system(), nowhere, Integrator::moreau_jean(0.5));
    assert!(matches!(
        error,
        FieldError::NotFinite {
            field: "q",
            index: 0,
            ..
        }
    ));
    let circuit = || FirstOrderLinear::new(Matrix::identity(1));
    let gamma = Integrator::EulerMoreau(EulerMoreau {
        gamma: -0.1,
        ..EulerMoreau::default()
    });
    let error = of_system(circuit(), State::first_order([0.0]), gamma);
    assert!(matches!(error, FieldError::Range { field: "gamma", .. }));
    for gamma_for_relation in [0.0, 1.1, f64::NAN] {
        let gamma = Integrator::MoreauJean(MoreauJean {
            gamma_for_relation,
            ..MoreauJean::default()
        });
        let error = of_system(system(), state(), gamma);
        let field = "gamma_for_relation";
        assert!(matches!(error, FieldError::Range { field: own, .. } if own == field));
    }
}

#[test]
fn settings_out_of_range() {
    let of = |settings: Settings| match SystemsSimulation::new(settings) {
        Err(SystemsError::Settings(FieldError::Range { field, .. })) => field,
        _ => panic!("accepted"),
    };
    assert_eq!(of(Settings::new(0.0)), "h");
    assert_eq!(of(Settings::new(f64::NAN)), "h");
    let tolerance = -1.0;
    assert_eq!(
        of(Settings {
            tolerance,
            ..Settings::new(1.0)
        }),
        "tolerance"
    );
}

#[test]
fn interactions_of_wrong_sizes() {
    let mut simulation = simulation();
    let jean = Integrator::moreau_jean(0.5);
    let point = point(&mut simulation, jean);
    let wide = LagrangianLinearRelation::new([Matrix::zeros(1, 2)]);
    let error = of_interaction(&mut simulation, Joins::one(point), wide, IMPACT);
    assert!(matches!(
        error,
        FieldError::Shape {
            field: "jacobian",
            found: [1, 2],
            expected: [1, 1]
        }
    ));
    let friction = NonsmoothLaw::NewtonImpactFriction {
        restitution: 0.0,
        tangential_restitution: 0.0,
        friction: 0.5,
        space: Space::Space,
    };
    let error = of_interaction(&mut simulation, Joins::one(point), output(), friction);
    assert_eq!(
        error,
        FieldError::Length {
            field: "law",
            found: 3,
            expected: 1
        }
    );
    let law = NonsmoothLaw::NewtonImpact { restitution: 1.5 };
    let error = of_interaction(&mut simulation, Joins::one(point), output(), law);
    assert!(matches!(
        error,
        FieldError::Range {
            field: "restitution",
            ..
        }
    ));
    let error = of_interaction(&mut simulation, Joins(vec![]), output(), IMPACT);
    assert!(matches!(error, FieldError::Empty { field: "joins" }));
    let error = of_interaction(&mut simulation, Joins::two(point, point), output(), IMPACT);
    assert!(matches!(error, FieldError::Kind { field: "joins", .. }));
    let stranger = Entity::PLACEHOLDER;
    let error = of_interaction(&mut simulation, Joins::one(stranger), output(), IMPACT);
    assert!(matches!(error, FieldError::Missing { .. }));
    let relay = NonsmoothLaw::Relay {
        lower: vec![1.0],
        upper: vec![-1.0],
    };
    let error = of_interaction(&mut simulation, Joins::one(point), output(), relay);
    assert!(matches!(error, FieldError::Range { field: "upper", .. }));
}

/// A multiplier that has to be a measure where the scheme takes it as a function.
#[test]
fn relative_degrees_that_are_too_high() {
    let mut simulation = simulation();
    let point = point(&mut simulation, Integrator::moreau_jean(0.5));
    let joins = || Joins::one(point);
    let law = || NonsmoothLaw::Complementarity { rows: 1 };
    let error = of_interaction(&mut simulation, joins(), output(), law());
    assert!(matches!(
        error,
        FieldError::RelativeDegree {
            found: 2,
            most: 1,
            ..
        }
    ));
    let position =
        FirstOrderLinearRelation::new([Matrix::from_rows([[1.0, 0.0]])], [Matrix::identity(1)]);
    let error = of_interaction(&mut simulation, joins(), position, law());
    assert!(matches!(
        error,
        FieldError::RelativeDegree {
            found: 2,
            most: 1,
            ..
        }
    ));
    let chain = Matrix::from_rows([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3]]);
    let start = State::first_order([0.0; 3]);
    let integrator = Integrator::euler_moreau(1.0);
    let chain = simulation
        .spawn_system(FirstOrderLinear::new(chain), start, integrator)
        .unwrap();
    let last = FirstOrderLinearRelation::new(
        [Matrix::from_rows([[1.0, 0.0, 0.0]])],
        [Matrix::from_rows([[0.0], [0.0], [1.0]])],
    );
    let error = of_interaction(&mut simulation, Joins::one(chain), last, law());
    assert!(matches!(
        error,
        FieldError::RelativeDegree {
            found: 3,
            most: 1,
            ..
        }
    ));
    let never = FirstOrderLinearRelation::new(
        [Matrix::from_rows([[1.0, 0.0, 0.0]])],
        [Matrix::zeros(3, 1)],
    );
    let error = of_interaction(&mut simulation, Joins::one(chain), never, law());
    assert!(matches!(
        error,
        FieldError::RelativeDegree {
            found: usize::MAX,
            ..
        }
    ));
}

#[test]
fn integrators_that_do_not_go_together() {
    let mut simulation = simulation();
    let jean = point(&mut simulation, Integrator::moreau_jean(0.5));
    let paoli = point(&mut simulation, Integrator::schatzman_paoli());
    let implicit = point(&mut simulation, Integrator::moreau_jean(1.0));
    let gap = || LagrangianLinearRelation::new([Matrix::identity(1), Matrix::diagonal(&[-1.0])]);
    for other in [paoli, implicit] {
        let error = of_interaction(&mut simulation, Joins::two(jean, other), gap(), IMPACT);
        assert!(
            matches!(error, FieldError::DifferentIntegrators { .. }),
            "{error}"
        );
    }
    let late = EulerMoreau {
        gamma: 0.7,
        ..EulerMoreau::default()
    };
    let late = number(&mut simulation, Integrator::EulerMoreau(late));
    let drive = FirstOrderLinearRelation::new(
        [Matrix::identity(1), Matrix::from_rows([[0.0, 1.0]])],
        [Matrix::identity(1), Matrix::identity(1)],
    );
    let law = NonsmoothLaw::Equality { rows: 1 };
    let error = of_interaction(&mut simulation, Joins::two(late, jean), drive, law);
    assert!(matches!(error, FieldError::DifferentIntegrators { .. }));
    // Side by side they may be.
    simulation
        .spawn_interaction(Joins::one(jean), output(), IMPACT)
        .unwrap();
    simulation
        .spawn_interaction(Joins::one(paoli), output(), IMPACT)
        .unwrap();
    assert!(simulation.step().unwrap().converged);
    // An impact law cannot be imposed on a circuit, nor a Lagrangian relation.
    let circuit = number(&mut simulation, Integrator::euler_moreau(0.5));
    let relation = FirstOrderLinearRelation::new([Matrix::identity(1)], [Matrix::identity(1)]);
    let error = of_interaction(&mut simulation, Joins::one(circuit), relation, IMPACT);
    assert!(matches!(
        error,
        FieldError::Kind {
            field: "law",
            found: "NewtonImpact",
            ..
        }
    ));
    let error = of_interaction(&mut simulation, Joins::one(circuit), output(), IMPACT);
    assert!(matches!(
        error,
        FieldError::Kind {
            field: "relation",
            ..
        }
    ));
}

/// A mass that becomes singular, or a force that is no number, at a time.
struct Failing {
    singular: bool,
}

impl LagrangianModel for Failing {
    fn size(&self) -> usize {
        1
    }

    fn mass(&self, q: &[f64], mass: &mut Matrix) {
        mass[(0, 0)] = if self.singular && q[0] > 0.01 {
            0.0
        } else {
            1.0
        };
    }

    fn force(&self, t: f64, _q: &[f64], _v: &[f64], force: &mut [f64]) {
        force[0] = if self.singular || t < 0.01 {
            0.0
        } else {
            f64::NAN
        };
    }
}

#[test]
fn a_step_that_fails_leaves_the_world_as_it_was() {
    for (singular, expected) in [(true, "mass is singular"), (false, "force is NaN")] {
        let mut simulation = simulation();
        let other = number(&mut simulation, Integrator::euler_moreau(0.5));
        let state = State::lagrangian([0.0], [1.0]);
        let model = System::lagrangian(Failing { singular });
        let failing = simulation
            .spawn_system(model, state, Integrator::moreau_jean(0.5))
            .unwrap();
        let error = loop {
            let before = [other, failing].map(|system| simulation.state(system).cloned());
            match simulation.step() {
                Ok(_) => assert!(simulation.time() < 0.02),
                Err(error) => {
                    let after = [other, failing].map(|system| simulation.state(system).cloned());
                    assert_eq!(before, after);
                    break error;
                }
            }
        };
        let named = matches!(&error, SystemsError::System { entity, .. } if *entity == failing);
        assert!(named && error.to_string().contains(expected), "{error}");
    }
}

/// Two stops that no impulse opens at once: said in the report, and no error.
#[test]
fn a_step_without_solution_is_a_status() {
    let mut simulation = simulation();
    let system = FirstOrderLinear::new(Matrix::from_rows([[0.0]]));
    let start = State::first_order([0.0]);
    let system = simulation
        .spawn_system(system, start, Integrator::euler_moreau(1.0))
        .unwrap();
    // 0 ≤ x − 1 and 0 ≤ −x − 1.
    let relation = FirstOrderLinearRelation {
        e: vec![-1.0, -1.0].into(),
        ..FirstOrderLinearRelation::new(
            [Matrix::from_rows([[1.0], [-1.0]])],
            [Matrix::from_rows([[1.0, -1.0]])],
        )
    };
    let law = NonsmoothLaw::Complementarity { rows: 2 };
    simulation
        .spawn_interaction(Joins::one(system), relation, law)
        .unwrap();
    let report = simulation.step().unwrap();
    assert!(
        !report.converged && report.residual.scaled > 0.1,
        "{report:?}"
    );
}

/// The same bits, however entities are stored and whatever else is in the world.
#[test]
fn bits_do_not_depend_on_storage() {
    #[derive(bevy_ecs::component::Component)]
    struct Mark;
    let run = |marked: bool| {
        let (mut simulation, ball, wall) = ball(Settings::new(5e-3), Integrator::moreau_jean(0.5));
        let second = point(&mut simulation, Integrator::moreau_jean(0.5));
        let gap = LagrangianLinearRelation::new([Matrix::identity(1), Matrix::diagonal(&[-0.3])]);
        simulation
            .spawn_interaction(Joins::two(ball, second), gap, IMPACT)
            .unwrap();
        if marked {
            simulation.world_mut().entity_mut(ball).insert(Mark);
            simulation.world_mut().entity_mut(wall).insert(Mark);
            simulation.world_mut().spawn(Mark);
        }
        for _ in 0..1000 {
            assert!(simulation.step().unwrap().converged);
        }
        [ball, second].map(|system| simulation.state(system).unwrap().stacked().map_bits())
    };
    assert_eq!(run(false), run(true));
}

trait Bits {
    fn map_bits(self) -> Vec<u64>;
}

impl Bits for Vec<f64> {
    fn map_bits(self) -> Vec<u64> {
        self.into_iter().map(f64::to_bits).collect()
    }
}

/// A row of degree 2 is refused beside one of degree 1.
#[test]
fn every_row_has_its_own_relative_degree() {
    let mut simulation = SystemsSimulation::new(Settings::new(1e-2)).unwrap();
    let mass = FirstOrderLinear::new(Matrix::from_rows([[0.0, 1.0], [0.0, 0.0]]));
    let x = simulation
        .spawn_system(
            mass,
            State::first_order([0.0, 0.0]),
            Integrator::euler_moreau(1.0),
        )
        .unwrap();
    let relation = FirstOrderLinearRelation::new(
        [Matrix::identity(2)],
        [Matrix::from_rows([[0.0, 0.0], [1.0, 1.0]])],
    );
    let law = NonsmoothLaw::Complementarity { rows: 2 };
    let error = simulation
        .spawn_interaction(Joins::one(x), relation, law)
        .unwrap_err();
    assert!(
        error.to_string().contains("relative degree is 2"),
        "{error}"
    );
}

/// Clocks whose instants cannot be told apart or counted.
#[test]
fn clocks_out_of_range() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
    let still = FirstOrderLinear::new(Matrix::zeros(1, 1));
    let x = simulation
        .spawn_system(
            still,
            State::first_order([0.0]),
            Integrator::euler_moreau(1.0),
        )
        .unwrap();
    let sensor = |clock| Sensor::linear(x, Matrix::identity(1), clock);
    let error = simulation
        .spawn_sensor(sensor(Clock::starting_at(-1e300, 1.0)))
        .unwrap_err();
    assert!(error.to_string().contains("clock.start"), "{error}");
    simulation.spawn_sensor(sensor(Clock::new(1e-300))).unwrap();
    let settings = EventSettings::default();
    simulation.advance_by_events(0.0, &settings).unwrap();
    let error = simulation.advance_by_events(1.0, &settings).unwrap_err();
    assert!(error.to_string().contains("clock.period"), "{error}");
    let mut events = EventsManager::new(settings);
    events.discretise(0.0, 1e-300).unwrap();
    let error = events.advance(&mut simulation, 1.0).unwrap_err();
    assert!(
        error.to_string().contains("discretisation.period"),
        "{error}"
    );
}

/// A discretisation from before the start begins where the simulation is.
#[test]
fn points_of_time_that_are_over_are_not_made_up_for() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
    let mut events = EventsManager::new(EventSettings::default());
    events.discretise(-1e9, 0.25).unwrap();
    let report = events.advance(&mut simulation, 1.0).unwrap();
    let times: Vec<f64> = report.occurrences.iter().map(|own| own.time).collect();
    assert_eq!(times, [0.0, 0.25, 0.5, 0.75, 1.0]);
    let first = Occurred::TimeDiscretisation(4_000_000_000);
    assert_eq!(report.occurrences[0].what, first);
}

/// A scheme of two steps is refused where steps are cut, and keeps its velocity over another `h`.
#[test]
fn steps_of_a_scheme_of_two_are_not_cut() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
    let free = LagrangianLinear::new(Matrix::identity(1));
    let state = State::lagrangian([0.0], [1.0]);
    let point = simulation
        .spawn_system(free, state, Integrator::schatzman_paoli())
        .unwrap();
    for h in [0.1, 0.03, 0.5] {
        simulation.set_settings(Settings::new(h)).unwrap();
        (0..7).for_each(|_| assert!(simulation.step().unwrap().converged));
    }
    let moved = simulation.state(point).unwrap().q()[0] - simulation.time();
    assert!(moved.abs() < 1e-13, "{moved}");
    let accumulation = Some(Accumulation {
        impacts: 5,
        within: 0.1,
    });
    let mut events = EventsManager::new(EventSettings {
        accumulation,
        ..EventSettings::default()
    });
    let end = simulation.time() + 1.0;
    let error = events.advance(&mut simulation, end).unwrap_err();
    assert!(error.to_string().contains("integrator"), "{error}");
}

/// A solver that says that it has solved what it has not.
#[derive(Default)]
struct Liar(moreau_solvers::History);

impl moreau_solvers::Solver for Liar {
    fn solve(
        &mut self,
        _problem: &moreau_solvers::StoredProblem,
        impulse: &mut [f64],
        _goal: &moreau_solvers::Goal,
    ) -> Result<moreau_solvers::SolverReport, moreau_solvers::ProblemError> {
        impulse.fill(0.0);
        Ok(moreau_solvers::SolverReport {
            status: moreau_solvers::SolverStatus::Converged,
            ..moreau_solvers::SolverReport::default()
        })
    }

    fn history(&self) -> &moreau_solvers::History {
        &self.0
    }
}

#[test]
fn answers_are_judged_and_solvers_not_believed() {
    let (mut simulation, ..) = crate::ball::ball(Settings::new(1e-2), Integrator::moreau_jean(0.5));
    simulation.set_solver(Liar::default());
    let steps: Vec<StepReport> = (0..100).map(|_| simulation.step().unwrap()).collect();
    let false_one = steps.iter().find(|report| report.active > 0).unwrap();
    // What approaches at 4 m/s and is not stopped.
    assert!(!false_one.converged && false_one.residual.scaled > 0.1);
}

/// What a force would push backwards.
#[test]
fn a_negative_mass_is_refused() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.1)).unwrap();
    let system = LagrangianLinear::new(Matrix::diagonal(&[1.0, -2.0]));
    let state = State::lagrangian([0.0; 2], [0.0; 2]);
    let error = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap_err();
    assert!(
        error.to_string().contains("mass (diagonal) is -2"),
        "{error}"
    );
}
