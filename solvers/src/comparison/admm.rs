//! ADMM: one factorisation, many back-solves [Carpentier-LeLidec-Montaut24].
//!
//! **Problem.** The stored form `u = W r + q` with any laws ([`StoredProblem`]). `W` is taken as given: it may
//! be singular, and slightly unsymmetric.
//!
//! **Algorithm.** With `λ_α = trace(W_αα)/3` everything is done in the variables
//!
//! ```text
//! r̂ = √λ r,   q̂ = q/√λ,   Ŵ_αβ = W_αβ/√(λ_α λ_β)
//! ```
//!
//! in which units drop out and one penalty `ρ` suits all contacts; one scalar a contact keeps the
//! cone. Hats dropped, `x` obeys the dynamics, `z` the law, and `−ρy` tends to the velocity:
//!
//! ```text
//! (W + ρI) x = ρ(z − y) − q − s         the factors serve until ρ changes
//! v = α x + (1 − α) z + y               over-relaxation, α = 1.6
//! z = P(v),   y = v − z
//! ```
//!
//! A fixed point has `x = z` and `W z + q + s = −ρy`. The law enters in one of two ways ([`Shift`]):
//!
//! ```text
//! implicit:  s = 0,  P the Coulomb law of the block ρI:  z_N = max(v_N, 0),  z_T = v_T capped at μ z_N
//! explicit:  s_N = μ ‖ρ y_T‖ (De Saxcé),  P = P_K
//! ```
//!
//! The implicit form solves `K* ∋ û ⊥ z ∈ K` for `u = ρ(z − v)` exactly, and has no gain `μ` in
//! the loop: with `μ = 10⁶` the explicit one does not converge. Both can run in a cycle, since the
//! law of friction is not monotone; that ends as not converged. For an equality `P` is the identity.
//!
//! **Penalty.** Every few iterations the two residuals of the splitting, each relative to what it is
//! made of, are compared: `‖x − z‖/‖z‖` (primal) and `ρ‖z − z_prev‖/‖q‖` (dual). A ratio beyond 2
//! doubles `ρ`, one below ½ halves it, `y` is rescaled and `W + ρI` factorised anew. Each change of
//! direction doubles the time to the next change, so that `ρ` comes to rest. On towers of 10 and 40
//! boxes, top of equal or 1000-fold mass, this takes 350 to 1460 iterations to 1e-8; a ratio of 10
//! takes 750 to 5830, and residuals that are not relative take more than 10 000: the impulses of a
//! stack are far larger than those that stop its contacts one by one.
//!
//! The judge sees `z/√λ`, which satisfies the cone exactly, every ten iterations, and only it
//! decides. A solve that diverges is classified by [`crate::infeasibility`].
//!
//! **When to use it.** Masonry, stacks and hyperstatic bodies to medium accuracy, at a predictable
//! cost; the same matrix with many right-hand sides. **When not.** Large piles (a sweep
//! of [`crate::Nsgs`] costs less than a back-solve), and 1e-10 on sliding piles, where it is slow.
//!
//! **Cost.** `nnz(W)` to assemble, a sparse LU a change of `ρ` (three to eighteen a solve), and an
//! iteration costs one back-solve. Nothing is allocated between factorisations.

mod law;
mod penalty;
mod system;

use crate::history::History;
use crate::law::list::{Laws, rows_of, rows_of_mut};
use crate::progress::Progress;
use crate::{Goal, ProblemError, Solver, SolverReport, StoredProblem, infeasibility, natural_map};
use glam::DVec3;
use penalty::Penalty;
use system::ScaledSystem;

/// How the law enters the splitting (see the [module](self)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shift {
    /// The exact Coulomb law of the block `ρI` in every step.
    #[default]
    Implicit,
    /// De Saxcé's shift from the velocity of the last iteration, and the projection on the cone.
    Explicit,
}

