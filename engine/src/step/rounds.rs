//! The rounds after the first solve: contacts only where bodies meet, and impacts one after another.

use super::alone::Found;
use super::impacts::Next;
use super::judged::Judged;
use super::solve::Moving;
use super::solved::Solved;
use super::{StepState, is_long};
use crate::error::StepError;
use crate::forces::Ended;
use crate::motion::scheme::Scheme;
use crate::settings::Settings;

/// The budget of a step is for all its solves; each has at least this part of it, …
const LEAST_PART: usize = 100;
/// … and so many sweeps: those that smooth out what was exchanged.
pub(super) const LEAST_SWEEPS: usize = 8;
/// Budgets after which no more contacts are exchanged.
const TIMES_BUDGET: usize = 3;

/// Contacts from which on sweeps cost more than a look, …
const MANY: usize = 300;
/// … and the first solve ends after so many: planes that bodies do not meet may jam them. With 150 the collapse of 100,000 spheres takes more rounds.
const SWEEPS_BEFORE_A_LOOK: usize = 200;

/// Linearisations of forces at solved motions in a step: Newton's method needs a few.
const LINEARISATIONS: usize = 12;

/// The motion of the step as solved, of a `StepState` whose looks are borrowed beside it.
macro_rules! solved {
    ($step:expr) => {
        Solved {
            bodies: &$step.bodies,
            motion: &$step.motion,
            record: &$step.record,
            contacts: &$step.problem.contacts,
            impacts: &$step.problem.impacts,
            forces: &$step.forces,
            edits: &$step.edits,
            settings: &$step.settings,
        }
    };
}

impl StepState {
    /// Contacts only where bodies meet, and impacts one after another: with others the problem is solved again, near them and then
    /// as a whole, until none changes.
    pub(crate) fn meet(&mut self, scheme: &impl Scheme) -> Result<(), StepError> {
        if scheme.selects(&self.settings) {
            self.settle_forces(scheme)?;
            if self.problem.is_changed() {
                self.judge();
            }
            return Ok(());
        }
        let mut whole = !self.ended_early;
        loop {
            match self.look(whole)? {
                Next::Nothing if whole || !self.solve_on()? => break,
                Next::Nothing => whole = true,
                Next::Check => {
                    self.solve_on()?;
                    whole = true;
                }
                next => {
                    self.wake_struck(scheme)?;
                    self.exchange(next, scheme);
                    self.solver.looks += self.meetings.take_followed();
                    self.solve_near()?;
                    whole = false;
                }
            }
        }
        self.meetings
            .hold((&solved!(self), &self.impacts), &mut self.detection)?;
        self.settle_forces(scheme)?;
        // With adhesion, or other laws than Coulomb's, it is not that of the contacts and the free motion of the step.
        if self.judged.is_some() || self.problem.is_changed() {
            self.judge();
        }
        let rows = self.record.found.len();
        if self.impacts.end(rows, &mut self.exchange) {
            self.exchange(Next::Settled, scheme);
        }
        self.impacts.hold(self.meetings.held(), self.bodies.len());
        self.record.end_stages(&mut self.problem.impacts);
        self.clock.timing.ms_solve += self.clock.lap();
        Ok(())
    }

    /// What the solved motion asks for: first that contacts are where bodies meet, then that impacts follow one another.
    fn look(&mut self, whole: bool) -> Result<Next, StepError> {
        let Self {
            meetings,
            impacts,
            exchange,
            detection,
            graph,
            ..
        } = self;
        let solved = solved!(self);
        loop {
            if impacts.part_pairs(&solved, &self.joints, exchange) == Found::Contacts {
                return Ok(Next::Again);
            }
            impacts.trace(&solved);
            if meetings.look((&solved, impacts), (detection, graph), exchange)? {
                return Ok(Next::Again);
            }
            match impacts.find_pairs_alone(&solved, (&self.joints, graph), exchange) {
                Found::Contacts => return Ok(Next::Again),
                Found::Ways => {}
                Found::Nothing => break,
            }
        }
        Ok(impacts.look((&solved, whole), meetings, exchange))
    }

    /// Rows go and come, and the problem is built with them.
    fn exchange(&mut self, next: Next, scheme: &impl Scheme) {
        if next == Next::Stage {
            self.judge();
            self.record.end_stage(&self.problem.impacts);
            self.joint_rows.end_stage();
            self.forces.end_stage();
            let (bodies, free, end) = (&self.bodies, &self.motion.free, &self.record.end);
            let ends = bodies.slots().map(|slot| {
                if bodies.is_awake_dynamic(slot) {
                    end[slot]
                } else {
                    free[slot]
                }
            });
            self.impacts.end_stage(bodies, ends);
        }
        let (exchange, record) = (&mut self.exchange, &mut self.record);
        exchange.apply(record, &mut self.edits);
        self.meetings.carry(exchange);
        self.impacts.follow(exchange, next);
        self.build(scheme);
        self.exchange.go_on(&mut self.record);
    }

