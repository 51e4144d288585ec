//! Euler–Moreau, the `θ–γ` schemes of first-order systems [docs/theory.md §12; developers' notes, *standard* and *full θ–γ scheme*].
//!
//! ```text
//! standard:  M (x − x_k) = hθ f(t_{k+1}, x) + h(1−θ) f(t_k, x_k) + hγ r_{k+1} + h(1−γ) r_k,      law at t_{k+1}
//! full:      M (x − x_k) = hθ f(t_{k+1}, x) + h(1−θ) f(t_k, x_k) + h r_{k+γ},                    law at t_{k+γ}
//!
//! M̂ = M − hθ ∂f/∂x − hγ ∂g/∂x,      z = x_{k+1},      W = D + hγ C M̂⁻¹ B in both
//! ```
//!
//! `x_{k+γ} = γ x_{k+1} + (1−γ) x_k`. `r_k` is what acted in the step before; zero at the start.

use super::super::step::block::Block;
use super::super::step::scheme::{Instant, Missed, Scheme};
use crate::algebra::{Matrix, Row, add, zeros};
use crate::error::{FieldError, expect_range};
use crate::system::Model;
use crate::system::state::State;

/// Parameters of the scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EulerMoreau {
    /// `θ` in [0, 1]: ½ is of second order in smooth motion. Default ½.
    pub theta: f64,
    /// `γ` in (0, 1]. Default 1: multipliers fully implicit.
    pub gamma: f64,
    /// The law holds at `t_{k+γ}` (full scheme) and not at `t_{k+1}` (standard scheme). Default false.
    pub gamma_for_relation: bool,
}

impl Default for EulerMoreau {
    fn default() -> Self {
        Self {
            theta: 0.5,
            gamma: 1.0,
            gamma_for_relation: false,
        }
    }
}

impl EulerMoreau {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let theta = (0.0..=1.0).contains(&self.theta);
        expect_range("theta", self.theta, theta, "in [0, 1]")?;
        let gamma = self.gamma > 0.0 && self.gamma <= 1.0;
        expect_range("gamma", self.gamma, gamma, "in (0, 1]")
    }

    /// `γ` of the point of the step at which the law holds.
    pub(crate) fn law_at(&self) -> f64 {
        if self.gamma_for_relation {
            self.gamma
        } else {
            1.0
        }
    }
}

impl Scheme for EulerMoreau {
    fn first(&self, block: &Block, _at: Instant) -> Row {
        Row::from_slice(block.start.x())
    }

    fn state(&self, _block: &Block, z: &[f64], _at: Instant, state: &mut State) {
        if let State::FirstOrder { x } = state {
            x.copy_from_slice(z);
        }
    }

    fn known(&self, block: &Block, at: Instant) -> Row {
        let mut known = zeros(block.size());
        if let Model::FirstOrder(model) = block.system.model()
            && self.theta < 1.0
        {
            let mut rate = known.clone();
            model.rate(at.t, block.start.x(), &mut rate);
            add(&mut known, at.h * (1.0 - self.theta), &rate);
        }
        if !self.gamma_for_relation {
            add(
                &mut known,
                at.h * (1.0 - self.gamma),
                &block.reaction_before,
            );
        }
        known
    }

    fn missed(&self, block: &Block, at: Instant) -> Missed {
        let mut missed = Missed::new(block.size());
        if let Model::FirstOrder(model) = block.system.model() {
            let mut change = Row::from_slice(block.state.x());
            add(&mut change, -1.0, block.start.x());
            let [change, content] = block.mass_times(&[], [&change, block.state.x()]);
            missed.add(1.0, &change);
            missed.beside(&content);
            let mut rate = zeros(block.size());
            model.rate(at.end(), block.state.x(), &mut rate);
            missed.add(-at.h * self.theta, &rate);
        }
        missed.add(-1.0, &block.known);
        missed
    }

    fn matrix(&self, block: &Block, at: Instant) -> Matrix {
        let mut matrix = block.mass(&[]);
        if let Model::FirstOrder(model) = block.system.model() {
            let mut slope = Matrix::zeros(block.size(), block.size());
            model.rate_by_state(at.end(), block.state.x(), &mut slope);
            matrix.add_scaled(-at.h * self.theta, &slope);
        }
        matrix
    }

    fn position_slope(&self, _at: Instant) -> f64 {
        0.0
    }

    fn force_weight(&self, at: Instant) -> f64 {
        if self.gamma_for_relation {
            at.h
        } else {
            at.h * self.gamma
        }
    }
}
