//! Relations of rigid bodies: contacts of one row or three, and joints [docs/theory.md §3].
//!
//! Rows are by velocities, `G = ∂h/∂q T(q)`, six entries a body: `v_g` in the inertial frame, `Ω` in the body frame. A relation of one's own is any
//! [`LagrangianRelation`](super::lagrangian::LagrangianRelation) written so; it may join a body and a Lagrangian system, whose part has one column a coordinate.

pub mod contact;
pub mod joint;

pub use contact::{BodyContact, ContactPoint};
pub use joint::{BodyJoint, JointKind, Spinning};

use crate::algebra::Matrix;
use crate::system::newton_euler::orientation;
use crate::system::rotation::{cross, turned, turned_back};

/// A point of the body frame of a body with the coordinates `q`, in the inertial frame, m.
#[must_use]
pub fn point_of_body(q: &[f64], point: [f64; 3]) -> [f64; 3] {
    let arm = turned(orientation(q), point);
    [0, 1, 2].map(|k| q[k] + arm[k])
}

/// Adds to a row of six entries what the velocity along `direction`, inertial frame, of the body's point at `at`, inertial frame, m, takes of the twist:
/// `factor (d, Rᵀ(ρ × d))` with `ρ = at − x_g`.
pub fn add_velocity_at(row: &mut [f64], factor: f64, q: &[f64], at: [f64; 3], direction: [f64; 3]) {
    let arm = [0, 1, 2].map(|k| at[k] - q[k]);
    let turning = turned_back(orientation(q), cross(arm, direction));
    for k in 0..3 {
        row[k] += factor * direction[k];
        row[3 + k] += factor * turning[k];
    }
}

/// Adds to a row what the angular velocity about `axis`, inertial frame, takes of the twist.
pub fn add_spin_about(row: &mut [f64], factor: f64, q: &[f64], axis: [f64; 3]) {
    let own = turned_back(orientation(q), axis);
    crate::algebra::add(&mut row[3..], factor, &own);
}

/// `a·b`.
fn along(a: [f64; 3], b: [f64; 3]) -> f64 {
    crate::algebra::dot(&a, &b)
}

/// Two unit vectors that make a right-handed frame with the unit vector `n`.
fn tangents(n: [f64; 3]) -> [[f64; 3]; 2] {
    // The axis that `n` is least along.
    let mut least = 0;
    for k in 1..3 {
        if n[k].abs() < n[least].abs() {
            least = k;
        }
    }
    let mut axis = [0.0; 3];
    axis[least] = 1.0;
    let first = cross(axis, n);
    let length = along(first, first).sqrt();
    let first = first.map(|x| x / length);
    [first, cross(n, first)]
}

/// The part of a system in a list of rows.
fn part(h: &mut [Matrix], side: usize, row: usize) -> Option<&mut [f64]> {
    h.get_mut(side).map(|h| h.row_mut(row))
}
