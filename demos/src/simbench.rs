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
mod hand;
mod hold;
mod published;

pub use hold::Hold;
pub use published::{ENGINES, Published, ROBOTS, published, robot_steps};

use crate::scenes::anymal::{self, Drive};
use crate::scenes::simbench::{self, Direction};
use error::Gauge;
use hand::Hand;
use moreau::{Activation, JointOrder, Scene, SceneError, Settings};
use std::time::{Duration, Instant};

/// For how long the robot of [`Task::Energy`] is pulled, s.
const PULLED: f64 = 1.0;

/// A task.
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
    /// Contacts of ANYmals that are to stand on their four feet each; that they stand, and how fast it goes.
    Stand,
    /// Momentum of an ANYmal and of a ball that strikes it in space.
    Momentum,
    /// Energy of an ANYmal in flight, flung up by its base.
    Energy,
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
    /// Bodies on joints move by the scheme of fourth order.
    Fourth,
    /// The gains are those of motors, whose law holds at the end of the step, instead of torques given before it.
    Motors,
}

impl Setup {
    /// Name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Forecast => "forecast",
            Self::NoProjection => "no projection",
            Self::Fourth => "fourth order",
            Self::Motors => "motors",
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
    /// Worst that a joint was open at the end of a step, m or rad.
    pub open: f64,
}

impl Task {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::RollingXy,
        Self::RollingY,
        Self::Bouncing,
        Self::Pile,
        Self::ElasticPile,
        Self::Kapla,
        Self::Stand,
        Self::Momentum,
        Self::Energy,
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
            Self::Stand => "anymal-stand",
            Self::Momentum => "anymal-momentum",
            Self::Energy => "anymal-energy",
        }
    }

    /// Unit of the error.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::RollingXy | Self::RollingY => "m²/s²",
            Self::Bouncing | Self::ElasticPile | Self::Energy => "J²",
            Self::Pile => "m²",
            Self::Momentum => "N²s²",
            Self::Kapla | Self::Stand => "",
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
            Self::Stand => &[5e-3],
            Self::Momentum | Self::Energy => &[0.01, 4e-3, 1e-3, 4e-4, 1e-4, 4e-5, 1e-5],
        }
    }

    /// The ways in which it is run.
    #[must_use]
    pub fn setups(self) -> &'static [Setup] {
        match self {
            Self::Pile => &[Setup::Default, Setup::NoProjection],
            Self::Kapla | Self::Momentum => &[Setup::Default],
            Self::Energy => &[Setup::Default, Setup::Fourth],
            Self::Stand => &[Setup::Default, Setup::Motors],
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
            Self::Stand if setup == Setup::Motors => {
                anymal::standing(1, Drive::Motors, anymal::HEIGHT)
            }
            Self::Stand => anymal::standing(1, Drive::Given, anymal::HEIGHT),
            Self::Momentum => anymal::struck(),
            Self::Energy => anymal::flung(),
        };
        self.name().clone_into(&mut scene.name);
        let settings = &mut scene.settings;
        settings.time_step = h;
        if matches!(setup, Setup::Forecast | Setup::NoProjection) {
            settings.projection.max_iterations = 0;
        }
        if setup == Setup::Fourth {
            settings.joint_order = JointOrder::Fourth;
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
        let mut hand = Hand::new(self, &mut run);
        let mut measured = Measured {
            error: 0.0,
            steps: 0,
            time: Duration::ZERO,
            unsolved: 0,
            worst: 0.0,
            overlap: 0.0,
            contacts: 0.0,
            open: 0.0,
        };
        for _ in 0..steps {
            if !gauge.sample(&mut run.simulation) {
                break;
            }
            let started = Instant::now();
            hand.act(&mut run.simulation);
            let report = run.step()?;
            measured.time += started.elapsed();
            measured.steps += 1;
            measured.unsolved += u64::from(!report.converged);
            measured.worst = measured.worst.max(report.e_scaled);
            measured.overlap = measured.overlap.max(report.max_penetration);
            measured.open = measured.open.max(report.joint_error);
            measured.contacts += report.contacts as f64;
        }
        measured.contacts /= measured.steps.max(1) as f64;
        measured.error = gauge.mean();
        Ok(measured)
    }
}
