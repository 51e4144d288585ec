//! What acts on the bodies of an articulation in a step, and what it does: impulses, work and energy.

use super::course::Course;
use super::step::Step;
use super::{JointPush, Push};
use crate::bodies::Bodies;
use crate::bodies::constants::BodyConstants;
use crate::bodies::slot::Slot;
use crate::components::{Drag, Pose};
use crate::joints::coordinates::Row;
use crate::joints::system::{Locked, on_b};
use crate::math::rotation;
use glam::DMat3;
use moreau_solvers::{InverseMass, WorldTwist};

impl Course {
    /// Kinetic energy, with the potential one if gravity acts in the parts, J. The largest kinetic one is kept.
    pub(super) fn energy(&mut self, step: &Step) -> f64 {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        let states = self.poses.iter().zip(&self.twists);
        for (slot, (pose, twist)) in step.articulation.bodies.iter().zip(states) {
            let inertia = &step.bodies.constants[*slot].inertia;
            let spin = pose.orientation.conjugate() * twist.angular;
            kinetic += 0.5 * inertia.mass * twist.linear.length_squared()
                + inertia.rotational_energy(spin);
            let way = pose.position - step.bodies.before.pose[*slot].position;
            let gravity = step.bodies.constants[*slot].response.gravity.0;
            potential -= inertia.mass * gravity * step.settings.gravity.dot(way);
        }
        kinetic += self.system.energy_of_rotors();
        self.largest = self.largest.max(kinetic);
        if step.struck {
            kinetic
        } else {
            kinetic + potential
        }
    }

    /// What the impulses that were solved for did, as far as the parts do not tell, and the velocities without all of them.
    pub(super) fn account_for_solved(&mut self, step: &Step) {
        let Step {
            articulation,
            joints,
            bodies,
            solution,
            ..
        } = *step;
        let (slots, h) = (&articulation.bodies, step.settings.time_step);
        self.reactions.clear();
        self.reactions
            .resize(articulation.joints.len(), Push::default());
        self.tensions.clear();
        self.tensions.resize(articulation.couplers.len(), 0.0);
        self.pushes.clear();
        self.others.clear();
        self.pushes.extend(slots.iter().map(|slot| {
            let (body, pose) = (&bodies.constants[*slot], &bodies.before.pose[*slot]);
            JointPush {
                slot: *slot,
                dragged: if step.struck {
                    drag(body, pose, &solution.end[*slot], h)
                } else {
                    Push::default()
                },
                ..JointPush::default()
            }
        }));
        self.others
            .extend(slots.iter().map(|slot| solution.end[*slot]));
        let (pushes, others) = (&mut self.pushes, &mut self.others);
        let reactions = &mut self.reactions;
        let mut account = |joint: usize, row: &Row, impulse: f64, is_locked: bool| {
            if step.struck {
                let of = &joints[joint];
                let arm = of.placed_at(|side| of.start_of(side, bodies)).arm_of_b();
                if let Some(place) = articulation.place_of_joint(joint) {
                    reactions[place].add(&on_b(row, arm, impulse));
                }
            }
            for (side, place) in step.places(joint).into_iter().enumerate() {
                let Some(place) = place else { continue };
                let push = Push::along(row, side, impulse);
                let taken = Push::along(row, side, -impulse);
                let inverse = &solution.motion.inverse_mass[slots[place]];
                add(&mut others[place], &taken.change(inverse));
                if step.struck && is_locked {
                    pushes[place].locked.add(&push);
                } else if step.struck {
                    pushes[place].driven.add(&push);
                }
            }
        };
        let rows = solution.rows;
        rows.each_lock(&articulation.joints, |joint, row, impulse| {
            account(joint, row, impulse, true);
        });
        rows.each_force(&articulation.joints, |joint, (row, _), impulse| {
            account(joint, row, impulse, false);
        });
        for (other, slot) in others.iter_mut().zip(slots) {
            // Without drag, too.
            let [linear, angular] = bodies.constants[*slot].response.heavier(h);
            other.linear *= linear;
            other.angular *= angular;
        }
        if step.struck && !articulation.couplers.is_empty() {
            rows.each_coupler(|index, impulse| {
                if let Ok(place) = articulation.couplers.binary_search(&index) {
                    self.tensions[place] = impulse;
                }
            });
        }
    }

    /// The work of a kick. Joints act at the same time: what they hold back on the spot is not the kick's to give, `F·(v + v')/2` with the velocities
    /// before and after both.
    pub(super) fn settle(&mut self) {
        let velocities = self.unkicked.iter().zip(&self.twists);
        for (push, (before, after)) in self.kicked.iter().zip(velocities) {
            self.work += 0.5
                * (push.linear.dot(before.linear + after.linear)
                    + push.angular.dot(before.angular + after.angular));
        }
    }

    /// Bodies are as heavy as drag makes them in a kick: `M̂ = M + h D`.
    pub(super) fn weigh(&mut self, step: &Step, share: f64) {
        if !step.is_dragged() {
            return;
        }
        for (mass, slot) in self.masses.iter_mut().zip(&step.articulation.bodies) {
            let response = &step.bodies.constants[*slot].response;
            let [linear, angular] = response.heavier(step.settings.time_step * share);
            mass.linear /= linear;
            mass.angular *= 1.0 / angular;
        }
    }

