//! Problems of other laws than Coulomb's in space, and of several laws at once, on every solver that supports them.
//!
//! Problems are built from their answer: impulses and velocities that satisfy each law are chosen, and `q = u − W r`. `W` is
//! `AAᵀ/n + I`, so that errors of impulses are at most of the size of residuals of velocities, and coefficients of friction are
//! small enough for one answer: a residual of [`GOAL`] leaves [`SENSITIVITY`] times as much of it.

use crate::random::Random;
use crate::{GOAL, ROUNDING, reference, solvers};
use moreau_solvers::law::{Cohesion, EllipticCoulomb, RollingCoulomb};
use moreau_solvers::{Goal, Law, ProblemError, Solver, SolverReport, StoredProblem, natural_map};

/// Condition of the random matrices, and of the laws on them.
const SENSITIVITY: f64 = 1e3;

/// A problem and its answer.
struct Known {
    problem: StoredProblem,
    impulse: Vec<f64>,
}

/// `u` and `r` of one interaction, in one of the states of its law.
type State = (Vec<f64>, Vec<f64>);

fn direction(random: &mut Random) -> [f64; 2] {
    let angle = random.uniform(-3.2, 3.2);
    [libm::cos(angle), libm::sin(angle)]
}

/// Disc of radius `radius`: inside with `u = 0`, or at its edge with `u` against `r`.
fn disc(random: &mut Random, radius: f64) -> [[f64; 2]; 2] {
    let d = direction(random);
    if random.uniform(0.0, 1.0) < 0.5 {
        let part = radius * random.uniform(0.0, 0.9);
        [[0.0; 2], d.map(|d| d * part)]
    } else {
        let speed = random.uniform(0.1, 1.0);
        [d.map(|d| -d * speed), d.map(|d| d * radius)]
    }
}

fn state(random: &mut Random, law: &Law) -> State {
    let n = random.uniform(0.5, 2.0);
    let closed = random.uniform(0.0, 1.0) < 0.7;
    match law {
        Law::Equality(_) => {
            let r = (0..law.rows()).map(|_| random.uniform(-2.0, 2.0));
            (vec![0.0; law.rows()], r.collect())
        }
        Law::Complementarity if closed => (vec![0.0], vec![n]),
        Law::Complementarity => (vec![n], vec![0.0]),
        Law::Interval(law) => interval_state(random, law.low, law.high),
        Law::Ball(law) => ball_state(random, law.radius),
        _ if !closed => {
            // Apart: the shift is less than the opening, whatever the coefficients.
            let mut u = vec![3.0 * n];
            u.extend((1..law.rows()).map(|_| random.uniform(-0.3, 0.3)));
            let mut r = vec![0.0; law.rows()];
            if let Law::Cohesion(law) = law {
                r[0] = -law.pull_off;
            }
            (u, r)
        }
        Law::Coulomb(law) => contact(n, &[disc(random, law.friction * n)]),
        Law::PlanarCoulomb(law) => {
            let [[u, _], [r, _]] = disc(random, law.friction * n);
            // Only the sign of the direction is left; inside it is any point.
            let slides = u != 0.0;
            let edge = (law.friction * n).copysign(r);
            (vec![0.0, u], vec![n, if slides { edge } else { r }])
        }
        Law::Cohesion(law) => {
            let (u, mut r) = contact(n, &[disc(random, law.friction * n)]);
            r[0] -= law.pull_off;
            (u, r)
        }
        Law::EllipticCoulomb(law) => {
            // The disc of the stretched rows: r = D r̂, u = D⁻¹ û.
            let (mut u, mut r) = contact(n, &[disc(random, n)]);
            for (row, mu) in law.friction.into_iter().enumerate() {
                r[row + 1] *= mu;
                u[row + 1] /= mu;
            }
            (u, r)
        }
        Law::Rolling(law) => {
            let discs = [law.friction, law.rolling].map(|mu| disc(random, mu * n));
            let (mut u, mut r) = contact(n, &discs);
            if let Some(mu) = law.spinning {
                let [[spin, _], [couple, _]] = disc(random, mu * n);
                let edge = (mu * n).copysign(couple);
                u.push(spin);
                r.push(if spin == 0.0 { couple } else { edge });
            }
            (u, r)
        }
        other => panic!("no states of {other:?}"),
    }
}

fn contact(n: f64, discs: &[[[f64; 2]; 2]]) -> State {
    let (mut u, mut r) = (vec![0.0], vec![n]);
    for [velocity, impulse] in discs {
        u.extend(velocity);
        r.extend(impulse);
    }
    (u, r)
}

