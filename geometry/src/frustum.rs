//! Circular frustum along z: one description for cylinders and cones.

use crate::Aabb;
use glam::{DMat3, DVec2, DVec3};

/// Solid between two coaxial discs, at `z = ∓half_height` with radii `bottom` and `top`.
///
/// A cylinder has equal radii, a cone `top = 0`. The side makes the angle `α` with the axis,
/// `tan α = (bottom − top) / 2 half_height`, and its outward normals are
/// `(cos α cos φ, cos α sin φ, sin α)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frustum {
    pub(crate) half_height: f64,
    pub(crate) bottom: f64,
    pub(crate) top: f64,
    /// Cosine and sine of the side angle α.
    pub(crate) side: DVec2,
}

impl Frustum {
    pub(crate) fn new(half_height: f64, bottom: f64, top: f64) -> Self {
        let side = DVec2::new(2.0 * half_height, bottom - top).normalize();
        Self {
            half_height,
            bottom,
            top,
            side,
        }
    }

    /// Outward side normal towards the azimuth `(cos φ, sin φ)`.
    pub(crate) fn side_normal(&self, azimuth: DVec2) -> DVec3 {
        (azimuth * self.side.x).extend(self.side.y)
    }

    /// Ends of the side's generator at the azimuth, bottom first.
    pub(crate) fn generator(&self, azimuth: DVec2) -> [DVec3; 2] {
        [
            (azimuth * self.bottom).extend(-self.half_height),
            (azimuth * self.top).extend(self.half_height),
        ]
    }

    /// Largest value of `direction · x` over the solid.
    pub(crate) fn support(&self, direction: DVec3) -> f64 {
        let across = direction.truncate().length();
        let low = across * self.bottom - direction.z * self.half_height;
        let high = across * self.top + direction.z * self.half_height;
        low.max(high)
    }

    /// A point where [`Self::support`] is reached; on the axis of a disc if the whole disc does.
    pub(crate) fn support_point(&self, direction: DVec3) -> DVec3 {
        let across = direction.truncate();
        let length = across.length();
        let azimuth = if length > 0.0 {
            across / length
        } else {
            DVec2::ZERO
        };
        let [low, high] = self.generator(azimuth);
        if direction.dot(high) > direction.dot(low) {
            high
        } else {
            low
        }
    }

    pub(crate) fn bounding_radius(&self) -> f64 {
        let radius = self.bottom.max(self.top);
        (self.half_height * self.half_height + radius * radius).sqrt()
    }

    /// Box around the solid turned by `rotation`: the half width of a disc of radius `r` and unit
    /// normal `a` along the axis `i` is `r √(1 − aᵢ²)`.
    pub(crate) fn aabb(&self, rotation: &DMat3, position: DVec3) -> Aabb {
        let axis = rotation.z_axis;
        let across =
            (rotation.x_axis * rotation.x_axis + rotation.y_axis * rotation.y_axis).map(f64::sqrt);
        let low = position - axis * self.half_height;
        let high = position + axis * self.half_height;
        Aabb::from_center(low, across * self.bottom)
            .union(&Aabb::from_center(high, across * self.top))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn support_points_reach_the_support_value() {
        let cone = Frustum::new(1.0, 0.5, 0.0);
        for direction in [
            DVec3::Z,
            -DVec3::Z,
            DVec3::X,
            DVec3::new(1.0, 0.2, 0.3),
            DVec3::new(0.1, -0.4, 1.0),
        ] {
            let reached = direction.dot(cone.support_point(direction));
            assert!((reached - cone.support(direction)).abs() < 1e-15);
        }
        // All points of a generator are support points of the side normal.
        let azimuth = DVec2::new(0.6, 0.8);
        let normal = cone.side_normal(azimuth);
        let [low, high] = cone.generator(azimuth);
        assert!((normal.dot(low) - normal.dot(high)).abs() < 1e-15);
        assert!((normal.length() - 1.0).abs() < 1e-15);
    }
}
