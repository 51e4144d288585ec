//! What a joint bears.

use super::{Drift, Jointed, Joints};
use crate::bodies::Bodies;
use crate::components::JointId;
use glam::DVec3;

/// Force and torque of a joint on body B, of its locked axes and of what acts along the others: the mean over the last step, in frame A as it is now. The
/// opposite acts on A.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointReaction {
    /// N.
    pub force: DVec3,
    /// About the origin of frame B, N·m.
    pub torque: DVec3,
}

impl Joints {
    /// The reaction of a joint in the last step of `h`, s.
    pub(crate) fn reaction(
        &self,
        id: JointId,
        (drift, bodies, h): (&Drift, &Bodies, f64),
    ) -> Option<JointReaction> {
        let place = self.list.binary_search_by_key(&id, |joint| joint.id).ok()?;
        let joint: &Jointed = &self.list[place];
        let push = drift.reactions.get(place)?;
        let back = joint.placed(bodies).turn_of_a().conjugate();
        Some(JointReaction {
            force: back * push.linear / h,
            torque: back * push.angular / h,
        })
    }
}
