//! A unit of length near the size of the bodies, for searches whose tolerances are lengths: those of parry are right for bodies of about a metre.
//!
//! It is a power of two, so that no digit is lost on the way.

use glam::DVec3;

/// A length, as its reciprocal (1/m).
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit(f64);

impl Unit {
    /// No greater than `size` (m), and more than its half.
    pub(super) fn near(size: f64) -> Self {
        let is_usual = size.is_finite() && size > 1e-200;
        let exponent = if is_usual { libm::ilogb(size) } else { 0 };
        Self(libm::ldexp(1.0, -exponent))
    }

    /// A place (m) in this unit.
    pub(super) fn of(self, place: DVec3) -> DVec3 {
        place * self.0
    }

    /// A length (m) in this unit.
    pub(super) fn of_length(self, length: f64) -> f64 {
        length * self.0
    }

    /// A length in this unit, in m.
    pub(super) fn back(self, length: f64) -> f64 {
        length / self.0
    }

    /// A place in this unit, in m.
    pub(super) fn place(self, place: DVec3) -> DVec3 {
        place / self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_on_the_way_and_back() {
        for size in [1e-6, 0.1, 0.999, 1.0, 1.5, 2.0, 3e7] {
            let unit = Unit::near(size);
            let there = unit.of_length(size);
            assert!((1.0..2.0).contains(&there), "{size}: {there}");
            assert_eq!(unit.back(there).to_bits(), size.to_bits());
            let place = DVec3::new(size, -0.3 * size, 1.0 / 3.0);
            assert_eq!(unit.place(unit.of(place)), place);
        }
    }
}
