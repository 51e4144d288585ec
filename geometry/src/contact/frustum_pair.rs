//! Cylinders and cones against polytopes and each other.
//!
//! In the frame of the frustum F, the separation along `l` from F to the other body P is
//! `s(l) = min_P l·x − max_F l·x`, as for polytopes. Candidates are the two discs, the faces of
//! P, and the side: its normals that are orthogonal to an edge of P, or that point to a vertex of
//! P. If the points found along the best of these realise its separation, it is the distance;
//! otherwise the closest points are searched numerically (rims against edges and vertices).

use super::disc;
use super::half_space::{LEVEL, azimuth, rim_points};
use super::nearest::{ConvexSet, nearest};
use super::patch::{LocalContact, Patch};
use super::round_pair::facing_points;
use super::separating_axis::{Placed, least_trusted};
use super::surface_pair::with_triangle;
use crate::Pose;
use crate::frustum::Frustum;
use crate::projection::{onto_frustum, onto_polytope, onto_segment};
use crate::surface::Cone;
use glam::{DQuat, DVec2, DVec3};
use smallvec::SmallVec;

/// One less the cosine of the angle (0.6°) up to which a side faces a face; gaps along the two differ by this part.
const LIKE_FACE: f64 = 5e-5;

/// The query, in the frame of the frustum.
struct Query<'a> {
    frustum: &'a Frustum,
    other: Placed<'a>,
    radius: f64,
    margin: f64,
    scale: f64,
    /// If the other is a triangle of a surface, its normals, and the orientation of this frame in
    /// the surface's.
    cone: Option<(&'a Cone<'a>, DQuat)>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Face(usize),
    Disc,
    Side,
}

#[derive(Clone, Copy, Debug)]
struct Axis {
    direction: DVec3,
    separation: f64,
    kind: Kind,
}

/// Frustum against a placed polytope inflated by `radius`; normals point away from the frustum.
pub(crate) fn polytope(
    frustum: &Frustum,
    other: Placed<'_>,
    radius: f64,
    margin: f64,
    patch: &mut Patch,
) {
    let reach = other
        .vertices()
        .iter()
        .fold(0.0_f64, |r, v| r.max((*v - other.translation).length()));
    let query = Query {
        frustum,
        other,
        radius,
        margin,
        scale: frustum.bounding_radius().min(reach),
        cone: None,
    };
    query.contact(patch);
}

/// Triangle of a surface against a frustum placed by `pose` in the surface's frame; normals point
/// away from the triangle.
pub(crate) fn triangle(
    frustum: &Frustum,
    cone: &Cone<'_>,
    pose: &Pose,
    margin: f64,
    patch: &mut Patch,
) {
    let mut local = *cone.triangle;
    for vertex in &mut local.vertices {
        *vertex = pose.inverse_transform_point(*vertex);
    }
    local.normal = pose.inverse_rotate(local.normal);
    let [a, b, c] = local.vertices;
    let reach = (b - a).length().max((c - a).length());
    with_triangle(&local, |other| {
        let query = Query {
            frustum,
            other,
            radius: 0.0,
            margin,
            scale: frustum.bounding_radius().min(reach),
            cone: Some((cone, pose.orientation)),
        };
        query.contact(patch);
    });
    for contact in patch.iter_mut() {
        contact.point = pose.transform_point(contact.point);
        contact.normal = -pose.rotate(contact.normal);
    }
}

