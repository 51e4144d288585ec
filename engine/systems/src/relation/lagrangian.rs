//! Relations of Lagrangian systems: `y = h(t, q, λ)`, `p = Hᵀ λ` with `H = ∂h/∂q`, and `ẏ = H v + ∂h/∂t` [docs/theory.md §12].
//!
//! * *Scleronomous*: `h(q)`.
//! * *Rheonomous*: `h(t, q)`; `∂h/∂t` is the velocity of what moves by itself.
//! * *Compliant*: `h(t, q, λ)`. The output answers to the force itself: `λ` is then a force and not an impulse, and the law is imposed on `y_{k+1}`.

use super::check_parts;
use crate::algebra::{Matrix, Rows};
use crate::error::{FieldError, expect_finite, expect_length, expect_shape};

/// A Lagrangian relation of `m` rows. Of a contact with friction the first row is the gap; tangential rows have no position and may be zero in `h`, their
/// rows of `H` give the sliding velocity.
pub trait LagrangianRelation: Send + Sync {
    /// `m ≥ 1`.
    fn rows(&self) -> usize;

    /// Writes `h(t, q, λ)`, `m` entries. `q` has the coordinates of each system, seven of a rigid body, `λ` counts for compliant relations alone. `y` is zero before.
    fn output(&self, t: f64, q: &[&[f64]], lambda: &[f64], y: &mut [f64]);

    /// Writes `H = ∂h/∂q`, `m × n` for each system; zero before. Of a rigid body `H = ∂h/∂q T(q)`, `m × 6`, by its velocities.
    fn jacobian(&self, t: f64, q: &[&[f64]], h: &mut [Matrix]);

    /// Writes `∂h/∂t`, `m` entries; zero for a scleronomous relation.
    fn output_by_time(&self, _t: f64, _q: &[&[f64]], _rate: &mut [f64]) {}

    /// True if `h` depends on `λ`.
    fn is_compliant(&self) -> bool {
        false
    }

    /// Writes `∂h/∂λ`, `m × m`, of a compliant relation; zero before.
    fn output_by_multiplier(&self, _t: f64, _q: &[&[f64]], _lambda: &[f64], _d: &mut Matrix) {}
}

/// `y = H q + b`, or `y = H q + b + D λ` if it is compliant.
///
/// ```
/// use moreau_systems::{LagrangianLinearRelation, Matrix};
/// // The distance of two points on a line.
/// let relation = LagrangianLinearRelation::new([Matrix::from_rows([[1.0]]), Matrix::from_rows([[-1.0]])]);
/// ```
///
/// With [`SparseMatrix`](crate::SparseMatrix) in place of [`Matrix`] the rows are sparse, as is right for large systems. Where one is dense and the other sparse, both are
/// [`Rows`].
#[derive(Clone, Debug, PartialEq)]
pub struct LagrangianLinearRelation<M = Matrix> {
    /// `H`, `m × n` for each system.
    pub jacobian: Vec<M>,
    /// `b`, `m` entries.
    pub offset: Vec<f64>,
    /// `D`, `m × m`, positive semi-definite, m/N; `None` is rigid.
    pub compliance: Option<Matrix>,
}

impl<M: Into<Rows> + Clone> LagrangianLinearRelation<M> {
    /// `y = H q`, with a matrix for each system.
    #[must_use]
    pub fn new(jacobian: impl Into<Vec<M>>) -> Self {
        let jacobian = jacobian.into();
        let rows = jacobian
            .first()
            .map_or(0, |first| first.clone().into().rows());
        Self {
            jacobian,
            offset: vec![0.0; rows],
            compliance: None,
        }
    }

    /// The same, whatever its matrices are.
    pub(super) fn any(self) -> LagrangianLinearRelation<Rows> {
        LagrangianLinearRelation {
            jacobian: self.jacobian.into_iter().map(Into::into).collect(),
            offset: self.offset,
            compliance: self.compliance,
        }
    }
}

impl LagrangianLinearRelation<Rows> {
    /// True if rows are sparse.
    pub(crate) fn is_sparse(&self) -> bool {
        self.jacobian.iter().any(Rows::is_sparse)
    }

    pub(super) fn check(&self, columns: &[usize]) -> Result<(), FieldError> {
        let m = self.offset.len();
        let shapes = columns.iter().map(|n| [m, *n]);
        check_parts("jacobian", &self.jacobian, shapes, Rows::check)?;
        expect_finite("offset", &self.offset)?;
        match &self.compliance {
            Some(compliance) => expect_shape("compliance", compliance, [m, m]),
            None => expect_length("offset", m, self.jacobian.first().map_or(0, Rows::rows)),
        }
    }
}

impl LagrangianRelation for LagrangianLinearRelation<Rows> {
    fn rows(&self) -> usize {
        self.offset.len()
    }

    fn output(&self, _t: f64, q: &[&[f64]], lambda: &[f64], y: &mut [f64]) {
        y.copy_from_slice(&self.offset);
        for (jacobian, q) in self.jacobian.iter().zip(q) {
            jacobian.add_times(1.0, q, y);
        }
        if let Some(compliance) = &self.compliance {
            compliance.add_times(1.0, lambda, y);
        }
    }

    fn jacobian(&self, _t: f64, _q: &[&[f64]], h: &mut [Matrix]) {
        for (h, jacobian) in h.iter_mut().zip(&self.jacobian) {
            jacobian.add_to(h);
        }
    }

    fn is_compliant(&self) -> bool {
        self.compliance.is_some()
    }

    fn output_by_multiplier(&self, _t: f64, _q: &[&[f64]], _lambda: &[f64], d: &mut Matrix) {
        if let Some(compliance) = &self.compliance {
            d.add_scaled(1.0, compliance);
        }
    }
}
