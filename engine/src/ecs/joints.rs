//! Joints and couplers of the world, for the step.

use super::link::Link;
use crate::bodies::Bodies;
use crate::components::notices::Notices;
use crate::components::{
    BreakLimit, Coupler, Joint, JointBroken, JointDisabled, JointForces, JointId, NoCollision,
};
use crate::error::{JointError, StepError};
use crate::joints::{CouplerSpec, JointSpec};
use crate::step::StepState;
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

/// The joints of the world.
#[derive(SystemParam)]
pub(super) struct Joints<'w, 's> {
    joints: Query<'w, 's, JointQuery, Whole>,
    couplers: Query<'w, 's, (Entity, &'static Coupler, &'static JointId), Without<JointDisabled>>,
    ids: Query<'w, 's, StateQuery, With<Joint>>,
}

/// The joints, in the order of ids. Those of bodies that are no more are listed to go.
pub(super) fn gather(
    world: &Joints,
    (link, bodies): (&Link, &Bodies),
    notices: &mut Notices,
) -> Result<Vec<JointSpec>, StepError> {
    let mut specs = Vec::new();
    notices.joints_gone.clear();
    for (entity, joint, id, forces, limit, apart) in &world.joints {
        let mut ids = [None; 2];
        let mut gone = false;
        for (id_of, body) in ids.iter_mut().zip(joint.bodies) {
            let Some(body) = body else { continue };
            match link.slot(body, bodies) {
                Some(slot) => *id_of = Some(bodies.ids[slot]),
                None if notices.bodies_gone.contains(&body) => gone = true,
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
        specs.push(JointSpec {
            id: *id,
            bodies: ids,
            frames: joint.frames,
            kind: joint.kind,
            forces: forces.map_or_else(Vec::new, |forces| forces.0.clone()),
            collide: !apart,
            break_limit: limit.copied(),
        });
    }
    specs.sort_by_key(|spec| spec.id);
    Ok(specs)
}

/// The couplers whose joints all take part, in the order of ids. Those of joints that are no more are listed to go.
pub(super) fn gather_couplers(
    world: &Joints,
    notices: &mut Notices,
) -> Result<Vec<CouplerSpec>, StepError> {
    let mut specs = Vec::new();
    for (entity, coupler, id) in &world.couplers {
        let mut terms = Vec::new();
        let (mut gone, mut whole) = (false, true);
        for term in &coupler.terms {
            let joint = term.joint;
            match world.ids.get(joint) {
                Ok(_) if notices.joints_gone.contains(&joint) => gone = true,
                Ok((id, disabled, broken)) => {
                    whole &= !disabled && !broken;
                    terms.push((*id, term.axis, term.ratio));
                }
                Err(_) if notices.joints_lost.contains(&joint) => gone = true,
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
        } else if whole {
            specs.push(CouplerSpec {
                id: *id,
                terms,
                offset: coupler.offset,
            });
        }
    }
    specs.sort_by_key(|spec| spec.id);
    Ok(specs)
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
