//! Phase 6: the Moreau–Jean update of twists and poses [THEORY §5].
//!
//! ```text
//! v_{k+1} = v_free + M⁻¹ Gᵀ P
//! x_{k+1} = x_k + h (θ v_{k+1} + (1 − θ) v_k)
//! p_{k+1} = p_free ∘ exp( h [ θ (Ω_{k+1} − Ω_free) + (θ − ½) 𝕀⁻¹ h m_ext ] )       exponential
//! p_{k+1} = p_k + h ½ p_k ∘ (0, θ Ω_{k+1} + (1 − θ) Ω_k)                            linear
//! ```
//!
//! The free drift carries the gyroscopic motion and the mean of the external kick; the second line
//! adds what the impulses change, which is the θ-update. Both forms renormalise.

use crate::bodies::Bodies;
use crate::index_set::Interaction;
use crate::motion::Motion;
use crate::rotation;
use crate::settings::{RotationUpdate, Settings, Theta};
use crate::{RigidBody, Twist};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// θ of each body in this step.
#[derive(Resource, Debug, Default)]
pub(crate) struct BodyTheta {
    values: Vec<f64>,
    marks: Vec<u8>,
}

/// What the contacts did to a body, bit by bit.
const PUSHED: u8 = 1;
const STRUCK: u8 = 2;
/// Velocity changes smaller than this, relative to the speed, are the solver's rounding.
const NEGLIGIBLE: f64 = 1e-9;

impl BodyTheta {
    /// [`Theta::Auto`]: 1 for a body that contacts push, none of them an impact, else ½.
    ///
    /// An impulse that changes the velocity by rounding only does not push: the position would
    /// jump by `½ g h²` with it.
    pub(crate) fn choose(
        &mut self,
        settings: &Settings,
        active: &[Interaction],
        impulse: &[DVec3],
        motion: &Motion,
    ) {
        self.values.clear();
        self.marks.clear();
        self.marks.resize(motion.free.len(), 0);
        if let Theta::Fixed(theta) = settings.theta {
            self.values.resize(motion.free.len(), theta);
            return;
        }
        for (interaction, r) in active.iter().zip(impulse) {
            if r.x > 0.0 {
                let mark = if interaction.impact {
                    PUSHED | STRUCK
                } else {
                    PUSHED
                };
                for slot in interaction.candidate.bodies {
                    self.marks[slot as usize] |= mark;
                }
            }
        }
        let fall = settings.gravity.length() * settings.time_step;
        for (slot, mark) in self.marks.iter().enumerate() {
            let (free, end) = (&motion.free[slot], &motion.end[slot]);
            let change = (end.linear - free.linear).length();
            let felt = change > NEGLIGIBLE * (fall + end.linear.length());
            self.values
                .push(if *mark == PUSHED && felt { 1.0 } else { 0.5 });
        }
    }
}

/// Advances `bodies` to `t_{k+1}` from the solved twists in `motion.end`.
pub(crate) fn update(bodies: &mut Bodies, motion: &Motion, theta: &BodyTheta, settings: &Settings) {
    let h = settings.time_step;
    for slot in 0..bodies.len() {
        let (pose, twist) = (&mut bodies.pose[slot], &mut bodies.twist[slot]);
        let drift = &motion.drift[slot];
        match bodies.constants[slot].kind {
            RigidBody::Static => {}
            RigidBody::Kinematic => {
                pose.position += twist.linear * h;
                pose.orientation = drift.orientation;
            }
            RigidBody::Dynamic => {
                let theta = theta.values[slot];
                let before = *twist;
                let end = &motion.end[slot];
                // The change by contacts is turned back alone: without contacts Ω keeps its bits.
                let change =
                    drift.orientation.conjugate() * (end.angular - motion.free[slot].angular);
                *twist = Twist {
                    linear: end.linear,
                    angular: drift.twist.angular + change,
                };
                pose.position += (twist.linear * theta + before.linear * (1.0 - theta)) * h;
                pose.orientation = match settings.rotation {
                    RotationUpdate::Exponential => {
                        let extra = (change * theta + drift.kick * (theta - 0.5)) * h;
                        if extra == DVec3::ZERO {
                            drift.orientation
                        } else {
                            rotation::normalised(drift.orientation * rotation::exp(extra))
                        }
                    }
                    RotationUpdate::Linear => {
                        let mean = twist.angular * theta + before.angular * (1.0 - theta);
                        rotation::linear_update(pose.orientation, mean, h)
                    }
                };
            }
        }
    }
}
