//! The dictionary of Lemke's method: basic variables as functions of the others.
//!
//! ```text
//! basic_r = value_r + Σ_j T_rj Δ_j        Δ_j: how far the variable of column j is from where it is now
//! ```
//!
//! `n` rows and `n + 1` columns, row by row. A pivot at `(r, c)` with `p = 1/T_rc` is
//!
//! ```text
//! T_rj ← −p T_rj (j ≠ c),   T_rc ← p,        T_ij ← T_ij + T_ic T_rj,   T_ic ← p T_ic      (i ≠ r)
//! ```

use crate::complementarity::basis::State;
use crate::complementarity::free_rows::Standard;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    X(u32),
    Y(u32),
    T,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Row(u32),
    Column(u32),
}

/// Rates below this part of the largest of their column are rounding.
const PIVOT: f64 = 1e-10;
/// Steps that differ by less, relative to the largest value of the problem, tie.
const TIE: f64 = 1e-11;
/// Coefficients of powers of `ε` that differ by less are equal.
const LEXICOGRAPHIC: f64 = 1e-9;
/// Pivots between two looks at the limits of the goal.
const WATCH: usize = 64;

/// The dictionary.
#[derive(Debug, Default)]
pub(super) struct Tableau {
    n: usize,
    entries: Vec<f64>,
    /// Values of the basic variables.
    value: Vec<f64>,
    basic: Vec<Variable>,
    nonbasic: Vec<Variable>,
    place_of_x: Vec<Place>,
    place_of_y: Vec<Place>,
    at_upper: Vec<bool>,
    upper: Vec<f64>,
    /// Column and direction of the variable that enters.
    entering: (usize, f64),
    /// The largest value at the start.
    size: f64,
    pivots: usize,
    /// Scratch: rates of the basic variables, the pivot row, values of `x`, rows that tie.
    rate: Vec<f64>,
    pivot_row: Vec<f64>,
    x: Vec<f64>,
    ties: Vec<usize>,
}

impl Tableau {
    /// The first dictionary: `y = q + M x + t e`.
    pub(super) fn set(&mut self, standard: &Standard) {
        let n = standard.n;
        self.n = n;
        self.entries.clear();
        self.entries.reserve(n * (n + 1));
        for row in standard.matrix.chunks_exact(n.max(1)) {
            self.entries.extend_from_slice(row);
            self.entries.push(1.0);
        }
        self.value.clone_from(&standard.offset);
        self.upper.clone_from(&standard.upper);
        self.at_upper.clear();
        self.at_upper.resize(n, false);
        let indices = 0..n as u32;
        self.basic.clear();
        self.basic.extend(indices.clone().map(Variable::Y));
        self.nonbasic.clear();
        self.nonbasic.extend(indices.clone().map(Variable::X));
        self.nonbasic.push(Variable::T);
        self.place_of_y.clear();
        self.place_of_y.extend(indices.clone().map(Place::Row));
        self.place_of_x.clear();
        self.place_of_x.extend(indices.map(Place::Column));
        let largest = |values: &[f64]| values.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        self.size = largest(&self.value).max(f64::MIN_POSITIVE);
        self.pivots = 0;
        self.rate.clear();
        self.rate.resize(n, 0.0);
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
        self.entering = (self.n, 1.0);
        let t = self.move_by(-least);
        self.pivot(row, t);
        self.pivots += 1;
        if let Place::Column(column) = self.place_of_x[row] {
            self.entering = (column as usize, 1.0);
        }
        true
    }

