//! What a step needs of an integrator.

use super::block::Block;
use crate::algebra::{Matrix, Row, add, norm, zeros};
use crate::integrator::Integrator;
use crate::system::state::State;

/// The step `t_k → t_k + h`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant {
    /// `t_k`, s.
    pub(crate) t: f64,
    /// s.
    pub(crate) h: f64,
}

impl Instant {
    /// `t_{k+1}`.
    pub(crate) fn end(&self) -> f64 {
        self.t + self.h
    }
}

/// A residual, and how large the terms are that it is the sum of.
#[derive(Clone, Debug)]
pub(crate) struct Missed {
    pub(crate) sum: Row,
    pub(crate) terms: f64,
}

impl Missed {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            sum: zeros(n),
            terms: 0.0,
        }
    }

    /// Adds `factor · term`.
    pub(crate) fn add(&mut self, factor: f64, term: &[f64]) {
        add(&mut self.sum, factor, term);
        self.terms += factor.abs() * norm(term);
    }
}

impl Missed {
    /// A quantity that the terms are differences of: its rounding is in them.
    pub(crate) fn beside(&mut self, quantity: &[f64]) {
        self.terms += norm(quantity);
    }
}

/// A one-step integrator: an unknown `z` a system, with `z = z^τ − M̂⁻¹(𝓡_free(z^τ) − Σ B λ)`.
pub(crate) trait Scheme {
    /// The first iterate.
    fn first(&self, block: &Block, at: Instant) -> Row;

    /// The state that goes with the first iterate, where it is another than [`Scheme::state`].
    fn first_state(&self, block: &Block, z: &[f64], at: Instant, state: &mut State) {
        self.state(block, z, at, state);
    }

    /// Writes the state at the end of the step that `z` stands for; `state` is one of the same system.
    fn state(&self, block: &Block, z: &[f64], at: Instant, state: &mut State);

    /// The part of `−𝓡_free` that does not depend on `z`.
    fn known(&self, block: &Block, at: Instant) -> Row;

    /// `𝓡_free` at `block.state`.
    fn missed(&self, block: &Block, at: Instant) -> Missed;

    /// `M̂` at `block.state`, without what relations add to it.
    fn matrix(&self, block: &Block, at: Instant) -> Matrix;

    /// `∂q/∂z`, of Lagrangian systems a multiple of the unit matrix: s for `z = v`, 1 for `z = q`.
    fn position_slope(&self, at: Instant) -> f64;

    /// What a force, or the `r` of a first-order system, is multiplied by in `𝓡`.
    fn force_weight(&self, at: Instant) -> f64;
}

impl Integrator {
    pub(crate) fn scheme(&self) -> &dyn Scheme {
        match self {
            Self::MoreauJean(scheme) => scheme,
            Self::SchatzmanPaoli(scheme) => scheme,
            Self::EulerMoreau(scheme) => scheme,
        }
    }
}
