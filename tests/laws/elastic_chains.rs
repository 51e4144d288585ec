//! **Law.** What is struck within a step meets its neighbour with the velocity that it then has: impacts of one step follow one
//! another, each with its own restitution.
//!
//! A row of equal frictionless balls with gaps hands the velocity of the first on to the last, whatever the gaps are and wherever
//! they lie in the step; a frictionless gas with e = 1 keeps its energy. Both follow from Newton's law at each impact by itself,
//! so what is left is the residual of the solver and what rests on the threshold of restitution.

use crate::support::*;

/// Balls of radius 5 cm in a row with these gaps (m), the first at `v` (m/s).
fn cradle(gaps: &[f64], masses: &[f64], v: f64, h: f64) -> Vec<f64> {
    let mut simulation = Simulation::new(Settings {
        time_step: h,
        ..weightless()
    })
    .unwrap();
    let mut x = 0.0;
    let balls: Vec<Entity> = (0..masses.len())
        .map(|ball| {
            if ball > 0 {
                x += 0.1 + gaps[ball - 1];
            }
            simulation
                .spawn((
                    RigidBody::Dynamic,
                    Collider::sphere(0.05),
                    Mass::given(masses[ball], DVec3::splat(1e-3 * masses[ball])),
                    Material::frictionless(1.0),
                    Pose::at(x, 0.0, 0.0),
                    Twist {
                        linear: DVec3::X * if ball == 0 { v } else { 0.0 },
                        angular: DVec3::ZERO,
                    },
                ))
                .unwrap()
        })
        .collect();
    let way: f64 = gaps.iter().sum();
    let steps = (2.0 * way / (v * h)).ceil() as usize + 2 * gaps.len() + 4;
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
    }
    balls
        .iter()
        .map(|ball| simulation.twist(*ball).unwrap().linear.x)
        .collect()
}

#[test]
fn a_row_of_balls_hands_its_velocity_on_through_any_gaps() {
    let mut random = Lcg::new(11);
    for h in [1.0 / 60.0, 5e-3, 1e-3] {
        for v in [0.3, 1.0, 10.0, 30.0] {
            for case in 0..12 {
                let gaps: Vec<f64> = match case {
                    0 => vec![1e-3; 4],
                    1 => vec![1e-4; 4],
                    2 => vec![0.02; 4],
                    3 => vec![1e-3; 9],
                    _ => (0..4).map(|_| 0.02 * (0.01 + random.uniform())).collect(),
                };
                let ends = cradle(&gaps, &vec![1.0; gaps.len() + 1], v, h);
                for (ball, end) in ends.iter().enumerate() {
                    let expected = if ball == gaps.len() { v } else { 0.0 };
                    // The solver's 1e-11, over as many impacts as there are balls.
                    assert!(
                        (end - expected).abs() < 1e-9 * v,
                        "gaps {gaps:?}, v {v}, h {h}: {ends:?}"
                    );
                }
            }
        }
    }
}

/// Relative change of the energy of 64 frictionless balls with e = 1 in a box after 5 s, and the largest gain of a step.
fn gas(settings: Settings, seed: u64, speed: f64) -> (f64, f64) {
    let material = Material::frictionless(1.0);
    let h = settings.time_step;
    let mut simulation = Simulation::new(settings).unwrap();
    closed_box(&mut simulation, 0.5, material);
    let mut random = Lcg::new(seed);
    for ball in 0..64 {
        let place = [ball % 4, ball / 4 % 4, ball / 16].map(|i| f64::from(i) * 0.24 - 0.36);
        let jitter = random.symmetric_vector() * 0.05;
        simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::sphere(0.05),
                material,
                Pose::from_position(DVec3::from_array(place) + jitter),
                Twist {
                    linear: random.symmetric_vector() * speed,
                    angular: DVec3::ZERO,
                },
            ))
            .unwrap();
    }
    let (mut start, mut end, mut gain) = (None, 0.0, 0.0_f64);
    for _ in 0..(5.0 / h).round() as usize {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        gain = gain.max(report.energy.work_impact);
        end = report.energy.kinetic;
        start.get_or_insert(end - report.energy.work_impact);
    }
    let start = start.unwrap();
    ((end - start) / start, gain / start)
}

