//! The parts of a factored problem that the first stage left unsolved: islands, and of those that are too expensive for
//! Newton the [clusters](super::clusters) around the worst contacts.

use super::clusters::Clusters;
use super::cycles::{CycleBuffers, Cycles};
use super::spent::{Spent, Work};
use super::{AutoSettings, Log, Stage};
use crate::islands::{Extract, Islands};
use crate::newton::body_space::BodySpace;
use crate::problem::{FactoredProblem, ProblemError, WorldTwist};
use crate::progress::Progress;
use crate::sweep::acceleration::{Outlook, Relaxation};
use crate::sweep::lane_sweep::{LaneSweep, LaneWorkspace};
use crate::{Goal, History, SolverReport, natural_map};
use glam::DVec3;

/// Parts that the first stage left unsolved.
#[derive(Debug, Default)]
pub(super) struct HardIslands {
    /// Islands, or clusters of some of them.
    islands: Islands,
    extract: Extract,
    twist: LaneWorkspace,
    scratch: Vec<WorldTwist>,
    /// Squares of the norms that each contact adds to, and its number.
    of_contact: Vec<[f64; 3]>,
    numbers: Vec<u32>,
    /// The same sums for each part.
    norms: Vec<[f64; 3]>,
    clusters: Clusters,
    /// Impulses of the contacts that are in no part, and the free twists under them.
    outside: Vec<DVec3>,
    free: Vec<WorldTwist>,
    /// The parts are clusters.
    pub(super) clustered: bool,
    /// Where the next solve of parts starts, and the last one ended.
    pub(super) impulse: Vec<DVec3>,
    history: History,
    best: Vec<DVec3>,
    weighed: Weighed,
}

/// What Newton was found to cost in this solve, in sweeps, and after how many sweeps.
#[derive(Debug, Default)]
struct Weighed {
    cost: f64,
    sweeps: usize,
}

/// What the parts share.
pub(super) struct SecondPhase<'a> {
    pub(super) settings: &'a AutoSettings,
    pub(super) space: &'a mut BodySpace,
    pub(super) cycles: &'a mut CycleBuffers,
    pub(super) path: &'a mut Vec<Stage>,
}

/// Largest cost of a Newton call, in sweeps over the part, for which an island is handed over.
const MAX_NEWTON_COST: f64 = 2000.0;
/// The same of a cluster. It is a part of its pile only, and sweeps have done what they can.
const MAX_CLUSTER_COST: f64 = 5000.0;
/// Contacts beyond which that is not even worked out: the analysis of such a pile takes longer, and more
/// memory, than its sweeps.
const MAX_CONTACTS: usize = 20_000;
/// Sweeps after which clusters are looked for.
const CLUSTERS_FROM: usize = 400;
/// In a pile that moves a rate says little as long as there are other kinds of sweeps to try, and Newton may fail: sweeps come first until they
/// have cost as much, so that what is chosen costs no more than twice the better of the two.
const PATIENCE: f64 = 1.0;
/// Newton on a cluster may fail, because the impulses around it are held: sweeps come first until they have cost so many
/// times as much.
const CLUSTER_PATIENCE: f64 = 2.0;

