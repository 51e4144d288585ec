//! The solve of one island with joints: fold, factorise, condense or alternate, recover, judge.

use super::alternate::{self, Alternate};
use super::condensed::Condensed;
use super::joints::{Joints, is_equality};
use super::shares::{Shares, may_share};
use crate::auto::{AutoSettings, Stage, gain, keep_driven, take_back};
use crate::law::list::{rows_of, rows_of_mut};
use crate::newton::space::NEWTON_STEPS;
use crate::problem::{FactoredProblem, Interaction, ProblemError, WorldTwist};
use crate::{Auto, Goal, Law, Residual, SolverReport, SolverStatus, natural_map};
use glam::DVec3;
use std::ops::Range;

/// Part of its bounds within which a motor's last impulse must be for the motor to count as an equality.
const WITHIN: f64 = 0.9;
/// The same of a ball: what slips is at its bound to rounding, and what held holds on, exactly.
const HOLDS: f64 = 1.0 - 1e-9;
/// Rounds of folding; in the last one nothing is folded.
const ROUNDS: usize = 8;
/// Solves of the condensed problem, each with a goal that follows from what the last one left by the definition.
const ATTEMPTS: usize = 4;
/// Sweeps and factorisations after which such a solve is first judged by the definition: light bodies on joints count there as if they were free, and what the condensed problem takes for an
/// error may be none.
const FIRST_LOOK: [usize; 2] = [200, 20];
/// Largest velocity left in a joint for which no further solve with the factor is made, m/s or rad/s; …
const EXACT: f64 = 1e-12;
/// … and how many are made at most beyond the two.
const REFINEMENTS: usize = 3;
/// Velocity that may be left in a joint, m/s or rad/s (or of what the joints are asked for, if that is more).
const HELD: f64 = 1e-10;
/// Part of what joints are asked for beyond which what is left is a contradiction among them.
const CONTRADICTED: f64 = 1e-6;
/// Part of the multipliers, as velocities, below which what is left is their rounding. Those of a contradiction are at `1/ε`, and leave more.
const ROUNDING: f64 = 1e-14;
/// Triples of the rows that remain beyond which the condensed problem is not even thought of: its matrix is dense.
const MOST_COLUMNS: usize = 128;
/// Residuals that sweeps take long to reach, …
const TIGHT: f64 = 1e-6;
/// … and so many triples for which Newton on the dense matrix gets there sooner.
const FOR_NEWTON: usize = 100;

/// Buffers of the solve, reused from island to island.
#[derive(Debug, Default)]
pub(crate) struct Solver {
    three: Parts<3>,
    six: Parts<6>,
    shared: Shared,
}

/// What depends on the size of the blocks.
#[derive(Debug, Default)]
struct Parts<const N: usize> {
    joints: Joints<N>,
    condensed: Condensed<N>,
}

/// What does not.
#[derive(Debug, Default)]
struct Shared {
    is_joint: Vec<bool>,
    /// Interactions whose impulse is known, and those that are this or joints.
    is_given: Vec<bool>,
    is_out: Vec<bool>,
    /// The warm start.
    start: Vec<DVec3>,
    impulse: Vec<DVec3>,
    scratch: Vec<WorldTwist>,
    solver: Option<Box<Auto>>,
    shares: Shares,
    alternate: Alternate,
    path: Vec<Stage>,
}

/// What is to be reached, and at what cost.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) goal: &'a Goal<'a>,
    pub(super) settings: &'a AutoSettings,
    pub(super) shared: bool,
}

impl Solver {
    /// Solves an island with joints in place; `twist` receives `v_free + Ŵ Gᵀ r`. `None` if its joints are too many for a factorisation:
    /// bodies with thousands of them. `shared`: on the threads of the pool.
    pub(crate) fn solve(
        &mut self,
        problem: &FactoredProblem,
        (impulse, twist): (&mut [DVec3], &mut Vec<WorldTwist>),
        (goal, settings): (&Goal, &AutoSettings),
        shared: bool,
    ) -> Result<Option<SolverReport>, ProblemError> {
        let task = Task {
            goal,
            settings,
            shared,
        };
        let own = &mut self.shared;
        own.path.clear();
        own.is_joint.clear();
        own.is_joint.extend(fold(problem, impulse));
        own.is_given.clear();
        own.is_given.extend(give(problem, impulse));
        let joints = problem.interactions.iter();
        let small = joints
            .clone()
            .all(|other| !is_equality(&other.law) || other.law.rows() <= 3);
        if small {
            self.three.solve(own, problem, (impulse, twist), &task)
        } else {
            self.six.solve(own, problem, (impulse, twist), &task)
        }
    }