    /// What drag did in a kick: it is that of the velocities after all that joints hold, `M̂ v' = M v + h F + Jᵀμ`. What hangs is not dragged.
    pub(super) fn account_for_drag(&mut self, step: &Step, share: f64) {
        if !step.is_dragged() {
            return;
        }
        let h = step.settings.time_step * share;
        for (place, slot) in step.articulation.bodies.iter().enumerate() {
            let body = &step.bodies.constants[*slot];
            let drag = drag(body, &self.poses[place], &self.twists[place], h);
            self.kicked[place].add(&drag);
            self.pushes[place].dragged.add(&drag);
        }
    }

    /// What acts but joints, for a part of the step, at the present poses.
    pub(super) fn kick(&mut self, step: &Step, share: f64, part: f64) {
        if step.struck {
            return;
        }
        let Step {
            articulation,
            joints,
            bodies,
            settings,
            ..
        } = *step;
        let h = settings.time_step * share;
        self.unkicked.clone_from(&self.twists);
        self.kicked.clear();
        self.kicked.resize(self.twists.len(), Push::default());
        for (place, slot) in articulation.bodies.iter().enumerate() {
            let wrench = bodies.acting(*slot);
            let (body, orientation) = (&bodies.constants[*slot], self.poses[place].orientation);
            let mass = body.inertia.mass;
            let moment = wrench.moment + orientation * wrench.body_moment;
            let fall = settings.gravity * (body.response.gravity.0 * mass * h);
            let push = Push {
                linear: wrench.force * h,
                angular: moment * h,
            };
            if body.response.has_drag() {
                let [linear, angular] = body.response.heavier(h);
                self.twists[place].linear /= linear;
                self.twists[place].angular /= angular;
            }
            self.twists[place].linear += fall * self.masses[place].linear;
            act(&mut self.twists[place], &push, &self.masses[place]);
            self.kicked[place].add(&push);
        }
        let pushes = &mut self.pushes;
        let (poses, masses) = (&self.poses, &self.masses);
        let (twists, reactions, kicked) = (&mut self.twists, &mut self.reactions, &mut self.kicked);
        let rows = step.solution.rows;
        rows.each_force(&articulation.joints, |index, (_, along), impulse| {
            // Limits and ropes that act push, or are locked.
            let Some(along) = along else { return };
            let (joint, places) = (&joints[index], step.places(index));
            if joint.forces[along.force].is_limit() {
                return;
            }
            let others = joint.bodies.map(|slot| step.other(slot, part));
            let placed = joint.placed_at(|side| match places[side] {
                Some(place) => &poses[place],
                None => &others[side],
            });
            let row = joint.row(along, &placed);
            let impulse = impulse * share;
            if let Some(place) = articulation.place_of_joint(index) {
                reactions[place].add(&on_b(&row, placed.arm_of_b(), impulse));
            }
            for (side, place) in places.into_iter().enumerate() {
                if let Some(place) = place {
                    let push = Push::along(&row, side, impulse);
                    pushes[place].driven.add(&push);
                    act(&mut twists[place], &push, &masses[place]);
                    kicked[place].add(&push);
                }
            }
        });
    }

    /// The last solution acts on the velocities.
    pub(in crate::joints) fn push(&mut self) {
        let (pushes, reactions) = (&mut self.pushes, &mut self.reactions);
        let (tensions, holding) = (&mut self.tensions, &mut self.holding);
        let pushed = |row: &Locked, impulse: f64| {
            if let Some(motor) = row.motor {
                holding[motor].added += impulse;
            }
            reactions[row.place].add(&row.on_b(impulse));
            for side in 0..2 {
                if let Some(place) = row.bodies[side] {
                    let push = Push::along(&row.row, side, impulse);
                    let of = &mut pushes[place];
                    let sum = if row.motor.is_some() {
                        &mut of.driven
                    } else {
                        &mut of.locked
                    };
                    sum.add(&push);
                }
            }
        };
        let coupled = |coupler: usize, impulse: f64| tensions[coupler] += impulse;
        self.system.apply(&mut self.twists, pushed, coupled);
    }
}

/// What drag does to a body at a pose over a time `h`, with the velocity that it then has.
pub(in crate::joints) fn drag(
    body: &BodyConstants,
    pose: &Pose,
    twist: &WorldTwist,
    h: f64,
) -> Push {
    let Drag { linear, angular } = body.response.drag;
    let spin = pose.orientation.conjugate() * twist.angular;
    Push {
        linear: twist.linear * (-h * linear * body.inertia.mass),
        angular: pose.orientation * body.inertia.times(spin) * (-h * angular),
    }
}

/// `M⁻¹` of a body at `t_k`, without its drag.
pub(super) fn undragged(step: &Step, slot: Slot) -> InverseMass {
    let response = &step.bodies.constants[slot].response;
    if response.has_drag() {
        turned_mass(step.bodies, slot, &step.bodies.before.pose[slot])
    } else {
        step.solution.motion.inverse_mass[slot]
    }
}

/// The impulse acts on a body.
fn act(twist: &mut WorldTwist, push: &Push, mass: &InverseMass) {
    add(twist, &push.change(mass));
}

pub(in crate::joints) fn add(twist: &mut WorldTwist, change: &WorldTwist) {
    twist.linear += change.linear;
    twist.angular += change.angular;
}

/// `Ŵ` of a body at a pose.
pub(in crate::joints) fn turned_mass(bodies: &Bodies, slot: Slot, pose: &Pose) -> InverseMass {
    let inertia = &bodies.constants[slot].inertia;
    InverseMass {
        linear: inertia.inverse_mass,
        angular: if inertia.spherical {
            DMat3::from_diagonal(inertia.inverse_moments)
        } else {
            let axes = DMat3::from_quat(pose.orientation * inertia.frame);
            rotation::conjugate_diagonal(&axes, inertia.inverse_moments)
        },
    }
}
