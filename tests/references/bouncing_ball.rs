//! A ball on a plane, e = 0.9, θ = ½, h = 0.005, T = 10: more than the whole accumulation of impacts.
//!
//! Same rule, same arithmetic up to the place of the radius: the difference is rounding, amplified by the
//! impacts at most linearly. Independent recomputations of the tables agree to 3e-14; 1e-11 allows for the
//! solver's tolerance of 1e-11 and gaps that are differences of coordinates.
//!
//! The tables with projection are other methods: the direct one leaves the overlap of contacts that were not active in
//! the step, the combined one also pulls a ball down that has just left the plane. The engine projects every overlap
//! and nothing else, so they are not compared.

use crate::table::read;
use moreau::prelude::*;
use moreau::{Projection, glam::DVec3};
use moreau_tests::reference;

const RADIUS: f64 = 0.1;
const TOLERANCE: f64 = 1e-11;

/// The sources' rules over a plane; the ball's centre is `RADIUS + q` above it.
fn simulation() -> Simulation {
    let settings = Settings {
        time_step: 0.005,
        theta: Theta::Fixed(0.5),
        activation: Activation::Forecast {
            gamma: 0.5,
            threshold: 0.0,
            approaching_only: false,
        },
        projection: Projection {
            max_iterations: 0,
            ..Projection::default()
        },
        ..reference()
    };
    let mut simulation = Simulation::new(settings).unwrap();
    simulation
        .spawn((RigidBody::Static, Collider::half_space(DVec3::Z)))
        .unwrap();
    simulation
}

#[test]
fn forecast_rule_reproduces_the_bouncing_ball() {
    let Some(rows) = read("BouncingBallTS.ref") else {
        return;
    };
    let mut simulation = simulation();
    let ball = simulation
        .spawn((
            RigidBody::Dynamic,
            Collider::sphere(RADIUS),
            Mass::given(1.0, DVec3::splat(0.004)),
            Material {
                restitution: 0.9,
                ..Material::default()
            },
            Pose::at(0.0, 0.0, 1.0 + RADIUS),
        ))
        .unwrap();
    let mut worst: f64 = 0.0;
    for (k, row) in rows.iter().enumerate() {
        if k > 0 {
            simulation.step().unwrap();
        }
        let q = simulation.pose(ball).unwrap().position.z - RADIUS;
        let v = simulation.twist(ball).unwrap().linear.z;
        let p: f64 = simulation.contacts().iter().map(|c| c.impulse.x).sum();
        let error = (q - row[1])
            .abs()
            .max((v - row[2]).abs())
            .max((p - row[3]).abs());
        worst = worst.max(error);
        assert!(
            error <= TOLERANCE,
            "row {k}: q {q} v {v} p {p} instead of {row:?}"
        );
    }
    println!("largest difference {worst:e}");
}
