//! What a joint bears.

use super::{Drift, JointRows, Jointed, Joints};
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
    /// The mean of each force of a joint over the last step of `h`, along its coordinate.
    pub(crate) fn efforts(&self, id: JointId, (rows, h): (&JointRows, f64)) -> Option<Vec<f64>> {
        let place = self.list.binary_search_by_key(&id, |joint| joint.id).ok()?;
        let impulses = rows.efforts(id, self.list[place].forces.len());
        Some(impulses.into_iter().map(|impulse| impulse / h).collect())
    }

    /// The force of a coupler, the mean over the last step of `h`.
    pub(crate) fn tension(&self, id: JointId, (drift, h): (&Drift, f64)) -> Option<f64> {
        let mut couplers = self.couplers.iter().zip(&drift.tensions);
        let found = couplers.find(|(coupler, _)| coupler.id == id);
        found.map(|(_, impulse)| impulse / h)
    }

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
