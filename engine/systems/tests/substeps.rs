//! Systems with steps of their own: what they do is what they would do alone in a simulation with that step, to the last bit.

use crate::ball::ball;
use bevy_ecs::entity::Entity;
use moreau_systems::*;

const H: f64 = 1.0 / 64.0;

/// A ball that bounces on the ground.
fn spawn_ball(simulation: &mut SystemsSimulation, integrator: Integrator) -> [Entity; 2] {
    let weight = LagrangianLinear {
        force: vec![-9.81].into(),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    let ball = simulation
        .spawn_system(weight, State::lagrangian([1.0], [0.0]), integrator)
        .unwrap();
    let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.9 };
    let wall = simulation
        .spawn_interaction(Joins::one(ball), gap, law)
        .unwrap();
    [ball, wall]
}

fn bits(state: Option<&State>) -> Vec<u64> {
    let state = state.unwrap().stacked();
    state.into_iter().map(f64::to_bits).collect()
}

/// Three balls that nothing joins, with 1, 4 and 8 steps in a step, under each scheme that has impacts.
#[test]
fn every_system_steps_as_it_would_alone() {
    for integrator in [Integrator::moreau_jean(0.5), Integrator::schatzman_paoli()] {
        let mut together = SystemsSimulation::new(Settings::new(H)).unwrap();
        let counts = [4, 1, 8];
        let balls = counts.map(|_| spawn_ball(&mut together, integrator)[0]);
        for (ball, count) in balls.iter().zip(counts) {
            together.set_substeps(*ball, Substeps(count)).unwrap();
        }
        let mut alone = counts.map(|count| ball(Settings::new(H / f64::from(count)), integrator));
        for k in 0..200 {
            let report = together.step().unwrap();
            assert!(report.converged);
            assert_eq!(report.time.to_bits(), (f64::from(k + 1) * H).to_bits());
            for ((simulation, own, _), (count, ball)) in
                alone.iter_mut().zip(counts.iter().zip(balls))
            {
                (0..*count).for_each(|_| assert!(simulation.step().unwrap().converged));
                let (given, found) = (simulation.state(*own), together.state(ball));
                assert_eq!(
                    bits(given),
                    bits(found),
                    "{integrator:?}, step {k}, {count}"
                );
            }
        }
    }
}

/// What the standard scheme remembers of the step before is that of the part before.
#[test]
fn multipliers_of_the_step_before_are_those_of_the_part_before() {
    let spawn = |simulation: &mut SystemsSimulation| {
        let system = FirstOrderLinear::new(Matrix::from_rows([[0.0, -1.0], [1.0, 0.0]]));
        let integrator = Integrator::EulerMoreau(EulerMoreau {
            gamma: 0.5,
            ..EulerMoreau::default()
        });
        let state = State::first_order([1.0, 0.0]);
        let circuit = simulation.spawn_system(system, state, integrator).unwrap();
        let relation = FirstOrderLinearRelation {
            d: Some(Matrix::from_rows([[2.0]])),
            ..FirstOrderLinearRelation::new(
                [Matrix::from_rows([[-1.0, 0.0]])],
                [Matrix::from_rows([[-1.0], [0.0]])],
            )
        };
        let law = NonsmoothLaw::Complementarity { rows: 1 };
        simulation
            .spawn_interaction(Joins::one(circuit), relation, law)
            .unwrap();
        circuit
    };
    let mut coarse = SystemsSimulation::new(Settings::new(H)).unwrap();
    let own = spawn(&mut coarse);
    coarse.set_substeps(own, Substeps(4)).unwrap();
    let mut fine = SystemsSimulation::new(Settings::new(H / 4.0)).unwrap();
    let given = spawn(&mut fine);
    for _ in 0..500 {
        assert!(coarse.step().unwrap().converged);
        (0..4).for_each(|_| assert!(fine.step().unwrap().converged));
        assert_eq!(bits(coarse.state(own)), bits(fine.state(given)));
    }
}

