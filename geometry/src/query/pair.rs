//! Two shapes: how far apart they are, and whether they overlap.

use super::cast_shape::is_unit;
use super::convex_pair::{Between, Solid, between};
use crate::contact::contacts;
use crate::geometry::{Body, Convex};
use crate::{Frame, Geometry};
use glam::DVec3;

/// The nearest points of two shapes, or the deepest of two that overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Their distance, m; negative in overlap: how far they must be moved apart along the normal.
    pub distance: f64,
    /// The point of A, inertial frame, m.
    pub on_a: DVec3,
    /// The point of B, inertial frame, m.
    pub on_b: DVec3,
    /// Unit vector from B to A.
    pub normal: DVec3,
}

/// How far apart two shapes are; of compounds and surfaces the pair of parts with the least distance. Triangles have no inside: a solid is in overlap
/// with those that it cuts alone. `None` for two shapes of which neither is solid, and where the numbers leave their range.
///
/// Right to 1e-8 of the smaller shape, with rims of cylinders and cones to 1e-6. In overlap the direction is the best of a search, which of round solids may not be
/// the very best. Dear: of the order of ten microseconds for solids that are no balls.
#[must_use]
pub fn distance(a: &Geometry, pose_a: &Frame, b: &Geometry, pose_b: &Frame) -> Option<Nearest> {
    if !(pose_a.is_finite() && pose_b.is_finite()) {
        return None;
    }
    // Relative to A: no digits are lost far from the origin.
    let offset = pose_b.position - pose_a.position;
    if !offset.length().is_finite() {
        return None;
    }
    let place_a = Frame::new(DVec3::ZERO, pose_a.orientation);
    let place_b = Frame::new(offset, pose_b.orientation);
    let found = match (solids(a, &place_a), solids(b, &place_b)) {
        (Some(of_a), _) => least(of_a.iter().map(|solid| to_body(solid, b.body(), &place_b))),
        (None, Some(of_b)) => {
            let found = least(of_b.iter().map(|solid| to_body(solid, a.body(), &place_a)));
            found.map(|found| Between {
                on_a: found.on_b,
                on_b: found.on_a,
                direction: -found.direction,
                distance: found.distance,
            })
        }
        (None, None) => None,
    }?;
    let nearest = Nearest {
        distance: found.distance,
        on_a: pose_a.position + found.on_a,
        on_b: pose_a.position + found.on_b,
        normal: -found.direction,
    };
    let sound = nearest.distance.is_finite()
        && nearest.on_a.is_finite()
        && nearest.on_b.is_finite()
        && is_unit(nearest.normal);
    sound.then_some(nearest)
}

/// Two shapes share a point. A solid behind a sheet of triangles does not overlap with it. Never true of two shapes of which neither is solid.
#[must_use]
pub fn overlaps(a: &Geometry, pose_a: &Frame, b: &Geometry, pose_b: &Frame) -> bool {
    if !(pose_a.is_finite() && pose_b.is_finite()) {
        return false;
    }
    match (a.body(), b.body()) {
        (Body::Surface(_), _) => cut(b, pose_b, a, pose_a),
        (_, Body::Surface(_)) => cut(a, pose_a, b, pose_b),
        _ => {
            let mut found = Vec::new();
            contacts(a, pose_a, b, pose_b, 0.0, &mut found);
            !found.is_empty()
        }
    }
}

/// The convex solids of a shape, placed; none if it is not solid.
pub(super) fn solids<'a>(geometry: &'a Geometry, pose: &Frame) -> Option<Vec<Solid<'a>>> {
    match geometry.body() {
        Body::Convex(convex) => Some(vec![Solid::convex(convex, *pose)]),
        Body::Compound(parts) => {
            let parts = parts.iter();
            let placed = parts.map(|part| Solid::convex(&part.convex, pose.compose(&part.pose)));
            Some(placed.collect())
        }
        Body::HalfSpace(_) | Body::Surface(_) => None,
    }
}

fn least(found: impl Iterator<Item = Option<Between>>) -> Option<Between> {
    found.flatten().reduce(|best, next| {
        let nearer = next.distance < best.distance;
        if nearer { next } else { best }
    })
}

fn to_body(solid: &Solid, body: &Body, pose: &Frame) -> Option<Between> {
    let to_convex = |convex: &Convex, pose: Frame| {
        let other = Solid::convex(convex, pose);
        let guess = (other.middle() - solid.middle()).normalize_or(DVec3::Z);
        between(solid, &other, guess)
    };
    match body {
        Body::Convex(convex) => to_convex(convex, *pose),
        Body::Compound(parts) => {
            let parts = parts.iter();
            least(parts.map(|part| to_convex(&part.convex, pose.compose(&part.pose))))
        }
        Body::HalfSpace(normal) => Some(to_plane(solid, pose.rotate(*normal), pose.position)),
        Body::Surface(surface) => {
            let (middle, size) = (solid.middle(), solid.reach());
            let center = pose.inverse_transform_point(middle);
            let mut best: Option<Between> = None;
            surface
                .tree()
                .near(center, f64::INFINITY, |item, mut reach| {
                    for triangle in surface.triangles_of(item) {
                        let other = Solid::triangle(surface.corners_of(triangle), *pose);
                        let guess = (other.middle() - middle).normalize_or(DVec3::Z);
                        let found = between(solid, &other, guess);
                        best = least([best, found].into_iter());
                        if let Some(best) = best {
                            reach = reach.min(best.distance.max(0.0) + size * (1.0 + 1e-9));
                        }
                    }
                    reach
                });
            best
        }
    }
}

/// The lowest point over a plane.
pub(super) fn to_plane(solid: &Solid, normal: DVec3, on_plane: DVec3) -> Between {
    let normal = normal.normalize_or(DVec3::Z);
    let lowest = solid.support(-normal) - normal * solid.radius();
    let distance = normal.dot(lowest - on_plane);
    Between {
        on_a: lowest,
        on_b: lowest - normal * distance,
        direction: -normal,
        distance,
    }
}

/// A solid cuts a triangle of a surface.
fn cut(a: &Geometry, pose_a: &Frame, surface: &Geometry, pose: &Frame) -> bool {
    let Body::Surface(sheet) = surface.body() else {
        return false;
    };
    // In the frame of the surface.
    let Some(solids) = solids(a, &pose.relative(pose_a)) else {
        return false;
    };
    let mut met = false;
    for solid in &solids {
        let region = solid.aabb();
        sheet.tree().meet(&region, |item| {
            for triangle in sheet.triangles_of(item) {
                let other = Solid::triangle(sheet.corners_of(triangle), Frame::IDENTITY);
                let guess = (other.middle() - solid.middle()).normalize_or(DVec3::Z);
                met =
                    met || between(solid, &other, guess).is_some_and(|found| found.distance <= 0.0);
            }
        });
    }
    met
}
