//! Primal–dual active sets: Newton's method on `z − P(z − w/λ) = 0`, begun at a guess of which rows are at their bounds
//! \[HIK03\].
//!
//! ```text
//! repeat   M_BB z_B = −(q_B + M_BN z_N),  z_N at bounds,   w = M z + q
//!          row at low if z − w/λ ≤ low,  at high if z − w/λ ≥ high,  else between
//! until no row changes
//! ```
//!
//! From step to step of a time integration few rows change, and the guess is right: one solve with factors that are kept while `M_BB` stays. For an
//! M-matrix it ends from any start; for others it may cycle, and the caller asks another method. Dense problems have factors with rows exchanged,
//! sparse ones those of `envelope.rs`. What is handed out was judged by the natural map, and is beyond doubt; else nothing is handed out.

mod rows;

use super::basis::State;
use super::dense_lu::DenseLu;
use super::envelope::Envelope;
use super::method::is_beyond_doubt;
use super::{BoxProblem, SparseBoxProblem};
use crate::{Goal, SolverReport, SolverStatus};
use rows::{Factors, Rows};

/// A box problem in one of its two forms.
#[derive(Clone, Copy, Debug)]
pub enum Boxes<'a> {
    /// All entries of `M`.
    Dense(&'a BoxProblem),
    /// Those that are not zero.
    Sparse(&'a SparseBoxProblem),
}

/// Settings of [`PrimalDual`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrimalDualSettings {
    /// Active sets at most. Default 12 for dense problems, which others solve well, and three times as many for sparse ones.
    pub max_sets: usize,
}

impl Default for PrimalDualSettings {
    fn default() -> Self {
        Self { max_sets: 12 }
    }
}

/// The method, the factors of its last active set, and its buffers.
///
/// ```
/// use moreau_solvers::complementarity::{BoxProblem, Boxes, PrimalDual};
/// use moreau_solvers::Goal;
/// let problem = BoxProblem::complementarity(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0])?;
/// let mut z = [1.0; 2];
/// let report = PrimalDual::default().solve(Boxes::Dense(&problem), &mut z, &Goal::scaled(1e-12));
/// assert!(report.is_some_and(|report| report.converged()));
/// assert!((z[0] - 4.0 / 3.0).abs() < 1e-12 && (z[1] - 7.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct PrimalDual {
    /// Settings of the next solve.
    pub settings: PrimalDualSettings,
    states: Vec<State>,
    between: Vec<u32>,
    /// Place of a row among those between; of others `u32::MAX`.
    place: Vec<u32>,
    z: Vec<f64>,
    right: Vec<f64>,
    roots: Vec<f64>,
    dense: DenseLu,
    sparse: Envelope,
    factored: Factored,
}

/// What the factors are of: copies, since no number can stand for a matrix.
#[derive(Debug, Default)]
struct Factored {
    between: Vec<u32>,
    values: Vec<f64>,
    columns: Vec<u32>,
}

impl Factored {
    fn is_of(&self, between: &[u32], (values, columns): (&[f64], &[u32])) -> bool {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        self.between == between
            && self.columns == columns
            && self.values.len() == values.len()
            && self.values.iter().zip(values).all(same)
    }

    fn set(&mut self, between: &[u32], (values, columns): (&[f64], &[u32])) {
        fill(&mut self.between, between);
        fill(&mut self.values, values);
        fill(&mut self.columns, columns);
    }
}

fn fill<T: Copy>(buffer: &mut Vec<T>, with: &[T]) {
    buffer.clear();
    buffer.extend_from_slice(with);
}

impl PrimalDual {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: PrimalDualSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Solves in place: `z` is the start and receives the answer. `None` if there is none within the goal that is beyond doubt, or `z` is of the
    /// wrong length; it is then as it was.
    pub fn solve(
        &mut self,
        problem: Boxes<'_>,
        z: &mut [f64],
        goal: &Goal,
    ) -> Option<SolverReport> {
        let most = self.settings.max_sets;
        match problem {
            Boxes::Dense(problem) => self.run(problem, z, goal, most),
            Boxes::Sparse(problem) => self.run(problem, z, goal, 3 * most),
        }
    }

