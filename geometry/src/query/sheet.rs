//! Rays and points against the triangles of a surface.
//!
//! The test of a triangle is that of Woop, Benthin and Wald [Woop13]: corners are seen from the origin of the ray and sheared so that it runs
//! along one axis. Two triangles with a common edge evaluate it with the same numbers, so that no ray goes between them.

use super::tree::Tree;
use crate::Aabb;
use crate::surface::Surface;
use glam::DVec3;
use std::sync::OnceLock;

/// A hit on a triangle, in the frame of the surface.
pub(crate) struct SheetHit {
    pub(crate) distance: f64,
    /// Unit normal on the triangle's free side.
    pub(crate) normal: DVec3,
    /// Number of the triangle, as it was given.
    pub(crate) triangle: u32,
}

/// The boxes of the triangles of a surface, made by the first query that asks for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SheetTree(OnceLock<Box<Tree>>);

impl SheetTree {
    pub(crate) fn get(&self, boxes: impl FnOnce() -> Vec<Aabb>) -> &Tree {
        self.0.get_or_init(|| Box::new(Tree::of(&boxes())))
    }
}

/// A ray, ready for triangles.
pub(crate) struct Sheared {
    origin: DVec3,
    /// The axis it runs along most, and the two others, so that they are right-handed.
    axes: [usize; 3],
    shear: [f64; 3],
}

impl Sheared {
    pub(crate) fn new(origin: DVec3, direction: DVec3) -> Self {
        let size = direction.abs();
        let z = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        let (x, y) = ((z + 1) % 3, (z + 2) % 3);
        let shear = [
            direction[x] / direction[z],
            direction[y] / direction[z],
            1.0 / direction[z],
        ];
        Self {
            origin,
            axes: [x, y, z],
            shear,
        }
    }

    /// Distance of the hit on a triangle.
    #[inline]
    pub(crate) fn meet(&self, corners: &[DVec3; 3]) -> Option<f64> {
        let [x, y, z] = self.axes;
        let [shear_x, shear_y, scale] = self.shear;
        let seen = corners.map(|corner| {
            let v = corner - self.origin;
            [v[x] - shear_x * v[z], v[y] - shear_y * v[z], v[z]]
        });
        let [a, b, c] = seen;
        let u = c[0] * b[1] - c[1] * b[0];
        let v = a[0] * c[1] - a[1] * c[0];
        let w = b[0] * a[1] - b[1] * a[0];
        let below = u < 0.0 || v < 0.0 || w < 0.0;
        let above = u > 0.0 || v > 0.0 || w > 0.0;
        if below && above {
            return None;
        }
        let determinant = u + v + w;
        let distance = (u * a[2] + v * b[2] + w * c[2]) * scale / determinant;
        // Not for triangles that are seen from their edge.
        (distance >= 0.0).then_some(distance)
    }
}

impl Surface {
    /// Calls `found` for hits no farther than `reach` (m); it returns how far hits are of interest from then on.
    pub(super) fn cast(
        &self,
        origin: DVec3,
        direction: DVec3,
        reach: f64,
        found: &mut impl FnMut(SheetHit) -> f64,
    ) {
        let ray = Sheared::new(origin, direction);
        self.tree()
            .cast(origin, direction, reach, |item, mut reach| {
                for triangle in self.triangles_of(item) {
                    let corners = self.corners_of(triangle);
                    if let Some(distance) = ray.meet(&corners)
                        && distance <= reach
                    {
                        let [a, b, c] = corners;
                        let hit = SheetHit {
                            distance,
                            normal: (b - a).cross(c - a).normalize_or_zero(),
                            triangle: self.given(triangle),
                        };
                        reach = found(hit).min(reach);
                    }
                }
                reach
            });
    }
}
