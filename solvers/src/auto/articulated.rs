//! Factored problems with joints: islands with equalities are solved by [`crate::articulation`], all others as ever.
//!
//! The islands without equalities stay together and keep their bodies: what becomes of them is what would become of them if the
//! others were not there. Each of the others is a problem of its own. The goal is one for the whole: if it is missed although every part
//! reached it, all are solved on to a part of it.

use super::{Auto, AutoSettings, Stage};
use crate::articulation;
use crate::islands::{Extract, Islands};
use crate::problem::{Contact, FactoredProblem, Interaction, ProblemError, WorldTwist};
use crate::{Goal, Law, SolverReport, SolverStatus, infeasibility, natural_map};
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Solves of all parts.
const ROUNDS: usize = 3;

/// Interactions from which on islands are solved on several threads.
const WORTH_THREADS: usize = 200;
/// Parts of equal numbers of islands, on any number of threads.
const PARTS: usize = 16;

/// Code under a lock does not panic, so a poisoned lock is still sound.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// Buffers of one part of the islands, and what it came to.
#[derive(Debug, Default)]
struct Worker {
    extract: Extract,
    solver: articulation::Solver,
    twist: Vec<WorldTwist>,
    /// Triples and bodies of the whole.
    impulse: Vec<(u32, DVec3)>,
    ends: Vec<(u32, WorldTwist)>,
    made: Vec<(u32, Option<SolverReport>)>,
    path: Vec<Stage>,
}

/// What the workers read.
struct Task<'a> {
    problem: &'a FactoredProblem<'a>,
    islands: &'a Islands,
    first_triples: &'a [u32],
    impulse: &'a [DVec3],
    goal: &'a Goal<'a>,
    settings: &'a AutoSettings,
}

impl Worker {
    /// Solves some islands, one by one.
    fn run(&mut self, task: &Task, islands: &[u32]) -> Result<(), ProblemError> {
        self.impulse.clear();
        self.ends.clear();
        self.made.clear();
        self.path.clear();
        for island in islands {
            let members = task.islands.members(*island as usize);
            let state = (task.problem.free_twist, task.impulse);
            let extract = &mut self.extract;
            extract.take_given(task.problem, members, state, task.first_triples);
            let mut own = std::mem::take(&mut extract.impulse);
            let ends = (&mut own[..], &mut self.twist);
            let what = (task.goal, task.settings);
            let made = self.solver.solve(&extract.view(), ends, what, false)?;
            self.path.extend_from_slice(self.solver.path());
            if made.is_some() {
                let source = extract.source.iter().copied();
                self.impulse.extend(source.zip(own.iter().copied()));
                let bodies = extract.bodies().iter().copied();
                self.ends.extend(bodies.zip(self.twist.iter().copied()));
            }
            extract.impulse = own;
            self.made.push((*island, made));
        }
        Ok(())
    }
}

/// Buffers.
#[derive(Debug, Default)]
pub(super) struct Articulated {
    islands: Islands,
    workers: Vec<Mutex<Worker>>,
    jointed: Vec<u32>,
    first_triples: Vec<u32>,
    has_joints: Vec<bool>,
    contacts: Vec<Contact>,
    interactions: Vec<Interaction>,
    /// Triples of the whole of the part without joints, and its impulse.
    source: Vec<u32>,
    impulse: Vec<DVec3>,
    twist: Vec<WorldTwist>,
    path: Vec<Stage>,
}

/// What the parts of a round came to.
#[derive(Default)]
struct Sum {
    report: SolverReport,
    /// Sweeps over the whole problem.
    sweeps: f64,
    converged: bool,
}

impl Sum {
    /// Adds what a part of the whole took.
    fn add(&mut self, made: &SolverReport, part: f64) {
        self.sweeps += made.iterations as f64 * part;
        let report = &mut self.report;
        report.factorizations += made.factorizations;
        report.restarts += made.restarts;
        report.certificates += made.certificates;
        self.converged &= made.converged();
        if rank(made.status) > rank(report.status) {
            report.status = made.status;
        }
    }
}

