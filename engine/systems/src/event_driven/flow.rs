//! The smooth motion between events: accelerations under the contacts that stay closed.
//!
//! ```text
//! M(q) v̇ = F(t, q, v) + Hᵀ λ,      ÿ = H v̇ + Ḣ v + … = 0 in the closed rows
//! λ = −(H M⁻¹ Hᵀ)⁻¹ (H M⁻¹ F + bias)
//! ```
//!
//! The state is all `q` and then all `v`, in the order of the systems' ids.

use super::Row;
use super::roots::by_time;
use crate::algebra::{Factor, Matrix, add, dot};
use crate::error::{FieldError, SystemsError, expect_finite};
use crate::relation::Seen;
use crate::step::Plant;
use crate::step::block::Block;
use crate::step::link::Link;
use crate::system::Model;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// A plant as an ordinary differential equation.
pub(crate) struct Flow<'a> {
    pub(crate) plant: &'a Plant,
    /// Where `q` and `v` of each system are, each among those of all; none of a system that is not its own.
    places: Vec<Range<usize>>,
    ranges: Vec<Range<usize>>,
    /// Entries of all `q`, more than of all `v` where bodies are.
    pub(crate) coordinates: usize,
    /// Entries of all `v`.
    pub(crate) n: usize,
}

/// Rows of `H`, `M⁻¹ Hᵀ` and `W = H M⁻¹ Hᵀ` of some rows.
pub(crate) struct Rows {
    pub(crate) h: Vec<Vec<f64>>,
    pub(crate) answers: Vec<Vec<f64>>,
    pub(crate) w: Matrix,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(plant: &'a Plant) -> Self {
        Self::of(plant, |_| true)
    }

    /// That of some of its systems.
    pub(crate) fn of(plant: &'a Plant, is_own: impl Fn(&Block) -> bool) -> Self {
        let (mut coordinates, mut n) = (0, 0);
        let (mut places, mut ranges) = (Vec::new(), Vec::new());
        for block in &plant.blocks {
            let is_own = is_own(block);
            let size = if is_own { block.size() } else { 0 };
            let own = if is_own { block.start.q().len() } else { 0 };
            places.push(coordinates..coordinates + own);
            ranges.push(n..n + size);
            coordinates += own;
            n += size;
        }
        Self {
            plant,
            places,
            ranges,
            coordinates,
            n,
        }
    }

    /// `q ← q ⊕ d` of all systems; quaternions have norm 1 then.
    pub(super) fn displace(&self, s: &mut [f64], d: &[f64]) {
        for (j, block) in self.own() {
            if let Model::Lagrangian(model) = block.system.model() {
                model.displace(&mut s[self.places[j].clone()], &d[self.range(j)]);
            }
        }
    }

    /// `q̇ = T(q) v` of all systems.
    fn coordinate_rates(&self, s: &[f64]) -> Vec<f64> {
        let mut rates = vec![0.0; self.coordinates];
        for (j, block) in self.own() {
            if let Model::Lagrangian(model) = block.system.model() {
                let own = &mut rates[self.places[j].clone()];
                model.coordinate_rates(self.q(s, j), self.v(s, j), own);
            }
        }
        rates
    }

    /// Its systems.
    fn own(&self) -> impl Iterator<Item = (usize, &'a Block)> {
        let blocks = self.plant.blocks.iter().enumerate();
        blocks.filter(|(j, _)| !self.ranges[*j].is_empty())
    }

    /// The state of the start of the plant.
    pub(crate) fn start(&self) -> Vec<f64> {
        let q = self.own().flat_map(|(_, block)| block.start.q());
        let v = self.own().flat_map(|(_, block)| block.start.v());
        q.chain(v).copied().collect()
    }

    pub(crate) fn range(&self, j: usize) -> Range<usize> {
        self.ranges[j].clone()
    }

