//! Velocities at the start, link by link from the root on.
//!
//! A motion of space is `(ω, v₀)`: `v(x) = v₀ + ω × x`. A hinge at `o` along `a` adds `(a q̇, o × a q̇)`, a slide `(0, a q̇)`, each where the joints before it
//! have put it.

use crate::model::{Axis, Hold, Link, Motion};
use glam::DVec3;
use moreau::geometry::Frame;

/// How a rigid part moves, in the inertial frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    /// rad/s.
    pub(super) angular: DVec3,
    /// Of what is at the origin, m/s.
    at_origin: DVec3,
}

impl Rate {
    /// Velocity of a place, m/s.
    pub(super) fn at(&self, place: DVec3) -> DVec3 {
        self.at_origin + self.angular.cross(place)
    }

    /// Of a link on its own, at its place.
    fn of_free(link: &Link, world: &Frame) -> Self {
        let [linear, angular] = link.twist;
        let angular = world.orientation * angular;
        Self {
            angular,
            at_origin: linear - angular.cross(world.position),
        }
    }

    /// With one joint more; `before` is the link's frame with the joints after it, and itself, at zero. That frame afterwards.
    pub(super) fn add(&mut self, axis: &Axis, before: &Frame) -> Frame {
        let joint = before.compose(&axis.frame);
        let after = match axis.motion.pose() {
            Some(moved) => joint.compose(&moved).compose(&axis.frame.inverse()),
            None => *before,
        };
        let (turn, slide) = match axis.motion {
            Motion::Hinge(_) => (joint.orientation * axis.rate, DVec3::ZERO),
            Motion::Slide(_) => (DVec3::ZERO, joint.orientation * axis.rate),
            Motion::Ball(_) => (after.orientation * axis.rate, DVec3::ZERO),
            Motion::Planar => (DVec3::ZERO, DVec3::ZERO),
        };
        self.angular += turn;
        self.at_origin += slide + joint.position.cross(turn);
        after
    }
}

/// Of all links; `worlds` are their poses.
pub(super) fn rates(links: &[Link], worlds: &[Frame]) -> Vec<Rate> {
    let mut rates: Vec<Rate> = Vec::new();
    for (link, world) in links.iter().zip(worlds) {
        let parent = link.parent.unwrap_or(0);
        let mut rate = rates.get(parent).copied().unwrap_or_default();
        match &link.hold {
            Hold::Welded | Hold::Kinematic => {}
            Hold::Free => rate = Rate::of_free(link, world),
            Hold::Joints(axes) => {
                let mut place = worlds[parent].compose(&link.pose);
                for axis in axes {
                    place = rate.add(axis, &place);
                }
            }
        }
        rates.push(rate);
    }
    rates
}
