//! Nonsmooth Newton on the function of Alart and Curnier, without a proximal term: the field's
//! standard second-order method, for comparison.
//!
//! In scaled variables (`r̂ = √λ r`, `Ŵ_αβ = W_αβ/√(λ_α λ_β)`, hats dropped), with
//! `R = diag(ρ_N, ρ_T, ρ_T)` in each contact,
//!
//! ```text
//! Φ(r) = r − P(r − R u) = 0,   u = W r + q                 p_N = x_N⁺,  p_T = x_T on the disc μ p_N
//! reduced:  (I − D + D R W) dr = −Φ,   D = ∂P = C B        r ← r + t dr
//! global:   ( M       −H  ) (dv)     (M v − H r − f)       u = Hᵀ v + w
//!           ( D R Hᵀ  I−D ) (dr) = − (      Φ      )       (v, r) ← (v, r) + t (dv, dr)
//! line search on θ = ½‖Φ‖²:   θ(t) ≤ θ_max − m₁ t ‖Φ‖²     (θ' = −‖Φ‖²; θ_max of the last steps)
//! ```
//!
//! A block of a joint has `P = I`, `D = I`: its rows read `R (W dr) = −R u`.
//!
//! * **Start.** Newton converges from nearby only: plain Gauss–Seidel sweeps come first.
//! * **Matrix.** Reduced: blocks of three, pivots inside the diagonal blocks; a general sparse LU if
//!   that is singular or its solution, refined once, leaves more than 10⁻⁶ of the right-hand side.
//!   Global: always the general one. Both count as factorisations.
//! * **End.** The goal or a limit; the budget; a singular matrix or a step without decrease, of which
//!   [`AlartCurnierNewton::failure`] tells. The best iterate is returned.
//!
//! **When to use it:** to compare, and where `W` restricted to the contacts that stick is regular
//! and known: few contacts a body. There it converges quadratically, to rounding. **When not:**
//! walls, arches, boxes on faces, redundant joints. Rows that stick are rows of `W`; where several
//! contacts share bodies these are dependent, the matrix is singular for every `ρ`, and the method
//! ends with [`Failure::Singular`] or, rounding having made it regular, without decrease. There
//! [`crate::ProximalNewton`] adds the `I` that is missing here. In the global form the singularity is
//! the same: `M` regular does not help. **Cost:** one factorisation a step (two if the first was not
//! good enough), 2 to 5 steps on random problems with regular `W` after 3 sweeps; of `3 n_c` unknowns with the fill of `W`, or of `n + 3 n_c`
//! with the fill of `M` and `H`. The global form makes the stored one as well, for the scales, the
//! sweeps and the judge.
//!
//! References: [Alart-Curnier91]; [Acary-Bremond-Huber18] for the line search, the hybrid start and
//! the comparison; docs/theory.md §10.
//!
//! ```
//! use glam::{DMat3, DVec3};
//! use moreau_solvers::{AlartCurnierNewton, Delassus, StoredProblem, Goal, Solver};
//! let problem = StoredProblem::of_contacts(
//!     Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
//!     vec![DVec3::new(-1.0, 0.8, 0.0)],
//!     vec![0.5],
//! );
//! let mut impulse = vec![0.0; 3];
//! let report = AlartCurnierNewton::default().solve(&problem, &mut impulse, &Goal::scaled(1e-12))?;
//! assert!(report.converged());
//! assert!((DVec3::from_slice(&impulse) - DVec3::new(1.0, -0.5, 0.0)).length() < 1e-12); // it slides
//! # Ok::<(), moreau_solvers::ProblemError>(())
//! ```

use crate::law::list::{Laws, rows_of, rows_of_mut};
use crate::law::{ConeMap, linearised::Linearised};
use crate::progress::Progress;
use crate::sweep::acceleration::{self, Momentum, Relaxation};
use crate::sweep::explicit_sweep::{ExplicitSweep, ExplicitWorkspace};
use crate::{
    GlobalProblem, Goal, History, Law, NsgsSettings, ProblemError, Solver, SolverReport,
    StoredProblem, infeasibility,
};
use glam::{DMat3, DVec3};
use smallvec::SmallVec;

mod assembly;
mod global_system;
mod reduced_system;

use global_system::{GlobalBuffers, GlobalSystem};
use reduced_system::{ReducedBuffers, ReducedSystem};

