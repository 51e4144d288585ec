//! Convex polytopes against each other: separating axes, then clipping.
//!
//! For a unit direction `l` from A to B the separation is `s(l) = min_B l·x − max_A l·x`. It never
//! exceeds the distance, and for overlapping bodies `max_l s(l)` is minus the penetration depth.
//! The candidates are the face normals of A, the negated ones of B, and the cross products of
//! edges. Among these the largest separation is exact whenever the closest features are a face
//! and a vertex or two edges; the remaining cases (vertex–vertex, vertex–edge) exist only between
//! separated bodies and are settled by [`closest_edges`](super::closest_edges).
//!
//! Choices are biased so that rounding cannot make them flicker: face axes before edge axes, A's
//! faces before B's. An edge axis nearly parallel to the best face normal gives way to the face:
//! clipping then finds the same crossing of edges, with a gap along the face normal that differs
//! only to second order in the angle, and all other points of the face besides.
//!
//! A body with a radius (a capsule's segment) is B; gaps are those of the core less the radius.

use super::axis_search::{self, End, Search};
use super::clip::{Corner, Polygon, clip};
use super::closest_edges;
use super::cuboid_axes;
use super::cuboid_faces;
use super::overlap::{edges_overlap, overlap, reaches_into};
use super::patch::{LocalContact, Patch};
pub(crate) use super::placed::{Placed, Vertices, segment};
use super::triangle_axes;
use crate::polytope::closest_on_segments;
use crate::surface::Cone;
use glam::DVec3;
use std::ops::ControlFlow::{Break, Continue};

/// The query: contacts of A (which has faces) and B, inflated by `radius`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PolytopePair<'a> {
    pub(crate) a: Placed<'a>,
    pub(crate) b: Placed<'a>,
    /// Radius around B (m).
    pub(crate) radius: f64,
    /// Contacts with greater gaps are left out (m).
    pub(crate) margin: f64,
    /// Length that tolerances refer to (m).
    pub(crate) scale: f64,
    /// If A is a triangle of a surface, the normals it permits; face 1 is then its back.
    pub(crate) cone: Option<&'a Cone<'a>>,
}

impl PolytopePair<'_> {
    /// Bodies that rest on each other are not deeper (m). In them an axis that no axis near it betters is the one along which they touch.
    pub(super) fn is_shallow(&self, depth: f64) -> bool {
        let [a, b] = [&self.a, &self.b].map(|body| body.shape.half_thickness);
        depth <= SHALLOW * a.min(b)
    }
}

/// A candidate axis: unit direction from A to B and its separation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) direction: DVec3,
    pub(crate) separation: f64,
    pub(super) face: usize,
}

/// The best candidates of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Axes {
    pub(super) face_a: Option<Axis>,
    pub(super) face_b: Option<Axis>,
    pub(super) edges: Option<Axis>,
    /// The best of all, permitted or not.
    pub(super) any: Option<Axis>,
    /// Separation from the back of a triangle.
    pub(super) back: Option<f64>,
    /// No less than the distance of the bodies, where that is known.
    pub(super) distance: Option<f64>,
    /// The edges of A and B that the axis across edges belongs to, where that is known.
    pub(super) crossing: Option<[usize; 2]>,
}

impl Axes {
    /// Takes an axis across two edges into account. `None` if it separates by more than `limit` (m);
    /// differences up to `tie` (m) count as none.
    pub(super) fn try_edges(&mut self, axis: Axis, limit: f64, tie: f64) -> Option<()> {
        if axis.separation > limit {
            return None;
        }
        let better = |known: &Option<Axis>| {
            known.is_none_or(|known| axis.separation > known.separation + tie)
        };
        if better(&self.any) {
            self.any = Some(axis);
        }
        if better(&self.edges) {
            self.edges = Some(axis);
        }
        Some(())
    }
}

