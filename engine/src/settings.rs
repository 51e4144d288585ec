//! Everything that can be chosen about a simulation.

mod advanced;
mod file;

pub use advanced::{Advanced, DelassusForm};

use crate::components::Combine;
use crate::error::SettingsError;
use bevy_ecs::prelude::*;
use file::SettingsFile;
use glam::DVec3;
use moreau_solvers::{NsgsSettings, VelocityGoal};
use serde::{Deserialize, Serialize};

/// Settings of the step.
#[derive(Resource, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_ecs::reflect::Resource,
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(from = "SettingsFile", into = "SettingsFile")]
pub struct Settings {
    /// Time step `h`, s, > 0. Default 1/200.
    pub time_step: f64,
    /// Acceleration of gravity, inertial frame, m/s². Default (0, 0, −9.81).
    pub gravity: DVec3,
    /// Sweep budget and tolerance. Default [`Accuracy::Engineering`].
    pub accuracy: Accuracy,
    /// `e_scaled` to which each step is solved, > 0. `None`: that of [`Settings::accuracy`].
    pub tolerance: Option<f64>,
    /// Velocity to which each island is solved, m/s, > 0: the root mean square of `λ_α‖F_α‖` over its closed contacts.
    /// `None`: `100 tolerance ‖g‖h`, a hundredth of the speed gained in one step with the default, and with 9.81 m/s² for `‖g‖`
    /// where there is no gravity; in islands whose contacts move faster than that speed it then grows in proportion, up to ten
    /// times.
    pub velocity_tolerance: Option<f64>,
    /// Which contacts carry the law, and with which normal term.
    pub activation: Activation,
    /// The parameter of the θ-method.
    pub theta: Theta,
    /// Orientation update.
    pub rotation: RotationUpdate,
    /// Order of the motion of bodies on joints that nothing pushes.
    pub joint_order: JointOrder,
    /// Candidate margin as a fraction of each body's half-thickness, ≥ 0; the speed of the bodies
    /// is added to it. Default 0.02.
    pub margin: f64,
    /// Approach speed (m/s, ≥ 0) below which a contact does not bounce. `None`: `‖g‖ h`, the speed
    /// gained in one step.
    pub restitution_threshold: Option<f64>,
    /// How friction coefficients combine. Default geometric mean.
    pub combine_friction: Combine,
    /// How restitution coefficients combine. Default maximum.
    pub combine_restitution: Combine,
    /// Start each solve from the impulses of the last step. Default true.
    pub warm_start: bool,
    /// Correction of overlaps at position level.
    pub projection: Projection,
    /// When bodies at rest fall asleep. By default they do, but with [`Accuracy::Reference`].
    pub sleeping: SleepSettings,
    /// Threads of the step, at most [`Threads::MOST`](crate::Threads::MOST); 0 takes all cores. Results do not depend on it. Default 0. Of no effect with
    /// [`Threads`](crate::Threads) that others share.
    pub threads: usize,
    /// The inside of the solver, for those who measure it.
    pub advanced: Advanced,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_step: 1.0 / 200.0,
            gravity: DVec3::new(0.0, 0.0, -9.81),
            accuracy: Accuracy::default(),
            tolerance: None,
            velocity_tolerance: None,
            activation: Activation::default(),
            theta: Theta::default(),
            rotation: RotationUpdate::default(),
            joint_order: JointOrder::default(),
            margin: 0.02,
            restitution_threshold: None,
            combine_friction: Combine::GeometricMean,
            combine_restitution: Combine::Max,
            warm_start: true,
            projection: Projection::default(),
            sleeping: SleepSettings::default(),
            threads: 0,
            advanced: Advanced::default(),
        }
    }
}

/// How far each step's contact problem is solved. What is not reached is reported, in every case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum Accuracy {
    /// `e_scaled ≤ 1e-3` within a budget: 4 to 10 sweeps, more for few contacts and for shapes that take long to find ([`Settings::auto_for`]), factorisations for few contacts only, two linearisations of the
    /// projection. For real-time use: what is not reached within the budget is reported, and goes on in the next step.
    Interactive,
    /// `e_scaled ≤ 1e-4`, 8 to 20 000 sweeps. The default.
    #[default]
    Engineering,
    /// `e_scaled ≤ 1e-11`, 8 to 200 000 sweeps: laws to be compared with closed forms. Granular
    /// piles in motion do not reach it by Gauss–Seidel alone.
    Reference,
}

impl Accuracy {
    /// `e_scaled` to which this preset solves each step.
    #[must_use]
    pub fn tolerance(self) -> f64 {
        match self {
            Self::Interactive => 1e-3,
            Self::Engineering => 1e-4,
            Self::Reference => 1e-11,
        }
    }

    /// Budget of factorisations of this preset: none where the time of a step is bounded, but for few contacts ([`Settings::auto_for`]).
    #[must_use]
    pub fn max_factorizations(self) -> usize {
        match self {
            Self::Interactive => 0,
            Self::Engineering => 500,
            Self::Reference => 5_000,
        }
    }

