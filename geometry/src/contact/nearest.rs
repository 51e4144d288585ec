//! Closest or deepest points of two convex bodies given by support functions and projections: slow, where
//! [`meeting`](super::meeting) fails. That is in deep overlap, and where parts of the bodies are all but parallel.
//!
//! GJK and EPA stop at a relative error of about 1e-8 in the distance, which on curved bodies
//! leaves 1e-4 in the normal. For separated bodies the answer is therefore refined by
//! alternating projections `p ← Π_A(q), q ← Π_B(p)`, which converge to a closest pair and use the
//! exact projections of this crate. The points run along rims and generators, curves of which two differences tell nearly all: they are
//! accelerated [Anderson65]. Bodies that overlap little are apart when they are shrunk by a tenth about a point within: that
//! gives a direction, which is polished by a fixed-point iteration on the bodies moved apart. For deep overlaps the best
//! of EPA's direction and the guess is improved first by ascent of `s(l) = min_B l·x − max_A l·x`, whose gradient on the sphere is
//! the part of `q − p` (the support points) across `l`.

use super::meeting::Meeting;
use super::unit::Unit;
use glam::DVec3;
use parry3d_f64::math::Pose3;
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;

/// A convex body for this routine.
pub(crate) struct ConvexSet<S, P> {
    /// A point farthest along a direction.
    pub(crate) support: S,
    /// The nearest point of the body.
    pub(crate) project: P,
    /// A point within.
    pub(crate) inner: DVec3,
}

/// A body as GJK asks for it, in units of the size.
struct InUnits<'a, T>(&'a T, Unit);

impl<S: Fn(DVec3) -> DVec3, P> SupportMap for InUnits<'_, ConvexSet<S, P>> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        self.1.of((self.0.support)(direction))
    }
}

/// Most iterations of the refinement; corners and strongly curved parts need few.
const PROJECTIONS: usize = 1000;
/// Step of the projections, over the size, at which they have arrived.
const ARRIVED: f64 = 1e-14;
/// Change of the direction of overlapping bodies at which it is found.
const STILL: f64 = 1e-12;
/// Part to which bodies that overlap are shrunk.
const SHRUNK: f64 = 0.9;

