//! Every local solver against the exact one.

use super::*;
use crate::random::Random;

const SOLVERS: [fn() -> LocalSolver; 3] = [
    || {
        LocalSolver::Projection(ProjectionSettings {
            iterations: 100_000,
            ..ProjectionSettings::default()
        })
    },
    || LocalSolver::AlartCurnier(AlartCurnierSettings::default()),
    || LocalSolver::Quartic,
];

struct Case {
    block: OneContact,
    q: DVec3,
    friction: f64,
    condition: f64,
    start: DVec3,
}

/// A block of condition up to 100 and a `μ` at which the solution is unique: `f(α)` decreases if
/// `μ‖w‖/W_NN < 2√κ/(κ + 1)`, `κ = cond S`; half the bound keeps half the slope.
fn case(random: &mut Random) -> Case {
    let d = DVec3::from([(); 3].map(|()| random.power_of_ten(-2.0, 0.0)));
    let (mass, speed) = (
        random.power_of_ten(-6.0, 6.0),
        random.power_of_ten(-6.0, 6.0),
    );
    let block = OneContact::new(&(random.symmetric(d) * mass));
    let problem = LocalProblem::new(&block, DVec3::ZERO, 0.0);
    let [s1, s2] = problem.schur_eigenvalues();
    let kappa = (s1 / s2).max(s2 / s1);
    let w = libm::hypot(problem.w[0], problem.w[1]) / problem.w_nn;
    let bound = 2.0 * kappa.sqrt() / (kappa + 1.0) / w;
    Case {
        friction: 0.5 * bound.min(3.0) * random.uniform(0.0, 1.0),
        q: (random.vector() - DVec3::X * 0.4) * speed,
        condition: d.max_element() / d.min_element(),
        start: onto_cone(0.5, random.vector()) * (speed / mass),
        block,
    }
}

/// The iterations stop at a natural map of 1e-14 of `‖q‖/λ` or `‖r‖`. The error of `r` is that
/// times the error bound of the law, which is of the order of the condition of `W` over the slope
/// kept, squared because the normal is eliminated first; the projection stops at a short step
/// instead, short of the limit by `1/(1 − rate)`, of the order of the condition again.
#[test]
fn all_agree_with_the_exact_solve() {
    for make in SOLVERS {
        let (solver, mut random, mut regimes) = (make(), Random::new(1), [0; 3]);
        for index in 0..6_000 {
            let case = case(&mut random);
            let Case {
                block,
                q,
                friction,
                start,
                ..
            } = &case;
            let exact = block.solve_principal(*q, *friction);
            let r = solver.solve_principal(block, *q, *friction, *start, &mut 0.0);
            let problem = LocalProblem::new(block, *q, *friction);
            let scale = problem.scale(problem.lambda(), exact);
            let error = (r - exact).length() / scale;
            let bound = 1e-14 * 10.0 * case.condition * case.condition;
            assert!(
                error <= bound,
                "{solver:?} {index}: {error:e} of {bound:e}, {exact} {r}"
            );
            let slides = tangential_norm(exact) >= friction * exact.x * (1.0 - 1e-12);
            regimes[if exact == DVec3::ZERO {
                0
            } else {
                1 + usize::from(slides)
            }] += 1;
        }
        assert!(regimes.iter().all(|n| *n > 300), "{regimes:?}");
    }
}

/// Blocks of any condition and any `μ`: the law holds for an impulse that the solver chose itself,
/// or the impulse is no worse than the start.
#[test]
fn no_block_makes_things_worse() {
    let mut random = Random::new(2);
    for index in 0..20_000 {
        let mut d = DVec3::from([(); 3].map(|()| random.power_of_ten(-12.0, 0.0)));
        if index % 5 == 0 {
            d.z = 0.0;
        }
        let block = OneContact::new(&random.symmetric(d));
        let (q, friction) = (
            random.vector() - DVec3::X * 0.3,
            random.power_of_ten(-3.0, 2.0),
        );
        let problem = LocalProblem::new(&block, q, friction);
        let (lambda, start) = (problem.lambda(), onto_cone(friction, random.vector()));
        for make in [SOLVERS[1], SOLVERS[2]] {
            let r = make().solve_principal(&block, q, friction, start, &mut 0.0);
            let error = problem.error(lambda, r);
            let rounding = 1e-12
                * (1.0 + friction)
                * (1.0 + problem.w[0].abs().max(problem.w[1].abs()) / problem.w_nn);
            let allowed = problem.error(lambda, start).max(rounding);
            assert!(
                r.is_finite() && error <= allowed,
                "{index}: {error:e} of {allowed:e}"
            );
        }
        let projection = LocalSolver::Projection(ProjectionSettings::default());
        assert!(
            projection
                .solve_principal(&block, q, friction, start, &mut 0.0)
                .is_finite()
        );
    }
}

