//! Types for reflection: scenes, inspectors, editors.

use crate::{
    ContactBegan, ContactEnded, FellAsleep, Interpolation, JointBroke, LockedAxes, NoInterpolation,
    SensorEntered, SensorLeft, Woke,
};
use bevy_app::App;
use moreau::{
    BodyForces, BodyId, BreakLimit, Collider, CollisionGroups, Coupler, Drag, GravityScale, Joint,
    JointBroken, JointDisabled, JointForces, JointId, KinematicTarget, Mass, Material, NoCollision,
    PartMaterials, PartOf, Pose, RigidBody, Sensor, Settings, Sleeping, Twist, Wrench,
};

/// What they are made of is registered with them.
pub(crate) fn register(app: &mut App) {
    app.register_type::<RigidBody>()
        .register_type::<BodyId>()
        .register_type::<Collider>()
        .register_type::<CollisionGroups>()
        .register_type::<Drag>()
        .register_type::<GravityScale>()
        .register_type::<KinematicTarget>()
        .register_type::<Mass>()
        .register_type::<Material>()
        .register_type::<PartMaterials>()
        .register_type::<PartOf>()
        .register_type::<Pose>()
        .register_type::<Sensor>()
        .register_type::<Sleeping>()
        .register_type::<Twist>()
        .register_type::<Wrench>()
        .register_type::<BodyForces>();
    app.register_type::<Joint>()
        .register_type::<JointId>()
        .register_type::<JointForces>()
        .register_type::<JointBroken>()
        .register_type::<JointDisabled>()
        .register_type::<NoCollision>()
        .register_type::<BreakLimit>()
        .register_type::<Coupler>();
    app.register_type::<Settings>()
        .register_type::<Interpolation>()
        .register_type::<NoInterpolation>()
        .register_type::<LockedAxes>();
    app.register_type::<ContactBegan>()
        .register_type::<ContactEnded>()
        .register_type::<SensorEntered>()
        .register_type::<SensorLeft>()
        .register_type::<FellAsleep>()
        .register_type::<Woke>()
        .register_type::<JointBroke>();
}
