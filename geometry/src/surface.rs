//! Triangulated surfaces: meshes and height fields, with the normal cones of their edges.
//!
//! A body that slides over two coplanar triangles must not notice their common edge. So every
//! edge carries the largest angle by which a contact normal may lean over it: the dihedral angle
//! of a convex edge, zero for a flat or concave one, a right angle for a free border. Normals
//! outside this cone belong to a neighbour and are refused ([`SurfaceTriangle::permits`]).
//!
//! Vertices of a mesh that are near each other are one (`weld`), and the neighbour of an edge may be that of a part (`seams`). A triangle
//! is cut only where its neighbours along an edge are not in one plane.
//!
//! Where more than two triangles meet at an edge (`crowded`), what is behind one of them does not act on what is before it (`hidden`).

mod cone;
mod crowded;
mod fan;
mod field;
mod flat;
mod hidden;
mod mesh;
mod opposed;
mod pieces;
mod seams;
mod sides;
mod triangle;
mod weld;

pub(crate) use cone::Cone;
pub(crate) use field::Field;
pub(crate) use mesh::Mesh;
pub(crate) use sides::Sides;
pub(crate) use triangle::SurfaceTriangle;

use crate::query::Tree;
use crate::{Aabb, Winding};
use fan::rises;
use glam::DVec3;
use std::ops::Range;

/// A surface in its local frame (m).
#[derive(Clone, Debug)]
pub(crate) enum Surface {
    Mesh(Box<Mesh>),
    Field(Field),
}

impl Surface {
    pub(crate) fn bounds(&self) -> Aabb {
        match self {
            Self::Mesh(mesh) => mesh.bounds(),
            Self::Field(field) => field.bounds(),
        }
    }

    /// The boxes of its triangles, for queries; an item is some [`Self::triangles_of`] it.
    pub(crate) fn tree(&self) -> &Tree {
        match self {
            Self::Mesh(mesh) => mesh.tree(),
            Self::Field(field) => field.tree(),
        }
    }

    /// Numbers of the triangles in a box of [`Self::tree`].
    pub(crate) fn triangles_of(&self, item: u32) -> Range<u32> {
        match self {
            Self::Mesh(_) => item..item + 1,
            Self::Field(_) => 2 * item..2 * item + 2,
        }
    }

    /// Corners of a triangle (m).
    pub(crate) fn corners_of(&self, triangle: u32) -> [DVec3; 3] {
        match self {
            Self::Mesh(mesh) => mesh.corners_of(triangle),
            Self::Field(field) => field.corners_of(triangle),
        }
    }

    /// Number of a triangle for users: that in the list that was given.
    pub(crate) fn given(&self, triangle: u32) -> u32 {
        match self {
            Self::Mesh(mesh) => mesh.given(triangle),
            Self::Field(_) => triangle,
        }
    }

    /// Calls `visit` with the number and data of every triangle whose box meets `region`. For those within a plane whose border is elsewhere
    /// (`flat`) it says the number of the plane; only those of them are visited at whose corners `matters` is true.
    pub(crate) fn visit(
        &self,
        region: &Aabb,
        matters: impl Fn(&[DVec3; 3]) -> bool,
        visit: impl FnMut(u32, &SurfaceTriangle, Option<u32>),
    ) {
        match self {
            Self::Mesh(mesh) => mesh.visit(region, matters, visit),
            Self::Field(field) => field.visit(region, matters, visit),
        }
    }

    /// True if a triangle is at a crowded edge, or one of its corners is an end of such an edge.
    fn is_crowded(&self, triangle: u32) -> bool {
        match self {
            Self::Mesh(mesh) => mesh.is_crowded(triangle),
            Self::Field(_) => false,
        }
    }

    /// How the triangles fit together; a height field faces up throughout.
    pub(crate) fn winding(&self) -> Winding {
        match self {
            Self::Mesh(mesh) => mesh.winding(),
            Self::Field(_) => Winding::default(),
        }
    }

    /// True if no edge of the surface from a triangle's corner rises along a unit direction by more than this part of its length.
    fn none_rises(&self, id: u32, corner: usize, direction: DVec3, part: f64) -> bool {
        match self {
            Self::Mesh(mesh) => mesh.none_rises(id, corner, direction, part),
            Self::Field(field) => {
                let mut fan = field.fan(id, corner);
                fan.all(|edge| !rises(edge, direction, part))
            }
        }
    }
}
