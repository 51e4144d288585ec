//! Anderson acceleration of the Gauss–Seidel map [Anderson65; Walker-Ni11].
//!
//! With `g_k = GS(x_k)`, `f_k = g_k − x_k` and the last `m` differences `ΔF`, `ΔG` of both:
//!
//! ```text
//! γ = argmin ‖f_k − ΔF γ‖²_λ          D⁻¹(ΔFᵀΛΔF)D⁻¹ + εI,  D = diag‖ΔF_i‖_λ:  Cholesky, m × m
//! x_{k+1} = g_k − ΔG γ
//! ‖f‖²_λ = Σ λ_α‖f_α‖²,   λ_α = trace(W_αα)/3
//! ```
//!
//! For an affine map this is GMRES in disguise. The map is affine only as long as no contact
//! changes between sticking, sliding and taking off, hence the safeguards: when `‖f‖_λ` grows by
//! more than a factor, or the step is not finite, the past is dropped and the plain Gauss–Seidel
//! iterate taken. The best iterate by the true residual is returned.
//!
//! **When to use it:** stored problems of moderate size: a stack of 8 cubes takes 169 iterations to
//! 1e-8 instead of 15 500, random problems a third to a half of the plain sweeps. **When not:** on
//! tall stacks at tight tolerances, where contacts keep changing their regime and every change costs
//! the past (30 cubes to 1e-8: 14 000 iterations; Newton's methods are made for them), and on time
//! steps, which [`crate::Nsgs`] solves without stored blocks. **Cost:** one sweep, `2m + 1` inner
//! products and vector sums an iteration, and `2m + 2` vectors of memory.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use moreau_solvers::{Anderson, Delassus, StoredProblem, Goal, Solver};
//! let problem = StoredProblem::of_contacts(
//!     Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
//!     vec![DVec3::new(-1.0, 0.3, 0.0)],
//!     vec![0.5],
//! );
//! let mut impulse = vec![0.0; 3];
//! let report = Anderson::default().solve(&problem, &mut impulse, &Goal::scaled(1e-10))?;
//! assert!(report.converged());
//! # Ok::<(), moreau_solvers::ProblemError>(())
//! ```

use crate::comparison::fixed_point::{
    self, Extrapolation, FixedPointWorkspace, Limits, weighted_dot,
};
use crate::progress::Progress;
use crate::{
    Goal, History, LocalSolver, ProblemError, Solver, SolverReport, StoredProblem, infeasibility,
};
use glam::DVec3;

/// Settings of [`Anderson`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AndersonSettings {
    /// Budget of iterations, one sweep each. Default 5 000.
    pub max_iterations: usize,
    /// `m`, differences kept; 0 is plain Gauss–Seidel. Default 8.
    pub depth: usize,
    /// `ε`, relative to the unit diagonal of the scaled normal equations. Default 1e-10.
    pub regularization: f64,
    /// Growth of `‖f‖_λ` in one iteration that drops the past. Default 2.
    pub growth: f64,
    /// How one contact is solved. Default [`LocalSolver::Exact`].
    pub local: LocalSolver,
}

impl Default for AndersonSettings {
    fn default() -> Self {
        Self {
            max_iterations: 5_000,
            depth: 8,
            regularization: 1e-10,
            growth: 2.0,
            local: LocalSolver::Exact,
        }
    }
}

/// The solver and its buffers, which are reused from solve to solve.
#[derive(Debug, Default)]
pub struct Anderson {
    /// Settings of the next solve.
    pub settings: AndersonSettings,
    history: History,
    best: Vec<DVec3>,
    space: FixedPointWorkspace,
    past: Past,
}

impl Anderson {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: AndersonSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

impl Solver for Anderson {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.in_triples(impulse, |impulse| {
            let limits = Limits {
                max_sweeps: self.settings.max_iterations,
                local: self.settings.local,
            };
            self.past.settings = self.settings;
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            let (space, past) = (&mut self.space, &mut self.past);
            fixed_point::run(problem, space, past, impulse, &limits, &mut progress);
            let mut report = progress.report;
            impulse.copy_from_slice(&self.best);
            infeasibility::conclude(problem, impulse, &mut report);
            report
        })
    }

    fn history(&self) -> &History {
        &self.history
    }
}

/// The last differences, in a ring, and their Gram matrix.
#[derive(Debug, Default)]
struct Past {
    settings: AndersonSettings,
    delta_f: Vec<Vec<DVec3>>,
    delta_g: Vec<Vec<DVec3>>,
    /// `f` and `g` of the last iteration, once there was one.
    f: Vec<DVec3>,
    g: Vec<DVec3>,
    /// `‖f‖²_λ` of the last iteration; infinite before the first.
    square: f64,
    /// Differences held, and where the next one goes.
    count: usize,
    slot: usize,
    /// `⟨ΔF_i, ΔF_j⟩_λ`, `m × m`.
    gram: Vec<f64>,
    factor: Vec<f64>,
    gamma: Vec<f64>,
}

