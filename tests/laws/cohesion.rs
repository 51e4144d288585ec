//! **Law.** Bodies that hold together with a force `F` where they touch part when they are pulled with more: `r_N ≥ −h F`. Friction has the load `N + F`:
//! a block on an incline slides if `tan a > μ (1 + F/(m g cos a))`, with the acceleration `g sin a − μ (g cos a + F/m)`, on its way also under an
//! overhang. Nothing else changes: what holds does no work, and what parts takes `F` times the way over which it acts.
//!
//! Velocities of the scheme are exact, and forces known: 1e-8 of `g t`, as on the incline without cohesion. What hangs moves by the solver's 1e-11 of `g h`
//! a step. Adhesion acts within 1e-4 of the half-thickness, and as far as a step goes beyond: that bounds the energy of parting from both sides.

use crate::support::*;
use bevy_ecs::prelude::{IntoScheduleConfigs, ResMut};

fn sticky(cohesion: f64, friction: f64) -> Material {
    Material {
        cohesion,
        ..Material::with_friction(friction)
    }
}

const RADIUS: f64 = 0.1;
const MASS: f64 = 2.0;

/// A ball of 2 kg under a ceiling at height 0 that holds it with this force.
fn under_a_ceiling(settings: Settings, force: f64) -> (Simulation, Entity) {
    let mut simulation = Simulation::new(settings).unwrap();
    simulation
        .spawn((
            RigidBody::Static,
            Collider::half_space(-DVec3::Z),
            sticky(force, 0.5),
        ))
        .unwrap();
    let inertia = DVec3::splat(0.4 * MASS * RADIUS * RADIUS);
    let ball = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(RADIUS),
            Mass::given(MASS, inertia),
            Pose::at(0.0, 0.0, -RADIUS),
        ))
        .unwrap();
    (simulation, ball)
}

#[test]
fn a_ball_hangs_from_a_ceiling_that_holds_more_than_its_weight() {
    for excess in [1.001, 1.5, 100.0] {
        let (mut simulation, ball) = under_a_ceiling(reference(), excess * MASS * G);
        let h = simulation.settings().time_step;
        for step in 0..400 {
            let report = simulation.step().unwrap();
            assert!(
                report.converged && report.closed_contacts == 1,
                "{report:?}"
            );
            let contact = simulation.contacts()[0];
            assert_eq!(contact.status, ContactStatus::Stick);
            // Pulled by the whole weight, on A, which may be either body: the normal points to it.
            assert!((contact.impulse.x + h * MASS * G).abs() <= 1e-9 * h * MASS * G);
            assert!(
                (contact.adhesion - h * excess * MASS * G).abs() <= 1e-12 * h * MASS * G * excess
            );
            assert!(
                report.energy.energy_gap.abs() <= 1e-12,
                "{:?}",
                report.energy
            );
            assert!(
                report.energy.work_impact.abs() <= 1e-9,
                "{:?}",
                report.energy
            );
            assert!(report.momentum_residual <= 1e-12);
            let z = simulation.pose(ball).unwrap().position.z;
            assert!((z + RADIUS).abs() <= 1e-12, "{z} in step {step}");
            assert_eq!(simulation.events().contacts.len(), usize::from(step == 0));
        }
    }
}

#[test]
fn a_ball_falls_from_a_ceiling_that_holds_less_than_its_weight() {
    for part in [0.999, 0.5, 0.0] {
        let (mut simulation, ball) = under_a_ceiling(reference(), part * MASS * G);
        let h = simulation.settings().time_step;
        let (mut ends, mut work) = (0, 0.0);
        for _ in 0..400 {
            let report = simulation.step().unwrap();
            assert!(
                report.converged && report.closed_contacts == 0,
                "{report:?}"
            );
            assert!(
                report.energy.energy_gap.abs() <= 1e-12,
                "{:?}",
                report.energy
            );
            assert!(report.momentum_residual <= 1e-12);
            work += report.energy.work_impact;
            let ended = simulation.events().contacts.iter();
            ends += ended.filter(|event| event.edge == Edge::Ends).count();
        }
        let (v, z) = (
            simulation.twist(ball).unwrap().linear.z,
            simulation.pose(ball).unwrap().position.z,
        );
        let force = part * MASS * G;
        // It was pulled back over 1e-4 of the radius, and no more than a step beyond.
        let reach = 1e-4 * RADIUS;
        let step = h * (2.0 * (G - force / MASS) * reach).sqrt() + h * h * G;
        assert!(
            -work >= force * reach * 0.5 && -work <= force * (reach + step),
            "{work} J"
        );
        // The rest is free fall, to the energy that the first steps drift by.
        let energy = 0.5 * MASS * v * v - MASS * G * (-z - RADIUS);
        assert!(
            (energy - work).abs() <= MASS * G * (reach + step),
            "{energy} J"
        );
        assert!(v < -0.5, "{v}");
        assert_eq!(ends, 0, "it did not touch after a step");
    }
}

