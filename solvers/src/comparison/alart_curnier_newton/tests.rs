use super::*;
use crate::random::{OwnedProblem, Random};
use crate::{
    Delassus, InverseMass, Nsgs, SolverStatus, SparseMatrix, WorldTwist, natural_map, rows_of,
    rows_of_mut,
};

/// Few contacts between many bodies: `W` has full rank.
fn regular(seed: u64) -> OwnedProblem {
    OwnedProblem::random(seed, 16, 16)
}

/// `M v = H r + f` of a factored problem with diagonal inertias, the contacts' `G` as `Hᵀ`.
fn global(problem: &OwnedProblem) -> GlobalProblem {
    let free: Vec<usize> = (0..problem.inverse_mass.len())
        .filter(|j| !problem.inverse_mass[*j].is_fixed())
        .collect();
    let place = |body: usize| free.iter().position(|j| *j == body);
    let n = 6 * free.len();
    let (mut mass, mut kinematic, mut force) = (Vec::new(), Vec::new(), vec![0.0; n]);
    for (k, body) in free.iter().enumerate() {
        let (inverse, twist) = (&problem.inverse_mass[*body], &problem.free_twist[*body]);
        let inertia = inverse.angular.inverse();
        for i in 0..3 {
            mass.push((6 * k + i, 6 * k + i, 1.0 / inverse.linear));
            force[6 * k + i] = twist.linear[i] / inverse.linear;
            force[6 * k + 3 + i] = (inertia * twist.angular)[i];
            for j in 0..3 {
                mass.push((6 * k + 3 + i, 6 * k + 3 + j, inertia.col(j)[i]));
            }
        }
    }
    let mut offset = Vec::new();
    for (alpha, contact) in problem.contacts.iter().enumerate() {
        let mut w = contact.offset;
        for (side, sign) in [(0, 1.0), (1, -1.0)] {
            let body = contact.bodies[side] as usize;
            let WorldTwist { linear, angular } = problem.free_twist[body];
            for (axis, column) in contact.frame.to_cols_array_2d().into_iter().enumerate() {
                let direction = DVec3::from(column) * sign;
                let turned = contact.arms[side].cross(direction);
                match place(body) {
                    Some(k) => {
                        for i in 0..3 {
                            kinematic.push((6 * k + i, 3 * alpha + axis, direction[i]));
                            kinematic.push((6 * k + 3 + i, 3 * alpha + axis, turned[i]));
                        }
                    }
                    None => w[axis] += direction.dot(linear) + turned.dot(angular),
                }
            }
        }
        offset.extend(w.to_array());
    }
    GlobalProblem {
        mass: SparseMatrix::from_triplets(n, n, mass).unwrap(),
        kinematic: SparseMatrix::from_triplets(n, offset.len(), kinematic).unwrap(),
        force,
        offset,
        laws: problem
            .contacts
            .iter()
            .map(|c| Law::coulomb(c.friction))
            .collect(),
    }
}

fn solver(first_sweeps: usize) -> AlartCurnierNewton {
    AlartCurnierNewton::new(AlartCurnierNewtonSettings {
        first_sweeps,
        ..AlartCurnierNewtonSettings::default()
    })
}

/// Quadratic: once the residual is below 1e-3, the next one is at most `100 e²` (measured: the
/// constant is below 15), or rounding, which the condition of `W` (some 100) takes to 1e-13.
#[test]
fn convergence_is_quadratic_where_w_is_regular() {
    let (mut seen, mut solved) = (0, 0);
    for seed in 0..40 {
        let problem = regular(seed).view().assemble();
        let mut solver = solver(3);
        let mut r = vec![DVec3::ZERO; problem.len()];
        let report = solver
            .solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-13))
            .unwrap();
        solved += usize::from(report.residual.scaled <= 1e-12);
        let steps: Vec<_> = solver.history().samples().iter().collect();
        for pair in steps.windows(2).filter(|p| p[1].factorizations > 0) {
            let (before, after) = (pair[0].scaled, pair[1].scaled);
            if before < 1e-3 {
                seen += 1;
                assert!(
                    after <= 100.0 * before * before + 1e-13,
                    "{before:e} {after:e}"
                );
            }
        }
    }
    assert!(seen >= 20 && solved >= 35, "{seen} steps, {solved} solved");
}

