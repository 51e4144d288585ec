//! What all methods for box problems have in common: the judge of iterates, the best of them, limits and the report.

use super::BoxProblem;
use crate::goal::Watch;
use crate::{
    Goal, History, Law, ProblemError, Residual, SolverReport, SolverStatus, StoredProblem,
    infeasibility, natural_map,
};
use std::borrow::Cow;

/// A method for box problems.
pub(crate) trait Method {
    /// Its name in errors.
    const NAME: &'static str;
    /// The method has nothing to do where the start is a solution.
    const MAY_BE_SKIPPED: bool = true;

    /// What the method needs beyond a checked problem.
    fn admits(&self, _: &BoxProblem) -> Result<(), ProblemError> {
        Ok(())
    }

    /// Works on the problem from `trial.best()` and hands iterates to the judge.
    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>);

    /// Buffers of the judge.
    fn memory(&mut self) -> &mut Memory;
}

/// Buffers of the judge, kept from solve to solve.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) history: History,
    best: Vec<f64>,
}

/// A solve in progress.
pub(crate) struct Trial<'a> {
    problem: &'a BoxProblem,
    pub(crate) goal: Goal<'a>,
    pub(crate) report: SolverReport,
    watch: Watch<'a>,
    judge: &'a dyn Fn(&[f64]) -> Residual,
    proves: &'a dyn Fn(&[f64]) -> bool,
    memory: &'a mut Memory,
    excess: f64,
    /// A direction in which the method says that nothing ends: a candidate for a certificate.
    ray: Option<Vec<f64>>,
    /// A search through everything found nothing.
    exhausted: bool,
    /// The last iterate of a method that may diverge.
    last: Option<Vec<f64>>,
}

impl<'a> Trial<'a> {
    /// The best iterate so far, or the start.
    pub(crate) fn best(&self) -> &[f64] {
        &self.memory.best
    }

    /// Judges an iterate and keeps it if it is the best so far; returns how many times too large its residual is. A residual that
    /// is not finite is never kept.
    pub(crate) fn judge(&mut self, z: &[f64]) -> f64 {
        let residual = (self.judge)(z);
        let report = &mut self.report;
        report.certificates += 1;
        let memory = &mut *self.memory;
        memory
            .history
            .record(report.iterations, report.factorizations, &residual);
        let left = left(self.problem, z, &residual) / LARGEST_LEFT;
        let excess = self.goal.excess(&residual).max(left);
        if excess < self.excess {
            self.excess = excess;
            report.residual = residual;
            memory.best.clear();
            memory.best.extend_from_slice(z);
        }
        if excess <= 1.0 {
            report.status = SolverStatus::Converged;
        }
        excess
    }

    /// The goal is reached.
    pub(crate) fn converged(&self) -> bool {
        self.excess <= 1.0
    }

    /// The goal is reached or a limit struck: time to return. Sets the status.
    pub(crate) fn finished(&mut self) -> bool {
        if self.converged() {
            return true;
        }
        match self.watch.stopped() {
            Some(status) => {
                self.report.status = status;
                true
            }
            None => false,
        }
    }

    /// The ray on which a method ended is a certificate that there is no solution.
    pub(crate) fn has_certificate(&self) -> bool {
        self.ray.as_ref().is_some_and(|ray| (self.proves)(ray))
    }

    /// A limit struck, whether the goal is reached or not. Sets the status if it is not.
    pub(crate) fn limit_struck(&mut self) -> bool {
        let Some(status) = self.watch.stopped() else {
            return false;
        };
        if !self.converged() {
            self.report.status = status;
        }
        true
    }

    /// The method ended on a ray of this direction, or found that there is no solution.
    pub(crate) fn end_on_ray(&mut self, direction: Vec<f64>) {
        self.ray = Some(direction);
    }

    /// The method has searched everything and found no solution.
    pub(crate) fn end_exhausted(&mut self) {
        self.exhausted = true;
    }

    /// Where a method that may diverge was at the end.
    pub(crate) fn end_at(&mut self, z: &[f64]) {
        self.last = Some(z.to_vec());
    }
}

/// `√(Σ λz²)` over `√(Σ q²/λ)` up to which the residual alone decides.
const HARMLESS: f64 = 10.0;
/// Part of `q` that may be left of the velocities where `z` is larger.
const LARGEST_LEFT: f64 = 1e-2;

