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
//! drift. If contacts or limits push it, `v̄` is the velocity that was solved for, and the step is that of the θ-method with θ = 1. Where impacts followed one another
//! `v̄` is the mean velocity, and what is left of the momentum comes late.
//!
//! `Λ` comes from Newton steps with the matrix `J_k M⁻¹ J_kᵀ`, whose factor is worked out once.
//!
//! The step is taken in equal parts, each of them as above, where bodies turn far, where joints bear so much that bodies swing about them too
//! fast for the step (a link of mass `m` and length `l` under a tension `T` with `ω² = 12 T/(m l)`, followed up to `ω h ≈ 2`), and where the Newton steps do not close the
//! joints. What was solved for acts evenly in the parts.

use super::articulation::Articulation;
use super::coordinates::Row;
use super::rows::JointRows;
use super::system::{Push, System, on_b};
use super::{Jointed, Joints, WORLD};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{Pose, Twist};
use crate::math::rotation;
use crate::motion::Motion;
use crate::motion::free_motion::torque_free;
use crate::settings::Settings;
use crate::step::solved::Pushed;
use glam::{DMat3, DVec3};
use moreau_solvers::{InverseMass, WorldTwist};

/// Newton steps of a drift, and of a closing, at most.
pub(super) const NEWTON: usize = 25;
/// Part of the error that a Newton step has to take away for the next to be worth it.
pub(super) const SLOW: f64 = 0.5;
/// Error over length that is left by rounding where bodies are far from each other.
const NEARLY: f64 = 1e-12;
/// Angle that a body turns by in a part of a step at most, rad: Newton steps with the matrix at its beginning take away as much of an error.
const LARGEST_TURN: f64 = 0.5;
/// `ω h` of a part at most, for the swing of a body about joints under load; 2 is where it would blow up.
const LARGEST_SWING: f64 = 1.0;
/// Energy that the joints of an articulation, which do no work, may gain or lose in a step, as a part of its kinetic energy and of what its bodies
/// exchange with gravity as they swing.
const ENERGY: f64 = 1e-5;
/// Parts of a step at most.
const MOST_PARTS: usize = 64;

/// What the joints did to a body in a step, by locked rows and by forces along free ones.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JointPush {
    pub(crate) slot: Slot,
    pub(crate) locked: Push,
    pub(crate) driven: Push,
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
    /// Of what acts in the parts but gravity, J.
    work: f64,
    /// Largest kinetic energy of the articulation so far in the step, J.
    largest: f64,
    /// Largest error that was left, m or rad.
    pub(crate) error: f64,
    /// Largest velocity along a locked row, m/s or rad/s.
    pub(crate) velocity: f64,
}

/// What a drift starts from.
#[derive(Clone, Copy)]
pub(crate) struct Solution<'a> {
    pub(crate) motion: &'a Motion,
    pub(crate) end: &'a [WorldTwist],
    pub(crate) pushed: &'a [Pushed],
    pub(crate) rows: &'a JointRows,
}

/// One articulation in a step.
#[derive(Clone, Copy)]
struct Step<'a> {
    articulation: &'a Articulation,
    joints: &'a [Jointed],
    bodies: &'a Bodies,
    solution: &'a Solution<'a>,
    settings: &'a Settings,
    /// Contacts or limits push it: its velocities are those that were solved for.
    struck: bool,
    /// Where its bodies begin in the results.
    begin: usize,
}

impl<'a> Step<'a> {
    fn of(&self) -> (&'a Articulation, &'a [Jointed]) {
        (self.articulation, self.joints)
    }

    fn places(&self, joint: usize) -> [Option<usize>; 2] {
        let bodies = self.joints[joint].bodies;
        bodies.map(|slot| self.articulation.place(slot))
    }

