//! One system within a step.

use super::scheme::{Instant, Missed};
use crate::algebra::coefficient::expect_finite_sparse;
use crate::algebra::{Coefficient, Factor, Matrix, Row, add, clear, norm};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::zero_order_hold::Hold;
use crate::integrator::{Integrator, RowsAt};
use crate::system::state::State;
use crate::system::{Model, Slope, System};
use bevy_ecs::entity::Entity;
use moreau_solvers::SparseMatrix;
use std::sync::Arc;

/// One system within a step: what was read of its components, the iterate of Newton's method, and what stays from step to step.
pub(crate) struct Block {
    pub(crate) entity: Entity,
    pub(crate) system: System,
    pub(crate) integrator: Integrator,
    /// Steps that it makes within one of the simulation.
    pub(crate) substeps: u32,
    /// At `t_k`.
    pub(crate) start: State,
    /// `q_{k−1}`, of Schatzman–Paoli.
    pub(crate) previous: Vec<f64>,
    /// `q_k ⊕ h(θ v_free + (1−θ) v_k)`, of [`RowsAt::Predicted`](crate::RowsAt::Predicted).
    pub(crate) predicted: Vec<f64>,
    /// `q_{k+γ}` of Moreau–Jean with `γ < 1`.
    pub(crate) between: Row,
    /// `r_k`.
    pub(crate) reaction_before: Vec<f64>,
    /// What does not depend on the iterate, see [`Scheme::known`](super::scheme::Scheme::known).
    pub(crate) known: Row,
    /// `z^τ`.
    pub(crate) z: Row,
    /// The state that it stands for; after a projection its positions are others.
    pub(crate) state: State,
    /// `𝓡_free`, if [`Self::is_missed`].
    pub(crate) missed: Missed,
    /// `missed` is that of `state`.
    pub(crate) is_missed: bool,
    /// `z_free − z^τ`.
    pub(crate) change: Row,
    /// `M̂⁻¹ Σ B λ`.
    pub(crate) response: Row,
    /// `M̂`.
    pub(crate) factor: Option<Factor>,
    /// Bits of the `h` that `M̂` of a constant system was factored for: it stays from step to step.
    pub(crate) factored_for: Option<u64>,
    /// Counts the factorisations: what was made with the factors asks whether they are the same.
    pub(crate) factorisations: u64,
    /// `M` where it was needed last.
    pub(crate) mass: Coefficient,
    pub(crate) mass_of: MassOf,
    /// Factors of `M` of a constant system, if they were needed.
    pub(crate) mass_factor: Option<Arc<Factor>>,
    /// What relations subtract from `M̂`: `Σ ∂(weight g)/∂z`.
    pub(crate) slope_of_input: Option<Matrix>,
    /// `Σ B λ` over the interactions, and what they add that does not depend on `λ`.
    pub(crate) applied: Vec<f64>,
    /// The same as physical quantity: see [`Reaction`](crate::Reaction).
    pub(crate) reaction: Vec<f64>,
    /// `Σ |B| |λ|` row by row, where it is asked for.
    pub(crate) acts: Row,
    /// What actuators hold throughout the step, a force or a part of the right side; empty without any.
    pub(crate) held: Vec<f64>,
    /// `Φ` and `Ψ` under [`ZeroOrderHold`](crate::ZeroOrderHold).
    pub(crate) hold: Option<Box<Hold>>,
    /// What first-order relations see of it at the iterate; empty if there are none.
    pub(crate) seen: Vec<f64>,
    /// The `γ` of the point at which they see it.
    pub(crate) seen_at: Option<f64>,
    /// The state is not that in which the step before left it.
    pub(crate) is_edited: bool,
    /// Space.
    pub(crate) work: Row,
    pub(crate) matrices: [Matrix; 2],
}

/// What a mass matrix is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MassOf {
    /// It has not been worked out.
    Nothing,
    /// All states: it is constant.
    All,
    /// The start of the step.
    Start,
    /// The iterate.
    Iterate,
    /// The start moved on.
    Ahead,
}

impl Block {
    pub(crate) fn size(&self) -> usize {
        self.applied.len()
    }

    /// Factors of `M(q)`, or of `M` of a first-order system.
    pub(crate) fn factor_of_mass(&self, q: &[f64]) -> Result<Arc<Factor>, SystemsError> {
        if let Some(factor) = &self.mass_factor {
            return Ok(Arc::clone(factor));
        }
        let factor = if let Some(mass) = self.system.sparse_mass() {
            Factor::of(&mass)
        } else {
            let mut mass = Matrix::zeros(self.size(), self.size());
            match self.system.model() {
                Model::Lagrangian(model) => model.mass(q, &mut mass),
                Model::FirstOrder(model) => model.mass(&mut mass),
            }
            Factor::new(&mass)
        };
        let singular = FieldError::Singular { field: "mass" };
        factor.map(Arc::new).ok_or(singular).map_err(self.named())
    }

