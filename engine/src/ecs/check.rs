//! A look at one body as the next step would take it.

use crate::bodies::check::{check_body, check_body_state};
use crate::bodies::user_forces::check_forces;
use crate::components::response::Response;
use crate::components::{
    BodyForces, Collider, CollisionGroups, Drag, GravityScale, Made, Mass, Material, PartMaterials,
    Pose, RigidBody, Sensor, Twist, Wrench,
};
use crate::error::BodyError;
use bevy_ecs::prelude::*;

/// Checks a body; its mass component with the computed values.
pub(super) fn check_entity(world: &World, entity: Entity) -> Result<Mass, BodyError> {
    let missing = |part: &'static str| BodyError::Missing { part };
    let body = world.get_entity(entity);
    let body = body.map_err(|_| missing("RigidBody"))?;
    let kind = *body.get::<RigidBody>().ok_or(missing("RigidBody"))?;
    let material = body.get::<Material>().ok_or(missing("Material"))?;
    let mass = body.get::<Mass>().ok_or(missing("Mass"))?;
    let groups = *body
        .get::<CollisionGroups>()
        .ok_or(missing("CollisionGroups"))?;
    let pose = body.get::<Pose>().ok_or(missing("Pose"))?;
    let twist = body.get::<Twist>().ok_or(missing("Twist"))?;
    let wrench = body.get::<Wrench>().ok_or(missing("Wrench"))?;
    let response = Response::new(body.get::<GravityScale>(), body.get::<Drag>());
    let shape = body.get::<Collider>();
    let made = Made::of(material, body.get::<PartMaterials>());
    let groups = (groups, body.contains::<Sensor>());
    let constants = check_body(kind, shape, made, mass, groups, response)?;
    check_body_state(pose, twist, wrench)?;
    check_forces(body.get::<BodyForces>())?;
    Ok(mass.completed(&constants.inertia))
}
