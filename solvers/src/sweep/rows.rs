//! Twists as the lanes read and write them: one cache line a body.
//!
//! A row is named by its index and a flag: which of the two slabs of a unit it is in. What lanes compute
//! for a body that impulses do not move goes to a scratch row that is never read, so that the contacts of the ground do
//! not wait for each other's stores.

use super::transpose;
use crate::WorldTwist;
use crate::lanes::{LANES, Wide, Wide3};
use pulp::{Simd, WithSimd};

/// Twist of one body, linear and angular; `1/m`, and the inverse inertia if it is a ball.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Row(pub(crate) [f64; 8]);

impl Row {
    pub(crate) fn new(twist: &WorldTwist, mass: f64, inertia: f64) -> Self {
        let (v, w) = (twist.linear, twist.angular);
        Self([v.x, v.y, v.z, w.x, w.y, w.z, mass, inertia])
    }
}

/// `v ← v + β (v − v_prev)` for all rows, and `v_prev ← v`: the twists' part of the extrapolation.
pub(crate) struct Extrapolate<'a> {
    pub(crate) now: &'a mut [Row],
    pub(crate) before: &'a mut [Row],
    pub(crate) beta: f64,
}

impl WithSimd for Extrapolate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let beta = simd.splat_f64s(self.beta);
        for (now, before) in self.now.iter_mut().zip(self.before) {
            let (now, _) = S::as_mut_simd_f64s(&mut now.0);
            let (before, _) = S::as_mut_simd_f64s(&mut before.0);
            for (now, before) in now.iter_mut().zip(before) {
                let step = simd.mul_f64s(simd.sub_f64s(*now, *before), beta);
                *before = *now;
                *now = simd.add_f64s(*now, step);
            }
        }
    }
}

/// Scratch row for stores of fixed bodies; never read.
const WASTE: u32 = 0;
/// Row that stays zero: bodies at rest that impulses do not move, and empty lanes.
const AT_REST: u32 = 1;
/// Rows before those of the bodies.
pub(crate) const FIRST_ROW: u32 = 2;
/// Flag: in the second slab of the unit.
const SECOND: u32 = 1 << 31;

/// Where a body is read and where it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    source: u32,
    target: u32,
}

impl Place {
    /// A body at rest that impulses do not move, or none.
    pub(crate) const AT_REST: Self = Self::fixed(AT_REST);

    /// A body that impulses move, at `row` of its slab.
    pub(crate) const fn free(row: u32) -> Self {
        Self {
            source: row,
            target: row,
        }
    }

    /// A body that they do not.
    pub(crate) const fn fixed(row: u32) -> Self {
        Self {
            source: row,
            target: WASTE,
        }
    }

    /// The same in the second slab of a unit.
    pub(crate) fn in_second(self) -> Self {
        Self {
            source: self.source | SECOND,
            target: self.target | SECOND,
        }
    }

    /// The row that is read.
    pub(crate) fn source(self) -> u32 {
        self.source
    }

    /// The row that is written.
    pub(crate) fn target(self) -> u32 {
        self.target
    }

    /// Impulses move the body.
    pub(crate) fn is_free(self) -> bool {
        self.source == self.target
    }

    /// Slab of the unit, 0 or 1, and row in it.
    pub(crate) fn slab_and_row(self) -> (usize, usize) {
        split(self.source)
    }
}

#[inline(always)]
fn split(name: u32) -> (usize, usize) {
    ((name >> 31) as usize, (name & !SECOND) as usize)
}

/// The places of eight bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    sources: [u32; LANES],
    targets: [u32; LANES],
}

impl Default for Places {
    /// No bodies.
    fn default() -> Self {
        Self {
            sources: [AT_REST; LANES],
            targets: [WASTE; LANES],
        }
    }
}

impl Places {
    pub(crate) fn set(&mut self, lane: usize, place: Place) {
        self.sources[lane] = place.source;
        self.targets[lane] = place.target;
    }
}

