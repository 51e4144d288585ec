//! A slider–crank with clearance: four corners of the slider between two guides, with and without projection.

use crate::table::{Differences, read};
use bevy_ecs::entity::Entity;
use moreau_systems::*;
use std::f64::consts::TAU;

const CRANK: f64 = 0.153;
const ROD: f64 = 0.306;
/// Half length and half height of the slider.
const HALF: [f64; 2] = [0.05, 0.025];
const CLEARANCE: f64 = 0.001;
const MASSES: [f64; 3] = [0.038, 0.038, 0.076];
const INERTIAS: [f64; 3] = [7.4e-5, 5.9e-4, 2.7e-6];
const G: f64 = 9.81;

/// Crank, rod and slider by their angles.
struct SliderCrank;

/// What couples crank and rod, and weights on either.
fn coupling() -> [f64; 3] {
    let [crank, rod, slider] = MASSES;
    let beyond = 0.5 * rod + slider;
    let weight = (0.5 * crank + rod + slider) * G * CRANK;
    [beyond * CRANK * ROD, weight, beyond * G * ROD]
}

impl LagrangianModel for SliderCrank {
    fn size(&self) -> usize {
        3
    }

    fn mass(&self, q: &[f64], mass: &mut Matrix) {
        let [m1, m2, m3] = MASSES;
        let [j1, j2, j3] = INERTIAS;
        mass[(0, 0)] = j1 + (0.25 * m1 + m2 + m3) * CRANK * CRANK;
        mass[(1, 1)] = j2 + (0.25 * m2 + m3) * ROD * ROD;
        mass[(2, 2)] = j3;
        mass[(0, 1)] = coupling()[0] * libm::cos(q[1] - q[0]);
        mass[(1, 0)] = mass[(0, 1)];
    }

    fn force(&self, _t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        let [k, w1, w2] = coupling();
        let s = k * libm::sin(q[0] - q[1]);
        force[0] = -s * v[1] * v[1] - w1 * libm::cos(q[0]);
        force[1] = s * v[0] * v[0] - w2 * libm::cos(q[1]);
    }

    fn force_by_position(&self, _t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        let [k, w1, w2] = coupling();
        let c = k * libm::cos(q[0] - q[1]);
        let (a, b) = (c * v[1] * v[1], c * v[0] * v[0]);
        slope[(0, 0)] = w1 * libm::sin(q[0]) - a;
        slope[(0, 1)] = a;
        slope[(1, 0)] = b;
        slope[(1, 1)] = w2 * libm::sin(q[1]) - b;
    }

    fn force_by_velocity(&self, _t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        let s = coupling()[0] * libm::sin(q[0] - q[1]);
        slope[(0, 1)] = -2.0 * s * v[1];
        slope[(1, 0)] = 2.0 * s * v[0];
    }
}

/// One corner: below or above, and which end.
#[derive(Clone, Copy)]
struct Corner {
    up: f64,
    end: f64,
}

impl LagrangianRelation for Corner {
    fn rows(&self) -> usize {
        2
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        let q = q[0];
        let z = CRANK * libm::sin(q[0]) + ROD * libm::sin(q[1]);
        let (s, c) = libm::sincos(q[2]);
        y[0] = HALF[1] + CLEARANCE + self.up * (z + self.end * HALF[0] * s) - HALF[1] * c;
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        let (q, [a, b]) = (q[0], HALF);
        let (s, c) = libm::sincos(q[2]);
        let Self { up, end } = *self;
        let normal = [
            up * CRANK * libm::cos(q[0]),
            up * ROD * libm::cos(q[1]),
            up * end * a * c + b * s,
        ];
        let tangent = [
            -CRANK * libm::sin(q[0]),
            -ROD * libm::sin(q[1]),
            up * b * c - end * a * s,
        ];
        h[0].row_mut(0).copy_from_slice(&normal);
        h[0].row_mut(1).copy_from_slice(&tangent);
    }
}

/// The mechanism, its corners and its start.
fn spawn(
    settings: Settings,
    activation: Activation,
    spin: f64,
) -> (SystemsSimulation, Entity, [Entity; 4]) {
    let mut simulation = SystemsSimulation::new(settings).unwrap();
    let integrator = Integrator::MoreauJean(MoreauJean {
        activation,
        ..MoreauJean::default()
    });
    let state = State::lagrangian([0.0; 3], [150.0, -75.0, spin]);
    let system = System::lagrangian(SliderCrank);
    let crank = simulation.spawn_system(system, state, integrator).unwrap();
    let law = NonsmoothLaw::NewtonImpactFriction {
        restitution: 0.4,
        tangential_restitution: 0.0,
        friction: 0.01,
        space: Space::Plane,
    };
    let corners = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]].map(|[up, end]| {
        let relation = Relation::lagrangian(Corner { up, end });
        simulation
            .spawn_interaction(Joins::one(crank), relation, law.clone())
            .unwrap()
    });
    (simulation, crank, corners)
}

