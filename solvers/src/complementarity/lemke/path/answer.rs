//! What the end of the path says of `x`.

use super::{NONE, Path, Variable};
use crate::complementarity::basis::State;

impl Path {
    /// Values of `x`.
    pub(in crate::complementarity::lemke) fn values(&mut self) -> &[f64] {
        self.x.clear();
        for (i, row) in self.row_of_x.iter().enumerate() {
            self.x.push(match *row {
                NONE if self.at_upper[i] => self.upper[i],
                NONE => 0.0,
                row => self.value[row as usize],
            });
        }
        &self.x
    }

    /// The direction of `x` on the ray on which the path ended.
    pub(in crate::complementarity::lemke) fn ray(&self) -> Vec<f64> {
        let (entering, direction) = self.entering;
        let rate = |(i, row): (usize, &u32)| match *row {
            NONE if entering == Variable::X(i as u32) => direction,
            NONE => 0.0,
            row => self.rate[row as usize],
        };
        self.row_of_x.iter().enumerate().map(rate).collect()
    }

    /// Where a variable `x` is.
    pub(in crate::complementarity::lemke) fn state(&self, i: usize) -> State {
        match self.row_of_x[i] {
            NONE if self.at_upper[i] => State::High,
            NONE => State::Low,
            _ => State::Between,
        }
    }
}
