//! The directions along which two polytopes may be held apart best.
//!
//! The depth of an overlap is reached along the normal of a face of one, or across an edge of each. Round solids add the directions of their axes and those from their
//! axes to the other: starts for nothing, but right where a flat side meets.

use super::convex_pair::{Kind, Solid};
use crate::geometry::Convex;
use glam::DVec3;

/// Pairs of edges that are tried at most.
const MOST_PAIRS: usize = 4096;

/// Of all directions from A to B that may be the best, the one along which they are held apart most, if it is `worth` it.
pub(super) fn best_axis(
    a: &Solid,
    b: &Solid,
    worth: impl Fn(DVec3) -> bool,
    held: impl Fn(DVec3) -> f64,
) -> Option<DVec3> {
    let mut best: Option<(f64, DVec3)> = None;
    let mut look = |l: DVec3| {
        let value = held(l);
        if best.is_none_or(|best| value > best.0) {
            best = Some((value, l));
        }
    };
    for (solid, sign) in [(a, 1.0), (b, -1.0)] {
        normals(solid, |normal| look(solid.pose.rotate(normal) * sign));
    }
    let [of_a, of_b] = [a, b].map(edges);
    if of_a.len() * of_b.len() <= MOST_PAIRS {
        for p in &of_a {
            for q in &of_b {
                let l = p.cross(*q);
                // Edges that are all but parallel are held by sides.
                if l.length_squared() > 1e-12 {
                    let l = l.normalize();
                    look(l);
                    look(-l);
                }
            }
        }
    }
    best.map(|(_, l)| l).filter(|l| worth(*l))
}

/// Outward normals of the faces, in the local frame.
fn normals(solid: &Solid, mut look: impl FnMut(DVec3)) {
    match solid.kind {
        Kind::Convex(Convex::Polyhedron(polyhedron)) => {
            for face in &polyhedron.faces {
                look(face.normal);
            }
        }
        Kind::Convex(Convex::Frustum(_)) => {
            look(DVec3::Z);
            look(DVec3::NEG_Z);
        }
        Kind::Convex(_) => {}
        Kind::Triangle([p, q, r]) => {
            let normal = (q - p).cross(r - p).normalize_or(DVec3::Z);
            look(normal);
            look(-normal);
        }
    }
}

/// Unit directions of the edges, in the common frame.
fn edges(solid: &Solid) -> Vec<DVec3> {
    let turned = |edge: DVec3| solid.pose.rotate(edge);
    match solid.kind {
        Kind::Convex(Convex::Polyhedron(polyhedron)) => polyhedron
            .directions
            .iter()
            .map(|edge| turned(*edge))
            .collect(),
        Kind::Convex(Convex::Capsule { .. }) => vec![turned(DVec3::Z)],
        Kind::Convex(_) => Vec::new(),
        Kind::Triangle([p, q, r]) => [q - p, r - q, p - r]
            .map(|edge| turned(edge.normalize_or(DVec3::X)))
            .to_vec(),
    }
}
