//! Dynamical systems: what kind a system is, and the state that goes with it.

pub mod finite_differences;
pub mod first_order;
pub mod lagrangian;
pub mod newton_euler;
pub mod rotation;
pub mod signal;
pub mod state;

use crate::algebra::{Coefficient, LONG, Matrix};
use crate::error::FieldError;
use bevy_ecs::prelude::*;
use first_order::{Dynamics, FirstOrderLinear, FirstOrderModel};
use lagrangian::{LagrangianLinear, LagrangianModel, SmallLagrangian};
use moreau_solvers::SparseMatrix;
use newton_euler::NewtonEuler;
use signal::Signal;
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
    LagrangianLinear(Arc<LagrangianLinear<Coefficient>>),
    /// Any Lagrangian system.
    Lagrangian(Arc<dyn LagrangianModel>),
    /// A rigid body: seven coordinates, six velocities.
    NewtonEuler(Arc<NewtonEuler>),
    /// Linear in `x`, coefficients constant or varying with time.
    FirstOrderLinear(Arc<FirstOrderLinear<Coefficient>>),
    /// Any first-order system.
    FirstOrder(Arc<dyn FirstOrderModel>),
}

/// A slope of the equations of motion, `F` or `f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slope {
    /// `∂F/∂v`.
    Velocity,
    /// `∂F/∂q`.
    Position,
    /// `∂f/∂x`.
    State,
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

    /// The system if all of it is constant, dense, and so small that it is worked out row by row.
    #[inline]
    pub(crate) fn small_lagrangian(&self) -> Option<SmallLagrangian<'_>> {
        match self {
            Self::LagrangianLinear(model) if model.mass.rows() < LONG => model.constant_dense(),
            _ => None,
        }
    }

    /// The same of first order: `A` and `b`.
    #[inline]
    pub(crate) fn small_first_order(&self) -> Option<(&Matrix, &Signal)> {
        match self {
            Self::FirstOrderLinear(model) if model.size < LONG => model.constant_dense(),
            _ => None,
        }
    }

    /// True if it is worked out sparsely: its matrices are constant, and one of them is sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        match self {
            Self::LagrangianLinear(model) => model.is_sparse(),
            Self::FirstOrderLinear(model) => model.is_sparse(),
            Self::Lagrangian(_) | Self::NewtonEuler(_) | Self::FirstOrder(_) => false,
        }
    }

    /// `M` of a system that is worked out sparsely.
    pub(crate) fn sparse_mass(&self) -> Option<Coefficient> {
        match self {
            Self::LagrangianLinear(model) if model.is_sparse() => Some(model.mass.clone()),
            Self::FirstOrderLinear(model) if model.is_sparse() => match &model.mass {
                Some(mass) => Some(mass.clone()),
                None => {
                    let unit = (0..model.size).map(|i| (i, i, 1.0));
                    let unit = SparseMatrix::from_triplets(model.size, model.size, unit);
                    unit.ok().map(Coefficient::Sparse)
                }
            },
            _ => None,
        }
    }

    /// A slope of a linear system with constant matrices, as a multiple of one of them; nothing where it is zero.
    pub(crate) fn constant_slope(&self, of: Slope) -> Option<(f64, &Coefficient)> {
        match (self, of) {
            (Self::LagrangianLinear(model), Slope::Velocity) => {
                model.damping.as_ref().map(|damping| (-1.0, damping))
            }
            (Self::LagrangianLinear(model), Slope::Position) => {
                model.stiffness.as_ref().map(|stiffness| (-1.0, stiffness))
            }
            (Self::FirstOrderLinear(model), Slope::State) => match &model.matrix {
                Dynamics::Constant(matrix) => Some((1.0, matrix)),
                Dynamics::Varying(_) => None,
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

impl<M: Into<Coefficient>> From<LagrangianLinear<M>> for System {
    fn from(model: LagrangianLinear<M>) -> Self {
        Self::LagrangianLinear(Arc::new(model.any()))
    }
}

impl From<NewtonEuler> for System {
    fn from(model: NewtonEuler) -> Self {
        Self::NewtonEuler(Arc::new(model))
    }
}

impl<M: Into<Coefficient>> From<FirstOrderLinear<M>> for System {
    fn from(model: FirstOrderLinear<M>) -> Self {
        Self::FirstOrderLinear(Arc::new(model.any()))
    }
}
