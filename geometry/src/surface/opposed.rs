//! Triangles that lie on others which face the other way: sheets with two sides of which each has triangles of its own.

use super::triangle::normal_of;
use super::weld::Welded;
use crate::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

/// Triangles lie on each other if they have more than this many times the distance at which vertices are one in common, across every edge.
const STRETCH: f64 = 10.0;
/// Normals are opposite if their sum is no longer.
const OPPOSITE: f64 = 1e-6;
/// Pairs that are looked at, for each triangle. Where there are more, the rest is not asked.
const MOST_PAIRS: usize = 64;

/// Which triangles lie on one that faces the other way and has not the same corners.
pub(super) fn opposed(mesh: &Welded) -> Vec<bool> {
    let count = mesh.triangles.len();
    let boxes: Vec<_> = (0..count)
        .map(|t| Aabb::from_points(mesh.corners(t)))
        .map(|bounds| bounds.inflated(mesh.distance).to_parry())
        .collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    let mut opposed = vec![false; count];
    let mut pairs = 0;
    for t in 0..count {
        for other in tree.intersect_aabb(&boxes[t]) {
            let other = other as usize;
            if other == t || opposed[t] && opposed[other] || mesh.backs[t] == Some(other) {
                continue;
            }
            pairs += 1;
            if pairs > MOST_PAIRS * count {
                return opposed;
            }
            if lie_back_to_back(mesh, t, other) {
                opposed[t] = true;
                opposed[other] = true;
            }
        }
    }
    opposed
}

fn lie_back_to_back(mesh: &Welded, t: usize, other: usize) -> bool {
    let corners = [t, other].map(|t| mesh.corners(t));
    let normals = corners.map(normal_of);
    if (normals[0] + normals[1]).length() > OPPOSITE {
        return false;
    }
    // The corners of one are in the plane of the other, and of neither is an edge between them.
    let level = |a: usize, b: usize| {
        let off = |corner: &glam::DVec3| normals[a].dot(*corner - corners[a][0]).abs();
        corners[b].iter().all(|corner| off(corner) <= mesh.distance)
    };
    let reaches = |a: usize, b: usize| {
        (0..3).all(|k| {
            let (from, edge) = (corners[a][k], corners[a][(k + 1) % 3] - corners[a][k]);
            let inward = normals[a].cross(edge).normalize_or_zero();
            let within = |corner: &glam::DVec3| inward.dot(*corner - from);
            corners[b].iter().map(within).fold(0.0, f64::max) > STRETCH * mesh.distance
        })
    };
    (level(0, 1) || level(1, 0)) && reaches(0, 1) && reaches(1, 0)
}
