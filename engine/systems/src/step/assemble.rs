//! The problem of a Newton iteration, assembled by interaction blocks [docs/theory.md §6].
//!
//! ```text
//! W_αβ = Σ_{systems j of α and β} output_αj M̂_j⁻¹ input_βj  (+ feedthrough_α if α = β),      q_α = w_α^τ + Σ_j output_αj (z_free − z^τ)_j
//! ```
//!
//! Rows follow the order of the interactions' ids. `W` and what solvers make of it stay as long as the active interactions and all matrices do; then `q` is all
//! that is new. Few rows are kept with all entries, many without the zeros.

use super::block::Block;
use super::link::{Level, Link};
use crate::algebra::{Matrix, add, copy_all, dot, zero};
use crate::error::SystemsError;
use crate::solver_choice::{AnySolver, FEW};
use moreau_solvers::complementarity::{BoxProblem, Boxes, SparseBoxProblem};
use moreau_solvers::{Goal, Law, SolverReport, SolverStatus, SparseMatrix, StoredProblem};
use std::ops::Range;

/// No further side in a list.
const END: u32 = u32::MAX;

/// The problem of one iteration, and buffers.
#[derive(Default)]
pub(crate) struct Assembly {
    /// Active interactions and their first rows.
    active: Vec<(usize, usize)>,
    rows: usize,
    /// Sum of [`Link::stamp`] of the matrices that `W` is made of; none before.
    stamp: Option<u64>,
    laws: Vec<Law>,
    /// The laws are rows of boxes.
    is_box: bool,
    bounds: Vec<[f64; 2]>,
    /// `W` of few rows, row by row, and of many.
    matrix: Vec<f64>,
    dense: BoxProblem,
    sparse: SparseBoxProblem,
    /// The same as solvers take it that know all laws; made when one is asked.
    stored: Option<StoredProblem>,
    q: Vec<f64>,
    lambda: Vec<f64>,
    w: Vec<f64>,
    /// Lists of the sides of active interactions at each system: place of the first, and of the one after each; two places an interaction.
    first: Vec<u32>,
    sides: Vec<Side>,
    /// One row of `W`.
    row: Vec<(u32, f64)>,
}

/// A side of an active interaction.
struct Side {
    active: u32,
    side: u32,
    next: u32,
}

impl Assembly {
    /// `W`, `q` and the laws.
    pub(super) fn assemble(
        &mut self,
        links: &mut [Link],
        blocks: &[Block],
        h: f64,
    ) -> Result<(), SystemsError> {
        let (mut is_same, mut stamp) = (true, 0);
        let mut count = 0;
        self.rows = 0;
        for (index, link) in links.iter_mut().enumerate() {
            if !link.active {
                continue;
            }
            let own = link.stamp(blocks);
            stamp += own;
            if link.responded_for != Some(own) {
                link.respond(blocks);
                link.responded_for = Some(own);
            }
            match self.active.get_mut(count) {
                Some(known) if *known == (index, self.rows) => {}
                Some(known) => (*known, is_same) = ((index, self.rows), false),
                None => {
                    self.active.push((index, self.rows));
                    is_same = false;
                }
            }
            count += 1;
            self.rows += link.rows();
        }
        is_same &= self.active.len() == count && self.stamp == Some(stamp);
        self.active.truncate(count);
        if !is_same {
            self.stamp = None;
            self.take_laws(links, h);
            self.take_matrix(links, blocks)?;
            self.stamp = Some(stamp);
        }
        self.take_offset(links, blocks);
        Ok(())
    }

    fn take_laws(&mut self, links: &[Link], h: f64) {
        self.laws.clear();
        for (index, _) in &self.active {
            let link = &links[*index];
            link.law.append_to(link.unit(h), &mut self.laws);
        }
        self.bounds.clear();
        self.is_box = true;
        for law in &self.laws {
            let bounds = match law {
                Law::Complementarity => [0.0, f64::INFINITY],
                Law::Interval(law) => [law.low, law.high],
                law => {
                    self.is_box &= matches!(law, Law::Equality(_));
                    [f64::NEG_INFINITY, f64::INFINITY]
                }
            };
            self.bounds.extend((0..law.rows()).map(|_| bounds));
        }
    }

