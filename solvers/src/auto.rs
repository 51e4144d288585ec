//! The solver that picks for itself: accelerated sweeps, then Newton and sweeps in turn.
//!
//! 1. Accelerated sweeps ([`crate::sweep::acceleration`]) from the warm start, by default with Nesterov's sequence and restarts:
//!    most problems and nearly all time steps end here. They are left when the best residual does
//!    not halve within a window, or when the rate of the last window says that Newton is cheaper.
//! 2. Cycles `k = 0, 1, …` of growing length `s = min(2ᵏ, 64)`: both maps of
//!    [`crate::proximal_newton`] one after the other, accelerated sweeps from where they ended, and
//!    an independent track of sweeps. The track takes over the Newton point only in even cycles
//!    and if that is ten times better: always going on from the best point freezes.
//! 3. Last resort, from the fourth cycle on: every other cycle sweeps stored blocks in the opposite order.
//!
//! Factored problems, those of time steps, go through the second phase in parts: island by island, and where an island is too
//! expensive for Newton, cluster by cluster around its worst contacts, in turn with sweeps over the whole.
//!
//! Every decision depends on residuals and counts only, never on time: the same problem takes the
//! same path. The best iterate by the true residual is returned.
//!
//! When to use it: always, unless you compare methods. As long as sweeps converge it costs what they do:
//! whether bodies still close on each other is part of the certificate.
//!
//! References: the methods' own pages; the portfolio follows what no single solver does
//! [Acary-Bremond-Huber18, §7].

mod absorbed;
mod articulated;
mod by_velocity;
mod clusters;
mod cycles;
mod hard_islands;
mod spent;
pub(crate) mod spread;

pub use by_velocity::VelocityGoal;

use absorbed::Absorbed;
use articulated::Articulated;
use by_velocity::ByVelocity;
pub(crate) use by_velocity::{gain, keep_driven, take_back};
pub(crate) use cycles::{CycleBuffers, Cycles};
use hard_islands::{HardIslands, SecondPhase};
use spread::Spread;

use crate::articulation::has_joints;
use crate::newton::body_space::BodySpace;
use crate::newton::contact_space::{ContactSpace, ContactSpaceBuffers};
use crate::problem::{FactoredProblem, ProblemError, StoredProblem, WorldTwist, expect_length};
use crate::progress::Progress;
use crate::proximal_newton::ConeMap;
use crate::sweep::acceleration::{self, Momentum, Relaxation};
use crate::sweep::explicit_sweep::ExplicitSweep;
use crate::sweep::lane_sweep::LaneSweep;
use crate::{
    GlobalProblem, Goal, History, Nsgs, NsgsSettings, Solver, SolverReport, awake, infeasibility,
};
use glam::DVec3;

/// Settings of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoSettings {
    /// The first stage. Default: Nesterov's momentum, at most 1000 sweeps, left when the residual
    /// does not halve within 300.
    pub first: NsgsSettings,
    /// Budget of sweeps, all stages. One over an island of a factored problem counts as its share of the contacts, so that islands have it each as if they were
    /// alone. Default 200 000.
    pub max_sweeps: usize,
    /// The same of factorisations; 0 leaves the sweeps alone. Default 5 000.
    pub max_factorizations: usize,
}

impl Default for AutoSettings {
    fn default() -> Self {
        Self {
            first: NsgsSettings {
                min_sweeps: 1,
                max_sweeps: 1000,
                stall_window: Some(300),
                momentum: Momentum::NESTEROV,
                ..NsgsSettings::default()
            },
            max_sweeps: 200_000,
            max_factorizations: 5_000,
        }
    }
}

impl AutoSettings {
    /// The first stage within the budget of all.
    pub(crate) fn first_stage(&self) -> NsgsSettings {
        NsgsSettings {
            max_sweeps: self.first.max_sweeps.min(self.max_sweeps),
            ..self.first
        }
    }

    /// What is left of the budget of all stages.
    pub(crate) fn sweeps_left(&self, progress: &Progress) -> usize {
        self.max_sweeps.saturating_sub(progress.report.iterations)
    }
}

/// Rounds in which the goal is divided among islands or clusters.
const ROUNDS: usize = 4;
/// Sweeps over the whole after each round with clusters.
const SETTLING: usize = 200;

/// Sweeps after which the rate is trusted.
pub(crate) const FORECAST_FROM: usize = 100;

