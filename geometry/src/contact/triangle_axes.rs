//! The axes of a triangle of a surface and a polytope.
//!
//! Those of any two polytopes ([`separating_axis`](super::separating_axis)), to the same bits where they count. Whether a normal may act
//! on the triangle is asked only of axes on which the contacts depend: they separate by more than the triangle's own normal, and edges
//! count only where the bodies overlap. Edges of a cuboid are first tried without a root.

use super::separating_axis::{Axes, Axis, BIAS, PARALLEL, PolytopePair, least_trusted};
use crate::surface::Cone;
use glam::DVec3;
use smallvec::SmallVec;

/// All axes that matter, or `None` if one of them separates by more than the margin. A is the triangle, at rest in the frame.
pub(super) fn axes(pair: &PolytopePair<'_>, cone: &Cone<'_>) -> Option<Axes> {
    let limit = pair.margin + pair.radius;
    let tie = 1e-12 * pair.scale;
    let (normal, offset) = pair.a.plane(0);
    let (low, high) = pair.b.range(normal);
    let back = offset - high;
    let front = Axis {
        direction: normal,
        separation: low - offset,
        face: 0,
    };
    if front.separation > limit || back > pair.radius {
        return None;
    }
    let better = |known: &Option<Axis>, axis: &Axis| {
        known.is_none_or(|known| axis.separation > known.separation + tie)
    };
    let mut axes = Axes {
        face_a: Some(front),
        back: Some(back),
        ..Axes::default()
    };
    let mut any = front;
    let mut faces: SmallVec<[Axis; 6]> = SmallVec::new();
    for face in 0..pair.b.shape.faces.len() {
        let (normal, offset) = pair.b.plane(face);
        let axis = Axis {
            direction: -normal,
            separation: pair.a.range(normal).0 - offset,
            face,
        };
        if axis.separation > limit {
            return None;
        }
        if axis.separation > any.separation + tie {
            any = axis;
        }
        if axis.separation > front.separation + BIAS * pair.scale {
            faces.push(axis);
        }
    }
    let mut edges: SmallVec<[Axis; 18]> = SmallVec::new();
    for (edge, u) in pair.a.shape.directions.iter().enumerate() {
        for v in pair.b.shape.directions {
            let common = u.cross(pair.b.rotation * *v);
            let square = common.length_squared();
            // Bodies that are apart have no use for an edge that separates less.
            let least = if any.separation > 0.0 {
                any.separation
            } else {
                front.separation
            };
            let least = least - 1e-6 * pair.scale;
            if square < PARALLEL || is_below(pair, edge, common, least * least.abs() * square) {
                continue;
            }
            let l = common / square.sqrt();
            let (a_low, a_high) = pair.a.range(l);
            let (b_low, b_high) = pair.b.range(l);
            for (direction, separation) in [(l, b_low - a_high), (-l, a_low - b_high)] {
                if separation > limit {
                    return None;
                }
                let axis = Axis {
                    direction,
                    separation,
                    face: 0,
                };
                if separation > any.separation + tie {
                    any = axis;
                }
                if separation > front.separation {
                    edges.push(axis);
                }
            }
        }
    }
    axes.any = Some(any);
    for axis in &faces {
        if better(&axes.face_b, axis) && cone.permits(axis.direction) {
            axes.face_b = Some(*axis);
        }
    }
    if any.separation <= 0.0 {
        let floor = least_trusted(back.max(any.separation), pair.scale);
        for axis in &edges {
            let counts = axis.separation >= floor && better(&axes.edges, axis);
            if counts && cone.permits(axis.direction) {
                axes.edges = Some(*axis);
            }
        }
    }
    Some(axes)
}

/// True if a cuboid is separated from the triangle along `common`, across an edge of it, by less than a bound: given as its square times
/// that of the length of `common`, with its sign.
fn is_below(pair: &PolytopePair<'_>, edge: usize, common: DVec3, bound: f64) -> bool {
    let Some(half) = pair.b.shape.half_extents else {
        return false;
    };
    let turn = &pair.b.rotation;
    let reach = half.x * common.dot(turn.x_axis).abs()
        + half.y * common.dot(turn.y_axis).abs()
        + half.z * common.dot(turn.z_axis).abs();
    let along = |corner: usize| common.dot(pair.a.shape.vertices[corner] - pair.b.translation);
    let (on_edge, off_edge) = (along(edge), along((edge + 2) % 3));
    let separation = (-on_edge.max(off_edge)).max(on_edge.min(off_edge)) - reach;
    separation * separation.abs() < bound
}
