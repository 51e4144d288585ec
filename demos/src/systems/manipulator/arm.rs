//! The arm: two links in a plane, driven at both joints, and its tip above the ground.
//!
//! `θ₁` is the angle of the first link from the horizontal, `θ₂` that of the second from the first, rad. The controller compensates the weight, so that
//! no gravity is left.

use super::control::Phase;
use moreau_systems::{LagrangianModel, LagrangianRelation, Matrix};

/// Length of each link, m.
pub(super) const LENGTH: f64 = 0.5;
/// Mass of each link, kg.
const MASS: f64 = 1.0;
/// Moment of inertia of each link about its middle, kg m².
const INERTIA: f64 = 1.0;

/// A 2 × 2 matrix by rows.
pub(super) type Square = [[f64; 2]; 2];

/// `A x`.
pub(super) fn times(a: &Square, x: [f64; 2]) -> [f64; 2] {
    [
        a[0][0] * x[0] + a[0][1] * x[1],
        a[1][0] * x[0] + a[1][1] * x[1],
    ]
}

/// `Aᵀ x`.
pub(super) fn transposed_times(a: &Square, x: [f64; 2]) -> [f64; 2] {
    [
        a[0][0] * x[0] + a[1][0] * x[1],
        a[0][1] * x[0] + a[1][1] * x[1],
    ]
}

/// `M(θ)`, kg m².
pub(super) fn mass(q: &[f64]) -> Square {
    let (square, c) = (LENGTH * LENGTH, libm::cos(q[1]));
    let second = INERTIA + MASS * square / 4.0;
    let both = second + MASS * square * c / 2.0;
    let first = MASS * square / 4.0 + INERTIA + second + MASS * square * (1.0 + c);
    [[first, both], [both, second]]
}

/// `C(θ, θ̇) w`, N m: the second factor of the velocities is `w`.
pub(super) fn coriolis(q: &[f64], v: &[f64], w: [f64; 2]) -> [f64; 2] {
    let factor = MASS * LENGTH * LENGTH * libm::sin(q[1]);
    [
        -factor * v[1] * (w[0] + w[1] / 2.0),
        factor * v[0] * w[0] / 2.0,
    ]
}

/// The arm under its controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arm {
    /// What the controller does.
    pub phase: Phase,
}

impl LagrangianModel for Arm {
    fn size(&self) -> usize {
        2
    }

    fn mass(&self, q: &[f64], matrix: &mut Matrix) {
        for (row, entries) in mass(q).iter().enumerate() {
            matrix.row_mut(row).copy_from_slice(entries);
        }
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        let torque = self.phase.torque(t, q, v);
        let inertial = coriolis(q, v, [v[0], v[1]]);
        for (k, force) in force.iter_mut().enumerate() {
            *force = torque[k] - inertial[k];
        }
    }

    /// The main terms, `−γ₁ JᵀJ − γ₂ M`.
    fn force_by_velocity(&self, _t: f64, q: &[f64], _v: &[f64], slope: &mut Matrix) {
        self.phase.damping(q, slope);
    }
}

/// Height of the tip above the ground, m.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip;

impl LagrangianRelation for Tip {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        let q = q[0];
        y[0] = LENGTH * (libm::sin(q[0]) + libm::sin(q[0] + q[1]));
    }

    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        let both = libm::cos(q[0][0] + q[0][1]);
        h[0][(0, 0)] = LENGTH * (libm::cos(q[0][0]) + both);
        h[0][(0, 1)] = LENGTH * both;
    }
}
