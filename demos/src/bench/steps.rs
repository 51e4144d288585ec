//! Whole steps of a scene, on several numbers of threads in turn.
//!
//! A step has the same bits on any number of threads: one run serves them all, and what else the
//! machine is doing disturbs them alike. The first step after a change of threads is not timed,
//! since it starts them.

use super::plan::{Case, Window};
use super::sweeps::{SweepRow, sweeps};
use crate::cli::Log;
use crate::failure::Failure;
use crate::progress::Progress;
use moreau::{BodyId, Pose, RigidBody, Simulation, StepReport};
use moreau_demos::built_in;
use std::time::Instant;

/// The steps of one window that were timed on one number of threads.
pub(super) struct StepRow {
    pub(super) scene: String,
    pub(super) window: Window,
    pub(super) tolerance: f64,
    pub(super) threads: usize,
    pub(super) reports: Vec<StepReport>,
    /// How far the body that was the highest at the start has sunk by the end of the window, m; NaN if
    /// time was over before.
    pub(super) sinking: f64,
}

/// What one run gave.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) steps: Vec<StepRow>,
    pub(super) sweeps: Vec<SweepRow>,
    /// The step after which the time of the case was over.
    pub(super) stopped: Option<u64>,
}

/// Runs the scene of `case` with its timed steps solved to `tolerance`.
pub(super) fn measure(
    case: &Case,
    tolerance: f64,
    threads: &[usize],
    swept: bool,
) -> Result<Measured, Failure> {
    let mut run = built_in(&case.scene)?.start()?;
    let top = highest(&mut run.simulation);
    let most = threads.iter().copied().max().unwrap_or(1);
    let mut measured = Measured::default();
    for window in &case.windows {
        let row = |&threads| StepRow {
            scene: case.scene.clone(),
            window: *window,
            tolerance,
            threads,
            reports: Vec::new(),
            sinking: f64::NAN,
        };
        measured.steps.extend(threads.iter().map(row));
    }
    let progress = Progress::new(case.steps(), Log::None);
    let started = Instant::now();
    for step in 1..=case.steps() {
        let place = case.windows.iter().position(|w| w.contains(step));
        let window = place.map(|place| case.windows[place]);
        let turn = window.map(|w| (step - w.first) / w.turn(threads.len()));
        let count = turn.map_or(most, |turn| threads[turn as usize % threads.len()]);
        let changed = set(&mut run.simulation, count, case, step, tolerance)?;
        let report = run.step()?;
        progress.step(&report);
        let late = case.limit.is_some_and(|limit| started.elapsed() > limit);
        if let (Some(place), Some(window)) = (place, window) {
            let first = place * threads.len();
            let rows = &mut measured.steps[first..first + threads.len()];
            if !changed {
                let row = rows.iter_mut().find(|row| row.threads == count);
                row.into_iter().for_each(|row| row.reports.push(report));
            }
            if step == window.last || late {
                let sinking = top.map_or(0.0, |(id, z)| z - height(&mut run.simulation, id));
                for row in rows {
                    row.sinking = sinking;
                    row.window.last = step;
                }
                if swept && place == 0 {
                    let rows = sweeps(&run.simulation, &case.scene, step, threads)?;
                    measured.sweeps.extend(rows);
                }
            }
        }
        if late {
            measured.stopped = Some(step);
            break;
        }
    }
    progress.finish();
    Ok(measured)
}

/// Overlap of grains that the projection leaves alone, m: below half a millimetre.
pub(super) const OVERLAP: f64 = 4e-4;

/// Takes over the choices for the next step; true if its number of threads is another one.
fn set(
    simulation: &mut Simulation,
    threads: usize,
    case: &Case,
    step: u64,
    tolerance: f64,
) -> Result<bool, Failure> {
    let mut settings = simulation.settings();
    let changed = settings.threads != threads;
    settings.threads = threads;
    settings.tolerance = Some(case.tolerance(step, tolerance));
    if case.is_granular() {
        settings.projection.tolerance = OVERLAP;
    }
    let refused = simulation.set_settings(settings);
    refused.map_err(moreau::SceneError::from)?;
    Ok(changed)
}

/// The dynamic body whose centre is highest, and where that is, m.
fn highest(simulation: &mut Simulation) -> Option<(BodyId, f64)> {
    let world = simulation.world_mut();
    let mut query = world.query::<(&BodyId, &RigidBody, &Pose)>();
    query
        .iter(world)
        .filter(|(_, kind, _)| **kind == RigidBody::Dynamic)
        .map(|(id, _, pose)| (*id, pose.position.z))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)))
}

/// Height of the centre of a body, m; NaN if it is gone.
fn height(simulation: &mut Simulation, id: BodyId) -> f64 {
    let world = simulation.world_mut();
    let mut query = world.query::<(&BodyId, &Pose)>();
    let found = query.iter(world).find(|(other, _)| **other == id);
    found.map_or(f64::NAN, |(_, pose)| pose.position.z)
}
