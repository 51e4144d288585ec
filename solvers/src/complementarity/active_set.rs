//! Active sets on the convex quadratic programme (NSQP), for symmetric positive semi-definite `M`: principal pivoting after Keller
//! [Keller73, Cottle-Pang-Stone92 ch. 4].
//!
//! The problem is the optimality of `min ½ zᵀMz + qᵀz` over the boxes. `F` are the rows with `w = 0`, the others are at bounds. While a row `i`
//! has a velocity of the wrong sign it is moved inwards, and `F` with it such that `w_F` stays zero:
//!
//! ```text
//! d_i = ±1,   M_FF d_F = −M_Fi d_i,   c = M_ii + M_iF d_F d_i ≥ 0          c: how w_i changes
//! ```
//!
//! until `w_i = 0` (then `i` joins `F`), or it comes to its other bound, or a row of `F` comes to a bound and leaves `F`, and `i` moves on.
//! `M_FF` stays positive definite: a row joins only if `c > 0`. If `c = 0` and nothing comes to a bound, `d` is a direction with `Md = 0` and `qᵀd < 0`:
//! a certificate that there is no solution. The objective falls with every step of positive length; after a step of length zero the
//! first row of the wrong sign is taken, before that the worst one [Murty88, Cottle-Pang-Stone92].
//!
//! **When to use it:** symmetric problems, exact answers. **When not:** unsymmetric `M`, which is refused; negative curvature ends
//! as `Stopped`. **Cost:** a factorisation of `M_FF` a step.

use super::BoxProblem;
use super::basis::{Basis, State};
use super::box_problem::dot;
use super::dense_lu::DenseLu;
use super::method::{Memory, Method, Trial, require_symmetry, solver_of_boxes};
use crate::ProblemError;

/// Settings of [`ActiveSet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActiveSetSettings {
    /// Budget of steps. Default 20 000.
    pub max_steps: usize,
}

impl Default for ActiveSetSettings {
    fn default() -> Self {
        Self { max_steps: 20_000 }
    }
}

/// The method and its buffers.
#[derive(Debug, Default)]
pub struct ActiveSet {
    /// Settings of the next solve.
    pub settings: ActiveSetSettings,
    pub(super) memory: Memory,
    basis: Basis,
    lu: DenseLu,
}

impl ActiveSet {
    /// A solver with empty buffers.
    #[must_use]
    pub fn new(settings: ActiveSetSettings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }
}

/// Velocities below this part of the largest term, and curvatures below it, are rounding.
const ROUNDING: f64 = 1e-11;

solver_of_boxes!(ActiveSet);

impl Method for ActiveSet {
    const NAME: &'static str = "active sets";

    fn admits(&self, problem: &BoxProblem) -> Result<(), ProblemError> {
        require_symmetry(Self::NAME, problem)
    }

    fn run(&mut self, problem: &BoxProblem, trial: &mut Trial<'_>) {
        let mut walk = Walk::new(problem);
        let mut moving = None;
        for _ in 0..self.settings.max_steps {
            let Some((row, sign)) = moving.take().or_else(|| walk.wrong_row()) else {
                walk.judge(&mut self.basis, trial);
                return;
            };
            trial.report.iterations += 1;
            trial.report.factorizations += 1;
            match walk.step(&mut self.lu, row, sign) {
                Step::Done => {}
                Step::Again => moving = Some((row, sign)),
                Step::Ray(direction) => {
                    trial.judge(&walk.z);
                    trial.end_on_ray(direction);
                    return;
                }
                Step::Lost => break,
            }
            if trial.finished() {
                break;
            }
        }
        walk.judge(&mut self.basis, trial);
    }

    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }
}

enum Step {
    /// The row is done.
    Done,
    /// Another row left; this one moves on.
    Again,
    /// Nothing ends the step.
    Ray(Vec<f64>),
    /// `M_FF` is singular, or the curvature negative.
    Lost,
}

/// A point and its active set.
struct Walk<'a> {
    problem: &'a BoxProblem,
    states: Vec<State>,
    /// Free rows that have not joined `F` yet are at no bound.
    idle: Vec<bool>,
    z: Vec<f64>,
    w: Vec<f64>,
    /// The last step had length zero.
    stalled: bool,
    direction: Vec<f64>,
}

