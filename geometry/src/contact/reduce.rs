//! At most four well-spread points of a patch.

use super::patch::{LocalContact, Patch};
use glam::DVec3;

/// A later candidate replaces an earlier one only if it is better by this fraction: rounding must
/// not decide between equals.
const BIAS: f64 = 1e-9;

/// Keeps the deepest point, the one farthest from it, and the two that span the largest triangles
/// with these on either side. The order of the points is kept.
pub(crate) fn to_four(patch: &mut Patch) {
    if patch.len() <= 4 {
        return;
    }
    let first = patch[0].point;
    let spread = patch
        .iter()
        .fold(0.0_f64, |s, c| s.max((c.point - first).length()));
    // Points closer together than 1e-4 of the spread count as one.
    let lowest = patch.iter().fold(f64::INFINITY, |g, c| g.min(c.gap));
    let middle = patch.iter().map(|c| c.point).sum::<DVec3>() / patch.len() as f64;
    // Of several deepest points, one far out.
    let deepest = best(patch, -1.0, BIAS * spread, |c| {
        if c.gap <= lowest + BIAS * spread {
            (c.point - middle).length()
        } else {
            -1.0
        }
    });
    let Some(a) = deepest else { return };
    let origin = patch[a].point;
    let near = 1e-4 * spread;
    let mut kept = [a; 4];
    let mut count = 1;
    if let Some(b) = best(patch, near, BIAS * spread, |c| (c.point - origin).length()) {
        kept[1] = b;
        count = 2;
        let along = patch[b].point - origin;
        let across = patch[a].normal.cross(along);
        let signed = |point: DVec3| (point - origin).dot(across);
        let least = near * along.length();
        for sign in [1.0, -1.0] {
            let side = best(patch, least, BIAS * spread * spread, |c| {
                sign * signed(c.point)
            });
            if let Some(c) = side {
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
}
