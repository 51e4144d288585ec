//! **Law.** A contact with the normal force `N` bears a couple of up to `μ_R N` against rolling and `μ_S N` against spinning. A ball on an incline rolls if
//! `tan a > μ_R/R`, with `5/7 g (sin a − (μ_R/R) cos a)`; on a plane it slows down by `5/7 (μ_R/R) g`; one that spins loses `5/2 μ_S g/R²` a second, to a stop.
//!
//! Velocities of the scheme are exact here, as without the resistance: every step adds what these say. Tolerances are the solver's 1e-11 over the steps.

use crate::support::*;
use bevy_ecs::prelude::{IntoScheduleConfigs, ResMut};

const RADIUS: f64 = 0.2;

fn resisting(rolling: f64, spinning: f64) -> Material {
    Material {
        rolling_resistance: rolling,
        spinning_resistance: spinning,
        ..Material::with_friction(0.8)
    }
}

fn ball_on(normal: DVec3, material: Material, twist: Twist) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(reference()).unwrap();
    simulation
        .spawn((
            RigidBody::Static,
            Collider::half_space(normal),
            Material::with_friction(0.8),
        ))
        .unwrap();
    let ball = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(RADIUS),
            material,
            Pose::from_position(normal * RADIUS),
            twist,
        ))
        .unwrap();
    (simulation, ball)
}

/// Makes some steps; the work of friction, J.
fn steps(simulation: &mut Simulation, count: usize) -> f64 {
    let mut work = 0.0;
    for _ in 0..count {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        let energy = report.energy;
        assert!(energy.energy_gap.abs() <= 1e-10, "{energy:?}");
        assert!(energy.work_friction <= 1e-10, "{energy:?}");
        assert!(report.momentum_residual <= 1e-9);
        work += energy.work_friction;
    }
    work
}

#[test]
fn a_ball_rolls_only_on_slopes_beyond_its_resistance() {
    for (rolling, slope) in [
        (0.02, 0.0999),
        (0.02, 0.1001),
        (0.02, 0.3),
        (0.1, 0.499),
        (0.1, 0.501),
    ] {
        let angle = libm::atan(slope);
        let tilt = turn(DVec3::Z, 0.7) * turn(DVec3::Y, angle);
        let material = resisting(rolling, 0.0);
        let (mut simulation, ball) = ball_on(tilt * DVec3::Z, material, Twist::default());
        steps(&mut simulation, 200);
        let (sin, cos) = libm::sincos(angle);
        let drive = (sin - rolling / RADIUS * cos).max(0.0);
        let expected = tilt * DVec3::X * (5.0 / 7.0 * G * drive * simulation.time());
        let twist = simulation.twist(ball).unwrap();
        let error = (twist.linear - expected).length();
        assert!(error <= 1e-9 * G, "{rolling} m, {slope}: {}", twist.linear);
        let rolls = (twist.angular.length() - expected.length() / RADIUS).abs();
        assert!(rolls <= 1e-8 * G, "it rolls without sliding");
    }
}

#[test]
fn a_rolling_ball_slows_down_to_a_stop() {
    let (rolling, speed) = (0.01, 1.0);
    let twist = Twist {
        linear: DVec3::X * speed,
        angular: DVec3::Y * (speed / RADIUS),
    };
    let (mut simulation, ball) = ball_on(DVec3::Z, resisting(rolling, 0.0), twist);
    let rate = 5.0 / 7.0 * rolling / RADIUS * G;
    let mut work = 0.0;
    while simulation.time() < 1.2 * speed / rate {
        work += steps(&mut simulation, 1);
        let expected = (speed - rate * simulation.time()).max(0.0);
        let v = simulation.twist(ball).unwrap();
        let error = (v.linear.x - expected).abs();
        assert!(error <= 1e-8, "{} instead of {expected}", v.linear.x);
        assert!(v.linear.y.abs() <= 1e-9 && v.linear.z.abs() <= 1e-9);
    }
    // Its whole energy was taken by the couple.
    let mass = mass(&simulation, ball).unwrap().mass();
    let energy = 0.7 * mass * speed * speed;
    assert!(
        (work + energy).abs() <= 1e-6 * energy,
        "{work} J of {energy}"
    );
    let contact = simulation.contacts()[0];
    assert!(
        contact.couple.length() <= 1e-9,
        "at rest on a plane nothing turns it"
    );
}

