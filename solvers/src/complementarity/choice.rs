//! `auto` for box problems: picks methods by size and kind of the matrix, and says which it took.
//!
//! ```text
//! n ≤ 1 000          Lemke; if its path ends on a ray or in rounding:
//!                      few bases        the search through all of them
//!                      symmetric        active sets
//!                      otherwise        path following, Newton on the minimum, Newton on Fischer–Burmeister
//! n > 1 000          symmetric: conjugate projected gradients, then as above without Lemke
//!                    otherwise: path following, then as above
//! ```
//!
//! Lemke comes first since a pivot costs `n²` and mostly `n/2` to `2n` of them do, less than a few factorisations, and since its end says most: a
//! solution, or a certificate, or that others have to be asked. All work on one trial: each starts at the best point so far, and the
//! judge decides.

use super::BoxProblem;
use super::method::{Memory, Method, Trial, solver_of_boxes};
use super::{
    ActiveSet, Cpg, Enumeration, EnumerationSettings, InteriorPoint, Lemke, SemismoothNewton,
};
use crate::SolverStatus;

/// Settings of [`BoxAuto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxAutoSettings {
    /// Rows up to which Lemke's method comes first. Default 1 000.
    pub max_rows_of_lemke: usize,
    /// Bases up to which all of them are searched after a ray. Default 4 096.
    pub max_bases: usize,
}

impl Default for BoxAutoSettings {
    fn default() -> Self {
        Self {
            max_rows_of_lemke: 1_000,
            max_bases: 4_096,
        }
    }
}

/// The choice among the methods, and what it took last.
///
/// ```
/// use moreau_solvers::complementarity::{BoxAuto, BoxProblem};
/// use moreau_solvers::Goal;
/// let problem = BoxProblem::complementarity(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0])?;
/// let mut auto = BoxAuto::default();
/// let report = auto.solve_box(&problem, &mut [0.0; 2], &Goal::scaled(1e-10))?;
/// assert!(report.converged());
/// assert_eq!(auto.tried(), ["Lemke's method"]);
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct BoxAuto {
    /// Settings of the next solve.
    pub settings: BoxAutoSettings,
    pub(super) memory: Memory,
    tried: Vec<&'static str>,
    lemke: Lemke,
    active_set: ActiveSet,
    interior_point: InteriorPoint,
    gradients: Cpg,
    minimum: SemismoothNewton,
}

impl BoxAuto {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: BoxAutoSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The methods that the last solve took, in their order; none if the start was a solution. The last one gave the answer if there is one.
    #[must_use]
    pub fn tried(&self) -> &[&'static str] {
        &self.tried
    }
}

/// Runs a method if it admits the problem; true if the solve is over.
fn tries<M: Method>(
    tried: &mut Vec<&'static str>,
    method: &mut M,
    problem: &BoxProblem,
    trial: &mut Trial<'_>,
) -> bool {
    if method.admits(problem).is_err() {
        return false;
    }
    tried.push(M::NAME);
    method.run(problem, trial);
    trial.finished() || trial.report.status != SolverStatus::Stopped
}

solver_of_boxes!(BoxAuto);

impl Method for BoxAuto {
    const NAME: &'static str = "the choice of methods for boxes";
    const MAY_BE_SKIPPED: bool = false;

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        let tried = &mut self.tried;
        tried.clear();
        if trial.finished() {
            return;
        }
        let small = problem.len() <= self.settings.max_rows_of_lemke;
        if small && tries(tried, &mut self.lemke, problem, trial) {
            return;
        }
        if !small && tries(tried, &mut self.gradients, problem, trial) {
            return;
        }
        if trial.has_certificate() {
            return;
        }
        let mut search = Enumeration::new(EnumerationSettings {
            max_bases: self.settings.max_bases,
            ..EnumerationSettings::default()
        });
        let all = search.admits(problem).is_ok();
        // A search through everything that finds nothing is the last word.
        if tries(tried, &mut search, problem, trial) || all && search.solutions().is_empty() {
            return;
        }
        let mut fischer = SemismoothNewton::fischer_burmeister();
        let _ = tries(tried, &mut self.active_set, problem, trial)
            || tries(tried, &mut self.interior_point, problem, trial)
            || tries(tried, &mut self.minimum, problem, trial)
            || tries(tried, &mut fischer, problem, trial);
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}
