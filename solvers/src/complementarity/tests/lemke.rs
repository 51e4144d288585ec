//! Lemke's method against the search through all bases, and on examples known to cycle or to take many pivots.

use super::classes::{self, CLASSES, Class};
use crate::complementarity::{BoxProblem, Enumeration, Lemke, LemkeSettings};
use crate::random::Random;
use crate::{Goal, SolverReport, SolverStatus, natural_map};

const TOLERANCE: f64 = 1e-9;

pub(super) fn lemke(problem: &BoxProblem) -> (SolverReport, Vec<f64>) {
    let mut z = vec![0.0; problem.len()];
    let mut solver = Lemke::new(LemkeSettings { max_pivots: 20_000 });
    let report = solver
        .solve_box(problem, &mut z, &Goal::scaled(TOLERANCE))
        .unwrap();
    (report, z)
}

/// Counts of a run, for the failure message.
#[derive(Debug, Default)]
struct Counts {
    solved: usize,
    infeasible: usize,
    rays: usize,
    none: usize,
}

/// Solves a problem both ways and compares; what the class promises beyond is checked by the caller.
fn compare(
    problem: &BoxProblem,
    search: &mut Enumeration,
    counts: &mut Counts,
) -> (SolverReport, bool) {
    let (report, z) = lemke(problem);
    let n = problem.len();
    let found = search
        .solve_box(problem, &mut vec![0.0; n], &Goal::scaled(TOLERANCE))
        .unwrap();
    let has_solution = !search.solutions().is_empty();
    assert_eq!(has_solution, found.converged(), "{problem:?} {found:?}");
    match report.status {
        SolverStatus::Converged => {
            counts.solved += 1;
            let residual = natural_map::stored(&problem.to_stored().unwrap(), &z);
            assert!(residual.whole() <= TOLERANCE, "{problem:?} {z:?}");
            assert!(has_solution, "{problem:?} {z:?}");
            if search.is_unique() == Some(true) {
                let only = &search.solutions()[0];
                let apart = z.iter().zip(only).map(|(a, b)| (a - b).abs());
                assert!(
                    apart.fold(0.0, f64::max) < 1e-5,
                    "{problem:?} {z:?} {only:?}"
                );
            }
        }
        SolverStatus::Infeasible => {
            counts.infeasible += 1;
            assert!(!has_solution, "{problem:?}: {:?}", search.solutions());
        }
        SolverStatus::Ray => {
            counts.rays += 1;
            counts.none += usize::from(!has_solution);
        }
        _ => panic!("{report:?} {problem:?}"),
    }
    (report, has_solution)
}

/// What theory promises: a solution of P-matrices and strictly copositive ones; of copositive-plus ones a solution or a certificate.
fn against_enumeration(count: u64) {
    for class in CLASSES {
        let mut counts = Counts::default();
        let mut search = Enumeration::default();
        for seed in 0..count {
            let mut random = Random::new(seed ^ 0x5EED);
            let n = 1 + random.below(6);
            let problem = classes::problem(class, n, &mut random);
            let (report, has_solution) = compare(&problem, &mut search, &mut counts);
            match class {
                Class::P => {
                    assert!(report.converged(), "{seed} {report:?} {problem:?}");
                    assert_eq!(search.is_unique(), Some(true), "{seed} {problem:?}");
                }
                Class::StrictlyCopositive => {
                    assert!(report.converged(), "{seed} {report:?} {problem:?}");
                }
                Class::SemiDefinite | Class::Monotone => {
                    assert_eq!(report.converged(), has_solution, "{seed} {problem:?}");
                    let infeasible = report.status == SolverStatus::Infeasible;
                    assert_eq!(infeasible, !has_solution, "{seed} {problem:?} {report:?}");
                }
                Class::Copositive | Class::Degenerate => {}
            }
        }
        println!("{class:?}: {counts:?}");
    }
}

#[test]
fn lemke_and_the_search_through_all_bases_agree_on_all_classes() {
    against_enumeration(10_000 / CLASSES.len() as u64 + 1);
}

#[test]
#[ignore = "10⁵ problems"]
fn lemke_and_the_search_through_all_bases_agree_on_a_hundred_thousand() {
    against_enumeration(100_000 / CLASSES.len() as u64 + 1);
}

#[test]
fn bounded_boxes_always_have_a_solution_and_lemke_finds_it() {
    let mut counts = Counts::default();
    let mut search = Enumeration::default();
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(5);
        let class = CLASSES[random.below(CLASSES.len())];
        let problem = classes::relays(class, n, &mut random);
        let (report, has_solution) = compare(&problem, &mut search, &mut counts);
        assert!(
            report.converged() && has_solution,
            "{seed} {report:?} {problem:?}"
        );
    }
}

#[test]
fn boxes_of_all_kinds_with_free_rows_agree_with_the_search() {
    let mut search = Enumeration::default();
    for class in CLASSES {
        let mut counts = Counts::default();
        for seed in 0..1_000 {
            let mut random = Random::new(seed ^ 77);
            let n = 1 + random.below(5);
            let problem = classes::boxes(class, n, true, &mut random);
            let (report, has_solution) = compare(&problem, &mut search, &mut counts);
            if matches!(class, Class::P) {
                assert!(report.converged(), "{seed} {report:?} {problem:?}");
            }
            if matches!(class, Class::SemiDefinite | Class::Monotone) {
                assert_eq!(
                    report.converged(),
                    has_solution,
                    "{seed} {report:?} {problem:?}"
                );
            }
        }
        println!("{class:?}: {counts:?}");
    }
}

/// Integers of low rank at sixty rows: ties in nearly every pivot.
#[test]
fn larger_problems_are_solved_to_rounding_or_refuted() {
    for class in [
        Class::P,
        Class::SemiDefinite,
        Class::Monotone,
        Class::StrictlyCopositive,
    ] {
        let (mut solved, mut pivots) = (0, 0);
        for seed in 0..20 {
            let problem = classes::problem(class, 60, &mut Random::new(seed));
            let (report, _) = lemke(&problem);
            let monotone = matches!(class, Class::SemiDefinite | Class::Monotone);
            let refuted = monotone && report.status == SolverStatus::Infeasible;
            assert!(report.converged() || refuted, "{class:?} {seed} {report:?}");
            solved += usize::from(report.converged());
            pivots = pivots.max(report.iterations);
        }
        println!("{class:?}: {solved} of 20 solved, at most {pivots} pivots");
    }
}
