//! Moreau–Jean: velocity level, impulses [docs/theory.md §5, §12; Jean 1999].
//!
//! ```text
//! 𝓡_free(v) = M(q)(v − v_k) − hθ F(t_{k+1}, q, v) − h(1−θ) F(t_k, q_k, v_k),      q = q_k + h(θ v + (1−θ) v_k)
//! M̂ = M − hθ ∂F/∂v − h²θ² ∂F/∂q,      z = v,      B = Hᵀ for impulses,  h Bᵣ for forces
//! ```
//!
//! `M(q)` is taken at the iterate, as in the sources, and its slope left out of `M̂`. In smooth motion the scheme is of second order at `θ = ½` if the mass is
//! constant; a mass that varies is that of the end of the step, which makes it first order. For linear systems one iteration is exact, and `v_free` is the formula of §12.
//! Newton's loop starts at `v_k` and `q_k + h v_k`.
//!
//! Rows of `H` are those of the iterate by default, so that they belong to `q_{k+1}` once the loop has converged; its stop looks at the residual of
//! the dynamics alone, so that where these are linear it ends after one iteration, with the rows of the first iterate. [`RowsAt::Converged`] goes on.
//!
//! With `γ < 1` relations are those of `t_{k+γ}`, and so are laws without impacts:
//!
//! ```text
//! q_{k+γ} = q_k ⊕ γ h(θ v + (1−θ) v_k),   v_{k+γ} = γ v + (1−γ) v_k,   H = H(t_{k+γ}, q_{k+γ})
//! equality, relay    law on  ẏ_{k+γ} / γ = H v + ((1−γ) H v_k + ∂h/∂t)/γ      a cone's law does not see the factor, and W = H M̂⁻¹ Hᵀ stays symmetric
//! impacts            law on  H v + ∂h/∂t + e ẏ_k                             Newton's law is about the rates on both sides of the impact
//! compliant, first order     h(t_{k+γ}, q_{k+γ}, λ),  h(t_{k+γ}, x_{k+γ}, λ)
//! ```
//!
//! At `γ = θ = ½` equalities do no work and are of second order; those that are quadratic in `q` are kept exactly.

use super::super::step::block::{Block, MassOf};
use super::super::step::scheme::{Instant, Missed, Scheme, add_written};
use crate::algebra::{Matrix, Row, add, clear, copy, copy_all};
use crate::error::{FieldError, expect_range};
use crate::system::lagrangian::SmallLagrangian;
use crate::system::state::State;
use crate::system::{Model, Slope, System};
use smallvec::{SmallVec, smallvec};

/// Parameters of the scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoreauJean {
    /// `θ` in [0, 1]: ½ is of second order in smooth motion. Default ½.
    pub theta: f64,
    /// Which contacts take part in a step.
    pub activation: Activation,
    /// Where the rows of relations are taken.
    pub rows_at: RowsAt,
    /// Where a mass that varies is taken.
    pub mass_at: MassAt,
    /// `γ` in (0, 1] of the point `t_{k+γ}` of the step at which relations hold. Default 1: the end. With `γ = ½` an equality that the start does not satisfy turns its
    /// rate round in each step.
    pub gamma_for_relation: f64,
}

impl Default for MoreauJean {
    fn default() -> Self {
        Self {
            theta: 0.5,
            activation: Activation::default(),
            rows_at: RowsAt::default(),
            mass_at: MassAt::default(),
            gamma_for_relation: 1.0,
        }
    }
}

impl MoreauJean {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let theta = (0.0..=1.0).contains(&self.theta);
        expect_range("theta", self.theta, theta, "in [0, 1]")?;
        let gamma = self.gamma_for_relation > 0.0 && self.gamma_for_relation <= 1.0;
        expect_range(
            "gamma_for_relation",
            self.gamma_for_relation,
            gamma,
            "in (0, 1]",
        )?;
        let finite = |field, value: f64| expect_range(field, value, value.is_finite(), "finite");
        if let MassAt::Forecast { gamma } = self.mass_at {
            finite("mass_at.gamma", gamma)?;
        }
        match self.activation {
            Activation::Forecast { gamma, threshold }
            | Activation::Approaching { gamma, threshold } => {
                finite("gamma", gamma)?;
                finite("threshold", threshold)
            }
            Activation::Hysteresis { close, open } => {
                finite("close", close)?;
                finite("open", open)
            }
        }
    }
}

