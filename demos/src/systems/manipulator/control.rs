//! The controller of the arm: its phases, what the tip is to do in each, and the torques.

use super::arm::{LENGTH, Square, coriolis, mass, times, transposed_times};
use moreau_systems::Matrix;
use std::f64::consts::TAU;

/// `γ₁`, N s/m. The survey varies it and prints no value; Siconos' example has 8, with which the largest difference to the table is 2 where `n ≤ 16`.
const DAMPING: f64 = 6.0;
/// `γ₂`, 1/s.
const RATE: f64 = 7.0;
/// Factor of `φ`, m/√J.
const DEPTH: f64 = 100.0;
/// Of the circle, s.
const PERIOD: f64 = 10.0;
/// Middle of the circle on the ground, and its radius, m.
const MIDDLE: f64 = 0.65;
const RADIUS: f64 = 0.1;
/// The approach begins below this height, m, on the inner side of `x = 0.6` m.
const LOW: f64 = 0.01;
const INNER: f64 = 0.6;
/// How long the tip slows down, and how long `y_d` then falls, s.
const SLOWING: f64 = 0.4;
const FALLING: f64 = 1.0;
/// Force on the ground at the begin of the sliding, N; it falls to zero in proportion to the time that is left.
const PRESS: f64 = 5.0;

/// What the controller does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// Along the circle.
    Free,
    /// Down to the ground.
    Approach {
        /// When it began, s.
        since: f64,
        /// `φ`, m.
        depth: f64,
    },
    /// Pressed on the ground, which the tip leaves after each impact.
    Impacts {
        /// `x*`, m.
        x: f64,
        /// `φ`, m.
        depth: f64,
    },
    /// Along the ground.
    Held {
        /// When it began, s.
        since: f64,
        /// When the circle begins again, s.
        until: f64,
        /// `x*`, m.
        x: f64,
    },
}

/// Position, velocity and acceleration that the tip is to have: m, m/s, m/s².
#[derive(Clone, Copy, Default)]
struct Desired {
    p: [f64; 2],
    v: [f64; 2],
    a: [f64; 2],
}

impl Desired {
    /// The point of the circle that belongs to the time `clock`, which runs at `rate` and changes that by `change`.
    fn on_circle([clock, rate, change]: [f64; 3]) -> Self {
        let turn = TAU / PERIOD;
        let (s, c) = libm::sincos(turn * clock);
        let (speed, bend) = (turn * rate, turn * change);
        Self {
            p: [MIDDLE + RADIUS * c, RADIUS * s],
            v: [-RADIUS * s * speed, RADIUS * c * speed],
            a: [
                -RADIUS * (c * speed * speed + s * bend),
                RADIUS * (c * bend - s * speed * speed),
            ],
        }
    }
}

/// From `from` at 0 to `to` at 1 without velocity at both ends: value and two derivatives by the part.
fn cubic(from: f64, to: f64, part: f64) -> [f64; 3] {
    let change = to - from;
    [
        from + change * part * part * (3.0 - 2.0 * part),
        6.0 * change * part * (1.0 - part),
        6.0 * change * (1.0 - 2.0 * part),
    ]
}

/// Position of the tip, m.
#[must_use]
pub fn tip(q: &[f64]) -> [f64; 2] {
    let ((s, c), (both_s, both_c)) = (libm::sincos(q[0]), libm::sincos(q[0] + q[1]));
    [LENGTH * (c + both_c), LENGTH * (s + both_s)]
}

/// `J = ∂p/∂θ`, and `J̇`.
fn jacobian(q: &[f64], v: &[f64]) -> [Square; 2] {
    let [x, y] = tip(q);
    let (s, c) = libm::sincos(q[0] + q[1]);
    let [inner_x, inner_y] = [x - LENGTH * c, y - LENGTH * s];
    let both = LENGTH * (v[0] + v[1]);
    [
        [[-y, -LENGTH * s], [x, LENGTH * c]],
        [
            [-inner_x * v[0] - both * c, -both * c],
            [-inner_y * v[0] - both * s, -both * s],
        ],
    ]
}

