//! **Law.** What is struck within a step meets its neighbour with the velocity that it then has: impacts of one step follow one
//! another, each with its own restitution.
//!
//! A row of equal frictionless balls with gaps hands the velocity of the first on to the last, whatever the gaps are and wherever
//! they lie in the step; a frictionless gas with e = 1 keeps its energy. Both follow from Newton's law at each impact by itself,
//! so what is left is the residual of the solver and what rests on the threshold of restitution.

use crate::meeting::{fixed, flying, position, run, velocity, weightless as weightless_by};
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

/// Every solve of a step may sweep, but all of them together have one budget: each later one at least a hundredth of it, and the
/// eight sweeps that smooth out what was exchanged.
#[test]
fn a_step_of_many_impacts_keeps_to_its_budget_of_sweeps() {
    const BUDGET: usize = 200;
    const LEAST: usize = 8;
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
            report.sweeps <= BUDGET + solves * LEAST.max(BUDGET / 100),
            "{} sweeps in {} stages",
            report.sweeps,
            report.stages
        );
    }
    assert!(stages > 5, "{stages}");
    println!("at most {most} sweeps and {stages} stages in a step, of a budget of {BUDGET}");
}

/// Balls in a line between two walls, `e` of each pair by the larger of its bodies.
struct Line {
    state: StepState,
    masses: Vec<f64>,
    ends: [f64; 2],
}

const RADIUS: f64 = 0.1;

impl Line {
    fn new(
        random: &mut Lcg,
        count: usize,
        (speed, room): (f64, f64),
        e: impl Fn(&mut Lcg) -> f64,
    ) -> Self {
        let wall = |id: u64, normal: DVec3, x: f64, e: f64| {
            let mut wall = fixed(id, Collider::half_space(normal), DVec3::X * x);
            wall.material = Material::frictionless(e);
            wall
        };
        let mut bodies = vec![wall(0, DVec3::X, 0.0, e(random))];
        let (mut x, mut masses) = (0.0, Vec::new());
        for id in 1..=count as u64 {
            x += room * random.uniform() + RADIUS;
            let v = DVec3::X * (speed * (2.0 * random.uniform() - 1.0));
            let mut ball = flying(id, Collider::sphere(RADIUS), DVec3::X * x, v);
            let mass = libm::pow(10.0, 2.0 * random.uniform() - 1.0);
            ball.mass = Mass::given(mass, DVec3::splat(4e-3 * mass));
            ball.material = Material::frictionless(e(random));
            bodies.push(ball);
            masses.push(mass);
            x += RADIUS;
        }
        x += room * random.uniform();
        bodies.push(wall(100, DVec3::NEG_X, x, e(random)));
        let mut state = StepState::default();
        state.set_bodies(&bodies).unwrap();
        Self {
            state,
            masses,
            ends: [0.0, x],
        }
    }

    fn energy(&self) -> f64 {
        let speeds = (1..).zip(&self.masses);
        speeds
            .map(|(id, m)| 0.5 * m * velocity(&self.state, id).length_squared())
            .sum()
    }

    /// The largest overlap of neighbours, and of the outermost with the walls, m; their order counts.
    fn overlap(&self) -> f64 {
        let mut last = self.ends[0] - RADIUS;
        let mut most: f64 = 0.0;
        for id in 1..=self.masses.len() as u64 {
            let x = position(&self.state, id).x;
            most = most.max(last + 2.0 * RADIUS - x);
            last = x;
        }
        most.max(last + RADIUS - self.ends[1])
    }
}

/// Up to dozens of impacts of a ball in a step: all of them are made, none passes through another, and the energy stays.
#[test]
fn elastic_balls_between_walls_keep_their_energy_and_their_order() {
    for (h, speed, room) in [
        (1.0 / 60.0, 1.0, 0.02),
        (1.0 / 60.0, 10.0, 0.1),
        (1.0 / 60.0, 30.0, 0.3),
        (5e-3, 10.0, 0.02),
        (5e-3, 30.0, 0.1),
        (1e-3, 30.0, 0.02),
    ] {
        for seed in 0..30 {
            for count in [1, 2, 3] {
                let mut line = Line::new(&mut Lcg::new(seed), count, (speed, room), |_| 1.0);
                let start = line.energy();
                for step in 0..40 {
                    let report = line.state.step(&weightless_by(h)).unwrap();
                    let note = format!(
                        "h {h}, {speed} m/s, room {room}, seed {seed}, {count} balls, step {step}"
                    );
                    // The solver's 1e-11, over up to a hundred impacts a step.
                    let change = line.energy() / start - 1.0;
                    assert!(change.abs() < 1e-7, "{note}: energy {change}, {report:?}");
                    // What the projection leaves.
                    assert!(
                        line.overlap() < 1.1e-4,
                        "{note}: overlap {}",
                        line.overlap()
                    );
                }
            }
        }
    }
}

