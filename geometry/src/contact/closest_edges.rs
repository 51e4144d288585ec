//! Closest points of separated polytopes, edge against edge.
//!
//! Covers the pairs of features that face normals cannot: vertex–vertex, vertex–edge, edge–edge.
//! With a known separation `s` along `l`, a pair of points closer than the limit `d` has
//! `l·p ≥ max_A + s − d` and `l·q ≤ min_B − s + d`; edges outside these bands are skipped, and those of B farther than `d` from a ball
//! around A.

use super::patch::{LocalContact, Patch};
use super::round_pair::facing_points;
use super::separating_axis::{PolytopePair, edge_feature};
use crate::polytope::closest_on_segments;
use crate::projection::onto_segment;
use glam::DVec3;
use smallvec::SmallVec;

/// Set in the features of these contacts, and in no others of the same patch.
pub(crate) const MARK: u64 = 1 << 61;

/// Appends the closest points of A and B, if they are closer than the `limit`; two for nearly parallel edges.
pub(crate) fn contact(
    pair: &PolytopePair<'_>,
    l: DVec3,
    separation: f64,
    limit: f64,
    patch: &mut Patch,
) {
    let (edge_a, edge_b) = (pair.a.edges(), pair.b.edges());
    let (a_high, b_low) = (pair.a.range(l).1, pair.b.range(l).0);
    let band = |limit: f64| {
        let reach = limit - separation + 1e-9 * pair.scale;
        (a_high - reach, b_low + reach)
    };
    // The edges at the ends along the axis are close, and so bound what is closest.
    let nearest = 1e-9 * pair.scale;
    let mut square = limit * limit;
    for i in 0..pair.a.shape.edges.len() {
        let [p0, p1] = edge_a(i);
        if l.dot(p0).max(l.dot(p1)) < a_high - nearest {
            continue;
        }
        for j in 0..pair.b.shape.edges.len() {
            let [q0, q1] = edge_b(j);
            if l.dot(q0).min(l.dot(q1)) <= b_low + nearest {
                let (_, _, p, q) = closest_on_segments(p0, p1, q0, q1);
                square = square.min((q - p).length_squared());
            }
        }
    }
    let nearer = square.sqrt();
    let (a_least, b_most) = band(nearer);
    let (middle, around) = ball(pair.a.vertices());
    let near = (nearer + around) * (1.0 + 1e-9);
    let candidates: SmallVec<[usize; 16]> = (0..pair.b.shape.edges.len())
        .filter(|&j| {
            let [p, q] = edge_b(j);
            (l.dot(p) <= b_most || l.dot(q) <= b_most)
                && onto_segment(middle, p, q).distance_squared(middle) <= near * near
        })
        .collect();
    if candidates.is_empty() {
        return;
    }
    let mut best = (limit * limit, None);
    for i in 0..pair.a.shape.edges.len() {
        let [p0, p1] = edge_a(i);
        if l.dot(p0) < a_least && l.dot(p1) < a_least {
            continue;
        }
        for &j in &candidates {
            let [q0, q1] = edge_b(j);
            let (_, _, p, q) = closest_on_segments(p0, p1, q0, q1);
            let square = (q - p).length_squared();
            if square < best.0 * (1.0 - 1e-12) || (best.1.is_none() && square <= best.0) {
                best = (square, Some((i, j)));
            }
        }
    }
    let Some((i, j)) = best.1 else { return };
    let points = facing_points(edge_a(i), edge_b(j));
    for (k, (p, q)) in (0..).zip(points) {
        let offset = q - p;
        let distance = offset.length();
        // Too close for a direction of its own: the best axis stands in, and its separation,
        // which is a lower bound of the distance.
        // So it does if the offset is along it to the last digits: it has less noise.
        let aside = (offset - l * separation).length();
        let (normal, distance) = if distance > 1e-9 * pair.scale && aside > 1e-13 * pair.scale {
            (offset / distance, distance)
        } else {
            (l, separation)
        };
        let gap = distance - pair.radius;
        let permitted = pair.cone.is_none_or(|cone| cone.permits(normal));
        if gap <= pair.margin && permitted {
            patch.push(LocalContact {
                point: p + normal * (0.5 * (distance - pair.radius)),
                normal,
                gap,
                feature: MARK | edge_feature(i, j) | k << 40,
            });
        }
    }
}

/// Middle and radius of a ball around points (m).
fn ball(points: &[DVec3]) -> (DVec3, f64) {
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let square = |point: &DVec3| point.distance_squared(middle);
    let most = points.iter().map(square).fold(0.0, f64::max);
    (middle, most.sqrt())
}