/// A block of 8 kg on (or under) a plane, whose angle to the horizontal may be beyond a right one.
fn on_a_slope(angle: f64, material: Material) -> (Simulation, Entity, DVec3) {
    let tilt = turn(DVec3::Z, 0.4) * turn(DVec3::Y, angle);
    let mut simulation = Simulation::new(reference()).unwrap();
    let plane = Collider::half_space(tilt * DVec3::Z);
    simulation
        .spawn((RigidBody::Static, plane, material))
        .unwrap();
    let block = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            material,
            Pose::from_position(tilt * DVec3::Z * 0.1).with_orientation(tilt),
        ))
        .unwrap();
    (simulation, block, tilt * DVec3::X)
}

const MU: f64 = 0.5;

#[test]
fn a_cohesive_block_slides_by_the_load_that_cohesion_adds() {
    let mass = 8.0;
    for angle in [0.6_f64, 1.2, 1.5] {
        let (sin, cos) = libm::sincos(angle);
        // The force with which it is about to slide.
        let force = mass * G * (sin / MU - cos);
        for part in [1.001, 0.999, 0.7] {
            let material = sticky(part * force, MU);
            let (mut simulation, block, down) = on_a_slope(angle, material);
            for _ in 0..100 {
                let report = simulation.step().unwrap();
                assert!(report.converged, "{report:?}");
                assert!(
                    report.energy.energy_gap.abs() <= 1e-11,
                    "{:?}",
                    report.energy
                );
                assert!(report.momentum_residual <= 1e-12);
            }
            let acceleration = (G * sin - MU * (G * cos + part * force / mass)).max(0.0);
            let expected = down * (acceleration * simulation.time());
            let v = simulation.twist(block).unwrap().linear;
            assert!(
                (v - expected).length() <= 1e-8 * G,
                "{angle} rad, {part}: {v} instead of {expected}"
            );
        }
    }
}

#[test]
fn a_block_sticks_under_an_overhang() {
    // The plane hangs over at 150°: its load is F − m g cos 30°, and m g sin 30° pulls along it.
    let (mass, angle) = (8.0, 2.5 * std::f64::consts::FRAC_PI_3);
    let (sin, cos) = libm::sincos(angle);
    let force = mass * G * (sin / MU - cos);
    for (part, stays) in [(1.01, true), (0.97, false)] {
        // The block turns about its lower edge unless friction acts in the plane of the centre: wide enough here.
        let (mut simulation, block, down) = on_a_slope(angle, sticky(part * force, MU));
        for _ in 0..100 {
            assert!(simulation.step().unwrap().converged);
        }
        let v = simulation.twist(block).unwrap().linear;
        let acceleration = G * sin - MU * (G * cos + part * force / mass);
        let expected = if stays {
            DVec3::ZERO
        } else {
            down * (acceleration * simulation.time())
        };
        assert!(
            (v - expected).length() <= 1e-8 * G,
            "{v} instead of {expected}"
        );
    }
}

