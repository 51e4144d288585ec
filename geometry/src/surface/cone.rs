//! The normals that may act on a triangle, those on its corners among them.

use super::triangle::CONE_TOLERANCE;
use super::{Surface, SurfaceTriangle};
use glam::DVec3;

/// The normal cone of a triangle within its surface: that of its edges, and beyond it the cones of
/// its corners.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cone<'a> {
    /// The triangle, in the surface's frame up to a translation.
    pub(crate) triangle: &'a SurfaceTriangle,
    /// The surface that it belongs to.
    pub(crate) surface: &'a Surface,
    /// Its number there.
    pub(crate) id: u32,
}

impl Cone<'_> {
    /// True if a contact normal (unit, away from the surface, in its frame) may act on this
    /// triangle.
    ///
    /// The cones of all three edges are too narrow in two cases. A normal that acts on one edge may
    /// lean a little over another. And at a tip with concave edges a normal may lean over an edge,
    /// since the neighbour behind it falls off sideways: there a normal is permitted if no edge of
    /// the whole surface rises along it from the corner it acts on.
    pub(crate) fn permits(&self, direction: DVec3) -> bool {
        let triangle = self.triangle;
        if triangle.permits(direction) {
            return true;
        }
        let along = direction.dot(triangle.normal);
        if along <= -CONE_TOLERANCE {
            return false;
        }
        let heights = triangle.vertices.map(|v| direction.dot(v));
        let corner = match heights {
            [a, b, c] if a >= b && a >= c => 0,
            [_, b, c] if b >= c => 1,
            _ => 2,
        };
        // The edges that meet there, if they are level.
        for (edge, other) in [
            (corner, (corner + 1) % 3),
            ((corner + 2) % 3, (corner + 2) % 3),
        ] {
            let length = (triangle.vertices[other] - triangle.vertices[corner]).length();
            if heights[corner] - heights[other] <= CONE_TOLERANCE * length
                && triangle.rims[edge].permits(direction, along)
            {
                return true;
            }
        }
        self.surface
            .none_rises(self.id, corner, direction, CONE_TOLERANCE)
    }
}
