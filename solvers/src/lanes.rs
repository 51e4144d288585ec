//! Eight numbers side by side, and the vectors of the machine that work on them.
//!
//! Data is stored by eights ([`Lanes`]). A kernel is written once for any instruction set `S` and works on the
//! parts of an eight that fit into a vector ([`Wide`]): one, two or eight of them. Every operation is
//! that of IEEE 754 on each lane, never contracted: the bits of a lane depend neither on the
//! instruction set nor on its neighbours. [`Dispatch`] picks the instruction set when the program runs,
//! so that a plain build uses what the machine has.

use pulp::{Arch, Simd, WithSimd};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Contacts, or pairs of bodies, that are solved side by side.
pub(crate) const LANES: usize = 8;

/// Eight numbers in memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f64; LANES]);

/// Eight vectors in memory.
pub(crate) type Lanes3 = [Lanes; 3];

impl Lanes {
    pub(crate) fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    pub(crate) fn load<S: Simd>(&self, simd: S, part: usize) -> Wide<S> {
        let value = S::as_simd_f64s(&self.0).0[part];
        Wide { simd, value }
    }

    #[inline(always)]
    pub(crate) fn store<S: Simd>(&mut self, part: usize, wide: Wide<S>) {
        S::as_mut_simd_f64s(&mut self.0).0[part] = wide.value;
    }

    /// The sum of the lanes, in one fixed order.
    pub(crate) fn sum(&self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + b) + (c + d)) + ((e + f) + (g + h))
    }
}

#[inline(always)]
pub(crate) fn load3<S: Simd>(lanes: &Lanes3, simd: S, part: usize) -> Wide3<S> {
    [
        lanes[0].load(simd, part),
        lanes[1].load(simd, part),
        lanes[2].load(simd, part),
    ]
}

#[inline(always)]
pub(crate) fn store3<S: Simd>(lanes: &mut Lanes3, part: usize, wide: Wide3<S>) {
    lanes[0].store(part, wide[0]);
    lanes[1].store(part, wide[1]);
    lanes[2].store(part, wide[2]);
}

/// As many numbers as a vector of the machine holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide<S: Simd> {
    simd: S,
    value: S::f64s,
}

/// Vectors of space, side by side.
pub(crate) type Wide3<S> = [Wide<S>; 3];

/// One truth value a lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mask<S: Simd> {
    simd: S,
    value: S::m64s,
}

macro_rules! by_lane {
    ($trait:ident, $method:ident, $operation:ident) => {
        impl<S: Simd> $trait for Wide<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let value = self.simd.$operation(self.value, other.value);
                Self { value, ..self }
            }
        }
    };
}

by_lane!(Add, add, add_f64s);
by_lane!(Sub, sub, sub_f64s);
by_lane!(Mul, mul, mul_f64s);
by_lane!(Div, div, div_f64s);

impl<S: Simd> Neg for Wide<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let value = self.simd.neg_f64s(self.value);
        Self { value, ..self }
    }
}

impl<S: Simd> Wide<S> {
    #[inline(always)]
    pub(crate) fn splat(simd: S, value: f64) -> Self {
        let value = simd.splat_f64s(value);
        Self { simd, value }
    }

    #[inline(always)]
    pub(crate) fn new(simd: S, value: S::f64s) -> Self {
        Self { simd, value }
    }

    #[inline(always)]
    pub(crate) fn value(self) -> S::f64s {
        self.value
    }

    /// The first numbers of `lanes`, as many as fit.
    #[inline(always)]
    pub(crate) fn from_first(simd: S, lanes: &[f64; LANES]) -> Self {
        let value = S::as_simd_f64s(lanes).0[0];
        Self { simd, value }
    }

    /// To the first numbers of `lanes`.
    #[inline(always)]
    pub(crate) fn to_first(self, lanes: &mut [f64; LANES]) {
        S::as_mut_simd_f64s(lanes).0[0] = self.value;
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        let value = self.simd.sqrt_f64s(self.value);
        Self { value, ..self }
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        let value = self.simd.abs_f64s(self.value);
        Self { value, ..self }
    }

    /// The greater one; `other` where one of them is not a number.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        other.less(self).choose(self, other)
    }

    /// The lesser one; `other` where one of them is not a number.
    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        self.less(other).choose(self, other)
    }

    /// `self < other`.
    #[inline(always)]
    pub(crate) fn less(self, other: Self) -> Mask<S> {
        let value = self.simd.less_than_f64s(self.value, other.value);
        Mask {
            simd: self.simd,
            value,
        }
    }

    /// `self ≤ other`.
    #[inline(always)]
    pub(crate) fn at_most(self, other: Self) -> Mask<S> {
        let value = self.simd.less_than_or_equal_f64s(self.value, other.value);
        Mask {
            simd: self.simd,
            value,
        }
    }
}

