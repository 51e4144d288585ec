//! The exact solve of one interaction, for every law; contact with rolling resistance has more in `rolling_block`.

use super::blocks::{Block, gram, length};
use super::samples::{Kind, distance, dot, moved, resolved, vector};
use crate::law::one_block::OneBlock;
use crate::law::{Cohesion, EllipticCoulomb, Law};
use crate::random::Random;

/// What rounding is multiplied by: elimination of the normal row by `1 + ‖c‖/W_NN`, the shift by the coefficients.
fn amplification(block: &Block) -> f64 {
    let m = block.rows();
    let coefficients: f64 = match block.law {
        Law::Coulomb(law) => law.friction,
        Law::PlanarCoulomb(law) => law.friction,
        Law::EllipticCoulomb(law) => law.friction[0] + law.friction[1],
        Law::Rolling(law) => law.coefficients().iter().sum(),
        Law::Cohesion(law) => law.friction,
        _ => 0.0,
    };
    (1.0 + coefficients) * (1.0 + length(&block.matrix[1..m]) / block.matrix[0])
}

fn random_block(random: &mut Random, kind: Kind) -> Block {
    let law = kind.sample(random);
    let m = law.rows();
    // Singular ones too: rank from one to full, and q in the range of W then.
    let rank = if random.below(3) == 0 {
        1 + random.below(m)
    } else {
        m + 1
    };
    let unit = random.power_of_ten(-8.0, 8.0);
    let matrix = gram(random, m, rank, &vec![unit.sqrt(); m]);
    let mut q = vector(random, m);
    if rank < m {
        q = matrix.chunks(m).map(|row| dot(row, &q) / unit).collect();
    }
    // Impulses are of the order of the parameters of the law.
    Block {
        law,
        matrix,
        q: q.iter().map(|q| q * unit).collect(),
    }
}

// A fixed number of roundings, amplified: one division for a row, three rows as in `OneContact`, the scaling by coefficients for the elliptic law,
// the error of a decomposition for equalities (200 roundings measured where a block is nearly singular). Singular blocks with rolling resistance are perturbed by `δ = 6e-11`, of which a twentieth may be left.
every_law!(every_block_gets_an_impulse_that_satisfies_the_law);
fn every_block_gets_an_impulse_that_satisfies_the_law(kind: Kind) {
    let mut random = Random::new(51);
    let bound = match kind {
        Kind::Complementarity | Kind::Interval => 4.0 * f64::EPSILON,
        Kind::Coulomb | Kind::Planar | Kind::Cohesion | Kind::Ball => 16.0 * f64::EPSILON,
        Kind::Elliptic => 64.0 * f64::EPSILON,
        Kind::Equality => 1024.0 * f64::EPSILON,
        Kind::Rolling | Kind::Spinning => 3e-12,
    };
    for index in 0..100_000 {
        let block = random_block(&mut random, kind);
        let bound = match block.law {
            // Free multipliers.
            Law::Ball(law) if law.radius.is_infinite() => 1024.0 * f64::EPSILON,
            _ => bound,
        };
        let r = block.solve();
        let mut residual = block.residual(&r) / amplification(&block);
        if let Law::Cohesion(law) = block.law {
            // Impulses are measured from the tip of the cone.
            let size = (block.lambda() * (length(&r) + law.pull_off)).max(length(&block.q));
            residual =
                block.lambda() * length(&block.natural_map(&r)) / size / amplification(&block);
        }
        assert!(residual <= bound, "{index}: {residual:e} {block:?} {r:?}");
    }
}

every_law!(block_of_unit_matrix_is_resolved);
fn block_of_unit_matrix_is_resolved(kind: Kind) {
    let mut random = Random::new(52);
    for _ in 0..20_000 {
        let law = kind.sample(&mut random);
        let m = law.rows();
        let z = vector(&mut random, m);
        let block = Block {
            law,
            matrix: (0..m * m)
                .map(|k| f64::from(u8::from(k % (m + 1) == 0)))
                .collect(),
            q: z.iter().map(|z| -z).collect(),
        };
        let error = distance(&block.solve(), &resolved(&block.law, &z));
        assert!(
            error <= 64.0 * f64::EPSILON,
            "{:?} {z:?} {error:e}",
            block.law
        );
    }
}

