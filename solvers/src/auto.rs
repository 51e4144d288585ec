//! The solver that picks for itself: accelerated sweeps, then Newton and sweeps in turn.
//!
//! 1. Accelerated sweeps (Nesterov with restart, [`crate::sweep::acceleration`]) from the warm start:
//!    most problems and nearly all time steps end here. They are left when the best residual does
//!    not halve within a window, or when the rate of the last window says that Newton is cheaper.
//! 2. Cycles `k = 0, 1, …` of growing length `s = min(2ᵏ, 64)`: both maps of
//!    [`crate::proximal_newton`] one after the other, accelerated sweeps from where they ended, and
//!    an independent track of sweeps. The track takes over the Newton point only in even cycles
//!    and if that is ten times better: always going on from the best point freezes.
//! 3. Last resort, from the fourth cycle on: every other cycle sweeps stored blocks in the opposite order.
//!
//! Every decision depends on residuals and counts only, never on time: the same problem takes the
//! same path. The best iterate by the true residual is returned.
//!
//! When to use it: always, unless you compare methods. Its cost over plain sweeps is nothing as
//! long as they converge.
//!
//! References: the methods' own pages; the portfolio follows what no single solver does
//! [Acary-Bremond-Huber18, §7].

use crate::islands::{Extract, Islands};
use crate::newton::body_space::BodySpace;
use crate::newton::contact_space::{ContactSpace, ContactSpaceBuffers};
use crate::newton::space::{NEWTON_STEPS, NewtonSpace};
use crate::nsgs::check_warm_start;
use crate::problem::{FactoredProblem, FrictionProblem, ProblemError, WorldTwist, expect_length};
use crate::progress::Progress;
use crate::proximal_newton::{ConeMap, NewtonPlan, NewtonVectors, newton};
use crate::sweep::acceleration::{self, Momentum, Relaxation};
use crate::sweep::explicit_sweep::{ExplicitSweep, ExplicitWorkspace};
use crate::sweep::twist_sweep::{TwistSweep, TwistWorkspace};
use crate::{
    GlobalProblem, Goal, History, NsgsSettings, Solver, SolverReport, infeasibility, natural_map,
};
use glam::DVec3;

/// Settings of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoSettings {
    /// The first stage. Default: Nesterov's momentum, at most 1000 sweeps, left when the residual
    /// does not halve within 300.
    pub first: NsgsSettings,
    /// Sweeps of a factored problem after which islands are handed to Newton, if their factors
    /// cost less than the sweeps that they save. Default 400.
    pub hand_over: usize,
    /// Budget of sweeps, all stages. Default 200 000.
    pub max_sweeps: usize,
    /// Budget of factorisations, all stages; 0 leaves the sweeps alone. Default 5 000.
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
            hand_over: 400,
            max_sweeps: 200_000,
            max_factorizations: 5_000,
        }
    }
}

impl AutoSettings {
    /// The first stage within the budget of all.
    fn first_stage(&self) -> NsgsSettings {
        NsgsSettings {
            max_sweeps: self.first.max_sweeps.min(self.max_sweeps),
            ..self.first
        }
    }
}

/// Times that the goal is shared out among the islands.
const ROUNDS: usize = 4;

/// Sweeps after which the rate is trusted.
const FORECAST_FROM: usize = 100;

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

/// One stage of the way of [`Auto`].
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
    history: History,
    best: Vec<DVec3>,
    path: Vec<Stage>,
    explicit: ExplicitWorkspace,
    contact_space: ContactSpaceBuffers,
    body_space: BodySpace,
    cycles: CycleBuffers,
    twist: TwistWorkspace,
    hard: HardIslands,
}

/// What the second phase keeps from solve to solve.
#[derive(Debug, Default)]
struct CycleBuffers {
    vectors: NewtonVectors,
    /// Where the independent track of sweeps stands.
    track: Vec<DVec3>,
    /// Where Newton stands.
    point: Vec<DVec3>,
}

/// Islands that the first stage left unsolved.
#[derive(Debug, Default)]
struct HardIslands {
    islands: Islands,
    extract: Extract,
    twist: TwistWorkspace,
    scratch: Vec<WorldTwist>,
    norms: Vec<[f64; 3]>,
    members: Vec<u32>,
    impulse: Vec<DVec3>,
    history: History,
    best: Vec<DVec3>,
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

