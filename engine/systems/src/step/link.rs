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
use super::scheme::Instant;
use crate::algebra::{Matrix, add, norm};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::{Integrator, RowsAt};
use crate::interaction::Outcome;
use crate::law::NonsmoothLaw;
use crate::relation::first_order::FirstOrderRelation;
use crate::relation::lagrangian::LagrangianRelation;
use crate::relation::{Relation, Seen};
use bevy_ecs::entity::Entity;

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
    /// What it did in the step before.
    pub(crate) before: Outcome,
    /// `h(t_k, q_k)` of Lagrangian relations.
    pub(crate) output_at_start: Vec<f64>,
    /// What restitution refers to: `ẏ_k`, or `y_{k−1}`.
    pub(crate) reference: Vec<f64>,
    pub(crate) active: bool,
    /// For the projection, and the next step's activation: see [`Outcome::closed`].
    pub(crate) closed: bool,
    pub(crate) lambda: Vec<f64>,
    /// `w^τ`.
    pub(crate) offset: Vec<f64>,
    /// A matrix for each system.
    pub(crate) output: Vec<Matrix>,
    /// A matrix for each system.
    pub(crate) input: Vec<Matrix>,
    /// A vector for each system; empty where it is zero.
    pub(crate) known: Vec<Vec<f64>>,
    pub(crate) feedthrough: Option<Matrix>,
    /// `Λ` of the projection.
    pub(crate) correction: Vec<f64>,
}

/// A relation evaluated at a point: time, and what it sees of each system.
pub(crate) struct Point {
    pub(crate) t: f64,
    pub(crate) seen: Vec<Vec<f64>>,
}

impl Point {
    pub(crate) fn slices(&self) -> Vec<&[f64]> {
        self.seen.iter().map(Vec::as_slice).collect()
    }
}

impl Link {
    pub(crate) fn rows(&self) -> usize {
        self.law.rows()
    }

    /// At the start of the step.
    pub(super) fn start_point(&self, blocks: &[Block], at: Instant) -> Point {
        let seen = self.blocks.iter().map(|j| blocks[*j].start.q().to_vec());
        Point {
            t: at.t,
            seen: seen.collect(),
        }
    }

    /// Where the iterate is, for Lagrangian relations the positions.
    pub(super) fn end_point(&self, blocks: &[Block], at: Instant) -> Point {
        let seen = self.blocks.iter().map(|j| blocks[*j].state.q().to_vec());
        Point {
            t: at.end(),
            seen: seen.collect(),
        }
    }

    /// `x_{k+γ}` of every system.
    fn law_point(&self, blocks: &[Block], at: Instant, gamma: f64) -> Point {
        let seen = self.blocks.iter().map(|j| {
            let mut x = blocks[*j].state.stacked();
            x.iter_mut().for_each(|x| *x *= gamma);
            if gamma < 1.0 {
                add(&mut x, 1.0 - gamma, &blocks[*j].start.stacked());
            }
            x
        });
        Point {
            t: at.t + gamma * at.h,
            seen: seen.collect(),
        }
    }

    /// The relation at the iterate.
    pub(super) fn linearise(
        &mut self,
        blocks: &mut [Block],
        at: Instant,
    ) -> Result<(), SystemsError> {
        let relation = self.relation.clone();
        match (relation.seen(), self.level) {
            (Seen::Lagrangian(relation), _) => self.linearise_lagrangian(relation, blocks, at),
            (Seen::FirstOrder(relation), level) => {
                let gamma = match level {
                    Level::Value { gamma } => gamma,
                    _ => 1.0,
                };
                self.linearise_first_order(relation, blocks, at, gamma);
            }
        }
        let matrices = self.output.iter().chain(&self.input);
        for matrix in matrices.chain(&self.feedthrough) {
            expect_finite("jacobian", matrix.entries()).map_err(self.named())?;
        }
        expect_finite("output", &self.offset).map_err(self.named())
    }

