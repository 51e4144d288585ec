//! Narrow phase: the contact points of one pair of shapes.
//!
//! Every routine works in the frame of one of the two shapes (the *frame shape*), with normals
//! that point from it to the *other* shape; this file places the results in the inertial frame
//! and gives the normals their sign, from B to A.
//!
//! | frame shape ＼ other | sphere | capsule | polyhedron | frustum |
//! |---|---|---|---|---|
//! | sphere | exact | | | |
//! | capsule | projection | segments | | |
//! | polyhedron | projection | separating axes | separating axes | |
//! | frustum | projection | `frustum` | `frustum` | `frustum` |
//! | half-space | support points | support points | support points | support points |
//! | triangle | projection | separating axes | separating axes | `frustum` |
//! | plane of triangles | projection | support points | support points | support points |
//!
//! Capsules are segments, and spheres points, with a radius.

mod axis_search;
mod balls;
mod clip;
mod closest_edges;
mod cuboid_axes;
mod cuboid_faces;
mod disc;
mod duplicates;
mod extremes;
mod frusta;
mod frustum_pair;
mod frustum_points;
mod half_space;
mod meeting;
mod merge;
pub(crate) mod nearest;
mod overlap;
mod parts;
mod patch;
mod placed;
mod planes;
mod reduce;
mod round_pair;
mod separating_axis;
mod shrunk;
mod side_by_side;
mod stationary;
mod surface_pair;
mod triangle_axes;
mod unit;

pub use balls::{Ball, ball_contact};
pub use planes::separating_planes;

use crate::geometry::{Body, Convex};
use crate::surface::{Cone, Sides};
use crate::{Aabb, Frame, Geometry};
use extremes::Extremes;
use glam::{DMat3, DVec3};
use patch::{Patch, mix};
use separating_axis::{Placed, PolytopePair, Vertices};
use std::cell::OnceCell;
use surface_pair::Solid;

/// One point of contact, in the inertial frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Midpoint between the two surfaces (m).
    pub point: DVec3,
    /// Unit normal, from body B to body A.
    pub normal: DVec3,
    /// Signed distance of the surfaces along the normal (m); > 0 separated, < 0 overlapping.
    pub gap: f64,
    /// Number of the point on this ordered pair of shapes; the same as long as the same features
    /// (vertices, edges, faces, parts, triangles) meet.
    pub feature: u64,
}

impl ContactPoint {
    /// The parts of compounds that features tell apart.
    pub const MOST_PARTS: usize = parts::MOST;

    /// Which parts meet in a point with this feature: their places in the compounds A and B, where one of the two shapes is a compound; none of
    /// the other one. Parts beyond [`Self::MOST_PARTS`] count as the last of these. Of pairs without a compound it says nothing.
    #[must_use]
    pub fn parts(feature: u64) -> [Option<usize>; 2] {
        parts::places(feature)
    }
}

/// Appends to `out` every contact point of `a` and `b` with `gap ≤ margin` (m).
///
/// At most four well-spread points per pair of convex shapes; for compounds four per pair of
/// parts, for surfaces four per plane that a part touches, without near-duplicates. The order is deterministic. Two surfaces never
/// touch. Nothing is appended if a pose or the margin is not finite.
pub fn contacts(
    a: &Geometry,
    pose_a: &Frame,
    b: &Geometry,
    pose_b: &Frame,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    contacts_or_plane(a, pose_a, b, pose_b, (margin, &mut None), out);
}

