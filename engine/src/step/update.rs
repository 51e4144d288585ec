//! From the solved velocities to the state at `t_{k+1}`, body by body.

use super::assembly::ContactProblem;
use super::impacts::Impacts;
use super::moreau_jean::theta_of_impact;
use super::solved::{Pushed, normal_velocity};
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

/// What the contacts of a step did to each body.
#[derive(Debug, Default)]
pub(crate) struct Pushes {
    of: Vec<Pushed>,
}

impl Pushes {
    /// By slot; only those of moving bodies are to be read.
    pub(crate) fn all(&self) -> &[Pushed] {
        &self.of
    }

    /// Marks the bodies that contacts push, and those that an impact is among. Marks of bodies at rest
    /// are neither wiped nor read.
    pub(crate) fn mark(
        &mut self,
        record: &ContactRecord,
        problem: &ContactProblem,
        (bodies, motion): (&Bodies, &Motion),
        settings: &Settings,
    ) {
        self.of.resize(bodies.len(), Pushed::Not);
        for slot in &bodies.moving {
            self.of[*slot] = Pushed::Not;
        }
        // What pulls at bodies that part acts through the step, as what holds them.
        let pulled = record.places().iter().zip(&record.adhesion);
        for (place, _) in pulled.filter(|(_, a)| **a > 0.0) {
            for slot in place.bodies {
                self.of[slot] = self.of[slot].by(None);
            }
        }
        let rows = record.places().iter().zip(&problem.contacts);
        let laws = rows.zip(&problem.impacts).zip(&record.impulse);
        for (((place, contact), impact), r) in laws {
            let held = |slot: Slot| matches!(self.of[slot], Pushed::Held);
            // One more that is no impact changes nothing.
            if r.x <= 0.0 || !impact && held(place.bodies[0]) && held(place.bodies[1]) {
                continue;
            }
            let theta = impact.then(|| {
                let begin = place.bodies.map(|slot| motion.begin[slot]);
                let end = place.bodies.map(|slot| {
                    if bodies.is_awake_dynamic(slot) {
                        record.end[slot]
                    } else {
                        motion.free[slot]
                    }
                });
                let u = [begin, end].map(|twists| normal_velocity(contact, &twists));
                theta_of_impact(place.gap, u, settings.time_step)
            });
            for slot in place.bodies {
                self.of[slot] = self.of[slot].by(theta);
            }
        }
    }
}

/// Advances `bodies` to `t_{k+1}` from the solved twists `end`. Returns the lowest slot whose state overflows.
pub(crate) fn update<S: Scheme>(
    bodies: &mut Bodies,
    (motion, end): (&Motion, &[WorldTwist]),
    (pushes, impacts): (&Pushes, &Impacts),
    scheme: &S,
    settings: &Settings,
) -> Option<Slot> {
    let Bodies {
        ids,
        pose,
        twist,
        constants,
        moving,
        user_forces,
        ..
    } = bodies;
    let is_stiff = |slot: Slot| user_forces.is_stiff(slot);
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
                    let pushed = pushes.of[slot];
                    let solved = BodySolved {
                        id: ids[slot],
                        pose,
                        twist,
                        drift,
                        free: &motion.free[slot],
                        end: &end[slot],
                        inertia: &constants[slot].inertia,
                        mean: impacts.mean(slot).filter(|_| !is_stiff(slot)),
                        turns: impacts.turns(slot),
                        stiff: is_stiff(slot),
                        pushed: !matches!(pushed, Pushed::Not),
                        struck: match pushed {
                            Pushed::Struck(theta) => Some(theta),
                            Pushed::Not | Pushed::Held => None,
                        },
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
