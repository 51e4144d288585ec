//! Coordinates of a joint: where frame B is in frame A, the rows that hold it there, and how far it is off.
//!
//! With the origins `p_A`, `p_B` of the frames, `d = p_B − p_A`, and their axes `a_i`, `b_i`, all in the inertial frame:
//!
//! ```text
//! translation along i      e = a_i·d                         ė = a_i·(v_B + ω_B × (p_B − x_B) − v_A − ω_A × (p_B − x_A))
//! rotations, all locked    e = 2 vec(q_A⁻¹ q_B)              ė_i = a_i·(ω_B − ω_A)
//! all but about k          e_i = (a_k × b_k)·a_i, i ≠ k      ė_i = a_i·(ω_B − ω_A)
//! one, about i             e = −a_j·b_k/‖a_j × b_k‖          ė = (ω_B − ω_A)·(a_j × b_k)/‖a_j × b_k‖      (i, j, k cyclic)
//! twist about k            φ = 2 atan2(q_k, q_w),  q = q_A⁻¹ q_B    φ̇ = (q_w² a_k + q_w (v × a_k) + q_k v)·(ω_B − ω_A)/(q_w² + q_k²),  v = vec(q)
//! distance                 e = ‖d‖ − l                       ė = (d/‖d‖)·(v_B + ω_B × (p_B − x_B) − v_A − ω_A × (p_A − x_A))
//! screw                    e = a_z·d − (lead/2π) φ_z         ė accordingly
//! ```
//!
//! The rates are exact where `e = 0`: velocities along the rows are tangent to the joint. A velocity is that of B against A.

use crate::components::{JointAxis, JointKind, Pose};
use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::TAU;

/// Rows of a joint at most.
pub(crate) const MOST: usize = 6;

/// The factors of `v_A, ω_A, v_B, ω_B` in a velocity, inertial frame.
pub(crate) type Row = [f64; 12];

/// What a joint locks: rows, and how far each is off, m or rad.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Locks {
    pub(crate) rows: [Row; MOST],
    pub(crate) errors: [f64; MOST],
    pub(crate) count: usize,
}

impl Locks {
    fn push(&mut self, row: Row, error: f64) {
        if self.count < MOST {
            self.rows[self.count] = row;
            self.errors[self.count] = error;
            self.count += 1;
        }
    }
}

/// The two frames of a joint with their bodies at some poses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// Origins of the frames, m.
    pub(crate) origins: [DVec3; 2],
    /// From the centres of mass to the origins, m.
    arms: [DVec3; 2],
    /// Frames to inertial frame.
    turns: [DQuat; 2],
    axes: [DMat3; 2],
}

impl Placed {
    pub(crate) fn new(frames: &[Pose; 2], bodies: [&Pose; 2]) -> Self {
        let arms = [0, 1].map(|side| bodies[side].orientation * frames[side].position);
        let turns = [0, 1].map(|side| bodies[side].orientation * frames[side].orientation);
        Self {
            origins: [0, 1].map(|side| bodies[side].position + arms[side]),
            arms,
            turns,
            axes: turns.map(DMat3::from_quat),
        }
    }

    /// From the centre of mass of B to the origin of its frame, m.
    pub(crate) fn arm_of_b(&self) -> DVec3 {
        self.arms[1]
    }

    /// Frame A to inertial frame.
    pub(crate) fn turn_of_a(&self) -> DQuat {
        self.turns[0]
    }

    /// Frame B in frame A.
    pub(crate) fn b_in_a(&self) -> DQuat {
        self.turns[0].conjugate() * self.turns[1]
    }

    /// By how much B is turned against A since it was in A like `before`: a rotation vector in the inertial frame to second order, rad.
    pub(crate) fn turned_since(&self, before: DQuat) -> DVec3 {
        let turn = self.b_in_a() * before.conjugate();
        self.turns[0] * (turn.xyz() * 2.0_f64.copysign(turn.w))
    }

    /// `d`.
    fn between(&self) -> DVec3 {
        self.origins[1] - self.origins[0]
    }

    fn along(&self, direction: DVec3) -> Row {
        row(direction, [self.arms[0] + self.between(), self.arms[1]])
    }

    fn distance(&self) -> (f64, Row) {
        let d = self.between();
        let length = d.length();
        let direction = if length > 0.0 {
            d / length
        } else {
            self.axes[0].x_axis
        };
        (length, row(direction, self.arms))
    }

    /// A coordinate, and its rate; an angle within half a turn.
    pub(crate) fn coordinate(&self, kind: &JointKind, axis: JointAxis) -> (f64, Row) {
        let translation = |i: usize| {
            let direction = self.axes[0].col(i);
            (direction.dot(self.between()), self.along(direction))
        };
        match axis {
            JointAxis::X => translation(0),
            JointAxis::Y => translation(1),
            JointAxis::Z => translation(2),
            JointAxis::Distance => self.distance(),
            JointAxis::RotationX => self.rotation(kind, 0),
            JointAxis::RotationY => self.rotation(kind, 1),
            JointAxis::RotationZ => self.rotation(kind, 2),
        }
    }

    /// The angle of the rotation along `k`. Its row is its gradient: what is drawn back along it does no work on the way round.
    fn rotation(&self, kind: &JointKind, k: usize) -> (f64, Row) {
        let (_, locked) = kind.locks();
        let mut held = (0..3).filter(|axis| locked[*axis]);
        match [held.next(), held.next()] {
            [None, _] => self.twist(k),
            [Some(i), None] if k == (i + 2) % 3 => self.second_angle(i),
            _ => self.angle(k),
        }
    }

