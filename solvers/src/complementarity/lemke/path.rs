//! The path of Lemke's method.
//!
//! Basic variables are functions of the others. Only what the next step needs of them is worked out, from the columns of `M` and the inverse `P` of a small
//! matrix ([`super::inverse`]): rows `R` are those with `y` zero, columns `C` the `x` that are basic, and `t`.
//!
//! ```text
//! x_j enters    Δ_C = −P M_Rj,       Δy = M_j + M_C Δ_C + e Δt
//! y_j enters    Δ_C = P_·j,          Δy =       M_C Δ_C + e Δt
//! ```
//!
//! That is `n k + 2 k²` products a pivot for `k` basic `x`, of which there are none at the start and mostly `n/2` at the end: a full tableau takes `n²`, and writes them.

mod answer;
mod ties;

use super::inverse::{Inverse, combine};
use crate::complementarity::free_rows::Standard;
use crate::lanes::Dispatch;

/// How the path ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// `t = 0`.
    Solved,
    /// Nothing stops the entering variable.
    Ray,
    /// The budget ran out, a limit struck, or numbers overflowed.
    Stopped,
}

/// A variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Variable {
    X(u32),
    Y(u32),
    #[default]
    T,
}

/// Rates below this part of the largest of their column are rounding.
const PIVOT: f64 = 1e-10;
/// Steps that differ by less, relative to the largest value of the problem, tie.
const TIE: f64 = 1e-11;
/// Pivots between two looks at the limits of the goal.
const WATCH: usize = 64;
/// No place.
const NONE: u32 = u32::MAX;

/// Where the path is. Each row has one basic variable.
#[derive(Debug, Default)]
pub(super) struct Path {
    n: usize,
    /// `M`, column by column.
    columns: Vec<f64>,
    basic: Vec<Variable>,
    /// Values of the basic variables, and their bounds.
    value: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    /// Rows of the `x` and `y` that are basic.
    row_of_x: Vec<u32>,
    row_of_y: Vec<u32>,
    at_upper: Vec<bool>,
    upper: Vec<f64>,
    inverse: Inverse,
    /// `C`: the variables and their rows; `R`: the `y`. Places of `y` in it.
    inner: Vec<(Variable, u32)>,
    fixed: Vec<u32>,
    place_of_y: Vec<u32>,
    /// The variable that enters, and in which direction.
    entering: (Variable, f64),
    /// The largest value at the start.
    size: f64,
    pivots: usize,
    dispatch: Dispatch,
    /// Rates of the basic variables, by rows.
    rate: Vec<f64>,
    /// Of the step: `Δ_C` and `Δy`.
    inner_rate: Vec<f64>,
    outer_rate: Vec<f64>,
    /// Space.
    gathered: Vec<f64>,
    across: Vec<f64>,
    x: Vec<f64>,
    ties: Vec<usize>,
    orders: [Vec<f64>; 2],
}

fn refill<T: Clone>(buffer: &mut Vec<T>, n: usize, value: T) {
    buffer.clear();
    buffer.resize(n, value);
}

impl Path {
    /// The start: `y = q + M x + t e`, `x = 0`.
    pub(super) fn set(&mut self, standard: &Standard) {
        let n = standard.n;
        self.n = n;
        self.transpose(&standard.matrix);
        self.value.clone_from(&standard.offset);
        self.upper.clone_from(&standard.upper);
        refill(&mut self.bounds, n, [0.0, f64::INFINITY]);
        refill(&mut self.at_upper, n, false);
        refill(&mut self.row_of_x, n, NONE);
        refill(&mut self.place_of_y, n, NONE);
        refill(&mut self.rate, n, 0.0);
        let indices = 0..n as u32;
        self.basic.clear();
        self.basic.extend(indices.clone().map(Variable::Y));
        self.row_of_y.clear();
        self.row_of_y.extend(indices);
        self.inner.clear();
        self.fixed.clear();
        self.inverse.clear(n + 1);
        let largest = |values: &[f64]| values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        self.size = largest(&self.value).max(f64::MIN_POSITIVE);
        self.pivots = 0;
    }

    /// Takes `M`, eight columns at a time.
    fn transpose(&mut self, matrix: &[f64]) {
        let n = self.n;
        refill(&mut self.columns, n * n, 0.0);
        for (block, columns) in self.columns.chunks_mut((8 * n).max(1)).enumerate() {
            for (i, row) in matrix.chunks_exact(n.max(1)).enumerate() {
                let own = &row[8 * block..n.min(8 * block + 8)];
                for (j, value) in own.iter().enumerate() {
                    columns[j * n + i] = *value;
                }
            }
        }
    }

