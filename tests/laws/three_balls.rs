//! **Law.** Three equal frictionless balls in a row touch, the first arrives with speed 1: with
//! Newton's law and e = 1 at every contact the speeds are (−1/3, 2/3, 2/3).
//!
//! From `u₁₂⁺ = 1`, `u₂₃⁺ = 0` (the resting contact has nothing to restitute) and momentum. It is the
//! answer of the multiple impact law of Moreau, not that of a sequence of binary impacts (0, 0, 1).
//! Tolerance 1e-10: the solver's 1e-11 times the condition of the 2 × 2 problem (3).

use crate::support::*;

fn impact(activation: Activation, axis: DVec3) -> [f64; 3] {
    let mut simulation = Simulation::new(Settings {
        activation,
        ..weightless()
    })
    .unwrap();
    let balls = [0.0, 1.0, 2.0].map(|x| {
        simulation
            .spawn((
                RigidBody::Dynamic,
                Collider::sphere(0.5),
                Material::frictionless(1.0),
                Pose::from_position(axis * x),
                Twist {
                    linear: if x > 0.0 { DVec3::ZERO } else { axis },
                    angular: DVec3::ZERO,
                },
            ))
            .unwrap()
    });
    simulation.step().unwrap();
    balls.map(|ball| simulation.twist(ball).unwrap().linear.dot(axis))
}

#[test]
fn three_touching_balls_share_the_impact() {
    let forecast = Activation::Forecast {
        gamma: 0.5,
        threshold: 1e-12,
        approaching_only: false,
    };
    for activation in [Activation::GapAware, forecast] {
        for axis in [DVec3::X, DVec3::new(0.6, 0.0, 0.8), -DVec3::Y] {
            let speeds = impact(activation, axis);
            for (speed, expected) in speeds.iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
                assert!(
                    (speed - expected).abs() <= 1e-10,
                    "{activation:?} along {axis}: {speeds:?}"
                );
            }
        }
    }
}
