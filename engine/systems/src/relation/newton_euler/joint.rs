//! Joints of rigid bodies: of one body with what does not move, or of two.

use super::{add_spin_about, add_velocity_at, along, part, point_of_body, tangents};
use crate::algebra::{Matrix, add};
use crate::relation::lagrangian::LagrangianRelation;
use crate::system::newton_euler::orientation;
use crate::system::rotation::{Quaternion, product, turned};

/// What a joint holds. The second side is a second body, or the inertial frame if the interaction joins one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JointKind {
    /// A point of the first on a point of the second: three rows. A ball or knee joint.
    Ball,
    /// The orientation of the first as that of the second, turned by `turn`, and its point on a line of the second along `axis` through the point there: five rows.
    Prismatic {
        /// Unit vector in the frame of the second.
        axis: [f64; 3],
        /// Orientation of the first in the frame of the second.
        turn: Quaternion,
    },
    /// Point and orientation: six rows.
    Fixed {
        /// Orientation of the first in the frame of the second.
        turn: Quaternion,
    },
}

/// A joint, with a point of each side in its own frame.
///
/// ```
/// use moreau_systems::*;
/// // The end of a bar of 1 m on the origin.
/// let knee = BodyJoint::ball([-0.5, 0.0, 0.0], [0.0; 3]);
/// assert_eq!(Relation::lagrangian(knee).rows(), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyJoint {
    /// What it holds.
    pub kind: JointKind,
    /// Point of the first side, in its frame, m.
    pub first: [f64; 3],
    /// Point of the second side, in its frame, m.
    pub second: [f64; 3],
}

/// The pose of a side: that of a body, or the inertial frame.
const FRAME: [f64; 7] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];

const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

impl BodyJoint {
    /// A ball joint.
    #[must_use]
    pub fn ball(first: [f64; 3], second: [f64; 3]) -> Self {
        Self {
            kind: JointKind::Ball,
            first,
            second,
        }
    }

    /// A slide of the first side's centre of mass along `axis`, as the poses are.
    #[must_use]
    pub fn prismatic(axis: [f64; 3], second: [f64; 3], turn: Quaternion) -> Self {
        Self {
            kind: JointKind::Prismatic { axis, turn },
            first: [0.0; 3],
            second,
        }
    }

    /// Directions in the inertial frame along which the points are held.
    fn directions(&self, second: &[f64]) -> ([[f64; 3]; 3], usize) {
        match self.kind {
            JointKind::Ball | JointKind::Fixed { .. } => (AXES, 3),
            JointKind::Prismatic { axis, .. } => {
                let axis = turned(orientation(second), axis);
                let [a, b] = tangents(axis);
                ([a, b, axis], 2)
            }
        }
    }

    fn turn(&self) -> Option<Quaternion> {
        match self.kind {
            JointKind::Ball => None,
            JointKind::Prismatic { turn, .. } | JointKind::Fixed { turn } => Some(turn),
        }
    }
}

/// `2 u` of the rotation from `wanted` to `p`, on the side of the smaller angle: for small angles the rotation vector in the inertial frame.
fn apart(p: Quaternion, wanted: Quaternion) -> [f64; 3] {
    let back = [wanted[0], -wanted[1], -wanted[2], -wanted[3]];
    let [w, x, y, z] = product(p, back);
    let sign = if w < 0.0 { -2.0 } else { 2.0 };
    [sign * x, sign * y, sign * z]
}

impl LagrangianRelation for BodyJoint {
    fn rows(&self) -> usize {
        match self.kind {
            JointKind::Ball => 3,
            JointKind::Prismatic { .. } => 5,
            JointKind::Fixed { .. } => 6,
        }
    }

    fn output(&self, _t: f64, q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        let second = q.get(1).copied().unwrap_or(&FRAME);
        let mut distance = point_of_body(q[0], self.first);
        add(&mut distance, -1.0, &point_of_body(second, self.second));
        let (directions, count) = self.directions(second);
        for (y, direction) in y.iter_mut().zip(directions).take(count) {
            *y = along(distance, direction);
        }
        if let Some(turn) = self.turn() {
            let wanted = product(orientation(second), turn);
            y[count..].copy_from_slice(&apart(orientation(q[0]), wanted));
        }
    }

    /// Rows of the angular velocities are those at the wanted orientation.
    fn jacobian(&self, _t: f64, q: &[&[f64]], h: &mut [Matrix]) {
        let second = q.get(1).copied().unwrap_or(&FRAME);
        let (directions, count) = self.directions(second);
        // A direction of the second side turns with it: its rows are those of the point of the second body that the first point is at.
        let at = point_of_body(q[0], self.first);
        let other = match self.kind {
            JointKind::Prismatic { .. } => at,
            JointKind::Ball | JointKind::Fixed { .. } => point_of_body(second, self.second),
        };
        for (side, (q, factor)) in q.iter().zip([1.0, -1.0]).enumerate() {
            let at = if side == 0 { at } else { other };
            for (row, direction) in directions.into_iter().enumerate().take(count) {
                if let Some(own) = part(h, side, row) {
                    add_velocity_at(own, factor, q, at, direction);
                }
            }
            if self.turn().is_some() {
                for (k, axis) in AXES.into_iter().enumerate() {
                    if let Some(own) = part(h, side, count + k) {
                        add_spin_about(own, factor, q, axis);
                    }
                }
            }
        }
    }
}

/// The angular velocity of a body about an axis of its frame, given as a function of time: one row without a place.
#[derive(Clone, Copy)]
pub struct Spinning {
    /// Unit vector in the body frame.
    pub axis: [f64; 3],
    /// rad/s at a time, s.
    pub rate: fn(f64) -> f64,
}

impl LagrangianRelation for Spinning {
    fn rows(&self) -> usize {
        1
    }

    fn output(&self, _t: f64, _q: &[&[f64]], _lambda: &[f64], y: &mut [f64]) {
        // No place goes with the rate.
        y[0] = 0.0;
    }

    fn jacobian(&self, _t: f64, _q: &[&[f64]], h: &mut [Matrix]) {
        h[0].row_mut(0)[3..].copy_from_slice(&self.axis);
    }

    fn output_by_time(&self, t: f64, _q: &[&[f64]], rate: &mut [f64]) {
        rate[0] = -(self.rate)(t);
    }
}