/// Corners so far outside of a face, relative to the size of the bodies, count as inside: edges that were put
/// flush are not cut, and the points keep their numbers, while the bodies creep by less.
pub(super) const FLUSH: f64 = 1e-5;
/// By how much, relative to the size of the bodies, a face of B must be better than one of A; an edge by a tenth of it.
pub(super) const BIAS: f64 = 1e-8;
/// Squared sine below which two edges have no cross product to speak of.
pub(super) const PARALLEL: f64 = 1e-12;
/// Cosine above which an edge axis gives way to the best face (0.6°).
const NEAR_FACE: f64 = 0.999_95;

/// Of bodies in overlap an edge, or a side, does so unless the face is deeper by this part of the size of the bodies, and by this part of the depth: what lies deeper along the face is then another point, far from the
/// crossing.
const GIVES_WAY: [f64; 2] = [1e-3, 0.5];

/// By how much less deep than the best axis says, relative to the size of the bodies, the points along a face may be: more than what [`NEAR_FACE`] makes of it, `½ (0.6°)²`.
const MISSED: f64 = 1e-4;

/// Difference of two cosines that is rounding.
const EQUAL: f64 = 1e-14;

/// Overlap of bodies that rest on each other, as a part of the thinner half-thickness, at most.
const SHALLOW: f64 = 0.05;

/// A triangle that is part of a surface may be separated from the other body, or touch it least,
/// along an axis that belongs to a neighbour and that the neighbour reports. The depth along the
/// axes left to the triangle then says nothing, unless the depth along the best one, permitted or
/// not, is of the same order: as for a corner that dips into flat ground near an edge, where every
/// triangle is left through that edge first. The factor covers corners that lean by 86°.
pub(crate) const DEPTH_RATIO: f64 = 16.0;

/// The least separation along a permitted axis that counts, if the best axis of all has the
/// separation `best`.
pub(crate) fn least_trusted(best: f64, scale: f64) -> f64 {
    DEPTH_RATIO * best.min(0.0) - 1e-8 * scale
}

/// Appends the contacts with gap ≤ margin. Of bodies that are searched and have none, the direction from A to B of a plane between them, `known` being one to begin with.
pub(crate) fn contact(
    pair: &PolytopePair<'_>,
    known: Option<DVec3>,
    patch: &mut Patch,
) -> Option<DVec3> {
    let halves = (pair.a.shape.half_extents, pair.b.shape.half_extents);
    let found = match halves {
        (Some(a), Some(b)) if pair.a.is_at_rest() => cuboid_axes::axes(pair, a, b),
        _ if is_searched(pair) => {
            return match known.filter(|direction| axis_search::is_beyond(pair, *direction)) {
                None => searched(pair, patch),
                known => known,
            };
        }
        _ => match pair.cone {
            Some(cone) => triangle_axes::axes(pair, cone),
            None => separating_axes(pair),
        },
    };
    if let Some(axes) = found {
        along(pair, &axes, true, patch);
    }
    None
}

/// By how much deeper (m) than along an edge or a side, with this separation (m), bodies of this size (m) in overlap may be along the face that it gives way to.
pub(super) fn gives_way(separation: f64, scale: f64) -> f64 {
    let [of_size, of_depth] = GIVES_WAY;
    (of_size * scale).max(of_depth * -separation)
}

/// The searches, each from what the one before found.
const SEARCHES: [Search; 5] = [
    Search::Shrunk,
    Search::Moved(1e-3),
    Search::Moved(1e-4),
    Search::Moved(1e-4),
    Search::Whole,
];

/// Appends the contacts along an axis that is searched for, or says along which the bodies are apart.
fn searched(pair: &PolytopePair<'_>, patch: &mut Patch) -> Option<DVec3> {
    let start = patch.len();
    let mut last: Option<Axes> = None;
    for search in SEARCHES {
        match axis_search::axes(pair, search, last.as_ref()) {
            Break(End::Apart(direction)) => return Some(direction),
            Break(End::Last) => {
                if let Some(axes) = last {
                    along(pair, &axes, true, patch);
                    try_shallower(pair, &axes, start, patch);
                }
                return None;
            }
            Continue(axes) => {
                if along(pair, &axes, axes.distance.is_some(), patch) {
                    try_shallower(pair, &axes, start, patch);
                    return None;
                }
                patch.truncate(start);
                last = Some(axes);
            }
        }
    }
    None
}

