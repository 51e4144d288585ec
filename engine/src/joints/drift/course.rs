//! One articulation in a step: in parts, each of which ends with closed joints.

use super::accounts::{turned_mass, undragged};
use super::composition::{finer, pieces};
use super::step::Step;
use super::transport::Transport;
use super::{JointPush, Push};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{Pose, Twist};
use crate::joints::articulation::Articulation;
use crate::joints::held::Held;
use crate::joints::system::System;
use crate::motion::free_motion::torque_free;
use glam::DVec3;
use moreau_solvers::{InverseMass, WorldTwist};

/// Newton steps of a drift at most.
pub(super) const NEWTON: usize = 25;
/// Part of the error that a Newton step has to take away for the next to be worth it.
pub(in crate::joints) const SLOW: f64 = 0.5;
/// Error over length that is left by rounding where bodies are far from each other.
pub(in crate::joints) const NEARLY: f64 = 1e-12;
/// Energy that the joints of an articulation, which do no work, may gain or lose in a step, as a part of its kinetic energy and of what its bodies
/// exchange with gravity as they swing.
const ENERGY: f64 = 1e-5;
/// What they may gain in the most parts.
const GAINED: f64 = 1e-3;
/// Rounds for the velocities at most, …
const MOST_ROUNDS: usize = 40;
/// … as long as each leaves no more than this part of the velocity, …
const GAINS: f64 = 0.9;
/// … and the velocity along a row that is small enough, m/s or rad/s.
const EXACT: f64 = 1e-12;
/// Parts of a step at most.
pub(super) const MOST_PARTS: usize = 64;

/// One articulation on its way through a step: buffers, and the results of the last step.
#[derive(Debug, Default)]
pub(in crate::joints) struct Course {
    pub(in crate::joints) system: System,
    /// At the end of a part.
    pub(super) end: System,
    pub(in crate::joints) masses: Vec<InverseMass>,
    pub(in crate::joints) poses: Vec<Pose>,
    pub(in crate::joints) twists: Vec<WorldTwist>,
    /// By bodies of the articulation.
    pub(in crate::joints) pushes: Vec<JointPush>,
    /// `v_k` with all other impulses of the step, in the same order.
    pub(in crate::joints) others: Vec<WorldTwist>,
    /// What each of its joints did to B, about the origin of its frame.
    pub(super) reactions: Vec<Push>,
    /// Impulse of each of its couplers, over the step.
    pub(super) tensions: Vec<f64>,
    /// Speeds of the rotors at the end.
    pub(in crate::joints) rotors: Vec<f64>,
    /// Motors that hold their rates to the end of the drift, and those that hold them now.
    pub(in crate::joints) held: Vec<Held>,
    pub(in crate::joints) holding: Vec<Held>,
    /// Limits and ropes that hold on through the step, by joint and number: they are locked.
    pub(super) stops: Vec<(usize, usize)>,
    /// Kinetic energy of its rotors at `t_k` and at the end, J.
    pub(in crate::joints) energy_of_rotors: [f64; 2],
    /// Where its bodies were left.
    pub(in crate::joints) ends: Vec<Pose>,
    /// Kinetic energy of the rotors at `t_k`, J.
    energy_at_start: f64,
    /// Of what acts in the parts but gravity, J.
    pub(super) work: f64,
    /// What acts but gravity and joints at the present end of a part, and the velocities before it.
    pub(super) kicked: Vec<Push>,
    pub(super) unkicked: Vec<WorldTwist>,
    /// Largest kinetic energy so far in the step, J.
    pub(super) largest: f64,
    /// Parts that the last step was taken in.
    pub(super) parts: usize,
    /// For which velocities are to lead on, s; 0 of what is not driven.
    pub(in crate::joints) ahead: f64,
    /// Its joints gave way in this step: see `reach.rs`.
    pub(in crate::joints) gave_way: bool,
    /// Largest error that was left, m or rad.
    pub(in crate::joints) error: f64,
    /// Largest velocity along a locked row, m/s or rad/s.
    pub(in crate::joints) velocity: f64,
    /// Closing changed where its bodies are, or how they move.
    pub(in crate::joints) moved: bool,
    pub(in crate::joints) buffers: Buffers,
}