impl<'a> Walk<'a> {
    fn new(problem: &'a BoxProblem) -> Self {
        let n = problem.len();
        let (mut states, mut z) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for row in 0..n {
            let (low, high) = (problem.low()[row], problem.high()[row]);
            let (state, start) = if low.is_finite() {
                (State::Low, low)
            } else if high.is_finite() {
                (State::High, high)
            } else {
                (State::Between, 0.0)
            };
            states.push(state);
            z.push(start);
        }
        let mut w = Vec::new();
        problem.image(&z, &mut w);
        Self {
            problem,
            idle: (0..n).map(|row| problem.is_free(row)).collect(),
            states,
            z,
            w,
            stalled: false,
            direction: vec![0.0; n],
        }
    }

    /// The size of velocities, in the scaled variables.
    fn size(&self) -> f64 {
        let terms = self
            .z
            .iter()
            .zip(self.problem.q())
            .zip(self.problem.scales());
        terms.fold(0.0, |size: f64, ((z, q), scale)| {
            let root = scale.sqrt();
            size.max(z.abs() * root).max(q.abs() / root)
        })
    }

    /// A row whose velocity has the wrong sign, and the direction that mends it.
    fn wrong_row(&self) -> Option<(usize, f64)> {
        let bound = ROUNDING * self.size();
        let mut worst = None;
        let mut largest = bound;
        for row in 0..self.z.len() {
            let w = self.w[row] / self.problem.scales()[row].sqrt();
            let wrong = match self.states[row] {
                State::Low => -w,
                State::High => w,
                State::Between if self.idle[row] => w.abs(),
                State::Between => 0.0,
            };
            if wrong > largest {
                worst = Some((row, if w < 0.0 { 1.0 } else { -1.0 }));
                if self.stalled {
                    break;
                }
                largest = wrong;
            }
        }
        worst
    }

    /// Moves a row inwards until something happens.
    fn step(&mut self, lu: &mut DenseLu, row: usize, sign: f64) -> Step {
        let problem = self.problem;
        let n = problem.len();
        let root = |i: usize| problem.scales()[i].sqrt();
        let scaled = |i: usize, j: usize| problem.matrix()[i * n + j] / (root(i) * root(j));
        let inside: Vec<usize> = (0..n)
            .filter(|i| self.states[*i] == State::Between && !self.idle[*i] && *i != row)
            .collect();
        if !lu.factorize(inside.len(), |i, j| scaled(inside[i], inside[j])) {
            return Step::Lost;
        }
        let mut d: Vec<f64> = inside.iter().map(|i| -sign * scaled(*i, row)).collect();
        lu.solve(&mut d);
        self.direction.fill(0.0);
        self.direction[row] = sign / root(row);
        for (i, d) in inside.iter().zip(&d) {
            self.direction[*i] = d / root(*i);
        }
        let own = dot(problem.row(row), &self.direction);
        // Scaled: a product of the direction with itself, at most 1 or so without cancelling.
        let curvature = own * self.direction[row];
        if curvature < -1e3 * ROUNDING {
            return Step::Lost;
        }
        let is_flat = curvature <= ROUNDING;
        let until_zero = if is_flat {
            f64::INFINITY
        } else {
            (-self.w[row] / own).max(0.0)
        };
        let (mut length, mut first) = (until_zero, None);
        for i in inside.iter().copied().chain([row]) {
            let d = self.direction[i];
            let end = if d < 0.0 {
                problem.low()[i]
            } else {
                problem.high()[i]
            };
            let way = (end - self.z[i]) / d;
            if d.abs() * root(i) > ROUNDING && way < length {
                (length, first) = (way.max(0.0), Some(i));
            }
        }
        if length == f64::INFINITY {
            return Step::Ray(self.direction.clone());
        }
        for (z, d) in self.z.iter_mut().zip(&self.direction) {
            *z += length * d;
        }
        self.stalled = length <= ROUNDING * self.size();
        let result = match first {
            None => {
                self.states[row] = State::Between;
                self.idle[row] = false;
                Step::Done
            }
            Some(i) => {
                let up = self.direction[i] > 0.0;
                self.states[i] = if up { State::High } else { State::Low };
                self.z[i] = if up {
                    problem.high()[i]
                } else {
                    problem.low()[i]
                };
                if i == row { Step::Done } else { Step::Again }
            }
        };
        problem.image(&self.z, &mut self.w);
        result
    }

    /// Shows the point, and the one of its active set solved anew, to the judge.
    fn judge(&self, basis: &mut Basis, trial: &mut Trial<'_>) {
        let mut z = Vec::new();
        if basis.point(self.problem, &self.states, &mut z) {
            for (row, z) in z.iter_mut().enumerate() {
                *z = self.problem.clamp(row, *z);
            }
            trial.judge(&z);
        }
        if !trial.converged() {
            trial.judge(&self.z);
        }
    }
}