#[test]
fn a_spinning_ball_stops() {
    for (spinning, rate) in [(0.01, 40.0), (0.0, 40.0)] {
        let twist = Twist {
            linear: DVec3::ZERO,
            angular: DVec3::Z * rate,
        };
        let (mut simulation, ball) = ball_on(DVec3::Z, resisting(0.0, spinning), twist);
        let slower = 2.5 * spinning * G / (RADIUS * RADIUS);
        for _ in 0..10 {
            steps(&mut simulation, 150);
            let expected = (rate - slower * simulation.time()).max(0.0);
            let spin = simulation.twist(ball).unwrap().angular;
            assert!((spin.z - expected).abs() <= 1e-7, "{spin} of {expected}");
            assert!(spin.x.abs() <= 1e-9 && spin.y.abs() <= 1e-9);
        }
    }
}

#[test]
fn resistance_has_the_load_that_cohesion_adds() {
    // The couple is up to μ_R (N + F): a ball sticks on the slope where that holds it.
    let mass = 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) * 1000.0;
    let (rolling, angle) = (0.02, 0.4_f64);
    let (sin, cos) = libm::sincos(angle);
    let tilt = turn(DVec3::Y, angle);
    let needed = mass * G * (sin * RADIUS / rolling - cos);
    for (part, rolls) in [(1.001, false), (0.99, true)] {
        let material = Material {
            cohesion: part * needed,
            ..resisting(rolling, 0.0)
        };
        let (mut simulation, ball) = ball_on(tilt * DVec3::Z, material, Twist::default());
        steps(&mut simulation, 100);
        let drive = sin - rolling / RADIUS * (cos + part * needed / (mass * G));
        let drive = if rolls { drive } else { 0.0 };
        let expected = 5.0 / 7.0 * G * drive * simulation.time();
        let v = simulation.twist(ball).unwrap().linear.length();
        assert!((v - expected).abs() <= 1e-8, "{v} instead of {expected}");
    }
}

/// Balls of a heap keep rolling without resistance and stand with it; the problem of a step and its solution are those of the report.
#[test]
fn heaps_are_solved_and_certified() {
    let mut simulation = Simulation::new(Settings {
        threads: 1,
        sleeping: SleepSettings::OFF,
        ..Settings::default()
    })
    .unwrap();
    ground(&mut simulation, Material::with_friction(0.8));
    for k in 0..4 {
        for i in 0..(4 - k) {
            for j in 0..(4 - k) {
                let at = |n: i32| 2.0 * RADIUS * (f64::from(n) + 0.5 * f64::from(k));
                let height = RADIUS + f64::from(k) * RADIUS * std::f64::consts::SQRT_2;
                // Every other ball resists: plain contacts are among them.
                let rolling = if (i + j) % 2 == 0 { 0.03 } else { 0.0 };
                let ball = (
                    RigidBody::Dynamic,
                    Collider::sphere(RADIUS),
                    resisting(rolling, 0.5 * rolling),
                    Pose::at(at(i), at(j), height),
                );
                simulation.spawn(ball).unwrap();
            }
        }
    }
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        assert!(
            report.energy.energy_gap.abs() <= 1e-9,
            "{:?}",
            report.energy
        );
        for contact in simulation.contacts() {
            let rolling = libm::hypot(contact.couple.y, contact.couple.z);
            assert!(rolling <= 0.03 * contact.impulse.x * (1.0 + 1e-9) + 1e-15);
        }
        let state = simulation.state().unwrap();
        let problem = state.problem().unwrap();
        let rows = moreau::solvers::rows_of(state.impulses());
        assert!(!problem.interactions.is_empty() && !problem.contacts.is_empty());
        assert_eq!(rows.len(), problem.rows());
        let judged = moreau::solvers::natural_map::factored(&problem, rows, &mut Vec::new());
        let judged = judged.scaled;
        assert!(
            (judged - report.e_scaled).abs() <= 1e-3 * report.e_scaled + 1e-15,
            "{judged:e} {:e}",
            report.e_scaled
        );
    }
}

