//! Mechanisms: Lagrangian systems with masses and forces of their own, and relations that bend.

use crate::table::{Differences, read};
use bevy_ecs::entity::Entity;
use moreau_systems::*;

/// A two-link arm above the ground.
struct Arm;

const LINK: f64 = 0.5;
const G: f64 = 9.81;

impl LagrangianModel for Arm {
    fn size(&self) -> usize {
        2
    }

    fn mass(&self, q: &[f64], mass: &mut Matrix) {
        let (c, inertia) = (libm::cos(q[1]), 1.0 / 48.0);
        let square = LINK * LINK;
        mass[(0, 0)] = square / 4.0 + 2.0 * inertia + (square + square / 4.0 + square * c);
        mass[(0, 1)] = inertia + square / 4.0 + square * c / 2.0;
        mass[(1, 0)] = mass[(0, 1)];
        mass[(1, 1)] = inertia + square / 4.0;
    }

    fn force(&self, _t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        let s = LINK * LINK * libm::sin(q[1]);
        let [first, both] = [libm::cos(q[0]), libm::cos(q[0] + q[1])];
        force[0] = s * (v[0] * v[1] + v[1] * v[1] / 2.0) - G * LINK * (1.5 * first + both / 2.0);
        force[1] = -s * v[0] * v[0] / 2.0 - G * LINK * both / 2.0;
    }

    fn force_by_position(&self, _t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        let c = LINK * LINK * libm::cos(q[1]);
        let [first, both] = [libm::sin(q[0]), libm::sin(q[0] + q[1])];
        slope[(0, 0)] = G * LINK * (1.5 * first + both / 2.0);
        slope[(0, 1)] = c * (v[0] * v[1] + v[1] * v[1] / 2.0) + G * LINK * both / 2.0;
        slope[(1, 0)] = G * LINK * both / 2.0;
        slope[(1, 1)] = -c * v[0] * v[0] / 2.0 + G * LINK * both / 2.0;
    }

    fn force_by_velocity(&self, _t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        let s = LINK * LINK * libm::sin(q[1]);
        slope[(0, 0)] = s * v[1];
        slope[(0, 1)] = s * (v[0] + v[1]);
        slope[(1, 0)] = -s * v[0];
    }
}

/// Height of the elbow or of the tip.
#[derive(Clone, Copy)]
enum Height {
    Elbow,
    Tip,
}

impl LagrangianRelation for Height {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        let q = q[0];
        y[0] = 0.3 + LINK * libm::sin(q[0]);
        if let Self::Tip = self {
            y[0] += LINK * libm::sin(q[0] + q[1]);
        }
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        let q = q[0];
        h[0][(0, 0)] = LINK * libm::cos(q[0]);
        if let Self::Tip = self {
            h[0][(0, 1)] = LINK * libm::cos(q[0] + q[1]);
            h[0][(0, 0)] += h[0][(0, 1)];
        }
    }
}

/// The arm under Moreau–Jean with its two contacts.
pub(crate) fn arm(h: f64, law: &NonsmoothLaw) -> (SystemsSimulation, Entity, [Entity; 2]) {
    let mut simulation = SystemsSimulation::new(Settings::new(h)).unwrap();
    let state = State::lagrangian([1.0, -0.8], [0.0, 0.0]);
    let integrator = Integrator::moreau_jean(0.5);
    let arm = simulation
        .spawn_system(System::lagrangian(Arm), state, integrator)
        .unwrap();
    let contacts = [Height::Elbow, Height::Tip].map(|height| {
        let relation = Relation::lagrangian(height);
        simulation
            .spawn_interaction(Joins::one(arm), relation, law.clone())
            .unwrap()
    });
    (simulation, arm, contacts)
}

/// Two programs stop Newton's loop in different iterates, within 1e-12 of each other in every step; the impacts make 1e-8 of it.
#[test]
fn two_link_arm() {
    let name = "TwoLinkArm-e0.7.dat";
    let Some(rows) = read(name) else { return };
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.7 };
    let (mut simulation, arm, contacts) = arm(1e-4, &law);
    let mut sums = [0.0; 2];
    let mut differences = Differences::default();
    for given in &rows[1..] {
        let mut y = [0.0; 2];
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{report:?}");
            for (k, contact) in contacts.iter().enumerate() {
                let outcome = simulation.outcome(*contact).unwrap();
                sums[k] += outcome.lambda[0];
                y[k] = outcome.output[0];
            }
        }
        let state = simulation.state(arm).unwrap();
        let own = [&[simulation.time()][..], state.q(), state.v(), &y, &sums].concat();
        differences.add(&own, given);
    }
    differences.within(
        name,
        &[1e-12, 1e-7, 1e-7, 1e-6, 1e-6, 1e-7, 1e-7, 1e-6, 1e-6],
    );
}

