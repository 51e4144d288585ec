//! A face of one cuboid against the facing one of another.
//!
//! Finds what [`separating_axis`](super::separating_axis) finds for the faces of any two polytopes, up to rounding and
//! under the same numbers, in the frame of the cuboid whose face it is: there the planes of the clipping
//! are constant coordinates, and the corners of the other cuboid sums of its axes.

use super::clip::{Corner, Polygon, clip};
use super::cuboid_axes::FACE_AXES;
use super::separating_axis::Placed;
use glam::{DMat3, DVec3};

/// Clips the facing face of `incident` to the prism over a face of `reference`, and calls `found` for every corner of
/// what is left: with the point halfway between the face and the corner, the height (m) of the corner above the face, and its
/// number. Both cuboids come with their half extents (m). Corners up to `tolerance` (m) outside count as inside.
pub(super) fn corners(
    reference: (&Placed<'_>, DVec3),
    face: usize,
    incident: (&Placed<'_>, DVec3),
    tolerance: f64,
    mut found: impl FnMut(DVec3, f64, u64),
) {
    let (reference, half) = (reference.0, reference.1.to_array());
    let back = reference.rotation.transpose();
    let turn = back * incident.0.rotation;
    let shift = back * (incident.0.translation - reference.translation);
    let axis = FACE_AXES[face / 2];
    let sign = if face.is_multiple_of(2) { 1.0 } else { -1.0 };

    let [polygon, spare] = &mut [Polygon::new(), Polygon::new()];
    let (mut polygon, mut spare) = (polygon, spare);
    let facing = facing(&turn, axis, sign);
    let own = incident.0.shape.loop_of(facing);
    polygon.extend((0..).zip(own).map(|(edge, i)| Corner {
        position: shift + turn * vertex(*i, incident.1),
        id: u64::from(*i),
        edge,
    }));
    let loops = reference.shape.loop_of(face);
    for (k, from) in loops.iter().enumerate() {
        let to = loops[(k + 1) % loops.len()];
        // Along an edge two coordinates stay: that of the face, and the one that the plane keeps constant.
        let across = (0..3).find(|b| *b != axis && (from ^ to) >> b & 1 == 0);
        let Some(across) = across else { continue };
        let side = if from >> across & 1 == 1 { 1.0 } else { -1.0 };
        let reach = half[across];
        let height = |corner: &Corner| side * corner.position.to_array()[across] - reach;
        if clip(polygon, height, k, tolerance, spare) {
            std::mem::swap(&mut polygon, &mut spare);
        }
    }
    for corner in polygon.iter() {
        let mut point = corner.position.to_array();
        let height = sign * point[axis] - half[axis];
        point[axis] -= sign * 0.5 * height;
        let point = reference.translation + reference.rotation * DVec3::from_array(point);
        found(point, height, corner.id);
    }
}

/// Vertex `i` of a cuboid: bit `b` tells the side along axis `b`.
fn vertex(i: u32, half: DVec3) -> DVec3 {
    let side = |bit: u32, half: f64| if i & bit == 0 { -half } else { half };
    DVec3::new(side(1, half.x), side(2, half.y), side(4, half.z))
}

/// The face of a cuboid with the axes `turn` that is most opposed to the direction `sign` of a coordinate axis.
fn facing(turn: &DMat3, axis: usize, sign: f64) -> usize {
    let columns = [turn.x_axis, turn.y_axis, turn.z_axis].map(|column| column.to_array()[axis]);
    let mut best = (f64::INFINITY, 0);
    for (face, own) in (0..).step_by(2).zip(FACE_AXES) {
        let along = sign * columns[own];
        for (side, opposed) in [along, -along].into_iter().enumerate() {
            if opposed < best.0 - 1e-9 {
                best = (opposed, face + side);
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use crate::contact::cuboid_axes::tests::for_each_pair;
    use crate::contact::patch::Patch;
    use crate::contact::separating_axis::{FLUSH, contact};

    /// Rounding of heights, normals and gaps (m): sums of some dozens of products of lengths of up to 2 m.
    const ROUNDING: f64 = 100.0 * f64::EPSILON;
    /// That of the place where an edge crosses a plane which it hardly leaves.
    const CROSSING: f64 = ROUNDING / FLUSH;

    #[test]
    fn the_contacts_of_faces_are_those_of_any_two_polytopes() {
        let mut points = 0;
        for_each_pair(|case, pair| {
            let (mut fast, mut general) = (Patch::new(), Patch::new());
            contact(pair, &mut fast);
            let mut pair = *pair;
            pair.a.shape.half_extents = None;
            pair.b.shape.half_extents = None;
            contact(&pair, &mut general);
            assert_eq!(fast.len(), general.len(), "case {case}");
            for (x, y) in fast.iter().zip(&general) {
                assert_eq!(x.feature, y.feature, "case {case}");
                let apart = (x.point - y.point).length();
                let turned = (x.normal - y.normal).length();
                let deeper = (x.gap - y.gap).abs();
                assert!(apart < CROSSING, "case {case}: {x:?} {y:?}");
                assert!(turned.max(deeper) < ROUNDING, "case {case}: {x:?} {y:?}");
            }
            points += fast.len();
        });
        assert!(points > 10_000, "{points}");
    }
}
