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
use super::point::{Point, Sides, jacobian_into};
use super::scheme::{Instant, Scheme};
use crate::algebra::{Matrix, Row, add, clear, copy, dot, norm};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::{Activation, Integrator};
use crate::law::NonsmoothLaw;
use crate::relation::first_order::FirstOrderRelation;
use crate::relation::lagrangian::LagrangianLinearRelation;
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
    /// The rule of its integrator for impact laws; none if it takes part in every step.
    pub(crate) activation: Option<Activation>,
    /// Rows are taken at the start of the step.
    pub(crate) is_explicit: bool,
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
    /// Counts the linearisations: what was made with the matrices asks whether they are the same.
    pub(crate) linearisations: u64,
    /// `M̂⁻¹ input`, transposed, a matrix for each system: row `k` is the answer to column `k`.
    pub(crate) responses: Sides,
    /// [`Link::stamp`] of these.
    pub(crate) responded_for: Option<u64>,
    /// `Λ` of the projection.
    pub(crate) correction: Vec<f64>,
    /// `y` that the law is about, and `ẏ` of Lagrangian relations, at the end of the step.
    pub(crate) end_output: Row,
    pub(crate) end_rate: Row,
    /// Space: `H` where it is needed in passing, what acts, slopes of first-order relations.
    pub(crate) rows_in_passing: Sides,
    pub(crate) acts: Row,
    pub(crate) slopes: Option<Box<Slopes>>,
}

impl Link {
    pub(crate) fn rows(&self) -> usize {
        self.law.rows()
    }

    /// Changes whenever its matrices or the factors of its systems do.
    pub(super) fn stamp(&self, blocks: &[Block]) -> u64 {
        let factorisations = self.blocks.iter().map(|j| blocks[*j].factorisations);
        self.linearisations + factorisations.sum::<u64>()
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
        let t = at.t + gamma * at.h;
        Point::of(t, blocks, &self.blocks, |block| block.seen_by_first_order())
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
        let rows = self.rows();
        clear(&mut self.offset, rows);
        match self.level {
            Level::Value { gamma } => self.linearise_first_order(blocks, at, gamma, keep),
            _ => self.linearise_lagrangian(blocks, at, keep),
        }
        if !keep {
            self.linearisations += 1;
            let matrices = self.output.iter().chain(&self.input);
            for matrix in matrices.chain(&self.feedthrough) {
                expect_finite("jacobian", matrix.entries()).map_err(self.named())?;
            }
        }
        self.linearised_for = step;
        expect_finite("output", &self.offset).map_err(self.named())
    }

