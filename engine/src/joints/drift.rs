//! How articulations move through a step: their joints are closed at its end, in places and in velocities.
//!
//! The bodies of an articulation turn freely and go straight, as all bodies do, from a velocity `v_m` at `t_k` in which the impulses of
//! the joints are included; these are those that leave no error at the end [RATTLE: Andersen83, Leimkuhler-Reich04]:
//!
//! ```text
//! v_m = v̄ + M⁻¹ J_kᵀ Λ,     q_{k+1} = Φ_h(q_k, v_m),     e(q_{k+1}) = 0                       places
//! v_{k+1} = v' + late + M⁻¹ J_{k+1}ᵀ μ,                  J_{k+1} v_{k+1} = 0                  velocities
//! ```
//!
//! where `v'` is `v_m` after the free rotation. If nothing pushes the articulation but forces and what acts along its joints, `v̄ = v_k + ½ M⁻¹ (h F + J_fᵀ r)`
//! and the other half of these impulses comes late, at `q_{k+1}`: the scheme is symmetric and of second order, and its energy does not
//! drift. If contacts or limits push it, `v̄` is the velocity that was solved for, and the step is that of the θ-method with θ = 1. If all that pushes it are impacts,
//! `v̄ = θ v + (1 − θ) v_k` with the largest θ of these, and where impacts followed one another the mean velocity; what is left of the momentum comes late.
//!
//! A rotor that moves with a coordinate (armature `I`) is a body of one degree of freedom with the row `ẋ − w = 0`: in the factor it is a
//! compliance `1/I`. Couplers are rows over several joints.
//!
//! `Λ` comes from Newton steps with the matrix `J_k M⁻¹ J_kᵀ`, whose factor is worked out once.
//!
//! The step is taken in equal parts, each of them as above, where bodies turn far, where joints bear so much that bodies swing about them too
//! fast for the step (a link of mass `m` and length `l` under a tension `T` with `ω² = 12 T/(m l)`, followed up to `ω h ≈ 2`), and where the Newton steps do not close the
//! joints. What was solved for acts evenly in the parts.

mod step;

use super::Joints;
use super::coordinates::Row;
use super::held::Held;
use super::system::{Locked, Push, System, on_b};
use crate::bodies::Bodies;
use crate::bodies::constants::BodyConstants;
use crate::bodies::slot::Slot;
use crate::components::{Drag, Pose, Twist};
use crate::math::rotation;
use crate::motion::free_motion::torque_free;
use crate::settings::Settings;
use crate::step::solved::Pushed;
use glam::{DMat3, DVec3};
use moreau_solvers::{InverseMass, WorldTwist};
pub(crate) use step::Solution;
use step::Step;

/// Newton steps of a drift at most.
const NEWTON: usize = 25;
/// Part of the error that a Newton step has to take away for the next to be worth it.
pub(super) const SLOW: f64 = 0.5;
/// Error over length that is left by rounding where bodies are far from each other.
pub(super) const NEARLY: f64 = 1e-12;
/// Error over length from which on a joint is open.
const OPEN: f64 = 1e-9;
/// Energy that the joints of an articulation, which do no work, may gain or lose in a step, as a part of its kinetic energy and of what its bodies
/// exchange with gravity as they swing.
const ENERGY: f64 = 1e-5;
/// Rounds for the velocities at most, …
const MOST_ROUNDS: usize = 40;
/// … as long as each leaves no more than this part of the velocity, …
const GAINS: f64 = 0.9;
/// … and the velocity along a row that is small enough, m/s or rad/s.
const EXACT: f64 = 1e-12;
/// Parts of a step at most.
const MOST_PARTS: usize = 64;

/// What the joints did to a body in a step, by locked rows and by forces along free ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JointPush {
    pub(crate) slot: Slot,
    pub(crate) locked: Push,
    pub(crate) driven: Push,
    /// By drag; once joints are closed, beyond that of the velocity that the body ends with.
    pub(crate) dragged: Push,
}

