//! When a convex solid that moves along a line first touches another.
//!
//! The distance of two convex sets of which one is moved along a line is a convex function of the way. A plane that holds them apart,
//! across a unit vector `l` from A to B, bounds it from below by `s(l) − w (l·d)`, `s` the separation now and `w` the further way along `d`. So
//!
//! ```text
//! w ← w + s(l)/(l·d)        l the direction between the nearest points
//! ```
//!
//! is Newton's method from the safe side [vdBergen04]: it never goes beyond the first touch, and if `l·d ≤ 0` there is none. Curved sides take a few
//! steps, flat ones end on the plane that meets.

use super::convex_pair::{Between, Solid, between, direction_between, separation};
use glam::DVec3;

/// Most steps. The order of convergence is two; grazing passes take longest.
const STEPS: usize = 100;
/// Separation, over the size of the smaller one, at which two touch: what is left of the distance by rounding, times ten.
const TOUCHING: f64 = 1e-13;

/// The same from which on directions are searched for with care: quick ones are good to the root of rounding, and swing to and fro where a capsule comes to the side of a cylinder or a cone.
const CLOSE: f64 = 1e-7;

/// Steps after which what is left of the distance is not looked at more closely.
const MOST_POLISHED: usize = 60;

/// How two touch.
pub(super) struct Touch {
    pub(super) way: f64,
    /// At that way: A moved.
    pub(super) between: Between,
}

/// First touch of `a`, moved along the unit vector `d` by no more than `reach` (m), with `b`. With `overlaps`, one that is at the start counts as one at once;
/// without, such a pair does not meet.
pub(super) fn first_touch(
    a: &Solid,
    b: &Solid,
    d: DVec3,
    reach: f64,
    overlaps: bool,
) -> Option<Touch> {
    // Balls around both meet from `low` to `high`.
    let sum = a.reach() + b.reach();
    let offset = b.middle() - a.middle();
    let along = offset.dot(d);
    let across = (offset - d * along).length_squared();
    let half = (sum * sum - across).sqrt();
    let (low, high) = ((along - half).max(0.0), along + half);
    // Also if a number is not finite.
    if !(high >= 0.0 && low <= reach && low.is_finite()) {
        return None;
    }
    let size = a.reach().min(b.reach());
    let near = TOUCHING * size;
    let mut way = low;
    let mut known: Option<DVec3> = None;
    for step in 0..STEPS {
        let here = a.moved(d * way);
        let guess = known.unwrap_or_else(|| (b.middle() - here.middle()).normalize_or(d));
        let found = direction_between(&here, b, guess);
        let Some(l) = best_of(&here, b, found, known) else {
            return if way > 0.0 && step > 0 {
                known.and_then(|l| touch(&here, b, way, l))
            } else {
                at_start(&here, b, way, d, guess, overlaps)
            };
        };
        let (mut l, mut gap) = (l, separation(&here, b, l));
        if gap <= near {
            if step == 0 {
                return at_start(&here, b, way, d, l, overlaps);
            }
            // Between curved things that all but touch, the quick search is good to a part in 1e-8 alone.
            let touch = touch(&here, b, way, l)?;
            let better = touch.between.direction;
            let left = separation(&here, b, better);
            if left <= 1e-10 * size || step > MOST_POLISHED {
                return Some(touch);
            }
            (l, gap) = (better, left);
        } else if gap <= CLOSE * size
            && let Some(found) = between(&here, b, l)
        {
            let held = separation(&here, b, found.direction);
            if held > gap {
                (l, gap) = (found.direction, held);
            }
        }
        let speed = l.dot(d);
        if speed <= 0.0 {
            return None;
        }
        let next = way + gap / speed;
        if !(next <= reach && next <= high + size) {
            return None;
        }
        if next <= way {
            return touch(&here, b, way, l);
        }
        way = next;
        known = Some(l);
    }
    // Apart by less than it would take to tell whether they meet.
    let here = a.moved(d * way);
    let l = known?;
    let left = separation(&here, b, l);
    (left <= CLOSE * size).then(|| touch(&here, b, way, l))?
}

/// Of two directions the one that holds them farther apart.
fn best_of(a: &Solid, b: &Solid, found: Option<DVec3>, known: Option<DVec3>) -> Option<DVec3> {
    let (Some(x), Some(y)) = (found, known) else {
        return found;
    };
    Some(if separation(a, b, y) > separation(a, b, x) {
        y
    } else {
        x
    })
}

/// The solids touch or overlap before anything has moved.
fn at_start(
    a: &Solid,
    b: &Solid,
    way: f64,
    d: DVec3,
    guess: DVec3,
    overlaps: bool,
) -> Option<Touch> {
    let between = between(a, b, guess)?;
    let leaves = between.direction.dot(d) <= 0.0;
    // Those that touch and move apart do not meet, either.
    if way <= 0.0 && !overlaps && (between.distance < 0.0 || leaves) {
        return None;
    }
    Some(Touch { way, between })
}

/// The points that touch, of two that are held apart best across `l`.
fn touch(a: &Solid, b: &Solid, way: f64, l: DVec3) -> Option<Touch> {
    let found = between(a, b, l)?;
    let size = a.reach().min(b.reach());
    let held = separation(a, b, found.direction) - separation(a, b, l);
    let direction = if held >= -1e-9 * size {
        found.direction
    } else {
        l
    };
    let between = Between { direction, ..found };
    Some(Touch { way, between })
}
