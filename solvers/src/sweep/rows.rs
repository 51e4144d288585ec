//! Twists as the lanes read and write them: one cache line a body.
//!
//! A row is named by its index and two flags: which of the two slabs of a unit it is in, and
//! whether impulses leave it alone. What lanes compute for such a body goes to a row that nobody
//! reads, so that the contacts of the ground do not wait for each other's stores.

use super::lanes::{LANES, Lanes, Lanes3};
use crate::WorldTwist;

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

/// Twists of eight bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twists {
    pub(crate) linear: Lanes3,
    pub(crate) angular: Lanes3,
}

/// The rows of the one or two slabs that a unit works on.
pub(crate) struct Rows<'a>(pub(crate) [&'a mut [Row]; 2]);

impl Rows<'_> {
    #[inline(always)]
    fn row(&self, name: u32) -> &Row {
        &self.0[(name >> 31) as usize][(name & INDEX) as usize]
    }

    #[inline(always)]
    pub(crate) fn gather(&self, names: &[u32; LANES]) -> Twists {
        let rows = names.map(|name| self.row(name));
        let mut out = [Lanes::ZERO; 6];
        for (k, component) in out.iter_mut().enumerate() {
            for (lane, row) in rows.iter().enumerate() {
                component.0[lane] = row.0[k];
            }
        }
        let [a, b, c, d, e, f] = out;
        Twists {
            linear: [a, b, c],
            angular: [d, e, f],
        }
    }

    #[inline(always)]
    pub(crate) fn scatter(&mut self, names: &[u32; LANES], twists: &Twists) {
        let ([a, b, c], [d, e, f]) = (twists.linear, twists.angular);
        for (lane, name) in names.iter().enumerate() {
            let index = if name & FIXED == 0 {
                name & INDEX
            } else {
                WASTE
            };
            let row = &mut self.0[(name >> 31) as usize][index as usize].0;
            row[0] = a.0[lane];
            row[1] = b.0[lane];
            row[2] = c.0[lane];
            row[3] = d.0[lane];
            row[4] = e.0[lane];
            row[5] = f.0[lane];
        }
    }
}
