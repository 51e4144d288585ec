//! Euler–Moreau, the `θ–γ` schemes of first-order systems [docs/theory.md §12; developers' notes, *standard* and *full θ–γ scheme*].
//!
//! ```text
//! standard:  M (x − x_k) = hθ f(t_{k+1}, x) + h(1−θ) f(t_k, x_k) + hγ r_{k+1} + h(1−γ) r_k,      law at t_{k+1}
//! full:      M (x − x_k) = hθ f(t_{k+1}, x) + h(1−θ) f(t_k, x_k) + h r_{k+γ},                    law at t_{k+γ}
//!
//! between:   h f(t_{k+θ}, x_{k+θ})  for  hθ f(t_{k+1}, x) + h(1−θ) f(t_k, x_k)
//!
//! M̂ = M − hθ ∂f/∂x − hγ ∂g/∂x,      z = x_{k+1},      W = D + hγ C M̂⁻¹ B in both
//! ```
//!
//! `x_{k+γ} = γ x_{k+1} + (1−γ) x_k`. `r_k` is what acted in the step before; zero at the start. With `γ = 0` no `λ` of the step acts on its `x_{k+1}`, `W = D`: explicit, and stable for small
//! `h` alone.

use super::super::step::block::{Block, MassOf};
use super::super::step::scheme::{Instant, Missed, Scheme, add_written};
use crate::algebra::{Coefficient, Matrix, Row, add, copy, copy_all, dot};
use crate::error::{FieldError, expect_range};
use crate::system::signal::Signal;
use crate::system::state::State;
use crate::system::{Model, Slope};
use smallvec::{SmallVec, smallvec};

/// Parameters of the scheme.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EulerMoreau {
    /// `θ` in [0, 1]: ½ is of second order in smooth motion. Default ½.
    pub theta: f64,
    /// `γ` in [0, 1]. Default 1: multipliers fully implicit. With 0 they are explicit, and the law is solved in `D` alone: the relative degree must be 0.
    pub gamma: f64,
    /// The law holds at `t_{k+γ}` (full scheme) and not at `t_{k+1}` (standard scheme). Default false.
    pub gamma_for_relation: bool,
    /// One `f` at `(t_{k+θ}, x_{k+θ})` and not two at the ends of the step: for `θ = ½` what is quadratic and stays under `f` stays exactly. Default false.
    pub rate_between: bool,
}

impl Default for EulerMoreau {
    fn default() -> Self {
        Self {
            theta: 0.5,
            gamma: 1.0,
            gamma_for_relation: false,
            rate_between: false,
        }
    }
}

impl EulerMoreau {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let theta = (0.0..=1.0).contains(&self.theta);
        expect_range("theta", self.theta, theta, "in [0, 1]")?;
        let gamma = (0.0..=1.0).contains(&self.gamma);
        expect_range("gamma", self.gamma, gamma, "in [0, 1]")
    }

    /// `x_{k+θ}`.
    fn between(&self, [x, start]: [&[f64]; 2], point: &mut Row) {
        copy(point, x);
        point.iter_mut().for_each(|x| *x *= self.theta);
        add(point, 1.0 - self.theta, start);
    }

    /// `r_k` counts.
    pub(crate) fn remembers(&self) -> bool {
        !self.gamma_for_relation && self.gamma < 1.0
    }

    /// `γ` of the point of the step at which the law holds.
    pub(crate) fn law_at(&self) -> f64 {
        if self.gamma_for_relation {
            self.gamma
        } else {
            1.0
        }
    }
}

impl Scheme for EulerMoreau {
    fn first(&self, block: &mut Block) {
        copy(&mut block.z, block.start.x());
    }

    fn state(&self, block: &mut Block, _at: Instant) {
        if let State::FirstOrder { x } = &mut block.state {
            copy_all(x, &block.z);
        }
    }

