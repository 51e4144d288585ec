//! The work on islands that miss nothing but the guard: a contact or two of a whole pile.
//!
//! The contacts within a few links of those over their bound are solved on as a problem of their own, all other impulses being
//! what they are, and everything is judged again. Sweeps over the whole island would do the same for more.
//! What remains over its bound after some rounds is left to them.

use super::figure::over_guard;
use super::{ByVelocity, Step};
use crate::auto::AutoSettings;
use crate::problem::{ProblemError, WorldTwist};
use crate::sweep::acceleration::Momentum;
use crate::{NsgsSettings, SolverReport, natural_map};
use glam::DVec3;

/// Rounds of solving and judging.
const ROUNDS: usize = 12;
/// Bodies from a contact over its bound to the farthest contact that is solved with it, in the first round; …
const REACH: usize = 6;
/// … and so many more in each of the next: what a round moves disturbs what is beyond.
const FARTHER: usize = 1;
/// Part of its bound from which a contact is taken for one that is over it.
const NEARLY: f64 = 0.8;
/// Most sweeps of a round, without momentum: they disturb less.
const SWEEPS: usize = 30;
/// Part of the residual around that is left.
const REST: f64 = 0.3;
/// Part of all contacts beyond which this is not worth it.
const MOST: f64 = 0.75;

/// The solution before the work, for the case that the whole gets worse by it.
#[derive(Debug, Default)]
pub(super) struct Kept {
    impulse: Vec<DVec3>,
    twist: Vec<WorldTwist>,
}

impl ByVelocity {
    /// Solves around the contacts over their bounds in islands that miss nothing else. True if impulses changed.
    pub(super) fn mend(
        &mut self,
        step: &Step,
        (impulse, twist): (&mut [DVec3], &mut [WorldTwist]),
        report: &mut SolverReport,
    ) -> Result<bool, ProblemError> {
        let mut kept = std::mem::take(&mut self.kept);
        let mut changed = false;
        for round in 0..ROUNDS {
            let left = step.settings.max_sweeps.saturating_sub(report.iterations);
            if left == 0 || !self.gather(step, REACH + round * FARTHER) {
                break;
            }
            if !changed {
                kept.impulse.clear();
                kept.impulse.extend_from_slice(impulse);
                kept.twist.clear();
                kept.twist.extend_from_slice(twist);
                changed = true;
            }
            self.solve_around(step, (&mut *impulse, &mut *twist), report)?;
            self.judge(
                step.problem,
                (step.goal, step.velocity),
                (&*impulse, &*twist),
            );
        }
        if changed && report.converged() {
            let residual = natural_map::factored_triples(step.problem, impulse, &mut self.twist);
            if step.goal.excess(&residual) > 1.0 {
                impulse.copy_from_slice(&kept.impulse);
                twist.copy_from_slice(&kept.twist);
                self.judge(
                    step.problem,
                    (step.goal, step.velocity),
                    (&*impulse, &*twist),
                );
                changed = false;
            }
        }
        self.kept = kept;
        Ok(changed)
    }

    /// Lists the contacts to solve; false if there are none, or too many.
    fn gather(&mut self, step: &Step, reach: usize) -> bool {
        let (problem, goal) = (step.problem, step.velocity);
        let (squares, speed, of_contact) = (&self.squares, &self.speed, &self.islands.of_contact);
        let over = |contact: usize| {
            contact < squares.len() && {
                let scale = self.figures[of_contact[contact] as usize].guard_scale(goal);
                over_guard(problem, contact, squares[contact], scale, speed) > NEARLY
            }
        };
        self.members.clear();
        let misses = |island: &usize| {
            !self.jointed[*island] && self.figures[*island].misses_guard_alone(goal)
        };
        if !(0..self.islands.count).any(|island| misses(&island)) {
            return false;
        }
        self.clusters.clear(problem);
        for island in (0..self.islands.count).filter(misses) {
            let islands = &self.islands;
            self.clusters.take(problem, islands, island, reach, over);
        }
        let all = 0..problem.len();
        let taken = all.filter(|contact| self.clusters.has(*contact));
        self.members.extend(taken.map(|contact| contact as u32));
        !self.members.is_empty() && self.members.len() as f64 <= MOST * problem.len() as f64
    }

    /// Solves the contacts that are listed, the impulses of all others being what they are.
    fn solve_around(
        &mut self,
        step: &Step,
        (impulse, twist): (&mut [DVec3], &mut [WorldTwist]),
        report: &mut SolverReport,
    ) -> Result<(), ProblemError> {
        let problem = step.problem;
        self.around.clear();
        self.around.extend_from_slice(impulse);
        for contact in &self.members {
            self.around[*contact as usize] = DVec3::ZERO;
        }
        problem.twist_under_triples(&self.around, &mut self.free);
        self.extract
            .take(problem, &self.members, &self.free, impulse);
        let mut solver = self.solver.take().unwrap_or_default();
        let first = step.settings.first;
        let left = step.settings.max_sweeps.saturating_sub(report.iterations);
        solver.settings = AutoSettings {
            first: NsgsSettings {
                max_sweeps: left.min(SWEEPS),
                momentum: Momentum::NONE,
                ..first
            },
            max_sweeps: left.min(SWEEPS),
            max_factorizations: 0,
        };
        let made = self.solve_extract(&mut solver, step.goal, REST);
        self.solver = Some(solver);
        let made = made?;
        let part = self.members.len() as f64 / problem.len() as f64;
        report.iterations += (made.iterations as f64 * part).ceil() as usize;
        report.restarts += made.restarts;
        self.put_back(impulse, twist);
        Ok(())
    }
}