#[test]
fn a_block_is_torn_off_by_more_than_the_force_of_its_face() {
    let mass = 8.0;
    let force = 50.0;
    for (excess, stays) in [(0.999, true), (1.01, false)] {
        let mut simulation = Simulation::new(reference()).unwrap();
        ground(&mut simulation, sticky(force, MU));
        let pull = Wrench {
            force: DVec3::Z * (excess * force + mass * G),
            ..Wrench::default()
        };
        let block = (
            RigidBody::Dynamic,
            Collider::cuboid(0.1, 0.1, 0.1),
            Pose::at(0.0, 0.0, 0.1),
            pull,
        );
        let block = simulation.spawn(block).unwrap();
        for _ in 0..200 {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{report:?}");
            assert!(report.energy.energy_gap.abs() <= 1e-11);
        }
        let pose = simulation.pose(block).unwrap();
        let rises = pose.position.z - 0.1;
        assert!((rises <= 1e-12) == stays && rises > -1e-12, "{rises}");
        assert!(angle_between(pose.orientation, DQuat::IDENTITY) < 1e-9);
    }
}

/// Two balls that turn about each other, held by cohesion alone: `F = m ω² R`. They leave along their tangents by `½φ²·2R` a step, 0.25 mm with a turn of
/// φ = 0.05, and are pulled back: first order in `h`.
#[test]
fn balls_that_turn_about_each_other_are_held_up_to_the_centripetal_force() {
    let (mass, omega) = (4.0 / 3.0 * std::f64::consts::PI * 1e-3 * 1000.0, 10.0);
    let centripetal = mass * omega * omega * RADIUS;
    for (part, stays) in [(1.1, true), (0.9, false)] {
        let mut simulation = Simulation::new(weightless()).unwrap();
        let balls = [1.0, -1.0].map(|side| {
            let ball = (
                RigidBody::Dynamic,
                Collider::sphere(RADIUS),
                sticky(part * centripetal, 0.8),
                Pose::at(side * RADIUS, 0.0, 0.0),
                Twist {
                    linear: DVec3::new(0.3, side * omega * RADIUS, 0.0),
                    angular: DVec3::Z * omega,
                },
            );
            simulation.spawn(ball).unwrap()
        });
        let before = linear_momentum(&simulation, &balls);
        for _ in 0..200 {
            let report = simulation.step().unwrap();
            assert!(report.converged, "{report:?}");
            assert!(report.energy.energy_gap.abs() <= 1e-12);
        }
        let [a, b] = balls.map(|ball| simulation.pose(ball).unwrap().position);
        let gap = (a - b).length() - 2.0 * RADIUS;
        assert!((gap < 1e-3) == stays, "{gap} m apart with {part}");
        let after = linear_momentum(&simulation, &balls);
        assert!((after - before).length() <= 1e-12 * before.length());
    }
}

#[test]
fn what_hangs_falls_asleep_and_wakes_when_it_is_pulled() {
    let settings = Settings {
        threads: 1,
        ..Settings::default()
    };
    let (mut simulation, ball) = under_a_ceiling(settings, 2.0 * MASS * G);
    for _ in 0..200 {
        simulation.step().unwrap();
    }
    assert!(simulation.is_sleeping(ball));
    let pull = |force: f64| Wrench {
        force: DVec3::Z * -force,
        ..Wrench::default()
    };
    simulation.set(ball, pull(0.9 * MASS * G));
    for _ in 0..20 {
        assert!(simulation.step().unwrap().converged);
    }
    assert!((simulation.pose(ball).unwrap().position.z + RADIUS).abs() < 1e-7);
    // A snapshot has the impulses that go with it.
    let bytes = simulation.snapshot().unwrap().to_bytes().unwrap();
    let read = Snapshot::from_bytes(&bytes).unwrap();
    let mut again = Simulation::from_snapshot(&read).unwrap();
    for world in [&mut simulation, &mut again] {
        world.step().unwrap();
        world.set(ball, pull(1.1 * MASS * G));
    }
    assert_eq!(simulation.state_hash(), again.state_hash());
    for _ in 0..20 {
        simulation.step().unwrap();
    }
    assert!(simulation.pose(ball).unwrap().position.z + RADIUS < -1e-3);
}

