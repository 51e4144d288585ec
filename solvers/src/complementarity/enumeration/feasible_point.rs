//! A point of the polyhedron of a candidate whose `M_BB` is singular: the first phase of the simplex method.
//!
//! ```text
//! w_B = 0,   w ≥ 0 at lower bounds,   w ≤ 0 at upper bounds,   low_B ≤ z_B ≤ high_B
//! ```
//!
//! Variables are moved and scaled to `x ≥ 0`, those without bounds are differences of two, inequalities and upper bounds get slacks, and
//! the sum of the artificial variables of all rows is made as small as it can be. Bland's rule [Bland77] keeps it from cycling.

use super::super::BoxProblem;
use super::super::basis::State;
use super::super::box_problem::dot;

/// Space of the search.
#[derive(Debug, Default)]
pub(super) struct Polyhedron {
    /// Rows of the dictionary, each with its right-hand side at the end.
    rows: Vec<Vec<f64>>,
    basic: Vec<usize>,
}

/// Entries and costs below this are rounding; the variables are scaled to entries near 1.
const ZERO: f64 = 1e-10;
/// What may be left of the artificial variables, relative to the right-hand side.
const LEFT: f64 = 1e-9;

/// `z_row = base + factor · x`.
struct Variable {
    row: usize,
    base: f64,
    factor: f64,
    upper: f64,
}

impl Polyhedron {
    /// `z` of a point of the polyhedron; false, and `z` empty, if there is none.
    pub(super) fn point(
        &mut self,
        problem: &BoxProblem,
        states: &[State],
        z: &mut Vec<f64>,
    ) -> bool {
        let variables = variables(problem, states);
        self.rows.clear();
        let mut start = vec![0.0; problem.len()];
        for (row, (start, state)) in start.iter_mut().zip(states).enumerate() {
            *start = match state {
                State::Low => problem.low()[row],
                State::High => problem.high()[row],
                State::Between => 0.0,
            };
        }
        variables.iter().for_each(|v| start[v.row] = v.base);
        let mut slacks = Vec::new();
        for (row, state) in states.iter().enumerate() {
            let root = problem.scales()[row].sqrt();
            let entries = problem.row(row);
            let mut own: Vec<f64> = variables
                .iter()
                .map(|v| entries[v.row] * v.factor / root)
                .collect();
            own.push(-(dot(entries, &start) + problem.q()[row]) / root);
            self.rows.push(own);
            slacks.push(match state {
                State::Low => -1.0,
                State::High => 1.0,
                State::Between => 0.0,
            });
        }
        for (k, variable) in variables.iter().enumerate() {
            if variable.upper.is_finite() {
                let mut own = vec![0.0; variables.len() + 1];
                own[k] = 1.0;
                own[variables.len()] = variable.upper;
                self.rows.push(own);
                slacks.push(1.0);
            }
        }
        z.clear();
        let Some(x) = self.minimise(variables.len(), &slacks) else {
            return false;
        };
        *z = start;
        for (variable, x) in variables.iter().zip(x) {
            z[variable.row] += variable.factor * x;
        }
        true
    }

    /// `x ≥ 0` of all rows `a x + slack s = b`, if there is one.
    fn minimise(&mut self, variables: usize, slacks: &[f64]) -> Option<Vec<f64>> {
        let m = self.rows.len();
        let columns = variables + m;
        // Variables, slacks, right-hand side; artificial variables never come back and have no columns.
        for (index, (row, slack)) in self.rows.iter_mut().zip(slacks).enumerate() {
            let right = row.pop().unwrap_or_default();
            row.resize(columns, 0.0);
            row[variables + index] = *slack;
            row.push(right);
            if right < 0.0 {
                row.iter_mut().for_each(|value| *value = -*value);
            }
        }
        self.basic.clear();
        self.basic.extend(columns..columns + m);
        let size = self
            .rows
            .iter()
            .fold(0.0, |s: f64, row| s.max(row[columns]));
        // Costs of an artificial variable: the sum of its row.
        loop {
            let cost = |column: usize| -> f64 {
                let rows = self.rows.iter().zip(&self.basic);
                let artificial = rows.filter(|(_, basic)| **basic >= columns);
                artificial.map(|(row, _)| row[column]).sum()
            };
            if cost(columns) <= LEFT * size {
                break;
            }
            let column = (0..columns).find(|column| cost(*column) > ZERO)?;
            let ratios = self.rows.iter().zip(&self.basic).enumerate();
            let leaving = ratios
                .filter(|(_, (row, _))| row[column] > ZERO)
                .map(|(index, (row, basic))| (row[columns] / row[column], *basic, index))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))?;
            self.pivot(leaving.2, column);
        }
        let mut x = vec![0.0; variables];
        for (row, basic) in self.rows.iter().zip(&self.basic) {
            if *basic < variables {
                x[*basic] = row[columns];
            }
        }
        Some(x)
    }

    fn pivot(&mut self, row: usize, column: usize) {
        let mut own = std::mem::take(&mut self.rows[row]);
        let inverse = 1.0 / own[column];
        own.iter_mut().for_each(|value| *value *= inverse);
        for other in &mut self.rows {
            let Some(factor) = other.get(column).copied().filter(|f| *f != 0.0) else {
                continue;
            };
            for (value, own) in other.iter_mut().zip(&own) {
                *value -= factor * own;
            }
        }
        self.rows[row] = own;
        self.basic[row] = column;
    }
}

/// The variables of the rows between their bounds.
fn variables(problem: &BoxProblem, states: &[State]) -> Vec<Variable> {
    let mut variables = Vec::new();
    for (row, state) in states.iter().enumerate() {
        if *state != State::Between {
            continue;
        }
        let (low, high) = (problem.low()[row], problem.high()[row]);
        let scale = 1.0 / problem.scales()[row].sqrt();
        let mut add = |base, factor, upper| {
            variables.push(Variable {
                row,
                base,
                factor,
                upper,
            });
        };
        if low.is_finite() {
            add(low, scale, (high - low) / scale);
        } else if high.is_finite() {
            add(high, -scale, f64::INFINITY);
        } else {
            add(0.0, scale, f64::INFINITY);
            add(0.0, -scale, f64::INFINITY);
        }
    }
    variables
}