/// With any mixture of `e` no step gains energy: contacts that open while their bodies are struck take the largest `e` of the impacts.
#[test]
fn no_mixture_of_restitution_gains_energy() {
    for seed in 0..100 {
        for (h, room) in [(1.0 / 60.0, 0.01), (1e-3, 0.001), (5e-3, 0.0)] {
            for count in [3, 4] {
                let of = |random: &mut Lcg| f64::from((random.uniform() * 3.0) as u32) / 2.0;
                let mut line = Line::new(&mut Lcg::new(seed), count, (1.0, room), of);
                let start = line.energy();
                let mut before = start;
                for step in 0..20 {
                    line.state.step(&weightless_by(h)).unwrap();
                    // The solver's 1e-11 of impulses between masses of 1:100: 3e-8 at most.
                    let now = line.energy();
                    assert!(
                        now <= before + 1e-6 * start,
                        "seed {seed}, h {h}, {count} balls, step {step}: {before} to {now} J"
                    );
                    before = now;
                }
            }
        }
    }
}

/// What stands behind a wall is not met: its restitution does not act.
#[test]
fn a_hard_wall_behind_a_soft_one_is_not_felt() {
    for (v, h) in [
        (5.0, 5e-3),
        (20.0, 5e-3),
        (20.0, 1.0 / 60.0),
        (50.0, 1.0 / 60.0),
    ] {
        for gap in [0.001, 0.02, 0.1] {
            for e in [0.0, 0.3] {
                let mut ball = flying(2, Collider::sphere(0.1), DVec3::ZERO, DVec3::X * v);
                ball.material = Material::frictionless(0.0);
                let wall = |id: u64, x: f64, half: f64, e: f64| {
                    let mut wall =
                        fixed(id, Collider::cuboid(half, 1.0, 1.0), DVec3::X * (x + half));
                    wall.material = Material::frictionless(e);
                    wall
                };
                let bodies = [
                    wall(0, 0.1 + gap, 0.01, e),
                    wall(1, 0.125 + gap, 0.5, 1.0),
                    ball,
                ];
                let state = run(&bodies, &weightless_by(h), 6.0 * h);
                let left = velocity(&state, 2).x;
                assert!(
                    (left + e * v).abs() < 1e-8 * v,
                    "{v} m/s, h {h}, gap {gap}, e {e}: {left}"
                );
            }
        }
    }
}

/// With friction Newton's law may gain energy (Kane's example), which the ledger shows. A step whose impacts have done so makes no more of them:
/// without that a single step of these twelve bodies made 1e12 times the energy. What is left is the gain of one impact here and there.
#[test]
fn rough_elastic_impacts_do_not_run_away() {
    let scene = Scene::from_toml(include_str!("rough_impacts.toml"), "").unwrap();
    let mut run = scene.start().unwrap();
    let mut start = None;
    for _ in 0..150 {
        let energy = run.step().unwrap().energy;
        let now = energy.kinetic + energy.potential;
        let start = *start.get_or_insert(now);
        assert!(now < 1e3 * start, "{now} J of {start}");
    }
}

/// Two crowds of elastic frictionless balls that fly at each other in a box: more than a thousand contacts, where the stages of a step are few. What
/// strikes after them is stopped, and that gains no energy, whatever else restitutes. A step is solved to `e_scaled` 1e-3 of what its bodies have.
#[test]
fn crowds_that_fly_at_each_other_gain_no_energy() {
    for (accuracy, seed) in [
        (Accuracy::Interactive, 1),
        (Accuracy::Interactive, 2),
        (Accuracy::Engineering, 3),
    ] {
        let settings = Settings {
            time_step: 1.0 / 60.0,
            gravity: DVec3::ZERO,
            accuracy,
            ..Settings::default()
        };
        let mut simulation = Simulation::new(settings).unwrap();
        let material = Material::frictionless(1.0);
        for normal in [DVec3::X, DVec3::Y, DVec3::Z] {
            for normal in [normal, -normal] {
                let wall = Collider::half_space(normal);
                let at = Pose::from_position(normal * -1.3);
                simulation
                    .spawn((RigidBody::Static, wall, material, at))
                    .unwrap();
            }
        }
        let mut random = Lcg::new(seed);
        for number in 0..100 {
            let side = if number % 2 == 0 { 1.0 } else { -1.0 };
            let place = number / 2;
            let along = |k: i32| 0.25 * f64::from(k);
            let at = DVec3::new(
                side * (0.2 + along(place % 4)),
                along(place / 4 % 4) - 0.375,
                along(place / 16) - 0.375,
            );
            let velocity = DVec3::X * (-50.0 * side) + random.symmetric_vector() * 5.0;
            let ball = (
                RigidBody::Dynamic,
                Collider::sphere(0.1 * (0.6 + 0.4 * random.uniform())),
                material,
                Pose::from_position(at + random.symmetric_vector() * 0.02),
                Twist {
                    linear: velocity,
                    angular: DVec3::ZERO,
                },
            );
            simulation.spawn(ball).unwrap();
        }
        let mut most: f64 = 0.0;
        let mut first = None;
        for _ in 0..6 {
            let energy = simulation.step().unwrap().energy;
            let gain = energy.work_impact + energy.work_friction;
            let first = *first.get_or_insert(energy.kinetic - gain);
            most = most.max(gain / first);
        }
        assert!(
            most <= 1e-3,
            "{accuracy:?}: a step gains {most:.1e} of the energy"
        );
    }
}
