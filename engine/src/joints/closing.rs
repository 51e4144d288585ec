//! The end of a step: joints are closed where contacts have put their bodies, in places and in velocities.
//!
//! ```text
//! q ← q ⊕ M⁻¹JᵀΛ,   (A + δ diag A) Λ = −e(q),   repeated;     limits and ropes that are passed are among the rows
//! v ← v + M⁻¹Jᵀμ,   A μ = −J v                   μ of the drift
//! ```
//!
//! `δ` is zero as long as that takes the errors away, and grows where it does not [Levenberg44, Marquardt63]: where bodies on joints are in a line, what closes
//! them is of second order.
//!
//! Places change no velocity. Most articulations have moved to where they are closed, and nothing is left to do.

use super::articulation::Articulation;
use super::drift::{Drift, JointPush, NEARLY, SLOW, add, drag, turned_mass};
use super::{Joints, Lists, WORLD};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{Pose, Twist};
use crate::math::rotation;
use crate::motion::Motion;
use moreau_solvers::WorldTwist;

/// Steps against the errors at most.
const CLOSINGS: usize = 100;
/// Gap of a stop, over the errors, up to which it is one of them if a step passes it.
const NEAR: f64 = 10.0;
/// Least `δ` that is tried, and the most.
const LEAST: f64 = 1e-8;
const MOST: f64 = 1e3;

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
        joints.keep_counts();
        joints.count_turns(bodies, h);
        let (mut begin, mut rotors, mut any) = (0, 0, false);
        let mut motors = 0;
        for (index, articulation) in joints.articulations.iter().enumerate() {
            let of = (articulation, joints.lists());
            let held = motors..self.held_until[index];
            motors = held.end;
            self.holding.clear();
            self.holding.extend_from_slice(&self.held[held.clone()]);
            let moved = self.close_places(of, bodies, begin);
            any |= moved;
            self.system
                .place_rotors(of, &self.poses, |slot| other(slot, bodies));
            self.system
                .place_motors(of, &self.poses, |slot| other(slot, bodies), &self.holding);
            self.system.set_rotors(&self.rotors[rotors..]);
            rotors += self.system.rotors().count();
            self.close_velocities(articulation, bodies, motion, (begin, moved));
            // Those that were given up keep what they took before.
            for (held, now) in self.held[held].iter_mut().zip(&self.holding) {
                held.added = now.added;
            }
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
        self.system.free_stops();
        self.hold(of, bodies);
        let (mut left, mut last, mut damping) = (self.system.errors_all(), f64::INFINITY, 0.0);
        for _ in 0..CLOSINGS {
            if self.system.is_closed() || left < NEARLY && left > SLOW * last {
                break;
            }
            let before = self.poses.clone();
            self.take_masses(slots, bodies);
            self.system.factor_damped(&self.masses, damping);
            self.move_against_errors(slots.len());
            self.hold(of, bodies);
            let next = self.system.errors_all();
            let is_better = next < left;
            if is_better {
                (last, moved) = (left, true);
                damping = if damping > LEAST { 0.1 * damping } else { 0.0 };
                if next <= SLOW * left {
                    left = next;
                    continue;
                }
            }
            // What is in the way may be that stops are passed in turn.
            let stops = self.system.keep_stops(NEAR * left);
            if !is_better {
                self.poses = before;
            }
            self.hold(of, bodies);
            left = self.system.errors_all();
            if !is_better && !stops {
                damping = LEAST.max(10.0 * damping);
                if damping > MOST || left < NEARLY {
                    break;
                }
            }
        }
        if left > NEARLY && !self.holding.is_empty() {
            // Motors that cannot all keep their rates are forces.
            self.holding.clear();
            return self.close_places(of, bodies, begin) || moved;
        }
        self.error = self.error.max(self.system.error());
        self.system
            .place(of, &self.poses, |slot| other(slot, bodies));
        let ends = self.ends[begin..].iter().zip(&self.poses);
        moved
            || ends
                .into_iter()
                .any(|((end, closed), pose)| !closed || end != pose)
    }

    /// The rows at the present places, with limits and ropes that are passed.
    fn hold(&mut self, of: (&Articulation, Lists), bodies: &Bodies) {
        self.system
            .place(of, &self.poses, |slot| other(slot, bodies));
        self.system
            .hold_stops(of, &self.poses, |slot| other(slot, bodies));
        self.system
            .place_motors(of, &self.poses, |slot| other(slot, bodies), &self.holding);
        self.system.aim_motors(&self.holding);
    }

    /// One step against the errors.
    fn move_against_errors(&mut self, bodies: usize) {
        self.system.against_errors();
        self.twists.clear();
        self.twists.resize(bodies, WorldTwist::default());
        self.system.apply(&mut self.twists, |_, _| {}, |_, _| {});
        for (pose, by) in self.poses.iter_mut().zip(&self.twists) {
            pose.position += by.linear;
            let turned = rotation::exp(by.angular) * pose.orientation;
            pose.orientation = rotation::normalised(turned);
        }
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
