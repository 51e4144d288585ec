//! What a step needs of an integrator.

use super::block::Block;
use crate::algebra::{Matrix, Row, add, clear, norm, zeros};
use crate::integrator::Integrator;
use crate::system::Slope;
use smallvec::SmallVec;

/// The step `t_k → t_k + h`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant {
    /// `t_k`, s.
    pub(crate) t: f64,
    /// s.
    pub(crate) h: f64,
}

impl Instant {
    /// `t_{k+1}`.
    pub(crate) fn end(&self) -> f64 {
        self.t + self.h
    }
}

/// A residual, and how large the terms are that it is the sum of.
#[derive(Clone, Debug)]
pub(crate) struct Missed {
    pub(crate) sum: Row,
    /// Where the next term is worked out.
    pub(crate) term: Row,
    terms: f64,
    /// Squares of terms, and what each is multiplied by: their roots are taken when the size is asked for.
    pub(crate) squares: [f64; 4],
    pub(crate) factors: [f64; 4],
    /// Sizes of the terms row by row, of systems that are not worked out by squares.
    pub(crate) rows: Row,
}

impl Missed {
    pub(crate) fn new(n: usize) -> Self {
        Self {
            sum: zeros(n),
            term: zeros(n),
            terms: 0.0,
            squares: [0.0; 4],
            factors: [0.0; 4],
            rows: zeros(n),
        }
    }

    /// How large the terms are, together.
    pub(crate) fn size(&self) -> f64 {
        let parts = self.squares.iter().zip(self.factors);
        let parts: f64 = parts.map(|(square, factor)| factor * square.sqrt()).sum();
        self.terms + parts
    }

    /// No terms.
    pub(crate) fn begin(&mut self) {
        self.sum.fill(0.0);
        self.rows.fill(0.0);
        (self.terms, self.squares) = (0.0, [0.0; 4]);
    }

    /// Adds `factor · term`.
    pub(crate) fn add(&mut self, factor: f64, term: &[f64]) {
        add(&mut self.sum, factor, term);
        add_sizes(&mut self.rows, factor, term);
        self.terms += factor.abs() * norm(term);
    }

    /// Adds `factor` times what is written to zeros.
    pub(crate) fn add_written(&mut self, factor: f64, write: impl FnOnce(&mut [f64])) {
        self.term.fill(0.0);
        write(&mut self.term);
        add(&mut self.sum, factor, &self.term);
        add_sizes(&mut self.rows, factor, &self.term);
        self.terms += factor.abs() * norm(&self.term);
    }

    /// A quantity that the terms are differences of, written to zeros: its rounding is in them.
    pub(crate) fn beside(&mut self, write: impl FnOnce(&mut [f64])) {
        self.term.fill(0.0);
        write(&mut self.term);
        add_sizes(&mut self.rows, 1.0, &self.term);
        self.terms += norm(&self.term);
    }
}

/// `sizes ← sizes + |factor term|`.
fn add_sizes(sizes: &mut [f64], factor: f64, term: &[f64]) {
    for (size, term) in sizes.iter_mut().zip(term) {
        *size += (factor * term).abs();
    }
}

/// A one-step integrator: an unknown `z` a system, with `z = z^τ − M̂⁻¹(𝓡_free(z^τ) − Σ B λ)`. Everything is written into the block.
pub(crate) trait Scheme {
    /// The first iterate: `block.z`.
    fn first(&self, block: &mut Block);

    /// The state that goes with the first iterate, where it is another than [`Scheme::state`].
    fn first_state(&self, block: &mut Block, at: Instant) {
        self.state(block, at);
    }

    /// The state at the end of the step that `block.z` stands for: `block.state`.
    fn state(&self, block: &mut Block, at: Instant);

    /// Where rigid relations hold if that is not at the end: `block.between`.
    fn between(&self, _block: &mut Block, _at: Instant) {}

    /// The part of `−𝓡_free` that does not depend on `z`: `block.known`, zero before.
    fn known(&self, block: &mut Block, at: Instant);

    /// `𝓡_free` at `block.state`: `block.missed`, without terms before.
    fn missed(&self, block: &mut Block, at: Instant);

    /// `M` as `M̂` has it at `block.state`: `block.mass`.
    fn take_mass(&self, block: &mut Block, at: Instant);

    /// What `M̂` is beside `M`, without what relations add to it: a sum of slopes, each times a weight.
    fn slopes(&self, at: Instant) -> SmallVec<[(Slope, f64); 2]>;

    /// One of these slopes, of `block.state`; `matrix` is zero before.
    fn slope(&self, of: Slope, block: &mut Block, at: Instant, matrix: &mut Matrix);

    /// `∂q/∂z`, of Lagrangian systems a multiple of the unit matrix: s for `z = v`, 1 for `z = q`.
    fn position_slope(&self, at: Instant) -> f64;

    /// What a force, or the `r` of a first-order system, is multiplied by in `𝓡`.
    fn force_weight(&self, at: Instant) -> f64;
}

impl Integrator {
    pub(crate) fn scheme(&self) -> &dyn Scheme {
        match self {
            Self::MoreauJean(scheme) => scheme,
            Self::SchatzmanPaoli(scheme) => scheme,
            Self::EulerMoreau(scheme) => scheme,
            Self::ZeroOrderHold(scheme) => scheme,
            Self::D1Minus(scheme) => scheme,
        }
    }
}

/// Adds `factor` times what is written to zeros, in the memory of `space`.
pub(crate) fn add_written(
    sum: &mut [f64],
    space: &mut Row,
    factor: f64,
    write: impl FnOnce(&mut [f64]),
) {
    clear(space, sum.len());
    write(space);
    add(sum, factor, space);
}
