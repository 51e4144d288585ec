//! The axes of two polytopes with many edges, by search instead of trial.
//!
//! Bodies that touch overlap or are apart by far less than their size. Shrunk by a tenth about a point within, they are apart, and the
//! closest points of what is left show the direction in which the whole bodies meet: GJK [Gilbert88] finds it in a few steps. Shrinking keeps all
//! faces and edges as they are, so the axis that counts is the normal of a face near that direction, or the cross product of
//! the two edges that support there; its separation is then computed from the whole bodies, exactly.
//!
//! Where that is not the best axis, as the points found along it show ([`super::separating_axis`]), the bodies are moved apart along it
//! instead, until they have a little room: their closest points show the next direction. If nothing is closer than that room, the plane that
//! holds them apart is touched by the differences of their points where the origin projects to: no axis near it is better. Bodies that
//! are apart are not moved, and the distance is found. What this does not settle either does the expanding polytope of the whole bodies.

use super::separating_axis::{Axes, Axis, BIAS, FLUSH, PARALLEL, Placed, PolytopePair};
use super::shrunk::{Rough, Simplex};
use super::unit::Unit;
use glam::DVec3;
use parry3d_f64::math::Pose3;
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;
use std::ops::ControlFlow::{self, Break, Continue};

/// Relative error of the distance of the shrunk bodies: the search ends where no vertex is nearer.
const SHARP: f64 = 1e-14;
/// Bodies farther apart than this part of their size are not moved apart.
const TOUCH: f64 = 1e-6;
/// Faces lean by less than this from the one that is closest to the direction, one less the cosine, to be tried as well (4°).
const NEAR: f64 = 2.5e-3;
/// Vertices within this part of the size of the farthest along a direction support there …
const SUPPORTS: f64 = 1e-7;
/// … and of a direction that is right to about 1e-7 rad the ends of an edge that leans by no more than this (rad): it may be longer than the smaller
/// body.
const LEAN: f64 = 1e-6;

/// Overlap, over the size, of bodies that rest on each other, at most.
const RESTS: f64 = 1e-2;
/// By how much more than the limit, relative to it and to the size, a plane that was not searched for has to hold bodies apart.
const SURE: f64 = 1e-3;

/// Which bodies are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Search {
    /// Shrunk ones.
    Shrunk,
    /// Moved apart along the last axis, until they have this part of their size as room.
    Moved(f64),
    /// Whole ones.
    Whole,
}

/// The search is over.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// The bodies are farther apart than the limit, along this direction from A to B.
    Apart(DVec3),
    /// No axis near the last one is better, and the bodies overlap.
    Last,
}

/// The axes that are found, to be looked at.
pub(super) type Found = ControlFlow<End, Axes>;

/// A body as GJK asks for it, in units of the size.
struct Whole<'a>(&'a Placed<'a>, Unit);

impl SupportMap for Whole<'_> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        self.1.of(self.0.farthest(direction))
    }
}

/// The axes near the direction in which the two bodies meet. `last`: the best axis of the search before.
pub(super) fn axes(pair: &PolytopePair<'_>, search: Search, last: Option<&Axes>) -> Found {
    let limit = pair.margin + pair.radius;
    let guess = last.and_then(|axes| axes.any);
    let (l, distance) = match (search, guess) {
        (Search::Shrunk, _) => {
            let mut simplex = Simplex::new(&pair.a, &pair.b);
            match simplex.search(&pair.a, &pair.b, limit, SHARP) {
                Rough::Apart => return Break(End::Apart(simplex.direction)),
                Rough::Deep => return axes(pair, Search::Whole, None),
                Rough::Near => (simplex.direction, None),
            }
        }
        (Search::Moved(room), Some(guess)) => {
            let (depth, room) = (-guess.separation, room * pair.scale);
            let is_apart = -depth > TOUCH * pair.scale;
            let by = if is_apart { 0.0 } else { room + depth };
            let mut simplex = Simplex::behind(guess.direction, by);
            match simplex.search(&pair.a, &pair.b, limit, SHARP) {
                Rough::Apart => return Break(End::Apart(simplex.direction)),
                Rough::Deep => return axes(pair, Search::Whole, last),
                Rough::Near => {}
            }
            let (l, distance) = (simplex.direction, simplex.distance());
            let closest = room * (1.0 + 1e-9) + 1e-12 * pair.scale;
            let is_last = !is_apart && distance <= closest && pair.is_shallow(depth);
            if is_last && simplex.overlap(&pair.a, &pair.b) {
                return Break(End::Last);
            }
            (l, is_apart.then_some(distance))
        }
        _ => whole(pair, guess),
    };
    let l = l.try_normalize().unwrap_or(DVec3::Z);
    let found = match near(pair, l, distance, search) {
        Continue(found) => found,
        apart => return apart,
    };
    // Of bodies that touch the direction may be off by a hundredth of a radian, where the guess is right. Of two that hardly differ the guess is not
    // preferred for what rounding makes of it: what slides over flush edges would feel them.
    if let (Search::Whole, Some(guess)) = (search, guess) {
        let least = separation(pair, guess.direction) - FLUSH * pair.scale;
        if found.any.is_some_and(|any| any.separation < least) {
            return near(pair, guess.direction, distance, search);
        }
    }
    Continue(found)
}

