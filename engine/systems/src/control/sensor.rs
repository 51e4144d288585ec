//! Sensors: what is read of a system, at instants of their own, and held between.

use super::clock::Clock;
use crate::algebra::Matrix;
use crate::error::{FieldError, expect_range, expect_shape};
use crate::system::state::State;
use bevy_ecs::prelude::*;
use std::sync::Arc;

/// Fills zeros from the time, s, and the state then.
pub type ReadingOfState = dyn Fn(f64, &State, &mut [f64]) + Send + Sync;

/// The component that makes an entity a sensor of a system; [`Reading`] is its result.
#[derive(Component, Clone)]
#[require(Reading)]
pub struct Sensor {
    /// The system.
    pub system: Entity,
    /// What is read.
    pub reads: Reads,
    /// When.
    pub clock: Clock,
}

/// What a sensor reads.
#[derive(Clone)]
pub enum Reads {
    /// `y = C x`; `x = (q, v)` of a Lagrangian system.
    Linear(Arc<Matrix>),
    /// `y = h(t, state)`.
    Function {
        /// Entries of `y`.
        size: usize,
        /// `h`.
        read: Arc<ReadingOfState>,
    },
}

/// What a sensor read last; it is held until the next instant.
#[derive(Component, Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// `y`. Empty before the first instant; controllers then see zeros.
    pub values: Vec<f64>,
    /// When it was read, s.
    pub time: f64,
    /// Number of the instant that it belongs to.
    pub instant: Option<u64>,
}

impl Sensor {
    /// `y = C x`; `x = (q, v)` of a Lagrangian system.
    #[must_use]
    pub fn linear(system: Entity, matrix: Matrix, clock: Clock) -> Self {
        let reads = Reads::Linear(Arc::new(matrix));
        Self {
            system,
            reads,
            clock,
        }
    }

    /// `y = h(t, state)` with `size` entries: the function receives the time (s), the state and zeros to fill in.
    #[must_use]
    pub fn function(
        system: Entity,
        size: usize,
        clock: Clock,
        read: impl Fn(f64, &State, &mut [f64]) + Send + Sync + 'static,
    ) -> Self {
        let read = Arc::new(read);
        let reads = Reads::Function { size, read };
        Self {
            system,
            reads,
            clock,
        }
    }

    /// Entries of `y`.
    #[must_use]
    pub fn size(&self) -> usize {
        match &self.reads {
            Reads::Linear(matrix) => matrix.rows(),
            Reads::Function { size, .. } => *size,
        }
    }

    /// `h` is that of time stepping.
    pub(super) fn check(&self, state: &State, h: Option<f64>) -> Result<(), FieldError> {
        self.clock.check(h)?;
        let size = self.size();
        expect_range("reads.size", size as f64, size > 0, "≥ 1")?;
        match &self.reads {
            Reads::Linear(matrix) => {
                let n = state.q().len() + state.v().len() + state.x().len();
                expect_shape("reads", matrix, [size, n])
            }
            Reads::Function { .. } => Ok(()),
        }
    }

    /// `y`.
    pub(super) fn read(&self, t: f64, state: &State) -> Vec<f64> {
        match &self.reads {
            Reads::Linear(matrix) => matrix.times(&state.stacked()),
            Reads::Function { size, read } => {
                let mut values = vec![0.0; *size];
                read(t, state, &mut values);
                values
            }
        }
    }
}
