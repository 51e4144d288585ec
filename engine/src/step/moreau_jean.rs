//! The Moreau–Jean scheme [docs/theory.md §5].
//!
//! Predict: the free motion of `motion/free_motion.rs`. Offsets:
//!
//! ```text
//! gap-aware   all of I₀;    s = e u_{N,k}        if g_N + h (u_{N,k} + u_free)/2 ≤ 0, u_{N,k} < −u_threshold, e > 0
//!                           s = max(g_N, 0)/h + e u_{N,k}    if u_{N,k} > 0, e > 0
//!                           s = max(g_N, 0)/h    otherwise
//! forecast    g_N + γ h u_{N,k} ≤ ε (and u_{N,k} ≤ 0 if asked);    s = e u_{N,k}
//! ```
//!
//! The second line is for a body that leaves a neighbour and is struck back onto it within the
//! step. With `s = max(g_N, 0)/h` alone the impulse meets a velocity `u_{N,k} > 0` and does positive
//! work. With it, for frictionless contacts of one `e` and θ = ½, no step gains energy:
//! `r·(u_{k+1} + e u_k) ≤ 0` and `r·(u_{k+1} − u_k) = rᵀWr ≥ 0` leave
//! `ΔK = ½ r·(u_k + u_{k+1}) ≤ ½ (1 − e) r·u_k ≤ 0`.
//!
//! Update:
//!
//! ```text
//! x_{k+1} = x_k + h (θ v_{k+1} + (1 − θ) v_k)
//! (p_{k+1}, Ω) = Φ_h(p_k, Ω̄),    Ω_{k+1} = Ω + 𝕀⁻¹ R_{k+1}ᵀ R_k 𝕀 (Ω_s − Ω̄)                    exponential
//! p_{k+1} = p_k + h ½ p_k ∘ (0, θ Ω_{k+1} + (1 − θ) Ω_k)                                         linear
//! ```
//!
//! with the solved `Ω_s = Ω_k + 𝕀⁻¹(h m_ext + ρ × P)` in the frame of `p_k`, where arms and inertia are those of `t_k`, and the free rotation `Φ_h`
//! of `motion/free_motion.rs`. The part `Ω̄` of it acts before the rotation: all of it where contacts push, so that the energy is that of the
//! solve as well; `Ω_k + θ(Ω_s − Ω_k)` with a fixed θ. In either case the angular momentum changes by the moments of the impulses alone:
//! a ball that spins about the vertical rolls straight, and no force turns a pencil about its axis that meets it. Without contacts
//! external moments act half before and half after. The linear update is for comparison and keeps it to first order only. Both forms renormalise.

use crate::components::{Pose, Twist};
use crate::math::rotation;
use crate::motion::free_motion::{free_motion, torque_free, turned_under};
use crate::motion::scheme::{Approach, BodyAtStart, BodySolved, FreeMotion, NormalLaw, Scheme};
use crate::settings::{Activation, RotationUpdate, Settings, Theta};
use glam::{DQuat, DVec3};
use moreau_solvers::WorldTwist;

/// The engine's own scheme, with the θ, the activation rule and the rotation update of the [`Settings`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoreauJean;

impl Scheme for MoreauJean {
    #[inline]
    fn predict(&self, body: &BodyAtStart<'_>, settings: &Settings) -> FreeMotion {
        free_motion(body, settings)
    }

    #[inline]
    fn normal_law(
        &self,
        gap: f64,
        restitution: f64,
        approach: impl FnOnce() -> Approach,
        settings: &Settings,
    ) -> NormalLaw {
        let h = settings.time_step;
        let (imposed, shift, impact) = match settings.activation {
            Activation::GapAware => {
                let open = gap.max(0.0) / h;
                if restitution > 0.0 {
                    let threshold = settings.bounce_threshold();
                    let Approach {
                        begin: approach,
                        free,
                    } = approach();
                    // The way of a free flight is exact.
                    let end = gap + 0.5 * h * (approach + free);
                    let meets = end <= -ROUNDING * h * approach;
                    if approach < -threshold && meets {
                        (true, restitution * approach, true)
                    } else if approach > 0.0 {
                        (true, open + restitution * approach, approach > threshold)
                    } else {
                        (true, open, false)
                    }
                } else {
                    (true, open, false)
                }
            }
            Activation::Forecast {
                gamma,
                threshold,
                approaching_only,
            } => {
                let approach = approach().begin;
                let near = gap + gamma * h * approach <= threshold;
                let closing = !approaching_only || approach <= 0.0;
                (near && closing, restitution * approach, restitution > 0.0)
            }
        };
        NormalLaw {
            imposed,
            shift,
            impact,
        }
    }

