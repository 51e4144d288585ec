//! Cylinders and cones against polytopes and each other.
//!
//! In the frame of the frustum F, the separation along `l` from F to the other body P is
//! `s(l) = min_P l·x − max_F l·x`, as for polytopes. Candidates are the two discs, the faces of
//! P, and the side: its normals that are orthogonal to an edge of P, or that point to a vertex of
//! P. If the points found along the best of these realise its separation, it is the distance;
//! otherwise the bodies meet in a stationary direction (rims against edges and vertices, [`meeting`](super::meeting)).
//!
//! Of polytopes with many edges not all candidates are tried: the direction in which the bodies meet comes first, and of discs and faces those
//! near it are candidates. Where that does not settle the matter, all are.

use super::frustum_points::drop_doubles;
use super::half_space::LEVEL;
use super::meeting::{Found, Meeting, ROUGH, Search, Turned, improved, likely, overlap};
use super::nearest::{ConvexSet, better_than, nearest};
use super::patch::{LocalContact, Patch};
use super::separating_axis::{FLUSH, Placed, gives_way, least_trusted};
use super::side_by_side::{Rod, add_ends};
use super::surface_pair::with_triangle;
use crate::Frame;
use crate::frustum::Frustum;
use crate::polytope::Face;
use crate::projection::{onto_frustum, onto_polytope, onto_segment};
use crate::surface::Cone;
use glam::{DQuat, DVec3};
use smallvec::SmallVec;

/// One less the cosine of the angle (0.6°) up to which a side faces a face; gaps along the two differ by this part.
const LIKE_FACE: f64 = 5e-5;
/// Bodies with no more directions of edges than a box have all their axes tried.
const FEW: usize = 3;
/// Faces lean by less than this from the one that is closest to the direction, one less the cosine, to be tried as well (4°).
const NEAR: f64 = 2.5e-3;
/// Features of points of the side on the first edge.
pub(super) const ON_FIRST_EDGE: u64 = ON_SIDE | 1 << 8;
/// Features of points of the side.
pub(super) const ON_SIDE: u64 = 3 << 60;
/// Overlap, over the size, from which on the least may be through any face or disc.
pub(super) const DEEP: f64 = 1e-3;

/// The query, in the frame of the frustum.
pub(super) struct Query<'a> {
    pub(super) frustum: &'a Frustum,
    pub(super) other: Placed<'a>,
    pub(super) radius: f64,
    pub(super) margin: f64,
    pub(super) scale: f64,
    /// If the other is a triangle of a surface, its normals, and the orientation of this frame in
    /// the surface's.
    cone: Option<(&'a Cone<'a>, DQuat)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Face(usize),
    Disc,
    Side,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) direction: DVec3,
    pub(super) separation: f64,
    pub(super) kind: Kind,
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
    // A capsule's segment.
    if let [p, q] = *query.other.vertices()
        && let Some(a) = frustum.as_rod(DVec3::ZERO, DVec3::Z)
        && let Some(b) = Rod::capsule([p, q], radius)
    {
        add_ends(&a, &b, margin, ON_FIRST_EDGE, patch);
    }
}

