//! Actuators: what is done to a system as a function of held readings, at instants of their own, and held between.

use super::clock::Clock;
use crate::algebra::Matrix;
use crate::error::{FieldError, expect_length, expect_range, expect_shape};
use crate::system::signal::Signal;
use bevy_ecs::prelude::*;
use std::sync::Arc;

/// The component that makes an entity an actuator of a system: `B u` is a force of a Lagrangian system, a part of the right side of a first-order one, the
/// same throughout each step. [`Command`] is its result.
#[derive(Component, Clone)]
#[require(Command)]
pub struct Actuator {
    /// The system.
    pub system: Entity,
    /// The sensors that it knows, of any system.
    pub sensors: Vec<Entity>,
    /// `B`: a row for each coordinate of the system, a column for each entry of `u`.
    pub input: Arc<Matrix>,
    /// `u` as a function of readings.
    pub controller: Arc<dyn Controller>,
    /// When.
    pub clock: Clock,
}

/// `u` that an actuator holds.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// `u`. Empty before the first instant, when the actuator does nothing.
    pub values: Vec<f64>,
    /// When it was computed, s.
    pub time: f64,
    /// Number of the instant that it belongs to.
    pub instant: Option<u64>,
}

/// A law of control.
pub trait Controller: Send + Sync {
    /// Entries of `u`, at least one.
    fn size(&self) -> usize;

    /// Refuses sensors of the wrong number or size, and a period that it is not made for, s.
    ///
    /// # Errors
    /// [`FieldError`] says what does not fit.
    fn check(&self, _sensors: &[usize], _period: f64) -> Result<(), FieldError> {
        Ok(())
    }

    /// Writes `u` at the time `t`, s, from what the sensors hold, in the order of the actuator's list; a sensor that has read nothing yet holds zeros. Before, `command` is
    /// the `u` held so far, zeros at first: all the memory that a controller has, so that it may integrate. Entries that are not finite are an error of the step.
    fn command(&self, t: f64, readings: &[&[f64]], command: &mut [f64]);
}

/// `u = w(t) − Σ K_i y_i`.
#[derive(Clone, Debug)]
pub struct LinearFeedback {
    /// `K_i`, a matrix for each sensor.
    pub gains: Vec<Matrix>,
    /// `w(t)`.
    pub reference: Signal,
}

impl LinearFeedback {
    /// `u = −Σ K_i y_i`, with a matrix for each sensor.
    #[must_use]
    pub fn new(gains: impl Into<Vec<Matrix>>) -> Self {
        Self {
            gains: gains.into(),
            reference: Signal::Zero,
        }
    }
}

impl Controller for LinearFeedback {
    fn size(&self) -> usize {
        self.gains.first().map_or(0, Matrix::rows)
    }

    fn check(&self, sensors: &[usize], _period: f64) -> Result<(), FieldError> {
        let m = self.size();
        expect_length("gains", self.gains.len(), sensors.len())?;
        for (gain, size) in self.gains.iter().zip(sensors) {
            expect_shape("gains", gain, [m, *size])?;
        }
        expect_length("reference", self.reference.len().unwrap_or(m), m)
    }

    fn command(&self, t: f64, readings: &[&[f64]], command: &mut [f64]) {
        command.fill(0.0);
        self.reference.add_to(t, 1.0, command);
        for (gain, reading) in self.gains.iter().zip(readings) {
            gain.add_times(-1.0, reading, command);
        }
    }
}

/// A law of control given as a function: see [`feedback`].
struct Feedback<F> {
    size: usize,
    command: F,
}

/// A law of control with `size` entries of `u`, as a function of the time (s) and the readings; it changes the `u` held so far.
pub fn feedback(
    size: usize,
    command: impl Fn(f64, &[&[f64]], &mut [f64]) + Send + Sync,
) -> impl Controller {
    Feedback { size, command }
}

impl<F: Fn(f64, &[&[f64]], &mut [f64]) + Send + Sync> Controller for Feedback<F> {
    fn size(&self) -> usize {
        self.size
    }

    fn command(&self, t: f64, readings: &[&[f64]], command: &mut [f64]) {
        (self.command)(t, readings, command);
    }
}

impl Actuator {
    /// An actuator that does `B u` to a system.
    #[must_use]
    pub fn new(
        system: Entity,
        sensors: impl Into<Vec<Entity>>,
        input: Matrix,
        controller: impl Controller + 'static,
        clock: Clock,
    ) -> Self {
        Self {
            system,
            sensors: sensors.into(),
            input: Arc::new(input),
            controller: Arc::new(controller),
            clock,
        }
    }

    /// `n` coordinates of the system, entries of each sensor, and the `h` of time stepping.
    pub(super) fn check(
        &self,
        n: usize,
        sensors: &[usize],
        h: Option<f64>,
    ) -> Result<(), FieldError> {
        self.clock.check(h)?;
        let m = self.controller.size();
        expect_range("controller.size", m as f64, m > 0, "≥ 1")?;
        expect_shape("input", &self.input, [n, m])?;
        self.controller.check(sensors, self.clock.period)
    }
}
