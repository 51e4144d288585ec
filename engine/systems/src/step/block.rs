//! One system within a step.

use super::scheme::{Instant, Missed};
use crate::algebra::{Factor, Matrix, Row, add, norm, zeros};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::{Integrator, RowsAt};
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
    /// `q_k ⊕ h v_free`, of [`RowsAt::Predicted`](crate::RowsAt::Predicted).
    pub(crate) predicted: Vec<f64>,
    /// `r_k`.
    pub(crate) reaction_before: Vec<f64>,
    /// What does not depend on the iterate, see [`Scheme::known`](super::scheme::Scheme::known).
    pub(crate) known: Row,
    /// `z^τ`.
    pub(crate) z: Row,
    /// The state that it stands for; after a projection its positions are others.
    pub(crate) state: State,
    /// `M̂`.
    pub(crate) factor: Option<Factor>,
    /// Bits of the `h` that `M̂` of a constant system was factored for: it stays from step to step.
    pub(crate) factored_for: Option<u64>,
    /// `M` of a constant system.
    pub(crate) constant_mass: Option<Matrix>,
    /// What relations subtract from `M̂`: `Σ ∂(weight g)/∂z`.
    pub(crate) slope_of_input: Option<Matrix>,
    /// `Σ B λ` over the interactions, and what they add that does not depend on `λ`.
    pub(crate) applied: Vec<f64>,
    /// The same as physical quantity: see [`Reaction`](crate::Reaction).
    pub(crate) reaction: Vec<f64>,
    /// What actuators hold throughout the step, a force or a part of the right side; empty without any.
    pub(crate) held: Vec<f64>,
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

    /// `M(q) x` of several vectors.
    pub(crate) fn mass_times<const N: usize>(&self, q: &[f64], x: [&[f64]; N]) -> [Row; N] {
        let times = |mass: &Matrix| {
            x.map(|x| {
                let mut product = zeros(x.len());
                mass.add_times(1.0, x, &mut product);
                product
            })
        };
        match &self.constant_mass {
            Some(mass) => times(mass),
            None => times(&self.mass(q)),
        }
    }

    /// The first iterate.
    pub(super) fn begin(&mut self, at: Instant) -> Result<(), SystemsError> {
        if self.system.is_constant() && self.constant_mass.is_none() {
            self.constant_mass = Some(self.mass(&[]));
        }
        let integrator = self.integrator;
        let scheme = integrator.scheme();
        self.known = scheme.known(self, at);
        let weight = match integrator {
            Integrator::SchatzmanPaoli(_) => at.h * at.h,
            Integrator::MoreauJean(_) | Integrator::EulerMoreau(_) => at.h,
        };
        add(&mut self.known, weight, &self.held);
        self.z = scheme.first(self, at);
        self.write_state(|block, state| scheme.first_state(block, &block.z, at, state));
        expect_finite("force at the start", &self.known).map_err(self.named())
    }

    /// Where it would be after the step without interactions, at the velocity of a Newton iteration from the first iterate.
    pub(super) fn predict(&mut self, at: Instant) -> Result<(), SystemsError> {
        let Integrator::MoreauJean(scheme) = self.integrator else {
            return Ok(());
        };
        if scheme.rows_at != RowsAt::Predicted {
            return Ok(());
        }
        self.slope_of_input = None;
        self.applied.fill(0.0);
        self.factor(at)?;
        let mut displacement = self.free_change(at)?;
        add(&mut displacement, 1.0, &self.z);
        displacement.iter_mut().for_each(|d| *d *= at.h);
        self.predicted.clear();
        self.predicted.extend_from_slice(self.start.q());
        if let Model::Lagrangian(model) = self.system.model() {
            model.displace(&mut self.predicted, &displacement);
        }
        Ok(())
    }

    /// `M̂` at the iterate.
    pub(super) fn factor(&mut self, at: Instant) -> Result<(), SystemsError> {
        let is_constant = self.system.is_constant() && self.slope_of_input.is_none();
        let step = Some(at.h.to_bits());
        if is_constant && self.factored_for == step {
            return Ok(());
        }
        self.factored_for = if is_constant { step } else { None };
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
    pub(super) fn free_change(&self, at: Instant) -> Result<Row, SystemsError> {
        let mut change = Row::from_slice(&self.applied);
        let missed = self.integrator.scheme().missed(self, at);
        add(&mut change, -1.0, &missed.sum);
        expect_finite("force", &change).map_err(self.named())?;
        self.respond(&mut change);
        Ok(change)
    }

    /// The next iterate.
    pub(super) fn move_to(&mut self, z: Row, at: Instant) {
        self.z = z;
        let integrator = self.integrator;
        self.write_state(|block, state| integrator.scheme().state(block, &block.z, at, state));
    }

    /// Writes the iterate's state from all else of the block.
    fn write_state(&mut self, write: impl Fn(&Self, &mut State)) {
        let mut state = std::mem::replace(&mut self.state, State::FirstOrder { x: Vec::new() });
        write(self, &mut state);
        self.state = state;
    }

    /// `‖𝓡_free − applied‖`, and the size of its terms.
    pub(super) fn residual(&self, at: Instant) -> [f64; 2] {
        let mut missed: Missed = self.integrator.scheme().missed(self, at);
        missed.add(-1.0, &self.applied);
        [norm(&missed.sum), missed.terms]
    }

    /// Puts the name of the system to an error.
    pub(crate) fn named(&self) -> impl Fn(FieldError) -> SystemsError + use<> {
        let entity = self.entity;
        move |source| SystemsError::System { entity, source }
    }
}