/// Of bodies that overlap no axis near the best one is better, but one far from it may be: a corner that has come over an edge is held by either face. Contacts from `start` on
/// give way to those along a face that holds the bodies less deep.
fn try_shallower(pair: &PolytopePair<'_>, axes: &Axes, start: usize, patch: &mut Patch) {
    let known = axes.any.filter(|any| any.separation < 0.0);
    let better = known.and_then(|any| {
        let face = shallower_face(pair, &any);
        let far = axis_search::elsewhere(pair, &face.unwrap_or(any));
        far.or(face)
    });
    let Some(Continue(axes)) = better.map(|face| axis_search::about(pair, face.direction)) else {
        return;
    };
    let Some(first) = patch.get(start).copied() else {
        return;
    };
    patch.truncate(start);
    along(pair, &axes, true, patch);
    if patch.len() == start {
        patch.push(first);
    }
}

/// The face that holds overlapping bodies least deep, if that is less than along `axis`. A plane holds no body farther out than any of its points is.
fn shallower_face(pair: &PolytopePair<'_>, axis: &Axis) -> Option<Axis> {
    let tie = BIAS * pair.scale;
    let mut best: Option<Axis> = None;
    for (body, other, sign) in [(&pair.a, &pair.b, 1.0), (&pair.b, &pair.a, -1.0)] {
        let point = other.farthest(axis.direction * -sign) - body.translation;
        let local = body.rotation.transpose() * point;
        for (face, plane) in body.shape.faces.iter().enumerate() {
            let least = best.map_or(axis.separation, |best| best.separation) + tie;
            if plane.normal.dot(local) - plane.offset <= least {
                continue;
            }
            let (normal, offset) = body.plane(face);
            let separation = normal.dot(other.farthest(-normal)) - offset;
            if separation > least {
                best = Some(Axis {
                    direction: normal * sign,
                    separation,
                    face,
                });
            }
        }
    }
    best
}

/// The best axis that is found without looking at the points along it: of cuboids and small polytopes the best of all.
pub(crate) fn plane(pair: &PolytopePair<'_>) -> Option<Axis> {
    let halves = (pair.a.shape.half_extents, pair.b.shape.half_extents);
    let found = match halves {
        (Some(a), Some(b)) if pair.a.is_at_rest() => cuboid_axes::axes(pair, a, b),
        _ if is_searched(pair) => match axis_search::axes(pair, Search::Shrunk, None) {
            Continue(axes) => Some(axes),
            Break(_) => None,
        },
        _ => separating_axes(pair),
    };
    found?.any
}

/// Products of edges beyond this number are not tried one by one.
const MOST_EDGE_AXES: usize = 16;

fn is_searched(pair: &PolytopePair<'_>) -> bool {
    let [a, b] = [&pair.a, &pair.b].map(|body| body.shape.directions.len());
    pair.cone.is_none() && a * b > MOST_EDGE_AXES
}