/// Rounding of `M z`, as a part of its terms: beyond 10¹³ it hides `q`, and nothing counts as a solution.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// What is left of the velocities as a part of `q`, if `z` is so large that a residual relative to it may hide that: on a problem without
/// solution `z` grows until every goal is reached. Zero else. Rows with two bounds do not grow, and may be large beside a `q` that is nearly zero: they do not count.
fn left(problem: &BoxProblem, z: &[f64], residual: &Residual) -> f64 {
    let bounds = |row: usize| [problem.low()[row], problem.high()[row]];
    left_of([problem.scales(), problem.q(), z], bounds, residual)
}

fn left_of(
    [scales, q, z]: [&[f64]; 3],
    bounds: impl Fn(usize) -> [f64; 2],
    residual: &Residual,
) -> f64 {
    let (mut size, mut free) = (0.0, 0.0);
    for (row, ((scale, q), z)) in scales.iter().zip(q).zip(z).enumerate() {
        if !is_bounded(bounds(row)) {
            size += z * z * scale;
        }
        free += q * q / scale;
    }
    if size <= HARMLESS * HARMLESS * free || free == 0.0 {
        return 0.0;
    }
    f64::sqrt(size) / f64::sqrt(free) * (residual.whole() + ROUNDING)
}

/// A residual so small that an answer within the goal needs no certificate: see [`conclude`].
pub(crate) fn is_beyond_doubt(
    parts: [&[f64]; 3],
    bounds: impl Fn(usize) -> [f64; 2],
    residual: &Residual,
    goal: &Goal,
) -> bool {
    goal.excess(residual) <= 1.0
        && residual.whole() <= BEYOND_DOUBT
        && left_of(parts, bounds, residual) <= LARGEST_LEFT
}

fn is_bounded(bounds: [f64; 2]) -> bool {
    bounds.iter().all(|bound| bound.is_finite())
}

/// Refuses a matrix with a diagonal entry that is not positive.
pub(crate) fn require_positive_diagonal(
    method: &'static str,
    problem: &BoxProblem,
) -> Result<(), ProblemError> {
    match (0..problem.len()).find(|row| problem.row(*row)[*row] <= 0.0) {
        Some(row) => Err(ProblemError::Property {
            method,
            property: "positive on the diagonal",
            row,
        }),
        None => Ok(()),
    }
}

/// Part of `√(λ_i λ_j)` by which entries may differ that are equal but for rounding.
const SYMMETRY: f64 = 1e-10;

/// Refuses a matrix that is not symmetric.
pub(crate) fn require_symmetry(
    method: &'static str,
    problem: &BoxProblem,
) -> Result<(), ProblemError> {
    match problem.unsymmetric_row(SYMMETRY) {
        Some(row) => Err(ProblemError::Property {
            method,
            property: "symmetric",
            row,
        }),
        None => Ok(()),
    }
}

/// Solves the dense form; the natural map of the stored problem judges.
pub(crate) fn solve_stored<M: Method>(
    method: &mut M,
    problem: &StoredProblem,
    impulse: &mut [f64],
    goal: &Goal,
) -> Result<SolverReport, ProblemError> {
    let dense = BoxProblem::from_stored(problem, M::NAME)?;
    check_start(impulse, dense.len())?;
    method.admits(&dense)?;
    let judge = |z: &[f64]| natural_map::stored(problem, z);
    let stored = |_| Ok(Some(Cow::Borrowed(problem)));
    run(method, &dense, (&judge, &stored), impulse, goal)
}

/// Solves a box problem; the natural map of its rows judges.
pub(crate) fn solve_box<M: Method>(
    method: &mut M,
    problem: &BoxProblem,
    z: &mut [f64],
    goal: &Goal,
) -> Result<SolverReport, ProblemError> {
    check_start(z, problem.len())?;
    method.admits(problem)?;
    let judge = |z: &[f64]| natural_map::boxes(problem, z);
    let stored = |beyond_doubt: bool| {
        let stored = (!beyond_doubt).then(|| problem.to_stored());
        Ok(stored.transpose()?.map(Cow::Owned))
    };
    run(method, problem, (&judge, &stored), z, goal)
}

fn check_start(z: &[f64], rows: usize) -> Result<(), ProblemError> {
    crate::problem::expect_length("impulse", z.len(), rows)?;
    match z.iter().position(|z| !z.is_finite()) {
        Some(index) => Err(ProblemError::NotFinite {
            what: "impulse",
            index,
            value: z[index],
        }),
        None => Ok(()),
    }
}

type Judge<'a> = &'a dyn Fn(&[f64]) -> Residual;
/// The stored form for certificates; of a dense problem none if the answer is beyond doubt.
type Stored<'a> = &'a dyn Fn(bool) -> Result<Option<Cow<'a, StoredProblem>>, ProblemError>;