    #[inline]
    fn run(
        &mut self,
        problem: &impl Rows,
        z: &mut [f64],
        goal: &Goal,
        most: usize,
    ) -> Option<SolverReport> {
        let n = problem.q().len();
        if z.len() != n {
            return None;
        }
        let mut report = SolverReport::default();
        if n == 1 {
            let (diagonal, q) = (problem.entries().0.first()?, problem.q()[0]);
            report.iterations = 1;
            self.z.clear();
            self.z.push(-q / diagonal);
            if *diagonal > 0.0 {
                return self.finish(problem, z, goal, report);
            }
        }
        self.guess(problem, z);
        loop {
            report.iterations += 1;
            if !self.point(problem, &mut report) {
                return None;
            }
            if !self.change(problem) {
                break;
            }
            if report.iterations >= most {
                return None;
            }
        }
        self.finish(problem, z, goal, report)
    }

    /// Brings the answer into its bounds, and hands it out if the judge has no doubt.
    #[inline]
    fn finish(
        &mut self,
        problem: &impl Rows,
        z: &mut [f64],
        goal: &Goal,
        mut report: SolverReport,
    ) -> Option<SolverReport> {
        for (row, z) in self.z.iter_mut().enumerate() {
            let [low, high] = problem.bounds(row);
            *z = z.max(low).min(high);
        }
        report.residual = problem.residual(&self.z);
        report.certificates = 1;
        let parts = [problem.scales(), problem.q(), &self.z];
        if !is_beyond_doubt(parts, |row| problem.bounds(row), &report.residual, goal) {
            return None;
        }
        report.status = SolverStatus::Converged;
        z.copy_from_slice(&self.z);
        Some(report)
    }

    /// Rows at the bounds at which the start is.
    fn guess(&mut self, problem: &impl Rows, z: &[f64]) {
        for list in [&mut self.between, &mut self.factored.between] {
            list.reserve(z.len().saturating_sub(list.len()));
        }
        self.right.clear();
        self.right.reserve(z.len());
        self.states.clear();
        self.states.extend(z.iter().enumerate().map(|(row, z)| {
            let [low, high] = problem.bounds(row);
            state_of(*z, low, high)
        }));
    }

    /// `z` of the states, with one step of refinement; false if `M_BB` is singular.
    fn point(&mut self, problem: &impl Rows, report: &mut SolverReport) -> bool {
        self.between.clear();
        self.place.clear();
        self.z.clear();
        for (row, state) in self.states.iter().enumerate() {
            let [low, high] = problem.bounds(row);
            let (z, place) = match state {
                State::Low => (low, u32::MAX),
                State::High => (high, u32::MAX),
                State::Between => (0.0, self.between.len() as u32),
            };
            if place != u32::MAX {
                self.between.push(row as u32);
            }
            self.place.push(place);
            self.z.push(z);
        }
        if self.between.is_empty() {
            return true;
        }
        let entries = problem.entries();
        let mut factors = Factors {
            between: &self.between,
            place: &self.place,
            roots: &mut self.roots,
            dense: &mut self.dense,
            sparse: &mut self.sparse,
        };
        if !self.factored.is_of(&self.between, entries) {
            report.factorizations += 1;
            if !problem.factorize(&mut factors) {
                self.factored.set(&[], (&[], &[]));
                return false;
            }
            self.factored.set(&self.between, entries);
        }
        for _ in 0..2 {
            self.right.clear();
            let rows = self.between.iter();
            let rows = rows.map(|row| -problem.velocity(*row as usize, &self.z));
            self.right.extend(rows);
            problem.solve(&mut factors, &mut self.right);
            for (row, step) in self.between.iter().zip(&self.right) {
                self.z[*row as usize] += step;
            }
        }
        true
    }

    /// The next states; false if they are the same.
    fn change(&mut self, problem: &impl Rows) -> bool {
        let mut changed = false;
        for row in 0..self.states.len() {
            let ([low, high], z) = (problem.bounds(row), self.z[row]);
            let state = match self.states[row] {
                State::Between => state_of(z, low, high),
                _ => {
                    let step = problem.velocity(row, &self.z) / problem.scales()[row];
                    state_of(z - step, low, high)
                }
            };
            changed |= state != self.states[row];
            self.states[row] = state;
        }
        changed
    }
}

fn state_of(z: f64, low: f64, high: f64) -> State {
    if z <= low {
        State::Low
    } else if z >= high {
        State::High
    } else {
        State::Between
    }
}

#[cfg(test)]
mod tests;
