//! The maps of Newton's method for every law: value, derivative in factors, fixed points, and where a line leaves the set.

use super::samples::{Kind, distance, moved, projected, resolved, vector};
use crate::law::Law;
use crate::law::linearised::{ConeMap, Linearised};
use crate::law::list::{Laws, rows_of};
use crate::random::Random;
use glam::DVec3;

const MAPS: [ConeMap; 2] = [ConeMap::AlartCurnier, ConeMap::Cone];

fn triples(law: &Law, rows: &[f64]) -> Vec<DVec3> {
    let mut laws = Laws::default();
    laws.push(*law);
    let mut triples = Vec::new();
    laws.pack(rows, &mut triples);
    triples
}

fn linearised(law: &Law, map: ConeMap, y: &[f64], w: &[f64], rho: f64) -> Vec<Linearised> {
    let (y, w) = (triples(law, y), triples(law, w));
    let mut at = vec![Linearised::default(); y.len()];
    law.rules().linearise(map, &y, &w, rho, &mut at);
    at
}

fn point(at: &[Linearised], rows: usize) -> Vec<f64> {
    let points: Vec<DVec3> = at.iter().map(|at| at.point).collect();
    rows_of(&points)[..rows].to_vec()
}

fn ranks(at: &[Linearised]) -> Vec<usize> {
    at.iter().map(|at| at.rank).collect()
}

/// `C B z`, tails included.
fn applied(law: &Law, at: &[Linearised], z: &[f64]) -> Vec<f64> {
    let z = triples(law, z);
    let mut sum: Vec<DVec3> = at.iter().zip(&z).map(|(at, z)| at.apply(*z)).collect();
    for k in 1..at.len() {
        sum[k] += at[k - 1].apply_tail(z[k - 1]);
    }
    rows_of(&sum)[..law.rows()].to_vec()
}

// −ρ C B against central differences of P: their error is O(δ²) = 1e-12 times third derivatives, which are of the order of the
// inverse cube of the distance from the kinks, and rounding ε/δ = 1e-10. Points within 1e-3 of a kink are left out.
every_law!(factors_are_the_derivative_of_the_map);
fn factors_are_the_derivative_of_the_map(kind: Kind) {
    let mut random = Random::new(61);
    let delta = 1e-6;
    let mut seen = 0;
    for case in 0..6_000 {
        let map = MAPS[case % 2];
        let law = kind.sample(&mut random);
        let m = law.rows();
        let y: Vec<f64> = (0..m).map(|_| random.uniform(-1.0, 1.0)).collect();
        let w: Vec<f64> = (0..m).map(|_| random.uniform(-1.0, 1.0)).collect();
        let rho = random.uniform(0.1, 2.0);
        let at = linearised(&law, map, &y, &w, rho);
        let axis = |j: usize| {
            (0..m)
                .map(|i| f64::from(u8::from(i == j)))
                .collect::<Vec<_>>()
        };
        let near = (0..m).any(|j| {
            [1e-3, -1e-3].iter().any(|step| {
                let beside = linearised(&law, map, &y, &moved(&w, *step, &axis(j)), rho);
                ranks(&beside) != ranks(&at)
            })
        });
        let slow = m >= 2 && (1..m).all(|i| w[i].abs() < 1e-2);
        if near || slow {
            continue;
        }
        seen += 1;
        for j in 0..m {
            let p = |step: f64| {
                point(
                    &linearised(&law, map, &y, &moved(&w, step, &axis(j)), rho),
                    m,
                )
            };
            let (above, below) = (p(delta), p(-delta));
            let difference: Vec<f64> = moved(&above, -1.0, &below)
                .iter()
                .map(|d| d / (2.0 * delta))
                .collect();
            let exact: Vec<f64> = applied(&law, &at, &axis(j))
                .iter()
                .map(|d| -rho * d)
                .collect();
            assert!(
                distance(&difference, &exact) < 1e-4,
                "{map:?} {law:?} y {y:?} w {w:?} {rho}: {j}: {difference:?} {exact:?}"
            );
        }
    }
    assert!(seen > 1_000, "{seen}");
}

// The matrix of a triple is the sum of its factors.
every_law!(matrix_is_the_sum_of_the_factors);
fn matrix_is_the_sum_of_the_factors(kind: Kind) {
    let mut random = Random::new(62);
    for case in 0..2_000 {
        let law = kind.sample(&mut random);
        let (y, w) = (
            vector(&mut random, law.rows()),
            vector(&mut random, law.rows()),
        );
        for at in linearised(&law, MAPS[case % 2], &y, &w, 1.0) {
            let z = random.vector();
            let size = 1.0 + at.apply(z).length();
            assert!((at.matrix() * z - at.apply(z)).length() <= 32.0 * f64::EPSILON * size);
            assert!(at.rank <= 3);
        }
    }
}

