//! The set of each law: projection, recession cone, violation.
//!
//! Vectors have entries up to 1 and coefficients are up to 1.5, so that rounding is some ε; the root of the elliptic
//! projection and the divisions of the others multiply it by less than 16.

use super::samples::{Kind, distance, dot, moved, projected, resolved, vector};
use crate::law::{EllipticCoulomb, Law, RollingCoulomb};
use crate::random::{Random, direction};

const CASES: usize = 20_000;
const ROUNDING: f64 = 16.0 * f64::EPSILON;

every_law!(projection_is_idempotent);
fn projection_is_idempotent(kind: Kind) {
    let mut random = Random::new(11);
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let p = projected(&law, &vector(&mut random, law.rows()));
        let again = projected(&law, &p);
        assert!(distance(&p, &again) <= ROUNDING, "{law:?} {p:?} {again:?}");
    }
}

every_law!(projection_is_non_expansive);
fn projection_is_non_expansive(kind: Kind) {
    let mut random = Random::new(12);
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let a = vector(&mut random, law.rows());
        let b = moved(
            &a,
            random.power_of_ten(-6.0, 0.0),
            &vector(&mut random, law.rows()),
        );
        let apart = distance(&projected(&law, &a), &projected(&law, &b));
        assert!(apart <= distance(&a, &b) + ROUNDING, "{law:?} {a:?} {b:?}");
    }
}

// (z − P(z))·(y − P(z)) ≤ 0 for all y in C: what a projection on a convex set is.
every_law!(projection_sees_the_set_at_an_obtuse_angle);
fn projection_sees_the_set_at_an_obtuse_angle(kind: Kind) {
    let mut random = Random::new(13);
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let z = vector(&mut random, law.rows());
        let p = projected(&law, &z);
        for _ in 0..8 {
            let y = projected(&law, &vector(&mut random, law.rows()));
            let angle = dot(&moved(&z, -1.0, &p), &moved(&y, -1.0, &p));
            assert!(
                angle <= 8.0 * ROUNDING,
                "{law:?} {z:?} {p:?} {y:?} {angle:e}"
            );
        }
    }
}

// z = P(z) + (z − P(z)) with orthogonal parts, the second in the polar cone { w : w·y ≤ 0 for y in C }, in closed form:
// w_N ≤ −σ(w) for contacts, w ≤ 0 for complementarity, w = 0 for equalities.
every_law!(projection_on_a_cone_decomposes_after_moreau);
fn projection_on_a_cone_decomposes_after_moreau(kind: Kind) {
    let mut random = Random::new(14);
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        if !kind.is_cone() {
            continue;
        }
        let z = vector(&mut random, law.rows());
        let p = projected(&law, &z);
        let polar = moved(&z, -1.0, &p);
        assert!(dot(&p, &polar).abs() <= ROUNDING, "{law:?} {z:?} {p:?}");
        let outside = match kind {
            Kind::Equality => polar.iter().fold(0.0, |worst: f64, w| worst.max(w.abs())),
            _ => polar[0] + law.shift(&polar),
        };
        assert!(outside <= ROUNDING, "{law:?} {z:?} {p:?} {outside:e}");
    }
}

every_law!(a_projected_point_violates_nothing_and_others_do);
fn a_projected_point_violates_nothing_and_others_do(kind: Kind) {
    let mut random = Random::new(15);
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let z = vector(&mut random, law.rows());
        let p = projected(&law, &z);
        assert!(
            law.violation(&p) <= ROUNDING,
            "{law:?} {p:?} {:e}",
            law.violation(&p)
        );
        // The violation is a distance up to a factor: three discs, coefficients ≤ 1.5.
        let (apart, violation) = (distance(&z, &p), law.violation(&z));
        assert!(
            violation >= apart / 8.0 - ROUNDING,
            "{law:?} {z:?} {apart} {violation}"
        );
        assert!(
            violation <= 4.0 * apart + ROUNDING,
            "{law:?} {z:?} {apart} {violation}"
        );
    }
}

every_law!(directions_without_end_are_the_recession_cone);
fn directions_without_end_are_the_recession_cone(kind: Kind) {
    let mut random = Random::new(16);
    let far = 1e6;
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let inside = projected(&law, &vector(&mut random, law.rows()));
        let z = vector(&mut random, law.rows());
        let mut endless = z.clone();
        law.project_recession(&mut endless);
        let reached = moved(&inside, far, &endless);
        assert!(
            law.violation(&reached) <= far * ROUNDING,
            "{law:?} {inside:?} {endless:?}"
        );
        // Any other direction leaves the set: by its distance from the cone times the way, less the size of what is bounded.
        let left = law.violation(&moved(&inside, far, &z));
        let apart = distance(&z, &endless);
        assert!(
            left >= far * apart / 8.0 - 4.0,
            "{law:?} {z:?} {endless:?} {left}"
        );
    }
}

