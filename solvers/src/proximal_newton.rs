//! Proximal point method with an inner semismooth Newton, for answers to 1e-8 and beyond.
//!
//! In scaled variables (`r̂ = √λ r`, `Ŵ_αβ = W_αβ/√(λ_α λ_β)`, hats dropped), one outer step seeks, around a centre `y`,
//!
//! ```text
//! r = P(y − ρ u),   u = W r + q                                    (the proximal step)
//! R(z) = z − P(y − ρ (W z + q)) = 0                                 its equation
//! (I + ρ C B W) dz = −R(z),   ∂P = C B                              semismooth Newton, z ← z + t dz
//! ```
//!
//! with `P` one of the two maps of [`ConeMap`]. The term `I` makes the matrix regular for any rank
//! of `W`. The fixed points `y = r` satisfy the exact law: nothing is regularised, the proximal
//! term vanishes at the solution.
//!
//! * Newton ends when `‖W R‖ ≤ 0.1 ‖P − y‖/ρ`, after 15 steps, or when the line search on `‖R‖`
//!   fails (at most 14 halvings, decrease `1 − 10⁻⁴ t`). Each solve is refined once.
//! * `r = P(…)` lies in the cone. It is the next centre if its true residual is below that of the
//!   present one or twice the best; otherwise the step is rejected: `ρ/8`, back to the best point,
//!   20 plain sweeps.
//! * **Drift.** A jammed cluster keeps the states of all its contacts and its residual, while every
//!   step moves the impulses by the same little amount along a self-stress. Such a direction is
//!   followed at once to where the first contact leaves its state.
//! * `ρ ← 4ρ` if the residual fell by less than 4 and Newton took at most 7 steps; `ρ/2` if it took
//!   12 or more. At most 10⁸, and at most half of what failed last, a bound that grows by half with
//!   every success.
//!
//! When to use it: stacks, walls, arches, large mass ratios, whatever sweeps do not finish. When
//! not: far from the solution on thousands of contacts, where a factorisation costs hundreds of
//! sweeps and Newton fails anyway; sweep first. Cost: one sparse LU a Newton step, some ten Newton
//! steps an outer one.
//!
//! References: [Alart-Curnier91] for the first map; [Acary-Bremond-Huber18, §5] for the proximal
//! point method around a nonsmooth Newton.

pub use crate::law::ConeMap;

use crate::law::linearised::Linearised;
use crate::law::list::{Laws, rows_of_mut};
use crate::newton::contact_space::{ContactSpace, ContactSpaceBuffers};
use crate::newton::space::NewtonSpace;
use crate::progress::Progress;
use crate::sweep::acceleration::{Relaxation, Stride};
use crate::sweep::explicit_sweep::{ExplicitSweep, ExplicitWorkspace};
use crate::{Goal, History, Law, ProblemError, Solver, SolverReport, StoredProblem, infeasibility};
use glam::DVec3;

/// Settings of [`ProximalNewton`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProximalNewtonSettings {
    /// Which projection. Default [`ConeMap::AlartCurnier`].
    pub map: ConeMap,
    /// First penalty `ρ > 0`, dimensionless (scaled variables). Default 1e3.
    pub first_penalty: f64,
    /// Budget of factorisations. Default 500.
    pub max_factorizations: usize,
    /// Plain sweeps before the first outer step. Default 100.
    pub first_sweeps: usize,
    /// Outer steps without a gain of 5 % after which the solve gives up. Default 16.
    pub patience: usize,
}

impl Default for ProximalNewtonSettings {
    fn default() -> Self {
        Self {
            map: ConeMap::default(),
            first_penalty: 1e3,
            max_factorizations: 500,
            first_sweeps: 100,
            patience: 16,
        }
    }
}

/// The solver and its buffers, which are reused from solve to solve.
#[derive(Debug, Default)]
pub struct ProximalNewton {
    /// Settings of the next solve.
    pub settings: ProximalNewtonSettings,
    history: History,
    best: Vec<DVec3>,
    start: Vec<DVec3>,
    vectors: NewtonVectors,
    explicit: ExplicitWorkspace,
    contact_space: ContactSpaceBuffers,
}

