//! Faces that lie open, and those that another solid covers.
//!
//! Tiles of a floor, and parts of a compound, have edges and sides that nothing can touch: the next one is there. A normal of a contact is one of
//! what they are together, the limit of normals of its open surface. The edge of a flush tile has that of its face alone; the side of a higher one is open, and
//! the wall in a corner is, though it ends on the floor.

use super::path::{SAME_FACE, tolerance};
use crate::bodies::Bodies;
use crate::bodies::constants::BodyConstants;
use crate::bodies::slot::Slot;
use crate::components::Pose;
use glam::DVec3;
use moreau_geometry::query::{ConvexPart, Face, closest_point, convex_part, is_near, parts_near};
use moreau_geometry::{ContactPoint, Frame, Geometry, Shape};
use smallvec::SmallVec;

/// How far around a point a face is looked at whether it lies open, as a multiple of the overlap at which bodies meet.
const AROUND: f64 = 10.0;
/// Depth of the other body below an open face up to which it acts along that, in the same unit: twice what the projection leaves.
const TOUCHES: f64 = 20.0;
/// Cosine of the angle between the axis of a cylinder and what is across it: rounding.
const ACROSS: f64 = 1e-9;
/// Sine of the angle by which a normal may lean towards what is covered: bodies that rock a little keep their points.
const LEANS: f64 = 1e-4;

/// Contact points of a pair whose normals are not those of an open surface get such a normal, and the gap along it, or go. Of a pair that is `followed` to where it
/// meets only those go that touch: the others tell how far it may go.
pub(super) fn put_on_surface(
    (pair, constants, poses): ([Slot; 2], [&BodyConstants; 2], [&Pose; 2]),
    bodies: &Bodies,
    followed: bool,
    points: &mut Vec<ContactPoint>,
) {
    if points.is_empty() || bodies.abutting.is_empty() && !bodies.some_have_parts {
        return;
    }
    let sides = [0, 1].map(|side| Side {
        slot: pair[side],
        body: constants[side],
        pose: constants[side].shape_pose(poses[side]),
        outwards: if side == 0 { -1.0 } else { 1.0 },
        abuts: bodies.abutting.on(pair[side]).next().is_some(),
    });
    let has_covered = |side: &usize| sides[*side].body.has_parts() || sides[*side].abuts;
    if ![0, 1].iter().any(has_covered) {
        return;
    }
    let against = |side: usize| Against {
        own: &sides[side],
        other: &sides[1 - side],
        bodies,
        followed,
        tolerance: tolerance(constants),
    };
    let normal = |point: &ContactPoint, side: usize| {
        let parts = ContactPoint::parts(point.feature);
        against(side).normal(point, [parts[side], parts[1 - side]])
    };
    let is_open = |point: &ContactPoint| {
        let mut sides = [0, 1].into_iter().filter(has_covered);
        sides.all(|side| matches!(normal(point, side), Normal::Open))
    };
    let mut kept = 0;
    for number in 0..points.len() {
        let mut point = points[number];
        let mut stays = true;
        let mut moved = None;
        for (look, side) in [0, 1, 0].into_iter().enumerate() {
            // What is put on a plane of the second body may lean on the first.
            if look == 2 && moved != Some(1) || !has_covered(&side) {
                continue;
            }
            match normal(&point, side) {
                Normal::Open => {}
                Normal::Moved(to) if moved.is_none() => {
                    point = to;
                    moved = Some(side);
                }
                // On the plane of one body it is no point of the other.
                Normal::Covered | Normal::Moved(_) => stays = false,
            }
            if !stays {
                break;
            }
        }
        // A face that lies open where the bodies meet is one of the surface, and has all its points.
        if !stays && moved.is_none() {
            let of_face = |other: &&ContactPoint| {
                let of = |point: &ContactPoint| ContactPoint::parts(point.feature);
                of(other) == of(&point) && other.normal.dot(point.normal) > SAME_FACE
            };
            stays = points.iter().filter(of_face).any(is_open);
        }
        if stays {
            points[kept] = point;
            kept += 1;
        }
    }
    points.truncate(kept);
}

/// One body of a pair, where it is.
struct Side<'a> {
    slot: Slot,
    body: &'a BodyConstants,
    pose: Frame,
    /// Sign with which the normal of a contact points out of the body.
    outwards: f64,
    /// Something is flush with it, and one solid with it.
    abuts: bool,
}