/// The problem of a step and its solution are those that the certificate judges.
#[test]
fn the_problem_of_a_step_has_the_adhesion() {
    let material = sticky(30.0, MU);
    let (mut simulation, block, _) = on_a_slope(1.2, material);
    simulation.step().unwrap();
    let report = simulation.step().unwrap();
    let state = simulation.state().unwrap();
    let (problem, impulses) = (state.problem().unwrap(), state.impulses());
    let mut end = Vec::new();
    problem.twist_under(moreau::solvers::rows_of(impulses), &mut end);
    let v = simulation.twist(block).unwrap().linear;
    assert!(
        (end[1].linear - v).length() <= 1e-12,
        "{} {v}",
        end[1].linear
    );
    let stored = problem.assemble();
    let judged = moreau::solvers::natural_map::stored(&stored, moreau::solvers::rows_of(impulses));
    assert!(
        (judged.scaled - report.e_scaled).abs() <= 1e-12,
        "{} {}",
        judged.scaled,
        report.e_scaled
    );
    // Of the whole face `r_N ≥ −a`, which none of its points exceeds.
    for contact in simulation.contacts() {
        assert!(contact.impulse.x >= -contact.adhesion * (1.0 + 1e-12));
        let bound = contact.friction * (contact.impulse.x + contact.adhesion);
        let tangential = libm::hypot(contact.impulse.y, contact.impulse.z);
        assert!(tangential <= bound * (1.0 + 1e-12));
    }
}

/// A compound of which one half holds: the mean of its points.
#[test]
fn the_points_of_a_pair_share_what_their_parts_hold() {
    let half = Shape::Cuboid {
        half_extents: DVec3::splat(0.1),
    };
    let parts = [-0.3, 0.3].map(|y| (Pose::at(0.0, y, 0.0), half.clone()));
    let mut simulation = Simulation::new(reference()).unwrap();
    ground(&mut simulation, Material::default());
    simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::compound(parts.to_vec()),
            PartMaterials(vec![sticky(8.0, 0.5), Material::default()]),
            Pose::at(0.0, 0.0, 0.1),
        ))
        .unwrap();
    simulation.step().unwrap();
    let h = simulation.settings().time_step;
    assert_eq!(simulation.contacts().len(), 8);
    for contact in simulation.contacts() {
        let share = if contact.point.y < 0.0 { h } else { 0.0 };
        assert!((contact.adhesion - share).abs() <= 1e-15, "{contact:?}");
    }
}

/// What a user gives an interaction holds it as well.
#[test]
fn an_edited_law_holds() {
    let (mut simulation, ball) = under_a_ceiling(reference(), 0.0);
    simulation.schedule_mut().add_systems(
        (|mut step: ResMut<StepState>| {
            let held = step.interactions().retain(|_, law| {
                law.cohesion = 1.1 * MASS * G;
                true
            });
            held.unwrap();
        })
        .in_set(StepPhase::Edit),
    );
    for _ in 0..100 {
        simulation.step().unwrap();
    }
    assert!((simulation.pose(ball).unwrap().position.z + RADIUS).abs() < 1e-12);
}

/// Balls that cohere and strike one another: in steps of several stages a pair may be held in the first one alone. Its pull is in the balance of momentum and of energy, and in a contact.
#[test]
fn a_pull_of_an_early_stage_is_in_the_balance() {
    let mut staged = 0;
    for seed in 0..60 {
        let mut random = Lcg::new(seed);
        let mut simulation = Simulation::new(Settings {
            gravity: DVec3::ZERO,
            time_step: 1.0 / 60.0,
            threads: 1,
            ..Settings::default()
        })
        .unwrap();
        for k in 0..6 {
            let mut material = sticky(12.0, 0.5);
            material.restitution = [0.0, 0.9][usize::from(random.uniform() < 0.5)];
            let off = random.symmetric_vector() * 0.02;
            let at = DVec3::new(0.205 * f64::from(k), off.y, off.z);
            let twist = Twist {
                linear: random.symmetric_vector() * 3.0,
                angular: random.symmetric_vector() * 5.0,
            };
            let ball = (Collider::sphere(0.1), Pose::from_position(at), twist);
            let ball = (RigidBody::Dynamic, ball, material);
            simulation.spawn(ball).unwrap();
        }
        for step in 0..20 {
            let report = simulation.step().unwrap();
            staged += usize::from(report.stages > 0);
            // Rounding of some tens of J and N·s.
            let gap = report.energy.energy_gap.abs();
            let what = format!("seed {seed}, step {step}: {report:?}");
            assert!(report.momentum_residual < 1e-12 && gap < 1e-11, "{what}");
        }
    }
    assert!(staged > 20, "{staged}");
}