/// Another number in mid-run counts from the next step; a scheme of two steps keeps the velocity of the last one.
#[test]
fn another_number_of_substeps_counts_from_the_next_step() {
    for integrator in [Integrator::moreau_jean(0.5), Integrator::schatzman_paoli()] {
        let (mut changed, own, _) = ball(Settings::new(H), integrator);
        (0..40).for_each(|_| assert!(changed.step().unwrap().converged));
        let mut fresh = SystemsSimulation::new(Settings::new(H / 2.0)).unwrap();
        let [given, _] = spawn_ball(&mut fresh, integrator);
        let state = changed.state(own).unwrap().clone();
        if let Some(Previous(before)) = changed.world().get::<Previous>(own) {
            let q = state.q()[0];
            let half = Previous(vec![q - 0.5 * (q - before[0])]);
            fresh.world_mut().entity_mut(given).insert(half);
        }
        fresh.world_mut().entity_mut(given).insert(state);
        changed.set_substeps(own, Substeps(2)).unwrap();
        for k in 0..100 {
            assert!(changed.step().unwrap().converged);
            (0..2).for_each(|_| assert!(fresh.step().unwrap().converged));
            let same = bits(changed.state(own)) == bits(fresh.state(given));
            assert!(same, "{integrator:?}, step {k}");
        }
    }
}

#[test]
fn systems_that_are_joined_have_the_same_number() {
    let mut simulation = SystemsSimulation::new(Settings::new(H)).unwrap();
    let integrator = Integrator::moreau_jean(0.5);
    let [first, _] = spawn_ball(&mut simulation, integrator);
    let [second, _] = spawn_ball(&mut simulation, integrator);
    simulation.set_substeps(first, Substeps(2)).unwrap();
    let gap = || LagrangianLinearRelation::new([Matrix::identity(1), Matrix::diagonal(&[-1.0])]);
    let law = || NonsmoothLaw::NewtonImpact { restitution: 0.9 };
    let joins = Joins::two(first, second);
    let refused = simulation.spawn_interaction(joins.clone(), gap(), law());
    let Err(SystemsError::Interaction { source, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(source, FieldError::DifferentSubsteps { steps: [2, 1] });
    simulation.set_substeps(second, Substeps(2)).unwrap();
    let tie = simulation.spawn_interaction(joins, gap(), law()).unwrap();
    assert!(simulation.step().unwrap().converged);
    simulation.set_substeps(first, Substeps(3)).unwrap();
    let before = bits(simulation.state(second));
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, SystemsError::Interaction { entity, .. } if entity == tie));
    assert_eq!(before, bits(simulation.state(second)), "the world stays");
    simulation.set_substeps(second, Substeps(3)).unwrap();
    assert!(simulation.step().unwrap().converged);
    let none = simulation.set_substeps(first, Substeps(0)).unwrap_err();
    assert!(matches!(none, SystemsError::System { entity, .. } if entity == first));
    assert!(simulation.set_substeps(tie, Substeps(2)).is_err());
}

/// A system that fails in a later part of the step leaves all others where they were.
#[test]
fn a_part_that_fails_leaves_the_world_as_it_was() {
    let mut simulation = SystemsSimulation::new(Settings::new(H)).unwrap();
    let [ball, _] = spawn_ball(&mut simulation, Integrator::moreau_jean(0.5));
    let model = finite_differences::FirstOrderByDifferences {
        size: 1,
        rate: |t: f64, _: &[f64], rate: &mut [f64]| {
            rate[0] = if t > 0.8 * H { f64::NAN } else { 1.0 };
        },
    };
    let fails = simulation
        .spawn_system(
            System::first_order(model),
            State::first_order([0.0]),
            Integrator::euler_moreau(0.5),
        )
        .unwrap();
    simulation.set_substeps(fails, Substeps(4)).unwrap();
    let before = [ball, fails].map(|system| bits(simulation.state(system)));
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, SystemsError::System { entity, .. } if entity == fails));
    let after = [ball, fails].map(|system| bits(simulation.state(system)));
    assert_eq!(before, after);
    assert_eq!(simulation.time().to_bits(), 0);
}

