//! Joints and couplers of the world, for the step.

use super::link::Link;
use crate::bodies::Bodies;
use crate::components::notices::Notices;
use crate::components::{
    BreakLimit, Coupler, Joint, JointBroken, JointDisabled, JointForces, JointId, NoCollision,
    RigidBody,
};
use crate::error::{JointError, StepError};
use crate::joints::{CouplerSpec, JointSpec};
use crate::step::StepState;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;

/// What the step reads of a joint.
type JointQuery = (
    Entity,
    &'static Joint,
    &'static JointId,
    Option<&'static JointForces>,
    Option<&'static BreakLimit>,
    Has<NoCollision>,
);

/// What couplers read of a joint: its id, and whether it is disabled or broken.
type StateQuery = (&'static JointId, Has<JointDisabled>, Has<JointBroken>);

/// Those that take part.
type Whole = (Without<JointDisabled>, Without<JointBroken>);

/// The others: they go with their bodies as well.
type Idle = Or<(With<JointDisabled>, With<JointBroken>, With<Disabled>)>;

type IdleCouplers = Or<(With<JointDisabled>, With<Disabled>)>;

/// The joints of the world.
#[derive(SystemParam)]
pub(super) struct Joints<'w, 's> {
    joints: Query<'w, 's, JointQuery, Whole>,
    idle: Query<'w, 's, (Entity, &'static Joint, &'static JointId), Idle>,
    couplers: Query<'w, 's, (Entity, &'static Coupler, &'static JointId), Without<JointDisabled>>,
    ids: Query<'w, 's, StateQuery, With<Joint>>,
    idle_couplers: Query<'w, 's, &'static JointId, (With<Coupler>, IdleCouplers)>,
    disabled: Query<'w, 's, (), With<Disabled>>,
}

/// The joints and couplers that were read last: buffers.
#[derive(Debug, Default)]
pub(crate) struct JointLists {
    joints: Vec<JointSpec>,
    couplers: Vec<CouplerSpec>,
    /// Joints none of whose bodies is dynamic, or one of whose bodies is out of the steps.
    resting: Vec<Entity>,
    /// All joints, and all couplers, that take no part for now, ascending.
    out: Vec<JointId>,
    out_couplers: Vec<JointId>,
}

/// Hands the joints and couplers of the world to the step.
pub(super) fn gather(
    world: &Joints,
    (lists, link): (&mut JointLists, &Link),
    notices: &mut Notices,
    state: &mut StepState,
) -> Result<(), StepError> {
    list_joints(world, (link, &state.bodies), notices, lists)?;
    list_resting(world, lists);
    state.exchange_joints(&mut lists.joints, &lists.out);
    list_couplers(world, notices, lists)?;
    state.exchange_couplers(&mut lists.couplers, &lists.out_couplers);
    Ok(())
}

/// Overwrites the entries of a list one after the other: what they hold keeps its memory.
struct Rewritten<'a, T> {
    list: &'a mut Vec<T>,
    count: usize,
}

impl<T: Default> Rewritten<'_, T> {
    fn next(&mut self) -> &mut T {
        if self.count == self.list.len() {
            self.list.push(T::default());
        }
        self.count += 1;
        &mut self.list[self.count - 1]
    }

    /// The last entry is none: the next one takes its place.
    fn drop_last(&mut self) {
        self.count -= 1;
    }

    /// Ends it, in the order of ids, no two of which are alike.
    fn sort_by_id<K: Ord>(self, id: impl Fn(&T) -> K) {
        self.list.truncate(self.count);
        if !self.list.is_sorted_by_key(&id) {
            self.list.sort_unstable_by_key(id);
        }
    }
}

