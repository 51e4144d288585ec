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
use crate::algebra::{Factor, Matrix, held};
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

/// `Φ = exp(A T)` and `Γ = ∫₀ᵀ exp(A s) ds B` of square `A`: what [`held`] gives, with the second multiplied by `B`. All entries are `NaN` if these are not finite.
#[must_use]
pub fn zero_order_hold(a: &Matrix, b: &Matrix, period: f64) -> [Matrix; 2] {
    if let Some([phi, psi]) = held(a, period) {
        return [phi, psi.product(b)];
    }
    let (mut phi, mut gamma) = (Matrix::zeros(a.rows(), a.rows()), b.clone());
    phi.fill(f64::NAN);
    gamma.fill(f64::NAN);
    [phi, gamma]
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
