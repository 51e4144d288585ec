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
/// beyond the plane stay as they are, so that coinciding edges are not cut by rounding. Returns
/// whether something was cut: the rest is in `out` then, which is left alone otherwise.
///
/// The plane's number must be below 2¹⁵, as must the labels of the polygon's own edges.
pub(crate) fn clip(
    polygon: &[Corner],
    normal: DVec3,
    offset: f64,
    plane: usize,
    tolerance: f64,
    out: &mut Polygon,
) -> bool {
    let height = |corner: &Corner| normal.dot(corner.position) - offset;
    if polygon.iter().all(|corner| height(corner) <= tolerance) {
        return false;
    }
    out.clear();
    let label = PLANE_LABEL + plane as u64;
    let count = polygon.len();
    let edges = if count == 2 { 1 } else { count };
    let mut low = height(&polygon[0]);
    for (i, from) in polygon[..edges].iter().enumerate() {
        let to = &polygon[if i + 1 == count { 0 } else { i + 1 }];
        let high = height(to);
        let inside = low <= tolerance;
        if inside {
            out.push(*from);
        }
        if inside != (high <= tolerance) {
            let fraction = low / (low - high);
            out.push(Corner {
                position: from.position + (to.position - from.position) * fraction,
                id: (1 << 40) | from.edge << 20 | label,
                edge: if inside { label } else { from.edge },
            });
        }
        low = high;
    }
    if count == 2 && low <= tolerance {
        out.push(polygon[1]);
    }
    true
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
        let mut polygon = Polygon::new();
        assert!(clip(&square(), DVec3::X, 0.5, 3, 1e-9, &mut polygon));
        assert_eq!(polygon.len(), 4);
        assert!(polygon.iter().all(|c| c.position.x <= 0.5));
        let mut ids: Vec<u64> = polygon.iter().map(|c| c.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 4);
        let mut nothing = Polygon::new();
        assert!(!clip(&polygon, DVec3::X, 0.5, 3, 1e-9, &mut nothing));
        assert!(clip(&polygon, DVec3::X, -0.5, 3, 1e-9, &mut nothing));
        assert!(nothing.is_empty());
    }

    #[test]
    fn a_segment_is_cut_at_both_ends() {
        let (mut shorter, mut segment) = (Polygon::new(), Polygon::new());
        assert!(clip(&square()[..2], DVec3::X, 0.75, 0, 1e-9, &mut shorter));
        assert!(clip(&shorter, DVec3::NEG_X, -0.25, 1, 1e-9, &mut segment));
        assert_eq!(segment.len(), 2);
        assert!((segment[0].position.x - 0.25).abs() < 1e-15);
        assert!((segment[1].position.x - 0.75).abs() < 1e-15);
    }
}