/// Which status tells most of the whole.
fn rank(status: SolverStatus) -> usize {
    match status {
        SolverStatus::Converged => 0,
        SolverStatus::Stopped => 1,
        SolverStatus::TimedOut => 2,
        SolverStatus::Cancelled => 3,
        SolverStatus::Ray => 4,
        SolverStatus::Unbounded => 5,
        SolverStatus::NoSolution => 6,
        SolverStatus::Infeasible => 7,
    }
}

impl Auto {
    /// The solve of a problem with equalities.
    pub(super) fn solve_articulated(
        &mut self,
        problem: &FactoredProblem,
        impulse: &mut [DVec3],
        twist: &mut Vec<WorldTwist>,
        goal: &Goal,
        shared: bool,
    ) -> Result<SolverReport, ProblemError> {
        problem.validate_contacts()?;
        let mut own = self.articulated.take().unwrap_or_default();
        let made = own.solve(self, problem, (impulse, twist), (goal, shared));
        self.articulated = Some(own);
        self.best_is_last = false;
        let mut report = made?;
        // In no island is a joint between bodies that nothing moves.
        if infeasibility::has_dead_row(problem) {
            report.status = SolverStatus::Infeasible;
        }
        let history = &mut self.sweeps.history;
        history.clear();
        history.record(report.iterations, report.factorizations, &report.residual);
        Ok(report)
    }
}

impl Articulated {
    fn solve(
        &mut self,
        auto: &mut Auto,
        problem: &FactoredProblem,
        (impulse, twist): (&mut [DVec3], &mut Vec<WorldTwist>),
        (goal, shared): (&Goal, bool),
    ) -> Result<SolverReport, ProblemError> {
        self.islands.find(problem);
        self.has_joints.clear();
        self.has_joints.resize(self.islands.count, false);
        let of_others = &self.islands.of_contact[problem.contacts.len()..];
        for (other, island) in problem.interactions.iter().zip(of_others) {
            self.has_joints[*island as usize] |= matches!(other.law, Law::Equality(_));
        }
        self.path.clear();
        let mut sum = Sum::default();
        let mut part = 1.0;
        for round in 1..=ROUNDS {
            let goal = Goal {
                scaled: part * goal.scaled,
                fclib: part * goal.fclib,
                ..*goal
            };
            sum.converged = true;
            sum.report.status = SolverStatus::Converged;
            self.solve_islands(
                auto,
                problem,
                (&mut *impulse, &mut *twist),
                &goal,
                (shared, &mut sum),
            )?;
            self.solve_plain(auto, problem, impulse, &goal, (shared, &mut sum))?;
            if !self.is_alone(problem) {
                sum.report.residual = natural_map::factored_triples(problem, impulse, twist);
                self.take_over_twists(problem, twist);
            }
            let excess = goal.excess(&sum.report.residual) * part;
            if !sum.converged || round == ROUNDS || excess <= 1.0 {
                if excess > 1.0 && sum.report.status == SolverStatus::Converged {
                    sum.report.status = SolverStatus::Stopped;
                }
                break;
            }
            part *= 0.5 / excess;
        }
        auto.path.clear();
        auto.path.append(&mut self.path);
        sum.report.iterations = sum.sweeps.ceil() as usize;
        Ok(sum.report)
    }

    /// The whole is one island with joints: what its solver returns is judged already.
    fn is_alone(&self, problem: &FactoredProblem) -> bool {
        self.has_joints.first() == Some(&true) && self.islands.members(0).len() == problem.len()
    }

