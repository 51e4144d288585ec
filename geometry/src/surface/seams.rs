//! Which triangles meet at an edge, and at what part of it.
//!
//! A corner in the middle of another triangle's edge parts that edge. Each part has a neighbour of its own.

use super::crowded::Crowded;
use super::triangle::{CONE_TOLERANCE, normal_of};
use super::weld::Welded;
use crate::{Aabb, Winding};
use glam::DVec3;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy};
use std::collections::BTreeMap;

/// A part of a triangle's edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Vertex at its end.
    pub(super) end: usize,
    /// Place of the end, along the edge, 1 at the edge's.
    pub(super) at: f64,
    /// The triangle behind it; none at a border.
    pub(super) neighbour: Option<usize>,
}

/// What lies behind the edges of all triangles.
pub(super) struct Seams {
    /// Neighbours across the edges that are in one part.
    whole: Vec<[Option<usize>; 3]>,
    /// Triangle, edge: the parts of those that are not.
    pub(super) parted: BTreeMap<(usize, usize), Vec<Part>>,
    pub(super) winding: Winding,
    pub(super) crowded: Crowded,
}

/// A part of an edge: its vertices in order of their numbers, true if it is run through from the first to the second; triangle, edge and
/// number of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    pub(super) vertices: (usize, usize),
    pub(super) ahead: bool,
    pub(super) triangle: usize,
    pub(super) edge: usize,
    part: usize,
}

impl Run {
    fn new(from: usize, to: usize, triangle: usize, edge: usize, part: usize) -> Self {
        Self {
            vertices: (from.min(to), from.max(to)),
            ahead: from < to,
            triangle,
            edge,
            part,
        }
    }
}

impl Seams {
    /// Finds the neighbours; corners in the middle of other edges are moved onto them.
    pub(super) fn new(mesh: &mut Welded) -> Self {
        let mut runs = Vec::with_capacity(3 * mesh.triangles.len());
        for (t, ids) in mesh.triangles.iter().enumerate() {
            runs.extend((0..3).map(|k| Run::new(ids[k], ids[(k + 1) % 3], t, k, 0)));
        }
        runs.sort_unstable();
        let mut parted = parted(mesh, &runs);
        if !parted.is_empty() {
            runs.retain(|run| !parted.contains_key(&(run.triangle, run.edge)));
            for (&(t, k), parts) in &parted {
                let mut from = mesh.triangles[t][k];
                for (number, part) in parts.iter().enumerate() {
                    runs.push(Run::new(from, part.end, t, k, number));
                    from = part.end;
                }
            }
            runs.sort_unstable();
        }
        let mut whole = vec![[None; 3]; mesh.triangles.len()];
        let mut winding = Winding::default();
        let mut closed = true;
        for same in runs.chunk_by(|a, b| a.vertices == b.vertices) {
            let ahead = same.iter().filter(|run| run.ahead).count();
            closed &= 2 * ahead == same.len();
            if same.len() > 1 && (ahead == 0 || ahead == same.len()) {
                winding.edges_at_odds += 1;
                let pair = [same[0], same[1]].map(|run| mesh.given[run.triangle]);
                winding.first = winding.first.or(Some(pair));
            }
            for run in same {
                let others = same.iter().filter(|other| other.ahead != run.ahead);
                let found = next_about(mesh, run, others.map(|other| other.triangle));
                match parted.get_mut(&(run.triangle, run.edge)) {
                    Some(parts) => parts[run.part].neighbour = found,
                    None => whole[run.triangle][run.edge] = found,
                }
            }
        }
        winding.inside_out = closed && is_inside_out(mesh);
        Self {
            whole,
            parted,
            winding,
            crowded: Crowded::new(mesh, &runs),
        }
    }

    /// Parts of a triangle's edge.
    pub(super) fn parts(&self, mesh: &Welded, triangle: usize, edge: usize) -> Vec<Part> {
        self.parted
            .get(&(triangle, edge))
            .cloned()
            .unwrap_or_else(|| {
                vec![Part {
                    end: mesh.triangles[triangle][(edge + 1) % 3],
                    at: 1.0,
                    neighbour: self.whole[triangle][edge],
                }]
            })
    }

    /// Numbers of the sheets that the triangles belong to: those that are neighbours, and theirs, have the same.
    pub(super) fn sheets(&self, mesh: &Welded) -> Vec<usize> {
        if mesh.backs.iter().all(Option::is_none) {
            return vec![0; mesh.triangles.len()];
        }
        let mut sheets = vec![usize::MAX; mesh.triangles.len()];
        let mut open = Vec::new();
        for first in 0..sheets.len() {
            if sheets[first] != usize::MAX {
                continue;
            }
            sheets[first] = first;
            open.push(first);
            while let Some(t) = open.pop() {
                for part in (0..3).flat_map(|k| self.parts(mesh, t, k)) {
                    if let Some(next) = part.neighbour
                        && sheets[next] == usize::MAX
                    {
                        sheets[next] = first;
                        open.push(next);
                    }
                }
            }
        }
        sheets
    }

