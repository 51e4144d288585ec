//! The work on one island that misses a figure: it is taken out and solved on as a problem of its own, until it is good or has no solution.
//!
//! An island of few contacts that slips slowly, but by many times what is left, may be moved by nothing else. It is solved until that is ruled out.
//!
//! An island that cannot be solved, because its bodies cannot be kept apart or because it jams, has impulses that grow with
//! the work spent on it. So has one whose solution takes impulses beyond a thousand times what stops all its bodies and what its drives may
//! give: they are all but held, and would shoot out of a gap that closes. Both get those of a few plain sweeps from zero instead, which treat the points of a pair alike: each
//! leaves a body at the speed of what pushes it, and does not turn what is pressed straight.

use super::figure::{Figure, are_unequal, over_force, over_guard, relative_speeds, stiffness};
use super::load::{OVERLOAD, asked_by_rows, closing, driven, largest, mass_of_springs};
use super::{ByVelocity, Step, VelocityGoal};
use crate::auto::spent::{Spent, Work, work};
use crate::auto::{Auto, AutoSettings};
use crate::problem::{ProblemError, WorldTwist};
use crate::sweep::acceleration::Momentum;
use crate::{Goal, NsgsSettings, SolverReport, SolverStatus, infeasibility, natural_map};
use glam::DVec3;

/// Solves of an island, each with a goal that follows from what the last one left.
const ROUNDS: usize = 5;
/// Those of them that may leave more than half of what was too much: a contact or two do, while the island as a whole gets better, …
const SLOW: i32 = 2;
/// … each with this part of the goal that follows: the norms differ.
const SHARPER: f64 = 0.1;
/// Rounds before these where nothing but the guard is missed, each of twice as many sweeps as the one before, without Newton: a contact or two says nothing
/// of the residual that they need. A residual that does costs thousands of sweeps in large piles.
const GUARD_ROUNDS: u32 = 5;
/// Sweeps of the first of them.
const GUARD_SWEEPS: usize = 50;
/// Part of what the guard was missed by from which on they are in vain.
const NO_GAIN: f64 = 0.9;
/// Budget of a round: plain contacts that jam are found out by it.
const SWEEPS: usize = 5_000;
/// Contacts of an island with a body that stiff forces hold, up to which it gets so many steps of Newton in a round, whatever the budget: they are worth
/// less than the sweeps. Those need `M̂/M` rounds where the forces leave the body to turn.
const FEW_HELD: usize = 16;
const NEWTON_OF_HELD: usize = 50;
/// Sweeps and steps of Newton in a round of an island that is solved as it is, where more is aimed at: in most that is reached by fewer.
const SWEEPS_OF_AIMED: usize = 200;
const NEWTON_OF_AIMED: usize = 20;
/// The same of a tall island: what is left of it is smooth from layer to layer, and sweeps need many for that.
const SWEEPS_OF_TALL: usize = 1_000;
/// Sweeps of an island without a solution.
const SWEEPS_WITHOUT_SOLUTION: usize = 20;