    /// The stages of the last solve.
    pub(crate) fn path(&self) -> &[Stage] {
        &self.shared.path
    }
}

/// Which interactions have one impulse that their law allows: it is theirs from now on.
fn give<'a>(
    problem: &'a FactoredProblem,
    impulse: &'a mut [DVec3],
) -> impl Iterator<Item = bool> + 'a {
    let others = problem.others().enumerate();
    others.map(|(index, (range, other))| {
        let next = problem.interactions.get(index + 1);
        let is_linked = other.linked || next.is_some_and(|next| next.linked);
        match &other.law {
            Law::Interval(law) if law.high <= law.low && !is_linked => {
                impulse[range.start].x = law.low;
                true
            }
            _ => false,
        }
    })
}

/// Which interactions count as joints, given the last impulses.
fn fold<'a>(problem: &'a FactoredProblem, impulse: &'a [DVec3]) -> impl Iterator<Item = bool> + 'a {
    problem.others().map(|(range, other)| match &other.law {
        Law::Equality(_) => true,
        Law::Interval(law) => {
            let (mid, half) = (0.5 * (law.low + law.high), 0.5 * (law.high - law.low));
            half == f64::INFINITY && mid.is_nan()
                || (impulse[range.start].x - mid).abs() < WITHIN * half && half.is_finite()
        }
        Law::Ball(law) => impulse[range.start].length() < HOLDS * law.radius,
        _ => false,
    })
}

impl<const N: usize> Parts<N> {
    fn solve(
        &mut self,
        own: &mut Shared,
        problem: &FactoredProblem,
        (impulse, twist): (&mut [DVec3], &mut Vec<WorldTwist>),
        task: &Task,
    ) -> Result<Option<SolverReport>, ProblemError> {
        let mut total = SolverReport::default();
        own.start.clear();
        own.start.extend_from_slice(impulse);
        let mut pressed = false;
        for round in 1..=ROUNDS {
            if round == ROUNDS {
                let only = problem
                    .interactions
                    .iter()
                    .map(|other| is_equality(&other.law));
                own.is_joint.clear();
                own.is_joint.extend(only);
            }
            if !self.joints.load(problem, &own.is_joint) {
                return Ok(None);
            }
            own.is_out.clear();
            let out = own.is_joint.iter().zip(&own.is_given);
            own.is_out
                .extend(out.map(|(is_joint, is_given)| is_joint | is_given));
            let rest = problem.interactions.iter().zip(&own.is_out);
            let rest = rest.filter(|(_, is_out)| !**is_out);
            let columns =
                problem.contacts.len() + rest.map(|(other, _)| other.triples()).sum::<usize>();
            let made = if columns == 0 {
                let residual = recover(&mut self.joints, problem, impulse, twist);
                SolverReport {
                    residual,
                    certificates: 1,
                    ..SolverReport::default()
                }
            } else {
                self.solve_rest(own, problem, (impulse, twist), (task, columns))?
            };
            total.iterations += made.iterations;
            total.factorizations += made.factorizations;
            total.restarts += made.restarts;
            total.certificates += made.certificates;
            total.residual = made.residual;
            total.status = made.status;
            let solved = is_solved(&made, task);
            let was_pressed = std::mem::take(&mut pressed);
            // Newton finds which motors are at their bounds; sweeps alone are led there.
            let is_led = round == 1 && task.settings.max_factorizations == 0;
            if is_led && failed(&made) && press(problem, &mut own.is_joint, impulse) {
                pressed = true;
            } else if !solved && (unfold_all(problem, &mut own.is_joint) || was_pressed) {
                // What is folded may leave nothing to move: from the start again without.
                impulse.copy_from_slice(&own.start);
            } else if !unfold(problem, &mut own.is_joint, impulse) {
                break;
            }
        }
        let mut asked = self.joints.asked;
        // The residual is relative: beside large impulses of joints or adhesion what does work is small.
        let may_gain = || !problem.pull.is_empty() || gain(problem, impulse, twist) > 0.0;
        if (!is_solved(&total, task) || may_gain()) && self.lower(own, problem, (impulse, twist)) {
            total.residual = recover(&mut self.joints, problem, impulse, twist);
            total.certificates += 1;
            asked = self.joints.asked;
        }
        let left = total.residual.constraint_velocity;
        let rounding = total.residual.constraint <= ROUNDING;
        if left > HELD && left > CONTRADICTED * asked && !rounding {
            // The factor leaves nothing but what no multiplier changes.
            total.status = SolverStatus::Infeasible;
        } else if is_solved(&total, task) && (left <= HELD * asked.max(1.0) || rounding) {
            total.status = SolverStatus::Converged;
        } else if total.status == SolverStatus::Converged {
            total.status = SolverStatus::Stopped;
        }
        Ok(Some(total))
    }