/// At one of the ends that are finite, or between them.
fn interval_state(random: &mut Random, low: f64, high: f64) -> State {
    let speed = random.uniform(0.1, 1.0);
    let [begin, end] = [low.max(-3.0), high.min(3.0)];
    let between = begin + (end - begin) * random.uniform(0.1, 0.9);
    match (
        random.uniform(0.0, 3.0) as usize,
        low.is_finite(),
        high.is_finite(),
    ) {
        (0, true, _) => (vec![speed], vec![low]),
        (1, _, true) => (vec![-speed], vec![high]),
        _ => (vec![0.0], vec![between]),
    }
}

/// Within the ball, or on the sphere with `u` against `r`.
fn ball_state(random: &mut Random, radius: f64) -> State {
    let ([c, s], z) = (direction(random), random.uniform(-1.0, 1.0));
    let flat = (1.0 - z * z).sqrt();
    let d = [c * flat, s * flat, z];
    if random.uniform(0.0, 1.0) < 0.5 {
        let part = radius * random.uniform(0.0, 0.9);
        (vec![0.0; 3], d.map(|d| d * part).to_vec())
    } else {
        let speed = random.uniform(0.1, 1.0);
        let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        let r = d.map(|d| d * (radius / length));
        (d.map(|d| -d * speed).to_vec(), r.to_vec())
    }
}