    /// The stages of the last solve, in their order. In a factored problem the islands that need
    /// more than sweeps follow one after the other, with their own residuals.
    #[must_use]
    pub fn path(&self) -> &[Stage] {
        &self.path
    }

    /// Solves a problem in global form: as [`Solver::solve`], on its stored form, with the Newton
    /// matrices in the space of the bodies if `M` consists of symmetric blocks of six.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent, not finite, or `M` is singular.
    pub fn solve_global(
        &mut self,
        problem: &GlobalProblem,
        impulse: &mut [DVec3],
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
        stored: &FrictionProblem,
        impulse: &mut [DVec3],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate()?;
        expect_length("stored form", stored.len(), problem.len())?;
        expect_length(
            "contacts of the stored form",
            stored.contacts(),
            problem.len(),
        )?;
        self.solve_in(stored, Some(problem), impulse, goal)
    }

    fn solve_in(
        &mut self,
        problem: &FrictionProblem,
        global: Option<&GlobalProblem>,
        impulse: &mut [DVec3],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate()?;
        check_warm_start(impulse, problem.len())?;
        self.path.clear();
        let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
        let mut sweep = ExplicitSweep::new(problem, &mut self.explicit, impulse);
        let mut log = Log::new(&mut self.path);
        let settings = &self.settings;
        let contacts = &mut self.contact_space;
        let sweeps_only = settings.max_factorizations == 0;
        let mut cost = None;
        acceleration::run_while(
            &mut sweep,
            &settings.first_stage(),
            &mut progress,
            |done, left| {
                let near = done < FORECAST_FROM || left < FORECAST_FROM as f64;
                sweeps_only
                    || near
                    || left < *cost.get_or_insert_with(|| contacts.newton_cost(&problem.delassus))
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
        impulse.copy_from_slice(&self.best);
        infeasibility::conclude(problem, impulse, &mut report);
        Ok(report)
    }

    /// Solves a factored problem in place. `impulse` (N·s, contact frames, one a contact) is the
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
        impulse: &mut [DVec3],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate()?;
        check_warm_start(impulse, problem.contacts.len())?;
        self.path.clear();
        let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
        let pool = rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1;
        let relay = pool && problem.contacts.len() >= self.settings.first.parallel_from;
        let mut sweep = TwistSweep::new(problem, &mut self.twist, impulse, relay);
        let mut log = Log::new(&mut self.path);
        let sweeps_only = self.settings.max_factorizations == 0;
        let first = self.settings.first_stage();
        acceleration::run_while(&mut sweep, &first, &mut progress, |done, left| {
            let near = done < FORECAST_FROM || left < 2.0 * FORECAST_FROM as f64;
            sweeps_only || near && done < self.settings.hand_over
        });
        log.stage(Method::Accelerated, &progress);
        if !progress.finished() && !sweeps_only {
            let mut second = SecondPhase {
                settings: &self.settings,
                space: &mut self.body_space,
                cycles: &mut self.cycles,
                path: log.path,
            };
            // The shares rest on the norms before the solves: judge, and share again.
            for _ in 0..ROUNDS {
                let before = progress.excess();
                let left = self.hard.solve(problem, &mut second, &mut progress);
                let gained = progress.excess() <= 0.5 * before;
                if left || !gained || progress.finished() {
                    break;
                }
            }
            log = Log::resume(second.path, &progress);
            if !progress.finished() {
                let spent = progress.report.iterations;
                let rest = NsgsSettings {
                    max_sweeps: self.settings.max_sweeps.saturating_sub(spent),
                    stall_window: None,
                    ..self.settings.first
                };
                sweep.restart(progress.best());
                acceleration::run(&mut sweep, &rest, &mut progress);
                log.stage(Method::Accelerated, &progress);
            }
        }
        let mut report = progress.report;
        impulse.copy_from_slice(&self.best);
        if report.converged() && infeasibility::is_doubtful(problem, impulse, &report, twist) {
            infeasibility::conclude(&problem.assemble(), impulse, &mut report);
        }
        problem.twist_under(impulse, twist);
        Ok(report)
    }
}

impl Solver for Auto {
    fn solve(
        &mut self,
        problem: &FrictionProblem,
        impulse: &mut [DVec3],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        self.solve_in(problem, None, impulse, goal)
    }