/// Which contacts take part in a step: those of impact laws that are forecast to be closed. All other laws always do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// `y_k + γ h ẏ_k ≤ threshold`: the sources' rule; what rests is given some roundings.
    Forecast {
        /// `γ`. Default ½.
        gamma: f64,
        /// m. Default 0.
        threshold: f64,
    },
    /// The same of contacts that approach: `ẏ_k ≤ 0` as well.
    Approaching {
        /// `γ`.
        gamma: f64,
        /// m.
        threshold: f64,
    },
    /// A contact comes in where `y ≤ close`, and goes where `y > open` and `ẏ ≥ 0`.
    Hysteresis {
        /// m.
        close: f64,
        /// m.
        open: f64,
    },
}

impl Default for Activation {
    fn default() -> Self {
        Self::Forecast {
            gamma: 0.5,
            threshold: 0.0,
        }
    }
}

impl Activation {
    /// True if a contact with the gap `y`, m, known to `slack`, and the rate `rate`, m/s, takes part; `was` it in the step before?
    pub(crate) fn is_active(&self, h: f64, [y, rate]: [f64; 2], slack: f64, was: bool) -> bool {
        let y = y - slack;
        match *self {
            Self::Forecast { gamma, threshold } => y + gamma * h * rate <= threshold,
            Self::Approaching { gamma, threshold } => {
                h * rate <= slack && y + gamma * h * rate <= threshold
            }
            Self::Hysteresis { open, .. } if was => y <= open || rate < 0.0,
            Self::Hysteresis { close, .. } => y <= close,
        }
    }
}

/// Where a mass that varies is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum MassAt {
    /// At the iterate, and so in the end at the end of the step: of first order.
    #[default]
    Iterate,
    /// At `q_k + γ h v_k`, once a step; of second order in smooth motion for `γ = θ = ½`.
    Forecast {
        /// `γ`.
        gamma: f64,
    },
}

/// Where the rows of relations are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowsAt {
    /// At the iterate, of the point of the step at which relations hold: implicit.
    #[default]
    Iterate,
    /// The same, and Newton's loop goes on until the rows are those of the new iterate, to its relative bound: fully implicit.
    Converged,
    /// At the end of a step without interactions, `q_k + h(θ v_free + (1−θ) v_k)`: explicit in the multipliers, as some programs take the rows of joints and
    /// contacts.
    Predicted,
    /// At the start of the step: explicit, one iteration for linear systems with any relation.
    Start,
}

/// `q ⊕ Σ factor v`; of a flat system term by term.
fn displace(system: &System, q: &mut [f64], parts: &[(f64, &[f64])], work: &mut Row) {
    if system.is_flat() {
        for (factor, v) in parts {
            add(q, *factor, v);
        }
    } else if let Model::Lagrangian(model) = system.model() {
        clear(work, model.size());
        for (factor, v) in parts {
            add(work, *factor, v);
        }
        model.displace(q, work);
    }
}

impl Scheme for MoreauJean {
    fn first(&self, block: &mut Block) {
        copy(&mut block.z, block.start.v());
    }

    fn first_state(&self, block: &mut Block, at: Instant) {
        if let State::Lagrangian { q, v } = &mut block.state {
            copy_all(q, block.start.q());
            displace(&block.system, q, &[(at.h, &block.z)], &mut block.work);
            copy_all(v, &block.z);
        }
    }

    fn state(&self, block: &mut Block, at: Instant) {
        if let State::Lagrangian { q, v } = &mut block.state {
            copy_all(q, block.start.q());
            let parts = [
                (at.h * self.theta, &block.z[..]),
                (at.h * (1.0 - self.theta), block.start.v()),
            ];
            displace(&block.system, q, &parts, &mut block.work);
            copy_all(v, &block.z);
        }
    }

