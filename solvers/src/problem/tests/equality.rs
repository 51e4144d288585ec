//! Equalities between contacts: blocks of 1 to 7 rows, before, between and after contacts.

use crate::random::Random;
use crate::{
    Admm, AlartCurnierNewton, Auto, FactoredProblem, Goal, Interaction, InverseMass, Law, Nsgs,
    NsgsSettings, ProblemError, ProximalNewton, Solver, SparseMatrix, StoredProblem, WorldTwist,
    natural_map,
};

/// `W = AᵀA + I` of random `A`, with the laws in this order.
fn random_problem(seed: u64, laws: &[Law]) -> StoredProblem {
    let mut random = Random::new(seed);
    let n = laws.iter().map(Law::rows).sum();
    let a: Vec<Vec<f64>> = (0..n)
        .map(|_| (0..n).map(|_| random.uniform(-0.5, 0.5)).collect())
        .collect();
    let entry = |i: usize, j: usize| {
        let sum: f64 = a.iter().map(|row| row[i] * row[j]).sum();
        (i, j, sum + f64::from(u8::from(i == j)))
    };
    let entries = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let w = SparseMatrix::from_triplets(n, n, entries.map(|(i, j)| entry(i, j))).unwrap();
    let q: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
    StoredProblem::new(laws, &w, &q).unwrap()
}

/// The rows of the interactions in another order.
fn reordered(problem: &StoredProblem, order: &[usize]) -> (StoredProblem, Vec<usize>) {
    let mut first = vec![0];
    for law in problem.laws() {
        first.push(first[first.len() - 1] + law.rows());
    }
    let rows: Vec<usize> = order
        .iter()
        .flat_map(|k| first[*k]..first[*k + 1])
        .collect();
    let n = rows.len();
    let mut w = Vec::new();
    let q = problem.free_velocity();
    for (j, column) in rows.iter().enumerate() {
        let unit: Vec<f64> = (0..n).map(|k| f64::from(u8::from(k == *column))).collect();
        let u = problem.velocity_under(&unit);
        w.extend(
            rows.iter()
                .enumerate()
                .map(|(i, row)| (i, j, u[*row] - q[*row])),
        );
    }
    let laws: Vec<_> = order.iter().map(|k| problem.laws()[*k]).collect();
    let w = SparseMatrix::from_triplets(n, n, w).unwrap();
    let q: Vec<_> = rows.iter().map(|row| q[*row]).collect();
    (StoredProblem::new(&laws, &w, &q).unwrap(), rows)
}

const LAWS: [Law; 6] = [
    Law::equality(1),
    Law::coulomb(0.4),
    Law::equality(7),
    Law::planar(0.2),
    Law::equality(2),
    Law::coulomb(0.1),
];

fn solvers() -> [(&'static str, Box<dyn Solver>); 5] {
    [
        ("nsgs", Box::new(Nsgs::default())),
        ("newton", Box::new(ProximalNewton::default())),
        ("admm", Box::new(Admm::default())),
        ("alart-curnier", Box::new(AlartCurnierNewton::default())),
        ("auto", Box::new(Auto::default())),
    ]
}

/// `W ≥ 1`: residuals of 1e-11 leave 1e-9 of multipliers below 10.
#[test]
fn the_order_of_the_interactions_does_not_matter() {
    for seed in 0..8 {
        let mixed = random_problem(seed, &LAWS);
        let (sorted, rows) = reordered(&mixed, &[1, 3, 5, 0, 2, 4]);
        for (name, mut solver) in solvers() {
            let mut answers = Vec::new();
            for problem in [&mixed, &sorted] {
                let mut r = vec![0.0; problem.rows()];
                let goal = Goal::both(1e-11);
                let report = solver.solve(problem, &mut r, &goal).unwrap();
                assert!(report.converged(), "{seed} {name}: {report:?}");
                assert_eq!(natural_map::stored(problem, &r), report.residual);
                assert!(report.residual.constraint_velocity <= 1e-9);
                answers.push(r);
            }
            for (there, row) in rows.iter().enumerate() {
                let difference = answers[0][*row] - answers[1][there];
                assert!(difference.abs() <= 1e-9, "{seed} {name}: {difference:e}");
            }
        }
    }
}

/// One equality is one linear solve: a sweep without momentum ends at rounding.
#[test]
fn one_block_is_solved_by_one_sweep() {
    for rows in 1..=9 {
        let problem = random_problem(rows as u64, &[Law::equality(rows)]);
        let mut r = vec![0.0; rows];
        let mut solver = Nsgs::new(NsgsSettings {
            max_sweeps: 1,
            ..NsgsSettings::default()
        });
        let report = solver
            .solve(&problem, &mut r, &Goal::scaled(1e-13))
            .unwrap();
        assert!(report.converged() && report.iterations == 1, "{report:?}");
    }
}

/// The same row twice and a row of zeros: the velocity vanishes, and equal rows get equal multipliers, zero rows none, as
/// the solution of least norm has it.
#[test]
fn a_singular_block_gets_the_multipliers_of_least_norm() {
    let entries = [
        (0, 0, 2.0),
        (0, 1, 2.0),
        (1, 0, 2.0),
        (1, 1, 2.0),
        (3, 3, 5.0),
    ];
    let w = SparseMatrix::from_triplets(4, 4, entries).unwrap();
    let laws = [Law::equality(3), Law::equality(1)];
    let problem = StoredProblem::new(&laws, &w, &[-3.0, -3.0, 0.0, 1.0]).unwrap();
    for (name, mut solver) in solvers() {
        if name == "alart-curnier" {
            continue; // needs a regular matrix
        }
        let mut r = vec![0.0; 4];
        let report = solver
            .solve(&problem, &mut r, &Goal::scaled(1e-12))
            .unwrap();
        assert!(report.converged(), "{name}: {report:?}");
        for (found, expected) in r.iter().zip([0.75, 0.75, 0.0, -0.2]) {
            assert!((found - expected).abs() <= 1e-11, "{name}: {r:?}");
        }
    }
}

/// A hostile number of rows is an error of lengths, not an overflow.
#[test]
fn countless_rows_are_refused() {
    let w = SparseMatrix::from_triplets(1, 1, [(0, 0, 1.0)]).unwrap();
    let laws = [Law::equality(usize::MAX), Law::equality(2)];
    let refused = StoredProblem::new(&laws, &w, &[0.0]);
    assert!(
        matches!(refused, Err(ProblemError::Length { .. })),
        "{refused:?}"
    );
    for (rows, what) in [(0, "rows"), (7, "number of rows")] {
        let interaction = Interaction::new([0, 1], Law::equality(rows));
        let problem = FactoredProblem {
            inverse_mass: &[InverseMass::FIXED; 2],
            free_twist: &[WorldTwist::default(); 2],
            contacts: &[],
            interactions: &[interaction],
            positions: &[],
            pull: &[],
        };
        let mut r = vec![0.0; rows];
        let solved =
            Auto::default().solve_factored(&problem, &mut r, &mut Vec::new(), &Goal::scaled(1e-8));
        let error = matches!(&solved, Err(ProblemError::Law { what: found, .. }) if *found == what);
        assert!(error, "{solved:?}");
    }
}