/// Settings of [`AlartCurnierNewton`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlartCurnierNewtonSettings {
    /// `ρ_N` and `ρ_T`, positive, dimensionless (scaled variables). Default 1 and 1.
    pub penalty: [f64; 2],
    /// Budget of factorisations; the last step may take one more. Default 200.
    pub max_factorizations: usize,
    /// Plain sweeps before the first Newton step. Default 100.
    pub first_sweeps: usize,
    /// Which steps are long enough. Default [`LineSearch::GoldsteinPrice`].
    pub line_search: LineSearch,
    /// Steps of which the largest `θ` has to be undercut: 1, the default, asks for a decrease in
    /// every step; more lets it grow for a while.
    pub memory: usize,
}

impl Default for AlartCurnierNewtonSettings {
    fn default() -> Self {
        Self {
            penalty: [1.0, 1.0],
            max_factorizations: 200,
            first_sweeps: 100,
            line_search: LineSearch::default(),
            memory: 1,
        }
    }
}

/// How the length `t` of a step is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineSearch {
    /// The first of `t = 1, ½, ¼, …` that lowers `θ` enough.
    Armijo,
    /// Bisection until `θ` is lowered enough and `t` is not needlessly short:
    /// `θ(t) ≥ θ − m₂ t ‖Φ‖²`. The default.
    #[default]
    GoldsteinPrice,
}

/// What ended a solve before its goal, its limits and its budget did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The Newton matrix is singular, or no factorisation solves with it.
    Singular,
    /// No step along the Newton direction lowers `‖Φ‖`, or it is not finite.
    NoDecrease,
}

/// The solver and its buffers, which are reused from solve to solve.
#[derive(Debug, Default)]
pub struct AlartCurnierNewton {
    /// Settings of the next solve.
    pub settings: AlartCurnierNewtonSettings,
    history: History,
    best: Vec<DVec3>,
    explicit: ExplicitWorkspace,
    vectors: Vectors,
    reduced: ReducedBuffers,
    global: GlobalBuffers,
    failure: Option<Failure>,
}

impl AlartCurnierNewton {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: AlartCurnierNewtonSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Why the last solve gave up, if it did: its status is then [`crate::SolverStatus::Stopped`],
    /// or what was found out about the problem.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Solves a problem in global form with velocities and impulses as unknowns. `impulse` as in
    /// [`Solver::solve`]; the report is that of the stored form.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent, not finite, or `M` is singular; `impulse`
    /// is then unchanged.
    pub fn solve_global(
        &mut self,
        problem: &GlobalProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        self.failure = None;
        let stored = problem.condense()?;
        if !stored.laws.are_triples() {
            return self.solve(&stored, impulse, goal);
        }
        let start = |r: &[DVec3]| problem.velocity_under(rows_of(r));
        let mut failed = None;
        let report = stored.in_triples(impulse, |impulse| {
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            let mut sweep = ExplicitSweep::new(&stored, &mut self.explicit, impulse);
            sweep_first(&mut sweep, &self.settings, &mut progress);
            if !progress.finished() {
                let system = start(progress.best()).and_then(|start| {
                    GlobalSystem::new(problem, &stored, &start, &mut self.global)
                });
                match system {
                    Ok(mut system) => {
                        let (settings, vectors) = (&self.settings, &mut self.vectors);
                        self.failure =
                            newton(&mut system, &mut sweep, settings, vectors, &mut progress);
                    }
                    Err(error) => failed = Some(error),
                }
            }
            let mut report = progress.report;
            impulse.copy_from_slice(&self.best);
            infeasibility::conclude(&stored, impulse, &mut report);
            report
        })?;
        failed.map_or(Ok(report), Err)
    }
}

/// Rolling and spinning resistance couple the triples of an interaction, which the matrices of this method do not.
fn refuse_rolling(problem: &StoredProblem) -> Result<(), ProblemError> {
    let rolls = |law: &Law| matches!(law, Law::Rolling(_));
    match problem.laws().iter().position(rolls) {
        None => Ok(()),
        Some(interaction) => Err(ProblemError::Unsupported {
            interaction,
            method: "the Newton method of Alart and Curnier",
        }),
    }
}

