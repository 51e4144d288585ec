//! D1-minus: half-explicit time-discontinuous Galerkin scheme of Lagrangian systems, impacts and forces apart [docs/theory.md §12; Schindler-Acary14].
//!
//! ```text
//! at t_k       0 ≤ ÿ ⊥ λ⁺ ≥ 0  in contacts that are closed,  ÿ = 0 in equalities,      a_k = M⁻¹(F + Hᵀλ⁺)
//! prediction   v* = v_k + h a_k,      q_{k+1} = q_k + ½h (v_k + v*)
//! at t_{k+1}   the same of (q_{k+1}, v*): λ⁻, a_{k+1}
//! velocity     v⁻ = v_k + ½h (a_k + a_{k+1}),      𝓡_free(v) = M(q_{k+1})(v − v⁻),      M̂ = M,      z = v_{k+1}
//! impacts      0 ≤ ẏ⁺ + e ẏ(v⁻) ⊥ p ≥ 0  in contacts with y_{k+1} ≤ gap,  ẏ⁺ = 0 in equalities
//! ```
//!
//! Forces are taken explicitly. Of positions alone this is the method of Störmer and Verlet: stable for `h ω < 2` and without a drift of energy; forces of velocities are those of the prediction. It is for
//! soft systems with hard contacts, of second order where no contact is struck, closed contacts included, and of first across impacts, whose times are not looked for. The problems of
//! forces are dense, one for all closed contacts of a simulation, and unlike those of other schemes its steps ask for memory.
//!
//! **Contacts that rest** ([`Resting::Closed`]). Newton's `e` is for contacts that are struck: that come to `y ≤ gap` within the step, or touch and approach at its start. Contacts that touched before and
//! approach are taken without it, `e ẏ(v⁻)` is left out; where they part it counts, so that no energy is made where all `e` are the same.
//! That ends an accumulation when its flights are shorter than a step. What a closed contact does at the end of the step is one impulse `P = ½h λ⁻ + p` in
//!
//! ```text
//! 0 ≤ ẏ⁺ ⊥ P ≥ 0
//! ```
//!
//! so that `ẏ` does not drift where a contact bends or its ground moves: `λ⁻` is off by what makes `ẏ⁺` be 0, `O(h²)`. The contact stays closed while `P > 0`, also where `y` has drifted, `O(h²)`, above `gap`.
//!
//! **The sources' rule** ([`Resting::Bouncing`]) has `e` in every contact, `p` beside `λ⁻`, and contacts are closed by `y` and `ẏ` alone. A step in which a contact is struck has no forces of contacts at all.
//! A ball that rests is then never closed when a step begins: it bounces by `ẏ⁺ = ½ h g e/(1 + e)` in each, and sinks by `½ h² g/(1 + e)`.

use super::super::step::block::{Block, MassOf};
use super::super::step::scheme::{Instant, Scheme};
use crate::algebra::{Matrix, copy, copy_all};
use crate::error::{FieldError, expect_range};
use crate::system::Slope;
use crate::system::state::State;
use smallvec::SmallVec;

/// Parameters of the scheme.
///
/// ```
/// use moreau_systems::*;
/// // A ball that lies on a table: its contact carries the weight as a force.
/// let mut simulation = SystemsSimulation::new(Settings::new(1e-2))?;
/// let weight = LagrangianLinear { force: vec![-9.81].into(), ..LagrangianLinear::new(Matrix::identity(1)) };
/// let ball = simulation.spawn_system(weight, State::lagrangian([0.0], [0.0]), Integrator::d1_minus())?;
/// let gap = LagrangianLinearRelation::new([Matrix::identity(1)]);
/// let table = simulation.spawn_interaction(Joins::one(ball), gap, NonsmoothLaw::NewtonImpact { restitution: 0.9 })?;
/// simulation.step()?;
/// assert!(simulation.outcome(table).is_some_and(|outcome| (outcome.force[0] - 9.81).abs() < 1e-12 && outcome.lambda[0] < 1e-12));
/// # Ok::<(), SystemsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct D1Minus {
    /// Contacts with `y` up to this touch, m. Default 1e-8, that of the sources.
    pub gap: f64,
    /// Contacts that touch with `|ẏ|` up to this rest, m/s. Default 1e-8, that of the sources.
    pub rate: f64,
    /// What contacts do that touched before.
    pub resting: Resting,
}

impl Default for D1Minus {
    fn default() -> Self {
        Self {
            gap: 1e-8,
            rate: 1e-8,
            resting: Resting::default(),
        }
    }
}

/// What contacts do that touched before the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resting {
    /// They are taken without restitution, and stay closed while they push.
    #[default]
    Closed,
    /// The sources' rule: they bounce in every step.
    Bouncing,
}

impl D1Minus {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        for (field, value) in [("gap", self.gap), ("rate", self.rate)] {
            let holds = value.is_finite() && value >= 0.0;
            expect_range(field, value, holds, "finite and ≥ 0")?;
        }
        Ok(())
    }
}

/// Its last part: the impacts. What comes before is in `step/half_explicit.rs`, which writes `q_{k+1}` into the state and `M v⁻` into what is known.
impl Scheme for D1Minus {
    fn first(&self, block: &mut Block) {
        copy(&mut block.z, block.start.v());
    }

    fn first_state(&self, block: &mut Block, at: Instant) {
        if let State::Lagrangian { q, .. } = &mut block.state {
            copy_all(q, block.start.q());
        }
        self.state(block, at);
    }

    fn state(&self, block: &mut Block, _at: Instant) {
        if let State::Lagrangian { v, .. } = &mut block.state {
            copy_all(v, &block.z);
        }
    }

    fn known(&self, _block: &mut Block, _at: Instant) {}

    fn missed(&self, block: &mut Block, _at: Instant) {
        block.take_mass(MassOf::Iterate);
        let Block { mass, missed, .. } = block;
        let v = block.state.v();
        missed.add_written(1.0, |momentum| mass.add_times(1.0, v, momentum));
        missed.add(-1.0, &block.known);
    }

    fn take_mass(&self, block: &mut Block, _at: Instant) {
        block.take_mass(MassOf::Iterate);
    }

    fn slopes(&self, _at: Instant) -> SmallVec<[(Slope, f64); 2]> {
        SmallVec::new()
    }

    fn slope(&self, _of: Slope, _block: &mut Block, _at: Instant, _matrix: &mut Matrix) {}

    fn position_slope(&self, _at: Instant) -> f64 {
        0.0
    }

    fn force_weight(&self, at: Instant) -> f64 {
        at.h
    }
}
