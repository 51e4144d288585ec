//! The component that shows which bodies sleep.

use super::notices::Notices;
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;

/// Marks a dynamic body that sleeps: steps leave it where it is, at the cost of nothing.
///
/// Put on by the step, and taken off by the step that wakes the body. Removing it wakes the
/// body and its island at the beginning of the next step; see [`crate::Simulation::wake`]. Inserting it
/// on sends that body to sleep, alone, if it is dynamic, without a wrench, and sleeping is on
/// ([`crate::SleepSettings`]); otherwise the next step takes it off again. Its twist is then set to zero, which no
/// ledger shows: it is a change from outside, like any other.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use moreau::prelude::*;
/// fn awake(bodies: Query<&Pose, (With<RigidBody>, Without<Sleeping>)>) -> usize {
///     bodies.iter().count()
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_ecs::reflect::Component, bevy_reflect::prelude::Default)
)]
#[component(on_insert = touched, on_remove = touched)]
pub struct Sleeping;

fn touched(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut notices) = world.get_resource_mut::<Notices>() {
        notices.sleep_touched.push(context.entity);
        notices.sleep_changes += 1;
    }
}
