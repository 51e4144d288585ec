//! The winding of meshes.

/// What is wrong with the winding of a triangle mesh, from [`Geometry::winding`](crate::Geometry::winding). Such a mesh is no error, but
/// bodies pass the triangles that face away from them.
///
/// ```
/// use glam::DVec3;
/// use moreau_geometry::Shape;
///
/// let vertices = vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y];
/// let triangles = vec![[0, 1, 2], [0, 3, 2]];
/// let winding = Shape::TriangleMesh { vertices, triangles }.build()?.winding();
/// assert!(!winding.is_sound() && winding.edges_at_odds == 1);
/// assert_eq!(winding.first, Some([0, 1]));
/// # Ok::<(), moreau_geometry::GeometryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Winding {
    /// Edges that all triangles at them run through in the same direction, though there are two of them or more: one of them faces the
    /// wrong way. Parts of an edge count by themselves. A triangle that is given twice counts as one.
    pub edges_at_odds: usize,
    /// Numbers, in the list of triangles, of two that meet at such an edge.
    pub first: Option<[usize; 2]>,
    /// The mesh is closed, its winding consistent, and its signed volume is negative: it faces inwards, as a room does.
    pub inside_out: bool,
}

impl Winding {
    /// True if the triangles fit together and do not face inwards.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.edges_at_odds == 0 && !self.inside_out
    }
}
