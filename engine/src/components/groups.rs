//! Which bodies meet.

use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// Which bodies meet: two bodies do if each one's `memberships` share a bit with the other's
/// `mask`. By default all do.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(
        bevy_ecs::reflect::Component,
        bevy_reflect::prelude::Default,
        bevy_reflect::Serialize,
        bevy_reflect::Deserialize
    )
)]
#[component(summary_tick)]
#[serde(default, deny_unknown_fields)]
pub struct CollisionGroups {
    /// Groups that the body belongs to.
    pub memberships: u32,
    /// Groups that it meets.
    pub mask: u32,
}

impl Default for CollisionGroups {
    fn default() -> Self {
        Self {
            memberships: u32::MAX,
            mask: u32::MAX,
        }
    }
}

impl CollisionGroups {
    /// True if bodies of these two groups meet.
    #[must_use]
    pub fn meets(self, other: Self) -> bool {
        self.memberships & other.mask != 0 && other.memberships & self.mask != 0
    }
}