    fn known(&self, block: &mut Block, at: Instant) {
        let weight = at.h * (1.0 - self.theta);
        if let Some((a, input)) = block.system.small_first_order() {
            let x = block.start.x();
            for (i, known) in block.known.iter_mut().enumerate() {
                *known += weight * (dot(a.row(i), x) + input.constant(i));
            }
        } else if let Model::FirstOrder(model) = block.system.model()
            && self.theta < 1.0
            && !self.rate_between
        {
            add_written(&mut block.known, &mut block.work, weight, |rate| {
                model.rate(at.t, block.start.x(), rate);
            });
        }
        if self.remembers() {
            let weight = at.h * (1.0 - self.gamma);
            add(&mut block.known, weight, &block.reaction_before);
        }
    }

    fn missed(&self, block: &mut Block, at: Instant) {
        block.take_mass(MassOf::Iterate);
        if let Some((a, input)) = block.system.small_first_order()
            && let Coefficient::Dense(mass) = &block.mass
        {
            let states = [block.state.x(), block.start.x()];
            let weight = at.h * self.theta;
            let parts = (mass, a, input);
            return missed_of(parts, states, &block.known, weight, &mut block.missed);
        }
        let Block { mass, missed, .. } = block;
        let (x, start) = (block.state.x(), block.start.x());
        if let Model::FirstOrder(model) = block.system.model() {
            copy(&mut block.work, x);
            add(&mut block.work, -1.0, start);
            missed.add_written(1.0, |change| mass.add_times(1.0, &block.work, change));
            missed.beside(|content| mass.add_times(1.0, x, content));
            if self.rate_between {
                self.between([x, start], &mut block.work);
                let (t, between) = (at.t + self.theta * at.h, &block.work);
                missed.add_written(-at.h, |rate| model.rate(t, between, rate));
            } else {
                missed.add_written(-at.h * self.theta, |rate| model.rate(at.end(), x, rate));
            }
        }
        missed.add(-1.0, &block.known);
    }

    fn take_mass(&self, block: &mut Block, _at: Instant) {
        block.take_mass(MassOf::Iterate);
    }

    fn slopes(&self, at: Instant) -> SmallVec<[(Slope, f64); 2]> {
        smallvec![(Slope::State, -at.h * self.theta)]
    }

    fn slope(&self, _of: Slope, block: &mut Block, at: Instant, matrix: &mut Matrix) {
        if let Model::FirstOrder(model) = block.system.model() {
            if self.rate_between {
                self.between([block.state.x(), block.start.x()], &mut block.work);
                model.rate_by_state(at.t + self.theta * at.h, &block.work, matrix);
            } else {
                model.rate_by_state(at.end(), block.state.x(), matrix);
            }
        }
    }

    fn position_slope(&self, _at: Instant) -> f64 {
        0.0
    }

    fn force_weight(&self, at: Instant) -> f64 {
        if self.gamma_for_relation {
            at.h
        } else {
            at.h * self.gamma
        }
    }
}

/// `𝓡_free` of a small system with constant matrices, all terms of a row at once.
fn missed_of(
    (mass, a, input): (&Matrix, &Matrix, &Signal),
    [x, start]: [&[f64]; 2],
    known: &[f64],
    weight: f64,
    missed: &mut Missed,
) {
    let mut squares = [0.0; 4];
    for (i, (sum, known)) in missed.sum.iter_mut().zip(known).enumerate() {
        let (mut change, mut content) = (0.0, 0.0);
        for ((m, x), start) in mass.row(i).iter().zip(x).zip(start) {
            change += m * (x - start);
            content += m * x;
        }
        let rate = dot(a.row(i), x) + input.constant(i);
        *sum = change - weight * rate - known;
        let terms = [change, content, rate, *known];
        for (square, term) in squares.iter_mut().zip(terms) {
            *square += term * term;
        }
    }
    (missed.squares, missed.factors) = (squares, [1.0, 1.0, weight, 1.0]);
}
