//! What the tasks of SimBenchmark [docs/references.md, SimBenchmark] measure, and what other engines reached.
//!
//! Errors are means over the states at `t = k h`, before each step, of the *square* of what is wrong: that is how they were
//! published.
//!
//! ```
//! use moreau_demos::simbench::{Setup, Task};
//! let measured = Task::Bouncing.measure(&Task::Bouncing.scene(0.01, Setup::Default))?;
//! assert!(measured.error < 1e-12, "{measured:?}");
//! # Ok::<(), moreau::SceneError>(())
//! ```

mod error;
mod published;

pub use published::{ENGINES, Published, published};

use crate::scenes::simbench::{self, Direction};
use error::Gauge;
use moreau::{Activation, Scene, SceneError, Settings};
use std::time::{Duration, Instant};

/// A task that needs no joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Velocities of a sliding box and a ball that rolls on it; pulled askew to the axes.
    RollingXy,
    /// The same, pulled along an axis.
    RollingY,
    /// Energy of elastic balls on the ground.
    Bouncing,
    /// Overlaps in a pile that falls apart.
    Pile,
    /// Energy of balls that strike one another.
    ElasticPile,
    /// Steps for which a tower of planks stands.
    Kapla,
}

/// How a task is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setup {
    /// As it was published, with the settings that the engine has by default; [`simbench::rolling`] with
    /// [`moreau::Accuracy::Reference`].
    Default,
    /// By Moreau's forecast rule, which keeps the energy of elastic impacts whatever else happens in the step, and without
    /// projection. Rolling: bodies that start without overlap.
    Forecast,
    /// Overlaps are never pushed out.
    NoProjection,
}

impl Setup {
    /// Name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Forecast => "forecast",
            Self::NoProjection => "no projection",
        }
    }
}

/// What came out of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Mean square error, in [`Task::unit`]; [`Task::Kapla`] has none: 0 while it stands.
    pub error: f64,
    /// Steps made. A tower that falls ends the run.
    pub steps: u64,
    /// Time of the steps, without measuring.
    pub time: Duration,
    /// Steps that did not reach their tolerance.
    pub unsolved: u64,
    /// Largest `e_scaled` of a step.
    pub worst: f64,
    /// Deepest overlap that a step started with, m.
    pub overlap: f64,
    /// Contacts of a step, mean.
    pub contacts: f64,
}

impl Task {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::RollingXy,
        Self::RollingY,
        Self::Bouncing,
        Self::Pile,
        Self::ElasticPile,
        Self::Kapla,
    ];

    /// Name in tables and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RollingXy => "rolling-xy",
            Self::RollingY => "rolling-y",
            Self::Bouncing => "bouncing",
            Self::Pile => "666",
            Self::ElasticPile => "elastic-666",
            Self::Kapla => "kapla",
        }
    }

    /// Unit of the error.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::RollingXy | Self::RollingY => "m²/s²",
            Self::Bouncing | Self::ElasticPile => "J²",
            Self::Pile => "m²",
            Self::Kapla => "",
        }
    }

    /// Time steps of the task, s, longest first.
    #[must_use]
    pub fn time_steps(self) -> &'static [f64] {
        match self {
            Self::RollingXy | Self::RollingY => &[1e-3],
            Self::Bouncing => &[0.1, 0.04, 0.01, 4e-3, 1e-3, 4e-4, 1e-4, 4e-5, 1e-5],
            Self::Pile | Self::ElasticPile => &[0.1, 0.04, 0.01, 4e-3, 1e-3, 4e-4, 1e-4],
            Self::Kapla => &[0.01],
        }
    }

    /// The ways in which it is run.
    #[must_use]
    pub fn setups(self) -> &'static [Setup] {
        match self {
            Self::Pile => &[Setup::Default, Setup::NoProjection],
            Self::Kapla => &[Setup::Default],
            _ => &[Setup::Default, Setup::Forecast],
        }
    }

    /// The scene with the time step `h` (s).
    #[must_use]
    pub fn scene(self, h: f64, setup: Setup) -> Scene {
        let overlap = match setup {
            Setup::Forecast => 0.0,
            _ => 2e-5,
        };
        let mut scene = match self {
            Self::RollingXy => simbench::rolling(Direction::Xy, overlap),
            Self::RollingY => simbench::rolling(Direction::Y, overlap),
            Self::Bouncing => simbench::bouncing(),
            Self::Pile => simbench::pile_666(0.0),
            Self::ElasticPile => simbench::pile_666(1.0),
            Self::Kapla => simbench::kapla_tower(0.64),
        };
        self.name().clone_into(&mut scene.name);
        let settings = &mut scene.settings;
        settings.time_step = h;
        if setup != Setup::Default {
            settings.projection.max_iterations = 0;
        }
        if setup == Setup::Forecast {
            self.forecast(settings);
        }
        scene
    }

    /// Moreau's rule. Bodies that stand or roll stay in its sight by a threshold far above the rounding of their gaps.
    fn forecast(self, settings: &mut Settings) {
        let (threshold, tolerance) = match self {
            Self::RollingXy | Self::RollingY => (1e-6, 1e-13), // Sweeps below it add their own rounding.
            _ => (0.0, 1e-10),
        };
        settings.activation = Activation::Forecast {
            gamma: 0.5,
            threshold,
            approaching_only: false,
        };
        settings.tolerance = Some(tolerance);
    }

    /// Runs `scene`, one of this task, for its whole duration.
    ///
    /// # Errors
    /// As [`Scene::start`] and [`moreau::SceneRun::step`].
    pub fn measure(self, scene: &Scene) -> Result<Measured, SceneError> {
        let mut run = scene.start()?;
        let steps = (scene.duration / scene.settings.time_step).round() as u64;
        let mut gauge = Gauge::new(self);
        let mut measured = Measured {
            error: 0.0,
            steps: 0,
            time: Duration::ZERO,
            unsolved: 0,
            worst: 0.0,
            overlap: 0.0,
            contacts: 0.0,
        };
        for _ in 0..steps {
            if !gauge.sample(&mut run.simulation) {
                break;
            }
            let started = Instant::now();
            let report = run.step()?;
            measured.time += started.elapsed();
            measured.steps += 1;
            measured.unsolved += u64::from(!report.converged);
            measured.worst = measured.worst.max(report.e_scaled);
            measured.overlap = measured.overlap.max(report.max_penetration);
            measured.contacts += report.contacts as f64;
        }
        measured.contacts /= measured.steps.max(1) as f64;
        measured.error = gauge.mean();
        Ok(measured)
    }
}