impl Extrapolation for Past {
    fn reset(&mut self, blocks: usize) {
        let depth = self.settings.depth;
        for columns in [&mut self.delta_f, &mut self.delta_g] {
            columns.resize_with(depth, Vec::new);
            for column in columns {
                column.resize(blocks, DVec3::ZERO);
            }
        }
        self.f.resize(blocks, DVec3::ZERO);
        self.g.resize(blocks, DVec3::ZERO);
        for matrix in [&mut self.gram, &mut self.factor] {
            matrix.resize(depth * depth, 0.0);
        }
        self.gamma.resize(depth, 0.0);
        self.forget();
        self.square = f64::INFINITY;
    }

    fn extrapolate(&mut self, lambda: &[f64], start: &[DVec3], swept: &mut [DVec3]) -> bool {
        let known = self.square.is_finite();
        let before = self.square;
        self.square = self.difference(known, start, swept, lambda);
        let growth = self.settings.growth;
        if known && self.square > growth * growth * before {
            self.forget();
            return true;
        }
        if known && self.settings.depth > 0 {
            self.keep_difference(lambda);
        }
        if self.count == 0 {
            return false;
        }
        if self.solve(lambda) && self.apply(swept) {
            return false;
        }
        swept.copy_from_slice(&self.g);
        self.forget();
        true
    }
}

impl Past {
    fn forget(&mut self) {
        self.count = 0;
        self.slot = 0;
    }

    /// Replaces `f` and `g` by the new ones, with the differences in the next slot; `‖f‖²_λ`.
    fn difference(&mut self, known: bool, start: &[DVec3], swept: &[DVec3], lambda: &[f64]) -> f64 {
        if known && self.settings.depth > 0 {
            let (delta_f, delta_g) = (&mut self.delta_f[self.slot], &mut self.delta_g[self.slot]);
            for (i, (x, g)) in start.iter().zip(swept).enumerate() {
                delta_f[i] = (*g - *x) - self.f[i];
                delta_g[i] = *g - self.g[i];
            }
        }
        for ((f, x), g) in self.f.iter_mut().zip(start).zip(swept) {
            *f = *g - *x;
        }
        self.g.copy_from_slice(swept);
        weighted_dot(lambda, &self.f, &self.f)
    }

    /// Takes the difference in the next slot into the Gram matrix.
    fn keep_difference(&mut self, lambda: &[f64]) {
        let (depth, slot) = (self.settings.depth, self.slot);
        self.count = (self.count + 1).min(depth);
        for other in 0..self.count {
            let product = weighted_dot(lambda, &self.delta_f[slot], &self.delta_f[other]);
            self.gram[slot * depth + other] = product;
            self.gram[other * depth + slot] = product;
        }
        self.slot = (slot + 1) % depth;
    }

    /// `γ` of the regularised normal equations; false if they are singular.
    fn solve(&mut self, lambda: &[f64]) -> bool {
        let (n, depth) = (self.count, self.settings.depth);
        let gram = &self.gram;
        let scale = |i: usize| {
            let square = gram[i * depth + i];
            if square > 0.0 {
                1.0 / square.sqrt()
            } else {
                0.0
            }
        };
        for i in 0..n {
            for j in 0..n {
                self.factor[i * n + j] = scale(i) * scale(j) * gram[i * depth + j];
            }
            self.factor[i * n + i] += self.settings.regularization;
            self.gamma[i] = scale(i) * weighted_dot(lambda, &self.delta_f[i], &self.f);
        }
        let solved = solve_positive(&mut self.factor[..n * n], &mut self.gamma[..n]);
        for (i, gamma) in self.gamma[..n].iter_mut().enumerate() {
            *gamma *= scale(i);
        }
        solved
    }

    /// `g ← g − ΔG γ`; false if that is not finite.
    fn apply(&self, swept: &mut [DVec3]) -> bool {
        for (gamma, column) in self.gamma[..self.count].iter().zip(&self.delta_g) {
            for (g, delta) in swept.iter_mut().zip(column) {
                *g -= *delta * *gamma;
            }
        }
        swept.iter().all(|g| g.is_finite())
    }
}

/// Solves `A x = b` in place by Cholesky; false if a pivot of the row-major `A` is not positive.
fn solve_positive(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for j in 0..n {
        for i in j..n {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            a[i * n + j] -= dot;
        }
        let pivot = a[j * n + j];
        if pivot <= 0.0 || !pivot.is_finite() {
            return false;
        }
        let root = pivot.sqrt();
        for i in j..n {
            a[i * n + j] /= root;
        }
    }
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| a[i * n + k] * b[k]).sum();
        b[i] = (b[i] - dot) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        b[i] = (b[i] - dot) / a[i * n + i];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Hilbert-like matrix of order 3 plus the identity: condition below 3.
    #[test]
    fn the_normal_equations_are_solved() {
        let entry = |i: usize, j: usize| 1.0 / (i + j + 1) as f64 + f64::from(u8::from(i == j));
        let exact = [1.0, -2.0, 3.0];
        let mut a: Vec<f64> = (0..9).map(|k| entry(k / 3, k % 3)).collect();
        let row = |i: usize| (0..3).map(|j| entry(i, j) * exact[j]).sum();
        let mut b: Vec<f64> = (0..3).map(row).collect();
        assert!(solve_positive(&mut a, &mut b));
        for (x, exact) in b.iter().zip(exact) {
            assert!((x - exact).abs() <= 20.0 * f64::EPSILON);
        }
        assert!(!solve_positive(&mut [0.0], &mut [1.0]));
    }
}
