//! `moreau run --checkpoint`: snapshots of a run in a file, from which `--resume` goes on, and a last one before a signal ends it.

use crate::cli::RunOptions;
use crate::failure::Failure;
use moreau::{SceneError, SceneRun, SnapshotError, StepReport};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Steps from one snapshot to the next, unless told otherwise.
pub(crate) const EVERY: u64 = 1000;

/// Writes the snapshots that were asked for; none without `--checkpoint`.
pub(crate) struct Checkpoint {
    file: Option<PathBuf>,
    every: u64,
    signal: Arc<AtomicUsize>,
}

/// A signal that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal(i32);

impl Signal {
    pub(crate) fn name(self) -> &'static str {
        if self.0 == SIGINT {
            "SIGINT"
        } else {
            "SIGTERM"
        }
    }

    /// As a shell has it of a program that the signal ended.
    pub(crate) fn exit_code(self) -> u8 {
        128 + u8::try_from(self.0).unwrap_or(0)
    }
}

impl Checkpoint {
    /// Signals are waited for from now on. A second one ends the program at once.
    pub(crate) fn new(options: &RunOptions) -> Result<Self, Failure> {
        let checkpoint = Self {
            file: options.checkpoint.clone(),
            every: options.every.unwrap_or(EVERY),
            signal: Arc::new(AtomicUsize::new(0)),
        };
        if checkpoint.file.is_some() {
            let asked = Arc::new(AtomicBool::new(false));
            for signal in [SIGINT, SIGTERM] {
                let number = usize::try_from(signal).unwrap_or(0);
                let status = i32::from(Signal(signal).exit_code());
                flag::register_conditional_shutdown(signal, status, Arc::clone(&asked))?;
                flag::register(signal, Arc::clone(&asked))?;
                flag::register_usize(signal, Arc::clone(&checkpoint.signal), number)?;
            }
        }
        Ok(checkpoint)
    }

    /// Writes one now.
    pub(crate) fn write(&self, run: &SceneRun) -> Result<(), Failure> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let snapshot = run.snapshot().map_err(SceneError::from)?;
        snapshot.write(file).map_err(Failure::Snapshot)
    }

    /// After a step: writes one if it is time. A signal that has come, with a last one written.
    pub(crate) fn step(
        &self,
        run: &SceneRun,
        report: &StepReport,
    ) -> Result<Option<Signal>, Failure> {
        let signal = self.signal.load(Ordering::Relaxed);
        let signal = i32::try_from(signal).ok().filter(|signal| *signal != 0);
        if self.file.is_some() && (signal.is_some() || report.step.is_multiple_of(self.every)) {
            self.write(run)?;
        }
        Ok(signal.map(Signal))
    }

    /// The file, for a message.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.file.as_ref()
    }
}

/// The run that a file goes on with.
pub(crate) fn resume(options: &RunOptions, file: &PathBuf) -> Result<SceneRun, Failure> {
    let of_file = |source| match source {
        SceneError::Snapshot(source) => Failure::Snapshot(SnapshotError::File {
            path: file.clone(),
            source: Box::new(source),
        }),
        other => Failure::Scene(other),
    };
    let snapshot = moreau::Snapshot::read(file).map_err(Failure::Snapshot)?;
    let mut run = SceneRun::from_snapshot(&snapshot).map_err(of_file)?;
    if let Some(threads) = options.threads {
        let mut settings = run.simulation.settings();
        settings.threads = threads;
        let set = run.simulation.set_settings(settings);
        set.map_err(SceneError::from)?;
    }
    Ok(run)
}
