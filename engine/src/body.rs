//! The components that make an entity a body.

use crate::Wrench;
use crate::bodies::Bodies;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// What moves a body. Spawning it with a [`crate::Collider`] is enough: pose, twist, material,
/// mass, wrench and collision groups are filled in.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
#[serde(rename_all = "snake_case")]
#[require(
    BodyId,
    Pose,
    Twist,
    crate::Mass,
    crate::Material,
    Wrench,
    CollisionGroups
)]
pub enum RigidBody {
    /// Moved by forces and impulses.
    #[default]
    Dynamic,
    /// Moves with the [`Twist`] it is given, whatever it meets.
    Kinematic,
    /// Never moves; its twist is ignored.
    Static,
}

/// Stable identity of a body. Results depend on these numbers and never on the order in which
/// entities are stored: bodies are ordered by id wherever order matters.
///
/// A body spawned without an id takes the next one above all that were ever in use, in the order
/// of spawning; bodies that were in a world before the engine was installed follow in the order of
/// their entities. Two bodies must not share an id.
#[derive(
    Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[component(summary_tick, on_insert = give_id)]
pub struct BodyId(pub u64);

/// Turns [`BodyId::UNASSIGNED`] into the next id, and keeps account of the explicit ones.
fn give_id(mut world: DeferredWorld, context: HookContext) {
    let Some(id) = world.get::<BodyId>(context.entity).copied() else {
        return;
    };
    let taken = world
        .get_resource_mut::<Bodies>()
        .and_then(|mut bodies| bodies.take_id(id));
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

/// Position of the **centre of mass** (m) and orientation (body frame to inertial frame).
///
/// A shape whose own origin is not its centre of mass (cone, hull, compound) is shifted so that
/// the two coincide.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[component(summary_tick)]
#[serde(default, deny_unknown_fields)]
pub struct Pose {
    /// `x_g`, inertial frame, m.
    pub position: DVec3,
    /// Unit quaternion `p`, `R = Φ(p)`.
    pub orientation: DQuat,
}

impl Pose {
    /// Pose at `(x, y, z)` m with the axes of the inertial frame.
    #[must_use]
    pub fn at(x: f64, y: f64, z: f64) -> Self {
        Self::from_position(DVec3::new(x, y, z))
    }

    /// Pose at `position` (m) with the axes of the inertial frame.
    #[must_use]
    pub fn from_position(position: DVec3) -> Self {
        Self {
            position,
            orientation: DQuat::IDENTITY,
        }
    }

    /// The same position with another orientation (unit quaternion).
    #[must_use]
    pub fn with_orientation(self, orientation: DQuat) -> Self {
        Self {
            orientation,
            ..self
        }
    }
}

/// Velocity of a body: `v = (v_g, Ω)`.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[component(summary_tick)]
#[serde(default, deny_unknown_fields)]
pub struct Twist {
    /// `v_g`, velocity of the centre of mass, **inertial** frame, m/s.
    pub linear: DVec3,
    /// `Ω`, angular velocity, **body** frame, rad/s.
    pub angular: DVec3,
}

impl Twist {
    /// A twist without rotation, m/s.
    #[must_use]
    pub fn linear(x: f64, y: f64, z: f64) -> Self {
        Self {
            linear: DVec3::new(x, y, z),
            angular: DVec3::ZERO,
        }
    }
}

/// Which bodies meet: two bodies do if each one's `memberships` share a bit with the other's
/// `mask`. By default all do.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
