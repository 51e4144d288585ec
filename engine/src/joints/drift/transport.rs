//! Where an articulation starts from if impacts push it within the step.
//!
//! The mean velocity `v̄` of a struck body is not the velocity `v` that was solved for. A course that leads from `q_k` with `v` keeps the energy of the
//! solve; it has to end where one with `v̄` would, though. So the bodies are moved first, by `δ = h (v̄ − v)`, their joints are closed there, and
//! `v` comes with them without a change of its energy:
//!
//! ```text
//! q' = q_k ⊕ δ,  e(q') = 0                   poses, in parts
//! v' = P' (P P')^{-1/2} v                    velocities, in each part
//! ```
//!
//! with the projections `P`, `P'` in the metric of the masses on what the joints allow before and after the part, and angular velocities taken along in the frames of the
//! bodies, where their inertia stays. `v'` is the nearest velocity at `q'` under an isometry, in small parts the parallel transport of `v`. With `E = 1 − P P'`
//! the series `1 + ½E + ⅜E² + …` is cut off, and cut off anywhere it is no longer than that: no energy is gained. In it `v' = v + M⁻¹JᵀΛ + M⁻¹J'ᵀμ`, impulses
//! of joints alone, as in any part of a course.

use super::accounts::turned_mass;
use super::course::{Course, MOST_PARTS, NEARLY, NEWTON, SLOW};
use super::step::Step;
use crate::bodies::slot::Slot;
use crate::components::Pose;
use crate::joints::held::Held;
use crate::joints::system::System;
use crate::math::rotation;
use moreau_solvers::{InverseMass, WorldTwist};

/// Angle that a body turns by in a part at most, rad: `E` is of the order of its square.
const LARGEST_TURN: f64 = 0.25;
/// Terms of the series at most; as many as an `E` of ½ needs for [`LEAST`].
const MOST_TERMS: usize = 40;
/// A term over the velocities that is the last one, …
const LEAST: f64 = 1e-12;
/// … and one that may be: rows that are nearly redundant leave a part of what they project.
const NEGLIGIBLE: f64 = 1e-6;

/// Velocities of bodies and rotors.
#[derive(Debug, Default)]
struct Velocities {
    twists: Vec<WorldTwist>,
    rotors: Vec<f64>,
}

/// Buffers of the way to where a course starts.
#[derive(Debug, Default)]
pub(super) struct Transport {
    /// `δ`, m and rad.
    pub(super) offsets: Vec<WorldTwist>,
    /// Where the part at hand, and where the whole way started.
    before: Vec<Pose>,
    start: Vec<Pose>,
    /// At the start, and in a part.
    solved: Velocities,
    carried: Velocities,
    masses: Vec<InverseMass>,
    /// A term of the series, what joints take of it at the poses after the part, and the sum of that.
    term: Velocities,
    kept: Velocities,
    lost: Velocities,
    sum: Velocities,
}

/// How bodies were moved.
pub(super) struct Way<'a> {
    /// With these velocities in a time, s.
    pub(super) twists: &'a [WorldTwist],
    pub(super) time: f64,
    /// Others are where they are at this part of the step.
    pub(super) to: f64,
    /// Motors that held their rates to there.
    pub(super) held: &'a [Held],
}

impl Velocities {
    /// What joints allow of these velocities, those of all others being given.
    fn project(&mut self, system: &mut System, given: impl Fn(Slot) -> WorldTwist) {
        system.set_rotors(&self.rotors);
        system.against_velocities(&self.twists, given);
        system.apply(&mut self.twists, |_, _| {}, |_, _| {});
        self.take_rotors(system);
    }

    fn take_rotors(&mut self, system: &System) {
        self.rotors.clear();
        self.rotors.extend(system.rotors());
    }

    fn copy(&mut self, other: &Self) {
        self.twists.clone_from(&other.twists);
        self.rotors.clone_from(&other.rotors);
    }