/// Triangle of a surface against a frustum placed by `pose` in the surface's frame; normals point
/// away from the triangle.
pub(crate) fn triangle(
    frustum: &Frustum,
    cone: &Cone<'_>,
    pose: &Frame,
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

/// Where the bodies meet, if the axes do not show it.
enum Met {
    /// To be searched.
    Unknown,
    /// As far as the search has found it.
    Known(Option<Meeting>),
}

impl Query<'_> {
    fn contact(&self, patch: &mut Patch) {
        let few = self.cone.is_some() || self.other.shape.directions.len() <= FEW;
        if !few && self.near_meeting(patch) {
            return;
        }
        if let Some((best, any)) = self.axes() {
            self.along(best, any, Met::Unknown, patch);
        }
    }

    /// Contacts along the axes near the direction in which the bodies meet; false if there may be better ones.
    fn near_meeting(&self, patch: &mut Patch) -> bool {
        let limit = self.margin + self.radius;
        let frustum = self.turned();
        let mut search = Search::new(&frustum, &self.other, limit, self.scale);
        for rough in ROUGH {
            let (direction, met) = match search.stage(rough) {
                Found::Apart => return true,
                Found::Deep => return false,
                Found::Rough(direction) => (direction, None),
                Found::Exact(met) => (met.direction, Some(met)),
            };
            let Some((best, any)) = self.axes_near(direction, met.as_ref()) else {
                continue;
            };
            if any.separation > limit {
                return true;
            }
            if self.along(Some(best), any, Met::Known(met), patch) && self.is_sound(patch) {
                return true;
            }
            patch.clear();
        }
        false
    }

    /// Where bodies overlap, a point of one of the contacts lies within both.
    fn is_sound(&self, patch: &Patch) -> bool {
        let frustum = self.turned();
        let shows = |contact: &LocalContact| {
            let half = contact.normal * (0.5 * contact.gap);
            let (on_a, on_b) = (contact.point - half, contact.point + half);
            overlap(&frustum, &self.other, on_a, on_b, self.scale)
        };
        patch.iter().all(|contact| contact.gap > 0.0) || patch.iter().any(shows)
    }

    /// Contacts along the best axis, and where the bodies meet if that is elsewhere; false if it is not known where.
    fn along(&self, best: Option<Axis>, any: Axis, met: Met, patch: &mut Patch) -> bool {
        let flush = if self.cone.is_some() {
            FLUSH * self.scale
        } else {
            0.0
        };
        let (best, slack, beside) = match best.and_then(|best| self.resting_face(&best)) {
            Some((face, aside)) => (Some(face), LIKE_FACE * any.separation.abs(), flush + aside),
            None => (best, 0.0, flush),
        };
        if let Some(axis) = best {
            match axis.kind {
                Kind::Face(face) => self.on_face(face, &axis, beside, patch),
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
        let is_best = match met {
            Met::Unknown => true,
            Met::Known(_) => best.is_some_and(|axis| axis.separation >= any.separation - near),
        };
        let exact = is_best && least + self.radius <= any.separation + near;
        let better = if exact {
            self.elsewhere(any.separation, any.direction)
        } else {
            None
        };
        let exact = exact && better.is_none();
        if exact && (self.cone.is_none() || least + self.radius >= any.separation - near) {
            return true;
        }
        let found = match met {
            Met::Known(Some(found)) if found.distance >= any.separation - 1e-9 * self.scale => {
                Some(self.improved(found))
            }
            Met::Known(_) => return false,
            Met::Unknown => self.numeric(&any, better),
        };
        let distance = found.map_or(any.separation, |found| found.distance);
        if let Some(found) = found {
            self.insert(&found, &any, patch);
        }
        if self.cone.is_some() {
            let floor = least_trusted(distance.max(any.separation), self.scale);
            patch.retain(|contact| contact.gap + self.radius >= floor);
        }
        true
    }

    /// The best of the discs and faces near a direction and of the side, if the bodies meet there; and the better of that and where they meet.
    fn axes_near(&self, direction: DVec3, met: Option<&Meeting>) -> Option<(Axis, Axis)> {
        let bias = 1e-8 * self.scale;
        let met = met.map(|met| {
            let axis = Axis {
                direction,
                separation: met.distance,
                kind: Kind::Side,
            };
            (axis, met.is_tied)
        });
        let mut best: Option<Axis> = None;
        let mut any = met.map(|(axis, _)| axis);
        let mut consider = |axis: Axis| {
            if best.is_none_or(|known| axis.separation > known.separation + bias) {
                best = Some(axis);
            }
            if any.is_none_or(|known| axis.separation > known.separation) {
                any = Some(axis);
            }
            any.map_or(axis.separation, |any| any.separation)
        };
        let local = self.other.rotation.transpose() * -direction;
        let faces = self.other.shape.faces;
        let lean = |face: &Face| face.normal.dot(local);
        let closest = faces.iter().map(lean).fold(-1.0, f64::max);
        let towards = DVec3::Z * 1.0_f64.copysign(direction.z);
        let mut most = f64::NEG_INFINITY;
        for (face, plane) in faces.iter().enumerate() {
            if lean(plane) >= closest - NEAR {
                most = consider(self.face_axis(face));
            }
        }
        if let Some(axis) = self.disc_axis(towards) {
            most = consider(axis);
        }
        if let Some((axis, true)) = met {
            most = consider(axis);
        }
        if most < -DEEP * self.scale {
            for face in 0..faces.len() {
                consider(self.face_axis(face));
            }
            if let Some(axis) = self.disc_axis(-towards) {
                consider(axis);
            }
        }
        best.zip(any)
    }

    fn face_axis(&self, face: usize) -> Axis {
        let (normal, offset) = self.other.plane(face);
        Axis {
            direction: -normal,
            separation: -offset - self.frustum.support(-normal),
            kind: Kind::Face(face),
        }
    }

    /// The axis of the disc that looks along `±z`, if there is one.
    fn disc_axis(&self, towards: DVec3) -> Option<Axis> {
        let (radius, _) = self.disc_towards(towards);
        let lowest = towards.dot(self.other.farthest(-towards));
        (radius > 0.0).then(|| Axis {
            direction: towards,
            separation: lowest - self.frustum.support(towards),
            kind: Kind::Disc,
        })
    }

    fn turned(&self) -> Turned<'_> {
        Turned {
            frustum: self.frustum,
            axis: DVec3::Z,
            center: DVec3::ZERO,
        }
    }

    /// A side that all but faces a face gives way to it near touch: along the edge of a face lie its points too, and what lies on
    /// flush faces lies on both.
    ///
    /// Of a triangle the sides that do so by a tenth of the angle: their ends are over it, where its edges and corners need not be. Also
    /// says how far aside the generator may then lie (m).
    fn resting_face(&self, side: &Axis) -> Option<(Axis, f64)> {
        let rests = side.separation.abs() <= 0.01 * self.scale && self.radius <= 0.0;
        if !matches!(side.kind, Kind::Side) || !rests {
            return None;
        }
        let local = self.other.rotation.transpose() * -side.direction;
        let along = |face: usize| self.other.shape.faces[face].normal.dot(local);
        // Not the back of a triangle.
        let faces = match self.cone {
            Some(_) => 0..1,
            None => 0..self.other.shape.faces.len(),
        };
        let face = faces.max_by(|a, b| along(*a).total_cmp(&along(*b)))?;
        let (like, reach) = match self.cone {
            Some(_) => (0.01 * LIKE_FACE, self.frustum.bottom.max(self.frustum.top)),
            None => (LIKE_FACE, 0.0),
        };
        let lean = 1.0 - along(face);
        let axis = self.face_axis(face);
        let deeper = side.separation.min(0.0) - axis.separation;
        let is_other = self.cone.is_none() && deeper > gives_way(side.separation, self.scale);
        (lean < like && !is_other).then(|| (axis, reach * (2.0 * lean.max(0.0)).sqrt()))
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
        let mut consider = |direction: DVec3, kind: Kind, usable: bool| {
            let separation = self.other.range(direction).0 - self.frustum.support(direction);
            if separation > limit {
                return None;
            }
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
            Some(separation)
        };
        for face in 0..self.other.shape.faces.len() {
            let (normal, _) = self.other.plane(face);
            let back = self.cone.is_some() && face == 1;
            let separation = consider(-normal, Kind::Face(face), !back)?;
            if back && separation > 0.0 {
                return None;
            }
        }
        for (radius, direction) in [
            (self.frustum.bottom, DVec3::NEG_Z),
            (self.frustum.top, DVec3::Z),
        ] {
            if radius > 0.0 {
                consider(direction, Kind::Disc, self.permits(direction))?;
            }
        }
        for direction in self.side_normals() {
            consider(direction, Kind::Side, self.permits(direction))?;
        }
        Some((best, any?))
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

    /// By projections, where the way over stationary directions fails.
    fn searched(&self, guess: DVec3) -> Option<Meeting> {
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
        let found = nearest(&frustum, &other, guess, limit, self.scale)?;
        // The search breaks down where centres coincide.
        (found.distance.is_finite() && found.direction.is_normalized()).then_some(found)
    }

    /// A direction along which the depth is less than along this one: in overlap each of several may be the best near by.
    fn elsewhere(&self, known: f64, direction: DVec3) -> Option<DVec3> {
        if self.cone.is_some() || known >= -DEEP * self.scale {
            return None;
        }
        let separation = |l: DVec3| self.other.range(l).0 - self.frustum.support(l);
        let others = likely(&self.turned(), &self.other, direction, -known);
        better_than(known, others, separation)
    }

    /// Where the bodies meet, or where they are held less deep.
    fn improved(&self, found: Meeting) -> Meeting {
        let elsewhere = |known, direction| self.elsewhere(known, direction);
        improved(found, elsewhere, |guess| self.searched(guess))
    }

    /// Closest or deepest points by search, permitted or not; `better` is a better direction than that of the best axis, if one is known.
    fn numeric(&self, any: &Axis, better: Option<DVec3>) -> Option<Meeting> {
        let limit = self.margin + self.radius;
        let frustum = self.turned();
        let near = 1e-9 * self.scale;
        let found = match Search::new(&frustum, &self.other, limit, self.scale).run() {
            Found::Apart => return None,
            Found::Exact(found) if found.distance >= any.separation - near => Some(found),
            _ => self.searched(better.unwrap_or(any.direction)),
        };
        found.map(|found| self.improved(found))
    }

    /// Puts closest or deepest points in front of what the axes gave.
    fn insert(&self, found: &Meeting, any: &Axis, patch: &mut Patch) {
        let mut found = *found;
        if found.distance <= 0.0 && found.distance < any.separation - 1e-9 * self.scale {
            // In overlap the axes may know a lesser depth than the search.
            let on_b = self.other.farthest(-any.direction);
            found = Meeting {
                on_a: on_b - any.direction * any.separation,
                on_b,
                direction: any.direction,
                distance: any.separation,
                is_tied: false,
            };
        }
        let gap = found.distance - self.radius;
        if gap > self.margin || !self.permits(found.direction) {
            return;
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
    }
}