    /// Takes the impulses of contacts, limits and friction on a machine back to where they do no work, as those of other islands: with the joints eliminated the problem is one of
    /// sets that contain 0, whose `q` are the velocities under the joints and what drives the machine. True if there was something to take back; the multipliers are to follow.
    fn lower(
        &mut self,
        own: &mut Shared,
        problem: &FactoredProblem,
        (impulse, twist): (&mut [DVec3], &[WorldTwist]),
    ) -> bool {
        own.start.copy_from_slice(impulse);
        self.joints.erase(&mut own.start);
        keep_driven(problem, &mut own.start);
        problem.twist_under_triples(&own.start, &mut own.scratch);
        self.joints.gather(&own.scratch);
        self.joints.solve();
        self.joints.scatter(&mut own.scratch);
        take_back(problem, impulse, (&own.scratch, twist))
    }

    /// Solves an island with so many triples of rows beside the joints, one way or the other.
    fn solve_rest(
        &mut self,
        own: &mut Shared,
        problem: &FactoredProblem,
        (impulse, twist): (&mut [DVec3], &mut Vec<WorldTwist>),
        (task, columns): (&Task, usize),
    ) -> Result<SolverReport, ProblemError> {
        let n = columns as f64;
        let possible = columns <= MOST_COLUMNS;
        let cheap = n * n <= n + self.joints.sweep_products();
        let tight = task.goal.scaled <= TIGHT || may_share(problem);
        if possible && (cheap || tight && columns <= FOR_NEWTON) {
            return self.condense(own, problem, (impulse, twist), task);
        }
        let cost = possible.then(|| n * n * n * NEWTON_STEPS / 3.0);
        let (joints, space) = (&mut self.joints, &mut own.alternate);
        let rows = (problem, &own.is_joint[..]);
        let ends = (&mut *impulse, &mut *twist);
        let mut made = alternate::solve(joints, space, rows, ends, (task, cost))?;
        own.path.extend_from_slice(space.path());
        let stopped = made.status == SolverStatus::Stopped;
        if possible && stopped && task.settings.max_factorizations > 0 {
            let next = self.condense(own, problem, (impulse, twist), task)?;
            made = SolverReport {
                iterations: made.iterations + next.iterations,
                factorizations: made.factorizations + next.factorizations,
                restarts: made.restarts + next.restarts,
                certificates: made.certificates + next.certificates,
                ..next
            };
        }
        Ok(made)
    }