every_law!(block_solved_from_any_impulse_satisfies_the_law);
fn block_solved_from_any_impulse_satisfies_the_law(kind: Kind) {
    let mut random = Random::new(53);
    for index in 0..20_000 {
        let law = kind.sample(&mut random);
        let m = law.rows();
        let block = Block {
            law,
            matrix: gram(&mut random, m, m + 2, &vec![1.0; m]),
            q: vector(&mut random, m),
        };
        let mut r = vector(&mut random, m);
        if index % 2 == 0 {
            law.project(&mut r);
        }
        let mut w = block.velocity(&r);
        let mut prepared = OneBlock::new(&law, &block.matrix);
        let mut memory = 0.0;
        for _ in 0..2 {
            prepared.relax(&w, &mut r, 1.0, &mut memory);
            w = block.velocity(&r);
        }
        let size = (block.lambda() * length(&r)).max(length(&block.q));
        let residual = block.lambda() * length(&block.natural_map(&r)) / size.max(1.0);
        let bound = 256.0 * f64::EPSILON * amplification(&block);
        assert!(residual <= bound, "{index}: {residual:e} {block:?} {r:?}");
    }
}

/// `rank` orthonormal vectors.
fn orthonormal(random: &mut Random, m: usize, rank: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    while basis.len() < rank {
        let mut z: Vec<f64> = (0..m).map(|_| random.uniform(-1.0, 1.0)).collect();
        for _ in 0..2 {
            for axis in &basis {
                z = moved(&z, -dot(axis, &z), axis);
            }
        }
        let size = length(&z);
        if size > 0.1 {
            basis.push(z.iter().map(|z| z / size).collect());
        }
    }
    basis
}

/// The shortest solution of `W r = −q` is the one in the range of `W`, here `Q y` for `W = Q diag(d) Qᵀ`, `d` within a factor of four: the
/// decomposition and the products take a few roundings a row.
#[test]
fn equality_singular_block_gets_the_shortest_multipliers() {
    let mut random = Random::new(54);
    for index in 0..2_000 {
        let m = 1 + random.below(7);
        let rank = 1 + random.below(m);
        let axes = orthonormal(&mut random, m, rank);
        let d: Vec<f64> = (0..rank).map(|_| random.uniform(0.5, 2.0)).collect();
        let entry = |i: usize, j: usize| {
            axes.iter()
                .zip(&d)
                .map(|(q, d)| d * q[i] * q[j])
                .sum::<f64>()
        };
        let matrix: Vec<f64> = (0..m * m).map(|k| entry(k / m, k % m)).collect();
        let y = vector(&mut random, rank);
        let shortest: Vec<f64> = (0..m)
            .map(|i| axes.iter().zip(&y).map(|(q, y)| q[i] * y).sum())
            .collect();
        let q = matrix.chunks(m).map(|row| -dot(row, &shortest)).collect();
        let block = Block {
            law: Law::equality(m),
            matrix,
            q,
        };
        let r = block.solve();
        let error = distance(&r, &shortest);
        assert!(
            error <= 32.0 * f64::EPSILON * m as f64 * length(&shortest),
            "{index} {error:e}"
        );
    }
}

/// Singular values from one to rounding: the velocity is stopped to rounding all the same.
#[test]
fn equality_badly_conditioned_block_is_stopped() {
    let mut random = Random::new(57);
    for index in 0..2_000 {
        let m = 1 + random.below(7);
        let axes = orthonormal(&mut random, m, m);
        let d: Vec<f64> = (0..m).map(|_| random.power_of_ten(-13.0, 0.0)).collect();
        let entry = |i: usize, j: usize| {
            axes.iter()
                .zip(&d)
                .map(|(q, d)| d * q[i] * q[j])
                .sum::<f64>()
        };
        let matrix = (0..m * m).map(|k| entry(k / m, k % m)).collect();
        let block = Block {
            law: Law::equality(m),
            matrix,
            q: vector(&mut random, m),
        };
        let r = block.solve();
        let rest = length(&block.velocity(&r));
        let size = length(&block.q).max(block.lambda() * m as f64 * length(&r));
        assert!(
            rest <= 32.0 * f64::EPSILON * m as f64 * size,
            "{index}: {:e}",
            rest / size
        );
    }
}