    /// A stage is over: the step is judged by the worst.
    fn judge(&mut self) {
        let free = self.impacts.begin_of_stage().unwrap_or(&self.motion.free);
        self.problem.pull(&self.record, &self.motion, free);
        let free = self.problem.free(free);
        let report = self.solver.report;
        let now = Judged::new(report, &self.problem, &self.record, free);
        self.judged = Some(match self.judged.take() {
            Some(before) => before.worse(now),
            None => now,
        });
        self.solver.report = self.judged.as_ref().map_or(report, |judged| judged.report);
    }

    /// Forces of users are those of the motion as solved.
    fn settle_forces(&mut self, scheme: &impl Scheme) -> Result<(), StepError> {
        if self.forces.is_empty() {
            return Ok(());
        }
        loop {
            let begin = self.impacts.begin_of_stage();
            let ended = Ended {
                end: &self.record.end,
                free: begin.unwrap_or(&self.motion.free),
                time: self.clock.t,
            };
            let again = self.forces.loops < LINEARISATIONS;
            let (forces, bodies, settings) = (&mut self.forces, &mut self.bodies, &self.settings);
            let many = is_long(bodies.moving.len());
            self.threads
                .run(many, || forces.look(bodies, &ended, settings, again))?;
            let mut changed = false;
            for (slot, change) in self.forces.changes() {
                changed = true;
                self.motion
                    .fall_again(&self.bodies, slot, scheme, &self.settings);
                self.impacts.push(slot, &change);
            }
            if !changed {
                break;
            }
            self.forces.loops += 1;
            let begin = self.impacts.begin_of_stage();
            self.forces.write_rows(&self.motion, begin);
            self.solve_on()?;
        }
        self.forces.end(&mut self.bodies, &self.settings);
        Ok(())
    }

    fn solve_near(&mut self) -> Result<(), StepError> {
        let free = self.impacts.begin_of_stage().unwrap_or(&self.motion.free);
        self.problem.pull(&self.record, &self.motion, free);
        let moving = Moving {
            bodies: &self.bodies,
            motion: &self.motion,
            free: self.problem.free(free),
        };
        let (joints, forces) = (&self.joint_rows, &self.forces.rows);
        let done = self.solver.solve_near(
            &self.exchange.bodies,
            &self.problem,
            (&mut self.record, joints, forces),
            &moving,
            &self.settings,
        )?;
        if !done {
            self.solve_on()?;
        }
        Ok(())
    }

    /// Solves with the contacts found, as far as it is worth before a look.
    pub(super) fn solve_first(&mut self) -> Result<(), StepError> {
        let settings = self.settings;
        let many = self.problem.contacts.len() >= MANY;
        let between = self.joint_rows.interactions.len() + self.forces.rows.interactions.len();
        let plain = between == 0 && !self.problem.has_other_laws();
        let early = many && plain && !settings.has_budget_of_products();
        self.solver.look_after = early.then_some(SWEEPS_BEFORE_A_LOOK);
        let solved = self.solve_all(&settings);
        self.solver.look_after = None;
        self.ended_early = early && self.solver.auto.left_work();
        solved
    }

    /// Goes on from the impulses at hand. True if they were not good enough.
    fn solve_on(&mut self) -> Result<bool, StepError> {
        let before = self.solver.effort();
        let mut settings = self.settings;
        let budget = settings.auto_for(self.problem.contacts.len(), self.solver.looks);
        let left = |all: usize, spent: usize, least: usize| {
            let least = least.min(all).max(all / LEAST_PART);
            Some(all.saturating_sub(spent).max(least))
        };
        settings.advanced.min_sweeps = Some(0);
        settings.advanced.max_sweeps = left(budget.max_sweeps, before[0], LEAST_SWEEPS);
        settings.advanced.max_factorizations = left(budget.max_factorizations, before[1], 0);
        self.solver.goes_on = true;
        self.solve_all(&settings)?;
        let swept = self.solver.effort() != [0, 0];
        self.solver.add_effort(before);
        if self.solver.effort()[0] >= TIMES_BUDGET * budget.max_sweeps {
            self.meetings.end_rounds();
        }
        Ok(swept)
    }

    pub(super) fn solve_all(&mut self, settings: &Settings) -> Result<(), StepError> {
        let free = self.impacts.begin_of_stage().unwrap_or(&self.motion.free);
        self.problem.pull(&self.record, &self.motion, free);
        let moving = Moving {
            bodies: &self.bodies,
            motion: &self.motion,
            free: self.problem.free(free),
        };
        let (problem, record) = (&self.problem, &mut self.record);
        let rows = (record, &mut self.joint_rows, &mut self.forces.rows);
        self.solver
            .solve(problem, rows, &moving, settings, &self.threads)
    }
}