impl Side<'_> {
    /// Radius (m) of what is round across all of these directions.
    fn round(&self, directions: &[DVec3]) -> Option<f64> {
        match self.body.geometry.as_ref()?.shape() {
            Shape::Sphere { radius } | Shape::Capsule { radius, .. } => Some(*radius),
            Shape::Cylinder { radius, .. } => {
                let axis = self.pose.rotate(DVec3::Z);
                let is_across = |direction: &DVec3| axis.dot(*direction).abs() <= ACROSS;
                directions.iter().all(is_across).then_some(*radius)
            }
            _ => None,
        }
    }
}

/// A body against the other one of its pair.
struct Against<'a> {
    own: &'a Side<'a>,
    other: &'a Side<'a>,
    bodies: &'a Bodies,
    /// To where the two meet.
    followed: bool,
    /// Overlap at which the two meet, m.
    tolerance: f64,
}

/// What the normal of a contact point is.
enum Normal {
    /// One of the open surface.
    Open,
    /// None of it, nor is there one near.
    Covered,
    /// The point with that of an open face.
    Moved(ContactPoint),
}

impl Against<'_> {
    fn normal(&self, point: &ContactPoint, parts: [Option<usize>; 2]) -> Normal {
        let (own, other) = (self.own, self.other);
        let [part, other_part] = parts;
        let part = part.filter(|part| own.body.has_parts() && *part + 1 < ContactPoint::MOST_PARTS);
        let other_part = other_part.filter(|_| other.body.has_parts());
        let Some(geometry) = own.body.geometry.as_ref() else {
            return Normal::Open;
        };
        let normal = point.normal * own.outwards;
        let foot = point.point - normal * (0.5 * point.gap);
        if own.body.has_parts() && part.is_none() {
            return Normal::Open;
        }
        let around = self.around(geometry, foot, part);
        if around.is_empty() {
            return Normal::Open;
        }
        let solid = convex_part(geometry, &own.pose, part);
        let at_foot = || {
            let faces = solid.iter().flat_map(ConvexPart::faces);
            faces.filter(|face| face.height(foot).abs() <= self.tolerance)
        };
        let mut towards = at_foot().filter(|face| normal.dot(face.normal) > LEANS);
        if towards.all(|face| self.is_open(&face, foot, &around)) {
            return Normal::Open;
        }
        let (mut open, mut only, mut along) = (0, normal, normal);
        for face in at_foot() {
            if self.is_open(&face, foot, &around) {
                (open, only) = (open + 1, face.normal);
            } else {
                along -= face.normal * along.dot(face.normal).max(0.0);
            }
        }
        let to = match open {
            0 => None,
            1 => Some(only),
            _ => along.try_normalize(),
        };
        let touched = point.point + normal * (0.5 * point.gap);
        let touches = point.gap.abs() <= TOUCHES * self.tolerance;
        let along = to.filter(|to| normal.dot(*to) > LEANS || touches);
        let moved = along.and_then(|to| self.moved(point, (foot, touched), to, other_part));
        match moved {
            Some(moved) => Normal::Moved(moved),
            // Behind the open face they do not touch.
            None if touches && to.is_none_or(|to| normal.dot(to) <= LEANS) => Normal::Covered,
            None if !self.followed && self.is_nearer_to_others(touched, point.gap) => {
                Normal::Covered
            }
            None => Normal::Open,
        }
    }

    /// The point with the normal `to`, outwards, if a plane across that lies between the two.
    fn moved(
        &self,
        point: &ContactPoint,
        (foot, mut touched): (DVec3, DVec3),
        to: DVec3,
        other_part: Option<usize>,
    ) -> Option<ContactPoint> {
        let (own, other) = (self.own, self.other);
        // On what is round another point is the nearest.
        let round = other.round(&[point.normal, to]);
        if let Some(radius) = round {
            touched += (point.normal * own.outwards - to) * radius;
        }
        let shape = other.body.geometry.as_ref()?;
        let nearest = convex_part(shape, &other.pose, other_part)?.farthest(-to);
        if to.dot(nearest - foot) < point.gap.min(0.0) - TOUCHES * self.tolerance {
            return None;
        }
        if round.is_none() && other.body.is_round() {
            if self.is_of_flush((foot, touched), to, point) {
                return None;
            }
            if to.dot(touched - nearest) > self.tolerance {
                touched = nearest;
            }
        }
        let gap = to.dot(touched - foot);
        Some(ContactPoint {
            point: touched - to * (0.5 * gap),
            normal: to * own.outwards,
            gap,
            ..*point
        })
    }

    /// A face of what abuts goes on in the plane across `to` through the foot, and the point that touches is as near to that, or touches: it has its own points there.
    fn is_of_flush(
        &self,
        (foot, touched): (DVec3, DVec3),
        to: DVec3,
        point: &ContactPoint,
    ) -> bool {
        let touches = point.gap.abs() <= TOUCHES * self.tolerance;
        let goes_on = |shape: &Geometry, pose: &Frame, part: Option<usize>| {
            let solid = convex_part(shape, pose, part);
            let mut faces = solid.iter().flat_map(ConvexPart::faces);
            faces.any(|face| {
                face.normal.dot(to) > SAME_FACE && face.height(foot).abs() <= self.tolerance
            })
        };
        let is_as_near = |shape: &Geometry, pose: &Frame| {
            let nearest = closest_point(shape, pose, touched, f64::INFINITY);
            let nearest = nearest.ok().flatten();
            touches || nearest.is_some_and(|hit| hit.distance < point.gap + self.tolerance)
        };
        let within = point.gap.max(0.0) + AROUND * self.tolerance;
        let mut others = self.others((touched, within));
        if others.any(|(shape, pose)| goes_on(shape, &pose, None) && is_as_near(shape, &pose)) {
            return true;
        }
        let part = ContactPoint::parts(point.feature)[usize::from(self.own.outwards > 0.0)];
        let own = self.own.body.geometry.as_ref();
        own.is_some_and(|own| {
            let mut others = self.other_parts_near(own, part, (touched, within));
            others.any(|other| goes_on(own, &self.own.pose, Some(other)))
        })
    }

    /// A point of the other body is nearer to what abuts than by the gap (m): that has a contact of its own. Parts of one body are followed together.
    fn is_nearer_to_others(&self, touched: DVec3, gap: f64) -> bool {
        let mut others = self.others((touched, gap.max(0.0)));
        others.any(|(shape, pose)| {
            let nearest = closest_point(shape, &pose, touched, f64::INFINITY);
            let nearest = nearest.ok().flatten();
            nearest.is_some_and(|hit| hit.distance < gap - self.tolerance)
        })
    }

    /// What may cover the body at the foot of a contact with one of its parts.
    fn around<'a>(
        &'a self,
        geometry: &'a Geometry,
        foot: DVec3,
        part: Option<usize>,
    ) -> SmallVec<[ConvexPart<'a>; 4]> {
        let within = (AROUND + 2.0) * self.tolerance;
        let own = &self.own.pose;
        let parts = self.other_parts_near(geometry, part, (foot, within));
        let parts = parts.filter_map(|part| convex_part(geometry, own, Some(part)));
        let mut around: SmallVec<[ConvexPart; 4]> = parts.collect();
        if !self.own.abuts {
            return around;
        }
        for (shape, pose) in self.others((foot, within)) {
            let solid = |part| convex_part(shape, &pose, part);
            if is_near(shape, &pose, foot, within) {
                around.extend(solid(None));
            }
            let parts = parts_near(shape, &pose, foot, within);
            around.extend(parts.filter_map(|part| solid(Some(part))));
        }
        around
    }

    /// Parts of the body other than this one, if it is one of parts.
    fn other_parts_near<'a>(
        &self,
        own: &'a Geometry,
        part: Option<usize>,
        (point, within): (DVec3, f64),
    ) -> impl Iterator<Item = usize> + use<'a> {
        let parts = parts_near(own, &self.own.pose, point, within);
        parts.filter(move |other| part.is_some_and(|part| part != *other))
    }

    /// What abuts, where it is then, if the other body may touch it: all that is no farther from a point than that (m), and some more.
    fn others(&self, (point, within): (DVec3, f64)) -> impl Iterator<Item = (&Geometry, Frame)> {
        let own = self.own.body.shape_pose(&self.bodies.pose[self.own.slot]);
        let moved = own != self.own.pose;
        let abutting = self.bodies.abutting.on(self.own.slot);
        let near = abutting.filter(move |next| moved || next.bounds.is_within(point, within));
        near.filter_map(move |next| {
            let body = &self.bodies.constants[next.slot];
            let shape = body.geometry.as_ref();
            let shape = shape.filter(|_| self.bodies.may_touch([self.other.slot, next.slot]))?;
            let pose = body.shape_pose(&self.bodies.pose[next.slot]);
            // It moves as the body does.
            let then = || self.own.pose.compose(&own.relative(&pose));
            Some((shape, if moved { then() } else { pose }))
        })
    }

    /// Some of the face around a point is not covered by any of these.
    fn is_open(&self, face: &Face, point: DVec3, around: &[ConvexPart]) -> bool {
        let is_covered = |place: DVec3| around.iter().any(|solid| solid.holds(place));
        let places = face.around(point, AROUND * self.tolerance);
        places
            .map(|place| place + face.normal * (2.0 * self.tolerance))
            .any(|place| !is_covered(place))
    }
}
