//! From `Transform` to `Pose`: new bodies, teleports, targets of kinematic bodies, and centres of mass that have moved.

use crate::error::PhysicsError;
use crate::frame::{Above, Frame, recentred, told};
use crate::sensors::Carried;
use crate::shown::Shown;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use bevy_transform::components::Transform;
use moreau::glam::{DVec3, Quat, Vec3};
use moreau::{Collider, KinematicTarget, Mass, PartMaterials, Pose, RigidBody, Twist};

/// Gives new bodies what the plugin remembers of them, and a `Transform` if they have none.
pub(crate) fn adopt(
    bodies: Query<Entity, (With<RigidBody>, Without<Shown>)>,
    mut commands: Commands,
) {
    for body in &bodies {
        commands
            .entity(body)
            .try_insert(Shown::default())
            .try_insert_if_new(Transform::IDENTITY);
    }
}

#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Read {
    entity: Entity,
    kind: &'static RigidBody,
    transform: &'static Transform,
    parent: Option<&'static ChildOf>,
    pose: &'static mut Pose,
    twist: &'static mut Twist,
    shown: &'static mut Shown,
    collider: Option<Ref<'static, Collider>>,
    mass: Ref<'static, Mass>,
    parts: Option<Ref<'static, PartMaterials>>,
}

/// Bodies of which something may have been written. What stands in something is looked at in any case: that may have moved.
type Touched = Or<(
    Changed<Transform>,
    Changed<Pose>,
    Changed<RigidBody>,
    Changed<Collider>,
    Changed<Mass>,
    Changed<PartMaterials>,
    With<ChildOf>,
)>;

type TouchedBodies<'w, 's> = Query<'w, 's, Read, (Touched, Without<Carried>)>;
type Bodies<'w, 's> = Query<'w, 's, Read, Without<Carried>>;

/// What no tick of a body tells.
#[derive(SystemParam)]
pub(crate) struct TakenOff<'w, 's> {
    colliders: RemovedComponents<'w, 's, Collider>,
    parts: RemovedComponents<'w, 's, PartMaterials>,
    parents: RemovedComponents<'w, 's, ChildOf>,
    disabled: RemovedComponents<'w, 's, Disabled>,
}

impl TakenOff<'_, '_> {
    fn bodies(&mut self) -> Vec<Entity> {
        let Self {
            colliders,
            parts,
            parents,
            disabled,
        } = self;
        let shapes = colliders.read().chain(parts.read());
        let all = shapes.chain(parents.read()).chain(disabled.read());
        all.collect()
    }
}

/// Takes what the user has written since the last look: to `Pose`, or else to `Transform`.
pub(crate) fn read(
    mut bodies: ParamSet<(TouchedBodies, Bodies)>,
    mut off: TakenOff,
    mut look: Look,
) {
    for mut body in &mut bodies.p0() {
        look.read(&mut body);
    }
    let mut all = bodies.p1();
    for body in off.bodies() {
        if let Ok(mut body) = all.get_mut(body) {
            look.read(&mut body);
        }
    }
}

/// What a look at a body needs besides.
#[derive(SystemParam)]
pub(crate) struct Look<'w, 's> {
    above: Above<'w, 's>,
    errors: MessageWriter<'w, PhysicsError>,
    commands: Commands<'w, 's>,
}

impl Look<'_, '_> {
    fn read(&mut self, body: &mut ReadItem) {
        let Self {
            above,
            errors,
            commands,
        } = self;
        let standing = above.frame_of(body.parent);
        let first = !body.shown.known;
        follow_center(body);
        if first {
            begin(body, standing.frame, errors);
        } else if *body.pose != body.shown.pose {
            give_up_target(body, commands);
            let pose = *body.pose;
            body.shown.put(pose);
        } else {
            // What stands on a body is not carried by it.
            let mut carried = !standing.on_body && standing.frame != body.shown.standing;
            if *body.kind != RigidBody::Kinematic {
                carried |= give_up_target(body, commands);
            }
            take_transform(body, standing.frame, carried, errors, commands);
        }
        body.shown.standing = standing.frame;
        body.shown.transform = parts_of(body.transform);
    }
}

/// Takes back the target that a `Transform` told, if the step has not used it yet.
fn give_up_target(body: &mut ReadItem, commands: &mut Commands) -> bool {
    let held = body.shown.held;
    if held {
        commands.entity(body.entity).try_remove::<KinematicTarget>();
        body.shown.held = false;
    }
    held
}

