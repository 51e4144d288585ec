//! The solvers of the problem of a step, by name.

use moreau_solvers::{
    Auto, Goal, History, Law, Momentum, Nsgs, NsgsSettings, ProblemError, ProximalNewton, Solver,
    SolverReport, SolverStatus, StoredProblem, natural_map,
};

/// A solver that a simulation owns.
pub type AnySolver = Box<dyn Solver + Send + Sync>;

/// Names of the solvers, the default first.
pub const NAMES: [&str; 4] = ["auto", "contact-auto", "nsgs", "proximal-newton"];

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

/// The default: one interaction in closed form; all else by [`Auto`].
#[derive(Debug, Default)]
pub struct Portfolio {
    auto: Auto,
    /// Of a closed form: none.
    closed: History,
    /// The last answer was a closed form.
    was_closed: bool,
}

impl Portfolio {
    /// One interaction with a law whose one-block solve is exact for its block.
    fn solve_one(problem: &StoredProblem, impulse: &mut [f64]) -> Option<()> {
        let [law] = problem.laws() else { return None };
        let exact = matches!(law, Law::Complementarity | Law::Interval(_));
        if !exact || problem.validate().is_err() {
            return None;
        }
        let diagonal = problem.delassus().diagonal(0).x_axis.x;
        if !(diagonal > 0.0) {
            return None;
        }
        law.solve_block(&[diagonal], &problem.free_velocity(), impulse);
        Some(())
    }
}

impl Solver for Portfolio {
    fn solve(
        &mut self,
        problem: &StoredProblem,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        let mut closed = impulse.to_vec();
        if Self::solve_one(problem, &mut closed).is_some() {
            let residual = natural_map::stored(problem, &closed);
            if goal.excess(&residual) <= 1.0 {
                impulse.copy_from_slice(&closed);
                self.was_closed = true;
                return Ok(SolverReport {
                    status: SolverStatus::Converged,
                    residual,
                    certificates: 1,
                    ..SolverReport::default()
                });
            }
        }
        self.was_closed = false;
        self.auto.solve(problem, impulse, goal)
    }

    fn history(&self) -> &History {
        if self.was_closed {
            &self.closed
        } else {
            self.auto.history()
        }
    }
}
