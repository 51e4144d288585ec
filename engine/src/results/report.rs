//! What every step tells about itself.

use super::energy::EnergyLedger;
use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// Certificate, ledger and timings of one step.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Steps made so far, this one included.
    pub step: u64,
    /// Time at the end of the step, s.
    pub t: f64,
    /// Bodies of all kinds.
    pub bodies: usize,
    /// Bodies that sleep at the end of the step.
    #[serde(default)]
    pub sleeping: usize,
    /// Islands of dynamic bodies that are awake at the end of the step; one of its own for a body without
    /// contacts. Not counted, 0, where sleeping is off.
    #[serde(default)]
    pub islands: usize,
    /// Contacts whose law was imposed (`I₁`). Bodies that sleep have none.
    pub contacts: usize,
    /// Rounds in which contacts of bodies that do not meet went, and those of bodies that do came in.
    #[serde(default)]
    pub rounds: usize,
    /// Contacts that came in with the plane of the time at which their bodies meet.
    #[serde(default)]
    pub late_contacts: usize,
    /// Contacts that would have come in after the last round: their bodies may overlap.
    #[serde(default)]
    pub last_resorts: usize,
    /// Contacts that carry an impulse.
    pub closed_contacts: usize,
    /// Gauss–Seidel sweeps.
    pub sweeps: usize,
    /// Factorisations of the Newton solver: none in most steps.
    pub factorizations: usize,
    /// The residual is within the tolerance.
    pub converged: bool,
    /// `e_scaled` of the impulses, recomputed from the definition; dimensionless.
    pub e_scaled: f64,
    /// `e_fclib` of the impulses, recomputed from the definition; depends on the units.
    pub e_fclib: f64,
    /// Deepest overlap that the step's detection found, m: the state at its beginning.
    pub max_penetration: f64,
    /// Largest `max(‖r_T‖ − μ r_N, −r_N, 0)` of a contact, N·s.
    pub cone_violation: f64,
    /// Largest `‖m (v_{k+1} − v_k) − h (m g + f) − Σ ±P‖` of a body, from the committed states, N·s; before
    /// bodies fall asleep.
    pub momentum_residual: f64,
    /// Linearisations of the projection on the constraints.
    pub projections: usize,
    /// Energies and work, J.
    #[serde(flatten)]
    pub energy: EnergyLedger,
    /// Wall time by phase, ms.
    #[serde(flatten)]
    pub timing: StepTiming,
}

/// Wall time of the phases of a step, ms. Never part of a result. Eight readings of the clock a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepTiming {
    /// The sum of the parts.
    pub ms_total: f64,
    /// Components to dense arrays, checks.
    #[serde(default)]
    pub ms_gather: f64,
    /// Free motion.
    #[serde(default)]
    pub ms_free: f64,
    /// Broad and narrow phase; with the free motion of those that wake.
    pub ms_detect: f64,
    /// Index sets, frames, laws, warm start.
    pub ms_assemble: f64,
    /// The one-step nonsmooth problem, certificate included.
    pub ms_solve: f64,
    /// Update and projection.
    pub ms_update: f64,
    /// Ledger, momentum check, dense arrays to components.
    #[serde(default)]
    pub ms_commit: f64,
}