/// Settings of [`Admm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmmSettings {
    /// Budget of iterations. Default 10 000.
    pub max_iterations: usize,
    /// `α` in `(0, 2)`. Default 1.6.
    pub over_relaxation: f64,
    /// First `ρ > 0`, relative to blocks of `W` with mean diagonal 1. Default 0.1.
    pub penalty: f64,
    /// Ratio of primal to dual residual, or its inverse, beyond which `ρ` changes. Default 2.
    pub balance: f64,
    /// Iterations between two certificates, at least 1. Default 10.
    pub certificate_every: usize,
    /// How the law enters. Default [`Shift::Implicit`].
    pub shift: Shift,
}

impl Default for AdmmSettings {
    fn default() -> Self {
        Self {
            max_iterations: 10_000,
            over_relaxation: 1.6,
            penalty: 0.1,
            balance: 2.0,
            certificate_every: 10,
            shift: Shift::default(),
        }
    }
}

/// The solver and its buffers, which are reused from solve to solve.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use moreau_solvers::{Admm, AdmmSettings, Delassus, StoredProblem, Goal, Solver};
/// let problem = StoredProblem::of_contacts(
///     Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
///     vec![DVec3::new(-1.0, 2.0, 0.0)],
///     vec![0.5],
/// );
/// let mut impulse = vec![0.0; 3];
/// let report = Admm::new(AdmmSettings::default()).solve(&problem, &mut impulse, &Goal::scaled(1e-12))?;
/// assert!(report.converged());
/// assert!((DVec3::from_slice(&impulse) - DVec3::new(1.0, -0.5, 0.0)).length() < 1e-11); // it slides
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct Admm {
    /// Settings of the next solve.
    pub settings: AdmmSettings,
    history: History,
    best: Vec<DVec3>,
    system: ScaledSystem,
    state: State,
}

/// The iterates, scaled.
#[derive(Debug, Default)]
struct State {
    free: Vec<DVec3>,
    x: Vec<f64>,
    z: Vec<DVec3>,
    before: Vec<DVec3>,
    y: Vec<DVec3>,
    laws: Laws,
    impulse: Vec<DVec3>,
    /// `‖q‖`.
    speed: f64,
    /// `‖x − z‖ ‖q‖` and `ρ‖z − z_prev‖ ‖z‖`.
    primal: f64,
    dual: f64,
}

impl Admm {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: AdmmSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

impl Solver for Admm {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.in_triples(impulse, |impulse| {
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            self.state.impulse.clear();
            self.state.impulse.extend_from_slice(impulse);
            if progress.judge(&natural_map::stored_triples(problem, impulse), impulse) > 1.0 {
                let mut run = Run {
                    problem,
                    settings: &self.settings,
                    system: &mut self.system,
                    state: &mut self.state,
                };
                run.execute(impulse, &mut progress);
            }
            let mut report = progress.report;
            infeasibility::conclude(problem, &self.state.impulse, &mut report);
            impulse.copy_from_slice(&self.best);
            report
        })
    }

    fn history(&self) -> &History {
        &self.history
    }
}

/// First iteration at which a certificate of infeasibility is looked for; the next ones double.
const FIRST_CLASSIFICATION: usize = 100;

/// One solve.
struct Run<'a> {
    problem: &'a StoredProblem,
    settings: &'a AdmmSettings,
    system: &'a mut ScaledSystem,
    state: &'a mut State,
}