/// The same, with a plane between two polytopes that have none: its unit normal, from B to A, where one was found. The plane at hand is tried first; it changes no contact
/// point.
pub fn contacts_or_plane(
    a: &Geometry,
    pose_a: &Frame,
    b: &Geometry,
    pose_b: &Frame,
    (margin, plane): (f64, &mut Option<DVec3>),
    out: &mut Vec<ContactPoint>,
) {
    if !(pose_a.is_finite() && pose_b.is_finite() && margin.is_finite()) {
        return;
    }
    if let Some(found) = of_balls(a, pose_a, b, pose_b, margin) {
        out.extend(found);
        return;
    }
    let reach = a.bounding_radius() + b.bounding_radius() + margin;
    if (pose_a.position - pose_b.position).length() > reach {
        return;
    }
    let start = out.len();
    let mut pair = Pair {
        margin,
        plane: None,
        feature: 0,
        parts: 0,
        flip: false,
        out,
    };
    match (a.body(), b.body()) {
        (Body::Convex(x), Body::Convex(y)) => {
            pair.plane = plane.take();
            pair.convex(x, pose_a, y, pose_b);
            *plane = pair.plane;
            return;
        }
        (Body::Convex(x), other) => pair.solid(x, pose_a, other, pose_b),
        (other, Body::Convex(y)) => {
            pair.flip = true;
            pair.solid(y, pose_b, other, pose_a);
        }
        (Body::Compound(_), _) => pair.compound(a, pose_a, b, pose_b),
        (_, Body::Compound(_)) => {
            pair.flip = true;
            pair.compound(b, pose_b, a, pose_a);
        }
        _ => return,
    }
    let size = a.size().min(b.size());
    duplicates::drop(out, start, size);
}

/// Pairs of a ball with a ball or half-space need no common frame.
fn of_balls(
    a: &Geometry,
    pose_a: &Frame,
    b: &Geometry,
    pose_b: &Frame,
    margin: f64,
) -> Option<Option<ContactPoint>> {
    let with_plane = |ball: Ball, normal: DVec3, pose: &Frame| {
        let normal = pose.rotate(normal).normalize();
        balls::half_space(ball, pose.position, normal, margin)
    };
    let ball = |geometry: &Geometry, pose: &Frame| {
        let radius = geometry.ball_radius()?;
        let center = pose.position;
        Some(Ball { center, radius })
    };
    Some(match (ball(a, pose_a), ball(b, pose_b)) {
        (Some(x), Some(y)) => ball_contact(x, y, margin),
        (Some(x), None) => with_plane(x, b.plane_normal()?, pose_b),
        (None, Some(y)) => with_plane(y, a.plane_normal()?, pose_a).map(|point| ContactPoint {
            normal: -point.normal,
            ..point
        }),
        (None, None) => return None,
    })
}

/// State of one query while it descends into parts.
struct Pair<'a> {
    margin: f64,
    /// Unit normal of a plane between two convex shapes, from B to A.
    plane: Option<DVec3>,
    /// Mixed numbers of the parts and triangles entered so far.
    feature: u64,
    /// The parts of compounds among these, as a field of the feature.
    parts: u64,
    /// False while the first shape of each routine belongs to A, true if it belongs to B.
    flip: bool,
    out: &'a mut Vec<ContactPoint>,
}

