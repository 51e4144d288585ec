//! Search through all complementary bases, for small problems.
//!
//! ```text
//! every row at its lower bound (w ≥ 0), at its upper bound (w ≤ 0) or between (w = 0):
//! M_BB z_B = −(q_B + M_BN z_N)            then look whether all signs hold
//! ```
//!
//! That is `2` candidates for each complementarity, `3` for each bounded interval and one for each free row. If `M_BB` is singular the
//! candidate is a polyhedron, and a point of it is looked for by the simplex method. So the search is complete: a solution is found
//! if there is one, for every matrix, up to rounding (signs hold to `10⁻⁹` of the size of the solution).
//!
//! **When to use it:** as a reference, and to see whether a solution is the only one. **When not:** beyond a dozen rows. **Cost:** `2ⁿ`
//! factorisations of up to `n` rows.

mod feasible_point;

use super::BoxProblem;
use super::basis::{Basis, State};
use super::method::{Memory, Method, Trial, solver_of_boxes};
use crate::ProblemError;
use feasible_point::Polyhedron;

/// Settings of [`Enumeration`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnumerationSettings {
    /// Candidates at most; a larger problem is refused. Default 2²⁰.
    pub max_bases: usize,
    /// Solutions that are kept. Default 64.
    pub max_solutions: usize,
}

impl Default for EnumerationSettings {
    fn default() -> Self {
        Self {
            max_bases: 1 << 20,
            max_solutions: 64,
        }
    }
}

/// The method, and what it found last.
///
/// ```
/// use moreau_solvers::complementarity::{BoxProblem, Enumeration};
/// use moreau_solvers::Goal;
/// // w = −z + 1: z = 0 and z = 1.
/// let problem = BoxProblem::complementarity(vec![-1.0], vec![1.0])?;
/// let mut search = Enumeration::default();
/// search.solve_box(&problem, &mut [0.0], &Goal::scaled(1e-12))?;
/// assert_eq!(search.solutions(), [[0.0], [1.0]]);
/// assert_eq!(search.is_unique(), Some(false));
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct Enumeration {
    /// Settings of the next solve.
    pub settings: EnumerationSettings,
    pub(super) memory: Memory,
    solutions: Vec<Vec<f64>>,
    has_polyhedron: bool,
    is_complete: bool,
    basis: Basis,
}

/// Signs hold to this part of the size of the solution.
const SIGN: f64 = 1e-9;
/// Solutions that differ by less, as a part of their size, are one.
const SAME: f64 = 1e-6;

impl Enumeration {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: EnumerationSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The solutions found by the last solve: of every candidate one, those that are alike counted once.
    #[must_use]
    pub fn solutions(&self) -> &[Vec<f64>] {
        &self.solutions
    }

    /// Whether the last problem has exactly one solution; none if that was not decided: a limit struck, there was none, or the solution
    /// belongs to a singular basis and may be one of many.
    #[must_use]
    pub fn is_unique(&self) -> Option<bool> {
        match self.solutions.len() {
            0 => None,
            1 => (self.is_complete && !self.has_polyhedron).then_some(true),
            _ => Some(false),
        }
    }

    fn add(&mut self, problem: &BoxProblem, z: &[f64]) {
        let size = size(problem, z);
        let scales = problem.scales();
        let alike = |other: &Vec<f64>| {
            let terms = other.iter().zip(z).zip(scales);
            terms
                .map(|((a, b), scale)| (a - b).abs() * scale.sqrt())
                .all(|difference| difference <= SAME * size)
        };
        if self.solutions.len() < self.settings.max_solutions && !self.solutions.iter().any(alike) {
            self.solutions.push(z.to_vec());
        }
    }
}

/// The largest `√λ|z|` or `|q|/√λ`.
fn size(problem: &BoxProblem, z: &[f64]) -> f64 {
    let terms = z.iter().zip(problem.q()).zip(problem.scales());
    terms.fold(0.0, |size: f64, ((z, q), scale)| {
        let root = scale.sqrt();
        size.max(z.abs() * root).max(q.abs() / root)
    })
}

/// The law holds in every row; `w` is scratch.
fn holds(problem: &BoxProblem, states: &[State], z: &[f64], w: &mut Vec<f64>) -> bool {
    problem.image(z, w);
    let bound = SIGN * size(problem, z);
    (0..problem.len()).all(|row| {
        let root = problem.scales()[row].sqrt();
        let w = w[row] / root;
        match states[row] {
            State::Low => w >= -bound,
            State::High => w <= bound,
            State::Between => {
                let outside = (problem.low()[row] - z[row]).max(z[row] - problem.high()[row]);
                outside * root <= bound && w.abs() <= bound
            }
        }
    })
}

/// The states that a row may have.
fn choices(problem: &BoxProblem, row: usize) -> impl Iterator<Item = State> + Clone {
    let low = problem.low()[row].is_finite().then_some(State::Low);
    let high = problem.high()[row].is_finite().then_some(State::High);
    low.into_iter().chain(high).chain([State::Between])
}

/// The next candidate, as a number counts up; false after the last.
fn advance(problem: &BoxProblem, states: &mut [State]) -> bool {
    for (row, state) in states.iter_mut().enumerate() {
        let mut rest = choices(problem, row).skip_while(|choice| choice != state);
        if let Some(next) = rest.nth(1) {
            *state = next;
            return true;
        }
        if let Some(first) = choices(problem, row).next() {
            *state = first;
        }
    }
    false
}

solver_of_boxes!(Enumeration);

impl Method for Enumeration {
    const NAME: &'static str = "enumeration";
    const MAY_BE_SKIPPED: bool = false;

    fn admits(&self, problem: &BoxProblem) -> Result<(), ProblemError> {
        let counts = (0..problem.len()).map(|row| choices(problem, row).count());
        let bases = counts.fold(1_usize, usize::saturating_mul);
        if bases > self.settings.max_bases {
            return Err(ProblemError::TooLarge {
                what: "complementary bases",
                found: bases,
                bound: self.settings.max_bases,
            });
        }
        Ok(())
    }

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        self.solutions.clear();
        self.has_polyhedron = false;
        self.is_complete = false;
        let first = |row| choices(problem, row).next();
        let mut states: Vec<State> = (0..problem.len()).filter_map(first).collect();
        let (mut z, mut w) = (Vec::new(), Vec::new());
        let mut polyhedron = Polyhedron::default();
        loop {
            trial.report.iterations += 1;
            if self.basis.point(problem, &states, &mut z) {
                trial.report.factorizations += 1;
            } else if polyhedron.point(problem, &states, &mut z) {
                self.has_polyhedron |= holds(problem, &states, &z, &mut w);
            }
            if z.len() == problem.len() && holds(problem, &states, &z, &mut w) {
                for (row, z) in z.iter_mut().enumerate() {
                    *z = problem.clamp(row, *z);
                }
                trial.judge(&z);
                self.add(problem, &z);
            }
            if !advance(problem, &mut states) {
                break;
            }
            if trial.limit_struck() {
                return;
            }
        }
        self.is_complete = true;
        if self.solutions.is_empty() {
            trial.end_exhausted();
        }
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}
