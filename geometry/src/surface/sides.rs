//! Sheets with two sides: which of them acts on a solid.

use super::{Surface, SurfaceTriangle};
use crate::Aabb;
use glam::DVec3;
use smallvec::SmallVec;

/// Sides of the sheets around the centre of a solid. A sheet with two sides is two sheets back to back, of which one acts: that on which
/// the centre is where it is nearest. The plane of a triangle alone does not tell: beyond a ridge the centre sinks below it.
pub(crate) struct Sides<'a> {
    point: DVec3,
    sheets: &'a [Sheets],
    known: SmallVec<[Side; 1]>,
}

/// The numbers of the sheets that a triangle and its back belong to, if it is there with the opposite winding too.
pub(super) type Sheets = Option<[usize; 2]>;

/// Of two sheets back to back, the one that faces the point.
struct Side {
    sheets: [usize; 2],
    facing: usize,
    /// Squared distance of the nearest triangle (m²), and the height of the point over its plane (m).
    square: f64,
    height: f64,
}

impl<'a> Sides<'a> {
    /// On which side of the sheets with two sides that reach into `region` a point is.
    pub(crate) fn new(surface: &'a Surface, region: &Aabb, point: DVec3) -> Self {
        let mut sides = Self {
            point,
            sheets: &[],
            known: SmallVec::new(),
        };
        if let Surface::Mesh(mesh) = surface
            && !mesh.sheets().is_empty()
        {
            sides.sheets = mesh.sheets();
            mesh.visit(region, |_| true, |id, triangle, _| sides.add(id, triangle));
        }
        sides
    }

    fn add(&mut self, id: u32, triangle: &SurfaceTriangle) {
        let Some([own, back]) = self.sheets[id as usize] else {
            return;
        };
        let height = triangle.normal.dot(self.point - triangle.vertices[0]);
        let side = Side {
            sheets: [own.min(back), own.max(back)],
            facing: if height >= 0.0 { own } else { back },
            square: triangle.nearest(self.point).distance_squared(self.point),
            height: height.abs(),
        };
        match self
            .known
            .iter_mut()
            .find(|known| known.sheets == side.sheets)
        {
            Some(known) => {
                // Of triangles that share the nearest point, the one that the point is most before is right.
                let level = (side.square - known.square).abs() <= 1e-9 * known.square;
                let better = if level {
                    side.height > known.height
                } else {
                    side.square < known.square
                };
                if better {
                    *known = side;
                }
            }
            None => self.known.push(side),
        }
    }

    /// True if a triangle acts on the solid.
    pub(crate) fn face(&self, id: u32, triangle: &SurfaceTriangle) -> bool {
        match self.sheets.get(id as usize).copied().flatten() {
            None => true,
            // A sheet that goes over into its own back.
            Some([own, back]) if own == back => {
                triangle.normal.dot(self.point - triangle.vertices[0]) >= 0.0
            }
            Some([own, back]) => {
                let sheets = [own.min(back), own.max(back)];
                let side = self.known.iter().find(|known| known.sheets == sheets);
                side.is_none_or(|side| side.facing == own)
            }
        }
    }
}