    fn linearise_lagrangian(&mut self, blocks: &[Block], at: Instant, keep: bool) {
        if keep && let Relation::LagrangianLinear(relation) = &self.relation {
            if self.level == Level::Velocity {
                for (h, j) in relation.jacobian.iter().zip(&self.blocks) {
                    h.add_times(1.0, blocks[*j].state.v(), &mut self.offset);
                }
            } else {
                let q = |j: usize| blocks[j].state.q();
                linear_output(relation, &self.blocks, q, &self.lambda, &mut self.offset);
            }
            self.add_restitution();
            if self.level == Level::Compliant {
                self.take_feedthrough_off();
            }
            return;
        }
        let end = self.end_point(blocks, at);
        let point = if self.is_explicit {
            self.start_point(blocks, at)
        } else {
            self.end_point(blocks, at)
        };
        let Seen::Lagrangian(relation) = self.relation.seen() else {
            return;
        };
        if !keep {
            jacobian_into(relation, &point, &mut self.output);
            for (input, output) in self.input.iter_mut().zip(&self.output) {
                input.become_transposed(output);
            }
        }
        if self.level == Level::Velocity {
            if !self.relation.is_linear() {
                relation.output_by_time(point.t, &point.seen, &mut self.offset);
            }
            for (h, j) in self.output.iter().zip(&self.blocks) {
                h.add_times(1.0, blocks[*j].state.v(), &mut self.offset);
            }
        } else {
            relation.output(end.t, &end.seen, &self.lambda, &mut self.offset);
        }
        if self.level == Level::Compliant && !keep {
            let rows = self.law.rows();
            let d = self.feedthrough.get_or_insert_with(Matrix::default);
            d.become_zeros(rows, rows);
            relation.output_by_multiplier(end.t, &end.seen, &self.lambda, d);
            for (side, j) in self.blocks.iter().enumerate() {
                let scheme = blocks[*j].integrator.scheme();
                self.input[side].scale(scheme.force_weight(at));
                self.output[side].scale(scheme.position_slope(at));
            }
        }
        self.add_restitution();
        if self.level == Level::Compliant {
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

    fn linearise_first_order(&mut self, blocks: &mut [Block], at: Instant, gamma: f64, keep: bool) {
        let is_linear = self.relation.is_linear();
        let mut slopes = self.slopes.take().unwrap_or_default();
        {
            let point = self.law_point(blocks, at, gamma);
            let Seen::FirstOrder(relation) = self.relation.seen() else {
                return;
            };
            let lambda = &self.lambda;
            relation.output(point.t, &point.seen, lambda, &mut self.offset);
            if !keep {
                let sizes = self.blocks.iter().map(|j| blocks[*j].size());
                slopes.set(relation, (&point, lambda), sizes, is_linear);
            }
        }
        if !keep {
            self.take_slopes(&mut slopes, blocks, at, gamma);
        }
        self.slopes = Some(slopes);
        self.take_feedthrough_off();
    }

    /// Slopes by `x` and `λ` as matrices of the step.
    fn take_slopes(&mut self, slopes: &mut Slopes, blocks: &mut [Block], at: Instant, gamma: f64) {
        let Slopes { b, c, d, g, k } = slopes;
        let (lambda, is_linear) = (&self.lambda, self.relation.is_linear());
        self.feedthrough
            .get_or_insert_with(Matrix::default)
            .become_copy(d);
        for (side, j) in self.blocks.iter().enumerate() {
            let block = &mut blocks[*j];
            let scheme = block.integrator.scheme();
            let (weight, slope) = (scheme.force_weight(at), scheme.position_slope(at));
            by_unknown(&c[side], block.size(), gamma, slope, &mut self.output[side]);
            self.input[side].become_copy(&b[side]);
            self.input[side].scale(weight);
            if is_linear {
                continue;
            }
            b[side].add_times(-1.0, lambda, &mut g[side]);
            g[side].iter_mut().for_each(|g| *g *= weight);
            self.known[side].clone_from(&g[side]);
            if k[side].entries().iter().any(|entry| *entry != 0.0) {
                let n = block.size();
                let mut own = Matrix::default();
                by_unknown(&k[side], n, gamma, slope, &mut own);
                block
                    .slope_of_input
                    .get_or_insert_with(|| Matrix::zeros(n, n))
                    .add_scaled(weight, &own);
            }
        }
    }

    /// What acts on its systems at the new iterate: `known + input λ`, or for a nonlinear first-order relation what it really is there. Adds to
    /// `applied` and, as physical quantity, to `reaction`.
    pub(super) fn apply(&mut self, blocks: &mut [Block], at: Instant) {
        let is_exact = match (self.relation.seen(), self.level) {
            (Seen::FirstOrder(relation), Level::Value { gamma }) if !self.relation.is_linear() => {
                let point = self.law_point(blocks, at, gamma);
                if let Some(slopes) = &mut self.slopes {
                    slopes.g.iter_mut().for_each(|g| g.fill(0.0));
                    relation.input(point.t, &point.seen, &self.lambda, &mut slopes.g);
                }
                true
            }
            _ => false,
        };
        if self.relation.is_linear() {
            self.apply_linear(blocks, at);
            return;
        }
        for (side, j) in self.blocks.iter().enumerate() {
            let block = &mut blocks[*j];
            clear(&mut self.acts, block.size());
            let weight = || block.integrator.scheme().force_weight(at);
            match &self.slopes {
                Some(slopes) if is_exact => add(&mut self.acts, weight(), &slopes.g[side]),
                _ => {
                    self.input[side].add_times(1.0, &self.lambda, &mut self.acts);
                    add(&mut self.acts, 1.0, &self.known[side]);
                }
            }
            let physical = match block.integrator {
                Integrator::EulerMoreau(_) => 1.0 / weight(),
                Integrator::MoreauJean(_) | Integrator::SchatzmanPaoli(_) => 1.0,
            };
            add(&mut block.applied, 1.0, &self.acts);
            add(&mut block.reaction, physical, &self.acts);
        }
    }

    /// The same where it is `input λ`.
    fn apply_linear(&self, blocks: &mut [Block], at: Instant) {
        for (input, j) in self.input.iter().zip(&self.blocks) {
            let block = &mut blocks[*j];
            let physical = match &block.integrator {
                Integrator::EulerMoreau(scheme) => 1.0 / scheme.force_weight(at),
                Integrator::MoreauJean(_) | Integrator::SchatzmanPaoli(_) => 1.0,
            };
            let sums = block.applied.iter_mut().zip(&mut block.reaction);
            for (i, (applied, reaction)) in sums.enumerate() {
                let acts = dot(input.row(i), &self.lambda);
                *applied += acts;
                *reaction += physical * acts;
            }
        }
    }

    /// The output at the new iterate may be another than the linearised one, `w`.
    pub(super) fn may_mismatch(&self) -> bool {
        !self.relation.is_linear() && self.level != Level::Velocity
    }

    /// How far the output at the new iterate is from the linearised one, `w`, and the size of the terms.
    pub(super) fn mismatch(&mut self, blocks: &[Block], at: Instant, w: &[f64]) -> [f64; 2] {
        let mut y = std::mem::take(&mut self.acts);
        self.law_output(blocks, at, &mut y);
        let mut terms = norm(&self.offset) + norm(w);
        if self.level == Level::Position && self.law.is_impact() {
            y[0] += self.law.restitution()[0] * self.reference[0];
        }
        for (output, j) in self.output.iter().zip(&self.blocks) {
            terms += norm(output.entries()) * norm(&blocks[*j].z);
        }
        add(&mut y, -1.0, w);
        let missed = norm(&y);
        self.acts = y;
        [missed, terms]
    }

    /// `y` that the law is about, at the iterate: `h(t, q, λ)`, or `h(t_{k+γ}, x_{k+γ}, λ)`.
    fn law_output(&self, blocks: &[Block], at: Instant, y: &mut Row) {
        clear(y, self.rows());
        match (self.relation.seen(), self.level) {
            (Seen::Lagrangian(relation), _) => {
                let end = self.end_point(blocks, at);
                relation.output(end.t, &end.seen, &self.lambda, y);
            }
            (Seen::FirstOrder(relation), Level::Value { gamma }) => {
                let point = self.law_point(blocks, at, gamma);
                relation.output(point.t, &point.seen, &self.lambda, y);
            }
            (Seen::FirstOrder(_), _) => {}
        }
    }

    /// Output and rate at the iterate, as those of the end of the step.
    pub(super) fn note_end(&mut self, blocks: &[Block], at: Instant) {
        if let Relation::LagrangianLinear(relation) = &self.relation {
            let q = |j: usize| blocks[j].state.q();
            linear_output(
                relation,
                &self.blocks,
                q,
                &self.lambda,
                &mut self.end_output,
            );
            clear(&mut self.end_rate, relation.offset.len());
            for (h, j) in relation.jacobian.iter().zip(&self.blocks) {
                h.add_times(1.0, blocks[*j].state.v(), &mut self.end_rate);
            }
            return;
        }
        let mut y = std::mem::take(&mut self.end_output);
        self.law_output(blocks, at, &mut y);
        self.end_output = y;
        let mut rate = std::mem::take(&mut self.end_rate);
        if matches!(self.level, Level::Value { .. }) {
            rate.clear();
        } else {
            let end = self.end_point(blocks, at);
            let v = |j: usize| blocks[j].state.v();
            self.rate_into(&end, v, &mut rate);
        }
        self.end_rate = rate;
    }

    /// `y` of a rigid Lagrangian relation at a point.
    pub(super) fn gap(&self, point: &Point) -> Row {
        let mut y = Row::new();
        self.gap_into(point, &mut y);
        y
    }

    pub(super) fn gap_into(&self, point: &Point, y: &mut Row) {
        clear(y, self.rows());
        if let Seen::Lagrangian(relation) = self.relation.seen() {
            relation.output(point.t, &point.seen, &self.lambda, y);
        }
    }

    /// `ẏ` of a Lagrangian relation at a point, with the velocities that `v` gives of each system.
    pub(super) fn rate_into<'a>(
        &mut self,
        point: &Point,
        v: impl Fn(usize) -> &'a [f64],
        rate: &mut Row,
    ) {
        clear(rate, self.rows());
        if let Relation::LagrangianLinear(relation) = &self.relation {
            for (h, j) in relation.jacobian.iter().zip(&self.blocks) {
                h.add_times(1.0, v(*j), rate);
            }
        } else if let Seen::Lagrangian(relation) = self.relation.seen() {
            relation.output_by_time(point.t, &point.seen, rate);
            jacobian_into(relation, point, &mut self.rows_in_passing);
            for (h, j) in self.rows_in_passing.iter().zip(&self.blocks) {
                h.add_times(1.0, v(*j), rate);
            }
        }
    }

    /// Puts the name of the interaction to an error.
    pub(crate) fn named(&self) -> impl Fn(FieldError) -> SystemsError + use<> {
        let entity = self.entity;
        move |source| SystemsError::Interaction { entity, source }
    }
}

/// `H q + b + D λ` with what `q` gives of each system.
fn linear_output<'a>(
    relation: &LagrangianLinearRelation,
    joined: &[usize],
    q: impl Fn(usize) -> &'a [f64],
    lambda: &[f64],
    y: &mut Row,
) {
    copy(y, &relation.offset);
    for (h, j) in relation.jacobian.iter().zip(joined) {
        h.add_times(1.0, q(*j), y);
    }
    if let Some(compliance) = &relation.compliance {
        compliance.add_times(1.0, lambda, y);
    }
}

