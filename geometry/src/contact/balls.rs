//! Balls against each other and against a half-space, in the inertial frame.
//!
//! Neither needs the frame of a body: [`contacts`](super::contacts) and callers that keep balls in
//! arrays of their own run the same routine and get the same bits.

use super::ContactPoint;
use crate::projection::direction_or;
use glam::DVec3;

/// A ball in the inertial frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Centre (m).
    pub center: DVec3,
    /// Radius (m).
    pub radius: f64,
}

/// The contact of two balls, if their gap is at most `margin` (m): what
/// [`contacts`](crate::contacts) finds for two spheres.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::{Ball, ball_contact};
/// let [a, b] = [1.5, 0.0].map(|z| Ball { center: z * DVec3::Z, radius: 0.5 });
/// assert_eq!(ball_contact(a, b, 0.1), None);
/// let found = ball_contact(a, b, 0.6).map(|point| (point.gap, point.normal, point.point));
/// assert_eq!(found, Some((0.5, DVec3::Z, 0.75 * DVec3::Z)));
/// ```
#[inline]
#[must_use]
pub fn ball_contact(a: Ball, b: Ball, margin: f64) -> Option<ContactPoint> {
    let offset = a.center - b.center;
    let square = offset.length_squared();
    let limit = a.radius + b.radius + margin;
    // Before the root, with room for the rounding of both sides.
    if square > limit * limit * (1.0 + 1e-14) {
        return None;
    }
    let distance = square.sqrt();
    let gap = distance - a.radius - b.radius;
    // Also false for NaN and ∞.
    if !(gap <= margin && distance.is_finite()) {
        return None;
    }
    // A square as small as this has lost digits.
    let normal = if square > 1e-280 {
        offset / distance
    } else {
        direction_or(offset, DVec3::Z)
    };
    Some(ContactPoint {
        point: a.center - normal * (a.radius + 0.5 * gap),
        normal,
        gap,
        feature: 0,
    })
}

/// The contact of a ball with the half-space behind the plane through `origin` with the unit
/// `normal`; its normal points to the ball.
pub(super) fn half_space(
    ball: Ball,
    origin: DVec3,
    normal: DVec3,
    margin: f64,
) -> Option<ContactPoint> {
    let height = normal.dot(ball.center - origin);
    let gap = height - ball.radius;
    (gap <= margin).then(|| ContactPoint {
        point: ball.center - normal * (0.5 * (height + ball.radius)),
        normal,
        gap,
        feature: 0,
    })
}
