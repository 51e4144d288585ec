//! Dynamical systems: what kind a system is, and the state that goes with it.

pub mod finite_differences;
pub mod first_order;
pub mod lagrangian;
pub mod newton_euler;
pub mod rotation;
pub mod signal;
pub mod state;

use crate::algebra::{LONG, Matrix};
use crate::error::FieldError;
use bevy_ecs::prelude::*;
use first_order::{Dynamics, FirstOrderLinear, FirstOrderModel};
use lagrangian::{LagrangianLinear, LagrangianModel};
use newton_euler::NewtonEuler;
use std::sync::Arc;

/// The component that makes an entity a dynamical system.
///
/// | variant | equation | state |
/// |---|---|---|
/// | `LagrangianLinear` | `M v̇ + C v + K q = F_ext(t) + p` | `q, v` |
/// | `Lagrangian` | `M(q) v̇ = F(t, q, v) + p` | `q, v` |
/// | `NewtonEuler` | `q̇ = T(q) v`, `M v̇ = F(t, q, v) + p`: a rigid body | `q, v` |
/// | `FirstOrderLinear` | `M ẋ = A(t) x + b(t) + r` | `x` |
/// | `FirstOrder` | `M ẋ = f(t, x) + r` | `x` |
///
/// `p` and `r` come from the interactions. Copies share their model.
#[derive(Component, Clone)]
pub enum System {
    /// Constant mass, damping and stiffness.
    LagrangianLinear(Arc<LagrangianLinear>),
    /// Any Lagrangian system.
    Lagrangian(Arc<dyn LagrangianModel>),
    /// A rigid body: seven coordinates, six velocities.
    NewtonEuler(Arc<NewtonEuler>),
    /// Linear in `x`, coefficients constant or varying with time.
    FirstOrderLinear(Arc<FirstOrderLinear>),
    /// Any first-order system.
    FirstOrder(Arc<dyn FirstOrderModel>),
}

/// What a system is to its integrator.
#[derive(Clone, Copy)]
pub(crate) enum Model<'a> {
    Lagrangian(&'a dyn LagrangianModel),
    FirstOrder(&'a dyn FirstOrderModel),
}

impl System {
    /// Any Lagrangian system.
    #[must_use]
    pub fn lagrangian(model: impl LagrangianModel + 'static) -> Self {
        Self::Lagrangian(Arc::new(model))
    }

    /// Any first-order system.
    #[must_use]
    pub fn first_order(model: impl FirstOrderModel + 'static) -> Self {
        Self::FirstOrder(Arc::new(model))
    }

    /// Number of coordinates: entries of `v`, and of `q` but for rigid bodies, or of `x`.
    #[must_use]
    pub fn size(&self) -> usize {
        match self.model() {
            Model::Lagrangian(model) => model.size(),
            Model::FirstOrder(model) => model.size(),
        }
    }

    /// True if the equations are linear with constant coefficients, so that one Newton step is exact.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        matches!(self, Self::LagrangianLinear(_) | Self::FirstOrderLinear(_))
    }

    /// True if `q` has as many entries as `v`, and moves by their sum.
    pub(crate) fn is_flat(&self) -> bool {
        match self.model() {
            Model::Lagrangian(model) => model.coordinates() == model.size(),
            Model::FirstOrder(_) => true,
        }
    }

    /// True if its matrices are the same at all times.
    pub(crate) fn is_constant(&self) -> bool {
        match self {
            Self::LagrangianLinear(_) => true,
            Self::FirstOrderLinear(system) => matches!(system.matrix, Dynamics::Constant(_)),
            Self::Lagrangian(_) | Self::NewtonEuler(_) | Self::FirstOrder(_) => false,
        }
    }

    /// The system if all of it is constant and so small that it is worked out row by row.
    #[inline]
    pub(crate) fn small_lagrangian(&self) -> Option<&LagrangianLinear> {
        match self {
            Self::LagrangianLinear(model)
                if model.force.is_constant() && model.mass.rows() < LONG =>
            {
                Some(model)
            }
            _ => None,
        }
    }

    /// The same of first order: the system and `A`.
    #[inline]
    pub(crate) fn small_first_order(&self) -> Option<(&FirstOrderLinear, &Matrix)> {
        match self {
            Self::FirstOrderLinear(model) => match &model.matrix {
                Dynamics::Constant(a) if model.input.is_constant() && model.size < LONG => {
                    Some((model, a))
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn model(&self) -> Model<'_> {
        match self {
            Self::LagrangianLinear(model) => Model::Lagrangian(model.as_ref()),
            Self::Lagrangian(model) => Model::Lagrangian(model.as_ref()),
            Self::NewtonEuler(model) => Model::Lagrangian(model.as_ref()),
            Self::FirstOrderLinear(model) => Model::FirstOrder(model.as_ref()),
            Self::FirstOrder(model) => Model::FirstOrder(model.as_ref()),
        }
    }

    /// Checks the sizes of all that the system was given as data.
    pub(crate) fn check(&self) -> Result<(), FieldError> {
        if self.size() == 0 {
            return Err(FieldError::Empty { field: "size" });
        }
        match self {
            Self::LagrangianLinear(model) => model.check(),
            Self::FirstOrderLinear(model) => model.check(),
            Self::NewtonEuler(model) => model.check(),
            Self::Lagrangian(_) | Self::FirstOrder(_) => Ok(()),
        }
    }
}

impl From<LagrangianLinear> for System {
    fn from(model: LagrangianLinear) -> Self {
        Self::LagrangianLinear(Arc::new(model))
    }
}

impl From<NewtonEuler> for System {
    fn from(model: NewtonEuler) -> Self {
        Self::NewtonEuler(Arc::new(model))
    }
}

impl From<FirstOrderLinear> for System {
    fn from(model: FirstOrderLinear) -> Self {
        Self::FirstOrderLinear(Arc::new(model))
    }
}
