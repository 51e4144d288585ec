//! Contact points of a cylinder or cone and a polytope along an axis: over a face, over a disc, along the side.

use super::disc;
use super::frustum_pair::{Axis, ON_SIDE, Query};
use super::half_space::{azimuth, rim_points};
use super::patch::{LocalContact, Patch};
use super::round_pair::facing_points;
use super::separating_axis::Placed;
use crate::projection::onto_segment;
use glam::{DVec2, DVec3};
use smallvec::SmallVec;

impl Query<'_> {
    fn corners(&self, face: usize) -> SmallVec<[DVec3; 8]> {
        let Placed {
            shape,
            rotation,
            translation,
            ..
        } = self.other;
        let place = |i: &u32| translation + rotation * shape.vertices[*i as usize];
        shape.loop_of(face).iter().map(place).collect()
    }

    /// Points of the frustum over a face of the other; those of its side up to `beside` (m) outside of it.
    pub(super) fn on_face(&self, face: usize, axis: &Axis, beside: f64, patch: &mut Patch) {
        let (normal, offset) = self.other.plane(face);
        let corners = self.corners(face);
        let tolerance = 1e-9 * self.scale;
        let key = 1 + face as u64;
        let mut push = |point: DVec3, number: u64| {
            let gap = normal.dot(point) - offset;
            if gap <= self.margin {
                patch.push(LocalContact {
                    point: point - normal * (0.5 * gap),
                    normal: axis.direction,
                    gap,
                    feature: key << 32 | number,
                });
            }
        };
        rim_points(self.frustum, axis.direction, |point, k| {
            if disc::over_polygon(&corners, normal, point, tolerance, None) {
                push(point, k);
            }
        });
        let (radius, height) = self.disc_towards(axis.direction);
        // Where a disc faces the face at all, its rim over the sides of the face, and the corners of the face under it. The rim of
        // what lies on its side is no place to lie on: it rolls out of the way.
        if normal.z.abs() > 0.1 && radius > 0.0 {
            disc::rim_on_sides(height, radius, &corners, normal, tolerance, |point, k| {
                push(point, 64 + k);
            });
            for (k, corner) in (0..).zip(&corners) {
                let point = *corner + normal * ((height - corner.z) / normal.z);
                if point.truncate().length() <= radius + tolerance {
                    push(point, 4096 + k);
                }
            }
        }
        // The lowest generator, cut to the prism.
        if axis.direction.truncate().length() > 1e-3 {
            let ends = self.frustum.generator(azimuth(axis.direction.truncate()));
            for (k, point) in (8192..).zip(cut_to_prism(ends, &corners, normal, beside)) {
                push(point, k);
            }
        }
    }

    /// Radius and height of the disc that looks towards a direction.
    pub(super) fn disc_towards(&self, direction: DVec3) -> (f64, f64) {
        let h = self.frustum.half_height;
        if direction.z > 0.0 {
            (self.frustum.top, h)
        } else {
            (self.frustum.bottom, -h)
        }
    }

    /// Points of the other over a disc.
    pub(super) fn on_disc(&self, axis: &Axis, patch: &mut Patch) {
        let l = axis.direction;
        let (radius, height) = self.disc_towards(l);
        let incident = self.incident(l);
        let tolerance = 1e-9 * self.scale;
        let mut push = |point: DVec3, number: u64| {
            let distance = l.z * (point.z - height);
            let gap = distance - self.radius;
            if gap <= self.margin {
                patch.push(LocalContact {
                    point: point - l * (0.5 * (distance + self.radius)),
                    normal: l,
                    gap,
                    feature: (u64::from(l.z > 0.0) + 1) << 60 | number,
                });
            }
        };
        let corners: SmallVec<[DVec3; 8]> = match incident {
            Some(face) => self.corners(face),
            None => self.other.vertices().iter().copied().collect(),
        };
        disc::polygon_in_disc(&corners, radius, tolerance, &mut push);
        if let Some(face) = incident {
            let (normal, offset) = self.other.plane(face);
            if normal.z.abs() > 0.1 {
                // Rim points, moved along the axis onto the incident face.
                for (k, flat) in (0..).zip(disc::around(radius, normal.truncate())) {
                    let z = (offset - normal.truncate().dot(flat)) / normal.z;
                    let point = flat.extend(z);
                    if disc::over_polygon(&corners, normal, point, tolerance, None) {
                        push(point, 1024 + k);
                    }
                }
            }
        }
    }

    /// The face of the other most opposed to `l` among those at its lowest vertex.
    pub(super) fn incident(&self, l: DVec3) -> Option<usize> {
        let shape = &self.other.shape;
        let local = self.other.rotation.transpose() * l;
        let low = local.dot(shape.farthest(-local)) + 1e-9 * self.scale;
        let mut best = (f64::INFINITY, None);
        for (face, plane) in shape.faces.iter().enumerate() {
            let facing = plane.normal.dot(local);
            let reaches = |i: &u32| local.dot(shape.vertices[*i as usize]) <= low;
            if facing < best.0 - 1e-9 && shape.loop_of(face).iter().any(reaches) {
                best = (facing, Some(face));
            }
        }
        best.1
    }

    /// The generator along the axis against the lowest edges or the lowest vertex of the other.
    pub(super) fn on_side(&self, axis: &Axis, patch: &mut Patch) {
        let l = axis.direction;
        let generator = self.frustum.generator(l.truncate().normalize_or(DVec2::X));
        let near = 1e-8 * self.scale;
        let low = l.dot(self.other.farthest(-l)) + near;
        let mut push = |on_side: DVec3, on_other: DVec3, number: u64| {
            // The two points must lie opposite each other.
            let aside = (on_other - on_side - l * axis.separation).length();
            let gap = axis.separation - self.radius;
            if aside <= 1e-7 * self.scale && gap <= self.margin {
                patch.push(LocalContact {
                    point: on_side + l * (0.5 * gap),
                    normal: l,
                    gap,
                    feature: ON_SIDE | number,
                });
            }
        };
        let mut any_edge = false;
        for edge in 0..self.other.shape.edges.len() {
            let ends = self.other.edges()(edge);
            if ends.iter().all(|end| l.dot(*end) <= low) {
                any_edge = true;
                for (k, (p, q)) in (0..).zip(facing_points(generator, ends)) {
                    push(p, q, (edge as u64 + 1) << 8 | k);
                }
            }
        }
        if !any_edge {
            for (k, vertex) in (0..).zip(self.other.vertices()) {
                if l.dot(*vertex) <= low {
                    let foot = onto_segment(*vertex, generator[0], generator[1]);
                    push(foot, *vertex, 1 << 40 | k);
                }
            }
        }
    }
}