/// The joints, in the order of ids. Those of bodies that are no more are listed to go. Those with nothing to move rest until a body is dynamic again, those of a
/// disabled body until it is enabled.
fn list_joints(
    world: &Joints,
    (link, bodies): (&Link, &Bodies),
    notices: &mut Notices,
    lists: &mut JointLists,
) -> Result<(), StepError> {
    let JointLists {
        joints: list,
        resting,
        ..
    } = lists;
    let mut specs = Rewritten { list, count: 0 };
    notices.joints_gone.clear();
    resting.clear();
    for (entity, joint, id, forces, limit, apart) in &world.joints {
        let mut ids = [None; 2];
        let (mut gone, mut moves, mut is_off) = (false, false, false);
        for (id_of, body) in ids.iter_mut().zip(joint.bodies) {
            let Some(body) = body else { continue };
            match link.slot(body, bodies) {
                Some(slot) => {
                    *id_of = Some(bodies.ids[slot]);
                    moves |= bodies.constants[slot].kind == RigidBody::Dynamic;
                }
                None if notices.bodies_gone.contains(&body) => gone = true,
                None if world.disabled.contains(body) => is_off = true,
                None => {
                    return Err(StepError::Joint {
                        id: *id,
                        source: JointError::NoBody { entity: body },
                    });
                }
            }
        }
        if gone {
            notices.joints_gone.push(entity);
            continue;
        }
        if is_off || !moves {
            resting.push(entity);
            continue;
        }
        let spec = specs.next();
        let mut own = std::mem::take(&mut spec.forces);
        own.clear();
        own.extend_from_slice(forces.map_or(&[], |forces| &forces.0));
        *spec = JointSpec {
            id: *id,
            bodies: ids,
            frames: joint.frames,
            kind: joint.kind,
            forces: own,
            collide: !apart,
            break_limit: limit.copied(),
        };
    }
    specs.sort_by_id(|spec| spec.id);
    if !notices.bodies_gone.is_empty() {
        for (entity, joint, _) in &world.idle {
            let mut bodies = joint.bodies.iter().flatten();
            if bodies.any(|body| notices.bodies_gone.contains(body)) {
                notices.joints_gone.push(entity);
            }
        }
    }
    Ok(())
}

/// The joints that take no part for now.
fn list_resting(world: &Joints, lists: &mut JointLists) {
    let JointLists { out, resting, .. } = lists;
    out.clear();
    out.extend(world.idle.iter().map(|(.., id)| *id));
    let known = resting
        .iter()
        .filter_map(|joint| world.ids.get(*joint).ok());
    out.extend(known.map(|(id, ..)| *id));
    out.sort_unstable();
}

/// The couplers whose joints all take part, in the order of ids. Those of joints that are no more are listed to go.
fn list_couplers(
    world: &Joints,
    notices: &mut Notices,
    lists: &mut JointLists,
) -> Result<(), StepError> {
    let JointLists {
        couplers: list,
        resting,
        out_couplers: out,
        ..
    } = lists;
    let mut specs = Rewritten { list, count: 0 };
    out.clear();
    out.extend(&world.idle_couplers);
    for (entity, coupler, id) in &world.couplers {
        let spec = specs.next();
        (spec.id, spec.offset) = (*id, coupler.offset);
        spec.terms.clear();
        let (mut gone, mut whole) = (false, true);
        for term in &coupler.terms {
            let joint = term.joint;
            match world.ids.get(joint) {
                Ok(_) if notices.joints_gone.contains(&joint) => gone = true,
                Ok((id, disabled, broken)) => {
                    whole &= !disabled && !broken && !resting.contains(&joint);
                    spec.terms.push((*id, term.axis, term.ratio));
                }
                Err(_) if notices.joints_gone.contains(&joint) => gone = true,
                Err(_) if notices.joints_lost.contains(&joint) => gone = true,
                Err(_) if world.disabled.contains(joint) => whole = false,
                Err(_) => {
                    return Err(StepError::Joint {
                        id: *id,
                        source: JointError::NoJoint { entity: joint },
                    });
                }
            }
        }
        if gone {
            notices.joints_gone.push(entity);
        }
        if gone || !whole {
            specs.drop_last();
        }
        if !gone && !whole {
            out.push(*id);
        }
    }
    out.sort_unstable();
    specs.sort_by_id(|spec| spec.id);
    Ok(())
}

/// Marks the joints that broke in the step.
pub(super) fn mark_broken(state: &StepState, world: &Joints, commands: &mut Commands) {
    let broken = state.broken_joints();
    if broken.is_empty() {
        return;
    }
    for (entity, _, id, ..) in &world.joints {
        if broken.binary_search(id).is_ok() {
            commands.entity(entity).try_insert(JointBroken);
        }
    }
}
