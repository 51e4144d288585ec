//! Closest or deepest points of two convex bodies given by support functions and projections.
//!
//! GJK and EPA stop at a relative error of about 1e-8 in the distance, which on curved bodies
//! leaves 1e-4 in the normal. For separated bodies the answer is therefore refined by
//! alternating projections `p ← Π_A(q), q ← Π_B(p)`, which converge to a closest pair and use the
//! exact projections of this crate. For overlapping bodies the best of EPA's direction and the
//! guess is improved by ascent of `s(l) = min_B l·x − max_A l·x`, whose gradient on the sphere is
//! the part of `q − p` (the support points) across `l`, and polished by a fixed-point iteration
//! on the bodies moved apart.

use glam::DVec3;
use parry3d_f64::math::Pose3;
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::SupportMap;

/// A convex body for this routine.
pub(crate) struct ConvexSet<S, P> {
    /// A point farthest along a direction.
    pub(crate) support: S,
    /// The nearest point of the body.
    pub(crate) project: P,
}

impl<S: Fn(DVec3) -> DVec3, P> SupportMap for ConvexSet<S, P> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        (self.support)(direction)
    }
}

/// Result of [`nearest`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// Point of A.
    pub(crate) on_a: DVec3,
    /// Point of B.
    pub(crate) on_b: DVec3,
    /// Unit direction from A to B.
    pub(crate) direction: DVec3,
    /// Separation along the direction (m).
    pub(crate) distance: f64,
}

/// Most iterations of the refinement; corners and strongly curved parts need few.
const PROJECTIONS: usize = 1000;

/// Closest points of A and B, or the deepest if they overlap; `None` if they are farther apart
/// than `limit`, or if the search fails. `guess` is a direction from A to B, `scale` a length for
/// tolerances.
pub(crate) fn nearest<S, P, T, Q>(
    a: &ConvexSet<S, P>,
    b: &ConvexSet<T, Q>,
    guess: DVec3,
    limit: f64,
    scale: f64,
) -> Option<Nearest>
where
    S: Fn(DVec3) -> DVec3,
    P: Fn(DVec3) -> DVec3,
    T: Fn(DVec3) -> DVec3,
    Q: Fn(DVec3) -> DVec3,
{
    let found = contact_support_map_support_map_with_params(
        &Pose3::IDENTITY,
        a,
        b,
        limit,
        &mut VoronoiSimplex::new(),
        Some(guess),
    );
    let separation = |l: DVec3| l.dot((b.support)(-l)) - l.dot((a.support)(l));
    let start = match found {
        GJKResult::ClosestPoints(p, q, direction) => {
            let rough = (q - p).dot(direction);
            if rough > 1e-9 * scale {
                // Of bodies that overlap after all, the projections meet in one point. The
                // separation along the direction found tells.
                if let Some(found) = refined(a, b, q, scale)
                    && found.distance - separation(found.direction) < 1e-9 * scale
                {
                    return Some(found);
                }
            }
            if separation(direction) > separation(guess) {
                direction
            } else {
                guess
            }
        }
        // Too far apart.
        GJKResult::NoIntersection(direction) if separation(direction) > limit => return None,
        _ => guess,
    };
    let direction = ascended(a, b, start, scale);
    let mut best = Nearest {
        on_a: (a.support)(direction),
        on_b: (b.support)(-direction),
        direction,
        distance: separation(direction),
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
        };
        let Some(next) = refined(a, &apart, best.on_b + shift, scale) else {
            break;
        };
        let distance = separation(next.direction);
        if distance < best.distance - 1e-9 * scale {
            break;
        }
        let change = (next.direction - best.direction).length();
        best = Nearest {
            on_b: next.on_b - shift,
            distance,
            ..next
        };
        if change < 1e-14 {
            break;
        }
    }
    Some(best)
}

/// Alternating projections from a point of B.
fn refined<S, P, T, Q>(
    a: &ConvexSet<S, P>,
    b: &ConvexSet<T, Q>,
    start: DVec3,
    scale: f64,
) -> Option<Nearest>
where
    P: Fn(DVec3) -> DVec3,
    Q: Fn(DVec3) -> DVec3,
{
    let mut q = start;
    let mut p = (a.project)(q);
    let mut last = f64::INFINITY;
    for k in 1..=PROJECTIONS {
        q = (b.project)(p);
        let next = (a.project)(q);
        let step = next - p;
        let moved = step.length();
        p = next;
        if moved <= 3e-16 * scale {
            break;
        }
        // Linear convergence with the ratio λ: the rest of the geometric series in one leap.
        // Any point is a valid start for further projections, so a bad leap does no harm.
        let ratio = moved / last;
        last = moved;
        if k % 8 == 0 && ratio < 0.999_9 && k + 64 < PROJECTIONS {
            p = (a.project)(p + step * (ratio / (1.0 - ratio)));
        }
    }
    q = (b.project)(p);
    let offset = q - p;
    let distance = offset.length();
    (distance > 0.0).then(|| Nearest {
        on_a: p,
        on_b: q,
        direction: offset / distance,
        distance,
    })
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