    /// The same, of a constant system once and for all; if it has none, that is said where one is needed.
    pub(crate) fn keep_factor_of_mass(&mut self) {
        if self.mass_factor.is_none() && self.system.is_constant() {
            self.mass_factor = self.factor_of_mass(&[]).ok();
        }
    }

    /// Works `self.mass` out, of the start or of the iterate, if it is not there.
    pub(crate) fn take_mass(&mut self, of: MassOf) {
        if self.mass_of == MassOf::All || self.mass_of == of {
            return;
        }
        if let Some(mass) = self.system.sparse_mass() {
            (self.mass, self.mass_of) = (mass, MassOf::All);
            return;
        }
        let n = self.size();
        let state = if of == MassOf::Start {
            &self.start
        } else {
            &self.state
        };
        let model = self.system.model();
        self.mass.become_written([n, n], |mass| match model {
            Model::Lagrangian(model) => model.mass(state.q(), mass),
            Model::FirstOrder(model) => model.mass(mass),
        });
        let is_constant =
            self.system.is_constant() || matches!(self.state, State::FirstOrder { .. });
        self.mass_of = if is_constant { MassOf::All } else { of };
    }

    /// Takes the unit matrix for it, whatever the mass is: of a scheme that has multiplied by its inverse.
    pub(crate) fn take_unit_mass(&mut self) {
        if self.mass_of != MassOf::All {
            let n = self.size();
            let entries = |mass: &mut Matrix| (0..n).for_each(|i| mass[(i, i)] = 1.0);
            self.mass.become_written([n, n], entries);
            self.mass_of = MassOf::All;
        }
    }

    /// The same of `q_k ⊕ time v_k`; it stays through the step.
    pub(crate) fn take_mass_ahead(&mut self, time: f64) {
        let (MassOf::Nothing | MassOf::Start | MassOf::Iterate) = self.mass_of else {
            return;
        };
        if self.system.is_constant() {
            return self.take_mass(MassOf::Start);
        }
        let Model::Lagrangian(model) = self.system.model() else {
            return;
        };
        self.work.clear();
        self.work.extend(self.start.v().iter().map(|v| time * v));
        let mut q = Row::from_slice(self.start.q());
        model.displace(&mut q, &self.work);
        let n = model.size();
        self.mass
            .become_written([n, n], |mass| model.mass(&q, mass));
        self.mass_of = MassOf::Ahead;
    }

    /// The first iterate.
    pub(super) fn begin(&mut self, at: Instant) -> Result<(), SystemsError> {
        if self.mass_of != MassOf::All {
            self.mass_of = MassOf::Nothing;
        }
        let integrator = self.integrator;
        let scheme = integrator.scheme();
        let n = self.size();
        clear(&mut self.known, n);
        if let Integrator::ZeroOrderHold(_) = integrator {
            self.take_hold(at).map_err(self.named())?;
        }
        scheme.known(self, at);
        if !self.held.is_empty() {
            let weight = match integrator {
                Integrator::SchatzmanPaoli(_) => at.h * at.h,
                Integrator::MoreauJean(_) | Integrator::EulerMoreau(_) => at.h,
                Integrator::ZeroOrderHold(_) => 1.0,
                // It is in the accelerations.
                Integrator::D1Minus(_) => 0.0,
            };
            match &self.hold {
                Some(hold) => hold.psi.add_times(1.0, &self.held, &mut self.known),
                None => add(&mut self.known, weight, &self.held),
            }
        }
        scheme.first(self);
        scheme.first_state(self, at);
        self.moved();
        scheme.between(self, at);
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
        self.free_change(at)?;
        // z is v_k: θ v_free + (1 − θ) v_k.
        let velocities = self.change.iter_mut().zip(&self.z);
        velocities.for_each(|(d, v)| *d = at.h * (v + scheme.theta * *d));
        self.predicted.clear();
        self.predicted.extend_from_slice(self.start.q());
        if let Model::Lagrangian(model) = self.system.model() {
            model.displace(&mut self.predicted, &self.change);
        }
        Ok(())
    }

    /// The state has changed: what was worked out of it is not that of it any more.
    pub(super) fn moved(&mut self) {
        self.is_missed = false;
        if self.mass_of == MassOf::Iterate {
            self.mass_of = MassOf::Nothing;
        }
        if let Some(gamma) = self.seen_at {
            self.see(gamma);
        }
    }

    /// `x_{k+γ}` as first-order relations see it.
    fn see(&mut self, gamma: f64) {
        self.seen.clear();
        self.state.stack_into(&mut self.seen);
        if gamma < 1.0 {
            self.seen.iter_mut().for_each(|x| *x *= gamma);
            let start = [self.start.q(), self.start.v(), self.start.x()];
            for (x, start) in self.seen.iter_mut().zip(start.into_iter().flatten()) {
                *x += (1.0 - gamma) * start;
            }
        }
    }

