//! Roughly the direction between two bodies, from the closest points of what is left when they are shrunk by a tenth.
//!
//! GJK [Gilbert88] on the differences of points of A and B. Those of the shrunk bodies are, but for the scale, the differences of the whole ones moved by
//! a ninth of the difference of the points about which they shrink.

use super::meeting::Body;
use glam::DVec3;
use smallvec::SmallVec;

/// By how much the bodies are moved apart, over the distance of their inner points.
const MOVED: f64 = 1.0 / 9.0;
/// Most points.
const POINTS: usize = 40;

/// What is found.
pub(super) enum Rough {
    /// The whole bodies are farther apart than the limit.
    Apart,
    /// Even the shrunk bodies overlap.
    Deep,
    /// A direction, and the points between which it runs.
    Near,
}

/// A point of each body, and their difference, A less B, moved apart.
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    a: DVec3,
    b: DVec3,
    apart: DVec3,
}

/// The state of a search: one to four corners, and the nearest point of what they span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simplex {
    /// Unit direction from A to B.
    pub(super) direction: DVec3,
    corners: [Corner; 4],
    count: usize,
    moved: DVec3,
    nearest: DVec3,
    square: f64,
}

impl Simplex {
    /// No corners yet.
    pub(super) fn new<A: Body, B: Body>(a: &A, b: &B) -> Self {
        let between = a.inner() - b.inner();
        Self {
            direction: DVec3::Z,
            corners: [Corner::default(); 4],
            count: 0,
            moved: between * MOVED,
            nearest: between.try_normalize().unwrap_or(DVec3::Z),
            square: f64::INFINITY,
        }
    }

    /// No corners yet. A is moved back along a direction to B, by this length (m), and the search begins with that direction.
    pub(super) fn behind(direction: DVec3, by: f64) -> Self {
        Self {
            direction,
            corners: [Corner::default(); 4],
            count: 0,
            moved: direction * -by,
            nearest: -direction,
            square: f64::INFINITY,
        }
    }

    /// Distance of the bodies as they were moved, or more (m).
    pub(super) fn distance(&self) -> f64 {
        self.square.sqrt()
    }

    /// The whole bodies, not moved, overlap: the search goes on with the corners at hand.
    pub(super) fn overlap<A: Body, B: Body>(&mut self, a: &A, b: &B) -> bool {
        let moved = std::mem::take(&mut self.moved);
        for corner in &mut self.corners[..self.count] {
            corner.apart -= moved;
        }
        let Some(nearest) = self.reduced() else {
            return true;
        };
        (self.nearest, self.square) = (nearest, nearest.length_squared());
        matches!(self.search(a, b, 0.0, 1e-6), Rough::Deep)
    }

    /// Corners on A.
    pub(super) fn on_a(&self) -> SmallVec<[DVec3; 4]> {
        self.corners[..self.count].iter().map(|c| c.a).collect()
    }

    /// Corners on B.
    pub(super) fn on_b(&self) -> SmallVec<[DVec3; 4]> {
        self.corners[..self.count].iter().map(|c| c.b).collect()
    }

    /// Searches on until the relative error of the distance of the shrunk bodies is below `rough`.
    pub(super) fn search<A: Body, B: Body>(
        &mut self,
        a: &A,
        b: &B,
        limit: f64,
        rough: f64,
    ) -> Rough {
        for _ in 0..POINTS {
            let Some(l) = (-self.nearest).try_normalize() else {
                return Rough::Deep;
            };
            self.direction = l;
            let (p, q) = (a.farthest(l), b.farthest(-l));
            if l.dot(q - p) > limit {
                return Rough::Apart;
            }
            let apart = p - q + self.moved;
            // The plane through the new point bounds the distance from below.
            let is_known = self.corners[..self.count].iter().any(|c| c.apart == apart);
            let is_close = self.square - self.nearest.dot(apart) <= rough * self.square;
            if is_known || self.count > 0 && is_close {
                return Rough::Near;
            }
            self.corners[self.count] = Corner { a: p, b: q, apart };
            self.count += 1;
            let Some(next) = self.reduced() else {
                return Rough::Deep;
            };
            let then = next.length_squared();
            if then >= self.square {
                return Rough::Near;
            }
            (self.nearest, self.square) = (next, then);
        }
        Rough::Near
    }

    /// Keeps the corners of these numbers, which grow.
    fn keep(&mut self, kept: &[usize]) {
        for (place, number) in kept.iter().enumerate() {
            if place < *number {
                self.corners[place] = self.corners[*number];
            }
        }
        self.count = kept.len();
    }

