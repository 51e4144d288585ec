//! Settings out of range, at the start, in between and behind the engine's back.

use crate::support::*;
use moreau::{Advanced, Projection};

/// Every bad setting, with the field and the bound that the error names.
fn bad() -> Vec<(Settings, &'static str, String, &'static str)> {
    let base = Settings::default();
    let mut bad = Vec::new();
    let mut add = |settings: Settings, field, value: f64, bound| {
        bad.push((settings, field, value.to_string(), bound));
    };
    for value in [0.0, -0.01, f64::NAN, f64::INFINITY] {
        let settings = Settings {
            time_step: value,
            ..base
        };
        add(settings, "time_step", value, "> 0");
        let settings = Settings {
            tolerance: Some(value),
            ..base
        };
        add(settings, "solver.tolerance", value, "> 0");
        let projection = Projection {
            tolerance: value,
            ..Projection::default()
        };
        let settings = Settings { projection, ..base };
        add(settings, "projection.tolerance", value, "> 0");
        let mut settings = base;
        settings.sleeping.residual = Some(value);
        add(settings, "sleeping.residual", value, "> 0");
    }
    for value in NOT_FINITE {
        for (axis, field) in ["gravity.x", "gravity.y", "gravity.z"]
            .into_iter()
            .enumerate()
        {
            let mut settings = base;
            settings.gravity[axis] = value;
            add(settings, field, value, "finite");
        }
        let activation = Activation::Forecast {
            gamma: 0.5,
            threshold: value,
            approaching_only: false,
        };
        let settings = Settings { activation, ..base };
        add(settings, "activation.threshold", value, "finite");
    }
    for value in [-0.1, f64::NAN, f64::INFINITY] {
        let settings = Settings {
            margin: value,
            ..base
        };
        add(settings, "margin", value, "≥ 0");
        let settings = Settings {
            restitution_threshold: Some(value),
            ..base
        };
        add(settings, "restitution_threshold", value, "≥ 0");
        let activation = Activation::Forecast {
            gamma: value,
            threshold: 0.0,
            approaching_only: false,
        };
        let settings = Settings { activation, ..base };
        add(settings, "activation.gamma", value, "≥ 0");
    }
    for value in [0.49, 1.01, f64::NAN] {
        let theta = Theta::Fixed(value);
        add(Settings { theta, ..base }, "theta", value, "[1/2, 1]");
    }
    for value in [-0.1, 1.1, f64::NAN] {
        let advanced = Advanced {
            momentum: Some(value),
            ..Advanced::default()
        };
        let settings = Settings { advanced, ..base };
        add(settings, "solver.momentum", value, "[0, 1]");
    }
    let advanced = Advanced {
        max_sweeps: Some(0),
        ..Advanced::default()
    };
    add(
        Settings { advanced, ..base },
        "solver.max_sweeps",
        0.0,
        "≥ 1",
    );
    for value in [-1e-9, f64::NAN, f64::INFINITY] {
        let mut settings = base;
        settings.sleeping.linear = value;
        add(settings, "sleeping.linear", value, "≥ 0");
        let mut settings = base;
        settings.sleeping.angular = value;
        add(settings, "sleeping.angular", value, "≥ 0");
        let mut settings = base;
        settings.sleeping.time = value;
        add(settings, "sleeping.time", value, "≥ 0");
    }
    let projection = Projection {
        sweeps: 0,
        ..Projection::default()
    };
    let settings = Settings { projection, ..base };
    add(settings, "projection.sweeps", 0.0, "≥ 1");
    bad
}

#[test]
fn bad_settings_are_refused_at_the_start() {
    for (settings, field, value, bound) in bad() {
        let Err(error) = Simulation::new(settings) else {
            panic!("{field} = {value} is accepted");
        };
        assert!(matches!(error, StepError::Settings(_)));
        names(&error.to_string(), &[field, &value, bound]);
    }
}

#[test]
fn bad_settings_leave_the_old_ones() {
    for (settings, field, value, bound) in bad() {
        let (mut simulation, _) = healthy();
        let old = simulation.settings();
        let hash = simulation.state_hash();
        let error = simulation.set_settings(settings).unwrap_err();
        names(&error.to_string(), &[field, &value, bound]);
        assert_eq!(simulation.settings(), old);
        assert_eq!(simulation.state_hash(), hash);
        simulation.step().unwrap();
    }
}

