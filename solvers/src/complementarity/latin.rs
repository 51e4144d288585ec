//! Latin: a law and a linear stage in turn, with a search direction [Ladeveze99, Siconos].
//!
//! ```text
//! law:      ẑ = P( s )                              row by row
//! linear:   (M + D) z = D (2 ẑ − s) − q             D = k diag(λ), one factorisation
//! relaxed:  s ← (1 − a) s + a (2 z − 2 ẑ + s)
//! ```
//!
//! A fixed point has `z = ẑ` and `M z + q = D (z − s)`, so `z = P(z − D⁻¹ w)`. For monotone `M` both stages are reflections that lengthen
//! nothing; relaxed by `0 < a < 1` they converge whenever there is a solution (Krasnoselskii and Mann; `a = ½` is the splitting of Douglas and
//! Rachford). `k` decides how fast.
//!
//! **Converges** for monotone `M` (positive semi-definite, unsymmetric or not). **When to use it:** to compare; many right-hand sides with one `M`.
//! **When not:** `M` of other kinds. **Cost:** `n³/3` once, `n²` an iteration.

use super::BoxProblem;
use super::dense_lu::DenseLu;
use super::method::{Memory, Method, Trial, solver_of_boxes};

/// Settings of [`Latin`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatinSettings {
    /// Budget of iterations. Default 20 000.
    pub max_iterations: usize,
    /// `k > 0`, relative to the scales of the rows. Default 0.5.
    pub search_direction: f64,
    /// `a` in `(0, 1)`. Default 0.8.
    pub relaxation: f64,
    /// Iterations between two looks of the judge, at least 1. Default 4.
    pub certificate_every: usize,
}

impl Default for LatinSettings {
    fn default() -> Self {
        Self {
            max_iterations: 20_000,
            search_direction: 0.5,
            relaxation: 0.8,
            certificate_every: 4,
        }
    }
}

/// The method and its buffers.
#[derive(Debug, Default)]
pub struct Latin {
    /// Settings of the next solve.
    pub settings: LatinSettings,
    pub(super) memory: Memory,
    lu: DenseLu,
}

impl Latin {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: LatinSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

solver_of_boxes!(Latin);

impl Method for Latin {
    const NAME: &'static str = "Latin";

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        let n = problem.len();
        let settings = self.settings;
        let weight: Vec<f64> = problem
            .scales()
            .iter()
            .map(|scale| settings.search_direction * scale)
            .collect();
        let entry = |i: usize, j: usize| {
            let own = if i == j { weight[i] } else { 0.0 };
            problem.row(i)[j] + own
        };
        trial.report.factorizations += 1;
        if !self.lu.factorize(n, entry) {
            return;
        }
        let mut z = trial.best().to_vec();
        let mut w = Vec::new();
        problem.image(&z, &mut w);
        let mut s: Vec<f64> = (0..n).map(|i| z[i] - w[i] / weight[i]).collect();
        let mut lawful = z.clone();
        let every = settings.certificate_every.max(1);
        for iteration in 1..=settings.max_iterations {
            for i in 0..n {
                lawful[i] = problem.clamp(i, s[i]);
                z[i] = weight[i] * (2.0 * lawful[i] - s[i]) - problem.q()[i];
            }
            self.lu.solve(&mut z);
            for i in 0..n {
                s[i] += 2.0 * settings.relaxation * (z[i] - lawful[i]);
            }
            trial.report.iterations += 1;
            if iteration % every == 0 || iteration == settings.max_iterations {
                trial.judge(&lawful);
                if trial.finished() || !s.iter().all(|s| s.is_finite()) {
                    break;
                }
            }
        }
        trial.end_at(&lawful);
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}