#[test]
fn equality_block_of_zero_carries_nothing() {
    let block = Block {
        law: Law::equality(3),
        matrix: vec![0.0; 9],
        q: vec![1.0, -2.0, 0.0],
    };
    assert_eq!(block.solve(), vec![0.0; 3]);
}

#[test]
#[expect(clippy::float_cmp, reason = "quotients of small integers are exact")]
fn interval_with_infinite_ends_is_free_or_one_sided() {
    let infinity = f64::INFINITY;
    let solve = |low, high, w: f64, q: f64| {
        let mut r = [0.0];
        Law::interval(low, high).solve_block(&[w], &[q], &mut r);
        r[0]
    };
    assert_eq!(solve(-infinity, infinity, 2.0, -6.0), 3.0);
    assert_eq!(solve(-infinity, 1.0, 2.0, -6.0), 1.0);
    assert_eq!(solve(-infinity, 1.0, 2.0, 6.0), -3.0);
    assert_eq!(solve(-1.0, infinity, 2.0, 6.0), -1.0);
    // Without compliance the impulse is at the end that the velocity names, or as near to zero as it can be.
    assert_eq!(solve(-1.0, 2.0, 0.0, 5.0), -1.0);
    assert_eq!(solve(-1.0, 2.0, 0.0, -5.0), 2.0);
    assert_eq!(solve(-infinity, 2.0, 0.0, 5.0), 0.0);
    assert_eq!(solve(0.5, infinity, 0.0, -5.0), 0.5);
}

/// Eigenvalues over six orders of magnitude, radii from far inside to far outside, velocities along single axes (the hard case of
/// trust regions) among them: the definition, row by row. Eigenvectors are known to a few roundings of the largest eigenvalue, so that
/// velocities are known to these of `d_max ‖r‖ + ‖q‖`.
#[test]
fn ball_block_of_any_condition_satisfies_the_definition() {
    let mut random = Random::new(58);
    let (mut held, mut slipped, mut worst) = (0, 0, 0.0_f64);
    for _ in 0..100_000 {
        let axes = orthonormal(&mut random, 3, 3);
        let unit = random.power_of_ten(-6.0, 6.0);
        let d = [0, 1, 2].map(|_| unit * random.power_of_ten(-6.0, 0.0));
        let matrix: Vec<f64> = (0..9)
            .map(|k| (0..3).map(|l| d[l] * axes[l][k / 3] * axes[l][k % 3]).sum())
            .collect();
        let mut y = vector(&mut random, 3);
        if random.below(4) == 0 {
            y[random.below(3)] = 0.0;
        }
        let q: Vec<f64> = (0..3)
            .map(|i| (0..3).map(|l| unit * y[l] * axes[l][i]).sum())
            .collect();
        let radius = random.power_of_ten(-8.0, 8.0);
        let block = Block {
            law: Law::ball(radius),
            matrix,
            q,
        };
        let r = block.solve();
        let (w, size) = (block.velocity(&r), length(&r));
        let top = d.iter().fold(0.0, |a: f64, b| a.max(*b));
        let noise = 32.0 * f64::EPSILON * (top * size + length(&block.q));
        assert!(
            size <= radius * (1.0 + 4.0 * f64::EPSILON),
            "{block:?} {r:?}"
        );
        if size < radius * (1.0 - 4.0 * f64::EPSILON) {
            held += 1;
            worst = worst.max(length(&w) / noise);
            assert!(length(&w) <= noise, "{block:?} {r:?} {w:?}");
        } else {
            slipped += 1;
            let against = moved(&w, length(&w) / size, &r);
            worst = worst.max(length(&against) / noise);
            assert!(length(&against) <= noise, "{block:?} {r:?} {w:?}");
        }
    }
    assert!(
        held > 10_000 && slipped > 10_000,
        "{held} {slipped} {worst}"
    );
}

