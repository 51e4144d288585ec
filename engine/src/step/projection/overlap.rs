//! Which contacts may overlap at the end of the step, from how their bodies moved.

use super::carried::Displacement;
use super::contacts::{self, Limits};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::interactions::detected::{Centres, Detected};
use glam::DVec3;

/// How far a body got in the step. The surface of a ball does not turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// At most of a point of its surface, m.
    most: f64,
    /// Angle that it turned by, rad.
    angle: f64,
    /// Distance of its farthest point from its centre, m.
    radius: f64,
    /// Its radius if it is a ball, m, or 0.
    ball: f64,
}

impl Way {
    pub(super) fn of(bodies: &Bodies, slot: Slot, moved: &Displacement) -> Self {
        let body = &bodies.constants[slot];
        let (radius, ball) = (body.radius, body.ball_radius());
        let angle = if ball.is_some() { 0.0 } else { moved.angle };
        let turned = if angle > 0.0 { angle * radius } else { 0.0 };
        Self {
            most: one_norm(moved.linear) + turned,
            angle,
            radius,
            ball: ball.unwrap_or(0.0),
        }
    }

    /// What the bodies went is too little for [`may_overlap`], where a contact has this much room (m): its gap and what may be left of an
    /// overlap.
    ///
    /// A contact point is at most the gap off the surface, so that it moved by `most + φ g` at most, and the terms there are bounded by
    /// `D + φ (2R + 2g + ³⁄₂ D)` with the sums `D` and `φ` of both bodies, and `R` the radius of the smaller one, or of the ball.
    pub(super) fn is_short(&self, other: &Self, room: f64) -> bool {
        self.is_short_by(other, self.most + other.most, room)
    }

    /// The same of bodies whose centres came closer by no more than these displacements of them differ: what moves both alike leaves them as far
    /// apart as they were.
    pub(super) fn is_short_apart(&self, other: &Self, centres: [DVec3; 2], room: f64) -> bool {
        let [a, b] = centres;
        let alike = one_norm(a) + one_norm(b) - one_norm(a - b);
        self.is_short_by(other, self.most + other.most - alike, room)
    }

    fn is_short_by(&self, other: &Self, most: f64, room: f64) -> bool {
        let (angle, g) = (self.angle + other.angle, larger(room, 0.0));
        let smaller = if self.radius < other.radius {
            self.radius
        } else {
            other.radius
        };
        let radius = larger(smaller, larger(self.ball, other.ball));
        let way = most + angle * g;
        // Without bounds, neither has the product: that is for the other one to say.
        way + angle * (2.0 * (radius + g) + 1.5 * way) <= room
    }
}

/// Of two numbers, in one instruction.
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The sum of the components: no less than the length, and without a root.
fn one_norm(v: DVec3) -> f64 {
    v.abs().element_sum()
}

/// Largest overlap that the motion of the step can have made of the gap at its start, m.
///
/// To first order a gap is carried along by the displacements of the two contact points. Beyond
/// that a body that turned by `φ` leaves its tangent plane by at most `½ φ² ρ`, and a tangential
/// displacement `δ` meets a surface that turned by `φ`: `δ φ`. On a ball the contact goes to where the plane of the other
/// body turns, by the same `½ φ² ρ` with the turn of that one.
pub(super) fn may_overlap(
    candidate: &Detected,
    centres: Centres,
    moved: &[Displacement],
    limits: &[Limits],
) -> bool {
    let tolerance = contacts::tolerance(limits, candidate);
    let [a, b] = candidate.bodies.map(|slot| {
        if centres.balls[slot] > 0.0 {
            moved[slot].without_turn()
        } else {
            moved[slot]
        }
    });
    let [arm_a, arm_b] = candidate.arms(centres);
    let point_a = a.linear + a.angular.cross(arm_a);
    let point_b = b.linear + b.angular.cross(arm_b);
    let relative = point_a - point_b;
    let normal = candidate.normal.dot(relative);
    let [of_a, of_b] = candidate.bodies.map(|slot| centres.balls[slot] > 0.0);
    let leaves_a = if of_a { b.angle } else { a.angle };
    let leaves_b = if of_b { a.angle } else { b.angle };
    let depth = |arms: [f64; 2], turn: f64, tangential: f64| {
        let unlisted = contacts::unlisted(limits, candidate, arms, turn);
        let turns = 0.5 * (leaves_a * leaves_a * arms[0] + leaves_b * leaves_b * arms[1]);
        turns + unlisted + tangential * (a.angle + b.angle) - candidate.gap - normal
    };
    let arms = [arm_a, arm_b];
    if depth(arms.map(one_norm), a.angle + b.angle, one_norm(relative)) <= tolerance {
        return false;
    }
    let tangential = (relative - candidate.normal * normal).length();
    let turn = (a.angular - b.angular).length();
    depth(arms.map(DVec3::length), turn, tangential) > tolerance
}