    /// Solves the condensed problem.
    fn condense(
        &mut self,
        own: &mut Shared,
        problem: &FactoredProblem,
        (impulse, twist): (&mut [DVec3], &mut Vec<WorldTwist>),
        task: &Task,
    ) -> Result<SolverReport, ProblemError> {
        let Self { joints, condensed } = self;
        own.scratch.clear();
        own.scratch.extend_from_slice(problem.free_twist);
        push_given(problem, &own.is_given, impulse, &mut own.scratch);
        joints.gather(&own.scratch);
        joints.solve();
        joints.scatter(&mut own.scratch);
        condensed.build(problem, &own.is_out, joints, &own.scratch);
        let mut solver = own.solver.take().unwrap_or_default();
        let mut total = SolverReport::default();
        let mut target = task.goal.scaled;
        for attempt in 0..ATTEMPTS {
            let rows = condensed.source.iter();
            own.impulse.clear();
            own.impulse
                .extend(rows.map(|triple| impulse[*triple as usize]));
            if attempt == 0 {
                own.shares.start(condensed, problem, &mut own.impulse);
            }
            let goal = Goal {
                scaled: target,
                ..*task.goal
            };
            let budget = &mut solver.settings;
            *budget = *task.settings;
            budget.max_sweeps = budget.max_sweeps.saturating_sub(total.iterations);
            let is_look = attempt == 0 && budget.max_factorizations > FIRST_LOOK[1];
            if is_look {
                budget.max_sweeps = budget.max_sweeps.min(FIRST_LOOK[0]);
                budget.max_factorizations = FIRST_LOOK[1];
            }
            let made = solver.solve_in(&condensed.stored, None, &mut own.impulse, &goal);
            own.path.extend_from_slice(solver.path());
            for (triple, r) in condensed.source.iter().zip(&own.impulse) {
                impulse[*triple as usize] = *r;
            }
            total.residual = recover(joints, problem, impulse, twist);
            total.iterations += made.iterations;
            total.factorizations += made.factorizations;
            total.restarts += made.restarts;
            total.certificates += made.certificates + 1;
            // That impulses grow is for a whole solve to say.
            total.status = match made.status {
                SolverStatus::Unbounded if is_look => SolverStatus::Stopped,
                status => status,
            };
            let excess = task.goal.excess(&total.residual);
            let solved = made.status == SolverStatus::Converged;
            let is_cut = is_look && made.status != SolverStatus::Infeasible;
            // What is folded and beyond its bounds is no solution, however far this is solved.
            let is_vain = beyond(problem, &own.is_joint, impulse);
            if excess <= 1.0 || is_vain || !(solved || is_cut) || solved && target == 0.0 {
                break;
            }
            if !solved {
                continue;
            }
            target *= 0.3 / excess;
            condensed.refine(problem, &own.is_out, &own.impulse, twist);
        }
        own.solver = Some(solver);
        Ok(total)
    }
}

/// `v_free + M⁻¹Gᵀr` of what is given.
fn push_given(
    problem: &FactoredProblem,
    is_given: &[bool],
    impulse: &[DVec3],
    twist: &mut [WorldTwist],
) {
    for ((range, other), _) in problem.others().zip(is_given).filter(|(_, given)| **given) {
        let push = impulse[range.start].x;
        for (side, body) in other.bodies.into_iter().enumerate() {
            let mass = &problem.inverse_mass[body as usize];
            let [linear, angular] = other.lever(0, side);
            let twist = &mut twist[body as usize];
            twist.linear += linear * (mass.linear * push);
            twist.angular += mass.angular * (angular * push);
        }
    }
}

/// There is no solution, or the impulses grow without bound.
fn failed(made: &SolverReport) -> bool {
    matches!(
        made.status,
        SolverStatus::Infeasible | SolverStatus::Unbounded
    )
}

/// The goal is reached, by the definition.
fn is_solved(made: &SolverReport, task: &Task) -> bool {
    !failed(made) && task.goal.excess(&made.residual) <= 1.0
}

