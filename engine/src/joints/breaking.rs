//! Joints that bear more than they can.

use super::{Drift, Joints};
use crate::components::JointId;

impl Joints {
    /// Takes the joints out whose reactions of a step of `h` (s) are beyond what they bear, with their couplers, from the next step on.
    pub(crate) fn break_overloaded(&mut self, drift: &Drift, h: f64) {
        self.broken.clear();
        for (joint, push) in self.list.iter().zip(&drift.reactions) {
            let Some(limit) = joint.break_limit else {
                continue;
            };
            let [force, torque] = [push.linear, push.angular].map(|push| push.length() / h);
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
