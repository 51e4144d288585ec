//! Phase 3: the index set `I₁ ⊂ I₀`, and the normal law of each of its contacts [THEORY §5].
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

/// The law of a contact in this step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Law {
    /// Restitution acts in this step: the term `s` contains `e u_{N,k}`.
    pub(crate) impact: bool,
    /// The contact is in `I₁`.
    imposed: bool,
    /// `μ`; zero for the frictionless law.
    pub(crate) friction: f64,
    /// The term `s` of `0 ≤ u_N + s ⊥ r_N ≥ 0`, m/s.
    pub(crate) shift: f64,
}

/// `I₁` of the step.
#[derive(Resource, Debug, Default)]
pub(crate) struct IndexSet {
    /// Places of its contacts among the candidates, ascending; `None` if all are in.
    chosen: Option<Vec<u32>>,
    /// Number of candidates.
    candidates: usize,
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
        self.candidates = candidates.len();
        self.chosen = match settings.activation {
            Activation::GapAware => None,
            Activation::Forecast { .. } => {
                let mut chosen = self.chosen.take().unwrap_or_default();
                chosen.clear();
                chosen.extend((0..).zip(candidates).filter_map(|(place, candidate)| {
                    let law = law(candidate, bodies, motion, settings);
                    law.imposed.then_some(place)
                }));
                Some(chosen)
            }
        };
    }

    /// Places of the contacts among the candidates; `None` if all are in.
    pub(crate) fn chosen(&self) -> Option<&[u32]> {
        self.chosen.as_deref()
    }

    /// Number of contacts.
    pub(crate) fn len(&self) -> usize {
        self.chosen.as_ref().map_or(self.candidates, Vec::len)
    }
}

/// The law of a candidate.
#[inline]
pub(crate) fn law(
    candidate: &Candidate,
    bodies: &Bodies,
    motion: &Motion,
    settings: &Settings,
) -> Law {
    let [a, b] = candidate.bodies.map(|slot| slot as usize);
    let (friction, restitution) = combined_law(bodies, a, b, settings);
    let h = settings.time_step;
    let gap = candidate.gap;
    let approach = || {
        let [at_a, at_b] = [a, b].map(|slot| {
            let arm = candidate.point - bodies.pose[slot].position;
            motion.begin_velocity(slot, arm)
        });
        candidate.normal.dot(at_a - at_b)
    };
    let (imposed, shift, impact) = match settings.activation {
        Activation::GapAware => {
            let open = gap.max(0.0) / h;
            if restitution > 0.0 {
                let threshold = settings.bounce_threshold();
                let approach = approach();
                if approach < -threshold && gap + h * approach <= 0.0 {
                    (true, restitution * approach, true)
                } else if approach > threshold {
                    (true, open + restitution * approach, true)
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
            let approach = approach();
            let near = gap + gamma * h * approach <= threshold;
            let closing = !approaching_only || approach <= 0.0;
            (near && closing, restitution * approach, restitution > 0.0)
        }
    };
    Law {
        impact,
        imposed,
        friction,
        shift,
    }
}

/// `(μ, e)` of a contact from its two materials.
fn combined_law(bodies: &Bodies, a: usize, b: usize, settings: &Settings) -> (f64, f64) {
    let (a, b) = (&bodies.materials[a], &bodies.materials[b]);
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