    /// What first-order relations see at the iterate.
    pub(super) fn seen_by_first_order(&self) -> &[f64] {
        match &self.state {
            State::FirstOrder { x } if self.seen_at.is_none() => x,
            _ => &self.seen,
        }
    }

    /// `M̂` at the iterate.
    pub(super) fn factor(&mut self, at: Instant) -> Result<(), SystemsError> {
        let is_constant = self.slope_of_input.is_none() && self.system.is_constant();
        let step = Some(at.h.to_bits());
        if is_constant && self.factored_for == step {
            return Ok(());
        }
        self.factored_for = if is_constant { step } else { None };
        let integrator = self.integrator;
        integrator.scheme().take_mass(self, at);
        let slopes = integrator.scheme().slopes(at);
        if self.system.is_sparse() {
            self.factor_sparse(&slopes).map_err(self.named())?;
        } else {
            self.factor_dense(&slopes, at)?;
        }
        self.factorisations += 1;
        if self.factor.is_none() {
            self.factor_of_mass(self.state.q())?;
            let field = "iteration matrix";
            return Err(self.named()(FieldError::Singular { field }));
        }
        Ok(())
    }

    fn factor_dense(&mut self, slopes: &[(Slope, f64)], at: Instant) -> Result<(), SystemsError> {
        let (n, integrator) = (self.size(), self.integrator);
        let [mut matrix, mut slope] = std::mem::take(&mut self.matrices);
        matrix.become_zeros(n, n);
        slope.become_zeros(n, n);
        self.mass.add_to(1.0, &mut matrix);
        for (k, (of, weight)) in slopes.iter().enumerate() {
            if k > 0 {
                slope.fill(0.0);
            }
            integrator.scheme().slope(*of, self, at, &mut slope);
            matrix.add_scaled(*weight, &slope);
        }
        if let Some(slope) = &self.slope_of_input {
            matrix.add_scaled(-1.0, slope);
        }
        expect_finite("iteration matrix", matrix.entries()).map_err(self.named())?;
        Factor::renew(&mut self.factor, &matrix);
        self.matrices = [matrix, slope];
        Ok(())
    }

    /// The entries of `M̂` of a system with constant matrices, from those that they have; those of one place add up.
    pub(super) fn sparse_entries(&self, slopes: &[(Slope, f64)]) -> Vec<(usize, usize, f64)> {
        let mut entries = Vec::new();
        let mut add = |row, column, value| entries.push((row, column, value));
        self.mass.for_each(&mut add);
        for (of, weight) in slopes {
            if let Some((sign, matrix)) = self.system.constant_slope(*of) {
                matrix.for_each(|row, column, value| add(row, column, sign * weight * value));
            }
        }
        if let Some(slope) = &self.slope_of_input {
            slope.for_each(|row, column, value| add(row, column, -value));
        }
        entries
    }

    /// The same of a system with constant matrices.
    fn factor_sparse(&mut self, slopes: &[(Slope, f64)]) -> Result<(), FieldError> {
        let n = self.size();
        let entries = self.sparse_entries(slopes);
        self.factor = None;
        // All entries are within the matrix: the system was checked.
        if let Ok(matrix) = SparseMatrix::from_triplets(n, n, entries) {
            expect_finite_sparse("iteration matrix", &matrix)?;
            self.factor = Factor::of_sparse(&matrix);
        }
        Ok(())
    }

    /// `y ← y + c r` with the [`force_weight`](super::scheme::Scheme::force_weight) `c` of its scheme, `y ← y + Ψ r` under zero-order hold.
    pub(super) fn add_weighted(&self, at: Instant, r: &[f64], y: &mut [f64]) {
        match &self.hold {
            Some(hold) => hold.psi.add_times(1.0, r, y),
            None => add(y, self.integrator.scheme().force_weight(at), r),
        }
    }

    /// The same for the columns of a matrix: `B ← c B`, or `Ψ B`.
    pub(super) fn weigh(&self, at: Instant, matrix: &mut Matrix) {
        match &self.hold {
            Some(hold) => *matrix = hold.psi.product(matrix),
            None => matrix.scale(self.integrator.scheme().force_weight(at)),
        }
    }

    /// `M̂⁻¹ B`, transposed: row `k` is the answer to column `k` of `B`.
    pub(super) fn response_to(&self, input: &Matrix, answer: &mut Matrix) {
        match &self.factor {
            Some(factor) => factor.solve_columns_into(input, answer),
            None => answer.become_transposed(input),
        }
    }

