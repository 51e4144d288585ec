//! Random laws of each kind.

use crate::law::{Cohesion, EllipticCoulomb, Law, RollingCoulomb};
use crate::random::Random;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Coulomb,
    Planar,
    Elliptic,
    Rolling,
    Spinning,
    Cohesion,
    Complementarity,
    Interval,
    Ball,
    Equality,
}

/// Zero, small, or up to 1.5.
fn coefficient(random: &mut Random) -> f64 {
    match random.below(6) {
        0 => 0.0,
        1 => random.power_of_ten(-3.0, 0.0),
        _ => random.uniform(0.0, 1.5),
    }
}

impl Kind {
    pub(super) fn sample(self, random: &mut Random) -> Law {
        let mut mu = || coefficient(random);
        match self {
            Self::Coulomb => Law::coulomb(mu()),
            Self::Planar => Law::planar(mu()),
            Self::Elliptic => Law::EllipticCoulomb(EllipticCoulomb {
                friction: [mu(), mu()],
            }),
            Self::Rolling => Law::Rolling(RollingCoulomb {
                friction: mu(),
                rolling: mu(),
                spinning: None,
            }),
            Self::Spinning => Law::Rolling(RollingCoulomb {
                friction: mu(),
                rolling: mu(),
                spinning: Some(mu()),
            }),
            Self::Cohesion => Law::Cohesion(Cohesion {
                friction: mu(),
                pull_off: mu(),
            }),
            Self::Complementarity => Law::Complementarity,
            Self::Interval => {
                let low = random.uniform(-1.0, 0.5);
                match random.below(5) {
                    0 => Law::interval(f64::NEG_INFINITY, low),
                    1 => Law::interval(low, f64::INFINITY),
                    2 => Law::interval(f64::NEG_INFINITY, f64::INFINITY),
                    3 => Law::interval(low, low),
                    _ => Law::interval(low, low + random.uniform(0.0, 1.0)),
                }
            }
            Self::Ball => match random.below(12) {
                0 => Law::ball(f64::INFINITY),
                _ => Law::ball(coefficient(random)),
            },
            Self::Equality => Law::equality(1 + random.below(7)),
        }
    }

    /// `C` is a cone.
    pub(super) fn is_cone(self) -> bool {
        !matches!(self, Self::Cohesion | Self::Interval | Self::Ball)
    }
}

/// Entries in `[-1, 1]`; one in four vectors has entries of very different size.
pub(super) fn vector(random: &mut Random, rows: usize) -> Vec<f64> {
    let uneven = random.below(4) == 0;
    let mut entry = |_| {
        let size = if uneven {
            random.power_of_ten(-6.0, 0.0)
        } else {
            1.0
        };
        size * random.uniform(-1.0, 1.0)
    };
    (0..rows).map(&mut entry).collect()
}

pub(super) fn projected(law: &Law, z: &[f64]) -> Vec<f64> {
    let mut p = z.to_vec();
    law.project(&mut p);
    p
}

pub(super) fn resolved(law: &Law, z: &[f64]) -> Vec<f64> {
    let mut p = z.to_vec();
    law.resolve(&mut p);
    p
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `a + t b`.
pub(super) fn moved(a: &[f64], t: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + t * b).collect()
}

/// `‖a − b‖`.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    let apart = moved(a, -1.0, b);
    dot(&apart, &apart).sqrt()
}
