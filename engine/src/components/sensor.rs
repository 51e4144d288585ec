//! Bodies that see and do not touch.

use super::notices::seen_lost;
use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// The body sees what overlaps its collider, and nothing pushes it or is pushed by it: a trigger. What enters and leaves is in
/// [`StepEvents`](crate::StepEvents); what is inside now, in [`StepState::sensed`](crate::StepState::sensed).
///
/// A sensor may be static, kinematic or dynamic, with any shape. It sees bodies whose [`CollisionGroups`](crate::CollisionGroups) meet its own, if one of
/// the two is not static, and no other sensor; it looks at the poses at the end of each step. Of a mesh or a height field it is the surface alone
/// that sees, as contacts act: from its side. What it sees may sleep, and is not woken.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let gate = simulation.spawn((RigidBody::Static, Collider::cuboid(0.5, 0.5, 0.1), Sensor))?;
/// let ball = (RigidBody::Dynamic, Collider::sphere(0.1), Pose::at(0.0, 0.0, 1.0));
/// simulation.spawn(ball)?;
/// let mut entered = 0;
/// for _ in 0..200 {
///     simulation.step()?;
///     entered += simulation.events().entered().filter(|seen| seen.entities[0] == gate).count();
/// }
/// assert_eq!(entered, 1);
/// # Ok::<(), StepError>(())
/// ```
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
#[component(summary_tick, on_remove = seen_lost)]
pub struct Sensor;
