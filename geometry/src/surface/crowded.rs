//! Where triangles meet that are not neighbours across an edge.
//!
//! An edge is *crowded* if more than two triangles meet at it, or if it is a border and lies on a triangle elsewhere: the upper edge of a wall
//! under a floor that has no corners there, or that has them and no border. What `hidden` asks is asked of the triangles at crowded edges.

use super::seams::Run;
use super::triangle::normal_of;
use super::weld::Welded;
use crate::Aabb;
use glam::DVec3;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};

/// An edge lies on a triangle if more than this many times the distance at which vertices are one is on it. Triangles that share a corner
/// have less in common, unless one of their angles is less than 6°.
const STRETCH: f64 = 10.0;
/// Pairs that are looked at, for each edge and triangle. Where there are more, edges count as crowded: the mesh is a tangle.
const MOST_PAIRS: usize = 64;

/// Triangles at crowded edges, and the vertices that these end at, both in order.
#[derive(Default)]
pub(super) struct Crowded {
    triangles: Vec<usize>,
    vertices: Vec<usize>,
}

impl Crowded {
    /// Looks for them among the parts of all edges, in order.
    pub(super) fn new(mesh: &Welded, runs: &[Run]) -> Self {
        let mut crowded = Self::default();
        let mut alone: Vec<&[Run]> = Vec::new();
        for same in runs.chunk_by(|a, b| a.vertices == b.vertices) {
            match places(mesh, same) {
                0 | 1 => alone.push(same),
                2 => {}
                _ => crowded.add(same),
            }
        }
        for (same, lies) in alone.iter().zip(lie_on_others(mesh, &alone)) {
            if lies {
                crowded.add(same);
            }
        }
        for numbers in [&mut crowded.triangles, &mut crowded.vertices] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        crowded
    }

    fn add(&mut self, same: &[Run]) {
        self.triangles.extend(same.iter().map(|run| run.triangle));
        self.vertices
            .extend([same[0].vertices.0, same[0].vertices.1]);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// True of a part of a triangle at a crowded edge, and if one of its corners is an end of such an edge.
    pub(super) fn has(&self, triangle: usize, corners: &[usize; 3]) -> bool {
        let has = |list: &[usize], number: usize| list.binary_search(&number).is_ok();
        has(&self.triangles, triangle) || corners.iter().any(|id| has(&self.vertices, *id))
    }
}

/// Triangles at an edge; one and its back count as one.
fn places(mesh: &Welded, same: &[Run]) -> usize {
    let is_first = |run: &&Run| mesh.backs[run.triangle].is_none_or(|back| run.triangle < back);
    same.iter().filter(is_first).count()
}

/// Which of these edges lie on triangles that are not at them.
fn lie_on_others(mesh: &Welded, edges: &[&[Run]]) -> Vec<bool> {
    if edges.is_empty() {
        return Vec::new();
    }
    let ends = |same: &[Run]| [same[0].vertices.0, same[0].vertices.1].map(|id| mesh.points[id]);
    let boxes: Vec<_> = edges
        .iter()
        .map(|same| Aabb::from_points(ends(same)).inflated(mesh.distance))
        .map(|bounds| bounds.to_parry())
        .collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    let mut lies = vec![false; edges.len()];
    let mut pairs = 0;
    let most = MOST_PAIRS * (edges.len() + mesh.triangles.len());
    for t in 0..mesh.triangles.len() {
        let corners = mesh.corners(t);
        for index in tree.intersect_aabb(&Aabb::from_points(corners).to_parry()) {
            let index = index as usize;
            let same = edges[index];
            if lies[index] || same.iter().any(|run| run.triangle == t) {
                continue;
            }
            pairs += 1;
            lies[index] = pairs > most || lies_on(ends(same), &corners, mesh.distance);
        }
    }
    lies
}

/// True if a segment lies on a triangle along more than a few times the distance (m) that it may be off.
fn lies_on([from, to]: [DVec3; 2], corners: &[DVec3; 3], distance: f64) -> bool {
    let normal = normal_of(*corners);
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    // Cuts off where it is beyond a plane.
    let mut keep = |direction: DVec3, on_plane: DVec3| {
        let [a, b] = [from, to].map(|point| direction.dot(point - on_plane) - distance);
        if a > 0.0 && b > 0.0 {
            end = start;
        } else if a > 0.0 {
            start = start.max(a / (a - b));
        } else if b > 0.0 {
            end = end.min(a / (a - b));
        }
    };
    keep(normal, corners[0]);
    keep(-normal, corners[0]);
    for k in 0..3 {
        let edge = corners[(k + 1) % 3] - corners[k];
        keep(edge.cross(normal).normalize_or_zero(), corners[k]);
    }
    (end - start) * from.distance(to) > STRETCH * distance
}