/// A new body is where its `Pose` says; where that says nothing, where its `Transform` does.
fn begin(body: &mut ReadItem, frame: Frame, errors: &mut MessageWriter<PhysicsError>) {
    if *body.pose == Pose::default() {
        let told = frame.out(told(body.transform));
        match is_pose(&told) {
            Ok(()) => *body.pose = told.of_center_of_mass(body.shown.center),
            Err(wrong) => refuse(body, wrong, errors),
        }
    }
    let pose = *body.pose;
    body.shown.put(pose);
    body.shown.known = true;
}

/// A centre of mass that has moved in the shape: the shape stays where it is, and moves as it did.
fn follow_center(body: &mut ReadItem) {
    let shown = &body.shown;
    let touched = body.mass.is_changed()
        || body
            .collider
            .as_ref()
            .is_some_and(|shape| shape.is_changed())
        || body.parts.as_ref().is_some_and(|parts| parts.is_changed())
        || shown.by_parts != body.parts.is_some();
    if !touched && shown.known {
        return;
    }
    let center = body.collider.as_ref().map_or(Ok(DVec3::ZERO), |shape| {
        shape.center_of_body(&body.mass, body.parts.as_deref())
    });
    body.shown.by_parts = body.parts.is_some();
    // A wrong shape is an error of the step.
    let Ok(center) = center else { return };
    let old = body.shown.center;
    if center == old {
        return;
    }
    let untouched = *body.pose == body.shown.pose;
    body.shown.center = center;
    // Joints are from the centre of mass: locks begin anew.
    body.shown.put = true;
    if body.shown.known && untouched {
        let moved = recentred(*body.pose, old, center);
        let turning = moved.orientation * body.twist.angular;
        let velocity = turning.cross(moved.position - body.pose.position);
        if velocity != DVec3::ZERO {
            body.twist.linear += velocity;
        }
        *body.pose = moved;
        body.shown.pose = moved;
    }
}

/// What of the `Transform` is not as it was last written or read is the user's. The rest keeps its doubles.
fn take_transform(
    body: &mut ReadItem,
    frame: Frame,
    carried: bool,
    errors: &mut MessageWriter<PhysicsError>,
    commands: &mut Commands,
) {
    let now = parts_of(body.transform);
    if same(now, body.shown.transform) && !carried {
        return;
    }
    let mut local = told(body.transform);
    if !carried && !body.shown.held {
        let (was, exact) = (body.shown.transform, frame.into(body.shown.after));
        for axis in 0..3 {
            if now.0[axis].to_bits() == was.0[axis].to_bits() {
                local.position[axis] = exact.position[axis];
            }
        }
        if same((Vec3::ZERO, now.1), (Vec3::ZERO, was.1)) {
            local.orientation = exact.orientation;
        }
    }
    let shape = frame.out(local);
    if let Err(wrong) = is_pose(&shape) {
        refuse(body, wrong, errors);
        return;
    }
    let pose = shape.of_center_of_mass(body.shown.center);
    if *body.kind == RigidBody::Kinematic {
        commands
            .entity(body.entity)
            .try_insert(KinematicTarget(pose));
        body.shown.held = true;
    } else {
        *body.pose = pose;
        body.shown.put(pose);
    }
}

/// Field, value and bound.
type Wrong = (&'static str, f64, &'static str);

fn refuse(body: &ReadItem, (field, value, bound): Wrong, errors: &mut MessageWriter<PhysicsError>) {
    errors.write(PhysicsError::Transform {
        body: body.entity,
        field,
        value,
        bound,
    });
}

/// Finite, with an orientation of length one: what [`told`] leaves of a rotation that is none is not.
fn is_pose(pose: &Pose) -> Result<(), Wrong> {
    let wrong = |value: &f64| !value.is_finite();
    if let Some(value) = pose.position.to_array().into_iter().find(wrong) {
        return Err(("translation", value, "finite"));
    }
    let length = pose.orientation.length();
    if (length - 1.0).abs() < 1e-6 {
        Ok(())
    } else {
        Err(("length of the rotation", length, "1"))
    }
}

pub(crate) fn parts_of(transform: &Transform) -> (Vec3, Quat) {
    (transform.translation, transform.rotation)
}

/// To the last bit, so that what is not a number is the same as itself.
pub(crate) fn same(a: (Vec3, Quat), b: (Vec3, Quat)) -> bool {
    a.0.to_array().map(f32::to_bits) == b.0.to_array().map(f32::to_bits)
        && a.1.to_array().map(f32::to_bits) == b.1.to_array().map(f32::to_bits)
}