/// What pushed up to some moment.
#[derive(Debug, Default)]
pub(in crate::joints) struct Known {
    pushes: Vec<JointPush>,
    reactions: Vec<Push>,
    tensions: Vec<f64>,
}

/// What closing in places is not to change.
#[derive(Debug, Default)]
struct Solved {
    twists: Vec<WorldTwist>,
    rotors: Vec<f64>,
    holding: Vec<Held>,
    known: Known,
}

/// What parts of a step go back to, and what they work in.
#[derive(Debug, Default)]
pub(in crate::joints) struct Buffers {
    before_drift: Known,
    before_parts: Known,
    pub(super) before_displaced: Known,
    pub(in crate::joints) before_closing: Known,
    pub(super) transport: Transport,
    solved: Solved,
    pub(in crate::joints) holding: Vec<Held>,
    /// Poses at the start of a part, or before a step that closes places.
    pub(in crate::joints) start: Vec<Pose>,
    open: Vec<f64>,
    pub(super) turned: Vec<DVec3>,
    pub(super) changes: Vec<WorldTwist>,
    pub(super) rotors: Vec<f64>,
    swings: Vec<f64>,
}

impl Course {
    /// Writes its poses and velocities to the bodies.
    pub(in crate::joints) fn leave(&self, articulation: &Articulation, bodies: &mut Bodies) {
        let states = self.poses.iter().zip(&self.twists);
        for (slot, (pose, twist)) in articulation.bodies.iter().zip(states) {
            bodies.pose[*slot] = *pose;
            bodies.twist[*slot] = Twist {
                linear: twist.linear,
                angular: pose.orientation.conjugate() * twist.angular,
            };
        }
    }

