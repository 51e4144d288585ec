//! Settings as they stand in files.

use super::{
    Accuracy, Activation, Advanced, DelassusForm, JointOrder, Projection, RotationUpdate, Settings,
    SleepSettings, Theta,
};
use crate::components::Combine;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// The keys of a table of settings.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SettingsFile {
    time_step: f64,
    gravity: DVec3,
    accuracy: Accuracy,
    solver: SolverTable,
    delassus: DelassusForm,
    activation: Activation,
    theta: Theta,
    rotation: RotationUpdate,
    joint_order: JointOrder,
    margin: f64,
    restitution_threshold: Option<f64>,
    combine_friction: Combine,
    combine_restitution: Combine,
    warm_start: bool,
    projection: Projection,
    sleeping: SleepSettings,
    threads: usize,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SolverTable {
    tolerance: Option<f64>,
    velocity_tolerance: Option<f64>,
    min_sweeps: Option<usize>,
    max_sweeps: Option<usize>,
    parallel_from: Option<usize>,
    simd: Option<bool>,
    momentum: Option<f64>,
    max_factorizations: Option<usize>,
}

impl Default for SettingsFile {
    fn default() -> Self {
        Settings::default().into()
    }
}

impl From<Settings> for SettingsFile {
    fn from(settings: Settings) -> Self {
        let advanced = settings.advanced;
        Self {
            time_step: settings.time_step,
            gravity: settings.gravity,
            accuracy: settings.accuracy,
            solver: SolverTable {
                tolerance: settings.tolerance,
                velocity_tolerance: settings.velocity_tolerance,
                min_sweeps: advanced.min_sweeps,
                max_sweeps: advanced.max_sweeps,
                parallel_from: advanced.parallel_from,
                simd: advanced.simd,
                momentum: advanced.momentum,
                max_factorizations: advanced.max_factorizations,
            },
            delassus: advanced.delassus,
            activation: settings.activation,
            theta: settings.theta,
            rotation: settings.rotation,
            joint_order: settings.joint_order,
            margin: settings.margin,
            restitution_threshold: settings.restitution_threshold,
            combine_friction: settings.combine_friction,
            combine_restitution: settings.combine_restitution,
            warm_start: settings.warm_start,
            projection: settings.projection,
            sleeping: settings.sleeping,
            threads: settings.threads,
        }
    }
}

impl From<SettingsFile> for Settings {
    fn from(file: SettingsFile) -> Self {
        let solver = file.solver;
        Self {
            time_step: file.time_step,
            gravity: file.gravity,
            accuracy: file.accuracy,
            tolerance: solver.tolerance,
            velocity_tolerance: solver.velocity_tolerance,
            activation: file.activation,
            theta: file.theta,
            rotation: file.rotation,
            joint_order: file.joint_order,
            margin: file.margin,
            restitution_threshold: file.restitution_threshold,
            combine_friction: file.combine_friction,
            combine_restitution: file.combine_restitution,
            warm_start: file.warm_start,
            projection: file.projection,
            sleeping: file.sleeping,
            threads: file.threads,
            advanced: Advanced {
                min_sweeps: solver.min_sweeps,
                max_sweeps: solver.max_sweeps,
                parallel_from: solver.parallel_from,
                simd: solver.simd,
                momentum: solver.momentum,
                max_factorizations: solver.max_factorizations,
                delassus: file.delassus,
            },
        }
    }
}