impl Pair<'_> {
    /// Every part of a compound against the whole other body.
    fn compound(
        &mut self,
        compound: &Geometry,
        pose: &Frame,
        other: &Geometry,
        other_pose: &Frame,
    ) {
        let Body::Compound(parts) = compound.body() else {
            return;
        };
        let region = self.region(&other.aabb(&pose.relative(other_pose)));
        for (index, part) in (1_u64..).zip(parts) {
            if part.bounds.intersects(&region) {
                let outer = (self.feature, self.parts);
                self.feature = mix(outer.0, index);
                self.parts |= parts::of_part(index as usize - 1, self.flip);
                self.solid(
                    &part.convex,
                    &pose.compose(&part.pose),
                    other.body(),
                    other_pose,
                );
                (self.feature, self.parts) = outer;
            }
        }
    }

    /// One convex solid against a whole body.
    fn solid(&mut self, convex: &Convex, pose: &Frame, body: &Body, body_pose: &Frame) {
        let relative = body_pose.relative(pose);
        match body {
            Body::Convex(other) => self.convex(convex, pose, other, body_pose),
            Body::HalfSpace(normal) => {
                let mut patch = Patch::new();
                half_space::contact(*normal, convex, &relative, self.margin, &mut patch);
                self.emit(&mut patch, body_pose, false);
            }
            Body::Compound(parts) => {
                let region = self.region(&convex.aabb(&relative));
                for (index, part) in (1_u64..).zip(parts) {
                    if part.bounds.intersects(&region) {
                        let outer = (self.feature, self.parts);
                        self.feature = mix(outer.0, !index);
                        self.parts |= parts::of_part(index as usize - 1, !self.flip);
                        self.convex(convex, pose, &part.convex, &body_pose.compose(&part.pose));
                        (self.feature, self.parts) = outer;
                    }
                }
            }
            Body::Surface(surface) => {
                let region = self.region(&convex.aabb(&relative));
                let start = self.out.len();
                let sides = Sides::new(surface, &region, relative.position);
                let extremes = Extremes::new(convex, &relative);
                let matters = |corners: &[DVec3; 3]| extremes.may_meet(corners);
                let mut patch = Patch::new();
                Solid::with(convex, &relative, self.margin, |solid| {
                    surface.visit(&region, matters, |id, triangle, plane| {
                        if !sides.face(id, triangle) {
                            return;
                        }
                        patch.clear();
                        // Its number, and far above these that of its plane.
                        let place = match plane {
                            Some(plane) if !matches!(convex, Convex::Sphere { .. }) => {
                                extremes.contact(triangle, self.margin, &mut patch);
                                u64::from(plane) + (1 << 41)
                            }
                            _ => {
                                let cone = Cone {
                                    triangle,
                                    surface,
                                    id,
                                };
                                surface_pair::contact(&cone, solid, &mut patch);
                                u64::from(id) + (1 << 40)
                            }
                        };
                        patch.retain(|contact| {
                            let on_surface = contact.point - contact.normal * (0.5 * contact.gap);
                            let (center, radius) = (relative.position, convex.bounding_radius());
                            !surface.hides(id, triangle, on_surface, center, radius)
                        });
                        let outer = self.feature;
                        self.feature = mix(outer, place);
                        self.emit(&mut patch, body_pose, false);
                        self.feature = outer;
                    });
                });
                let size = convex.size();
                let sign = if self.flip { -1.0 } else { 1.0 };
                merge::thin(self.out, start);
                duplicates::drop(self.out, start, size);
                merge::coplanar(self.out, start, size, sign);
            }
        }
    }

    fn region(&self, bounds: &Aabb) -> Aabb {
        bounds.inflated(self.margin.max(0.0))
    }

    /// Two convex solids.
    fn convex(&mut self, x: &Convex, pose_x: &Frame, y: &Convex, pose_y: &Frame) {
        let first = x.rank() >= y.rank();
        let [(frame, pose), (other, other_pose)] = if first {
            [(x, pose_x), (y, pose_y)]
        } else {
            [(y, pose_y), (x, pose_x)]
        };
        let sign = self.sign(first);
        let mut plane = self.plane.map(|normal| pose.inverse_rotate(normal) * sign);
        let mut patch = Patch::new();
        let query = (self.margin, &mut plane);
        convex_contact(frame, other, &pose.relative(other_pose), query, &mut patch);
        self.plane = plane.map(|direction| pose.rotate(direction) * sign);
        self.emit(&mut patch, pose, first);
    }

    /// Of a normal from B to A on a direction from the frame shape to the other; `first`: the frame shape is the routine's first shape.
    fn sign(&self, first: bool) -> f64 {
        if first == self.flip { 1.0 } else { -1.0 }
    }

    /// Reduces a patch and appends it. `first` tells whether the frame shape is the routine's
    /// first shape; the local normals point away from the frame shape.
    fn emit(&mut self, patch: &mut Patch, frame: &Frame, first: bool) {
        reduce::to_four(patch);
        let sign = self.sign(first);
        // The points of a face share their normal.
        let mut known = (DVec3::ZERO, DVec3::ZERO);
        for contact in patch.iter() {
            if known.0 != contact.normal {
                let normal = frame.rotate(contact.normal).normalize() * sign;
                known = (contact.normal, normal);
            }
            self.out.push(ContactPoint {
                point: frame.transform_point(contact.point),
                normal: known.1,
                gap: contact.gap,
                feature: if self.feature == 0 {
                    contact.feature
                } else {
                    parts::with_parts(self.parts, mix(self.feature, contact.feature))
                },
            });
        }
    }
}

