//! The end of a step: joints are closed where contacts have put their bodies, in places and in velocities.
//!
//! ```text
//! q ← q ⊕ M⁻¹JᵀΛ,   A Λ = −e(q),   repeated;     limits and ropes that are passed are among the rows
//! v ← v + M⁻¹Jᵀμ,   A μ = −J v                   μ of the drift
//! ```
//!
//! Places change no velocity. Most articulations have moved to where they are closed, and nothing is left to do.

use super::articulation::Articulation;
use super::drift::{Drift, JointPush, NEWTON, SLOW, add, drag, turned_mass};
use super::{Joints, Lists, WORLD};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{Pose, Twist};
use crate::math::rotation;
use crate::motion::Motion;
use moreau_solvers::WorldTwist;

impl Drift {
    /// Closes all joints where their bodies are now: what the projection of contacts has opened in places, and the velocities, by `μ`.
    pub(crate) fn close(
        &mut self,
        joints: &mut Joints,
        bodies: &mut Bodies,
        motion: &Motion,
        end: &mut [WorldTwist],
        h: f64,
    ) {
        (self.error, self.velocity) = (0.0, 0.0);
        joints.count_turns(bodies, h);
        let (mut begin, mut rotors, mut any) = (0, 0, false);
        for articulation in &joints.articulations {
            let of = (articulation, joints.lists());
            let moved = self.close_places(of, bodies, begin);
            any |= moved;
            self.system
                .place_rotors(of, &self.poses, |slot| other(slot, bodies));
            self.system.set_rotors(&self.rotors[rotors..]);
            rotors += self.system.rotors().count();
            self.close_velocities(articulation, bodies, motion, (begin, moved));
            self.energy_of_rotors[1] += self.system.energy_of_rotors();
            for (place, slot) in articulation.bodies.iter().enumerate() {
                let (pose, twist) = (&self.poses[place], &self.twists[place]);
                bodies.pose[*slot] = *pose;
                bodies.twist[*slot] = Twist {
                    linear: twist.linear,
                    angular: pose.orientation.conjugate() * twist.angular,
                };
                let JointPush {
                    locked,
                    driven,
                    dragged,
                    ..
                } = self.pushes[begin + place];
                let (body, before) = (&bodies.constants[*slot], &bodies.before.pose[*slot]);
                let solved = &mut end[*slot];
                *solved = self.others[begin + place];
                if !body.response.has_drag() {
                    for push in [locked, driven] {
                        add(solved, &push.change(&motion.inverse_mass[*slot]));
                    }
                    continue;
                }
                let inverse = turned_mass(bodies, *slot, before);
                for push in [locked, driven, dragged] {
                    add(solved, &push.change(&inverse));
                }
                let of_end = drag(body, before, solved, -h);
                self.pushes[begin + place].dragged.add(&of_end);
            }
            begin += articulation.bodies.len();
        }
        if any {
            // Places that were closed are near by.
            joints.count_turns(bodies, 0.0);
        }
    }

    /// Closes the places, and leaves the rows there; true if bodies are not where the drift has left them, with closed velocities.
    fn close_places(&mut self, of: (&Articulation, Lists), bodies: &Bodies, begin: usize) -> bool {
        let slots = &of.0.bodies;
        let mut moved = false;
        self.poses.clear();
        self.poses
            .extend(slots.iter().map(|slot| bodies.pose[*slot]));
        let mut last = f64::INFINITY;
        for _ in 0..NEWTON {
            self.system
                .place(of, &self.poses, |slot| other(slot, bodies));
            self.system
                .hold_stops(of, &self.poses, |slot| other(slot, bodies));
            let error = self.system.error();
            self.take_masses(slots, bodies);
            if self.system.is_closed() || error > SLOW * last {
                self.error = self.error.max(error);
                break;
            }
            moved = true;
            self.system.factor(&self.masses);
            last = error;
            self.system.against_errors();
            self.twists.clear();
            self.twists.resize(slots.len(), WorldTwist::default());
            self.system.apply(&mut self.twists, |_, _| {}, |_, _| {});
            for (pose, by) in self.poses.iter_mut().zip(&self.twists) {
                pose.position += by.linear;
                let turned = rotation::exp(by.angular) * pose.orientation;
                pose.orientation = rotation::normalised(turned);
            }
        }
        self.system
            .place(of, &self.poses, |slot| other(slot, bodies));
        let ends = self.ends[begin..].iter().zip(&self.poses);
        moved
            || ends
                .into_iter()
                .any(|((end, closed), pose)| !closed || end != pose)
    }

    fn take_masses(&mut self, slots: &[Slot], bodies: &Bodies) {
        self.masses.clear();
        let poses = self.poses.iter();
        let turned = |(slot, pose): (&Slot, &Pose)| turned_mass(bodies, *slot, pose);
        self.masses.extend(slots.iter().zip(poses).map(turned));
    }

    fn close_velocities(
        &mut self,
        articulation: &Articulation,
        bodies: &Bodies,
        motion: &Motion,
        (begin, moved): (usize, bool),
    ) {
        self.twists.clear();
        for (slot, pose) in articulation.bodies.iter().zip(&self.poses) {
            let twist = &bodies.twist[*slot];
            self.twists.push(WorldTwist {
                linear: twist.linear,
                angular: pose.orientation * twist.angular,
            });
        }
        let given = |slot: Slot| motion.free[slot];
        if moved {
            self.system.factor(&self.masses);
            self.stop_opening(begin, given);
        }
        let left = self.system.velocity(&self.twists, given);
        self.velocity = self.velocity.max(left);
    }
}

/// A body of given motion now.
fn other(slot: Slot, bodies: &Bodies) -> Pose {
    if slot == Slot::NONE {
        WORLD
    } else {
        bodies.pose[slot]
    }
}
