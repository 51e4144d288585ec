//! Redundant contacts of neighbouring parts or triangles.

use super::ContactPoint;
use super::patch::{LocalContact, Patch};
use super::reduce;
use glam::DVec3;

/// Contacts with a surface that are compared one by one …
const MOST: usize = 512;
/// … and, of more, cells along each axis of the box around them: one is kept in each.
const CELLS: usize = 8;
/// Gaps that differ by less than this part of the box count as equal.
const EQUAL: f64 = 1e-6;

/// Keeps a well-spread part of very many contacts from `start` on, in their order: in each cell of a grid the deepest, and of several
/// deepest one far out. The corners of a face on a fine mesh are among them.
pub(crate) fn thin(contacts: &mut Vec<ContactPoint>, start: usize) {
    let all = &contacts[start..];
    if all.len() <= MOST {
        return;
    }
    let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = all
        .iter()
        .fold(none, |(low, high), c| (low.min(c.point), high.max(c.point)));
    let (middle, size) = (
        0.5 * (low + high),
        (high - low).max(DVec3::splat(f64::MIN_POSITIVE)),
    );
    let near = EQUAL * (high - low).length();
    let cell = |c: &ContactPoint| {
        let part = (c.point - low) / size * CELLS as f64;
        let index = |x: f64| (x as usize).min(CELLS - 1);
        (index(part.x) * CELLS + index(part.y)) * CELLS + index(part.z)
    };
    let mut lowest = [f64::INFINITY; CELLS * CELLS * CELLS];
    for contact in all {
        let lowest = &mut lowest[cell(contact)];
        *lowest = lowest.min(contact.gap);
    }
    let mut farthest = [(-1.0, usize::MAX); CELLS * CELLS * CELLS];
    for (index, contact) in all.iter().enumerate() {
        let cell = cell(contact);
        let out = (contact.point - middle).length();
        if contact.gap <= lowest[cell] + near && out > farthest[cell].0 {
            farthest[cell] = (out, index);
        }
    }
    let mut kept: Vec<usize> = farthest.iter().map(|(_, index)| *index).collect();
    kept.retain(|index| *index != usize::MAX);
    kept.sort_unstable();
    for (place, index) in kept.iter().enumerate() {
        contacts[start + place] = contacts[start + index];
    }
    contacts.truncate(start + kept.len());
}

/// Keeps four well-spread contacts of each plane among those from `start` on: of one convex solid
/// on coplanar triangles, as if these were one face. Contacts lie in one plane if their normals
/// agree to 1e-6 and their points on the surface to 1e-6 of `size` (m). `sign` is 1 if the
/// normals point away from the surface, −1 if towards it.
pub(crate) fn coplanar(contacts: &mut Vec<ContactPoint>, start: usize, size: f64, sign: f64) {
    if contacts.len() - start <= 4 {
        return;
    }
    let mut rest: Vec<ContactPoint> = contacts.drain(start..).collect();
    while !rest.is_empty() {
        let first = rest.remove(0);
        let height = |c: &ContactPoint| {
            let n = first.normal;
            n.dot(c.point - first.point) - 0.5 * sign * (c.gap - first.gap)
        };
        let (plane, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(|c| {
            (c.normal - first.normal).length_squared() <= 1e-12 && height(c).abs() <= 1e-6 * size
        });
        let mut patch: Patch = std::iter::once(&first)
            .chain(&plane)
            .map(|c| LocalContact {
                point: c.point,
                normal: c.normal,
                gap: c.gap,
                feature: c.feature,
            })
            .collect();
        reduce::to_four(&mut patch);
        contacts.extend(patch.iter().map(|c| ContactPoint {
            point: c.point,
            normal: c.normal,
            gap: c.gap,
            feature: c.feature,
        }));
        rest = others;
    }
}
