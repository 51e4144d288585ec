//! Primal–dual active sets: Newton's method on `z − P(z − w/λ) = 0`, begun at a guess of which rows are at their bounds
//! [Hintermüller, Ito, Kunisch 2003].
//!
//! ```text
//! repeat   M_BB z_B = −(q_B + M_BN z_N),  z_N at bounds,   w = M z + q
//!          row at low if z − w/λ ≤ low,  at high if z − w/λ ≥ high,  else between
//! until no row changes
//! ```
//!
//! From step to step of a time integration few rows change, and the guess is right: one solve with factors that are kept while `M_BB` stays. For an
//! M-matrix it ends from any start; for others it may cycle, and the caller asks another method. Dense problems have factors with rows exchanged,
//! sparse ones those of [`super::envelope`]. What is handed out was judged by the natural map, and is beyond doubt; else nothing is handed out.

use super::basis::State;
use super::dense_lu::DenseLu;
use super::envelope::Envelope;
use super::method::is_beyond_doubt;
use super::{BoxProblem, SparseBoxProblem};
use crate::{Goal, Residual, SolverReport, SolverStatus, natural_map};

/// A box problem in one of its two forms.
#[derive(Clone, Copy, Debug)]
pub enum Boxes<'a> {
    /// All entries of `M`.
    Dense(&'a BoxProblem),
    /// Those that are not zero.
    Sparse(&'a SparseBoxProblem),
}

/// Settings of [`PrimalDual`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrimalDualSettings {
    /// Active sets at most. Default 12 for dense problems, which others solve well, and three times as many for sparse ones.
    pub max_sets: usize,
}

impl Default for PrimalDualSettings {
    fn default() -> Self {
        Self { max_sets: 12 }
    }
}

/// The method, the factors of its last active set, and its buffers.
///
/// ```
/// use moreau_solvers::complementarity::{BoxProblem, Boxes, PrimalDual};
/// use moreau_solvers::Goal;
/// let problem = BoxProblem::complementarity(vec![2.0, 1.0, 1.0, 2.0], vec![-5.0, -6.0])?;
/// let mut z = [1.0; 2];
/// let report = PrimalDual::default().solve(Boxes::Dense(&problem), &mut z, &Goal::scaled(1e-12));
/// assert!(report.is_some_and(|report| report.converged()));
/// assert!((z[0] - 4.0 / 3.0).abs() < 1e-12 && (z[1] - 7.0 / 3.0).abs() < 1e-12);
/// # Ok::<(), moreau_solvers::ProblemError>(())
/// ```
#[derive(Debug, Default)]
pub struct PrimalDual {
    /// Settings of the next solve.
    pub settings: PrimalDualSettings,
    states: Vec<State>,
    between: Vec<u32>,
    /// Place of a row among those between; of others `u32::MAX`.
    place: Vec<u32>,
    z: Vec<f64>,
    right: Vec<f64>,
    roots: Vec<f64>,
    dense: DenseLu,
    sparse: Envelope,
    factored: Factored,
}

/// What the factors are of: copies, since no number can stand for a matrix.
#[derive(Debug, Default)]
struct Factored {
    between: Vec<u32>,
    values: Vec<f64>,
    columns: Vec<u32>,
}

impl Factored {
    fn is_of(&self, between: &[u32], (values, columns): (&[f64], &[u32])) -> bool {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        self.between == between
            && self.columns == columns
            && self.values.len() == values.len()
            && self.values.iter().zip(values).all(same)
    }

    fn set(&mut self, between: &[u32], (values, columns): (&[f64], &[u32])) {
        fill(&mut self.between, between);
        fill(&mut self.values, values);
        fill(&mut self.columns, columns);
    }
}

fn fill<T: Copy>(buffer: &mut Vec<T>, with: &[T]) {
    buffer.clear();
    buffer.extend_from_slice(with);
}