impl ByVelocity {
    /// Takes an island out and solves it on. What it is in the end, if it still misses the goal.
    pub(super) fn solve_island(
        &mut self,
        step: &Step,
        (island, impulse): (usize, &[DVec3]),
        (spent, report): (&mut Spent, &mut SolverReport),
    ) -> Result<Option<SolverStatus>, ProblemError> {
        // Islands share no body that impulses move: those of the others do not matter.
        let (members, free) = (self.islands.members(island), step.problem.free_twist);
        let whole = self.islands.of_contact.len() as f64;
        let (part, few) = (members.len() as f64 / whole, members.len() <= FEW_HELD);
        self.extract.take(step.problem, members, free, impulse);
        let mut solver = self.solver.take().unwrap_or_default();
        let mut outcome = None;
        let jointed = self.jointed[island];
        let mut alone = spent.before();
        if step.round(alone).max_sweeps > 0 && !jointed && !(self.figures[island].held && few) {
            outcome = self.without_solution((alone[0], false), step.velocity);
        }
        let (mut figure, mut slow) = (self.figures[island], 0);
        self.start.clone_from(&self.extract.impulse);
        let mut for_guard = if few || jointed { GUARD_ROUNDS } else { 0 };
        let first = figure.excess(step.velocity);
        for _ in 0..ROUNDS + GUARD_ROUNDS as usize {
            let excess = figure.excess(step.velocity);
            if outcome.is_some() || excess <= 1.0 || slow > SLOW {
                break;
            }
            solver.settings = step.round(alone);
            let aimed = figure.is_aimed(step.velocity);
            if aimed {
                let sweeps = if figure.is_tall() {
                    SWEEPS_OF_TALL
                } else {
                    SWEEPS_OF_AIMED
                };
                let most = &mut solver.settings;
                most.max_sweeps = most.max_sweeps.min(sweeps);
                let newton = if figure.slips.is_some_and(|slip| slip.rocks) {
                    0
                } else {
                    NEWTON_OF_AIMED
                };
                most.max_factorizations = most.max_factorizations.min(newton);
            }
            if solver.settings.max_sweeps == 0 {
                break;
            }
            if figure.held && few {
                let most = &mut solver.settings.max_factorizations;
                *most = (*most).max(NEWTON_OF_HELD);
            }
            let mut rest = figure.rest() / excess * SHARPER.powi(slow);
            let in_turns = for_guard < GUARD_ROUNDS && figure.misses_guard_alone(step.velocity);
            if in_turns {
                let most = &mut solver.settings;
                most.max_sweeps = most.max_sweeps.min(GUARD_SWEEPS << for_guard);
                most.max_factorizations = 0;
                rest = 0.0;
                for_guard += 1;
            }
            let made = self.solve_extract(&mut solver, step.goal, rest)?;
            for (alone, made) in alone.iter_mut().zip(work(&made)) {
                *alone += made;
            }
            spent.add(&made, part, report);
            if jointed {
                // The condensed problem proves; that impulses grow is for their size to say.
                let fails = match made.status {
                    SolverStatus::Infeasible => true,
                    SolverStatus::Unbounded => self.is_overloaded(step.velocity),
                    _ => false,
                };
                outcome = fails.then_some(made.status);
            }
            let next = self.judge_extract(island, (step.goal, step.velocity));
            let reached = next.excess(step.velocity);
            if aimed && !next.is_steadier() {
                break;
            }
            if reached < excess {
                figure = next;
                self.start.clone_from(&self.extract.impulse);
            }
            if in_turns {
                // Where so many sweeps gain nothing, one more round is to show it.
                if for_guard == GUARD_ROUNDS && figure.excess(step.velocity) > NO_GAIN * first {
                    slow = SLOW;
                }
            } else if reached > 0.5 * excess {
                slow += 1;
                if figure.missed(step.velocity) && !jointed {
                    outcome = self.without_solution((made.iterations, true), step.velocity);
                }
            }
        }
        self.extract.impulse.clone_from(&self.start);
        if figure.missed(step.velocity) && !jointed && self.lower() {
            figure = self.judge_extract(island, (step.goal, step.velocity));
        }
        let missed = figure.missed(step.velocity);
        if outcome.is_none() && self.is_overloaded(step.velocity) {
            outcome = Some(SolverStatus::Unbounded);
        }
        if outcome.is_some() {
            self.give_way(&mut solver, step.settings)?;
            figure = self.judge_extract(island, (step.goal, step.velocity));
        }
        self.solver = Some(solver);
        self.figures[island] = figure;
        Ok(outcome.or(missed.then_some(SolverStatus::Stopped)))
    }

    /// Takes an island out that has a solution, but one that only jams have: bodies that are all but held shoot out of a gap that closes.
    /// If so it gives way.
    pub(super) fn jams(
        &mut self,
        step: &Step,
        (island, impulse): (usize, &[DVec3]),
    ) -> Result<bool, ProblemError> {
        let (members, free) = (self.islands.members(island), step.problem.free_twist);
        self.extract.take(step.problem, members, free, impulse);
        if !self.is_overloaded(step.velocity) {
            return Ok(false);
        }
        let mut solver = self.solver.take().unwrap_or_default();
        self.give_way(&mut solver, step.settings)?;
        self.solver = Some(solver);
        self.figures[island] = self.judge_extract(island, (step.goal, step.velocity));
        Ok(true)
    }

    /// Solves the island that was taken out until so much of its residual is left.
    pub(super) fn solve_extract(
        &mut self,
        solver: &mut Auto,
        goal: &Goal,
        rest: f64,
    ) -> Result<SolverReport, ProblemError> {
        let Self { extract, twist, .. } = self;
        let mut impulse = std::mem::take(&mut extract.impulse);
        let view = extract.view();
        let residual = natural_map::factored_triples(&view, &impulse, twist);
        let goal = Goal {
            scaled: rest * residual.whole(),
            fclib: f64::INFINITY,
            ..*goal
        };
        let made = solver.solve_on(&view, &mut impulse, twist, &goal, false);
        extract.impulse = impulse;
        made
    }

