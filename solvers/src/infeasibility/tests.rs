//! Certificates are found where there is no solution, never where there is one.

use super::*;
use crate::random::{OwnedProblem, Random, of_triples, random_contact};
use crate::{Admm, AdmmSettings, Delassus, Goal, Solver, rows_of, rows_of_mut};
use glam::DMat3;

/// A cluster of random bodies with a ball between two closing walls in it.
fn squeezed(seed: u64, closing: f64) -> StoredProblem {
    let mut owned = OwnedProblem::random(seed, 8, 12);
    let mut random = Random::new(seed);
    let fixed = owned.inverse_mass[0];
    let walls = [owned.inverse_mass.len(), owned.inverse_mass.len() + 1];
    for sign in [1.0, -1.0] {
        owned.inverse_mass.push(fixed);
        let mut twist = owned.free_twist[0];
        twist.linear = DVec3::Z * (sign * closing);
        owned.free_twist.push(twist);
    }
    for (wall, sign) in walls.into_iter().zip([1.0, -1.0]) {
        let mut contact = random_contact(&mut random, [3, wall]);
        let n = DVec3::Z * sign;
        contact.frame = DMat3::from_cols(n, DVec3::X, n.cross(DVec3::X));
        contact.arms = [-n * 0.5, DVec3::ZERO];
        contact.offset = DVec3::ZERO;
        owned.contacts.push(contact);
    }
    owned.view().assemble()
}

#[test]
fn walls_that_close_are_proved_to_have_no_solution() {
    for seed in 0..10 {
        let problem = squeezed(seed, 0.1);
        let mut r = vec![DVec3::ZERO; problem.len()];
        let mut admm = Admm::new(AdmmSettings::default());
        let report = admm
            .solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-8))
            .unwrap();
        assert_eq!(report.status, SolverStatus::Infeasible, "seed {seed}");
        assert!(report.iterations <= 1600, "seed {seed}: {report:?}");
    }
}

#[test]
fn walls_that_open_are_not() {
    for seed in 0..10 {
        let problem = squeezed(seed, -0.1);
        let mut r = vec![DVec3::ZERO; problem.len()];
        let mut admm = Admm::new(AdmmSettings::default());
        let report = admm
            .solve(&problem, rows_of_mut(&mut r), &Goal::scaled(1e-8))
            .unwrap();
        assert!(report.converged(), "seed {seed}: {report:?}");
        let mut random = Random::new(seed);
        for _ in 0..20 {
            let any: Vec<_> = r.iter().map(|_| random.vector() + DVec3::X).collect();
            assert!(certificate(&problem, rows_of(&any)).is_none());
            assert_eq!(classify(&problem, &any), None);
        }
    }
}

/// The check of a certificate by hand: `Wᵀy = 0` to rounding and `qᵀy < 0`.
#[test]
fn the_direction_returned_proves_it() {
    let problem = squeezed(3, 0.1);
    let n = problem.len();
    let mut rough = vec![DVec3::ZERO; n];
    rough[n - 2] = DVec3::new(1.0, 0.3, 0.0);
    rough[n - 1] = DVec3::new(1.1, 0.0, -0.2);
    let proof = certificate(&problem, rows_of(&rough)).unwrap();
    let direction: Vec<_> = proof.direction.chunks(3).map(DVec3::from_slice).collect();
    let gain: f64 = (0..n)
        .map(|i| direction[i].dot(problem.free_velocity[i]))
        .sum();
    assert!(gain < 0.0 && proof.least_impulse >= UNBOUNDED);
    for y in &direction {
        assert!(y.x >= 0.0 && y.y == 0.0 && y.z == 0.0);
    }
    for column in 0..n {
        let sum: DVec3 = (0..n)
            .map(|row| problem.delassus.block(row, column).transpose() * direction[row])
            .sum();
        assert!(sum.length() <= 1e-13, "{column}: {sum}");
    }
}

#[test]
fn a_contact_that_nothing_moves_and_that_closes_is_a_proof() {
    let mut problem = StoredProblem::of_contacts(
        Delassus::from_rows(vec![vec![(0, DMat3::ZERO)], vec![(1, DMat3::IDENTITY)]]),
        vec![-DVec3::X; 2],
        vec![0.5; 2],
    );
    let status = classify(&problem, &[DVec3::ZERO; 2]);
    assert_eq!(status, Some(SolverStatus::Infeasible));
    assert!(certificate(&problem, rows_of(&[DVec3::X, DVec3::ZERO])).is_some());
    problem.free_velocity[0] = DVec3::Y;
    assert_eq!(classify(&problem, &[DVec3::ZERO; 2]), None);
}

/// A joint that is asked for a velocity it cannot have: `W = 0` on its block, `q ≠ 0`.
#[test]
fn a_joint_that_cannot_close_is_a_proof() {
    let [contact, joint] = [Law::coulomb(0.5), Law::equality(3)];
    let w = |first, second| Delassus::from_rows(vec![vec![(0, first)], vec![(1, second)]]);
    let (one, none) = (DMat3::IDENTITY, DMat3::ZERO);
    let after = of_triples(&[contact, joint], w(one, none), vec![-DVec3::X, DVec3::Y]);
    let before = of_triples(&[joint, contact], w(none, one), vec![DVec3::Y, -DVec3::X]);
    let cases = [
        (after, [DVec3::X, DVec3::ZERO]),
        (before, [DVec3::ZERO, DVec3::X]),
    ];
    for (problem, impulse) in cases {
        let status = classify(&problem, &impulse);
        assert_eq!(status, Some(SolverStatus::Infeasible));
    }
}

#[test]
fn huge_and_undefined_impulses_are_unbounded() {
    let problem = StoredProblem::of_contacts(
        Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
        vec![-DVec3::X],
        vec![0.5],
    );
    for size in [1e9, 1e200, f64::NAN, f64::INFINITY] {
        let status = classify(&problem, &[DVec3::X * size]);
        assert_eq!(status, Some(SolverStatus::Unbounded), "{size}");
    }
    assert_eq!(classify(&problem, &[DVec3::X * 1e7]), None);
}

/// `e_scaled` has no scale for a negative diagonal, and the squares of such an impulse overflow.
#[test]
fn an_impulse_that_overflows_is_no_solution() {
    let delassus = Delassus::from_rows(vec![vec![(0, -DMat3::IDENTITY)]]);
    let problem = StoredProblem::of_contacts(delassus, vec![-DVec3::X], vec![0.5]);
    let impulse = [DVec3::X * 1e300];
    let mut report = SolverReport {
        status: SolverStatus::Converged,
        residual: natural_map::stored(&problem, rows_of(&impulse)),
        ..SolverReport::default()
    };
    conclude(&problem, &impulse, &mut report);
    assert!(!report.converged(), "{report:?}");
}