    /// Adds a multiple of others.
    fn add(&mut self, factor: f64, other: &Self) {
        for (own, other) in self.twists.iter_mut().zip(&other.twists) {
            own.linear += other.linear * factor;
            own.angular += other.angular * factor;
        }
        for (own, other) in self.rotors.iter_mut().zip(&other.rotors) {
            *own += other * factor;
        }
    }

    /// The largest of them, m/s or rad/s.
    fn largest(&self) -> f64 {
        let largest = |twist: &WorldTwist| {
            let [linear, angular] = [twist.linear, twist.angular].map(|v| v.abs().max_element());
            linear.max(angular)
        };
        let twists = self.twists.iter().map(largest);
        let rotors = self.rotors.iter().map(|rotor| rotor.abs());
        twists.chain(rotors).fold(0.0, f64::max)
    }
}

impl Course {
    /// Moves the bodies by `of.offsets` before the course starts, with the velocities that were solved for. Where joints cannot be closed on that way nothing is moved. The
    /// rows are at the present poses, with rotors and their factor, before and after.
    pub(super) fn displace(&mut self, step: &Step, of: &mut Transport) {
        let turns = of.offsets.iter().map(|offset| offset.angular.length());
        let turns = turns.fold(0.0, f64::max) / LARGEST_TURN;
        let mut parts = (turns.ceil() as usize).clamp(1, MOST_PARTS);
        of.start.clone_from(&self.poses);
        of.solved.twists.clone_from(&self.twists);
        of.solved.take_rotors(&self.system);
        let mut known = std::mem::take(&mut self.buffers.before_displaced);
        self.note(&mut known);
        while parts <= MOST_PARTS {
            let share = 1.0 / parts as f64;
            if (0..parts).all(|_| self.displace_part(step, of, share)) {
                break;
            }
            self.poses.clone_from(&of.start);
            self.twists.clone_from(&of.solved.twists);
            self.go_back(&known);
            let nowhere = Way {
                twists: &[],
                time: 0.0,
                to: 0.0,
                held: &[],
            };
            self.place_moved(step, of, &nowhere);
            self.take_moved(of);
            self.system.set_rotors(&of.solved.rotors);
            parts *= 2;
        }
        self.buffers.before_displaced = known;
    }

    /// One part of that way. False if joints are left open, or turn too far.
    fn displace_part(&mut self, step: &Step, of: &mut Transport, share: f64) -> bool {
        of.before.clone_from(&self.poses);
        for (pose, offset) in self.poses.iter_mut().zip(&of.offsets) {
            shift(pose, offset, share);
        }
        let offsets = std::mem::take(&mut of.offsets);
        let way = Way {
            twists: &offsets,
            time: share,
            to: 0.0,
            held: &[],
        };
        let closed = self.close_moved(step, of, &way, |_| WorldTwist::default());
        of.offsets = offsets;
        closed && self.transport(step, of)
    }

    /// Closes the places of bodies that were moved on a `way`. Leaves the rows there in `end`, with rotors and their factor. False if some are left open.
    pub(super) fn close_moved(
        &mut self,
        step: &Step,
        of: &mut Transport,
        way: &Way,
        given: impl Fn(Slot) -> WorldTwist,
    ) -> bool {
        let (mut last, mut closed) = (f64::INFINITY, false);
        let left = (1.0 - way.to) * step.settings.time_step;
        let other = |slot| step.other(slot, way.to);
        for _ in 0..NEWTON {
            self.end.place(step.of(), &self.poses, other);
            self.end
                .place_motors(step.of(), &self.poses, other, way.held);
            self.end
                .follow(&self.system, (way.twists, way.time), &given);
            self.end.aim_motors(way.held, left);
            let error = self.end.error();
            closed = error < NEARLY;
            if self.end.is_closed() || error > SLOW * last {
                break;
            }
            last = error;
            turned_masses(step, &self.poses, &mut of.masses);
            self.end.factor(&of.masses);
            self.end.against_errors();
            let changes = &mut of.kept.twists;
            changes.clear();
            changes.resize(self.poses.len(), WorldTwist::default());
            self.end.apply(changes, |_, _| {}, |_, _| {});
            for (pose, change) in self.poses.iter_mut().zip(&*changes) {
                shift(pose, change, 1.0);
            }
        }
        self.place_moved(step, of, way);
        self.end.follow(&self.system, (way.twists, way.time), given);
        closed
    }

