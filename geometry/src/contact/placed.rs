//! Polytopes in the frame of a query.

use crate::polytope::Polytope;
use glam::{DMat3, DVec3};
use smallvec::SmallVec;
use std::cell::OnceCell;

/// A polytope with its vertices in the common frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    /// Local description.
    pub(crate) shape: Polytope<'a>,
    /// Local axes, in the common frame.
    pub(crate) rotation: DMat3,
    /// Local origin, in the common frame (m).
    pub(crate) translation: DVec3,
    /// Vertices in the common frame.
    pub(crate) vertices: Vertices<'a>,
}

/// Vertices in the common frame (m), or a cell that is filled on first use: the faces of cuboids
/// never do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Vertices<'a> {
    Known(&'a [DVec3]),
    Later(&'a OnceCell<SmallVec<[DVec3; 24]>>),
}

impl<'a> Placed<'a> {
    /// A polytope whose frame is the common one.
    pub(crate) fn at_rest(shape: Polytope<'a>) -> Self {
        Self {
            shape,
            rotation: DMat3::IDENTITY,
            translation: DVec3::ZERO,
            vertices: Vertices::Known(shape.vertices),
        }
    }

    /// Vertices in the common frame (m).
    pub(crate) fn vertices(&self) -> &'a [DVec3] {
        match self.vertices {
            Vertices::Known(vertices) => vertices,
            Vertices::Later(place) => place.get_or_init(|| {
                let placed = |v: &DVec3| self.translation + self.rotation * *v;
                self.shape.vertices.iter().map(placed).collect()
            }),
        }
    }

    pub(super) fn is_at_rest(&self) -> bool {
        self.rotation == DMat3::IDENTITY && self.translation == DVec3::ZERO
    }

    /// Normal and offset of a face in the common frame.
    pub(crate) fn plane(&self, face: usize) -> (DVec3, f64) {
        let face = &self.shape.faces[face];
        let normal = self.rotation * face.normal;
        (normal, face.offset + normal.dot(self.translation))
    }

    /// Least and greatest value of `direction · x`.
    pub(crate) fn range(&self, direction: DVec3) -> (f64, f64) {
        if let Some(half) = self.shape.half_extents {
            let center = direction.dot(self.translation);
            let reach = half.x * direction.dot(self.rotation.x_axis).abs()
                + half.y * direction.dot(self.rotation.y_axis).abs()
                + half.z * direction.dot(self.rotation.z_axis).abs();
            return (center - reach, center + reach);
        }
        self.vertices()
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
                let value = direction.dot(*v);
                (low.min(value), high.max(value))
            })
    }

    /// A vertex that is farthest along a direction.
    pub(crate) fn farthest(&self, direction: DVec3) -> DVec3 {
        if let Some(half) = self.shape.half_extents {
            let sign = |axis: DVec3| 1.0_f64.copysign(direction.dot(axis));
            return self.translation
                + self.rotation.x_axis * (sign(self.rotation.x_axis) * half.x)
                + self.rotation.y_axis * (sign(self.rotation.y_axis) * half.y)
                + self.rotation.z_axis * (sign(self.rotation.z_axis) * half.z);
        }
        // In the local frame: most queries need few of the vertices in the common one.
        let local = self.rotation.transpose() * direction;
        self.translation + self.rotation * self.shape.farthest(local)
    }

    /// A vertex in the common frame (m).
    pub(super) fn vertex(&self, vertex: u32) -> DVec3 {
        match self.vertices {
            Vertices::Known(vertices) => vertices[vertex as usize],
            Vertices::Later(_) => {
                self.translation + self.rotation * self.shape.vertices[vertex as usize]
            }
        }
    }

    /// Ends of an edge.
    pub(super) fn edge(&self, edge: usize) -> [DVec3; 2] {
        self.shape.edges[edge].map(|vertex| self.vertex(vertex))
    }

    /// Number of the edge whose ends are farthest along a direction to within `near` (m), if no other vertex is.
    pub(super) fn edge_along(&self, direction: DVec3, near: f64) -> Option<usize> {
        let local = self.rotation.transpose() * direction;
        let [p, q] = self.shape.supporting(local, near)[..] else {
            return None;
        };
        let ends = [p as u32, q as u32];
        self.shape.edges.iter().position(|edge| *edge == ends)
    }

    /// The same of an edge that leans by no more than `lean` (rad): it may be longer than the smaller body.
    pub(super) fn edge_leaning(&self, direction: DVec3, near: f64, lean: f64) -> Option<usize> {
        let farthest = self.farthest(direction);
        let highest = direction.dot(farthest);
        let supports = |v: &DVec3| {
            let below = highest - direction.dot(*v);
            below <= near || below <= lean * farthest.distance(*v)
        };
        let mut ends = (0..)
            .zip(self.vertices().iter())
            .filter(|(_, v)| supports(v));
        let (Some((p, _)), Some((q, _)), None) = (ends.next(), ends.next(), ends.next()) else {
            return None;
        };
        self.shape.edges.iter().position(|edge| *edge == [p, q])
    }

    /// A point of the common frame lies within, or outside by at most `near` (m).
    pub(super) fn contains(&self, point: DVec3, near: f64) -> bool {
        let local = self.rotation.transpose() * (point - self.translation);
        let mut faces = self.shape.faces.iter();
        faces.all(|face| face.normal.dot(local) - face.offset <= near)
    }

    /// A point within.
    pub(crate) fn inner(&self) -> DVec3 {
        if self.shape.half_extents.is_some() {
            return self.translation;
        }
        self.translation + self.rotation * self.shape.middle()
    }

    /// Ends of all edges.
    pub(crate) fn edges(&self) -> impl Fn(usize) -> [DVec3; 2] + use<'a> {
        let (edges, vertices) = (self.shape.edges, self.vertices());
        move |edge| edges[edge].map(|i| vertices[i as usize])
    }
}

/// A segment as a polytope without faces.
pub(crate) fn segment(ends: &[DVec3; 2]) -> Polytope<'_> {
    Polytope {
        vertices: ends,
        blocks: None,
        faces: &[],
        loops: &[],
        edges: &[[0, 1]],
        directions: &[DVec3::Z],
        half_extents: None,
        middle: None,
        half_thickness: 0.0,
    }
}