    /// The sweeps of this preset.
    #[must_use]
    pub fn solver(self) -> NsgsSettings {
        let (min_sweeps, max_sweeps) = match self {
            Self::Interactive => (4, 10),
            Self::Engineering => (8, 20_000),
            Self::Reference => (8, 200_000),
        };
        NsgsSettings {
            min_sweeps,
            max_sweeps,
            ..NsgsSettings::default()
        }
    }
}

/// Which of the detected contacts carry the law in a step, and with which term `s` in
/// `0 ≤ u_N + s ⊥ r_N ≥ 0` [docs/theory.md §5].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// Every candidate, with `s = e u_{N,k}` if it closes as an impact in this step,
    /// `s = max(g_N, 0)/h + e u_{N,k}` if it is leaving faster than the bounce threshold, and
    /// `s = max(g_N, 0)/h` otherwise: nothing stops before it touches, nothing is pushed apart.
    #[default]
    GapAware,
    /// Moreau's forecast, the rule of the sources: active iff `g_N + γ h u_{N,k} ≤ ε`, with
    /// `s = e u_{N,k}`.
    Forecast {
        /// `γ ≥ 0`; the sources take ½.
        gamma: f64,
        /// `ε`, m.
        threshold: f64,
        /// Also ask for `u_{N,k} ≤ 0`.
        approaching_only: bool,
    },
}

/// The parameter of the θ-method, `x_{k+1} = x_k + h (θ v_{k+1} + (1 − θ) v_k)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum Theta {
    /// Per body and step: 1 for a body that is pushed by contacts none of which is an impact, so
    /// that gaps close without overlap; ½ otherwise: free flight and impacts, second order.
    #[default]
    Auto,
    /// The same for all, in [½, 1].
    Fixed(f64),
}

/// How orientations of dynamic bodies are advanced; both renormalise. Kinematic bodies always turn
/// by the exponential, which is exact for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum RotationUpdate {
    /// Exponential map, with the gyroscopic motion split into rotations about the principal axes.
    #[default]
    Exponential,
    /// `p + h ½ p ∘ (0, Ω_{k+θ})`.
    Linear,
}

/// Order in `h` of the motion of bodies on joints while no contact, limit or rope pushes them and no drag slows them. In other steps, and where springs or motors act, it is that of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(rename_all = "snake_case")]
pub enum JointOrder {
    /// RATTLE.
    #[default]
    Second,
    /// Five steps of second order, one of them backwards, in the place of one: five times the time of moving.
    Fourth,
}

/// Projection on the constraints: moves poses out of overlap, never touches twists [docs/theory.md §11].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(default, deny_unknown_fields)]
pub struct Projection {
    /// Deepest overlap that is left alone, m, > 0; of thin bodies at most 2 % of their half-thickness. Default 1e-4.
    pub tolerance: f64,
    /// Largest number of linearisations per step; 0 turns projection off. Default 8. With [`Accuracy::Interactive`] no more than two are made.
    pub max_iterations: usize,
    /// Gauss–Seidel sweeps per linearisation, ≥ 1. Default 20.
    pub sweeps: usize,
}

impl Default for Projection {
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            max_iterations: 8,
            sweeps: 20,
        }
    }
}

/// When islands at rest are left out of the steps until something wakes them: see
/// [`Sleeping`](crate::Sleeping).
///
/// A body is at rest whose speeds stay below both bounds for a while. What moves that slowly and yet for
/// good is taken for rest: a slide that gains less than `linear` in `time`, with the defaults an
/// acceleration below 0.02 m/s², or a ball that rolls more slowly than `linear`. Bodies that nothing fixed
/// holds only sleep if they do not move at all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[serde(default, deny_unknown_fields)]
pub struct SleepSettings {
    /// Whether islands fall asleep. `None`: yes, but not with [`Accuracy::Reference`]. Default `None`.
    pub enabled: Option<bool>,
    /// Speed up to which a body is at rest, m/s, ≥ 0: of its centre of mass, and of its farthest point
    /// by the rotation. Default 0.01.
    pub linear: f64,
    /// Angular speed up to which a body is at rest, rad/s, ≥ 0. Default 0.05.
    pub angular: f64,
    /// `e_scaled`, > 0, up to which a step counts; beyond it the time starts anew. `None`: the tolerance
    /// of the step, so that it must have converged. Default `None`.
    pub residual: Option<f64>,
    /// Time for which all bodies of an island are at rest before it falls asleep, s, ≥ 0. Default 0.5.
    pub time: f64,
}

impl Default for SleepSettings {
    fn default() -> Self {
        Self {
            enabled: None,
            linear: 0.01,
            angular: 0.05,
            residual: None,
            time: 0.5,
        }
    }
}

impl SleepSettings {
    /// No body falls asleep.
    pub const OFF: Self = Self {
        enabled: Some(false),
        linear: 0.01,
        angular: 0.05,
        residual: None,
        time: 0.5,
    };
}