/// Sweeps of the last stage after which it ends if the goal is farther away at their rate than the budget reaches: each kind of sweeps had a turn by then.
const FAIR_TRIAL: usize = 2000;

/// A method that [`Auto`] went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Sweeps with momentum.
    Accelerated,
    /// Sweeps without.
    Plain,
    /// Proximal Newton on the map named.
    Newton(ConeMap),
}

/// One stage of a solve by [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// What was tried.
    pub method: Method,
    /// Its sweeps.
    pub sweeps: usize,
    /// Its factorisations.
    pub factorizations: usize,
    /// Best `e_scaled` of the solve when the stage ended.
    pub scaled: f64,
    /// Best `e_fclib` of the solve when the stage ended.
    pub fclib: f64,
}

/// The solver and its buffers, which are reused from solve to solve.
#[derive(Debug, Default)]
pub struct Auto {
    /// Settings of the next solve.
    pub settings: AutoSettings,
    sweeps: Nsgs,
    path: Vec<Stage>,
    contact_space: ContactSpaceBuffers,
    body_space: BodySpace,
    cycles: CycleBuffers,
    hard: HardIslands,
    by_velocity: ByVelocity,
    look_after: Option<usize>,
    absorbed: Absorbed,
    spread: Spread,
    articulated: Option<Box<Articulated>>,
    /// The impulse of a problem with interactions.
    triples: Vec<DVec3>,
    /// The last certificate of the last solve was that of its solution: what it left of every contact is in the buffers of
    /// the sweeps.
    best_is_last: bool,
    /// The sweeps of the last solve that made some ended as careful ones.
    careful: bool,
}

impl Auto {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: AutoSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The next solve has nothing to do with the last one, and does not depend on it.
    pub fn start_anew(&mut self) {
        self.careful = false;
    }

    /// The next solve goes on from what the last one left of nearly the same problem: with careful sweeps from the first one on, if these ended it.
    /// Others would throw back what careful sweeps reached, until it is their turn again.
    pub fn go_on(&mut self) {
        if self.careful {
            let momentum = &mut self.settings.first.momentum;
            *momentum = momentum.careful();
        }
    }

    /// The next [`Self::solve_step`] ends after so many sweeps, without Newton, since its motion is looked at then: large islands that are not new stay as they are by
    /// then. All others are solved as ever. It says so in [`Self::left_work`].
    pub fn look_after(&mut self, sweeps: Option<usize>) {
        self.look_after = sweeps;
    }

    /// The last [`Self::solve_step`] left islands as [`Self::look_after`] says, which a whole one would have worked on.
    #[must_use]
    pub fn left_work(&self) -> bool {
        self.by_velocity.left
    }

    /// The stages of the last solve, in their order. In a factored problem the islands that need
    /// more than sweeps follow one after the other, with their own residuals.
    #[must_use]
    pub fn path(&self) -> &[Stage] {
        &self.path
    }

    /// Sweeps and nothing else, with settings of their own, in the buffers of this solver: for problems that
    /// need no more. They overwrite the history.
    pub fn sweeps(&mut self) -> &mut Nsgs {
        &mut self.sweeps
    }

    /// Solves a problem in global form: as [`Solver::solve`], on its stored form, with the Newton
    /// matrices in the space of the bodies if `M` consists of symmetric blocks of six.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent, not finite, or `M` is singular.
    pub fn solve_global(
        &mut self,
        problem: &GlobalProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        let stored = problem.condense()?;
        self.solve_condensed(problem, &stored, impulse, goal)
    }

    /// [`Self::solve_global`] with the stored form at hand, from [`GlobalProblem::condense`].
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or not finite.
    pub fn solve_condensed(
        &mut self,
        problem: &GlobalProblem,
        stored: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate()?;
        expect_length("rows of the stored form", stored.rows(), problem.rows())?;
        stored.in_triples(impulse, |r| self.solve_in(stored, Some(problem), r, goal))
    }

