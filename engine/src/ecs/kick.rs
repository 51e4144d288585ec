//! An impulse on a machine with rotors ([`Armature`](JointForce::Armature)), which shares it at once.
//!
//! The machine is made of the components as they are now, and of the places where its joints were first seen. What the last step knew of bodies may be long
//! past, after edits or steps that were refused.

use super::machines::{is_disabled, machines, taking_part};
use crate::bodies::Bodies;
use crate::bodies::plain::Body;
use crate::components::notices::Notices;
use crate::components::{
    BodyId, Collider, Joint, JointForce, JointForces, JointId, Mass, Material, PartMaterials, Pose,
    RigidBody, Twist,
};
use crate::joints::{CouplerSpec, JointSpec, Push};
use crate::step::StepState;
use bevy_ecs::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The twists of its bodies after an impulse on one of them. `None` for what is on no joint with a rotor, and for a machine that no step would take.
pub(super) fn shared(world: &World, body: Entity, push: &Push) -> Option<Vec<(Entity, Twist)>> {
    if !is_on_joint(world, body) || !any_rotor(world) {
        return None;
    }
    let kicked = *world.get::<BodyId>(body)?;
    let machine = Machine::of(world, kicked)?;
    let mut bodies = Bodies::default();
    bodies.take(&machine.bodies(world)?).ok()?;
    let known = &world.get_resource::<StepState>()?.joints;
    let joints = known.with((machine.joints, machine.couplers), &mut bodies);
    let twists = joints.ok()?.kick(&bodies, (kicked, push))?;
    let entities = twists.into_iter();
    entities
        .map(|(id, twist)| Some((*machine.entities.get(&id)?, twist)))
        .collect()
}

fn is_on_joint(world: &World, body: Entity) -> bool {
    let joints = world.try_query::<&Joint>();
    joints.is_some_and(|mut joints| {
        let mut joints = joints.iter(world);
        joints.any(|joint| joint.bodies.contains(&Some(body)))
    })
}

fn any_rotor(world: &World) -> bool {
    let forces = world.try_query::<&JointForces>();
    let is_rotor = |force: &JointForce| matches!(force, JointForce::Armature { .. });
    forces.is_some_and(|mut forces| forces.iter(world).any(|of| of.0.iter().any(is_rotor)))
}

/// The joints and couplers that connect a body with others, and all bodies that they name.
struct Machine {
    joints: Vec<JointSpec>,
    couplers: Vec<CouplerSpec>,
    entities: BTreeMap<BodyId, Entity>,
}

impl Machine {
    fn of(world: &World, body: BodyId) -> Option<Self> {
        let mut entities = BTreeMap::new();
        for joint in world.try_query::<&Joint>()?.iter(world) {
            for entity in joint.bodies.into_iter().flatten() {
                let id = world.get::<BodyId>(entity).copied();
                entities.extend(id.map(|id| (id, entity)));
            }
        }
        let moves = |id: &BodyId| {
            let kind = entities.get(id).and_then(|of| world.get::<RigidBody>(*of));
            kind == Some(&RigidBody::Dynamic)
        };
        let moving = |spec: &JointSpec| -> Vec<BodyId> {
            let bodies = spec.bodies.into_iter().flatten();
            bodies.filter(moves).collect()
        };
        let mut all = machines(world, world.get_resource::<Notices>()?).ok()?;
        // Those of bodies that are out of the steps take no part.
        let is_off = |id: &BodyId| entities.get(id).is_some_and(|of| is_disabled(world, *of));
        all.joints
            .retain(|part| !part.spec.bodies.iter().flatten().any(is_off));
        let (mut joints, mut couplers) = taking_part(all, |spec| !moving(spec).is_empty());
        let of_joints: BTreeMap<JointId, Vec<BodyId>> =
            joints.iter().map(|spec| (spec.id, moving(spec))).collect();
        let of_coupler = |spec: &CouplerSpec| -> Vec<BodyId> {
            let joints = spec.terms.iter().filter_map(|(id, ..)| of_joints.get(id));
            joints.flatten().copied().collect()
        };
        let links = of_joints.values().cloned();
        let own = connected(body, links.chain(couplers.iter().map(of_coupler)).collect());
        joints.retain(|spec| spec.bodies.iter().flatten().any(|id| own.contains(id)));
        couplers.retain(|spec| of_coupler(spec).iter().any(|id| own.contains(id)));
        let named = joints.iter().flat_map(|spec| spec.bodies).flatten();
        let named: BTreeSet<BodyId> = named.collect();
        entities.retain(|id, _| named.contains(id));
        Some(Self {
            joints,
            couplers,
            entities,
        })
    }

    /// Its bodies as plain data, with what sharing an impulse asks for.
    fn bodies(&self, world: &World) -> Option<Vec<Body>> {
        let bodies = self.entities.iter().map(|(id, entity)| {
            let entity = world.get_entity(*entity).ok()?;
            let parts = entity.get::<PartMaterials>();
            Some(Body {
                id: *id,
                kind: *entity.get::<RigidBody>()?,
                pose: *entity.get::<Pose>()?,
                twist: *entity.get::<Twist>()?,
                mass: *entity.get::<Mass>()?,
                collider: entity.get::<Collider>().cloned(),
                material: *entity.get::<Material>()?,
                part_materials: parts.map_or_else(Vec::new, |parts| parts.0.clone()),
                ..Body::default()
            })
        });
        bodies.collect()
    }
}

/// Bodies that links connect with this one.
fn connected(body: BodyId, mut links: Vec<Vec<BodyId>>) -> BTreeSet<BodyId> {
    let mut found = BTreeSet::from([body]);
    loop {
        let before = links.len();
        links.retain(|link| {
            let meets = link.iter().any(|id| found.contains(id));
            if meets {
                found.extend(link);
            }
            !meets
        });
        if links.len() == before {
            return found;
        }
    }
}