    fn linearise_lagrangian(
        &mut self,
        relation: &dyn LagrangianRelation,
        blocks: &[Block],
        at: Instant,
    ) {
        let explicit = self.blocks.iter().any(|j| {
            matches!(blocks[*j].integrator, Integrator::MoreauJean(scheme) if scheme.rows_at == RowsAt::Start)
        });
        let point = if explicit {
            self.start_point(blocks, at)
        } else {
            self.end_point(blocks, at)
        };
        let jacobian = jacobian(relation, &point);
        let m = self.rows();
        self.offset = vec![0.0; m];
        self.feedthrough = None;
        self.known.iter_mut().for_each(Vec::clear);
        match self.level {
            Level::Velocity => {
                relation.output_by_time(point.t, &point.slices(), &mut self.offset);
                for (h, j) in jacobian.iter().zip(&self.blocks) {
                    h.add_times(1.0, blocks[*j].state.v(), &mut self.offset);
                }
                self.add_restitution();
                self.input = jacobian.iter().map(Matrix::transposed).collect();
                self.output = jacobian;
            }
            Level::Position => {
                let end = self.end_point(blocks, at);
                relation.output(end.t, &end.slices(), &self.lambda, &mut self.offset);
                self.add_restitution();
                self.input = jacobian.iter().map(Matrix::transposed).collect();
                self.output = jacobian;
            }
            Level::Compliant | Level::Value { .. } => {
                let end = self.end_point(blocks, at);
                relation.output(end.t, &end.slices(), &self.lambda, &mut self.offset);
                let mut d = Matrix::zeros(m, m);
                relation.output_by_multiplier(end.t, &end.slices(), &self.lambda, &mut d);
                d.add_times(-1.0, &self.lambda, &mut self.offset);
                self.feedthrough = Some(d);
                let of = |j: usize| blocks[j].integrator.scheme();
                let sides = || jacobian.iter().zip(&self.blocks);
                let input = sides().map(|(h, j)| h.transposed().scaled(of(*j).force_weight(at)));
                let output = sides().map(|(h, j)| h.scaled(of(*j).position_slope(at)));
                (self.input, self.output) = (input.collect(), output.collect());
            }
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
    ) {
        let m = self.rows();
        let point = self.law_point(blocks, at, gamma);
        let (t, x, lambda) = (point.t, point.slices(), &self.lambda);
        let sizes = || self.blocks.iter().map(|j| blocks[*j].size());
        let widths = || x.iter().map(|x| x.len());
        self.offset = vec![0.0; m];
        relation.output(t, &x, lambda, &mut self.offset);
        let mut d = Matrix::zeros(m, m);
        relation.output_by_multiplier(t, &x, lambda, &mut d);
        d.add_times(-1.0, lambda, &mut self.offset);
        let mut c: Vec<_> = widths().map(|n| Matrix::zeros(m, n)).collect();
        relation.output_by_state(t, &x, lambda, &mut c);
        let mut b: Vec<_> = sizes().map(|n| Matrix::zeros(n, m)).collect();
        relation.input_by_multiplier(t, &x, lambda, &mut b);
        let mut g: Vec<_> = sizes().map(|n| vec![0.0; n]).collect();
        relation.input(t, &x, lambda, &mut g);
        let mut k: Vec<_> = sizes()
            .zip(widths())
            .map(|(n, w)| Matrix::zeros(n, w))
            .collect();
        relation.input_by_state(t, &x, lambda, &mut k);
        self.feedthrough = Some(d);
        for (side, j) in self.blocks.iter().enumerate() {
            let block = &mut blocks[*j];
            let scheme = block.integrator.scheme();
            let (weight, slope) = (scheme.force_weight(at), scheme.position_slope(at));
            self.output[side] = by_unknown(&c[side], block.size(), gamma, slope);
            b[side].add_times(-1.0, lambda, &mut g[side]);
            g[side].iter_mut().for_each(|g| *g *= weight);
            self.input[side] = b[side].scaled(weight);
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
            let mut acts = vec![0.0; block.size()];
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
    pub(super) fn law_output(&self, blocks: &[Block], at: Instant) -> Vec<f64> {
        let mut y = vec![0.0; self.rows()];
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
    pub(super) fn rate<'a>(&self, point: &Point, v: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
        let mut rate = vec![0.0; self.rows()];
        if let Seen::Lagrangian(relation) = self.relation.seen() {
            relation.output_by_time(point.t, &point.slices(), &mut rate);
            for (h, v) in jacobian(relation, point).iter().zip(v) {
                h.add_times(1.0, v, &mut rate);
            }
        }
        rate
    }

    /// Puts the name of the interaction to an error.
    pub(super) fn named(&self) -> impl Fn(FieldError) -> SystemsError + use<> {
        let entity = self.entity;
        move |source| SystemsError::Interaction { entity, source }
    }
}

/// `H` at a point, a matrix for each system.
pub(super) fn jacobian(relation: &dyn LagrangianRelation, point: &Point) -> Vec<Matrix> {
    let m = relation.rows();
    let mut h: Vec<_> = point
        .seen
        .iter()
        .map(|q| Matrix::zeros(m, q.len()))
        .collect();
    relation.jacobian(point.t, &point.slices(), &mut h);
    h
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
