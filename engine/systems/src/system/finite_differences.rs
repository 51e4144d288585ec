//! Systems whose slopes are taken by finite differences.
//!
//! Central differences with the step `ε^(1/3) max(1, |z|)` in each coordinate: an error of about 1e-10 relative to the values, which Newton's method
//! answers with an iteration more at most. They cost `2n` evaluations a slope.

use super::first_order::FirstOrderModel;
use super::lagrangian::LagrangianModel;
use crate::algebra::Matrix;

/// Writes `∂f/∂z` of a function that adds its value to zeros.
///
/// ```
/// use moreau_systems::{Matrix, finite_differences::slope_by_differences};
/// let mut slope = Matrix::zeros(1, 2);
/// slope_by_differences(&[3.0, 2.0], &mut slope, |z, value| value[0] = z[0] * z[1]);
/// assert!((slope[(0, 0)] - 2.0).abs() < 1e-9 && (slope[(0, 1)] - 3.0).abs() < 1e-9);
/// ```
pub fn slope_by_differences(z: &[f64], slope: &mut Matrix, f: impl Fn(&[f64], &mut [f64])) {
    let cube_root_of_epsilon = 6.055_454_452_393_343e-6;
    let mut moved = z.to_vec();
    let mut values = [vec![0.0; slope.rows()], vec![0.0; slope.rows()]];
    for column in 0..z.len() {
        let step = cube_root_of_epsilon * z[column].abs().max(1.0);
        let ends = [z[column] - step, z[column] + step];
        for (value, end) in values.iter_mut().zip(ends) {
            moved[column] = end;
            value.fill(0.0);
            f(&moved, value);
        }
        moved[column] = z[column];
        for row in 0..slope.rows() {
            slope[(row, column)] = (values[1][row] - values[0][row]) / (ends[1] - ends[0]);
        }
    }
}

/// A Lagrangian system from two functions: `M(q)` and `F(t, q, v)`. The slopes of `F` are finite differences.
pub struct LagrangianByDifferences<M, F> {
    /// `n`.
    pub size: usize,
    /// Writes `M(q)` over zeros.
    pub mass: M,
    /// Writes `F(t, q, v)` over zeros.
    pub force: F,
}

impl<M, F> LagrangianModel for LagrangianByDifferences<M, F>
where
    M: Fn(&[f64], &mut Matrix) + Send + Sync,
    F: Fn(f64, &[f64], &[f64], &mut [f64]) + Send + Sync,
{
    fn size(&self) -> usize {
        self.size
    }

    fn mass(&self, q: &[f64], mass: &mut Matrix) {
        (self.mass)(q, mass);
    }

    fn force(&self, t: f64, q: &[f64], v: &[f64], force: &mut [f64]) {
        (self.force)(t, q, v, force);
    }

    fn force_by_position(&self, t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        slope_by_differences(q, slope, |q, value| (self.force)(t, q, v, value));
    }

    fn force_by_velocity(&self, t: f64, q: &[f64], v: &[f64], slope: &mut Matrix) {
        slope_by_differences(v, slope, |v, value| (self.force)(t, q, v, value));
    }
}

/// A first-order system from a function `f(t, x)`, with the unit matrix as `M`. Its slope is by finite differences.
pub struct FirstOrderByDifferences<F> {
    /// `n`.
    pub size: usize,
    /// Writes `f(t, x)` over zeros.
    pub rate: F,
}

impl<F> FirstOrderModel for FirstOrderByDifferences<F>
where
    F: Fn(f64, &[f64], &mut [f64]) + Send + Sync,
{
    fn size(&self) -> usize {
        self.size
    }

    fn rate(&self, t: f64, x: &[f64], rate: &mut [f64]) {
        (self.rate)(t, x, rate);
    }

    fn rate_by_state(&self, t: f64, x: &[f64], slope: &mut Matrix) {
        slope_by_differences(x, slope, |x, value| (self.rate)(t, x, value));
    }
}
