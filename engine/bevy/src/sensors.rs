//! Child sensors: a sensor below a body is a kinematic body of its own, which goes with that body and pushes nothing.

use crate::frame::{Above, BodyAbove, Frame};
use crate::shown::Shown;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_transform::components::Transform;
use moreau::glam::DVec3;
use moreau::{Collider, Mass, PartMaterials, Pose, RigidBody, Sensor, Twist};

/// A sensor that goes with the body above it. Its `Transform` is the user's.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// The body.
    pub(crate) by: Entity,
}

/// A sensor that was carried. If a snapshot makes it a body again, it is to be carried again.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Dismounted;

/// Sensors without a body of their own.
type Loose = (With<Collider>, With<Sensor>, Without<RigidBody>);

/// What was carried and is no sensor any more.
type Stale = (
    With<Carried>,
    Or<(Without<Collider>, Without<Sensor>, Without<ChildOf>)>,
);

type CarriedSensors<'w, 's> = Query<'w, 's, (Entity, &'static Carried, &'static RigidBody)>;

/// Makes bodies of sensors below bodies, and takes that back where they are none any more.
pub(crate) fn mount(
    loose: Query<Entity, Loose>,
    stale: Query<Entity, Stale>,
    carried: CarriedSensors,
    above: Above,
    mut commands: Commands,
) {
    let mut gone = Vec::new();
    for (sensor, on, kind) in &carried {
        let here = BodyAbove {
            body: on.by,
            disabled: false,
        };
        if *kind != RigidBody::Kinematic {
            // A user made a body of it.
            commands.entity(sensor).try_remove::<Carried>();
        } else if stale.contains(sensor) || above.body_of(sensor) != Some(here) {
            gone.push(sensor);
        }
    }
    gone.sort_unstable();
    for sensor in gone {
        let mut sensor = commands.entity(sensor);
        sensor.try_remove::<(Carried, RigidBody)>();
        sensor.try_insert(Dismounted);
    }
    // Ids are given in this order.
    let mut new: Vec<Entity> = loose.iter().collect();
    new.sort_unstable();
    for sensor in new {
        let body = above.body_of(sensor).filter(|above| !above.disabled);
        if let Some(BodyAbove { body: by, .. }) = body {
            let body = (RigidBody::Kinematic, Carried { by });
            let mut sensor = commands.entity(sensor);
            sensor.try_insert(body);
            sensor.try_remove::<Dismounted>();
        }
    }
}

/// A sensor that is carried.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Seeing {
    entity: Entity,
    carried: &'static Carried,
    collider: &'static Collider,
    mass: &'static Mass,
    parts: Option<&'static PartMaterials>,
    pose: &'static mut Pose,
    twist: &'static mut Twist,
    shown: &'static mut Shown,
}

/// The body that carries it.
type Carrier = (&'static Pose, &'static Twist, &'static Shown);

/// Puts sensors where their bodies have them, with the velocity of that place: at the end of the step they are where it goes, but for what the step adds to
/// the velocity.
pub(crate) fn carry(
    mut sensors: Query<Seeing>,
    bodies: Query<Carrier, Without<Carried>>,
    transforms: Query<(Option<&Transform>, Option<&ChildOf>)>,
) {
    for mut sensor in &mut sensors {
        let Ok((pose, twist, shown)) = bodies.get(sensor.carried.by) else {
            continue;
        };
        let local = below(sensor.entity, sensor.carried.by, &transforms).as_pose();
        let shape = Pose {
            position: shown.after.position + shown.after.orientation * local.position,
            orientation: shown.after.orientation * local.orientation,
        };
        let center = sensor.collider.center_of_body(sensor.mass, sensor.parts);
        let center = center.unwrap_or(DVec3::ZERO);
        let place = shape.of_center_of_mass(center);
        let turning = pose.orientation * twist.angular;
        let velocity = twist.linear + turning.cross(place.position - pose.position);
        let moving = Twist::from_inertial_frame(velocity, turning, place.orientation);
        sensor.pose.set_if_neq(place);
        sensor.twist.set_if_neq(moving);
        sensor.shown.center = center;
        if !sensor.shown.known {
            sensor.shown.put(place);
            sensor.shown.known = true;
        }
    }
}

/// The frame of an entity in that of the body above it.
fn below(
    entity: Entity,
    body: Entity,
    transforms: &Query<(Option<&Transform>, Option<&ChildOf>)>,
) -> Frame {
    let (mut chain, mut next) = (Vec::new(), Some(entity));
    while let Some(here) = next.filter(|here| *here != body) {
        let Ok((transform, parent)) = transforms.get(here) else {
            break;
        };
        chain.extend(transform);
        next = parent.map(ChildOf::parent);
    }
    let carrier = transforms.get(body).ok().and_then(|(of, _)| of);
    let frames = chain.into_iter().rev();
    frames.fold(Frame::of_body(carrier), |frame, transform| {
        frame.child(transform)
    })
}
