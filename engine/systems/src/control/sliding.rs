//! Sliding-mode control without chattering, sampled [Acary-Brogliato10].
//!
//! The controller has a model of its plant, `ẋ = A x + B u`, and `σ = C x` is to vanish. With `u` held over a period `T` the model moves by
//!
//! ```text
//! x⁺ = Φ x + Γ u,      Φ = exp(A T),      Γ = ∫₀ᵀ exp(A s) B ds
//! σ⁺ = C Φ x + C Γ u,      −σ⁺ ∈ N_[lo, hi](u)
//! ```
//!
//! The relay is that of the *next* instant, which the model forecasts: `u` takes any value between its bounds, so that `σ⁺ = 0` as soon as they allow it. The sampled
//! sign `u = −sgn(σ)` can do no better than to jump between the bounds. What the model does not know, a disturbance `d` in the input, is left in `σ` for one period:
//! `|σ| ≤ T |CB| |d| + O(T²)`.

use super::actuator::Controller;
use crate::algebra::{Factor, Matrix};
use crate::error::{FieldError, expect_length, expect_range, expect_shape};
use crate::law::NonsmoothLaw;
use crate::solver_choice::named;
use crate::step::assemble;

/// The implicit relay on a model of the plant; its sensors together read `x`, in their order.
#[derive(Clone, Debug)]
pub struct SlidingMode {
    /// `C Φ`.
    free: Matrix,
    /// `C Γ`.
    gain: Matrix,
    law: NonsmoothLaw,
    period: f64,
}

impl SlidingMode {
    /// For the model `ẋ = A x + B u`, `σ = C x`, bounds of each entry of `u`, and the period of the actuator, s.
    ///
    /// # Errors
    /// [`FieldError`] names what has the wrong size or is out of its range; `C Γ` must be regular.
    pub fn new(
        [a, b, c]: [&Matrix; 3],
        [lower, upper]: [Vec<f64>; 2],
        period: f64,
    ) -> Result<Self, FieldError> {
        let (n, m) = (a.rows(), lower.len());
        expect_shape("a", a, [n, n])?;
        expect_shape("b", b, [n, m])?;
        expect_shape("c", c, [m, n])?;
        let law = NonsmoothLaw::Relay { lower, upper };
        law.check(m)?;
        let positive = period.is_finite() && period > 0.0;
        expect_range("period", period, positive, "finite and > 0")?;
        let [phi, gamma] = zero_order_hold(a, b, period);
        let (free, gain) = (c.product(&phi), c.product(&gamma));
        if m == 0 || Factor::new(&gain).is_none() {
            let field = "C Γ, what u does to σ,";
            return Err(FieldError::Singular { field });
        }
        Ok(Self {
            free,
            gain,
            law,
            period,
        })
    }

    /// The solution of the relay, if it is solved to the tolerance.
    fn solve(&self, x: &[f64], first: &[f64]) -> Option<Vec<f64>> {
        let mut laws = Vec::new();
        self.law.append_to(1.0, &mut laws);
        let problem = assemble::stored(&laws, &self.gain, &self.free.times(x)).ok()?;
        let mut solver = named("auto")?;
        let (u, report) = assemble::solve(&problem, first.to_vec(), 1e-13, &mut solver).ok()?;
        report.converged().then_some(u)
    }
}

impl Controller for SlidingMode {
    fn size(&self) -> usize {
        self.gain.rows()
    }

    fn check(&self, sensors: &[usize], period: f64) -> Result<(), FieldError> {
        expect_length("sensors", sensors.iter().sum(), self.free.columns())?;
        let same = (period - self.period).abs() <= 1e-9 * self.period;
        expect_range("clock.period", period, same, "that of the sliding mode")
    }

    /// A relay without solution, or one that is not solved, gives `NaN`: the step then is refused.
    fn command(&self, _t: f64, readings: &[&[f64]], command: &mut [f64]) {
        match self.solve(&readings.concat(), command) {
            Some(u) => command.copy_from_slice(&u),
            None => command.fill(f64::NAN),
        }
    }
}

/// `Φ = exp(A T)` and `Γ = ∫₀ᵀ exp(A s) B ds` of square `A`, from the exponential of `T [A B; 0 0] = [Φ Γ; 0 1]`.
#[must_use]
pub fn zero_order_hold(a: &Matrix, b: &Matrix, period: f64) -> [Matrix; 2] {
    let (n, m) = (a.rows(), b.columns());
    let mut joint = Matrix::zeros(n + m, n + m);
    for row in 0..n {
        joint.row_mut(row)[..n].copy_from_slice(a.row(row));
        joint.row_mut(row)[n..].copy_from_slice(b.row(row));
    }
    let moved = exponential(joint.scaled(period));
    let (mut phi, mut gamma) = (Matrix::zeros(n, n), Matrix::zeros(n, m));
    for row in 0..n {
        phi.row_mut(row).copy_from_slice(&moved.row(row)[..n]);
        gamma.row_mut(row).copy_from_slice(&moved.row(row)[n..]);
    }
    [phi, gamma]
}

/// Halved until its rows sum up to at most ½, then eighteen terms (½¹⁹/19! is far below a rounding), then squared as often.
fn exponential(mut matrix: Matrix) -> Matrix {
    let sum = |row: usize| matrix.row(row).iter().map(|entry| entry.abs()).sum::<f64>();
    let mut size = (0..matrix.rows()).map(sum).fold(0.0, f64::max);
    let mut halvings = 0;
    while size > 0.5 && halvings < 1_100 {
        (size, halvings) = (0.5 * size, halvings + 1);
        matrix = matrix.scaled(0.5);
    }
    let mut sum = Matrix::identity(matrix.rows());
    for k in (1..=18).rev() {
        let mut next = Matrix::identity(matrix.rows());
        next.add_scaled(1.0 / f64::from(k), &matrix.product(&sum));
        sum = next;
    }
    for _ in 0..halvings {
        sum = sum.product(&sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An oscillator of `ω = 7`, half a turn and more.
    #[test]
    fn the_hold_is_that_of_the_closed_form() {
        let a = Matrix::from_rows([[0.0, 1.0], [-49.0, 0.0]]);
        let b = Matrix::from_rows([[0.0], [1.0]]);
        let [phi, gamma] = zero_order_hold(&a, &b, 0.5);
        let (sine, cosine) = (libm::sin(3.5), libm::cos(3.5));
        let expected = [cosine, sine / 7.0, -7.0 * sine, cosine];
        for (found, expected) in phi.entries().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-13, "{found} {expected}");
        }
        let expected = [(1.0 - cosine) / 49.0, sine / 7.0];
        for (found, expected) in gamma.entries().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-14, "{found} {expected}");
        }
    }
}
