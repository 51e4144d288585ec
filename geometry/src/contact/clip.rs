//! Clipping a convex polygon to the prism over a face.

use glam::DVec3;
use smallvec::SmallVec;

/// A corner of the clipped polygon. `id` numbers the corner: a vertex of the incident polygon, or
/// the pair (edge, clipping plane) that made it. `edge` labels the edge to the next corner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) position: DVec3,
    pub(crate) id: u64,
    pub(crate) edge: u64,
}

/// A polygon, or a segment if it has two corners.
pub(crate) type Polygon = SmallVec<[Corner; 16]>;

/// Labels of edges that lie in clipping planes start here.
const PLANE_LABEL: u64 = 1 << 15;

/// Cuts off the part of the polygon with `normal · x > offset`; corners within `tolerance` (m)
/// beyond the plane stay as they are, so that coinciding edges are not cut by rounding.
///
/// The plane's number must be below 2¹⁵, as must the labels of the polygon's own edges.
pub(crate) fn clip(
    polygon: &mut Polygon,
    normal: DVec3,
    offset: f64,
    plane: usize,
    tolerance: f64,
) {
    let height = |corner: &Corner| normal.dot(corner.position) - offset;
    if polygon.iter().all(|corner| height(corner) <= tolerance) {
        return;
    }
    let label = PLANE_LABEL + plane as u64;
    let cut = |from: &Corner, to: &Corner, edge: u64| {
        let (low, high) = (height(from), height(to));
        let fraction = low / (low - high);
        Corner {
            position: from.position + (to.position - from.position) * fraction,
            id: (1 << 40) | from.edge << 20 | label,
            edge,
        }
    };
    let old = std::mem::take(polygon);
    let count = old.len();
    let edges = if count == 2 { 1 } else { count };
    for i in 0..edges {
        let (from, to) = (&old[i], &old[(i + 1) % count]);
        let inside = height(from) <= tolerance;
        if inside {
            polygon.push(*from);
        }
        if inside != (height(to) <= tolerance) {
            polygon.push(cut(from, to, if inside { label } else { from.edge }));
        }
    }
    if count == 2 && height(&old[1]) <= tolerance {
        polygon.push(old[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Polygon {
        [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
            .iter()
            .zip(0..)
            .map(|(&(x, y), k)| Corner {
                position: DVec3::new(x, y, 0.0),
                id: k,
                edge: k,
            })
            .collect()
    }

    #[test]
    fn half_a_square_remains_a_rectangle() {
        let mut polygon = square();
        clip(&mut polygon, DVec3::X, 0.5, 3, 1e-9);
        assert_eq!(polygon.len(), 4);
        assert!(polygon.iter().all(|c| c.position.x <= 0.5));
        let mut ids: Vec<u64> = polygon.iter().map(|c| c.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 4);
        clip(&mut polygon, DVec3::X, -0.5, 3, 1e-9);
        assert!(polygon.is_empty());
    }

    #[test]
    fn a_segment_is_cut_at_both_ends() {
        let mut segment: Polygon = square().into_iter().take(2).collect();
        clip(&mut segment, DVec3::X, 0.75, 0, 1e-9);
        clip(&mut segment, DVec3::NEG_X, -0.25, 1, 1e-9);
        assert_eq!(segment.len(), 2);
        assert!((segment[0].position.x - 0.25).abs() < 1e-15);
        assert!((segment[1].position.x - 0.75).abs() < 1e-15);
    }
}
