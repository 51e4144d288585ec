//! Snapshots of an app's bodies.

use crate::parts::Composed;
use crate::sensors::Dismounted;
use crate::shown::Shown;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use moreau::glam::DVec3;
use moreau::{
    Collider, Mass, PartMaterials, Pose, Restored, RigidBody, Rollback, Snapshot, SnapshotError,
    StepError,
};

/// What users wrote, to what the step reads: run at the beginning of each step, and before a snapshot.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reading;

/// What the step left, to `Transform`s: run after a restore.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Showing;

/// Takes what users wrote.
pub(crate) fn take(world: &mut World) {
    // It is there from the beginning; without it a step reads nothing new.
    let _ = world.try_run_schedule(Reading);
}

/// All that the future of the bodies depends on, as they are now: what was written to `Transform`s and child colliders since the last step is in it.
/// [`Snapshot::restore`] puts the world back to it.
///
/// What is of the engine is in it: bodies with their compounds, joints, settings. Of what else is on entities, as [`LockedAxes`](crate::LockedAxes), child colliders and their
/// bonds, nothing is: entities that are still there keep theirs.
///
/// ```
/// use bevy_app::prelude::*;
/// use bevy_moreau::prelude::*;
/// use bevy_time::TimePlugin;
/// use bevy_transform::prelude::*;
///
/// let mut app = App::new();
/// app.add_plugins((TimePlugin, TransformPlugin, MoreauPlugin::default()));
/// let ball = (RigidBody::Dynamic, Collider::sphere(0.5), Transform::from_xyz(0.0, 3.0, 0.0));
/// let ball = app.world_mut().spawn(ball).id();
/// let saved = bevy_moreau::snapshot(app.world_mut())?;
/// app.world_mut().despawn(ball);
/// saved.restore(app.world_mut())?;
/// let mut bodies = app.world_mut().query::<(&RigidBody, &Pose)>();
/// assert_eq!(bodies.iter(app.world()).map(|(_, pose)| pose.position.y).sum::<f64>(), 3.0);
/// # Ok::<(), SnapshotError>(())
/// ```
///
/// # Errors
/// As [`Snapshot::of`].
pub fn snapshot(world: &mut World) -> Result<Snapshot, SnapshotError> {
    read(world)?;
    Snapshot::of(world)
}

/// Adds a snapshot of the bodies as they are now to a rollback, as [`snapshot`] takes it; [`Rollback::restore_world`] goes back.
///
/// # Errors
/// As [`Rollback::push_world`].
pub fn push_snapshot(rollback: &mut Rollback, world: &mut World) -> Result<(), SnapshotError> {
    read(world)?;
    rollback.push_world(world)
}

fn read(world: &mut World) -> Result<(), StepError> {
    let what = "MoreauPlugin";
    let read = world.try_run_schedule(Reading);
    read.map_err(|_| StepError::NotInstalled { what })
}

/// What the plugin remembers of a body, beside what it is now.
type Remembered = (
    &'static mut Shown,
    Option<&'static mut Composed>,
    &'static Pose,
    &'static Mass,
    Option<&'static Collider>,
    Option<&'static PartMaterials>,
);

/// Bodies are shown where the snapshot has them, without a way there; what it says of them is no change of a user's.
pub(crate) fn restored(
    _: On<Restored>,
    mut bodies: Query<Remembered>,
    dismounted: Query<Entity, (With<Dismounted>, With<RigidBody>)>,
    mut commands: Commands,
) {
    for sensor in &dismounted {
        commands.entity(sensor).try_remove::<RigidBody>();
    }
    for (mut shown, composed, pose, mass, collider, parts) in &mut bodies {
        let center = collider.map(|shape| shape.center_of_body(mass, parts));
        shown.center = center.and_then(Result::ok).unwrap_or(DVec3::ZERO);
        shown.by_parts = parts.is_some();
        shown.put(*pose);
        // Locks hold it there.
        shown.put = false;
        shown.held = false;
        if let Some(mut composed) = composed {
            composed.restore(collider, parts);
        }
    }
    // At once: what is written to a `Transform` from here on is a user's.
    commands.queue(|world: &mut World| {
        let _ = world.try_run_schedule(Showing);
    });
}