/// Where `W` is regular and friction moderate the solution is unique, and both residuals of 1e-12
/// differ by the condition of the problem.
#[test]
fn it_agrees_with_gauss_seidel() {
    for seed in 0..20 {
        let problem = regular(seed).view().assemble();
        let (mut r, mut other) = (
            vec![DVec3::ZERO; problem.len()],
            vec![DVec3::ZERO; problem.len()],
        );
        let goal = Goal::scaled(1e-12);
        let report = solver(3)
            .solve(&problem, rows_of_mut(&mut r), &goal)
            .unwrap();
        let reference = Nsgs::default()
            .solve(&problem, rows_of_mut(&mut other), &goal)
            .unwrap();
        if !reference.converged() {
            continue;
        }
        assert!(report.converged(), "{seed}: {report:?}");
        for (r, other) in r.iter().zip(&other) {
            assert!((*r - *other).length() <= 1e-9, "{seed}: {r} {other}");
        }
    }
}

#[test]
fn all_line_searches_and_penalties_converge() {
    for (line_search, memory, penalty) in [
        (LineSearch::Armijo, 1, [1.0, 1.0]),
        (LineSearch::Armijo, 5, [0.5, 2.0]),
        (LineSearch::GoldsteinPrice, 5, [1.0, 1.0]),
        (LineSearch::GoldsteinPrice, 1, [2.0, 0.5]),
    ] {
        let mut solved = 0;
        for seed in 0..20 {
            let problem = regular(seed).view().assemble();
            let mut r = vec![DVec3::ZERO; problem.len()];
            let mut solver = AlartCurnierNewton::new(AlartCurnierNewtonSettings {
                line_search,
                memory,
                penalty,
                first_sweeps: 3,
                ..AlartCurnierNewtonSettings::default()
            });
            let report = solver
                .solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-11))
                .unwrap();
            solved += usize::from(report.converged());
        }
        assert!(
            solved >= 18,
            "{line_search:?} {memory} {penalty:?}: {solved}"
        );
    }
}

/// A cube on four corners that stick: twelve rows of `W`, rank six.
fn four_corners() -> OwnedProblem {
    let corner = |x: f64, y: f64| crate::Contact {
        bodies: [1, 0],
        frame: DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y),
        arms: [DVec3::new(x, y, -0.5), DVec3::new(x, y, 0.0)],
        offset: DVec3::ZERO,
        friction: 0.5,
    };
    OwnedProblem {
        inverse_mass: vec![
            InverseMass::FIXED,
            InverseMass {
                linear: 1.0,
                angular: DMat3::IDENTITY * 6.0,
            },
        ],
        free_twist: vec![
            WorldTwist::default(),
            WorldTwist {
                linear: DVec3::new(0.1, 0.2, -1.0),
                angular: DVec3::new(0.01, -0.02, 0.03),
            },
        ],
        contacts: [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)]
            .map(|(x, y)| corner(x, y))
            .to_vec(),
    }
}

/// No sweeps help Newton here, and whatever it does is said: the residual is that of the impulse,
/// and a solve that did not converge names its reason.
#[test]
fn a_rank_deficient_problem_is_reported() {
    let problem = four_corners();
    let stored = problem.view().assemble();
    let global = global(&problem);
    let goal = Goal::scaled(1e-14);
    for form in 0..2 {
        let mut solver = solver(1);
        let mut r = vec![DVec3::ZERO; 4];
        let (report, judged) = if form == 0 {
            let report = solver.solve(&stored, rows_of_mut(&mut r), &goal).unwrap();
            (report, natural_map::stored(&stored, rows_of(&r)))
        } else {
            let report = solver
                .solve_global(&global, rows_of_mut(&mut r), &goal)
                .unwrap();
            (
                report,
                natural_map::stored(&global.condense().unwrap(), rows_of(&r)),
            )
        };
        assert_eq!(report.residual, judged);
        assert!(report.converged() || solver.failure().is_some());
        assert!(report.factorizations > 0);
        assert!(report.residual.scaled.is_finite());
    }
}

