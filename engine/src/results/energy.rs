//! The energies of a step.

use serde::{Deserialize, Serialize};

/// Energies at the end of a step and the work done during it, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyLedger {
    /// Kinetic energy of the dynamic bodies at `t_{k+1}`.
    pub kinetic: f64,
    /// Potential energy in gravity at `t_{k+1}`, zero at the origin.
    pub potential: f64,
    /// Work of external wrenches and of driven boundaries.
    pub work_external: f64,
    /// Work of tangential contact impulses, ≤ 0 against fixed ground.
    pub work_friction: f64,
    /// Work of normal contact impulses.
    pub work_impact: f64,
    /// Work of the locked axes of joints: of second order in `h`, and bounded where nothing pushes.
    #[serde(default)]
    pub work_joints: f64,
    /// Work of springs, motors, friction, limits and ropes of joints.
    #[serde(default)]
    pub work_drives: f64,
    /// Potential energy gained because a position moved otherwise than with the mean velocity:
    /// θ ≠ ½, and projection.
    pub work_drift: f64,
    /// Error of the torque-free rotation's splitting, O(h²) and bounded over time.
    pub work_gyroscopic: f64,
    /// Kinetic energy taken from bodies that fell asleep, ≤ 0.
    #[serde(default)]
    pub work_sleep: f64,
    /// What is left over: rounding.
    pub energy_gap: f64,
}

impl EnergyLedger {
    /// Kinetic plus potential energy, J.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Takes the kinetic energy of bodies that fall asleep (J, ≥ 0) out of the balance of the step.
    pub(crate) fn fall_asleep(&mut self, kinetic: f64) {
        self.kinetic = (self.kinetic - kinetic).max(0.0);
        self.work_sleep -= kinetic;
    }

    /// Adds the work of `step` and takes over its energies.
    pub fn accumulate(&mut self, step: &Self) {
        *self = Self {
            kinetic: step.kinetic,
            potential: step.potential,
            work_external: self.work_external + step.work_external,
            work_friction: self.work_friction + step.work_friction,
            work_impact: self.work_impact + step.work_impact,
            work_joints: self.work_joints + step.work_joints,
            work_drives: self.work_drives + step.work_drives,
            work_drift: self.work_drift + step.work_drift,
            work_gyroscopic: self.work_gyroscopic + step.work_gyroscopic,
            work_sleep: self.work_sleep + step.work_sleep,
            energy_gap: self.energy_gap + step.energy_gap,
        };
    }
}
