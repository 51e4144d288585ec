//! Shape descriptions, as a user or a file writes them.

use crate::{Frame, Geometry, GeometryError};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Description of a shape in its local frame. Lengths in metres; the axis of symmetry is local z.
///
/// Nothing is checked until [`Shape::build`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// Ball about the local origin.
    Sphere {
        /// Radius (m), > 0.
        radius: f64,
    },
    /// Box about the local origin, aligned with the local axes.
    Cuboid {
        /// Half the edge lengths (m), each > 0.
        half_extents: DVec3,
    },
    /// Points within `radius` of the segment from `-half_height` to `half_height` on the z axis.
    Capsule {
        /// Half the length of the core segment (m), > 0.
        half_height: f64,
        /// Radius (m), > 0.
        radius: f64,
    },
    /// Circular cylinder along z, between `-half_height` and `half_height`.
    Cylinder {
        /// Half the height (m), > 0.
        half_height: f64,
        /// Radius (m), > 0.
        radius: f64,
    },
    /// Circular cone along z: base disc at `-half_height`, apex at `+half_height`.
    Cone {
        /// Half the height (m), > 0.
        half_height: f64,
        /// Radius of the base (m), > 0.
        radius: f64,
    },
    /// Convex hull of at least four points, thicker than 1e-4 of its diameter.
    ConvexHull {
        /// The points (m), at most 200,000; interior ones are allowed. The hull has about 4,000 corners at most.
        points: Vec<DVec3>,
    },
    /// Everything below the plane through the local origin. A surface: no mass.
    HalfSpace {
        /// Unit normal that points out of the solid.
        normal: DVec3,
    },
    /// Triangles, counter-clockwise seen from the free side; contact acts on that side only.
    /// A surface: no mass.
    ///
    /// Vertices no farther apart than 1e-6 of the mesh's extent (the diagonal of the box around it) are one: single precision, in which
    /// most files are written, keeps 1e-7 of it. It is no more than 1e-3 of the median length of an edge, so that a fine mesh of something
    /// large keeps its shape. The first of such vertices in the list of triangles gives the place. A vertex as close to the inside of a
    /// border edge lies on it, and the triangles meet there: bodies slide over such seams as over one sheet.
    ///
    /// A triangle that collapses by this, or that is given twice with the same winding, is dropped. One that is given with both windings
    /// has two sides, and acts on a body on the side where that has its centre, seen from the place of the sheet that is nearest to it. For triangles that are wound the wrong way see
    /// [`Geometry::winding`].
    ///
    /// At an edge where more than two triangles meet, as of a floor and a wall under it, or at a border that lies on another triangle, a point acts on a convex body, or a part of one, only if
    /// no triangle shows its back on the way from the point to the body's centre: what is on the floor does not touch the wall.
    TriangleMesh {
        /// Vertices (m).
        vertices: Vec<DVec3>,
        /// Vertex indices of each triangle.
        triangles: Vec<[u32; 3]>,
    },
    /// Terrain `z = height(x, y)` over a rectangle centred on the local origin, free side up.
    /// A surface: no mass.
    HeightField {
        /// Total extent along x (m), > 0.
        x_size: f64,
        /// Total extent along y (m), > 0.
        y_size: f64,
        /// Number of samples along x, ≥ 2.
        columns: usize,
        /// Heights (m), row by row: x runs fastest, rows run along y; at least two rows.
        heights: Vec<f64>,
    },
    /// Union of convex solids, each placed in the local frame. Volumes of overlaps count twice.
    Compound {
        /// Placement (shape frame of the part to local frame) and shape of every part.
        parts: Vec<(Frame, Shape)>,
    },
}

impl Shape {
    /// Checks the description and prepares it for queries.
    ///
    /// # Errors
    /// [`GeometryError`] names the first field that is out of range.
    pub fn build(&self) -> Result<Geometry, GeometryError> {
        Geometry::new(self.clone())
    }

    /// Name of the kind, as in files.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Cuboid { .. } => "cuboid",
            Self::Capsule { .. } => "capsule",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::ConvexHull { .. } => "convex_hull",
            Self::HalfSpace { .. } => "half_space",
            Self::TriangleMesh { .. } => "triangle_mesh",
            Self::HeightField { .. } => "height_field",
            Self::Compound { .. } => "compound",
        }
    }
}
