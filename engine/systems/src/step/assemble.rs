//! The problem of a Newton iteration, assembled by interaction blocks [docs/theory.md §6].
//!
//! ```text
//! W_αβ = Σ_{systems j of α and β} output_αj M̂_j⁻¹ input_βj  (+ feedthrough_α if α = β),      q_α = w_α^τ + Σ_j output_αj (z_free − z^τ)_j
//! ```
//!
//! Rows follow the order of the interactions' ids.

use super::Plant;
use super::link::{Level, Link};
use crate::algebra::{Matrix, Row, add, dot, zeros};
use crate::error::SystemsError;
use crate::solver_choice::AnySolver;
use moreau_solvers::{Goal, Law, SolverReport, SolverStatus, SparseMatrix, StoredProblem};
use std::ops::Range;

/// The problem of one iteration.
pub(crate) struct Assembly {
    /// Active interactions and their rows.
    rows: Vec<(usize, Range<usize>)>,
    /// Row `k` of the matrix is `M̂⁻¹` times column `k` of `input`: one a side of each active interaction.
    responses: Vec<Vec<Matrix>>,
    problem: StoredProblem,
}

impl Assembly {
    /// `W`, `q` and the laws; `changes` is `z_free − z^τ` of every system.
    pub(super) fn new(plant: &Plant, changes: &[Row]) -> Result<Self, SystemsError> {
        let mut rows = Vec::new();
        let mut count = 0;
        for (index, link) in plant.links.iter().enumerate() {
            if link.active {
                rows.push((index, count..count + link.rows()));
                count += link.rows();
            }
        }
        let links = || rows.iter().map(|(index, _)| &plant.links[*index]);
        let respond = |link: &Link| -> Vec<Matrix> {
            let sides = link.blocks.iter().zip(&link.input);
            sides
                .map(|(j, input)| plant.blocks[*j].response_to(input))
                .collect()
        };
        let responses: Vec<Vec<Matrix>> = links().map(respond).collect();
        let mut touching = vec![Vec::new(); plant.blocks.len()];
        for (active, link) in links().enumerate() {
            for (side, j) in link.blocks.iter().enumerate() {
                touching[*j].push((active, side));
            }
        }
        let (mut entries, mut laws) = (Vec::new(), Vec::new());
        let mut q = Vec::with_capacity(count);
        for (link, (_, range)) in links().zip(&rows) {
            let mut w = link.offset.clone();
            for (output, j) in link.output.iter().zip(&link.blocks) {
                output.add_times(1.0, &changes[*j], &mut w);
                for (other, side) in &touching[*j] {
                    let (columns, response) = (&rows[*other].1, &responses[*other][*side]);
                    add_product(&mut entries, [range, columns], output, response);
                }
            }
            if let Some(feedthrough) = &link.feedthrough {
                for (k, entry) in feedthrough.entries().iter().enumerate() {
                    let (row, column) = (k / link.rows(), k % link.rows());
                    entries.push((range.start + row, range.start + column, *entry));
                }
            }
            q.extend(w);
            link.law.append_to(link.unit(plant.at.h), &mut laws);
        }
        let w = SparseMatrix::from_triplets(count, count, entries)?;
        let problem = StoredProblem::new(&laws, &w, &q)?;
        Ok(Self {
            rows,
            responses,
            problem,
        })
    }

    /// `λ`, from that of the iteration or the step before.
    pub(super) fn solve(
        &self,
        links: &[Link],
        tolerance: f64,
        solver: &mut AnySolver,
    ) -> Result<(Vec<f64>, SolverReport), SystemsError> {
        let mut lambda = Vec::with_capacity(self.problem.rows());
        for (index, _) in &self.rows {
            lambda.extend(&links[*index].lambda);
        }
        solve(&self.problem, lambda, tolerance, solver)
    }

    /// `M̂⁻¹ Σ input λ` of every system.
    pub(super) fn responses(&self, plant: &Plant, lambda: &[f64]) -> Vec<Row> {
        let zeros = plant.blocks.iter().map(|block| zeros(block.size()));
        let mut sums: Vec<_> = zeros.collect();
        for ((index, range), responses) in self.rows.iter().zip(&self.responses) {
            for (j, response) in plant.links[*index].blocks.iter().zip(responses) {
                for (k, lambda) in lambda[range.clone()].iter().enumerate() {
                    add(&mut sums[*j], *lambda, response.row(k));
                }
            }
        }
        sums
    }

    /// The active interactions and their rows.
    pub(super) fn active<'a>(
        &self,
        links: &'a mut [Link],
    ) -> impl Iterator<Item = (&'a mut Link, Range<usize>)> {
        let rows = self.rows.iter().map(|(_, range)| range.clone());
        let active = links.iter_mut().filter(|link| link.active);
        active.zip(rows.collect::<Vec<_>>())
    }

    /// `w = W λ + q`.
    pub(super) fn velocity_under(&self, lambda: &[f64]) -> Vec<f64> {
        self.problem.velocity_under(lambda)
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
        let status = SolverStatus::Converged;
        let report = SolverReport {
            status,
            ..SolverReport::default()
        };
        return Ok((lambda, report));
    }
    let report = solver.solve(problem, &mut lambda, &Goal::scaled(tolerance))?;
    Ok((lambda, report))
}

/// Adds the entries of `output · responseᵀ` at the given rows and columns.
fn add_product(
    entries: &mut Vec<(usize, usize, f64)>,
    [rows, columns]: [&Range<usize>; 2],
    output: &Matrix,
    response: &Matrix,
) {
    for (i, row) in rows.clone().enumerate() {
        for (k, column) in columns.clone().enumerate() {
            entries.push((row, column, dot(output.row(i), response.row(k))));
        }
    }
}

impl Link {
    /// What the bounds of relays are multiplied by: forces become impulses.
    fn unit(&self, h: f64) -> f64 {
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