    /// The islands with joints, several at a time if there is a pool and enough of them.
    fn solve_islands(
        &mut self,
        auto: &Auto,
        problem: &FactoredProblem,
        (impulse, twist): (&mut [DVec3], &mut Vec<WorldTwist>),
        goal: &Goal,
        (shared, sum): (bool, &mut Sum),
    ) -> Result<(), ProblemError> {
        let settings = &auto.settings;
        self.workers
            .resize_with(self.workers.len().max(1), Mutex::default);
        if self.is_alone(problem) {
            let solver = &mut get_mut(&mut self.workers[0]).solver;
            let made = solver.solve(problem, (impulse, twist), (goal, settings), shared)?;
            self.path.extend_from_slice(solver.path());
            match made {
                Some(made) => {
                    sum.add(&made, 1.0);
                    sum.report.residual = made.residual;
                }
                None => self.has_joints[0] = false,
            }
            return Ok(());
        }
        for worker in &mut self.workers {
            get_mut(worker).ends.clear();
        }
        self.jointed.clear();
        let all = (0..self.islands.count as u32).zip(&self.has_joints);
        self.jointed
            .extend(all.filter(|(_, has)| **has).map(|(island, _)| island));
        self.first_triples.clear();
        let others = problem.others().map(|(range, _)| range.start as u32);
        self.first_triples.extend(others);
        let pool = rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1;
        let members = |island: &u32| self.islands.members(*island as usize).len();
        let work: usize = self.jointed.iter().map(members).sum();
        let parts = if pool && work >= WORTH_THREADS {
            self.jointed.len().min(PARTS)
        } else {
            1
        };
        self.workers
            .resize_with(self.workers.len().max(parts), Mutex::default);
        let each = self.jointed.len().div_ceil(parts).max(1);
        let parts: Vec<&[u32]> = self.jointed.chunks(each).collect();
        let task = Task {
            problem,
            islands: &self.islands,
            first_triples: &self.first_triples,
            impulse,
            goal,
            settings,
        };
        let run = |part: usize| lock(&self.workers[part]).run(&task, parts[part]);
        if parts.len() > 1 {
            let all = (0..parts.len()).into_par_iter().with_max_len(1);
            let ends: Vec<_> = all.map(run).collect();
            ends.into_iter().collect::<Result<(), _>>()?;
        } else {
            (0..parts.len()).try_for_each(run)?;
        }
        let parts = parts.len();
        for worker in &mut self.workers[..parts] {
            let worker = get_mut(worker);
            for (triple, r) in &worker.impulse {
                impulse[*triple as usize] = *r;
            }
            self.path.extend_from_slice(&worker.path);
            for (island, made) in &worker.made {
                let island = *island as usize;
                let part = self.islands.members(island).len() as f64 / problem.len() as f64;
                match made {
                    Some(made) => sum.add(made, part),
                    // Too expensive to factorise: with the others.
                    None => self.has_joints[island] = false,
                }
            }
        }
        Ok(())
    }

    /// The twists of the islands with joints as their solvers left them: those that follow from the multipliers have their rounding.
    fn take_over_twists(&self, problem: &FactoredProblem, twist: &mut [WorldTwist]) {
        for worker in &self.workers {
            for (body, own) in &lock(worker).ends {
                if !problem.inverse_mass[*body as usize].is_fixed() {
                    twist[*body as usize] = *own;
                }
            }
        }
    }

    /// Everything else, as one problem.
    fn solve_plain(
        &mut self,
        auto: &mut Auto,
        problem: &FactoredProblem,
        impulse: &mut [DVec3],
        goal: &Goal,
        (shared, sum): (bool, &mut Sum),
    ) -> Result<(), ProblemError> {
        if self.has_joints.iter().all(|has| *has) {
            return Ok(());
        }
        let of_contact = &self.islands.of_contact;
        let is_plain = |k: usize| !self.has_joints[of_contact[k] as usize];
        self.contacts.clear();
        self.interactions.clear();
        self.source.clear();
        for (k, contact) in problem.contacts.iter().enumerate() {
            if is_plain(k) {
                self.contacts.push(*contact);
                self.source.push(k as u32);
            }
        }
        for (k, (range, other)) in problem.others().enumerate() {
            if is_plain(problem.contacts.len() + k) {
                self.interactions.push(*other);
                let range: Range<u32> = range.start as u32..range.end as u32;
                self.source.extend(range);
            }
        }
        let plain = FactoredProblem {
            contacts: &self.contacts,
            interactions: &self.interactions,
            pull: &[],
            ..*problem
        };
        self.impulse.clear();
        let own = self.source.iter().map(|triple| impulse[*triple as usize]);
        self.impulse.extend(own);
        let (own, twist) = (&mut self.impulse, &mut self.twist);
        let made = auto.solve_plain(&plain, own, twist, goal, shared)?;
        for (source, r) in self.source.iter().zip(&self.impulse) {
            impulse[*source as usize] = *r;
        }
        self.path.extend_from_slice(&auto.path);
        sum.add(&made, plain.len() as f64 / problem.len() as f64);
        Ok(())
    }
}
