//! The second figure of a time step: what is left of every island in velocities, and the work on islands that miss it.
//!
//! `e_scaled` is relative to the whole problem: light bodies under a heavy load creep while it is small. So a step is also
//! judged island by island, with `v_α = λ_α‖F_α‖` from the natural map [docs/theory.md §7]:
//!
//! ```text
//! √(Σ v_α² / n) ≤ rms min(max(1, √(Σ ‖u_α‖² / n) / scale), 10) over the n contacts of the island that are closed, or should be
//! v_α ≤ 0.2 max(scale min(max(1, √(Σ ‖u_α‖² / n) / scale), 5), speed)   at every contact; speed: the largest relative speed at a contact of one of its two bodies,
//!                                                              of the body for which that is smaller
//! ```
//!
//! The figure is computed once, when the solve is over. Islands that meet it are left as they are. Each of the others is taken
//! out and solved on as a problem of its own, with sweeps and Newton, until it does; where the guard alone is missed, the contacts
//! around are solved first ([`mend`]). An island all of whose contacts are new
//! starts from nothing, and what its first solve leaves is carried on by all the others: it is solved to a stricter bound. So is one
//! in which a body presses on another that is far lighter: there `v_α` is a small part of the error of the velocities. The strictest
//! bound holds in every step for islands of few contacts whose bodies carry many times their weight, such as towers of masses that
//! grow upwards: what is left at their contacts adds up from body to body, and sweeps leave it in the same direction in every step.
//!
//! An island of few contacts that slips slowly, but by many times what is left, may be moved by nothing else. It is solved until that is ruled out.
//!
//! An island that cannot be solved, because its bodies cannot be kept apart or because it jams, has impulses that grow with
//! the work spent on it. So has one whose solution takes impulses beyond a thousand times what stops all its bodies and what its drives may
//! give: they are all but held, and would shoot out of a gap that closes. Both get those of a few plain sweeps from zero instead, which treat the points of a pair alike: each
//! leaves a body at the speed of what pushes it, and does not turn what is pressed straight.

mod figure;
mod load;
mod mend;
mod work;

use super::clusters::Clusters;
use super::spread::Spread;
use super::{Auto, AutoSettings};
use crate::islands::{Extract, Islands};
use crate::problem::{FactoredProblem, ProblemError, WorldTwist, check_warm_start};
use crate::sweep::acceleration::Momentum;
use crate::{Goal, Law, NsgsSettings, SolverReport, SolverStatus, infeasibility, natural_map};
use figure::{
    Figure, GUARD, are_unequal, gyration, is_loaded, over_force, over_guard, relative_speeds,
    slips, some_are_unequal_or_small, stiffness,
};
use glam::DVec3;
use load::{OVERLOAD, asked_by_joints, driven, largest, mass_of_springs, may_jam};
use mend::Kept;
pub(crate) use work::{gain, keep_driven, take_back};

/// What every island of a time step is to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityGoal {
    /// Root mean square of `v_α` over the closed contacts of an island, m/s.
    pub rms: f64,
    /// The same of an island all of whose contacts start from zero.
    pub rms_new: f64,
    /// Speed that a fifth of may be left at any contact, m/s: `h‖g‖`.
    pub scale: f64,
    /// In islands whose contacts move faster than that the bound grows in proportion, up to ten times.
    pub grows: bool,
    /// What may be left in an island is at most this part of the least radius of gyration of its bodies a second, 1/s: so little of a body's
    /// size that it does not creep away from what it stands on. Infinite: no such bound.
    pub creep: f64,
}

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
/// Contacts of an island up to which it is solved before a look: its work is worth less than the sweeps of larger ones.
const FEW_BEFORE_A_LOOK: usize = 300;
/// Sweeps of an island without a solution.
const SWEEPS_WITHOUT_SOLUTION: usize = 20;

/// Buffers of the figure and of the solves that follow from it.
#[derive(Debug, Default)]
pub(super) struct ByVelocity {
    islands: Islands,
    extract: Extract,
    /// Contacts that started from zero.
    cold: Vec<bool>,
    squares: Vec<f64>,
    figures: Vec<Figure>,
    /// Islands with joints: solved by [`crate::articulation`], never in parts.
    jointed: Vec<bool>,
    /// Largest relative speed at a contact of each body.
    speed: Vec<f64>,
    /// How much heavier rows that are taken for mass made each body, over its mass; empty if there are none.
    absorbed: Vec<f64>,
    /// How stiff what holds each body softly is, over its mass.
    held: Vec<f64>,
    /// Relative speed at each contact of an island.
    relative: Vec<f64>,
    twist: Vec<WorldTwist>,
    start: Vec<DVec3>,
    /// Contacts around those over their bounds, the impulses of all others, and the twists under these.
    clusters: Clusters,
    members: Vec<u32>,
    around: Vec<DVec3>,
    free: Vec<WorldTwist>,
    kept: Kept,
    spread: Spread,
    /// Bodies of the islands without solution.
    pub(super) without: Vec<u32>,
    /// See [`Auto::left_work`].
    pub(super) left: bool,
    solver: Option<Box<Auto>>,
}

