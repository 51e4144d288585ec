//! Schatzman–Paoli: position level, two steps [docs/theory.md §12; Paoli and Schatzman 2002].
//!
//! ```text
//! 𝓡_free(q) = M(q_k)(q − 2 q_k + q_{k−1}) − h² F(t_k, q_k, v(q)),      v(q) = (q − q_{k−1})/(2h)
//! M̂ = M − ½h ∂F/∂v,      z = q,      B = Hᵀ,      0 ≤ y_{k+1} + e y_{k−1} ⊥ λ ≥ 0
//! ```
//!
//! Forces are taken at `t_k`, so that the scheme is explicit in the positions. All contacts take part in every step. It is of second order in smooth
//! motion without constraints that bend (rows are those of `q_{k+1}`: a pendulum of 1 m loses 17 % of its energy in 10 s of steps of 1 ms), but the sources' start, `q_{−1} = q_0 − h v_0`, is of first order: where that matters, give the system a [`Previous`](crate::Previous) with
//! `q_0 − h v_0 + ½h² v̇_0`. The velocity written is `v(q_{k+1})`, the centred one at `t_k`: one step late, as in the sources.

use super::super::step::block::{Block, MassOf};
use super::super::step::scheme::{Instant, Scheme};
use crate::algebra::{Matrix, Row, add, copy, copy_all};
use crate::system::state::State;
use crate::system::{Model, Slope};
use smallvec::{SmallVec, smallvec};

/// The scheme has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchatzmanPaoli;

/// `2 q_k − q_{k−1}`.
fn straight_on(row: &mut Row, q: &[f64], previous: &[f64]) {
    copy(row, q);
    row.iter_mut().for_each(|q| *q *= 2.0);
    add(row, -1.0, previous);
}

impl Scheme for SchatzmanPaoli {
    fn first(&self, block: &mut Block) {
        straight_on(&mut block.z, block.start.q(), &block.previous);
    }

    fn state(&self, block: &mut Block, at: Instant) {
        if let State::Lagrangian { q, v } = &mut block.state {
            copy_all(q, &block.z);
            copy_all(v, &block.z);
            add(v, -1.0, &block.previous);
            v.iter_mut().for_each(|v| *v /= 2.0 * at.h);
        }
    }

    fn known(&self, block: &mut Block, _at: Instant) {
        block.take_mass(MassOf::Start);
        straight_on(&mut block.work, block.start.q(), &block.previous);
        block.mass.add_times(1.0, &block.work, &mut block.known);
    }

    fn missed(&self, block: &mut Block, at: Instant) {
        block.take_mass(MassOf::Start);
        let Block { mass, missed, .. } = block;
        if let Model::Lagrangian(model) = block.system.model() {
            let (q, state) = (block.start.q(), &block.state);
            missed.add_written(1.0, |momentum| mass.add_times(1.0, state.q(), momentum));
            let weight = -at.h * at.h;
            missed.add_written(weight, |force| model.force(at.t, q, state.v(), force));
        }
        missed.add(-1.0, &block.known);
    }

    fn take_mass(&self, block: &mut Block, _at: Instant) {
        block.take_mass(MassOf::Start);
    }

    fn slopes(&self, at: Instant) -> SmallVec<[(Slope, f64); 2]> {
        smallvec![(Slope::Velocity, -0.5 * at.h)]
    }

    fn slope(&self, _of: Slope, block: &mut Block, at: Instant, matrix: &mut Matrix) {
        if let Model::Lagrangian(model) = block.system.model() {
            model.force_by_velocity(at.t, block.start.q(), block.state.v(), matrix);
        }
    }

    fn position_slope(&self, _at: Instant) -> f64 {
        1.0
    }

    fn force_weight(&self, at: Instant) -> f64 {
        at.h * at.h
    }
}
