//! Planes that hold two solids apart, part by part: much cheaper than their contacts.

use super::separating_axis::{self, Placed, PolytopePair};
use super::with_polytope;
use crate::geometry::{Body, Convex};
use crate::{Aabb, Frame, Geometry};
use glam::DVec3;

/// Planes between the convex polytopes of which two solids consist, for all pairs of parts that may be no farther apart than `margin` (m): how far apart each holds its two (m), and its
/// unit normal, from B to A. They are appended to `planes`.
///
/// No plane holds two cuboids farther apart; of polytopes with many edges it is a good one, not always the best. False, and the planes are not all, if one holds its two
/// parts no farther apart than `least` (m, negative if they overlap), if a part is not a polytope, and for surfaces, half-spaces and poses that are not finite.
#[must_use]
pub fn separating_planes(
    (a, pose_a): (&Geometry, &Frame),
    (b, pose_b): (&Geometry, &Frame),
    (least, margin): (f64, f64),
    planes: &mut impl Extend<(f64, DVec3)>,
) -> bool {
    if !(pose_a.is_finite() && pose_b.is_finite() && margin.is_finite()) {
        return false;
    }
    let mut holds = |x: &Convex, pose_x: &Frame, y: &Convex, pose_y: &Frame| {
        let plane = between((x, pose_x), (y, pose_y));
        planes.extend(plane);
        plane.is_some_and(|(gap, _)| gap > least)
    };
    let region = |bounds: Aabb| bounds.inflated(margin.max(0.0));
    match (a.body(), b.body()) {
        (Body::Convex(x), Body::Convex(y)) => holds(x, pose_a, y, pose_b),
        (Body::Convex(x), Body::Compound(parts)) => {
            let region = region(x.aabb(&pose_b.relative(pose_a)));
            let mut near = parts.iter().filter(|y| y.bounds.intersects(&region));
            near.all(|y| holds(x, pose_a, &y.convex, &pose_b.compose(&y.pose)))
        }
        (Body::Compound(parts), Body::Convex(y)) => {
            let region = region(y.aabb(&pose_a.relative(pose_b)));
            let mut near = parts.iter().filter(|x| x.bounds.intersects(&region));
            near.all(|x| holds(&x.convex, &pose_a.compose(&x.pose), y, pose_b))
        }
        (Body::Compound(parts), Body::Compound(others)) => {
            let all = region(b.aabb(&pose_a.relative(pose_b)));
            let mut near = parts.iter().filter(|x| x.bounds.intersects(&all));
            near.all(|x| {
                let pose_x = pose_a.compose(&x.pose);
                let region = region(x.convex.aabb(&pose_b.relative(&pose_x)));
                let mut near = others.iter().filter(|y| y.bounds.intersects(&region));
                near.all(|y| holds(&x.convex, &pose_x, &y.convex, &pose_b.compose(&y.pose)))
            })
        }
        _ => false,
    }
}

/// A plane between two convex polytopes.
fn between((x, pose_x): (&Convex, &Frame), (y, pose_y): (&Convex, &Frame)) -> Option<(f64, DVec3)> {
    let (Convex::Polyhedron(polyhedron), Convex::Polyhedron(_)) = (x, y) else {
        return None;
    };
    let mut best = None;
    with_polytope(y, &pose_x.relative(pose_y), |placed, radius| {
        best = separating_axis::plane(&PolytopePair {
            a: Placed::at_rest(polyhedron.view()),
            b: placed,
            radius,
            margin: f64::INFINITY,
            scale: x.bounding_radius().min(y.bounding_radius()),
            cone: None,
        });
    });
    best.map(|axis| (axis.separation, -pose_x.rotate(axis.direction)))
}
