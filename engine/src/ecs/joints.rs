//! Joints of the world, for the step.

use super::link::Link;
use crate::bodies::Bodies;
use crate::components::notices::Notices;
use crate::components::{Joint, JointDisabled, JointForces, JointId, NoCollision};
use crate::error::{JointError, StepError};
use crate::joints::JointSpec;
use bevy_ecs::prelude::*;

/// What the step reads of a joint.
type JointQuery = (
    Entity,
    &'static Joint,
    &'static JointId,
    Option<&'static JointForces>,
    Has<NoCollision>,
);

/// The joints of the world.
pub(super) type Joints<'w, 's> = Query<'w, 's, JointQuery, Without<JointDisabled>>;

/// The joints, in the order of ids. Those of bodies that are no more are listed to go.
pub(super) fn gather(
    joints: &Joints,
    (link, bodies): (&Link, &Bodies),
    notices: &mut Notices,
) -> Result<Vec<JointSpec>, StepError> {
    let mut specs = Vec::new();
    notices.joints_gone.clear();
    for (entity, joint, id, forces, apart) in joints {
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
        });
    }
    specs.sort_by_key(|spec| spec.id);
    Ok(specs)
}
