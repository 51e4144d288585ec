//! Colliders that are parts of a body elsewhere.

use bevy_ecs::prelude::*;

/// The [`Collider`](crate::Collider) of this entity is a part of the compound of that body: the steps leave the entity alone, which would
/// otherwise be a collider without a body. Put on by what makes compounds out of hierarchies, as the plugin for Bevy does. On a
/// body it is of no effect.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let body = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5)))?;
/// let world = simulation.world_mut();
/// let part = world.spawn(Collider::sphere(0.1)).id();
/// assert!(simulation.step().is_err());
/// simulation.set(part, PartOf(body));
/// simulation.step()?;
/// # Ok::<(), StepError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "reflect",
    derive(bevy_reflect::Reflect),
    reflect(bevy_ecs::reflect::Component)
)]
pub struct PartOf(#[entities] pub Entity);
