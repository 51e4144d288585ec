//! What joints bear. What sleeps bears what it bore in its last step awake.

use super::held::Held;
use super::{Drift, JointRows, Jointed, Joints};
use crate::bodies::Bodies;
use crate::components::{JointId, Pose};
use glam::DVec3;

/// Force and torque of a joint on body B, of its locked axes and of what acts along the others: the mean over the last step, asleep over the last one awake, in
/// frame A as it is now. The opposite acts on A.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointReaction {
    /// N.
    pub force: DVec3,
    /// About the origin of frame B, N·m.
    pub torque: DVec3,
}

impl Joints {
    /// Remembers what the joints and couplers whose bodies are awake bore in a step of `h`, s.
    pub(crate) fn keep_readings(&mut self, (drift, rows): (&Drift, &JointRows), h: f64) {
        for articulation in &self.articulations {
            for index in &articulation.joints {
                let (joint, push) = (&mut self.list[*index], &drift.reactions[*index]);
                joint.bore = JointReaction {
                    force: push.linear / h,
                    torque: push.angular / h,
                };
                rows.efforts(joint.id, &mut joint.efforts);
                for effort in &mut joint.efforts {
                    *effort /= h;
                }
            }
            for index in &articulation.couplers {
                self.couplers[*index].pulled = drift.tensions[*index] / h;
            }
        }
        for rows in Held::by_force(&drift.held) {
            let Held { joint, force, .. } = rows[0];
            self.list[joint].efforts[force] += Held::beyond(rows) / h;
        }
    }

    fn find(&self, id: JointId) -> Option<&Jointed> {
        let place = self.list.binary_search_by_key(&id, |joint| joint.id).ok()?;
        Some(&self.list[place])
    }

    /// The mean of each force of a joint, along its coordinate.
    pub(crate) fn efforts(&self, id: JointId) -> Option<Vec<f64>> {
        self.find(id).map(|joint| joint.efforts.clone())
    }

    /// Where a joint holds its bodies.
    pub(crate) fn frames(&self, id: JointId) -> Option<[Pose; 2]> {
        self.find(id).map(|joint| joint.frames)
    }

    /// The force of a coupler.
    pub(crate) fn tension(&self, id: JointId) -> Option<f64> {
        let mut couplers = self.couplers.iter();
        let found = couplers.find(|coupler| coupler.id == id);
        found.map(|coupler| coupler.pulled)
    }

    /// The reaction of a joint.
    pub(crate) fn reaction(&self, id: JointId, bodies: &Bodies) -> Option<JointReaction> {
        let joint = self.find(id)?;
        // Bodies may have been replaced since by fewer.
        if joint.slots().any(|slot| slot.index() >= bodies.len()) {
            return None;
        }
        let back = joint.placed(bodies).turn_of_a().conjugate();
        Some(JointReaction {
            force: back * joint.bore.force,
            torque: back * joint.bore.torque,
        })
    }
}
