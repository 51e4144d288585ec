//! The axes of two polytopes with many edges, by search instead of trial.
//!
//! Bodies that touch overlap or are apart by far less than their size. Shrunk by a tenth about a point within, they are apart, and the
//! closest points of what is left show the direction in which the whole bodies meet: GJK [Gilbert88] finds it in a few steps. Shrinking keeps all
//! faces and edges as they are, so the axis that counts is the normal of a face near that direction, or the cross product of
//! the two edges that support there; its separation is then computed from the whole bodies, exactly.
//!
//! Where that is not the best axis, as the points found along it show ([`super::separating_axis`]), the direction comes from the closest
//! points of the whole bodies, or from their expanding polytope if they overlap.

use super::separating_axis::{Axes, Axis, FLUSH, PARALLEL, Placed, PolytopePair};
use super::shrunk::{Rough, Simplex};
use super::unit::Unit;
use glam::DVec3;
use parry3d_f64::math::Pose3;
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;

/// Relative error of the distance of the shrunk bodies: the search ends where no vertex is nearer.
const SHARP: f64 = 1e-14;
/// Faces lean by less than this from the one that is closest to the direction, one less the cosine, to be tried as well (4°).
const NEAR: f64 = 2.5e-3;
/// Vertices within this part of the size of the farthest along a direction support there …
const SUPPORTS: f64 = 1e-7;
/// … and of a direction that is right to about 1e-7 rad the ends of an edge that leans by no more than this (rad): it may be longer than the smaller
/// body.
const LEAN: f64 = 1e-6;

/// Which bodies are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Search {
    /// Shrunk ones.
    Shrunk,
    /// Whole ones.
    Whole,
}

/// A body as GJK asks for it, in units of the size.
struct Whole<'a>(&'a Placed<'a>, Unit);

impl SupportMap for Whole<'_> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        self.1.of(self.0.farthest(direction))
    }
}

/// The axes near the direction in which the two bodies meet; none if they are farther apart than the limit. `guess`: a direction from A to B,
/// if one is known.
pub(super) fn axes(pair: &PolytopePair<'_>, search: Search, guess: Option<DVec3>) -> Option<Axes> {
    let limit = pair.margin + pair.radius;
    if search == Search::Shrunk {
        let mut simplex = Simplex::new(&pair.a, &pair.b);
        return match simplex.search(&pair.a, &pair.b, limit, SHARP) {
            Rough::Apart => None,
            Rough::Deep => axes(pair, Search::Whole, None),
            Rough::Near => near(pair, simplex.direction, None),
        };
    }
    let between = || (pair.b.inner() - pair.a.inner()).try_normalize();
    let guess = guess.or_else(between).unwrap_or(DVec3::Z);
    let unit = Unit::near(pair.scale);
    let [a, b] = [&pair.a, &pair.b].map(|body| Whole(body, unit));
    let mut simplex = VoronoiSimplex::new();
    let found = contact_support_map_support_map_with_params(
        &Pose3::IDENTITY,
        &a,
        &b,
        f64::MAX,
        &mut simplex,
        Some(guess),
    );
    let (l, distance) = match found {
        GJKResult::ClosestPoints(p, q, l) => (l, unit.back((q - p).length())),
        GJKResult::NoIntersection(l) => (l, f64::INFINITY),
        _ => (guess, f64::INFINITY),
    };
    let axes = near(pair, l, Some(distance))?;
    // Of bodies that touch the direction may be off by a hundredth of a radian, where the guess is right. Of two that hardly differ the guess is not
    // preferred for what rounding makes of it: what slides over flush edges would feel them.
    let least = separation(pair, guess) - FLUSH * pair.scale;
    if axes.any.is_some_and(|any| any.separation < least) {
        return near(pair, guess, Some(distance));
    }
    Some(axes)
}