    fn take_matrix(&mut self, links: &[Link], blocks: &[Block]) -> Result<(), SystemsError> {
        self.stored = None;
        self.list_sides(links, blocks.len());
        let n = self.rows;
        self.matrix.clear();
        self.sparse.clear();
        if n <= FEW {
            self.matrix.resize(n * n, 0.0);
        }
        for (index, start) in &self.active {
            let link = &links[*index];
            for i in 0..link.rows() {
                self.row.clear();
                for (own, j) in link.blocks.iter().enumerate() {
                    let mut place = self.first[*j];
                    while let Some(side) = self.sides.get(place as usize) {
                        let (other, column) = self.active[side.active as usize];
                        let response = &links[other].responses[side.side as usize];
                        for k in 0..response.rows() {
                            let entry = link.output_dot(own, i, response.row(k));
                            self.row.push(((column + k) as u32, entry));
                        }
                        place = side.next;
                    }
                }
                if let Some(feedthrough) = &link.feedthrough {
                    let entries = feedthrough.row(i).iter().enumerate();
                    self.row
                        .extend(entries.map(|(k, entry)| ((start + k) as u32, *entry)));
                }
                if n <= FEW {
                    let own = &mut self.matrix[(start + i) * n..(start + i + 1) * n];
                    for (column, entry) in &self.row {
                        own[*column as usize] += entry;
                    }
                } else {
                    merge(&mut self.row);
                    self.sparse.push_row(&self.row, self.bounds[start + i]);
                }
            }
        }
        if self.is_box && n <= FEW {
            self.dense.refill(&self.matrix, &self.bounds)?;
        } else if self.is_box {
            self.sparse.close()?;
        }
        Ok(())
    }

    /// The sides of active interactions at each system, in their order.
    fn list_sides(&mut self, links: &[Link], blocks: usize) {
        self.first.clear();
        self.first.resize(blocks, END);
        self.sides.clear();
        // From the last to the first, each put at the head of its list.
        for (active, (index, _)) in self.active.iter().enumerate().rev() {
            for (side, j) in links[*index].blocks.iter().enumerate() {
                let place = self.sides.len() as u32;
                self.sides.push(Side {
                    active: active as u32,
                    side: side as u32,
                    next: self.first[*j],
                });
                self.first[*j] = place;
            }
        }
    }

    fn take_offset(&mut self, links: &[Link], blocks: &[Block]) {
        self.q.clear();
        for (index, start) in &self.active {
            let link = &links[*index];
            self.q.extend_from_slice(&link.offset);
            for (side, j) in link.blocks.iter().enumerate() {
                link.add_output(side, &blocks[*j].change, &mut self.q[*start..]);
            }
        }
    }

    /// `λ`, from that of the iteration or the step before.
    pub(super) fn solve(
        &mut self,
        links: &[Link],
        tolerance: f64,
        solver: &mut AnySolver,
    ) -> Result<SolverReport, SystemsError> {
        self.lambda.clear();
        for (index, _) in &self.active {
            self.lambda.extend_from_slice(&links[*index].lambda);
        }
        if self.rows == 0 {
            return Ok(solved());
        }
        let goal = Goal::scaled(tolerance);
        if self.is_box {
            let boxes = if self.rows <= FEW {
                self.dense.set_q(&self.q)?;
                Boxes::Dense(&self.dense)
            } else {
                self.sparse.set_q(&self.q)?;
                Boxes::Sparse(&self.sparse)
            };
            if let Some(report) = solver.solve_boxes(boxes, &mut self.lambda, &goal)? {
                return Ok(report);
            }
        }
        let problem = match self.stored.take() {
            Some(mut problem) => {
                problem.set_free_velocity(&self.q)?;
                problem
            }
            None => self.to_stored()?,
        };
        let report = solver.solve(&problem, &mut self.lambda, &goal);
        self.stored = Some(problem);
        Ok(report?)
    }

