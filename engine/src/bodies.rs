//! Dense body arrays: gathered from the ECS once per step in the order of ids, scattered once.
//!
//! Access to components by entity costs five times an array access, so the step works on slices.
//! The order is that of [`BodyId`]: results do not depend on how the ECS stores entities.

use crate::error::{BodyError, StepError};
use crate::free_motion::Inertia;
use crate::{BodyId, Collider, CollisionGroups, Mass, Material, Pose, RigidBody, Twist, Wrench};
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_geometry::{Geometry, MassProperties, Pose as ShapePose};

/// What the step reads of a body entity.
pub(crate) type BodyQuery = (
    Entity,
    Ref<'static, RigidBody>,
    &'static BodyId,
    Option<Ref<'static, Collider>>,
    Ref<'static, Material>,
    &'static Mass,
    Ref<'static, CollisionGroups>,
    &'static Pose,
    &'static Twist,
    &'static Wrench,
);

/// What the step writes of a body entity: its state, and once what it left open.
pub(crate) type StateQuery = (
    Entity,
    &'static mut Pose,
    &'static mut Twist,
    &'static mut BodyId,
    &'static mut Mass,
);

/// What does not change from step to step.
#[derive(Clone, Debug)]
pub(crate) struct BodyConstants {
    pub(crate) kind: RigidBody,
    pub(crate) geometry: Option<Geometry>,
    /// Centre of mass in the frame of the shape, m.
    pub(crate) center_of_mass: DVec3,
    pub(crate) inertia: Inertia,
    pub(crate) material: Material,
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
    /// The mass components that the constants were made from, computed ones filled in.
    masses: Vec<Mass>,
    /// Ids and masses were worked out that the components do not have yet.
    uncommitted: bool,
    pub(crate) pose: Vec<Pose>,
    pub(crate) twist: Vec<Twist>,
    pub(crate) wrench: Vec<Wrench>,
    /// Slots of the bodies that are not static, ascending.
    pub(crate) moving: Vec<u32>,
    /// Grows with every change of the structure, of constants, or of the pose of a static body:
    /// what was worked out from those may be kept while it stays the same.
    pub(crate) epoch: u64,
    /// Slot of each entity, by entity index; `u32::MAX` where there is none.
    slots: Vec<u32>,
    /// The constants do not describe the world: check and rebuild at the next gather.
    stale: bool,
    /// Above every id that was ever in use.
    pub(crate) next_id: u64,
}

impl Bodies {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
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
    pub(crate) fn slot(&self, entity: Entity) -> Option<usize> {
        let slot = *self.slots.get(entity.index_u32() as usize)? as usize;
        (self.entities.get(slot) == Some(&entity)).then_some(slot)
    }

    /// Reads the world. Constants are rebuilt, and bodies checked, when something other than
    /// the state has changed.
    pub(crate) fn gather(&mut self, query: &mut Query<BodyQuery>) -> Result<(), StepError> {
        if self.stale || self.structure_changed(query) {
            self.stale = true;
            self.rebuild(query)?;
            self.stale = false;
        }
        for (entity, .., pose, twist, wrench) in query.iter() {
            if let Some(slot) = self.slot(entity) {
                let fixed = self.constants[slot].kind == RigidBody::Static;
                if fixed && self.pose[slot] != *pose {
                    self.epoch += 1;
                }
                self.pose[slot] = *pose;
                self.twist[slot] = *twist;
                self.wrench[slot] = *wrench;
            }
        }
        self.check_state()
    }

    fn structure_changed(&self, query: &Query<BodyQuery>) -> bool {
        let mut count = 0;
        for (entity, kind, id, collider, material, mass, groups, ..) in query.iter() {
            count += 1;
            let known = self.slot(entity).is_some_and(|slot| self.ids[slot] == *id);
            let changed = kind.is_changed()
                || collider.as_ref().is_some_and(|c| c.is_changed())
                || self
                    .slot(entity)
                    .is_some_and(|s| self.constants[s].geometry.is_some() != collider.is_some())
                || material.is_changed()
                || self.slot(entity).is_some_and(|s| self.masses[s] != *mass)
                || groups.is_changed();
            if changed || !known {
                return true;
            }
        }
        count != self.len()
    }

