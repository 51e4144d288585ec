//! The overlaps of a neighbourhood as a frictionless contact problem around the present poses.

use super::contacts::{Contacts, Limits, tolerance};
use super::neighbourhood::Neighbourhood;
use crate::bodies::Bodies;
use crate::bodies::slot::{Slot, Slots};
use crate::components::Pose;
use crate::detection::path::Path;
use crate::interactions::detected::Detected;
use crate::joints::Joints;
use crate::math::chunks;
use crate::math::rotation::{self, contact_frame};
use crate::motion::Motion;
use crate::settings::{Accuracy, Settings};
use crate::step::bouncing::left_to_bounce;
use crate::step::sub_problem::{Rows, SubProblem, fit};
use glam::{DMat3, DVec3};
use moreau_solvers::{Contact, Goal, Interaction, Nsgs, ProblemError, WorldTwist};

/// Part of the tolerance that is left as overlap: contacts stay closed. If they opened by a hair, whatever
/// stands on them would have to fall onto them in the next steps.
const LEFT: f64 = 0.5;

/// What is left over all contacts, `e_scaled`, to which a correction is solved first …
const GOAL: f64 = 1e-3;
/// … and on, each time by this factor, …
const SHARPER: f64 = 0.1;
/// … while it leaves an overlap deeper than the tolerance, where some bodies are so many times as heavy as others: of the light ones that figure tells nothing.
const UNEQUAL: f64 = 100.0;
/// Block products for that: a millisecond or two, as much as a hundred sweeps of two hundred contacts. What many contacts leave is for the next linearisation.
const PRODUCTS: usize = 20_000;

/// Bodies that move, their contacts, what is left of an overlap, by slot, and their joints.
type Around<'a> = (&'a Neighbourhood, &'a Contacts, &'a [Limits], &'a Joints);

/// The problem for a pseudo-displacement, in m and rad instead of velocities.
#[derive(Debug, Default)]
pub(super) struct Linearised {
    problem: SubProblem,
    lambda: Vec<f64>,
    /// Joints of its bodies.
    joints: Vec<Interaction>,
}

impl Linearised {
    /// Solves `0 ≤ g_N + ε + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0` over the neighbourhood and moves its bodies by `Ŵ Cᵀ Λ`;
    /// `ε` is half of the tolerance.
    pub(super) fn correct(
        &mut self,
        around: Around,
        bodies: &mut Bodies,
        (motion, settings): (&Motion, &Settings),
        (solver, stuck): (&mut Nsgs, &[bool]),
    ) -> Result<(), ProblemError> {
        self.take(around, bodies, (motion, stuck), settings);
        let most = solver.settings.max_sweeps;
        // Joints are closed afterwards, which moves bodies again: a ball in a net came to lie deeper in it (12.9 mm, not 10).
        let may_go_on = settings.accuracy != Accuracy::Interactive
            && !stuck.contains(&true)
            && self.joints.is_empty()
            && self.problem.are_unequal(UNEQUAL);
        let products = if may_go_on { PRODUCTS } else { 0 };
        let made = self.solve(around, products, solver);
        solver.settings.max_sweeps = most;
        made?;
        let (slots, displacement) = self.problem.solution();
        let poses = Slots::of(slots, &mut bodies.pose[..]);
        chunks::for_each((poses, &displacement[..slots.len()]), &move_bodies);
        Ok(())
    }

    /// Solves the problem, with so many block products more while an overlap is left that is deeper than the tolerance.
    fn solve(
        &mut self,
        (_, Contacts { near: contacts, .. }, limits, _): Around,
        products: usize,
        solver: &mut Nsgs,
    ) -> Result<(), ProblemError> {
        let mut goal = Goal::scaled(GOAL);
        let mut sweeps = products / contacts.len().max(1);
        let mut further = false;
        loop {
            let (problem, displacement) = self.problem.split();
            let made = solver.solve_factored(&problem, &mut self.lambda, displacement, &goal)?;
            if further {
                sweeps = sweeps.saturating_sub(made.iterations.max(1));
            }
            let leaves_overlap = || {
                let mut rows = problem.contacts.iter().zip(contacts);
                rows.any(|(row, found)| {
                    let [a, b] = row.bodies.map(|body| &displacement[body as usize]);
                    row.local_velocity(a, b).x < (LEFT - 1.0) * tolerance(limits, found)
                })
            };
            if sweeps == 0 || !leaves_overlap() {
                return Ok(());
            }
            if made.converged() {
                goal.scaled *= SHARPER;
            }
            (further, solver.settings.max_sweeps) = (true, sweeps);
        }
    }

    /// The bodies that were moved, ascending, and by how much.
    pub(super) fn solution(&self) -> (&[Slot], &[WorldTwist]) {
        self.problem.solution()
    }

