//! Eight numbers side by side, as plain loops that the compiler turns into vector instructions.
//!
//! Every operation is that of IEEE 754 on each lane, never contracted: the bits of a lane depend
//! neither on the instruction set nor on its neighbours. [`Simd`] picks the instruction set when
//! the program runs, so that a plain build uses what the machine has.

use pulp::{Arch, WithSimd};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Contacts, or pairs of bodies, that are solved side by side.
pub(crate) const LANES: usize = 8;

/// Eight numbers.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f64; LANES]);

/// Eight vectors, or the three components of something.
pub(crate) type Lanes3 = [Lanes; 3];

impl Default for Lanes {
    fn default() -> Self {
        Self::ZERO
    }
}

macro_rules! by_lane {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for Lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let mut out = [0.0; LANES];
                for lane in 0..LANES {
                    out[lane] = self.0[lane] $operator other.0[lane];
                }
                Self(out)
            }
        }
    };
}

by_lane!(Add, add, +);
by_lane!(Sub, sub, -);
by_lane!(Mul, mul, *);
by_lane!(Div, div, /);

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        let mut out = self.0;
        for x in &mut out {
            *x = -*x;
        }
        Self(out)
    }
}

impl Lanes {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);

    #[inline(always)]
    pub(crate) fn splat(value: f64) -> Self {
        Self([value; LANES])
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        let mut out = self.0;
        for x in &mut out {
            *x = x.sqrt();
        }
        Self(out)
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        let mut out = self.0;
        for x in &mut out {
            *x = x.abs();
        }
        Self(out)
    }

    /// The greater one; `other` where `self` is not a number.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        self.less_or(other, other, self)
    }

    /// The lesser one; `other` where `self` is not a number.
    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            let (a, b) = (self.0[lane], other.0[lane]);
            out[lane] = if a < b { a } else { b };
        }
        Self(out)
    }

    /// `yes` where `self > other` does not hold, else `no`. Not a number: `yes`.
    #[inline(always)]
    fn less_or(self, other: Self, yes: Self, no: Self) -> Self {
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            out[lane] = if self.0[lane] > other.0[lane] {
                no.0[lane]
            } else {
                yes.0[lane]
            };
        }
        Self(out)
    }

    /// `yes` where `self < other`, else `no`.
    #[inline(always)]
    pub(crate) fn where_less(self, other: Self, yes: Self, no: Self) -> Self {
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            out[lane] = if self.0[lane] < other.0[lane] {
                yes.0[lane]
            } else {
                no.0[lane]
            };
        }
        Self(out)
    }

    /// `yes` where `self ≤ other`, else `no`.
    #[inline(always)]
    pub(crate) fn where_at_most(self, other: Self, yes: Self, no: Self) -> Self {
        let mut out = [0.0; LANES];
        for lane in 0..LANES {
            out[lane] = if self.0[lane] <= other.0[lane] {
                yes.0[lane]
            } else {
                no.0[lane]
            };
        }
        Self(out)
    }

    /// True if some lane is positive.
    #[inline(always)]
    pub(crate) fn any_positive(self) -> bool {
        let mut any = false;
        for x in self.0 {
            any |= x > 0.0;
        }
        any
    }

    /// The sum of the lanes, in one fixed order.
    #[inline(always)]
    pub(crate) fn sum(self) -> f64 {
        let [a, b, c, d, e, f, g, h] = self.0;
        ((a + b) + (c + d)) + ((e + f) + (g + h))
    }
}

#[inline(always)]
pub(crate) fn add(a: Lanes3, b: Lanes3) -> Lanes3 {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn sub(a: Lanes3, b: Lanes3) -> Lanes3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scale(a: Lanes3, s: Lanes) -> Lanes3 {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
pub(crate) fn dot(a: Lanes3, b: Lanes3) -> Lanes {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(crate) fn cross(a: Lanes3, b: Lanes3) -> Lanes3 {
    [
        a[1] * b[2] - b[1] * a[2],
        a[2] * b[0] - b[2] * a[0],
        a[0] * b[1] - b[0] * a[1],
    ]
}

/// The instruction set that lanes run on. The bits of the results are the same on all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simd(Arch);

impl Default for Simd {
    fn default() -> Self {
        Self(Arch::new())
    }
}

impl Simd {
    /// The best instruction set of this machine, or the least one that the build was made for.
    pub(crate) fn new(wide: bool) -> Self {
        if wide {
            Self::default()
        } else {
            Self(portable())
        }
    }

    /// Runs `work` compiled for the instruction set.
    #[inline(always)]
    pub(crate) fn run<W: WithSimd>(self, work: W) -> W::Output {
        self.0.dispatch(work)
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"))]
fn portable() -> Arch {
    Arch::Scalar
}

/// There is one instruction set only.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
fn portable() -> Arch {
    Arch::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a lane gets for numbers that are none decides whether 0/0 ends as a capped impulse.
    #[test]
    fn comparisons_take_the_second_for_what_is_not_a_number() {
        let nan = Lanes::splat(f64::NAN);
        assert_eq!(nan.min(Lanes::splat(2.0)).0, [2.0; LANES]);
        assert_eq!(nan.max(Lanes::splat(2.0)).0, [2.0; LANES]);
        assert!(!nan.any_positive());
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        struct Work(Lanes3, Lanes3);
        impl WithSimd for Work {
            type Output = [u64; LANES];
            #[inline(always)]
            fn with_simd<S: pulp::Simd>(self, _: S) -> Self::Output {
                let c = cross(self.0, self.1);
                let d = scale(c, dot(self.0, self.1).abs().sqrt() / self.0[2]);
                add(sub(d, self.0), c)[1].0.map(f64::to_bits)
            }
        }
        let lanes = |k: f64| {
            let mut out = [0.0; LANES];
            for (lane, x) in (0..).zip(&mut out) {
                *x = libm::sin(k + f64::from(lane));
            }
            Lanes(out)
        };
        let work = || Work([1.0, 2.0, 3.0].map(lanes), [4.0, 5.0, 6.0].map(lanes));
        assert_eq!(Simd::new(true).run(work()), Simd::new(false).run(work()));
    }
}