/// Closest points of A and B, or the deepest if they overlap; `None` if they are farther apart
/// than `limit`, or if the search fails. `guess` is a direction from A to B, `scale` a length for
/// tolerances.
pub(crate) fn nearest<S, P, T, Q>(
    a: &ConvexSet<S, P>,
    b: &ConvexSet<T, Q>,
    guess: DVec3,
    limit: f64,
    scale: f64,
) -> Option<Meeting>
where
    S: Fn(DVec3) -> DVec3,
    P: Fn(DVec3) -> DVec3,
    T: Fn(DVec3) -> DVec3,
    Q: Fn(DVec3) -> DVec3,
{
    let separation = |l: DVec3| l.dot((b.support)(-l)) - l.dot((a.support)(l));
    let better = |first: DVec3, second: DVec3| {
        if separation(first) > separation(second) {
            first
        } else {
            second
        }
    };
    let unit = Unit::near(scale);
    let (in_a, in_b, reach) = (InUnits(a, unit), InUnits(b, unit), unit.of_length(limit));
    let mut simplex = VoronoiSimplex::new();
    simplex.reset(CsoPoint::from_shapes(&Pose3::IDENTITY, &in_a, &in_b, guess));
    let found = gjk::closest_points(&Pose3::IDENTITY, &in_a, &in_b, reach, true, &mut simplex);
    let start = match found {
        GJKResult::ClosestPoints(p, q, direction) => {
            let (rough, q) = (unit.back((q - p).dot(direction)), unit.place(q));
            if rough > 1e-9 * scale {
                // Of bodies that overlap after all, the projections meet in one point. The
                // separation along the direction found tells.
                if let Some(found) = refined(a, b, q, scale)
                    && found.distance - separation(found.direction) < 1e-9 * scale
                {
                    return Some(found);
                }
            }
            better(direction, guess)
        }
        // Too far apart.
        GJKResult::NoIntersection(direction) if separation(direction) > limit => return None,
        _ => guess,
    };
    let direction = match apart_when_shrunk(a, b, start, unit) {
        Some(direction) => better(direction, start),
        None => {
            let deep = contact_support_map_support_map_with_params(
                &Pose3::IDENTITY,
                &in_a,
                &in_b,
                reach,
                &mut simplex,
                Some(start),
            );
            let start = match deep {
                GJKResult::ClosestPoints(_, _, direction) => better(direction, start),
                _ => start,
            };
            ascended(a, b, start, scale)
        }
    };
    let direction = if better_than(separation(direction), None, separation).is_some() {
        let starts = spread(&separation).into_iter();
        starts.fold(direction, |best, l| better(ascended(a, b, l, scale), best))
    } else {
        direction
    };
    let mut best = Meeting {
        on_a: (a.support)(direction),
        on_b: (b.support)(-direction),
        direction,
        distance: separation(direction),
        is_tied: false,
    };
    // At the optimum the nearest points lie along `l`, also after B was moved apart along `l`;
    // so the nearest direction of the separated bodies is a fixed point, reached by iteration.
    for _ in 0..20 {
        if best.distance < -0.25 * scale {
            break;
        }
        let shift = best.direction * (0.05 * scale - best.distance);
        let apart = ConvexSet {
            support: |l| (b.support)(l) + shift,
            project: |x| (b.project)(x - shift) + shift,
            inner: b.inner + shift,
        };
        let Some(next) = refined(a, &apart, best.on_b + shift, scale) else {
            break;
        };
        let distance = separation(next.direction);
        if distance < best.distance - 1e-9 * scale {
            break;
        }
        let change = (next.direction - best.direction).length();
        best = Meeting {
            on_b: next.on_b - shift,
            distance,
            ..next
        };
        if change < STILL {
            break;
        }
    }
    Some(best)
}

/// Directions that ascents start from where what was found is not the best.
const STARTS: usize = 3;

/// Those of 26 directions, of the axes of a cube and of the lines between them, along which the separation is greatest, ascending.
///
/// Bodies in overlap have several directions of which each is the best near by.
fn spread(separation: &impl Fn(DVec3) -> f64) -> [DVec3; STARTS] {
    let mut best = [(f64::NEG_INFINITY, DVec3::Z); STARTS];
    for l in directions() {
        let value = separation(l);
        if value > best[0].0 {
            best[0] = (value, l);
            best.sort_by(|x, y| x.0.total_cmp(&y.0));
        }
    }
    best.map(|(_, l)| l)
}

/// The first of the likely directions and 26 others that has a greater separation than `known` (m).
pub(crate) fn better_than(
    known: f64,
    likely: impl IntoIterator<Item = DVec3>,
    separation: impl Fn(DVec3) -> f64,
) -> Option<DVec3> {
    let mut all = likely.into_iter().chain(directions());
    all.find(|l| separation(*l) > known)
}

fn directions() -> impl Iterator<Item = DVec3> {
    let steps = || [-1.0, 0.0, 1.0].into_iter();
    let all = steps()
        .flat_map(move |x| steps().flat_map(move |y| steps().map(move |z| DVec3::new(x, y, z))));
    all.filter_map(|l| l.try_normalize())
}

