//! Pairs of impulse and velocity that satisfy a law, and those that do not.
//!
//! Every `z` gives a pair: `r = resolve(z)`, `w = r − z`; and `r` with `w` satisfies the law exactly if it is the one that `r − w` gives.

use super::samples::{Kind, distance, dot, moved, projected, resolved, vector};
use crate::law::Law;
use crate::random::Random;

const CASES: usize = 20_000;
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// `r − P_C(r − ρ (w + s(w)))`.
fn natural_map(law: &Law, r: &[f64], w: &[f64], rho: f64) -> Vec<f64> {
    let mut point = moved(r, -rho, w);
    point[0] -= rho * law.shift(w);
    moved(r, -1.0, &projected(law, &point))
}

fn size(z: &[f64]) -> f64 {
    dot(z, z).sqrt()
}

every_law!(natural_map_is_zero_at_solutions);
fn natural_map_is_zero_at_solutions(kind: Kind) {
    let mut random = Random::new(31);
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let z = vector(&mut random, law.rows());
        let r = resolved(&law, &z);
        let w = moved(&r, -1.0, &z);
        for rho in [1e-3, 1.0, 1e3] {
            // The rounding of w and r, and of the longer of r and ρ w.
            let residual = size(&natural_map(&law, &r, &w, rho));
            assert!(
                residual <= ROUNDING * (1.0 + rho) * 4.0,
                "{law:?} {r:?} {w:?} {rho} {residual:e}"
            );
        }
    }
}

// Away from solutions by more than rounding the map is not zero: it is the smaller of the two errors up to a factor of the order of
// 1 + ρ + 1/ρ and the coefficients.
every_law!(natural_map_is_zero_at_solutions_only);
fn natural_map_is_zero_at_solutions_only(kind: Kind) {
    let mut random = Random::new(32);
    let mut others = 0;
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let r = projected(&law, &vector(&mut random, law.rows()));
        let w = vector(&mut random, law.rows());
        let error = distance(&resolved(&law, &moved(&r, -1.0, &w)), &r);
        others += usize::from(error > 1e-6);
        for rho in [0.1, 1.0, 10.0] {
            let residual = size(&natural_map(&law, &r, &w, rho));
            assert!(
                residual >= error * 1e-3 - ROUNDING,
                "{law:?} {r:?} {w:?} {rho}: {residual:e} {error:e}"
            );
        }
    }
    assert!(others > CASES / 20, "{others}");
}

// σ ≥ 0, positively homogeneous, and zero without tangential velocity.
every_law!(shift_is_that_of_the_dual_cone);
fn shift_is_that_of_the_dual_cone(kind: Kind) {
    let mut random = Random::new(33);
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let w = vector(&mut random, law.rows());
        let shift = law.shift(&w);
        let twice: Vec<f64> = w.iter().map(|w| 2.0 * w).collect();
        assert!(shift >= 0.0);
        assert!((law.shift(&twice) - 2.0 * shift).abs() <= ROUNDING);
        // w + s(w) with w_N = 0 is in the dual cone of the recession cone, and on its edge: the most that impulses can make of w_T.
        let (mut most, mut flat) = (0.0_f64, w.clone());
        flat[0] = 0.0;
        for _ in 0..4 {
            let mut y = vector(&mut random, law.rows());
            law.project_recession(&mut y);
            let two_sided = matches!(kind, Kind::Interval | Kind::Ball | Kind::Equality);
            if y[0] > 0.0 && !two_sided {
                most = most.max(-dot(&y, &flat) / y[0]);
            }
        }
        assert!(most <= shift + ROUNDING, "{law:?} {w:?}: {most} {shift}");
    }
}