    /// One step of the path.
    fn step(&mut self) -> Option<End> {
        let (column, direction) = self.entering;
        let entering = self.nonbasic[column];
        let stride = self.n + 1;
        let mut largest: f64 = 0.0;
        for (rate, row) in self.rate.iter_mut().zip(self.entries.chunks_exact(stride)) {
            *rate = direction * row[column];
            largest = largest.max(rate.abs());
        }
        if !largest.is_finite() {
            return Some(End::Stopped);
        }
        let flip = match entering {
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
                    self.pivot(row, value);
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
        let [low, high] = self.bounds(row);
        let way = if rate < 0.0 {
            (low - value) / rate
        } else {
            (high - value) / rate
        };
        // Rounding may have carried it beyond its bound.
        way.max(0.0)
    }

    /// Bounds of the basic variable of a row.
    fn bounds(&self, row: usize) -> [f64; 2] {
        match self.basic[row] {
            Variable::X(i) => [0.0, self.upper[i as usize]],
            Variable::Y(i) if self.at_upper[i as usize] => [f64::NEG_INFINITY, 0.0],
            _ => [0.0, f64::INFINITY],
        }
    }

    /// Of the rows that tie, the one that is first under the perturbation; none if the flip of the entering variable is.
    fn first_of_ties(&self, flips: bool) -> Option<usize> {
        let (first, others) = self.ties.split_first()?;
        let mut best = *first;
        for row in others {
            if self.order(*row, Some(best)) == Order::Before {
                best = *row;
            }
        }
        if flips && self.order(best, None) != Order::Before {
            return None;
        }
        Some(best)
    }

    /// Which of two rows comes to its bound first, by the coefficients of `ε, ε², …`; a flip has zeros.
    fn order(&self, row: usize, other: Option<usize>) -> Order {
        for place in &self.place_of_y {
            let own = self.perturbation(row, *place);
            let theirs = other.map_or(0.0, |other| self.perturbation(other, *place));
            let difference = own - theirs;
            if difference.abs() > LEXICOGRAPHIC * (own.abs() + theirs.abs()).max(1.0) {
                return if difference < 0.0 {
                    Order::Before
                } else {
                    Order::Behind
                };
            }
        }
        // Rounding hides the order: the larger pivot.
        match other {
            Some(other) if self.rate[row].abs() > self.rate[other].abs() => Order::Before,
            _ => Order::Same,
        }
    }

    /// The coefficient of `ε^i` in the step at which a row comes to its bound: `∂(value)/∂q_i` over its rate.
    fn perturbation(&self, row: usize, place: Place) -> f64 {
        let derivative = match place {
            Place::Row(own) => f64::from(u8::from(own as usize == row)),
            Place::Column(column) => -self.entries[row * (self.n + 1) + column as usize],
        };
        -derivative / self.rate[row]
    }

    /// Moves the entering variable so far, and the basic ones with it; returns where it comes to.
    fn move_by(&mut self, step: f64) -> f64 {
        let (column, direction) = self.entering;
        let way = step * direction;
        let rows = self.entries.chunks_exact(self.n + 1);
        for (value, row) in self.value.iter_mut().zip(rows) {
            *value += row[column] * way;
        }
        let start = match self.nonbasic[column] {
            Variable::X(i) if self.at_upper[i as usize] => self.upper[i as usize],
            _ => 0.0,
        };
        start + way
    }

    /// The entering variable goes to its other bound.
    fn flip(&mut self, step: f64) {
        self.move_by(step);
        let (column, _) = self.entering;
        if let Variable::X(i) = self.nonbasic[column] {
            let i = i as usize;
            self.at_upper[i] = !self.at_upper[i];
            self.enter_partner_of_x(i);
        }
    }

    /// The basic variable of a row leaves at its bound, and its partner enters next.
    fn exchange(&mut self, row: usize) {
        let rises = self.rate[row] > 0.0;
        let leaving = self.basic[row];
        let value = self.move_by(self.distance(row));
        self.pivot(row, value);
        match leaving {
            Variable::X(i) => {
                let i = i as usize;
                self.at_upper[i] = rises;
                self.enter_partner_of_x(i);
            }
            Variable::Y(i) => {
                let i = i as usize;
                let direction = if self.at_upper[i] { -1.0 } else { 1.0 };
                if let Place::Column(column) = self.place_of_x[i] {
                    self.entering = (column as usize, direction);
                }
            }
            Variable::T => {}
        }
    }

    fn enter_partner_of_x(&mut self, i: usize) {
        let direction = if self.at_upper[i] { -1.0 } else { 1.0 };
        if let Place::Column(column) = self.place_of_y[i] {
            self.entering = (column as usize, direction);
        }
    }

    /// Exchanges the basic variable of a row with the entering one, which has this value; values have been moved before.
    fn pivot(&mut self, row: usize, entered: f64) {
        let (stride, (column, _)) = (self.n + 1, self.entering);
        let range = row * stride..(row + 1) * stride;
        let inverse = 1.0 / self.entries[range.start + column];
        let pivot_row = &mut self.pivot_row;
        pivot_row.clear();
        pivot_row.extend(self.entries[range.clone()].iter().map(|t| -inverse * t));
        pivot_row[column] = inverse;
        for (i, other) in self.entries.chunks_exact_mut(stride).enumerate() {
            let factor = other[column];
            if i == row || factor == 0.0 {
                continue;
            }
            other[column] = 0.0;
            for (value, own) in other.iter_mut().zip(&*pivot_row) {
                *value += factor * own;
            }
        }
        self.entries[range].copy_from_slice(pivot_row);
        self.value[row] = entered;
        let (entering, leaving) = (self.nonbasic[column], self.basic[row]);
        self.basic[row] = entering;
        self.nonbasic[column] = leaving;
        self.set_place(entering, Place::Row(row as u32));
        self.set_place(leaving, Place::Column(column as u32));
    }

    fn set_place(&mut self, variable: Variable, place: Place) {
        match variable {
            Variable::X(i) => self.place_of_x[i as usize] = place,
            Variable::Y(i) => self.place_of_y[i as usize] = place,
            Variable::T => {}
        }
    }

    /// Values of `x`.
    pub(super) fn values(&mut self) -> &[f64] {
        self.x.clear();
        for (i, place) in self.place_of_x.iter().enumerate() {
            self.x.push(match place {
                Place::Row(row) => self.value[*row as usize],
                Place::Column(_) if self.at_upper[i] => self.upper[i],
                Place::Column(_) => 0.0,
            });
        }
        &self.x
    }

    /// The direction of `x` on the ray on which the path ended.
    pub(super) fn ray(&self) -> Vec<f64> {
        let (entering, direction) = self.entering;
        let rate = |place: &Place| match place {
            Place::Row(row) => self.rate[*row as usize],
            Place::Column(column) if *column as usize == entering => direction,
            Place::Column(_) => 0.0,
        };
        self.place_of_x.iter().map(rate).collect()
    }

    /// Where a variable `x` is.
    pub(super) fn state(&self, i: usize) -> State {
        match self.place_of_x[i] {
            Place::Row(_) => State::Between,
            Place::Column(_) if self.at_upper[i] => State::High,
            Place::Column(_) => State::Low,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Before,
    Same,
    Behind,
}
