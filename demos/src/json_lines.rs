//! JSON on stdout. `--log jsonl`: one object a step, one for the run.

use crate::record::Record;
use moreau::{BodyId, StepReport, StepStatus};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Step {
    step: u64,
    t: f64,
    bodies: usize,
    contacts: usize,
    sweeps: usize,
    factorizations: usize,
    converged: bool,
    e_scaled: f64,
    e_fclib: f64,
    max_penetration: f64,
    cone_violation: f64,
    kinetic: f64,
    potential: f64,
    work_external: f64,
    work_friction: f64,
    work_impact: f64,
    energy_gap: f64,
    ms_total: f64,
    ms_detect: f64,
    ms_assemble: f64,
    ms_solve: f64,
    ms_update: f64,
    // Beyond the fixed keys.
    ms_gather: f64,
    ms_free: f64,
    ms_commit: f64,
    closed_contacts: usize,
    momentum_residual: f64,
    projections: usize,
    work_drift: f64,
    work_gyroscopic: f64,
    work_sleep: f64,
    sleeping: usize,
    islands: usize,
    status: StepStatus,
    conflict: Option<[BodyId; 2]>,
    velocity: f64,
    worst_velocity: f64,
    worst_pair: Option<[BodyId; 2]>,
    rounds: usize,
    late_contacts: usize,
    stages: usize,
    last_resorts: usize,
    overlap_left: f64,
    overlap_pair: Option<[BodyId; 2]>,
    joints: usize,
    joint_error: f64,
    joint_velocity: f64,
    broken_joints: usize,
    box_violation: f64,
    work_joints: f64,
    work_drives: f64,
}

#[derive(Serialize)]
struct Last {
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    steps: u64,
    bodies: usize,
    contacts: usize,
    ms_per_step_median: f64,
    e_scaled_max: f64,
    e_scaled_median: f64,
    max_penetration: f64,
    energy_gap: f64,
    hash: String,
}

pub(crate) fn write_step(out: &mut impl Write, report: &StepReport) -> io::Result<()> {
    let (energy, timing) = (&report.energy, &report.timing);
    let step = Step {
        step: report.step,
        t: report.t,
        bodies: report.bodies,
        contacts: report.contacts,
        sweeps: report.sweeps,
        factorizations: report.factorizations,
        converged: report.converged,
        e_scaled: report.e_scaled,
        e_fclib: report.e_fclib,
        max_penetration: report.max_penetration,
        cone_violation: report.cone_violation,
        kinetic: energy.kinetic,
        potential: energy.potential,
        work_external: energy.work_external,
        work_friction: energy.work_friction,
        work_impact: energy.work_impact,
        energy_gap: energy.energy_gap,
        ms_total: timing.ms_total,
        ms_detect: timing.ms_detect,
        ms_assemble: timing.ms_assemble,
        ms_solve: timing.ms_solve,
        ms_update: timing.ms_update,
        ms_gather: timing.ms_gather,
        ms_free: timing.ms_free,
        ms_commit: timing.ms_commit,
        closed_contacts: report.closed_contacts,
        momentum_residual: report.momentum_residual,
        projections: report.projections,
        work_drift: energy.work_drift,
        work_gyroscopic: energy.work_gyroscopic,
        work_sleep: energy.work_sleep,
        sleeping: report.sleeping,
        islands: report.islands,
        status: report.status,
        conflict: report.conflict,
        velocity: report.velocity,
        worst_velocity: report.worst_velocity,
        worst_pair: report.worst_pair,
        rounds: report.rounds,
        late_contacts: report.late_contacts,
        stages: report.stages,
        last_resorts: report.last_resorts,
        overlap_left: report.overlap_left,
        overlap_pair: report.overlap_pair,
        joints: report.joints,
        joint_error: report.joint_error,
        joint_velocity: report.joint_velocity,
        broken_joints: report.broken_joints,
        box_violation: report.box_violation,
        work_joints: energy.work_joints,
        work_drives: energy.work_drives,
    };
    line(out, &step)
}

/// The line of the whole run; `energy_gap` is the sum over its steps.
pub(crate) fn write_summary(out: &mut impl Write, record: &Record, hash: u64) -> io::Result<()> {
    let summary = Summary {
        steps: record.steps,
        bodies: record.last.bodies,
        contacts: record.last.contacts,
        ms_per_step_median: record.median_milliseconds(),
        e_scaled_max: record.residual_worst.value,
        e_scaled_median: record.median_residual(),
        max_penetration: record.penetration_worst.value,
        energy_gap: record.ledger.energy_gap,
        hash: format!("{hash:016x}"),
    };
    line(out, &Last { summary })
}

/// Writes one line at a time, so that a reader on a pipe sees each step when it is made.
pub(crate) fn line(out: &mut impl Write, object: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(object).map_err(io::Error::from)?;
    text.push(b'\n');
    out.write_all(&text)?;
    out.flush()
}
