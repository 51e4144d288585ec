//! The solvers by name: the one place that a solver is added to for `moreau solve`,
//! `moreau bench solvers` and the benches.
//!
//! ```
//! let names: Vec<_> = moreau_demos::solver_choice::list().iter().map(|s| s.name).collect();
//! assert_eq!(names[0], "auto");
//! assert!(moreau_demos::solver_choice::find("nsgs").is_some());
//! ```

use moreau_solvers::auto::Stage;
use moreau_solvers::complementarity::{
    ActiveSet, BoxAuto, Cpg, Enumeration, InteriorPoint, Latin, Lemke, Psor, SemismoothNewton,
};
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

/// Those for problems whose laws are complementarities, intervals and equalities, the default first.
const FOR_BOXES: &[SolverChoice] = &[
    SolverChoice {
        name: "lcp-auto",
        description: "picks by size and kind of the matrix: Lemke first",
        make: || AnySolver::Boxes(Box::default()),
    },
    SolverChoice {
        name: "lemke",
        description: "Lemke's pivots, lexicographic",
        make: || stored(Lemke::default()),
    },
    SolverChoice {
        name: "enumeration",
        description: "search through all complementary bases, few rows",
        make: || stored(Enumeration::default()),
    },
    SolverChoice {
        name: "psor",
        description: "projected Gauss-Seidel, positive diagonal",
        make: || stored(Psor::default()),
    },
    SolverChoice {
        name: "cpg",
        description: "conjugate projected gradients, symmetric matrices",
        make: || stored(Cpg::default()),
    },
    SolverChoice {
        name: "nsqp",
        description: "active sets on the convex quadratic programme, symmetric matrices",
        make: || stored(ActiveSet::default()),
    },
    SolverChoice {
        name: "latin",
        description: "law and linear stage in turn, monotone problems",
        make: || stored(Latin::default()),
    },
    SolverChoice {
        name: "newton-min",
        description: "semismooth Newton on the minimum",
        make: || stored(SemismoothNewton::default()),
    },
    SolverChoice {
        name: "newton-fb",
        description: "semismooth Newton on the function of Fischer and Burmeister",
        make: || stored(SemismoothNewton::fischer_burmeister()),
    },
    SolverChoice {
        name: "path-following",
        description: "interior point, predictor and corrector, monotone problems",
        make: || stored(InteriorPoint::default()),
    },
];

/// Solvers of linear complementarity problems and their kin, the default first; they refuse contacts with friction.
#[must_use]
pub fn list_for_boxes() -> &'static [SolverChoice] {
    FOR_BOXES
}

/// The default for such problems.
#[must_use]
pub fn for_boxes() -> &'static SolverChoice {
    &FOR_BOXES[0]
}

/// All solvers of any problem, the default first.
#[must_use]
pub fn list() -> &'static [SolverChoice] {
    SOLVERS
}

/// The solver of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static SolverChoice> {
    let mut all = SOLVERS.iter().chain(FOR_BOXES);
    all.find(|solver| solver.name == name)
}

/// Any of the solvers.
pub enum AnySolver {
    /// The one that knows problems in global form and tells its way.
    Auto(Box<Auto>),
    /// The one for box problems, which tells what it took.
    Boxes(Box<BoxAuto>),
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
            (Self::Boxes(solver), _) => solver.solve(stored, impulse, goal),
            (Self::Stored(solver), _) => solver.solve(stored, impulse, goal),
        }
    }

    /// The stages of the last solve; none of a solver with only one.
    #[must_use]
    pub fn path(&self) -> &[Stage] {
        match self {
            Self::Auto(auto) => auto.path(),
            Self::Boxes(_) | Self::Stored(_) => &[],
        }
    }

    /// The methods that a choice among methods for boxes took in the last solve; none of other solvers.
    #[must_use]
    pub fn methods(&self) -> &[&'static str] {
        match self {
            Self::Boxes(auto) => auto.tried(),
            _ => &[],
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

    #[test]
    fn every_solver_of_boxes_has_its_own_name_and_refuses_friction() {
        let problem = moreau_solvers::BoxProblem::complementarity(vec![2.0], vec![-1.0]).unwrap();
        let (problem, goal) = (problem.to_stored().unwrap(), Goal::both(1e-10));
        let with_friction = StoredProblem::of_contacts(
            Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
            vec![DVec3::NEG_X],
            vec![0.5],
        );
        for choice in list_for_boxes() {
            assert_eq!(find(choice.name).unwrap().description, choice.description);
            let mut z = [0.0];
            let mut solver = choice.make();
            let report = solver.solve(&problem, None, &mut z, &goal).unwrap();
            assert!(
                report.converged() && (z[0] - 0.5).abs() < 1e-9,
                "{}",
                choice.name
            );
            let refused = solver.solve(&with_friction, None, &mut [0.0; 3], &goal);
            assert!(refused.is_err(), "{}", choice.name);
        }
    }
}