impl Convex {
    /// The shape of greater rank is the frame shape of a pair.
    fn rank(&self) -> u32 {
        match self {
            Self::Sphere { .. } => 0,
            Self::Capsule { .. } => 1,
            Self::Polyhedron(_) => 2,
            Self::Frustum(_) => 3,
        }
    }
}

/// Contacts of two convex solids in the frame of the first, whose rank is not the lesser.
fn convex_contact(
    frame: &Convex,
    other: &Convex,
    pose: &Frame,
    (margin, plane): (f64, &mut Option<DVec3>),
    patch: &mut Patch,
) {
    if pose.position.length() > frame.bounding_radius() + other.bounding_radius() + margin {
        return;
    }
    let known = plane.take();
    match (frame, other) {
        (_, Convex::Sphere { radius }) => {
            round_pair::sphere(frame, pose.position, *radius, margin, patch);
        }
        (
            Convex::Capsule {
                half_height,
                radius,
            },
            Convex::Capsule {
                half_height: other_height,
                radius: other_radius,
            },
        ) => {
            let axis = DVec3::Z * *half_height;
            let turned_axis = pose.rotate(DVec3::Z * *other_height);
            round_pair::capsules(
                [-axis, axis],
                *radius,
                [pose.position - turned_axis, pose.position + turned_axis],
                *other_radius,
                margin,
                patch,
            );
        }
        (Convex::Frustum(frustum), Convex::Frustum(second)) => {
            frusta::contact(frustum, second, pose, margin, patch);
        }
        (Convex::Frustum(frustum), other) => with_polytope(other, pose, |placed, radius| {
            frustum_pair::polytope(frustum, placed, radius, margin, patch);
        }),
        (Convex::Polyhedron(polyhedron), other) => with_polytope(other, pose, |placed, radius| {
            let scale = frame.bounding_radius().min(other.bounding_radius());
            let a = Placed::at_rest(polyhedron.view());
            let pair = PolytopePair {
                a,
                b: placed,
                radius,
                margin,
                scale,
                cone: None,
            };
            *plane = separating_axis::contact(&pair, known, patch);
        }),
        (Convex::Sphere { .. } | Convex::Capsule { .. }, _) => {
            debug_assert!(false, "the frame shape has the greater rank");
        }
    }
}

/// Runs `visit` on the placed polytope core of a polyhedron or capsule, with its radius.
fn with_polytope(convex: &Convex, pose: &Frame, visit: impl FnOnce(Placed<'_>, f64)) {
    let rotation = DMat3::from_quat(pose.orientation);
    match convex {
        Convex::Polyhedron(polyhedron) => {
            visit(
                Placed {
                    shape: polyhedron.view(),
                    rotation,
                    translation: pose.position,
                    vertices: Vertices::Later(&OnceCell::new()),
                },
                0.0,
            );
        }
        Convex::Capsule {
            half_height,
            radius,
        } => {
            let axis = DVec3::Z * *half_height;
            let local = [-axis, axis];
            let vertices = local.map(|v| pose.position + rotation * v);
            visit(
                Placed {
                    shape: separating_axis::segment(&local),
                    rotation,
                    translation: pose.position,
                    vertices: Vertices::Known(&vertices),
                },
                *radius,
            );
        }
        Convex::Sphere { .. } | Convex::Frustum(_) => {
            debug_assert!(false, "not a polytope");
        }
    }
}

#[cfg(test)]
mod tests;
