//! The second phase: Newton and sweeps in turn, in cycles of growing length.

use super::{AutoSettings, Log, Method};
use crate::NsgsSettings;
use crate::newton::space::{NEWTON_STEPS, NewtonSpace};
use crate::progress::Progress;
use crate::proximal_newton::{ConeMap, NewtonPlan, NewtonVectors, newton};
use crate::sweep::acceleration::{self, Momentum, Relaxation};
use glam::DVec3;

/// What the second phase keeps from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct CycleBuffers {
    pub(crate) vectors: NewtonVectors,
    /// Where the independent track of sweeps stands.
    pub(crate) track: Vec<DVec3>,
    /// Where Newton stands.
    pub(crate) point: Vec<DVec3>,
}

/// Cycle from which on the sweeps change their direction from cycle to cycle.
const LAST_RESORT: usize = 3;
/// Cost of one Newton call in the first cycle, in sweeps.
const SWEEPS_FOR_NEWTON: f64 = 5000.0;

/// The second phase.
pub(crate) struct Cycles<'a, R> {
    /// What a successful Newton call costs, in sweeps.
    pub(crate) newton_cost: f64,
    pub(crate) settings: &'a AutoSettings,
    pub(crate) sweep: R,
    pub(crate) buffers: &'a mut CycleBuffers,
    pub(crate) log: Log<'a>,
}

impl<R: Relaxation> Cycles<'_, R> {
    pub(crate) fn run(mut self, space: &mut impl NewtonSpace, progress: &mut Progress) {
        if self.is_over(progress) {
            return;
        }
        let mut plain = progress.report.residual.whole() > 1e-3;
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
            // An excess that is infinite stays so.
            let take_over = affordable && cycle % 2 == 0 && newton <= 0.1 * before;
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
