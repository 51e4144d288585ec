//! **Law.** A kinematic body is at its target at the end of the step, to the last bit, and moves there with the twist
//! `(Δx/h, log(Δp)/h)`: what it carries goes with it, what it strikes is struck at that velocity. A target is used up by its step;
//! then the body stands.
//!
//! What sticks to a driven body moves along the chord of the step, so its place on the body is constant but for the solver's 1e-11 of
//! `g h` a step; over `n` steps that adds up to `n h · 1e-11 g h` and less.

use crate::support::*;
use std::f64::consts::PI;

fn platform(simulation: &mut Simulation, id: u64) -> Entity {
    let bundle = (
        BodyId(id),
        RigidBody::Kinematic,
        Collider::cuboid(1.0, 1.0, 0.1),
        Material::with_friction(0.8),
        Pose::at(0.0, 0.0, -0.1),
    );
    simulation.spawn(bundle).unwrap()
}

fn load(simulation: &mut Simulation, id: u64, x: f64) -> Entity {
    let bundle = (
        BodyId(id),
        RigidBody::Dynamic,
        Collider::cuboid(0.1, 0.1, 0.1),
        Material::with_friction(0.8),
        Pose::at(x, 0.0, 0.1),
    );
    simulation.spawn(bundle).unwrap()
}

fn with_step(h: f64) -> Simulation {
    let settings = Settings {
        time_step: h,
        ..reference()
    };
    Simulation::new(settings).unwrap()
}

/// Where the load is, seen from the platform.
fn place(simulation: &Simulation, platform: Entity, load: Entity) -> DVec3 {
    let [frame, load] = [platform, load].map(|body| simulation.pose(body).unwrap());
    frame.orientation.conjugate() * (load.position - frame.position)
}

/// Drives a platform by targets for 2 s; the farthest that its load gets from its place.
fn drive(h: f64, target: impl Fn(f64) -> Pose) -> f64 {
    let mut simulation = with_step(h);
    let platform = platform(&mut simulation, 0);
    let load = load(&mut simulation, 1, 0.4);
    let mut worst: f64 = 0.0;
    let start = place(&simulation, platform, load);
    while simulation.time() < 2.0 {
        let target = target(simulation.time() + h);
        assert!(simulation.move_to(platform, target).unwrap());
        simulation.step().unwrap();
        assert_eq!(simulation.pose(platform), Some(target));
        assert_eq!(simulation.twist(platform), Some(Twist::default()));
        assert!(
            simulation
                .world()
                .get::<KinematicTarget>(platform)
                .is_none()
        );
        let off = place(&simulation, platform, load) - start;
        worst = worst.max(off.length());
    }
    worst
}

/// A phase that begins at rest and runs at `omega` from 1 s on.
fn phase(omega: f64, t: f64) -> f64 {
    omega * if t < 1.0 { 0.5 * t * t } else { t - 0.5 }
}

#[test]
fn a_platform_on_a_circle_carries_a_block() {
    for h in [1.0 / 60.0, 1.0 / 240.0] {
        // 0.5 m at 2 rad/s: at most 2.2 m/s² of the 7.8 that friction holds.
        let worst = drive(h, |t| {
            let (sin, cos) = libm::sincos(phase(2.0, t));
            Pose::at(0.5 * cos - 0.5, 0.5 * sin, -0.1)
        });
        assert!(worst <= 1e-9, "h {h}: slips by {worst:e} m");
    }
}

#[test]
fn an_elevator_carries_a_block() {
    for h in [1.0 / 60.0, 1.0 / 240.0] {
        let worst = drive(h, |t| {
            Pose::at(0.0, 0.0, -0.1 + 0.5 * (1.0 - libm::cos(3.0 * t)))
        });
        assert!(worst <= 1e-9, "h {h}: off by {worst:e} m");
    }
}

#[test]
fn a_turntable_driven_by_targets_carries_a_block() {
    for h in [1.0 / 60.0, 1.0 / 240.0] {
        // 0.4 m at 3 rad/s: 3.6 m/s², and 1.2 m/s² while it starts; beyond the half turn quaternions change their sign.
        let worst = drive(h, |t| {
            Pose::at(0.0, 0.0, -0.1).with_orientation(turn(DVec3::Z, phase(3.0, t)))
        });
        assert!(worst <= 1e-9, "h {h}: slips by {worst:e} m");
    }
}