    pub(crate) fn solve_in(
        &mut self,
        problem: &StoredProblem,
        global: Option<&GlobalProblem>,
        impulse: &mut [DVec3],
        goal: &Goal,
    ) -> SolverReport {
        self.path.clear();
        let Nsgs {
            history,
            best,
            explicit,
            ..
        } = &mut self.sweeps;
        let mut progress = Progress::new(goal, history, best, impulse);
        let mut sweep = ExplicitSweep::new(problem, explicit, impulse);
        let mut log = Log::new(&mut self.path);
        let settings = &self.settings;
        let contacts = &mut self.contact_space;
        let sweeps_only = settings.max_factorizations == 0;
        let mut cost = None;
        acceleration::run_while(
            &mut sweep,
            &settings.first_stage(),
            &mut progress,
            |seen, _| {
                let near = seen.done < FORECAST_FROM || seen.left < FORECAST_FROM as f64;
                sweeps_only
                    || near
                    || seen.left
                        < *cost.get_or_insert_with(|| contacts.newton_cost(&problem.delassus))
            },
        );
        log.stage(Method::Accelerated, &progress);
        if !progress.finished() && !sweeps_only {
            let bodies = &mut self.body_space;
            let of_bodies =
                global.is_some_and(|global| bodies.load_global(global, &problem.free_velocity));
            let newton_cost = if of_bodies {
                bodies.newton_cost()
            } else {
                contacts.newton_cost(&problem.delassus)
            };
            let cycles = Cycles {
                newton_cost,
                settings,
                sweep,
                buffers: &mut self.cycles,
                log,
            };
            if of_bodies {
                cycles.run(bodies, &mut progress);
            } else {
                cycles.run(&mut ContactSpace::new(problem, contacts), &mut progress);
            }
        }
        let mut report = progress.report;
        impulse.copy_from_slice(&self.sweeps.best);
        infeasibility::conclude(problem, impulse, &mut report);
        report
    }

    /// Solves a factored problem in place. `impulse` (one entry a row; N·s, for couples N·m·s) is the
    /// warm start and receives the best impulse found; `twist` receives `v_free + Ŵ Gᵀ r`.
    ///
    /// Islands that the first stage leaves unsolved are taken out and solved one by one, with the
    /// Newton matrices in the space of their bodies.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or not finite; `impulse` is then unchanged.
    pub fn solve_factored(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [f64],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate_bodies()?;
        let mut triples = std::mem::take(&mut self.triples);
        let made = problem.in_triples(impulse, &mut triples, |impulse| {
            self.solve_triples(problem, impulse, twist, goal)
        });
        self.triples = triples;
        made
    }

    /// The same from a finite start of the right length.
    fn solve_checked(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [f64],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate_bodies()?;
        let mut triples = std::mem::take(&mut self.triples);
        let made = problem.in_checked_triples(impulse, &mut triples, |impulse| {
            self.solve_triples(problem, impulse, twist, goal)
        });
        self.triples = triples;
        made
    }

    fn solve_triples(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [DVec3],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        let shared = self.settings.first.shares(problem);
        awake::during(shared, || {
            self.solve_on(problem, impulse, twist, goal, shared)
        })
    }

    /// The solve of a problem whose contacts have not been checked, on all threads of the pool if `shared`.
    fn solve_on(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [DVec3],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
        shared: bool,
    ) -> Result<SolverReport, ProblemError> {
        if has_joints(problem) {
            self.solve_articulated(problem, impulse, twist, goal, shared)
        } else {
            self.solve_plain(problem, impulse, twist, goal, shared)
        }
    }