/// Appends the contacts along the best of the axes. Unless these are `all` that can be the best: false if there may be a better one.
fn along(pair: &PolytopePair<'_>, axes: &Axes, all: bool, patch: &mut Patch) -> bool {
    let Some(any) = axes.any else { return true };
    let bias = BIAS * pair.scale;
    let floor = if pair.cone.is_some() {
        let best = axes
            .back
            .map_or(any.separation, |back| back.max(any.separation));
        least_trusted(best, pair.scale)
    } else {
        f64::NEG_INFINITY
    };
    let face = match (axes.face_a, axes.face_b) {
        (Some(a), Some(b)) if b.separation > a.separation + bias => Some((b, true)),
        (Some(a), _) => Some((a, false)),
        (None, b) => b.map(|axis| (axis, true)),
    };
    // Apart, only near touch do many points of one face matter more than the exact direction.
    let resting = pair.radius <= 0.0 && any.separation <= 0.01 * pair.scale;
    let edges = axes.edges.filter(|edge| {
        // Bars and hooks that hang in each other are held by all points of a face, however deep: along one crossing they sink in.
        let deeper = if is_searched(pair) {
            gives_way(edge.separation, pair.scale)
        } else {
            f64::INFINITY
        };
        face.is_none_or(|(face, _)| {
            let more = edge.separation - face.separation;
            let like_face = edge.direction.dot(face.direction) >= NEAR_FACE
                && (any.separation > 0.0 || more <= deeper);
            more > 0.1 * bias && !(resting && like_face)
        })
    });
    let separated = any.separation > 0.0;
    if let (Some(edge), false) = (edges, separated) {
        if edge.separation >= floor {
            crossing_edges(pair, &edge, patch);
        }
        if !patch.is_empty() {
            return all || overlap(pair, patch);
        }
    }
    let start = patch.len();
    // Of bodies that are apart no two points are closer than the best axis says: what is lower lies behind the body of the face.
    let floor = if separated {
        floor.max(any.separation - bias)
    } else {
        floor
    };
    let least = face.map_or(f64::INFINITY, |(axis, of_b)| {
        face_contacts(pair, &axis, of_b, floor, patch)
    });
    // The face's nearest point realises the best separation: nothing can be nearer.
    let slack = if resting { 1e-4 } else { 0.0 };
    let exact = least + pair.radius <= any.separation * (1.0 + slack) + 2.0 * bias;
    if !separated {
        // Overlap: the deepest point of B is over the face, save for rounding.
        let best = face.map_or(any, |(axis, _)| axis);
        if patch.is_empty() && pair.cone.is_none() {
            deepest_vertex(pair, best, patch);
        }
        let better = axes.edges.map_or(f64::NEG_INFINITY, |edge| edge.separation);
        let known = any.separation <= best.separation.max(better) + 2.0 * bias;
        let deepest = known && least + pair.radius <= best.separation + 2.0 * bias;
        let is_best = all
            || deepest && (overlap(pair, patch) || reaches_into(pair, face, patch))
            || known && best.separation < better && edges_overlap(pair, axes);
        // Edges that cross beside the face that both bodies show there, or a corner, may be what lies deepest.
        let is_missed = least + pair.radius > any.separation + MISSED * pair.scale;
        if is_best && is_missed && pair.cone.is_none() {
            match axes.edges {
                Some(edge) => crossing_edges(pair, &edge, patch),
                None if least.is_finite() => deepest_vertex(pair, best, patch),
                None => {}
            }
        }
        return is_best;
    }
    if !exact && !all {
        return false;
    }
    if !exact {
        let limit = pair.margin + pair.radius;
        let limit = axes.distance.map_or(limit, |distance| {
            limit.min(distance * (1.0 + 1e-9) + 1e-9 * pair.scale)
        });
        closest_edges::contact(pair, any.direction, any.separation, limit, patch);
        drop_far_faces(
            patch,
            start,
            face.map(|(axis, _)| axis.direction),
            pair.scale,
        );
    }
    true
}