    /// The point of the simplex nearest to the origin; keeps the corners of the part on which it lies. None if the origin is within.
    fn reduced(&mut self) -> Option<DVec3> {
        let [a, b, c, d] = self.corners.map(|corner| corner.apart);
        match self.count {
            1 => Some(a),
            2 => {
                let (point, kept) = on_segment([a, b], [0, 1]);
                kept.apply(self);
                Some(point)
            }
            3 => {
                let (point, kept) = on_triangle([a, b, c], [0, 1, 2]);
                kept.apply(self);
                Some(point)
            }
            _ => {
                // The faces beyond which the origin lies.
                let mut best: Option<(DVec3, Kept)> = None;
                let faces = [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 3, 1], [1, 2, 3, 0]];
                for [i, j, k, inner] in faces {
                    let [x, y, z, w] = [i, j, k, inner].map(|n| [a, b, c, d][n]);
                    let normal = (y - x).cross(z - x);
                    let (height, side) = (-normal.dot(x), normal.dot(w - x));
                    if height * side < 0.0
                        || side.abs() <= 1e-12 * normal.length() * (w - x).length()
                    {
                        let (point, kept) = on_triangle([x, y, z], [i, j, k]);
                        if best.is_none_or(|(known, _)| {
                            point.length_squared() < known.length_squared()
                        }) {
                            best = Some((point, kept));
                        }
                    }
                }
                let (point, kept) = best?;
                kept.apply(self);
                Some(point)
            }
        }
    }
}

/// Corners that are kept, by growing numbers.
#[derive(Clone, Copy)]
enum Kept {
    One([usize; 1]),
    Two([usize; 2]),
    Three([usize; 3]),
}

impl Kept {
    fn apply(self, simplex: &mut Simplex) {
        match self {
            Self::One(kept) => simplex.keep(&kept),
            Self::Two(kept) => simplex.keep(&kept),
            Self::Three(kept) => simplex.keep(&kept),
        }
    }
}

fn on_segment([a, b]: [DVec3; 2], [i, j]: [usize; 2]) -> (DVec3, Kept) {
    let along = b - a;
    let (here, square) = (-a.dot(along), along.length_squared());
    if here <= 0.0 {
        (a, Kept::One([i]))
    } else if here >= square {
        (b, Kept::One([j]))
    } else {
        (a + along * (here / square), Kept::Two([i, j]))
    }
}

/// By the regions about corners, edges and inside [Ericson05].
fn on_triangle([a, b, c]: [DVec3; 3], [i, j, k]: [usize; 3]) -> (DVec3, Kept) {
    let (ab, ac) = (b - a, c - a);
    let of = |p: DVec3| (-ab.dot(p), -ac.dot(p));
    let ((a1, a2), (b1, b2), (c1, c2)) = (of(a), of(b), of(c));
    if a1 <= 0.0 && a2 <= 0.0 {
        return (a, Kept::One([i]));
    }
    if b1 >= 0.0 && b2 <= b1 {
        return (b, Kept::One([j]));
    }
    if c2 >= 0.0 && c1 <= c2 {
        return (c, Kept::One([k]));
    }
    if a1 * b2 - b1 * a2 <= 0.0 && a1 >= 0.0 && b1 <= 0.0 {
        return (a + ab * (a1 / (a1 - b1)), Kept::Two([i, j]));
    }
    if c1 * a2 - a1 * c2 <= 0.0 && a2 >= 0.0 && c2 <= 0.0 {
        return (a + ac * (a2 / (a2 - c2)), Kept::Two([i, k]));
    }
    let (from_b, from_c) = (b2 - b1, c1 - c2);
    if b1 * c2 - c1 * b2 <= 0.0 && from_b >= 0.0 && from_c >= 0.0 {
        let along = from_b / (from_b + from_c);
        return (b + (c - b) * along, Kept::Two([j, k]));
    }
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    if square <= 0.0 {
        return on_segment([a, b], [i, j]);
    }
    (normal * (normal.dot(a) / square), Kept::Three([i, j, k]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::meeting::Turned;
    use crate::frustum::Frustum;

    /// A point is the nearest of a convex body if the plane across it supports the body.
    #[test]
    fn the_nearest_point_of_a_simplex_supports_it() {
        let at = |k: u32| {
            let number = |a: u32| f64::from(k * a % 1009) / 504.5 - 1.0;
            DVec3::new(number(7919), number(104_729 % 1009), number(631)) + DVec3::X * 0.8
        };
        let cylinder = Frustum::new(1.0, 1.0, 1.0);
        let body = Turned {
            frustum: &cylinder,
            axis: DVec3::Z,
            center: DVec3::ZERO,
        };
        let mut outside = 0;
        for k in 0..2000 {
            let mut simplex = Simplex::new(&body, &body);
            let count = 1 + (k % 4) as usize;
            for (n, corner) in simplex.corners.iter_mut().enumerate().take(count) {
                corner.apart = at(4 * k + n as u32);
            }
            simplex.count = count;
            let all = simplex.corners;
            let Some(nearest) = simplex.reduced() else {
                continue;
            };
            outside += 1;
            for corner in &all[..count] {
                let height = nearest.dot(corner.apart) - nearest.length_squared();
                assert!(height > -1e-12, "{k}: {height}");
            }
        }
        assert!(outside > 1500, "{outside}");
    }
}
