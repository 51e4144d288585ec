//! Sums of products to twice the digits of a number [Dekker71; Ogita05].

/// A sum whose error is some `ε²` of its terms instead of `ε`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExactSum {
    high: f64,
    low: f64,
}

/// 2²⁷ + 1: cuts the digits of a number in halves.
const SPLITTER: f64 = 134_217_729.0;

impl ExactSum {
    /// Adds a number.
    #[inline]
    pub(crate) fn add(&mut self, x: f64) {
        let sum = self.high + x;
        let part = sum - self.high;
        self.low += (self.high - (sum - part)) + (x - part);
        self.high = sum;
    }

    /// Adds `a b`, of numbers below 1e300.
    #[inline]
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        let [(a, a_low), (b, b_low)] = [a, b].map(halves);
        let lost = ((a * b - product) + a * b_low + a_low * b) + a_low * b_low;
        self.add(product);
        self.low += lost;
    }

    /// The nearest number.
    #[inline]
    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}

fn halves(x: f64) -> (f64, f64) {
    let shifted = x * SPLITTER;
    let high = shifted - (shifted - x);
    (high, x - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rounding_takes_away_stays() {
        let mut sum = ExactSum::default();
        for _ in 0..1000 {
            sum.add_product(0.1, 0.1);
        }
        sum.add(1e16);
        sum.add(-1e16);
        // 0.1 is 1.000 000 000 000 000 055 5 tenths, and ten squares of it are a tenth and 1.11e-17 parts of it.
        let mut left = sum;
        left.add(-10.0);
        assert!((left.value() - 10.0 * 1.11e-16).abs() < 1e-17, "{left:?}");
        let mut nothing = ExactSum::default();
        nothing.add_product(1.0 + f64::EPSILON, 1.0 - f64::EPSILON);
        nothing.add(-1.0);
        assert!((nothing.value() + f64::EPSILON * f64::EPSILON).abs() < 1e-40);
    }
}
