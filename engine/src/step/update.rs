//! From the solved velocities to the state at `t_{k+1}`, body by body.

use crate::bodies::Bodies;
use crate::bodies::slot::{Slot, Slots};
use crate::components::{Pose, RigidBody, Twist};
use crate::interactions::record::ContactRecord;
use crate::math::chunks;
use crate::motion::Motion;
use crate::motion::overflow::overflows;
use crate::motion::scheme::{BodySolved, Scheme};
use crate::settings::Settings;
use glam::DVec3;
use moreau_solvers::WorldTwist;

/// What the contacts of a step did to each body, bit by bit.
#[derive(Debug, Default)]
pub(crate) struct Pushes {
    marks: Vec<u8>,
}

const PUSHED: u8 = 1;
const STRUCK: u8 = 2;

impl Pushes {
    /// Marks the bodies that contacts push, and those that an impact is among. Marks of bodies at rest
    /// are neither wiped nor read.
    pub(crate) fn mark(&mut self, record: &ContactRecord, impacts: &[bool], bodies: &Bodies) {
        self.marks.resize(bodies.len(), 0);
        for slot in &bodies.moving {
            self.marks[*slot] = 0;
        }
        let laws = record.places().iter().zip(impacts);
        for ((place, impact), r) in laws.zip(&record.impulse) {
            if r.x > 0.0 {
                let mark = if *impact { PUSHED | STRUCK } else { PUSHED };
                for slot in place.bodies {
                    self.marks[slot] |= mark;
                }
            }
        }
    }
}

/// Advances `bodies` to `t_{k+1}` from the solved twists `end`. Returns the lowest slot whose state overflows.
pub(crate) fn update<S: Scheme>(
    bodies: &mut Bodies,
    (motion, end): (&Motion, &[WorldTwist]),
    pushes: &Pushes,
    scheme: &S,
    settings: &Settings,
) -> Option<Slot> {
    let Bodies {
        ids,
        pose,
        twist,
        constants,
        moving,
        ..
    } = bodies;
    let work = |part: Slots<'_, (&mut [Pose], &mut [Twist])>| {
        let rows = part.each();
        let (pose, twist) = part.columns;
        let mut overflow = None;
        for (slot, row) in rows {
            let (pose, twist) = (&mut pose[row], &mut twist[row]);
            let drift = &motion.drift[slot];
            match constants[slot].kind {
                RigidBody::Static => {}
                RigidBody::Kinematic => {
                    pose.position += twist.linear * settings.time_step;
                    pose.orientation = drift.orientation;
                }
                RigidBody::Dynamic => {
                    let mark = pushes.marks[slot];
                    let solved = BodySolved {
                        id: ids[slot],
                        pose,
                        twist,
                        drift,
                        free: &motion.free[slot],
                        end: &end[slot],
                        pushed: mark & PUSHED != 0,
                        struck: mark & STRUCK != 0,
                    };
                    (*pose, *twist) = scheme.update(&solved, settings);
                }
            }
            let p = pose.orientation;
            let turn = DVec3::new(p.x, p.y, p.z) + DVec3::splat(p.w);
            let state = [pose.position, turn, twist.linear, twist.angular];
            if overflow.is_none() && overflows(state) {
                overflow = Some(slot);
            }
        }
        overflow
    };
    let columns = (&mut pose[..], &mut twist[..]);
    let found = chunks::fold(Slots::of(moving, columns), &work, &Option::or);
    [found, motion.overflow_at_rest].into_iter().flatten().min()
}