/// All axes of two solids, or `None` if one of them separates by more than the margin.
pub(super) fn separating_axes(pair: &PolytopePair<'_>) -> Option<Axes> {
    let limit = pair.margin + pair.radius;
    let tie = 1e-12 * pair.scale;
    let mut axes = Axes::default();
    let better = |known: &Option<Axis>, separation: f64| {
        known.is_none_or(|axis| separation > axis.separation + tie)
    };
    for face in 0..pair.a.shape.faces.len() {
        let (direction, offset) = pair.a.plane(face);
        let separation = pair.b.range(direction).0 - offset;
        if separation > limit {
            return None;
        }
        let axis = Axis {
            direction,
            separation,
            face,
        };
        if better(&axes.face_a, separation) {
            axes.face_a = Some(axis);
        }
        if better(&axes.any, separation) {
            axes.any = Some(axis);
        }
    }
    for face in 0..pair.b.shape.faces.len() {
        let (normal, offset) = pair.b.plane(face);
        let separation = pair.a.range(normal).0 - offset;
        if separation > limit {
            return None;
        }
        let axis = Axis {
            direction: -normal,
            separation,
            face,
        };
        if better(&axes.any, separation) {
            axes.any = Some(axis);
        }
        if better(&axes.face_b, separation) {
            axes.face_b = Some(axis);
        }
    }
    for &u in pair.a.shape.directions {
        for &v in pair.b.shape.directions {
            let common = (pair.a.rotation * u).cross(pair.b.rotation * v);
            if common.length_squared() < PARALLEL {
                continue;
            }
            let l = common / common.length_squared().sqrt();
            let (a_low, a_high) = pair.a.range(l);
            let (b_low, b_high) = pair.b.range(l);
            for (direction, separation) in [(l, b_low - a_high), (-l, a_low - b_high)] {
                let axis = Axis {
                    direction,
                    separation,
                    face: 0,
                };
                axes.try_edges(axis, limit, tie)?;
            }
        }
    }
    Some(axes)
}

/// Face of the reference against the most opposed face (or the segment) of the other: the
/// incident polygon is clipped to the prism over the reference face. Returns the least gap.
/// Heights of the core below `floor` are left out.
fn face_contacts(
    pair: &PolytopePair<'_>,
    axis: &Axis,
    of_b: bool,
    floor: f64,
    patch: &mut Patch,
) -> f64 {
    let (reference, incident) = if of_b {
        (&pair.b, &pair.a)
    } else {
        (&pair.a, &pair.b)
    };
    let tolerance = FLUSH * pair.scale;
    let key = (u64::from(of_b) << 62) | ((axis.face as u64) << 44);
    let mut least = f64::INFINITY;
    let mut found = |point: DVec3, height: f64, id: u64| {
        if height < floor {
            return;
        }
        let gap = height - pair.radius;
        least = least.min(gap);
        if gap <= pair.margin {
            patch.push(LocalContact {
                point,
                normal: axis.direction,
                gap,
                feature: key | id,
            });
        }
    };
    if let (Some(half), Some(other)) = (reference.shape.half_extents, incident.shape.half_extents) {
        let (reference, incident) = ((reference, half), (incident, other));
        cuboid_faces::corners(reference, axis.face, incident, tolerance, found);
        return least;
    }
    let (normal, offset) = reference.plane(axis.face);
    let mut buffers = [
        incident_polygon(incident, normal, pair.scale),
        Polygon::new(),
    ];
    let [polygon, spare] = &mut buffers;
    let (mut polygon, mut spare) = (polygon, spare);
    let corners = reference.shape.loop_of(axis.face);
    for (k, &i) in corners.iter().enumerate() {
        let from = reference.vertex(i);
        let to = reference.vertex(corners[(k + 1) % corners.len()]);
        let across = (to - from).cross(normal).normalize_or_zero();
        let offset = across.dot(from);
        let height = |corner: &Corner| across.dot(corner.position) - offset;
        if clip(polygon, height, k, tolerance, spare) {
            std::mem::swap(&mut polygon, &mut spare);
        }
    }
    for corner in polygon.iter() {
        let height = normal.dot(corner.position) - offset;
        let point = corner.position - normal * (0.5 * (height + pair.radius));
        found(point, height, corner.id);
    }
    least
}