/// A residual at which only impulses of 10⁸ times those that stop the rows one by one would make a converged solve doubtful
/// ([`infeasibility`]).
const BEYOND_DOUBT: f64 = 1e-10;

fn run<M: Method>(
    method: &mut M,
    problem: &BoxProblem,
    (judge, stored): (Judge<'_>, Stored<'_>),
    z: &mut [f64],
    goal: &Goal,
) -> Result<SolverReport, ProblemError> {
    let mut memory = std::mem::take(method.memory());
    memory.history.clear();
    memory.best.clear();
    memory.best.extend_from_slice(z);
    let proves = |ray: &[f64]| {
        let stored = stored(false).ok().flatten();
        stored.is_some_and(|stored| infeasibility::certificate(&stored, ray).is_some())
    };
    let mut trial = Trial {
        problem,
        proves: &proves,
        goal: *goal,
        report: SolverReport::default(),
        watch: Watch::new(goal),
        judge,
        memory: &mut memory,
        excess: f64::INFINITY,
        ray: None,
        exhausted: false,
        last: None,
    };
    let start = z.to_vec();
    trial.judge(&start);
    if !trial.finished() || !M::MAY_BE_SKIPPED {
        method.run(problem, &mut trial);
    }
    let Trial {
        mut report,
        ray,
        exhausted,
        last,
        ..
    } = trial;
    z.copy_from_slice(&memory.best);
    let stored = stored(report.converged() && report.residual.whole() <= BEYOND_DOUBT)?;
    if let Some(stored) = stored {
        conclude(&stored, z, (ray, last), &mut report);
        if exhausted && matches!(report.status, SolverStatus::Stopped | SolverStatus::Ray) {
            report.status = SolverStatus::NoSolution;
        }
    }
    *method.memory() = memory;
    Ok(report)
}

/// What a certificate says of the end of a solve.
fn conclude(
    problem: &StoredProblem,
    best: &[f64],
    (ray, last): (Option<Vec<f64>>, Option<Vec<f64>>),
    report: &mut SolverReport,
) {
    if let (Some(ray), SolverStatus::Stopped) = (&ray, report.status) {
        report.status = SolverStatus::Ray;
        if infeasibility::certificate(problem, ray).is_some() {
            report.status = SolverStatus::Infeasible;
        }
        return;
    }
    let at = match (&last, report.status) {
        (Some(last), SolverStatus::Stopped) => last,
        _ => best,
    };
    let mut triples = Vec::new();
    problem.laws.pack(at, &mut triples);
    let is_bounded =
        |law: &Law| matches!(law, Law::Interval(law) if is_bounded([law.low, law.high]));
    if problem.laws().iter().all(is_bounded) {
        infeasibility::conclude_bounded(problem, &triples, report);
    } else {
        infeasibility::conclude(problem, &triples, report);
    }
}

/// The public face of a method: [`crate::Solver`], and the same on a [`BoxProblem`].
macro_rules! solver_of_boxes {
    ($method:ty) => {
        impl $method {
            /// Solves a box problem in place: `z` is the start (of methods that have one) and receives the best answer found.
            ///
            /// # Errors
            /// [`crate::ProblemError`] if the start is of the wrong length or not finite, or the method does not admit the problem;
            /// `z` is then unchanged.
            pub fn solve_box(
                &mut self,
                problem: &$crate::complementarity::BoxProblem,
                z: &mut [f64],
                goal: &$crate::Goal,
            ) -> Result<$crate::SolverReport, $crate::ProblemError> {
                $crate::complementarity::method::solve_box(self, problem, z, goal)
            }
        }

        impl $crate::Solver for $method {
            fn solve(
                &mut self,
                problem: &$crate::StoredProblem,
                impulse: &mut [f64],
                goal: &$crate::Goal,
            ) -> Result<$crate::SolverReport, $crate::ProblemError> {
                $crate::complementarity::method::solve_stored(self, problem, impulse, goal)
            }

            fn solve_boxes(
                &mut self,
                problem: $crate::complementarity::Boxes<'_>,
                z: &mut [f64],
                goal: &$crate::Goal,
            ) -> Result<Option<$crate::SolverReport>, $crate::ProblemError> {
                match problem {
                    $crate::complementarity::Boxes::Dense(problem) => {
                        $crate::complementarity::method::solve_box(self, problem, z, goal).map(Some)
                    }
                    $crate::complementarity::Boxes::Sparse(_) => Ok(None),
                }
            }

            fn history(&self) -> &$crate::History {
                &self.memory.history
            }
        }
    };
}

pub(crate) use solver_of_boxes;
