//! Dense body arrays: gathered from the ECS once per step in the order of ids, scattered once.
//!
//! Access to components by entity costs five times an array access, so the step works on slices.
//! The order is that of [`BodyId`]: results do not depend on how the ECS stores entities.
//!
//! What a body is (constants, laws, ids) is worked out when it changes; what it does (pose, twist,
//! wrench) is read by every step, for the bodies that the step moves alone: see `gather.rs`.

use crate::body_check::check_body;
use crate::error::{BodyError, StepError};
use crate::free_motion::Inertia;
use crate::gather::BodyQuery;
use crate::sleeping::Sleep;
use crate::{BodyId, CollisionGroups, Material, Pose, RigidBody, Twist, Wrench};
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_geometry::{Geometry, Pose as ShapePose};

/// What does not change from step to step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyConstants {
    pub(crate) kind: RigidBody,
    pub(crate) geometry: Option<Geometry>,
    /// Centre of mass in the frame of the shape, m.
    pub(crate) center_of_mass: DVec3,
    pub(crate) inertia: Inertia,
    pub(crate) groups: CollisionGroups,
    /// Largest distance of a shape point from the centre of mass, m; infinite for half-spaces.
    pub(crate) radius: f64,
    /// Characteristic half-thickness, m; zero where it is unbounded.
    pub(crate) size: f64,
}

impl BodyConstants {
    /// Pose of the shape when the body is at `pose`.
    #[inline]
    pub(crate) fn shape_pose(&self, pose: &Pose) -> ShapePose {
        ShapePose {
            position: pose.position - pose.orientation * self.center_of_mass,
            orientation: pose.orientation,
        }
    }

    /// Radius of a ball about its centre of mass, m; none for all other bodies.
    #[inline]
    pub(crate) fn ball_radius(&self) -> Option<f64> {
        match &self.geometry {
            Some(geometry) if self.center_of_mass == DVec3::ZERO => geometry.ball_radius(),
            _ => None,
        }
    }

    pub(crate) fn is_dynamic(&self) -> bool {
        self.kind == RigidBody::Dynamic
    }
}

/// The bodies of a step, ordered by id.
#[derive(Resource, Debug, Default)]
pub(crate) struct Bodies {
    pub(crate) entities: Vec<Entity>,
    pub(crate) ids: Vec<BodyId>,
    pub(crate) constants: Vec<BodyConstants>,
    pub(crate) materials: Vec<Material>,
    pub(crate) pose: Vec<Pose>,
    pub(crate) twist: Vec<Twist>,
    pub(crate) wrench: Vec<Wrench>,
    /// Slots of the bodies that move ([`Bodies::moves`]), ascending.
    pub(crate) moving: Vec<u32>,
    /// Grows with every change of the structure, of constants, of the pose of a static body, or of
    /// who sleeps: what was worked out from those may be kept while it stays the same.
    pub(crate) epoch: u64,
    /// Slot of each entity, by entity index; `u32::MAX` where there is none.
    slots: Vec<u32>,
    /// The constants do not describe the world: check and rebuild at the next gather.
    pub(crate) stale: bool,
    /// A rebuild whose ids, masses and marks are not in the components yet.
    pub(crate) uncommitted: bool,
    /// Entities that were bodies once and still carry the mark of a body at rest.
    pub(crate) left: Vec<Entity>,
    /// Above every id that was ever in use.
    pub(crate) next_id: u64,
    /// Who sleeps.
    pub(crate) sleep: Sleep,
}

impl Bodies {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The step may change the state of the body: it is gathered, moved and scattered. All others
    /// keep their entries in the arrays of the step from one change of the epoch to the next.
    pub(crate) fn moves(&self, slot: usize) -> bool {
        self.constants[slot].kind != RigidBody::Static && !self.is_asleep(slot)
    }

    /// Lists the bodies that move.
    pub(crate) fn list_moving(&mut self) {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        moving.extend((0..self.len() as u32).filter(|slot| self.moves(*slot as usize)));
        self.moving = moving;
    }

