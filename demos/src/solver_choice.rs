//! The solvers by name: the one place that a solver is added to for `moreau solve`,
//! `moreau bench solvers` and the benches.
//!
//! ```
//! let names: Vec<_> = moreau_demos::solver_choice::list().iter().map(|s| s.name).collect();
//! assert_eq!(names[0], "auto");
//! assert!(moreau_demos::solver_choice::find("nsgs").is_some());
//! ```

use moreau_solvers::auto::Stage;
use moreau_solvers::{
    Admm, AdmmSettings, AlartCurnierNewton, Anderson, AndersonSettings, Auto, ClassicalNsgs,
    ClassicalSettings, ConeMap, GlobalProblem, Goal, LocalSolver, Momentum, Nncg, NncgSettings,
    Nsgs, NsgsSettings, ProblemError, ProximalNewton, ProximalNewtonSettings, Solver, SolverReport,
    StoredProblem,
};

/// A solver that can be asked for.
#[derive(Clone, Copy, Debug)]
pub struct SolverChoice {
    /// Name to call it by.
    pub name: &'static str,
    /// One line about it.
    pub description: &'static str,
    make: fn() -> AnySolver,
}

impl SolverChoice {
    /// A solver with empty buffers. Its budgets are wide: limit the time in the goal.
    #[must_use]
    pub fn make(&self) -> AnySolver {
        (self.make)()
    }
}

/// All solvers, the default first.
const SOLVERS: &[SolverChoice] = &[
    SolverChoice {
        name: "auto",
        description: "picks for itself: accelerated sweeps, then Newton and sweeps in turn",
        make: || AnySolver::Auto(Box::default()),
    },
    SolverChoice {
        name: "nsgs",
        description: "plain block Gauss-Seidel",
        make: || nsgs(Momentum::NONE),
    },
    SolverChoice {
        name: "nsgs-capped",
        description: "Gauss-Seidel with capped momentum, then careful and uncapped sweeps in turn",
        make: || nsgs(Momentum::CAPPED),
    },
    SolverChoice {
        name: "nesterov",
        description: "Gauss-Seidel with Nesterov's momentum and restart",
        make: || nsgs(Momentum::NESTEROV),
    },
    SolverChoice {
        name: "proximal-newton",
        description: "proximal Newton on the map of Alart and Curnier",
        make: || proximal_newton(ConeMap::AlartCurnier),
    },
    SolverChoice {
        name: "proximal-newton-cone",
        description: "proximal Newton on the cone, with De Saxcé's shift",
        make: || proximal_newton(ConeMap::Cone),
    },
    SolverChoice {
        name: "alart-curnier-newton",
        description: "the sources' Newton on the function of Alart and Curnier, no proximal term",
        make: || stored(AlartCurnierNewton::default()),
    },
    SolverChoice {
        name: "admm",
        description: "ADMM: few factorisations, many solves with them",
        make: || {
            stored(Admm::new(AdmmSettings {
                max_iterations: MAX_SWEEPS,
                ..AdmmSettings::default()
            }))
        },
    },
    SolverChoice {
        name: "nncg",
        description: "Gauss-Seidel with nonsmooth nonlinear conjugate gradients",
        make: || {
            stored(Nncg::new(NncgSettings {
                max_iterations: MAX_SWEEPS,
                ..NncgSettings::default()
            }))
        },
    },
    SolverChoice {
        name: "anderson",
        description: "Gauss-Seidel with Anderson's acceleration",
        make: || {
            stored(Anderson::new(AndersonSettings {
                max_iterations: MAX_SWEEPS,
                ..AndersonSettings::default()
            }))
        },
    },
    SolverChoice {
        name: "nsgs-projection",
        description: "plain Gauss-Seidel, contacts by projection with adaptive step",
        make: || classical(LocalSolver::Projection(Default::default())),
    },
    SolverChoice {
        name: "nsgs-alart-curnier",
        description: "plain Gauss-Seidel, contacts by Newton on the function of Alart and Curnier",
        make: || classical(LocalSolver::AlartCurnier(Default::default())),
    },
    SolverChoice {
        name: "nsgs-quartic",
        description: "plain Gauss-Seidel, contacts by the roots of a quartic",
        make: || classical(LocalSolver::Quartic),
    },
];

