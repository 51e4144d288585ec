//! What is known of the rest of bodies, and what has happened to them since the last step, as it is kept.

use super::slot::Slot;
use super::waking::Rest;
use super::{Bodies, Listing};
use crate::bodies::check::check_finite;
use crate::components::{BodyId, Pose, Twist, Wrench};
use crate::error::{BodyError, StepError};
use crate::settings::Settings;
use glam::DVec3;
use moreau_geometry::Aabb;
use serde::{Deserialize, Serialize};

/// The rest of bodies as it is kept: see `Sleep`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SleepMemory {
    /// By slot.
    pub(crate) rest: Vec<Rest>,
    pub(crate) woke: bool,
    pub(crate) touched: Vec<Slot>,
    pub(crate) places: Vec<Aabb>,
    pub(crate) hosts: Vec<Slot>,
    pub(crate) to_wake: Vec<BodyId>,
    /// Of the last step, without what changes no result.
    pub(crate) settings: Option<Settings>,
}

/// Where bodies are and how they move, by slot; what acts on some of them, ascending.
pub(crate) struct StateMemory<'a> {
    pub(crate) pose: &'a [Pose],
    pub(crate) twist: &'a [Twist],
    pub(crate) wrenches: &'a [(Slot, Wrench)],
}

impl Bodies {
    /// What a body leaves behind that something happened to: see [`Bodies::disturb`].
    pub(crate) fn leaves(&self, slot: Slot, memory: &mut SleepMemory) {
        if self.sleep.count > 0 {
            let solid = !self.constants[slot].sensor;
            memory.places.extend(self.bounds(slot).filter(|_| solid));
            memory.to_wake.extend(self.sleep.rest[slot].asleep);
        }
    }

    /// The bodies of a list in these states, of which this is known. Both are checked, the list is known to be of as many bodies.
    pub(crate) fn remembering(
        listing: Listing,
        states: &StateMemory,
        sleep: &SleepMemory,
    ) -> Result<Self, StepError> {
        let mut bodies = Self::default();
        bodies.replace(listing);
        bodies.sleep.rest.clone_from(&sleep.rest);
        for (slot, (pose, twist)) in bodies.slots().zip(states.pose.iter().zip(states.twist)) {
            bodies.set_state(slot, pose, twist);
        }
        for (slot, wrench) in states.wrenches {
            bodies.wrench[*slot] = *wrench;
        }
        for slot in bodies.slots() {
            check_rest(&bodies, slot).map_err(|source| bodies.refused(slot, source))?;
        }
        let known = &mut bodies.sleep;
        known.any_disturbed = known.rest.iter().any(|rest| rest.disturbed);
        known.woke = sleep.woke;
        known.touched.clone_from(&sleep.touched);
        known.places.clone_from(&sleep.places);
        known.hosts.clone_from(&sleep.hosts);
        known.to_wake.clone_from(&sleep.to_wake);
        known.settings = sleep.settings;
        known.count_asleep();
        bodies.list_moving();
        Ok(bodies)
    }
}

fn check_rest(bodies: &Bodies, slot: Slot) -> Result<(), BodyError> {
    let rest = &bodies.sleep.rest[slot];
    let times = DVec3::new(rest.quiet, rest.slowest, 0.0);
    check_finite([("time at rest", times)])?;
    if rest.asleep.is_some() && !rest.disturbed && !bodies.constants[slot].is_dynamic() {
        return Err(BodyError::Field {
            field: "island of a body that is not dynamic",
            value: rest.asleep.map_or(0.0, |island| island.0 as f64),
            bound: "none",
        });
    }
    Ok(())
}
