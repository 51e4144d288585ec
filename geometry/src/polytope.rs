//! Convex polytopes: vertices, polygonal faces, edges.

use crate::blocks::{Blocks, Numbers};
use glam::DVec3;

/// A face plane `normal · x ≤ offset` and the slice of the loop list that holds its corners,
/// counter-clockwise seen from outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Face {
    pub(crate) normal: DVec3,
    pub(crate) offset: f64,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// Corners of the faces of a cuboid. Horizontal faces come first: ties between axes fall to them.
pub(crate) const CUBOID_LOOPS: [[u32; 4]; 6] = [
    [4, 5, 7, 6],
    [0, 2, 3, 1],
    [1, 3, 7, 5],
    [0, 4, 6, 2],
    [2, 6, 7, 3],
    [0, 1, 5, 4],
];

/// Owned polytope in its local frame (m).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polyhedron {
    pub(crate) vertices: Vec<DVec3>,
    /// The same in blocks.
    pub(crate) blocks: Blocks,
    pub(crate) faces: Vec<Face>,
    /// Normals of the faces.
    pub(crate) normals: Blocks,
    pub(crate) loops: Box<[u32]>,
    pub(crate) edges: Box<[[u32; 2]]>,
    /// Unit edge directions, each line direction once.
    pub(crate) directions: Vec<DVec3>,
    /// Half extents if this is a box aligned with the local axes: supports in closed form.
    pub(crate) half_extents: Option<DVec3>,
    /// Mean of the vertices (m).
    pub(crate) middle: DVec3,
    /// Largest distance of a vertex from the local origin (m).
    pub(crate) bounding_radius: f64,
    /// Half the least width over the face normals (m).
    pub(crate) half_thickness: f64,
}

/// Borrowed view of a polytope; a segment has no faces, a triangle has two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Polytope<'a> {
    pub(crate) vertices: &'a [DVec3],
    pub(crate) faces: &'a [Face],
    /// Vertices and normals of the faces of a polyhedron; none of a segment or a triangle.
    pub(crate) blocks: Option<[&'a Blocks; 2]>,
    pub(crate) loops: &'a [u32],
    pub(crate) edges: &'a [[u32; 2]],
    pub(crate) directions: &'a [DVec3],
    pub(crate) half_extents: Option<DVec3>,
    /// Mean of the vertices, where it is at hand (m).
    pub(crate) middle: Option<DVec3>,
    /// Half the least width over the face normals (m); zero of a segment or a triangle.
    pub(crate) half_thickness: f64,
}

impl<'a> Polytope<'a> {
    /// Vertex indices around a face.
    pub(crate) fn loop_of(&self, face: usize) -> &'a [u32] {
        let face = &self.faces[face];
        &self.loops[face.start as usize..face.end as usize]
    }

    /// The first of the vertices that are farthest along a direction, m.
    pub(crate) fn farthest(&self, direction: DVec3) -> DVec3 {
        if let Some([vertices, _]) = self.blocks {
            let (first, _) = vertices.farthest(direction);
            return self.vertices.get(first).copied().unwrap_or_default();
        }
        let mut best = (f64::NEG_INFINITY, DVec3::ZERO);
        for vertex in self.vertices {
            let value = direction.dot(*vertex);
            if value > best.0 {
                best = (value, *vertex);
            }
        }
        best.1
    }

    /// Numbers of the vertices, in their order, that are farthest along a direction to within `near` (m).
    pub(crate) fn supporting(&self, direction: DVec3, near: f64) -> Numbers {
        if let Some([vertices, _]) = self.blocks {
            let (_, most) = vertices.farthest(direction);
            return vertices.at_least(direction, most - near);
        }
        let along = |vertex: &DVec3| vertex.dot(direction);
        let most = self
            .vertices
            .iter()
            .map(along)
            .fold(f64::NEG_INFINITY, f64::max);
        let is_near = |i: &usize| along(&self.vertices[*i]) >= most - near;
        (0..self.vertices.len()).filter(is_near).collect()
    }

    /// Mean of the vertices, m.
    pub(crate) fn middle(&self) -> DVec3 {
        self.middle.unwrap_or_else(|| mean(self.vertices))
    }

    /// Numbers of the faces, in their order, whose normals are along a direction to within `near` of the one that is most along it (cosines).
    pub(crate) fn facing(&self, direction: DVec3, near: f64) -> Numbers {
        if let Some([_, normals]) = self.blocks {
            let (_, most) = normals.farthest(direction);
            return normals.at_least(direction, most - near);
        }
        let along = |face: &Face| face.normal.dot(direction);
        let most = self
            .faces
            .iter()
            .map(along)
            .fold(f64::NEG_INFINITY, f64::max);
        let is_near = |face: &usize| along(&self.faces[*face]) >= most - near;
        (0..self.faces.len()).filter(is_near).collect()
    }
}

