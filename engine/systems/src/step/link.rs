//! One interaction within a step: its relation as its integrators' unknowns see it.
//!
//! Whatever the relation, the problem of a Newton iteration is linear in the unknowns `z` of the systems `j` and the multipliers `λ`:
//!
//! ```text
//! w = w^τ + Σ_j output_j (z_j − z_j^τ) + feedthrough λ,      what acts on j = known_j + input_j λ
//! ```
//!
//! | level | `w` | `w^τ` | `output` | `input` | `feedthrough` |
//! |---|---|---|---|---|---|
//! | velocity: rigid, Moreau–Jean | `ẏ + e ẏ_k` | `H v^τ + ∂h/∂t + e ẏ_k` | `H` | `Hᵀ` | 0 |
//! | position: rigid, Schatzman–Paoli | `y + e y_{k−1}` | `h(q^τ) + e y_{k−1}` | `H` | `Hᵀ` | 0 |
//! | compliant, `s = ∂q/∂z` | `y` | `h(q^τ, λ^τ) − D λ^τ` | `s H` | `weight Hᵀ` | `D` |
//! | first order, `X = ∂x/∂z` | `y` | `h(x^τ, λ^τ) − D λ^τ` | `C X` | `weight B` | `D` |
//!
//! With `g` nonlinear, `known = weight (g^τ − B λ^τ)`, and `weight ∂g/∂x X` goes into `M̂`.

use super::block::Block;
use super::point::{Point, Sides, jacobian};
use super::scheme::Instant;
use crate::algebra::{Matrix, Row, add, norm, zeros};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::{Integrator, RowsAt};
use crate::law::NonsmoothLaw;
use crate::relation::first_order::FirstOrderRelation;
use crate::relation::lagrangian::LagrangianRelation;
use crate::relation::{Relation, Seen};
use crate::system::state::State;
use bevy_ecs::entity::Entity;
use std::borrow::Cow;

/// On what quantity a law is imposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Level {
    /// `ẏ`, by impulses.
    Velocity,
    /// `y` at the end of the step, by position impulses.
    Position,
    /// `y` at the end of the step, by forces.
    Compliant,
    /// `y` at `t_{k+γ}`, by multipliers of first-order relations.
    Value {
        /// `γ`.
        gamma: f64,
    },
}

/// One interaction within a step.
pub(crate) struct Link {
    pub(crate) entity: Entity,
    pub(crate) relation: Relation,
    pub(crate) law: NonsmoothLaw,
    pub(crate) level: Level,
    /// Its systems.
    pub(crate) blocks: Vec<usize>,
    /// [`Outcome::closed`](crate::Outcome::closed) of the step before.
    pub(crate) was_closed: bool,
    /// `h(t_k, q_k)` of Lagrangian relations.
    pub(crate) output_at_start: Row,
    /// What restitution refers to: `ẏ_k`, or `y_{k−1}`.
    pub(crate) reference: Row,
    pub(crate) active: bool,
    /// For the projection, and the next step's activation: see [`Outcome::closed`](crate::Outcome::closed).
    pub(crate) closed: bool,
    pub(crate) lambda: Vec<f64>,
    /// `w^τ`.
    pub(crate) offset: Row,
    /// A matrix for each system.
    pub(crate) output: Sides,
    /// A matrix for each system.
    pub(crate) input: Sides,
    /// A vector for each system; empty where it is zero, as for all linear relations.
    pub(crate) known: Vec<Vec<f64>>,
    pub(crate) feedthrough: Option<Matrix>,
    /// Bits of the `h` that these matrices are for.
    pub(crate) linearised_for: Option<u64>,
    /// `Λ` of the projection.
    pub(crate) correction: Vec<f64>,
}

impl Link {
    pub(crate) fn rows(&self) -> usize {
        self.law.rows()
    }