/// A block laid on a belt that is at `μ g t < v` slides: friction sees the velocity of the targets.
#[test]
fn friction_and_restitution_see_the_velocity_of_the_targets() {
    let (h, speed) = (1.0 / 240.0, 5.0);
    let mut simulation = with_step(h);
    let belt = platform(&mut simulation, 0);
    let block = load(&mut simulation, 1, 0.0);
    for step in 1..=20 {
        let t = f64::from(step) * h;
        simulation
            .move_to(belt, Pose::at(speed * t, 0.0, -0.1))
            .unwrap();
        simulation.step().unwrap();
        let v = simulation.twist(block).unwrap().linear.x;
        // Newton's second law with μ g, exact in the scheme; the target divides by h with the rounding of its coordinates.
        assert!((v - 0.8 * G * t).abs() <= 1e-9, "{v} at {t} s");
    }
    // A bat that goes 1 m/s meets a ball at rest, e = 1: 2 m/s.
    let settings = Settings {
        gravity: DVec3::ZERO,
        ..reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let elastic = Material {
        restitution: 1.0,
        friction: 0.0,
        ..Material::default()
    };
    let half = Collider::cuboid(0.1, 1.0, 1.0);
    let bat = simulation
        .spawn((RigidBody::Kinematic, half, elastic))
        .unwrap();
    let ball = (
        RigidBody::Dynamic,
        Collider::sphere(0.1),
        elastic,
        Pose::at(0.25, 0.0, 0.0),
    );
    let ball = simulation.spawn(ball).unwrap();
    let h = settings.time_step;
    for step in 1..=(0.1 / h) as u32 {
        simulation
            .move_to(bat, Pose::at(f64::from(step) * h, 0.0, 0.0))
            .unwrap();
        simulation.step().unwrap();
    }
    let v = simulation.twist(ball).unwrap().linear.x;
    assert!((v - 2.0).abs() <= 1e-9, "{v}");
}

#[test]
fn a_target_is_used_up_by_its_step() {
    let mut simulation = with_step(0.01);
    let lift = platform(&mut simulation, 0);
    simulation.set(lift, Twist::linear(1.0, 0.0, 0.0));
    let there = Pose::at(0.0, 0.3, -0.1);
    simulation.set(lift, KinematicTarget(there));
    for _ in 0..5 {
        simulation.step().unwrap();
        assert_eq!(simulation.pose(lift), Some(there));
        assert_eq!(simulation.twist(lift), Some(Twist::default()));
    }
    // Afterwards it goes by its twist again.
    simulation.set(lift, Twist::linear(1.0, 0.0, 0.0));
    simulation.step().unwrap();
    let x = simulation.pose(lift).unwrap().position.x;
    assert!((x - 0.01).abs() <= 1e-17, "{x}");
}

/// Nothing that stands in the way of a body that jumps is passed over: it is pushed ahead.
#[test]
fn a_jump_hits_what_is_in_its_way() {
    for speed in [20.0, 200.0] {
        for phase in 0..10 {
            for ball in [true, false] {
                let h = 1.0 / 100.0;
                let settings = Settings {
                    gravity: DVec3::ZERO,
                    time_step: h,
                    ..reference()
                };
                let mut simulation = Simulation::new(settings).unwrap();
                let wall = (
                    RigidBody::Kinematic,
                    Collider::cuboid(0.02, 0.5, 0.5),
                    Pose::default(),
                );
                let wall = simulation.spawn(wall).unwrap();
                let shape = if ball {
                    Collider::sphere(0.05)
                } else {
                    Collider::cuboid(0.05, 0.04, 0.03)
                };
                let x = 0.1 + speed * h * f64::from(phase) / 10.0;
                let body = simulation
                    .spawn((RigidBody::Dynamic, shape, Pose::at(x, 0.05, 0.1)))
                    .unwrap();
                simulation
                    .move_to(wall, Pose::at(speed * h, 0.0, 0.0))
                    .unwrap();
                simulation.step().unwrap();
                let case = format!("speed {speed} phase {phase} ball {ball}");
                let ahead = simulation.pose(body).unwrap().position.x - speed * h;
                assert!(ahead > 0.0, "{case}: passed, {ahead}");
                // And then the wall stands.
                for _ in 0..5 {
                    simulation.step().unwrap();
                }
                let x = simulation.pose(wall).unwrap().position.x;
                assert!((x - speed * h).abs() <= 0.0, "{case}");
            }
        }
    }
}

/// The shortest way round: from 170° to −170° it is 20°, whatever the sign of the quaternions.
#[test]
fn a_target_is_reached_by_the_shortest_turn() {
    let h = 0.01;
    for sign in [1.0, -1.0] {
        let mut simulation = with_step(h);
        let table = platform(&mut simulation, 0);
        let from = turn(DVec3::Z, PI / 18.0 * 17.0);
        let to = turn(DVec3::Z, -PI / 18.0 * 17.0) * sign;
        simulation.set(table, Pose::at(0.0, 0.0, -0.1).with_orientation(from));
        let block = load(&mut simulation, 1, 0.3);
        simulation
            .move_to(table, Pose::at(0.0, 0.0, -0.1).with_orientation(to))
            .unwrap();
        simulation.step().unwrap();
        let v = simulation.twist(block).unwrap().linear;
        // It slides, and is dragged along by at most μ g h: counter to that the other way round.
        assert!(v.y > 0.5 * 0.8 * G * h, "{v}");
        assert_eq!(simulation.pose(table).unwrap().orientation, to);
    }
}

#[test]
fn a_platform_that_moves_wakes_what_sleeps_on_it() {
    let settings = Settings {
        sleeping: SleepSettings {
            enabled: Some(true),
            ..SleepSettings::default()
        },
        ..Settings::default()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    let lift = platform(&mut simulation, 0);
    let block = load(&mut simulation, 1, 0.0);
    let mut height = -0.1;
    for round in 0..3 {
        while !simulation.is_sleeping(block) {
            simulation.step().unwrap();
            assert!(simulation.time() < 20.0, "does not fall asleep");
        }
        // A target where the body is changes nothing.
        simulation
            .move_to(lift, Pose::at(0.0, 0.0, height))
            .unwrap();
        simulation.step().unwrap();
        assert!(simulation.is_sleeping(block));
        height += 1e-3;
        simulation
            .move_to(lift, Pose::at(0.0, 0.0, height))
            .unwrap();
        simulation.step().unwrap();
        assert!(!simulation.is_sleeping(block), "round {round}");
        let z = simulation.pose(block).unwrap().position.z;
        assert!((z - 0.2 - height).abs() <= 1e-4, "round {round}: {z}");
    }
}

/// Steps without an ECS take the target of a body, and give the same bits.
#[test]
fn targets_of_plain_bodies_are_the_same() {
    let mut simulation = with_step(0.01);
    let table = platform(&mut simulation, 0);
    let block = load(&mut simulation, 1, 0.4);
    let bodies = [(table, 0, 1.0, 0.1), (block, 1, 0.1, 0.1)].map(|(entity, id, a, c)| Body {
        id: BodyId(id),
        kind: [RigidBody::Kinematic, RigidBody::Dynamic][id as usize],
        pose: simulation.pose(entity).unwrap(),
        material: Material::with_friction(0.8),
        collider: Some(Collider::cuboid(a, a, c)),
        ..Body::default()
    });
    let target = |step: u32| {
        let angle = 1e-4 * f64::from(step * step);
        Pose::at(1e-2 * f64::from(step), 0.0, -0.1).with_orientation(turn(DVec3::Z, angle))
    };
    let settings = simulation.settings();
    let mut state = StepState::default();
    let mut first = bodies.to_vec();
    first[0].target = Some(target(1));
    state.set_bodies(&first).unwrap();
    for step in 1..40 {
        if step > 1 {
            assert!(state.move_to(BodyId(0), &target(step)).unwrap());
        }
        simulation.move_to(table, target(step)).unwrap();
        state.step(&settings).unwrap();
        simulation.step().unwrap();
        for (entity, id) in [(table, 0), (block, 1)] {
            assert_eq!(simulation.pose(entity), state.pose(BodyId(id)));
            assert_eq!(simulation.twist(entity), state.twist(BodyId(id)));
        }
    }
    assert!(!state.move_to(BodyId(9), &target(1)).unwrap());
    // Used up here too.
    state.step(&settings).unwrap();
    assert_eq!(state.pose(BodyId(0)), Some(target(39)));
}

/// A target that a system writes within a step is for the next one.
#[test]
fn a_target_written_within_a_step_is_for_the_next_one() {
    use bevy_ecs::prelude::*;
    let mut simulation = with_step(0.01);
    let lift = platform(&mut simulation, 0);
    let there = Pose::at(0.0, 0.0, 1.0);
    let write = move |mut commands: Commands, mut done: Local<bool>| {
        if !std::mem::replace(&mut *done, true) {
            commands.entity(lift).insert(KinematicTarget(there));
        }
    };
    simulation
        .schedule_mut()
        .add_systems(write.in_set(StepPhase::Edit));
    simulation.move_to(lift, Pose::at(0.0, 0.0, 0.5)).unwrap();
    simulation.step().unwrap();
    assert_eq!(simulation.pose(lift), Some(Pose::at(0.0, 0.0, 0.5)));
    simulation.step().unwrap();
    assert_eq!(simulation.pose(lift), Some(there));
    assert!(simulation.world().get::<KinematicTarget>(lift).is_none());
}

fn refused(simulation: &mut Simulation, entity: Entity, words: &[&str]) {
    let hash = simulation.state_hash();
    let time = simulation.time();
    let error = simulation.step().unwrap_err();
    let StepError::Body { entity: named, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(*named, entity);
    let text = error.to_string();
    for word in words {
        assert!(text.contains(word), "{text}: no {word}");
    }
    assert_eq!(simulation.state_hash(), hash);
    assert_eq!(simulation.time().to_bits(), time.to_bits());
}

#[test]
fn wrong_targets_are_refused_and_change_nothing() {
    let good = Pose::at(0.0, 0.0, 0.5);
    let mut simulation = with_step(0.01);
    let lift = platform(&mut simulation, 3);
    let block = load(&mut simulation, 4, 0.0);
    let ground = ground(&mut simulation, Material::default());
    simulation.step().unwrap();
    let targets = [
        (
            Pose::at(0.0, f64::NAN, 0.0),
            ["body 3", "target position", "NaN", "finite"],
        ),
        (
            Pose::at(f64::INFINITY, 0.0, 0.0),
            ["body 3", "target position", "inf", "finite"],
        ),
        (
            good.with_orientation(DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0)),
            ["body 3", "target orientation norm", "1.41", "1 ± 1e-6"],
        ),
    ];
    for (target, words) in targets {
        let error = simulation.move_to(lift, target).unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
        simulation.set(lift, KinematicTarget(target));
        refused(&mut simulation, lift, &words);
    }
    // Too far for a velocity.
    simulation.set(lift, KinematicTarget(Pose::at(1e200, 0.0, 0.0)));
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::NonFinite { .. }), "{error}");
    simulation.set(lift, KinematicTarget(good));
    for (body, kind) in [(block, "Dynamic"), (ground, "Static")] {
        let error = simulation.move_to(body, good).unwrap_err().to_string();
        assert!(
            error.contains("kinematic") && error.contains(kind),
            "{error}"
        );
        simulation.set(body, KinematicTarget(good));
        refused(&mut simulation, body, &["kinematic", kind]);
        let mut world = simulation.world_mut().entity_mut(body);
        world.remove::<KinematicTarget>();
    }
    // What is no body has no pose to reach.
    let stray = simulation.world_mut().spawn(KinematicTarget(good)).id();
    refused(&mut simulation, stray, &["RigidBody", "missing"]);
    simulation.despawn(stray);
    assert!(!simulation.move_to(stray, good).unwrap());
    // The good target of before is still there.
    simulation.step().unwrap();
    assert_eq!(simulation.pose(lift), Some(good));
}

