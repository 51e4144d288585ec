//! Impulses and forces as commands.

use crate::error::PhysicsError;
use crate::read::parts_of;
use crate::saves::Reading;
use crate::shown::Shown;
use bevy_ecs::prelude::*;
use bevy_transform::components::Transform;
use moreau::StepError;
use moreau::glam::DVec3;

/// What acts on a body at a point (m, inertial frame). What is refused is a [`PhysicsError::Step`] with the body, the field and the bound.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use bevy_moreau::prelude::*;
/// fn kick(balls: Query<(Entity, &Pose)>, mut commands: Commands) {
///     for (ball, pose) in &balls {
///         commands.entity(ball).apply_impulse(DVec3::Y, pose.position);
///     }
/// }
/// ```
pub trait BodyCommands {
    /// Changes the velocities of a dynamic body at once by an impulse (N·s): [`moreau::apply_impulse`].
    fn apply_impulse(&mut self, impulse: DVec3, point: DVec3) -> &mut Self;

    /// Adds a force (N) to its [`Wrench`](moreau::Wrench), which acts until that is changed: [`moreau::add_force_at`].
    fn add_force_at(&mut self, force: DVec3, point: DVec3) -> &mut Self;
}

impl BodyCommands for EntityCommands<'_> {
    fn apply_impulse(&mut self, impulse: DVec3, point: DVec3) -> &mut Self {
        self.queue_silenced(move |mut body: EntityWorldMut| {
            act(&mut body, |world, body| {
                moreau::apply_impulse(world, body, impulse, point)
            });
        })
    }

    fn add_force_at(&mut self, force: DVec3, point: DVec3) -> &mut Self {
        self.queue_silenced(move |mut body: EntityWorldMut| {
            act(&mut body, |world, body| {
                moreau::add_force_at(world, body, force, point)
            });
        })
    }
}

/// On a body that is where its `Transform` says.
fn act(body: &mut EntityWorldMut, act: impl FnOnce(&mut World, Entity) -> Result<bool, StepError>) {
    let shown = body.get::<Shown>().zip(body.get::<Transform>());
    let is_read = shown.is_some_and(|(shown, now)| shown.known && shown.transform == parts_of(now));
    let entity = body.id();
    body.world_scope(|world| {
        if !is_read {
            let _ = world.try_run_schedule(Reading);
        }
        if let Err(error) = act(world, entity) {
            world.write_message(PhysicsError::Step(error));
        }
    });
}