impl Solver for AlartCurnierNewton {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        self.failure = None;
        refuse_rolling(problem)?;
        problem.in_triples(impulse, |impulse| {
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            let mut sweep = ExplicitSweep::new(problem, &mut self.explicit, impulse);
            sweep_first(&mut sweep, &self.settings, &mut progress);
            if !progress.finished() {
                let mut system = ReducedSystem::new(problem, &mut self.reduced);
                let (settings, vectors) = (&self.settings, &mut self.vectors);
                self.failure = newton(&mut system, &mut sweep, settings, vectors, &mut progress);
            }
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

/// Judges the start and sweeps from there, looking at the goal and the limits now and then.
fn sweep_first(
    sweep: &mut ExplicitSweep,
    settings: &AlartCurnierNewtonSettings,
    progress: &mut Progress,
) {
    let residual = sweep.residual();
    progress.judge(&residual, sweep.impulse());
    if sweep.is_empty() || settings.first_sweeps == 0 || progress.finished() {
        return;
    }
    let plain = NsgsSettings {
        min_sweeps: 1,
        max_sweeps: settings.first_sweeps,
        momentum: Momentum::NONE,
        ..NsgsSettings::default()
    };
    acceleration::run(sweep, &plain, progress);
}

/// The linear algebra of one of the two forms, in scaled variables.
trait NewtonSystem {
    /// `√λ` of each triple.
    fn root(&self) -> &[f64];
    /// The laws, scaled.
    fn laws(&self) -> &Laws;
    /// `u` at `r`. The global form knows it from its velocities.
    fn velocity(&self, r: &[DVec3], u: &mut [DVec3]);
    /// The Newton step `dr` and its `du` at the derivatives `at`, for the residual `phi`.
    /// `factorizations` counts.
    fn step(
        &mut self,
        at: &Derivatives,
        phi: &[DVec3],
        dr: &mut [DVec3],
        du: &mut [DVec3],
        factorizations: &mut usize,
    ) -> Result<(), Failure>;
    /// Takes `t` times the last step.
    fn advance(&mut self, t: f64, r: &[DVec3]);
}

/// `D` of every block, and `R`.
#[derive(Debug, Default)]
struct Derivatives {
    map: Vec<Linearised>,
    /// The diagonal of `R` of each triple: the penalties of contacts, else 1.
    penalty: Vec<DVec3>,
}

impl Derivatives {
    fn is_open(&self, block: usize) -> bool {
        self.map[block].rank == 0
    }

    fn penalty(&self, triple: usize) -> DVec3 {
        self.penalty[triple]
    }

    /// `D R` of a block.
    fn scaled(&self, block: usize) -> DMat3 {
        self.map[block].matrix() * DMat3::from_diagonal(self.penalty(block))
    }

    /// `I − D` of a block.
    fn rest(&self, block: usize) -> DMat3 {
        DMat3::IDENTITY - self.map[block].matrix()
    }

    /// One block of `(I − D) dr + D R du`.
    fn apply(&self, block: usize, dr: DVec3, du: DVec3) -> DVec3 {
        dr - self.map[block].apply(dr - self.penalty(block) * du)
    }
}

/// Vectors of the method, one entry a block, scaled.
#[derive(Debug, Default)]
struct Vectors {
    r: Vec<DVec3>,
    u: Vec<DVec3>,
    phi: Vec<DVec3>,
    dr: Vec<DVec3>,
    du: Vec<DVec3>,
    scratch: Vec<DVec3>,
    at: Derivatives,
    /// Not scaled and in the cones: what is judged.
    candidate: Vec<DVec3>,
    /// `‖Φ‖²` of the last steps, a ring.
    past: Vec<f64>,
}

/// Newton from the best iterate of `progress`. What failed, if anything did.
fn newton(
    system: &mut impl NewtonSystem,
    judge: &mut impl Relaxation,
    settings: &AlartCurnierNewtonSettings,
    vectors: &mut Vectors,
    progress: &mut Progress,
) -> Option<Failure> {
    let n = system.root().len();
    let [normal, tangential] = settings.penalty;
    let rho = DVec3::new(normal, tangential, tangential);
    vectors.at.penalty.clear();
    for (range, law) in system.laws().iter() {
        let own = if law.has_friction() { rho } else { DVec3::ONE };
        vectors.at.penalty.extend(range.map(|_| own));
    }
    vectors.r.clear();
    let scaled = progress.best().iter().zip(system.root());
    vectors.r.extend(scaled.map(|(r, root)| *r * *root));
    for v in [&mut vectors.u, &mut vectors.dr, &mut vectors.du] {
        v.clear();
        v.resize(n, DVec3::ZERO);
    }
    system.velocity(&vectors.r, &mut vectors.u);
    let mut square = vectors.linearise(system.laws());
    vectors.past.clear();
    vectors.past.resize(settings.memory.max(1), square);
    let budget = progress.report.factorizations + settings.max_factorizations;
    let mut steps = 0;
    while !progress.finished() && progress.report.factorizations < budget {
        if !square.is_finite() || square == 0.0 {
            return Some(Failure::NoDecrease);
        }
        let Vectors {
            at, phi, dr, du, ..
        } = vectors;
        let count = &mut progress.report.factorizations;
        if let Err(failure) = system.step(at, phi, dr, du, count) {
            return Some(failure);
        }
        let Some(t) = vectors.line_search(system.laws(), settings.line_search, square) else {
            return Some(Failure::NoDecrease);
        };
        for (r, dr) in vectors.r.iter_mut().zip(&vectors.dr) {
            *r += *dr * t;
        }
        system.advance(t, &vectors.r);
        system.velocity(&vectors.r, &mut vectors.u);
        square = vectors.linearise(system.laws());
        steps += 1;
        let place = steps % vectors.past.len();
        vectors.past[place] = square;
        vectors.take_candidate(system);
        let residual = judge.residual_of(&vectors.candidate);
        progress.judge(&residual, &vectors.candidate);
    }
    None
}

/// Share of the linear decrease of `θ` that a step has to reach.
const LEAST_DECREASE: f64 = 0.01;
/// Share beyond which a step is too short.
const MOST_DECREASE: f64 = 0.99;
/// Lengths tried.
const MAX_TRIALS: usize = 30;

impl Vectors {
    /// `Φ` and the derivatives at `r`, `u`; `‖Φ‖²`.
    fn linearise(&mut self, laws: &Laws) -> f64 {
        let Self {
            r,
            u,
            at,
            phi,
            scratch,
            ..
        } = self;
        scratch.clear();
        scratch.extend(u.iter().zip(&at.penalty).map(|(u, penalty)| *penalty * *u));
        at.map.clear();
        at.map.resize(r.len(), Linearised::default());
        for (range, law) in laws.iter() {
            let point = [&r[range.clone()], &scratch[range.clone()]];
            law.linearise(ConeMap::AlartCurnier, point, 1.0, &mut at.map[range]);
        }
        phi.clear();
        phi.extend(r.iter().zip(&at.map).map(|(r, at)| *r - at.point));
        phi.iter().map(|phi| phi.length_squared()).sum()
    }

    /// `‖Φ‖²` at `t` times the step.
    fn square_at(&self, laws: &Laws, t: f64) -> f64 {
        let mut square = 0.0;
        let mut at: SmallVec<[Linearised; 2]> = SmallVec::new();
        for (range, law) in laws.iter() {
            let own = |triple: usize| self.r[triple] + self.dr[triple] * t;
            let velocity =
                |triple: usize| self.at.penalty(triple) * (self.u[triple] + self.du[triple] * t);
            let r: SmallVec<[DVec3; 2]> = range.clone().map(own).collect();
            let u: SmallVec<[DVec3; 2]> = range.map(velocity).collect();
            at.resize(r.len(), Linearised::default());
            law.linearise(ConeMap::AlartCurnier, [&r, &u], 1.0, &mut at);
            let gaps = r
                .iter()
                .zip(&at)
                .map(|(r, at)| (*r - at.point).length_squared());
            square += gaps.sum::<f64>();
        }
        square
    }

    fn line_search(&self, laws: &Laws, rule: LineSearch, square: f64) -> Option<f64> {
        let reference = self.past.iter().copied().fold(square, f64::max);
        let (mut short, mut long, mut t) = (0.0, 1.0, 1.0);
        for _ in 0..MAX_TRIALS {
            // θ' = −2θ, so that θ(0) + m t θ'(0) = (1 − 2 m t) θ(0).
            let reached = self.square_at(laws, t);
            let low_enough = reached <= reference - 2.0 * LEAST_DECREASE * t * square;
            if !low_enough {
                long = t;
            } else if rule == LineSearch::Armijo
                || reached >= (1.0 - 2.0 * MOST_DECREASE * t) * square
            {
                return Some(t);
            } else {
                short = t;
            }
            t = 0.5 * (short + long);
        }
        // Between a step too short and one too long: too short still decreases.
        (short > 0.0).then_some(short)
    }

    fn take_candidate(&mut self, system: &impl NewtonSystem) {
        self.candidate.clone_from(&self.r);
        for (range, law) in system.laws().iter() {
            law.project(&mut rows_of_mut(&mut self.candidate[range])[..law.rows()]);
        }
        for (r, root) in self.candidate.iter_mut().zip(system.root()) {
            *r /= *root;
        }
    }
}

/// Part of the right-hand side that a solution may leave.
const MAX_DEFECT: f64 = 1e-6;

/// A solution is good enough to go on with.
fn is_solved(defect: f64, size: f64) -> bool {
    defect <= MAX_DEFECT * size
}

fn norm(x: &[DVec3]) -> f64 {
    x.iter().map(|x| x.length_squared()).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