impl Run<'_> {
    fn execute(&mut self, start: &[DVec3], progress: &mut Progress) {
        let mut penalty = Penalty::new(self.settings.penalty, self.settings.balance);
        self.system.assemble(self.problem);
        self.begin(start, penalty.value());
        if !self.factorize(&mut penalty, progress) {
            return;
        }
        let every = self.settings.certificate_every.max(1);
        let mut classify_at = FIRST_CLASSIFICATION;
        for iteration in 1..=self.settings.max_iterations {
            self.iterate(penalty.value());
            progress.report.iterations = iteration;
            if iteration % every != 0 && iteration != self.settings.max_iterations {
                continue;
            }
            self.judge(progress);
            if progress.finished() || !(self.state.primal + self.state.dual).is_finite() {
                break;
            }
            if iteration >= classify_at {
                classify_at = 2 * iteration;
                if infeasibility::classify(self.problem, &self.state.impulse).is_some() {
                    break;
                }
            }
            if let Some(factor) = penalty.advance(self.state.primal, self.state.dual, every) {
                self.rescale(1.0 / factor);
                if !self.factorize(&mut penalty, progress) {
                    break;
                }
            }
        }
    }

    /// Factorises `W + ρI`; a `ρ` at which an indefinite `W` makes it singular is doubled.
    fn factorize(&mut self, penalty: &mut Penalty, progress: &mut Progress) -> bool {
        for _ in 0..8 {
            progress.report.factorizations += 1;
            if self.system.factorize(penalty.value()) {
                return true;
            }
            penalty.double();
            self.rescale(0.5);
        }
        false
    }

    fn rescale(&mut self, factor: f64) {
        for y in &mut self.state.y {
            *y *= factor;
        }
    }

    /// `z = √λ r`, and `y` from the velocity at `r`, as far as the law allows it.
    fn begin(&mut self, start: &[DVec3], rho: f64) {
        let (problem, state, root) = (self.problem, &mut *self.state, self.system.root());
        let n = problem.triples();
        for field in [&mut state.free, &mut state.z, &mut state.y] {
            field.clear();
            field.resize(n, DVec3::ZERO);
        }
        state.x.clear();
        state.x.resize(3 * n, 0.0);
        for triple in 0..n {
            let q = problem.free_velocity[triple];
            state.free[triple] = q / root[triple];
            state.z[triple] = start[triple] * root[triple];
            state.y[triple] = problem.velocity(triple, start) / root[triple];
        }
        state.laws = problem.laws.scaled(root);
        for (range, law) in state.laws.iter() {
            let rows = &mut rows_of_mut(&mut state.y[range])[..law.rows()];
            law::dual(self.settings.shift, law, rows);
        }
        state.y.iter_mut().for_each(|y| *y /= -rho);
        state.speed = state
            .free
            .iter()
            .map(|q| q.length_squared())
            .sum::<f64>()
            .sqrt();
    }

    /// One iteration of the module's equations, and the two residuals of the splitting.
    fn iterate(&mut self, rho: f64) {
        let (state, settings) = (&mut *self.state, self.settings);
        for triple in 0..state.z.len() {
            let (z, y) = (state.z[triple], state.y[triple]);
            let right = (z - y) * rho - state.free[triple];
            state.x[3 * triple..3 * triple + 3].copy_from_slice(&right.to_array());
        }
        if settings.shift == Shift::Explicit {
            for (range, law) in state.laws.iter() {
                let first = 3 * range.start;
                state.x[first] -= rho * law.shift(&rows_of(&state.y[range])[..law.rows()]);
            }
        }
        self.system.solve(&mut state.x);
        state.before.clone_from(&state.z);
        for triple in 0..state.z.len() {
            let x = DVec3::from_slice(&state.x[3 * triple..3 * triple + 3]);
            let before = state.before[triple];
            let relaxed = before + (x - before) * settings.over_relaxation;
            state.z[triple] = relaxed + state.y[triple];
        }
        state.y.clone_from(&state.z);
        for (range, law) in state.laws.iter() {
            let v = &mut rows_of_mut(&mut state.z[range])[..law.rows()];
            law::resolve(settings.shift, law, v);
        }
        let mut sums = [0.0; 3];
        for triple in 0..state.z.len() {
            let x = DVec3::from_slice(&state.x[3 * triple..3 * triple + 3]);
            let z = state.z[triple];
            state.y[triple] -= z;
            sums[0] += (x - z).length_squared();
            sums[1] += (z - state.before[triple]).length_squared();
            sums[2] += z.length_squared();
        }
        let [apart, moved, size] = sums.map(f64::sqrt);
        state.primal = apart * state.speed;
        state.dual = rho * moved * size;
    }

    fn judge(&mut self, progress: &mut Progress) {
        let state = &mut *self.state;
        for ((r, z), root) in state
            .impulse
            .iter_mut()
            .zip(&state.z)
            .zip(self.system.root())
        {
            *r = *z / *root;
        }
        let residual = natural_map::stored_triples(self.problem, &state.impulse);
        progress.judge(&residual, &state.impulse);
    }
}

#[cfg(test)]
mod tests;