    fn history(&self) -> &History {
        &self.history
    }
}

/// What the islands share.
struct SecondPhase<'a> {
    settings: &'a AutoSettings,
    space: &'a mut BodySpace,
    cycles: &'a mut CycleBuffers,
    path: &'a mut Vec<Stage>,
}

/// Largest cost of a Newton call, in sweeps, for which islands of a time step are handed over.
const MAX_NEWTON_COST: f64 = 2000.0;

impl HardIslands {
    /// Solves every island whose part of the residual exceeds its share, the goal's square divided
    /// among the contacts, and judges the whole. True if there are islands left for which Newton
    /// is too dear.
    fn solve(
        &mut self,
        problem: &FactoredProblem,
        second: &mut SecondPhase,
        progress: &mut Progress,
    ) -> bool {
        self.islands.find(problem);
        self.impulse.clear();
        self.impulse.extend_from_slice(progress.best());
        self.norms.clear();
        self.norms.resize(self.islands.count, [0.0; 3]);
        natural_map::factored_by_group(
            problem,
            &self.impulse,
            &self.islands.of_contact,
            &mut self.norms,
            &mut self.scratch,
        );
        let [_, r, q] = self.norms.iter().fold([0.0; 3], |sum, part| {
            [sum[0] + part[0], sum[1] + part[1], sum[2] + part[2]]
        });
        let allowed = progress.goal.scaled.powi(2) * r.max(q) / problem.contacts.len() as f64;
        let mut left = false;
        self.members.clear();
        self.members.resize(self.islands.count, 0);
        for island in &self.islands.of_contact {
            self.members[*island as usize] += 1;
        }
        for island in 0..self.islands.count {
            let [natural, r, q] = self.norms[island];
            let share = allowed * f64::from(self.members[island]);
            if natural <= share {
                continue;
            }
            if progress.finished() {
                break;
            }
            self.extract
                .take(problem, &self.islands, island as u32, &self.impulse);
            // Half of the share: the denominator may shrink while the islands are solved.
            let goal = Goal {
                scaled: (0.25 * share / r.max(q)).sqrt(),
                fclib: f64::INFINITY,
                ..progress.goal
            };
            let view = self.extract.view();
            second.space.load_factored(&view);
            if second.space.newton_cost() > MAX_NEWTON_COST {
                left = true;
                continue;
            }
            self.solve_extract(&goal, second, progress);
            for (source, r) in self.extract.source.iter().zip(&self.best) {
                self.impulse[*source as usize] = *r;
            }
        }
        let residual = natural_map::factored(problem, &self.impulse, &mut self.scratch);
        progress.judge(&residual, &self.impulse);
        left
    }

    /// The cycles on the island at hand; its best impulse is in `best`.
    fn solve_extract(&mut self, goal: &Goal, second: &mut SecondPhase, progress: &mut Progress) {
        let (problem, start) = (self.extract.view(), &self.extract.impulse);
        let mut own = Progress::new(goal, &mut self.history, &mut self.best, start);
        own.watch = progress.watch;
        let spent = progress.report;
        let settings = &AutoSettings {
            max_sweeps: second.settings.max_sweeps.saturating_sub(spent.iterations),
            max_factorizations: second
                .settings
                .max_factorizations
                .saturating_sub(spent.factorizations),
            ..*second.settings
        };
        let mut sweep = TwistSweep::new(&problem, &mut self.twist, start, false);
        let residual = sweep.residual_of(start);
        own.judge(&residual, start);
        Cycles {
            newton_cost: second.space.newton_cost(),
            settings,
            sweep,
            buffers: second.cycles,
            log: Log::new(second.path),
        }
        .run(second.space, &mut own);
        let (own, report) = (own.report, &mut progress.report);
        report.iterations += own.iterations;
        report.factorizations += own.factorizations;
        report.restarts += own.restarts;
        report.certificates += own.certificates;
    }
}

/// Writes the path.
struct Log<'a> {
    path: &'a mut Vec<Stage>,
    sweeps: usize,
    factorizations: usize,
}

impl<'a> Log<'a> {
    fn new(path: &'a mut Vec<Stage>) -> Self {
        Self {
            path,
            sweeps: 0,
            factorizations: 0,
        }
    }

    /// Goes on with a path that others wrote.
    fn resume(path: &'a mut Vec<Stage>, progress: &Progress) -> Self {
        Self {
            path,
            sweeps: progress.report.iterations,
            factorizations: progress.report.factorizations,
        }
    }