fn of_corners(
    simulation: &SystemsSimulation,
    corners: &[Entity; 4],
    of: impl Fn(&Outcome) -> f64,
) -> [f64; 4] {
    corners.map(|corner| of(simulation.outcome(corner).unwrap()))
}

/// Angles in turns and radians, rates relative to 150 rad/s, gaps, impulses.
fn row(simulation: &SystemsSimulation, crank: Entity, corners: &[Entity; 4]) -> Vec<f64> {
    let state = simulation.state(crank).unwrap();
    let (q, v) = (state.q(), state.v());
    let mut row = vec![
        q[0] / TAU,
        q[1],
        q[2],
        v[0] / 150.0,
        v[1] / 150.0,
        v[2] / 150.0,
    ];
    row.extend(of_corners(simulation, corners, |outcome| outcome.output[0]));
    row.extend(of_corners(simulation, corners, |outcome| outcome.lambda[0]));
    row
}

/// The same of a file with projection.
fn given(row: &[f64]) -> Vec<f64> {
    let mut given = row[1..7].to_vec();
    given[3..].iter_mut().for_each(|rate| *rate /= 150.0);
    given.extend(&row[13..17]);
    given.extend(&row[21..25]);
    given
}

/// The settings of the files: Newton's loop ends below 1e-6, positions are moved in the metric of the angles.
fn projected(projection: Projection) -> Settings {
    Settings {
        newton: Newton {
            relative: 0.0,
            absolute: 1e-6,
            max_iterations: 50,
        },
        projection,
        ..Settings::new(1e-4)
    }
}

/// Rounding, through 0.2 s of impacts.
#[test]
fn no_projection() {
    let name = "SliderCrank-MoreauJean-h1e-5.dat";
    let Some(rows) = read(name) else { return };
    let settings = Settings {
        newton: Newton {
            relative: 0.0,
            absolute: 1e-10,
            max_iterations: 50,
        },
        ..Settings::new(1e-5)
    };
    let (mut simulation, crank, corners) = spawn(settings, Activation::default(), -0.01);
    let (mut sums, mut differences) = ([0.0; 4], Differences::default());
    for given in &rows[1..] {
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{report:?}");
            let impulses = of_corners(&simulation, &corners, |outcome| outcome.lambda[0]);
            sums.iter_mut().zip(impulses).for_each(|(sum, p)| *sum += p);
        }
        let state = simulation.state(crank).unwrap();
        let rates = state.v().iter().map(|v| v / 150.0).collect::<Vec<_>>();
        let gaps = of_corners(&simulation, &corners, |outcome| outcome.output[0]);
        let own = [&[simulation.time()][..], state.q(), &rates, &gaps, &sums].concat();
        let mut given = given.clone();
        given[4..7].iter_mut().for_each(|rate| *rate /= 150.0);
        differences.add(&own, &given);
    }
    differences.within(name, &[1e-10; 15]);
}

/// Rounding: the files' stop of Newton's loop and metric of positions are settings here.
#[test]
fn direct_projection() {
    let name = "SliderCrankMoreauJeanDirectProjectionOSI.ref";
    let Some(rows) = read(name) else { return };
    let settings = projected(Projection::Direct {
        tolerance: 1e-10,
        max_iterations: 10,
        metric: Metric::Coordinates,
    });
    let activation = Activation::Hysteresis {
        close: 1e-6,
        open: 1e-7,
    };
    let (mut simulation, crank, corners) = spawn(settings, activation, 0.0);
    let mut differences = Differences::default();
    for file in &rows[1..] {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        differences.add(&row(&simulation, crank, &corners), &given(file));
    }
    differences.within(name, &[1e-10; 14]);
}

/// Rounding before the first impact, O(h) after it. Where a contact comes in within a step, Siconos takes the `ẏ` of its first solve into the law of impact in this
/// file and that of the start of the step in the one of the ball; we take the latter in both. From row 34 on whether a contact that lies at `y = 0` counts as closed is the sign of
/// a rounding. Rates are relative to 150 rad/s; of a gap of 1e-3 m a quarter is the most.
#[test]
fn combined_projection() {
    let name = "SliderCrankMoreauJeanCombinedProjectionOSI.ref";
    let Some(rows) = read(name) else { return };
    let settings = projected(Projection::Combined {
        tolerance: 1e-10,
        max_iterations: 500,
        metric: Metric::Coordinates,
    });
    let activation = Activation::Forecast {
        gamma: 0.0,
        threshold: 0.0,
    };
    let (mut simulation, crank, corners) = spawn(settings, activation, 0.0);
    let mut parts = [Differences::default(), Differences::default()];
    let mut struck = 0;
    for file in &rows[1..] {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        struck |= usize::from(report.active > 0);
        parts[struck].add(&row(&simulation, crank, &corners), &given(file));
    }
    parts[0].within(name, &[1e-12; 14]);
    let [angle, rate, gap, impulse] = [3e-3, 5e-2, 3e-4, 0.1];
    let bounds = [
        [angle; 3].to_vec(),
        vec![rate; 3],
        vec![gap; 4],
        vec![impulse; 4],
    ];
    parts[1].within(name, &bounds.concat());
}