/// All solvers, the default first.
#[must_use]
pub fn list() -> &'static [SolverChoice] {
    SOLVERS
}

/// The solver of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static SolverChoice> {
    SOLVERS.iter().find(|solver| solver.name == name)
}

/// Any of the solvers.
pub enum AnySolver {
    /// The one that knows problems in global form and tells its way.
    Auto(Box<Auto>),
    /// One that works on stored blocks.
    Stored(Box<dyn Solver + Send>),
}

impl AnySolver {
    /// Solves `stored`; `global` is the problem that it was condensed from, if there is one.
    ///
    /// # Errors
    /// As [`Solver::solve`].
    pub fn solve(
        &mut self,
        stored: &StoredProblem,
        global: Option<&GlobalProblem>,
        impulse: &mut [f64],
        goal: &Goal,
    ) -> Result<SolverReport, ProblemError> {
        match (self, global) {
            (Self::Auto(auto), Some(global)) => auto.solve_condensed(global, stored, impulse, goal),
            (Self::Auto(auto), None) => auto.solve(stored, impulse, goal),
            (Self::Stored(solver), _) => solver.solve(stored, impulse, goal),
        }
    }

    /// The stages of the last solve; none of a solver with only one.
    #[must_use]
    pub fn path(&self) -> &[Stage] {
        match self {
            Self::Auto(auto) => auto.path(),
            Self::Stored(_) => &[],
        }
    }
}

/// Budgets of [`Auto`], for all.
const MAX_SWEEPS: usize = 200_000;
const MAX_FACTORIZATIONS: usize = 5_000;

fn stored(solver: impl Solver + Send + 'static) -> AnySolver {
    AnySolver::Stored(Box::new(solver))
}

fn classical(local: LocalSolver) -> AnySolver {
    stored(ClassicalNsgs::new(ClassicalSettings {
        sweeps: sweeps(Momentum::NONE),
        local,
        ..ClassicalSettings::default()
    }))
}

fn sweeps(momentum: Momentum) -> NsgsSettings {
    NsgsSettings {
        min_sweeps: 1,
        max_sweeps: MAX_SWEEPS,
        momentum,
        ..NsgsSettings::default()
    }
}

fn nsgs(momentum: Momentum) -> AnySolver {
    stored(Nsgs::new(sweeps(momentum)))
}

fn proximal_newton(map: ConeMap) -> AnySolver {
    AnySolver::Stored(Box::new(ProximalNewton::new(ProximalNewtonSettings {
        map,
        max_factorizations: MAX_FACTORIZATIONS,
        ..ProximalNewtonSettings::default()
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DVec3};
    use moreau_solvers::Delassus;

    #[test]
    fn every_solver_has_its_own_name_and_solves_one_contact() {
        let problem = StoredProblem::of_contacts(
            Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
            vec![DVec3::new(-1.0, 3.0, 0.0)],
            vec![0.5],
        );
        for choice in list() {
            assert_eq!(find(choice.name).unwrap().description, choice.description);
            let mut impulse = [0.0; 3];
            let goal = Goal::both(1e-10);
            let report = choice
                .make()
                .solve(&problem, None, &mut impulse, &goal)
                .unwrap();
            assert!(report.converged(), "{}: {report:?}", choice.name);
            let slides = DVec3::new(1.0, -0.5, 0.0);
            assert!(
                (DVec3::from(impulse) - slides).length() < 1e-9,
                "{}",
                choice.name
            );
        }
        assert!(find("none").is_none());
    }
}