/// The face most opposed to `normal` among those that reach the lowest vertex; the whole segment
/// for a body without faces.
fn incident_polygon(incident: &Placed<'_>, normal: DVec3, scale: f64) -> Polygon {
    let label = |(k, i): (u64, u32)| Corner {
        position: incident.vertex(i),
        id: u64::from(i),
        edge: k,
    };
    if incident.shape.faces.is_empty() {
        return (0..)
            .zip(0..incident.vertices().len() as u32)
            .map(label)
            .collect();
    }
    let low = normal.dot(incident.farthest(-normal)) + 1e-9 * scale;
    let reaches = |face: usize| {
        let mut corners = incident.shape.loop_of(face).iter();
        corners.any(|&i| normal.dot(incident.vertex(i)) <= low)
    };
    let local = incident.rotation.transpose() * -normal;
    let most = incident.shape.facing(local, 1e-9);
    // Faces that lean by a hundredth of a milliradian from it are among these.
    let opposed = |face: usize| local.dot(incident.shape.faces[face].normal);
    let most = most.into_iter().filter(|face| reaches(*face));
    let face = most.reduce(|best, face| {
        if opposed(face) > opposed(best) + EQUAL {
            face
        } else {
            best
        }
    });
    let face = face.unwrap_or_else(|| {
        let mut best = (f64::NEG_INFINITY, 0);
        for (k, face) in incident.shape.faces.iter().enumerate() {
            let opposed = local.dot(face.normal);
            if opposed > best.0 + 1e-9 && reaches(k) {
                best = (opposed, k);
            }
        }
        best.1
    });
    (0..)
        .zip(incident.shape.loop_of(face).iter().copied())
        .map(label)
        .collect()
}

/// Overlap along an edge axis: the closest points of the two edges that touch.
fn crossing_edges(pair: &PolytopePair<'_>, axis: &Axis, patch: &mut Patch) {
    let l = axis.direction;
    let near = 1e-9 * pair.scale;
    let a_high = pair.a.range(l).1 - near;
    let b_low = pair.b.range(l).0 + near;
    let (edge_a, edge_b) = (pair.a.edges(), pair.b.edges());
    let mut best: Option<(f64, LocalContact)> = None;
    for i in 0..pair.a.shape.edges.len() {
        let [p0, p1] = edge_a(i);
        if l.dot(p0) < a_high || l.dot(p1) < a_high {
            continue;
        }
        for j in 0..pair.b.shape.edges.len() {
            let [q0, q1] = edge_b(j);
            if l.dot(q0) > b_low || l.dot(q1) > b_low {
                continue;
            }
            let (_, _, p, q) = closest_on_segments(p0, p1, q0, q1);
            let square = (q - p).length_squared();
            let gap = axis.separation - pair.radius;
            if best.is_none_or(|(known, _)| square < known - near * near) && gap <= pair.margin {
                best = Some((
                    square,
                    LocalContact {
                        point: 0.5 * (p + q - l * pair.radius),
                        normal: l,
                        gap,
                        feature: edge_feature(i, j),
                    },
                ));
            }
        }
    }
    patch.extend(best.map(|(_, contact)| contact));
}

/// Number of a contact between edge `i` of A and edge `j` of B.
pub(crate) fn edge_feature(i: usize, j: usize) -> u64 {
    (1 << 63) | ((i as u64) << 20) | j as u64
}

/// Last resort in overlap: the vertex of B deepest along the axis.
fn deepest_vertex(pair: &PolytopePair<'_>, axis: Axis, patch: &mut Patch) {
    let l = axis.direction;
    let gap = axis.separation - pair.radius;
    let low = pair.b.range(l).0 + 1e-9 * pair.scale;
    let deepest = pair.b.vertices().iter().position(|v| l.dot(*v) <= low);
    if let (Some(i), true) = (deepest, gap <= pair.margin) {
        patch.push(LocalContact {
            point: pair.b.vertices()[i] - l * (0.5 * (axis.separation + pair.radius)),
            normal: l,
            gap,
            feature: (3 << 62) | i as u64,
        });
    }
}

/// After the true closest points were appended behind the face's contacts: the face keeps those
/// that are elsewhere and whose normal is not far from the true one.
fn drop_far_faces(patch: &mut Patch, start: usize, face: Option<DVec3>, scale: f64) {
    let Some(direction) = face else { return };
    let closest = patch
        .iter()
        .skip(start)
        .find(|contact| contact.feature & super::closest_edges::MARK != 0)
        .copied();
    let Some(closest) = closest else { return };
    let aligned = closest.normal.dot(direction) > 0.5;
    patch.retain(|contact| {
        contact.feature & super::closest_edges::MARK != 0
            || (aligned && (contact.point - closest.point).length() > 0.05 * scale)
    });
}