/// What the method sees of a problem.
trait Rows {
    fn bounds(&self, row: usize) -> [f64; 2];
    fn scales(&self) -> &[f64];
    fn q(&self) -> &[f64];
    /// `(M z + q)` of a row.
    fn velocity(&self, row: usize, z: &[f64]) -> f64;
    fn entries(&self) -> (&[f64], &[u32]);
    fn residual(&self, z: &[f64]) -> Residual;
    fn factorize(&self, method: &mut Factors<'_>) -> bool;
    fn solve(&self, method: &mut Factors<'_>, right: &mut [f64]);
}

/// Rows between bounds, and the space for factors of `M_BB`.
struct Factors<'a> {
    between: &'a [u32],
    place: &'a [u32],
    /// `1/√λ` of the rows of the dense factors.
    roots: &'a mut Vec<f64>,
    dense: &'a mut DenseLu,
    sparse: &'a mut Envelope,
}

impl Rows for BoxProblem {
    fn bounds(&self, row: usize) -> [f64; 2] {
        [self.low()[row], self.high()[row]]
    }

    fn scales(&self) -> &[f64] {
        self.scales()
    }

    fn q(&self) -> &[f64] {
        self.q()
    }

    fn velocity(&self, row: usize, z: &[f64]) -> f64 {
        super::box_problem::dot(self.row(row), z) + self.q()[row]
    }

    fn entries(&self) -> (&[f64], &[u32]) {
        (self.matrix(), &[])
    }

    fn residual(&self, z: &[f64]) -> Residual {
        natural_map::boxes(self, z)
    }

    fn factorize(&self, method: &mut Factors<'_>) -> bool {
        let (rows, matrix, n) = (method.between, self.matrix(), self.len());
        // Any number of rows may be between their bounds next time.
        method.dense.reserve(n);
        method.roots.clear();
        method.roots.reserve(n);
        let roots = rows
            .iter()
            .map(|row| 1.0 / self.scales()[*row as usize].sqrt());
        method.roots.extend(roots);
        let roots = &method.roots;
        method.dense.factorize(rows.len(), |i, j| {
            matrix[rows[i] as usize * n + rows[j] as usize] * (roots[i] * roots[j])
        })
    }

    fn solve(&self, method: &mut Factors<'_>, right: &mut [f64]) {
        let scale = |right: &mut [f64]| {
            for (right, root) in right.iter_mut().zip(&*method.roots) {
                *right *= root;
            }
        };
        scale(right);
        method.dense.solve(right);
        scale(right);
    }
}

impl Rows for SparseBoxProblem {
    fn bounds(&self, row: usize) -> [f64; 2] {
        [self.low()[row], self.high()[row]]
    }

    fn scales(&self) -> &[f64] {
        self.scales()
    }

    fn q(&self) -> &[f64] {
        self.q()
    }

    fn velocity(&self, row: usize, z: &[f64]) -> f64 {
        self.image(row, z)
    }

    fn entries(&self) -> (&[f64], &[u32]) {
        self.entries()
    }

    fn residual(&self, z: &[f64]) -> Residual {
        natural_map::sparse_boxes(self, z)
    }

    fn factorize(&self, method: &mut Factors<'_>) -> bool {
        let (rows, place) = (method.between, method.place);
        method.sparse.factorize(rows.len(), |visit| {
            for (i, row) in rows.iter().enumerate() {
                for (column, value) in self.row(*row as usize) {
                    if place[column] != u32::MAX {
                        visit(i, place[column] as usize, value);
                    }
                }
            }
        })
    }

    fn solve(&self, method: &mut Factors<'_>, right: &mut [f64]) {
        method.sparse.solve(right);
    }
}

impl PrimalDual {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: PrimalDualSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// Solves in place: `z` is the start and receives the answer. `None` if there is none within the goal that is beyond doubt, or `z` is of the
    /// wrong length; it is then as it was.
    pub fn solve(
        &mut self,
        problem: Boxes<'_>,
        z: &mut [f64],
        goal: &Goal,
    ) -> Option<SolverReport> {
        let most = self.settings.max_sets;
        match problem {
            Boxes::Dense(problem) => self.run(problem, z, goal, most),
            Boxes::Sparse(problem) => self.run(problem, z, goal, 3 * most),
        }
    }

