//! How the program can fail, and the exit codes.

use crate::checkpoint::Signal;
use crate::summary::trimmed;
use moreau::solvers::ProblemError;
use moreau::{SceneError, SnapshotError, StepError};
use moreau_demos::{CatalogError, ResidualKind};
use moreau_solvers::fclib::FclibError;
use std::path::PathBuf;
use std::process::ExitCode;

/// Why the program does not end with exit code 0.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Catalog(#[from] CatalogError),
    #[error("{0}")]
    Scene(#[from] SceneError),
    #[error("{0}")]
    Robot(#[from] moreau_robots::RobotError),
    #[error("{0}")]
    Snapshot(SnapshotError),
    #[error(
        "{}: stopped after step {step}, t = {} s; to go on: moreau run --resume {}",
        signal.name(),
        trimmed(*time),
        file.display()
    )]
    Stopped {
        signal: Signal,
        step: u64,
        time: f64,
        file: PathBuf,
    },
    #[error("{made} steps are made, and the run ends after {all}: --steps or --time ends it later")]
    Over { made: u64, all: u64 },
    #[error("{scene}: {field} is {value}, expected {bound}")]
    Field {
        scene: String,
        field: &'static str,
        value: f64,
        bound: &'static str,
    },
    #[error("{unsolved} steps of {integrators} integrators were not solved: see the table")]
    Integrators { unsolved: usize, integrators: usize },
    #[error("{0}")]
    Systems(#[from] moreau_systems::SystemsError),
    #[error("the state hash is {found:016x}, expected {expected:016x}")]
    Hash { found: u64, expected: u64 },
    #[error("output pipe closed: stopped after step {step}, before the checks were made")]
    Unchecked { step: u64 },
    #[error(
        "{count} of {steps} steps did not reach e_scaled ≤ {required:e} (efforts within bounds to as many N·s): the first is step {first} \
         with {first_value:.3e}, the worst is step {worst} with {worst_value:.3e}"
    )]
    Residual {
        count: u64,
        steps: u64,
        required: f64,
        first: u64,
        first_value: f64,
        worst: u64,
        worst_value: f64,
    },
    #[error(
        "{count} of {steps} steps did not reach {required:e} m/s at the contacts of every island: the first is step {first} \
         with {first_value:.3e} m/s, the worst is step {worst} with {worst_value:.3e} m/s"
    )]
    Velocity {
        count: u64,
        steps: u64,
        required: f64,
        first: u64,
        first_value: f64,
        worst: u64,
        worst_value: f64,
    },
    #[error(
        "{count} of {steps} steps were not solved, {without} of them because they have no solution: the first is step {first}, \
         which leaves {first_value:.3e} m/s at a contact"
    )]
    NotSolved {
        count: u64,
        steps: u64,
        without: u64,
        first: u64,
        first_value: f64,
    },
    #[error("the problem of step {step} of {scene} cannot be solved: {source}")]
    Sweeps {
        scene: String,
        step: u64,
        source: ProblemError,
    },
    #[error("{0}")]
    Fclib(#[from] FclibError),
    #[error("{} would be overwritten, which is an input or has been written already", path.display())]
    Overwrite { path: PathBuf },
    #[error("{unusable} of {files} files cannot be used")]
    Unusable { unusable: usize, files: usize },
    #[error("{missed} of {files} problems did not reach {residual} ≤ {tolerance:e}")]
    Unsolved {
        missed: usize,
        files: usize,
        residual: ResidualKind,
        tolerance: f64,
    },
    #[error("{wrong} of {files} files have no solution, or one that is not within the tolerance")]
    Solution { wrong: usize, files: usize },
    #[error("output pipe closed: stopped after {done} of {files} files")]
    Unread { done: usize, files: usize },
    #[error("cannot start the threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error("cannot write: {0}")]
    Output(#[from] std::io::Error),
    #[error("cannot write to {}: {source}", path.display())]
    OutputFile {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Hash { .. }
            | Self::Unchecked { .. }
            | Self::Solution { .. }
            | Self::Unread { .. } => 1,
            Self::Residual { .. }
            | Self::Velocity { .. }
            | Self::NotSolved { .. }
            | Self::Integrators { .. }
            | Self::Unsolved { .. } => 3,
            Self::Scene(SceneError::Refused {
                source:
                    StepError::NonFinite { .. } | StepError::Problem(ProblemError::NotFinite { .. }),
                ..
            }) => 4,
            Self::Stopped { signal, .. } => signal.exit_code(),
            Self::Systems(_)
            | Self::Catalog(_)
            | Self::Snapshot(_)
            | Self::Over { .. }
            | Self::Scene(_)
            | Self::Robot(_)
            | Self::Field { .. }
            | Self::Sweeps { .. }
            | Self::Fclib(_)
            | Self::Overwrite { .. }
            | Self::Unusable { .. }
            | Self::Threads(_)
            | Self::Output(_)
            | Self::OutputFile { .. } => 2,
        })
    }
}