#[test]
fn bad_settings_put_into_the_world_fail_the_step() {
    for (settings, field, value, bound) in bad() {
        let (mut simulation, _) = healthy();
        let old = simulation.settings();
        let (hash, time) = (simulation.state_hash(), simulation.time());
        simulation.world_mut().insert_resource(settings);
        let error = simulation.step().unwrap_err();
        names(&error.to_string(), &[field, &value, bound]);
        assert_eq!(simulation.state_hash(), hash);
        assert_eq!(simulation.time().to_bits(), time.to_bits());
        simulation.set_settings(old).unwrap();
        simulation.step().unwrap();
    }
}

#[test]
fn bad_settings_install_nothing() {
    for (settings, field, ..) in bad() {
        let mut world = bevy_ecs::world::World::new();
        let mut schedule = bevy_ecs::schedule::Schedule::default();
        let error = moreau::install(&mut world, &mut schedule, settings).unwrap_err();
        names(&error.to_string(), &[field]);
        assert!(!world.contains_resource::<Settings>());
        assert_eq!(schedule.systems_len(), 0);
    }
}

/// What the world may do to a ball in an interval whose settings are refused, and what shows it
/// once they are mended: friction of its contact, and height of its centre over it.
fn change_ball(world: &mut bevy_ecs::world::World, ball: Entity) {
    world
        .entity_mut(ball)
        .insert((Collider::sphere(0.75), Material::with_friction(2.0)));
}

fn shows_the_change(contacts: &[ContactView]) {
    let [contact] = contacts else {
        panic!("{} contacts", contacts.len());
    };
    // √(2 · 0.5) = 1; the ball's centre is at 0.5 m.
    assert!((contact.friction - 1.0).abs() <= 1e-15);
    assert!((contact.gap + 0.25).abs() <= 1e-9, "gap {}", contact.gap);
}

fn resting() -> (impl Bundle, impl Bundle) {
    (
        (RigidBody::Static, Collider::half_space(DVec3::Z)),
        (
            RigidBody::Dynamic,
            Collider::sphere(0.5),
            Pose::at(0.0, 0.0, 0.5),
        ),
    )
}

#[test]
fn changes_made_while_settings_are_invalid_are_applied_later() {
    for (settings, field, ..) in bad() {
        // One refused step, and several.
        for refused in [1, 3] {
            let good = Settings {
                threads: 1,
                ..Settings::default()
            };
            let mut simulation = Simulation::new(good).unwrap();
            let (ground, ball) = resting();
            simulation.spawn(ground).unwrap();
            let ball = simulation.spawn(ball).unwrap();
            for _ in 0..3 {
                simulation.step().unwrap();
            }
            simulation.world_mut().insert_resource(settings);
            change_ball(simulation.world_mut(), ball);
            for _ in 0..refused {
                let error = simulation.step().unwrap_err();
                assert!(matches!(error, StepError::Settings(_)), "{field}: {error}");
            }
            simulation.world_mut().insert_resource(good);
            simulation.step().unwrap();
            shows_the_change(simulation.contacts());
        }
    }
}

#[test]
fn changes_in_a_world_of_the_user_are_seen_after_refused_settings() {
    for (settings, field, ..) in bad() {
        for steps in [0, 3] {
            let mut world = bevy_ecs::world::World::new();
            let mut schedule = bevy_ecs::schedule::Schedule::default();
            let good = Settings {
                threads: 1,
                ..Settings::default()
            };
            moreau::install(&mut world, &mut schedule, good).unwrap();
            let (ground, ball) = resting();
            world.spawn(ground);
            let ball = world.spawn(ball).id();
            for _ in 0..steps {
                schedule.run(&mut world);
                assert!(world.resource::<StepOutcome>().error().is_none());
            }
            world.insert_resource(settings);
            change_ball(&mut world, ball);
            for _ in 0..2 {
                schedule.run(&mut world);
                let outcome = world.resource::<StepOutcome>();
                assert!(
                    matches!(outcome.error(), Some(StepError::Settings(_))),
                    "{field}: {outcome:?}"
                );
            }
            world.insert_resource(good);
            schedule.run(&mut world);
            let outcome = world.resource::<StepOutcome>();
            assert!(outcome.error().is_none(), "{field}: {outcome:?}");
            shows_the_change(&world.resource::<Contacts>().0);
        }
    }
}