    /// A body of given motion at a part of the step.
    fn other(&self, slot: Slot, part: f64) -> Pose {
        if slot == Slot::NONE {
            return WORLD;
        }
        let (before, after) = (&self.bodies.before.pose[slot], &self.bodies.pose[slot]);
        if part >= 1.0 || before == after {
            return *after;
        }
        let turn = rotation::log(before.orientation.conjugate() * after.orientation);
        Pose {
            position: before.position + (after.position - before.position) * part,
            orientation: before.orientation * rotation::exp(turn * part),
        }
    }

    /// A body that moves as it is given drives the articulation: joints do work.
    fn is_driven(&self) -> bool {
        self.articulation.joints.iter().any(|joint| {
            let bodies = self.joints[*joint].bodies.into_iter();
            let mut others = bodies.filter(|slot| self.articulation.place(*slot).is_none());
            others.any(|slot| {
                slot != Slot::NONE && self.solution.motion.free[slot] != WorldTwist::default()
            })
        })
    }

    /// The largest `m‖g‖` times arm of a joint, J: what a body exchanges with gravity as it swings.
    fn swing(&self) -> f64 {
        let gravity = self.settings.gravity.length();
        let joints = self.articulation.joints.iter();
        let arms = joints.flat_map(|joint| {
            let joint = &self.joints[*joint];
            let sides = joint.bodies.into_iter().zip(&joint.frames);
            sides.filter(|(slot, _)| self.articulation.place(*slot).is_some())
        });
        let energies = arms.map(|(slot, frame)| {
            self.bodies.constants[slot].inertia.mass * gravity * frame.position.length()
        });
        energies.fold(0.0, f64::max)
    }

