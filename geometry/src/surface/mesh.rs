//! Triangle meshes.

use super::SurfaceTriangle;
use super::fan::Fans;
use super::flat::Level;
use super::pieces::{self, Piece, fans};
use super::seams::Seams;
use super::sides::Sheets;
use super::weld::Welded;
use crate::query::{SheetTree, Tree};
use crate::{Aabb, GeometryError, Winding};
use glam::DVec3;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

/// Triangle mesh with a bounding volume tree.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    triangles: Vec<SurfaceTriangle>,
    tree: Bvh,
    bounds: Aabb,
    /// Number of the vertex at each corner; vertices at the same place are one.
    corners: Vec<[usize; 3]>,
    winding: Winding,
    /// Where the triangles lie in their planes.
    levels: Vec<Level>,
    /// Sheets of the triangles; empty if none has two sides.
    sheets: Vec<Sheets>,
    fans: Fans,
    /// Which triangles are at crowded edges (`hidden`); empty if there are none.
    crowded: Vec<bool>,
    /// Number of each triangle in the list that was given.
    given: Vec<u32>,
    /// For queries.
    rays: SheetTree,
}

impl Mesh {
    pub(crate) fn new(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Self, GeometryError> {
        for (field, count, least) in [
            ("vertices", vertices.len(), 3),
            ("triangles", triangles.len(), 1),
        ] {
            if count < least {
                return Err(GeometryError::TooFew {
                    field,
                    count,
                    least,
                });
            }
        }
        for vertex in vertices {
            crate::error::finite("vertices", *vertex)?;
        }
        for (triangle, ids) in triangles.iter().enumerate() {
            if let Some(&index) = ids.iter().find(|i| **i as usize >= vertices.len()) {
                return Err(GeometryError::IndexOutOfRange {
                    triangle,
                    index,
                    count: vertices.len(),
                });
            }
            let [a, b, c] = ids.map(|i| vertices[i as usize]);
            let double_area = (b - a).cross(c - a).length();
            let longest = [b - a, c - b, a - c]
                .iter()
                .fold(0.0_f64, |longest, edge| longest.max(edge.length_squared()));
            if double_area.is_nan() || double_area <= 1e-12 * longest {
                return Err(GeometryError::DegenerateTriangle {
                    triangle,
                    area: 0.5 * double_area,
                });
            }
        }
        let mut welded = Welded::new(vertices, triangles);
        if welded.triangles.is_empty() {
            let [a, b, c] = triangles[0].map(|i| vertices[i as usize]);
            return Err(GeometryError::DegenerateTriangle {
                triangle: 0,
                area: 0.5 * (b - a).cross(c - a).length(),
            });
        }
        let seams = Seams::new(&mut welded);
        let pieces = pieces::pieces(&welded, &seams);
        let sheets = match pieces.iter().any(|piece| piece.sheets.is_some()) {
            true => pieces.iter().map(|piece| piece.sheets).collect(),
            false => Vec::new(),
        };
        let at_crowd = |piece: &Piece| seams.crowded.has(piece.of, &piece.ids);
        let crowded = match seams.crowded.is_empty() {
            true => Vec::new(),
            false => pieces.iter().map(at_crowd).collect(),
        };
        let fans = fans(&pieces, &welded, &seams);
        let boxes: Vec<_> = pieces
            .iter()
            .map(|piece| Aabb::from_points(piece.triangle.vertices).to_parry())
            .collect();
        let all = pieces.iter().flat_map(|piece| piece.triangle.vertices);
        Ok(Self {
            tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes),
            bounds: Aabb::from_points(all),
            levels: pieces::levels(&pieces, &welded, &seams),
            sheets,
            corners: pieces.iter().map(|piece| piece.ids).collect(),
            given: pieces
                .iter()
                .map(|piece| welded.given[piece.of] as u32)
                .collect(),
            rays: SheetTree::default(),
            triangles: pieces.into_iter().map(|piece| piece.triangle).collect(),
            fans,
            crowded,
            winding: seams.winding,
        })
    }

    pub(super) fn bounds(&self) -> Aabb {
        self.bounds
    }

    /// The boxes of the triangles.
    pub(super) fn tree(&self) -> &Tree {
        self.rays.get(|| {
            let triangles = self.triangles.iter();
            let boxes = triangles.map(|triangle| Aabb::from_points(triangle.vertices));
            boxes.collect()
        })
    }

    pub(super) fn corners_of(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].vertices
    }

    /// Number of a triangle in the list that was given.
    pub(super) fn given(&self, triangle: u32) -> u32 {
        self.given[triangle as usize]
    }

    pub(super) fn winding(&self) -> Winding {
        self.winding
    }

    /// Sheets of the triangles; empty if none has two sides.
    pub(super) fn sheets(&self) -> &[Sheets] {
        &self.sheets
    }

    /// What [`Surface::is_crowded`](super::Surface::is_crowded) says.
    pub(super) fn is_crowded(&self, triangle: u32) -> bool {
        self.crowded.get(triangle as usize) == Some(&true)
    }

    /// Edges from a triangle's corner (m).
    #[cfg(test)]
    fn fan(&self, id: u32, corner: usize) -> &[DVec3] {
        self.fans.edges(self.corners[id as usize][corner])
    }

    /// What [`Surface::none_rises`](super::Surface::none_rises) says.
    pub(super) fn none_rises(&self, id: u32, corner: usize, direction: DVec3, part: f64) -> bool {
        let vertex = self.corners[id as usize][corner];
        self.fans.none_rises(vertex, direction, part)
    }

    /// What [`Surface::visit`](super::Surface::visit) says.
    pub(super) fn visit(
        &self,
        region: &Aabb,
        matters: impl Fn(&[DVec3; 3]) -> bool,
        mut visit: impl FnMut(u32, &SurfaceTriangle, Option<u32>),
    ) {
        let bounds = region.to_parry();
        for id in self.tree.intersect_aabb(&bounds) {
            let triangle = &self.triangles[id as usize];
            let plane = self.levels[id as usize].within(&triangle.vertices, region);
            if plane.is_none() || matters(&triangle.vertices) {
                visit(id, triangle, plane);
            }
        }
    }
}

#[cfg(test)]
mod tests;
