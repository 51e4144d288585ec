//! How a [`Tree`] is looked at.
//!
//! A line `o + s d` is within the box `[a, b]` for `s` in the meet of `(a_k − o_k)/d_k … (b_k − o_k)/d_k`. In single precision each of these is off
//! by a few units of rounding, and the origin, too: it is rounded to the side that makes the box wider, and the bounds are moved apart by more
//! than the rest. A moving box is a line and boxes that are wider by its half extents.

use super::tree::{ITEM, NONE, Node, Tree, WIDTH, down, up};
use crate::Aabb;
use glam::DVec3;
use smallvec::SmallVec;

/// More than the rounding of a difference, a quotient and a product in single precision, relative to 1.
const SLACK: f32 = 1e-6;

/// A line, ready for the nodes of a tree.
struct Line {
    /// Subtracted from the sides where the line enters, and where it leaves, by axis.
    origins: [[f32; 3]; 2],
    inverse: [f32; 3],
    /// Which sides it enters by: 0 the lower ones.
    enters: [usize; 3],
    /// Where its origin is on the original line (m).
    start: f64,
}

impl Line {
    /// Distances at which the line enters the four boxes, no greater than they are; infinite where it does not before `limit`.
    #[inline]
    fn enter(&self, node: &Node, limit: f32) -> [f32; WIDTH] {
        let (mut enter, mut exit) = ([0.0_f32; WIDTH], [f32::INFINITY; WIDTH]);
        for axis in 0..3 {
            let side = self.enters[axis];
            let (near, far) = (&node.sides[side][axis], &node.sides[1 - side][axis]);
            let (before, after) = (self.origins[0][axis], self.origins[1][axis]);
            let inverse = self.inverse[axis];
            for lane in 0..WIDTH {
                let (a, b) = (
                    (near[lane] - before) * inverse,
                    (far[lane] - after) * inverse,
                );
                // Not a number, on a side of a box along the line: it says nothing.
                enter[lane] = if a > enter[lane] { a } else { enter[lane] };
                exit[lane] = if b < exit[lane] { b } else { exit[lane] };
            }
        }
        for lane in 0..WIDTH {
            let (a, b) = (enter[lane] * (1.0 - SLACK), exit[lane] * (1.0 + SLACK));
            enter[lane] = if (a <= b) & (a <= limit) {
                a
            } else {
                f32::INFINITY
            };
        }
        enter
    }
}

impl Tree {
    /// Visits the items whose boxes a ray may meet, `origin + s direction` with `0 ≤ s ≤ reach` (m), `|direction| = 1`, about in the order of `s`. `visit` gets
    /// the reach and returns that for the rest of the way; negative, to stop.
    pub fn cast(
        &self,
        origin: DVec3,
        direction: DVec3,
        reach: f64,
        visit: impl FnMut(u32, f64) -> f64,
    ) {
        self.walk(origin, direction, DVec3::ZERO, reach, visit);
    }

    /// The same of a box that moves along `direction`.
    pub fn sweep(
        &self,
        start: &Aabb,
        direction: DVec3,
        reach: f64,
        visit: impl FnMut(u32, f64) -> f64,
    ) {
        let (center, half) = (0.5 * (start.min + start.max), 0.5 * (start.max - start.min));
        if center.is_finite() && half.is_finite() {
            self.walk(center, direction, half, reach, visit);
        } else {
            let mut visit = visit;
            self.all(|item| visit(item, reach) >= 0.0);
        }
    }

    /// Visits all items until one says that it is enough.
    fn all(&self, go_on: impl FnMut(u32) -> bool) {
        let places = (0..).zip(&self.places);
        let known = places.filter(|(_, place)| **place != NONE);
        let mut items = known
            .map(|(item, _)| item)
            .chain(self.loose.iter().copied());
        items.all(go_on);
    }

    #[inline]
    fn walk(
        &self,
        origin: DVec3,
        direction: DVec3,
        half: DVec3,
        mut reach: f64,
        mut visit: impl FnMut(u32, f64) -> f64,
    ) {
        for &item in &self.loose {
            reach = visit(item, reach).min(reach);
            if reach < 0.0 {
                return;
            }
        }
        let Some(root) = self.nodes.first() else {
            return;
        };
        let line = self.line(root, origin, direction, half);
        let limit = |reach: f64| up((reach - line.start) + 1e-14 * line.start);
        let mut most = limit(reach);
        let mut open: SmallVec<[(f32, u32); 64]> = SmallVec::new();
        let mut node = root;
        loop {
            // The nearest branch last.
            let enter = line.enter(node, most);
            let first = open.len();
            for (lane, at) in enter.into_iter().enumerate() {
                // Along an axis that says nothing an empty box is met as any other.
                if at < f32::INFINITY && node.branches[lane] != NONE {
                    let mut place = open.len();
                    open.push((at, node.branches[lane]));
                    while place > first && open[place - 1].0 < at {
                        open.swap(place - 1, place);
                        place -= 1;
                    }
                }
            }
            loop {
                let Some((at, branch)) = open.pop() else {
                    return;
                };
                if at > most {
                    continue;
                }
                if branch & ITEM == 0 {
                    node = &self.nodes[branch as usize];
                    break;
                }
                let less = visit(branch & !ITEM, reach);
                if less < reach {
                    reach = less;
                    if reach < 0.0 {
                        return;
                    }
                    most = limit(reach);
                }
            }
        }
    }

