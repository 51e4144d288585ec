//! Points against one shape.

use super::error::{QueryError, finite, reach};
use super::faces::{convex_part, parts_near};
use crate::geometry::{Body, Convex};
use crate::projection::direction_or;
use crate::projection::{Projection, onto_cuboid, onto_frustum, onto_polytope, onto_segment};
use crate::surface::Surface;
use crate::{Frame, Geometry};
use glam::DVec3;

/// The point of a shape's surface that is nearest to a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointHit {
    /// How far away it is, m; negative within a solid.
    pub distance: f64,
    /// The point of the surface, inertial frame, m.
    pub point: DVec3,
    /// Unit normal of the surface, outwards; of a mesh or height field towards the point.
    pub normal: DVec3,
    /// As [`RayHit::part`](super::RayHit::part).
    pub part: u32,
}

/// The point of the surface of a shape that is nearest to `point` (m); of a compound that of the part with the least signed distance. `None` if it is
/// farther than `within` (m, ≥ 0; `∞` is anywhere), and where the numbers leave their range.
///
/// # Errors
/// [`QueryError`] names a coordinate that is not finite, or the distance if it is negative or not a number.
pub fn closest_point(
    geometry: &Geometry,
    pose: &Frame,
    point: DVec3,
    within: f64,
) -> Result<Option<PointHit>, QueryError> {
    let point = finite("point", point)?;
    let within = reach("distance within which points are looked for", within)?;
    Ok(nearest_point(geometry, pose, point, within))
}

/// The point lies within a solid or on its surface.
///
/// # Errors
/// [`QueryError`] names a coordinate that is not finite.
pub fn contains(geometry: &Geometry, pose: &Frame, point: DVec3) -> Result<bool, QueryError> {
    let point = finite("point", point)?;
    Ok(match geometry.body() {
        Body::HalfSpace(normal) => pose.rotate(*normal).dot(point - pose.position) <= 0.0,
        Body::Compound(_) => {
            let around = parts_near(geometry, pose, point, 0.0);
            let mut parts = around.filter_map(|part| convex_part(geometry, pose, Some(part)));
            parts.any(|part| part.holds(point))
        }
        _ => convex_part(geometry, pose, None).is_some_and(|solid| solid.holds(point)),
    })
}

/// The nearest point of a shape no farther than `reach` (m).
pub(super) fn nearest_point(
    geometry: &Geometry,
    pose: &Frame,
    point: DVec3,
    reach: f64,
) -> Option<PointHit> {
    let local = pose.inverse_transform_point(point);
    let found = match geometry.body() {
        Body::Convex(convex) => Some((onto(convex, local), 0)),
        Body::HalfSpace(normal) => {
            let distance = normal.dot(local);
            let on_plane = Projection {
                point: local - *normal * distance,
                normal: *normal,
                distance,
                feature: 0,
            };
            Some((on_plane, 0))
        }
        Body::Compound(parts) => {
            let parts = (0..).zip(parts).map(|(number, part)| {
                let found = onto(&part.convex, part.pose.inverse_transform_point(local));
                let placed = Projection {
                    point: part.pose.transform_point(found.point),
                    normal: part.pose.rotate(found.normal),
                    ..found
                };
                (placed, number)
            });
            parts.reduce(|best, next| {
                let nearer = next.0.distance < best.0.distance;
                if nearer { next } else { best }
            })
        }
        Body::Surface(surface) => on_surface(surface, local, reach),
    };
    let (found, part) = found?;
    let hit = PointHit {
        distance: found.distance,
        point: pose.transform_point(found.point),
        normal: pose.rotate(found.normal).normalize_or(DVec3::Z),
        part,
    };
    let sound = hit.distance.is_finite() && hit.point.is_finite() && hit.distance <= reach;
    sound.then_some(hit)
}

/// Signed distance of a point from a solid, in its frame.
pub(super) fn onto(convex: &Convex, point: DVec3) -> Projection {
    match convex {
        Convex::Sphere { radius } => from_core(DVec3::ZERO, point, *radius, DVec3::Z),
        Convex::Capsule {
            half_height,
            radius,
        } => {
            let axis = DVec3::Z * *half_height;
            from_core(onto_segment(point, -axis, axis), point, *radius, DVec3::X)
        }
        Convex::Frustum(frustum) => onto_frustum(point, frustum),
        Convex::Polyhedron(polyhedron) => match polyhedron.half_extents {
            Some(half) => onto_cuboid(point, half),
            None => onto_polytope(point, &polyhedron.view()),
        },
    }
}

/// From the surface around a point of the core.
fn from_core(core: DVec3, point: DVec3, radius: f64, fallback: DVec3) -> Projection {
    let normal = direction_or(point - core, fallback);
    Projection {
        point: core + normal * radius,
        normal,
        distance: (point - core).length() - radius,
        feature: 0,
    }
}

fn on_surface(surface: &Surface, point: DVec3, reach: f64) -> Option<(Projection, u32)> {
    let mut best: Option<(Projection, u32)> = None;
    surface.tree().near(point, reach, |item, mut reach| {
        for triangle in surface.triangles_of(item) {
            let corners = surface.corners_of(triangle);
            let foot = on_triangle(point, &corners);
            let (distance, part) = (foot.distance(point), surface.given(triangle));
            let nearer = best.is_none_or(|(best, of)| (distance, part) < (best.distance, of));
            if nearer && distance <= reach {
                let [a, b, c] = corners;
                let normal = (b - a).cross(c - a).normalize_or(DVec3::Z);
                let found = Projection {
                    point: foot,
                    normal: direction_or(point - foot, normal),
                    distance,
                    feature: 0,
                };
                best = Some((found, part));
                reach = distance;
            }
        }
        reach
    });
    best
}

/// The nearest point of a triangle [Ericson05, §5.1.5].
pub(super) fn on_triangle(point: DVec3, &[a, b, c]: &[DVec3; 3]) -> DVec3 {
    let normal = (b - a).cross(c - a);
    let square = normal.length_squared();
    let beyond = |from: DVec3, to: DVec3| (to - from).cross(normal).dot(point - from) > 0.0;
    if square > 0.0 && !beyond(a, b) && !beyond(b, c) && !beyond(c, a) {
        return point - normal * (normal.dot(point - a) / square);
    }
    let edges = [(b, c), (c, a)];
    let feet = edges.map(|(from, to)| onto_segment(point, from, to));
    feet.into_iter()
        .fold(onto_segment(point, a, b), |best, next| {
            let nearer = next.distance_squared(point) < best.distance_squared(point);
            if nearer { next } else { best }
        })
}