    /// Neighbours of a triangle if none of its edges is in parts.
    pub(super) fn neighbours(&self, triangle: usize) -> Option<[Option<usize>; 3]> {
        let mut parts = self.parted.range((triangle, 0)..(triangle, 3));
        parts.next().is_none().then(|| self.whole[triangle])
    }
}

/// Edges on which corners lie, whether they have a neighbour or not: boxes side by side have edges of their own, of which those of one end in the
/// middle of those of another. The corners are moved there.
fn parted(mesh: &mut Welded, edges: &[Run]) -> BTreeMap<(usize, usize), Vec<Part>> {
    let mut corners: Vec<usize> = edges
        .iter()
        .flat_map(|run| [run.vertices.0, run.vertices.1])
        .collect();
    corners.sort_unstable();
    corners.dedup();
    let ends = |run: &Run| {
        let ids = mesh.triangles[run.triangle];
        [ids[run.edge], ids[(run.edge + 1) % 3]]
    };
    let boxes: Vec<_> = edges
        .iter()
        .map(|run| Aabb::from_points(ends(run).map(|id| mesh.points[id])))
        .map(|bounds| bounds.inflated(mesh.distance).to_parry())
        .collect();
    let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
    // Edge, place along it, vertex.
    let mut found: Vec<(usize, f64, usize)> = Vec::new();
    for &id in &corners {
        let point = mesh.points[id];
        for index in tree.intersect_aabb(&Aabb::new(point, point).to_parry()) {
            let ends = ends(&edges[index as usize]);
            if ends.contains(&id) {
                continue;
            }
            let [a, b] = ends.map(|end| mesh.points[end]);
            let at = (point - a).dot(b - a) / (b - a).length_squared();
            let off = (a + (b - a) * at).distance(point);
            if at > 0.0 && at < 1.0 && off <= mesh.distance {
                found.push((index as usize, at, id));
            }
        }
    }
    found.sort_by(|x, y| {
        (x.0.cmp(&y.0))
            .then(x.1.total_cmp(&y.1))
            .then(x.2.cmp(&y.2))
    });
    let mut parted = BTreeMap::new();
    let mut moved: BTreeMap<usize, DVec3> = BTreeMap::new();
    for on_edge in found.chunk_by(|x, y| x.0 == y.0) {
        let run = edges[on_edge[0].0];
        let [from, to] = ends(&run);
        let [a, b] = [from, to].map(|id| mesh.points[id]);
        // Corners on both sides of the edge may be at the same place along it.
        let least = 0.5 * mesh.distance / a.distance(b);
        let mut parts: Vec<Part> = Vec::new();
        for &(_, at, end) in on_edge {
            if at > parts.last().map_or(0.0, |last| last.at) + least && at < 1.0 - least {
                let neighbour = None;
                parts.push(Part { end, at, neighbour });
                moved.entry(end).or_insert(a + (b - a) * at);
            }
        }
        if !parts.is_empty() {
            let (end, at, neighbour) = (to, 1.0, None);
            parts.push(Part { end, at, neighbour });
            parted.insert((run.triangle, run.edge), parts);
        }
    }
    for (id, point) in moved {
        mesh.points[id] = point;
    }
    parted
}

/// Of the triangles behind an edge, the first on the way around it from the free side. None if that is the back of the same place.
fn next_about(mesh: &Welded, run: &Run, others: impl Iterator<Item = usize>) -> Option<usize> {
    let corners = mesh.corners(run.triangle);
    let normal = normal_of(corners);
    let edge = corners[(run.edge + 1) % 3] - corners[run.edge];
    let outward = edge.cross(normal).normalize_or_zero();
    let mut least = f64::INFINITY;
    let mut found = None;
    for other in others {
        let other_normal = normal_of(mesh.corners(other));
        let (cos, sin) = (other_normal.dot(normal), other_normal.dot(outward));
        // Grows with the angle that is free between them.
        let angle = if sin >= 0.0 { 1.0 - cos } else { cos - 1.0 };
        let folded = cos < 0.0 && sin.abs() <= CONE_TOLERANCE;
        if !folded && angle < least {
            least = angle;
            found = Some(other);
        }
    }
    found
}

/// True if the triangles of a closed mesh face inwards.
fn is_inside_out(mesh: &Welded) -> bool {
    let bounds = Aabb::from_points(mesh.points.iter().copied());
    let center = 0.5 * (bounds.min + bounds.max);
    let volume: f64 = (0..mesh.triangles.len())
        .map(|t| {
            let [a, b, c] = mesh.corners(t).map(|corner| corner - center);
            a.dot(b.cross(c)) / 6.0
        })
        .sum();
    // A sheet with two sides has no volume but what rounding leaves.
    let extent = (bounds.max - bounds.min).length();
    volume < -1e-12 * extent * extent * extent
}
