//! The same problem in other units, and with other names and axes.
//!
//! ```text
//! mass × m:      W/m,  q,     r m          length × l:  W,  q l,  r l
//! time × 1/t:    W,    q t,   r t          (an impulse is a mass times a velocity)
//! turned axes:   QᵀWQ, Qᵀq,   Qᵀr          Q turns t₁, t₂ of each contact
//! ```

use glam::{DMat3, DVec3};
use moreau_solvers::{Delassus, StoredProblem};

/// The problem with unit of mass `1/mass` and unit of velocity `1/velocity`.
pub(crate) fn in_units(problem: &StoredProblem, mass: f64, velocity: f64) -> StoredProblem {
    let row = |i: usize| {
        let blocks = problem.delassus.row(i);
        blocks.map(|(j, b)| (j as u32, *b * (1.0 / mass))).collect()
    };
    StoredProblem {
        delassus: Delassus::from_rows((0..problem.len()).map(row).collect()),
        free_velocity: problem
            .free_velocity
            .iter()
            .map(|q| *q * velocity)
            .collect(),
        ..problem.clone()
    }
}

/// The axes of contact `i`: turned by a rational angle that differs from contact to contact.
fn turn(i: usize) -> DMat3 {
    let [c, s] = [[0.6, 0.8], [-0.8, 0.6], [5.0 / 13.0, -12.0 / 13.0]][i % 3];
    DMat3::from_cols(DVec3::X, DVec3::new(0.0, c, s), DVec3::new(0.0, -s, c))
}

/// Contacts in reverse order with turned tangents, and the impulse that goes with them.
pub(crate) fn relabelled(
    problem: &StoredProblem,
    impulse: &[DVec3],
) -> (StoredProblem, Vec<DVec3>) {
    let contacts = problem.contacts();
    let old = |i: usize| if i < contacts { contacts - 1 - i } else { i };
    let axes = |i: usize| {
        if i < contacts {
            turn(i)
        } else {
            DMat3::IDENTITY
        }
    };
    let row = |i: usize| {
        let blocks = problem.delassus.row(old(i));
        blocks
            .map(|(j, b)| (old(j) as u32, axes(i).transpose() * *b * axes(old(j))))
            .collect()
    };
    let vector = |v: &[DVec3]| {
        let at = |i: usize| axes(i).transpose() * v[old(i)];
        (0..problem.len()).map(at).collect::<Vec<_>>()
    };
    let other = StoredProblem {
        delassus: Delassus::from_rows((0..problem.len()).map(row).collect()),
        free_velocity: vector(&problem.free_velocity),
        friction: (0..contacts).map(|i| problem.friction[old(i)]).collect(),
        joints: problem.joints.clone(),
    };
    (other, vector(impulse))
}
