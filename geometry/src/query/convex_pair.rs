//! Two convex things in one frame: supports, projections, directions between them.
//!
//! A ball is a point and a capsule a segment, with a radius around.

use super::axes::best_axis;
use super::point::{on_triangle, onto};
use crate::contact::nearest::{ConvexSet, nearest};
use crate::geometry::Convex;
use crate::projection::{direction_or, onto_segment};
use crate::{Aabb, Frame};
use glam::DVec3;
use parry3d_f64::math::Pose3;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;

/// A convex solid or a triangle, placed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) pose: Frame,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind<'a> {
    Convex(&'a Convex),
    Triangle([DVec3; 3]),
}

/// How two of them are to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Between {
    /// Nearest or deepest points (m).
    pub(super) on_a: DVec3,
    pub(super) on_b: DVec3,
    /// Unit vector from A to B.
    pub(super) direction: DVec3,
    /// Negative in overlap (m).
    pub(super) distance: f64,
}

impl<'a> Solid<'a> {
    pub(super) fn convex(convex: &'a Convex, pose: Frame) -> Self {
        let kind = Kind::Convex(convex);
        Self { kind, pose }
    }

    pub(super) fn triangle(corners: [DVec3; 3], pose: Frame) -> Self {
        let kind = Kind::Triangle(corners);
        Self { kind, pose }
    }

    /// The same elsewhere.
    pub(super) fn moved(self, by: DVec3) -> Self {
        let position = self.pose.position + by;
        let pose = Frame {
            position,
            ..self.pose
        };
        Self { pose, ..self }
    }

    /// The same in a frame that is placed in ours.
    pub(super) fn seen_from(self, frame: &Frame) -> Self {
        let pose = frame.relative(&self.pose);
        Self { pose, ..self }
    }

    /// Box around it (m).
    pub(super) fn aabb(&self) -> Aabb {
        match self.kind {
            Kind::Convex(convex) => convex.aabb(&self.pose),
            Kind::Triangle(corners) => {
                Aabb::from_points(corners.map(|corner| self.pose.transform_point(corner)))
            }
        }
    }

    /// Of what is around the core (m).
    pub(super) fn radius(&self) -> f64 {
        match self.kind {
            Kind::Convex(Convex::Sphere { radius } | Convex::Capsule { radius, .. }) => *radius,
            _ => 0.0,
        }
    }

    fn is_point(&self) -> bool {
        matches!(self.kind, Kind::Convex(Convex::Sphere { .. }))
    }

    /// Of a ball about [`Self::middle`] that holds it (m).
    pub(super) fn reach(&self) -> f64 {
        match self.kind {
            Kind::Convex(convex) => convex.bounding_radius() + self.offset().length(),
            Kind::Triangle(corners) => {
                let lengths = corners.map(|corner| (corner - self.offset()).length());
                lengths.into_iter().fold(0.0, f64::max)
            }
        }
    }

    /// The middle in the local frame.
    fn offset(&self) -> DVec3 {
        match self.kind {
            Kind::Convex(Convex::Polyhedron(polyhedron)) => polyhedron.middle,
            Kind::Convex(_) => DVec3::ZERO,
            Kind::Triangle([a, b, c]) => (a + b + c) / 3.0,
        }
    }

    /// A point within (m).
    pub(super) fn middle(&self) -> DVec3 {
        self.pose.transform_point(self.offset())
    }

    /// A point of the core that is farthest along a direction (m).
    pub(super) fn support(&self, direction: DVec3) -> DVec3 {
        let local = self.pose.inverse_rotate(direction);
        self.pose.transform_point(match self.kind {
            Kind::Convex(Convex::Sphere { .. }) => DVec3::ZERO,
            Kind::Convex(Convex::Capsule { half_height, .. }) => {
                DVec3::Z * half_height.copysign(local.z)
            }
            Kind::Convex(Convex::Frustum(frustum)) => frustum.support_point(local),
            Kind::Convex(Convex::Polyhedron(polyhedron)) => match polyhedron.half_extents {
                Some(half) => DVec3::new(
                    half.x.copysign(local.x),
                    half.y.copysign(local.y),
                    half.z.copysign(local.z),
                ),
                None => polyhedron.view().farthest(local),
            },
            Kind::Triangle(corners) => {
                let [a, b, c] = corners.map(|corner| (corner.dot(local), corner));
                let best = if b.0 > a.0 { b } else { a };
                if c.0 > best.0 { c.1 } else { best.1 }
            }
        })
    }

    /// The point of the core that is nearest to a point (m): within it, the point itself.
    fn project(&self, point: DVec3) -> DVec3 {
        let local = self.pose.inverse_transform_point(point);
        let solid = |convex: &Convex| {
            let found = onto(convex, local);
            if found.distance <= 0.0 {
                local
            } else {
                found.point
            }
        };
        self.pose.transform_point(match self.kind {
            Kind::Convex(Convex::Sphere { .. }) => DVec3::ZERO,
            Kind::Convex(Convex::Capsule { half_height, .. }) => {
                let axis = DVec3::Z * *half_height;
                onto_segment(local, -axis, axis)
            }
            Kind::Convex(convex) => solid(convex),
            Kind::Triangle(corners) => on_triangle(local, &corners),
        })
    }
}

/// How far apart the planes across a direction from A to B hold the two, radii included (m). No greater than their distance.
pub(super) fn separation(a: &Solid, b: &Solid, direction: DVec3) -> f64 {
    let gap = b.support(-direction) - a.support(direction);
    gap.dot(direction) - a.radius() - b.radius()
}