    /// The line from where it may enter the whole on: numbers stay as small as the crowd is.
    fn line(&self, root: &Node, origin: DVec3, direction: DVec3, half: DVec3) -> Line {
        let whole = root.whole();
        let from = origin - self.origin;
        let negative = [0, 1, 2].map(|axis: usize| direction[axis].is_sign_negative());
        let mut start = 0.0_f64;
        for axis in 0..3 {
            let near = if negative[axis] {
                f64::from(whole.high[axis]) + half[axis]
            } else {
                f64::from(whole.low[axis]) - half[axis]
            };
            // `max` passes over what is not a number.
            start = start.max((near - from[axis]) / direction[axis]);
        }
        start *= 1.0 - 1e-9;
        if !start.is_finite() {
            start = 0.0;
        }
        let here = from + direction * start;
        let lost = 1e-15 * (from.abs().max_element() + start + half.max_element());
        let wide = half + lost;
        let bounds = [
            (here - wide).to_array().map(down),
            (here + wide).to_array().map(up),
        ];
        Line {
            // For the lower side the greater origin makes the distance less.
            origins: [0, 1].map(|leaving: usize| {
                [0, 1, 2].map(|axis: usize| {
                    let lower = negative[axis] == (leaving == 1);
                    bounds[usize::from(lower)][axis]
                })
            }),
            inverse: direction.to_array().map(|d| (1.0 / d) as f32),
            enters: negative.map(usize::from),
            start,
        }
    }

    /// Visits the items whose boxes may meet a region (m).
    pub fn meet(&self, region: &Aabb, mut visit: impl FnMut(u32)) {
        for &item in &self.loose {
            visit(item);
        }
        let Some(root) = self.nodes.first() else {
            return;
        };
        // Infinite sides stay so. What the differences lose is within the padding of the boxes.
        let low = (region.min - self.origin).to_array().map(down);
        let high = (region.max - self.origin).to_array().map(up);
        let mut open: SmallVec<[u32; 64]> = SmallVec::new();
        let mut node = root;
        loop {
            let mut meets = [true; WIDTH];
            for axis in 0..3 {
                for (lane, meets) in meets.iter_mut().enumerate() {
                    *meets &= (node.sides[0][axis][lane] <= high[axis])
                        & (low[axis] <= node.sides[1][axis][lane]);
                }
            }
            for (lane, meets) in meets.into_iter().enumerate() {
                let branch = node.branches[lane];
                if !meets || branch == NONE {
                } else if branch & ITEM == 0 {
                    open.push(branch);
                } else {
                    visit(branch & !ITEM);
                }
            }
            let Some(next) = open.pop() else {
                return;
            };
            node = &self.nodes[next as usize];
        }
    }

    /// Visits the items whose boxes are within `reach` (m) of a point, about in the order of that distance. `visit` gets the reach and returns that
    /// for the rest; negative, to stop.
    pub fn near(&self, point: DVec3, mut reach: f64, mut visit: impl FnMut(u32, f64) -> f64) {
        for &item in &self.loose {
            reach = visit(item, reach).min(reach);
            if reach < 0.0 {
                return;
            }
        }
        let Some(root) = self.nodes.first() else {
            return;
        };
        let point = point - self.origin;
        // Squares, less than they are by more than their rounding.
        let square = |node: &Node, lane: usize| {
            let around = node.around(lane);
            let beside = |axis: usize| {
                let below = f64::from(around.low[axis]) - point[axis];
                let above = point[axis] - f64::from(around.high[axis]);
                below.max(above).max(0.0)
            };
            DVec3::new(beside(0), beside(1), beside(2)).length_squared() * (1.0 - 1e-12)
        };
        let mut open: SmallVec<[(f64, u32); 64]> = SmallVec::new();
        let mut node = root;
        loop {
            let first = open.len();
            for lane in 0..WIDTH {
                let branch = node.branches[lane];
                let at = square(node, lane);
                if branch != NONE && at <= reach * reach {
                    let mut place = open.len();
                    open.push((at, branch));
                    while place > first && open[place - 1].0 < at {
                        open.swap(place - 1, place);
                        place -= 1;
                    }
                }
            }
            loop {
                let Some((at, branch)) = open.pop() else {
                    return;
                };
                if at > reach * reach {
                    continue;
                }
                if branch & ITEM == 0 {
                    node = &self.nodes[branch as usize];
                    break;
                }
                reach = visit(branch & !ITEM, reach).min(reach);
                if reach < 0.0 {
                    return;
                }
            }
        }
    }
}