    fn to_stored(&self) -> Result<StoredProblem, SystemsError> {
        let n = self.rows;
        let mut entries = Vec::new();
        if n <= FEW {
            let all = self.matrix.iter().enumerate();
            entries.extend(all.map(|(k, entry)| (k / n, k % n, *entry)));
        } else {
            for row in 0..n {
                entries.extend(
                    self.sparse
                        .row(row)
                        .map(|(column, entry)| (row, column, entry)),
                );
            }
        }
        let w = SparseMatrix::from_triplets(n, n, entries)?;
        Ok(StoredProblem::new(&self.laws, &w, &self.q)?)
    }

    /// `λ` of all rows.
    pub(super) fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// `M̂⁻¹ Σ input λ` of every system, and `λ` of every interaction.
    pub(super) fn respond(&self, links: &mut [Link], blocks: &mut [Block]) {
        for block in blocks.iter_mut() {
            zero(&mut block.response);
        }
        for (index, start) in &self.active {
            let link = &mut links[*index];
            let rows = *start..start + link.rows();
            copy_all(&mut link.lambda, &self.lambda[rows]);
            for (j, response) in link.blocks.iter().zip(&link.responses) {
                for (k, lambda) in link.lambda.iter().enumerate() {
                    // Of a large system even the answer to nothing would cost its size.
                    if *lambda != 0.0 {
                        add(&mut blocks[*j].response, *lambda, response.row(k));
                    }
                }
            }
        }
    }

    /// The active interactions and their rows.
    pub(super) fn active<'a>(
        &'a self,
        links: &'a mut [Link],
    ) -> impl Iterator<Item = (&'a mut Link, Range<usize>)> {
        let active = links.iter_mut().filter(|link| link.active);
        active.zip(&self.active).map(|(link, (_, start))| {
            let rows = *start..start + link.rows();
            (link, rows)
        })
    }

    /// `w` as it was worked out last.
    pub(super) fn last_velocity(&self) -> &[f64] {
        &self.w
    }

    /// Works out `w = W λ + q`.
    pub(super) fn velocity(&mut self) {
        let (n, lambda) = (self.rows, &self.lambda);
        self.w.clear();
        self.w.extend((0..n).map(|row| {
            let product: f64 = if n <= FEW {
                dot(&self.matrix[row * n..(row + 1) * n], lambda)
            } else {
                let entries = self.sparse.row(row);
                entries.map(|(column, entry)| entry * lambda[column]).sum()
            };
            product + self.q[row]
        }));
    }
}

/// Sorts the entries of a row by their columns, and adds those of one column in their order.
fn merge(row: &mut Vec<(u32, f64)>) {
    // A stable sort without memory: rows are short and nearly sorted.
    for k in 1..row.len() {
        let mut place = k;
        while place > 0 && row[place - 1].0 > row[place].0 {
            row.swap(place - 1, place);
            place -= 1;
        }
    }
    row.dedup_by(|entry, kept| {
        let same = entry.0 == kept.0;
        if same {
            kept.1 += entry.1;
        }
        same
    });
}

fn solved() -> SolverReport {
    SolverReport {
        status: SolverStatus::Converged,
        ..SolverReport::default()
    }
}

/// Solves a problem from a first guess; without rows it is solved.
pub(crate) fn solve(
    problem: &StoredProblem,
    mut lambda: Vec<f64>,
    tolerance: f64,
    solver: &mut AnySolver,
) -> Result<(Vec<f64>, SolverReport), SystemsError> {
    if problem.is_empty() {
        return Ok((lambda, solved()));
    }
    let report = solver.solve(problem, &mut lambda, &Goal::scaled(tolerance))?;
    Ok((lambda, report))
}

impl Link {
    /// What the bounds of relays are multiplied by: forces become impulses.
    pub(super) fn unit(&self, h: f64) -> f64 {
        if self.level == Level::Velocity {
            h
        } else {
            1.0
        }
    }
}

/// Complementarity or equality of single rows, for positions.
pub(crate) fn stored(laws: &[Law], w: &Matrix, q: &[f64]) -> Result<StoredProblem, SystemsError> {
    let n = w.columns();
    let entries = w.entries().iter().enumerate();
    let entries = entries.map(|(k, entry)| (k / n, k % n, *entry));
    let w = SparseMatrix::from_triplets(w.rows(), n, entries)?;
    Ok(StoredProblem::new(laws, &w, q)?)
}