/// A unit vector from A to B, along which they are about as far apart as they are; none if their cores meet.
pub(super) fn direction_between(a: &Solid, b: &Solid, guess: DVec3) -> Option<DVec3> {
    let nonzero = |offset: DVec3| (offset != DVec3::ZERO).then(|| direction_or(offset, guess));
    if a.is_point() {
        return nonzero(b.project(a.pose.position) - a.pose.position);
    }
    if b.is_point() {
        return nonzero(b.pose.position - a.project(b.pose.position));
    }
    // Parry's tolerances are lengths, right for things of about a metre.
    let unit = 1.0 / a.reach().min(b.reach());
    let (in_a, in_b) = (InUnits(a, unit), InUnits(b, unit));
    let mut simplex = VoronoiSimplex::new();
    simplex.reset(CsoPoint::from_shapes(&Pose3::IDENTITY, &in_a, &in_b, guess));
    match gjk::closest_points(&Pose3::IDENTITY, &in_a, &in_b, f64::MAX, true, &mut simplex) {
        GJKResult::ClosestPoints(_, _, direction) => direction.try_normalize(),
        _ => None,
    }
}

struct InUnits<'a>(&'a Solid<'a>, f64);

impl SupportMap for InUnits<'_> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        self.0.support(direction) * self.1
    }
}

/// Nearest or deepest points of two.
pub(super) fn between(a: &Solid, b: &Solid, guess: DVec3) -> Option<Between> {
    let radii = a.radius() + b.radius();
    if a.is_point() || b.is_point() {
        return Some(of_point(a, b, radii));
    }
    let scale = a.reach().min(b.reach());
    let mut found = of_cores(a, b, guess, scale)?;
    if found.distance < NEAR * scale {
        // All but touching cores, and those in overlap, have several directions of which each is the best near by.
        let held = |l: DVec3| separation(a, b, l) + radii;
        let better = best_axis(a, b, |l| held(l) - found.distance > 1e-12 * scale, held);
        found = polished(a, b, better.unwrap_or(found.direction), scale, held).unwrap_or(found);
    }
    Some(Between {
        on_a: found.on_a + found.direction * a.radius(),
        on_b: found.on_b - found.direction * b.radius(),
        direction: found.direction,
        distance: found.distance - radii,
    })
}

/// The best direction near `l` along which two that all but touch, or overlap, are held apart: that of the nearest points of the two moved apart along `l` has
/// all its digits, and the best one stays the same. The points are opposite each other, too.
fn polished(
    a: &Solid,
    b: &Solid,
    mut l: DVec3,
    scale: f64,
    held: impl Fn(DVec3) -> f64,
) -> Option<Between> {
    let mut distance = held(l);
    let mut best: Option<Between> = None;
    for _ in 0..ROUNDS {
        let apart = l * (APART * scale - distance);
        let next = of_cores(a, &b.moved(apart), l, scale)?;
        let then = held(next.direction);
        let better = then > distance;
        if better || best.is_none() {
            let (on_a, on_b) = (next.on_a, next.on_b - apart);
            best = Some(Between {
                on_a,
                on_b,
                direction: if better { next.direction } else { l },
                distance: then.max(distance),
            });
        }
        if then <= distance + 1e-14 * scale {
            break;
        }
        (l, distance) = (next.direction, then);
    }
    best
}

/// Most rounds of this.
const ROUNDS: usize = 8;
/// Distance of the cores, over the size of the smaller one, below which more directions are tried.
const NEAR: f64 = 1e-3;
/// How far apart two are put to see which of their points are opposite, over the same size.
const APART: f64 = 0.02;

/// Of the cores.
fn of_cores(a: &Solid, b: &Solid, guess: DVec3, scale: f64) -> Option<Between> {
    let in_a = ConvexSet {
        support: |l| a.support(l),
        project: |x| a.project(x),
        inner: a.middle(),
    };
    let in_b = ConvexSet {
        support: |l| b.support(l),
        project: |x| b.project(x),
        inner: b.middle(),
    };
    let found = nearest(&in_a, &in_b, guess, f64::MAX, scale)?;
    Some(Between {
        on_a: found.on_a,
        on_b: found.on_b,
        direction: found.direction,
        distance: found.distance,
    })
}

/// One of them is a ball: the signed distance of its centre tells.
fn of_point(a: &Solid, b: &Solid, radii: f64) -> Between {
    let (ball, other, sign) = if a.is_point() {
        (a, b, 1.0)
    } else {
        (b, a, -1.0)
    };
    let center = ball.pose.position;
    // From the ball to the surface of the other's core.
    let (direction, distance) = match other.kind {
        Kind::Convex(convex) if !matches!(convex, Convex::Capsule { .. }) => {
            let found = onto(convex, other.pose.inverse_transform_point(center));
            (
                -other.pose.rotate(found.normal),
                found.distance - ball.radius(),
            )
        }
        _ => {
            let offset = other.project(center) - center;
            (direction_or(offset, DVec3::NEG_Z), offset.length() - radii)
        }
    };
    let on_ball = center + direction * ball.radius();
    let on_other = on_ball + direction * distance;
    let (on_a, on_b) = if sign > 0.0 {
        (on_ball, on_other)
    } else {
        (on_other, on_ball)
    };
    Between {
        on_a,
        on_b,
        direction: direction * sign,
        distance,
    }
}
