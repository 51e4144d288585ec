//! An [`Image`] back into a world: first a step state that goes on from it, which checks all of it, then the components.

use super::install::{StepOutcome, check_installed};
use super::link::Link;
use super::machines::dangles;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::bodies::user_forces::forces_of;
use crate::components::notices::Notices;
use crate::components::{
    BodyForces, BodyId, Coupler, Joint, JointBroken, JointDisabled, JointForces, JointId,
    KinematicTarget, NoCollision, Pose, RigidBody, Sensor, Sleeping, Twist, Wrench,
};
use crate::error::{JointError, StepError};
use crate::joints::check::check_joint;
use crate::joints::coupled::check as check_coupler;
use crate::results::contact_view::Contacts;
use crate::settings::Settings;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::image::{CouplerPart, Image, JointPart};
use crate::snapshot::substance::Substance;
use crate::step::StepState;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use std::collections::BTreeMap;

/// Puts the world back to an image; on an error nothing is changed.
pub(super) fn restore(world: &mut World, image: &Image) -> Result<(), SnapshotError> {
    check_installed(world)?;
    let (threads, number) = {
        let state = world.get_resource::<StepState>();
        if state.is_some_and(StepState::is_within_step) {
            return Err(SnapshotError::WithinStep);
        }
        let threads = state.map(|state| state.threads.clone());
        let number = world.get_resource::<Settings>().map(|of| of.threads);
        (threads.unwrap_or_default(), number.unwrap_or_default())
    };
    check_machines(image)?;
    let before = Entities::of(world);
    let mut state = {
        let world = &*world;
        let forces_of = |id| world.get::<BodyForces>(before.body(id)?);
        image.state(threads, forces_of)?
    };
    let bodies = put_bodies(world, image, &state.bodies, &before);
    put_joints(world, image, (&bodies, &before));
    let mut link = Link::default();
    link.replace(&bodies, &Bodies::default());
    // The next gather compares all columns with what is known.
    link.stale = true;
    state.name_touching(&bodies);
    state.bodies.entities = bodies;
    state.bodies.unwritten = true;
    world.insert_resource(Settings {
        threads: number,
        ..image.settings
    });
    world.insert_resource(image.pairs.clone());
    world.insert_resource(*state.report());
    world.insert_resource(state);
    world.insert_resource(link);
    world.insert_resource(Contacts::default());
    world.insert_resource(StepOutcome::default());
    // After all hooks have run: what they noted is no change.
    world.insert_resource(Notices {
        next_id: image.next_ids[0],
        next_joint_id: image.next_ids[1],
        ..Notices::default()
    });
    Ok(())
}

/// Entities by their ids.
struct Entities {
    bodies: BTreeMap<BodyId, Entity>,
    joints: BTreeMap<JointId, Entity>,
    /// Those with an id that are out of the steps, disabled or without what makes them a body: they stay, and stay so unless the snapshot has them.
    idle: (BTreeMap<BodyId, Entity>, BTreeMap<JointId, Entity>),
    /// Those with an id that another one has too, or none.
    others: Vec<Entity>,
}

impl Entities {
    fn of(world: &mut World) -> Self {
        let mut found = Self {
            bodies: BTreeMap::new(),
            joints: BTreeMap::new(),
            idle: (BTreeMap::new(), BTreeMap::new()),
            others: Vec::new(),
        };
        let mut bodies = world.query_filtered::<(Entity, Option<&BodyId>), With<RigidBody>>();
        for (entity, id) in bodies.iter(world) {
            match id {
                Some(id) if !found.bodies.contains_key(id) => {
                    found.bodies.insert(*id, entity);
                }
                _ => found.others.push(entity),
            }
        }
        let mut joints =
            world.query_filtered::<(Entity, Option<&JointId>), Or<(With<Joint>, With<Coupler>)>>();
        for (entity, id) in joints.iter(world) {
            match id {
                Some(id) if !found.joints.contains_key(id) => {
                    found.joints.insert(*id, entity);
                }
                _ => found.others.push(entity),
            }
        }
        let mut bodies = world.query_filtered::<(Entity, &BodyId), Allow<Disabled>>();
        let mut joints = world.query_filtered::<(Entity, &JointId), Allow<Disabled>>();
        let (idle_bodies, idle_joints) = &mut found.idle;
        idle_bodies.extend(bodies.iter(world).map(|(entity, id)| (*id, entity)));
        idle_joints.extend(joints.iter(world).map(|(entity, id)| (*id, entity)));
        found
    }

