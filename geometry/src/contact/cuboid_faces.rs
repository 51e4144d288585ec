//! A face of one cuboid against the facing one of another.
//!
//! Finds what [`separating_axis`](super::separating_axis) finds for the faces of any two polytopes, up to rounding and
//! under the same numbers, in the frame of the cuboid whose face it is: there the planes of the clipping
//! are constant coordinates, and the corners of the other cuboid sums of its axes.

use super::clip::{Corner, Polygon, clip};
use super::separating_axis::Placed;
use crate::polytope::CUBOID_LOOPS;
use glam::{DMat3, DVec3};

/// Axes of the faces in their order: z, x, y.
pub(super) const FACE_AXES: [usize; 3] = [2, 0, 1];

/// A side of the prism over a face: the coordinate that it keeps constant, and its sign.
type Side = (usize, f64);

/// The sides of the prism over each face, in the order of the edges.
const SIDES: [[Side; 4]; 6] = sides();

const fn sides() -> [[Side; 4]; 6] {
    let mut sides = [[(0, 0.0); 4]; 6];
    let mut face = 0;
    while face < 6 {
        let mut k = 0;
        while k < 4 {
            let [from, to] = [CUBOID_LOOPS[face][k], CUBOID_LOOPS[face][(k + 1) % 4]];
            // Along an edge two coordinates stay: that of the face, and the one of the side.
            let other = FACE_AXES[face / 2] as u32;
            let along = (from ^ to).trailing_zeros();
            let across = 3 - other - along;
            let sign = if from >> across & 1 == 1 { 1.0 } else { -1.0 };
            sides[face][k] = (across as usize, sign);
            k += 1;
        }
        face += 1;
    }
    sides
}

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
    let at_rest = reference.is_at_rest();
    let (turn, shift) = if at_rest {
        (incident.0.rotation, incident.0.translation)
    } else {
        let back = reference.rotation.transpose();
        (
            back * incident.0.rotation,
            back * (incident.0.translation - reference.translation),
        )
    };
    let axis = FACE_AXES[face / 2];
    let sign = if face.is_multiple_of(2) { 1.0 } else { -1.0 };

    let facing = facing(&turn, axis, sign);
    let reach = incident.1;
    let arms = [
        turn.x_axis * reach.x,
        turn.y_axis * reach.y,
        turn.z_axis * reach.z,
    ];
    let corner = |(edge, i): (u64, u32)| {
        let arm = |bit: usize| {
            if i >> bit & 1 == 0 {
                -arms[bit]
            } else {
                arms[bit]
            }
        };
        Corner {
            position: shift + (arm(0) + arm(1) + arm(2)),
            id: u64::from(i),
            edge,
        }
    };
    let [polygon, spare] = &mut [Polygon::new(), Polygon::new()];
    let (mut polygon, mut spare) = (polygon, spare);
    polygon.extend((0..).zip(CUBOID_LOOPS[facing]).map(corner));
    for (k, (across, side)) in SIDES[face].into_iter().enumerate() {
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
        let mut point = DVec3::from_array(point);
        if !at_rest {
            point = reference.translation + reference.rotation * point;
        }
        found(point, height, corner.id);
    }
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
            contact(pair, None, &mut fast);
            let mut pair = *pair;
            pair.a.shape.half_extents = None;
            pair.b.shape.half_extents = None;
            contact(&pair, None, &mut general);
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
