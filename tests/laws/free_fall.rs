//! **Law.** A body under constant force follows `x(t) = x₀ + v₀ t + ½ (g + f/m) t²`.
//!
//! With θ = ½ the scheme advances by `h (v_k + v_{k+1})/2`, the trapezoidal rule on a velocity that is
//! linear in time: exact for every `h`. With θ = 1 it is late by exactly `½ (g + f/m) h t`.
//!
//! Tolerance: rounding. Each of the 1000 additions rounds a value of at most `|x|` to `ε/2`, the
//! velocities likewise: `1e-13 |x|` is the sum at its worst, `1000 ε/2`.

use crate::support::*;

const STEPS: usize = 1000;

/// Falls for `STEPS` steps; returns the error of the position and of the velocity.
fn error_of_fall(settings: Settings, wrench: Wrench) -> (DVec3, DVec3, f64) {
    let (start, speed) = (DVec3::new(1.0, -2.0, 300.0), DVec3::new(3.0, 0.5, 7.0));
    let mass = 2.5;
    let mut simulation = Simulation::new(settings).unwrap();
    let body = simulation
        .spawn((
            RigidBody::Dynamic,
            Mass::given(mass, DVec3::new(0.3, 0.4, 0.5)),
            Pose::from_position(start),
            Twist {
                linear: speed,
                angular: DVec3::ZERO,
            },
            wrench,
        ))
        .unwrap();
    for _ in 0..STEPS {
        simulation.step().unwrap();
    }
    let t = STEPS as f64 * settings.time_step;
    let acceleration = settings.gravity + wrench.force / mass;
    let position = simulation.pose(body).unwrap().position;
    let velocity = simulation.twist(body).unwrap().linear;
    let closed_form = start + speed * t + acceleration * (0.5 * t * t);
    (
        position - closed_form,
        velocity - (speed + acceleration * t),
        start.length() + closed_form.length(),
    )
}

#[test]
fn free_fall_is_exact_with_theta_one_half() {
    let force = Wrench {
        force: DVec3::new(0.7, -1.3, 2.0),
        ..Wrench::default()
    };
    for theta in [Theta::Auto, Theta::Fixed(0.5)] {
        for time_step in [1.0 / 200.0, 0.01, 1e-4] {
            for wrench in [Wrench::default(), force] {
                let settings = Settings {
                    theta,
                    time_step,
                    ..reference()
                };
                let (position, velocity, scale) = error_of_fall(settings, wrench);
                assert!(
                    position.length() <= 1e-13 * scale,
                    "{theta:?} h = {time_step}: position off by {position}"
                );
                assert!(
                    velocity.length() <= 1e-13 * scale,
                    "{theta:?} h = {time_step}: velocity off by {velocity}"
                );
            }
        }
    }
}

#[test]
fn free_fall_with_theta_one_is_late_by_half_a_step() {
    let settings = Settings {
        theta: Theta::Fixed(1.0),
        ..reference()
    };
    let (position, _, scale) = error_of_fall(settings, Wrench::default());
    let t = STEPS as f64 * settings.time_step;
    let expected = settings.gravity * (0.5 * settings.time_step * t);
    assert!((position - expected).length() <= 1e-13 * scale);
}
