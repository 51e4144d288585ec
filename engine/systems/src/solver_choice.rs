//! The solvers of the problem of a step, by name.

use moreau_solvers::complementarity::{
    ActiveSet, BoxAuto, Boxes, Complementarity, Cpg, Enumeration, InteriorPoint, Latin, Lemke,
    PrimalDual, Psor, SemismoothNewton, SemismoothNewtonSettings,
};
use moreau_solvers::{
    Auto, Goal, History, Law, Momentum, Nsgs, NsgsSettings, ProblemError, ProximalNewton, Solver,
    SolverReport, SolverStatus, StoredProblem, natural_map,
};

/// A solver that a simulation owns.
pub type AnySolver = Box<dyn Solver + Send + Sync>;

/// Names of the solvers, those of `moreau solve` where it has them; the default first. Those of linear complementarity problems follow `lcp-auto`, those that know friction `contact-auto`.
pub const NAMES: [&str; 14] = [
    "auto",
    "lcp-auto",
    "lemke",
    "enumeration",
    "nsqp",
    "path-following",
    "newton-min",
    "newton-fb",
    "psor",
    "cpg",
    "latin",
    "contact-auto",
    "nsgs",
    "proximal-newton",
];

/// The solver of a name, `None` if there is none.
///
/// ```
/// use moreau_systems::solver_choice::{NAMES, named};
/// assert!(NAMES.iter().all(|name| named(name).is_some()) && named("none").is_none());
/// ```
#[must_use]
pub fn named(name: &str) -> Option<AnySolver> {
    let newton = |function| {
        Box::new(SemismoothNewton::new(SemismoothNewtonSettings {
            function,
            ..SemismoothNewtonSettings::default()
        }))
    };
    Some(match name {
        "auto" => Box::<Portfolio>::default(),
        "lcp-auto" => Box::<BoxAuto>::default(),
        "lemke" => Box::<Lemke>::default(),
        "enumeration" => Box::<Enumeration>::default(),
        "nsqp" => Box::<ActiveSet>::default(),
        "path-following" => Box::<InteriorPoint>::default(),
        "newton-min" => newton(Complementarity::Minimum),
        "newton-fb" => newton(Complementarity::FischerBurmeister),
        "psor" => Box::<Psor>::default(),
        "cpg" => Box::<Cpg>::default(),
        "latin" => Box::<Latin>::default(),
        "contact-auto" => Box::<Auto>::default(),
        "nsgs" => Box::new(Nsgs::new(NsgsSettings {
            momentum: Momentum::NONE,
            max_sweeps: 200_000,
            ..NsgsSettings::default()
        })),
        "proximal-newton" => Box::<ProximalNewton>::default(),
        _ => return None,
    })
}

/// A solver of the user's, whose answers are judged by the natural map whatever it says of them.
pub(crate) struct Judged<S>(pub(crate) S);

impl<S: Solver> Solver for Judged<S> {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        let mut report = self.0.solve(problem, impulse, goal)?;
        report.residual = natural_map::stored(problem, impulse);
        let reached = goal.excess(&report.residual) <= 1.0;
        report.status = match report.status {
            _ if reached => SolverStatus::Converged,
            SolverStatus::Converged => SolverStatus::Stopped,
            other => other,
        };
        Ok(report)
    }

    fn history(&self) -> &History {
        self.0.history()
    }
}

/// The default. Boxes are first solved with the rows at their bounds that were there in the step before ([`PrimalDual`]), of many rows with sparse factors. Where that fails: one row is solved in closed form; few rows without friction by pivoting ([`BoxAuto`], Lemke first), which asks nothing of `W` (that of a
/// circuit is not symmetric and has zeros on its diagonal); many rows, and contacts with friction, by [`Auto`] on the sparse blocks of `W`, and those without friction
/// that it does not solve by [`BoxAuto`] after all.
#[derive(Debug, Default)]
pub struct Portfolio {
    direct: PrimalDual,
    pivoting: BoxAuto,
    auto: Auto,
    /// Of a closed form: nothing in it.
    closed: History,
    last: Last,
}

/// Rows up to which pivoting comes first.
pub(crate) const FEW: usize = 32;

/// Rows up to which it is tried at all.
const MANY: usize = 2_000;

/// What gave the last answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Closed,
    Pivoting,
    Auto,
}

/// One row with a positive diagonal: the impulse.
fn solve_one(problem: &StoredProblem) -> Option<f64> {
    let [law @ (Law::Complementarity | Law::Interval(_))] = problem.laws() else {
        return None;
    };
    let diagonal = problem.delassus().diagonal(0).x_axis.x;
    let is_regular = diagonal > 0.0 && problem.validate().is_ok();
    if !is_regular {
        return None;
    }
    let mut impulse = [0.0];
    law.solve_block(&[diagonal], &problem.free_velocity(), &mut impulse);
    Some(impulse[0])
}

/// Only rows of complementarity, intervals and equalities.
fn is_box(problem: &StoredProblem) -> bool {
    let is_box = |law: &Law| {
        matches!(
            law,
            Law::Complementarity | Law::Interval(_) | Law::Equality(_)
        )
    };
    problem.laws().iter().all(is_box)
}

impl Solver for Portfolio {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        if let (Some(answer), [impulse]) = (solve_one(problem), &mut *impulse) {
            let residual = natural_map::stored(problem, &[answer]);
            if goal.excess(&residual) <= 1.0 {
                *impulse = answer;
                self.last = Last::Closed;
                return Ok(SolverReport {
                    status: SolverStatus::Converged,
                    residual,
                    certificates: 1,
                    ..SolverReport::default()
                });
            }
        }
        let pivots = is_box(problem) && problem.rows() <= MANY;
        if !pivots || problem.rows() > FEW {
            self.last = Last::Auto;
            let report = self.auto.solve(problem, impulse, goal)?;
            if report.converged() || !pivots {
                return Ok(report);
            }
        }
        self.last = Last::Pivoting;
        self.pivoting.solve(problem, impulse, goal)
    }

    fn solve_boxes(
        &mut self,
        problem: Boxes<'_>,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<Option<SolverReport>, ProblemError> {
        self.last = Last::Closed;
        if let Some(report) = self.direct.solve(problem, impulse, goal) {
            return Ok(Some(report));
        }
        let Boxes::Dense(problem) = problem else {
            return Ok(None);
        };
        self.last = Last::Pivoting;
        self.pivoting.solve_box(problem, impulse, goal).map(Some)
    }

    fn history(&self) -> &History {
        match self.last {
            Last::Closed => &self.closed,
            Last::Pivoting => self.pivoting.history(),
            Last::Auto => self.auto.history(),
        }
    }
}