    /// Distrust the constants: changes may have gone unseen.
    pub(crate) fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// The id of a new body that asked for `id`: itself, or the next one above all ever in use.
    /// `None` if there is no id left.
    pub(crate) fn take_id(&mut self, id: BodyId) -> Option<BodyId> {
        let taken = if id == BodyId::UNASSIGNED {
            BodyId(self.next_id)
        } else {
            id
        };
        let next = taken.0.checked_add(1)?;
        self.next_id = self.next_id.max(next);
        Some(taken)
    }

    /// Dense slot of an entity seen in the last gather.
    #[inline]
    pub(crate) fn slot(&self, entity: Entity) -> Option<usize> {
        let slot = *self.slots.get(entity.index_u32() as usize)? as usize;
        (self.entities.get(slot) == Some(&entity)).then_some(slot)
    }

    /// Checks all bodies and works out ids and constants.
    pub(crate) fn rebuild(&mut self, query: &Query<BodyQuery>) -> Result<(), StepError> {
        let order = self.ordered_by_id(query)?;
        let mut constants = Vec::with_capacity(order.len());
        let mut materials = Vec::with_capacity(order.len());
        for (id, entity) in &order {
            let Ok((_, kind, _, collider, material, mass, groups, ..)) = query.get(*entity) else {
                continue;
            };
            let built = check_body(*kind, collider.as_deref(), &material, &mass, *groups);
            constants.push(built.map_err(|source| StepError::Body {
                id: *id,
                entity: *entity,
                source,
            })?);
            materials.push(*material);
        }
        self.carry_over(&order, &constants, &materials);
        self.constants = constants;
        self.materials = materials;
        self.take_order(&order);
        self.list_moving();
        self.epoch += 1;
        self.uncommitted = true;
        Ok(())
    }

    /// Entities, ids and slots in the new order; those that were bodies and are none any more are
    /// remembered.
    fn take_order(&mut self, order: &[(BodyId, Entity)]) {
        self.slots.clear();
        for (slot, (_, entity)) in order.iter().enumerate() {
            let index = entity.index_u32() as usize;
            if self.slots.len() <= index {
                self.slots.resize(index + 1, u32::MAX);
            }
            self.slots[index] = slot as u32;
        }
        let entities = order.iter().map(|(_, entity)| *entity).collect();
        let old = std::mem::replace(&mut self.entities, entities);
        let gone = old
            .into_iter()
            .filter(|entity| self.slot(*entity).is_none());
        let gone: Vec<Entity> = gone.collect();
        self.left.extend(gone);
        self.ids.clear();
        self.ids.extend(order.iter().map(|(id, _)| *id));
    }

    /// Bodies by id. Those without one come last, in order of entity, with ids above all that
    /// were ever in use.
    fn ordered_by_id(&self, query: &Query<BodyQuery>) -> Result<Vec<(BodyId, Entity)>, StepError> {
        let mut order: Vec<(BodyId, Entity)> = query
            .iter()
            .map(|(entity, _, id, ..)| (*id, entity))
            .collect();
        order.sort_unstable_by_key(|(id, entity)| (*id, entity.index_u32()));
        let first_unassigned = order.partition_point(|(id, _)| *id != BodyId::UNASSIGNED);
        let refused =
            |(id, entity): (BodyId, Entity), source| StepError::Body { id, entity, source };
        let (assigned, unassigned) = order.split_at_mut(first_unassigned);
        if let Some(pair) = assigned.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(refused(pair[1], BodyError::DuplicateId));
        }
        let in_use = assigned.last().map_or(0, |(id, _)| id.0 + 1);
        for (body, next) in unassigned
            .iter_mut()
            .zip(self.next_id.max(in_use)..=BodyId::UNASSIGNED.0)
        {
            if next == BodyId::UNASSIGNED.0 {
                return Err(refused(*body, BodyError::NoIdLeft));
            }
            body.0 = BodyId(next);
        }
        Ok(order)
    }
}