    /// `q` of a system.
    pub(crate) fn q<'s>(&self, s: &'s [f64], j: usize) -> &'s [f64] {
        &s[self.places[j].clone()]
    }

    /// `v` of a system.
    pub(crate) fn v<'s>(&self, s: &'s [f64], j: usize) -> &'s [f64] {
        &s[self.coordinates..][self.range(j)]
    }

    fn positions<'s>(&self, link: &Link, s: &'s [f64]) -> SmallVec<[&'s [f64]; 2]> {
        link.blocks.iter().map(|j| self.q(s, *j)).collect()
    }

    /// `y` of all rows of an interaction.
    pub(crate) fn gap(&self, link: &Link, t: f64, s: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; link.rows()];
        if let Seen::Lagrangian(relation) = link.relation.seen() {
            relation.output(t, &self.positions(link, s), &link.lambda, &mut y);
        }
        y
    }

    /// `ẏ` of all rows.
    pub(crate) fn rate(&self, link: &Link, t: f64, s: &[f64]) -> Vec<f64> {
        let q = self.positions(link, s);
        let v: SmallVec<[&[f64]; 2]> = link.blocks.iter().map(|j| self.v(s, *j)).collect();
        rate(link, t, &q, &v)
    }

    /// `ÿ − H v̇`: what the rates change by themselves, by differences along the motion (exactly zero for a linear relation).
    fn bias(&self, link: &Link, t: f64, s: &[f64]) -> Vec<f64> {
        if link.relation.is_linear() {
            return vec![0.0; link.rows()];
        }
        let v: SmallVec<[&[f64]; 2]> = link.blocks.iter().map(|j| self.v(s, *j)).collect();
        let speed = v
            .iter()
            .flat_map(|v| v.iter())
            .fold(1.0, |most: f64, v| most.max(v.abs()));
        // The rates where `q ← change(q)`, at another time.
        let moved = |time: f64, change: &dyn Fn(usize, &mut [f64])| {
            let moved = link.blocks.iter().map(|j| {
                let mut q = self.q(s, *j).to_vec();
                change(*j, &mut q);
                q
            });
            let moved: SmallVec<[Vec<f64>; 2]> = moved.collect();
            let q: SmallVec<[&[f64]; 2]> = moved.iter().map(Vec::as_slice).collect();
            rate(link, time, &q, &v)
        };
        let along = |after: f64| -> Result<Vec<f64>, std::convert::Infallible> {
            Ok(moved(t + after, &|j, q| {
                let by: Vec<f64> = self.v(s, j).iter().map(|v| after * v).collect();
                if let Model::Lagrangian(model) = self.plant.blocks[j].system.model() {
                    model.displace(q, &by);
                }
            }))
        };
        let rounding = 1.0 + 2.0 * f64::EPSILON;
        let noise = || -> Result<f64, std::convert::Infallible> {
            let rounded = moved(t * rounding, &|_, q| {
                q.iter_mut().for_each(|q| *q *= rounding)
            });
            let apart = moved(t, &|_, _| {}).into_iter().zip(rounded);
            Ok(apart.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max))
        };
        let Ok(bias) = by_time(6e-6 / speed, along, noise);
        bias
    }

    /// Factors of the masses, of systems that are not its own of empty ones; those that are constant are there.
    pub(crate) fn masses(&self, s: &[f64]) -> Result<Vec<Arc<Factor>>, SystemsError> {
        let factor = |(j, block): (usize, &Block)| {
            if !self.ranges[j].is_empty() {
                return block.factor_of_mass(self.q(s, j));
            }
            let singular = FieldError::Singular { field: "mass" };
            let empty = Factor::new(&Matrix::default()).map(Arc::new);
            empty.ok_or(singular).map_err(block.named())
        };
        self.plant.blocks.iter().enumerate().map(factor).collect()
    }

    /// What a relation wrote is finite.
    pub(crate) fn expect_finite(
        &self,
        link: usize,
        field: &'static str,
        values: &[f64],
    ) -> Result<(), SystemsError> {
        expect_finite(field, values).map_err(self.plant.links[link].named())
    }

    /// `H`, `M⁻¹Hᵀ` and `W` of some rows.
    pub(crate) fn rows(
        &self,
        rows: &[Row],
        t: f64,
        s: &[f64],
        masses: &[Arc<Factor>],
    ) -> Result<Rows, SystemsError> {
        let (mut h, mut answers) = (Vec::new(), Vec::new());
        for (index, row) in rows {
            let link = &self.plant.links[*index];
            let (mut own, mut answer) = (vec![0.0; self.n], vec![0.0; self.n]);
            if let Seen::Lagrangian(relation) = link.relation.seen() {
                let q = self.positions(link, s);
                let sizes = link.blocks.iter().map(|j| self.range(*j).len());
                let zeros = sizes.map(|size| Matrix::zeros(link.rows(), size));
                let mut parts: Vec<_> = zeros.collect();
                relation.jacobian(t, &q, &mut parts);
                for (part, j) in parts.iter().zip(&link.blocks) {
                    self.expect_finite(*index, "jacobian", part.entries())?;
                    own[self.range(*j)].copy_from_slice(part.row(*row));
                    answer[self.range(*j)].copy_from_slice(part.row(*row));
                    masses[*j].solve(&mut answer[self.range(*j)]);
                }
            }
            h.push(own);
            answers.push(answer);
        }
        let m = rows.len();
        let mut w = Matrix::zeros(m, m);
        for i in 0..m {
            for k in 0..m {
                w[(i, k)] = dot(&h[i], &answers[k]);
            }
        }
        Ok(Rows { h, answers, w })
    }

    /// `M⁻¹ F`.
    pub(crate) fn free(
        &self,
        t: f64,
        s: &[f64],
        masses: &[Arc<Factor>],
    ) -> Result<Vec<f64>, SystemsError> {
        let mut free = vec![0.0; self.n];
        for (j, block) in self.own() {
            if let Model::Lagrangian(model) = block.system.model() {
                let force = &mut free[self.range(j)];
                model.force(t, self.q(s, j), self.v(s, j), force);
                add(force, 1.0, &block.held);
                let entity = block.entity;
                expect_finite("force", force)
                    .map_err(|source| SystemsError::System { entity, source })?;
                masses[j].solve(force);
            }
        }
        Ok(free)
    }

    /// `H a + bias` of some rows: their `ÿ` under the accelerations `a`.
    pub(crate) fn second_rates(
        &self,
        list: &[Row],
        rows: &Rows,
        a: &[f64],
        t: f64,
        s: &[f64],
    ) -> Result<Vec<f64>, SystemsError> {
        let of = |((link, row), h): (&Row, &Vec<f64>)| {
            let bias = self.bias(&self.plant.links[*link], t, s);
            self.expect_finite(*link, "output", &bias)?;
            Ok(dot(h, a) + bias[*row])
        };
        list.iter().zip(&rows.h).map(of).collect()
    }

    /// `ṡ` with the closed rows, and their `λ`.
    pub(crate) fn slope(
        &self,
        t: f64,
        s: &[f64],
        closed: &[Row],
    ) -> Result<(Vec<f64>, Vec<f64>), SystemsError> {
        let masses = self.masses(s)?;
        let mut a = self.free(t, s, &masses)?;
        let mut lambda = Vec::new();
        if !closed.is_empty() {
            let rows = self.rows(closed, t, s, &masses)?;
            lambda = self.second_rates(closed, &rows, &a, t, s)?;
            lambda.iter_mut().for_each(|lambda| *lambda = -*lambda);
            self.solve(closed, &rows, &mut lambda)?;
            for (answer, lambda) in rows.answers.iter().zip(&lambda) {
                add(&mut a, *lambda, answer);
            }
        }
        Ok(([self.coordinate_rates(s), a].concat(), lambda))
    }

    /// `W x = b` in place of `b`; where rows imply others, as those of a joint that is there twice or of a beam on many supports, the smallest such `x`: with the independent rows `A`
    /// of `W`, `x = Aᵀ (A Aᵀ)⁻¹ b_A`.
    pub(crate) fn solve(
        &self,
        list: &[Row],
        rows: &Rows,
        x: &mut [f64],
    ) -> Result<(), SystemsError> {
        let own = independent(&rows.w);
        let is_whole = own.len() == x.len();
        if own.is_empty() {
            x.fill(0.0);
            return Ok(());
        }
        if is_whole && let Some(factor) = Factor::new(&rows.w) {
            factor.solve(x);
            return Ok(());
        }
        let all: Vec<usize> = (0..x.len()).collect();
        let wide = block_of(&rows.w, &own, &all);
        let mut answer: Vec<f64> = own.iter().map(|k| x[*k]).collect();
        let square = Factor::new(&wide.product(&wide.transposed())).filter(|_| !is_whole);
        match (square, Factor::new(&block_of(&rows.w, &own, &own))) {
            (Some(factor), _) => {
                factor.solve(&mut answer);
                x.fill(0.0);
                for (row, answer) in answer.iter().enumerate() {
                    add(x, *answer, wide.row(row));
                }
            }
            // The square of what is nearly singular is singular: the independent rows take all.
            (None, Some(factor)) => {
                factor.solve(&mut answer);
                x.fill(0.0);
                own.iter()
                    .zip(&answer)
                    .for_each(|(k, value)| x[*k] = *value);
            }
            (None, None) => {
                let first = list.first().map_or(0, |(link, _)| *link);
                let entity = self.plant.links[first].entity;
                let source = FieldError::Singular {
                    field: "H M⁻¹ Hᵀ of the closed contacts",
                };
                return Err(SystemsError::Interaction { entity, source });
            }
        }
        Ok(())
    }
}

