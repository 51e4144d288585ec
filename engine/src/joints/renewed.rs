//! Joints that were asked for anew: all of them, or the numbers of their drives alone, as a controller gives them before every step.

use super::check::check_joint;
use super::plain::JointSpec;
use super::{Joints, rigid_bodies};
use crate::bodies::Bodies;
use crate::components::{BodyId, JointForce, JointId};
use crate::error::StepError;
use std::cmp::Ordering;

impl Joints {
    /// Others from now on, in exchange for those before, if they are others: the next step checks them. Of those in `resting`, ascending, which take no part, the places are kept.
    pub(crate) fn replace(&mut self, specs: &mut Vec<JointSpec>, resting: &[JointId]) {
        self.set_resting(resting, specs);
        if *specs == self.specs {
            return;
        }
        disturb(&self.specs, specs, &mut self.disturbed);
        let alike = self.specs.len() == specs.len();
        if alike && self.specs.iter().zip(&*specs).all(only_drives_differ) {
            self.driven_anew = true;
        } else {
            self.resolved = None;
        }
        std::mem::swap(&mut self.specs, specs);
    }

    /// The list takes the forces of what was asked for, which has its joints: nothing else is made anew.
    pub(super) fn drive_anew(&mut self, bodies: &Bodies) -> Result<(), StepError> {
        if !self.driven_anew {
            return Ok(());
        }
        for spec in &self.specs {
            let known = self.list.binary_search_by_key(&spec.id, |joint| joint.id);
            let Ok(place) = known else { continue };
            let joint = &mut self.list[place];
            let kinds = rigid_bodies(joint.bodies, bodies);
            check_joint(spec, kinds).map_err(|source| StepError::Joint {
                id: spec.id,
                source,
            })?;
            joint.forces.clone_from(&spec.forces);
        }
        self.driven_anew = false;
        Ok(())
    }
}

/// Both are one joint, with the same forces up to what a controller chooses.
fn only_drives_differ((before, after): (&JointSpec, &JointSpec)) -> bool {
    let drives = |(a, b): (&JointForce, &JointForce)| match (a, b) {
        (JointForce::Applied { axis: a, .. }, JointForce::Applied { axis: b, .. })
        | (JointForce::Motor { axis: a, .. }, JointForce::Motor { axis: b, .. }) => a == b,
        _ => a == b,
    };
    before.id == after.id
        && before.bodies == after.bodies
        && before.frames == after.frames
        && before.kind == after.kind
        && before.collide == after.collide
        && before.break_limit == after.break_limit
        && before.forces.len() == after.forces.len()
        && before.forces.iter().zip(&after.forces).all(drives)
}

/// Lists the bodies of joints of one list that are not in the other as they are.
fn disturb(before: &[JointSpec], after: &[JointSpec], disturbed: &mut Vec<BodyId>) {
    let bodies = |spec: &JointSpec| spec.bodies.into_iter().flatten();
    let [before, after] = [before, after].map(|list| {
        let mut list: Vec<&JointSpec> = list.iter().collect();
        list.sort_by_key(|spec| spec.id);
        list
    });
    let (mut before, mut after) = (before.into_iter().peekable(), after.into_iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (Some(a), Some(b)) => a.id.cmp(&b.id),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        let [gone, new] = [
            before.next_if(|_| order != Ordering::Greater),
            after.next_if(|_| order != Ordering::Less),
        ];
        if gone != new {
            disturbed.extend([gone, new].into_iter().flatten().flat_map(bodies));
        }
    }
}