/// Buffers, and the results of the last step.
#[derive(Debug, Default)]
pub(crate) struct Drift {
    pub(super) system: System,
    /// At the end of a part.
    end: System,
    pub(super) masses: Vec<InverseMass>,
    pub(super) poses: Vec<Pose>,
    pub(super) twists: Vec<WorldTwist>,
    /// Momentum that comes at the end.
    late: Vec<Push>,
    /// By bodies of the articulations, one articulation after the other.
    pub(crate) pushes: Vec<JointPush>,
    /// `v_k` with all other impulses of the step, in the same order.
    pub(super) others: Vec<WorldTwist>,
    /// What each joint of the list did to B, about the origin of its frame.
    pub(crate) reactions: Vec<Push>,
    /// Impulse of each coupler of the list, over the step.
    pub(crate) tensions: Vec<f64>,
    /// Speeds of the rotors at the end, one articulation after the other.
    pub(super) rotors: Vec<f64>,
    /// Motors that hold their rates, one articulation after the other; …
    pub(super) held: Vec<Held>,
    /// … where those of each articulation end, and those of the present one.
    pub(super) held_until: Vec<usize>,
    pub(super) holding: Vec<Held>,
    /// Kinetic energy of all rotors at `t_k` and at the end, J.
    pub(crate) energy_of_rotors: [f64; 2],
    /// Where articulations were left, in the order of `pushes`; and whether velocities are closed there.
    pub(super) ends: Vec<(Pose, bool)>,
    /// Kinetic energy of the rotors of the present articulation at `t_k`, J.
    energy_at_start: f64,
    /// Of what acts in the parts but gravity, J.
    work: f64,
    /// What acts but gravity and joints at the present end of a part, and the velocities before it.
    kicked: Vec<Push>,
    unkicked: Vec<WorldTwist>,
    /// Largest kinetic energy of the articulation so far in the step, J.
    largest: f64,
    /// Parts that the last articulation was taken in.
    pub(crate) parts: usize,
    /// Largest error that was left, m or rad.
    pub(crate) error: f64,
    /// Largest velocity along a locked row, m/s or rad/s.
    pub(crate) velocity: f64,
}