/// Twists of as many bodies as a vector holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Twists<S: Simd> {
    pub(crate) linear: Wide3<S>,
    pub(crate) angular: Wide3<S>,
    /// `1/m`, and the inverse inertia of balls.
    pub(crate) mass: [Wide<S>; 2],
}

/// The rows that a unit works on.
pub(crate) trait Rows {
    fn row(&self, name: u32) -> &Row;
    fn row_mut(&mut self, name: u32) -> &mut Row;

    /// The twists of one part of eight bodies.
    #[inline(always)]
    fn gather<S: Simd>(&self, simd: S, places: &Places, part: usize) -> Twists<S> {
        if S::F64_LANES == LANES {
            let [a, b, c, d, e, f, g, h] = places.sources;
            let rows = [
                self.row(a),
                self.row(b),
                self.row(c),
                self.row(d),
                self.row(e),
                self.row(f),
                self.row(g),
                self.row(h),
            ];
            if let Some([a, b, c, d, e, f, g, h]) = transpose::columns(simd, rows) {
                return Twists {
                    linear: [Wide::new(simd, a), Wide::new(simd, b), Wide::new(simd, c)],
                    angular: [Wide::new(simd, d), Wide::new(simd, e), Wide::new(simd, f)],
                    mass: [Wide::new(simd, g), Wide::new(simd, h)],
                };
            }
        }
        let mut columns = [[0.0; LANES]; 8];
        for lane in 0..S::F64_LANES {
            let row = self.row(places.sources[part * S::F64_LANES + lane]);
            for (column, x) in columns.iter_mut().zip(row.0) {
                column[lane] = x;
            }
        }
        let [a, b, c, d, e, f, g, h] = columns;
        let wide = |column: &[f64; LANES]| Wide::from_first(simd, column);
        Twists {
            linear: [wide(&a), wide(&b), wide(&c)],
            angular: [wide(&d), wide(&e), wide(&f)],
            mass: [wide(&g), wide(&h)],
        }
    }

    /// Writes the twists of one part of eight bodies.
    #[inline(always)]
    fn scatter<S: Simd>(&mut self, simd: S, places: &Places, part: usize, twists: &Twists<S>) {
        let ([a, b, c], [d, e, f]) = (twists.linear, twists.angular);
        if S::F64_LANES == LANES {
            let [g, h] = twists.mass;
            let columns = [
                a.value(),
                b.value(),
                c.value(),
                d.value(),
                e.value(),
                f.value(),
                g.value(),
                h.value(),
            ];
            if let Some(rows) = transpose::rows(simd, columns) {
                for (name, row) in places.targets.iter().zip(rows) {
                    *self.row_mut(*name) = row;
                }
                return;
            }
        }
        let mut columns = [[0.0; LANES]; 6];
        for (column, wide) in columns.iter_mut().zip([a, b, c, d, e, f]) {
            wide.to_first(column);
        }
        for lane in 0..S::F64_LANES {
            let row = self.row_mut(places.targets[part * S::F64_LANES + lane]);
            for (x, column) in row.0.iter_mut().zip(&columns) {
                *x = column[lane];
            }
        }
    }
}

/// The rows of one slab.
pub(crate) struct OneSlab<'a>(pub(crate) &'a mut [Row]);

impl Rows for OneSlab<'_> {
    #[inline(always)]
    fn row(&self, name: u32) -> &Row {
        &self.0[name as usize]
    }

    #[inline(always)]
    fn row_mut(&mut self, name: u32) -> &mut Row {
        &mut self.0[name as usize]
    }
}

/// The rows of two slabs.
pub(crate) struct TwoSlabs<'a>(pub(crate) [&'a mut [Row]; 2]);

impl Rows for TwoSlabs<'_> {
    #[inline(always)]
    fn row(&self, name: u32) -> &Row {
        let (slab, row) = split(name);
        &self.0[slab][row]
    }

    #[inline(always)]
    fn row_mut(&mut self, name: u32) -> &mut Row {
        let (slab, row) = split(name);
        &mut self.0[slab][row]
    }
}