    /// The same by sweeps and Newton on all rows.
    fn solve_plain(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [DVec3],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
        shared: bool,
    ) -> Result<SolverReport, ProblemError> {
        let first = self.settings.first_stage();
        let Nsgs {
            history,
            best,
            lanes,
            ..
        } = &mut self.sweeps;
        self.path.clear();
        let mut progress = Progress::new(goal, history, best, impulse);
        // Where nothing pushes the start is often exact, and a sweep would leave it as it is.
        let is_free = impulse.iter().all(|r| *r == DVec3::ZERO);
        let unswept = first.min_sweeps == 0;
        if (unswept || is_free) && lanes.judge(problem, impulse, !unswept, &mut progress)? {
            self.best_is_last = progress.best_is_last();
            lanes.twist_of_best(problem, &progress, twist);
            let mut report = progress.report;
            conclude(problem, impulse, &mut report);
            return Ok(report);
        }
        let mut sweep = LaneSweep::new(problem, lanes, impulse, shared, first.simd)?;
        let mut log = Log::new(&mut self.path);
        let sweeps_only = self.settings.max_factorizations == 0;
        let (hard, space) = (&mut self.hard, &mut self.body_space);
        hard.begin();
        let last = acceleration::run_while(&mut sweep, &first, &mut progress, |seen, progress| {
            let near = seen.done < FORECAST_FROM || seen.left < 2.0 * FORECAST_FROM as f64;
            sweeps_only || near || !hard.is_better(problem, space, progress, seen)
        });
        self.careful = last == first.momentum.careful();
        log.stage(Method::Accelerated, &progress);
        let by_sweeps = sweeps_only || progress.finished();
        self.best_is_last = by_sweeps && progress.best_is_last();
        if by_sweeps {
            lanes.twist_of_best(problem, &progress, twist);
        } else {
            let mut second = SecondPhase {
                settings: &self.settings,
                space: &mut self.body_space,
                cycles: &mut self.cycles,
                path: log.path,
            };
            in_parts(hard, problem, &mut sweep, &mut second, &mut progress)?;
            log = Log::resume(second.path, &progress);
            if !progress.finished() {
                let rest = NsgsSettings {
                    max_sweeps: self.settings.sweeps_left(&progress),
                    stall_window: None,
                    ..self.settings.first
                };
                sweep.restart(progress.best());
                acceleration::run_while(&mut sweep, &rest, &mut progress, |seen, _| {
                    let more = rest.max_sweeps.saturating_sub(seen.done) as f64;
                    seen.done < FAIR_TRIAL || seen.left <= more
                });
                log.stage(Method::Accelerated, &progress);
            }
            problem.twist_under_triples(progress.best(), twist);
        }
        let mut report = progress.report;
        impulse.copy_from_slice(&self.sweeps.best);
        conclude(problem, impulse, &mut report);
        Ok(report)
    }
}

/// A solution may be one of bodies that still close on each other.
fn conclude(problem: &FactoredProblem, impulse: &[DVec3], report: &mut SolverReport) {
    if report.converged() && infeasibility::is_doubtful(problem, impulse, report) {
        infeasibility::conclude_step(problem, impulse, report);
    }
}

/// The second phase of a factored problem: the islands that are left, or clusters of them and sweeps in turn.
fn in_parts(
    hard: &mut HardIslands,
    problem: &FactoredProblem,
    sweep: &mut LaneSweep,
    second: &mut SecondPhase,
    progress: &mut Progress,
) -> Result<(), ProblemError> {
    hard.begin_at(progress.best());
    // The shares rest on the norms before the solves: judge, and share again.
    for round in 0..ROUNDS {
        let before = progress.excess();
        let reach = 1 + round % 2;
        let left = hard.solve(problem, reach, second, progress)?;
        if progress.finished() {
            break;
        }
        if hard.clustered {
            let around = NsgsSettings {
                max_sweeps: second.settings.sweeps_left(progress).min(SETTLING),
                ..second.settings.first
            };
            let mut log = Log::resume(second.path, progress);
            sweep.restart(&hard.impulse);
            acceleration::run(sweep, &around, progress);
            log.stage(Method::Accelerated, progress);
            // Always going on from the best point would freeze.
            hard.begin_at(sweep.impulse());
        } else {
            hard.begin_at(progress.best());
        }
        let gained = !left && progress.excess() <= 0.5 * before;
        if progress.finished() || !(gained || hard.clustered) {
            break;
        }
    }
    Ok(())
}

impl Solver for Auto {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.in_triples(impulse, |r| self.solve_in(problem, None, r, goal))
    }

    fn history(&self) -> &History {
        self.sweeps.history()
    }
}

/// Writes the path.
pub(crate) struct Log<'a> {
    path: &'a mut Vec<Stage>,
    sweeps: usize,
    factorizations: usize,
}

impl<'a> Log<'a> {
    pub(crate) fn new(path: &'a mut Vec<Stage>) -> Self {
        Self {
            path,
            sweeps: 0,
            factorizations: 0,
        }
    }

    /// Continues a path that other stages wrote.
    fn resume(path: &'a mut Vec<Stage>, progress: &Progress) -> Self {
        Self {
            path,
            sweeps: progress.report.iterations,
            factorizations: progress.report.factorizations,
        }
    }

    pub(crate) fn stage(&mut self, method: Method, progress: &Progress) {
        let report = &progress.report;
        self.path.push(Stage {
            method,
            sweeps: report.iterations - self.sweeps,
            factorizations: report.factorizations - self.factorizations,
            scaled: report.residual.scaled,
            fclib: report.residual.fclib,
        });
        self.sweeps = report.iterations;
        self.factorizations = report.factorizations;
    }
}

#[cfg(test)]
mod tests;
