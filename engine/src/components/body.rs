//! The components that make an entity a body.

use super::notices::Notices;
use super::{CollisionGroups, Mass, Material, Pose, Twist, Wrench};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use serde::{Deserialize, Serialize};

/// What moves a body. Spawning it with a [`crate::Collider`] is enough: pose, twist, material,
/// mass, wrench and collision groups are filled in.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[component(summary_tick, on_remove = gone)]
#[serde(rename_all = "snake_case")]
#[require(BodyId, Pose, Twist, Mass, Material, Wrench, CollisionGroups)]
pub enum RigidBody {
    /// Moved by forces and impulses.
    #[default]
    Dynamic,
    /// Moves with the [`Twist`] it is given, or to its [`KinematicTarget`](crate::KinematicTarget), whatever it meets.
    Kinematic,
    /// Never moves; its twist is ignored.
    Static,
}

/// Its joints go with it.
fn gone(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut notices) = world.get_resource_mut::<Notices>() {
        notices.bodies_gone.push(context.entity);
    }
}

/// Stable identity of a body. Results depend on the order of these numbers and never on the order in which
/// entities are stored: bodies are ordered by id wherever order matters.
///
/// A body spawned without an id takes the next one above all that were ever in use, in the order
/// of spawning, which results then depend on, by rounding; bodies that were in a world before the engine was installed follow in the order of
/// their entities. Two bodies must not share an id.
#[derive(
    Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
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
#[component(summary_tick, on_insert = give_id)]
pub struct BodyId(pub u64);

/// Turns [`BodyId::UNASSIGNED`] into the next id, and keeps account of the explicit ones.
fn give_id(mut world: DeferredWorld, context: HookContext) {
    let Some(id) = world.get::<BodyId>(context.entity).copied() else {
        return;
    };
    let taken = world
        .get_resource_mut::<Notices>()
        .and_then(|mut notices| notices.take_id(id));
    if let (Some(taken), Some(mut component)) = (taken, world.get_mut::<BodyId>(context.entity)) {
        *component = taken;
    }
}

impl BodyId {
    /// Asks for the next free id.
    pub const UNASSIGNED: Self = Self(u64::MAX);
}

impl Default for BodyId {
    fn default() -> Self {
        Self::UNASSIGNED
    }
}

impl std::fmt::Display for BodyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::UNASSIGNED {
            f.write_str("without id")
        } else {
            write!(f, "{}", self.0)
        }
    }
}