    fn body(&self, id: BodyId) -> Option<Entity> {
        let known = self.bodies.get(&id).or_else(|| self.idle.0.get(&id));
        known.copied()
    }

    fn joint(&self, id: JointId) -> Option<Entity> {
        let known = self.joints.get(&id).or_else(|| self.idle.1.get(&id));
        known.copied()
    }
}

/// Joints of the world name bodies that are there, and couplers joints.
fn check_machines(image: &Image) -> Result<(), SnapshotError> {
    let body = |id: &BodyId| {
        let bodies = &image.matter.bodies;
        let steps = bodies.binary_search_by_key(id, |(own, _)| *own).is_ok();
        steps || image.disabled.bodies.binary_search(id).is_ok()
    };
    let mut last = None;
    for part in &image.machines.joints {
        let spec = &part.spec;
        let refused = |source| StepError::Joint {
            id: spec.id,
            source,
        };
        if last.replace(spec.id).is_some_and(|last| last >= spec.id) {
            return Err(refused(JointError::DuplicateId).into());
        }
        if let Some(id) = spec.bodies.iter().flatten().find(|id| !body(id)) {
            return Err(refused(JointError::UnknownBody { id: *id }).into());
        }
        if !part.disabled && !part.broken {
            // It may rest with bodies of other kinds.
            let kinds = spec.bodies.map(|id| id.map(|_| RigidBody::Dynamic));
            check_joint(spec, kinds).map_err(refused)?;
        }
    }
    let joints = &image.machines.joints;
    let joint = |id: &JointId| joints.binary_search_by_key(id, |of| of.spec.id).is_ok();
    let mut last = None;
    let locked = |id: JointId| {
        let place = joints.binary_search_by_key(&id, |of| of.spec.id).ok()?;
        Some(joints[place].spec.kind.locked())
    };
    for CouplerPart { spec, disabled, .. } in &image.machines.couplers {
        let refused = |source| StepError::Joint {
            id: spec.id,
            source,
        };
        if last.replace(spec.id).is_some_and(|last| last >= spec.id) || joint(&spec.id) {
            return Err(refused(JointError::DuplicateId).into());
        }
        if let Some((id, ..)) = spec.terms.iter().find(|(id, ..)| !joint(id)) {
            return Err(refused(JointError::UnknownJoint { id: *id }).into());
        }
        if !disabled {
            check_coupler(spec, locked).map_err(refused)?;
        }
    }
    Ok(())
}

/// The bodies of the image as entities, in their order. Those whose ids are there keep what else they have.
fn put_bodies(world: &mut World, image: &Image, known: &Bodies, before: &Entities) -> Vec<Entity> {
    let matter = &*image.matter;
    let is_listed = |id: &BodyId| {
        matter
            .bodies
            .binary_search_by_key(id, |(own, _)| *own)
            .is_ok()
    };
    for entity in &before.others {
        world.despawn(*entity);
    }
    for (id, entity) in &before.bodies {
        if image.disabled.bodies.binary_search(id).is_ok() {
            world.entity_mut(*entity).insert(Disabled);
        } else if !is_listed(id) {
            world.despawn(*entity);
        }
    }
    let mut wrenches = image.acting.wrenches.iter().peekable();
    let mut targets = image.acting.targets.iter().peekable();
    let mut names = matter.names.iter().peekable();
    let mut mismarked = image.acting.mismarked.iter().peekable();
    let mut entities = Vec::with_capacity(matter.bodies.len());
    for (slot, (id, place)) in known.slots().zip(&matter.bodies) {
        let substance = &matter.substances[*place as usize];
        let wrench = wrenches.next_if(|(of, _)| *of == slot);
        let state = (
            image.pose[slot],
            image.twist[slot],
            wrench.map_or_else(Wrench::default, |(_, wrench)| *wrench),
        );
        let mut entity = known_or_new(world, before.body(*id));
        let forces = forces_of(&known.user_forces.laws, slot);
        put_body(&mut entity, *id, (substance, forces), known, (slot, state));
        let target = targets.next_if(|(of, _)| *of == slot);
        optional(&mut entity, target.map(|(_, pose)| KinematicTarget(*pose)));
        let odd = mismarked.next_if(|of| **of == slot).is_some();
        let marked = known.is_asleep(slot) != odd;
        optional(&mut entity, marked.then_some(Sleeping));
        if let Some((_, name)) = names.next_if(|(of, _)| *of == slot) {
            entity.insert(Name::new(name.clone()));
        }
        entities.push(entity.id());
    }
    entities
}