    /// Checks all bodies and works out ids and constants.
    fn rebuild(&mut self, query: &Query<BodyQuery>) -> Result<(), StepError> {
        let order = self.ordered_by_id(query)?;
        let mut constants = Vec::with_capacity(order.len());
        let mut masses = Vec::with_capacity(order.len());
        for (id, entity) in &order {
            let Ok((_, kind, _, collider, material, mass, groups, ..)) = query.get(*entity) else {
                continue;
            };
            let built = check_body(*kind, collider.as_deref(), &material, mass, *groups);
            let (body, computed) = built.map_err(|source| StepError::Body {
                id: *id,
                entity: *entity,
                source,
            })?;
            masses.push(mass.completed(computed.as_ref()));
            constants.push(body);
        }
        self.slots.clear();
        for (slot, (_, entity)) in order.iter().enumerate() {
            let index = entity.index_u32() as usize;
            if self.slots.len() <= index {
                self.slots.resize(index + 1, u32::MAX);
            }
            self.slots[index] = slot as u32;
        }
        self.entities = order.iter().map(|(_, entity)| *entity).collect();
        self.ids = order.iter().map(|(id, _)| *id).collect();
        let kinds = constants.iter().map(|body: &BodyConstants| body.kind);
        let moving = (0..)
            .zip(kinds)
            .filter(|(_, kind)| *kind != RigidBody::Static);
        self.moving = moving.map(|(slot, _)| slot).collect();
        self.epoch += 1;
        self.constants = constants;
        self.masses = masses;
        self.uncommitted = true;
        self.pose.resize(self.ids.len(), Pose::default());
        self.twist.resize(self.ids.len(), Twist::default());
        self.wrench.resize(self.ids.len(), Wrench::default());
        Ok(())
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

    /// The state is finite and orientations are unit quaternions.
    fn check_state(&self) -> Result<(), StepError> {
        for slot in 0..self.len() {
            check_body_state(&self.pose[slot], &self.twist[slot], &self.wrench[slot]).map_err(
                |source| StepError::Body {
                    id: self.ids[slot],
                    entity: self.entities[slot],
                    source,
                },
            )?;
        }
        Ok(())
    }

    /// Writes the new poses and twists to the world; after a rebuild also ids and masses.
    pub(crate) fn scatter(&mut self, query: &mut Query<StateQuery>) {
        for (entity, mut pose, mut twist, mut id, mut mass) in query.iter_mut() {
            let Some(slot) = self.slot(entity) else {
                continue;
            };
            if self.constants[slot].kind != RigidBody::Static {
                *pose = self.pose[slot];
                *twist = self.twist[slot];
            }
            if self.uncommitted {
                *id = self.ids[slot];
                *mass = self.masses[slot];
                self.next_id = self.next_id.max(id.0 + 1);
            }
        }
        self.uncommitted = false;
    }
}

/// Checks a body and works out its constants; also the mass properties if they were computed.
pub(crate) fn check_body(
    kind: RigidBody,
    collider: Option<&Collider>,
    material: &Material,
    mass: &Mass,
    groups: CollisionGroups,
) -> Result<(BodyConstants, Option<MassProperties>), BodyError> {
    let geometry = collider.map(Collider::geometry).transpose()?;
    body_constants(kind, geometry, material, mass, groups)
}

fn body_constants(
    kind: RigidBody,
    geometry: Option<Geometry>,
    material: &Material,
    mass: &Mass,
    groups: CollisionGroups,
) -> Result<(BodyConstants, Option<MassProperties>), BodyError> {
    check_material(material)?;
    let mut center_of_mass = DVec3::ZERO;
    let mut computed = None;
    let solid = geometry.as_ref().filter(|g| g.is_solid());
    if let Some(shape) = solid {
        let properties = shape.mass_properties(material.density)?;
        center_of_mass = properties.center_of_mass;
        computed = Some(properties);
    }
    if mass.is_given() || kind != RigidBody::Dynamic {
        computed = None;
    }
    let inertia = match (kind, mass.is_given(), &computed) {
        (RigidBody::Dynamic, ..) if geometry.is_some() && solid.is_none() => {
            return Err(BodyError::NotSolid);
        }
        (RigidBody::Dynamic, true, _) => {
            let given = MassProperties::new(
                mass.mass(),
                DVec3::ZERO,
                mass.principal_inertia(),
                mass.principal_frame(),
            )?;
            Inertia::new(given.mass, given.principal_inertia, given.principal_frame)
        }
        (RigidBody::Dynamic, false, Some(p)) => {
            Inertia::new(p.mass, p.principal_inertia, p.principal_frame)
        }
        (RigidBody::Dynamic, false, None) => return Err(BodyError::NoMass),
        _ => Inertia::FIXED,
    };
    let extent = geometry.as_ref().map_or(0.0, Geometry::bounding_radius);
    let size = geometry.as_ref().map_or(0.0, Geometry::size);
    let constants = BodyConstants {
        kind,
        geometry,
        center_of_mass,
        inertia,
        material: *material,
        groups,
        radius: extent + center_of_mass.length(),
        size: if size.is_finite() { size } else { 0.0 },
    };
    Ok((constants, computed))
}

fn check_material(material: &Material) -> Result<(), BodyError> {
    let check = |field, value: f64, ok: bool, bound| {
        if value.is_finite() && ok {
            Ok(())
        } else {
            Err(BodyError::Field {
                field,
                value,
                bound,
            })
        }
    };
    check("density", material.density, material.density > 0.0, "> 0")?;
    check(
        "friction",
        material.friction,
        material.friction >= 0.0,
        "≥ 0",
    )?;
    let e = material.restitution;
    check("restitution", e, (0.0..=1.0).contains(&e), "in [0, 1]")
}

pub(crate) fn check_body_state(
    pose: &Pose,
    twist: &Twist,
    wrench: &Wrench,
) -> Result<(), BodyError> {
    let vectors = [
        ("position", pose.position),
        ("linear velocity", twist.linear),
        ("angular velocity", twist.angular),
        ("force", wrench.force),
        ("moment", wrench.moment),
        ("body moment", wrench.body_moment),
    ];
    for (field, v) in vectors {
        if !v.is_finite() {
            let value = if v.x.is_finite() {
                if v.y.is_finite() { v.z } else { v.y }
            } else {
                v.x
            };
            return Err(BodyError::Field {
                field,
                value,
                bound: "finite",
            });
        }
    }
    let norm = pose.orientation.length();
    // Renormalised after each step: anything farther from one was not a rotation to begin with.
    if (norm - 1.0).abs() <= 1e-6 {
        Ok(())
    } else {
        Err(BodyError::Field {
            field: "orientation norm",
            value: norm,
            bound: "1 ± 1e-6",
        })
    }
}