    /// The figure of the island that was taken out, whose contacts are `members`.
    pub(super) fn judge_extract(
        &mut self,
        island: usize,
        (of_step, goal): (&Goal, &VelocityGoal),
    ) -> Figure {
        let view = self.extract.view();
        let (squares, twist) = (&mut self.squares, &mut self.twist);
        natural_map::squares_of_velocity(&view, &self.extract.impulse, squares, twist);
        let relative = &mut self.relative;
        relative.clear();
        relative_speeds(&view, twist, &mut self.speed, |_, speed| {
            relative.push(speed)
        });
        let members = self.islands.members(island).iter();
        let mut figure = Figure {
            loaded: self.figures[island].loaded,
            slips: self.figures[island].slips,
            adds_up: self.figures[island].adds_up,
            gyration: self.figures[island].gyration,
            ..Figure::default()
        };
        for (own, (square, member)) in squares.iter().zip(members).enumerate() {
            let pressed = self.extract.impulse[own] != DVec3::ZERO;
            let cold = self.cold[*member as usize];
            figure.add(*member, *square, [pressed, cold]);
            figure.unequal |= pressed && are_unequal(&view, own);
            if pressed || *square != 0.0 {
                figure.speed += self.relative[own].powi(2);
            }
        }
        let members = self.islands.members(island);
        let first = view.contacts.len();
        for other in natural_map::squares_of_others(&view, &self.extract.impulse, twist) {
            let member = members[first + other.index];
            let known = [other.pressed, self.cold[member as usize]];
            figure.add_other(member, &other, (known, goal));
        }
        let scale = figure.guard_scale(goal);
        self.held.clear();
        let absorbed = self.extract.bodies().iter();
        let absorbed = absorbed.filter_map(|body| self.absorbed.get(*body as usize).copied());
        self.held.extend(absorbed);
        stiffness(&view, &mut self.held);
        for (own, square) in squares.iter().enumerate() {
            let guard = over_guard(&view, own, *square, scale, &self.speed);
            let stiff = (&self.held[..], &twist[..], of_step.scaled);
            let force = over_force(&view, own, *square, stiff);
            figure.held |= force > 0.0;
            figure.guard = figure.guard.max(guard).max(force);
        }
        figure
    }

    /// Why the island that was taken out has no solution, if that is found at about the cost of so many sweeps, and given whether
    /// work on it was of no use. A light body under a heavy one is not solved either: only impulses beyond all weights jam.
    fn without_solution(
        &mut self,
        work: (usize, bool),
        goal: &VelocityGoal,
    ) -> Option<SolverStatus> {
        let (view, impulse) = (self.extract.view(), &self.extract.impulse);
        let residual = natural_map::factored_triples(&view, impulse, &mut self.twist);
        let found = infeasibility::of_island(&view, impulse, residual.whole(), work);
        found.filter(|status| *status == SolverStatus::Infeasible || self.is_overloaded(goal))
    }

    /// An impulse of the island that was taken out is far beyond what its drives may give, what its joints and limits ask for, and what stops all of its bodies, with what
    /// springs hold them with, from the largest free speed at a contact or a limit, or turns them round to the largest that one asks for: they jam.
    fn is_overloaded(&mut self, goal: &VelocityGoal) -> bool {
        let view = self.extract.view();
        relative_speeds(&view, view.free_twist, &mut self.speed, |_, _| {});
        let fastest = self.speed.iter().copied().fold(goal.scale, f64::max);
        let asked = view.contacts.iter().map(|contact| -contact.offset.x);
        let fastest = asked.fold(fastest, f64::max).max(closing(&view));
        let moving = view.inverse_mass.iter().filter(|mass| mass.linear > 0.0);
        let mass = moving.map(|mass| 1.0 / mass.linear).sum::<f64>() + mass_of_springs(&view);
        let largest = largest(&view, &self.extract.impulse).sqrt();
        let others = driven(&view) + asked_by_rows(&view);
        largest > OVERLOAD * (mass * fastest + others)
    }

    /// The impulses of a few plain sweeps from zero, the points of a pair alike: what is pressed straight is not turned.
    fn give_way(&mut self, solver: &mut Auto, settings: &AutoSettings) -> Result<(), ProblemError> {
        self.extract.impulse.fill(DVec3::ZERO);
        if self.extract.view().interactions.is_empty() {
            let sweeps = SWEEPS_WITHOUT_SOLUTION;
            self.spread.sweep(&mut self.extract, sweeps);
            return Ok(());
        }
        solver.settings = AutoSettings {
            first: NsgsSettings {
                min_sweeps: SWEEPS_WITHOUT_SOLUTION,
                max_sweeps: SWEEPS_WITHOUT_SOLUTION,
                momentum: Momentum::NONE,
                ..settings.first
            },
            max_sweeps: SWEEPS_WITHOUT_SOLUTION,
            max_factorizations: 0,
        };
        self.solve_extract(solver, &Goal::scaled(0.0), 0.0)?;
        Ok(())
    }

    /// The impulses and twists of the island that was taken out.
    pub(super) fn put_back(&mut self, impulse: &mut [DVec3], twist: &mut [WorldTwist]) {
        let Self { extract, .. } = self;
        for (source, r) in extract.source.iter().zip(&extract.impulse) {
            impulse[*source as usize] = *r;
        }
        let view = extract.view();
        view.twist_under_triples(&extract.impulse, &mut self.twist);
        for (body, end) in extract.bodies().iter().zip(&self.twist) {
            twist[*body as usize] = *end;
        }
    }
}

impl Step<'_> {
    /// What the next round of an island may cost.
    pub(super) fn round(&self, spent: Work) -> AutoSettings {
        let AutoSettings {
            first,
            max_sweeps,
            max_factorizations,
        } = *self.settings;
        let left = max_sweeps.saturating_sub(spent[0]).min(SWEEPS);
        AutoSettings {
            first: NsgsSettings {
                max_sweeps: left,
                ..first
            },
            max_sweeps: left,
            max_factorizations: max_factorizations.saturating_sub(spent[1]),
        }
    }
}
