//! Joints that follow others: `q = multiplier q_leader + offset`.
//!
//! Coordinates that follow none are zero at the start; those that follow are where that puts them.

use super::joint::Joint;
use crate::attributes::View;
use crate::error::RobotError;
use crate::model::{Hold, Motion};
use crate::reading::Reading;
use crate::report::Reason;
use moreau::scene::nearest_name;
use std::collections::BTreeMap;

/// A joint that follows another, by their places in the file.
#[derive(Clone, Copy)]
pub(super) struct Follower {
    pub(super) joint: usize,
    pub(super) leader: usize,
    /// Not zero.
    pub(super) ratio: f64,
    pub(super) offset: f64,
}

pub(super) fn read(
    joints: &mut [Joint],
    reading: &mut Reading,
) -> Result<Vec<Follower>, RobotError> {
    let mut places = BTreeMap::new();
    for (place, joint) in joints.iter().enumerate() {
        places.insert(joint.element.needed("name")?, place);
    }
    let mut followers = Vec::new();
    for (joint, own) in joints.iter().enumerate() {
        let Some(element) = own.element.one("mimic")? else {
            continue;
        };
        let name = element.needed("joint")?;
        let found = places.get(name).copied();
        let leader = found.ok_or_else(|| RobotError::Unknown {
            place: element.place(),
            what: "joint",
            name: name.to_owned(),
            nearest: nearest_name(name, places.keys().copied()).map(str::to_owned),
        })?;
        if leader == joint {
            return Err(own.element.wrong("it follows itself"));
        }
        let view = View::from(element);
        let ratio = view.number("multiplier")?.unwrap_or(1.0);
        let offset = view.number("offset")?.unwrap_or(0.0);
        let mut left_out = |why: &str| {
            reading.note(element.note(None, Reason::LeftOut(why.to_owned())));
        };
        if ratio == 0.0 {
            left_out("no joints that are held in a place");
        } else if !(is_scalar(own) && is_scalar(&joints[leader])) {
            left_out("one of the joints does not move along or about one axis");
        } else {
            followers.push(Follower {
                joint,
                leader,
                ratio,
                offset,
            });
        }
    }
    start(joints, &followers);
    Ok(followers)
}

fn is_scalar(joint: &Joint) -> bool {
    matches!(&joint.hold, Hold::Joints(axes)
        if matches!(axes[..], [ref axis] if axis.motion != Motion::Planar))
}

/// Puts what follows where its leader has it. Those that follow each other in a round stay at zero: the engine brings them about.
fn start(joints: &mut [Joint], followers: &[Follower]) {
    let mut follows = vec![None; joints.len()];
    for follower in followers {
        follows[follower.joint] = Some(*follower);
    }
    let mut known: Vec<Option<f64>> = vec![None; joints.len()];
    for joint in 0..joints.len() {
        // Up to one that is known, follows none, or was met on this way.
        let mut way: Vec<Follower> = Vec::new();
        let mut at = joint;
        while known[at].is_none() {
            known[at] = Some(0.0);
            let Some(follower) = follows[at] else {
                break;
            };
            way.push(follower);
            at = follower.leader;
        }
        for follower in way.iter().rev() {
            let leader = known[follower.leader].unwrap_or(0.0);
            known[follower.joint] = Some(follower.ratio * leader + follower.offset);
        }
    }
    for (joint, place) in joints.iter_mut().zip(known) {
        let Hold::Joints(axes) = &mut joint.hold else {
            continue;
        };
        for axis in axes {
            if let Motion::Hinge(q) | Motion::Slide(q) = &mut axis.motion {
                *q = place.unwrap_or(0.0);
            }
        }
    }
}