    #[inline]
    fn run(
        &mut self,
        problem: &impl Rows,
        z: &mut [f64],
        goal: &Goal,
        most: usize,
    ) -> Option<SolverReport> {
        let n = problem.q().len();
        if z.len() != n {
            return None;
        }
        let mut report = SolverReport::default();
        if n == 1 {
            let (diagonal, q) = (problem.entries().0.first()?, problem.q()[0]);
            report.iterations = 1;
            self.z.clear();
            self.z.push(-q / diagonal);
            if *diagonal > 0.0 {
                return self.finish(problem, z, goal, report);
            }
        }
        self.guess(problem, z);
        loop {
            report.iterations += 1;
            if !self.point(problem, &mut report) {
                return None;
            }
            if !self.change(problem) {
                break;
            }
            if report.iterations >= most {
                return None;
            }
        }
        self.finish(problem, z, goal, report)
    }

    /// Brings the answer into its bounds, and hands it out if the judge has no doubt.
    #[inline]
    fn finish(
        &mut self,
        problem: &impl Rows,
        z: &mut [f64],
        goal: &Goal,
        mut report: SolverReport,
    ) -> Option<SolverReport> {
        for (row, z) in self.z.iter_mut().enumerate() {
            let [low, high] = problem.bounds(row);
            *z = z.max(low).min(high);
        }
        report.residual = problem.residual(&self.z);
        report.certificates = 1;
        let parts = [problem.scales(), problem.q(), &self.z];
        if !is_beyond_doubt(parts, &report.residual, goal) {
            return None;
        }
        report.status = SolverStatus::Converged;
        z.copy_from_slice(&self.z);
        Some(report)
    }

    /// Rows at the bounds at which the start is.
    fn guess(&mut self, problem: &impl Rows, z: &[f64]) {
        for list in [&mut self.between, &mut self.factored.between] {
            list.reserve(z.len().saturating_sub(list.len()));
        }
        self.right.clear();
        self.right.reserve(z.len());
        self.states.clear();
        self.states.extend(z.iter().enumerate().map(|(row, z)| {
            let [low, high] = problem.bounds(row);
            state_of(*z, low, high)
        }));
    }

    /// `z` of the states, with one step of refinement; false if `M_BB` is singular.
    fn point(&mut self, problem: &impl Rows, report: &mut SolverReport) -> bool {
        self.between.clear();
        self.place.clear();
        self.z.clear();
        for (row, state) in self.states.iter().enumerate() {
            let [low, high] = problem.bounds(row);
            let (z, place) = match state {
                State::Low => (low, u32::MAX),
                State::High => (high, u32::MAX),
                State::Between => (0.0, self.between.len() as u32),
            };
            if place != u32::MAX {
                self.between.push(row as u32);
            }
            self.place.push(place);
            self.z.push(z);
        }
        if self.between.is_empty() {
            return true;
        }
        let entries = problem.entries();
        let mut factors = Factors {
            between: &self.between,
            place: &self.place,
            roots: &mut self.roots,
            dense: &mut self.dense,
            sparse: &mut self.sparse,
        };
        if !self.factored.is_of(&self.between, entries) {
            report.factorizations += 1;
            if !problem.factorize(&mut factors) {
                self.factored.set(&[], (&[], &[]));
                return false;
            }
            self.factored.set(&self.between, entries);
        }
        for _ in 0..2 {
            self.right.clear();
            let rows = self.between.iter();
            let rows = rows.map(|row| -problem.velocity(*row as usize, &self.z));
            self.right.extend(rows);
            problem.solve(&mut factors, &mut self.right);
            for (row, step) in self.between.iter().zip(&self.right) {
                self.z[*row as usize] += step;
            }
        }
        true
    }

