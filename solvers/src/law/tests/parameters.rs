//! Parameters out of range, and laws in other units.

use super::samples::{Kind, distance, projected, resolved, vector};
use crate::ProblemError;
use crate::law::{Cohesion, EllipticCoulomb, Law, RollingCoulomb, list};
use crate::random::Random;

every_law!(law_of_scaled_impulses_is_the_law_scaled);
fn law_of_scaled_impulses_is_the_law_scaled(kind: Kind) {
    let mut random = Random::new(41);
    for _ in 0..5_000 {
        let law = kind.sample(&mut random);
        let factor = random.power_of_ten(-6.0, 6.0);
        let z = vector(&mut random, law.rows());
        let times = |z: &[f64]| z.iter().map(|z| factor * z).collect::<Vec<_>>();
        let scaled = law.scaled(factor);
        for map in [projected, resolved] {
            let error = distance(&map(&scaled, &times(&z)), &times(&map(&law, &z)));
            assert!(
                error <= 16.0 * f64::EPSILON * factor,
                "{law:?} {factor} {z:?}"
            );
        }
        assert_eq!(scaled.rows(), law.rows());
        assert!(scaled.defect().is_none());
    }
}

fn refused(law: impl Into<Law>) -> String {
    match list::check(7, &law.into()) {
        Ok(()) => String::new(),
        Err(ProblemError::Law {
            interaction, what, ..
        }) => {
            assert_eq!(interaction, 7);
            what.to_owned()
        }
        Err(ProblemError::Friction { contact, .. }) => {
            assert_eq!(contact, 7);
            "friction".to_owned()
        }
        Err(other) => format!("{other:?}"),
    }
}

const BAD: [f64; 3] = [-1e-300, f64::NAN, f64::INFINITY];

#[test]
fn coulomb_planar_elliptic_and_cohesion_refuse_coefficients_out_of_range() {
    for bad in BAD {
        assert_eq!(refused(Law::coulomb(bad)), "friction");
        assert_eq!(refused(Law::planar(bad)), "friction");
        for friction in [[bad, 0.5], [0.5, bad]] {
            assert_eq!(
                refused(Law::EllipticCoulomb(EllipticCoulomb { friction })),
                "friction"
            );
        }
        let cohesion = |friction, pull_off| refused(Law::Cohesion(Cohesion { friction, pull_off }));
        assert_eq!(cohesion(bad, 1.0), "friction");
        assert_eq!(cohesion(0.5, bad), "pull-off impulse");
        assert_eq!(cohesion(0.0, 0.0), "");
    }
}

#[test]
fn rolling_refuses_coefficients_out_of_range() {
    let of = |friction, rolling, spinning| {
        refused(Law::Rolling(RollingCoulomb {
            friction,
            rolling,
            spinning,
        }))
    };
    for bad in BAD {
        assert_eq!(of(bad, 0.1, None), "friction");
        assert_eq!(of(0.5, bad, None), "rolling resistance");
        assert_eq!(of(0.5, 0.1, Some(bad)), "spinning resistance");
    }
    assert_eq!(of(0.0, 0.0, Some(0.0)), "");
}

#[test]
fn interval_ball_and_equality_refuse_what_is_empty() {
    let infinity = f64::INFINITY;
    assert_eq!(refused(Law::interval(1.0, 0.5)), "upper bound");
    assert_eq!(refused(Law::interval(f64::NAN, 0.5)), "lower bound");
    assert_eq!(refused(Law::interval(0.5, f64::NAN)), "upper bound");
    assert_eq!(refused(Law::interval(infinity, infinity)), "lower bound");
    assert_eq!(refused(Law::interval(-infinity, -infinity)), "upper bound");
    assert_eq!(refused(Law::interval(-infinity, infinity)), "");
    assert_eq!(refused(Law::interval(1.0, 1.0)), "");
    assert_eq!(refused(Law::ball(-1e-300)), "radius");
    assert_eq!(refused(Law::ball(f64::NAN)), "radius");
    assert_eq!(refused(Law::ball(infinity)), "");
    assert_eq!(refused(Law::ball(0.0)), "");
    assert_eq!(refused(Law::equality(0)), "rows");
    assert_eq!(refused(Law::equality(1)), "");
    assert_eq!(refused(Law::Complementarity), "");
}
