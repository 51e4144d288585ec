//! A point above a floor under gravity. It strikes at `√(2h/g)`, and then after flights of `2 eⁿ √(2h/g)`.

use super::lagrangian::{Masses, Row};
use super::{Reference, SystemScene};
use crate::catalog::{Bound, Parameter, Values};
use moreau_systems::{Matrix, NonsmoothLaw};

const G: f64 = 9.81;

/// The scene.
pub const SCENE: SystemScene = SystemScene {
    name: "bouncing-ball",
    description: "a point of 1 kg falls on a floor and bounces",
    parameters: &[
        Parameter {
            name: "height",
            description: "height of the first fall, m",
            default: 1.0,
            bound: Bound::Between(0.01, 100.0),
        },
        Parameter {
            name: "e",
            description: "restitution",
            default: 0.9,
            bound: Bound::Between(0.0, 1.0),
        },
    ],
    error: "mean error of the height, m",
    reference: Reference::Exact(height),
    duration: 3.0,
    steps: &[1e-2, 2.5e-3, 6.25e-4, 1.5625e-4],
    spawn: |values, method, h| {
        let ball = Masses {
            mass: vec![1.0],
            stiffness: Matrix::zeros(1, 1),
            force: vec![-G],
            q: vec![values.number("height")],
            v: vec![0.0],
            rows: vec![Row {
                row: vec![1.0],
                offset: 0.0,
                law: NonsmoothLaw::NewtonImpact {
                    restitution: values.number("e"),
                },
            }],
        };
        ball.spawn(method, h)
    },
};

/// Height at the time `t`, s.
fn height(values: &Values, t: f64) -> Vec<f64> {
    let (top, e) = (values.number("height"), values.number("e"));
    let fall = (2.0 * top / G).sqrt();
    if t < fall {
        return vec![top - 0.5 * G * t * t];
    }
    let (mut begin, mut speed) = (fall, e * G * fall);
    while t > begin + 2.0 * speed / G {
        // Beyond the accumulation it rests.
        if speed < 1e-12 {
            return vec![0.0];
        }
        begin += 2.0 * speed / G;
        speed *= e;
    }
    let t = t - begin;
    vec![speed * t - 0.5 * G * t * t]
}