/// Steps without the components between them have the bits of steps with them, with instruments, substeps and schemes of two steps; and after an error nothing has
/// happened.
#[test]
fn many_steps_at_once_are_the_same_steps() {
    let world = || {
        let mut simulation = SystemsSimulation::new(Settings::new(5e-3)).unwrap();
        let mut all = Vec::new();
        for (k, integrator) in [
            Integrator::moreau_jean(0.5),
            Integrator::schatzman_paoli(),
            Integrator::moreau_jean(1.0),
        ]
        .into_iter()
        .enumerate()
        {
            let system = LagrangianLinear {
                force: vec![-9.81].into(),
                ..LagrangianLinear::new(Matrix::identity(1))
            };
            let state = State::lagrangian([0.3 + k as f64], [0.0]);
            let ball = simulation.spawn_system(system, state, integrator).unwrap();
            let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
            let law = NonsmoothLaw::NewtonImpact { restitution: 0.7 };
            simulation
                .spawn_interaction(Joins::one(ball), gap, law)
                .unwrap();
            all.push(ball);
        }
        simulation.set_substeps(all[2], Substeps(3)).unwrap();
        let unstable = FirstOrderLinear::new(Matrix::identity(1));
        let scheme = EulerMoreau {
            gamma: 0.5,
            ..EulerMoreau::default()
        };
        let x = simulation
            .spawn_system(
                unstable,
                State::first_order([1.0]),
                Integrator::EulerMoreau(scheme),
            )
            .unwrap();
        let (clock, one) = (Clock::new(0.035), Matrix::identity(1));
        let sensor = simulation
            .spawn_sensor(Sensor::linear(x, one.clone(), clock))
            .unwrap();
        let law = LinearFeedback::new([one.scaled(3.0)]);
        simulation
            .spawn_actuator(Actuator::new(x, [sensor], one, law, clock))
            .unwrap();
        all.push(x);
        (simulation, all)
    };
    let bits = |simulation: &SystemsSimulation, all: &[bevy_ecs::entity::Entity]| -> Vec<u64> {
        let states = all.iter().map(|entity| simulation.state(*entity).unwrap());
        states
            .flat_map(|state| [state.q(), state.v(), state.x()].concat())
            .map(f64::to_bits)
            .collect()
    };
    let (mut single, all) = world();
    let (mut many, same) = world();
    for count in [1, 7, 100, 1, 250] {
        let mut worst = 0.0_f64;
        for _ in 0..count {
            worst = worst.max(single.step().unwrap().overlap);
        }
        let report = many.steps(count).unwrap();
        assert!(report.converged && report.time.to_bits() == single.time().to_bits());
        assert!(report.overlap.to_bits() == worst.to_bits());
        assert!(bits(&single, &all) == bits(&many, &same));
    }
    assert!(many.steps(0).unwrap().converged && bits(&single, &all) == bits(&many, &same));
    // A force that is no number after a while.
    let late = LagrangianLinear {
        force: Signal::varying(|t, f| f[0] = if t > 2.0 { f64::NAN } else { 0.0 }),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    many.spawn_system(
        late,
        State::lagrangian([0.0], [0.0]),
        Integrator::moreau_jean(0.5),
    )
    .unwrap();
    let before = (bits(&many, &same), many.time());
    assert!(many.steps(1000).is_err());
    assert!(before.0 == bits(&many, &same) && before.1.to_bits() == many.time().to_bits());
    assert!(many.step().unwrap().converged);
}

/// A simulation that begins at another time sees its signals there.
#[test]
fn a_simulation_begins_at_any_time() {
    let mut simulation = SystemsSimulation::new(Settings::new(0.5)).unwrap();
    let ramp = FirstOrderLinear {
        input: Signal::varying(|t, b| b[0] = t),
        ..FirstOrderLinear::new(Matrix::zeros(1, 1))
    };
    let scheme = Integrator::euler_moreau(0.5);
    let x = simulation
        .spawn_system(ramp, State::first_order([0.0]), scheme)
        .unwrap();
    simulation.set_time(-3.0).unwrap();
    simulation.steps(4).unwrap();
    // ∫ t dt from −3 to −1, of which the trapezoidal rule has no error.
    assert!((simulation.state(x).unwrap().x()[0] + 4.0).abs() < 1e-15);
    assert!((simulation.time() + 1.0).abs() < 1e-15);
    assert!(simulation.set_time(f64::NAN).is_err());
}
