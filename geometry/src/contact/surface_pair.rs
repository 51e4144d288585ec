//! One triangle of a surface against a convex solid.
//!
//! Contact is one-sided and keeps to the normal cones of the triangle's edges, so that a body
//! which slides over flat ground feels the ground's normal only.

use super::frustum_pair;
use super::patch::{LocalContact, Patch};
use super::separating_axis::{self, Placed, PolytopePair};
use super::with_polytope;
use crate::Frame;
use crate::geometry::Convex;
use crate::polytope::{Face, Polytope};
use crate::projection::{direction_or, onto_segment};
use crate::surface::{Cone, SurfaceTriangle};
use glam::DVec3;

/// A convex solid that is set against one triangle after the other.
pub(crate) struct Solid<'a> {
    convex: &'a Convex,
    radius: f64,
    /// Place of its centre in the surface's frame (m).
    center: DVec3,
    /// Its pose about its centre.
    pose: Frame,
    /// Its core about its centre, with a radius (m), if that is a polytope.
    core: Option<(Placed<'a>, f64)>,
    /// Contacts with greater gaps are left out (m).
    margin: f64,
}

impl Solid<'_> {
    /// Runs `visit` on a solid that `pose` places in the surface's frame.
    pub(crate) fn with(convex: &Convex, pose: &Frame, margin: f64, visit: impl FnOnce(&Solid<'_>)) {
        let center = pose.position;
        let pose = Frame::new(DVec3::ZERO, pose.orientation);
        match convex {
            Convex::Sphere { .. } | Convex::Frustum(_) => visit(&Solid {
                convex,
                radius: convex.bounding_radius(),
                center,
                pose,
                core: None,
                margin,
            }),
            Convex::Capsule { .. } | Convex::Polyhedron(_) => {
                with_polytope(convex, &pose, |core, radius| {
                    visit(&Solid {
                        convex,
                        radius: convex.bounding_radius(),
                        center,
                        pose,
                        core: Some((core, radius)),
                        margin,
                    });
                });
            }
        }
    }
}

/// Contacts with a triangle, in the surface's frame.
pub(crate) fn contact(cone: &Cone<'_>, solid: &Solid<'_>, patch: &mut Patch) {
    let triangle = cone.triangle;
    let (radius, margin) = (solid.radius, solid.margin);
    let height = triangle.normal.dot(solid.center - triangle.vertices[0]);
    if height > radius + margin || height < -radius {
        return;
    }
    let mut edges = triangle.rims.iter().zip(&triangle.vertices);
    if edges.any(|(rim, corner)| rim.outward.dot(solid.center - *corner) > radius + margin) {
        return;
    }
    // Work about the solid's centre: no digits are lost far from the surface's origin.
    let shift = solid.center;
    let vertices = triangle.vertices.map(|v| v - shift);
    let centered = SurfaceTriangle {
        vertices,
        ..*triangle
    };
    let cone = Cone {
        triangle: &centered,
        ..*cone
    };
    match (solid.convex, solid.core) {
        (Convex::Sphere { radius }, _) => sphere(&cone, *radius, margin, patch),
        (Convex::Frustum(frustum), _) => {
            frustum_pair::triangle(frustum, &cone, &solid.pose, margin, patch);
        }
        (_, Some((b, core_radius))) => {
            let scale = radius.min(triangle_radius(&vertices));
            with_triangle(&centered, |a| {
                let pair = PolytopePair {
                    a,
                    b,
                    radius: core_radius,
                    margin,
                    scale,
                    cone: Some(&cone),
                };
                separating_axis::contact(&pair, None, patch);
            });
        }
        (_, None) => {}
    }
    if patch.is_empty() {
        ahead(&centered, solid, patch);
    }
    for contact in patch.iter_mut() {
        contact.point += shift;
    }
}

/// The lowest points of a solid that is beside the triangle, where the surface rises to it: what slides down a slope meets the ground
/// at its foot.
fn ahead(triangle: &SurfaceTriangle, solid: &Solid<'_>, patch: &mut Patch) {
    if !triangle.rims.iter().any(|rim| rim.rises) {
        return;
    }
    let normal = triangle.normal;
    let mut add = |core: DVec3, radius: f64, id: usize| {
        let lowest = core - normal * radius;
        if triangle.is_ahead(lowest, solid.margin) {
            let gap = normal.dot(lowest - triangle.vertices[0]);
            patch.push(LocalContact {
                point: lowest - normal * (0.5 * gap),
                normal,
                gap,
                feature: AHEAD | id as u64,
            });
        }
    };
    match (solid.convex, solid.core) {
        (Convex::Sphere { radius }, _) => add(DVec3::ZERO, *radius, 0),
        (_, Some((core, radius))) => {
            for (id, vertex) in core.vertices().iter().enumerate() {
                add(*vertex, radius, id);
            }
        }
        // The rims of a frustum have no vertices.
        (_, None) => {}
    }
}

/// Features of such points.
const AHEAD: u64 = 1 << 61;

fn triangle_radius([a, b, c]: &[DVec3; 3]) -> f64 {
    (*b - *a).length().max((*c - *a).length())
}

/// The triangle as a polytope: its front (face 0), its back (face 1), three edges.
pub(crate) fn with_triangle(triangle: &SurfaceTriangle, visit: impl FnOnce(Placed<'_>)) {
    let vertices = triangle.vertices;
    let offset = triangle.normal.dot(vertices[0]);
    let faces = [
        Face {
            normal: triangle.normal,
            offset,
            start: 0,
            end: 3,
        },
        Face {
            normal: -triangle.normal,
            offset: -offset,
            start: 3,
            end: 6,
        },
    ];
    let directions = [0, 1, 2].map(|k| (vertices[(k + 1) % 3] - vertices[k]).normalize_or_zero());
    visit(Placed::at_rest(Polytope {
        vertices: &vertices,
        blocks: None,
        faces: &faces,
        loops: &[0, 1, 2, 0, 2, 1],
        edges: &[[0, 1], [1, 2], [2, 0]],
        directions: &directions,
        half_extents: None,
        middle: None,
        half_thickness: 0.0,
    }));
}

/// Sphere about the origin.
fn sphere(cone: &Cone<'_>, radius: f64, margin: f64, patch: &mut Patch) {
    let triangle = cone.triangle;
    let n = triangle.normal;
    let height = -n.dot(triangle.vertices[0]);
    let inside = (0..3).all(|k| triangle.rims[k].outward.dot(-triangle.vertices[k]) <= 0.0);
    let (foot, normal, distance, feature) = if inside {
        (-n * height, n, height, 0)
    } else {
        let mut nearest = (f64::INFINITY, DVec3::ZERO, 0);
        for k in 0..3 {
            let candidate = onto_segment(
                DVec3::ZERO,
                triangle.vertices[k],
                triangle.vertices[(k + 1) % 3],
            );
            let square = candidate.length_squared();
            if square < nearest.0 {
                nearest = (square, candidate, k as u64 + 1);
            }
        }
        let direction = direction_or(-nearest.1, n);
        if !cone.permits(direction) {
            return;
        }
        // Within the tolerance of the cone the face's normal is meant.
        let flat = (direction - n).length_squared() < 1e-12;
        let normal = if flat { n } else { direction };
        (nearest.1, normal, -normal.dot(nearest.1), nearest.2)
    };
    let gap = distance - radius;
    if gap <= margin && distance >= -radius {
        patch.push(LocalContact {
            point: foot + normal * (0.5 * gap),
            normal,
            gap,
            feature,
        });
    }
}
