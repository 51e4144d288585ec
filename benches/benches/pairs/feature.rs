//! Features of shapes that are brought to touch: a face, an edge, a rim, a corner.

use moreau::geometry::{Frame, Shape};
use moreau::glam::{DMat3, DQuat, DVec3};
use std::f64::consts::PI;

/// A place on the surface of a shape, in the shape's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feature {
    /// A point of it, m.
    pub(crate) point: DVec3,
    /// Unit outward direction in which nothing of the shape is farther out.
    pub(crate) outward: DVec3,
    /// Unit direction across it: along an edge or a rim.
    pub(crate) along: DVec3,
}

impl Feature {
    fn new(point: DVec3, outward: DVec3, along: DVec3) -> Self {
        Self {
            point,
            outward: outward.normalize(),
            along: along.normalize(),
        }
    }

    /// Frame that brings the point to `at` (m, inertial frame), the outward direction to the unit vector `outward` and the
    /// direction along it to `along`, as far as that is normal to `outward`.
    pub(crate) fn placed(&self, at: DVec3, outward: DVec3, along: DVec3) -> Frame {
        let frame = |x: DVec3, along: DVec3| {
            let z = x.cross(along).normalize();
            DMat3::from_cols(x, z.cross(x), z)
        };
        let turn = frame(outward, along) * frame(self.outward, self.along).transpose();
        let orientation = DQuat::from_mat3(&turn).normalize();
        Frame::new(at - orientation * self.point, orientation)
    }
}

/// Middle of a face, of an edge, and a corner of a box of these half-extents, m.
pub(crate) fn of_box(half: DVec3) -> [Feature; 3] {
    let edge = DVec3::new(half.x, half.y, 0.0);
    [
        Feature::new(DVec3::X * half.x, DVec3::X, DVec3::Y),
        Feature::new(edge, DVec3::new(1.0, 1.0, 0.0), DVec3::Z),
        Feature::new(half, DVec3::ONE, DVec3::new(1.0, -1.0, 0.0)),
    ]
}

/// End, side and rim of a cylinder, m.
pub(crate) fn of_cylinder(half_height: f64, radius: f64) -> [Feature; 3] {
    let rim = DVec3::new(radius, 0.0, half_height);
    [
        Feature::new(DVec3::Z * half_height, DVec3::Z, DVec3::X),
        Feature::new(DVec3::X * radius, DVec3::X, DVec3::Z),
        Feature::new(rim, DVec3::new(1.0, 0.0, 1.0), DVec3::Y),
    ]
}

/// Base, side and rim of a cone, m.
pub(crate) fn of_cone(half_height: f64, radius: f64) -> [Feature; 3] {
    let rim = DVec3::new(radius, 0.0, -half_height);
    let slant = DVec3::new(-radius, 0.0, 2.0 * half_height);
    let side = DVec3::new(2.0 * half_height, 0.0, radius);
    [
        Feature::new(DVec3::Z * -half_height, DVec3::NEG_Z, DVec3::X),
        Feature::new(rim + 0.5 * slant, side, slant),
        Feature::new(rim, DVec3::new(1.0, 0.0, -0.5), DVec3::Y),
    ]
}

/// Side and cap of a capsule, m.
pub(crate) fn of_capsule(half_height: f64, radius: f64) -> [Feature; 2] {
    let top = DVec3::Z * (half_height + radius);
    [
        Feature::new(DVec3::X * radius, DVec3::X, DVec3::Z),
        Feature::new(top, DVec3::Z, DVec3::X),
    ]
}

/// The largest face of a hull, the sharpest edge and the corner at its end. Found by trying all triples of points, in general
/// position.
pub(crate) fn of_hull(points: &[DVec3]) -> Option<[Feature; 3]> {
    let faces = faces(points);
    let area = |face: &[usize; 3]| across(points, face).length();
    let largest = faces.iter().max_by(|a, b| area(a).total_cmp(&area(b)))?;
    let middle = largest.iter().map(|&i| points[i]).sum::<DVec3>() / 3.0;
    let side = points[largest[1]] - points[largest[0]];
    let mut sharpest: Option<(f64, Feature)> = None;
    for (a, first) in faces.iter().enumerate() {
        for second in &faces[a + 1..] {
            let shared: Vec<_> = first.iter().filter(|i| second.contains(i)).collect();
            if let [&i, &j] = shared[..] {
                let [n, m] = [first, second].map(|face| across(points, face).normalize());
                let edge = points[j] - points[i];
                let feature = Feature::new(0.5 * (points[i] + points[j]), n + m, edge);
                if sharpest.is_none_or(|(least, _)| n.dot(m) < least) {
                    sharpest = Some((n.dot(m), feature));
                }
            }
        }
    }
    let (_, edge) = sharpest?;
    let farthest = |a: &&DVec3, b: &&DVec3| a.dot(edge.along).total_cmp(&b.dot(edge.along));
    let corner = *points.iter().max_by(farthest)?;
    Some([
        Feature::new(middle, across(points, largest), side),
        edge,
        Feature::new(corner, edge.along, edge.outward),
    ])
}

/// Normal of a face, twice its area long.
fn across(points: &[DVec3], [i, j, k]: &[usize; 3]) -> DVec3 {
    (points[*j] - points[*i]).cross(points[*k] - points[*i])
}

/// Triples of points with all others behind their plane, counter-clockwise from outside.
fn faces(points: &[DVec3]) -> Vec<[usize; 3]> {
    let n = points.len();
    let triples = (0..n).flat_map(|i| {
        (i + 1..n).flat_map(move |j| (j + 1..n).flat_map(move |k| [[i, j, k], [i, k, j]]))
    });
    let is_face = |face: &[usize; 3]| {
        let normal = across(points, face);
        let from = points[face[0]];
        points.iter().all(|p| normal.dot(*p - from) <= 1e-15)
    };
    triples.filter(is_face).collect()
}

/// A hull of `count` points on an ellipsoid of these half-axes, m; always the same one.
pub(crate) fn hull(count: usize, axes: DVec3) -> (Shape, Vec<DVec3>) {
    // Points of a spiral, evenly spread, moved a little out of their symmetry.
    let golden = PI * (3.0 - 5.0_f64.sqrt());
    let point = |i: usize| {
        let z = 1.0 - (2.0 * i as f64 + 1.0) / count as f64;
        let angle = golden * i as f64 + 0.02 * (i * i % 11) as f64;
        let around = DQuat::from_rotation_z(angle) * DVec3::X;
        (around * (1.0 - z * z).sqrt() + DVec3::Z * z) * axes
    };
    let points: Vec<_> = (0..count).map(point).collect();
    let shape = Shape::ConvexHull {
        points: points.clone(),
    };
    (shape, points)
}
