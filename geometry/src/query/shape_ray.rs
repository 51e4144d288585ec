//! Rays against one shape.

use super::chord::Chord;
use super::ray::{Inside, Ray, RayHit};
use crate::geometry::{Body, Convex};
use crate::{Frame, Geometry};
use glam::DVec3;

/// The first hit of a ray on a shape; of hits at the same distance the one on the part of least number.
#[must_use]
pub fn cast_ray(geometry: &Geometry, pose: &Frame, ray: &Ray) -> Option<RayHit> {
    let mut best: Option<RayHit> = None;
    visit(geometry, pose, ray, ray.reach, &mut |hit| {
        let nearer = best.is_none_or(|best| (hit.distance, hit.part) < (best.distance, best.part));
        if nearer {
            best = Some(hit);
        }
        hit.distance
    });
    best
}

/// Appends all hits of a ray on a shape, by distance and then by part: of a solid one, of a compound one for each part, of a surface one for each
/// triangle.
pub fn ray_hits(geometry: &Geometry, pose: &Frame, ray: &Ray, out: &mut Vec<RayHit>) {
    let start = out.len();
    visit(geometry, pose, ray, ray.reach, &mut |hit| {
        out.push(hit);
        ray.reach
    });
    let order = |a: &RayHit, b: &RayHit| {
        (a.distance.total_cmp(&b.distance)).then_with(|| a.part.cmp(&b.part))
    };
    out[start..].sort_unstable_by(order);
}

/// Calls `found` for hits no farther than `reach` (m); it returns how far hits are of interest from then on.
#[inline]
pub(super) fn visit(
    geometry: &Geometry,
    pose: &Frame,
    ray: &Ray,
    reach: f64,
    found: &mut impl FnMut(RayHit) -> f64,
) {
    match geometry.body() {
        Body::Convex(Convex::Sphere { radius }) => {
            // No turn for a ball.
            let ball = Convex::Sphere { radius: *radius };
            let place = Frame::from_position(pose.position);
            on_solid(&ball, &place, ray, reach, 0, found);
        }
        Body::Convex(convex) => {
            on_solid(convex, pose, ray, reach, 0, found);
        }
        Body::HalfSpace(normal) => on_plane(*normal, pose, ray, reach, found),
        Body::Compound(parts) => {
            let mut reach = reach;
            for (number, part) in (0..).zip(parts) {
                let place = pose.compose(&part.pose);
                if let Some(less) = on_solid(&part.convex, &place, ray, reach, number, found) {
                    reach = less;
                }
            }
        }
        Body::Surface(surface) => {
            let local = Local {
                origin: pose.inverse_transform_point(ray.origin),
                direction: pose.inverse_rotate(ray.direction),
            };
            surface.cast(local.origin, local.direction, reach, &mut |on_sheet| {
                let normal = pose.rotate(on_sheet.normal).normalize_or(-ray.direction);
                let hit = RayHit {
                    distance: on_sheet.distance,
                    point: ray.at(on_sheet.distance),
                    normal: against(normal, ray.direction),
                    part: on_sheet.triangle,
                };
                if is_sound(&hit) { found(hit) } else { reach }
            });
        }
    }
}

/// A line in the frame of a shape.
struct Local {
    origin: DVec3,
    direction: DVec3,
}

/// The hit on a convex solid. What `found` returned, if there is one.
#[inline]
fn on_solid(
    convex: &Convex,
    pose: &Frame,
    ray: &Ray,
    reach: f64,
    part: u32,
    found: &mut impl FnMut(RayHit) -> f64,
) -> Option<f64> {
    let ball = matches!(convex, Convex::Sphere { .. });
    let away = ray.origin - pose.position;
    let local = if ball {
        Local {
            origin: away,
            direction: ray.direction,
        }
    } else {
        Local {
            origin: pose.inverse_rotate(away),
            direction: pose.inverse_rotate(ray.direction),
        }
    };
    let chord = Chord::new(convex, local.origin, local.direction)?;
    let (distance, end) = if chord.enter >= 0.0 {
        (chord.enter, 0)
    } else if chord.exit < 0.0 {
        return None;
    } else if ray.inside == Inside::Hits {
        return Some(found(at_once(ray, part)));
    } else {
        (chord.exit, 1)
    };
    if distance > reach {
        return None;
    }
    let outward = chord.normal(convex, end, local.origin + local.direction * distance);
    let normal = if ball { outward } else { pose.rotate(outward) };
    let hit = RayHit {
        distance,
        point: ray.at(distance),
        normal: against(normal, ray.direction),
        part,
    };
    is_sound(&hit).then(|| found(hit))
}

/// The hit of a ray that starts within a solid.
fn at_once(ray: &Ray, part: u32) -> RayHit {
    RayHit {
        distance: 0.0,
        point: ray.origin,
        normal: -ray.direction,
        part,
    }
}

fn on_plane(
    normal: DVec3,
    pose: &Frame,
    ray: &Ray,
    reach: f64,
    found: &mut impl FnMut(RayHit) -> f64,
) {
    let normal = pose.rotate(normal).normalize_or(DVec3::Z);
    let height = normal.dot(ray.origin - pose.position);
    let speed = normal.dot(ray.direction);
    let hit = if height <= 0.0 && ray.inside == Inside::Hits {
        at_once(ray, 0)
    } else {
        let distance = -height / speed;
        if !(distance >= 0.0 && distance <= reach) {
            return;
        }
        RayHit {
            distance,
            point: ray.at(distance),
            normal: against(normal, ray.direction),
            part: 0,
        }
    };
    if is_sound(&hit) {
        found(hit);
    }
}

/// A normal turned to the side that the ray comes from.
fn against(normal: DVec3, direction: DVec3) -> DVec3 {
    if normal.dot(direction) > 0.0 {
        -normal
    } else {
        normal
    }
}

/// No number left the range of numbers on the way.
fn is_sound(hit: &RayHit) -> bool {
    hit.distance.is_finite() && hit.point.is_finite() && hit.normal.is_finite()
}