    #[inline]
    fn selects(&self, settings: &Settings) -> bool {
        matches!(settings.activation, Activation::Forecast { .. })
    }

    #[inline]
    fn update(&self, body: &BodySolved<'_>, settings: &Settings) -> (Pose, Twist) {
        let (h, theta) = (settings.time_step, theta(body, settings));
        let (before, end) = (body.twist, body.end);
        let stages = body.mean.filter(|_| settings.theta == Theta::Auto);
        let mean = match stages {
            Some(mean) => mean.linear,
            None => end.linear * theta + before.linear * (1.0 - theta),
        };
        let (orientation, angular) = turn(body, stages, settings);
        let twist = Twist {
            linear: end.linear,
            angular,
        };
        let position = body.pose.position + mean * h;
        let pose = Pose {
            position,
            orientation,
        };
        (pose, twist)
    }
}

/// Orientation and `Ω` at the end of the step: the body turns by the free rotation `Φ_h` from `p_k`, under the part of the impulses
/// that acts before it, and the rest comes after. The angular momentum is kept in either case. `stages` is its mean velocity where
/// impacts followed one another.
fn turn(body: &BodySolved, stages: Option<&WorldTwist>, settings: &Settings) -> (DQuat, DVec3) {
    let (h, drift, inertia) = (settings.time_step, body.drift, body.inertia);
    let (p, before) = (body.pose.orientation, body.twist.angular);
    // The change by contacts is turned back alone: without contacts Ω keeps its bits.
    let change = p.conjugate() * (body.end.angular - body.free.angular);
    if settings.rotation == RotationUpdate::Linear {
        let (theta, end) = (theta(body, settings), drift.turned + change);
        let mean = end * theta + before * (1.0 - theta);
        return (rotation::linear_update(p, mean, h), end);
    }
    let solved = drift.twist.angular + change;
    if let (Some(mean), true) = (stages, body.turns < 1.0) {
        // The free rotation, ended early, keeps its energy; the rest is that of what carries the body.
        let (orientation, angular) = torque_free(inertia, p, solved, h * body.turns);
        let carried = mean.angular - p * solved * body.turns;
        let orientation = rotation::exp(carried * h) * orientation;
        return (rotation::normalised(orientation), angular);
    }
    let mean = match (stages, settings.theta) {
        // Of a body that is no ball the energy would not be that of the solve.
        (Some(mean), _) if inertia.spherical => p.conjugate() * mean.angular,
        (Some(_), _) => solved,
        (None, Theta::Fixed(theta)) => before + (solved - before) * theta,
        (None, Theta::Auto) if (change == DVec3::ZERO || !body.pushed) && !body.stiff => {
            return (drift.orientation, drift.turned + change);
        }
        (None, Theta::Auto) => solved,
    };
    turned_under(inertia, p, [mean, solved], h)
}

/// Gaps at the end of a free flight, as a part of its way, that are closed: bodies that leave with a multiple of `‖g‖h` are back at the end
/// of a step, to rounding.
const ROUNDING: f64 = 1e-9;

/// The smallest θ from ½ on with which an impact that changes `u_N` from `begin` to `end` does not end in overlap:
/// `g + h (θ u_{k+1} + (1 − θ) u_k) ≥ 0`. It is at most `1/(1 + e)`, so that no energy is gained by it.
#[inline]
pub(crate) fn theta_of_impact(gap: f64, [begin, end]: [f64; 2], h: f64) -> f64 {
    if end <= begin {
        return 0.5;
    }
    let needed = -(gap.max(0.0) / h + begin) / (end - begin);
    needed.clamp(0.5, 1.0)
}

/// Velocity changes smaller than this, relative to the speed, are the solver's rounding.
const NEGLIGIBLE: f64 = 1e-9;

/// θ of a body. [`Theta::Auto`]: that of its impacts if there are some, 1 if other contacts push it, else ½.
///
/// An impulse that changes the velocity by rounding only does not push: the position would
/// jump by `½ g h²` with it.
#[inline]
fn theta(body: &BodySolved, settings: &Settings) -> f64 {
    if let Theta::Fixed(theta) = settings.theta {
        return theta;
    }
    if body.stiff {
        return 1.0;
    }
    if let Some(theta) = body.struck {
        return theta;
    }
    if !body.pushed {
        return 0.5;
    }
    let fall = settings.gravity.length() * settings.time_step;
    let change = (body.end.linear - body.free.linear).length();
    let felt = change > NEGLIGIBLE * (fall + body.end.linear.length());
    if felt { 1.0 } else { 0.5 }
}
