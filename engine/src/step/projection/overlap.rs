//! Which contacts may overlap at the end of the step, from how their bodies moved.

use super::carried::Displacement;
use super::contacts::{self, Limits};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::interactions::detected::{Centres, Detected};
use glam::DVec3;

/// How far a body got in the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// At most of a point of its surface, m.
    most: f64,
    /// Angle that it turned by, rad.
    angle: f64,
    /// Distance of its farthest point from its centre, m.
    radius: f64,
}

impl Way {
    pub(super) fn of(bodies: &Bodies, slot: Slot, moved: &Displacement) -> Self {
        let (radius, angle) = (bodies.constants[slot].radius, moved.angle);
        let turned = if angle > 0.0 { angle * radius } else { 0.0 };
        Self {
            most: moved.linear.abs().element_sum() + turned,
            angle,
            radius,
        }
    }

    /// What the bodies went is too little for [`may_overlap`], where a contact has this much room (m): its gap and what may be left of an
    /// overlap.
    ///
    /// A contact point is at most the gap off the surface, so that it moved by `most + φ g` at most, and the terms there are bounded by
    /// `D + φ (2R + 2g + ³⁄₂ D)` with the sums `D` and `φ` of both bodies, and the radius `R` of the smaller one.
    pub(super) fn is_short(&self, other: &Self, room: f64) -> bool {
        let (angle, g) = (self.angle + other.angle, room.max(0.0));
        let way = self.most + other.most + angle * g;
        let radius = self.radius.min(other.radius);
        // Without bounds, neither has the product: that is for the other one to say.
        let turned = angle * (2.0 * (radius + g) + 1.5 * way);
        way + turned <= room
    }
}

/// Largest overlap that the motion of the step can have made of the gap at its start, m.
///
/// To first order a gap is carried along by the displacements of the two contact points. Beyond
/// that a body that turned by `φ` leaves its tangent plane by at most `½ φ² ρ`, and a tangential
/// displacement `δ` meets a surface that turned by `φ`: `δ φ`.
pub(super) fn may_overlap(
    candidate: &Detected,
    centres: Centres,
    moved: &[Displacement],
    limits: &[Limits],
) -> bool {
    let tolerance = contacts::tolerance(limits, candidate);
    let one_norm = |v: DVec3| v.abs().element_sum();
    let [a, b] = candidate.bodies.map(|slot| &moved[slot]);
    let [arm_a, arm_b] = candidate.arms(centres);
    let point_a = a.linear + a.angular.cross(arm_a);
    let point_b = b.linear + b.angular.cross(arm_b);
    let relative = point_a - point_b;
    let normal = candidate.normal.dot(relative);
    let depth = |arms: [f64; 2], turn: f64, tangential: f64| {
        let unlisted = contacts::unlisted(limits, candidate, arms, turn);
        let turns = 0.5 * (a.angle * a.angle * arms[0] + b.angle * b.angle * arms[1]);
        turns + unlisted + tangential * (a.angle + b.angle) - candidate.gap - normal
    };
    // The sum of the components bounds a length without a root.
    let arms = [arm_a, arm_b];
    if depth(arms.map(one_norm), a.angle + b.angle, one_norm(relative)) <= tolerance {
        return false;
    }
    let tangential = (relative - candidate.normal * normal).length();
    let turn = (a.angular - b.angular).length();
    depth(arms.map(DVec3::length), turn, tangential) > tolerance
}
