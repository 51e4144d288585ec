//! The faces of convex polyhedra.

use super::convex_pair::Solid;
use super::point::onto;
use crate::geometry::{Body, Convex};
use crate::polytope::Polyhedron;
use crate::{Frame, Geometry};
use glam::DVec3;

/// A face of a box or a convex hull, or of such a part of a compound.
#[derive(Clone, Copy, Debug)]
pub struct Face<'a> {
    polyhedron: &'a Polyhedron,
    number: usize,
    /// Of the polyhedron.
    pose: Frame,
    /// Outward unit normal, inertial frame.
    pub normal: DVec3,
    /// Distance of its plane from the origin along the normal, m.
    offset: f64,
}

/// A convex solid, or one of a compound, where it is.
#[derive(Clone, Copy, Debug)]
pub struct ConvexPart<'a> {
    convex: &'a Convex,
    pose: Frame,
}

/// A convex shape, or the `part` of a compound; none of what is neither.
#[must_use]
pub fn convex_part<'a>(
    geometry: &'a Geometry,
    pose: &Frame,
    part: Option<usize>,
) -> Option<ConvexPart<'a>> {
    let (convex, pose) = match (geometry.body(), part) {
        (Body::Convex(convex), _) => (convex, *pose),
        (Body::Compound(parts), Some(part)) => {
            let part = parts.get(part)?;
            (&part.convex, pose.compose(&part.pose))
        }
        _ => return None,
    };
    Some(ConvexPart { convex, pose })
}

impl<'a> ConvexPart<'a> {
    /// A point (m) of it that is farthest along a direction of unit length, inertial frame.
    #[must_use]
    pub fn farthest(&self, direction: DVec3) -> DVec3 {
        let core = Solid::convex(self.convex, self.pose);
        core.support(direction) + direction * core.radius()
    }

    /// A point (m) lies in it, or on its surface.
    #[must_use]
    pub fn holds(&self, point: DVec3) -> bool {
        onto(self.convex, self.pose.inverse_transform_point(point)).distance <= 0.0
    }

    /// Its faces; none of what has no flat faces all around.
    pub fn faces(&self) -> impl Iterator<Item = Face<'a>> + use<'a> {
        let pose = self.pose;
        let polyhedron = match self.convex {
            Convex::Polyhedron(polyhedron) => Some(polyhedron),
            _ => None,
        };
        polyhedron.into_iter().flat_map(move |polyhedron| {
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

/// A point is no farther (m) than this from a convex solid; from nothing else.
#[must_use]
pub fn is_near(geometry: &Geometry, pose: &Frame, point: DVec3, within: f64) -> bool {
    let local = pose.inverse_transform_point(point);
    matches!(geometry.body(), Body::Convex(convex) if onto(convex, local).distance <= within)
}

/// Numbers of the parts of a compound that have a point no farther (m) than this from the box around them.
pub fn parts_near<'a>(
    geometry: &'a Geometry,
    pose: &Frame,
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
