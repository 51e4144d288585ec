//! What every step tells about itself.

use super::energy::EnergyLedger;
use crate::components::BodyId;
use bevy_ecs::prelude::*;
use moreau_solvers::SolverStatus;
use serde::{Deserialize, Serialize};

/// How the solve of a step ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepStatus {
    /// Both figures are within their tolerances, no joint is open, and forces are those of the solved motion.
    Converged,
    /// The budget was spent before one of them was; also the status before the first step.
    #[default]
    Stopped,
    /// No impulse keeps the bodies of an island apart: there is a proof.
    Infeasible,
    /// The impulses of an island grow without bound: its contacts jam.
    Unbounded,
}

impl StepStatus {
    /// There is no solution, as far as is known: no tolerance will help.
    #[must_use]
    pub fn is_without_solution(self) -> bool {
        matches!(self, Self::Infeasible | Self::Unbounded)
    }
}

impl From<SolverStatus> for StepStatus {
    fn from(status: SolverStatus) -> Self {
        match status {
            SolverStatus::Converged => Self::Converged,
            SolverStatus::Infeasible => Self::Infeasible,
            SolverStatus::Unbounded => Self::Unbounded,
            _ => Self::Stopped,
        }
    }
}

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
    /// Stages in which impacts followed others within the step; 0 in most.
    #[serde(default)]
    pub stages: usize,
    /// Contacts that came in after the twelfth round, when none goes any more: their bodies may have been stopped too early; after the last one they may overlap. And pairs of bodies that turn so far that no contact keeps them apart to
    /// the end: they stay where they meet, and go on in the next step.
    #[serde(default)]
    pub last_resorts: usize,
    /// Contacts that carry an impulse.
    pub closed_contacts: usize,
    /// Gauss–Seidel sweeps. Those over an island alone count as its share of the contacts.
    pub sweeps: usize,
    /// Factorisations of the Newton solver, counted like sweeps: none in most steps.
    pub factorizations: usize,
    /// Both residuals are within their tolerances.
    pub converged: bool,
    /// How the solve ended.
    #[serde(default)]
    pub status: StepStatus,
    /// The bodies of the contact that cannot be satisfied, where the status is [`StepStatus::Infeasible`] or
    /// [`StepStatus::Unbounded`]; of several the one farthest from its law.
    #[serde(default)]
    pub conflict: Option<[BodyId; 2]>,
    /// What is left of the worst island, m/s: the root mean square of `λ_α‖F_α‖` over its closed contacts, recomputed from the
    /// definition.
    #[serde(default)]
    pub velocity: f64,
    /// The largest `λ_α‖F_α‖` of a contact, m/s.
    #[serde(default)]
    pub worst_velocity: f64,
    /// The bodies of that contact.
    #[serde(default)]
    pub worst_pair: Option<[BodyId; 2]>,
    /// `e_scaled` of the impulses, recomputed from the definition; dimensionless.
    pub e_scaled: f64,
    /// `e_fclib` of the impulses, recomputed from the definition; depends on the units.
    pub e_fclib: f64,
    /// Deepest overlap that the step's detection found, m: the state at its beginning.
    pub max_penetration: f64,
    /// Deepest overlap that the projection, and what closes joints after it, left at the end of the step although it is beyond its tolerance, m; 0 if none is. It comes to
    /// the next step, whatever the status: bodies that nothing can keep apart stay in each other.
    #[serde(default)]
    pub overlap_left: f64,
    /// The bodies of that overlap.
    #[serde(default)]
    pub overlap_pair: Option<[BodyId; 2]>,
    /// Joints that the step knew.
    #[serde(default)]
    pub joints: usize,
    /// How far a joint is open at the end of the step, m or rad: rounding.
    #[serde(default)]
    pub joint_error: f64,
    /// Largest velocity along a locked axis of a joint at the end of the step, m/s or rad/s: rounding, whether the solve converged or not.
    #[serde(default)]
    pub joint_velocity: f64,
    /// Joints that broke in the step: [`StepState::broken_joints`](crate::StepState::broken_joints) lists them.
    #[serde(default)]
    pub broken_joints: usize,
    /// Linearisations of [`BodyForces`](crate::BodyForces) at a solved motion, after that of the free motion.
    #[serde(default)]
    pub force_loops: usize,
    /// How far such forces are from those of the motion as solved, as the root of a ratio of energies: what is left beside the impulses and the
    /// velocities of the body. Beyond the tolerance of contacts, and 1e-8, the step is not converged.
    #[serde(default)]
    pub force_error: f64,
    /// How far an impulse of a motor or of joint friction is beyond its bounds, N·s or N·m·s.
    #[serde(default)]
    pub box_violation: f64,
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
