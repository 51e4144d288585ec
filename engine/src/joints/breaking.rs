//! Joints that bear more than they can.

use super::Joints;
use crate::components::JointId;
use glam::DVec3;

impl Joints {
    /// Takes the joints out whose reactions of the step are beyond what they bear, with their couplers, from the next step on.
    pub(crate) fn break_overloaded(&mut self) {
        self.broken.clear();
        for joint in &self.list {
            let Some(limit) = joint.break_limit else {
                continue;
            };
            let [force, torque] = [joint.bore.force, joint.bore.torque].map(DVec3::length);
            if force > limit.force || torque > limit.torque {
                self.broken.push(joint.id);
            }
        }
        if self.broken.is_empty() {
            return;
        }
        let broken = &self.broken;
        let is_whole = |id: &JointId| broken.binary_search(id).is_err();
        for spec in self.specs.iter().filter(|spec| !is_whole(&spec.id)) {
            self.disturbed.extend(spec.bodies.into_iter().flatten());
        }
        self.specs.retain(|spec| is_whole(&spec.id));
        self.coupler_specs
            .retain(|spec| spec.terms.iter().all(|(joint, ..)| is_whole(joint)));
        self.resolved = None;
    }
}
