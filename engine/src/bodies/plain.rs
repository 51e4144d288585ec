//! Bodies as plain data, for steps without an ECS.

use super::check::{check_body, check_body_state, check_target};
use super::target::Target;
use super::user_forces::check_forces;
use super::{Bodies, Listing};
use crate::components::response::Response;
use crate::components::{
    BodyForces, BodyId, Collider, CollisionGroups, Drag, GravityScale, Made, Mass, Material, Pose,
    RigidBody, Twist, Wrench,
};
use crate::error::{BodyError, StepError};
use bevy_ecs::entity::Entity;

/// Everything that the step needs to know of a body.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Its identity; no two bodies share one. Results depend on the order of ids.
    pub id: BodyId,
    /// What moves it.
    pub kind: RigidBody,
    /// Where it is.
    pub pose: Pose,
    /// How it moves.
    pub twist: Twist,
    /// Where a kinematic body is to be at the end of the next step; see [`KinematicTarget`](crate::KinematicTarget).
    pub target: Option<Pose>,
    /// Mass and inertia.
    pub mass: Mass,
    /// Its shape, if it has one.
    pub collider: Option<Collider>,
    /// What it is made of.
    pub material: Material,
    /// What its parts are made of, see [`PartMaterials`](crate::PartMaterials); empty if all are made of [`Self::material`].
    pub part_materials: Vec<Material>,
    /// What acts on it.
    pub wrench: Wrench,
    /// Forces that depend on its state.
    pub forces: BodyForces,
    /// Whom it meets.
    pub groups: CollisionGroups,
    /// It sees what overlaps it, and touches nothing; see [`Sensor`](crate::Sensor).
    pub sensor: bool,
    /// How gravity acts on it.
    pub gravity_scale: GravityScale,
    /// How what it moves through slows it down.
    pub drag: Drag,
}

impl Bodies {
    /// Replaces all bodies, checked; those whose ids stay keep what is known of their rest.
    pub(crate) fn take(&mut self, bodies: &[Body]) -> Result<(), StepError> {
        let mut order: Vec<&Body> = bodies.iter().collect();
        order.sort_by_key(|body| body.id);
        let refused = |body: &Body, source| StepError::Body {
            id: body.id,
            entity: Entity::PLACEHOLDER,
            source,
        };
        if let Some(pair) = order.windows(2).find(|pair| pair[0].id == pair[1].id) {
            return Err(refused(pair[1], BodyError::DuplicateId));
        }
        let mut listing = Listing::default();
        for body in &order {
            let collider = body.collider.as_ref();
            let made = Made {
                whole: &body.material,
                parts: &body.part_materials,
            };
            let checked = if body.id == BodyId::UNASSIGNED {
                Err(BodyError::Missing { part: "BodyId" })
            } else {
                let mut target = body.target.iter();
                check_body_state(&body.pose, &body.twist, &body.wrench)
                    .and_then(|()| target.try_for_each(|pose| check_target(body.kind, pose)))
                    .and_then(|()| check_forces(Some(&body.forces)))
                    .and_then(|()| {
                        let response = Response {
                            gravity: body.gravity_scale,
                            drag: body.drag,
                        };
                        let mass = &body.mass;
                        let groups = (body.groups, body.sensor);
                        check_body(body.kind, collider, made, mass, groups, response)
                    })
            };
            let constants = checked.map_err(|source| refused(body, source))?;
            let old = self.slot_of(body.id);
            listing.push(
                (body.id, Entity::PLACEHOLDER),
                constants,
                (made, Some(&body.forces)),
                old,
            );
        }
        self.replace(listing);
        self.targets.clear();
        for (slot, body) in self.slots().zip(order) {
            let known = (self.pose[slot], self.twist[slot], self.wrench[slot]);
            if known != (body.pose, body.twist, body.wrench) {
                self.disturb(slot);
            }
            self.set_state(slot, &body.pose, &body.twist);
            self.wrench[slot] = body.wrench;
            let target = body.target.map(|pose| Target { slot, pose });
            self.targets.extend(target);
        }
        Ok(())
    }
}
