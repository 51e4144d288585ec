//! One system within a step.

use super::scheme::{Instant, Missed};
use crate::algebra::{Factor, Matrix, add, norm};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::Integrator;
use crate::system::state::State;
use crate::system::{Model, System};
use bevy_ecs::entity::Entity;

/// One system within a step: what was read of its components, and the iterate of Newton's method.
pub(crate) struct Block {
    pub(crate) entity: Entity,
    pub(crate) system: System,
    pub(crate) integrator: Integrator,
    /// At `t_k`.
    pub(crate) start: State,
    /// `q_{k−1}`, of Schatzman–Paoli.
    pub(crate) previous: Vec<f64>,
    /// `r_k`.
    pub(crate) reaction_before: Vec<f64>,
    /// What does not depend on the iterate, see [`Scheme::known`](super::scheme::Scheme::known).
    pub(crate) known: Vec<f64>,
    /// `z^τ`.
    pub(crate) z: Vec<f64>,
    /// The state that it stands for; after a projection its positions are others.
    pub(crate) state: State,
    /// `M̂`.
    pub(crate) factor: Option<Factor>,
    /// What relations subtract from `M̂`: `Σ ∂(weight g)/∂z`.
    pub(crate) slope_of_input: Option<Matrix>,
    /// `Σ B λ` over the interactions, and what they add that does not depend on `λ`.
    pub(crate) applied: Vec<f64>,
    /// The same as physical quantity: see [`Reaction`](crate::Reaction).
    pub(crate) reaction: Vec<f64>,
}

impl Block {
    pub(crate) fn size(&self) -> usize {
        self.known.len()
    }

    /// `M(q)`, or `M` of a first-order system.
    pub(crate) fn mass(&self, q: &[f64]) -> Matrix {
        let mut mass = Matrix::zeros(self.size(), self.size());
        match self.system.model() {
            Model::Lagrangian(model) => model.mass(q, &mut mass),
            Model::FirstOrder(model) => model.mass(&mut mass),
        }
        mass
    }

    /// The first iterate.
    pub(super) fn begin(&mut self, at: Instant) -> Result<(), SystemsError> {
        let integrator = self.integrator;
        let scheme = integrator.scheme();
        self.known = scheme.known(self, at);
        (self.z, self.state) = scheme.first(self, at);
        expect_finite("force at the start", &self.known).map_err(self.named())
    }

    /// `M̂` at the iterate.
    pub(super) fn factor(&mut self, at: Instant) -> Result<(), SystemsError> {
        // A linear system keeps its matrix through the step.
        if self.factor.is_some() && self.system.is_linear() && self.slope_of_input.is_none() {
            return Ok(());
        }
        let mut matrix = self.integrator.scheme().matrix(self, at);
        if let Some(slope) = &self.slope_of_input {
            matrix.add_scaled(-1.0, slope);
        }
        expect_finite("iteration matrix", matrix.entries()).map_err(self.named())?;
        self.factor = Factor::new(&matrix);
        if self.factor.is_none() {
            let mass = self.mass(self.state.q());
            let field = if Factor::new(&mass).is_none() {
                "mass"
            } else {
                "iteration matrix"
            };
            return Err(self.named()(FieldError::Singular { field }));
        }
        Ok(())
    }

    /// `x ← M̂⁻¹ x`.
    pub(super) fn respond(&self, x: &mut [f64]) {
        if let Some(factor) = &self.factor {
            factor.solve(x);
        }
    }

    /// `M̂⁻¹ B`, transposed: row `k` is the answer to column `k` of `B`.
    pub(super) fn response_to(&self, input: &Matrix) -> Matrix {
        match &self.factor {
            Some(factor) => factor.solve_columns(input),
            None => input.transposed(),
        }
    }

    /// `z_free − z^τ = −M̂⁻¹ (𝓡_free − what interactions add without λ)`; that is in `applied`.
    pub(super) fn free_change(&self, at: Instant) -> Result<Vec<f64>, SystemsError> {
        let mut change = self.applied.clone();
        let missed = self.integrator.scheme().missed(self, at);
        add(&mut change, -1.0, &missed.sum);
        expect_finite("force", &change).map_err(self.named())?;
        self.respond(&mut change);
        Ok(change)
    }

    /// The next iterate.
    pub(super) fn move_to(&mut self, z: Vec<f64>, at: Instant) {
        self.state = self.integrator.scheme().state(self, &z, at);
        self.z = z;
    }

    /// `‖𝓡_free − applied‖`, and the size of its terms.
    pub(super) fn residual(&self, at: Instant) -> [f64; 2] {
        let mut missed: Missed = self.integrator.scheme().missed(self, at);
        missed.add(-1.0, &self.applied);
        [norm(&missed.sum), missed.terms]
    }

    /// Puts the name of the system to an error.
    pub(super) fn named(&self) -> impl Fn(FieldError) -> SystemsError + use<> {
        let entity = self.entity;
        move |source| SystemsError::System { entity, source }
    }
}
