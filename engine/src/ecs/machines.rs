//! The joints and couplers of a world between two steps, for an image of it.

use crate::components::notices::Notices;
use crate::components::{
    BodyId, BreakLimit, Coupler, Joint, JointBroken, JointDisabled, JointForces, JointId,
    NoCollision, RigidBody,
};
use crate::error::{JointError, StepError};
use crate::joints::{CouplerSpec, JointSpec};
use crate::snapshot::error::SnapshotError;
use crate::snapshot::image::{CouplerPart, JointPart, Machines};
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;

type JointQuery = (
    (Entity, &'static JointId, Option<&'static Name>),
    &'static Joint,
    Option<&'static JointForces>,
    Option<&'static BreakLimit>,
    Has<NoCollision>,
    (Has<JointDisabled>, Has<JointBroken>),
);

type CouplerQuery = (
    (Entity, &'static JointId, Option<&'static Name>),
    &'static Coupler,
    Has<JointDisabled>,
);

/// Makes their components known to the world, so that it can be read without being changed.
pub(super) fn register(world: &mut World) {
    world.query::<JointQuery>();
    world.query::<CouplerQuery>();
}

/// The joints and couplers, those of disabled bodies too. Those of bodies and joints that are no more go with the next step, and are left out; so are couplers of disabled joints.
pub(super) fn machines(world: &World, notices: &Notices) -> Result<Machines, SnapshotError> {
    let mut found = Machines::default();
    let (Some(mut joints), Some(mut couplers)) = (
        world.try_query::<JointQuery>(),
        world.try_query::<CouplerQuery>(),
    ) else {
        return Ok(found);
    };
    let mut left_out = Vec::new();
    for ((entity, id, name), joint, forces, limit, apart, (disabled, broken)) in joints.iter(world)
    {
        let mut bodies = [None; 2];
        let mut gone = false;
        for (of, body) in bodies.iter_mut().zip(joint.bodies) {
            let Some(body) = body else { continue };
            let is_body = world.get::<RigidBody>(body).is_some();
            match world.get::<BodyId>(body).filter(|_| is_body) {
                Some(id) => *of = Some(*id),
                None if disabled || broken || notices.bodies_gone.contains(&body) => gone = true,
                None => {
                    let source = JointError::NoBody { entity: body };
                    return Err(StepError::Joint { id: *id, source }.into());
                }
            }
        }
        if gone {
            left_out.push(entity);
            continue;
        }
        found.joints.push(JointPart {
            spec: JointSpec {
                id: *id,
                bodies,
                frames: joint.frames,
                kind: joint.kind,
                forces: forces.map_or_else(Vec::new, |forces| forces.0.clone()),
                collide: !apart,
                break_limit: limit.copied(),
            },
            disabled,
            broken,
            name: name.map(|name| name.as_str().to_owned()),
        });
    }
    for ((_, id, name), coupler, disabled) in couplers.iter(world) {
        let terms = coupler.terms.iter().map(|term| {
            let joint = world.get::<JointId>(term.joint);
            let is_out = left_out.contains(&term.joint) || is_disabled(world, term.joint);
            let known = joint.filter(|_| !is_out);
            known.map(|joint| (*joint, term.axis, term.ratio))
        });
        let Some(terms) = terms.collect::<Option<Vec<_>>>() else {
            continue;
        };
        found.couplers.push(CouplerPart {
            spec: CouplerSpec {
                id: *id,
                terms,
                offset: coupler.offset,
            },
            disabled,
            name: name.map(|name| name.as_str().to_owned()),
        });
    }
    found.joints.sort_by_key(|joint| joint.spec.id);
    found.couplers.sort_by_key(|coupler| coupler.spec.id);
    Ok(found)
}

/// A body or joint that is out of the steps.
pub(super) fn is_disabled(world: &World, entity: Entity) -> bool {
    world.get::<Disabled>(entity).is_some()
}

/// A coupler that is not in a snapshot: one of its joints is disabled as an entity.
pub(super) fn rests(world: &World, coupler: Entity) -> bool {
    let terms = world.get::<Coupler>(coupler).map(|of| &of.terms);
    let mut terms = terms.into_iter().flatten();
    terms.any(|term| is_disabled(world, term.joint))
}

/// Couplers that are not in a snapshot, ascending.
pub(super) fn resting_couplers(world: &World) -> Vec<JointId> {
    let couplers = world.try_query::<(Entity, &JointId, &Coupler)>();
    let mut found: Vec<JointId> = couplers.map_or_else(Vec::new, |mut couplers| {
        let all = couplers.iter(world);
        let resting = all.filter(|(coupler, ..)| rests(world, *coupler));
        resting.map(|(_, id, _)| *id).collect()
    });
    found.sort_unstable();
    found
}

/// Something that a joint or coupler needs is no more.
pub(super) fn dangles(world: &World, joint: Entity) -> bool {
    let is_gone = |entity: &Entity| world.get_entity(*entity).is_err();
    let bodies = world.get::<Joint>(joint).map(|joint| joint.bodies);
    let mut bodies = bodies.into_iter().flatten().flatten();
    let coupler = world.get::<Coupler>(joint);
    let mut joints = coupler.iter().flat_map(|of| &of.terms);
    bodies.any(|body| is_gone(&body)) || joints.any(|term| is_gone(&term.joint))
}

/// The joints and couplers that take part in the steps: those that are whole, with something to move.
pub(super) fn taking_part(
    machines: Machines,
    moves: impl Fn(&JointSpec) -> bool,
) -> (Vec<JointSpec>, Vec<CouplerSpec>) {
    let joints = machines.joints.into_iter();
    let joints = joints.filter(|part| !part.disabled && !part.broken && moves(&part.spec));
    let joints: Vec<JointSpec> = joints.map(|part| part.spec).collect();
    let known = |id: &JointId| joints.binary_search_by_key(id, |spec| spec.id).is_ok();
    let couplers = machines.couplers.into_iter();
    let couplers = couplers.filter(|part| !part.disabled);
    let couplers = couplers.map(|part| part.spec);
    let couplers = couplers.filter(|spec| spec.terms.iter().all(|(id, ..)| known(id)));
    let couplers = couplers.collect();
    (joints, couplers)
}