/// What is needed of a first-order relation at a point: the letters are those of [`FirstOrderRelation`].
#[derive(Default)]
pub(crate) struct Slopes {
    b: Sides,
    c: Sides,
    d: Matrix,
    /// Zero for a linear relation, as `k`: nothing remains beside `B λ`.
    g: Vec<Vec<f64>>,
    k: Sides,
}

impl Slopes {
    /// All slopes, and the input, at a point; `sizes` are those of the systems.
    fn set(
        &mut self,
        relation: &dyn FirstOrderRelation,
        (point, lambda): (&Point, &[f64]),
        sizes: impl Iterator<Item = usize>,
        is_linear: bool,
    ) {
        let (m, sides) = (lambda.len(), point.seen.len());
        for list in [&mut self.b, &mut self.c, &mut self.k] {
            list.resize_with(sides, Matrix::default);
        }
        self.g.resize_with(sides, Vec::new);
        for (side, n) in sizes.enumerate() {
            let width = point.seen[side].len();
            self.b[side].become_zeros(n, m);
            self.c[side].become_zeros(m, width);
            self.k[side].become_zeros(n, width);
            self.g[side].clear();
            self.g[side].resize(n, 0.0);
        }
        self.d.become_zeros(m, m);
        let (t, x) = (point.t, &point.seen);
        relation.output_by_state(t, x, lambda, &mut self.c);
        relation.output_by_multiplier(t, x, lambda, &mut self.d);
        relation.input_by_multiplier(t, x, lambda, &mut self.b);
        if !is_linear {
            relation.input(t, x, lambda, &mut self.g);
            relation.input_by_state(t, x, lambda, &mut self.k);
        }
    }
}

/// A slope by `x` as one by `z`: `x = γ z` of a first-order system, `x = (q, v)` with `∂q/∂z = slope` of a Lagrangian one.
fn by_unknown(matrix: &Matrix, n: usize, gamma: f64, slope: f64, by: &mut Matrix) {
    if matrix.columns() == n {
        by.become_copy(matrix);
        by.scale(gamma);
        return;
    }
    by.become_zeros(matrix.rows(), n);
    for row in 0..matrix.rows() {
        add(by.row_mut(row), slope, &matrix.row(row)[..n]);
        add(by.row_mut(row), 1.0, &matrix.row(row)[n..]);
    }
}