/// The velocity to which an island is solved, over the tolerance and the speed gained in a step.
const VELOCITY_OVER_RESIDUAL: f64 = 100.0;
/// Part of it to which an island of new contacts is solved.
const STRICT: f64 = 1e-3;
/// The least of that, over the speed gained in a step: no more is needed for a start.
const STRICTEST: f64 = 1e-8;
/// Part of its radius of gyration that a body may creep in a step for what the solver leaves, over the tolerance. With ten times that five cubes
/// of 0.1 mm fall, with a tenth they stand no better.
const CREEP_OVER_RESIDUAL: f64 = 10.0;
/// Gravity of the earth, m/s².
const EARTH: f64 = 9.81;

impl Settings {
    /// Islands at rest fall asleep.
    #[must_use]
    pub fn sleeps(&self) -> bool {
        let preset = self.accuracy != Accuracy::Reference;
        self.sleeping.enabled.unwrap_or(preset)
    }

    /// Without what changes no result.
    pub(crate) fn without_threads(&self) -> Self {
        let mut settings = *self;
        settings.threads = 0;
        settings.advanced.parallel_from = None;
        settings
    }

    /// `e_scaled` to which each step is solved: the preset's, or its override.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        self.tolerance.unwrap_or_else(|| self.accuracy.tolerance())
    }

    /// Velocity to which each island is solved, m/s: the setting, or what follows from the tolerance.
    #[must_use]
    pub fn velocity_tolerance(&self) -> f64 {
        let relative = VELOCITY_OVER_RESIDUAL * self.tolerance();
        self.velocity_tolerance
            .unwrap_or_else(|| relative * self.speed_of_a_step())
    }

    /// What gravity gives in one step, m/s; that of the earth where there is none.
    fn speed_of_a_step(&self) -> f64 {
        let gravity = self.gravity.length();
        let gravity = if gravity > 0.0 { gravity } else { EARTH };
        gravity * self.time_step
    }

    /// What every island of a step is to reach.
    pub(crate) fn velocity_goal(&self) -> VelocityGoal {
        let (rms, scale) = (self.velocity_tolerance(), self.speed_of_a_step());
        let strict = (STRICT * rms).max(STRICTEST * scale).min(rms);
        VelocityGoal {
            rms,
            rms_new: if self.warm_start { strict } else { rms },
            scale: scale.max(rms),
            grows: self.velocity_tolerance.is_none(),
            creep: if self.velocity_tolerance.is_none() {
                CREEP_OVER_RESIDUAL * self.tolerance() / self.time_step
            } else {
                f64::INFINITY
            },
        }
    }

    /// Approach speed below which contacts do not bounce, m/s.
    #[must_use]
    pub fn bounce_threshold(&self) -> f64 {
        self.restitution_threshold
            .unwrap_or(self.gravity.length() * self.time_step)
    }

    /// Checks every value against its bound.
    ///
    /// # Errors
    /// [`SettingsError`] names the first field, its value and the bound.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let check = |field, value: f64, ok: bool, bound| {
            if value.is_finite() && ok {
                Ok(())
            } else {
                Err(SettingsError {
                    field,
                    value,
                    bound,
                })
            }
        };
        let positive = |field, value: f64| check(field, value, value > 0.0, "> 0");
        let not_negative = |field, value: f64| check(field, value, value >= 0.0, "≥ 0");
        positive("time_step", self.time_step)?;
        for (field, value) in [
            ("gravity.x", self.gravity.x),
            ("gravity.y", self.gravity.y),
            ("gravity.z", self.gravity.z),
        ] {
            check(field, value, true, "finite")?;
        }
        let solver = self.nsgs();
        positive("solver.tolerance", self.tolerance())?;
        positive("solver.velocity_tolerance", self.velocity_tolerance())?;
        let sweeps = solver.max_sweeps as f64;
        check("solver.max_sweeps", sweeps, sweeps >= 1.0, "≥ 1")?;
        let cap = solver.momentum.cap;
        check(
            "solver.momentum",
            cap,
            (0.0..=1.0).contains(&cap),
            "in [0, 1]",
        )?;
        if let Theta::Fixed(theta) = self.theta {
            check("theta", theta, (0.5..=1.0).contains(&theta), "in [1/2, 1]")?;
        }
        if let Activation::Forecast {
            gamma, threshold, ..
        } = self.activation
        {
            not_negative("activation.gamma", gamma)?;
            check("activation.threshold", threshold, true, "finite")?;
        }
        not_negative("margin", self.margin)?;
        if let Some(threshold) = self.restitution_threshold {
            not_negative("restitution_threshold", threshold)?;
        }
        let rest = &self.sleeping;
        not_negative("sleeping.linear", rest.linear)?;
        not_negative("sleeping.angular", rest.angular)?;
        not_negative("sleeping.time", rest.time)?;
        if let Some(residual) = rest.residual {
            positive("sleeping.residual", residual)?;
        }
        positive("projection.tolerance", self.projection.tolerance)?;
        let sweeps = self.projection.sweeps as f64;
        check("projection.sweeps", sweeps, sweeps >= 1.0, "≥ 1")?;
        crate::step::threads::check_number(self.threads)
    }
}