impl ProximalNewton {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: ProximalNewtonSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

impl Solver for ProximalNewton {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.in_triples(impulse, |impulse| {
            let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
            let mut sweep = ExplicitSweep::new(problem, &mut self.explicit, impulse);
            let mut space = ContactSpace::new(problem, &mut self.contact_space);
            self.start.clear();
            self.start.extend_from_slice(impulse);
            progress.judge(&sweep.residual_of(impulse), impulse);
            let sweeps = self.settings.first_sweeps;
            relax(&mut sweep, &mut self.start, sweeps, &mut progress);
            newton(
                &mut space,
                &mut sweep,
                &NewtonPlan::from(self.settings),
                &mut self.start,
                &mut self.vectors,
                &mut progress,
            );
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

/// One call of the method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewtonPlan {
    pub(crate) map: ConeMap,
    pub(crate) first_penalty: f64,
    pub(crate) max_factorizations: usize,
    pub(crate) patience: usize,
    /// After a rejected step: back to the last accepted point instead of the best.
    pub(crate) reject_to_last: bool,
}

impl From<ProximalNewtonSettings> for NewtonPlan {
    fn from(settings: ProximalNewtonSettings) -> Self {
        Self {
            map: settings.map,
            first_penalty: settings.first_penalty,
            max_factorizations: settings.max_factorizations,
            patience: settings.patience,
            reject_to_last: false,
        }
    }
}

/// Jumps along a drift in one call.
const MAX_DRIFTS: usize = 100;

/// Vectors of the method, one entry a block, scaled.
#[derive(Debug, Default)]
pub(crate) struct NewtonVectors {
    centre: Vec<DVec3>,
    z: Vec<DVec3>,
    /// `W z + q`.
    u: Vec<DVec3>,
    map: Vec<Linearised>,
    /// `R`, then the right-hand side.
    residual: Vec<DVec3>,
    step: Vec<DVec3>,
    /// `W dz`.
    step_u: Vec<DVec3>,
    scratch: Vec<DVec3>,
    candidate: Vec<DVec3>,
    best: Vec<DVec3>,
    last: Vec<DVec3>,
    /// Rank of the derivative of each block in the last accepted step.
    state: Vec<u8>,
}

const MAX_NEWTON: usize = 15;
const MAX_HALVINGS: usize = 14;
const MAX_PENALTY: f64 = 1e8;
const SWEEPS_AFTER_REJECTION: usize = 20;

/// Proximal point steps from `impulse` (not scaled), which receives the best point of this call.
/// Returns its excess.
pub(crate) fn newton(
    space: &mut impl NewtonSpace,
    sweep: &mut impl Relaxation,
    plan: &NewtonPlan,
    impulse: &mut [DVec3],
    vectors: &mut NewtonVectors,
    progress: &mut Progress,
) -> f64 {
    let mut best_excess = progress.judge(&sweep.residual_of(impulse), impulse);
    vectors.start(impulse);
    let mut last_excess = best_excess;
    let mut penalty = Penalty::new(plan.first_penalty);
    let (mut idle, mut drifts, mut mark) = (0, 0, best_excess);
    let budget = progress.report.factorizations + plan.max_factorizations;
    while !progress.finished()
        && progress.report.factorizations < budget
        && idle < plan.patience
        && best_excess.is_finite()
    {
        vectors.set_centre(space.root());
        let left = budget - progress.report.factorizations;
        let steps = vectors.proximal_step(space, plan.map, penalty.rho, left, progress);
        vectors.unscale_candidate(space.root());
        let residual = sweep.residual_of(&vectors.candidate);
        let excess = progress.judge(&residual, &vectors.candidate);
        idle += 1;
        if excess < 2.0 * best_excess || excess < last_excess {
            penalty.accepted(excess / last_excess, steps);
            if excess < best_excess {
                best_excess = excess;
                vectors.best.clone_from(&vectors.candidate);
            }
            let jammed = excess > 0.8 * last_excess && vectors.same_state();
            last_excess = excess;
            if jammed && drifts < MAX_DRIFTS {
                drifts += 1;
                idle = 0;
                vectors.drift(space.laws());
            } else {
                vectors.last.clone_from(&vectors.candidate);
            }
        } else {
            penalty.rejected();
            if !plan.reject_to_last {
                vectors.last.clone_from(&vectors.best);
            }
            last_excess = relax(sweep, &mut vectors.last, SWEEPS_AFTER_REJECTION, progress);
            if last_excess < best_excess {
                best_excess = last_excess;
                vectors.best.clone_from(&vectors.last);
            }
        }
        if best_excess < 0.95 * mark {
            mark = best_excess;
            idle = 0;
        }
    }
    impulse.copy_from_slice(&vectors.best);
    best_excess
}

/// The control of `ρ`.
struct Penalty {
    rho: f64,
    /// Not to be passed: half of the last `ρ` that failed, growing with every success.
    ceiling: f64,
}

impl Penalty {
    fn new(rho: f64) -> Self {
        Self {
            rho,
            ceiling: MAX_PENALTY,
        }
    }

    /// After an outer step that changed the residual by `factor` in `steps` Newton steps.
    fn accepted(&mut self, factor: f64, steps: usize) {
        self.ceiling = (1.5 * self.ceiling).min(MAX_PENALTY);
        if factor > 0.25 && steps <= 7 {
            self.rho = (4.0 * self.rho).min(self.ceiling).max(self.rho);
        } else if steps >= 12 {
            self.rho *= 0.5;
        }
    }

    fn rejected(&mut self) {
        self.ceiling = 0.5 * self.rho;
        self.rho /= 8.0;
    }
}

/// Sweeps between two looks at the limits.
const LOOK_EVERY: usize = 10;

/// Plain sweeps on `impulse`, fewer if a limit strikes; the excess of the result.
pub(crate) fn relax(
    sweep: &mut impl Relaxation,
    impulse: &mut [DVec3],
    sweeps: usize,
    progress: &mut Progress,
) -> f64 {
    sweep.restart(impulse);
    let mut done = 0;
    while done < sweeps && !(done.is_multiple_of(LOOK_EVERY) && progress.finished()) {
        sweep.sweep(Stride::PLAIN);
        done += 1;
    }
    progress.report.iterations += done;
    let residual = sweep.residual();
    impulse.copy_from_slice(sweep.impulse());
    progress.judge(&residual, impulse)
}

impl NewtonVectors {
    fn start(&mut self, impulse: &[DVec3]) {
        self.best.clear();
        self.best.extend_from_slice(impulse);
        self.last.clone_from(&self.best);
        self.state.clear();
    }

    /// The last accepted impulse, scaled, is the next centre and the start of Newton.
    fn set_centre(&mut self, root: &[f64]) {
        self.centre.clear();
        let scaled = self.last.iter().zip(root).map(|(r, root)| *r * *root);
        self.centre.extend(scaled);
    }

    /// True if every block is open, stuck or sliding as it was when this was called last.
    fn same_state(&mut self) -> bool {
        let same = self.state.len() == self.map.len()
            && self
                .state
                .iter()
                .zip(&self.map)
                .all(|(old, at)| usize::from(*old) == at.rank);
        self.state.clear();
        self.state.extend(self.map.iter().map(|at| at.rank as u8));
        same
    }

    /// A jammed cluster: the states stay, the residual stays, and each step moves the impulses by
    /// the same small amount along a self-stress. Continues in that direction until the first
    /// contact leaves its state.
    fn drift(&mut self, laws: &Laws) {
        self.scratch.clear();
        let moved = self.candidate.iter().zip(&self.last);
        self.scratch.extend(moved.map(|(r, last)| *r - *last));
        let mut length = f64::INFINITY;
        for (range, law) in laws.iter() {
            let (r, d) = (&self.candidate[range.clone()], &self.scratch[range.clone()]);
            length = length.min(law.exit(&self.map[range], r, d));
        }
        let length = if length.is_finite() {
            1.0001 * length
        } else {
            0.0
        };
        for ((last, r), d) in self.last.iter_mut().zip(&self.candidate).zip(&self.scratch) {
            *last = *r + *d * length;
        }
        for (range, law) in laws.iter() {
            law.project(&mut rows_of_mut(&mut self.last[range])[..law.rows()]);
        }
    }

    fn unscale_candidate(&mut self, root: &[f64]) {
        for (r, root) in self.candidate.iter_mut().zip(root) {
            *r *= 1.0 / root;
        }
    }

    /// Newton on `R(z) = 0` from the centre, in at most `left` steps; the candidate receives `P`.
    /// Returns the number of steps: each is one factorisation.
    fn proximal_step(
        &mut self,
        space: &mut impl NewtonSpace,
        map: ConeMap,
        rho: f64,
        left: usize,
        progress: &mut Progress,
    ) -> usize {
        let n = self.centre.len();
        self.z.clone_from(&self.centre);
        for v in [&mut self.u, &mut self.step_u, &mut self.scratch] {
            v.resize(n, DVec3::ZERO);
        }
        space.times(&self.z, &mut self.u);
        add(&mut self.u, space.free_velocity(), 1.0);
        let mut steps = 0;
        let mut size = self.linearise(space, map, rho);
        while steps < left.min(MAX_NEWTON)
            && !self.is_inner_solution(space, rho)
            && !progress.finished()
        {
            steps += 1;
            progress.report.factorizations += 1;
            if space.factorize(rho, &self.map).is_err() || !self.solve_refined(space, rho) {
                break;
            }
            space.times(&self.step, &mut self.step_u);
            let Some(t) = self.line_search(space, map, rho, size) else {
                break;
            };
            add(&mut self.z, &self.step, t);
            add(&mut self.u, &self.step_u, t);
            size = self.linearise(space, map, rho);
        }
        self.candidate.clear();
        self.candidate.extend(self.map.iter().map(|at| at.point));
        steps
    }

    /// The map and `R` at `z`; `‖R‖`.
    fn linearise(&mut self, space: &impl NewtonSpace, map: ConeMap, rho: f64) -> f64 {
        self.map.clear();
        self.map.resize(self.z.len(), Linearised::default());
        for (range, law) in space.laws().iter() {
            let at = [&self.centre[range.clone()], &self.u[range.clone()]];
            law.linearise(map, at, rho, &mut self.map[range]);
        }
        self.residual.clear();
        let mut sum = 0.0;
        for (z, at) in self.z.iter().zip(&self.map) {
            let residual = *z - at.point;
            sum += residual.length_squared();
            self.residual.push(residual);
        }
        sum.sqrt()
    }

    /// `‖W R‖ ≤ 0.1 ‖P − y‖/ρ`.
    fn is_inner_solution(&mut self, space: &mut impl NewtonSpace, rho: f64) -> bool {
        space.times(&self.residual, &mut self.scratch);
        let moved = self.map.iter().zip(&self.centre);
        let moved: f64 = moved.map(|(at, y)| (at.point - *y).length_squared()).sum();
        norm(&self.scratch) <= 0.1 * moved.sqrt() / rho
    }

    /// `step ← −(I + ρ C B W)⁻¹ R`, refined once. False if it is not finite.
    fn solve_refined(&mut self, space: &mut impl NewtonSpace, rho: f64) -> bool {
        self.step.clear();
        self.step.extend(self.residual.iter().map(|r| -*r));
        space.solve(rho, &self.map, &mut self.step);
        // −R − (I + ρ C B W) step
        space.times(&self.step, &mut self.step_u);
        self.scratch.clear();
        let terms = self.residual.iter().zip(&self.step).zip(&self.step_u);
        let defect = terms
            .zip(&self.map)
            .map(|(((r, x), wx), at)| -*r - *x - at.apply(*wx) * rho);
        self.scratch.extend(defect);
        for (triple, at) in self.map.iter().enumerate().filter(|(_, at)| at.has_tail()) {
            self.scratch[triple + 1] -= at.apply_tail(self.step_u[triple]) * rho;
        }
        space.solve(rho, &self.map, &mut self.scratch);
        add(&mut self.step, &self.scratch, 1.0);
        self.step.iter().all(|x| x.is_finite())
    }

    /// The first of `t = 1, ½, …` that lowers `‖R‖`.
    fn line_search(
        &self,
        space: &impl NewtonSpace,
        map: ConeMap,
        rho: f64,
        size: f64,
    ) -> Option<f64> {
        let (laws, mut t) = (space.laws(), 1.0);
        for _ in 0..=MAX_HALVINGS {
            if self.residual_at(laws, map, rho, t) <= (1.0 - 1e-4 * t) * size {
                return Some(t);
            }
            t *= 0.5;
        }
        None
    }

    /// `‖R‖` at `t` times the step.
    fn residual_at(&self, laws: &Laws, map: ConeMap, rho: f64, t: f64) -> f64 {
        let velocity = |triple: usize| self.u[triple] + self.step_u[triple] * t;
        let gap = |triple: usize, point: DVec3| {
            (self.z[triple] + self.step[triple] * t - point).length_squared()
        };
        let mut sum = 0.0;
        let mut u: smallvec::SmallVec<[DVec3; 2]> = smallvec::SmallVec::new();
        let mut at: smallvec::SmallVec<[Linearised; 2]> = smallvec::SmallVec::new();
        for (range, law) in laws.iter() {
            if let Law::Coulomb(law) = law {
                let triple = range.start;
                sum += gap(
                    triple,
                    law.map(map, self.centre[triple], velocity(triple), rho),
                );
                continue;
            }
            u.clear();
            u.extend(range.clone().map(velocity));
            at.clear();
            at.resize(range.len(), Linearised::default());
            law.linearise(map, [&self.centre[range.clone()], &u], rho, &mut at);
            sum += range
                .zip(&at)
                .map(|(triple, at)| gap(triple, at.point))
                .sum::<f64>();
        }
        sum.sqrt()
    }
}

fn add(x: &mut [DVec3], y: &[DVec3], factor: f64) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += *y * factor;
    }
}

fn norm(x: &[DVec3]) -> f64 {
    x.iter().map(|x| x.length_squared()).sum::<f64>().sqrt()
}
