//! What the hooks of components leave for the next gather.

use super::{BodyId, JointId};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;

/// The letter box of the step. In the world from the installation on.
#[derive(Resource, Debug, Default)]
pub(crate) struct Notices {
    /// Above every id that was ever in use.
    pub(crate) next_id: u64,
    /// Above every id of a joint that was ever in use.
    pub(crate) next_joint_id: u64,
    /// Bodies that are no more, whose joints go with them.
    pub(crate) bodies_gone: Vec<Entity>,
    /// Joints that are no more, whose couplers go with them.
    pub(crate) joints_lost: Vec<Entity>,
    /// These joints and couplers, once the step is done.
    pub(crate) joints_gone: Vec<Entity>,
    /// Entities whose [`Sleeping`](crate::Sleeping) was inserted or removed since the last step.
    pub(crate) sleep_touched: Vec<Entity>,
    /// A component that a body may have or not was taken off: its body is in the same columns as before but for this one, and no tick
    /// tells.
    pub(crate) part_lost: bool,
    /// How often something was taken off that questions read.
    pub(crate) seen_lost: u64,
    /// How often [`Sleeping`](crate::Sleeping) was inserted or removed.
    pub(crate) sleep_changes: u64,
}

/// The hook of such components.
pub(super) fn lost(mut world: DeferredWorld, _: HookContext) {
    if let Some(mut notices) = world.get_resource_mut::<Notices>() {
        notices.part_lost = true;
    }
}

/// The hook of those that questions read: [`PartMaterials`](crate::PartMaterials), which the centre of mass depends on, and [`Sensor`](crate::Sensor).
pub(super) fn seen_lost(mut world: DeferredWorld, _: HookContext) {
    if let Some(mut notices) = world.get_resource_mut::<Notices>() {
        notices.part_lost = true;
        notices.seen_lost += 1;
    }
}

impl Notices {
    /// The id of a new body that asked for `id`: itself, or the next one above all ever in use.
    /// `None` if there is no id left.
    pub(crate) fn take_id(&mut self, id: BodyId) -> Option<BodyId> {
        let taken = if id == BodyId::UNASSIGNED {
            BodyId(self.next_id)
        } else {
            id
        };
        let next = taken.0.checked_add(1)?;
        self.next_id = self.next_id.max(next);
        Some(taken)
    }

    /// As [`Self::take_id`], of a joint.
    pub(crate) fn take_joint_id(&mut self, id: JointId) -> Option<JointId> {
        let taken = if id == JointId::UNASSIGNED {
            JointId(self.next_joint_id)
        } else {
            id
        };
        self.next_joint_id = self.next_joint_id.max(taken.0.checked_add(1)?);
        Some(taken)
    }
}
