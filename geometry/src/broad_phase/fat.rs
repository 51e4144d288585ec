//! Volumes that a body stays in for a while.

use crate::Aabb;
use glam::DVec3;

/// Where a body may be in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Box around it, possibly infinite.
    pub bounds: Aabb,
    /// Centre of a ball around it (m).
    pub center: DVec3,
    /// Radius of that ball (m); infinite if only the box counts.
    pub radius: f64,
    /// How far it may go before its pairs are found anew (m, ≥ 0): a matter of speed only.
    pub slack: f64,
}

impl Extent {
    /// Extent of which only the box counts.
    #[must_use]
    pub fn of_box(bounds: Aabb, slack: f64) -> Self {
        Self {
            bounds,
            center: DVec3::ZERO,
            radius: f64::INFINITY,
            slack,
        }
    }

    /// Extent of a ball (m).
    #[must_use]
    pub fn of_ball(center: DVec3, radius: f64, slack: f64) -> Self {
        Self {
            bounds: Aabb::from_center(center, DVec3::splat(radius)),
            center,
            radius,
            slack,
        }
    }
}

/// An extent with its slack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fat {
    pub(super) aabb: Aabb,
    center: DVec3,
    radius: f64,
}

/// The ball of a body stays inside the fat ball by this fraction of its radius: far more than
/// rounding moves any of the distances that are compared.
const GUARD: f64 = 1e-9;

/// How far a fat volume leans, as a part of the slack: the rest is room to turn aside and to reach farther.
const LEAN: f64 = 0.75;

/// Fat volumes with more than this many times the slack are drawn in.
const LOOSE: f64 = 4.0;

impl Fat {
    /// The volume of a body without extent: meets nothing.
    pub(super) const NOWHERE: Self = Self {
        aabb: Aabb::new(DVec3::INFINITY, DVec3::NEG_INFINITY),
        center: DVec3::ZERO,
        radius: 0.0,
    };

    /// An extent with its slack all around; it leans towards `ahead` (m) by less than the slack.
    pub(super) fn around(extent: &Extent, ahead: DVec3) -> Self {
        let lean = ahead.clamp_length_max(LEAN * extent.slack);
        // Of velocities that are not finite.
        let lean = if lean.is_finite() { lean } else { DVec3::ZERO };
        let aabb = extent.bounds.inflated(extent.slack);
        Self {
            aabb: Aabb::new(aabb.min + lean, aabb.max + lean),
            center: extent.center + lean,
            radius: (extent.radius + extent.slack) * (1.0 + 2.0 * GUARD),
        }
    }

    /// The extent lies inside, and not much room is left.
    #[inline]
    pub(super) fn suits(&self, extent: &Extent) -> bool {
        let size = |aabb: &Aabb| (aabb.max - aabb.min).element_sum();
        self.aabb.contains(&extent.bounds)
            && self.ball_holds(extent)
            && (extent.slack <= 0.0
                || size(&self.aabb) - size(&extent.bounds) <= 6.0 * LOOSE * extent.slack
                || !extent.bounds.is_finite())
    }

    #[inline]
    fn ball_holds(&self, extent: &Extent) -> bool {
        let room = self.radius * (1.0 - GUARD) - extent.radius;
        self.radius.is_infinite()
            || (room >= 0.0 && (extent.center - self.center).length_squared() <= room * room)
    }

    /// The volumes share a point, up to rounding.
    #[inline]
    pub(super) fn meets(&self, other: &Self) -> bool {
        let reach = self.radius + other.radius;
        let apart = (self.center - other.center).length_squared() > reach * reach;
        // Two balls, or two boxes.
        if self.radius.is_finite() && other.radius.is_finite() {
            !apart
        } else {
            self.aabb.intersects(&other.aabb)
        }
    }

    /// Greatest width of the box (m).
    pub(super) fn width(&self) -> f64 {
        (self.aabb.max - self.aabb.min).max_element()
    }
}
