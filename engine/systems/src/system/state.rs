//! The state of a system.

use crate::algebra::fill;
use bevy_ecs::prelude::*;

/// The state of a system at the present time: it is given when the system is spawned, may be changed between steps, and is written by the step.
#[derive(Component, Clone, Debug, PartialEq)]
pub enum State {
    /// Of a Lagrangian system.
    Lagrangian {
        /// Coordinates `q`, in the units of the model.
        q: Vec<f64>,
        /// Velocities `v = q̇`, right limits.
        v: Vec<f64>,
    },
    /// Of a first-order system: `x`, in the units of the model.
    FirstOrder {
        /// `x`, right limits.
        x: Vec<f64>,
    },
}

impl State {
    /// Coordinates and velocities.
    #[must_use]
    pub fn lagrangian(q: impl Into<Vec<f64>>, v: impl Into<Vec<f64>>) -> Self {
        Self::Lagrangian {
            q: q.into(),
            v: v.into(),
        }
    }

    /// Of a rigid body: position and orientation `(w, x, y, z)`, velocity in the inertial frame, m/s, and angular velocity in the body frame, rad/s.
    #[must_use]
    pub fn body(
        position: [f64; 3],
        orientation: [f64; 4],
        velocity: [f64; 3],
        spin: [f64; 3],
    ) -> Self {
        Self::Lagrangian {
            q: [&position[..], &orientation].concat(),
            v: [velocity, spin].concat(),
        }
    }

    /// A state of first order.
    #[must_use]
    pub fn first_order(x: impl Into<Vec<f64>>) -> Self {
        Self::FirstOrder { x: x.into() }
    }

    /// `q`; empty for a first-order system.
    #[must_use]
    pub fn q(&self) -> &[f64] {
        match self {
            Self::Lagrangian { q, .. } => q,
            Self::FirstOrder { .. } => &[],
        }
    }

    /// `v`; empty for a first-order system.
    #[must_use]
    pub fn v(&self) -> &[f64] {
        match self {
            Self::Lagrangian { v, .. } => v,
            Self::FirstOrder { .. } => &[],
        }
    }

    /// `x`; empty for a Lagrangian system.
    #[must_use]
    pub fn x(&self) -> &[f64] {
        match self {
            Self::FirstOrder { x } => x,
            Self::Lagrangian { .. } => &[],
        }
    }

    /// Takes the values of a state of the same kind and size, without new memory; becomes a copy of any other.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        match (self, other) {
            (
                Self::Lagrangian { q, v },
                Self::Lagrangian {
                    q: other_q,
                    v: other_v,
                },
            ) => {
                fill(q, other_q);
                fill(v, other_v);
            }
            (Self::FirstOrder { x }, Self::FirstOrder { x: other }) => fill(x, other),
            (own, other) => *own = other.clone(),
        }
    }

    /// Appends what [`Self::stacked`] has.
    pub(crate) fn stack_into(&self, stacked: &mut Vec<f64>) {
        for part in [self.q(), self.v(), self.x()] {
            stacked.extend_from_slice(part);
        }
    }

    /// What first-order relations see of the system: `x`, or `q` and `v` one after the other.
    #[must_use]
    pub fn stacked(&self) -> Vec<f64> {
        match self {
            Self::FirstOrder { x } => x.clone(),
            Self::Lagrangian { q, v } => [&q[..], v].concat(),
        }
    }
}
