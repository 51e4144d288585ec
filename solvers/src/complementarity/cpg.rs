//! Conjugate projected gradients (CPG), for symmetric `M` [Renouf-Alart05].
//!
//! In the variables `√λ z` the objective `f = ½ zᵀMz + qᵀz` is made smaller over the boxes:
//!
//! ```text
//! r = −(M z + q),   r̄, p̄: r and p without the parts that point out of the box at an active bound
//! p ← r̄ + β p̄,   β = −(r̄ · M p̄)/(p̄ · M p̄)            conjugate to the direction before, projected
//! z ← P( z + α p ),   α = (r · p)/(p · M p)
//! ```
//!
//! The projection may spoil the step. If `f` does not fall by a part of what the slope promises, the step is one of projected steepest descent
//! with halving, and the directions start anew. So `f` falls in every iteration: this guard is ours, not the source's.
//!
//! **Converges** for symmetric positive semi-definite `M` with a solution. **When to use it:** symmetric problems that are too large to
//! factorise. **When not:** unsymmetric `M`, which is refused. **Cost:** two products with `M` an iteration.

use super::BoxProblem;
use super::box_problem::dot;
use super::method::{Memory, Method, Trial, require_symmetry, solver_of_boxes};
use crate::ProblemError;

/// Settings of [`Cpg`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpgSettings {
    /// Budget of iterations. Default 20 000.
    pub max_iterations: usize,
    /// Iterations between two looks of the judge, at least 1. Default 4.
    pub certificate_every: usize,
}

impl Default for CpgSettings {
    fn default() -> Self {
        Self {
            max_iterations: 20_000,
            certificate_every: 4,
        }
    }
}

/// The method and its buffers.
#[derive(Debug, Default)]
pub struct Cpg {
    /// Settings of the next solve.
    pub settings: CpgSettings,
    pub(super) memory: Memory,
}

impl Cpg {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: CpgSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

/// Part of the promised fall of `f` that a step must reach (Armijo).
const ARMIJO: f64 = 1e-4;
/// Halvings of a step at most.
const HALVINGS: usize = 60;

solver_of_boxes!(Cpg);

impl Method for Cpg {
    const NAME: &'static str = "conjugate projected gradients";

    fn admits(&self, problem: &BoxProblem) -> Result<(), ProblemError> {
        require_symmetry(Self::NAME, problem)
    }

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        let n = problem.len();
        let scales = problem.scales();
        let mut z: Vec<f64> = (0..n).map(|i| problem.clamp(i, trial.best()[i])).collect();
        let (mut w, mut next, mut w_next) = (Vec::new(), vec![0.0; n], Vec::new());
        let (mut p, mut image) = (vec![0.0; n], vec![0.0; n]);
        let mut step = vec![0.0; n];
        problem.image(&z, &mut w);
        let every = self.settings.certificate_every.max(1);
        for iteration in 1..=self.settings.max_iterations {
            trial.report.iterations += 1;
            let inward = |z: &[f64], i: usize, d: f64| {
                if z[i] <= problem.low()[i] && d < 0.0 || z[i] >= problem.high()[i] && d > 0.0 {
                    0.0
                } else {
                    d
                }
            };
            // r̄ in the metric of the scales, and p̄.
            for i in 0..n {
                step[i] = inward(&z, i, -w[i] / scales[i]);
                p[i] = inward(&z, i, p[i]);
            }
            times(problem, &p, &mut image);
            let curvature = dot(&p, &image);
            let beta = -dot(&step, &image) / curvature;
            for i in 0..n {
                p[i] = step[i] + if beta.is_finite() { beta * p[i] } else { 0.0 };
            }
            let mut slope = dot(&w, &p);
            if slope >= 0.0 {
                p.copy_from_slice(&step);
                slope = dot(&w, &p);
            }
            times(problem, &p, &mut image);
            let alpha = -slope / dot(&p, &image);
            let alpha = if alpha.is_finite() && alpha > 0.0 {
                alpha
            } else {
                1.0
            };
            if !advance(problem, (&z, &w), (&p, alpha), (&mut next, &mut w_next)) {
                times(problem, &step, &mut image);
                let alpha = -dot(&w, &step) / dot(&step, &image);
                let mut alpha = if alpha.is_finite() && alpha > 0.0 {
                    alpha
                } else {
                    1.0
                };
                let mut falls = false;
                for _ in 0..HALVINGS {
                    falls = advance(problem, (&z, &w), (&step, alpha), (&mut next, &mut w_next));
                    if falls {
                        break;
                    }
                    alpha *= 0.5;
                }
                p.fill(0.0);
                if !falls {
                    // Nothing falls any more: rounding.
                    trial.judge(&z);
                    break;
                }
            }
            std::mem::swap(&mut z, &mut next);
            std::mem::swap(&mut w, &mut w_next);
            if iteration % every == 0 || iteration == self.settings.max_iterations {
                trial.judge(&z);
                if trial.finished() || !z.iter().all(|z| z.is_finite()) {
                    break;
                }
            }
        }
        trial.end_at(&z);
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}

/// `next = P(z + α p)` and its velocities; true if `f` falls enough. For quadratic `f`: `Δf = ½ (w + w')ᵀ(z' − z)`.
fn advance(
    problem: &BoxProblem,
    (z, w): (&[f64], &[f64]),
    (p, alpha): (&[f64], f64),
    (next, w_next): (&mut [f64], &mut Vec<f64>),
) -> bool {
    for i in 0..z.len() {
        next[i] = problem.clamp(i, z[i] + alpha * p[i]);
    }
    problem.image(next, w_next);
    let (mut fall, mut promise) = (0.0, 0.0);
    for i in 0..z.len() {
        let way = next[i] - z[i];
        fall -= 0.5 * (w[i] + w_next[i]) * way;
        promise -= w[i] * way;
    }
    promise > 0.0 && fall >= ARMIJO * promise
}

/// `M p`.
fn times(problem: &BoxProblem, p: &[f64], image: &mut [f64]) {
    for (row, image) in image.iter_mut().enumerate() {
        *image = dot(problem.row(row), p);
    }
}