/// A ball thrown onto a plane bounces, slides and rolls to a stop in the end, on any number of threads and from any snapshot.
#[test]
fn runs_repeat_from_snapshots() {
    let material = Material {
        restitution: 0.5,
        ..resisting(0.01, 0.005)
    };
    let mut simulation = Simulation::new(Settings::default()).unwrap();
    ground(&mut simulation, material);
    let mut random = Lcg::new(3);
    for i in 0..12 {
        let ball = (
            RigidBody::Dynamic,
            Collider::sphere(RADIUS),
            material,
            Pose::at(0.45 * f64::from(i % 3), 0.45 * f64::from(i / 3), 0.5),
            Twist {
                linear: random.symmetric_vector() * 2.0,
                angular: random.symmetric_vector() * 10.0,
            },
        );
        simulation.spawn(ball).unwrap();
    }
    for _ in 0..60 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
        assert!(
            report.energy.energy_gap.abs() <= 1e-9,
            "{:?}",
            report.energy
        );
    }
    let bytes = simulation.snapshot().unwrap().to_bytes().unwrap();
    let read = Snapshot::from_bytes(&bytes).unwrap();
    let mut again = Simulation::from_snapshot(&read).unwrap();
    for _ in 0..60 {
        simulation.step().unwrap();
        again.step().unwrap();
        assert_eq!(simulation.state_hash(), again.state_hash());
    }
}

/// A wheel on an axle, driven against the resistance of the ground.
#[test]
fn a_wheel_on_a_joint_feels_the_resistance() {
    let rolling = 0.02;
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::with_friction(0.8));
    let wheel = (
        RigidBody::Dynamic,
        Collider::sphere(RADIUS),
        resisting(rolling, 0.0),
        Pose::at(0.0, 0.0, RADIUS),
    );
    let wheel = simulation.spawn(wheel).unwrap();
    let cart = simulation
        .spawn((
            RigidBody::Dynamic,
            Mass::given(5.0, DVec3::splat(1.0)),
            Pose::at(0.0, 0.0, RADIUS),
            Wrench {
                force: DVec3::X * 60.0,
                ..Wrench::default()
            },
        ))
        .unwrap();
    let axle = Joint::new(wheel, cart, JointKind::Revolute);
    let axle = axle.at(DVec3::Z * RADIUS, DVec3::Y);
    simulation.spawn_joint(axle, NoCollision).unwrap();
    let own = mass(&simulation, wheel).map_or(0.0, |of| of.mass());
    let own = if own > 0.0 {
        own
    } else {
        4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3) * 1000.0
    };
    for _ in 0..100 {
        let report = simulation.step().unwrap();
        assert!(report.converged, "{report:?}");
    }
    // (m_w + m_c) a + I a/R² = F − M/R, with M = μ_R (m_w + m_c) g: the cart may not turn about the axle, it has nothing to.
    let load = (own + 5.0) * G;
    let a = (60.0 - rolling * load / RADIUS) / (own * 1.4 + 5.0);
    let expected = a * simulation.time();
    let v = simulation.twist(wheel).unwrap().linear.x;
    assert!((v - expected).abs() <= 1e-7, "{v} instead of {expected}");
}

#[test]
fn an_edited_law_resists() {
    let tilt = turn(DVec3::Y, libm::atan(0.09));
    let (mut simulation, ball) = ball_on(tilt * DVec3::Z, Material::default(), Twist::default());
    simulation.schedule_mut().add_systems(
        (|mut step: ResMut<StepState>| {
            let edited = step.interactions().retain(|_, law| {
                law.rolling_resistance = 0.1 * RADIUS;
                true
            });
            edited.unwrap();
        })
        .in_set(StepPhase::Edit),
    );
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    assert!(simulation.twist(ball).unwrap().linear.length() <= 1e-9);
}

#[test]
fn scenes_and_pairs_have_resistance() {
    let text = r#"
[materials.ball]
rolling_resistance = 0.01
spinning_resistance = 0.002
[materials.lawn]
[[pairs]]
between = ["ball", "lawn"]
rolling_resistance = 0.05
[[bodies]]
kind = "static"
shape = { half_space = { normal = [0, 0, 1] } }
material = "lawn"
[[bodies]]
name = "it"
shape = { sphere = { radius = 0.1 } }
position = [0, 0, 0.1]
material = "ball"
twist = { linear = [1, 0, 0], angular = [0, 10, 5] }
"#;
    let scene = Scene::from_toml(text, "").unwrap();
    assert_eq!(
        Scene::from_toml(&scene.to_toml().unwrap(), "").unwrap(),
        scene
    );
    let mut run = scene.start().unwrap();
    run.step().unwrap();
    let contact = run.simulation.contacts()[0];
    let rolling = libm::hypot(contact.couple.y, contact.couple.z);
    assert!((rolling / contact.impulse.x - 0.05).abs() <= 1e-9);
    assert!((contact.couple.x.abs() / contact.impulse.x - 0.002).abs() <= 1e-9);
}