    /// The rows at the present poses are in `end`, with rotors, motors and their factor.
    fn place_moved(&mut self, step: &Step, of: &mut Transport, way: &Way) {
        let other = |slot| step.other(slot, way.to);
        self.end.place(step.of(), &self.poses, other);
        self.end.place_rotors(step.of(), &self.poses, other);
        self.end
            .place_motors(step.of(), &self.poses, other, way.held);
        turned_masses(step, &self.poses, &mut of.masses);
        self.end.factor(&of.masses);
    }

    /// The rows in `end`, and the masses there, are those from now on.
    pub(super) fn take_moved(&mut self, of: &mut Transport) {
        std::mem::swap(&mut self.system, &mut self.end);
        std::mem::swap(&mut self.masses, &mut of.masses);
    }

    /// Takes the velocities from the rows before, in `system`, to those in `end`, which become those in `system`. False if the series does not converge.
    fn transport(&mut self, step: &Step, of: &mut Transport) -> bool {
        let given = |slot: Slot| step.solution.motion.free[slot];
        let still = |_: Slot| WorldTwist::default();
        of.carried.twists.clone_from(&self.twists);
        of.carried.take_rotors(&self.system);
        of.term.copy(&of.carried);
        of.sum.copy(&of.carried);
        of.sum.add(-1.0, &of.carried);
        let size = of.carried.largest();
        let (mut coefficient, mut last) = (1.0, size);
        for number in 1..=MOST_TERMS {
            of.lost.copy(&of.term);
            carry(&mut of.lost.twists, &of.before, &self.poses);
            of.kept.copy(&of.lost);
            if number == 1 {
                of.kept.project(&mut self.end, given);
            } else {
                of.kept.project(&mut self.end, still);
            }
            of.lost.add(-1.0, &of.kept);
            carry(&mut of.lost.twists, &self.poses, &of.before);
            let lost = of.lost.largest();
            if lost > SLOW * last {
                if lost > NEGLIGIBLE * size {
                    return false;
                }
                break;
            }
            let odd = (2 * number - 1) as f64;
            coefficient *= odd / (odd + 1.0);
            of.sum.add(coefficient, &of.lost);
            if lost <= LEAST * size {
                break;
            }
            last = lost;
            of.term.copy(&of.lost);
            of.term.project(&mut self.system, still);
        }
        // What joints take of the sum at the poses before acts on the velocities.
        self.system.set_rotors(&of.sum.rotors);
        self.system.against_velocities(&of.sum.twists, still);
        self.system.set_rotors(&of.carried.rotors);
        self.push();
        of.carried.take_rotors(&self.system);
        carry(&mut self.twists, &of.before, &self.poses);
        self.take_moved(of);
        self.system.set_rotors(&of.carried.rotors);
        self.stop_opening(given);
        true
    }
}

/// Moves a body by a part of an offset.
fn shift(pose: &mut Pose, offset: &WorldTwist, share: f64) {
    pose.position += offset.linear * share;
    let turned = rotation::exp(offset.angular * share) * pose.orientation;
    pose.orientation = rotation::normalised(turned);
}

/// Takes angular velocities along in the frames of the bodies.
pub(super) fn carry(twists: &mut [WorldTwist], from: &[Pose], to: &[Pose]) {
    for (twist, (from, to)) in twists.iter_mut().zip(from.iter().zip(to)) {
        let spin = from.orientation.conjugate() * twist.angular;
        twist.angular = to.orientation * spin;
    }
}

fn turned_masses(step: &Step, poses: &[Pose], masses: &mut Vec<InverseMass>) {
    masses.clear();
    let states = step.articulation.bodies.iter().zip(poses);
    masses.extend(states.map(|(slot, pose)| turned_mass(step.bodies, *slot, pose)));
}