/// Ends of the part of a segment over a polygon that is wider by `beside` (m).
fn cut_to_prism(
    ends: [DVec3; 2],
    corners: &[DVec3],
    normal: DVec3,
    beside: f64,
) -> SmallVec<[DVec3; 2]> {
    let along = ends[1] - ends[0];
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for (k, from) in corners.iter().enumerate() {
        let across = (corners[(k + 1) % corners.len()] - *from).cross(normal);
        let start = across.dot(ends[0] - *from) - beside * across.length();
        let slope = across.dot(along);
        let parallel = 1e-12 * across.length() * along.length();
        if slope.abs() <= parallel {
            if start > 1e-9 * across.length() * along.length() {
                return SmallVec::new();
            }
        } else if slope > 0.0 {
            high = high.min(-start / slope);
        } else {
            low = low.max(-start / slope);
        }
    }
    let mut found = SmallVec::new();
    if low <= high {
        found.push(ends[0] + along * low);
        found.push(ends[0] + along * high);
    }
    found
}

/// Removes contacts at the place of an earlier one.
pub(super) fn drop_doubles(patch: &mut Patch, near: f64) {
    let mut kept = 0;
    for i in 0..patch.len() {
        let contact = patch[i];
        if patch[..kept]
            .iter()
            .all(|other| (other.point - contact.point).length() > near)
        {
            patch[kept] = contact;
            kept += 1;
        }
    }
    patch.truncate(kept);
}
