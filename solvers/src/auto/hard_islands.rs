//! The islands of a factored problem that the first stage left unsolved.

use super::cycles::{CycleBuffers, Cycles};
use super::{AutoSettings, Log, Stage};
use crate::islands::{Extract, Islands};
use crate::newton::body_space::BodySpace;
use crate::problem::{FactoredProblem, ProblemError, WorldTwist};
use crate::progress::Progress;
use crate::sweep::acceleration::Relaxation;
use crate::sweep::lane_sweep::{LaneSweep, LaneWorkspace};
use crate::{Goal, History, natural_map};
use glam::DVec3;

/// Islands that the first stage left unsolved.
#[derive(Debug, Default)]
pub(super) struct HardIslands {
    pub(super) islands: Islands,
    pub(super) extract: Extract,
    pub(super) twist: LaneWorkspace,
    pub(super) scratch: Vec<WorldTwist>,
    pub(super) norms: Vec<[f64; 3]>,
    pub(super) members: Vec<u32>,
    pub(super) impulse: Vec<DVec3>,
    pub(super) history: History,
    pub(super) best: Vec<DVec3>,
}

/// What the islands share.
pub(super) struct SecondPhase<'a> {
    pub(super) settings: &'a AutoSettings,
    pub(super) space: &'a mut BodySpace,
    pub(super) cycles: &'a mut CycleBuffers,
    pub(super) path: &'a mut Vec<Stage>,
}

/// Largest cost of a Newton call, in sweeps, for which islands of a time step are handed over.
const MAX_NEWTON_COST: f64 = 2000.0;
/// Contacts beyond which that is not even worked out: the analysis of such a pile takes longer, and more
/// memory, than its sweeps.
const MAX_CONTACTS: u32 = 20_000;

impl HardIslands {
    /// What Newton calls on the islands that `impulse` leaves unsolved cost, in sweeps over the whole problem;
    /// infinite if it is too dear for all of them.
    pub(super) fn newton_cost(
        &mut self,
        problem: &FactoredProblem,
        space: &mut BodySpace,
        goal: &Goal,
        impulse: &[DVec3],
    ) -> f64 {
        let allowed = self.judge(problem, goal, impulse);
        let mut sweeps = 0.0;
        for island in 0..self.islands.count {
            if self.share(island, allowed).is_none()
                || !self.load_if_affordable(island, problem, space)
            {
                continue;
            }
            sweeps += space.newton_cost() * f64::from(self.members[island]);
        }
        if sweeps > 0.0 {
            sweeps / problem.contacts.len() as f64
        } else {
            f64::INFINITY
        }
    }

    /// Finds the islands and what `impulse` leaves of each; the square of the goal that every contact may
    /// keep.
    fn judge(&mut self, problem: &FactoredProblem, goal: &Goal, impulse: &[DVec3]) -> f64 {
        self.islands.find(problem);
        self.impulse.clear();
        self.impulse.extend_from_slice(impulse);
        self.norms.clear();
        self.norms.resize(self.islands.count, [0.0; 3]);
        natural_map::factored_by_group(
            problem,
            &self.impulse,
            &self.islands.of_contact,
            &mut self.norms,
            &mut self.scratch,
        );
        self.members.clear();
        self.members.resize(self.islands.count, 0);
        for island in &self.islands.of_contact {
            self.members[*island as usize] += 1;
        }
        let [_, r, q] = self.norms.iter().fold([0.0; 3], |sum, part| {
            [sum[0] + part[0], sum[1] + part[1], sum[2] + part[2]]
        });
        goal.scaled.powi(2) * r.max(q) / problem.contacts.len() as f64
    }

    /// The share of an island in the goal, squared, if what is left of it is more.
    fn share(&self, island: usize, allowed: f64) -> Option<f64> {
        let share = allowed * f64::from(self.members[island]);
        (self.norms[island][0] > share).then_some(share)
    }

    /// Takes an island out and loads it into `space`; false if it is too large or too dear for Newton.
    fn load_if_affordable(
        &mut self,
        island: usize,
        problem: &FactoredProblem,
        space: &mut BodySpace,
    ) -> bool {
        if self.members[island] > MAX_CONTACTS {
            return false;
        }
        self.extract
            .take(problem, &self.islands, island as u32, &self.impulse);
        space.load_factored(&self.extract.view());
        space.newton_cost() <= MAX_NEWTON_COST
    }

    /// Solves every island whose part of the residual exceeds its share, the goal's square divided
    /// among the contacts, and judges the whole. True if there are islands left for which Newton
    /// is too dear.
    pub(super) fn solve(
        &mut self,
        problem: &FactoredProblem,
        second: &mut SecondPhase,
        progress: &mut Progress,
    ) -> Result<bool, ProblemError> {
        let allowed = self.judge(problem, &progress.goal, progress.best());
        let mut left = false;
        for island in 0..self.islands.count {
            let Some(share) = self.share(island, allowed) else {
                continue;
            };
            if progress.finished() {
                break;
            }
            if !self.load_if_affordable(island, problem, second.space) {
                left = true;
                continue;
            }
            // Half of the share: the denominator may shrink while the islands are solved.
            let [_, r, q] = self.norms[island];
            let goal = Goal {
                scaled: (0.25 * share / r.max(q)).sqrt(),
                fclib: f64::INFINITY,
                ..progress.goal
            };
            self.solve_extract(&goal, second, progress)?;
            for (source, r) in self.extract.source.iter().zip(&self.best) {
                self.impulse[*source as usize] = *r;
            }
        }
        let residual = natural_map::factored(problem, &self.impulse, &mut self.scratch);
        progress.judge(&residual, &self.impulse);
        Ok(left)
    }

    /// The cycles on the island at hand; its best impulse is in `best`.
    fn solve_extract(
        &mut self,
        goal: &Goal,
        second: &mut SecondPhase,
        progress: &mut Progress,
    ) -> Result<(), ProblemError> {
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
        let mut sweep =
            LaneSweep::new(&problem, &mut self.twist, start, false, settings.first.simd)?;
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
        Ok(())
    }
}
