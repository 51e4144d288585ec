//! Points that two overlapping polytopes share along an axis. Where there is one the axis is stationary: no axis near it separates them more, or
//! holds them less deep.

use super::patch::Patch;
use super::separating_axis::{Axes, Axis, BIAS, PolytopePair};
use crate::polytope::closest_on_segments;
use glam::DVec3;

/// The middle of one of the contacts lies within both bodies: thin bodies whose edges cross apart from each other overlap along other axes.
pub(super) fn overlap(pair: &PolytopePair<'_>, patch: &Patch) -> bool {
    let mut points = patch.iter().map(|contact| contact.point);
    points.any(|point| both_contain(pair, point))
}

fn both_contain(pair: &PolytopePair<'_>, point: DVec3) -> bool {
    let near = BIAS * pair.scale;
    pair.a.contains(point, near) && pair.b.contains(point, near)
}

/// A point of the other body below the face of the axis lies within the body that has the face: near a sharp edge the middle of the overlap
/// may not.
pub(super) fn reaches_into(
    pair: &PolytopePair<'_>,
    face: Option<(Axis, bool)>,
    patch: &Patch,
) -> bool {
    let Some((axis, of_b)) = face else {
        return false;
    };
    if !pair.is_shallow(-axis.separation) {
        return false;
    }
    let (body, half) = if of_b {
        (&pair.b, -0.5)
    } else {
        (&pair.a, 0.5)
    };
    let near = BIAS * pair.scale;
    let mut below = patch.iter().filter(|contact| contact.gap < 0.0);
    below.any(|contact| {
        let point = contact.point + axis.direction * (half * contact.gap);
        body.contains(point, near)
    })
}

/// Of edges that gave way to a face: they cross within both bodies.
pub(super) fn edges_overlap(pair: &PolytopePair<'_>, axes: &Axes) -> bool {
    axes.crossing.is_some_and(|[i, j]| {
        let ([p0, p1], [q0, q1]) = (pair.a.edge(i), pair.b.edge(j));
        let (_, _, p, q) = closest_on_segments(p0, p1, q0, q1);
        both_contain(pair, 0.5 * (p + q))
    })
}