/// Alternating projections from a point of B.
fn refined<S, P, T, Q>(
    a: &ConvexSet<S, P>,
    b: &ConvexSet<T, Q>,
    start: DVec3,
    scale: f64,
) -> Option<Meeting>
where
    P: Fn(DVec3) -> DVec3,
    Q: Fn(DVec3) -> DVec3,
{
    let mut p = (a.project)(start);
    // The last two points and steps.
    let mut known: [Option<(DVec3, DVec3)>; 2] = [None; 2];
    let mut last = f64::INFINITY;
    for _ in 0..PROJECTIONS {
        let next = (a.project)((b.project)(p));
        let step = next - p;
        let moved = step.length();
        if moved <= ARRIVED * scale {
            p = next;
            break;
        }
        // Any point is a valid start for further projections; one that made things worse is not built upon.
        if moved > last {
            known = [None; 2];
        }
        last = moved;
        let ahead = accelerated((next, step), known);
        known = [Some((next, step)), known[0]];
        p = ahead;
    }
    let q = (b.project)(p);
    let p = (a.project)(q);
    let offset = q - p;
    let distance = offset.length();
    (distance > 0.0).then(|| Meeting {
        on_a: p,
        on_b: q,
        direction: offset / distance,
        distance,
        is_tied: false,
    })
}

/// Anderson's step from the images of points and the steps to them: the combination of these that makes the step least.
fn accelerated((next, step): (DVec3, DVec3), known: [Option<(DVec3, DVec3)>; 2]) -> DVec3 {
    let difference = |other: (DVec3, DVec3)| (next - other.0, step - other.1);
    let Some((moved, changed)) = known[0].map(difference) else {
        return next;
    };
    let square = changed.length_squared();
    if square <= 0.0 {
        return next;
    }
    if let Some((other_moved, other_changed)) = known[1].map(difference) {
        // Least squares over both.
        let (cross, other) = (changed.dot(other_changed), other_changed.length_squared());
        let determinant = square * other - cross * cross;
        if determinant > 1e-6 * square * other {
            let (x, y) = (changed.dot(step), other_changed.dot(step));
            let first = (x * other - y * cross) / determinant;
            let second = (y * square - x * cross) / determinant;
            return next - moved * first - other_moved * second;
        }
    }
    next - moved * (changed.dot(step) / square)
}

/// A body shrunk about its inner point, in units of the size.
struct Shrunk<'a, T>(&'a T, Unit);

impl<S: Fn(DVec3) -> DVec3, P> SupportMap for Shrunk<'_, ConvexSet<S, P>> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        let body = self.0;
        self.1
            .of(body.inner + ((body.support)(direction) - body.inner) * SHRUNK)
    }
}

/// The direction between the shrunk bodies, if these are apart.
fn apart_when_shrunk<S, P, T, Q>(
    a: &ConvexSet<S, P>,
    b: &ConvexSet<T, Q>,
    guess: DVec3,
    unit: Unit,
) -> Option<DVec3>
where
    S: Fn(DVec3) -> DVec3,
    T: Fn(DVec3) -> DVec3,
{
    let (a, b) = (Shrunk(a, unit), Shrunk(b, unit));
    let mut simplex = VoronoiSimplex::new();
    simplex.reset(CsoPoint::from_shapes(&Pose3::IDENTITY, &a, &b, guess));
    match gjk::closest_points(&Pose3::IDENTITY, &a, &b, f64::MAX, true, &mut simplex) {
        GJKResult::ClosestPoints(_, _, direction) => direction.try_normalize(),
        _ => None,
    }
}

/// Local maximum of the separation near a direction, by ascent with step control.
fn ascended<S, P, T, Q>(a: &ConvexSet<S, P>, b: &ConvexSet<T, Q>, start: DVec3, scale: f64) -> DVec3
where
    S: Fn(DVec3) -> DVec3,
    T: Fn(DVec3) -> DVec3,
{
    let offset = |l: DVec3| (b.support)(-l) - (a.support)(l);
    let mut l = start;
    let mut gradient = offset(l);
    let mut value = l.dot(gradient);
    let mut step = 0.5 / scale;
    for _ in 0..200 {
        let across = gradient - l * value;
        let next = (l + across * step).normalize_or(l);
        let then = offset(next);
        let better = next.dot(then);
        if better > value {
            l = next;
            gradient = then;
            value = better;
            step *= 1.5;
        } else {
            step *= 0.5;
            if step * scale < 1e-12 {
                break;
            }
        }
    }
    l
}