    /// Pivots done, flips between bounds included.
    pub(super) fn pivots(&self) -> usize {
        self.pivots
    }

    /// Follows the path to its end.
    pub(super) fn follow(&mut self, budget: usize, mut stop: impl FnMut() -> bool) -> End {
        if !self.start() {
            return End::Solved;
        }
        while self.pivots < budget {
            if self.pivots.is_multiple_of(WATCH) && stop() {
                return End::Stopped;
            }
            if let Some(end) = self.step() {
                return end;
            }
        }
        End::Stopped
    }

    /// `t` enters at the least value for which `y ≥ 0`: false if that is zero.
    fn start(&mut self) -> bool {
        // q + ε-perturbation: of equal rows the last has the smallest power of ε.
        let mut row = None;
        let mut least = 0.0;
        for (i, value) in self.value.iter().enumerate() {
            if *value < 0.0 && *value <= least {
                (row, least) = (Some(i), *value);
            }
        }
        let Some(row) = row else {
            return false;
        };
        self.entering = (Variable::T, 1.0);
        self.rate.fill(1.0);
        let t = self.move_by(-least);
        self.inverse.grow(&[], &[], 1.0);
        self.inner.push((Variable::T, row as u32));
        self.fix(row);
        self.enter(row, t);
        self.pivots += 1;
        self.entering = (Variable::X(row as u32), 1.0);
        true
    }

    /// Rates of all basic variables.
    fn rates(&mut self) {
        let (n, (entering, direction)) = (self.n, self.entering);
        self.outer_rate.clear();
        match entering {
            Variable::X(j) => {
                let column = &self.columns[j as usize * n..(j as usize + 1) * n];
                self.outer_rate.extend_from_slice(column);
                self.gathered.clear();
                let rows = self.fixed.iter().map(|row| column[*row as usize]);
                self.gathered.extend(rows);
                self.inverse
                    .minus_times(&self.gathered, &mut self.inner_rate);
            }
            Variable::Y(j) => {
                self.outer_rate.resize(n, 0.0);
                let place = self.place_of_y[j as usize] as usize;
                self.inverse.column(place, &mut self.inner_rate);
            }
            Variable::T => {}
        }
        let inner = || self.inner.iter().zip(&self.inner_rate);
        let parts = inner().filter_map(|((variable, _), rate)| match variable {
            Variable::X(j) => Some((*j as usize * n, *rate)),
            _ => None,
        });
        combine(self.dispatch, &self.columns, parts, &mut self.outer_rate);
        let t: f64 = inner()
            .filter(|((variable, _), _)| *variable == Variable::T)
            .map(|(_, rate)| *rate)
            .sum();
        for (row, basic) in self.basic.iter().enumerate() {
            if let Variable::Y(i) = basic {
                self.rate[row] = direction * (self.outer_rate[*i as usize] + t);
            }
        }
        for ((_, row), rate) in self.inner.iter().zip(&self.inner_rate) {
            self.rate[*row as usize] = direction * rate;
        }
    }

    /// One step of the path.
    fn step(&mut self) -> Option<End> {
        self.rates();
        let largest = self.rate.iter().fold(0.0, |m: f64, rate| m.max(rate.abs()));
        let is_finite = self.rate.iter().all(|rate| rate.is_finite());
        if !is_finite {
            return Some(End::Stopped);
        }
        let flip = match self.entering.0 {
            Variable::X(i) => self.upper[i as usize],
            _ => f64::INFINITY,
        };
        let threshold = PIVOT * largest;
        let mut least = flip;
        for row in 0..self.n {
            if self.rate[row].abs() > threshold {
                least = least.min(self.distance(row));
            }
        }
        if least == f64::INFINITY {
            return Some(End::Ray);
        }
        let bound = least + TIE * self.size.max(least);
        self.ties.clear();
        for row in 0..self.n {
            if self.rate[row].abs() > threshold && self.distance(row) <= bound {
                if self.basic[row] == Variable::T {
                    let value = self.move_by(self.distance(row));
                    self.enter(row, value);
                    self.pivots += 1;
                    return Some(End::Solved);
                }
                self.ties.push(row);
            }
        }
        self.pivots += 1;
        match self.first_of_ties(flip <= bound) {
            Some(row) => self.exchange(row),
            None => self.flip(flip),
        }
        None
    }

    /// How far the entering variable moves until the basic one of this row is at a bound; ∞ if it never is.
    fn distance(&self, row: usize) -> f64 {
        let (rate, value) = (self.rate[row], self.value[row]);
        let [low, high] = self.bounds[row];
        let way = if rate < 0.0 {
            (low - value) / rate
        } else {
            (high - value) / rate
        };
        // Rounding may have carried it beyond its bound.
        way.max(0.0)
    }

