//! One contact by damped Newton on the function of Alart and Curnier [Alart-Curnier91; docs/theory.md §10].
//!
//! ```text
//! a = r_N − ρ_N u_N,   z = r_T − ρ_T u_T,   u = W r + q
//! Φ_N = r_N − a₊
//! Φ_T = r_T − P_D(μ a₊)(z)                  D(d) the disc of radius d
//! r ← r − t (∂Φ/∂u W + ∂Φ/∂r)⁻¹ Φ,   t = 1, ½, ¼ … until ‖Φ‖ decreases
//! ρ_N = 1/W_NN,   ρ_T = 1/λ_max(W_TT)
//! ```
//!
//! Newton alone may cycle between the pieces of `Φ`. The hybrid: at most 10 damped Newton steps,
//! then at most 100 of [`crate::comparison::local::projection`], then Newton again. The best of what each phase found
//! is kept, judged by the natural map; an answer worse than the start, or undefined, is discarded
//! and the start stays.
//!
//! **When to use it:** to compare with the field's standard local solver [Acary-Bremond-Huber18].
//! **When not:** for speed or robustness: [`crate::OneContact`] has both. **Cost:** a 3×3 matrix
//! and its inverse a step, mostly 3 to 6 steps.

use crate::comparison::local::projection::{self, ProjectionSettings};
use crate::comparison::local::{LocalProblem, onto_cone};
use glam::{DMat3, DVec3};

/// Settings of the hybrid Newton method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlartCurnierSettings {
    /// Newton steps before the projection, and again after it. Default 10.
    pub newton: usize,
    /// Projections between the two. Default 100.
    pub projections: usize,
    /// `‖Φ‖` to reach, relative to `max(‖r‖, ‖q‖/λ)`. Default 1e-14.
    pub tolerance: f64,
}

impl Default for AlartCurnierSettings {
    fn default() -> Self {
        Self {
            newton: 10,
            projections: 100,
            tolerance: 1e-14,
        }
    }
}

/// Halvings of a Newton step.
const MAX_HALVINGS: usize = 10;
/// Share of the linear decrease of `‖Φ‖²` that a step has to reach.
const DECREASE: f64 = 1e-4;

/// The hybrid method from `start`. `rho` is the memory of the projection.
pub(crate) fn solve(
    problem: &LocalProblem,
    settings: &AlartCurnierSettings,
    start: DVec3,
    rho: &mut f64,
) -> DVec3 {
    let function = Function::new(problem);
    let mut best = Best::new(&function, start);
    if !best.take(function.newton(settings, start)) {
        let limits = ProjectionSettings {
            iterations: settings.projections,
            tolerance: settings.tolerance,
        };
        let projected = projection::solve(problem, &limits, best.r, rho);
        if !best.take((projected, false)) {
            let from = best.r;
            best.take(function.newton(settings, from));
        }
    }
    best.r
}

/// The best impulse so far, by the natural map.
struct Best<'a> {
    function: &'a Function<'a>,
    r: DVec3,
    error: f64,
}

impl<'a> Best<'a> {
    fn new(function: &'a Function<'a>, start: DVec3) -> Self {
        let error = function.problem.error(function.lambda, start);
        Self {
            function,
            r: start,
            error: if error.is_nan() { f64::INFINITY } else { error },
        }
    }

    /// Keeps `r`, put on the cone, if it is better; true if the method says that it converged.
    fn take(&mut self, (r, converged): (DVec3, bool)) -> bool {
        let r = onto_cone(self.function.problem.friction, r);
        let error = self.function.problem.error(self.function.lambda, r);
        if error <= self.error {
            self.r = r;
            self.error = error;
        }
        converged
    }
}

/// `Φ` of one contact.
struct Function<'a> {
    problem: &'a LocalProblem<'a>,
    matrix: DMat3,
    lambda: f64,
    rho: [f64; 2],
}

impl<'a> Function<'a> {
    fn new(problem: &'a LocalProblem<'a>) -> Self {
        let matrix = problem.matrix();
        let (a, d, off) = (matrix.y_axis.y, matrix.z_axis.z, matrix.y_axis.z);
        let half = 0.5 * (a - d);
        let largest = 0.5 * (a + d) + (half * half + off * off).sqrt();
        Self {
            problem,
            matrix,
            lambda: problem.lambda(),
            rho: [1.0 / problem.w_nn, 1.0 / largest],
        }
    }

