//! Equalities and intervals that contradict one another, or that no impulse can meet: no form of the problem and no solver
//! calls them solved, whatever the tolerance.

use crate::solvers;
use glam::{DMat3, DVec3};
use moreau_solvers::{
    Auto, FactoredProblem, Goal, Interaction, InverseMass, Law, Solver, SolverStatus,
    StoredProblem, WorldTwist,
};

const INFINITE: f64 = f64::INFINITY;

/// A body of 1 kg and one that is fixed.
const MASSES: [InverseMass; 2] = [
    InverseMass {
        linear: 1.0,
        angular: DMat3::IDENTITY,
    },
    InverseMass::FIXED,
];
const TWISTS: [WorldTwist; 3] = [WorldTwist {
    linear: DVec3::ZERO,
    angular: DVec3::ZERO,
}; 3];

/// `u_k = sign (v_0 − v_1)_k + d_k` with `d = (offset, 0, …)`.
fn tie(law: Law, sign: f64, offset: f64) -> Interaction {
    let mut tie = Interaction::new([0, 1], law);
    for row in 0..law.rows() {
        tie.rows[row][row] = sign;
        tie.rows[row][6 + row] = -sign;
    }
    tie.offset[0] = offset;
    tie
}

/// The status of both forms.
fn statuses(masses: &[InverseMass], interactions: &[Interaction], goal: f64) -> [SolverStatus; 2] {
    let problem = FactoredProblem {
        inverse_mass: masses,
        free_twist: &TWISTS[..masses.len()],
        contacts: &[],
        interactions,
        positions: &[],
        pull: &[],
    };
    let goal = Goal::scaled(goal);
    let mut r = vec![0.0; problem.rows()];
    let mut auto = Auto::default();
    let factored = auto.solve_factored(&problem, &mut r, &mut Vec::new(), &goal);
    let mut r = vec![0.0; problem.rows()];
    let stored = auto.solve(&problem.assemble(), &mut r, &goal);
    [factored, stored].map(|report| report.unwrap().status)
}

/// Two laws ask one velocity for two values.
#[test]
fn laws_that_contradict_one_another_are_infeasible_in_both_forms() {
    let free = Law::interval(-INFINITE, INFINITE);
    let pushes = Law::interval(-0.3, INFINITE);
    let pairs = [
        (Law::equality(1), Law::equality(1), 1.0),
        (Law::equality(6), Law::equality(6), 1.0),
        (free, free, 1.0),
        (pushes, pushes, -1.0),
        (pushes, Law::equality(1), -1.0),
        (Law::equality(1), Law::Complementarity, 1.0),
    ];
    for (first, second, sign) in pairs {
        let both = [tie(first, 1.0, -1.0), tie(second, sign, -2.0)];
        for goal in [1e-2, 1e-4, 1e-6, 1e-8] {
            let found = statuses(&MASSES, &both, goal);
            let expected = [SolverStatus::Infeasible; 2];
            assert_eq!(found, expected, "{first:?} and {second:?} to {goal:e}");
        }
    }
}

/// The same laws with the same values have solutions.
#[test]
fn laws_that_say_the_same_twice_are_solved_in_both_forms() {
    let pushes = Law::interval(-0.3, INFINITE);
    let pairs = [
        (Law::equality(6), Law::equality(6)),
        (pushes, Law::equality(1)),
        (Law::equality(1), Law::Complementarity),
    ];
    for (first, second) in pairs {
        let both = [tie(first, 1.0, -2.0), tie(second, 1.0, -2.0)];
        for goal in [1e-2, 1e-8] {
            let found = statuses(&MASSES, &both, goal);
            assert_eq!(found, [SolverStatus::Converged; 2], "{first:?}, {second:?}");
        }
    }
}

/// Both bodies are fixed: a velocity between them stays.
#[test]
fn a_velocity_that_no_impulse_changes_is_infeasible_in_both_forms() {
    let fixed = [InverseMass::FIXED; 2];
    let laws = [
        (Law::equality(1), 1.0),
        (Law::equality(6), -1.0),
        (Law::interval(-INFINITE, INFINITE), 1.0),
        (Law::interval(-0.1, INFINITE), -1.0),
        (Law::interval(-INFINITE, 0.1), 1.0),
        (Law::Complementarity, -1.0),
    ];
    for (law, offset) in laws {
        let found = statuses(&fixed, &[tie(law, 1.0, offset)], 1e-8);
        assert_eq!(found, [SolverStatus::Infeasible; 2], "{law:?}");
        let at_rest = statuses(&fixed, &[tie(law, 1.0, 0.0)], 1e-8);
        assert_eq!(at_rest, [SolverStatus::Converged; 2], "{law:?}");
    }
    // At an end of its interval a relay has an impulse for every velocity.
    let relay = tie(Law::interval(-0.1, 0.2), 1.0, 1.0);
    assert_eq!(
        statuses(&fixed, &[relay], 1e-8),
        [SolverStatus::Converged; 2]
    );
}

#[test]
fn no_solver_calls_contradicting_equalities_solved() {
    let w = [vec![1.0, 1.0], vec![1.0, 1.0]];
    let free = Law::interval(-INFINITE, INFINITE);
    for (laws, q) in [
        ([Law::equality(1); 2], [1.0, 2.0]),
        ([free, Law::equality(1)], [0.0, 1.0]),
    ] {
        let problem: StoredProblem = crate::reference::from_dense(&laws, &w, &q).unwrap();
        for (name, mut solver) in solvers::all() {
            for goal in [1e-4, 1e-8] {
                let mut r = [0.0; 2];
                let report = solver.solve(&problem, &mut r, &Goal::scaled(goal)).unwrap();
                assert_eq!(report.status, SolverStatus::Infeasible, "{name}: {r:?}");
            }
        }
    }
}
