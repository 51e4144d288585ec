//! One contact by projection on the cone with an adaptive step.
//!
//! The law `K* ∋ û ⊥ r ∈ K` says that `r` is a fixed point for any `ρ > 0` (the form of the
//! bipotential) [Acary-Bremond-Huber18, §4]:
//!
//! ```text
//! r' = P_K( r − ρ û(r) ),        û(r) = W r + q + (μ‖u_T‖, 0, 0)
//!
//! c = ρ ‖û(r') − û(r)‖ / ‖r' − r‖             how far ρ is from the Lipschitz constant of û
//! while c > L:        ρ ← τ ρ,  again          too long        L = 0.9, τ = 2/3
//! if c < L_min:       ρ ← ρ/τ  for the next    too short       L_min = 0.3
//! ```
//!
//! `ρ` is remembered from one solve of the contact to the next.
//!
//! **When to use it:** as a reference that needs no derivative and no factorisation and stands any
//! block, also one where Newton's matrix is singular. **When not:** otherwise: its rate is linear,
//! `1 − O(1/cond W)`. With large `μ` and strong coupling `û` is not monotone and it may cycle.
//! **Cost:** one product with `W` and one projection a trial, tens to hundreds of trials.

use crate::comparison::local::{LocalProblem, onto_cone};
use glam::DVec3;

const TAU: f64 = 2.0 / 3.0;
const UPPER: f64 = 0.9;
const LOWER: f64 = 0.3;
/// Reductions of `ρ` in one step.
const MAX_TRIALS: usize = 20;
/// `λρ` stays within this and its inverse: noise at the solution must not drive it away.
const RANGE: f64 = 1e8;

/// Settings of the projection with adaptive step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionSettings {
    /// Steps at most. Default 1 000.
    pub iterations: usize,
    /// Stops when a step is shorter than this, relative to `max(‖r‖, ‖q‖/λ)`. Default 1e-14.
    pub tolerance: f64,
}

impl Default for ProjectionSettings {
    fn default() -> Self {
        Self {
            iterations: 1_000,
            tolerance: 1e-14,
        }
    }
}

/// An impulse and its `û`.
#[derive(Clone, Copy)]
struct Point {
    r: DVec3,
    shifted: DVec3,
}

impl Point {
    fn new(problem: &LocalProblem, r: DVec3) -> Self {
        Self {
            r,
            shifted: problem.shifted_velocity(r),
        }
    }
}

/// Projects from `start` until the steps are short. `rho` (kg): see the module.
pub(crate) fn solve(
    problem: &LocalProblem,
    settings: &ProjectionSettings,
    start: DVec3,
    rho: &mut f64,
) -> DVec3 {
    let lambda = problem.lambda();
    if *rho <= 0.0 || !rho.is_finite() {
        *rho = 1.0 / lambda;
    }
    let mut point = Point::new(problem, start);
    for _ in 0..settings.iterations {
        let next = step(problem, &point, rho);
        *rho = rho.clamp(1.0 / (RANGE * lambda), RANGE / lambda);
        let change = (next.r - point.r).length();
        point = next;
        if change <= settings.tolerance * problem.scale(lambda, point.r) {
            break;
        }
    }
    point.r
}

/// One step, with `ρ` shortened as needed; leaves the `ρ` of the next.
fn step(problem: &LocalProblem, from: &Point, rho: &mut f64) -> Point {
    let mut trials = 0;
    loop {
        let forward = from.r - from.shifted * *rho;
        let to = Point::new(problem, onto_cone(problem.friction, forward));
        let moved = (to.r - from.r).length();
        let ratio = *rho * (to.shifted - from.shifted).length();
        trials += 1;
        if ratio > UPPER * moved && trials < MAX_TRIALS {
            *rho *= TAU;
            continue;
        }
        if ratio < LOWER * moved {
            *rho /= TAU;
        }
        return to;
    }
}
