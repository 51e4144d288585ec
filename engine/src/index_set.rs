//! Phase 3: the index set `I₁ ⊂ I₀` and the normal law of each of its contacts [THEORY §5].
//!
//! ```text
//! gap-aware   all of I₀;    s = e u_{N,k}        if g_N + h u_{N,k} ≤ 0, u_{N,k} < −u_threshold, e > 0
//!                           s = max(g_N, 0)/h + e u_{N,k}    if u_{N,k} > u_threshold, e > 0
//!                           s = max(g_N, 0)/h    otherwise
//! forecast    g_N + γ h u_{N,k} ≤ ε (and u_{N,k} ≤ 0 if asked);    s = e u_{N,k}
//! ```
//!
//! The second line is for a body that leaves a neighbour and is struck back onto it within the
//! step. With `s = max(g_N, 0)/h` alone the impulse meets a velocity `u_{N,k} > 0` and does positive
//! work. With it, for frictionless contacts of one `e` and θ = ½, no step gains energy:
//! `r·(u_{k+1} + e u_k) ≤ 0` and `r·(u_{k+1} − u_k) = rᵀWr ≥ 0` leave
//! `ΔK = ½ r·(u_k + u_{k+1}) ≤ ½ (1 − e) r·u_k ≤ 0`.

use crate::bodies::Bodies;
use crate::detection::Candidate;
use crate::motion::Motion;
use crate::settings::{Activation, Settings};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// A contact whose law is imposed in this step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interaction {
    pub(crate) candidate: Candidate,
    /// `ρ_A`, `ρ_B`: contact point from each centre of mass, inertial frame, m.
    pub(crate) arms: [DVec3; 2],
    /// `μ`; zero for the frictionless law.
    pub(crate) friction: f64,
    /// The term `s` of `0 ≤ u_N + s ⊥ r_N ≥ 0`, m/s.
    pub(crate) shift: f64,
    /// Restitution acts in this step: the term `s` contains `e u_{N,k}`.
    pub(crate) impact: bool,
}

/// `I₁` of the step.
#[derive(Resource, Debug, Default)]
pub(crate) struct IndexSet {
    pub(crate) active: Vec<Interaction>,
}

impl IndexSet {
    /// Chooses `I₁` from the candidates, in their order.
    pub(crate) fn activate(
        &mut self,
        candidates: &[Candidate],
        bodies: &Bodies,
        motion: &Motion,
        settings: &Settings,
    ) {
        self.active.clear();
        let threshold = settings.bounce_threshold();
        let h = settings.time_step;
        for candidate in candidates {
            let [a, b] = candidate.bodies.map(|slot| slot as usize);
            let arms = [a, b].map(|slot| candidate.point - bodies.pose[slot].position);
            let relative = motion.begin_velocity(a, arms[0]) - motion.begin_velocity(b, arms[1]);
            let approach = candidate.normal.dot(relative);
            let (friction, restitution) = combined_law(bodies, a, b, settings);
            let gap = candidate.gap;
            let law = match settings.activation {
                Activation::GapAware => {
                    let bounces = restitution > 0.0;
                    let strikes = bounces && approach < -threshold && gap + h * approach <= 0.0;
                    let leaves = bounces && approach > threshold;
                    let open = gap.max(0.0) / h;
                    Some(match (strikes, leaves) {
                        (true, _) => (restitution * approach, true),
                        (_, true) => (open + restitution * approach, true),
                        _ => (open, false),
                    })
                }
                Activation::Forecast {
                    gamma,
                    threshold,
                    approaching_only,
                } => {
                    let near = gap + gamma * h * approach <= threshold;
                    let closing = !approaching_only || approach <= 0.0;
                    (near && closing).then_some((restitution * approach, restitution > 0.0))
                }
            };
            if let Some((shift, impact)) = law {
                let candidate = *candidate;
                self.active.push(Interaction {
                    candidate,
                    arms,
                    friction,
                    shift,
                    impact,
                });
            }
        }
    }
}

/// `(μ, e)` of a contact from its two materials.
fn combined_law(bodies: &Bodies, a: usize, b: usize, settings: &Settings) -> (f64, f64) {
    let (a, b) = (&bodies.constants[a].material, &bodies.constants[b].material);
    let friction = if a.frictionless || b.frictionless {
        0.0
    } else {
        settings.combine_friction.of(a.friction, b.friction)
    };
    (
        friction,
        settings
            .combine_restitution
            .of(a.restitution, b.restitution),
    )
}