/// How the islands ended that still miss the goal.
#[derive(Debug, Default)]
struct Ends {
    stopped: bool,
    /// The worst island without solution: why, its worst contact, and the square of what that leaves.
    without: Option<(SolverStatus, Option<u32>, f64)>,
}

impl Ends {
    fn add(&mut self, status: SolverStatus, worst: Option<(u32, f64)>) {
        if status == SolverStatus::Stopped {
            self.stopped = true;
            return;
        }
        let square = worst.map_or(0.0, |(_, square)| square);
        if self.without.is_none_or(|(.., other)| square > other) {
            self.without = Some((status, worst.map(|(contact, _)| contact), square));
        }
    }

    fn write(&self, report: &mut SolverReport) {
        if let Some((status, contact, _)) = self.without {
            report.status = status;
            report.conflict = contact;
        } else if self.stopped && report.converged() {
            report.status = SolverStatus::Stopped;
        }
        let without = matches!(
            report.status,
            SolverStatus::Infeasible | SolverStatus::Unbounded
        );
        if without {
            report.conflict = report.conflict.or(report.worst_contact);
        }
    }
}

impl Auto {
    /// The bodies of the islands that the last [`Self::solve_step`] found to have no solution, and the fixed ones that they
    /// touch.
    #[must_use]
    pub fn without_solution(&self) -> &[u32] {
        &self.by_velocity.without
    }

    /// Solves the problem of a time step: [`Self::solve_factored`], then the islands that miss `velocity`. The report has both
    /// figures, and its status counts both.
    ///
    /// # Errors
    /// [`ProblemError`] if the problem is inconsistent or not finite; `impulse` is then unchanged.
    pub fn solve_step(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [f64],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
        velocity: &VelocityGoal,
    ) -> Result<SolverReport, ProblemError> {
        self.by_velocity.absorbed.clear();
        if problem.interactions.is_empty() || impulse.len() != problem.rows() {
            return self.solve_kept(problem, impulse, twist, goal, velocity);
        }
        problem.validate_bodies()?;
        let mut absorbed = std::mem::take(&mut self.absorbed);
        let made = if absorbed.load(problem, impulse) {
            let heavier = &mut self.by_velocity.absorbed;
            std::mem::swap(heavier, &mut absorbed.heavier);
            let (kept, own) = absorbed.split(problem);
            let made = self.solve_kept(&kept, own, twist, goal, velocity);
            made.map(|mut report| {
                absorbed.write(problem, impulse, twist);
                absorbed.rename(problem.contacts.len(), &mut report);
                report
            })
        } else {
            self.solve_kept(problem, impulse, twist, goal, velocity)
        };
        self.absorbed = absorbed;
        made
    }

