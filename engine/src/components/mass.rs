//! Mass and inertia of a body.

use super::inertia::Inertia;
use bevy_ecs::prelude::*;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Mass and inertia about the centre of mass.
///
/// By default they follow from the shape and the material's density and are written here when
/// the body is first seen; until then, and for static and kinematic bodies, they are zero. Given values are
/// checked: positive, and inertia within the triangle inequality.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(summary_tick)]
#[serde(from = "GivenMass", into = "GivenMass")]
pub struct Mass {
    given: bool,
    mass: f64,
    principal_inertia: DVec3,
    principal_frame: DQuat,
}

impl Default for Mass {
    fn default() -> Self {
        Self::from_shape()
    }
}

impl Mass {
    /// Computed from the shape and the density.
    #[must_use]
    pub fn from_shape() -> Self {
        Self {
            given: false,
            mass: 0.0,
            principal_inertia: DVec3::ZERO,
            principal_frame: DQuat::IDENTITY,
        }
    }

    /// Given mass (kg) and principal moments (kg·m²) about the body axes.
    #[must_use]
    pub fn given(mass: f64, principal_inertia: DVec3) -> Self {
        Self {
            given: true,
            mass,
            principal_inertia,
            principal_frame: DQuat::IDENTITY,
        }
    }

    /// The same with principal axes turned by `frame` (principal axes to body frame).
    #[must_use]
    pub fn with_principal_frame(self, frame: DQuat) -> Self {
        Self {
            principal_frame: frame,
            ..self
        }
    }

    /// `m`, kg.
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Principal moments of inertia, kg·m².
    #[must_use]
    pub fn principal_inertia(&self) -> DVec3 {
        self.principal_inertia
    }

    /// Principal axes to body frame.
    #[must_use]
    pub fn principal_frame(&self) -> DQuat {
        self.principal_frame
    }

    /// True if the values were given and not computed.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.given
    }

    /// Given values as they are; otherwise those that the body was found to have.
    pub(crate) fn completed(&self, inertia: &Inertia) -> Self {
        if self.given {
            *self
        } else {
            Self {
                given: false,
                mass: inertia.mass,
                principal_inertia: inertia.moments,
                principal_frame: inertia.frame,
            }
        }
    }

    /// True if these are the values of `inertia`.
    pub(crate) fn describes(&self, inertia: &Inertia) -> bool {
        *self
            == Self {
                given: self.given,
                mass: inertia.mass,
                principal_inertia: inertia.moments,
                principal_frame: inertia.frame,
            }
    }
}

/// The form of a mass in files: nothing for a computed one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GivenMass {
    #[serde(skip_serializing_if = "Option::is_none")]
    mass: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal_inertia: Option<DVec3>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal_frame: Option<DQuat>,
}

impl From<GivenMass> for Mass {
    fn from(file: GivenMass) -> Self {
        match (file.mass, file.principal_inertia) {
            (None, None) => Self::from_shape(),
            // A missing half is NaN, which the check of the body names.
            (mass, inertia) => Self::given(mass.unwrap_or(f64::NAN), inertia.unwrap_or(DVec3::NAN))
                .with_principal_frame(file.principal_frame.unwrap_or(DQuat::IDENTITY)),
        }
    }
}

impl From<Mass> for GivenMass {
    fn from(mass: Mass) -> Self {
        if mass.given {
            Self {
                mass: Some(mass.mass),
                principal_inertia: Some(mass.principal_inertia),
                principal_frame: Some(mass.principal_frame),
            }
        } else {
            Self::default()
        }
    }
}