    /// At the start of the step.
    pub(super) fn start_point<'a>(&self, blocks: &'a [Block], at: Instant) -> Point<'a> {
        Point::of(at.t, blocks, &self.blocks, |block| block.start.q())
    }

    /// Where the iterate is, for Lagrangian relations the positions.
    pub(super) fn end_point<'a>(&self, blocks: &'a [Block], at: Instant) -> Point<'a> {
        Point::of(at.end(), blocks, &self.blocks, |block| block.state.q())
    }

    /// `x_{k+γ}` of every system.
    fn law_point<'a>(&self, blocks: &'a [Block], at: Instant, gamma: f64) -> Point<'a> {
        let seen = self.blocks.iter().map(|j| {
            let block = &blocks[*j];
            if let (State::FirstOrder { x }, true) = (&block.state, gamma >= 1.0) {
                return Cow::Borrowed(&x[..]);
            }
            let mut x = block.state.stacked();
            x.iter_mut().for_each(|x| *x *= gamma);
            if gamma < 1.0 {
                add(&mut x, 1.0 - gamma, &block.start.stacked());
            }
            Cow::Owned(x)
        });
        Point {
            t: at.t + gamma * at.h,
            seen: seen.collect(),
            columns: self.blocks.iter().map(|j| blocks[*j].size()).collect(),
        }
    }

    /// The relation at the iterate.
    pub(super) fn linearise(
        &mut self,
        blocks: &mut [Block],
        at: Instant,
    ) -> Result<(), SystemsError> {
        // The matrices of a linear relation depend on `h` alone and stay from step to step.
        let step = Some(at.h.to_bits());
        let keep = self.relation.is_linear() && self.linearised_for == step;
        self.linearised_for = None;
        self.offset.clear();
        self.offset.resize(self.rows(), 0.0);
        let relation = self.relation.clone();
        match (relation.seen(), self.level) {
            (Seen::Lagrangian(relation), _) => {
                self.linearise_lagrangian(relation, blocks, at, keep)
            }
            (Seen::FirstOrder(relation), Level::Value { gamma }) => {
                self.linearise_first_order(relation, blocks, at, gamma, keep);
            }
            (Seen::FirstOrder(_), _) => {}
        }
        if !keep {
            let matrices = self.output.iter().chain(&self.input);
            for matrix in matrices.chain(&self.feedthrough) {
                expect_finite("jacobian", matrix.entries()).map_err(self.named())?;
            }
        }
        self.linearised_for = step;
        expect_finite("output", &self.offset).map_err(self.named())
    }

    fn linearise_lagrangian(
        &mut self,
        relation: &dyn LagrangianRelation,
        blocks: &[Block],
        at: Instant,
        keep: bool,
    ) {
        let rows_at = self
            .blocks
            .iter()
            .find_map(|j| match blocks[*j].integrator {
                Integrator::MoreauJean(scheme) => Some(scheme.rows_at),
                _ => None,
            });
        let end = self.end_point(blocks, at);
        let point = match rows_at.unwrap_or_default() {
            RowsAt::Start => self.start_point(blocks, at),
            RowsAt::Predicted => {
                Point::of(at.end(), blocks, &self.blocks, |block| &block.predicted)
            }
            RowsAt::Iterate => self.end_point(blocks, at),
        };
        let q = end.slices();
        if !keep {
            self.output = jacobian(relation, &point);
            self.input = self.output.iter().map(Matrix::transposed).collect();
        }
        if self.level == Level::Velocity {
            relation.output_by_time(point.t, &point.slices(), &mut self.offset);
            for (h, j) in self.output.iter().zip(&self.blocks) {
                h.add_times(1.0, blocks[*j].state.v(), &mut self.offset);
            }
        } else {
            relation.output(end.t, &q, &self.lambda, &mut self.offset);
        }
        self.add_restitution();
        if self.level == Level::Compliant {
            if !keep {
                let mut d = Matrix::zeros(self.rows(), self.rows());
                relation.output_by_multiplier(end.t, &q, &self.lambda, &mut d);
                self.feedthrough = Some(d);
                for (side, j) in self.blocks.iter().enumerate() {
                    let scheme = blocks[*j].integrator.scheme();
                    self.input[side] = self.input[side].scaled(scheme.force_weight(at));
                    self.output[side] = self.output[side].scaled(scheme.position_slope(at));
                }
            }
            self.take_feedthrough_off();
        }
    }

    /// `− D λ^τ`.
    fn take_feedthrough_off(&mut self) {
        if let Some(d) = &self.feedthrough {
            d.add_times(-1.0, &self.lambda, &mut self.offset);
        }
    }

    /// `e` times the reference of the normal, `e_T` times those of the tangents.
    fn add_restitution(&mut self) {
        if self.law.is_impact() {
            let [e, tangential] = self.law.restitution();
            for (row, (offset, reference)) in
                self.offset.iter_mut().zip(&self.reference).enumerate()
            {
                *offset += if row == 0 { e } else { tangential } * reference;
            }
        }
    }

    fn linearise_first_order(
        &mut self,
        relation: &dyn FirstOrderRelation,
        blocks: &mut [Block],
        at: Instant,
        gamma: f64,
        keep: bool,
    ) {
        {
            let point = self.law_point(blocks, at, gamma);
            relation.output(point.t, &point.slices(), &self.lambda, &mut self.offset);
        }
        if keep {
            self.take_feedthrough_off();
            return;
        }
        let Slopes { b, c, d, mut g, k } = self.slopes(relation, blocks, at, gamma);
        let (lambda, is_linear) = (&self.lambda, self.relation.is_linear());
        self.feedthrough = Some(d);
        for (side, j) in self.blocks.iter().enumerate() {
            let block = &mut blocks[*j];
            let scheme = block.integrator.scheme();
            let (weight, slope) = (scheme.force_weight(at), scheme.position_slope(at));
            self.output[side] = by_unknown(&c[side], block.size(), gamma, slope);
            self.input[side] = b[side].scaled(weight);
            if is_linear {
                continue;
            }
            b[side].add_times(-1.0, lambda, &mut g[side]);
            g[side].iter_mut().for_each(|g| *g *= weight);
            if k[side].entries().iter().any(|entry| *entry != 0.0) {
                let slope = by_unknown(&k[side], block.size(), gamma, slope).scaled(weight);
                let n = block.size();
                block
                    .slope_of_input
                    .get_or_insert_with(|| Matrix::zeros(n, n))
                    .add_scaled(1.0, &slope);
            }
        }
        self.known = g;
        self.take_feedthrough_off();
    }

    /// All slopes of a first-order relation, and its input, at the iterate.
    fn slopes(
        &self,
        relation: &dyn FirstOrderRelation,
        blocks: &[Block],
        at: Instant,
        gamma: f64,
    ) -> Slopes {
        let m = self.rows();
        let point = self.law_point(blocks, at, gamma);
        let (t, x, lambda) = (point.t, point.slices(), &self.lambda);
        let sizes = || self.blocks.iter().map(|j| blocks[*j].size());
        let widths = || x.iter().map(|x| x.len());
        let mut slopes = Slopes {
            b: sizes().map(|n| Matrix::zeros(n, m)).collect(),
            c: widths().map(|n| Matrix::zeros(m, n)).collect(),
            d: Matrix::zeros(m, m),
            g: sizes().map(|n| vec![0.0; n]).collect(),
            k: sizes()
                .zip(widths())
                .map(|(n, w)| Matrix::zeros(n, w))
                .collect(),
        };
        relation.output_by_state(t, &x, lambda, &mut slopes.c);
        relation.output_by_multiplier(t, &x, lambda, &mut slopes.d);
        relation.input_by_multiplier(t, &x, lambda, &mut slopes.b);
        if !self.relation.is_linear() {
            relation.input(t, &x, lambda, &mut slopes.g);
            relation.input_by_state(t, &x, lambda, &mut slopes.k);
        }
        slopes
    }

    /// What acts on its systems at the new iterate: `known + input λ`, or for a nonlinear first-order relation what it really is there. Adds to
    /// `applied` and, as physical quantity, to `reaction`.
    pub(super) fn apply(&self, blocks: &mut [Block], at: Instant) {
        let exact = match (self.relation.seen(), self.level) {
            (Seen::FirstOrder(relation), Level::Value { gamma }) if !self.relation.is_linear() => {
                let point = self.law_point(blocks, at, gamma);
                let sizes = self.blocks.iter().map(|j| vec![0.0; blocks[*j].size()]);
                let mut g: Vec<_> = sizes.collect();
                relation.input(point.t, &point.slices(), &self.lambda, &mut g);
                Some(g)
            }
            _ => None,
        };
        for (side, j) in self.blocks.iter().enumerate() {
            let block = &mut blocks[*j];
            let weight = block.integrator.scheme().force_weight(at);
            let mut acts = zeros(block.size());
            match &exact {
                Some(g) => add(&mut acts, weight, &g[side]),
                None => {
                    self.input[side].add_times(1.0, &self.lambda, &mut acts);
                    add(&mut acts, 1.0, &self.known[side]);
                }
            }
            add(&mut block.applied, 1.0, &acts);
            let physical = match block.integrator {
                Integrator::EulerMoreau(_) => 1.0 / weight,
                Integrator::MoreauJean(_) | Integrator::SchatzmanPaoli(_) => 1.0,
            };
            add(&mut block.reaction, physical, &acts);
        }
    }

    /// How far the output at the new iterate is from the linearised one, `w`, and the size of the terms; zero where that does not matter.
    pub(super) fn mismatch(&self, blocks: &[Block], at: Instant, w: &[f64]) -> [f64; 2] {
        if self.relation.is_linear() || self.level == Level::Velocity {
            return [0.0; 2];
        }
        let mut y = self.law_output(blocks, at);
        let mut terms = norm(&self.offset) + norm(w);
        if self.level == Level::Position && self.law.is_impact() {
            y[0] += self.law.restitution()[0] * self.reference[0];
        }
        for (output, j) in self.output.iter().zip(&self.blocks) {
            terms += norm(output.entries()) * norm(&blocks[*j].z);
        }
        add(&mut y, -1.0, w);
        [norm(&y), terms]
    }

    /// `y` that the law is about, at the iterate: `h(t, q, λ)`, or `h(t_{k+γ}, x_{k+γ}, λ)`.
    pub(super) fn law_output(&self, blocks: &[Block], at: Instant) -> Row {
        let mut y = zeros(self.rows());
        match (self.relation.seen(), self.level) {
            (Seen::Lagrangian(relation), _) => {
                let end = self.end_point(blocks, at);
                relation.output(end.t, &end.slices(), &self.lambda, &mut y);
            }
            (Seen::FirstOrder(relation), Level::Value { gamma }) => {
                let point = self.law_point(blocks, at, gamma);
                relation.output(point.t, &point.slices(), &self.lambda, &mut y);
            }
            (Seen::FirstOrder(_), _) => {}
        }
        y
    }

    /// `ẏ` of a Lagrangian relation at a point, with the velocities that `v` gives of each system.
    pub(super) fn rate<'a>(&self, point: &Point, v: impl Iterator<Item = &'a [f64]>) -> Row {
        let mut rate = zeros(self.rows());
        if let Seen::Lagrangian(relation) = self.relation.seen() {
            relation.output_by_time(point.t, &point.slices(), &mut rate);
            for (h, v) in jacobian(relation, point).iter().zip(v) {
                h.add_times(1.0, v, &mut rate);
            }
        }
        rate
    }

    /// Puts the name of the interaction to an error.
    pub(crate) fn named(&self) -> impl Fn(FieldError) -> SystemsError + use<> {
        let entity = self.entity;
        move |source| SystemsError::Interaction { entity, source }
    }
}

/// What is needed of a first-order relation at a point: the letters are those of [`FirstOrderRelation`].
struct Slopes {
    b: Sides,
    c: Sides,
    d: Matrix,
    /// Zero for a linear relation, as `k`: nothing remains beside `B λ`.
    g: Vec<Vec<f64>>,
    k: Sides,
}

/// A slope by `x` as one by `z`: `x = γ z` of a first-order system, `x = (q, v)` with `∂q/∂z = slope` of a Lagrangian one.
fn by_unknown(matrix: &Matrix, n: usize, gamma: f64, slope: f64) -> Matrix {
    if matrix.columns() == n {
        return matrix.scaled(gamma);
    }
    let mut by = Matrix::zeros(matrix.rows(), n);
    for row in 0..matrix.rows() {
        add(by.row_mut(row), slope, &matrix.row(row)[..n]);
        add(by.row_mut(row), 1.0, &matrix.row(row)[n..]);
    }
    by
}