    /// `(a, z)`, `z` in the tangential components.
    fn argument(&self, r: DVec3) -> (f64, DVec3) {
        let u = self.problem.velocity(r);
        let z = r - u * self.rho[1];
        (r.x - self.rho[0] * u.x, DVec3::new(0.0, z.y, z.z))
    }

    fn value(&self, r: DVec3) -> DVec3 {
        let (a, z) = self.argument(r);
        let (radius, length) = (self.problem.friction * a.max(0.0), z.length());
        let inside = if length <= radius {
            z
        } else {
            z * (radius / length)
        };
        r - DVec3::new(a.max(0.0), inside.y, inside.z)
    }

    /// `∂Φ/∂u W + ∂Φ/∂r`.
    fn jacobian(&self, r: DVec3) -> DMat3 {
        let (a, z) = self.argument(r);
        let length = z.length();
        let [rho_n, rho_t] = self.rho;
        let slips = length > self.problem.friction * a.max(0.0);
        // d(a₊, P z) = M (dr − ρ du): the columns of M.
        let normal = if a <= 0.0 {
            DVec3::ZERO
        } else if slips {
            DVec3::X + z * (self.problem.friction / length)
        } else {
            DVec3::X
        };
        let (second, third) = match (slips, a > 0.0) {
            (false, _) => (DVec3::Y, DVec3::Z),
            (true, false) => (DVec3::ZERO, DVec3::ZERO),
            (true, true) => {
                let (s, factor) = (z / length, self.problem.friction * a / length);
                ((DVec3::Y - s * s.y) * factor, (DVec3::Z - s * s.z) * factor)
            }
        };
        let m = DMat3::from_cols(normal, second, third);
        let step = DMat3::from_diagonal(DVec3::new(rho_n, rho_t, rho_t));
        DMat3::IDENTITY - m * (DMat3::IDENTITY - step * self.matrix)
    }

    /// Damped Newton from `r`; true if `Φ` vanishes up to the tolerance.
    fn newton(&self, settings: &AlartCurnierSettings, mut r: DVec3) -> (DVec3, bool) {
        let mut value = self.value(r);
        for _ in 0..settings.newton {
            if self.vanishes(r, value, settings.tolerance) {
                return (r, true);
            }
            let step = self.jacobian(r).inverse() * value;
            let Some((next, next_value)) = self.damped(r, step, value) else {
                break;
            };
            (r, value) = (next, next_value);
        }
        (r, self.vanishes(r, value, settings.tolerance))
    }

    fn vanishes(&self, r: DVec3, value: DVec3, tolerance: f64) -> bool {
        value.length() <= tolerance * self.problem.scale(self.lambda, r)
    }

    /// The longest of the halved steps that decreases `‖Φ‖²`.
    fn damped(&self, r: DVec3, step: DVec3, value: DVec3) -> Option<(DVec3, DVec3)> {
        if !step.is_finite() {
            return None;
        }
        let mut t = 1.0;
        for _ in 0..MAX_HALVINGS {
            let next = r - step * t;
            let next_value = self.value(next);
            let bound = (1.0 - 2.0 * DECREASE * t) * value.length_squared();
            if next_value.length_squared() <= bound {
                return Some((next, next_value));
            }
            t *= 0.5;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OneContact;
    use crate::comparison::local::tangential_norm;
    use crate::random::Random;

    /// Central differences of a piecewise smooth function: of second order in the step 1e-6 with
    /// second derivatives of order `1/‖z‖`, and rounding 1e-16/1e-6. Points near a kink are left out.
    #[test]
    fn the_jacobian_is_the_derivative() {
        let mut random = Random::new(3);
        let mut compared = 0;
        for _ in 0..2_000 {
            let d = DVec3::from([(); 3].map(|()| random.uniform(0.3, 1.0)));
            let block = OneContact::new(&random.symmetric(d));
            let problem = LocalProblem::new(&block, random.vector(), random.uniform(0.1, 1.5));
            let (function, r) = (Function::new(&problem), random.vector());
            let (a, z) = function.argument(r);
            let gap = tangential_norm(z) - problem.friction * a.max(0.0);
            if a.abs() < 1e-3 || gap.abs() < 1e-3 || z.length() < 0.1 {
                continue;
            }
            compared += 1;
            let jacobian = function.jacobian(r);
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let h = 1e-6;
                let difference = function.value(r + axis * h) - function.value(r - axis * h);
                let error = (difference / (2.0 * h) - jacobian * axis).length();
                assert!(error <= 1e-7, "{error:e}");
            }
        }
        assert!(compared > 1_000);
    }
}