/// Where folded motors leave nothing to move, impulses grow along a direction that moves nothing, by which motors press on what
/// resists. It is followed to where the first of them is at its bound: what presses on what cannot give way does so with all that it has. Those
/// that are near their bounds there are put back among the rows that remain. False, and nothing is done, if no bound is ahead.
fn press(problem: &FactoredProblem, is_joint: &mut [bool], impulse: &mut [DVec3]) -> bool {
    let ahead = |(range, other): (Range<usize>, &Interaction)| {
        let r = impulse[range.start];
        let factor = match &other.law {
            Law::Interval(law) => (law.low / r.x).max(law.high / r.x),
            Law::Ball(law) => law.radius / r.length(),
            _ => f64::INFINITY,
        };
        (factor.is_finite() && factor > 0.0).then_some(factor)
    };
    let folded = problem.others().zip(&*is_joint);
    let folded = folded.filter(|(_, is_joint)| **is_joint);
    let factor = folded
        .filter_map(|(other, _)| ahead(other))
        .fold(f64::INFINITY, f64::min);
    if factor.is_infinite() || !impulse.iter().all(|r| (*r * factor).is_finite()) {
        return false;
    }
    for r in impulse.iter_mut() {
        *r *= factor;
    }
    for (range, other) in problem.others() {
        let rows = &mut rows_of_mut(&mut impulse[range])[..other.law.rows()];
        other.law.project(rows);
    }
    for (is_joint, folds) in is_joint.iter_mut().zip(fold(problem, impulse)) {
        *is_joint &= folds;
    }
    true
}

/// Puts all motors back among the rows that remain; true if some were not.
fn unfold_all(problem: &FactoredProblem, is_joint: &mut [bool]) -> bool {
    let mut any = false;
    for (other, is_joint) in problem.interactions.iter().zip(is_joint) {
        any |= *is_joint && !is_equality(&other.law);
        *is_joint = is_equality(&other.law);
    }
    any
}

/// A folded motor is beyond its bounds.
pub(super) fn beyond(problem: &FactoredProblem, is_joint: &[bool], impulse: &[DVec3]) -> bool {
    let folded = problem.others().zip(is_joint);
    let mut folded = folded.filter(|(_, is_joint)| **is_joint);
    folded.any(|((range, other), _)| {
        other
            .law
            .violation(&rows_of(&impulse[range])[..other.law.rows()])
            > 0.0
    })
}

/// Puts motors beyond their bounds back among the rows that remain; true if there are any.
fn unfold(problem: &FactoredProblem, is_joint: &mut [bool], impulse: &mut [DVec3]) -> bool {
    let mut any = false;
    for ((range, other), is_joint) in problem.others().zip(is_joint) {
        let rows = &mut rows_of_mut(&mut impulse[range])[..other.law.rows()];
        // Equalities have no bounds.
        if *is_joint && other.law.violation(rows) > 0.0 {
            other.law.project(rows);
            *is_joint = false;
            any = true;
        }
    }
    any
}

/// Given all other impulses, the multipliers of the joints and the twists; the residual of what is returned.
pub(super) fn recover<const N: usize>(
    joints: &mut Joints<N>,
    problem: &FactoredProblem,
    impulse: &mut [DVec3],
    twist: &mut Vec<WorldTwist>,
) -> Residual {
    joints.erase(impulse);
    problem.twist_under_triples(impulse, twist);
    joints.gather(twist);
    joints.solve();
    joints.write(impulse);
    let mut residual = natural_map::factored_triples(problem, impulse, twist);
    for _ in 0..REFINEMENTS {
        let left = residual.constraint_velocity;
        if left <= EXACT || left.is_nan() {
            break;
        }
        // From the twists as the judge forms them.
        let before = joints.lambda.clone();
        joints.gather(twist);
        joints.correct();
        joints.write(impulse);
        let next = natural_map::factored_triples(problem, impulse, twist);
        if next.constraint_velocity >= 0.5 * left {
            if next.constraint_velocity >= left {
                joints.lambda = before;
                joints.write(impulse);
                residual = natural_map::factored_triples(problem, impulse, twist);
            } else {
                residual = next;
            }
            break;
        }
        residual = next;
    }
    if residual.constraint_velocity > EXACT {
        // Light bodies between heavy ones: the twists know what is left better than multipliers can tell.
        joints.gather(twist);
        let kept = joints.lambda.clone();
        joints.correct();
        joints.correct();
        joints.lambda = kept;
        joints.scatter(twist);
    }
    residual
}