    /// `x ← M̂⁻¹ x`.
    pub(super) fn divide(&self, x: &mut [f64]) {
        if let Some(factor) = &self.factor {
            factor.solve(x);
        }
    }

    /// `𝓡_free` at the iterate, if it is not there.
    fn miss(&mut self, at: Instant) {
        if !self.is_missed {
            let integrator = self.integrator;
            self.missed.begin();
            integrator.scheme().missed(self, at);
            self.is_missed = true;
        }
    }

    /// `z_free − z^τ = −M̂⁻¹ (𝓡_free − what interactions add without λ)`; that is in `applied`.
    pub(super) fn free_change(&mut self, at: Instant) -> Result<(), SystemsError> {
        self.miss(at);
        self.change.clear();
        let parts = self.applied.iter().zip(&self.missed.sum);
        self.change
            .extend(parts.map(|(applied, missed)| applied - missed));
        expect_finite("force", &self.change).map_err(self.named())?;
        if let Some(factor) = &self.factor {
            factor.solve(&mut self.change);
        }
        Ok(())
    }

    /// The next iterate.
    pub(super) fn advance(&mut self, at: Instant) {
        add(&mut self.z, 1.0, &self.change);
        add(&mut self.z, 1.0, &self.response);
        let integrator = self.integrator;
        integrator.scheme().state(self, at);
        self.moved();
        integrator.scheme().between(self, at);
    }

    /// `q` at the point of the step at which its relations hold.
    pub(super) fn place_of_law(&self) -> &[f64] {
        if self.law_at() < 1.0 {
            &self.between
        } else {
            self.state.q()
        }
    }

    /// `γ` of that point, of Lagrangian relations.
    pub(super) fn law_at(&self) -> f64 {
        match self.integrator {
            Integrator::MoreauJean(scheme) => scheme.gamma_for_relation,
            Integrator::SchatzmanPaoli(_)
            | Integrator::EulerMoreau(_)
            | Integrator::ZeroOrderHold(_)
            | Integrator::D1Minus(_) => 1.0,
        }
    }

    /// `‖𝓡_free − applied‖`, and the size of its terms.
    pub(super) fn residual(&mut self, at: Instant) -> [f64; 2] {
        self.miss(at);
        let parts = self.missed.sum.iter().zip(&self.applied);
        let square: f64 = parts
            .map(|(missed, applied)| (missed - applied) * (missed - applied))
            .sum();
        [square.sqrt(), self.missed.size() + norm(&self.applied)]
    }

    /// Row by row: what is missed, and the size of its terms.
    pub(super) fn residual_by_rows(&self) -> impl Iterator<Item = [f64; 2]> {
        let rows = self.missed.sum.iter().zip(&self.applied);
        rows.zip(&self.missed.rows)
            .map(|((missed, applied), terms)| [(missed - applied).abs(), terms + applied.abs()])
    }

    /// Row by row the size of terms that are large where their sums are small, as near rest: of what interactions do, [`Self::acts`], and what rounding, `ε`, leaves of the others as
    /// the slopes know them, `8ε/relative · Σ (|M̂| (|z| + |z_k|) + |M̂ − M| |q|/h)`.
    pub(super) fn hidden_terms(&mut self, at: Instant, relative: f64) -> &[f64] {
        let mut sums = std::mem::take(&mut self.work);
        clear(&mut sums, self.size());
        let start = if self.start.v().is_empty() {
            self.start.x()
        } else {
            self.start.v()
        };
        let q = |j: usize| self.state.q().get(j).map_or(0.0, |q| q.abs());
        let moved = |j: usize| self.z[j].abs() + start[j].abs();
        if self.system.is_sparse() {
            self.mass
                .for_each(|i, j, entry| sums[i] += entry.abs() * moved(j));
            for (of, weight) in self.integrator.scheme().slopes(at) {
                if let Some((_, matrix)) = self.system.constant_slope(of) {
                    let size = |j: usize| moved(j) + q(j) / at.h;
                    matrix.for_each(|i, j, value| sums[i] += (weight * value).abs() * size(j));
                }
            }
        } else {
            let mass = self.mass.dense();
            self.matrices[0].for_each(|i, j, entry| {
                let slope = mass.map_or(0.0, |mass| (entry - mass[(i, j)]).abs());
                sums[i] += entry.abs() * moved(j) + slope * q(j) / at.h;
            });
        }
        let rounding = if relative > 0.0 {
            8.0 * f64::EPSILON / relative
        } else {
            0.0
        };
        for (sum, acts) in sums.iter_mut().zip(&self.acts) {
            *sum = rounding * *sum + acts;
        }
        self.work = sums;
        &self.work
    }

    /// Puts the name of the system to an error.
    pub(crate) fn named(&self) -> impl Fn(FieldError) -> SystemsError + use<> {
        let entity = self.entity;
        move |source| SystemsError::System { entity, source }
    }
}