    /// The same of a problem without rows that are taken for mass.
    fn solve_kept(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [f64],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
        velocity: &VelocityGoal,
    ) -> Result<SolverReport, ProblemError> {
        let mut by_velocity = std::mem::take(&mut self.by_velocity);
        let rows = impulse.chunks_exact(3).take(problem.contacts.len());
        by_velocity.cold.clear();
        let cold = rows.map(|r| r.iter().all(|r| *r == 0.0));
        by_velocity.cold.extend(cold);
        let mut begin = 3 * problem.contacts.len();
        for other in problem.interactions {
            let end = begin + other.law.rows();
            let own = impulse.get(begin..end).unwrap_or_default();
            by_velocity.cold.push(own.iter().all(|r| *r == 0.0));
            begin = end;
        }
        let mut spread = std::mem::take(&mut self.spread);
        let mut triples = std::mem::take(&mut self.triples);
        let started = problem.in_triples(impulse, &mut triples, |impulse| {
            spread.start(problem, impulse);
            Ok(SolverReport::default())
        });
        (self.spread, self.triples) = (spread, triples);
        started?;
        let settings = self.settings;
        if let Some(sweeps) = self.look_after {
            let most = settings.max_sweeps.min(sweeps);
            self.settings.max_sweeps = most;
            self.settings.first.max_sweeps = most;
            self.settings.max_factorizations = 0;
        }
        let solved = self.solve_checked(problem, impulse, twist, goal);
        self.settings = settings;
        // The last certificate was that of the solution, if sweeps found it.
        let judged = self.best_is_last;
        if judged {
            let squares = &mut self.sweeps.lanes.squares;
            std::mem::swap(squares, &mut by_velocity.squares);
        }
        let mut triples = std::mem::take(&mut self.triples);
        let result = solved.and_then(|mut report| {
            problem.in_checked_triples(impulse, &mut triples, |impulse| {
                // Where something overflowed, no goal is reached.
                if !report.converged() {
                    check_warm_start(impulse, impulse.len())?;
                }
                let step = Step {
                    problem,
                    goal,
                    velocity,
                    settings: &self.settings,
                    is_looked_at: self.look_after.is_some(),
                };
                by_velocity.finish(&step, (impulse, twist), judged, &mut report)?;
                Ok(report)
            })
        });
        (self.by_velocity, self.triples) = (by_velocity, triples);
        result
    }
}

/// The problem, and what it is to reach.
#[derive(Clone, Copy)]
struct Step<'a> {
    problem: &'a FactoredProblem<'a>,
    goal: &'a Goal<'a>,
    velocity: &'a VelocityGoal,
    settings: &'a AutoSettings,
    /// See [`Auto::look_after`].
    is_looked_at: bool,
}

impl ByVelocity {
    /// Judges every island (`judged`: the squares of its contacts are at hand), solves on those that need it, and completes the report.
    fn finish(
        &mut self,
        step: &Step,
        (impulse, twist): (&mut [DVec3], &mut [WorldTwist]),
        judged: bool,
        report: &mut SolverReport,
    ) -> Result<(), ProblemError> {
        self.without.clear();
        self.left = false;
        if judged && step.problem.interactions.is_empty() && self.is_free(impulse) {
            self.figures.clear();
            self.write(report);
            return Ok(());
        }
        self.islands.find(step.problem);
        self.jointed.clear();
        self.jointed.resize(self.islands.count, false);
        let first = step.problem.contacts.len();
        for (k, other) in step.problem.interactions.iter().enumerate() {
            let island = self.islands.of_contact[first + k] as usize;
            self.jointed[island] |= matches!(other.law, Law::Equality(_));
        }
        if !judged {
            let squares = &mut self.squares;
            natural_map::squares_of_velocity(step.problem, impulse, squares, &mut self.twist);
        }
        self.see(step.problem, (step.goal, step.velocity), (impulse, twist));
        let stopped = matches!(
            report.status,
            SolverStatus::TimedOut | SolverStatus::Cancelled
        );
        // Without a proof that is for the islands to say: a heavy stack has such impulses at rest, and so has what strong drives press.
        if report.status == SolverStatus::Unbounded {
            report.status = if step.goal.excess(&report.residual) <= 1.0 {
                SolverStatus::Converged
            } else {
                SolverStatus::Stopped
            };
        }
        let mut ends = Ends::default();
        let mended = !stopped && !step.is_looked_at;
        let mut changed = mended && self.mend(step, (&mut *impulse, &mut *twist), report)?;
        let heavy = may_jam(step.problem, impulse, step.velocity);
        for island in 0..self.islands.count {
            let reached = self.figures[island].excess(step.velocity) <= 1.0;
            if stopped || reached && !(heavy && self.jams(step, (island, impulse))?) {
                continue;
            }
            let own = &self.figures[island];
            let large = self.islands.members(island).len() > FEW_BEFORE_A_LOOK;
            if !reached && step.is_looked_at && large && own.known {
                self.left = true;
                if own.missed(step.velocity) {
                    ends.add(SolverStatus::Stopped, own.worst);
                }
                continue;
            }
            if !reached && !heavy && step.round(report).max_sweeps == 0 {
                // The budget is spent: what is left is for the next step.
                if self.may_be_excessive(step.problem, island, (impulse, twist)) {
                    let (members, free) = (self.islands.members(island), step.problem.free_twist);
                    self.extract.take(step.problem, members, free, impulse);
                    if self.lower() {
                        self.figures[island] =
                            self.judge_extract(island, (step.goal, step.velocity));
                        self.put_back(impulse, twist);
                        changed = true;
                    }
                }
                if self.figures[island].missed(step.velocity) {
                    ends.add(SolverStatus::Stopped, self.figures[island].worst);
                }
                continue;
            }
            changed = true;
            if reached {
                self.put_back(impulse, twist);
                ends.add(SolverStatus::Unbounded, self.figures[island].worst);
                self.without.extend_from_slice(self.extract.bodies());
                continue;
            }
            let outcome = self.solve_island(step, (island, impulse), report)?;
            self.put_back(impulse, twist);
            if let Some(status) = outcome {
                ends.add(status, self.figures[island].worst);
                if status != SolverStatus::Stopped {
                    self.without.extend_from_slice(self.extract.bodies());
                }
            }
        }
        if changed {
            report.residual = natural_map::factored_triples(step.problem, impulse, &mut self.twist);
            let reached = step.goal.excess(&report.residual) <= 1.0;
            report.status = match report.status {
                SolverStatus::Converged if !reached => SolverStatus::Stopped,
                SolverStatus::Stopped if reached => SolverStatus::Converged,
                status => status,
            };
        }
        self.left |= step.is_looked_at && step.goal.excess(&report.residual) > 1.0;
        self.write(report);
        ends.write(report);
        Ok(())
    }

