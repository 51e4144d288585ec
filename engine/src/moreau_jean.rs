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

use crate::assembly::ContactProblem;
use crate::bodies::Bodies;
use crate::chunks::{self, Slots};
use crate::motion::Motion;
use crate::overflow::overflows;
use crate::rotation;
use crate::settings::{RotationUpdate, Settings, Theta};
use crate::{Pose, RigidBody, Twist};
use bevy_ecs::prelude::*;
use glam::DVec3;

/// What the contacts of a step did to each body, bit by bit.
#[derive(Resource, Debug, Default)]
pub(crate) struct Pushes {
    marks: Vec<u8>,
}

const PUSHED: u8 = 1;
const STRUCK: u8 = 2;
/// Velocity changes smaller than this, relative to the speed, are the solver's rounding.
const NEGLIGIBLE: f64 = 1e-9;

impl Pushes {
    /// Marks the bodies that contacts push, and those that an impact is among. Marks of bodies at rest
    /// are neither wiped nor read.
    pub(crate) fn mark(&mut self, problem: &ContactProblem, bodies: &Bodies) {
        self.marks.resize(bodies.len(), 0);
        for slot in &bodies.moving {
            self.marks[*slot as usize] = 0;
        }
        let laws = problem.record.places.iter().zip(&problem.impacts);
        for ((place, impact), r) in laws.zip(&problem.record.impulse) {
            if r.x > 0.0 {
                let mark = if *impact { PUSHED | STRUCK } else { PUSHED };
                for slot in place.bodies {
                    self.marks[slot as usize] |= mark;
                }
            }
        }
    }

    /// θ of a body. [`Theta::Auto`]: 1 if contacts push it, none of them an impact, else ½.
    ///
    /// An impulse that changes the velocity by rounding only does not push: the position would
    /// jump by `½ g h²` with it.
    fn theta(&self, slot: usize, motion: &Motion, settings: &Settings) -> f64 {
        if let Theta::Fixed(theta) = settings.theta {
            return theta;
        }
        if self.marks[slot] != PUSHED {
            return 0.5;
        }
        let (free, end) = (&motion.free[slot], &motion.end[slot]);
        let fall = settings.gravity.length() * settings.time_step;
        let change = (end.linear - free.linear).length();
        let felt = change > NEGLIGIBLE * (fall + end.linear.length());
        if felt { 1.0 } else { 0.5 }
    }
}

/// Advances `bodies` to `t_{k+1}` from the solved twists in `motion.end`. Returns the lowest slot
/// whose state overflows.
pub(crate) fn update(
    bodies: &mut Bodies,
    motion: &Motion,
    pushes: &Pushes,
    settings: &Settings,
) -> Option<usize> {
    let Bodies {
        pose,
        twist,
        constants,
        moving,
        ..
    } = bodies;
    let work = |part: Slots<'_, (&mut [Pose], &mut [Twist])>| {
        let rows = part.each();
        let (pose, twist) = part.columns;
        let mut overflow = None;
        for (slot, row) in rows {
            let (pose, twist) = (&mut pose[row], &mut twist[row]);
            match constants[slot].kind {
                RigidBody::Static => {}
                RigidBody::Kinematic => {
                    pose.position += twist.linear * settings.time_step;
                    pose.orientation = motion.drift[slot].orientation;
                }
                RigidBody::Dynamic => {
                    let theta = pushes.theta(slot, motion, settings);
                    advance(pose, twist, slot, theta, motion, settings);
                }
            }
            let p = pose.orientation;
            let turn = DVec3::new(p.x, p.y, p.z) + DVec3::splat(p.w);
            let state = [pose.position, turn, twist.linear, twist.angular];
            if overflow.is_none() && overflows(state) {
                overflow = Some(slot);
            }
        }
        overflow
    };
    let columns = (&mut pose[..], &mut twist[..]);
    let found = chunks::fold(Slots::of(moving, columns), &work, &Option::or);
    [found, motion.overflow_at_rest].into_iter().flatten().min()
}

/// The update of one dynamic body.
#[inline]
fn advance(
    pose: &mut Pose,
    twist: &mut Twist,
    slot: usize,
    theta: f64,
    motion: &Motion,
    settings: &Settings,
) {
    let h = settings.time_step;
    let (drift, before, end) = (&motion.drift[slot], *twist, &motion.end[slot]);
    // The change by contacts is turned back alone: without contacts Ω keeps its bits.
    let change = drift.orientation.conjugate() * (end.angular - motion.free[slot].angular);
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