    /// Where all rotations are free: the twist about axis `k`, of `q_A⁻¹ q_B = swing ∘ twist` about an axis across it.
    fn twist(&self, k: usize) -> (f64, Row) {
        let between = self.b_in_a();
        let between = if between.w < 0.0 { -between } else { between };
        let (axis, v, w) = (DVec3::AXES[k], between.xyz(), between.w);
        let along = v[k];
        let square = w * w + along * along;
        if square == 0.0 {
            // Turned about half a turn across the axis, it has none.
            return (0.0, about(self.axes[0].col(k)));
        }
        let gradient = (axis * (w * w) + v.cross(axis) * w + v * along) / square;
        (2.0 * libm::atan2(along, w), about(self.axes[0] * gradient))
    }

    /// Where the rotation about `i` is locked, and so `a_j·b_k = 0`: the angle about `b_k`.
    fn second_angle(&self, i: usize) -> (f64, Row) {
        let [a, b] = &self.axes;
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let of_a = a.col(j);
        let angle = libm::atan2(of_a.dot(b.col(i)), of_a.dot(b.col(j)));
        (angle, about(b.col(k)))
    }

    /// The angle by which B is turned about axis `k` of A.
    fn angle(&self, k: usize) -> (f64, Row) {
        let [a, b] = &self.axes;
        let (next, last) = ((k + 1) % 3, (k + 2) % 3);
        let turned = b.col(next);
        let angle = libm::atan2(turned.dot(a.col(last)), turned.dot(a.col(next)));
        (angle, about(a.col(k)))
    }

    /// What is locked. `turned` is the rotation about z with its turns, rad; only a screw asks.
    pub(crate) fn locks(&self, kind: &JointKind, turned: f64) -> Locks {
        let mut locks = Locks::default();
        let (translation, rotation) = kind.locks();
        for i in (0..3).filter(|i| translation[*i]) {
            let direction = self.axes[0].col(i);
            locks.push(self.along(direction), direction.dot(self.between()));
        }
        self.lock_rotation(rotation, &mut locks);
        match kind {
            JointKind::Distance { length } => {
                let (distance, row) = self.distance();
                locks.push(row, distance - length);
            }
            JointKind::Screw { lead } => {
                let (way, mut row) = self.coordinate(kind, JointAxis::Z);
                let (_, turn) = self.angle(2);
                let per_radian = lead / TAU;
                for (entry, turn) in row.iter_mut().zip(turn) {
                    *entry -= per_radian * turn;
                }
                locks.push(row, way - per_radian * turned);
            }
            _ => {}
        }
        locks
    }

    fn lock_rotation(&self, locked: [bool; 3], locks: &mut Locks) {
        let [a, b] = &self.axes;
        let free = |axis: &usize| !locked[*axis];
        match locked.iter().filter(|locked| **locked).count() {
            3 => {
                let between = self.b_in_a();
                let sign = if between.w < 0.0 { -2.0 } else { 2.0 };
                let errors = [between.x, between.y, between.z].map(|part| sign * part);
                for (i, error) in errors.into_iter().enumerate() {
                    locks.push(about(a.col(i)), error);
                }
            }
            2 => {
                let k = (0..3).find(free).unwrap_or(2);
                let lean = a.col(k).cross(b.col(k));
                // Axes that point against each other are not parallel.
                let opposite = a.col(k).dot(b.col(k)) < 0.0;
                for i in (0..3).filter(|i| *i != k) {
                    let along = lean.dot(a.col(i));
                    let error = if opposite {
                        2.0_f64.copysign(along) - along
                    } else {
                        along
                    };
                    locks.push(about(a.col(i)), error);
                }
            }
            1 => {
                let i = (0..3).find(|axis| !free(axis)).unwrap_or(0);
                let (of_a, of_b) = (a.col((i + 1) % 3), b.col((i + 2) % 3));
                let across = of_a.cross(of_b);
                let length = across.length();
                if length > 0.0 {
                    locks.push(about(across / length), -of_a.dot(of_b) / length);
                } else {
                    locks.push(about(a.col(i)), 0.0);
                }
            }
            _ => {}
        }
    }
}

/// The velocity along `direction` of B against A at points with these arms.
fn row(direction: DVec3, arms: [DVec3; 2]) -> Row {
    let [a, b] = arms.map(|arm| arm.cross(direction));
    joined([-direction, -a, direction, b])
}

/// The angular velocity of B against A about axis `k` of the inertial frame: with the others it is that of a torque that keeps its direction while bodies turn, as the loads do
/// that it may hold. Frames of the joint play no part.
pub(crate) fn turning(k: usize) -> Row {
    about(DVec3::AXES[k % 3])
}

/// The angular velocity about `axis` of B against A.
fn about(axis: DVec3) -> Row {
    joined([DVec3::ZERO, -axis, DVec3::ZERO, axis])
}

fn joined(parts: [DVec3; 4]) -> Row {
    let mut row = [0.0; 12];
    for (to, part) in row.chunks_exact_mut(3).zip(parts) {
        part.write_to_slice(to);
    }
    row
}

/// The angle nearest to `last` among `angle` and its turns.
pub(crate) fn unwrapped(angle: f64, last: f64) -> f64 {
    let turns = ((last - angle) / TAU).round();
    angle + turns * TAU
}

#[cfg(test)]
mod tests;