    /// No contact pushes, and none should: every figure is zero.
    fn is_free(&self, impulse: &[DVec3]) -> bool {
        self.squares.iter().all(|square| *square == 0.0)
            && impulse.iter().all(|r| *r == DVec3::ZERO)
    }

    /// The impulses and twists of the island that was taken out.
    fn put_back(&mut self, impulse: &mut [DVec3], twist: &mut [WorldTwist]) {
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

    /// The figures in the report.
    fn write(&self, report: &mut SolverReport) {
        report.island_velocity = self.figures.iter().map(Figure::rms).fold(0.0, f64::max);
        let worst = self.figures.iter().filter_map(|figure| figure.worst);
        report.worst_contact = worst
            .fold(None, |worst: Option<(u32, f64)>, next| {
                worst.filter(|worst| worst.1 >= next.1).or(Some(next))
            })
            .map(|(contact, _)| contact);
    }

    /// Judges all contacts and islands.
    fn judge(
        &mut self,
        problem: &FactoredProblem,
        goal: (&Goal, &VelocityGoal),
        (impulse, twist): (&[DVec3], &[WorldTwist]),
    ) {
        natural_map::squares_of_velocity(problem, impulse, &mut self.squares, &mut self.twist);
        self.see(problem, goal, (impulse, twist));
    }

    /// The figures of all islands, from the squares of their contacts.
    fn see(
        &mut self,
        problem: &FactoredProblem,
        (of_step, goal): (&Goal, &VelocityGoal),
        (impulse, twist): (&[DVec3], &[WorldTwist]),
    ) {
        self.figures.clear();
        self.figures.resize(self.islands.count, Figure::default());
        let squares = &self.squares;
        let [unequal, small] = some_are_unequal_or_small(problem, goal);
        let known = self.islands.of_contact.iter().zip(&self.cold);
        let found = squares.iter().zip(impulse).zip(known).enumerate();
        for (contact, ((square, r), (island, cold))) in found {
            let figure = &mut self.figures[*island as usize];
            if small {
                figure.gyration = figure.gyration.max(gyration(problem, contact));
            }
            let pressed = *r != DVec3::ZERO;
            figure.add(contact as u32, *square, [pressed, *cold]);
            figure.unequal |= unequal && pressed && are_unequal(problem, contact);
        }
        let first = problem.contacts.len();
        for (other, square, pressed) in natural_map::squares_of_others(problem, impulse, twist) {
            let figure = &mut self.figures[self.islands.of_contact[first + other] as usize];
            let known = [pressed, self.cold[first + other]];
            figure.add((first + other) as u32, square, known);
            figure.guard_other(square, goal);
        }
        for (island, figure) in self.figures.iter_mut().enumerate() {
            let members = self.islands.members(island);
            figure.loaded = is_loaded(problem, impulse, members, goal);
            figure.slips = slips(problem, (impulse, twist), members, (figure, goal));
        }
        let limit = (GUARD * goal.scale).powi(2);
        self.held.clone_from(&self.absorbed);
        stiffness(problem, &mut self.held);
        let held = !self.held.is_empty();
        let quiet = !small && !held && squares.iter().all(|square| *square <= limit);
        if quiet && self.figures.iter().all(|own| own.excess(goal) <= 1.0) {
            return;
        }
        let (figures, islands) = (&mut self.figures, &self.islands);
        relative_speeds(problem, twist, &mut self.speed, |contact, speed| {
            if impulse[contact] != DVec3::ZERO || squares[contact] != 0.0 {
                figures[islands.of_contact[contact] as usize].speed += speed.powi(2);
            }
        });
        // What is less than may be left between bodies at rest is no worse between others.
        let doubtful = |square: f64| small || held || square > limit || square.is_nan();
        for (contact, square) in squares.iter().enumerate() {
            if !doubtful(*square) {
                continue;
            }
            let figure = &mut self.figures[self.islands.of_contact[contact] as usize];
            let scale = figure.guard_scale(goal);
            let guard = over_guard(problem, contact, *square, scale, &self.speed);
            let stiff = (&self.held[..], twist, of_step.scaled);
            let force = over_force(problem, contact, *square, stiff);
            figure.held |= force > 0.0;
            figure.guard = figure.guard.max(guard).max(force);
        }
    }

    /// The figure of the island that was taken out, whose contacts are `members`.
    fn judge_extract(&mut self, island: usize, (of_step, goal): (&Goal, &VelocityGoal)) -> Figure {
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
        let contacts = natural_map::squares_of_others(&view, &self.extract.impulse, twist);
        for (other, square, pressed) in contacts {
            let member = members[first + other];
            figure.add(member, square, [pressed, self.cold[member as usize]]);
            figure.guard_other(square, goal);
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

    /// Takes an island out and solves it on. What it is in the end, if it still misses the goal.
    fn solve_island(
        &mut self,
        step: &Step,
        (island, impulse): (usize, &[DVec3]),
        report: &mut SolverReport,
    ) -> Result<Option<SolverStatus>, ProblemError> {
        // Islands share no body that impulses move: those of the others do not matter.
        let (members, free) = (self.islands.members(island), step.problem.free_twist);
        let whole = self.islands.of_contact.len() as f64;
        let (part, few) = (members.len() as f64 / whole, members.len() <= FEW_HELD);
        self.extract.take(step.problem, members, free, impulse);
        let mut solver = self.solver.take().unwrap_or_default();
        let mut outcome = None;
        let jointed = self.jointed[island];
        if step.round(report).max_sweeps > 0 && !jointed && !(self.figures[island].held && few) {
            outcome = self.without_solution((report.iterations, false), step.velocity);
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
            solver.settings = step.round(report);
            let aimed = figure.is_aimed(step.velocity);
            if aimed {
                let most = &mut solver.settings;
                most.max_sweeps = most.max_sweeps.min(SWEEPS_OF_AIMED);
                most.max_factorizations = most.max_factorizations.min(NEWTON_OF_AIMED);
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
            report.iterations += (made.iterations as f64 * part).ceil() as usize;
            report.factorizations += made.factorizations;
            report.restarts += made.restarts;
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
            if reached < excess && (!aimed || next.is_steadier()) {
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
    fn jams(
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
    fn solve_extract(
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

    /// An impulse of the island that was taken out is far beyond what its drives may give, what its joints ask for, and what stops all of its bodies, with what
    /// springs hold them with, from the largest free speed at a contact, or turns them round to the largest that one asks for: they jam.
    fn is_overloaded(&mut self, goal: &VelocityGoal) -> bool {
        let view = self.extract.view();
        relative_speeds(&view, view.free_twist, &mut self.speed, |_, _| {});
        let fastest = self.speed.iter().copied().fold(goal.scale, f64::max);
        let asked = view.contacts.iter().map(|contact| -contact.offset.x);
        let fastest = asked.fold(fastest, f64::max);
        let moving = view.inverse_mass.iter().filter(|mass| mass.linear > 0.0);
        let mass = moving.map(|mass| 1.0 / mass.linear).sum::<f64>() + mass_of_springs(&view);
        let largest = largest(&view, &self.extract.impulse).sqrt();
        let others = driven(&view) + asked_by_joints(&view);
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
}

impl Step<'_> {
    /// What the next round of an island may cost.
    fn round(&self, spent: &SolverReport) -> AutoSettings {
        let AutoSettings {
            first,
            max_sweeps,
            max_factorizations,
        } = *self.settings;
        let left = max_sweeps.saturating_sub(spent.iterations).min(SWEEPS);
        AutoSettings {
            first: NsgsSettings {
                max_sweeps: left,
                ..first
            },
            max_sweeps: left,
            max_factorizations: max_factorizations.saturating_sub(spent.factorizations),
        }
    }
}
