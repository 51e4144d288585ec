//! Mass and inertia of a body.

use super::inertia::Inertia;
use bevy_ecs::prelude::*;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Mass and inertia about the centre of mass.
///
/// By default they follow from the shape and the material's density and are written here when
/// the body is first seen; until then, and for static and kinematic bodies, they are zero. A mass given by itself has
/// the inertia of the shape, filled so evenly that it has this mass. Given values are
/// checked: positive, and inertia within the triangle inequality.
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        opaque,
        bevy_ecs::reflect::Component,
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[component(summary_tick)]
#[serde(try_from = "GivenMass", into = "GivenMass")]
pub struct Mass {
    given: Given,
    mass: f64,
    principal_inertia: DVec3,
    principal_frame: DQuat,
    center: Option<DVec3>,
}

/// What does not follow from the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Given {
    Nothing,
    Mass,
    MassAndInertia,
}

/// What was given, mass, principal moments, their frame, and a centre of its own.
pub(crate) type RawMass = (Given, f64, DVec3, DQuat, Option<DVec3>);

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
            given: Given::Nothing,
            mass: 0.0,
            principal_inertia: DVec3::ZERO,
            principal_frame: DQuat::IDENTITY,
            center: None,
        }
    }

    /// Given mass (kg); inertia from the shape, scaled to this mass, whatever the density.
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings::default())?;
    /// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5), Mass::scaled_to(3.0)))?;
    /// let mass = simulation.world().get::<Mass>(ball);
    /// assert!(mass.is_some_and(|mass| (mass.principal_inertia().x - 0.4 * 3.0 * 0.25).abs() < 1e-15));
    /// # Ok::<(), StepError>(())
    /// ```
    #[must_use]
    pub fn scaled_to(mass: f64) -> Self {
        Self {
            given: Given::Mass,
            mass,
            ..Self::from_shape()
        }
    }

    /// Given mass (kg) and principal moments (kg·m²) about the body axes.
    #[must_use]
    pub fn given(mass: f64, principal_inertia: DVec3) -> Self {
        Self {
            given: Given::MassAndInertia,
            mass,
            principal_inertia,
            principal_frame: DQuat::IDENTITY,
            center: None,
        }
    }

    /// The same with the centre of mass at `center` (m) in the frame of the shape, wherever that of the shape is: for bodies that are not
    /// filled evenly. The pose of the body and its principal moments are those of this centre. Without inertia it is a
    /// [`BodyError`](crate::BodyError): the moments of the shape are about its own centre.
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings::default())?;
    /// let loaded = Mass::given(1.0, DVec3::splat(0.1)).with_center_of_mass(DVec3::new(0.0, 0.0, -0.2));
    /// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5), loaded))?;
    /// let shape = simulation.shape_pose(ball).unwrap_or_default();
    /// assert_eq!(shape.position, DVec3::new(0.0, 0.0, 0.2));
    /// # Ok::<(), StepError>(())
    /// ```
    #[must_use]
    pub fn with_center_of_mass(self, center: DVec3) -> Self {
        Self {
            center: Some(center),
            ..self
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

    /// Centre of mass in the frame of the shape, m; `None` where it is that of the shape.
    #[must_use]
    pub fn center_of_mass(&self) -> Option<DVec3> {
        self.center
    }

    /// True if mass and inertia were given and not computed.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.given == Given::MassAndInertia
    }

    /// All of it, for a format that is not for people.
    pub(crate) fn raw(&self) -> RawMass {
        let Self {
            given,
            mass,
            principal_inertia,
            principal_frame,
            center,
        } = *self;
        (given, mass, principal_inertia, principal_frame, center)
    }

    /// The reverse of [`Self::raw`].
    pub(crate) fn of_raw(
        (given, mass, principal_inertia, principal_frame, center): RawMass,
    ) -> Self {
        Self {
            given,
            mass,
            principal_inertia,
            principal_frame,
            center,
        }
    }

    /// What was given, without what follows from the shape.
    pub(crate) fn as_given(&self) -> Self {
        let nothing = Self::from_shape();
        match self.given {
            Given::Nothing => nothing,
            Given::Mass => Self::scaled_to(self.mass),
            Given::MassAndInertia => return *self,
        }
        .with_center(self.center)
    }

    fn with_center(self, center: Option<DVec3>) -> Self {
        Self { center, ..self }
    }

    pub(crate) fn given_part(&self) -> Given {
        self.given
    }

    /// What was given as it is; the rest as the body was found to have it.
    pub(crate) fn completed(&self, inertia: &Inertia) -> Self {
        let mass = match self.given {
            Given::MassAndInertia => return *self,
            Given::Mass => self.mass,
            Given::Nothing => inertia.mass,
        };
        Self {
            given: self.given,
            mass,
            principal_inertia: inertia.moments,
            principal_frame: inertia.frame,
            center: self.center,
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
                center: self.center,
            }
    }
}

/// The form of a mass in files: nothing for a computed one, a mass by itself for one that inertia is scaled to.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GivenMass {
    #[serde(skip_serializing_if = "Option::is_none")]
    mass: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal_inertia: Option<DVec3>,
    #[serde(skip_serializing_if = "Option::is_none")]
    principal_frame: Option<DQuat>,
    #[serde(skip_serializing_if = "Option::is_none")]
    center_of_mass: Option<DVec3>,
}

impl TryFrom<GivenMass> for Mass {
    type Error = &'static str;

    fn try_from(file: GivenMass) -> Result<Self, Self::Error> {
        if file.center_of_mass.is_some() && file.principal_inertia.is_none() {
            return Err("center_of_mass is given without principal_inertia");
        }
        match (file.mass, file.principal_inertia, file.principal_frame) {
            (None, None, None) => Ok(Self::from_shape()),
            (Some(mass), None, None) => Ok(Self::scaled_to(mass)),
            (Some(mass), Some(inertia), frame) => {
                let given = Self::given(mass, inertia);
                Ok(Self {
                    center: file.center_of_mass,
                    ..given.with_principal_frame(frame.unwrap_or(DQuat::IDENTITY))
                })
            }
            (None, Some(_), _) => Err("principal_inertia is given without mass"),
            (_, None, Some(_)) => Err("principal_frame is given without principal_inertia"),
        }
    }
}

impl From<Mass> for GivenMass {
    fn from(mass: Mass) -> Self {
        match mass.given {
            Given::Nothing => Self::default(),
            Given::Mass => Self {
                mass: Some(mass.mass),
                ..Self::default()
            },
            Given::MassAndInertia => Self {
                mass: Some(mass.mass),
                principal_inertia: Some(mass.principal_inertia),
                principal_frame: Some(mass.principal_frame),
                center_of_mass: mass.center,
            },
        }
    }
}
