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
//! | the same of D1-minus, with `v⁻` of the forces | `ẏ + e ẏ(v⁻)` | `H v^τ + ∂h/∂t + e ẏ(v⁻)` | `H` | `Hᵀ` | 0 |
//! | the same with `γ < 1`, law without impacts | `ẏ_{k+γ}/γ` | `H v^τ + ((1−γ) H v_k + ∂h/∂t)/γ` | `H` | `Hᵀ` | 0 |
//! | position: rigid, Schatzman–Paoli | `y + e y_{k−1}` | `h(q^τ) + e y_{k−1}` | `H` | `Hᵀ` | 0 |
//! | compliant, `s = ∂q_{k+γ}/∂z` | `y` | `h(q^τ, λ^τ) − D λ^τ` | `s H` | `weight Hᵀ` | `D` |
//! | first order, `X = ∂x/∂z` | `y` | `h(x^τ, λ^τ) − D λ^τ` | `C X` | `weight B` | `D` |
//!
//! With `g` nonlinear, `known = weight (g^τ − B λ^τ)`, and `weight ∂g/∂x X` goes into `M̂`. Under zero-order hold the weight is the matrix `Ψ`.

mod outputs;
mod slopes;
mod sparse;

pub(crate) use slopes::Slopes;
pub(crate) use sparse::SparseSides;

use super::block::Block;
use super::half_explicit::Half;
use super::point::{Point, Sides, jacobian_into};
use super::scheme::{Instant, Scheme};
use crate::algebra::{Matrix, Row, add, clear, norm};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::integrator::{Activation, Integrator, RowsAt};
use crate::law::NonsmoothLaw;
use crate::relation::{Relation, Seen};
use bevy_ecs::entity::Entity;
use outputs::linear_output;

