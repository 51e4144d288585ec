//! Points in blocks of eight, coordinate by coordinate, for questions about all of them along one direction.
//!
//! The instruction set is found at run time. Products and sums are rounded one by one, so that all sets give the same bits.

use glam::DVec3;
use pulp::{Arch, Simd, WithSimd};
use smallvec::SmallVec;

/// Points in a block.
const EIGHT: usize = 8;

/// Eight points: their x, their y, their z.
type Block = [[f64; EIGHT]; 3];

/// Points, or normals of faces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Blocks {
    count: usize,
    /// The last one repeats the last point.
    blocks: Box<[Block]>,
}

impl Blocks {
    pub(crate) fn new(points: &[DVec3]) -> Self {
        let block = |some: &[DVec3]| {
            let point = |k: usize| some[k.min(some.len() - 1)];
            let eight: [DVec3; EIGHT] = std::array::from_fn(point);
            [eight.map(|p| p.x), eight.map(|p| p.y), eight.map(|p| p.z)]
        };
        Self {
            count: points.len(),
            blocks: points.chunks(EIGHT).map(block).collect(),
        }
    }

    /// Number of the first of the points that are farthest along a direction, and how far that is; 0 and −∞ of none.
    pub(crate) fn farthest(&self, direction: DVec3) -> (usize, f64) {
        let blocks = &self.blocks;
        Arch::new().dispatch(Farthest { blocks, direction })
    }

    /// Numbers of the points that are at least as far along a direction as the level, in their order.
    pub(crate) fn at_least(&self, direction: DVec3, level: f64) -> Numbers {
        let mut found = Numbers::new();
        Arch::new().dispatch(AtLeast {
            blocks: &self.blocks,
            direction,
            level,
            found: &mut found,
        });
        while found.last().is_some_and(|last| *last >= self.count) {
            found.pop();
        }
        found
    }
}

/// Numbers of points.
pub(crate) type Numbers = SmallVec<[usize; EIGHT]>;

struct Farthest<'a> {
    blocks: &'a [Block],
    direction: DVec3,
}

impl WithSimd for Farthest<'_> {
    type Output = (usize, f64);

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> (usize, f64) {
        let along = Along::new(simd, self.direction);
        // Each lane with the best of its own: no branch on what is next to random.
        let mut best = simd.splat_f64s(f64::NEG_INFINITY);
        let mut of = simd.splat_f64s(0.0);
        for (n, block) in self.blocks.iter().enumerate() {
            for k in 0..EIGHT / S::F64_LANES {
                let value = along.values(block, k);
                let is_better = simd.less_than_f64s(best, value);
                let first = simd.splat_f64s((EIGHT * n + k * S::F64_LANES) as f64);
                best = simd.select_f64s(is_better, value, best);
                of = simd.select_f64s(is_better, first, of);
            }
        }
        let most = simd.reduce_max_f64s(best);
        let (lane, _) = S::as_simd_f64s(&LANE);
        let of = simd.add_f64s(of, lane[0]);
        let is_most = simd.equal_f64s(best, simd.splat_f64s(most));
        let none = simd.splat_f64s(f64::INFINITY);
        let first = simd.reduce_min_f64s(simd.select_f64s(is_most, of, none));
        (first as usize, most)
    }
}

struct AtLeast<'a> {
    blocks: &'a [Block],
    direction: DVec3,
    level: f64,
    found: &'a mut Numbers,
}

impl WithSimd for AtLeast<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let along = Along::new(simd, self.direction);
        for (n, block) in self.blocks.iter().enumerate() {
            for k in 0..EIGHT / S::F64_LANES {
                let values = along.values(block, k);
                if simd.reduce_max_f64s(values) < self.level {
                    continue;
                }
                let mut each = [0.0; EIGHT];
                let (lanes, _) = S::as_mut_simd_f64s(&mut each);
                lanes[0] = values;
                for (lane, value) in each.iter().take(S::F64_LANES).enumerate() {
                    if *value >= self.level {
                        self.found.push(EIGHT * n + k * S::F64_LANES + lane);
                    }
                }
            }
        }
    }
}

const LANE: [f64; EIGHT] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// A direction in all lanes.
struct Along<S: Simd> {
    simd: S,
    direction: [S::f64s; 3],
}

impl<S: Simd> Along<S> {
    #[inline(always)]
    fn new(simd: S, direction: DVec3) -> Self {
        let direction = direction.to_array().map(
            #[inline(always)]
            |x| simd.splat_f64s(x),
        );
        Self { simd, direction }
    }

    /// How far the `k`-th lanes of a block are along the direction.
    #[inline(always)]
    fn values(&self, [x, y, z]: &Block, k: usize) -> S::f64s {
        let [x, y, z] = [x, y, z].map(
            #[inline(always)]
            |all| S::as_simd_f64s(all).0[k],
        );
        let (simd, [along_x, along_y, along_z]) = (self.simd, self.direction);
        let plane = simd.add_f64s(simd.mul_f64s(x, along_x), simd.mul_f64s(y, along_y));
        simd.add_f64s(plane, simd.mul_f64s(z, along_z))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(count: u32) -> Vec<DVec3> {
        let point = |i: u32| {
            let x = f64::from(i * 7919 % 101) - 50.0;
            DVec3::new(x, f64::from(i * 104_729 % 97) - 48.0, f64::from(i % 5))
        };
        (0..count).map(point).collect()
    }

    const DIRECTIONS: [DVec3; 4] = [DVec3::X, DVec3::NEG_X, DVec3::Z, DVec3::new(0.3, -0.8, 2.0)];

    #[test]
    fn the_farthest_point_is_the_first_of_all() {
        for count in 1..=43 {
            let points = some(count);
            for direction in DIRECTIONS {
                let (found, most) = Blocks::new(&points).farthest(direction);
                let values: Vec<f64> = points.iter().map(|p| direction.dot(*p)).collect();
                let known = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                assert!((most - known).abs() <= 0.0, "{count}");
                let first = values.iter().position(|value| *value >= known);
                assert_eq!(Some(found), first, "{count}");
            }
        }
    }

    #[test]
    fn those_that_are_far_enough_are_visited_in_order() {
        for count in 1..=43 {
            let points = some(count);
            for direction in DIRECTIONS {
                for level in [-1e3, -20.0, 3.0, 30.0, 1e3] {
                    let found = Blocks::new(&points).at_least(direction, level);
                    let far = |i: &usize| direction.dot(points[*i]) >= level;
                    let known: Vec<usize> = (0..points.len()).filter(far).collect();
                    assert_eq!(found.to_vec(), known, "{count}");
                }
            }
        }
    }

    /// Any instruction set gives what scalars give.
    #[test]
    fn all_instruction_sets_give_the_same_bits() {
        let points: Vec<DVec3> = some(37).iter().map(|p| *p / 3.0).collect();
        let blocks = Blocks::new(&points);
        for direction in DIRECTIONS.map(|d| d / 7.0) {
            let query = Farthest {
                blocks: &blocks.blocks,
                direction,
            };
            let scalar = pulp::Scalar::new().vectorize(query);
            assert_eq!(blocks.farthest(direction), scalar);
        }
    }
}
