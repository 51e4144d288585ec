//! Vertices at the same place are one, and so are triangles on the same vertices.

use crate::Aabb;
use glam::DVec3;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Vertices no farther apart than this part of the mesh's extent are one: ten times what single precision, in which most files are
/// written, makes of a coordinate …
const OF_EXTENT: f64 = 1e-6;
/// … but no more than this part of the middle one of its edges by length, so that a fine mesh of something large keeps its shape.
const OF_EDGE: f64 = 1e-3;

/// Triangles on welded vertices.
pub(super) struct Welded {
    /// Vertices (m), each farther than `distance` from all others.
    pub(super) points: Vec<DVec3>,
    /// Vertices of each triangle.
    pub(super) triangles: Vec<[usize; 3]>,
    /// Number of each triangle in the list that was given.
    pub(super) given: Vec<usize>,
    /// The same triangle with the opposite winding, where it is there.
    pub(super) backs: Vec<Option<usize>>,
    /// How far apart vertices may be that are one (m).
    pub(super) distance: f64,
}

impl Welded {
    /// Welds the vertices, and drops triangles that collapse or are there already. Each vertex goes to the first one before it in the
    /// list that is near, not to one that was itself welded: no chain of near vertices gets longer than twice the distance.
    pub(super) fn new(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Self {
        let corners = || {
            triangles
                .iter()
                .map(|ids| ids.map(|i| vertices[i as usize]))
        };
        let bounds = Aabb::from_points(corners().flatten());
        let distance = distance(&bounds, corners());
        let mut welder = Welder::new(distance, bounds.min);
        let mut known = vec![usize::MAX; vertices.len()];
        let mut ids = Vec::with_capacity(triangles.len());
        for triangle in triangles {
            ids.push(triangle.map(|vertex| {
                let vertex = vertex as usize;
                if known[vertex] == usize::MAX {
                    known[vertex] = welder.place(vertices[vertex]);
                }
                known[vertex]
            }));
        }
        let points = welder.points;
        let collapsed = |ids: &[usize; 3]| {
            let [a, b, c] = ids.map(|id| points[id]);
            let longest = (b - a).length().max((c - b).length()).max((a - c).length());
            (b - a).cross(c - a).length() <= distance * longest
        };
        // By vertices, whatever the winding; then by winding; then as given.
        let mut sorted: Vec<([usize; 3], bool, usize)> = (0..)
            .zip(&ids)
            .filter(|(_, ids)| !collapsed(ids))
            .map(|(index, &[a, b, c])| {
                let mut key = [a, b, c];
                key.sort_unstable();
                (key, [[a, b, c], [b, c, a], [c, a, b]].contains(&key), index)
            })
            .collect();
        sorted.sort_unstable();
        let mut kept = Vec::with_capacity(sorted.len());
        for same in sorted.chunk_by(|x, y| x.0 == y.0) {
            let first = |winding: bool| same.iter().find(|x| x.1 == winding).map(|x| x.2);
            let (one, other) = (first(false), first(true));
            kept.extend(one.map(|index| (index, other)));
            kept.extend(other.map(|index| (index, one)));
        }
        kept.sort_unstable();
        let given: Vec<usize> = kept.iter().map(|(index, _)| *index).collect();
        Self {
            triangles: given.iter().map(|index| ids[*index]).collect(),
            backs: kept
                .iter()
                .map(|(_, back)| back.and_then(|back| given.binary_search(&back).ok()))
                .collect(),
            given,
            points,
            distance,
        }
    }

    pub(super) fn corners(&self, triangle: usize) -> [DVec3; 3] {
        self.triangles[triangle].map(|id| self.points[id])
    }
}

fn distance(bounds: &Aabb, corners: impl Iterator<Item = [DVec3; 3]>) -> f64 {
    let mut edges: Vec<f64> = corners
        .flat_map(|[a, b, c]| [b - a, c - b, a - c].map(DVec3::length))
        .collect();
    let middle = edges.len() / 2;
    let (_, middle, _) = edges.select_nth_unstable_by(middle, f64::total_cmp);
    let distance = (OF_EXTENT * (bounds.max - bounds.min).length()).min(OF_EDGE * *middle);
    if distance.is_finite() { distance } else { 0.0 }
}

/// Places in the cells of a grid.
struct Welder {
    distance: f64,
    /// Corner of a cell (m).
    origin: DVec3,
    /// Side of a cell (m): few places are near more than one cell, and a cell has no room for many.
    side: f64,
    cells: BTreeMap<[i64; 3], SmallVec<[usize; 2]>>,
    points: Vec<DVec3>,
}

impl Welder {
    fn new(distance: f64, least: DVec3) -> Self {
        let side = (8.0 * distance).max(f64::MIN_POSITIVE);
        Self {
            distance,
            // Half a cell off, so that the sides of a box are within cells.
            origin: least - 0.5 * side,
            side,
            cells: BTreeMap::new(),
            points: Vec::new(),
        }
    }

    /// Number of the first place that is near, or of a new one.
    fn place(&mut self, point: DVec3) -> usize {
        let cell = |point: DVec3| {
            let place = (point - self.origin) / self.side;
            place.to_array().map(|x| x.floor() as i64)
        };
        let [low, high] = [point - self.distance, point + self.distance].map(cell);
        let [along_x, along_y, along_z] = [0, 1, 2].map(|k| low[k]..=high[k]);
        let mut found = usize::MAX;
        for x in along_x {
            for y in along_y.clone() {
                for z in along_z.clone() {
                    for &id in self.cells.get(&[x, y, z]).into_iter().flatten() {
                        if id < found && self.points[id].distance(point) <= self.distance {
                            found = id;
                        }
                    }
                }
            }
        }
        if found == usize::MAX {
            found = self.points.len();
            self.points.push(point);
            self.cells.entry(cell(point)).or_default().push(found);
        }
        found
    }
}