    /// Moves it from the poses of `t_k` on; motors that hold their rates are known.
    pub(super) fn advance<'m>(
        &mut self,
        step: &Step,
        mean: &impl Fn(Slot) -> Option<&'m WorldTwist>,
    ) {
        self.buffers.holding.clone_from(&self.holding);
        self.gave_way = step.articulation.yields(step.of().1) > 0.0;
        self.ahead = step.time_ahead();
        if self.gave_way || !self.follow(step, mean) {
            self.holding.clone_from(&self.buffers.holding);
            self.stops.clear();
            let step = Step {
                struck: true,
                theta: if step.struck { step.theta } else { 1.0 },
                ..*step
            };
            self.go_projected(&step, mean);
        }
        self.held.clone_from(&self.holding);
        self.energy_of_rotors = [self.energy_at_start, 0.0];
        self.rotors.clear();
        self.rotors.extend(self.system.rotors());
        self.ends.clone_from(&self.poses);
    }

    /// Follows the bodies through the step. False if joints are left open.
    fn follow<'m>(&mut self, step: &Step, mean: &impl Fn(Slot) -> Option<&'m WorldTwist>) -> bool {
        self.account_for_solved(step);
        let mut known = std::mem::take(&mut self.buffers.before_drift);
        self.note(&mut known);
        let closed = loop {
            let closed = self.move_in_parts(step, mean);
            // Those whose bounds were reached on the way are forces.
            if self.holding.is_empty() || Held::keep_those_that_reach(&mut self.holding) {
                break closed;
            }
            self.go_back(&known);
        };
        self.buffers.before_drift = known;
        closed
    }

    /// Notes what pushes so far.
    pub(in crate::joints) fn note(&self, known: &mut Known) {
        known.pushes.clone_from(&self.pushes);
        known.reactions.clone_from(&self.reactions);
        known.tensions.clone_from(&self.tensions);
    }

    /// What pushed when that was noted, and nothing since.
    pub(in crate::joints) fn go_back(&mut self, known: &Known) {
        self.pushes.clone_from(&known.pushes);
        self.reactions.clone_from(&known.reactions);
        self.tensions.clone_from(&known.tensions);
    }

    /// Takes the step in as many parts as it needs. False if joints are left open.
    fn move_in_parts<'m>(
        &mut self,
        step: &Step,
        mean: &impl Fn(Slot) -> Option<&'m WorldTwist>,
    ) -> bool {
        let mut known = std::mem::take(&mut self.buffers.before_parts);
        self.note(&mut known);
        self.start(step, mean);
        let before = self.energy(step);
        let swing = step.swing();
        // A force that holds a body to its solved motion does work that no part knows.
        let is_driven =
            step.stiff || step.is_driven() || self.holding.iter().any(|motor| motor.rate != 0.0);
        let mut parts = step.parts(&self.twists, &self.masses, &mut self.buffers.swings);
        let closed = loop {
            let mut closed = true;
            if step.is_dragged() {
                self.weigh(step, 0.5 / parts as f64);
                self.system.factor(&self.masses);
            }
            for part in 0..parts {
                closed &= self.composed(step, (part, parts));
            }
            let gained = self.energy(step) - before - self.work;
            let scale = self.largest + swing;
            let excess = gained.abs() / (ENERGY * scale);
            let exact = gained.abs() <= ENERGY * scale || is_driven;
            if closed && exact {
                break true;
            }
            if parts >= MOST_PARTS {
                break closed && (gained <= GAINED * scale || is_driven);
            }
            parts = if closed {
                finer(parts, excess, step.order())
            } else {
                2 * parts
            };
            parts = parts.min(MOST_PARTS);
            self.go_back(&known);
            self.start(step, mean);
        };
        self.parts = parts;
        self.buffers.before_parts = known;
        closed
    }

    /// Poses and velocities that the first part begins with.
    pub(super) fn start<'m>(
        &mut self,
        step: &Step,
        mean: &impl Fn(Slot) -> Option<&'m WorldTwist>,
    ) {
        for motor in &mut self.holding {
            motor.added = 0.0;
        }
        let (bodies, solution) = (step.bodies, step.solution);
        self.poses.clear();
        self.twists.clear();
        self.masses.clear();
        (self.work, self.largest) = (0.0, 0.0);
        self.kicked.clear();
        let mut transport = std::mem::take(&mut self.buffers.transport);
        transport.offsets.clear();
        for slot in &step.articulation.bodies {
            let (begin, end) = (&solution.motion.begin[*slot], &solution.end[*slot]);
            let mean = mean(*slot).copied().or_else(|| step.mean(begin, end));
            let h = step.settings.time_step;
            transport.offsets.push(WorldTwist {
                linear: mean.map_or(DVec3::ZERO, |mean| (mean.linear - end.linear) * h),
                angular: mean.map_or(DVec3::ZERO, |mean| (mean.angular - end.angular) * h),
            });
            self.twists.push(if step.struck { *end } else { *begin });
            self.poses.push(bodies.before.pose[*slot]);
            self.masses.push(undragged(step, *slot));
        }
        let other = |slot| step.other(slot, 0.0);
        self.system.place(step.of(), &self.poses, other);
        self.system
            .lock_stops(step.of(), &self.poses, other, &self.stops);
        self.system.place_rotors(step.of(), &self.poses, other);
        let given = |slot: Slot| solution.motion.free[slot];
        self.energy_at_start = 0.0;
        if self.system.has_rotors() {
            let slots = step.articulation.bodies.iter();
            let begin = &mut self.buffers.changes;
            begin.clear();
            begin.extend(slots.map(|slot| solution.motion.begin[*slot]));
            self.system.start_rotors(begin, given);
            self.energy_at_start = self.system.energy_of_rotors();
            self.system.start_rotors(&self.twists, given);
        }
        let still = WorldTwist::default();
        if transport.offsets.iter().any(|offset| *offset != still) {
            self.system.factor(&self.masses);
            self.displace(step, &mut transport);
        }
        self.buffers.transport = transport;
        self.system
            .place_motors(step.of(), &self.poses, other, &self.holding);
        self.system.factor(&self.masses);
        if !self.stops.is_empty() {
            // What came to them in the last step is stopped.
            self.stop_opening(given);
        }
    }

    /// One of the equal parts of a step, in its pieces. False if one of these does not end with closed joints.
    fn composed(&mut self, step: &Step, (part, parts): (usize, usize)) -> bool {
        let share = 1.0 / parts as f64;
        let (begin, end) = (part as f64 * share, (part + 1) as f64 * share);
        let pieces = pieces(step.order());
        let (mut closed, mut from) = (true, begin);
        for (index, piece) in pieces.iter().enumerate() {
            let is_last = index + 1 == pieces.len();
            let to = if is_last { end } else { from + piece * share };
            closed &= self.part(step, piece * share, (from, to));
            from = to;
        }
        closed
    }

    /// A part of the step, of the length `share` of it. False if it does not end with closed joints.
    fn part(&mut self, step: &Step, share: f64, (from, to): (f64, f64)) -> bool {
        let h = step.settings.time_step * share;
        // The rows are there already, with their factor: of the start, or of the end of the part before.
        self.kick(step, 0.5 * share, from);
        self.drag_back(step, 0.5 * share);
        let closed = self.close_by_impulses(step, h, to);
        for (place, slot) in step.articulation.bodies.iter().enumerate() {
            self.masses[place] = turned_mass(step.bodies, *slot, &self.poses[place]);
        }
        self.weigh(step, 0.5 * share);
        self.kick(step, 0.5 * share, to);
        let other = |slot| step.other(slot, to);
        self.buffers.rotors.clear();
        self.buffers.rotors.extend(self.system.rotors());
        self.system.place(step.of(), &self.poses, other);
        self.system
            .lock_stops(step.of(), &self.poses, other, &self.stops);
        self.system.place_rotors(step.of(), &self.poses, other);
        self.system
            .place_motors(step.of(), &self.poses, other, &self.holding);
        let still = |_: Slot| WorldTwist::default();
        self.system.follow(&self.end, (&self.twists, 0.0), still);
        self.system.set_rotors(&self.buffers.rotors);
        self.system.factor(&self.masses);
        self.stop_opening(|slot| step.solution.motion.free[slot]);
        self.account_for_drag(step, 0.5 * share);
        self.settle();
        closed
    }

    /// Drag on the velocities after a kick and what joints hold of it at once. Their places are then closed by masses without drag: rounding of places is no drag.
    fn drag_back(&mut self, step: &Step, share: f64) {
        if step.is_dragged() {
            self.stop_opening(|slot| step.solution.motion.free[slot]);
            self.account_for_drag(step, share);
            for (place, slot) in step.articulation.bodies.iter().enumerate() {
                self.masses[place] = turned_mass(step.bodies, *slot, &self.poses[place]);
            }
            self.system.factor(&self.masses);
        }
    }

    /// `Λ`, and the poses and velocities at the end of a part of `h`, before they are kicked. False if joints are left open.
    fn close_by_impulses(&mut self, step: &Step, h: f64, to: f64) -> bool {
        let mut own = std::mem::take(&mut self.buffers);
        own.start.clone_from(&self.poses);
        if step.stiff {
            self.stiffen(step, &mut own.solved);
        }
        // What was open at the beginning, because something was moved by hand, is closed without velocity.
        own.open.clear();
        own.open.extend(self.system.errors());
        let mut last = f64::INFINITY;
        let mut closed = false;
        for _ in 0..NEWTON {
            own.turned.clear();
            self.turn(step, (&own.start, h), &mut own.turned);
            let other = |slot| step.other(slot, to);
            self.end.place(step.of(), &self.poses, other);
            self.end
                .lock_stops(step.of(), &self.poses, other, &self.stops);
            self.end.place_rotors(step.of(), &self.poses, other);
            self.end
                .place_motors(step.of(), &self.poses, other, &self.holding);
            let given = |slot: Slot| step.solution.motion.free[slot];
            self.end.follow(&self.system, (&self.twists, h), given);
            for (error, open) in self.end.errors_mut().zip(&own.open) {
                *error -= open;
            }
            self.end.turn_rotors(&self.system, h);
            let error = self.end.error();
            closed = self.end.is_closed();
            if closed || error > SLOW * last {
                break;
            }
            last = error;
            for (error, after) in self.system.errors_mut().zip(self.end.errors()) {
                *error = after / h;
            }
            self.system.against_errors();
            self.push();
        }
        self.settle();
        for (twist, angular) in self.twists.iter_mut().zip(&own.turned) {
            twist.angular = *angular;
        }
        if step.stiff {
            self.put_back(step, &own.solved, (&own.start, h));
        }
        self.buffers = own;
        // What is left at the level of rounding does not get smaller.
        closed || self.end.error() < NEARLY
    }

    /// Places are closed by masses as heavy as stiff forces make them, and without velocity: what a force holds does not give way, and an impulse of joints on it would be one that
    /// the force does not know. Notes what the velocities and impulses are without that.
    fn stiffen(&mut self, step: &Step, solved: &mut Solved) {
        let slots = step.articulation.bodies.iter();
        for (mass, slot) in self.masses.iter_mut().zip(slots) {
            let heavier = 1.0 / (1.0 + step.bodies.user_forces.stiff[*slot]);
            mass.linear *= heavier;
            mass.angular *= heavier;
        }
        self.system.factor(&self.masses);
        solved.twists.clone_from(&self.twists);
        solved.rotors.clear();
        solved.rotors.extend(self.system.rotors());
        solved.holding.clone_from(&self.holding);
        self.note(&mut solved.known);
    }

    fn put_back(&mut self, step: &Step, solved: &Solved, (start, h): (&[Pose], f64)) {
        self.go_back(&solved.known);
        self.holding.clone_from(&solved.holding);
        self.system.set_rotors(&solved.rotors);
        self.twists.clone_from(&solved.twists);
        let states = self.twists.iter_mut().zip(start);
        for ((twist, start), slot) in states.zip(&step.articulation.bodies) {
            let inertia = &step.bodies.constants[*slot].inertia;
            let p = start.orientation;
            let (turned, spin) = torque_free(inertia, p, p.conjugate() * twist.angular, h);
            twist.angular = turned * spin;
        }
    }

    /// The poses after a time `h` with the present velocities, and the angular velocities then.
    pub(super) fn turn(
        &mut self,
        step: &Step,
        (start, h): (&[Pose], f64),
        turned: &mut Vec<DVec3>,
    ) {
        let slots = &step.articulation.bodies;
        self.poses.clear();
        for ((slot, pose), twist) in slots.iter().zip(start).zip(&self.twists) {
            let inertia = &step.bodies.constants[*slot].inertia;
            let p = pose.orientation;
            let (orientation, spin) = torque_free(inertia, p, p.conjugate() * twist.angular, h);
            self.poses.push(Pose {
                position: pose.position + twist.linear * h,
                orientation,
            });
            turned.push(orientation * spin);
        }
    }

    /// `μ`. Once more for what the addition to the diagonal leaves, and on where rows are nearly redundant: there each round takes away a part.
    pub(in crate::joints) fn stop_opening(&mut self, given: impl Fn(Slot) -> WorldTwist) {
        if self.ahead > 0.0 && self.give_way(&given) {
            return;
        }
        let mut last = f64::INFINITY;
        for round in 1..=MOST_ROUNDS {
            self.system.against_velocities(&self.twists, &given);
            self.push();
            if round >= 2 {
                let left = self.system.velocity(&self.twists, &given);
                if left <= EXACT || left > GAINS * last {
                    break;
                }
                last = left;
            }
        }
    }
}
