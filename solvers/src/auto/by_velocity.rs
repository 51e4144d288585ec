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
//! grow upwards: what is left at their contacts adds up from body to body, and sweeps leave it in the same direction in every step. So it does in all that is
//! tall ([`layers`]), and where few contacts hold by little ([`figure::slips`]).

mod figure;
mod island;
mod layers;
mod load;
mod mend;
mod work;

use super::clusters::Clusters;
use super::spent::Spent;
use super::spread::Spread;
use super::{Auto, AutoSettings};
use crate::islands::{Extract, Islands};
use crate::problem::{FactoredProblem, ProblemError, WorldTwist, check_warm_start};
use crate::{Goal, Law, SolverReport, SolverStatus, natural_map};
use figure::{
    Figure, GUARD, are_unequal, gyration, is_loaded, over_force, over_guard, relative_speeds,
    slips, some_are_unequal_or_small, stiffness,
};
use glam::DVec3;
use layers::Layers;
use load::may_jam;
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

/// Contacts of an island up to which it is solved before a look: its work is worth less than the sweeps of larger ones.
const FEW_BEFORE_A_LOOK: usize = 300;

/// Buffers of the figure and of the solves that follow from it.
#[derive(Debug, Default)]
pub(super) struct ByVelocity {
    islands: Islands,
    layers: Layers,
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
        let mut spent = Spent::at(report);
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
            if !reached && !heavy && step.round(spent.before()).max_sweeps == 0 {
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
            let outcome = self.solve_island(step, (island, impulse), (&mut spent, report))?;
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
        for other in natural_map::squares_of_others(problem, impulse, twist) {
            let place = first + other.index;
            let figure = &mut self.figures[self.islands.of_contact[place] as usize];
            let known = [other.pressed, self.cold[place]];
            figure.add_other(place as u32, &other, (known, goal));
        }
        self.layers.reset(problem.inverse_mass.len());
        for (island, figure) in self.figures.iter_mut().enumerate() {
            let members = self.islands.members(island);
            figure.loaded = is_loaded(problem, impulse, members, goal);
            figure.slips = slips(problem, (impulse, twist), members, (figure, goal));
            figure.adds_up = self.layers.add_up(problem, impulse, members);
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
}
