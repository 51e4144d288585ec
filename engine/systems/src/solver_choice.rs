//! The solvers of the problem of a step, by name.

use moreau_solvers::complementarity::{Enumeration, Lemke, MAX_DENSE_ROWS};
use moreau_solvers::{
    Auto, Goal, History, Law, Momentum, Nsgs, NsgsSettings, ProblemError, ProximalNewton, Solver,
    SolverReport, SolverStatus, StoredProblem, natural_map,
};

/// A solver that a simulation owns.
pub type AnySolver = Box<dyn Solver + Send + Sync>;

/// Names of the solvers, the default first.
pub const NAMES: [&str; 6] = [
    "auto",
    "lemke",
    "enumeration",
    "contact-auto",
    "nsgs",
    "proximal-newton",
];

/// The solver of a name, `None` if there is none.
///
/// ```
/// assert!(moreau_systems::solver_choice::named("auto").is_some());
/// assert!(moreau_systems::NAMES.iter().all(|name| moreau_systems::solver_choice::named(name).is_some()));
/// ```
#[must_use]
pub fn named(name: &str) -> Option<AnySolver> {
    Some(match name {
        "auto" => Box::<Portfolio>::default(),
        "lemke" => Box::<Lemke>::default(),
        "enumeration" => Box::<Enumeration>::default(),
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

/// The default. One row is solved in closed form; problems without friction by pivoting ([`Lemke`]), which asks nothing of `W` (that of a circuit is not
/// symmetric and has zeros on its diagonal); contacts with friction, and what pivoting does not solve to the goal, by [`Auto`].
#[derive(Debug, Default)]
pub struct Portfolio {
    lemke: Lemke,
    auto: Auto,
    /// Of a closed form: nothing in it.
    closed: History,
    last: Last,
}

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

/// Rows of complementarity, intervals and equalities, few enough for a dense tableau.
fn pivots(problem: &StoredProblem) -> bool {
    let is_box = |law: &Law| {
        matches!(
            law,
            Law::Complementarity | Law::Interval(_) | Law::Equality(_)
        )
    };
    problem.rows() <= MAX_DENSE_ROWS.min(400) && problem.laws().iter().all(is_box)
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
        if pivots(problem) {
            let mut answer = impulse.to_vec();
            let report = self.lemke.solve(problem, &mut answer, goal)?;
            if report.converged() || report.status == SolverStatus::Infeasible {
                impulse.copy_from_slice(&answer);
                self.last = Last::Pivoting;
                return Ok(report);
            }
        }
        self.last = Last::Auto;
        self.auto.solve(problem, impulse, goal)
    }

    fn history(&self) -> &History {
        match self.last {
            Last::Closed => &self.closed,
            Last::Pivoting => self.lemke.history(),
            Last::Auto => self.auto.history(),
        }
    }
}
