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
//! Where a step leaves next to nothing of the errors, the next one is taken with its factor.
//!
//! Places change no velocity. Most articulations have moved to where they are closed, and nothing is left to do.

use super::articulation::Articulation;
use super::drift::{Course, Drift, NEARLY, SLOW, add, drag, each, turned_mass};
use super::held::Held;
use super::{Joints, Lists, WORLD};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::Pose;
use crate::math::rotation;
use crate::motion::Motion;
use moreau_solvers::WorldTwist;

/// Steps against the errors at most.
const CLOSINGS: usize = 100;
/// Part of the errors that a step leaves up to which the next one is taken with its factor: two such steps are worth one with a new factor.
const FAST: f64 = 1e-3;
/// Gap of a stop, over the errors, up to which it is one of them if a step passes it.
const NEAR: f64 = 10.0;
/// Least `δ` that is tried, and the most.
pub(super) const LEAST: f64 = 1e-8;
pub(super) const MOST: f64 = 1e3;

impl Drift {
    /// Closes all joints where their bodies are now: what the projection of contacts has opened in places, and the velocities, by `μ`. True if that moved a body.
    pub(crate) fn close(
        &mut self,
        joints: &mut Joints,
        bodies: &mut Bodies,
        motion: &Motion,
        end: &mut [WorldTwist],
        h: f64,
    ) -> bool {
        joints.keep_counts();
        joints.count_turns(bodies, h);
        let (lists, now) = (joints.lists(), &*bodies);
        let articulations = &joints.articulations;
        let courses = self.courses_of(articulations);
        each(articulations, courses, &|articulation, course| {
            course.close((articulation, lists), (now, motion), h);
        });
        let mut any = false;
        for (articulation, course) in articulations.iter().zip(courses) {
            any |= course.moved;
            course.leave(articulation, bodies);
            for (slot, other) in articulation.bodies.iter().zip(&course.others) {
                end[*slot] = *other;
            }
        }
        self.gather(joints);
        if any {
            // Places that were closed are near by.
            joints.count_turns(bodies, 0.0);
        }
        any
    }
}

impl Course {
    /// Closes one articulation where its bodies are now. `others` become the velocities at the end, without free rotation.
    fn close(&mut self, of: (&Articulation, Lists), (bodies, motion): (&Bodies, &Motion), h: f64) {
        let slots = &of.0.bodies;
        self.holding.clone_from(&self.held);
        self.moved = self.close_places(of, bodies);
        let mut known = std::mem::take(&mut self.buffers.before_closing);
        if !self.holding.is_empty() {
            self.note(&mut known);
        }
        let mut holding = std::mem::take(&mut self.buffers.holding);
        loop {
            holding.clone_from(&self.holding);
            self.system
                .place_rotors(of, &self.poses, |slot| other(slot, bodies));
            self.system
                .place_motors(of, &self.poses, |slot| other(slot, bodies), &self.holding);
            self.system.set_rotors(&self.rotors);
            self.close_velocities(slots, (bodies, motion));
            if Held::keep_those_that_reach(&mut self.holding) {
                break;
            }
            // Those whose bounds that takes are forces, as on the way.
            holding.retain(|before| self.holding.iter().any(|kept| kept.is_row_of(before)));
            self.holding.clone_from(&holding);
            self.go_back(&known);
            self.system
                .place(of, &self.poses, |slot| other(slot, bodies));
        }
        self.buffers.before_closing = known;
        self.buffers.holding = holding;
        // Those that were given up keep what they took before.
        for held in &mut self.held {
            let now = self.holding.iter().find(|now| now.is_row_of(held));
            held.added = now.map_or(held.added, |now| now.added);
        }
        self.energy_of_rotors[1] = self.system.energy_of_rotors();
        for ((slot, solved), of) in slots.iter().zip(&mut self.others).zip(&mut self.pushes) {
            let (body, before) = (&bodies.constants[*slot], &bodies.before.pose[*slot]);
            if !body.response.has_drag() {
                for push in [of.locked, of.driven] {
                    add(solved, &push.change(&motion.inverse_mass[*slot]));
                }
                continue;
            }
            let inverse = turned_mass(bodies, *slot, before);
            for push in [of.locked, of.driven, of.dragged] {
                add(solved, &push.change(&inverse));
            }
            of.dragged.add(&drag(body, before, solved, -h));
        }
    }

    /// Closes the places, and leaves the rows there; true if bodies are not where the drift has left them.
    fn close_places(&mut self, of: (&Articulation, Lists), bodies: &Bodies) -> bool {
        let slots = &of.0.bodies;
        let mut moved = false;
        self.poses.clear();
        self.poses
            .extend(slots.iter().map(|slot| bodies.pose[*slot]));
        self.system.free_stops();
        self.hold(of, bodies);
        let (mut left, mut last, mut damping) = (self.system.errors_all(), f64::INFINITY, 0.0);
        let mut known = false;
        for _ in 0..CLOSINGS {
            if self.system.is_closed() || left < NEARLY && left > SLOW * last {
                break;
            }
            self.buffers.start.clone_from(&self.poses);
            self.take_masses(slots, bodies);
            known = known && self.system.keep_factor(&self.masses);
            if !known {
                self.system.factor_damped(&self.masses, damping);
            }
            self.move_against_errors(slots.len());
            self.hold(of, bodies);
            let next = self.system.errors_all();
            let is_better = next < left;
            let steps_on = known;
            known = damping == 0.0 && next <= FAST * left;
            if is_better {
                (last, moved) = (left, true);
                damping = if damping > LEAST { 0.1 * damping } else { 0.0 };
                if next <= SLOW * left {
                    left = next;
                    continue;
                }
            }
            if steps_on {
                // A step with a factor of its own comes first.
                if !is_better {
                    self.poses.clone_from(&self.buffers.start);
                    self.hold(of, bodies);
                }
                left = left.min(next);
                continue;
            }
            // What is in the way may be that stops are passed in turn.
            let stops = self.system.keep_stops(NEAR * left);
            if !is_better {
                self.poses.clone_from(&self.buffers.start);
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
            return self.close_places(of, bodies) || moved;
        }
        self.error = self.system.error();
        if self.system.has_stops() || !self.holding.is_empty() {
            self.system
                .place(of, &self.poses, |slot| other(slot, bodies));
        }
        moved || self.ends != self.poses
    }

    /// The rows at the present places, with limits and ropes that are passed.
    fn hold(&mut self, of: (&Articulation, Lists), bodies: &Bodies) {
        self.system
            .place(of, &self.poses, |slot| other(slot, bodies));
        self.system
            .hold_stops(of, &self.poses, |slot| other(slot, bodies));
        self.system
            .place_motors(of, &self.poses, |slot| other(slot, bodies), &self.holding);
        self.system.aim_motors(&self.holding, 0.0);
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

    fn close_velocities(&mut self, slots: &[Slot], (bodies, motion): (&Bodies, &Motion)) {
        self.twists.clear();
        for (slot, pose) in slots.iter().zip(&self.poses) {
            let twist = &bodies.twist[*slot];
            self.twists.push(WorldTwist {
                linear: twist.linear,
                angular: pose.orientation * twist.angular,
            });
        }
        let given = |slot: Slot| motion.free[slot];
        if self.moved {
            self.take_masses(slots, bodies);
            self.system.factor(&self.masses);
            self.stop_opening(given);
        }
        self.velocity = self.system.velocity(&self.twists, given);
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