impl Drift {
    /// Moves all articulations, from the poses of `t_k` on.
    pub(crate) fn advance<'m>(
        &mut self,
        joints: &mut Joints,
        bodies: &mut Bodies,
        solution: &Solution,
        mean: impl Fn(Slot) -> Option<&'m WorldTwist>,
        settings: &Settings,
    ) {
        joints.articulate(bodies);
        self.pushes.clear();
        self.others.clear();
        self.reactions.clear();
        self.reactions.resize(joints.list.len(), Push::default());
        self.tensions.clear();
        self.tensions.resize(joints.couplers.len(), 0.0);
        self.rotors.clear();
        self.ends.clear();
        self.held.clear();
        self.held_until.clear();
        self.energy_of_rotors = [0.0; 2];
        for articulation in &joints.articulations {
            let slots = &articulation.bodies;
            let is_pushed = |slot: &Slot| {
                !matches!(solution.pushed[*slot], Pushed::Not) || mean(*slot).is_some()
            };
            let pushed = slots.iter().map(|slot| match solution.pushed[*slot] {
                Pushed::Not => 0.0,
                Pushed::Struck(theta) => theta,
                Pushed::Held => 1.0,
            });
            let stops = solution.rows.stops_one_of(&articulation.joints);
            let (given, h) = ((&*bodies, solution), settings.time_step);
            let agree = Held::find(articulation, &joints.list, given, h, &mut self.holding);
            let stops = stops || !agree;
            let step = Step {
                articulation,
                joints: &joints.list,
                couplers: &joints.couplers,
                bodies,
                solution,
                settings,
                struck: slots.iter().any(is_pushed) || stops,
                theta: pushed.fold(if stops { 1.0 } else { 0.0 }, f64::max),
                begin: self.pushes.len(),
            };
            self.move_one(&step, &mean);
            for ((slot, pose), twist) in slots.iter().zip(&self.poses).zip(&self.twists) {
                bodies.pose[*slot] = *pose;
                bodies.twist[*slot] = Twist {
                    linear: twist.linear,
                    angular: pose.orientation.conjugate() * twist.angular,
                };
            }
        }
    }

    /// There are no joints any more.
    pub(crate) fn forget(&mut self, joints: &mut Joints) {
        joints.articulations.clear();
        joints.epoch = None;
        self.held.clear();
        self.pushes.clear();
        self.reactions.clear();
        self.tensions.clear();
        self.energy_of_rotors = [0.0; 2];
        (self.error, self.velocity) = (0.0, 0.0);
    }

    /// No joint is left open: a step that leaves one is not converged.
    pub(crate) fn holds(&self) -> bool {
        self.error <= OPEN
    }

    fn move_one<'m>(&mut self, step: &Step, mean: &impl Fn(Slot) -> Option<&'m WorldTwist>) {
        self.account_for_solved(step);
        loop {
            let known = (!self.holding.is_empty()).then(|| self.known());
            self.move_in_parts(step, mean);
            let Some(known) = known.filter(|_| !self.holding.iter().all(Held::reaches)) else {
                break;
            };
            // On the way their bounds were reached: they are forces.
            self.holding.retain(Held::reaches);
            (self.pushes, self.reactions, self.tensions) = known;
        }
        self.held.extend(&self.holding);
        self.held_until.push(self.held.len());
        let is_late = self.late.iter().any(|late| *late != Push::default());
        if is_late {
            let states = self.late.iter().zip(&self.masses);
            let changes: Vec<WorldTwist> = states.map(|(late, mass)| late.change(mass)).collect();
            for (twist, change) in self.twists.iter_mut().zip(&changes) {
                add(twist, change);
            }
            self.system.kick_rotors(&changes);
        }
        self.energy_of_rotors[0] += self.energy_at_start;
        self.rotors.extend(self.system.rotors());
        let ends = self.poses.iter().map(|pose| (*pose, !is_late));
        self.ends.extend(ends);
    }

    /// What pushes so far.
    fn known(&self) -> (Vec<JointPush>, Vec<Push>, Vec<f64>) {
        (
            self.pushes.clone(),
            self.reactions.clone(),
            self.tensions.clone(),
        )
    }

    /// Takes the step in as many parts as it needs.
    fn move_in_parts<'m>(&mut self, step: &Step, mean: &impl Fn(Slot) -> Option<&'m WorldTwist>) {
        let known = self.known();
        self.energy_at_start = self.start(step, mean);
        let before = self.energy(step);
        let swing = step.swing();
        let is_driven = step.is_driven() || self.holding.iter().any(|motor| motor.rate != 0.0);
        let mut parts = step.parts(&self.twists, &self.masses);
        loop {
            let mut closed = true;
            for part in 0..parts {
                closed &= self.part(step, (part, parts));
            }
            let gained = self.energy(step) - before - self.work;
            let exact = gained.abs() <= ENERGY * (self.largest + swing) || is_driven;
            if closed && exact || parts >= MOST_PARTS {
                self.parts = parts;
                break;
            }
            parts *= 2;
            (self.pushes, self.reactions, self.tensions) = known.clone();
            self.start(step, mean);
        }
    }

    /// Kinetic energy, with the potential one if gravity acts in the parts, J. The largest kinetic one is kept.
    fn energy(&mut self, step: &Step) -> f64 {
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
    fn account_for_solved(&mut self, step: &Step) {
        let Step {
            articulation,
            joints,
            bodies,
            solution,
            ..
        } = *step;
        let (slots, h) = (&articulation.bodies, step.settings.time_step);
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
        let (pushes, others) = (
            &mut self.pushes[step.begin..],
            &mut self.others[step.begin..],
        );
        let reactions = &mut self.reactions;
        let mut account = |joint: usize, row: &Row, impulse: f64, is_locked: bool| {
            if step.struck {
                let of = &joints[joint];
                let arm = of.placed_at(|side| of.start_of(side, bodies)).arm_of_b();
                reactions[joint].add(&on_b(row, arm, impulse));
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
                if articulation.couplers.binary_search(&index).is_ok() {
                    self.tensions[index] = impulse;
                }
            });
        }
    }

    /// Poses and velocities that the first part begins with, and what comes late. Returns the energy of the rotors at `t_k`, J.
    fn start<'m>(&mut self, step: &Step, mean: &impl Fn(Slot) -> Option<&'m WorldTwist>) -> f64 {
        let (bodies, solution) = (step.bodies, step.solution);
        self.poses.clear();
        self.twists.clear();
        self.masses.clear();
        self.late.clear();
        (self.work, self.largest) = (0.0, 0.0);
        self.kicked.clear();
        for motor in &mut self.holding {
            motor.added = 0.0;
        }
        for slot in &step.articulation.bodies {
            let (begin, end) = (&solution.motion.begin[*slot], &solution.end[*slot]);
            let pose = &bodies.before.pose[*slot];
            let mut late = Push::default();
            let mean = mean(*slot).copied().or_else(|| step.mean(begin, end));
            self.twists.push(match mean {
                Some(mean) => {
                    // The momentum that the mean does not have.
                    let inertia = &bodies.constants[*slot].inertia;
                    let p = pose.orientation;
                    let spin = p.conjugate() * (end.angular - mean.angular);
                    late = Push {
                        linear: (end.linear - mean.linear) * inertia.mass,
                        angular: p * inertia.times(spin),
                    };
                    mean
                }
                None if step.struck => *end,
                None => *begin,
            });
            self.late.push(late);
            self.poses.push(*pose);
            self.masses.push(undragged(step, *slot));
        }
        let other = |slot| step.other(slot, 0.0);
        self.system.place(step.of(), &self.poses, other);
        self.system.place_rotors(step.of(), &self.poses, other);
        self.system
            .place_motors(step.of(), &self.poses, other, &self.holding);
        let given = |slot: Slot| solution.motion.free[slot];
        let mut energy = 0.0;
        if self.system.has_rotors() {
            let slots = step.articulation.bodies.iter();
            let begin: Vec<WorldTwist> = slots.map(|slot| solution.motion.begin[*slot]).collect();
            self.system.start_rotors(&begin, given);
            energy = self.system.energy_of_rotors();
            self.system.start_rotors(&self.twists, given);
        }
        self.system.factor(&self.masses);
        energy
    }

    /// One of the parts of a step. False if it does not end with closed joints.
    fn part(&mut self, step: &Step, (part, parts): (usize, usize)) -> bool {
        let share = 1.0 / parts as f64;
        let h = step.settings.time_step * share;
        let (from, to) = (part as f64 * share, (part + 1) as f64 * share);
        // The rows are there already, with their factor: of the start, or of the end of the part before.
        self.kick(step, 0.5 * share, from);
        let closed = self.close_by_impulses(step, h, to);
        for (place, slot) in step.articulation.bodies.iter().enumerate() {
            self.masses[place] = turned_mass(step.bodies, *slot, &self.poses[place]);
        }
        self.kick(step, 0.5 * share, to);
        let other = |slot| step.other(slot, to);
        let speeds: Vec<f64> = self.system.rotors().collect();
        self.system.place(step.of(), &self.poses, other);
        self.system.place_rotors(step.of(), &self.poses, other);
        self.system
            .place_motors(step.of(), &self.poses, other, &self.holding);
        let still = |_: Slot| WorldTwist::default();
        self.system.follow(&self.end, (&self.twists, 0.0), still);
        self.system.set_rotors(&speeds);
        self.system.factor(&self.masses);
        self.stop_opening(step.begin, |slot| step.solution.motion.free[slot]);
        self.settle();
        closed
    }

    /// The work of a kick. Joints act at the same time: what they hold back on the spot is not the kick's to give, `F·(v + v')/2` with the velocities
    /// before and after both.
    fn settle(&mut self) {
        let velocities = self.unkicked.iter().zip(&self.twists);
        for (push, (before, after)) in self.kicked.iter().zip(velocities) {
            self.work += 0.5
                * (push.linear.dot(before.linear + after.linear)
                    + push.angular.dot(before.angular + after.angular));
        }
    }

    /// What acts but joints, for a part of the step, at the present poses.
    fn kick(&mut self, step: &Step, share: f64, part: f64) {
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
            let wrench = &bodies.wrench[*slot];
            let (body, orientation) = (&bodies.constants[*slot], self.poses[place].orientation);
            let mass = body.inertia.mass;
            let moment = wrench.moment + orientation * wrench.body_moment;
            let fall = settings.gravity * (body.response.gravity.0 * mass * h);
            let push = Push {
                linear: wrench.force * h,
                angular: moment * h,
            };
            if body.response.has_drag() {
                // Before all that joints have still to hold: what hangs is not dragged.
                let [linear, angular] = body.response.heavier(h);
                let mut slower = self.twists[place];
                slower.linear /= linear;
                slower.angular /= angular;
                let drag = drag(body, &self.poses[place], &slower, h);
                act(&mut self.twists[place], &drag, &self.masses[place]);
                self.kicked[place].add(&drag);
                self.pushes[step.begin + place].dragged.add(&drag);
            }
            self.twists[place].linear += fall * self.masses[place].linear;
            act(&mut self.twists[place], &push, &self.masses[place]);
            self.kicked[place].add(&push);
        }
        let pushes = &mut self.pushes[step.begin..];
        let (poses, masses) = (&self.poses, &self.masses);
        let (twists, reactions, kicked) = (&mut self.twists, &mut self.reactions, &mut self.kicked);
        let rows = step.solution.rows;
        rows.each_force(&articulation.joints, |index, (_, along), impulse| {
            // Limits and ropes that act push.
            let Some(along) = along else { return };
            let (joint, places) = (&joints[index], step.places(index));
            let others = joint.bodies.map(|slot| step.other(slot, part));
            let placed = joint.placed_at(|side| match places[side] {
                Some(place) => &poses[place],
                None => &others[side],
            });
            let row = joint.row(along, &placed);
            let impulse = impulse * share;
            reactions[index].add(&on_b(&row, placed.arm_of_b(), impulse));
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

    /// `Λ`, and the poses and velocities at the end of a part of `h`, before they are kicked. False if joints are left open.
    fn close_by_impulses(&mut self, step: &Step, h: f64, to: f64) -> bool {
        let start = self.poses.clone();
        // What was open at the beginning, because something was moved by hand, is closed without velocity.
        let open: Vec<f64> = self.system.errors().collect();
        let mut last = f64::INFINITY;
        let mut turned = Vec::new();
        let mut closed = false;
        for _ in 0..NEWTON {
            turned.clear();
            self.turn(step, (&start, h), &mut turned);
            let other = |slot| step.other(slot, to);
            self.end.place(step.of(), &self.poses, other);
            self.end.place_rotors(step.of(), &self.poses, other);
            self.end
                .place_motors(step.of(), &self.poses, other, &self.holding);
            let given = |slot: Slot| step.solution.motion.free[slot];
            self.end.follow(&self.system, (&self.twists, h), given);
            for (error, open) in self.end.errors_mut().zip(&open) {
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
            self.push(step.begin);
        }
        self.settle();
        for (twist, angular) in self.twists.iter_mut().zip(turned) {
            twist.angular = angular;
        }
        // What is left at the level of rounding does not get smaller.
        closed || self.end.error() < NEARLY
    }

    /// The last solution acts on the velocities.
    fn push(&mut self, begin: usize) {
        let (pushes, reactions) = (&mut self.pushes[begin..], &mut self.reactions);
        let (tensions, holding) = (&mut self.tensions, &mut self.holding);
        let pushed = |row: &Locked, impulse: f64| {
            if let Some(motor) = row.motor {
                holding[motor].added += impulse;
            }
            reactions[row.joint].add(&row.on_b(impulse));
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

    /// The poses after a time `h` with the present velocities, and the angular velocities then.
    fn turn(&mut self, step: &Step, (start, h): (&[Pose], f64), turned: &mut Vec<DVec3>) {
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
    pub(super) fn stop_opening(&mut self, begin: usize, given: impl Fn(Slot) -> WorldTwist) {
        let mut last = f64::INFINITY;
        for round in 1..=MOST_ROUNDS {
            self.system.against_velocities(&self.twists, &given);
            self.push(begin);
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

/// What drag does to a body at a pose over a time `h`, with the velocity that it then has.
pub(super) fn drag(body: &BodyConstants, pose: &Pose, twist: &WorldTwist, h: f64) -> Push {
    let Drag { linear, angular } = body.response.drag;
    let spin = pose.orientation.conjugate() * twist.angular;
    Push {
        linear: twist.linear * (-h * linear * body.inertia.mass),
        angular: pose.orientation * body.inertia.times(spin) * (-h * angular),
    }
}

/// `M⁻¹` of a body at `t_k`, without its drag.
fn undragged(step: &Step, slot: Slot) -> InverseMass {
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

pub(super) fn add(twist: &mut WorldTwist, change: &WorldTwist) {
    twist.linear += change.linear;
    twist.angular += change.angular;
}

/// `Ŵ` of a body at a pose.
pub(super) fn turned_mass(bodies: &Bodies, slot: Slot, pose: &Pose) -> InverseMass {
    let inertia = &bodies.constants[slot].inertia;
    let axes = DMat3::from_quat(pose.orientation * inertia.frame);
    InverseMass {
        linear: inertia.inverse_mass,
        angular: rotation::conjugate_diagonal(&axes, inertia.inverse_moments),
    }
}
