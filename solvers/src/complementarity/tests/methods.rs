//! Every method on the classes for which theory says that it converges, through [`Solver`].

use super::classes::{self, Class};
use crate::complementarity::{
    ActiveSet, BoxAuto, BoxProblem, Cpg, Enumeration, InteriorPoint, Latin, Lemke, Psor,
    SemismoothNewton,
};
use crate::random::Random;
use crate::{Goal, Solver, SolverStatus, natural_map};

type Make = fn() -> Box<dyn Solver>;

const LEMKE: (&str, Make) = ("lemke", || Box::new(Lemke::default()));
const ACTIVE_SET: (&str, Make) = ("active set", || Box::new(ActiveSet::default()));
const INTERIOR: (&str, Make) = ("interior point", || Box::new(InteriorPoint::default()));
const MINIMUM: (&str, Make) = ("newton-min", || Box::new(SemismoothNewton::default()));
const FISCHER: (&str, Make) = ("newton-fb", || {
    Box::new(SemismoothNewton::fischer_burmeister())
});
const PSOR: (&str, Make) = ("psor", || Box::new(Psor::default()));
const CPG: (&str, Make) = ("cpg", || Box::new(Cpg::default()));
const LATIN: (&str, Make) = ("latin", || Box::new(Latin::default()));
const AUTO: (&str, Make) = ("auto", || Box::new(BoxAuto::default()));
const ENUMERATION: (&str, Make) = ("enumeration", || Box::new(Enumeration::default()));

const ALL: [(&str, Make); 10] = [
    LEMKE,
    ACTIVE_SET,
    INTERIOR,
    MINIMUM,
    FISCHER,
    PSOR,
    CPG,
    LATIN,
    AUTO,
    ENUMERATION,
];

/// Solves and checks the answer by the definition; counts failures by name.
fn solve(
    (name, make): (&str, Make),
    problem: &BoxProblem,
    tolerance: f64,
) -> Result<Vec<f64>, String> {
    let stored = problem.to_stored().unwrap();
    let mut z = vec![0.0; problem.len()];
    let mut solver = make();
    let report = solver
        .solve(&stored, &mut z, &Goal::scaled(tolerance))
        .unwrap();
    let residual = natural_map::stored(&stored, &z);
    assert_eq!(residual, report.residual, "{name}");
    let small = residual.whole() <= tolerance;
    assert!(!report.converged() || small, "{name} {report:?}");
    if report.converged() {
        Ok(z)
    } else {
        Err(format!(
            "{name}: {:?} {:e} after {}",
            report.status,
            residual.whole(),
            report.iterations
        ))
    }
}

/// Symmetric positive definite: everything converges, and to the same answer.
#[test]
fn all_methods_agree_on_positive_definite_boxes() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(8);
        let mut problem = classes::boxes(Class::SemiDefinite, n, true, &mut random);
        let mut m = problem.matrix().to_vec();
        (0..n).for_each(|i| m[i * n + i] += 0.5);
        let parts = [problem.q(), problem.low(), problem.high()].map(<[f64]>::to_vec);
        let [q, low, high] = parts;
        problem = BoxProblem::new(m, q, low, high).unwrap();
        let exact = solve(LEMKE, &problem, 1e-12).unwrap();
        for method in ALL {
            let z =
                solve(method, &problem, 1e-9).unwrap_or_else(|e| panic!("{seed} {e} {problem:?}"));
            let apart = z
                .iter()
                .zip(&exact)
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            assert!(apart < 1e-6, "{seed} {}: {z:?} {exact:?}", method.0);
        }
    }
}

/// Every other class: which methods converge wherever the search through all bases finds a solution.
fn where_solvable(
    class: Class,
    methods: &[(&str, Make)],
    tolerance: f64,
    larger: impl Fn(&mut BoxProblem),
) {
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(6);
        let mut problem = if seed % 2 == 0 {
            classes::problem(class, n, &mut random)
        } else {
            classes::boxes(class, n, true, &mut random)
        };
        larger(&mut problem);
        let solvable = solve(ENUMERATION, &problem, 1e-9).is_ok();
        for method in methods {
            match solve(*method, &problem, tolerance) {
                Ok(_) => assert!(solvable, "{seed} {}: {problem:?}", method.0),
                Err(error) => assert!(!solvable, "{seed} {error} {problem:?}"),
            }
        }
    }
}

#[test]
fn monotone_problems_are_solved_by_the_methods_for_them() {
    let methods = [LEMKE, INTERIOR, LATIN, AUTO];
    where_solvable(Class::Monotone, &methods, 1e-6, |_| {});
}

#[test]
fn symmetric_semi_definite_problems_are_solved_by_the_methods_for_them() {
    let methods = [LEMKE, ACTIVE_SET, INTERIOR, LATIN, CPG, AUTO];
    where_solvable(Class::SemiDefinite, &methods, 1e-6, |_| {});
}

#[test]
fn p_matrices_are_solved_by_newton() {
    where_solvable(Class::P, &[LEMKE, FISCHER, MINIMUM, AUTO], 1e-9, |_| {});
}

#[test]
fn active_sets_prove_that_a_semi_definite_problem_has_no_solution() {
    let mut infeasible = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(6);
        let problem = classes::problem(Class::SemiDefinite, n, &mut random);
        if solve(LEMKE, &problem, 1e-9).is_ok() {
            continue;
        }
        infeasible += 1;
        let mut z = vec![0.0; n];
        let report = ActiveSet::default()
            .solve_box(&problem, &mut z, &Goal::scaled(1e-9))
            .unwrap();
        assert_eq!(
            report.status,
            SolverStatus::Infeasible,
            "{seed} {problem:?}"
        );
    }
    assert!(infeasible > 50);
}

#[test]
fn the_choice_says_what_it_took() {
    let goal = Goal::scaled(1e-10);
    let mut auto = BoxAuto::default();
    let mut of = |m: &[f64], q: &[f64], start: f64| {
        let problem = BoxProblem::complementarity(m.to_vec(), q.to_vec()).unwrap();
        let mut z = vec![start; q.len()];
        let status = auto.solve_box(&problem, &mut z, &goal).unwrap().status;
        (status, auto.tried().to_vec())
    };
    let (lemke, search) = ("Lemke's method", "enumeration");
    assert_eq!(
        of(&[2.0], &[-1.0], 0.0),
        (SolverStatus::Converged, vec![lemke])
    );
    assert_eq!(of(&[2.0], &[-1.0], 0.5), (SolverStatus::Converged, vec![]));
    assert_eq!(
        of(&[0.0], &[-1.0], 0.0),
        (SolverStatus::Infeasible, vec![lemke])
    );
    // Feasible, without solution: only the search knows.
    let found = of(&[-1.0, 1.0, 0.0, 0.0], &[-1.0, 1.0], 0.0);
    assert_eq!(found, (SolverStatus::NoSolution, vec![lemke, search]));
}
