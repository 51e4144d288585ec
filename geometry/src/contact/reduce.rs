//! At most four well-spread points of a patch.

use super::patch::{LocalContact, Patch};
use glam::DVec3;

/// Lengths that differ by less than this part of the spread count as equal, and points closer together as one. Of equals the first is
/// taken: what one step leaves of gaps and turns must not choose other points in the next, which would start from no load.
const NEAR: f64 = 1e-4;
/// Only near touch, up to this part of the spread, does that matter more than the very lowest point. Elsewhere only rounding counts as
/// equal …
const TOUCH: f64 = 0.01;
/// … up to this part.
const ROUNDING: f64 = 1e-9;

/// Points that are higher above the facet than this part of the spread are not of it.
const OF_FACET: f64 = 1e-3;

/// Keeps the deepest point, the one farthest from it, and the two that span the largest triangles
/// with these on either side. The order of the points is kept.
///
/// Over the plane of contact the gaps are heights. Their lower hull is what two bodies can touch with:
/// a point above it has others to all sides that close before it. Of the hull the facet at the deepest
/// point that leans least is what they come to rest on. Points elsewhere count only where it has none.
pub(crate) fn to_four(patch: &mut Patch) {
    if patch.len() <= 4 {
        return;
    }
    let first = patch[0].point;
    let spread = patch
        .iter()
        .fold(0.0_f64, |s, c| s.max((c.point - first).length()));
    let lowest = patch.iter().fold(f64::INFINITY, |g, c| g.min(c.gap));
    let middle = patch.iter().map(|c| c.point).sum::<DVec3>() / patch.len() as f64;
    let near = NEAR * spread;
    let equal = if lowest.abs() <= TOUCH * spread {
        near
    } else {
        ROUNDING * spread
    };
    // Of several deepest points, one far out.
    let deepest = best(patch, -1.0, equal, |c| {
        if c.gap <= lowest + equal {
            (c.point - middle).length()
        } else {
            -1.0
        }
    });
    let Some(a) = deepest else { return };
    let origin = patch[a].point;
    let mut kept = [a; 4];
    let mut count = 1;
    let facet = Facet::at(patch, &patch[a], near);
    let of_facet = |c: &LocalContact| facet.height(c) <= OF_FACET * spread;
    let distance = |c: &LocalContact| (c.point - origin).length();
    let farthest = best(patch, near, near, |c| {
        if of_facet(c) { distance(c) } else { 0.0 }
    });
    if let Some(b) = farthest {
        kept[1] = b;
        count = 2;
        let along = patch[b].point - origin;
        let across = patch[a].normal.cross(along);
        let signed = |point: DVec3| (point - origin).dot(across);
        let least = near * along.length();
        for sign in [1.0, -1.0] {
            let area = |c: &LocalContact| sign * signed(c.point);
            let side = best(
                patch,
                least,
                least,
                |c| {
                    if of_facet(c) { area(c) } else { 0.0 }
                },
            );
            let elsewhere = || {
                best(patch, f64::NEG_INFINITY, least, |c| {
                    if area(c) > least {
                        area(c) - facet.height(c) * along.length()
                    } else {
                        f64::NEG_INFINITY
                    }
                })
            };
            if let Some(c) = side.or_else(elsewhere) {
                kept[count] = c;
                count += 1;
            }
        }
    }
    let kept = &mut kept[..count];
    kept.sort_unstable();
    for (k, &i) in kept.iter().enumerate() {
        patch.swap(k, i);
    }
    patch.truncate(count);
}

/// The facet of the lower hull at the deepest point that leans least.
struct Facet {
    deepest: LocalContact,
    /// What its height grows by along the plane of contact.
    slope: DVec3,
}

impl Facet {
    /// Wraps the hull: the edge of least slope at the deepest point, and of the facets at that edge the one that leans less. Points
    /// within `near` (m) of the point or of the edge are no part of it.
    fn at(patch: &Patch, deepest: &LocalContact, near: f64) -> Self {
        let mut facet = Self {
            deepest: *deepest,
            slope: DVec3::ZERO,
        };
        let mut least = f64::INFINITY;
        let mut edge = DVec3::ZERO;
        for contact in patch {
            let aside = facet.aside(contact);
            let length = aside.length();
            if length > near && facet.height(contact) < least * length {
                least = facet.height(contact) / length;
                edge = aside / length;
            }
        }
        if edge == DVec3::ZERO {
            return facet;
        }
        facet.slope = edge * least;
        let across = deepest.normal.cross(edge);
        let (mut least, mut outward) = (f64::INFINITY, DVec3::ZERO);
        for contact in patch {
            let aside = facet.aside(contact).dot(across);
            if aside.abs() > near && facet.height(contact) < least * aside.abs() {
                least = facet.height(contact) / aside.abs();
                outward = across * aside.signum();
            }
        }
        if outward != DVec3::ZERO {
            facet.slope += outward * least;
        }
        facet
    }

