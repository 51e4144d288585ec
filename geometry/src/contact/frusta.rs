//! Two cylinders or cones.
//!
//! Candidate axes: the discs of each; for two cylinders the common perpendicular of their axes,
//! or, when these are parallel, the direction across. All else (rims against rims and sides,
//! cones) is searched numerically.

use super::disc;
use super::half_space::rim_points;
use super::nearest::{ConvexSet, nearest};
use super::patch::{LocalContact, Patch};
use super::round_pair::facing_points;
use crate::Pose;
use crate::frustum::Frustum;
use crate::projection::{direction_or, onto_frustum};
use glam::{DVec2, DVec3};

/// Sine below which two axes count as parallel.
const PARALLEL: f64 = 1e-7;

/// Sine below which two discs rest flat on each other: many points near touch matter more than
/// the exact direction, which differs by less than this angle, and the gaps by its square.
const LEVEL_DISCS: f64 = 0.01;

/// Contacts in the frame of the first, normals pointing from it to the second.
pub(crate) fn contact(
    first: &Frustum,
    second: &Frustum,
    pose: &Pose,
    margin: f64,
    patch: &mut Patch,
) {
    let scale = first.bounding_radius().min(second.bounding_radius());
    let separation = |l: DVec3| {
        l.dot(pose.position) - second.support(pose.inverse_rotate(-l)) - first.support(l)
    };
    let axis = pose.rotate(DVec3::Z);
    let mut best: Option<(f64, DVec3, Kind)> = None;
    let mut consider = |direction: DVec3, kind: Kind| {
        let value = separation(direction);
        if best.is_none_or(|(known, _, _)| value > known + 1e-8 * scale) {
            best = Some((value, direction, kind));
        }
    };
    for sign in [-1.0, 1.0] {
        let radius = |frustum: &Frustum| {
            if sign < 0.0 {
                frustum.bottom
            } else {
                frustum.top
            }
        };
        if radius(first) > 0.0 {
            consider(DVec3::Z * sign, Kind::First);
        }
        if radius(second) > 0.0 {
            consider(axis * -sign, Kind::Second);
        }
    }
    if first.side.y <= 0.0 && second.side.y <= 0.0 {
        let common = DVec3::Z.cross(axis);
        let across = if common.length() > PARALLEL {
            common.normalize()
        } else {
            direction_or(pose.position.truncate().extend(0.0), DVec3::X)
        };
        consider(across, Kind::Sides);
        consider(-across, Kind::Sides);
    }
    // Sides that look at the other's middle: a guess for the search only.
    let towards = |frustum: &Frustum, middle: DVec3| {
        frustum.side_normal(middle.truncate().normalize_or(DVec2::X))
    };
    consider(towards(first, pose.position), Kind::Search);
    let back = towards(second, pose.inverse_rotate(-pose.position));
    consider(-pose.rotate(back), Kind::Search);
    let Some((value, direction, kind)) = best else {
        return;
    };
    if value > margin {
        return;
    }
    match kind {
        Kind::Search => {}
        Kind::First => on_disc(first, second, pose, direction, margin, patch),
        Kind::Second => {
            let start = patch.len();
            let back = pose.inverse();
            let towards = pose.inverse_rotate(-direction);
            on_disc(second, first, &back, towards, margin, patch);
            for contact in patch.iter_mut().skip(start) {
                contact.point = pose.transform_point(contact.point);
                contact.normal = -pose.rotate(contact.normal);
                contact.feature |= 1 << 62;
            }
        }
        Kind::Sides => on_sides(first, second, pose, direction, value, margin, patch),
    }
    let least = patch.iter().fold(f64::INFINITY, |g, c| g.min(c.gap));
    let resting = matches!(kind, Kind::First | Kind::Second)
        && axis.truncate().length() < LEVEL_DISCS
        && value.abs() <= 0.01 * scale
        && !patch.is_empty();
    if resting || least <= value + 2e-8 * scale {
        return;
    }
    let a = ConvexSet {
        support: |l| first.support_point(l),
        project: |x| onto_frustum(x, first).point,
        inner: DVec3::ZERO,
    };
    let b = ConvexSet {
        support: |l| pose.transform_point(second.support_point(pose.inverse_rotate(l))),
        project: |x| {
            pose.transform_point(onto_frustum(pose.inverse_transform_point(x), second).point)
        },
        inner: pose.position,
    };
    let Some(found) = nearest(&a, &b, direction, margin, scale) else {
        return;
    };
    if found.distance > margin
        || (found.distance <= 0.0 && found.distance < value && !patch.is_empty())
    {
        return;
    }
    let point = 0.5 * (found.on_a + found.on_b);
    patch.retain(|contact| {
        contact.normal.dot(found.direction) > 0.5
            && contact.gap >= found.distance
            && (contact.point - point).length() > 0.05 * scale
    });
    patch.insert(
        0,
        LocalContact {
            point,
            normal: found.direction,
            gap: found.distance,
            feature: u64::MAX,
        },
    );
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    First,
    Second,
    Sides,
    Search,
}