/// Without compliance along an axis: its impulse is at the end that the velocity names; none without velocity.
#[test]
#[expect(clippy::float_cmp, reason = "the closed answers are exact")]
fn ball_block_that_nothing_moves_is_opposed_by_its_bound() {
    let solve = |radius: f64, block: [f64; 9], q: [f64; 3]| {
        let mut r = [0.0; 3];
        Law::ball(radius).solve_block(&block, &q, &mut r);
        r
    };
    let nothing = [0.0; 9];
    assert_eq!(solve(2.0, nothing, [0.0, 5.0, 0.0]), [0.0, -2.0, 0.0]);
    assert_eq!(solve(2.0, nothing, [0.0; 3]), [0.0; 3]);
    assert_eq!(solve(0.0, nothing, [0.0, 5.0, 0.0]), [0.0; 3]);
    let first = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(solve(5.0, first, [-3.0, 0.0, 0.0]), [3.0, 0.0, 0.0]);
    let infinity = f64::INFINITY;
    assert_eq!(solve(infinity, first, [-3.0, 1.0, 0.0]), [3.0, 0.0, 0.0]);
}

/// Pulled with less than the pull-off impulse the contact holds; with more it opens and carries just that.
#[test]
#[expect(clippy::float_cmp, reason = "the closed answers are exact")]
fn cohesion_holds_up_to_the_pull_off_impulse() {
    let law = Law::Cohesion(Cohesion {
        friction: 0.5,
        pull_off: 2.0,
    });
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let solve = |q: [f64; 3]| {
        let mut r = [0.0; 3];
        law.solve_block(&unit, &q, &mut r);
        r
    };
    assert_eq!(solve([1.5, 0.1, 0.0]), [-1.5, -0.1, 0.0]);
    assert_eq!(solve([3.0, 0.1, 0.0]), [-2.0, 0.0, 0.0]);
    assert_eq!(solve([1.0, 0.0, 4.0]), [-1.0, 0.0, -0.5]);
}

/// Coefficients of very different size, zeros included: the scaled block `S W S` costs no digits.
#[test]
fn elliptic_block_with_very_different_coefficients_satisfies_the_law() {
    let mut random = Random::new(55);
    for index in 0..100_000 {
        let mut coefficient = || match random.below(5) {
            0 => 0.0,
            _ => random.power_of_ten(-5.0, 1.0),
        };
        let friction = [coefficient(), coefficient()];
        let block = Block {
            law: Law::EllipticCoulomb(EllipticCoulomb { friction }),
            matrix: gram(&mut random, 3, 4, &[1.0; 3]),
            q: vector(&mut random, 3),
        };
        let r = block.solve();
        let residual = block.residual(&r) / amplification(&block);
        assert!(
            residual <= 64.0 * f64::EPSILON,
            "{index}: {residual:e} {block:?} {r:?}"
        );
    }
}

/// A linear law solved twice moves no more: the impulse that a relaxation leaves is a fixed point of it.
#[test]
fn equality_relaxation_has_its_solution_as_fixed_point() {
    let mut random = Random::new(56);
    for _ in 0..1_000 {
        let m = 1 + random.below(7);
        let law = Law::equality(m);
        let block = Block {
            law,
            matrix: gram(&mut random, m, m + 2, &vec![1.0; m]),
            q: vector(&mut random, m),
        };
        let r = block.solve();
        let mut again = r.clone();
        OneBlock::new(&law, &block.matrix).relax(&block.velocity(&r), &mut again, 1.0, &mut 0.0);
        assert!(length(&moved(&again, -1.0, &r)) <= 1e-9 * length(&r));
    }
}
