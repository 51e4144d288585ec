//! The faces of convex polyhedra.

use super::convex_pair::Solid;
use super::point::onto;
use crate::geometry::{Body, Convex};
use crate::polytope::Polyhedron;
use crate::{Geometry, Pose};
use glam::DVec3;

/// A face of a box or a convex hull, or of such a part of a compound.
#[derive(Clone, Copy, Debug)]
pub struct Face<'a> {
    polyhedron: &'a Polyhedron,
    number: usize,
    /// Of the polyhedron.
    pose: Pose,
    /// Outward unit normal, inertial frame.
    pub normal: DVec3,
    /// Distance of its plane from the origin along the normal, m.
    offset: f64,
}

/// A point (m) of a solid, or of one part of a compound, that is farthest along a direction of unit length, inertial frame; none of what has no volume.
#[must_use]
pub fn farthest_of(
    geometry: &Geometry,
    pose: &Pose,
    part: Option<usize>,
    direction: DVec3,
) -> Option<DVec3> {
    let (convex, pose) = solid(geometry, pose, part)?;
    let core = Solid::convex(convex, pose);
    Some(core.support(direction) + direction * core.radius())
}

/// A convex solid, or one of a compound, and where it is.
fn solid<'a>(
    geometry: &'a Geometry,
    pose: &Pose,
    part: Option<usize>,
) -> Option<(&'a Convex, Pose)> {
    match (geometry.body(), part) {
        (Body::Convex(convex), _) => Some((convex, *pose)),
        (Body::Compound(parts), Some(part)) => parts
            .get(part)
            .map(|part| (&part.convex, pose.compose(&part.pose))),
        _ => None,
    }
}

/// The faces of a shape, or of one part of a compound; none of what has no flat faces all around.
pub fn faces<'a>(
    geometry: &'a Geometry,
    pose: &Pose,
    part: Option<usize>,
) -> impl Iterator<Item = Face<'a>> + use<'a> {
    let polyhedron = match solid(geometry, pose, part) {
        Some((Convex::Polyhedron(polyhedron), pose)) => Some((polyhedron, pose)),
        _ => None,
    };
    polyhedron.into_iter().flat_map(|(polyhedron, pose)| {
        let faces = polyhedron.faces.iter().enumerate();
        faces.map(move |(number, face)| {
            let normal = pose.rotate(face.normal);
            Face {
                polyhedron,
                number,
                pose,
                normal,
                offset: face.offset + normal.dot(pose.position),
            }
        })
    })
}

impl Face<'_> {
    /// Height of a point over the plane of the face, m.
    #[must_use]
    pub fn height(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }

    /// Points within the face, `distance` (m) from the foot of a point over it in the directions of its corners: nearer where the face ends before.
    pub fn around(&self, point: DVec3, distance: f64) -> impl Iterator<Item = DVec3> {
        let foot = point - self.normal * self.height(point);
        let view = self.polyhedron.view();
        let corner = |index: &u32| self.polyhedron.vertices[*index as usize];
        let corners = view.loop_of(self.number);
        let middle = corners.iter().map(corner).sum::<DVec3>() / corners.len() as f64;
        let pose = self.pose;
        corners.iter().map(move |index| {
            let inner = pose.transform_point(0.5 * (corner(index) + middle));
            let way = inner - foot;
            foot + way * (distance / way.length()).min(1.0)
        })
    }
}

/// A point lies in a convex solid, or in one part of a compound, or on its surface.
#[must_use]
pub fn holds(geometry: &Geometry, pose: &Pose, part: Option<usize>, point: DVec3) -> bool {
    solid(geometry, pose, part).is_some_and(|(convex, pose)| {
        onto(convex, pose.inverse_transform_point(point)).distance <= 0.0
    })
}

/// A point is no farther (m) than this from a convex solid; from nothing else.
#[must_use]
pub fn is_near(geometry: &Geometry, pose: &Pose, point: DVec3, within: f64) -> bool {
    let local = pose.inverse_transform_point(point);
    matches!(geometry.body(), Body::Convex(convex) if onto(convex, local).distance <= within)
}

/// Numbers of the parts of a compound that have a point no farther (m) than this from the box around them.
pub fn parts_near<'a>(
    geometry: &'a Geometry,
    pose: &Pose,
    point: DVec3,
    within: f64,
) -> impl Iterator<Item = usize> + use<'a> {
    let local = pose.inverse_transform_point(point);
    let parts = match geometry.body() {
        Body::Compound(parts) => Some(parts),
        _ => None,
    };
    let numbered = parts.into_iter().flat_map(|parts| parts.iter().enumerate());
    let near = numbered.filter(move |(_, part)| part.bounds.is_within(local, within));
    near.map(|(number, _)| number)
}
