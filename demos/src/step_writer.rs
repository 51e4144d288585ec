//! `moreau run --fclib`: the problems of the steps as files.

use crate::cli::{FclibWhen, RunOptions};
use crate::failure::Failure;
use moreau::{Simulation, StepReport};
use moreau_demos::{step_file, step_file_name};
use std::path::PathBuf;

/// Writes the steps that were asked for; none without `--fclib`.
pub(crate) struct StepWriter {
    folder: Option<PathBuf>,
    scene: String,
    every: u64,
    when: Option<FclibWhen>,
}

impl StepWriter {
    /// Makes the folder.
    pub(crate) fn new(scene: &str, options: &RunOptions) -> Result<Self, Failure> {
        if let Some(folder) = &options.fclib {
            make_folder(folder)?;
        }
        Ok(Self {
            folder: options.fclib.clone(),
            scene: scene.to_owned(),
            every: options.fclib_every.unwrap_or(1),
            when: options.fclib_when,
        })
    }

    pub(crate) fn step(&self, simulation: &Simulation, report: &StepReport) -> Result<(), Failure> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let asked = match self.when {
            Some(FclibWhen::Unconverged) => !report.converged,
            None => true,
        };
        if !asked || !report.step.is_multiple_of(self.every) {
            return Ok(());
        }
        if let Some(file) = step_file(simulation, &self.scene, report) {
            file.write(folder.join(step_file_name(&self.scene, report.step)))?;
        }
        Ok(())
    }
}

/// Makes a folder for output, unless it is there.
pub(crate) fn make_folder(path: &PathBuf) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|source| Failure::OutputFile {
        path: path.clone(),
        source,
    })
}