    /// Row `i` of `M` and `e` in the columns `C`.
    fn gather_row(&mut self, i: u32) {
        self.gathered.clear();
        let row = self.inner.iter().map(|(variable, _)| match variable {
            Variable::X(j) => self.columns[*j as usize * self.n + i as usize],
            _ => 1.0,
        });
        self.gathered.extend(row);
    }

    /// Moves the entering variable so far, and the basic ones with it; returns where it comes to.
    fn move_by(&mut self, step: f64) -> f64 {
        for (value, rate) in self.value.iter_mut().zip(&self.rate) {
            *value += rate * step;
        }
        let (entering, direction) = self.entering;
        let start = match entering {
            Variable::X(i) if self.at_upper[i as usize] => self.upper[i as usize],
            _ => 0.0,
        };
        start + step * direction
    }

    /// The entering variable goes to its other bound.
    fn flip(&mut self, step: f64) {
        self.move_by(step);
        if let Variable::X(i) = self.entering.0 {
            let own = &mut self.at_upper[i as usize];
            *own = !*own;
            let direction = if *own { -1.0 } else { 1.0 };
            self.entering = (Variable::Y(i), direction);
        }
    }

    /// The basic variable of a row leaves at its bound, and its partner enters next.
    fn exchange(&mut self, row: usize) {
        let rises = self.rate[row] > 0.0;
        let leaving = self.basic[row];
        let value = self.move_by(self.distance(row));
        self.update(row);
        self.enter(row, value);
        let (partner, i) = match leaving {
            Variable::X(i) => {
                self.at_upper[i as usize] = rises;
                (Variable::Y(i), i)
            }
            Variable::Y(i) => (Variable::X(i), i),
            Variable::T => return,
        };
        let direction = if self.at_upper[i as usize] { -1.0 } else { 1.0 };
        self.entering = (partner, direction);
    }

    /// The inverse, `C` and `R` after the exchange of a row.
    fn update(&mut self, row: usize) {
        let (entering, direction) = self.entering;
        let rate = direction * self.rate[row];
        let inner = self.inner.iter().position(|(_, own)| *own as usize == row);
        let place = match entering {
            Variable::Y(j) => Some(self.place_of_y[j as usize] as usize),
            _ => None,
        };
        let (delta, across) = (&mut self.inner_rate, &mut self.across);
        match (place, inner) {
            (None, Some(c)) => {
                self.inverse.replace_column(c, delta, across);
                self.inner[c] = (entering, row as u32);
            }
            (Some(r), Some(c)) => {
                self.inverse.shrink(c, r, delta, across);
                self.inner.swap_remove(c);
                let freed = self.fixed.swap_remove(r);
                if let Some(moved) = self.fixed.get(r) {
                    self.place_of_y[*moved as usize] = r as u32;
                }
                self.place_of_y[freed as usize] = NONE;
            }
            (place, None) => {
                let Variable::Y(i) = self.basic[row] else {
                    return;
                };
                self.gather_row(i);
                self.inverse.row_times(&self.gathered, &mut self.across);
                if let Some(r) = place {
                    self.across[r] = rate;
                    self.inverse.replace_row(r, &self.inner_rate, &self.across);
                    self.place_of_y[self.fixed[r] as usize] = NONE;
                    self.fixed[r] = i;
                    self.place_of_y[i as usize] = r as u32;
                } else {
                    self.inverse.grow(&self.inner_rate, &self.across, rate);
                    self.inner.push((entering, row as u32));
                    self.fix(row);
                }
            }
        }
    }

    /// The basic `y` of a row is zero from now on.
    fn fix(&mut self, row: usize) {
        if let Variable::Y(i) = self.basic[row] {
            self.place_of_y[i as usize] = self.fixed.len() as u32;
            self.fixed.push(i);
        }
    }

    /// The entering variable is the basic one of a row, with this value.
    fn enter(&mut self, row: usize, value: f64) {
        match self.basic[row] {
            Variable::X(i) => self.row_of_x[i as usize] = NONE,
            Variable::Y(i) => self.row_of_y[i as usize] = NONE,
            Variable::T => {}
        }
        let entering = self.entering.0;
        self.bounds[row] = match entering {
            Variable::X(i) => {
                self.row_of_x[i as usize] = row as u32;
                [0.0, self.upper[i as usize]]
            }
            Variable::Y(i) => {
                self.row_of_y[i as usize] = row as u32;
                if self.at_upper[i as usize] {
                    [f64::NEG_INFINITY, 0.0]
                } else {
                    [0.0, f64::INFINITY]
                }
            }
            Variable::T => [0.0, f64::INFINITY],
        };
        self.basic[row] = entering;
        self.value[row] = value;
    }
}
