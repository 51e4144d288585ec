//! Twists as the lanes read and write them: one cache line a body.
//!
//! A row is named by its index and two flags: which of the two slabs of a unit it is in, and
//! whether impulses leave it alone. What lanes compute for such a body goes to a row that nobody
//! reads, so that the contacts of the ground do not wait for each other's stores.

use super::lanes::{LANES, Wide, Wide3};
use crate::WorldTwist;
use pulp::Simd;

/// Twist of one body: linear, angular, two spare numbers.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) [f64; 8]);

impl Row {
    pub(crate) fn new(twist: &WorldTwist) -> Self {
        let (v, w) = (twist.linear, twist.angular);
        Self([v.x, v.y, v.z, w.x, w.y, w.z, 0.0, 0.0])
    }
}

/// Row for what nobody reads.
const WASTE: u32 = 0;
/// Row that stays zero: bodies at rest that impulses do not move, and empty lanes.
pub(crate) const AT_REST: u32 = 1 | FIXED;
/// Rows before those of the bodies.
pub(crate) const FIRST_ROW: u32 = 2;
/// Flag: impulses do not move this body.
pub(crate) const FIXED: u32 = 1 << 30;
/// Flag: in the second slab of the unit.
pub(crate) const SECOND: u32 = 1 << 31;
const INDEX: u32 = FIXED - 1;

/// Twists of as many bodies as a vector holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twists<S: Simd> {
    pub(crate) linear: Wide3<S>,
    pub(crate) angular: Wide3<S>,
}

/// The rows of the one or two slabs that a unit works on.
pub(crate) struct Rows<'a>(pub(crate) [&'a mut [Row]; 2]);

impl Rows<'_> {
    /// The twists of one part of eight bodies.
    #[inline(always)]
    pub(crate) fn gather<S: Simd>(&self, simd: S, names: &[u32; LANES], part: usize) -> Twists<S> {
        let mut columns = [[0.0; LANES]; 6];
        for lane in 0..S::F64_LANES {
            let name = names[part * S::F64_LANES + lane];
            let row = &self.0[(name >> 31) as usize][(name & INDEX) as usize].0;
            for (column, x) in columns.iter_mut().zip(row) {
                column[lane] = *x;
            }
        }
        let [a, b, c, d, e, f] = columns;
        let wide = |column: &[f64; LANES]| Wide::from_first(simd, column);
        Twists {
            linear: [wide(&a), wide(&b), wide(&c)],
            angular: [wide(&d), wide(&e), wide(&f)],
        }
    }

    /// Writes the twists of one part of eight bodies.
    #[inline(always)]
    pub(crate) fn scatter<S: Simd>(
        &mut self,
        names: &[u32; LANES],
        part: usize,
        twists: &Twists<S>,
    ) {
        let mut columns = [[0.0; LANES]; 6];
        let ([a, b, c], [d, e, f]) = (twists.linear, twists.angular);
        for (column, wide) in columns.iter_mut().zip([a, b, c, d, e, f]) {
            wide.to_first(column);
        }
        for lane in 0..S::F64_LANES {
            let name = names[part * S::F64_LANES + lane];
            let index = if name & FIXED == 0 {
                name & INDEX
            } else {
                WASTE
            };
            let row = &mut self.0[(name >> 31) as usize][index as usize].0;
            for (x, column) in row.iter_mut().zip(&columns) {
                *x = column[lane];
            }
        }
    }
}