/// Rows of a symmetric matrix without negative eigenvalues of which none is implied by the others, in their order: by Cholesky's method with the row next of which most is
/// left beside its diagonal entry, until that is rounding.
fn independent(w: &Matrix) -> Vec<usize> {
    let m = w.rows();
    let mut own: Vec<usize> = Vec::with_capacity(m);
    // Columns of the root, and what is left of the diagonal.
    let mut root: Vec<Vec<f64>> = Vec::with_capacity(m);
    let mut left: Vec<f64> = (0..m).map(|i| w[(i, i)]).collect();
    let rounding = 32.0 * m as f64 * f64::EPSILON;
    while own.len() < m {
        let part = |i: usize| {
            if w[(i, i)] > 0.0 {
                left[i] / w[(i, i)]
            } else {
                0.0
            }
        };
        let open = (0..m).filter(|i| !own.contains(i));
        let Some(next) = open.reduce(|best, i| if part(i) > part(best) { i } else { best }) else {
            break;
        };
        if part(next) <= rounding {
            break;
        }
        let pivot = left[next].sqrt();
        let column = (0..m).map(|i| {
            let known: f64 = root.iter().map(|column| column[i] * column[next]).sum();
            (w[(i, next)] - known) / pivot
        });
        let column: Vec<f64> = column.collect();
        for (left, entry) in left.iter_mut().zip(&column) {
            *left -= entry * entry;
        }
        root.push(column);
        own.push(next);
    }
    own.sort_unstable();
    own
}

/// Rows and columns of a matrix.
pub(super) fn block_of(w: &Matrix, rows: &[usize], columns: &[usize]) -> Matrix {
    let mut part = Matrix::zeros(rows.len(), columns.len());
    for (i, row) in rows.iter().enumerate() {
        for (j, column) in columns.iter().enumerate() {
            part[(i, j)] = w[(*row, *column)];
        }
    }
    part
}

/// `H v + ∂h/∂t` at a point.
fn rate(link: &Link, t: f64, q: &[&[f64]], v: &[&[f64]]) -> Vec<f64> {
    let mut rate = vec![0.0; link.rows()];
    if let Seen::Lagrangian(relation) = link.relation.seen() {
        relation.output_by_time(t, q, &mut rate);
        let zeros = v.iter().map(|v| Matrix::zeros(link.rows(), v.len()));
        let mut h: Vec<_> = zeros.collect();
        relation.jacobian(t, q, &mut h);
        for (h, v) in h.iter().zip(v) {
            h.add_times(1.0, v, &mut rate);
        }
    }
    rate
}