    /// Equal parts that the step is taken in.
    fn parts(&self, twists: &[WorldTwist], masses: &[InverseMass]) -> usize {
        let h = self.settings.time_step;
        let fastest = twists.iter().map(|twist| twist.angular.length());
        let turn = fastest.fold(0.0, f64::max) * h / LARGEST_TURN;
        let mut swings = vec![0.0; masses.len()];
        if !self.struck {
            // A force `f` at an arm turns a body back by `f` times the arm times the angle.
            let rows = self.solution.rows;
            rows.each_lock(&self.articulation.joints, |joint, row, impulse| {
                for (side, place) in self.places(joint).into_iter().enumerate() {
                    let Some(place) = place else { continue };
                    let joint = &self.joints[joint];
                    let arm = self.bodies.before.pose[joint.bodies[side]].orientation
                        * joint.frames[side].position;
                    let push = Push::along(row, side, impulse);
                    let inverse = &masses[place].angular;
                    let along = arm.normalize_or_zero();
                    let across = inverse.x_axis.x + inverse.y_axis.y + inverse.z_axis.z
                        - along.dot(*inverse * along);
                    swings[place] += push.linear.length() * arm.length() * across;
                }
            });
        }
        // Impulses over the step are `h f`.
        let swing = swings.into_iter().fold(0.0, f64::max) * h;
        let parts = turn.max(swing.sqrt() / LARGEST_SWING).ceil();
        (parts as usize).clamp(1, MOST_PARTS)
    }
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
        for articulation in &joints.articulations {
            let slots = &articulation.bodies;
            let is_pushed = |slot: &Slot| {
                !matches!(solution.pushed[*slot], Pushed::Not) || mean(*slot).is_some()
            };
            let step = Step {
                articulation,
                joints: &joints.list,
                bodies,
                solution,
                settings,
                struck: slots.iter().any(is_pushed)
                    || solution.rows.stops_one_of(&articulation.joints),
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

    /// There are no joints.
    pub(crate) fn forget(&mut self) {
        self.pushes.clear();
        self.reactions.clear();
        (self.error, self.velocity) = (0.0, 0.0);
    }

    fn move_one<'m>(&mut self, step: &Step, mean: &impl Fn(Slot) -> Option<&'m WorldTwist>) {
        self.account_for_solved(step);
        let known = (self.pushes.clone(), self.reactions.clone());
        self.start(step, mean);
        let before = self.energy(step);
        let swing = step.swing();
        let mut parts = step.parts(&self.twists, &self.masses);
        loop {
            let mut closed = true;
            for part in 0..parts {
                closed &= self.part(step, (part, parts));
            }
            let gained = self.energy(step) - before - self.work;
            let exact = gained.abs() <= ENERGY * (self.largest + swing) || step.is_driven();
            if closed && exact || parts >= MOST_PARTS {
                break;
            }
            parts *= 2;
            (self.pushes, self.reactions) = (known.0.clone(), known.1.clone());
            self.start(step, mean);
        }
        for (place, slot) in step.articulation.bodies.iter().enumerate() {
            let mass = turned_mass(step.bodies, *slot, &self.poses[place]);
            add(&mut self.twists[place], &self.late[place].change(&mass));
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
        let slots = &articulation.bodies;
        self.pushes.extend(slots.iter().map(|slot| JointPush {
            slot: *slot,
            ..JointPush::default()
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
    }

    /// Poses and velocities that the first part begins with, and what comes late.
    fn start<'m>(&mut self, step: &Step, mean: &impl Fn(Slot) -> Option<&'m WorldTwist>) {
        let (bodies, solution) = (step.bodies, step.solution);
        self.poses.clear();
        self.twists.clear();
        self.masses.clear();
        self.late.clear();
        (self.work, self.largest) = (0.0, 0.0);
        for slot in &step.articulation.bodies {
            let (begin, end) = (&solution.motion.begin[*slot], &solution.end[*slot]);
            let pose = &bodies.before.pose[*slot];
            let mut late = Push::default();
            self.twists.push(match mean(*slot) {
                Some(mean) => {
                    // The momentum that the mean does not have.
                    let inertia = &bodies.constants[*slot].inertia;
                    let p = pose.orientation;
                    let spin = p.conjugate() * (end.angular - mean.angular);
                    late = Push {
                        linear: (end.linear - mean.linear) * inertia.mass,
                        angular: p * inertia.times(spin),
                    };
                    *mean
                }
                None if step.struck => *end,
                None => *begin,
            });
            self.late.push(late);
            self.poses.push(*pose);
            self.masses.push(solution.motion.inverse_mass[*slot]);
        }
    }

    /// One of the parts of a step. False if it does not end with closed joints.
    fn part(&mut self, step: &Step, (part, parts): (usize, usize)) -> bool {
        let share = 1.0 / parts as f64;
        let h = step.settings.time_step * share;
        let (from, to) = (part as f64 * share, (part + 1) as f64 * share);
        self.kick(step, 0.5 * share, from);
        self.system
            .place(step.of(), &self.poses, |slot| step.other(slot, from));
        self.system.factor(&self.masses);
        let closed = self.close_by_impulses(step, h, to);
        for (place, slot) in step.articulation.bodies.iter().enumerate() {
            self.masses[place] = turned_mass(step.bodies, *slot, &self.poses[place]);
        }
        self.kick(step, 0.5 * share, to);
        self.system
            .place(step.of(), &self.poses, |slot| step.other(slot, to));
        self.system.factor(&self.masses);
        self.stop_opening(step.begin, |slot| step.solution.motion.free[slot]);
        closed
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
            solution,
            ..
        } = *step;
        let h = settings.time_step * share;
        for (place, slot) in articulation.bodies.iter().enumerate() {
            let wrench = &bodies.wrench[*slot];
            let (body, orientation) = (&bodies.constants[*slot], self.poses[place].orientation);
            let mass = body.inertia.mass;
            let moment = wrench.moment + orientation * wrench.body_moment;
            let fall = settings.gravity * (body.response.gravity.0 * mass * h);
            let mut push = Push {
                linear: wrench.force * h,
                angular: moment * h,
            };
            if body.response.has_drag() {
                // As the free motion has it, all through the step.
                let (drift, before) = (&solution.motion.drift[*slot], &bodies.before.pose[*slot]);
                let given = before.orientation.conjugate() * wrench.moment + wrench.body_moment;
                let slowed = body.inertia.times(drift.kick) - given * settings.time_step;
                push.linear += drift.slowed * (mass * share);
                push.angular += orientation * slowed * share;
            }
            self.twists[place].linear += fall * self.masses[place].linear;
            self.work += act(&mut self.twists[place], &push, &self.masses[place]);
        }
        let pushes = &mut self.pushes[step.begin..];
        let (poses, masses) = (&self.poses, &self.masses);
        let (twists, reactions, work) = (&mut self.twists, &mut self.reactions, &mut self.work);
        let rows = step.solution.rows;
        rows.each_force(&articulation.joints, |index, (_, force), impulse| {
            // Limits and ropes that act push.
            let Some(force) = force else { return };
            let (joint, places) = (&joints[index], step.places(index));
            let others = joint.bodies.map(|slot| step.other(slot, part));
            let placed = joint.placed_at(|side| match places[side] {
                Some(place) => &poses[place],
                None => &others[side],
            });
            let (_, row) = placed.coordinate(&joint.kind, joint.forces[force].axis());
            let impulse = impulse * share;
            reactions[index].add(&on_b(&row, placed.arm_of_b(), impulse));
            for (side, place) in places.into_iter().enumerate() {
                if let Some(place) = place {
                    let push = Push::along(&row, side, impulse);
                    pushes[place].driven.add(&push);
                    *work += act(&mut twists[place], &push, &masses[place]);
                }
            }
        });
    }

    /// `Λ`, and the poses and velocities at the end of a part of `h`, before they are kicked. False if joints are left open.
    fn close_by_impulses(&mut self, step: &Step, h: f64, to: f64) -> bool {
        let start = self.poses.clone();
        // What was open at the beginning, because something was moved by hand, is closed without velocity.
        let open: Vec<f64> = self.system.rows.iter().map(|row| row.error).collect();
        let mut last = f64::INFINITY;
        let mut turned = Vec::new();
        let mut closed = false;
        for _ in 0..NEWTON {
            turned.clear();
            self.turn(step, (&start, h), &mut turned);
            self.end
                .place(step.of(), &self.poses, |slot| step.other(slot, to));
            for (row, open) in self.end.rows.iter_mut().zip(&open) {
                row.error -= open;
            }
            let error = self.end.error();
            closed = self.end.is_closed();
            if closed || error > SLOW * last {
                break;
            }
            last = error;
            for (row, after) in self.system.rows.iter_mut().zip(&self.end.rows) {
                row.error = after.error / h;
            }
            self.system.against_errors();
            self.push(step.begin);
        }
        for (twist, angular) in self.twists.iter_mut().zip(turned) {
            twist.angular = angular;
        }
        // What is left at the level of rounding does not get smaller.
        closed || self.end.error() < NEARLY
    }

    /// The last solution acts on the velocities.
    fn push(&mut self, begin: usize) {
        let (pushes, reactions) = (&mut self.pushes[begin..], &mut self.reactions);
        self.system.apply(&mut self.twists, |row, impulse| {
            reactions[row.joint].add(&row.on_b(impulse));
            for side in 0..2 {
                if let Some(place) = row.bodies[side] {
                    let push = Push::along(&row.row, side, impulse);
                    pushes[place].locked.add(&push);
                }
            }
        });
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

    /// `μ`. Once more for what the addition to the diagonal leaves.
    pub(super) fn stop_opening(&mut self, begin: usize, given: impl Fn(Slot) -> WorldTwist) {
        for _ in 0..2 {
            self.system.against_velocities(&self.twists, &given);
            self.push(begin);
        }
    }
}

/// The impulse acts on a body; its work, J.
fn act(twist: &mut WorldTwist, push: &Push, mass: &InverseMass) -> f64 {
    let before = *twist;
    add(twist, &push.change(mass));
    0.5 * (push.linear.dot(before.linear + twist.linear)
        + push.angular.dot(before.angular + twist.angular))
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
