//! One step of Dormand and Prince's pair of orders 5 and 4, with Hairer's dense output of order 4 [Hairer-Norsett-Wanner93, §II.5, §II.6].

/// `c`, then the rows of `a`; the last row is that of order 5, and its slope is the first of the next step.
const C: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
const A: [[f64; 6]; 7] = [
    [0.0; 6],
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [
        19372.0 / 6561.0,
        -25360.0 / 2187.0,
        64448.0 / 6561.0,
        -212.0 / 729.0,
        0.0,
        0.0,
    ],
    [
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
        0.0,
    ],
    [
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];
/// Order 5 less order 4.
const ERROR: [f64; 7] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339_200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];
/// Of the dense output.
const DENSE: [f64; 7] = [
    -12_715_105_075.0 / 11_282_082_432.0,
    0.0,
    87_487_479_700.0 / 32_700_410_799.0,
    -10_690_763_975.0 / 1_880_347_072.0,
    701_980_252_875.0 / 199_316_789_632.0,
    -1_453_857_185.0 / 822_651_844.0,
    69_997_945.0 / 29_380_423.0,
];

/// A step `t → t + h` and what is between.
pub(super) struct Step {
    pub(super) t: f64,
    pub(super) h: f64,
    /// Error estimate relative to the tolerance: at most 1 is good.
    pub(super) error: f64,
    end: Vec<f64>,
    /// Coefficients of the interpolation.
    dense: [Vec<f64>; 5],
}

impl Step {
    /// From the state `s` with the slope `first`. `slope` is `ṡ(t, s)`; `tolerance` is relative and absolute.
    pub(super) fn new<E>(
        (t, h): (f64, f64),
        s: &[f64],
        first: &[f64],
        [relative, absolute]: [f64; 2],
        mut slope: impl FnMut(f64, &[f64]) -> Result<Vec<f64>, E>,
    ) -> Result<Self, E> {
        let mut slopes = vec![first.to_vec()];
        let mut end = s.to_vec();
        for stage in 1..7 {
            end.copy_from_slice(s);
            for (k, slope) in slopes.iter().enumerate() {
                crate::algebra::add(&mut end, h * A[stage][k], slope);
            }
            slopes.push(slope(t + C[stage] * h, &end)?);
        }
        let combine = |weights: &[f64; 7], i: usize| -> f64 {
            weights.iter().zip(&slopes).map(|(w, k)| w * k[i]).sum()
        };
        let n = s.len();
        let mut sum = 0.0;
        for i in 0..n {
            let scale = absolute + relative * s[i].abs().max(end[i].abs());
            let part = h * combine(&ERROR, i) / scale;
            sum += part * part;
        }
        let change: Vec<f64> = (0..n).map(|i| end[i] - s[i]).collect();
        let bend: Vec<f64> = (0..n).map(|i| h * slopes[0][i] - change[i]).collect();
        let skew = (0..n)
            .map(|i| change[i] - h * slopes[6][i] - bend[i])
            .collect();
        let last = (0..n).map(|i| h * combine(&DENSE, i)).collect();
        Ok(Self {
            t,
            h,
            // Nothing moves without error.
            error: (sum / n.max(1) as f64).sqrt(),
            end,
            dense: [s.to_vec(), change, bend, skew, last],
        })
    }

    /// The state at the end.
    pub(super) fn end(&self) -> &[f64] {
        &self.end
    }

    /// The state at `t + part · h`, `part` in [0, 1].
    pub(super) fn at(&self, part: f64) -> Vec<f64> {
        let rest = 1.0 - part;
        let [a, b, c, d, e] = &self.dense;
        (0..a.len())
            .map(|i| a[i] + part * (b[i] + rest * (c[i] + part * (d[i] + rest * e[i]))))
            .collect()
    }

    /// The length of the next step.
    pub(super) fn next_length(&self) -> f64 {
        // The fourth root of the error, which is portable and more careful than the fifth; between a fifth and five times.
        let factor = 0.9 / self.error.sqrt().sqrt();
        // What overflows on the way is no number: a shorter step may do.
        let factor = if factor.is_nan() { 0.2 } else { factor };
        self.h * factor.clamp(0.2, 5.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oscillator(_t: f64, s: &[f64]) -> Result<Vec<f64>, ()> {
        Ok(vec![s[1], -s[0]])
    }

    /// Largest error of one step at its end and within.
    fn errors(h: f64) -> [f64; 2] {
        let step = Step::new((0.0, h), &[0.0, 1.0], &[1.0, 0.0], [1e-6, 1e-6], oscillator).unwrap();
        let sine = |t: f64| {
            t - t * t * t / 6.0 + t.powi(5) / 120.0 - t.powi(7) / 5040.0 + t.powi(9) / 362_880.0
        };
        let error = |part: f64| (step.at(part)[0] - sine(part * h)).abs();
        [
            error(1.0),
            (1..16)
                .map(|k| error(f64::from(k) / 16.0))
                .fold(0.0, f64::max),
        ]
    }

    /// One step errs by `h⁶`, the dense output by `h⁵`.
    #[test]
    fn orders_of_the_step_and_of_the_dense_output() {
        let [coarse, fine] = [errors(0.4), errors(0.1)];
        let order = |k: usize| libm::log2(coarse[k] / fine[k]) / 2.0;
        assert!(
            (order(0) - 6.0).abs() < 1.1 && order(0) > 5.5,
            "{}",
            order(0)
        );
        assert!((order(1) - 5.0).abs() < 0.6, "{}", order(1));
    }
}
