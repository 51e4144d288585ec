//! A convex solid on a plane of many triangles: it touches the plane with the points with which it lies on a half-space.
//!
//! What is over a part of a plane is bounded by these points of the solid and by what is over the border of that part. A triangle within
//! the plane gives a contact only where one of them is over it, and contacts do not depend on how the plane is cut.

use super::half_space::{LEVEL, rim_points};
use super::patch::{LocalContact, Patch};
use super::separating_axis::least_trusted;
use crate::Frame;
use crate::frustum::Frustum;
use crate::geometry::Convex;
use crate::surface::SurfaceTriangle;
use glam::{DVec2, DVec3};
use smallvec::SmallVec;

/// By this part of its size a triangle counts as larger, so that none of the points falls between two.
const WIDER: f64 = 1e-6;
/// By this part of itself the tilt of a rim may be off from the one that decides which of its points count.
const UNDECIDED: f64 = 1e-3;

/// A solid at a pose, with these points of it.
pub(crate) struct Extremes<'a> {
    convex: &'a Convex,
    pose: Frame,
    /// Vertices, ends of a capsule's axis, a ball's centre (m). None of a cylinder or cone: which points of the rims count depends on the
    /// plane.
    points: SmallVec<[DVec3; 8]>,
    /// Radius about them (m).
    radius: f64,
}

impl<'a> Extremes<'a> {
    /// Those of a solid.
    pub(crate) fn new(convex: &'a Convex, pose: &Frame) -> Self {
        let (points, radius) = match convex {
            Convex::Sphere { radius } => (SmallVec::from_slice(&[pose.position]), *radius),
            Convex::Capsule {
                half_height,
                radius,
            } => {
                let axis = pose.rotate(DVec3::Z * *half_height);
                let ends = [pose.position - axis, pose.position + axis];
                (SmallVec::from_slice(&ends), *radius)
            }
            Convex::Polyhedron(polyhedron) => {
                let rotation = pose.rotation_matrix();
                let vertices = polyhedron.vertices.iter();
                let placed = vertices.map(|v| pose.position + rotation * *v);
                (placed.collect(), 0.0)
            }
            Convex::Frustum(_) => (SmallVec::new(), 0.0),
        };
        Self {
            convex,
            pose: *pose,
            points,
            radius,
        }
    }

    /// False if none of the points is over or under a triangle, along its normal.
    pub(crate) fn may_meet(&self, triangle: &[DVec3; 3]) -> bool {
        if let Convex::Frustum(frustum) = self.convex {
            let local = triangle.map(|corner| self.pose.inverse_transform_point(corner));
            let over = Over::new(&local);
            may_meet_rims(frustum, &local, over.normal)
                && on_rims(frustum, over.normal).iter().any(|p| over.holds(*p))
        } else {
            let over = Over::new(triangle);
            self.points.iter().any(|point| over.holds(*point))
        }
    }

    /// Contacts with a triangle within a plane, in the surface's frame, up to gaps of `margin` (m).
    pub(crate) fn contact(&self, triangle: &SurfaceTriangle, margin: f64, patch: &mut Patch) {
        let normal = triangle.normal;
        let offset = normal.dot(triangle.vertices[0]);
        let back = offset - self.convex.support(&self.pose, normal);
        if back > 0.0 {
            return;
        }
        let floor = least_trusted(back, self.convex.bounding_radius());
        let over = Over::new(&triangle.vertices);
        let mut add = |number: usize, point: DVec3| {
            let height = normal.dot(point) - offset;
            let gap = height - self.radius;
            if gap <= margin && gap >= floor && over.holds(point) {
                patch.push(LocalContact {
                    point: point - normal * (0.5 * (height + self.radius)),
                    normal,
                    gap,
                    feature: number as u64,
                });
            }
        };
        if let Convex::Frustum(frustum) = self.convex {
            let points = on_rims(frustum, self.pose.inverse_rotate(normal));
            for (number, point) in points.iter().enumerate() {
                add(number, self.pose.transform_point(*point));
            }
        } else {
            for (number, point) in self.points.iter().enumerate() {
                add(number, *point);
            }
        }
    }
}

/// Tells which points are over or under a triangle.
struct Over {
    corner: DVec3,
    /// Twice the area long (m²).
    normal: DVec3,
    /// Barycentric coordinates of the other corners, times the square of the normal, are products with these.
    of_others: [DVec3; 2],
    square: f64,
}