fn separation(pair: &PolytopePair<'_>, l: DVec3) -> f64 {
    l.dot(pair.b.farthest(-l)) - l.dot(pair.a.farthest(l))
}

/// The axes near a direction; `distance` of the bodies, if all of each was searched.
fn near(pair: &PolytopePair<'_>, l: DVec3, distance: Option<f64>) -> Option<Axes> {
    let limit = pair.margin + pair.radius;
    let l = l.try_normalize().unwrap_or(DVec3::Z);
    let mut found = Axes {
        distance,
        ..Axes::default()
    };
    let along = separation(pair, l);
    found.any = Some(Axis {
        direction: l,
        separation: along,
        face: 0,
    });
    let tie = 1e-12 * pair.scale;
    if along > limit {
        return None;
    }
    for of_b in [false, true] {
        let (body, sign) = if of_b {
            (&pair.b, -1.0)
        } else {
            (&pair.a, 1.0)
        };
        let local = body.rotation.transpose() * (l * sign);
        for face in body.shape.facing(local, NEAR) {
            let (normal, offset) = body.plane(face);
            let other = if of_b { &pair.a } else { &pair.b };
            let separation = normal.dot(other.farthest(-normal)) - offset;
            if separation > limit {
                return None;
            }
            let axis = Axis {
                direction: normal * sign,
                separation,
                face,
            };
            let known = if of_b {
                &mut found.face_b
            } else {
                &mut found.face_a
            };
            if known.is_none_or(|known| separation > known.separation + tie) {
                *known = Some(axis);
            }
            if found
                .any
                .is_none_or(|any| separation > any.separation + tie)
            {
                found.any = Some(axis);
            }
        }
    }
    if let Some(direction) = crossing(pair, l, 0.0) {
        let separation = separation(pair, direction);
        if separation > limit {
            return None;
        }
        let axis = Axis {
            direction,
            separation,
            face: 0,
        };
        found.edges = Some(axis);
        // The same direction, with less noise.
        if found
            .any
            .is_none_or(|any| separation > any.separation - tie)
        {
            found.any = Some(axis);
        }
    }
    let best = [found.face_a, found.face_b, found.edges];
    let best = best.into_iter().flatten().map(|axis| axis.separation);
    let best = best.fold(f64::NEG_INFINITY, f64::max);
    if distance.is_some() && along > best + 1e-8 * pair.scale {
        // Edges were missed, if there is more to it than rounding.
        let is_missed = along > best + FLUSH * pair.scale;
        let common = is_missed.then(|| crossing(pair, l, LEAN)).flatten();
        let direction = common.unwrap_or(l);
        let axis = Axis {
            direction,
            separation: separation(pair, direction),
            face: 0,
        };
        found.edges = Some(axis);
        if common.is_some() {
            found.any = Some(axis);
        }
    }
    Some(found)
}

/// The common normal of the two edges that support along `l`, if there are two; they may lean by `lean` (rad).
fn crossing(pair: &PolytopePair<'_>, l: DVec3, lean: f64) -> Option<DVec3> {
    let near = SUPPORTS * pair.scale;
    let edge = |body: &Placed<'_>, l: DVec3| {
        let farthest = body.farthest(l);
        let low = l.dot(farthest) - near;
        let supports = |v: &&DVec3| {
            let height = l.dot(**v);
            height >= low || low + near - height <= lean * farthest.distance(**v)
        };
        let mut ends = body.vertices().iter().filter(supports);
        match (ends.next(), ends.next(), ends.next()) {
            (Some(p), Some(q), None) => Some(*q - *p),
            _ => None,
        }
    };
    let (u, v) = (edge(&pair.a, l)?, edge(&pair.b, -l)?);
    let common = u.cross(v);
    if common.length_squared() < PARALLEL * u.length_squared() * v.length_squared() {
        return None;
    }
    let normal = common.normalize();
    Some(if normal.dot(l) < 0.0 { -normal } else { normal })
}