/// Points of `second` over the disc of `first` that looks along `l = ±z`.
fn on_disc(
    first: &Frustum,
    second: &Frustum,
    pose: &Pose,
    l: DVec3,
    margin: f64,
    patch: &mut Patch,
) {
    let sign = 1.0_f64.copysign(l.z);
    let (radius, height) = if sign > 0.0 {
        (first.top, first.half_height)
    } else {
        (first.bottom, -first.half_height)
    };
    let tolerance = 1e-9 * radius;
    let mut push = |point: DVec3, number: u64| {
        let gap = sign * (point.z - height);
        let doubled = patch
            .iter()
            .any(|other| (other.point - point).truncate().length() <= tolerance);
        if gap <= margin && !doubled {
            patch.push(LocalContact {
                point: point.truncate().extend(point.z - 0.5 * sign * gap),
                normal: DVec3::Z * sign,
                gap,
                feature: (u64::from(sign > 0.0) + 1) << 56 | number,
            });
        }
    };
    // The disc of the second that looks back, if it has one.
    let axis = pose.rotate(DVec3::Z);
    let (other_radius, other_height) = if axis.z * sign < 0.0 {
        (second.top, second.half_height)
    } else {
        (second.bottom, -second.half_height)
    };
    let center = pose.position + axis * other_height;
    if axis.truncate().length() < LEVEL_DISCS && other_radius > 0.0 {
        disc::common_part(radius, center.truncate(), other_radius, |flat, k| {
            let z = center.z - axis.truncate().dot(flat - center.truncate()) / axis.z;
            push(flat.extend(z), k);
        });
        return;
    }
    let down = pose.inverse_rotate(-l);
    rim_points(second, down, |local, k| {
        let point = pose.transform_point(local);
        if point.truncate().length() <= radius + tolerance {
            push(point, 16 + k);
        }
    });
    // The lowest generator, cut to the disc.
    if down.truncate().length() > 1e-3 {
        let ends = second
            .generator(down.truncate().normalize_or(DVec2::X))
            .map(|end| pose.transform_point(end));
        disc::polygon_in_disc(&ends, radius, tolerance, |point, k| push(point, 64 + k));
    }
}

/// Two cylinders touching with their sides along `l`: at one point, or along parallel generators.
fn on_sides(
    first: &Frustum,
    second: &Frustum,
    pose: &Pose,
    l: DVec3,
    separation: f64,
    margin: f64,
    patch: &mut Patch,
) {
    let generator = first.generator(l.truncate().normalize_or(DVec2::X));
    let back = pose.inverse_rotate(-l).truncate().normalize_or(DVec2::X);
    let other = second.generator(back).map(|end| pose.transform_point(end));
    let scale = first.bottom.min(second.bottom);
    for (k, (p, q)) in (0..).zip(facing_points(generator, other)) {
        let gap = (q - p).dot(l);
        let aside = (q - p - l * gap).length();
        if aside <= 1e-7 * scale && gap <= margin && gap >= separation - 1e-7 * scale {
            patch.push(LocalContact {
                point: 0.5 * (p + q),
                normal: l,
                gap,
                feature: 3 << 56 | k,
            });
        }
    }
}
