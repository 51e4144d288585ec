//! Outputs of an interaction and their rates: at the start, at the iterate, at the end of the step.

use super::{Level, Link};
use crate::algebra::{Row, Rows, clear, copy};
use crate::relation::lagrangian::LagrangianLinearRelation;
use crate::relation::{Relation, Seen};
use crate::step::block::Block;
use crate::step::point::{Point, jacobian_into};
use crate::step::scheme::Instant;

impl Link {
    /// `y` that the law is about, at the iterate: `h(t, q, λ)`, of compliant relations at `t_{k+γ}`, or `h(t_{k+γ}, x_{k+γ}, λ)`.
    pub(super) fn law_output(&self, blocks: &[Block], at: Instant, y: &mut Row) {
        clear(y, self.rows());
        match (self.relation.seen(), self.level) {
            (Seen::Lagrangian(relation), _) => {
                let point = if self.level == Level::Compliant {
                    self.point_of_law(blocks, at)
                } else {
                    self.end_point(blocks, at)
                };
                relation.output(point.t, &point.seen, &self.lambda, y);
            }
            (Seen::FirstOrder(relation), Level::Value { gamma }) => {
                let point = self.law_point(blocks, at, gamma);
                relation.output(point.t, &point.seen, &self.lambda, y);
            }
            (Seen::FirstOrder(_), _) => {}
        }
    }

    /// Output and rate at the iterate, as those of the end of the step.
    pub(in crate::step) fn note_end(&mut self, blocks: &[Block], at: Instant) {
        if let Relation::LagrangianLinear(relation) = &self.relation {
            let is_end = self.level != Level::Compliant;
            let q = |j: usize| {
                if is_end {
                    blocks[j].state.q()
                } else {
                    blocks[j].place_of_law()
                }
            };
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
    pub(in crate::step) fn gap(&self, point: &Point) -> Row {
        let mut y = Row::new();
        self.gap_into(point, &mut y);
        y
    }

    pub(in crate::step) fn gap_into(&self, point: &Point, y: &mut Row) {
        clear(y, self.rows());
        if let Seen::Lagrangian(relation) = self.relation.seen() {
            relation.output(point.t, &point.seen, &self.lambda, y);
        }
    }

    /// `ẏ` of a Lagrangian relation at a point, with the velocities that `v` gives of each system.
    pub(in crate::step) fn rate_into<'a>(
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
}

/// `H q + b + D λ` with what `q` gives of each system.
pub(super) fn linear_output<'a>(
    relation: &LagrangianLinearRelation<Rows>,
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