impl Polyhedron {
    pub(crate) fn view(&self) -> Polytope<'_> {
        Polytope {
            vertices: &self.vertices,
            faces: &self.faces,
            blocks: Some([&self.blocks, &self.normals]),
            loops: &self.loops,
            edges: &self.edges,
            directions: &self.directions,
            half_extents: self.half_extents,
            middle: Some(self.middle),
            half_thickness: self.half_thickness,
        }
    }

    /// Box about the origin. Vertex `i` has the sign of bit 0 on x, bit 1 on y, bit 2 on z.
    pub(crate) fn cuboid(half_extents: DVec3) -> Self {
        let vertices = (0..8_u32)
            .map(|i| {
                let sign = |bit: u32| if i & bit == 0 { -1.0 } else { 1.0 };
                DVec3::new(sign(1), sign(2), sign(4)) * half_extents
            })
            .collect();
        let normals = [
            DVec3::Z,
            DVec3::NEG_Z,
            DVec3::X,
            DVec3::NEG_X,
            DVec3::Y,
            DVec3::NEG_Y,
        ];
        let faces = normals
            .into_iter()
            .zip((0..).step_by(4))
            .map(|(normal, start)| Face {
                normal,
                offset: normal.abs().dot(half_extents),
                start,
                end: start + 4,
            })
            .collect();
        let loops = CUBOID_LOOPS.into_iter().flatten().collect();
        let mut polyhedron = Self::from_faces(vertices, faces, loops);
        polyhedron.directions = vec![DVec3::X, DVec3::Y, DVec3::Z];
        polyhedron.half_extents = Some(half_extents);
        polyhedron
    }

    /// Derives edges and edge directions from the faces.
    pub(crate) fn from_faces(vertices: Vec<DVec3>, faces: Vec<Face>, loops: Vec<u32>) -> Self {
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for face in &faces {
            let corners = &loops[face.start as usize..face.end as usize];
            for (k, &i) in corners.iter().enumerate() {
                let j = corners[(k + 1) % corners.len()];
                edges.push([i.min(j), i.max(j)]);
            }
        }
        edges.sort_unstable();
        edges.dedup();
        let mut directions: Vec<DVec3> = Vec::new();
        for &[i, j] in &edges {
            let direction = (vertices[j as usize] - vertices[i as usize]).normalize_or_zero();
            let known = directions
                .iter()
                .any(|d| d.cross(direction).length_squared() < 1e-18);
            if !known {
                directions.push(direction);
            }
        }
        let lengths = vertices.iter().map(|v| v.length());
        let normals: Vec<DVec3> = faces.iter().map(|face| face.normal).collect();
        Self {
            bounding_radius: lengths.fold(0.0, f64::max),
            half_thickness: half_thickness(&vertices, &faces),
            blocks: Blocks::new(&vertices),
            middle: mean(&vertices),
            vertices,
            normals: Blocks::new(&normals),
            faces,
            loops: loops.into(),
            edges: edges.into(),
            directions,
            half_extents: None,
        }
    }
}

/// Mean of some points.
fn mean(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len() as f64
}

/// Half the least width over the face normals (m).
fn half_thickness(vertices: &[DVec3], faces: &[Face]) -> f64 {
    faces.iter().fold(f64::INFINITY, |least, face| {
        let low = vertices
            .iter()
            .fold(f64::INFINITY, |low, v| low.min(face.normal.dot(*v)));
        least.min(0.5 * (face.offset - low))
    })
}

