//! Settings out of range, at the start, in between and behind the engine's back.

use crate::support::*;
use moreau::{Projection, SolverOverrides};

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
        let solver = SolverOverrides {
            tolerance: Some(value),
            ..SolverOverrides::default()
        };
        add(
            Settings { solver, ..base },
            "solver.tolerance",
            value,
            "> 0",
        );
        let projection = Projection {
            tolerance: value,
            ..Projection::default()
        };
        let settings = Settings { projection, ..base };
        add(settings, "projection.tolerance", value, "> 0");
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
        let solver = SolverOverrides {
            momentum: Some(value),
            ..SolverOverrides::default()
        };
        let settings = Settings { solver, ..base };
        add(settings, "solver.momentum", value, "[0, 1]");
    }
    let solver = SolverOverrides {
        max_sweeps: Some(0),
        ..SolverOverrides::default()
    };
    add(Settings { solver, ..base }, "solver.max_sweeps", 0.0, "≥ 1");
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