impl<S: Simd> Mask<S> {
    /// `yes` where it is true, else `no`.
    #[inline(always)]
    pub(crate) fn choose(self, yes: Wide<S>, no: Wide<S>) -> Wide<S> {
        let value = self.simd.select_f64s(self.value, yes.value, no.value);
        Wide { value, ..yes }
    }

    #[inline(always)]
    pub(crate) fn and(self, other: Self) -> Self {
        let value = self.simd.and_m64s(self.value, other.value);
        Self { value, ..self }
    }

    /// True here and not there.
    #[inline(always)]
    pub(crate) fn and_not(self, other: Self) -> Self {
        let value = self.simd.not_m64s(other.value);
        self.and(Self { value, ..other })
    }

    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        self.simd.first_true_m64s(self.value) < S::F64_LANES
    }
}

#[inline(always)]
pub(crate) fn add<S: Simd>(a: Wide3<S>, b: Wide3<S>) -> Wide3<S> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn sub<S: Simd>(a: Wide3<S>, b: Wide3<S>) -> Wide3<S> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scale<S: Simd>(a: Wide3<S>, s: Wide<S>) -> Wide3<S> {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
pub(crate) fn dot<S: Simd>(a: Wide3<S>, b: Wide3<S>) -> Wide<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(crate) fn cross<S: Simd>(a: Wide3<S>, b: Wide3<S>) -> Wide3<S> {
    [
        a[1] * b[2] - b[1] * a[2],
        a[2] * b[0] - b[2] * a[0],
        a[0] * b[1] - b[0] * a[1],
    ]
}

/// The instruction set that lanes run on. The bits of the results are the same on all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dispatch(Arch);

impl Default for Dispatch {
    fn default() -> Self {
        Self::new(true)
    }
}

impl Dispatch {
    /// The best instruction set of this machine, or if not `wide` the least one of its kind.
    pub(crate) fn new(wide: bool) -> Self {
        Self(if wide { Arch::new() } else { least() })
    }

    /// Runs `work` compiled for the instruction set.
    #[inline(always)]
    pub(crate) fn run<W: WithSimd>(self, work: W) -> W::Output {
        self.0.dispatch(work)
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"))]
fn least() -> Arch {
    Arch::Scalar
}

/// There is one instruction set only.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
fn least() -> Arch {
    Arch::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Work([f64; LANES], [f64; LANES]);

    impl WithSimd for Work {
        type Output = Vec<u64>;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<u64> {
            let mut out = Lanes::default();
            for part in 0..LANES / S::F64_LANES {
                let [a, b] = [&self.0, &self.1].map(|x| Lanes(*x).load(simd, part));
                let c = cross([a, b, a * b], [b, a - b, b / a]);
                let x = dot(c, [a, b, a]).abs().sqrt().min(b).max(-a);
                let chosen = a.less(b).and_not(x.at_most(b)).choose(x, c[1]);
                out.store(part, chosen);
            }
            out.0.map(f64::to_bits).to_vec()
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let mut sets = vec![[0.3, -0.7, 1e-3, 4.0, -5.0, 0.0, -0.0, 1e200]];
        sets.push(sets[0].map(|x| 1.0 - 0.1 * x));
        sets.push([f64::NAN, f64::INFINITY, 1.0, 0.0, -1.0, 2.0, f64::NAN, -2.0]);
        for a in &sets {
            for b in &sets {
                let run = |wide| Dispatch::new(wide).run(Work(*a, *b));
                // Which NaN an operation returns is up to the machine.
                let same = |x: &u64, y: &u64| {
                    x == y || f64::from_bits(*x).is_nan() && f64::from_bits(*y).is_nan()
                };
                assert!(run(true).iter().zip(&run(false)).all(|(x, y)| same(x, y)));
            }
        }
    }

    /// Whether 0/0 ends as a capped impulse hangs on this.
    #[test]
    fn comparisons_take_the_second_for_what_is_not_a_number() {
        struct Extremes;
        impl WithSimd for Extremes {
            type Output = [bool; 3];
            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) -> [bool; 3] {
                let [nan, two] = [f64::NAN, 2.0].map(|x| Wide::splat(simd, x));
                let is_two = |x: Wide<S>| !x.less(two).any() && x.at_most(two).any();
                [
                    is_two(nan.min(two)),
                    is_two(nan.max(two)),
                    nan.less(two).any(),
                ]
            }
        }
        for wide in [true, false] {
            assert_eq!(Dispatch::new(wide).run(Extremes), [true, true, false]);
        }
    }
}
