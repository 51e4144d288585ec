//! The solver that picks for itself: accelerated sweeps, then Newton and sweeps in turn.
//!
//! 1. Accelerated sweeps (Nesterov with restart, [`crate::acceleration`]) from the warm start:
//!    most problems and nearly all time steps end here. They are left when the best residual does
//!    not halve within a window, or when the rate of the last window says that Newton is cheaper.
//! 2. Cycles `k = 0, 1, …` of growing length `s = min(2ᵏ, 64)`: both maps of
//!    [`crate::proximal_newton`] one after the other, accelerated sweeps from where they ended, and
//!    an independent track of sweeps. The track takes over the Newton point only in even cycles
//!    and if that is ten times better: always going on from the best point freezes.
//! 3. Last resort: the same with the contacts in other orders.
//!
//! Every decision depends on residuals and counts only, never on time: the same problem takes the
//! same path. The best iterate by the true residual is returned.
//!
//! When to use it: always, unless you compare methods. Its cost over plain sweeps is nothing as
//! long as they converge.
//!
//! References: the methods' own pages; the portfolio follows what no single solver does
//! [Acary-Bremond-Huber18, §7].

use crate::acceleration::{self, Momentum, Relaxation};
use crate::explicit_sweep::{ExplicitSweep, ExplicitWorkspace};
use crate::newton::contact_space::{ContactSpace, ContactSpaceBuffers};
use crate::newton::space::NewtonSpace;
use crate::nsgs::check_warm_start;
use crate::progress::Progress;
use crate::proximal_newton::{ConeMap, NewtonPlan, NewtonVectors, newton};
use crate::{FrictionProblem, Goal, History, NsgsSettings, ProblemError, Solver, SolverReport};
use glam::DVec3;

/// Settings of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoSettings {
    /// Sweeps of the first stage at most. Default 1000.
    pub first_sweeps: usize,
    /// Budget of sweeps, all stages. Default 200 000.
    pub max_sweeps: usize,
    /// Budget of factorisations, all stages. Default 5 000.
    pub max_factorizations: usize,
}

impl Default for AutoSettings {
    fn default() -> Self {
        Self {
            first_sweeps: 1000,
            max_sweeps: 200_000,
            max_factorizations: 5_000,
        }
    }
}

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
    vectors: NewtonVectors,
    track: Vec<DVec3>,
    point: Vec<DVec3>,
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

    /// The stages of the last solve, in their order.
    #[must_use]
    pub fn path(&self) -> &[Stage] {
        &self.path
    }
}

impl Solver for Auto {
    fn solve(
        &mut self,
        problem: &FrictionProblem,
        impulse: &mut [DVec3],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate()?;
        check_warm_start(impulse, problem.len())?;
        self.path.clear();
        let mut progress = Progress::new(goal, &mut self.history, &mut self.best, impulse);
        let mut sweep = ExplicitSweep::new(problem, &mut self.explicit, impulse, &[]);
        let cold = impulse.iter().all(|r| *r == DVec3::ZERO);
        let mut log = Log::new(&mut self.path);
        let first = NsgsSettings {
            min_sweeps: usize::from(cold),
            max_sweeps: self.settings.first_sweeps.min(self.settings.max_sweeps),
            stall_window: Some(300),
            momentum: Momentum::NESTEROV,
            ..NsgsSettings::default()
        };
        acceleration::run(&mut sweep, &first, &mut progress);
        log.stage(Method::Accelerated, &progress);
        if !progress.finished() {
            let mut space = ContactSpace::new(problem, &mut self.contact_space);
            self.track.clear();
            self.track.extend_from_slice(sweep.impulse());
            Cycles {
                settings: &self.settings,
                sweep,
                space: &mut space,
                vectors: &mut self.vectors,
                track: &mut self.track,
                point: &mut self.point,
                log,
            }
            .run(&mut progress);
        }
        let report = progress.report;
        impulse.copy_from_slice(&self.best);
        Ok(report)
    }

    fn history(&self) -> &History {
        &self.history
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

/// The second phase.
struct Cycles<'a, R, S> {
    settings: &'a AutoSettings,
    sweep: R,
    space: &'a mut S,
    vectors: &'a mut NewtonVectors,
    /// Where the independent track of sweeps stands.
    track: &'a mut Vec<DVec3>,
    /// Where Newton stands.
    point: &'a mut Vec<DVec3>,
    log: Log<'a>,
}

impl<R: Relaxation, S: NewtonSpace> Cycles<'_, R, S> {
    fn run(&mut self, progress: &mut Progress) {
        let mut plain = progress.report.residual.scaled > 1e-3;
        for cycle in 0.. {
            let length = 1 << cycle.min(6);
            let before = progress.excess();
            self.newton(cycle, length, progress);
            if self.is_over(progress) {
                return;
            }
            let newton = progress.excess();
            self.sweep.restart(self.point);
            self.sweep(Momentum::NESTEROV, 500 * length, progress);
            if self.is_over(progress) {
                return;
            }
            let momentum = if plain {
                Momentum::NONE
            } else {
                Momentum::NESTEROV
            };
            let take_over = cycle % 2 == 0 && newton <= 0.1 * before;
            self.sweep
                .restart(if take_over { self.point } else { self.track });
            let start = progress.excess();
            self.sweep(momentum, 1000 * length, progress);
            if self.is_over(progress) {
                return;
            }
            self.sweep.residual();
            self.track.copy_from_slice(self.sweep.impulse());
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
    fn newton(&mut self, cycle: usize, length: usize, progress: &mut Progress) {
        let mut maps = [ConeMap::AlartCurnier, ConeMap::Cone];
        if cycle % 2 == 1 {
            maps.reverse();
        }
        self.point.clear();
        self.point.extend_from_slice(self.track);
        for map in maps {
            let plan = NewtonPlan {
                map,
                first_penalty: [1e3, 1e4, 1e5][cycle % 3],
                max_factorizations: 60 * length.min(8),
                patience: 8,
                reject_to_last: cycle % 2 == 1,
            };
            newton(self.space, &plan, self.point, self.vectors, progress);
            self.log.stage(Method::Newton(map), progress);
            if self.is_over(progress) {
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
            ..NsgsSettings::default()
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