impl Query<'_> {
    fn contact(&self, patch: &mut Patch) {
        let Some((best, any)) = self.axes() else {
            return;
        };
        let (best, slack) = match best.and_then(|best| self.resting_face(&best)) {
            Some(face) => (Some(face), LIKE_FACE * any.separation.abs()),
            None => (best, 0.0),
        };
        if let Some(axis) = best {
            match axis.kind {
                Kind::Face(face) => self.on_face(face, &axis, patch),
                Kind::Disc => self.on_disc(&axis, patch),
                Kind::Side => self.on_side(&axis, patch),
            }
            drop_doubles(patch, 1e-9 * self.scale);
        }
        let least = patch.iter().fold(f64::INFINITY, |g, c| g.min(c.gap));
        let near = 2e-8 * self.scale + slack;
        let near = if best.is_some_and(|axis| self.is_level(&axis)) {
            near + LEVEL * self.scale
        } else {
            near
        };
        let exact = least + self.radius <= any.separation + near;
        if exact && (self.cone.is_none() || least + self.radius >= any.separation - near) {
            return;
        }
        let best = self.numeric(any, patch).max(any.separation);
        if self.cone.is_some() {
            let floor = least_trusted(best, self.scale);
            patch.retain(|contact| contact.gap + self.radius >= floor);
        }
    }

    /// A side that all but faces a face gives way to it near touch: along the edge of a face lie its points too, and what lies on
    /// flush faces lies on both.
    fn resting_face(&self, side: &Axis) -> Option<Axis> {
        let rests = side.separation.abs() <= 0.01 * self.scale && self.radius <= 0.0;
        if !matches!(side.kind, Kind::Side) || !rests || self.cone.is_some() {
            return None;
        }
        let along = |face: usize| -self.other.plane(face).0.dot(side.direction);
        let faces = 0..self.other.shape.faces.len();
        let face = faces.max_by(|a, b| along(*a).total_cmp(&along(*b)))?;
        (along(face) > 1.0 - LIKE_FACE).then(|| {
            let (normal, _) = self.other.plane(face);
            let direction = -normal;
            Axis {
                direction,
                separation: self.other.range(direction).0 - self.frustum.support(direction),
                kind: Kind::Face(face),
            }
        })
    }

    /// A disc all but parallel to a face: its points do not follow the tilt, so that none of them is the nearest.
    fn is_level(&self, axis: &Axis) -> bool {
        let lean = match axis.kind {
            Kind::Face(_) => axis.direction,
            Kind::Disc => match self.incident(axis.direction) {
                Some(face) => self.other.plane(face).0,
                None => return false,
            },
            Kind::Side => return false,
        };
        lean.truncate().length() <= LEVEL
    }

    fn permits(&self, direction: DVec3) -> bool {
        self.cone
            .is_none_or(|(cone, turn)| cone.permits(-(turn * direction)))
    }

    /// The best permitted axis, and the best of all; `None` if one separates beyond the margin.
    fn axes(&self) -> Option<(Option<Axis>, Axis)> {
        let limit = self.margin + self.radius;
        let bias = 1e-8 * self.scale;
        let mut best: Option<Axis> = None;
        let mut any: Option<Axis> = None;
        let mut beyond = false;
        let mut consider = |direction: DVec3, kind: Kind, usable: bool| {
            let separation = self.other.range(direction).0 - self.frustum.support(direction);
            beyond |= separation > limit;
            let axis = Axis {
                direction,
                separation,
                kind,
            };
            if any.is_none_or(|known| separation > known.separation) {
                any = Some(axis);
            }
            if usable && best.is_none_or(|known| separation > known.separation + bias) {
                best = Some(axis);
            }
            separation
        };
        for face in 0..self.other.shape.faces.len() {
            let (normal, _) = self.other.plane(face);
            let back = self.cone.is_some() && face == 1;
            let separation = consider(-normal, Kind::Face(face), !back);
            if back && separation > 0.0 {
                return None;
            }
        }
        for (radius, direction) in [
            (self.frustum.bottom, DVec3::NEG_Z),
            (self.frustum.top, DVec3::Z),
        ] {
            if radius > 0.0 {
                consider(direction, Kind::Disc, self.permits(direction));
            }
        }
        for direction in self.side_normals() {
            consider(direction, Kind::Side, self.permits(direction));
        }
        match any {
            Some(any) if !beyond => Some((best, any)),
            _ => None,
        }
    }

    /// Side normals orthogonal to an edge direction of the other, or over one of its vertices.
    ///
    /// `e · n(φ) = 0` reads `(e_x, e_y)·(cos φ, sin φ) = −tan α e_z`.
    fn side_normals(&self) -> SmallVec<[DVec3; 24]> {
        let mut found = SmallVec::new();
        let side = self.frustum.side;
        for &local in self.other.shape.directions {
            let e = self.other.rotation * local;
            let flat = e.truncate();
            let length = flat.length();
            if length < 1e-9 {
                continue;
            }
            let along = flat / length;
            let cosine = -side.y * e.z / (side.x * length);
            if cosine.abs() < 1.0 {
                let turn = along.perp() * (1.0 - cosine * cosine).sqrt();
                for azimuth in [along * cosine + turn, along * cosine - turn] {
                    found.push(self.frustum.side_normal(azimuth));
                }
            }
        }
        for vertex in self.other.vertices() {
            let flat = vertex.truncate();
            let length = flat.length();
            if length > 1e-9 * self.scale {
                found.push(self.frustum.side_normal(flat / length));
            }
        }
        found
    }

    fn corners(&self, face: usize) -> SmallVec<[DVec3; 8]> {
        self.other
            .shape
            .loop_of(face)
            .iter()
            .map(|&i| self.other.vertices()[i as usize])
            .collect()
    }

    /// Points of the frustum over a face of the other.
    fn on_face(&self, face: usize, axis: &Axis, patch: &mut Patch) {
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
            for (k, point) in (8192..).zip(cut_to_prism(ends, &corners, normal)) {
                push(point, k);
            }
        }
    }

    /// Radius and height of the disc that looks towards a direction.
    fn disc_towards(&self, direction: DVec3) -> (f64, f64) {
        let h = self.frustum.half_height;
        if direction.z > 0.0 {
            (self.frustum.top, h)
        } else {
            (self.frustum.bottom, -h)
        }
    }

    /// Points of the other over a disc.
    fn on_disc(&self, axis: &Axis, patch: &mut Patch) {
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
    fn incident(&self, l: DVec3) -> Option<usize> {
        let low = self.other.range(l).0 + 1e-9 * self.scale;
        let mut best = (f64::INFINITY, None);
        for face in 0..self.other.shape.faces.len() {
            let (normal, _) = self.other.plane(face);
            let reaches = (self.other.shape.loop_of(face).iter())
                .any(|&i| l.dot(self.other.vertices()[i as usize]) <= low);
            if reaches && normal.dot(l) < best.0 - 1e-9 {
                best = (normal.dot(l), Some(face));
            }
        }
        best.1
    }

    /// The generator along the axis against the lowest edges or the lowest vertex of the other.
    fn on_side(&self, axis: &Axis, patch: &mut Patch) {
        let l = axis.direction;
        let generator = self.frustum.generator(l.truncate().normalize_or(DVec2::X));
        let near = 1e-8 * self.scale;
        let low = self.other.range(l).0 + near;
        let mut push = |on_side: DVec3, on_other: DVec3, number: u64| {
            // The two points must lie opposite each other.
            let aside = (on_other - on_side - l * axis.separation).length();
            let gap = axis.separation - self.radius;
            if aside <= 1e-7 * self.scale && gap <= self.margin {
                patch.push(LocalContact {
                    point: on_side + l * (0.5 * gap),
                    normal: l,
                    gap,
                    feature: 3 << 60 | number,
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

    /// Closest or deepest points by search, in front of what the axes gave. Returns the greatest
    /// separation found, permitted or not.
    fn numeric(&self, any: Axis, patch: &mut Patch) -> f64 {
        let frustum = ConvexSet {
            support: |l| self.frustum.support_point(l),
            project: |x| onto_frustum(x, self.frustum).point,
            inner: DVec3::ZERO,
        };
        let back = self.other.rotation.transpose();
        let other = ConvexSet {
            support: |l: DVec3| {
                let mut best = (f64::NEG_INFINITY, DVec3::ZERO);
                for vertex in self.other.vertices() {
                    let value = l.dot(*vertex);
                    if value > best.0 {
                        best = (value, *vertex);
                    }
                }
                best.1
            },
            project: |x: DVec3| match self.other.vertices() {
                [a, b] => onto_segment(x, *a, *b),
                _ => {
                    let local = back * (x - self.other.translation);
                    let foot = onto_polytope(local, &self.other.shape).point;
                    self.other.translation + self.other.rotation * foot
                }
            },
            inner: self.other.inner(),
        };
        let limit = self.margin + self.radius;
        let Some(found) = nearest(&frustum, &other, any.direction, limit, self.scale) else {
            return any.separation;
        };
        // The search breaks down where centres coincide.
        if !(found.distance.is_finite() && found.direction.is_normalized()) {
            return any.separation;
        }
        let gap = found.distance - self.radius;
        if gap > self.margin || !self.permits(found.direction) {
            return found.distance;
        }
        // In overlap the axes may know a lesser depth than the search.
        if found.distance <= 0.0 && found.distance < any.separation && !patch.is_empty() {
            return found.distance;
        }
        let point = 0.5 * (found.on_a + found.on_b - found.direction * self.radius);
        patch.retain(|contact| {
            contact.normal.dot(found.direction) > 0.5
                && contact.gap >= gap
                && (contact.point - point).length() > 0.05 * self.scale
        });
        patch.insert(
            0,
            LocalContact {
                point,
                normal: found.direction,
                gap,
                feature: u64::MAX,
            },
        );
        found.distance
    }
}

/// Ends of the part of a segment over a polygon.
fn cut_to_prism(ends: [DVec3; 2], corners: &[DVec3], normal: DVec3) -> SmallVec<[DVec3; 2]> {
    let along = ends[1] - ends[0];
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for (k, from) in corners.iter().enumerate() {
        let across = (corners[(k + 1) % corners.len()] - *from).cross(normal);
        let start = across.dot(ends[0] - *from);
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
fn drop_doubles(patch: &mut Patch, near: f64) {
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