/// What lies on a platform that turns about an axis off its centre sticks to it below `ω² R = μ g`: in a step it slips by no more than `h` times what the
/// solver leaves at the worst contact, which the report says.
#[test]
#[ignore = "red: contacts that come in at a look within the step see the centre of the platform on the chord of its way, not on its circle: up to 0.4 mm \
            in a second at 10 m (2 to 23 cm before their arms began at t_k)"]
fn a_load_on_a_platform_slips_by_what_the_solver_leaves() {
    let (mu, radius, h) = (0.5, 0.6, 1.0 / 60.0);
    let mut wrong = Vec::new();
    for accuracy in [Accuracy::Interactive, Accuracy::Engineering] {
        for off in [0.0, 1.0, 3.0, 10.0] {
            for part in [0.5, 0.8, 0.9, 0.95] {
                let settings = Settings {
                    time_step: h,
                    accuracy,
                    ..Settings::default()
                };
                let mut simulation = Simulation::new(settings).unwrap();
                let rate = libm::sqrt(part * mu * -settings.gravity.z / radius);
                let at = |t: f64| {
                    let turn = DQuat::from_rotation_z(rate * t);
                    Pose::from_position(turn * DVec3::new(off, 0.0, -0.1)).with_orientation(turn)
                };
                let material = Material::with_friction(mu);
                let plate = Collider::cuboid(16.0, 16.0, 0.1);
                let platform = simulation
                    .spawn((RigidBody::Kinematic, plate, material, at(0.0)))
                    .unwrap();
                let disc = (
                    RigidBody::Dynamic,
                    Collider::cylinder(0.01, 0.05),
                    material,
                    Pose::at(radius, 0.0, 0.01),
                    Twist {
                        linear: DVec3::Y * rate * radius,
                        angular: DVec3::Z * rate,
                    },
                );
                let disc = simulation.spawn(disc).unwrap();
                let start = place(&simulation, platform, disc);
                let (mut left, mut slip) = (0.0, 0.0_f64);
                for step in 0..60 {
                    let target = at(f64::from(step + 1) * h);
                    simulation.move_to(platform, target).unwrap();
                    left += h * simulation.step().unwrap().worst_velocity;
                    slip = slip.max((place(&simulation, platform, disc) - start).length());
                }
                if slip > 2.0 * left + 1e-9 {
                    wrong.push(format!(
                        "{accuracy:?}, off {off}, {part} of the friction: {slip:.1e} of {left:.1e} m"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
