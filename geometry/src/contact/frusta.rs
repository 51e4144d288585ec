//! Two cylinders or cones.
//!
//! Candidate axes: the discs of each; for two cylinders the common perpendicular of their axes,
//! or, when these are parallel, the direction across. All else (rims against rims and sides,
//! cones) is a matter of stationary directions ([`meeting`](super::meeting)).

use super::disc;
use super::frustum_pair::DEEP;
use super::half_space::rim_points;
use super::meeting::{Body, Found, Meeting, Search, Turned, improved, likely};
use super::nearest::{ConvexSet, better_than, nearest};
use super::patch::{LocalContact, Patch};
use super::round_pair::facing_points;
use super::side_by_side::{Rod, add_ends};
use crate::Frame;
use crate::frustum::Frustum;
use crate::projection::{direction_or, onto_frustum};
use glam::{DVec2, DVec3};

/// Sine below which two axes count as parallel.
const PARALLEL: f64 = 1e-7;

/// Sine below which two discs rest flat on each other: many points near touch matter more than
/// the exact direction, which differs by less than this angle, and the gaps by its square.
const LEVEL_DISCS: f64 = 0.01;

/// Features of points on two sides.
const ON_SIDES: u64 = 3 << 56;

/// Contacts in the frame of the first, normals pointing from it to the second.
pub(crate) fn contact(
    first: &Frustum,
    second: &Frustum,
    pose: &Frame,
    margin: f64,
    patch: &mut Patch,
) {
    nearest_points(first, second, pose, margin, patch);
    if let (Some(a), Some(b)) = (
        first.as_rod(DVec3::ZERO, DVec3::Z),
        second.as_rod(pose.position, pose.rotate(DVec3::Z)),
    ) {
        add_ends(&a, &b, margin, ON_SIDES, patch);
    }
}

/// Contacts among which the nearest points are.
fn nearest_points(first: &Frustum, second: &Frustum, pose: &Frame, margin: f64, patch: &mut Patch) {
    let scale = first.bounding_radius().min(second.bounding_radius());
    let axis = pose.rotate(DVec3::Z);
    let Some(best) = best_axis(first, second, pose, axis, margin, 1e-8 * scale) else {
        return;
    };
    let Axis {
        direction,
        separation: value,
        kind,
    } = best;
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
    let a = Turned {
        frustum: first,
        axis: DVec3::Z,
        center: DVec3::ZERO,
    };
    let b = Turned {
        frustum: second,
        axis,
        center: pose.position,
    };
    let separation = |l: DVec3| l.dot(b.farthest(-l) - a.farthest(l));
    // In overlap each of several directions may be the best near by.
    let elsewhere = |known: f64, direction: DVec3| {
        let others = || likely(&a, &b, direction, -known);
        let is_deep = known < -DEEP * scale;
        is_deep.then(|| better_than(known, others(), separation))?
    };
    let better = elsewhere(value, direction);
    let is_shown = least <= value + 2e-8 * scale && better.is_none();
    if resting || is_shown {
        return;
    }
    let near = 1e-9 * scale;
    let from = |guess: DVec3| searched(first, second, pose, guess, margin, scale);
    let found = match Search::new(&a, &b, margin, scale).run() {
        Found::Apart => None,
        Found::Exact(found) if found.distance >= value - near => Some(found),
        _ => from(better.unwrap_or(direction)),
    };
    let Some(found) = found else { return };
    let mut found = improved(found, elsewhere, from);
    if found.distance > margin {
        return;
    }
    if found.distance <= 0.0 && found.distance < value - near {
        // In overlap the axes may know a lesser depth than the search.
        let on_b = b.farthest(-direction);
        found = Meeting {
            on_a: on_b - direction * value,
            on_b,
            direction,
            distance: value,
            is_tied: false,
        };
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

impl Frustum {
    /// As a rod about a unit axis, if it is a cylinder.
    pub(super) fn as_rod(&self, middle: DVec3, axis: DVec3) -> Option<Rod> {
        let is_cylinder = self.side.y.abs() <= 0.0;
        is_cylinder.then(|| Rod::cylinder(middle, axis, self.half_height, self.bottom))
    }
}

/// The best of the candidates, which must be better than earlier ones by `bias` (m); none if one separates beyond the margin.
fn best_axis(
    first: &Frustum,
    second: &Frustum,
    pose: &Frame,
    axis: DVec3,
    margin: f64,
    bias: f64,
) -> Option<Axis> {
    let mut best: Option<Axis> = None;
    let mut consider = |direction: DVec3, kind: Kind| {
        let separation = direction.dot(pose.position)
            - second.support(pose.inverse_rotate(-direction))
            - first.support(direction);
        if best.is_none_or(|known| separation > known.separation + bias) {
            best = Some(Axis {
                direction,
                separation,
                kind,
            });
        }
        (separation <= margin).then_some(())
    };
    for (radius, direction, kind) in [
        (first.bottom, DVec3::NEG_Z, Kind::First),
        (second.bottom, axis, Kind::Second),
        (first.top, DVec3::Z, Kind::First),
        (second.top, -axis, Kind::Second),
    ] {
        if radius > 0.0 {
            consider(direction, kind)?;
        }
    }
    if first.side.y <= 0.0 && second.side.y <= 0.0 {
        let common = DVec3::Z.cross(axis);
        let across = if common.length() > PARALLEL {
            common.normalize()
        } else {
            direction_or(pose.position.truncate().extend(0.0), DVec3::X)
        };
        consider(across, Kind::Sides)?;
        consider(-across, Kind::Sides)?;
    }
    // Sides that look at the other's middle: a guess for the search only.
    let towards = |frustum: &Frustum, middle: DVec3| {
        frustum.side_normal(middle.truncate().normalize_or(DVec2::X))
    };
    consider(towards(first, pose.position), Kind::Search)?;
    let back = towards(second, pose.inverse_rotate(-pose.position));
    consider(-pose.rotate(back), Kind::Search)?;
    best
}

/// By projections, where the way over stationary directions fails.
fn searched(
    first: &Frustum,
    second: &Frustum,
    pose: &Frame,
    guess: DVec3,
    margin: f64,
    scale: f64,
) -> Option<Meeting> {
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
    nearest(&a, &b, guess, margin, scale)
}

/// A candidate.
#[derive(Clone, Copy, Debug)]
struct Axis {
    direction: DVec3,
    separation: f64,
    kind: Kind,
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
    pose: &Frame,
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
    pose: &Frame,
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
                feature: ON_SIDES | k,
            });
        }
    }
}
