//! Kinematic bodies that are given the pose at the end of the step.
//!
//! ```text
//! v = (x* − x_k)/h,     Ω = log(p_k⁻¹ ∘ p*)/h,     x_{k+1} = x*,   p_{k+1} = p*
//! ```
//!
//! with the shortest turn. The twist is that of the body through the step; afterwards it stands.

use super::Bodies;
use super::check::check_target;
use super::slot::Slot;
use crate::components::{Pose, Twist};
use crate::error::BodyError;
use crate::math::rotation;

/// A body and the pose at which it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) slot: Slot,
    pub(crate) pose: Pose,
}

impl Bodies {
    /// Gives a body its target for the next step, in place of an earlier one.
    pub(crate) fn set_target(&mut self, slot: Slot, pose: &Pose) -> Result<(), BodyError> {
        check_target(self.constants[slot].kind, pose)?;
        let target = Target { slot, pose: *pose };
        match self.targets.binary_search_by_key(&slot, |t| t.slot) {
            Ok(at) => self.targets[at] = target,
            Err(at) => self.targets.insert(at, target),
        }
        Ok(())
    }

    /// Bodies with a target have the twist that leads to it in a step of `h`, s.
    pub(crate) fn aim(&mut self, h: f64) {
        for target in &self.targets {
            let pose = &self.pose[target.slot];
            let turn = pose.orientation.conjugate() * target.pose.orientation;
            self.twist[target.slot] = Twist {
                linear: (target.pose.position - pose.position) / h,
                angular: rotation::log(turn) / h,
            };
        }
    }

    /// Bodies with a target are there, without the rounding of the way.
    pub(crate) fn arrive(&mut self) {
        for target in &self.targets {
            self.pose[target.slot] = target.pose;
        }
    }

    /// Bodies that are at their targets stand, and the targets are used up.
    pub(crate) fn stand(&mut self) {
        for target in self.targets.drain(..) {
            self.twist[target.slot] = Twist::default();
        }
    }
}