every_law!(the_resolved_point_is_in_the_set);
fn the_resolved_point_is_in_the_set(kind: Kind) {
    let mut random = Random::new(17);
    for _ in 0..CASES {
        let law = kind.sample(&mut random);
        let r = resolved(&law, &vector(&mut random, law.rows()));
        assert!(law.violation(&r) <= ROUNDING, "{law:?} {r:?}");
    }
}

// What is not a number is not solved: the projection must not make a number of it.
every_law!(not_a_number_stays_none);
fn not_a_number_stays_none(kind: Kind) {
    let mut random = Random::new(18);
    for _ in 0..1_000 {
        let law = kind.sample(&mut random);
        let mut z = vector(&mut random, law.rows());
        let row = random.below(z.len());
        z[row] = f64::NAN;
        let none = |z: &[f64]| z.iter().any(|z| z.is_nan());
        assert!(none(&projected(&law, &z)), "projection {law:?} {z:?}");
        assert!(none(&resolved(&law, &z)), "resolve {law:?} {z:?}");
        if kind != Kind::Equality {
            assert!(law.violation(&z).is_nan(), "violation {law:?} {z:?}");
        }
    }
}

/// The length of the projection on a cone is the largest `z·e/‖e‖` over its rays `e`: on a grid of steps `δ` it is met to `O(δ²)`.
fn longest(rays: impl Iterator<Item = Vec<f64>>, z: &[f64]) -> f64 {
    rays.map(|e| dot(&e, z) / dot(&e, &e).sqrt())
        .fold(0.0, f64::max)
}

#[test]
fn elliptic_projection_is_the_one_found_by_scanning_rays() {
    let mut random = Random::new(21);
    for _ in 0..2_000 {
        let law = Kind::Elliptic.sample(&mut random);
        let Law::EllipticCoulomb(EllipticCoulomb { friction: [a, b] }) = law else {
            continue;
        };
        let z = vector(&mut random, 3);
        if law.violation(&z) == 0.0 {
            continue;
        }
        let rays = (0..4_000).map(|k| {
            let [c, s] = direction(f64::from(k) / 4_000.0);
            vec![1.0, a * c, b * s]
        });
        let found = longest(rays, &z);
        let p = projected(&law, &z);
        let length = dot(&p, &p).sqrt();
        // δ ≤ 3.2e-3 in the angle.
        assert!(
            found <= length + ROUNDING && length <= found + 2e-5,
            "{law:?} {z:?} {length} {found}"
        );
    }
}

#[test]
fn rolling_projection_is_the_one_found_by_scanning_rays() {
    let mut random = Random::new(22);
    for _ in 0..400 {
        let law = Kind::Spinning.sample(&mut random);
        let Law::Rolling(RollingCoulomb {
            friction,
            rolling,
            spinning: Some(spin),
        }) = law
        else {
            continue;
        };
        let z = vector(&mut random, 6);
        if law.violation(&z) == 0.0 {
            continue;
        }
        // Groups of the best ray are along those of z: only their lengths are scanned.
        let steps = 40;
        let [t, m, s] = [libm::hypot(z[1], z[2]), libm::hypot(z[3], z[4]), z[5].abs()];
        let rays = (0..(steps + 1) * (steps + 1) * (steps + 1)).map(|k| {
            let part = |k: usize| (k % (steps + 1)) as f64 / steps as f64;
            let (i, j, l) = (
                part(k),
                part(k / (steps + 1)),
                part(k / (steps + 1) / (steps + 1)),
            );
            vec![1.0, i * friction, j * rolling, l * spin]
        });
        let found = longest(rays, &[z[0], t, m, s]);
        let p = projected(&law, &z);
        let length = dot(&p, &p).sqrt();
        // δ ≤ 1.5/40 in three lengths, at a relative curvature of one.
        assert!(
            found <= length + ROUNDING && length <= found + 3e-3,
            "{law:?} {z:?} {length} {found}"
        );
    }
}

/// Coefficients that differ by up to sixteen orders of magnitude. Moreau's decomposition decides; the relative rounding is that of
/// the coefficients themselves.
#[test]
fn elliptic_projection_with_very_different_coefficients_decomposes() {
    let mut random = Random::new(23);
    for _ in 0..CASES {
        let friction = [
            random.power_of_ten(-8.0, 8.0),
            random.power_of_ten(-8.0, 8.0),
        ];
        let law = Law::EllipticCoulomb(EllipticCoulomb { friction });
        let z = vector(&mut random, 3);
        let p = projected(&law, &z);
        let polar = moved(&z, -1.0, &p);
        let top = friction[0].max(friction[1]).max(1.0);
        assert!(dot(&p, &polar).abs() <= ROUNDING, "{law:?} {z:?} {p:?}");
        assert!(
            polar[0] + law.shift(&polar) <= ROUNDING * top,
            "{law:?} {z:?} {p:?}"
        );
        let gauge = libm::hypot(p[1] / friction[0], p[2] / friction[1]);
        assert!(
            gauge <= p[0] * (1.0 + ROUNDING) + ROUNDING,
            "{law:?} {z:?} {p:?}"
        );
    }
}
