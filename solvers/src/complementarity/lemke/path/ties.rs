//! Rows that come to their bounds together: the lexicographic order.

use super::{Path, Variable, refill};

/// Coefficients of powers of `ε` that differ by less are equal.
const LEXICOGRAPHIC: f64 = 1e-9;

impl Path {
    /// Of the rows that tie, the one that is first under the perturbation; none if the flip of the entering variable is.
    pub(super) fn first_of_ties(&mut self, flips: bool) -> Option<usize> {
        let mut best = *self.ties.first()?;
        if self.ties.len() == 1 && !flips {
            return Some(best);
        }
        let [mut own, mut theirs] = std::mem::take(&mut self.orders);
        self.perturbation(best, &mut own);
        for k in 1..self.ties.len() {
            let row = self.ties[k];
            self.perturbation(row, &mut theirs);
            let steeper = self.rate[row].abs() > self.rate[best].abs();
            if is_before(&theirs, &own, steeper) {
                best = row;
                std::mem::swap(&mut own, &mut theirs);
            }
        }
        refill(&mut theirs, self.n, 0.0);
        let flips = flips && !is_before(&own, &theirs, false);
        self.orders = [own, theirs];
        (!flips).then_some(best)
    }

    /// The coefficients of `ε, ε², …` in the step at which a row comes to its bound: `∂(value)/∂q_i` over its rate.
    fn perturbation(&mut self, row: usize, orders: &mut Vec<f64>) {
        let inner = self.inner.iter().position(|(_, own)| *own as usize == row);
        match (inner, self.basic[row]) {
            (None, Variable::Y(i)) => {
                self.gather_row(i);
                self.inverse.row_times(&self.gathered, &mut self.across);
            }
            (inner, _) => {
                self.across.clear();
                let own = inner.map(|place| self.inverse.row(place));
                self.across.extend_from_slice(own.unwrap_or_default());
            }
        }
        let rate = self.rate[row];
        refill(orders, self.n, 0.0);
        for (i, derivative) in self.fixed.iter().zip(&self.across) {
            orders[*i as usize] = derivative / rate;
        }
        if let Variable::Y(i) = self.basic[row] {
            orders[i as usize] = -1.0 / rate;
        }
    }
}

/// Which of two rows comes to its bound first, by the coefficients of `ε, ε², …`: the first, or it is the steeper one and rounding hides the order.
fn is_before(own: &[f64], other: &[f64], is_steeper: bool) -> bool {
    for (own, other) in own.iter().zip(other) {
        let difference = own - other;
        if difference.abs() > LEXICOGRAPHIC * (own.abs() + other.abs()).max(1.0) {
            return difference < 0.0;
        }
    }
    is_steeper
}
