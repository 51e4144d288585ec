//! From `Pose` to `Transform`.

use crate::frame::{Above, Frame, between};
use crate::read::{parts_of, same};
use crate::sensors::Carried;
use crate::shown::{Interpolation, NoInterpolation, Shown};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time};
use bevy_transform::components::Transform;
use moreau::{Pose, RigidBody};

/// Bodies that the step has moved, or that have not come to rest in what is shown of them.
type Moved = Or<(Changed<Pose>, Changed<Shown>)>;

/// Takes over the poses that the step ended with.
pub(crate) fn record(mut bodies: Query<(&Pose, &mut Shown), Moved>) {
    for (pose, mut shown) in &mut bodies {
        if !shown.rests_at(pose) {
            shown.step(*pose);
        }
    }
}

/// How far the time of the frame is between the last two steps: 1 in the fixed loop, for whose systems the last step is now.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub(crate) struct Share(pub(crate) f64);

/// Within the fixed loop.
pub(crate) fn share_of_step(mut share: ResMut<Share>) {
    share.0 = 1.0;
}

/// In the frame.
pub(crate) fn share_of_frame(
    mut share: ResMut<Share>,
    time: Option<Res<Time<Fixed>>>,
    interpolation: Option<Res<Interpolation>>,
) {
    let between = interpolation.is_none_or(|on| on.0);
    share.0 = match time {
        Some(time) if between => time.overstep_fraction_f64(),
        _ => 1.0,
    };
}

type Body = (
    &'static mut Transform,
    &'static mut Shown,
    Has<NoInterpolation>,
);

/// Bodies that stand in the world, of which something is new or in between.
type Roots = (
    With<RigidBody>,
    Without<ChildOf>,
    Or<(Changed<Shown>, Changed<Transform>)>,
);

/// Writes the bodies that stand in the world.
pub(crate) fn write_roots(mut bodies: Query<Body, Roots>, share: Res<Share>) {
    for (transform, shown, exact) in &mut bodies {
        let share = if exact { 1.0 } else { share.0 };
        write(transform, shown, Frame::default(), share);
    }
}

/// Bodies that are shown between two steps are written in every frame, for its time: [`write()`] marks them as changed for this system, and this one
/// for that, since no system sees its own marks.
pub(crate) fn keep_between(mut bodies: Query<&mut Shown, Changed<Shown>>) {
    for mut shown in &mut bodies {
        if shown.before != shown.after {
            shown.set_changed();
        }
    }
}

/// What is known of them.
type Known = (With<RigidBody>, With<Shown>, Without<Carried>);

/// Writes the bodies that stand in something, after what they stand in.
pub(crate) fn write_nested(
    nested: Query<(Entity, &ChildOf), Known>,
    parents: Query<&ChildOf>,
    mut bodies: ParamSet<(Above, Query<Body>)>,
    share: Res<Share>,
) {
    let depth = |entity| parents.iter_ancestors(entity).count();
    let mut order: Vec<_> = nested
        .iter()
        .map(|(entity, parent)| (depth(entity), entity, parent))
        .collect();
    order.sort_unstable_by_key(|(depth, entity, _)| (*depth, *entity));
    for (_, entity, parent) in order {
        let frame = bodies.p0().frame_of(Some(parent)).frame;
        if let Ok((transform, mut shown, exact)) = bodies.p1().get_mut(entity) {
            let share = if exact { 1.0 } else { share.0 };
            shown.standing = frame;
            write(transform, shown, frame, share);
        }
    }
}

/// Writes where a body is between its last two steps; its scale stays.
fn write(mut transform: Mut<Transform>, mut shown: Mut<Shown>, frame: Frame, share: f64) {
    if shown.held || !shown.known {
        return;
    }
    if shown.before != shown.after {
        shown.set_changed();
    }
    let local = frame.into(between(&shown.before, &shown.after, share));
    let new = (local.position.as_vec3(), local.orientation.as_quat());
    if !(new.0.is_finite() && new.1.is_finite()) {
        return;
    }
    if !same(new, parts_of(&transform)) {
        (transform.translation, transform.rotation) = new;
    }
    if !same(new, shown.transform) {
        shown.transform = new;
    }
}