// r = P(r − ρ …) for every ρ if r and w satisfy the law, and not otherwise.
every_law!(fixed_points_are_the_solutions);
fn fixed_points_are_the_solutions(kind: Kind) {
    let mut random = Random::new(63);
    let mut others = 0;
    for case in 0..20_000 {
        let map = MAPS[case % 2];
        let law = kind.sample(&mut random);
        let m = law.rows();
        let z = vector(&mut random, m);
        let r = resolved(&law, &z);
        let w = moved(&r, -1.0, &z);
        for rho in [0.01, 1.0, 100.0] {
            let error = distance(&point(&linearised(&law, map, &r, &w, rho), m), &r);
            assert!(
                error <= 128.0 * f64::EPSILON * (1.0 + rho),
                "{map:?} {law:?} {r:?} {w:?} {rho} {error:e}"
            );
        }
        let (r, w) = (
            projected(&law, &vector(&mut random, m)),
            vector(&mut random, m),
        );
        let wrong = distance(&resolved(&law, &moved(&r, -1.0, &w)), &r);
        others += usize::from(wrong > 1e-6);
        for rho in [0.1, 1.0, 10.0] {
            let error = distance(&point(&linearised(&law, map, &r, &w, rho), m), &r);
            assert!(
                error >= 1e-3 * wrong - 1e-14,
                "{map:?} {law:?} {r:?} {w:?} {rho} {error:e} {wrong:e}"
            );
        }
    }
    assert!(others > 1_000, "{others}");
}

// Not a number comes out as an open contact or as not a number, never as an impulse; no factor is one.
every_law!(map_of_not_a_number_has_finite_factors);
fn map_of_not_a_number_has_finite_factors(kind: Kind) {
    let mut random = Random::new(64);
    for case in 0..1_000 {
        let law = kind.sample(&mut random);
        let y = vector(&mut random, law.rows());
        let mut w = vector(&mut random, law.rows());
        let row = random.below(w.len());
        w[row] = f64::NAN;
        for at in linearised(&law, MAPS[case % 2], &y, &w, 1.0) {
            for k in 0..at.rank {
                assert!(at.c[k].is_finite() && at.b[k].is_finite(), "{law:?} {w:?}");
            }
        }
    }
}

// From a point held inside the set the exit is where membership ends, which halving finds. Rows of groups without friction stay zero: that is
// the face on which the map is.
every_law!(exit_is_where_membership_ends);
fn exit_is_where_membership_ends(kind: Kind) {
    let mut random = Random::new(65);
    let (far, mut met, mut never) = (1e3, 0, 0);
    for _ in 0..20_000 {
        let law = kind.sample(&mut random);
        let m = law.rows();
        let mut r = projected(&law, &vector(&mut random, m));
        let first = usize::from(kind != Kind::Ball);
        r[first..].iter_mut().for_each(|r| *r *= 0.9);
        let edge = match law {
            Law::Cohesion(law) => -law.pull_off,
            Law::Interval(law) if r[0] >= law.high - 1e-2 => r[0],
            Law::Interval(law) => law.low,
            Law::Ball(law) if law.radius < 1e-2 => f64::INFINITY,
            Law::Equality(_) | Law::Ball(_) => f64::NEG_INFINITY,
            _ => 0.0,
        };
        if r[0] <= edge + 1e-2 {
            continue;
        }
        let at = linearised(&law, ConeMap::AlartCurnier, &r, &vec![0.0; m], 1.0);
        let mut d = vector(&mut random, m);
        if kind != Kind::Equality {
            // Whether a row carries anything shows far inside.
            let mut probe = vec![1.0; m];
            probe[0] = 1e9;
            law.project(&mut probe);
            (1..m).filter(|i| probe[*i] == 0.0).for_each(|i| d[i] = 0.0);
        }
        let exit = law
            .rules()
            .exit(&at, &triples(&law, &r), &triples(&law, &d));
        let outside = |t: f64| law.violation(&moved(&r, t, &d)) > 1e-13 * (1.0 + t);
        if !outside(far) {
            never += 1;
            assert!(exit >= far * (1.0 - 1e-6), "{law:?} {r:?} {d:?} {exit}");
            continue;
        }
        let (mut low, mut high) = (0.0, far);
        for _ in 0..80 {
            let middle = 0.5 * (low + high);
            if outside(middle) {
                high = middle;
            } else {
                low = middle;
            }
        }
        met += 1;
        // Membership is known to 1e-13; a line that leaves at a speed of 1e-6 or more meets its end to 1e-7.
        let beyond = moved(&r, high + 1e-3 * (1.0 + high), &d);
        let clear = law.violation(&beyond) > 1e-9 * (1.0 + high);
        let error = (exit - high).abs() / (1.0 + high);
        assert!(!clear || error <= 1e-6, "{law:?} {r:?} {d:?} {exit} {high}");
    }
    let enough = met > 500 || (kind == Kind::Equality && never > 500);
    assert!(enough, "{met} {never}");
}
