//! Forces of users in a step [docs/theory.md §5, nearly implicit scheme].
//!
//! The impulse of the forces of a body is a function of the velocity `v` that the step is solved with,
//!
//! ```text
//! p(v) = h θ W(t_{k+1}, q(v), v) + h (1 − θ) W(t_k, q_k, v_k),      S = −∂p/∂v = −h θ (∂W/∂v + ∂W/∂q ∂q/∂v)
//! ```
//!
//! with the pose `q(v)` in which the step then leaves the body. `θ = 1` where `S` of θ = 1 is larger than the mass in some direction, in which case the way of the body
//! is that of θ = 1 as well; else `θ = ½`.
//!
//! 1. **Free motion**, before detection: Newton's method on `M (v − v_free,0) = p(v)` with the whole `S`. Its solution is `v_free`.
//! 2. **Response**: what contacts and joints push changes `v`, and `p` with it, by `−S⁺ (v − v_free)`, where `S⁺` is the part of the symmetric part of `S` with positive
//!    eigenvalues. It enters the problem as rows `n_i` to the world, in which `M̂ = M + S⁺`:
//!
//!    ```text
//!    r_i = −λ_i n_i·(v − v_free),      S⁺ = Σ λ_i n_i n_iᵀ
//!    ```
//!
//!    an equality with the compliance `1/λ_i`. `W` stays symmetric, and the contact laws are exact.
//! 3. **Outer loop**, after the solve: at the solved `v` the forces are linearised again, and `v_free` is that of the new line,
//!    `v_free = v − M̂⁻¹ (M (v − v_free,0) − p(v))` without the impulses of contacts. With forces that are linear there is nothing left.
//!
//! All this is done in coordinates in which the mass is 1, `v = L y`, `L Lᵀ = M⁻¹`: which part of `S` is positive, and what is small, does not depend on
//! units.

mod free;
pub(crate) mod law;
pub(crate) mod linear;
mod linearised;
mod outer;
pub(crate) mod point_spring;
mod rows;
mod scaled;

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::error::{BodyError, StepError};
use crate::joints::Push;
use crate::math::six::{Six, six};
use crate::settings::Settings;
use law::ForceError;
use linearised::Response;
use moreau_solvers::WorldTwist;
use scaled::Scaled;

pub(crate) use outer::Ended;
pub(crate) use rows::ForceRows;

/// The forces of one body in the step.
#[derive(Clone, Copy, Debug, Default)]
struct Forced {
    slot: Slot,
    /// Its place in the list of all forces.
    laws: usize,
    theta: f64,
    scaled: Scaled,
    /// `h (1 − θ) W(t_k, q_k, v_k)`.
    begin: Six,
    /// `y` without the impulse of the forces.
    unforced: Six,
    /// The impulse that is in the free motion.
    free: Six,
    /// `S⁺`.
    response: Response,
    /// Its rows are in the problem: something else may push it.
    held: bool,
    /// Impulses of its rows, those of earlier stages, and their sum over the step.
    own: Six,
    earlier: Six,
    /// What is left of the equation, as a part of what is in it.
    error: f64,
    /// `y` at which the forces were linearised last.
    at: Six,
    /// How far that goes from one such `y` to the solved one, and the error there.
    length: f64,
    last: f64,
    /// What the last look changed of the free motion.
    change: Six,
    fault: Option<(usize, ForceError)>,
}

/// The forces of all bodies in the step.
#[derive(Debug, Default)]
pub(crate) struct Forces {
    /// Of the bodies that are awake, ascending.
    list: Vec<Forced>,
    /// Of the free motion before the last body woke.
    before: Vec<Forced>,
    pub(crate) rows: ForceRows,
    /// Linearisations after the first.
    pub(crate) loops: usize,
    /// Largest [`Forced::error`].
    pub(crate) error: f64,
}

/// The least error from which on the forces of a step are not converged: that of contacts, but no less than what is above all rounding. Where nothing pushes a body
/// its forces are solved to rounding in any case.
const LEAST: f64 = 1e-8;

/// Error from which on the forces of a step are not converged.
fn tolerance(settings: &Settings) -> f64 {
    settings.tolerance().max(LEAST)
}

impl Forces {
    /// A step begins.
    pub(crate) fn begin(&mut self) {
        self.list.clear();
        self.loops = 0;
        self.error = 0.0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The forces are those of the solved motion.
    pub(crate) fn hold(&self, settings: &Settings) -> bool {
        self.error <= tolerance(settings)
    }

    /// The first of the laws that cannot be computed with.
    fn check(&self, bodies: &Bodies) -> Result<(), StepError> {
        let wrong = self.list.iter().find_map(|of| Some((of.slot, of.fault?)));
        wrong.map_or(Ok(()), |(slot, (index, source))| {
            Err(bodies.refused(slot, BodyError::Force { index, source }))
        })
    }

    /// What an impulse changes of the velocity of a body whose forces respond.
    pub(crate) fn change(&self, slot: Slot, push: &Push) -> Option<WorldTwist> {
        let place = self.list.binary_search_by_key(&slot, |of| of.slot).ok()?;
        let Forced {
            scaled, response, ..
        } = &self.list[place];
        let impulse = scaled.of_impulse(&six(push.linear, push.angular));
        Some(scaled.twist(&response.divided(&impulse)))
    }

    /// What rows changed of the angular momentum of each body about its own centre, N·m·s: the rest is in the acting wrench.
    pub(crate) fn late(&self) -> impl Iterator<Item = (Slot, Push)> {
        let held = self.list.iter().filter(|of| of.held);
        held.map(|of| (of.slot, of.scaled.impulse(&of.earlier)))
    }
}