    /// What this moved into, or through, a body that it did not know of and that stays goes no farther than to where it meets that: the next correction knows
    /// of it. True if that stopped something.
    pub(super) fn stop(&mut self, unlisted: &[[Slot; 2]], bodies: &mut Bodies) -> bool {
        let (slots, displacement) = self.problem.solution_mut();
        let mut points = Vec::new();
        let mut stopped = false;
        for pair in unlisted {
            let places = pair.map(|slot| slots.binary_search(&slot).ok());
            let ([Some(place), None] | [None, Some(place)]) = places else {
                continue;
            };
            let (slot, by) = (slots[place], displacement[place]);
            let begin = moved(&bodies.pose[slot], &by, -1.0);
            let poses = [0, 1].map(|side| match places[side] {
                Some(_) => &begin,
                None => &bodies.pose[pair[side]],
            });
            let ways = places.map(|own| own.map_or(WorldTwist::default(), |_| by));
            let path = Path::new((*pair, bodies), poses, ways, None);
            let Some(part) = path.meeting(1.0, &mut points) else {
                continue;
            };
            bodies.pose[slot] = moved(&begin, &by, part);
            displacement[place].linear *= part;
            displacement[place].angular *= part;
            stopped = true;
        }
        stopped
    }

    fn take(
        &mut self,
        around: Around,
        bodies: &Bodies,
        (motion, stuck): (&Motion, &[bool]),
        settings: &Settings,
    ) {
        let (near, Contacts { near: contacts, .. }, _, joints) = around;
        // A pile that falls is projected as a whole, one at rest at single places: large buffers are given back.
        self.problem.fit(near.moving().len(), contacts.len());
        fit(&mut self.lambda, 3 * contacts.len());
        let moving = near.moving().iter().copied();
        self.problem
            .take_bodies(moving, (bodies.len(), true), |slot| {
                let (mut mass, centre) = (motion.inverse_mass[slot], bodies.pose[slot].position);
                // A way of a body on a stiff spring takes energy: what it overlaps with goes.
                let heavier = bodies.user_forces.heavier(slot);
                if heavier > 1.0 {
                    mass.linear /= heavier;
                    mass.angular *= 1.0 / heavier;
                }
                if stuck.get(slot.0 as usize).is_some_and(|stuck| *stuck) {
                    mass.angular = DMat3::ZERO;
                }
                (mass, WorldTwist::default(), centre)
            });
        self.problem.take_contacts(contacts, |found, rows| {
            contact(found, around, (bodies, motion, settings), rows)
        });
        self.joints.clear();
        joints.hold(bodies, |slot| near.moves(slot), &mut self.joints);
        self.problem.take_interactions(self.joints.iter());
        let rows = self.joints.iter().map(|joint| joint.law.rows());
        let rows = 3 * contacts.len() + rows.sum::<usize>();
        self.lambda.clear();
        self.lambda.resize(rows, 0.0);
    }
}

/// A contact of the neighbourhood.
#[inline]
fn contact(
    found: &Detected,
    (near, _, limits, _): Around,
    (bodies, motion, settings): (&Bodies, &Motion, &Settings),
    rows: Rows,
) -> Contact {
    let tolerance = tolerance(limits, found);
    let [a, b] = found.bodies;
    let inside = [near.moves(a), near.moves(b)];
    // A body that is held only because it is far away could move in reality: an overlap with it below the tolerance is left.
    let pushable = bodies.is_awake_dynamic(a) && bodies.is_awake_dynamic(b);
    let may_stay = inside != [true, true] && pushable && found.gap >= -tolerance;
    let room = found.gap + LEFT * tolerance + left_to_bounce(found, bodies, settings);
    let room = if may_stay { room.max(0.0) } else { room };
    let row = |slot, inside| if inside { rows.of(slot) } else { rows.held };
    Contact {
        bodies: [row(a, inside[0]), row(b, inside[1])],
        frame: contact_frame(found.normal),
        arms: [(a, -1.0), (b, 1.0)]
            .map(|(slot, side)| found.arm(side, motion.balls[slot], bodies.pose[slot].position)),
        offset: DVec3::new(room, 0.0, 0.0),
        friction: 0.0,
    }
}

/// Slots whose poses are at hand.
type Poses<'a> = Slots<'a, &'a mut [Pose]>;

/// Moves bodies by their displacements.
fn move_bodies((bodies, displacement): (Poses, &[WorldTwist])) {
    let rows = bodies.each();
    for ((_, row), by) in rows.zip(displacement) {
        bodies.columns[row] = moved(&bodies.columns[row], by, 1.0);
    }
}

/// A pose moved by a part of a displacement.
fn moved(pose: &Pose, by: &WorldTwist, part: f64) -> Pose {
    let mut pose = *pose;
    pose.position += by.linear * part;
    if by.angular != DVec3::ZERO {
        let turn = rotation::exp(by.angular * part);
        pose.orientation = rotation::normalised(turn * pose.orientation);
    }
    pose
}
