//! Planes of many triangles.
//!
//! Where two bodies touch in a plane, the outermost and the deepest points of contact are points of the solid or of the plane's border. A
//! triangle gives a point of its own only where one of the solid's is over it, or an edge of it that bounds the plane is near: however
//! finely the plane is cut.

use crate::Aabb;
use glam::DVec3;

/// Corners leave the plane of a triangle by no more than this part of a side: far above rounding, far below what a contact tells.
pub(super) const FLAT: f64 = 1e-7;

/// Where a triangle lies in its plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// Number of the plane.
    plane: u32,
    /// Bit `k` is set if the edge from corner `k` bounds it.
    borders: u8,
}

impl Level {
    const ALL: u8 = 7;

    /// That of a triangle alone in a plane.
    pub(super) fn alone(plane: usize) -> Self {
        Self {
            plane: plane as u32,
            borders: Self::ALL,
        }
    }

    /// True if no edge bounds the plane.
    #[cfg(test)]
    pub(super) fn is_within(self) -> bool {
        self.borders == 0
    }

    /// Number of the plane if no border of it along the triangle, of which these are the corners, is within a region.
    pub(super) fn within(self, corners: &[DVec3; 3], region: &Aabb) -> Option<u32> {
        let is_near = |k: usize| {
            let edge = [corners[k], corners[(k + 1) % 3]];
            self.borders >> k & 1 == 1 && Aabb::from_points(edge).intersects(region)
        };
        let is_within = self.borders != Self::ALL && !(0..3).any(is_near);
        is_within.then_some(self.plane)
    }
}

/// The planes of `count` triangles. `neighbours` says what lies behind the parts of an edge of one, none at a border; `are_level` whether
/// the second of two lies in the plane of the first.
pub(super) fn levels<N>(
    count: usize,
    neighbours: impl Fn(usize, usize) -> N,
    are_level: impl Fn(usize, usize) -> bool,
) -> Vec<Level>
where
    N: IntoIterator<Item = Option<usize>>,
{
    const NONE: u32 = u32::MAX;
    // The first triangle of the plane that each belongs to.
    let mut planes = vec![NONE; count];
    let mut open = Vec::new();
    for first in 0..count {
        if planes[first] != NONE {
            continue;
        }
        planes[first] = first as u32;
        open.push(first);
        while let Some(triangle) = open.pop() {
            for edge in 0..3 {
                for next in neighbours(triangle, edge).into_iter().flatten() {
                    if planes[next] == NONE && are_level(first, next) {
                        planes[next] = first as u32;
                        open.push(next);
                    }
                }
            }
        }
    }
    let level = |triangle: usize| {
        let plane = planes[triangle];
        let is_same = |next: Option<usize>| next.is_some_and(|next| planes[next] == plane);
        let bounds = |edge: usize| !neighbours(triangle, edge).into_iter().all(is_same);
        let borders = (0..3).map(|edge| u8::from(bounds(edge)) << edge).sum();
        Level { plane, borders }
    };
    (0..count).map(level).collect()
}