/// On what quantity a law is imposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Level {
    /// `ẏ`, by impulses.
    Velocity,
    /// `y` at the end of the step, by position impulses.
    Position,
    /// `y` at the end of the step, or at `t_{k+γ}`, by forces.
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
    /// Where rows are taken.
    pub(crate) rows_at: RowsAt,
    /// `γ` of the point of the step at which a Lagrangian relation holds.
    pub(crate) gamma: f64,
    /// `w^τ`.
    pub(crate) offset: Row,
    /// A matrix for each system.
    pub(crate) output: Sides,
    /// A matrix for each system.
    pub(crate) input: Sides,
    /// Both of a linear relation with sparse matrices.
    pub(crate) sparse: Option<SparseSides>,
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
    /// Under [`D1Minus`](crate::D1Minus).
    pub(crate) half: Option<Box<Half>>,
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

    /// Where a Lagrangian relation holds at the iterate.
    fn point_of_law<'a>(&self, blocks: &'a [Block], at: Instant) -> Point<'a> {
        let t = at.t + self.gamma * at.h;
        Point::of(t, blocks, &self.blocks, Block::place_of_law)
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
        // A hold has no zeros to speak of.
        let holds = self.blocks.iter().any(|j| blocks[*j].hold.is_some());
        if !keep && self.relation.is_sparse() && !holds {
            self.take_sparse(blocks, at);
        }
        let is_there = keep || self.sparse.is_some();
        match self.level {
            Level::Value { gamma } => {
                self.linearise_first_order(blocks, at, gamma, is_there);
            }
            _ => self.linearise_lagrangian(blocks, at, is_there),
        }
        if !keep {
            self.linearisations += 1;
            let matrices = self.output.iter().chain(&self.input);
            for matrix in matrices.chain(&self.feedthrough) {
                expect_finite("jacobian", matrix.entries()).map_err(self.named())?;
            }
            if let Some(sparse) = &self.sparse {
                sparse.check().map_err(self.named())?;
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
                    if let Some(weight) = self.weight_of_start() {
                        h.add_times(weight, blocks[*j].start.v(), &mut self.offset);
                    }
                }
            } else {
                let q = |j: usize| blocks[j].place_of_law();
                linear_output(relation, &self.blocks, q, &self.lambda, &mut self.offset);
            }
            self.add_restitution();
            if self.level == Level::Compliant {
                self.take_feedthrough_off();
            }
            return;
        }
        let end = self.point_of_law(blocks, at);
        let point = match self.rows_at {
            RowsAt::Start => self.start_point(blocks, at),
            RowsAt::Predicted => {
                Point::of(at.end(), blocks, &self.blocks, |block| &block.predicted)
            }
            RowsAt::Iterate | RowsAt::Converged => self.point_of_law(blocks, at),
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
            let weight = self.weight_of_start();
            if !self.relation.is_linear() {
                relation.output_by_time(point.t, &point.seen, &mut self.offset);
                if weight.is_some() {
                    self.offset.iter_mut().for_each(|rate| *rate /= self.gamma);
                }
            }
            for (h, j) in self.output.iter().zip(&self.blocks) {
                h.add_times(1.0, blocks[*j].state.v(), &mut self.offset);
                if let Some(weight) = weight {
                    h.add_times(weight, blocks[*j].start.v(), &mut self.offset);
                }
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
                self.output[side].scale(self.gamma * scheme.position_slope(at));
            }
        }
        self.add_restitution();
        if self.level == Level::Compliant {
            self.take_feedthrough_off();
        }
    }

    /// What `H v_k` counts in the law beside `H v`: `(1 − γ)/γ` of laws without impacts; none if that is zero.
    fn weight_of_start(&self) -> Option<f64> {
        let is_between = self.gamma < 1.0 && !self.law.is_impact();
        is_between.then(|| (1.0 - self.gamma) / self.gamma)
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
            let weight = block.integrator.scheme().force_weight(at);
            let slopes = self.slopes.as_ref().filter(|_| is_exact);
            match slopes {
                Some(slopes) => block.add_weighted(at, &slopes.g[side], &mut self.acts),
                None => {
                    self.input[side].add_times(1.0, &self.lambda, &mut self.acts);
                    add(&mut self.acts, 1.0, &self.known[side]);
                }
            }
            add(&mut block.applied, 1.0, &self.acts);
            match (block.integrator, slopes) {
                // With γ = 0 nothing of it acts in this step.
                (Integrator::EulerMoreau(_), Some(slopes)) if weight == 0.0 => {
                    add(&mut block.reaction, 1.0, &slopes.g[side]);
                }
                (Integrator::EulerMoreau(_), _) => {
                    add(&mut block.reaction, 1.0 / weight, &self.acts);
                }
                (Integrator::ZeroOrderHold(_), Some(slopes)) => {
                    add(&mut block.reaction, 1.0, &slopes.g[side]);
                }
                _ => add(&mut block.reaction, 1.0, &self.acts),
            }
        }
    }

    /// The same where it is `input λ`.
    fn apply_linear(&self, blocks: &mut [Block], at: Instant) {
        for (side, j) in self.blocks.iter().enumerate() {
            let block = &mut blocks[*j];
            let weight = match &block.integrator {
                Integrator::EulerMoreau(scheme) => scheme.force_weight(at),
                Integrator::ZeroOrderHold(_) => 0.0,
                Integrator::MoreauJean(_)
                | Integrator::SchatzmanPaoli(_)
                | Integrator::D1Minus(_) => 1.0,
            };
            if weight == 0.0 {
                self.apply_held(side, block);
                continue;
            }
            self.add_input(side, 1.0 / weight, block);
        }
    }

    /// The same where `input` is not a multiple of `B`: under zero-order hold, and with `γ = 0`, when nothing of it acts in this step.
    #[inline(never)]
    fn apply_held(&self, side: usize, block: &mut Block) {
        if let Integrator::ZeroOrderHold(_) = block.integrator {
            self.input[side].add_times(1.0, &self.lambda, &mut block.applied);
        }
        if let Relation::FirstOrderLinear(relation) = &self.relation {
            relation.b[side].add_times(1.0, &self.lambda, &mut block.reaction);
        }
    }

    /// Under [`RowsAt::Converged`]: how far the rows are from those at the new iterate, and how large these are.
    pub(super) fn turned(&mut self, blocks: &[Block], at: Instant) -> Option<[f64; 2]> {
        let turns = self.level == Level::Velocity && !self.relation.is_linear();
        if !turns || self.rows_at != RowsAt::Converged {
            return None;
        }
        let point = self.point_of_law(blocks, at);
        let mut now = std::mem::take(&mut self.rows_in_passing);
        if let Seen::Lagrangian(relation) = self.relation.seen() {
            jacobian_into(relation, &point, &mut now);
        }
        let (mut square, mut size) = (0.0, 0.0);
        for (now, used) in now.iter().zip(&self.output) {
            for (now, used) in now.entries().iter().zip(used.entries()) {
                square += (now - used) * (now - used);
                size += now * now;
            }
        }
        self.rows_in_passing = now;
        Some([square.sqrt(), size.sqrt()])
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

    /// Puts the name of the interaction to an error.
    pub(crate) fn named(&self) -> impl Fn(FieldError) -> SystemsError + use<> {
        let entity = self.entity;
        move |source| SystemsError::Interaction { entity, source }
    }
}