    fn between(&self, block: &mut Block, at: Instant) {
        let gamma = self.gamma_for_relation;
        if gamma >= 1.0 {
            return;
        }
        copy(&mut block.between, block.start.q());
        let parts = [
            (gamma * at.h * self.theta, &block.z[..]),
            (gamma * at.h * (1.0 - self.theta), block.start.v()),
        ];
        displace(&block.system, &mut block.between, &parts, &mut block.work);
    }

    fn known(&self, block: &mut Block, at: Instant) {
        let (q, v) = (block.start.q(), block.start.v());
        let weight = at.h * (1.0 - self.theta);
        if let Some(model) = block.system.small_lagrangian() {
            for (i, known) in block.known.iter_mut().enumerate() {
                *known += weight * model.force_of(i, q, v);
            }
        } else if let Model::Lagrangian(model) = block.system.model()
            && self.theta < 1.0
        {
            add_written(&mut block.known, &mut block.work, weight, |force| {
                model.force(at.t, q, v, force);
            });
        }
    }

    fn missed(&self, block: &mut Block, at: Instant) {
        if let Some(model) = block.system.small_lagrangian() {
            let start = [block.state.q(), block.state.v(), block.start.v()];
            let weight = at.h * self.theta;
            return missed_of(&model, start, &block.known, weight, &mut block.missed);
        }
        self.take_mass(block, at);
        let Block { mass, missed, .. } = block;
        let (q, v) = (block.state.q(), block.state.v());
        if let Model::Lagrangian(model) = block.system.model() {
            copy(&mut block.work, v);
            add(&mut block.work, -1.0, block.start.v());
            missed.add_written(1.0, |change| mass.add_times(1.0, &block.work, change));
            missed.beside(|momentum| mass.add_times(1.0, v, momentum));
            let weight = -at.h * self.theta;
            missed.add_written(weight, |force| model.force(at.end(), q, v, force));
        }
        missed.add(-1.0, &block.known);
    }

    fn take_mass(&self, block: &mut Block, at: Instant) {
        match self.mass_at {
            MassAt::Iterate => block.take_mass(MassOf::Iterate),
            MassAt::Forecast { gamma } => block.take_mass_ahead(gamma * at.h),
        }
    }

    fn slopes(&self, at: Instant) -> SmallVec<[(Slope, f64); 2]> {
        let weight = at.h * self.theta;
        smallvec![
            (Slope::Velocity, -weight),
            (Slope::Position, -weight * weight)
        ]
    }

    fn slope(&self, of: Slope, block: &mut Block, at: Instant, matrix: &mut Matrix) {
        if let Model::Lagrangian(model) = block.system.model() {
            let (q, v) = (block.state.q(), block.state.v());
            match of {
                Slope::Position => model.force_by_position(at.end(), q, v, matrix),
                _ => model.force_by_velocity(at.end(), q, v, matrix),
            }
        }
    }

    fn position_slope(&self, at: Instant) -> f64 {
        at.h * self.theta
    }

    fn force_weight(&self, at: Instant) -> f64 {
        at.h
    }
}

/// `𝓡_free` of a small system with constant matrices, all terms of a row at once: the sums are those of the way through the terms.
fn missed_of(
    model: &SmallLagrangian<'_>,
    [q, v, start]: [&[f64]; 3],
    known: &[f64],
    weight: f64,
    missed: &mut Missed,
) {
    let mut squares = [0.0; 4];
    for (i, (sum, known)) in missed.sum.iter_mut().zip(known).enumerate() {
        let (mut change, mut momentum) = (0.0, 0.0);
        for ((m, v), start) in model.mass.row(i).iter().zip(v).zip(start) {
            change += m * (v - start);
            momentum += m * v;
        }
        let force = model.force_of(i, q, v);
        *sum = change - weight * force - known;
        let terms = [change, momentum, force, *known];
        for (square, term) in squares.iter_mut().zip(terms) {
            *square += term * term;
        }
    }
    (missed.squares, missed.factors) = (squares, [1.0, 1.0, weight, 1.0]);
}
