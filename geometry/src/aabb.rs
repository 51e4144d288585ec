//! Axis-aligned boxes.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Axis-aligned box in the inertial frame; `min ≤ max` by component, possibly infinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aabb {
    /// Least corner (m); `-∞` allowed.
    pub min: DVec3,
    /// Greatest corner (m); `+∞` allowed.
    pub max: DVec3,
}

impl Aabb {
    /// Box that contains everything.
    pub const EVERYTHING: Self = Self {
        min: DVec3::NEG_INFINITY,
        max: DVec3::INFINITY,
    };

    /// Box by its corners (m).
    #[must_use]
    pub const fn new(min: DVec3, max: DVec3) -> Self {
        Self { min, max }
    }

    /// Box by centre and half extents (m).
    #[must_use]
    pub fn from_center(center: DVec3, half_extents: DVec3) -> Self {
        Self::new(center - half_extents, center + half_extents)
    }

    /// Least box around the points (m); an inverted infinite box if there are none.
    #[must_use]
    pub fn from_points(points: impl IntoIterator<Item = DVec3>) -> Self {
        points.into_iter().fold(
            Self::new(DVec3::INFINITY, DVec3::NEG_INFINITY),
            |bounds, point| Self::new(bounds.min.min(point), bounds.max.max(point)),
        )
    }

    /// The box grown by `margin` (m) on every side.
    #[must_use]
    pub fn inflated(&self, margin: f64) -> Self {
        Self::new(self.min - margin, self.max + margin)
    }

    /// True if the box grown by `margin` (m) on every side holds the point.
    #[must_use]
    pub fn is_within(&self, point: DVec3, margin: f64) -> bool {
        (self.min - margin).cmple(point).all() && point.cmple(self.max + margin).all()
    }

    /// True if the closed boxes share a point; false if any number is NaN.
    #[must_use]
    pub fn intersects(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
            && self.min.z <= other.max.z
            && other.min.z <= self.max.z
    }

    /// True if `other` lies in this closed box.
    #[must_use]
    pub fn contains(&self, other: &Self) -> bool {
        self.min.cmple(other.min).all() && self.max.cmpge(other.max).all()
    }

    /// Least box that contains both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::new(self.min.min(other.min), self.max.max(other.max))
    }

    /// True if all six numbers are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.min.is_finite() && self.max.is_finite()
    }

    pub(crate) fn to_parry(self) -> parry3d_f64::bounding_volume::Aabb {
        parry3d_f64::bounding_volume::Aabb::new(self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_boxes_intersect_and_nan_never_does() {
        let unit = Aabb::from_center(DVec3::ZERO, DVec3::ONE);
        let next = Aabb::from_center(2.0 * DVec3::X, DVec3::ONE);
        assert!(unit.intersects(&next));
        assert!(!unit.intersects(&Aabb::from_center(2.1 * DVec3::X, DVec3::ONE)));
        assert!(!unit.intersects(&Aabb::from_center(DVec3::NAN, DVec3::ONE)));
        assert!(Aabb::EVERYTHING.contains(&unit) && unit.union(&next).contains(&next));
        assert!(unit.inflated(0.1).contains(&unit) && !unit.contains(&unit.inflated(0.1)));
    }
}