    /// From the deepest point, along the plane of contact.
    fn aside(&self, contact: &LocalContact) -> DVec3 {
        (contact.point - self.deepest.point).reject_from_normalized(self.deepest.normal)
    }

    /// Height of a point above the facet, m.
    fn height(&self, contact: &LocalContact) -> f64 {
        contact.gap - self.deepest.gap - self.slope.dot(self.aside(contact))
    }
}

/// First contact whose measure exceeds `least` and all others', up to `bias`.
fn best(
    patch: &Patch,
    least: f64,
    bias: f64,
    measure: impl Fn(&LocalContact) -> f64,
) -> Option<usize> {
    let mut found = None;
    let mut value = least;
    for (i, contact) in patch.iter().enumerate() {
        let here = measure(contact);
        if here > value + if found.is_some() { bias } else { 0.0 } {
            found = Some(i);
            value = here;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_a_grid_survive() {
        let mut patch = Patch::new();
        for i in 0..25 {
            let (x, y) = (f64::from(i % 5), f64::from(i / 5));
            patch.push(LocalContact {
                point: DVec3::new(x, y, 0.0),
                normal: DVec3::Z,
                gap: if i == 0 { -1e-3 } else { 0.0 },
                feature: i as u64,
            });
        }
        to_four(&mut patch);
        let features: Vec<u64> = patch.iter().map(|c| c.feature).collect();
        assert_eq!(features, [0, 4, 20, 24]);
    }

    fn reduced(points: &[(f64, f64, f64)]) -> Vec<u64> {
        let mut patch: Patch = (0..)
            .zip(points)
            .map(|(feature, &(x, y, gap))| LocalContact {
                point: DVec3::new(x, y, 0.5 * gap),
                normal: DVec3::Z,
                gap,
                feature,
            })
            .collect();
        to_four(&mut patch);
        patch.iter().map(|c| c.feature).collect()
    }

    /// A square of half side 1 with a wider one above it.
    #[test]
    fn what_is_above_the_facet_is_not_kept_for_its_reach() {
        let square = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        for wider in [1.0, 1.5, 3.0] {
            for height in [0.01, 0.1, 1.0] {
                for tilt in [-0.02, 0.0, 1e-12, 0.001, 0.1] {
                    let point = |side: f64, up: f64| {
                        square.map(|(x, y)| (x * side, y * side, up + tilt * (2.0 * x + y) * side))
                    };
                    let (low, high) = (point(1.0, 0.0), point(wider, height));
                    // As long as the deepest point is one of the square.
                    if tilt.abs() * 3.0 * (wider - 1.0) < height {
                        let all = [low, high].concat();
                        assert_eq!(reduced(&all), [0, 1, 2, 3], "{wider} {height} {tilt}");
                        let all = [high, low].concat();
                        assert_eq!(reduced(&all), [4, 5, 6, 7], "{wider} {height} {tilt}");
                    }
                }
            }
        }
    }

    /// A cube on one of its edges, a cube and a tetrahedron on one of their corners.
    #[test]
    fn points_elsewhere_count_where_the_facet_has_none() {
        let edge = [
            (0.0, 0.0, 0.0),
            (0.0, 1.0, 0.0),
            (1.0, 0.0, 1.0),
            (1.0, 1.0, 1.0),
            (-1.0, 0.0, 1.1),
            (-1.0, 1.0, 1.1),
        ];
        assert_eq!(reduced(&edge), [0, 1, 2, 3]);
        let corner = [
            (0.0, 0.0, 0.0),
            (1.0, 0.0, 0.7),
            (-0.5, 0.87, 0.7),
            (-0.5, -0.87, 0.7),
            (0.5, 0.87, 1.4),
            (0.5, -0.87, 1.4),
            (-1.0, 0.0, 1.4),
        ];
        assert_eq!(reduced(&corner), [0, 1, 2, 4]);
        let tetrahedron = [
            (0.0, 0.0, 0.0),
            (1.0, 0.0, 0.7),
            (-0.5, 0.87, 0.71),
            (-0.5, -0.87, 0.72),
            (0.0, 0.0, 1.0),
        ];
        assert_eq!(reduced(&tetrahedron), [0, 1, 2, 3]);
    }
}