impl Over {
    fn new([a, b, c]: &[DVec3; 3]) -> Self {
        let (u, v) = (*b - *a, *c - *a);
        let normal = u.cross(v);
        Self {
            corner: *a,
            normal,
            of_others: [v.cross(normal), normal.cross(u)],
            square: normal.length_squared(),
        }
    }

    fn holds(&self, point: DVec3) -> bool {
        let offset = point - self.corner;
        let [b, c] = self.of_others.map(|other| other.dot(offset));
        let near = WIDER * self.square;
        (b >= -near) & (c >= -near) & (b + c <= self.square + near)
    }
}

/// False if no rim is over or under a triangle, in the solid's frame.
fn may_meet_rims(frustum: &Frustum, triangle: &[DVec3; 3], normal: DVec3) -> bool {
    let [a, b, c] = *triangle;
    let reach = (b - a).length() + (c - a).length();
    let square = normal.length_squared();
    let rims = [
        (-frustum.half_height, frustum.bottom),
        (frustum.half_height, frustum.top),
    ];
    rims.into_iter().any(|(height, radius)| {
        let offset = |corner: DVec3| corner - DVec3::Z * height;
        let beside = offset(a) - normal * (normal.dot(offset(a)) / square);
        // Within the shadow of a disc there is no rim.
        let within = radius * (1.0 - 1e3 * WIDER) * normal.z.abs();
        let is_within = |corner: &DVec3| {
            let offset = offset(*corner);
            let radial = offset * normal.z - normal * offset.z;
            radial.length_squared() < within * within
        };
        beside.length() <= (radius + reach) * (1.0 + WIDER) && !triangle.iter().all(is_within)
    })
}

/// The points of the rims, in the solid's frame, for a plane with a normal towards it, of any length. Both choices where the tilt does not
/// decide between two.
fn on_rims(frustum: &Frustum, normal: DVec3) -> SmallVec<[DVec3; 8]> {
    let mut points = SmallVec::new();
    let down = -normal.normalize_or_zero();
    rim_points(frustum, down, |point, _| points.push(point));
    let tilt = down.truncate();
    if (tilt.length() - LEVEL).abs() < UNDECIDED * LEVEL {
        points.clear();
        for tilt in [tilt * 2.0, DVec2::ZERO] {
            rim_points(frustum, tilt.extend(down.z), |point, _| points.push(point));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::geometry::Body;

    fn may_meet(shape: Shape, pose: &Frame, corners: [[f64; 2]; 3]) -> bool {
        let geometry = shape.build().unwrap();
        let Body::Convex(convex) = geometry.body() else {
            return true;
        };
        let triangle = corners.map(|[x, y]| DVec3::new(x, y, 0.3));
        Extremes::new(convex, pose).may_meet(&triangle)
    }

    #[test]
    fn a_triangle_matters_where_a_corner_is_over_it() {
        let half_extents = DVec3::new(1.0, 1.0, 0.1);
        let pose = Frame::new(DVec3::Z, glam::DQuat::IDENTITY);
        let meets = |corners| may_meet(Shape::Cuboid { half_extents }, &pose, corners);
        assert!(meets([[0.9, 0.9], [1.1, 0.9], [1.1, 1.1]]));
        assert!(meets([[1.0, 1.0], [1.1, 1.0], [1.1, 1.1]]));
        assert!(meets([[-3.0, -3.0], [3.0, -3.0], [0.0, 5.0]]));
        assert!(!meets([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1]]));
        assert!(!meets([[0.5, 0.9], [0.6, 0.9], [0.6, 1.1]]));
    }

    #[test]
    fn a_triangle_matters_where_a_point_of_a_rim_is_over_it() {
        let cylinder = Shape::Cylinder {
            half_height: 1.0,
            radius: 1.0,
        };
        let upright = Frame::new(DVec3::Z, glam::DQuat::IDENTITY);
        let lying = Frame::new(DVec3::Z, glam::DQuat::from_rotation_x(1.5));
        let within = [[0.5, 0.5], [0.6, 0.5], [0.6, 0.6]];
        assert!(!may_meet(cylinder.clone(), &upright, within));
        assert!(!may_meet(cylinder.clone(), &lying, within));
        let under = [[-0.2, -1.2], [0.2, -1.2], [0.0, 1.2]];
        assert!(may_meet(cylinder.clone(), &lying, under));
        let across = [[0.7, 0.7], [0.8, 0.7], [0.8, 0.8]];
        assert!(!may_meet(cylinder.clone(), &upright, across));
        let at_end = [[0.9, -0.1], [1.1, -0.1], [1.1, 0.1]];
        assert!(may_meet(cylinder, &upright, at_end));
    }
}
