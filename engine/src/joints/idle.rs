//! Joints that are out of the steps for a while: disabled, broken, with nothing to move, or of a disabled body. They keep the places where they hold their bodies, and their
//! turns, for when they take part again.

use super::coupled::Coupled;
use super::plain::JointSpec;
use super::{CouplerSpec, Jointed, Joints};
use crate::components::{JointFrames, JointId, Pose};
use serde::{Deserialize, Serialize};

/// What such a joint keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct IdleJoint {
    pub(super) id: JointId,
    /// What `frames` were made of.
    pub(super) given: JointFrames,
    /// In the frames of its bodies.
    pub(super) frames: [Pose; 2],
    pub(super) turned: f64,
    /// Of its forces, in their order.
    pub(super) coordinates: Vec<f64>,
}

/// What such a coupler keeps: where each of its terms was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct IdleCoupler {
    pub(super) id: JointId,
    pub(super) last: Vec<f64>,
}

impl Joints {
    /// The joints that are in the world and take no part, ascending, beside those that do. What is kept of others is forgotten.
    pub(super) fn set_resting(&mut self, resting: &[JointId], specs: &[JointSpec]) {
        if self.resting != resting {
            self.resting.clear();
            self.resting.extend_from_slice(resting);
        }
        let is_there =
            |id| resting.binary_search(&id).is_ok() || specs.iter().any(|spec| spec.id == id);
        self.idle.retain(|joint| is_there(joint.id));
    }

    /// The list is to be this one: what of the present one rests is kept, and what rested and takes part again is not any more.
    pub(super) fn lay_aside(&mut self, list: &[Jointed]) {
        let takes_part = |id: &JointId| list.binary_search_by_key(id, |joint| joint.id).is_ok();
        self.idle.retain(|joint| !takes_part(&joint.id));
        let (resting, kept) = (&self.resting, &mut self.idle);
        let rests = |joint: &&Jointed| resting.binary_search(&joint.id).is_ok();
        let new = self.list.iter().filter(rests);
        kept.extend(new.map(|joint| IdleJoint {
            id: joint.id,
            given: joint.given,
            frames: joint.frames,
            turned: joint.turned,
            coordinates: joint.coordinates.clone(),
        }));
        kept.sort_by_key(|joint| joint.id);
        kept.dedup_by_key(|joint| joint.id);
    }

    /// What is kept of a joint with these frames.
    pub(super) fn idle(&self, id: JointId, given: &JointFrames) -> Option<&IdleJoint> {
        let found = self.idle.binary_search_by_key(&id, |joint| joint.id);
        let found = found.ok().map(|place| &self.idle[place]);
        found.filter(|joint| joint.given == *given)
    }

    /// The couplers that are in the world and take no part, ascending, beside those that do.
    pub(super) fn set_resting_couplers(&mut self, resting: &[JointId], specs: &[CouplerSpec]) {
        if self.resting_couplers != resting {
            self.resting_couplers.clear();
            self.resting_couplers.extend_from_slice(resting);
        }
        let is_there =
            |id| resting.binary_search(&id).is_ok() || specs.iter().any(|spec| spec.id == id);
        self.idle_couplers.retain(|coupler| is_there(coupler.id));
    }

    /// As [`Self::lay_aside`], of couplers.
    pub(super) fn lay_couplers_aside(&mut self, list: &[Coupled]) {
        let takes_part = |id: JointId| list.iter().any(|coupler| coupler.id == id);
        self.idle_couplers.retain(|coupler| !takes_part(coupler.id));
        let (resting, kept) = (&self.resting_couplers, &mut self.idle_couplers);
        let rests = |coupler: &&Coupled| resting.binary_search(&coupler.id).is_ok();
        let new = self.couplers.iter().filter(rests);
        kept.extend(new.map(|coupler| IdleCoupler {
            id: coupler.id,
            last: coupler.terms.iter().map(|term| term.last).collect(),
        }));
        kept.sort_by_key(|coupler| coupler.id);
        kept.dedup_by_key(|coupler| coupler.id);
    }

    /// Where the terms of a coupler were that has as many.
    pub(super) fn idle_coupler(&self, spec: &CouplerSpec) -> Option<&[f64]> {
        let mut kept = self.idle_couplers.iter();
        let kept = kept.find(|coupler| coupler.id == spec.id)?;
        (kept.last.len() == spec.terms.len()).then_some(&kept.last)
    }
}