    fn stage(&mut self, method: Method, progress: &Progress) {
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

/// Cycle from which on the sweeps change their direction from cycle to cycle.
const LAST_RESORT: usize = 3;
/// Cost of one Newton call in the first cycle, in sweeps.
const SWEEPS_FOR_NEWTON: f64 = 5000.0;

/// The second phase.
struct Cycles<'a, R> {
    /// What a successful Newton call costs, in sweeps.
    newton_cost: f64,
    settings: &'a AutoSettings,
    sweep: R,
    buffers: &'a mut CycleBuffers,
    log: Log<'a>,
}

impl<R: Relaxation> Cycles<'_, R> {
    fn run(mut self, space: &mut impl NewtonSpace, progress: &mut Progress) {
        if self.is_over(progress) {
            return;
        }
        let mut plain = progress.report.residual.scaled > 1e-3;
        self.buffers.track.clear();
        self.buffers.track.extend_from_slice(progress.best());
        for cycle in 0.. {
            let length = 1 << cycle.min(6);
            if cycle >= LAST_RESORT {
                self.sweep.reverse();
            }
            let before = progress.excess();
            let affordable = self.newton_cost <= (1000 * length) as f64;
            if affordable {
                self.newton(space, cycle, length, progress);
                if self.is_over(progress) {
                    return;
                }
                self.sweep.restart(&self.buffers.point);
                self.sweep(Momentum::NESTEROV, 500 * length, progress);
                if self.is_over(progress) {
                    return;
                }
            }
            let newton = progress.excess();
            let momentum = if plain {
                Momentum::NONE
            } else {
                Momentum::NESTEROV
            };
            let take_over = cycle % 2 == 0 && newton <= 0.1 * before;
            let start = if take_over {
                &self.buffers.point
            } else {
                &self.buffers.track
            };
            self.sweep.restart(start);
            let start = progress.excess();
            self.sweep(momentum, 1000 * length, progress);
            if self.is_over(progress) {
                return;
            }
            self.sweep.residual();
            self.buffers.track.copy_from_slice(self.sweep.impulse());
            plain = !plain && progress.excess() > 0.5 * start;
        }
    }

    fn is_over(&self, progress: &mut Progress) -> bool {
        let report = progress.report;
        progress.finished()
            || report.iterations >= self.settings.max_sweeps
            || report.factorizations >= self.settings.max_factorizations
    }

    /// Both maps, the second from where the first ended.
    fn newton(
        &mut self,
        space: &mut impl NewtonSpace,
        cycle: usize,
        length: usize,
        progress: &mut Progress,
    ) {
        let mut maps = [ConeMap::AlartCurnier, ConeMap::Cone];
        if cycle % 2 == 1 {
            maps.reverse();
        }
        // A call may cost so many sweeps, and more in later cycles.
        let per_step = self.newton_cost / NEWTON_STEPS;
        let budget = (SWEEPS_FOR_NEWTON * length as f64 / per_step).max(20.0) as usize;
        let buffers = &mut *self.buffers;
        buffers.point.clear();
        buffers.point.extend_from_slice(&buffers.track);
        for map in maps {
            let left = self.settings.max_factorizations - progress.report.factorizations;
            let plan = NewtonPlan {
                map,
                first_penalty: [1e3, 1e4, 1e5][cycle % 3],
                max_factorizations: budget.min(200 * length.min(8)).min(left),
                patience: 16,
                reject_to_last: cycle % 2 == 1,
            };
            newton(
                space,
                &mut self.sweep,
                &plan,
                &mut buffers.point,
                &mut buffers.vectors,
                progress,
            );
            self.log.stage(Method::Newton(map), progress);
            if progress.finished()
                || progress.report.factorizations >= self.settings.max_factorizations
            {
                return;
            }
        }
    }

    fn sweep(&mut self, momentum: Momentum, sweeps: usize, progress: &mut Progress) {
        let left = self
            .settings
            .max_sweeps
            .saturating_sub(progress.report.iterations);
        let settings = NsgsSettings {
            min_sweeps: 1,
            max_sweeps: sweeps.min(left),
            stall_window: None,
            momentum,
            ..self.settings.first
        };
        acceleration::run(&mut self.sweep, &settings, progress);
        let method = if momentum == Momentum::NONE {
            Method::Plain
        } else {
            Method::Accelerated
        };
        self.log.stage(method, progress);
    }
}

#[cfg(test)]
mod tests;