/// Closest points of the segments `p0 p1` and `q0 q1`: parameters in `[0, 1]` and the points.
///
/// Minimises `|p(s) − q(t)|²` over the square: the free minimum along the first segment is
/// clamped, then each parameter is re-optimised for the other. Where the segments lean from each other by less than 1e-7 that minimum is rounding: an end of one of them may be
/// nearer. For parallel segments the smallest admissible `s` is taken, so that the answer does not depend on rounding.
pub(crate) fn closest_on_segments(
    p0: DVec3,
    p1: DVec3,
    q0: DVec3,
    q1: DVec3,
) -> (f64, f64, DVec3, DVec3) {
    let u = p1 - p0;
    let v = q1 - q0;
    let w = p0 - q0;
    let a = u.dot(u);
    let b = u.dot(v);
    let c = v.dot(v);
    let d = u.dot(w);
    let e = v.dot(w);
    let ratio = |x: f64, y: f64| {
        if y > 0.0 {
            (x / y).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let from = |start: f64| {
        let t = ratio(b * start + e, c);
        let s = ratio(b * t - d, a);
        let t = ratio(b * s + e, c);
        (s, t, p0 + u * s, q0 + v * t)
    };
    let determinant = a * c - b * b;
    let free = ratio(b * e - c * d, determinant);
    if determinant > 1e-14 * a * c {
        return from(free);
    }
    let square = |(.., p, q): &(f64, f64, DVec3, DVec3)| p.distance_squared(*q);
    let others = [1.0, ratio(-d, a), ratio(b - d, a), free];
    others.into_iter().map(from).fold(from(0.0), |best, next| {
        if square(&next) < square(&best) * (1.0 - SAME) {
            next
        } else {
            best
        }
    })
}

/// Difference of two squared distances, relative to them, that counts as none.
const SAME: f64 = 1e-10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments that lean towards each other by so little that their cross product is rounding: the nearest points are at the end where they come together.
    #[test]
    fn segments_that_hardly_lean_are_nearest_at_an_end() {
        for lean in [1e-10, 1e-9, 3e-9, 1e-8, 3e-8, 9e-8, 2e-7, 1e-6] {
            for sign in [-1.0, 1.0] {
                let end = |x: f64| DVec3::new(x, 0.3 + sign * lean * x, 0.0);
                let p = [DVec3::new(-2.0, 0.0, 0.0), DVec3::new(3.0, 0.0, 0.0)];
                let (from, to) = (end(-1.0), end(1.0));
                for (q0, q1) in [(from, to), (to, from)] {
                    for (p0, p1) in [(p[0], p[1]), (p[1], p[0])] {
                        let (.., on_p, on_q) = closest_on_segments(p0, p1, q0, q1);
                        let excess = on_p.distance(on_q) - (0.3 - lean);
                        assert!(excess.abs() < 1e-11, "{lean}: {excess}");
                        let (.., on_q, on_p) = closest_on_segments(q0, q1, p0, p1);
                        let excess = on_p.distance(on_q) - (0.3 - lean);
                        assert!(excess.abs() < 1e-11, "{lean}: {excess}");
                    }
                }
            }
        }
    }

    #[test]
    fn cuboid_faces_are_outward_and_counter_clockwise() {
        let cuboid = Polyhedron::cuboid(DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(cuboid.edges.len(), 12);
        let view = cuboid.view();
        for (i, face) in cuboid.faces.iter().enumerate() {
            let corners = view.loop_of(i);
            let v = |k: usize| cuboid.vertices[corners[k] as usize];
            let turned = (v(1) - v(0)).cross(v(2) - v(1)).normalize();
            assert_eq!(turned, face.normal);
            assert!((0..4).all(|k| (face.normal.dot(v(k)) - face.offset).abs() < 1e-15));
        }
        assert!((cuboid.half_thickness - 1.0).abs() < 1e-15);
    }

    #[test]
    fn segments_are_closest_where_expected() {
        let (s, t, p, q) = closest_on_segments(
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(0.25, -1.0, 1.0),
            DVec3::new(0.25, 1.0, 1.0),
        );
        assert!((s - 0.25).abs() < 1e-15 && (t - 0.5).abs() < 1e-15);
        assert!((q - p - DVec3::Z).length() < 1e-15);
        let (_, _, p, q) =
            closest_on_segments(DVec3::ZERO, DVec3::X, 2.0 * DVec3::X, 3.0 * DVec3::X);
        assert!(((q - p) - DVec3::X).length() < 1e-15);
    }
}
