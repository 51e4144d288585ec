//! Closest points of separated polytopes, edge against edge.
//!
//! Covers the pairs of features that face normals cannot: vertex–vertex, vertex–edge, edge–edge.
//! With a known separation `s` along `l`, a pair of points closer than the limit `d` has
//! `l·p ≥ max_A + s − d` and `l·q ≤ min_B − s + d`; edges outside these bands are skipped, and those of B farther than `d` from a ball
//! around A.

use super::patch::{LocalContact, Patch};
use super::round_pair::facing_points;
use super::separating_axis::{Placed, PolytopePair, edge_feature};
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
    let Some((i, j)) = closest(pair, l, separation, limit) else {
        return;
    };
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

/// The closest edges of A and B, if they are closer than the `limit`; the first ones of those that are equally close.
fn closest(
    pair: &PolytopePair<'_>,
    l: DVec3,
    separation: f64,
    limit: f64,
) -> Option<(usize, usize)> {
    let (edge_a, edge_b) = (pair.a.edges(), pair.b.edges());
    let heights = |body: &Placed<'_>| -> SmallVec<[f64; 24]> {
        body.vertices().iter().map(|v| l.dot(*v)).collect()
    };
    let (of_a, of_b) = (heights(&pair.a), heights(&pair.b));
    let a_high = of_a.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let b_low = of_b.iter().copied().fold(f64::INFINITY, f64::min);
    let above = |edge: &[u32; 2], least: f64| edge.iter().any(|v| of_a[*v as usize] >= least);
    let below = |edge: &[u32; 2], most: f64| edge.iter().any(|v| of_b[*v as usize] <= most);
    let top = |edge: usize| ends(pair.a.shape.edges[edge], &of_a).reduce(f64::max);
    let bottom = |edge: usize| ends(pair.b.shape.edges[edge], &of_b).reduce(f64::min);
    // Nothing that is farther than `most` is asked for.
    let among = |from_a: &Edges, from_b: &Edges, most: f64| {
        let from_b: SmallVec<[Edge; 16]> = from_b
            .iter()
            .map(|j| Edge::new(*j, edge_b(*j), bottom(*j)))
            .collect();
        let mut best = (limit * limit, None);
        let mut near = most.min(limit) * (1.0 + 1e-9);
        for &i in from_a {
            let a = Edge::new(i, edge_a(i), top(i));
            let [p0, p1] = a.ends;
            for b in &from_b {
                if b.height - a.height > near || a.is_farther(b, near) {
                    continue;
                }
                let [q0, q1] = b.ends;
                let (_, _, p, q) = closest_on_segments(p0, p1, q0, q1);
                let square = (q - p).length_squared();
                if square < best.0 * (1.0 - 1e-12) || (best.1.is_none() && square <= best.0) {
                    best = (square, Some((i, b.number)));
                    near = near.min(square.sqrt() * (1.0 + 1e-9));
                }
            }
        }
        best
    };
    // The edges at the ends along the axis are close, and so bound what is closest. Nothing is closer than the axis says.
    let at_end = 1e-9 * pair.scale;
    let from_a = edges(pair.a.shape.edges, |edge| above(edge, a_high - at_end));
    let from_b = edges(pair.b.shape.edges, |edge| below(edge, b_low + at_end));
    let (square, at_ends) = among(&from_a, &from_b, limit);
    let nearer = square.sqrt();
    if at_ends.is_some() && nearer <= separation + 1e-12 * pair.scale {
        return at_ends;
    }
    let reach = nearer - separation + 1e-9 * pair.scale;
    let (middle, around) = ball(pair.a.vertices());
    let near = (nearer + around) * (1.0 + 1e-9);
    let mut from_b = edges(pair.b.shape.edges, |edge| below(edge, b_low + reach));
    from_b.retain(|j| {
        let [p, q] = edge_b(*j);
        onto_segment(middle, p, q).distance_squared(middle) <= near * near
    });
    let from_a = edges(pair.a.shape.edges, |edge| above(edge, a_high - reach));
    among(&from_a, &from_b, nearer).1
}

/// An edge that is compared with others.
struct Edge {
    number: usize,
    ends: [DVec3; 2],
    /// Of the end that is nearer to the other body (m).
    height: f64,
    middle: DVec3,
    /// Half of its length (m).
    half: f64,
}

impl Edge {
    fn new(number: usize, ends: [DVec3; 2], height: Option<f64>) -> Self {
        Self {
            number,
            ends,
            height: height.unwrap_or_default(),
            middle: 0.5 * (ends[0] + ends[1]),
            half: 0.5 * (ends[1] - ends[0]).length(),
        }
    }

    /// Balls around the two edges are farther apart than `near` (m).
    fn is_farther(&self, other: &Self, near: f64) -> bool {
        let reach = self.half + other.half + near;
        self.middle.distance_squared(other.middle) > reach * reach
    }
}

/// The values of the ends of an edge.
fn ends(edge: [u32; 2], values: &[f64]) -> impl Iterator<Item = f64> {
    edge.into_iter().map(|vertex| values[vertex as usize])
}

/// Numbers of edges.
type Edges = SmallVec<[usize; 16]>;

fn edges(all: &[[u32; 2]], is_kept: impl Fn(&[u32; 2]) -> bool) -> Edges {
    let kept = all.iter().enumerate().filter(|(_, edge)| is_kept(edge));
    kept.map(|(number, _)| number).collect()
}

/// Middle and radius of a ball around points (m).
fn ball(points: &[DVec3]) -> (DVec3, f64) {
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let square = |point: &DVec3| point.distance_squared(middle);
    let most = points.iter().map(square).fold(0.0, f64::max);
    (middle, most.sqrt())
}