/// The direction between the closest points of the whole bodies, or of their expanding polytope, and their distance.
fn whole(pair: &PolytopePair<'_>, guess: Option<Axis>) -> (DVec3, Option<f64>) {
    let between = || (pair.b.inner() - pair.a.inner()).try_normalize();
    let guess = guess.map(|axis| axis.direction);
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
    match found {
        GJKResult::ClosestPoints(p, q, l) => (l, Some(unit.back((q - p).length()))),
        GJKResult::NoIntersection(l) => (l, Some(f64::INFINITY)),
        _ => (guess, Some(f64::INFINITY)),
    }
}

/// The axes near a direction that is known.
pub(super) fn about(pair: &PolytopePair<'_>, direction: DVec3) -> Found {
    near(pair, direction, None, Search::Shrunk)
}

/// A direction far from an axis along which overlapping bodies are held less deep than along it: that of the expanding polytope. Bodies that rest on each other are not asked.
pub(super) fn elsewhere(pair: &PolytopePair<'_>, axis: &Axis) -> Option<Axis> {
    if axis.separation >= -RESTS * pair.scale {
        return None;
    }
    let direction = whole(pair, Some(*axis)).0.try_normalize()?;
    let separation = separation(pair, direction);
    (separation > axis.separation + BIAS * pair.scale).then_some(Axis {
        direction,
        separation,
        face: 0,
    })
}

fn separation(pair: &PolytopePair<'_>, l: DVec3) -> f64 {
    l.dot(pair.b.farthest(-l)) - l.dot(pair.a.farthest(l))
}

/// The bodies are so far apart along a direction from A to B that no search finds a contact: by more than gaps along faces may be off.
pub(super) fn is_beyond(pair: &PolytopePair<'_>, direction: DVec3) -> bool {
    let limit = pair.margin + pair.radius;
    separation(pair, direction) > limit.max(0.0) * (1.0 + SURE) + SURE * pair.scale
}

/// The axes near a direction; none if one of them separates by more than the limit.
fn near(pair: &PolytopePair<'_>, l: DVec3, distance: Option<f64>, search: Search) -> Found {
    let limit = pair.margin + pair.radius;
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
        return Break(End::Apart(l));
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
                return Break(End::Apart(normal * sign));
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
    if let Some((direction, edges)) = crossing(pair, l, 0.0) {
        found.crossing = Some(edges);
        let separation = separation(pair, direction);
        if separation > limit {
            return Break(End::Apart(direction));
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
    if search == Search::Whole && along > best + 1e-8 * pair.scale {
        // Edges were missed, if there is more to it than rounding.
        let is_missed = along > best + FLUSH * pair.scale;
        let common = is_missed.then(|| crossing(pair, l, LEAN)).flatten();
        let direction = common.map_or(l, |(direction, _)| direction);
        let axis = Axis {
            direction,
            separation: separation(pair, direction),
            face: 0,
        };
        found.edges = Some(axis);
        if let Some((_, edges)) = common {
            found.crossing = Some(edges);
            found.any = Some(axis);
        }
    }
    Continue(found)
}

/// The common normal of the two edges that support along `l`, if there are two, and their numbers; they may lean by `lean` (rad).
fn crossing(pair: &PolytopePair<'_>, l: DVec3, lean: f64) -> Option<(DVec3, [usize; 2])> {
    let near = SUPPORTS * pair.scale;
    let edge = |body: &Placed<'_>, l: DVec3| {
        if lean > 0.0 {
            body.edge_leaning(l, near, lean)
        } else {
            body.edge_along(l, near)
        }
    };
    let edges = [edge(&pair.a, l)?, edge(&pair.b, -l)?];
    let [u, v] = [(&pair.a, edges[0]), (&pair.b, edges[1])].map(|(body, edge)| {
        let [p, q] = body.edge(edge);
        q - p
    });
    let common = u.cross(v);
    if common.length_squared() < PARALLEL * u.length_squared() * v.length_squared() {
        return None;
    }
    let normal = common.normalize();
    let normal = if normal.dot(l) < 0.0 { -normal } else { normal };
    Some((normal, edges))
}
