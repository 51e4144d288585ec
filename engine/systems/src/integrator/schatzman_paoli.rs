//! Schatzman–Paoli: position level, two steps [docs/theory.md §12; Paoli and Schatzman 2002].
//!
//! ```text
//! 𝓡_free(q) = M(q_k)(q − 2 q_k + q_{k−1}) − h² F(t_k, q_k, v(q)),      v(q) = (q − q_{k−1})/(2h)
//! M̂ = M − ½h ∂F/∂v,      z = q,      B = Hᵀ,      0 ≤ y_{k+1} + e y_{k−1} ⊥ λ ≥ 0
//! ```
//!
//! Forces are taken at `t_k`, so that the scheme is explicit in the positions. All contacts take part in every step. It is of second order in smooth
//! motion, but the sources' start, `q_{−1} = q_0 − h v_0`, is of first order: where that matters, give the system a [`Previous`](crate::Previous) with
//! `q_0 − h v_0 + ½h² v̇_0`. The velocity written is `v(q_{k+1})`, the centred one at `t_k`: one step late, as in the sources.

use super::super::step::block::Block;
use super::super::step::scheme::{Instant, Missed, Scheme};
use crate::algebra::{Matrix, Row, add, zeros};
use crate::system::Model;
use crate::system::state::State;

/// The scheme has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchatzmanPaoli;

/// `2 q_k − q_{k−1}`.
fn straight_on(block: &Block) -> Row {
    let mut q = Row::from_slice(block.start.q());
    q.iter_mut().for_each(|q| *q *= 2.0);
    add(&mut q, -1.0, &block.previous);
    q
}

impl Scheme for SchatzmanPaoli {
    fn first(&self, block: &Block, _at: Instant) -> Row {
        straight_on(block)
    }

    fn state(&self, block: &Block, z: &[f64], at: Instant, state: &mut State) {
        if let State::Lagrangian { q, v } = state {
            q.copy_from_slice(z);
            v.copy_from_slice(z);
            add(v, -1.0, &block.previous);
            v.iter_mut().for_each(|v| *v /= 2.0 * at.h);
        }
    }

    fn known(&self, block: &Block, _at: Instant) -> Row {
        let [known] = block.mass_times(block.start.q(), [&straight_on(block)]);
        known
    }

    fn missed(&self, block: &Block, at: Instant) -> Missed {
        let mut missed = Missed::new(block.size());
        if let Model::Lagrangian(model) = block.system.model() {
            let q = block.start.q();
            let [momentum] = block.mass_times(q, [block.state.q()]);
            missed.add(1.0, &momentum);
            let mut force = zeros(block.size());
            model.force(at.t, q, block.state.v(), &mut force);
            missed.add(-at.h * at.h, &force);
        }
        missed.add(-1.0, &block.known);
        missed
    }

    fn matrix(&self, block: &Block, at: Instant) -> Matrix {
        let mut matrix = block.mass(block.start.q());
        if let Model::Lagrangian(model) = block.system.model() {
            let mut slope = Matrix::zeros(block.size(), block.size());
            model.force_by_velocity(at.t, block.start.q(), block.state.v(), &mut slope);
            matrix.add_scaled(-0.5 * at.h, &slope);
        }
        matrix
    }

    fn position_slope(&self, _at: Instant) -> f64 {
        1.0
    }

    fn force_weight(&self, at: Instant) -> f64 {
        at.h * at.h
    }
}