/// The lower end of a rod on the ground: height and sliding.
struct LowerEnd;

impl LagrangianRelation for LowerEnd {
    fn rows(&self) -> usize {
        2
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        y[0] = q[0][1] - 0.5 * libm::cos(q[0][2]);
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        let (s, c) = libm::sincos(q[0][2]);
        h[0].row_mut(0).copy_from_slice(&[0.0, 1.0, 0.5 * s]);
        h[0].row_mut(1).copy_from_slice(&[-1.0, 0.0, -0.5 * c]);
    }
}

/// Rounding; the rows are those of the start of the step, so that one iteration is all.
#[test]
fn impacting_stick() {
    let name = "ImpactingStick.ref";
    let Some(rows) = read(name) else { return };
    let mut simulation = SystemsSimulation::new(Settings::new(1e-4)).unwrap();
    let angle = std::f64::consts::FRAC_PI_4;
    let state = State::lagrangian(
        [0.5 * libm::sin(angle), 0.5 * libm::cos(angle) + 0.01, angle],
        [-0.5, 0.1, 0.1],
    );
    let system = LagrangianLinear {
        force: vec![0.0, -10.0, 0.0].into(),
        ..LagrangianLinear::new(Matrix::diagonal(&[1.0, 1.0, 1.0 / 12.0]))
    };
    let integrator = Integrator::MoreauJean(MoreauJean {
        rows_at: RowsAt::Start,
        ..MoreauJean::default()
    });
    let stick = simulation.spawn_system(system, state, integrator).unwrap();
    let law = NonsmoothLaw::NewtonImpactFriction {
        restitution: 1.0,
        tangential_restitution: 0.0,
        friction: 0.01,
        space: Space::Plane,
    };
    let relation = Relation::lagrangian(LowerEnd);
    let ground = simulation
        .spawn_interaction(Joins::one(stick), relation, law)
        .unwrap();
    let mut differences = Differences::default();
    for given in &rows[1..] {
        let report = simulation.step().unwrap();
        assert!(
            report.converged && report.newton_iterations == 1,
            "{report:?}"
        );
        let (state, outcome) = (
            simulation.state(stick).unwrap(),
            simulation.outcome(ground).unwrap(),
        );
        let y = outcome.output[0];
        let own = [
            &[simulation.time()][..],
            state.q(),
            state.v(),
            &[y],
            &outcome.lambda,
        ]
        .concat();
        let columns = [0, 1, 2, 3, 4, 5, 6, 8, 12, 13].map(|k| given[k]);
        differences.add(&own, &columns);
    }
    differences.within(name, &[1e-12; 10]);
}

/// A mass on a spring that strikes a stop: rounding, through eleven impacts.
#[test]
fn cam_follower() {
    let name = "CamFollower-Rheonomous.ref";
    let Some(rows) = read(name) else { return };
    let mut simulation = SystemsSimulation::new(Settings::new(1e-4)).unwrap();
    let system = LagrangianLinear {
        stiffness: Some(Matrix::diagonal(&[1430.8])),
        ..LagrangianLinear::new(Matrix::diagonal(&[1.221]))
    };
    let state = State::lagrangian([0.4], [0.4]);
    let follower = simulation
        .spawn_system(system, state, Integrator::moreau_jean(0.5))
        .unwrap();
    let relation = LagrangianLinearRelation::new([Matrix::identity(1)]);
    let law = NonsmoothLaw::NewtonImpact { restitution: 0.8 };
    let stop = simulation
        .spawn_interaction(Joins::one(follower), relation, law)
        .unwrap();
    let (mut differences, mut impacts) = (Differences::default(), 0);
    for given in &rows[1..] {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        let state = simulation.state(follower).unwrap();
        let lambda = simulation.outcome(stop).unwrap().lambda[0];
        impacts += usize::from(lambda > 0.0);
        differences.add(
            &[simulation.time(), state.q()[0], state.v()[0], lambda],
            &given[..4],
        );
    }
    assert_eq!(impacts, 11);
    differences.within(name, &[1e-12; 4]);
}