#[test]
fn a_frictionless_gas_keeps_its_energy() {
    // What a residual ε leaves of r·(u_k + u_{k+1}) = 0 is a few times ε of the energy that the impacts of a step turn over; over
    // thousands of impacts it goes both ways.
    let default = Settings {
        gravity: DVec3::ZERO,
        ..Settings::default()
    };
    for (settings, of_step, of_run) in [(default, 1e-5, 1e-4), (weightless(), 1e-12, 1e-10)] {
        for (h, seed, speed) in [
            (5e-3, 1, 2.0),
            (5e-3, 2, 5.0),
            (1e-3, 3, 5.0),
            (1.0 / 60.0, 4, 2.0),
        ] {
            let settings = Settings {
                time_step: h,
                ..settings
            };
            let (change, gain) = gas(settings, seed, speed);
            println!(
                "gas: h {h}, up to {speed} m/s: {change:.1e} in 5 s, at most {gain:.1e} gained in a step"
            );
            assert!(change.abs() < of_run, "h {h}: {change}");
            assert!(gain < of_step, "h {h}: {gain}");
        }
    }
}

/// Long, flat and round bodies that tumble in a box: the largest gain of energy of a step, as a part of all.
fn tumbling(settings: Settings, e: f64, seed: u64) -> (f64, f64) {
    let material = Material::frictionless(e);
    let steps = (2.0 / settings.time_step).round() as usize;
    let mut simulation = Simulation::new(settings).unwrap();
    closed_box(&mut simulation, 0.5, material);
    let mut random = Lcg::new(seed);
    for body in 0..27 {
        let place = [body % 3, body / 3 % 3, body / 9].map(|i| f64::from(i) * 0.3 - 0.3);
        let shape = match body % 5 {
            0 => Collider::cuboid(0.12, 0.04, 0.02),
            1 => Collider::capsule(0.03, 0.1),
            2 => Collider::cylinder(0.1, 0.02),
            3 => Collider::cuboid(0.05, 0.05, 0.05),
            _ => Collider::sphere(0.06),
        };
        simulation
            .spawn((
                RigidBody::Dynamic,
                shape,
                material,
                Pose::from_position(DVec3::from_array(place)).with_orientation(random.rotation()),
                Twist {
                    linear: random.symmetric_vector() * 3.0,
                    angular: random.symmetric_vector() * 40.0,
                },
            ))
            .unwrap();
    }
    let (mut gain, mut start, mut end) = (0.0_f64, None, 0.0);
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        let energy = report.energy;
        end = energy.kinetic;
        let start = *start.get_or_insert(end - energy.work_impact);
        gain = gain.max(energy.work_impact / start);
    }
    (gain, end / start.unwrap_or(1.0))
}

#[test]
fn no_step_of_tumbling_bodies_gains_energy() {
    for e in [0.0, 0.5, 0.9, 1.0] {
        for (h, seed) in [(5e-3, 5), (1.0 / 60.0, 6), (1e-3, 7)] {
            let settings = Settings {
                time_step: h,
                ..weightless()
            };
            let (gain, left) = tumbling(settings, e, seed);
            println!("tumbling: e {e}, h {h}: at most {gain:.1e} gained in a step, {left:.4} left");
            assert!(gain < 1e-9, "e {e}, h {h}: {gain}");
            // The swing of the energy of free rotation, in parts of at most 0.05 rad.
            assert!(left < 1.01, "e {e}, h {h}: {left}");
        }
    }
}

/// Every solve of a step may sweep, but all of them together have one budget: each later one at least a hundredth of it.
#[test]
fn a_step_of_many_impacts_keeps_to_its_budget_of_sweeps() {
    const BUDGET: usize = 200;
    let mut settings = weightless();
    settings.time_step = 1.0 / 60.0;
    settings.advanced.max_sweeps = Some(BUDGET);
    settings.advanced.max_factorizations = Some(0);
    let mut simulation = Simulation::new(settings).unwrap();
    let material = Material {
        friction: 0.5,
        restitution: 0.9,
        ..Material::default()
    };
    closed_box(&mut simulation, 0.4, material);
    let mut random = Lcg::new(9);
    for body in 0..27 {
        let place = [body % 3, body / 3 % 3, body / 9].map(|i| f64::from(i) * 0.25 - 0.25);
        simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::cuboid(0.09, 0.06, 0.04),
                material,
                Pose::from_position(DVec3::from_array(place)).with_orientation(random.rotation()),
                Twist {
                    linear: random.symmetric_vector() * 10.0,
                    angular: random.symmetric_vector() * 20.0,
                },
            ))
            .unwrap();
    }
    let (mut most, mut stages) = (0, 0);
    for _ in 0..60 {
        let report = simulation.step().unwrap();
        // A solve of the whole ends each stage and follows each round; contacts that settle add as many at most.
        let solves = report.rounds + 2 * report.stages + 2;
        most = most.max(report.sweeps);
        stages = stages.max(report.stages);
        assert!(
            report.sweeps <= BUDGET + solves * (BUDGET / 100),
            "{} sweeps in {} stages",
            report.sweeps,
            report.stages
        );
    }
    assert!(stages > 5, "{stages}");
    println!("at most {most} sweeps and {stages} stages in a step, of a budget of {BUDGET}");
}