/// Quartic: the law to rounding whatever the block, as for the exact solve. `μ` multiplies the
/// rounding of `u_T`, the elimination that of `q_N`; the accepted mismatch 1e-12 is put on the cone.
#[test]
fn the_quartic_solves_isotropic_and_coupled_blocks() {
    let mut random = Random::new(3);
    for index in 0..20_000 {
        let s = random.power_of_ten(-3.0, 0.0);
        let spread = [0.0, 1e-16, 1e-12, 1e-8, 1e-3][random.below(5)];
        let w = [random.uniform(-1.0, 1.0), random.uniform(-1.0, 1.0)]
            .map(|w| w * f64::from(u8::from(index % 2 == 0)));
        let block = DMat3::from_cols(
            DVec3::new(1.0, w[0], w[1]),
            DVec3::new(w[0], s + w[0] * w[0], w[0] * w[1]),
            DVec3::new(w[1], w[0] * w[1], s * (1.0 + spread) + w[1] * w[1]),
        );
        let local = OneContact::new(&block);
        let (q, friction) = (random.vector() - DVec3::X, random.uniform(0.01, 1.5));
        let r = LocalSolver::Quartic.solve_principal(&local, q, friction, DVec3::ZERO, &mut 0.0);
        let problem = LocalProblem::new(&local, q, friction);
        let error = problem.error(problem.lambda(), r);
        assert!(error <= 1e-11, "{index}: {error:e}");
    }
}

/// What a solver remembers changes its path only.
#[test]
fn a_warm_start_does_not_change_the_impulse() {
    let mut random = Random::new(4);
    for make in SOLVERS {
        for _ in 0..1_000 {
            let case = case(&mut random);
            let Case {
                block,
                q,
                friction,
                start,
                ..
            } = &case;
            let mut memory = 0.0;
            let first = make().solve_principal(block, *q, *friction, *start, &mut memory);
            let again = make().solve_principal(block, *q, *friction, first, &mut memory);
            let problem = LocalProblem::new(block, *q, *friction);
            let scale = problem.scale(problem.lambda(), first);
            let bound = 1e-13 * case.condition * case.condition;
            assert!((first - again).length() <= bound * scale);
        }
    }
}

#[test]
fn take_off_and_useless_blocks_carry_nothing() {
    let good = OneContact::new(&DMat3::IDENTITY);
    let none = OneContact::new(&DMat3::ZERO);
    for make in SOLVERS {
        let solver = make();
        let up = DVec3::new(0.1, 1.0, 0.0);
        assert_eq!(
            solver.solve_principal(&good, up, 0.5, DVec3::ONE, &mut 0.0),
            DVec3::ZERO
        );
        assert_eq!(
            solver.solve_principal(&none, -up, 0.5, DVec3::ONE, &mut 0.0),
            DVec3::ZERO
        );
        let smooth = solver.solve_principal(&good, -up, 0.0, DVec3::ONE, &mut 0.0);
        assert_eq!(smooth, DVec3::new(0.1, 0.0, 0.0));
    }
}

/// The solvers' projection and the judge's are the same map, also for `μ = 0` and `z = (−1, 0, 0)`.
#[test]
fn both_projections_agree() {
    let mut random = Random::new(5);
    for index in 0..10_000 {
        let friction = [0.0, 0.3, 5.0][index % 3];
        let mut z = random.vector();
        if random.below(3) == 0 {
            (z.y, z.z) = (0.0, 0.0);
        }
        let difference = onto_cone(friction, z) - crate::cone::project(friction, z);
        assert!(difference.length() <= 4.0 * f64::EPSILON, "{friction} {z}");
    }
}
