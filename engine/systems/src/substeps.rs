//! A time discretisation for each system: equal parts of the step of the simulation.

use crate::error::{FieldError, expect_range};
use bevy_ecs::prelude::*;

/// The system makes so many equal steps, `h/n`, within a step of the simulation; at least 1, which is what a system without it makes. Systems that an interaction joins must
/// have the same number. Sensors read and actuators act at the begin of the whole step; [`Outcome`](crate::Outcome), [`Reaction`](crate::Reaction) and multipliers
/// are those of the last part. Event-driven integration has steps of its own.
///
/// To change it between steps: [`SystemsSimulation::set_substeps`](crate::SystemsSimulation::set_substeps).
///
/// ```
/// use moreau_systems::*;
/// // A slow and a fast decay.
/// let mut simulation = SystemsSimulation::new(Settings::new(0.1))?;
/// let decay = |rate: f64| FirstOrderLinear::new(Matrix::diagonal(&[-rate]));
/// let implicit = Integrator::euler_moreau(1.0);
/// let slow = simulation.spawn_system(decay(1.0), State::first_order([1.0]), implicit)?;
/// let fast = simulation.spawn_system(decay(100.0), State::first_order([1.0]), implicit)?;
/// simulation.set_substeps(fast, Substeps(10))?;
/// simulation.step()?;
/// let x = |system| simulation.state(system).map_or(0.0, |state| state.x()[0]);
/// assert!((x(slow) - 1.0 / 1.1).abs() < 1e-15);
/// assert!((x(fast) - 0.5_f64.powi(10)).abs() < 1e-15);
/// # Ok::<(), SystemsError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Substeps(pub u32);

impl Default for Substeps {
    fn default() -> Self {
        Self(1)
    }
}

impl Substeps {
    pub(crate) fn check(self) -> Result<(), FieldError> {
        expect_range("substeps", f64::from(self.0), self.0 > 0, "≥ 1")
    }
}
