//! The three places in which time-stepping schemes for rigid bodies differ.
//!
//! Everything else of a step (detection, assembly, solve, projection, report) is the same for all of them.

use crate::components::inertia::Inertia;
use crate::components::response::Response;
use crate::components::{BodyId, Drag, GravityScale, Mass, Pose, Twist, Wrench};
use crate::settings::Settings;
use glam::{DQuat, DVec3};
use moreau_solvers::WorldTwist;

/// A time-stepping scheme: how a dynamic body moves without impulses, which velocity the law of a contact asks for,
/// and how the solved velocities advance the state.
///
/// [`MoreauJean`](crate::MoreauJean) is the engine's own. Another one is a type with these three functions, for
/// [`StepState::step_by`](crate::StepState::step_by): see `tests/laws/scheme.rs` for one with an explicit Euler step on positions.
/// Each must be a function of its arguments alone: bodies are worked on by all threads, in any order.
pub trait Scheme: Sync {
    /// **Predict.** `v_free`, and where the body would be without impulses, from the state at `t_k`.
    fn predict(&self, body: &BodyAtStart<'_>, settings: &Settings) -> FreeMotion;

    /// **Offset of the law.** The term `s` of `0 ≤ u_N + s ⊥ r_N ≥ 0` for a contact with `gap` `g_N` (m) and
    /// `restitution` `e`; `approach` works out the velocities at which the bodies come.
    fn normal_law(
        &self,
        gap: f64,
        restitution: f64,
        approach: impl FnOnce() -> Approach,
        settings: &Settings,
    ) -> NormalLaw;

    /// Some detected contacts do not carry their law ([`NormalLaw::imposed`]).
    fn selects(&self, _settings: &Settings) -> bool {
        false
    }

    /// **Update.** Pose and twist at `t_{k+1}`, from those at `t_k` and the solved velocity.
    fn update(&self, body: &BodySolved<'_>, settings: &Settings) -> (Pose, Twist);
}

/// A dynamic body at `t_k`.
#[derive(Clone, Copy, Debug)]
pub struct BodyAtStart<'a> {
    /// Its identity.
    pub id: BodyId,
    /// `q_k`.
    pub pose: &'a Pose,
    /// `v_k`.
    pub twist: &'a Twist,
    /// What acts on it.
    pub wrench: &'a Wrench,
    pub(crate) inertia: &'a Inertia,
    pub(crate) response: &'a Response,
}

impl BodyAtStart<'_> {
    /// Its mass and inertia.
    #[must_use]
    pub fn mass(&self) -> Mass {
        Mass::default().completed(self.inertia)
    }

    /// How gravity acts on it.
    #[must_use]
    pub fn gravity_scale(&self) -> GravityScale {
        self.response.gravity
    }

    /// How it is dragged. Impulses find it heavier by `1 + h d`, so that drag is implicit; `v_free` is to be slower by the same.
    #[must_use]
    pub fn drag(&self) -> Drag {
        self.response.drag
    }
}

/// Result of the free motion of one body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FreeMotion {
    /// `v_free`, which impulses change: linear in the inertial frame; `Ω_free` in the body frame at `t_k`.
    pub twist: Twist,
    /// Change of `Ω` by the external moment, body frame at `t_k`, rad/s.
    pub kick: DVec3,
    /// `p` at the end of the free motion.
    pub orientation: DQuat,
    /// `Ω` there, in the body frame there, rad/s: the free rotation has changed it, as the body turns under its angular momentum.
    pub turned: DVec3,
}

/// A dynamic body between the solve and the end of the step.
#[derive(Clone, Copy, Debug)]
pub struct BodySolved<'a> {
    /// Its identity.
    pub id: BodyId,
    /// `q_k`.
    pub pose: &'a Pose,
    /// `v_k`.
    pub twist: &'a Twist,
    /// What [`Scheme::predict`] said.
    pub drift: &'a FreeMotion,
    /// `v_free`, inertial frame.
    pub free: &'a WorldTwist,
    /// `v_{k+1} = v_free + M⁻¹Gᵀr`, inertial frame, before the free rotation: `M` is that of `t_k`, like the arms of the contacts.
    pub end: &'a WorldTwist,
    /// Its mean velocity through the step, if impacts on it followed one another, inertial frame.
    pub mean: Option<&'a WorldTwist>,
    /// Part of the step in which it turns by itself: less than 1 of a body that stays where it meets another one.
    pub turns: f64,
    /// Contacts push it.
    pub pushed: bool,
    pub(crate) inertia: &'a Inertia,
    /// Its [`BodyForces`](crate::BodyForces) are stiff for the step: they were taken where θ = 1 leaves it.
    pub stiff: bool,
    /// Impacts are among them: the smallest θ from ½ on with which none of them ends in overlap.
    pub struck: Option<f64>,
}

/// Normal velocities of a contact before the impulses of a step, m/s; negative while the bodies close.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Approach {
    /// `u_{N,k}`, at the beginning of the step.
    pub begin: f64,
    /// Of the free motion, at its end.
    pub free: f64,
}

/// The normal law of a contact in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalLaw {
    /// The contact is in `I₁`; only asked for where the scheme selects.
    pub imposed: bool,
    /// `s`, m/s.
    pub shift: f64,
    /// The contact is an impact: restitution acts.
    pub impact: bool,
}
