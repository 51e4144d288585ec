//! A first-order relation as the step sees it.

use super::Link;
use crate::algebra::{Matrix, add};
use crate::relation::Seen;
use crate::relation::first_order::FirstOrderRelation;
use crate::step::block::Block;
use crate::step::point::{Point, Sides};
use crate::step::scheme::Instant;

impl Link {
    pub(super) fn linearise_first_order(
        &mut self,
        blocks: &mut [Block],
        at: Instant,
        gamma: f64,
        keep: bool,
    ) {
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
            let slope = block.integrator.scheme().position_slope(at);
            by_unknown(&c[side], block.size(), gamma, slope, &mut self.output[side]);
            self.input[side].become_copy(&b[side]);
            block.weigh(at, &mut self.input[side]);
            if is_linear {
                continue;
            }
            b[side].add_times(-1.0, lambda, &mut g[side]);
            self.known[side].clear();
            self.known[side].resize(block.size(), 0.0);
            block.add_weighted(at, &g[side], &mut self.known[side]);
            if k[side].entries().iter().any(|entry| *entry != 0.0) {
                let n = block.size();
                let mut own = Matrix::default();
                by_unknown(&k[side], n, gamma, slope, &mut own);
                block.weigh(at, &mut own);
                block
                    .slope_of_input
                    .get_or_insert_with(|| Matrix::zeros(n, n))
                    .add_scaled(1.0, &own);
            }
        }
    }
}

/// What is needed of a first-order relation at a point: the letters are those of [`FirstOrderRelation`].
#[derive(Default)]
pub(crate) struct Slopes {
    b: Sides,
    c: Sides,
    d: Matrix,
    /// Zero for a linear relation: nothing remains beside `B λ`.
    pub(super) g: Vec<Vec<f64>>,
    /// Of a linear relation there is none.
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
        // What the state does to what acts is asked of nonlinear relations alone: it is square.
        let squares = if is_linear { 0 } else { sides };
        self.k.resize_with(squares, Matrix::default);
        for list in [&mut self.b, &mut self.c] {
            list.resize_with(sides, Matrix::default);
        }
        self.g.resize_with(sides, Vec::new);
        for (side, n) in sizes.enumerate() {
            let width = point.seen[side].len();
            self.b[side].become_zeros(n, m);
            self.c[side].become_zeros(m, width);
            if let Some(k) = self.k.get_mut(side) {
                k.become_zeros(n, width);
            }
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

/// A slope by `x_{k+γ}` as one by `z`: `γ` times that of `x = z` of a first-order system, of `x = (q, v)` with `∂q/∂z = slope` of a Lagrangian one.
fn by_unknown(matrix: &Matrix, n: usize, gamma: f64, slope: f64, by: &mut Matrix) {
    if matrix.columns() == n {
        by.become_copy(matrix);
        by.scale(gamma);
        return;
    }
    by.become_zeros(matrix.rows(), n);
    for row in 0..matrix.rows() {
        add(by.row_mut(row), gamma * slope, &matrix.row(row)[..n]);
        add(by.row_mut(row), gamma, &matrix.row(row)[n..]);
    }
}
