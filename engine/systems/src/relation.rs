//! Relations: outputs `y` of the systems that an interaction joins, and what its multipliers `λ` do to them.

pub mod degree;
pub mod first_order;
pub mod lagrangian;
pub mod newton_euler;

use crate::algebra::{Coefficient, Rows};
use crate::error::{FieldError, expect_length};
use bevy_ecs::prelude::*;
use first_order::{FirstOrderLinearRelation, FirstOrderRelation};
use lagrangian::{LagrangianLinearRelation, LagrangianRelation};
use newton_euler::{BodyContact, BodyJoint};
use std::sync::Arc;

/// How an interaction sees its systems.
///
/// | variant | `y` | acts as |
/// |---|---|---|
/// | `LagrangianLinear` | `H q + b (+ D λ)` | `p = Hᵀ λ` |
/// | `Lagrangian`: scleronomous, rheonomous, compliant | `h(q)`, `h(t, q)`, `h(t, q, λ)` | `p = (∂h/∂q)ᵀ λ` |
/// | the same of rigid bodies: [`newton_euler`] | `h(t, q, λ)` | `p = Gᵀ λ`, `G = ∂h/∂q T(q)` |
/// | `FirstOrderLinear` | `C x + D λ + F z + e(t)` | `r = B λ` |
/// | `FirstOrder`: type 1 | `h(t, x)` | `r = g(t, λ)` |
/// | type 2 | `h(t, x, λ)` | `r = g(t, λ)` |
/// | nonlinear | `h(t, x, λ)` | `r = g(t, x, λ)` |
///
/// With two systems, `q` and `x` are those of the first and of the second, and each matrix has a part for each system. A first-order relation may
/// join a Lagrangian system, whose state is then `x = (q, v)` and whose `r` are generalised forces: so a circuit drives a mechanism.
#[derive(Component, Clone)]
pub enum Relation {
    /// Constant `H`.
    LagrangianLinear(Arc<LagrangianLinearRelation<Rows>>),
    /// Any Lagrangian relation.
    Lagrangian(Arc<dyn LagrangianRelation>),
    /// Constant `B`, `C`, `D`.
    FirstOrderLinear(Arc<FirstOrderLinearRelation<Rows, Coefficient>>),
    /// Any first-order relation.
    FirstOrder(Arc<dyn FirstOrderRelation>),
}

impl Relation {
    /// Any Lagrangian relation.
    #[must_use]
    pub fn lagrangian(relation: impl LagrangianRelation + 'static) -> Self {
        Self::Lagrangian(Arc::new(relation))
    }

    /// Any first-order relation.
    #[must_use]
    pub fn first_order(relation: impl FirstOrderRelation + 'static) -> Self {
        Self::FirstOrder(Arc::new(relation))
    }

    /// Number of outputs and of multipliers.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self.seen() {
            Seen::Lagrangian(relation) => relation.rows(),
            Seen::FirstOrder(relation) => relation.rows(),
        }
    }

    /// True if the outputs and what multipliers do are linear with constant coefficients.
    #[must_use]
    pub fn is_linear(&self) -> bool {
        matches!(self, Self::LagrangianLinear(_) | Self::FirstOrderLinear(_))
    }

    pub(crate) fn seen(&self) -> Seen<'_> {
        match self {
            Self::LagrangianLinear(relation) => Seen::Lagrangian(relation.as_ref()),
            Self::Lagrangian(relation) => Seen::Lagrangian(relation.as_ref()),
            Self::FirstOrderLinear(relation) => Seen::FirstOrder(relation.as_ref()),
            Self::FirstOrder(relation) => Seen::FirstOrder(relation.as_ref()),
        }
    }

    /// True if it is linear with sparse matrices.
    pub(crate) fn is_sparse(&self) -> bool {
        match self {
            Self::LagrangianLinear(relation) => relation.is_sparse(),
            Self::FirstOrderLinear(relation) => relation.is_sparse(),
            Self::Lagrangian(_) | Self::FirstOrder(_) => false,
        }
    }

    /// Checks the sizes of all that the relation was given as data. `columns` is how many entries of each system it sees, `inputs` how many it acts on.
    pub(crate) fn check(&self, columns: &[usize], inputs: &[usize]) -> Result<(), FieldError> {
        if self.rows() == 0 {
            return Err(FieldError::Empty {
                field: "relation rows",
            });
        }
        match self {
            Self::LagrangianLinear(relation) => relation.check(columns),
            Self::FirstOrderLinear(relation) => relation.check(columns, inputs),
            Self::Lagrangian(_) | Self::FirstOrder(_) => Ok(()),
        }
    }
}

/// What a relation is to the step.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    Lagrangian(&'a dyn LagrangianRelation),
    FirstOrder(&'a dyn FirstOrderRelation),
}

impl From<BodyContact> for Relation {
    fn from(contact: BodyContact) -> Self {
        Self::lagrangian(contact)
    }
}

impl From<BodyJoint> for Relation {
    fn from(joint: BodyJoint) -> Self {
        Self::lagrangian(joint)
    }
}

impl<M: Into<Rows> + Clone> From<LagrangianLinearRelation<M>> for Relation {
    fn from(relation: LagrangianLinearRelation<M>) -> Self {
        Self::LagrangianLinear(Arc::new(relation.any()))
    }
}

impl<C: Into<Rows>, B: Into<Coefficient>> From<FirstOrderLinearRelation<C, B>> for Relation {
    fn from(relation: FirstOrderLinearRelation<C, B>) -> Self {
        Self::FirstOrderLinear(Arc::new(relation.any()))
    }
}

/// One matrix a system, each of its shape and with finite entries.
fn check_parts<M>(
    field: &'static str,
    parts: &[M],
    shapes: impl ExactSizeIterator<Item = [usize; 2]>,
    check: impl Fn(&M, &'static str, [usize; 2]) -> Result<(), FieldError>,
) -> Result<(), FieldError> {
    expect_length(field, parts.len(), shapes.len())?;
    for (part, shape) in parts.iter().zip(shapes) {
        check(part, field, shape)?;
    }
    Ok(())
}
