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

/// Cuts off the part of the polygon above a plane, of which `height` (m) is the signed distance; corners
/// up to `tolerance` (m) above stay as they are, so that coinciding edges are not cut by rounding. Returns
/// whether something was cut: the rest is in `out` then, which is left alone otherwise.
///
/// The plane's number must be below 2¹⁵, as must the labels of the polygon's own edges.
pub(crate) fn clip(
    polygon: &[Corner],
    height: impl Fn(&Corner) -> f64,
    plane: usize,
    tolerance: f64,
    out: &mut Polygon,
) -> bool {
    // No early exit: the branch would be mispredicted.
    let inside = |inside: bool, corner: &Corner| inside & (height(corner) <= tolerance);
    if polygon.iter().fold(true, inside) {
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
            let edge = if inside { label } else { from.edge };
            if low.min(high) < 0.0 {
                let fraction = low / (low - high);
                out.push(Corner {
                    position: from.position + (to.position - from.position) * fraction,
                    id: (1 << 40) | from.edge << 20 | label,
                    edge,
                });
            } else if inside && let Some(last) = out.last_mut() {
                // Between plane and tolerance: the corner itself is where the polygon ends, the line
                // meets the plane anywhere.
                last.edge = edge;
            }
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

    fn below(normal: DVec3, offset: f64) -> impl Fn(&Corner) -> f64 {
        move |corner| normal.dot(corner.position) - offset
    }

    #[test]
    fn half_a_square_remains_a_rectangle() {
        let mut polygon = Polygon::new();
        assert!(clip(&square(), below(DVec3::X, 0.5), 3, 1e-9, &mut polygon));
        assert_eq!(polygon.len(), 4);
        assert!(polygon.iter().all(|c| c.position.x <= 0.5));
        let mut ids: Vec<u64> = polygon.iter().map(|c| c.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 4);
        let mut nothing = Polygon::new();
        assert!(!clip(&polygon, below(DVec3::X, 0.5), 3, 1e-9, &mut nothing));
        assert!(clip(&polygon, below(DVec3::X, -0.5), 3, 1e-9, &mut nothing));
        assert!(nothing.is_empty());
    }

    /// Two corners within and just beyond the tolerance: the line through them meets the plane far away.
    #[test]
    fn what_is_left_lies_within_the_polygon() {
        for low in [0.5e-9, 0.9e-9, 0.999e-9] {
            for high in [1.001e-9, 1.1e-9, 2e-9] {
                for (first, second) in [(low, high), (high, low)] {
                    // Heights of the corners at x = 1: `first` at y = 0, `second` at y = 1.
                    let height = |corner: &Corner| {
                        let [x, y, _] = corner.position.to_array();
                        (x - 1.0) + first + (second - first) * y
                    };
                    let mut rest = Polygon::new();
                    assert!(clip(&square(), height, 0, 1e-9, &mut rest));
                    for corner in &rest {
                        let [x, y, _] = corner.position.to_array();
                        let within = |x: f64| (-1e-9..=1.0 + 1e-9).contains(&x);
                        assert!(within(x) && within(y), "{low} {high}: {corner:?}");
                    }
                    let width = rest.iter().fold(0.0_f64, |w, c| w.max(c.position.x));
                    assert!(width > 1.0 - 3e-9, "{width}");
                }
            }
        }
    }

    #[test]
    fn a_segment_is_cut_at_both_ends() {
        let (mut shorter, mut segment) = (Polygon::new(), Polygon::new());
        assert!(clip(
            &square()[..2],
            below(DVec3::X, 0.75),
            0,
            1e-9,
            &mut shorter
        ));
        assert!(clip(
            &shorter,
            below(DVec3::NEG_X, -0.25),
            1,
            1e-9,
            &mut segment
        ));
        assert_eq!(segment.len(), 2);
        assert!((segment[0].position.x - 0.25).abs() < 1e-15);
        assert!((segment[1].position.x - 0.75).abs() < 1e-15);
    }
}
