//! Contact with rolling and spinning resistance: the exact solve of one block.

use super::blocks::{Block, gram, length};
use crate::law::rolling::block::RollingBlock;
use crate::law::{Law, RollingCoulomb};
use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Coefficients up to 0.8.
    Regular,
    /// Coefficients up to 10: several solutions.
    Strong,
    /// Any rank; `q` in the range of `W`, so that an impulse can stop it.
    Singular,
    /// Metres and radians of very different size.
    Units,
    /// Rows of very different size.
    Uneven,
}

fn law(random: &mut Random, top: f64, length: f64) -> RollingCoulomb {
    let mut coefficient = |unit: f64| match random.below(6) {
        0 => 0.0,
        1 => unit * random.power_of_ten(-6.0, 0.0) * top,
        _ => unit * random.uniform(0.0, top),
    };
    let (friction, rolling, spinning) =
        (coefficient(1.0), coefficient(length), coefficient(length));
    RollingCoulomb {
        friction,
        rolling,
        spinning: (random.below(2) == 0).then_some(spinning),
    }
}

fn block(random: &mut Random, kind: Kind) -> (RollingCoulomb, Block) {
    let (metre, radian) = match kind {
        Kind::Regular | Kind::Strong => (1.0, 1.0),
        _ => (
            random.power_of_ten(-8.0, 8.0),
            random.power_of_ten(-4.0, 4.0),
        ),
    };
    let top = if kind == Kind::Strong { 10.0 } else { 0.8 };
    let law = law(random, top, metre / radian);
    let m = if law.spinning.is_some() { 6 } else { 5 };
    let mut scale = [metre, metre, metre, radian, radian, radian];
    if kind == Kind::Uneven {
        for entry in &mut scale[1..] {
            *entry *= random.power_of_ten(-6.0, 0.0);
        }
    }
    let rank = if kind == Kind::Singular {
        1 + random.below(m)
    } else {
        m + 1
    };
    let matrix = gram(random, m, rank, &scale);
    let closing = |i: usize| if i == 0 { 0.0 } else { 1.0 };
    let mut q: Vec<f64> = (0..m)
        .map(|i| scale[i] * random.uniform(-1.0, closing(i)))
        .collect();
    if kind == Kind::Singular {
        let y: Vec<f64> = (0..m).map(|i| q[i] / (scale[i] * scale[i])).collect();
        q = matrix
            .chunks(m)
            .map(|row| row.iter().zip(&y).map(|(a, y)| a * y).sum())
            .collect();
    }
    let law_of_block = Law::Rolling(law);
    (
        law,
        Block {
            law: law_of_block,
            matrix,
            q,
        },
    )
}

/// The same contact measured in units in which the diagonal entries of the normal row and of each group have mean 1: the law
/// does not change, and rounding is judged without regard to metres and radians. With it `1 + Σ μ_i`, what the shift multiplies
/// rounding by; elimination of the normal row multiplies it by `1 + ‖c‖/W_NN ≤ 4` there.
fn balanced(law: &RollingCoulomb, block: &Block, r: &[f64]) -> (Block, Vec<f64>, f64) {
    let m = block.rows();
    let entry = |i: usize| block.matrix[i * m + i];
    let root = |a: f64, b: f64| (0.5 * (a + b)).sqrt();
    let normal = entry(0).sqrt();
    let (tangent, roll) = (root(entry(1), entry(2)), root(entry(3), entry(4)));
    let spin = if m == 6 { entry(5).sqrt() } else { 1.0 };
    let d = [normal, tangent, tangent, roll, roll, spin];
    let scaled = RollingCoulomb {
        friction: law.friction * tangent / normal,
        rolling: law.rolling * roll / normal,
        spinning: law.spinning.map(|mu| mu * spin / normal),
    };
    let matrix = (0..m * m).map(|k| block.matrix[k] / (d[k / m] * d[k % m]));
    let balanced = Block {
        law: Law::Rolling(scaled),
        matrix: matrix.collect(),
        q: block.q.iter().zip(d).map(|(q, d)| q / d).collect(),
    };
    let r = r.iter().zip(d).map(|(r, d)| r * d).collect();
    let shift: f64 = scaled.coefficients().iter().sum();
    (balanced, r, 1.0 + shift)
}

fn error(law: &RollingCoulomb, block: &Block, r: &[f64]) -> f64 {
    let (balanced, r, amplification) = balanced(law, block, r);
    balanced.residual(&r) / amplification
}

/// A fixed number of roundings (5 measured), amplified. Blocks with eigenvalues near rounding are solved with `δI` on them,
/// `δ = 6e-11`: of `δ ‖x − x°‖` a twentieth is left at most (measured: a hundredth) when proximal steps end at their number.
#[test]
fn rolling_every_block_gets_an_impulse_that_satisfies_the_law() {
    let well = 16.0 * f64::EPSILON;
    let kinds = [
        (Kind::Regular, well),
        (Kind::Strong, well),
        (Kind::Units, well),
        (Kind::Singular, 3e-12),
        (Kind::Uneven, 3e-12),
    ];
    for (seed, (kind, bound)) in kinds.into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        for index in 0..100_000 {
            let (law, block) = block(&mut random, kind);
            let r = block.solve();
            let error = error(&law, &block, &r);
            assert!(
                error <= bound,
                "{kind:?} {index}: {error:e}, {block:?}, {r:?}"
            );
        }
    }
}

/// Where nothing stops the velocity the answer is finite, and no larger than a few `‖b‖/δ`.
#[test]
fn rolling_block_that_no_impulse_stops_gets_a_finite_one() {
    let mut random = Random::new(7);
    for index in 0..20_000 {
        let law = law(&mut random, 2.0, 1.0);
        let m = if law.spinning.is_some() { 6 } else { 5 };
        let rank = 1 + random.below(m);
        let matrix = gram(&mut random, m, rank, &[1.0; 6]);
        let q: Vec<f64> = (0..m).map(|_| random.uniform(-1.0, 1.0)).collect();
        let block = Block {
            law: Law::Rolling(law),
            matrix,
            q,
        };
        let r = block.solve();
        let size = (0..m).map(|i| block.matrix[i * m + i]).fold(1.0, f64::min);
        assert!(length(&r) <= 1e13 / size, "{index}: {r:?}");
    }
}

/// The guess comes from any impulse and the velocity with it: the law holds as without it.
#[test]
fn rolling_block_solved_from_any_impulse_satisfies_the_law() {
    let mut random = Random::new(8);
    for index in 0..50_000 {
        let (law, block) = block(&mut random, Kind::Regular);
        let m = block.rows();
        let mut r: Vec<f64> = (0..m).map(|_| random.uniform(-2.0, 2.0)).collect();
        if random.below(2) == 0 {
            block.law.project(&mut r);
        }
        let w = block.velocity(&r);
        RollingBlock::new(&law, &block.matrix).relax(&w, &mut r, 1.0);
        // q is w − W r here, of rounding ε (‖w‖ + ‖W r‖).
        let residual = error(&law, &block, &r);
        let size = length(&w) / length(&block.q).max(block.lambda() * length(&r));
        assert!(
            residual <= 16.0 * f64::EPSILON * (4.0 + size),
            "{index}: {residual:e}"
        );
    }
}
