//! Masses in a row, joined by springs, with stops between neighbours and a wall at the end: the row is thrown against the wall.
//!
//! From six masses on, several contacts come to rest together in ever shorter flights, below a microsecond. Event-driven integration sees a contact that
//! has left and has not been seen beyond `EventSettings::gap` at the end of a step only once it gets deeper by that, so that the order of these impacts hangs on
//! its tolerances: with six masses two runs are 2.4e-5 m apart, with ten or twenty 5.4e-5 m.

use super::lagrangian::{Masses, Row};
use super::{Reference, SystemScene};
use crate::catalog::{Bound, Parameter};
use moreau_systems::{Matrix, NonsmoothLaw};

/// Of a spring, N/m; between the stops of neighbours and before the wall, m; speed at the start, m/s.
const STIFFNESS: f64 = 100.0;
const PLAY: f64 = 0.05;
const SPEED: f64 = -1.0;

/// The scene.
pub const SCENE: SystemScene = SystemScene {
    name: "impact-chain",
    description: "masses of 1 kg on springs, with stops between them, are thrown against a wall",
    parameters: &[
        Parameter {
            name: "n",
            description: "number of masses",
            default: 4.0,
            bound: Bound::Whole(1, 50),
        },
        Parameter {
            name: "e",
            description: "restitution",
            default: 0.5,
            bound: Bound::Between(0.0, 1.0),
        },
    ],
    error: "mean over time of the largest error of a displacement, m",
    reference: Reference::Events,
    duration: 0.5,
    steps: &[1e-2, 2.5e-3, 6.25e-4, 1.5625e-4],
    spawn: |values, method, h| {
        let chain = chain(values.whole("n"), values.number("e"));
        chain.spawn(method, h)
    },
};

/// `q` are displacements from rest.
fn chain(n: usize, restitution: f64) -> Masses {
    let mut stiffness = Matrix::zeros(n, n);
    let law = || NonsmoothLaw::NewtonImpact { restitution };
    let mut rows = Vec::with_capacity(n);
    for i in 0..n {
        let mut row = vec![0.0; n];
        row[i] = 1.0;
        if i > 0 {
            row[i - 1] = -1.0;
            for (a, b, sign) in [
                (i, i, 1.0),
                (i - 1, i - 1, 1.0),
                (i, i - 1, -1.0),
                (i - 1, i, -1.0),
            ] {
                stiffness[(a, b)] += sign * STIFFNESS;
            }
        }
        rows.push(Row {
            row,
            offset: PLAY,
            law: law(),
        });
    }
    Masses {
        mass: vec![1.0; n],
        stiffness,
        force: vec![0.0; n],
        q: vec![0.0; n],
        v: vec![SPEED; n],
        rows,
    }
}