fn inverse(a: &Square) -> Square {
    let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    [
        [a[1][1] / det, -a[0][1] / det],
        [-a[1][0] / det, a[0][0] / det],
    ]
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

impl Phase {
    fn desired(&self, t: f64) -> Desired {
        match *self {
            Self::Free => Desired::on_circle([t, 1.0, 0.0]),
            Self::Approach { since, depth } => {
                let part = t - since;
                if part < SLOWING {
                    // The clock runs on, stands still and comes back.
                    let (left, square) = (part - SLOWING, SLOWING * SLOWING);
                    return Desired::on_circle([
                        since + left * left * part / square,
                        left * (left + 2.0 * part) / square,
                        (4.0 * left + 2.0 * part) / square,
                    ]);
                }
                let from = Desired::on_circle([since, 0.0, 0.0]).p;
                let [y, v, a] = cubic(from[1], -depth, (part - SLOWING) / FALLING);
                Desired {
                    p: [from[0], y],
                    v: [0.0, v / FALLING],
                    a: [0.0, a / (FALLING * FALLING)],
                }
            }
            Self::Impacts { x, .. } => Desired {
                p: [x, 0.0],
                ..Desired::default()
            },
            Self::Held { since, until, x } => {
                let length = until - since;
                let [p, v, a] = cubic(x, MIDDLE + RADIUS, (t - since) / length);
                Desired {
                    p: [p, 0.0],
                    v: [v / length, 0.0],
                    a: [a / (length * length), 0.0],
                }
            }
        }
    }

    /// Torques at the joints without those against the weight, N m.
    pub(super) fn torque(&self, t: f64, q: &[f64], v: &[f64]) -> [f64; 2] {
        let [j, j_rate] = jacobian(q, v);
        let (at, speed, wanted) = (tip(q), times(&j, [v[0], v[1]]), self.desired(t));
        let (error, slower) = (minus(at, wanted.p), minus(speed, wanted.v));
        let p_r = [0, 1].map(|k| wanted.v[k] - RATE * error[k]);
        let p_r_rate = [0, 1].map(|k| wanted.a[k] - RATE * slower[k]);
        let j_inverse = inverse(&j);
        let q_r = times(&j_inverse, p_r);
        let q_r_rate = times(&j_inverse, minus(p_r_rate, times(&j_rate, q_r)));
        let mut pull = minus(p_r, speed).map(|s| DAMPING * s);
        match *self {
            Self::Impacts { depth, .. } => pull[1] -= DAMPING * RATE * depth,
            Self::Held { since, until, .. } => pull[1] -= PRESS * (until - t) / (until - since),
            Self::Free | Self::Approach { .. } => {}
        }
        let (inertia, inertial) = (times(&mass(q), q_r_rate), coriolis(q, v, q_r));
        let pull = transposed_times(&j, pull);
        [0, 1].map(|k| inertia[k] + inertial[k] + pull[k])
    }

    /// Adds `−γ₁ JᵀJ − γ₂ M`.
    pub(super) fn damping(&self, q: &[f64], slope: &mut Matrix) {
        let [j, _] = jacobian(q, &[0.0; 2]);
        let mass = mass(q);
        for row in 0..2 {
            for column in 0..2 {
                let product = j[0][row] * j[0][column] + j[1][row] * j[1][column];
                slope[(row, column)] -= DAMPING * product + RATE * mass[row][column];
            }
        }
    }

    /// `V = ½ sᵀ J⁻ᵀ M J⁻¹ s`, J.
    fn size_of_error(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        let ([j, _], wanted) = (jacobian(q, v), self.desired(t));
        let (at, speed) = (tip(q), times(&j, [v[0], v[1]]));
        let s = [0, 1].map(|k| speed[k] - wanted.v[k] + RATE * (at[k] - wanted.p[k]));
        let turned = times(&inverse(&j), s);
        let momentum = times(&mass(q), turned);
        0.5 * (turned[0] * momentum[0] + turned[1] * momentum[1])
    }

    /// The phase that begins at `t`, s, after a step of `h`; `struck` says that it had an impact, and that the step before had one too.
    pub(super) fn after(
        &self,
        (t, h): (f64, f64),
        (q, v): (&[f64], &[f64]),
        [struck, twice]: [bool; 2],
    ) -> Option<Self> {
        match *self {
            Self::Free => {
                let [x, y] = tip(q);
                (y <= LOW && x < INNER).then(|| Self::Approach {
                    since: t,
                    depth: DEPTH * self.size_of_error(t, q, v).sqrt(),
                })
            }
            Self::Approach { since, depth } if struck => {
                let x = Desired::on_circle([since, 0.0, 0.0]).p[0];
                Some(Self::Impacts { x, depth })
            }
            Self::Impacts { x, .. } if twice => {
                let until = PERIOD * (1.0 + (t / PERIOD).floor());
                Some(Self::Held { since: t, until, x })
            }
            Self::Held { until, .. } if t >= until - 0.5 * h => Some(Self::Free),
            _ => None,
        }
    }
}
