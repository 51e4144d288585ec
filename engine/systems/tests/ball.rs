//! A point of 1 kg above a wall under gravity, e = 0.9, under every integrator that the references have.

use crate::table::{Differences, read};
use bevy_ecs::entity::Entity;
use moreau_systems::*;

/// The ball at 1 m, at rest.
pub(crate) fn ball(
    settings: Settings,
    integrator: Integrator,
) -> (SystemsSimulation, Entity, Entity) {
    let mut simulation = SystemsSimulation::new(settings).unwrap();
    let system = LagrangianLinear {
        force: vec![-9.81].into(),
        ..LagrangianLinear::new(Matrix::identity(1))
    };
    let state = State::lagrangian([1.0], [0.0]);
    let ball = simulation.spawn_system(system, state, integrator).unwrap();
    let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.9 };
    let wall = simulation
        .spawn_interaction(Joins::one(ball), gap, law)
        .unwrap();
    (simulation, ball, wall)
}

/// `t, q, v, p, λ` and, with a projection, `Λ` of velocities and positions.
fn row(simulation: &SystemsSimulation, ball: Entity, wall: Entity) -> Vec<f64> {
    let (state, outcome) = (
        simulation.state(ball).unwrap(),
        simulation.outcome(wall).unwrap(),
    );
    let p = simulation.reaction(ball).unwrap()[0];
    vec![
        simulation.time(),
        state.q()[0],
        state.v()[0],
        p,
        outcome.lambda[0],
    ]
}

fn compare(settings: Settings, integrator: Integrator, name: &str) -> Option<Differences> {
    let rows = read(name)?;
    let (mut simulation, ball, wall) = ball(settings, integrator);
    let mut differences = Differences::default();
    for given in &rows[1..] {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        let mut own = row(&simulation, ball, wall);
        if given.len() > 5 {
            let correction = simulation.outcome(wall).unwrap().correction[0];
            own.extend([correction, correction]);
        }
        differences.add(&own, given);
    }
    Some(differences)
}

/// Rounding over 2000 steps.
#[test]
fn moreau_jean() {
    let name = "BouncingBallTS.ref";
    if let Some(differences) = compare(Settings::new(5e-3), Integrator::moreau_jean(0.5), name) {
        differences.within(name, &[1e-12; 5]);
    }
}

/// Rounding: contacts that were active are pushed out of the wall.
#[test]
fn direct_projection() {
    let name = "BouncingBallTS-MoreauJeanDirectProjectionOSI.ref";
    let settings = Settings {
        projection: Projection::Direct {
            tolerance: 1e-8,
            max_iterations: 10,
            metric: Metric::Mass,
        },
        ..Settings::new(5e-3)
    };
    if let Some(differences) = compare(settings, Integrator::moreau_jean(0.5), name) {
        differences.within(name, &[1e-12; 7]);
    }
}

/// Rounding: a contact that is struck is brought to `y = 0` from either side.
#[test]
fn combined_projection() {
    let name = "BouncingBallTS-MoreauJeanCombinedProjectionOSI.ref";
    let settings = Settings {
        projection: Projection::Combined {
            tolerance: 1e-10,
            max_iterations: 10,
            metric: Metric::Mass,
        },
        ..Settings::new(5e-3)
    };
    let integrator = Integrator::moreau_jean(0.5);
    if let Some(differences) = compare(settings, integrator, name) {
        differences.within(name, &[1e-12; 7]);
    }
}

/// Rounding that every bounce multiplies: 1e-13 after the first 6 s, 1e-11 after 7 s, then ten times more with each of the bounces that follow one another ever
/// faster, until the ball rests. Velocities are differences over `2h`.
#[test]
fn schatzman_paoli() {
    let name = "BouncingBallTS-SchatzmanPaoliOSI.ref";
    let Some(rows) = read(name) else { return };
    let (mut simulation, ball, wall) = ball(Settings::new(5e-3), Integrator::schatzman_paoli());
    let mut parts = [Differences::default(), Differences::default()];
    for given in &rows[1..] {
        assert!(simulation.step().unwrap().converged);
        let part = usize::from(simulation.time() > 7.0);
        parts[part].add(&row(&simulation, ball, wall), given);
    }
    parts[0].within(name, &[1e-12, 1e-10, 1e-8, 1e-10, 1e-10]);
    parts[1].within(name, &[1e-12, 1e-5, 2e-3, 2e-5, 2e-5]);
}

/// Rounding: the sources' rules, of which the table shows all. A contact is struck at the step that ends with `y ≤ 1e-8`; `λ₂` is that of the end of the step, where contacts are closed
/// by `y` and `ẏ` of the prediction; at rest both act in every step, `λ₂ = g` and an impulse of `½ h g`, with which the ball sinks.
#[test]
fn d1_minus() {
    let name = "BouncingBallTS-D1MinusLinearOSI.ref";
    let Some(rows) = read(name) else { return };
    let integrator = Integrator::D1Minus(D1Minus {
        resting: Resting::Bouncing,
        ..D1Minus::default()
    });
    let (mut simulation, ball, wall) = ball(Settings::new(5e-4), integrator);
    let mut differences = Differences::default();
    for given in &rows[1..] {
        assert!(simulation.step().unwrap().converged);
        let (state, outcome) = (
            simulation.state(ball).unwrap(),
            simulation.outcome(wall).unwrap(),
        );
        let (impulse, force) = (outcome.lambda[0], outcome.force[0]);
        let own = [
            simulation.time(),
            state.q()[0],
            state.v()[0],
            impulse,
            impulse,
            force,
            force,
        ];
        differences.add(&own, given);
    }
    differences.within(name, &[1e-12; 7]);
}