/// Sums of norms.
fn plus(a: [f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

impl HardIslands {
    /// Forgets what Newton cost in other solves.
    pub(super) fn begin(&mut self) {
        self.weighed = Weighed::default();
        self.clustered = false;
    }

    /// True if Newton is to be preferred to going on with sweeps.
    pub(super) fn is_better(
        &mut self,
        problem: &FactoredProblem,
        space: &mut BodySpace,
        progress: &Progress,
        seen: Outlook,
    ) -> bool {
        let done = seen.done as f64;
        // Residuals gather in fewer contacts: look again.
        if self.weighed.sweeps == 0 || done >= 2.0 * self.weighed.sweeps as f64 {
            let reach = (done >= CLUSTERS_FROM as f64).then_some(1);
            let cost = self.newton_cost(problem, space, &progress.goal, progress.best(), reach);
            let sweeps = seen.done;
            self.weighed = Weighed { cost, sweeps };
        }
        let cost = self.weighed.cost;
        let patience = match (self.clustered, seen.hopeful) {
            (true, _) => CLUSTER_PATIENCE,
            (_, true) => PATIENCE,
            _ => 0.0,
        };
        cost.is_finite() && seen.left >= cost && done >= patience * cost
    }

    /// What Newton calls on the parts that `impulse` leaves unsolved cost, in sweeps over the whole problem;
    /// infinite if it is too expensive for all of them. `reach`: that of clusters, if they count.
    pub(super) fn newton_cost(
        &mut self,
        problem: &FactoredProblem,
        space: &mut BodySpace,
        goal: &Goal,
        impulse: &[DVec3],
        reach: Option<usize>,
    ) -> f64 {
        self.begin_at(impulse);
        let allowed = self.judge(problem, goal);
        self.find_parts(problem, space, allowed, reach);
        let mut sweeps = 0.0;
        for part in 0..self.islands.count {
            if self.share(part, allowed).is_some() && self.load_if_affordable(part, problem, space)
            {
                sweeps += space.newton_cost() * self.islands.members(part).len() as f64;
            }
        }
        if sweeps > 0.0 {
            sweeps / problem.len() as f64
        } else {
            f64::INFINITY
        }
    }

    /// The next solve of parts starts from `impulse`.
    pub(super) fn begin_at(&mut self, impulse: &[DVec3]) {
        self.impulse.clear();
        self.impulse.extend_from_slice(impulse);
    }

    /// Finds what the impulse leaves of each contact; the square of the goal that every contact may
    /// keep.
    fn judge(&mut self, problem: &FactoredProblem, goal: &Goal) -> f64 {
        let count = problem.len();
        self.numbers.clear();
        self.numbers.extend(0..count as u32);
        self.of_contact.clear();
        self.of_contact.resize(count, [0.0; 3]);
        natural_map::factored_by_group(
            problem,
            &self.impulse,
            &self.numbers,
            &mut self.of_contact,
            &mut self.scratch,
        );
        let [_, r, q] = self.of_contact.iter().fold([0.0; 3], plus);
        goal.scaled.powi(2) * r.max(q) / count as f64
    }

    /// Finds the parts to solve: islands above their share of the residual or, where such an island is too expensive and
    /// clusters are allowed, clusters within it.
    fn find_parts(
        &mut self,
        problem: &FactoredProblem,
        space: &mut BodySpace,
        allowed: f64,
        reach: Option<usize>,
    ) {
        self.clustered = false;
        self.islands.find(problem);
        self.sum_up();
        self.free.clear();
        self.free.extend_from_slice(problem.free_twist);
        let Some(reach) = reach else { return };
        let mut too_expensive = false;
        self.clusters.clear(problem);
        for island in 0..self.islands.count {
            if self.share(island, allowed).is_none() {
                continue;
            }
            if self.load_if_affordable(island, problem, space) {
                self.clusters.take_all(&self.islands, island);
                continue;
            }
            too_expensive = true;
            let of_contact = &self.of_contact;
            let is_bad = |contact: usize| of_contact[contact][0] > allowed;
            self.clusters
                .take(problem, &self.islands, island, reach, is_bad);
        }
        self.clustered = too_expensive;
        if self.clustered {
            let clusters = &self.clusters;
            self.islands.find_among(problem, |k| clusters.has(k));
            self.sum_up();
            let islands = &self.islands;
            self.outside.clone_from(&self.impulse);
            let contacts = 0..problem.contacts.len();
            let others = problem.others().map(|(range, _)| range);
            let triples = contacts.map(|k| k..k + 1).chain(others);
            for (_, range) in triples.enumerate().filter(|(k, _)| islands.has(*k)) {
                self.outside[range].fill(DVec3::ZERO);
            }
            problem.twist_under_triples(&self.outside, &mut self.free);
        }
    }

    #[cfg(test)]
    pub(super) fn is_in_part(&self, contact: usize) -> bool {
        self.islands.has(contact)
    }

    /// Sums up what is left of each part.
    fn sum_up(&mut self) {
        let (islands, own) = (&self.islands, &self.of_contact);
        let sum = |part: usize| {
            let members = islands.members(part).iter();
            members.map(|k| &own[*k as usize]).fold([0.0; 3], plus)
        };
        self.norms.clear();
        self.norms.extend((0..islands.count).map(sum));
    }

    /// The share of a part in the goal, squared, if what is left of it is more.
    fn share(&self, part: usize, allowed: f64) -> Option<f64> {
        let share = allowed * self.islands.members(part).len() as f64;
        (self.norms[part][0] > share).then_some(share)
    }

    /// Takes a part out and loads it into `space`; false if it is too large or too expensive for Newton.
    fn load_if_affordable(
        &mut self,
        part: usize,
        problem: &FactoredProblem,
        space: &mut BodySpace,
    ) -> bool {
        let members = self.islands.members(part);
        if members.len() > MAX_CONTACTS {
            return false;
        }
        self.extract
            .take(problem, members, &self.free, &self.impulse);
        space.load_factored(&self.extract.view());
        let most = if self.clustered {
            MAX_CLUSTER_COST
        } else {
            MAX_NEWTON_COST
        };
        space.newton_cost() <= most
    }

    /// Solves, from where [`Self::begin_at`] was told, every part whose residual exceeds its share, the goal's square divided
    /// among the contacts, and judges the whole. True if there are parts left for which Newton
    /// is too expensive. `reach`: that of clusters.
    pub(super) fn solve(
        &mut self,
        problem: &FactoredProblem,
        reach: usize,
        second: &mut SecondPhase,
        progress: &mut Progress,
    ) -> Result<bool, ProblemError> {
        let allowed = self.judge(problem, &progress.goal);
        self.find_parts(problem, second.space, allowed, Some(reach));
        let mut left = false;
        let mut spent = Spent::at(&progress.report);
        for part in 0..self.islands.count {
            let Some(share) = self.share(part, allowed) else {
                continue;
            };
            if progress.finished() {
                break;
            }
            if !self.load_if_affordable(part, problem, second.space) {
                left = true;
                continue;
            }
            // Half of the share: the denominator may shrink while the parts are solved.
            let rest = (0.25 * share / self.norms[part][0]).sqrt();
            let of_whole = self.islands.members(part).len() as f64 / problem.len() as f64;
            let own = self.solve_extract(rest, spent.before(), second, progress)?;
            spent.add(&own, of_whole, &mut progress.report);
            progress.report.certificates += own.certificates;
            for (source, r) in self.extract.source.iter().zip(&self.best) {
                self.impulse[*source as usize] = *r;
            }
        }
        let residual = natural_map::factored_triples(problem, &self.impulse, &mut self.scratch);
        progress.judge(&residual, &self.impulse);
        Ok(left)
    }

    /// The cycles on the part at hand until so much of its residual is left, within what is `spent` leaves of the budgets; its best impulse is in `best`.
    fn solve_extract(
        &mut self,
        rest: f64,
        spent: Work,
        second: &mut SecondPhase,
        progress: &Progress,
    ) -> Result<SolverReport, ProblemError> {
        let (problem, start) = (self.extract.view(), &self.extract.impulse);
        let simd = second.settings.first.simd;
        let mut sweep = LaneSweep::new(&problem, &mut self.twist, start, false, simd)?;
        let residual = sweep.residual_of(start);
        let goal = Goal {
            scaled: rest * residual.whole(),
            fclib: f64::INFINITY,
            ..progress.goal
        };
        let mut own = Progress::new(&goal, &mut self.history, &mut self.best, start);
        own.watch = progress.watch;
        own.judge(&residual, start);
        let [sweeps, factorizations] = spent;
        let settings = &AutoSettings {
            max_sweeps: second.settings.max_sweeps.saturating_sub(sweeps),
            max_factorizations: second
                .settings
                .max_factorizations
                .saturating_sub(factorizations),
            ..*second.settings
        };
        Cycles {
            newton_cost: second.space.newton_cost(),
            settings,
            sweep,
            buffers: second.cycles,
            log: Log::new(second.path),
        }
        .run(second.space, &mut own);
        Ok(own.report)
    }
}
