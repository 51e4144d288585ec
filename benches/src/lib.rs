//! What the benches share: the built-in scenes, brought to the states that are timed.

use moreau::prelude::*;
use moreau::{SceneError, StepTiming};
use moreau_demos::{ProblemFile, built_in, step_file, step_file_name};
use std::error::Error;
use std::time::Duration;

/// A scene and the part of its life that is timed.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Built-in scene with parameters.
    pub scene: &'static str,
    /// Steps made before timing begins.
    pub warm_up: usize,
    /// Name of the state that is then reached.
    pub state: &'static str,
}

/// The scenes of the tables in `benches/README.md`.
pub const CASES: [Case; 5] = [
    Case {
        scene: "sphere_pour:n=1000",
        warm_up: 150,
        state: "moving",
    },
    Case {
        scene: "sphere_pour:n=1000",
        warm_up: 450,
        state: "settled",
    },
    Case {
        scene: "sphere_pour:n=8000",
        warm_up: 150,
        state: "moving",
    },
    Case {
        scene: "sphere_pour:n=8000",
        warm_up: 450,
        state: "settled",
    },
    Case {
        scene: "box_pyramid:n=40",
        warm_up: 100,
        state: "settled",
    },
];

impl Case {
    /// The scene in the state to be timed, on `threads` threads.
    ///
    /// # Errors
    /// [`SceneError`] if the scene cannot be started or stepped.
    pub fn prepare(&self, threads: usize) -> Result<SceneRun, SceneError> {
        let mut scene = built_in(self.scene).map_err(|error| SceneError::Field {
            place: self.scene.to_owned(),
            field: "scene",
            value: error.to_string(),
            bound: "a built-in scene",
        })?;
        scene.settings.threads = threads;
        let mut run = scene.start()?;
        for _ in 0..self.warm_up {
            run.step()?;
        }
        Ok(run)
    }

    /// `scene/state/threads`, the name under which Criterion files it.
    #[must_use]
    pub fn name(&self, threads: usize) -> String {
        format!("{}/{}/{threads}", self.scene, self.state)
    }
}

/// Scenes and the steps whose problems all solvers are compared on.
pub const STEPS: [(&str, u64); 8] = [
    ("stack:n=10", 1),
    ("pyramid:n=12", 1),
    ("wall:nx=8,ny=8", 5),
    ("arch", 5),
    ("mass-ratio", 1),
    ("incline:f=1.5", 20),
    ("pour:n=200", 120),
    ("mixed:layers=4", 100),
];

/// The problems of [`STEPS`], made on the fly.
///
/// # Errors
/// If a scene cannot be started or stepped, or has no contacts then.
pub fn step_problems() -> Result<Vec<ProblemFile>, Box<dyn Error>> {
    let problem = |(scene, step): &(&str, u64)| {
        let mut run = built_in(scene)?.start()?;
        let mut report = run.step()?;
        while report.step < *step {
            report = run.step()?;
        }
        let file = step_file(&run.simulation, scene, &report)
            .ok_or_else(|| format!("{scene}: step {step} has no contacts"))?;
        Ok(ProblemFile::new(step_file_name(scene, *step), file)?)
    };
    STEPS.iter().map(problem).collect()
}

/// One part of a step's wall time, as a duration.
#[must_use]
pub fn phase(report: &StepReport, part: fn(&StepTiming) -> f64) -> Duration {
    Duration::from_secs_f64(part(&report.timing) * 1e-3)
}

/// The median of some figures; NaN for none.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