fn put_body(
    entity: &mut EntityWorldMut,
    id: BodyId,
    (of, forces): (&Substance, Option<&BodyForces>),
    known: &Bodies,
    (slot, state): (Slot, (Pose, Twist, Wrench)),
) {
    let mass = of.mass.completed(&known.constants[slot].inertia);
    entity.insert((id, of.kind, of.material, mass, of.groups, state));
    optional(entity, of.collider.clone());
    optional(entity, of.parts.clone());
    optional(entity, of.sensor.then_some(Sensor));
    optional(entity, of.gravity);
    optional(entity, of.drag);
    let none = of.forces.as_ref().map(|_| BodyForces::default());
    optional(entity, forces.cloned().or(none));
}

/// The component, or none.
fn optional<C: Component>(entity: &mut EntityWorldMut, component: Option<C>) {
    match component {
        Some(component) => {
            entity.insert(component);
        }
        None if entity.contains::<C>() => {
            entity.remove::<C>();
        }
        None => {}
    }
}

fn put_joints(world: &mut World, image: &Image, (bodies, before): (&[Entity], &Entities)) {
    let machines = &image.machines;
    let body = |id: BodyId| {
        let listed = &image.matter.bodies;
        let place = listed.binary_search_by_key(&id, |(own, _)| *own).ok()?;
        bodies.get(place).copied()
    };
    // One that was out of the steps is where it is, if it is there.
    let body = |id: BodyId| body(id).or_else(|| before.body(id));
    let mut entities = BTreeMap::new();
    for JointPart {
        spec,
        disabled,
        broken,
        name,
    } in &machines.joints
    {
        let [a, b] = spec.bodies;
        if [a, b].into_iter().flatten().any(|id| body(id).is_none()) {
            continue;
        }
        let mut entity = known_or_new(world, before.joint(spec.id));
        let joint = Joint {
            bodies: [a, b].map(|id| id.and_then(body)),
            frames: spec.frames,
            kind: spec.kind,
        };
        entity.remove::<Coupler>();
        entity.insert((spec.id, joint));
        let forces = !spec.forces.is_empty() || entity.contains::<JointForces>();
        optional(
            &mut entity,
            forces.then(|| JointForces(spec.forces.clone())),
        );
        optional(&mut entity, spec.break_limit);
        optional(&mut entity, (!spec.collide).then_some(NoCollision));
        optional(&mut entity, disabled.then_some(JointDisabled));
        optional(&mut entity, broken.then_some(JointBroken));
        if let Some(name) = name {
            entity.insert(Name::new(name.clone()));
        }
        entities.insert(spec.id, entity.id());
    }
    for part in &machines.couplers {
        let mut joints = part.spec.terms.iter();
        if joints.any(|(id, ..)| !entities.contains_key(id)) {
            continue;
        }
        let mut entity = known_or_new(world, before.joint(part.spec.id));
        let coupler = Coupler {
            terms: part.terms(|id| entities.get(&id).copied()),
            offset: part.spec.offset,
        };
        entity.remove::<Joint>();
        entity.insert((part.spec.id, coupler));
        optional(&mut entity, part.disabled.then_some(JointDisabled));
        if let Some(name) = &part.name {
            entity.insert(Name::new(name.clone()));
        }
        entities.insert(part.spec.id, entity.id());
    }
    let listed = |id: &JointId| entities.contains_key(id);
    for (id, entity) in before.joints.iter().filter(|(id, _)| !listed(id)) {
        // Couplers of joints that were out of the steps are in no snapshot, and stay.
        if image.disabled.joints.binary_search(id).is_ok() {
            world.entity_mut(*entity).insert(Disabled);
        } else if image.disabled.couplers.binary_search(id).is_err() {
            world.despawn(*entity);
        }
    }
    // But not what needs something that went; couplers after joints.
    for _ in 0..2 {
        for (_, entity) in before.idle.1.iter().filter(|(id, _)| !listed(id)) {
            if world.get_entity(*entity).is_ok() && dangles(world, *entity) {
                world.despawn(*entity);
            }
        }
    }
}

/// The entity, in the steps again if it was not; a new one if there is none.
fn known_or_new(world: &mut World, known: Option<Entity>) -> EntityWorldMut<'_> {
    match known.filter(|entity| world.get_entity(*entity).is_ok()) {
        Some(entity) => {
            let mut entity = world.entity_mut(entity);
            entity.remove::<Disabled>();
            entity
        }
        None => world.spawn_empty(),
    }
}