    /// The next states; false if they are the same.
    fn change(&mut self, problem: &impl Rows) -> bool {
        let mut changed = false;
        for row in 0..self.states.len() {
            let ([low, high], z) = (problem.bounds(row), self.z[row]);
            let state = match self.states[row] {
                State::Between => state_of(z, low, high),
                _ => {
                    let step = problem.velocity(row, &self.z) / problem.scales()[row];
                    state_of(z - step, low, high)
                }
            };
            changed |= state != self.states[row];
            self.states[row] = state;
        }
        changed
    }
}

fn state_of(z: f64, low: f64, high: f64) -> State {
    if z <= low {
        State::Low
    } else if z >= high {
        State::High
    } else {
        State::Between
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complementarity::Lemke;
    use crate::random::Random;

    /// Chains of one-sided springs with M-matrices: the same answers as Lemke's method, in both forms, from no start and from the last answer.
    #[test]
    fn both_forms_agree_with_lemke() {
        let mut random = Random::new(3);
        let (mut method, goal) = (PrimalDual::default(), Goal::scaled(1e-13));
        for n in [1, 2, 7, 30] {
            let mut matrix = vec![0.0; n * n];
            let mut sparse = SparseBoxProblem::default();
            for i in 0..n {
                let mut row = Vec::new();
                for j in i.saturating_sub(1)..n.min(i + 2) {
                    let value = if i == j { 2.1 } else { -1.0 };
                    matrix[i * n + j] = value;
                    row.push((j as u32, value));
                }
                sparse.push_row(&row, [0.0, f64::INFINITY]);
            }
            sparse.close().unwrap();
            let mut warm = vec![0.0; n];
            for _ in 0..5 {
                let q: Vec<f64> = (0..n).map(|_| random.uniform(-1.0, 1.0)).collect();
                let dense = BoxProblem::complementarity(matrix.clone(), q.clone()).unwrap();
                sparse.set_q(&q).unwrap();
                let mut reference = vec![0.0; n];
                Lemke::default()
                    .solve_box(&dense, &mut reference, &goal)
                    .unwrap();
                let mut z = vec![0.0; n];
                let solved = method.solve(Boxes::Dense(&dense), &mut z, &goal);
                assert!(solved.is_some_and(|report| report.converged()));
                let solved = method.solve(Boxes::Sparse(&sparse), &mut warm, &goal);
                assert!(solved.is_some_and(|report| report.converged()));
                for (k, expected) in reference.iter().enumerate() {
                    assert!((z[k] - expected).abs() < 1e-12);
                    assert!((warm[k] - expected).abs() < 1e-12);
                }
            }
        }
    }

    /// Factors are those of the matrix that is given, whatever was solved before with the same rows between their bounds.
    #[test]
    fn another_matrix_is_factored_anew() {
        let (mut method, goal) = (PrimalDual::default(), Goal::scaled(1e-13));
        for diagonal in [1.0, 2.0, 4.0] {
            let matrix = vec![diagonal, 0.5, 0.5, 1.0];
            let problem = BoxProblem::complementarity(matrix, vec![-8.0, 8.0]).unwrap();
            for factorizations in [1, 0] {
                let mut z = [1.0, 0.0];
                let report = method.solve(Boxes::Dense(&problem), &mut z, &goal);
                assert!(report.is_some_and(|r| r.factorizations == factorizations));
                assert!((z[0] - 8.0 / diagonal).abs() < 1e-14);
            }
        }
    }

    /// Nothing is handed out of a problem without solution, and the start stays.
    #[test]
    fn a_problem_without_solution_has_no_answer() {
        let problem = BoxProblem::complementarity(vec![0.0], vec![-1.0]).unwrap();
        let mut z = [3.0];
        let goal = Goal::scaled(1e-10);
        let report = PrimalDual::default().solve(Boxes::Dense(&problem), &mut z, &goal);
        assert!(report.is_none() && z[0].total_cmp(&3.0).is_eq());
    }
}