/// `AAᵀ/n + I`.
fn random_matrix(random: &mut Random, n: usize) -> Vec<Vec<f64>> {
    let a: Vec<Vec<f64>> = (0..n)
        .map(|_| (0..n).map(|_| random.uniform(-1.0, 1.0)).collect())
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let entry = |i: usize, j: usize| dot(&a[i], &a[j]) / n as f64 + f64::from(u8::from(i == j));
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

fn times(w: &[Vec<f64>], r: &[f64]) -> Vec<f64> {
    let dot = |row: &Vec<f64>| row.iter().zip(r).map(|(a, b)| a * b).sum();
    w.iter().map(dot).collect()
}

fn known(seed: u64, laws: &[Law]) -> Known {
    let mut random = Random(seed);
    let n = laws.iter().map(Law::rows).sum();
    let w = random_matrix(&mut random, n);
    let (mut u, mut impulse) = (Vec::new(), Vec::new());
    for law in laws {
        let (velocity, r) = state(&mut random, law);
        u.extend(velocity);
        impulse.extend(r);
    }
    let q: Vec<_> = u
        .iter()
        .zip(times(&w, &impulse))
        .map(|(u, wr)| u - wr)
        .collect();
    Known {
        problem: reference::from_dense(laws, &w, &q).unwrap(),
        impulse,
    }
}

/// `None` if the solver says that it does not know a law of the problem.
fn solve(
    solver: &mut dyn Solver,
    problem: &StoredProblem,
    goal: &Goal,
) -> Option<(SolverReport, Vec<f64>)> {
    let mut r = vec![0.0; problem.rows()];
    match solver.solve(problem, &mut r, goal) {
        Ok(report) => Some((report, r)),
        Err(ProblemError::Unsupported { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Every solver that knows the laws finds the answer.
fn check(what: &str, known: &Known) {
    let here = natural_map::stored(&known.problem, &known.impulse);
    assert!(here.scaled <= 10.0 * ROUNDING, "{what}: {here:?}");
    let size = known.impulse.iter().map(|r| r * r).sum::<f64>().sqrt();
    let mut solved = 0;
    let mut failed = Vec::new();
    for (name, mut solver) in solvers::all() {
        let goal = Goal::scaled(GOAL);
        let Some((report, r)) = solve(solver.as_mut(), &known.problem, &goal) else {
            continue;
        };
        assert_eq!(report.residual, natural_map::stored(&known.problem, &r));
        let pairs = r.iter().zip(&known.impulse);
        let error = pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        if !report.converged() || error > GOAL * SENSITIVITY * size {
            failed.push(format!("{what} on {name}: {error:e} off, {report:?}"));
        }
        solved += 1;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(solved >= solvers::all().len() - 1, "{what}: {solved}");
}

/// `0 ≤ w ⊥ z ≥ 0`, `w = M z + q`.
#[test]
fn linear_complementarity_problems_with_known_solutions() {
    for (seed, n) in (0..).zip([1, 2, 5, 20, 60, 60]) {
        check(
            &format!("LCP of {n}"),
            &known(seed, &vec![Law::Complementarity; n]),
        );
    }
}

/// Free rows in blocks of 1 to 7, anywhere between the others.
#[test]
fn mixed_linear_complementarity_problems_with_known_solutions() {
    for seed in 0..8 {
        let mut random = Random(seed + 100);
        let mut law = || match random.uniform(0.0, 2.0) as usize {
            0 => Law::equality(1 + random.uniform(0.0, 7.0) as usize),
            _ => Law::Complementarity,
        };
        let laws: Vec<_> = (0..16).map(|_| law()).collect();
        check(&format!("MLCP {seed}"), &known(seed, &laws));
    }
}

/// Relays, one-sided limits, rows without bounds and impulses that are given.
#[test]
fn relays_with_known_solutions() {
    let infinite = f64::INFINITY;
    let ends = [
        [-1.0, 1.0],
        [0.0, infinite],
        [-infinite, 0.5],
        [-infinite, infinite],
        [0.3, 0.3],
        [-0.1, 2.0],
    ];
    for seed in 0..8 {
        let law = |k: usize| Law::interval(ends[k % 6][0], ends[k % 6][1]);
        let laws: Vec<_> = (0..24).map(|k| law(k + seed as usize)).collect();
        check(&format!("relays {seed}"), &known(seed, &laws));
    }
}

/// Efforts that are bounded together, of any size.
#[test]
fn balls_with_known_solutions() {
    for seed in 0..8 {
        let radii = [1.0, 0.3, 0.0, 1e-3, 20.0];
        let laws: Vec<_> = (0..16)
            .map(|k| Law::ball(radii[(k + seed as usize) % 5]))
            .collect();
        check(&format!("balls {seed}"), &known(seed, &laws));
    }
}

fn rolling(friction: f64, rolling: f64, spinning: Option<f64>) -> Law {
    Law::Rolling(RollingCoulomb {
        friction,
        rolling,
        spinning,
    })
}

/// One law after the other, then all of them.
fn contacts() -> [Law; 6] {
    let elliptic = EllipticCoulomb {
        friction: [0.3, 0.1],
    };
    let cohesion = Cohesion {
        friction: 0.2,
        pull_off: 0.4,
    };
    [
        Law::coulomb(0.2),
        Law::planar(0.3),
        Law::EllipticCoulomb(elliptic),
        rolling(0.2, 0.05, None),
        rolling(0.2, 0.1, Some(0.02)),
        Law::Cohesion(cohesion),
    ]
}

#[test]
fn contacts_of_each_law_with_known_solutions() {
    for law in contacts() {
        for seed in 0..4 {
            check(&format!("{law:?}, {seed}"), &known(seed, &[law; 8]));
        }
    }
}

#[test]
fn contacts_equalities_and_intervals_in_one_problem() {
    for seed in 0..6 {
        let mut laws = Vec::new();
        for (k, contact) in contacts().into_iter().enumerate() {
            laws.push(Law::equality(1 + (k + seed as usize) % 4));
            laws.push(contact);
            laws.push(Law::interval(-0.4, 0.4 * k as f64));
            laws.push(Law::ball(0.3 * k as f64));
            laws.push(Law::Complementarity);
        }
        let rolls = laws.iter().filter(|law| matches!(law, Law::Rolling(_)));
        assert_eq!(rolls.count(), 2);
        check(&format!("mixed {seed}"), &known(seed, &laws));
        // The same for methods that do not know rolling resistance.
        laws.retain(|law| !matches!(law, Law::Rolling(_)));
        check(
            &format!("mixed {seed} without rolling"),
            &known(seed, &laws),
        );
    }
}

/// The judge against the plain definition, at points that are no solution.
#[test]
fn every_law_is_judged_by_its_definition() {
    for seed in 0..20 {
        let mut laws = vec![
            Law::equality(4),
            Law::interval(-0.5, 0.2),
            Law::ball(0.7),
            Law::Complementarity,
        ];
        let plain = |law: &Law| !matches!(law, Law::EllipticCoulomb(_));
        laws.extend(contacts().into_iter().filter(plain));
        let problem = known(seed, &laws).problem;
        let mut random = Random(seed + 1000);
        let r: Vec<_> = (0..problem.rows())
            .map(|_| random.uniform(-2.0, 2.0))
            .collect();
        let expected = reference::residual(&problem, &r);
        let judged = natural_map::stored(&problem, &r).scaled;
        assert!(
            (judged - expected).abs() <= 1e-13 * expected,
            "{seed}: {judged:e} {expected:e}"
        );
    }
}
