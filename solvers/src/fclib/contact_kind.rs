//! The kinds of contacts that a file can hold: all of one kind, with one or two coefficients each.

use super::FclibError;
use super::error::expect_length;
use super::source::Source;
use crate::Law;
use crate::law::RollingCoulomb;

/// The law of all contacts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContactKind {
    Planar,
    Space,
    Rolling,
}

impl ContactKind {
    /// The kind that all these laws are of; contacts in space if there are none.
    pub(super) fn of(laws: &[Law]) -> Result<Self, FclibError> {
        let mut common = None;
        for (interaction, law) in laws.iter().enumerate() {
            let kind = match law {
                Law::Coulomb(_) => Some(Self::Space),
                Law::PlanarCoulomb(_) => Some(Self::Planar),
                Law::Rolling(rolling) if rolling.spinning.is_none() => Some(Self::Rolling),
                _ => None,
            };
            match (kind, common) {
                (Some(kind), None) => common = Some(kind),
                (Some(kind), Some(common)) if kind == common => {}
                (_, common) => {
                    return Err(FclibError::Law {
                        interaction,
                        found: name(law),
                        expected: common.map_or(
                            "a contact in the plane, in space or with rolling resistance",
                            Self::name,
                        ),
                    });
                }
            }
        }
        Ok(common.unwrap_or(Self::Space))
    }

    /// `spacedim`, the rows of a contact.
    pub(super) fn rows(self) -> usize {
        match self {
            Self::Planar => 2,
            Self::Space => 3,
            Self::Rolling => 5,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Planar => "a contact in the plane, as those before it",
            Self::Space => "a contact in space, as those before it",
            Self::Rolling => "a contact with rolling resistance, as those before it",
        }
    }

    /// Reads `spacedim` of the group `path`, which holds `rolling` problems or others.
    pub(super) fn read(source: &Source, path: &str, rolling: bool) -> Result<Self, FclibError> {
        let dataset = format!("{path}/spacedim");
        match (source.integer(&dataset)?, rolling) {
            (2, false) => Ok(Self::Planar),
            (3, false) => Ok(Self::Space),
            (5, true) => Ok(Self::Rolling),
            (found, _) => Err(FclibError::Integer {
                dataset,
                found,
                expected: if rolling { "5" } else { "2 or 3" },
            }),
        }
    }

    /// The laws of the group `path`.
    pub(super) fn read_laws(self, source: &Source, path: &str) -> Result<Vec<Law>, FclibError> {
        let friction = coefficients(source, format!("{path}/vectors/mu"))?;
        if self != Self::Rolling {
            let law = |mu: f64| match self {
                Self::Planar => Law::planar(mu),
                _ => Law::coulomb(mu),
            };
            return Ok(friction.into_iter().map(law).collect());
        }
        let dataset = format!("{path}/vectors/mu_r");
        let rolling = coefficients(source, dataset.clone())?;
        expect_length(&dataset, rolling.len(), friction.len())?;
        let law = |(friction, rolling)| {
            Law::Rolling(RollingCoulomb {
                friction,
                rolling,
                spinning: None,
            })
        };
        Ok(friction.into_iter().zip(rolling).map(law).collect())
    }
}

/// Coefficients of friction, and of rolling resistance of the contacts that have it.
pub(super) fn coefficients_of(laws: &[Law]) -> [Vec<f64>; 2] {
    let [mut friction, mut rolling] = [Vec::new(), Vec::new()];
    for law in laws {
        match law {
            Law::Coulomb(law) => friction.push(law.friction),
            Law::PlanarCoulomb(law) => friction.push(law.friction),
            Law::Rolling(law) => {
                friction.push(law.friction);
                rolling.push(law.rolling);
            }
            _ => {}
        }
    }
    [friction, rolling]
}

fn coefficients(source: &Source, dataset: String) -> Result<Vec<f64>, FclibError> {
    let found = source.reals(&dataset)?;
    match found.iter().position(|mu| *mu < 0.0) {
        None => Ok(found),
        Some(contact) => Err(FclibError::Friction {
            value: found[contact],
            dataset,
            contact,
        }),
    }
}

fn name(law: &Law) -> &'static str {
    match law {
        Law::Coulomb(_) => "a contact in space",
        Law::PlanarCoulomb(_) => "a contact in the plane",
        Law::EllipticCoulomb(_) => "a contact with elliptic friction",
        Law::Rolling(rolling) if rolling.spinning.is_some() => "a contact with spinning resistance",
        Law::Rolling(_) => "a contact with rolling resistance",
        Law::Cohesion(_) => "a contact with cohesion",
        Law::Complementarity => "a complementarity",
        Law::Interval(_) => "an interval",
        Law::Ball(_) => "a ball",
        Law::Equality(_) => "an equality",
    }
}
