//! The overlaps of a neighbourhood as a frictionless contact problem around the present poses.

use super::contacts::{Contacts, Limits, tolerance};
use super::neighbourhood::Neighbourhood;
use super::sharper::Sharper;
use crate::bodies::Bodies;
use crate::bodies::slot::{Slot, Slots};
use crate::components::Pose;
use crate::detection::path::Path;
use crate::interactions::detected::Detected;
use crate::joints::Joints;
use crate::math::chunks;
use crate::math::rotation::{self, contact_frame};
use crate::motion::Motion;
use crate::settings::Settings;
use crate::step::bouncing::left_to_bounce;
use crate::step::sub_problem::{Rows, SubProblem, fit};
use glam::{DMat3, DVec3};
use moreau_solvers::{Contact, Goal, Interaction, Nsgs, ProblemError, WorldTwist};

/// Part of the tolerance that is left as overlap: contacts stay closed. If they opened by a hair, whatever
/// stands on them would have to fall onto them in the next steps.
pub(super) const LEFT: f64 = 0.5;

/// What is left over all contacts, `e_scaled`, to which a correction is solved.
const GOAL: f64 = 1e-3;

/// Bodies that move, their contacts, what is left of an overlap, by slot, and their joints.
pub(super) type Around<'a> = (&'a Neighbourhood, &'a Contacts, &'a [Limits], &'a Joints);

/// The state of the step.
#[derive(Clone, Copy)]
pub(super) struct Now<'a> {
    pub(super) bodies: &'a Bodies,
    pub(super) motion: &'a Motion,
    pub(super) settings: &'a Settings,
    /// By slot: moved without being turned; empty if there are none.
    pub(super) stuck: &'a [bool],
}

/// The problem for a pseudo-displacement, in m and rad instead of velocities.
#[derive(Debug, Default)]
pub(super) struct Linearised {
    problem: SubProblem,
    lambda: Vec<f64>,
    /// Joints of its bodies.
    joints: Vec<Interaction>,
    sharper: Sharper,
}

impl Linearised {
    /// Solves `0 ≤ g_N + ε + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0` over the neighbourhood and moves its bodies by `Ŵ Cᵀ Λ`;
    /// `ε` is half of the tolerance. Islands may be solved on for so many block `products`.
    pub(super) fn correct(
        &mut self,
        around: Around,
        bodies: &mut Bodies,
        (motion, settings): (&Motion, &Settings),
        (solver, stuck): (&mut Nsgs, &[bool]),
        products: &mut usize,
    ) -> Result<(), ProblemError> {
        let now = Now {
            bodies,
            motion,
            settings,
            stuck,
        };
        self.take(around, now);
        let goal = Goal::scaled(GOAL);
        let (problem, displacement) = self.problem.split();
        solver.solve_factored(&problem, &mut self.lambda, displacement, &goal)?;
        if *products > 0 {
            let most = solver.settings.max_sweeps;
            let work = (goal, products);
            let (whole, sharper) = (&mut self.problem, &mut self.sharper);
            let made = sharper.solve_on(whole, (around, now), work, solver);
            solver.settings.max_sweeps = most;
            made?;
        }
        let (slots, displacement) = self.problem.solution();
        let poses = Slots::of(slots, &mut bodies.pose[..]);
        chunks::for_each((poses, &displacement[..slots.len()]), &move_bodies);
        Ok(())
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

    fn take(&mut self, around: Around, now: Now) {
        let (near, contacts, _, joints) = around;
        let contacts = &contacts.near;
        // A pile that falls is projected as a whole, one at rest at single places: large buffers are given back.
        self.problem.fit(near.moving().len(), contacts.len());
        fit(&mut self.lambda, 3 * contacts.len());
        let moving = near.moving().iter().copied();
        fill(&mut self.problem, moving, contacts, (around, now));
        self.joints.clear();
        joints.hold(now.bodies, |slot| near.moves(slot), &mut self.joints);
        self.problem.take_interactions(self.joints.iter());
        let rows = self.joints.iter().map(|joint| joint.law.rows());
        let rows = 3 * contacts.len() + rows.sum::<usize>();
        self.lambda.clear();
        self.lambda.resize(rows, 0.0);
    }
}

/// The problem of some bodies of a neighbourhood, ascending, with their contacts.
pub(super) fn fill(
    problem: &mut SubProblem,
    moving: impl Iterator<Item = Slot>,
    contacts: &[Detected],
    (around, now): (Around, Now),
) {
    let (bodies, motion) = (now.bodies, now.motion);
    problem.take_bodies(moving, (bodies.len(), true), |slot| {
        let (mut mass, centre) = (motion.inverse_mass[slot], bodies.pose[slot].position);
        // A way of a body on a stiff spring takes energy: what it overlaps with goes.
        let heavier = bodies.user_forces.heavier(slot);
        if heavier > 1.0 {
            mass.linear /= heavier;
            mass.angular *= 1.0 / heavier;
        }
        if now.stuck.get(slot.index()).is_some_and(|stuck| *stuck) {
            mass.angular = DMat3::ZERO;
        }
        (mass, WorldTwist::default(), centre)
    });
    problem.take_contacts(contacts, |found, rows| contact(found, around, now, rows));
}

/// A contact of the neighbourhood.
#[inline]
fn contact(found: &Detected, (near, _, limits, _): Around, now: Now, rows: Rows) -> Contact {
    let (bodies, motion, settings) = (now.bodies, now.motion, now.settings);
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