/// Twice the same row: singular to the bit.
#[test]
fn a_singular_matrix_is_named() {
    let rows = vec![(0..2).map(|j| (j, DMat3::IDENTITY)).collect(); 2];
    let problem = StoredProblem::of_contacts(
        Delassus::from_rows(rows),
        vec![
            DVec3::new(-1.0, 0.1, 0.0),
            DVec3::new(-1.0 - 1e-3, 0.1, 0.0),
        ],
        vec![0.5; 2],
    );
    let mut solver = solver(0);
    let mut r = vec![DVec3::X * 0.5; 2];
    let report = solver
        .solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-12))
        .unwrap();
    assert!(!report.converged());
    assert_eq!(solver.failure(), Some(Failure::Singular));
}

/// Both forms take the same steps: the same iterates up to the condition of the matrices.
#[test]
fn the_global_form_takes_the_same_steps() {
    let mut compared = 0;
    for seed in 0..20 {
        let problem = regular(seed);
        let (stored, global) = (problem.view().assemble(), global(&problem));
        let condensed = global.condense().unwrap();
        for (a, b) in condensed.free_velocity.iter().zip(&stored.free_velocity) {
            assert!((*a - *b).length() < 1e-12);
        }
        let [mut r, mut other] = [(); 2].map(|()| vec![DVec3::ZERO; stored.len()]);
        let goal = Goal::scaled(1e-12);
        let (mut reduced, mut with_velocities) = (solver(20), solver(20));
        let report = reduced.solve(&stored, rows_of_mut(&mut r), &goal).unwrap();
        let same = with_velocities
            .solve_global(&global, rows_of_mut(&mut other), &goal)
            .unwrap();
        assert_eq!(
            same.residual,
            natural_map::stored(&condensed, rows_of(&other))
        );
        if !report.converged() {
            continue;
        }
        compared += 1;
        assert!(same.converged(), "{seed}: {same:?}");
        assert_eq!(report.iterations, same.iterations, "{seed}");
        for (r, other) in r.iter().zip(&other) {
            assert!((*r - *other).length() <= 1e-9, "{seed}: {r} {other}");
        }
    }
    assert!(compared >= 15, "{compared}");
}

#[test]
fn bad_input_of_the_global_form_is_an_error_and_changes_nothing() {
    let good = global(&regular(0));
    let before = vec![DVec3::new(1.0, -0.0, 2.0); good.len()];
    let mut nan = good.clone();
    nan.force[7] = f64::NAN;
    let mut slippery = good.clone();
    slippery.laws[3] = Law::coulomb(-0.1);
    let massless = GlobalProblem {
        mass: SparseMatrix::from_triplets(good.force.len(), good.force.len(), []).unwrap(),
        ..good.clone()
    };
    for problem in [nan, slippery, massless] {
        let mut r = before.clone();
        let error = solver(1).solve_global(&problem, rows_of_mut(&mut r), &Goal::default());
        assert!(error.is_err());
        assert_eq!(r, before);
    }
    let mut short = vec![DVec3::ZERO; 2];
    assert!(
        solver(1)
            .solve_global(&good, rows_of_mut(&mut short), &Goal::default())
            .is_err()
    );
}

/// From far away with few steps: whatever happens, the budget holds.
#[test]
fn the_budget_holds() {
    for seed in 0..10 {
        let problem = OwnedProblem::random(seed, 6, 30).view().assemble();
        let mut random = Random::new(seed);
        let mut r: Vec<_> = (0..30).map(|_| random.vector()).collect();
        let mut solver = AlartCurnierNewton::new(AlartCurnierNewtonSettings {
            max_factorizations: 3,
            first_sweeps: 2,
            ..AlartCurnierNewtonSettings::default()
        });
        let report = solver
            .solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-12))
            .unwrap();
        // The last step may take both factorisations.
        assert!(
            report.factorizations <= 4 && report.iterations == 2,
            "{report:?}"
        );
        let open = matches!(
            report.status,
            SolverStatus::Stopped | SolverStatus::Converged
        );
        assert!(open, "{report:?}");
        assert_eq!(report.residual, natural_map::stored(&problem, rows_of(&r)));
    }
}
