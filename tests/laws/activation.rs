//! **Law.** Which contacts carry the law, and which of them bounce, is what the settings say.
//!
//! [`Activation::Forecast`] takes a contact iff `g_N + γ h u_N ≤ ε`, and with `approaching_only` also `u_N ≤ 0`.
//! [`Settings::restitution_threshold`] is the approach speed below which a contact does not bounce. One contact
//! is solved exactly: velocities to 1e-12 m/s.

use crate::support::*;

/// A ball at the given gap over the ground, with the normal velocity `speed` and pressed by `force`.
fn ball(settings: Settings, e: f64, gap: f64, speed: f64, force: f64) -> (Simulation, Entity) {
    let material = Material::frictionless(e);
    let mut simulation = Simulation::new(settings).unwrap();
    ground(&mut simulation, material);
    let ball = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(0.1),
            Mass::given(1.0, DVec3::splat(0.01)),
            material,
            Pose::at(0.0, 0.0, 0.1 + gap),
            Twist::linear(0.0, 0.0, speed),
            Wrench {
                force: DVec3::new(0.0, 0.0, force),
                ..Wrench::default()
            },
        ))
        .unwrap();
    (simulation, ball)
}

fn forecast(gamma: f64, threshold: f64, approaching_only: bool) -> Settings {
    Settings {
        activation: Activation::Forecast {
            gamma,
            threshold,
            approaching_only,
        },
        ..weightless()
    }
}

#[test]
fn the_forecast_takes_contacts_by_its_formula() {
    // (gap, speed, γ, ε) and whether g + γ h u ≤ ε, with h = 1/200.
    let cases = [
        (0.001, -0.3, 0.5, 0.0, false),
        (0.001, -0.5, 0.5, 0.0, true),
        (0.001, -0.3, 1.0, 0.0, true),
        (0.001, -0.3, 0.0, 0.0, false),
        (0.001, -0.3, 0.5, 0.0003, true),
        (0.001, -0.5, 0.5, -0.0003, false),
    ];
    for (gap, speed, gamma, threshold, active) in cases {
        let settings = forecast(gamma, threshold, false);
        let (mut simulation, ball) = ball(settings, 0.5, gap, speed, 0.0);
        let report = simulation.step().unwrap();
        let text = format!("gap {gap} speed {speed} gamma {gamma} threshold {threshold}");
        assert_eq!(report.contacts, usize::from(active), "{text}");
        // Taken, it restitutes at once.
        let expected = if active { -0.5 * speed } else { speed };
        let v = simulation.twist(ball).unwrap().linear.z;
        assert!((v - expected).abs() <= 1e-12, "{text}: {v}");
    }
}

#[test]
fn approaching_only_leaves_contacts_that_open() {
    // It leaves at 0.01 m/s, and a force of 20 N turns it back within the step: −0.09 m/s without contact.
    for (approaching_only, speed, contacts, expected) in [
        (false, 0.01, 1, 0.0),
        (true, 0.01, 0, -0.09),
        (false, -0.01, 1, 0.0),
        (true, -0.01, 1, 0.0),
        (true, 0.0, 1, 0.0),
    ] {
        let settings = forecast(0.5, 1e-3, approaching_only);
        let (mut simulation, ball) = ball(settings, 0.0, 0.0, speed, -20.0);
        let report = simulation.step().unwrap();
        assert_eq!(report.contacts, contacts, "{approaching_only} {speed}");
        let v = simulation.twist(ball).unwrap().linear.z;
        assert!(
            (v - expected).abs() <= 1e-12,
            "{approaching_only} {speed}: {v} instead of {expected}"
        );
    }
}

#[test]
fn impacts_slower_than_the_threshold_do_not_bounce() {
    for (threshold, speed, bounces) in [
        (Some(0.5), 0.49, false),
        (Some(0.5), 0.51, true),
        (Some(0.0), 1e-3, true),
        (Some(2.0), 1.9, false),
        // Without gravity every impact is faster than ‖g‖ h = 0.
        (None, 1e-3, true),
    ] {
        let settings = Settings {
            restitution_threshold: threshold,
            ..weightless()
        };
        let (mut simulation, ball) = ball(settings, 0.8, 0.3 * 0.005 * speed, -speed, 0.0);
        for _ in 0..5 {
            simulation.step().unwrap();
        }
        let v = simulation.twist(ball).unwrap().linear.z;
        let expected = if bounces { 0.8 * speed } else { 0.0 };
        assert!(
            (v - expected).abs() <= 1e-12,
            "{threshold:?}: {speed} m/s become {v} instead of {expected}"
        );
    }
}

#[test]
fn the_default_threshold_is_the_speed_gained_in_a_step() {
    // ‖g‖ h = 0.04905 m/s. The approach counts at the beginning of the step; gravity adds its own in it, and
    // the bounce is that of the approach.
    for (speed, bounces) in [(0.048, false), (0.050, true)] {
        let (mut simulation, ball) = ball(reference(), 0.8, 0.0, -speed, 0.0);
        simulation.step().unwrap();
        let v = simulation.twist(ball).unwrap().linear.z;
        let expected = if bounces { 0.8 * speed } else { 0.0 };
        assert!((v - expected).abs() <= 1e-12, "{speed} m/s become {v}");
    }
}
