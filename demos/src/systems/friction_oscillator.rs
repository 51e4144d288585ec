//! A mass on a spring with dry friction: half periods of `π` about `±1`, each 2 shorter than the one before, until it sticks.

use super::lagrangian::{Masses, Row};
use super::{Reference, SystemScene};
use crate::catalog::{Bound, Parameter, Values};
use moreau_systems::{Matrix, NonsmoothLaw};
use std::f64::consts::PI;

/// The scene.
pub const SCENE: SystemScene = SystemScene {
    name: "friction-oscillator",
    description: "1 kg on a spring of 1 N/m with 1 N of dry friction, released from rest; it sticks in the end",
    parameters: &[Parameter {
        name: "x",
        description: "where it is released, m",
        default: 6.5,
        bound: Bound::Between(0.0, 100.0),
    }],
    error: "mean error of the position, m",
    reference: Reference::Exact(position),
    duration: 12.0,
    steps: &[4e-2, 2e-2, 1e-2, 5e-3],
    spawn: |values, method, h| {
        let oscillator = Masses {
            mass: vec![1.0],
            stiffness: Matrix::identity(1),
            force: vec![0.0],
            q: vec![values.number("x")],
            v: vec![0.0],
            rows: vec![Row {
                row: vec![1.0],
                offset: 0.0,
                law: NonsmoothLaw::sign(),
            }],
        };
        oscillator.spawn(method, h)
    },
};

/// Position at the time `t`, s.
fn position(values: &Values, t: f64) -> Vec<f64> {
    // Released at `side · size` it swings about `side · 1`.
    let (mut size, mut side, mut t) = (values.number("x"), 1.0, t);
    while size > 1.0 && t > PI {
        // It comes to rest on the other side, or short of the middle of the next half period.
        (size, side, t) = (size - 2.0, -side, t - PI);
    }
    if size <= 1.0 {
        return vec![side * size];
    }
    vec![side * (1.0 + (size - 1.0) * libm::cos(t))]
}
