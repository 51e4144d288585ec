//! The overlaps of a neighbourhood as a frictionless contact problem around the present poses.

use super::fit;
use super::neighbourhood::Neighbourhood;
use crate::bodies::Bodies;
use crate::bodies::slot::{Slot, Slots};
use crate::components::Pose;
use crate::interactions::detected::Detected;
use crate::math::chunks;
use crate::math::rotation::{self, contact_frame};
use crate::motion::Motion;
use crate::step::assembly::NO_CONTACT;
use glam::DVec3;
use moreau_solvers::{
    Contact, FactoredProblem, Goal, InverseMass, Nsgs, ProblemError, WorldTwist, rows_of_mut,
};
use std::ops::Range;

/// Part of the tolerance that is left as overlap: contacts stay closed. If they opened by a hair, whatever
/// stands on them would have to fall onto them in the next steps.
const LEFT: f64 = 0.5;

/// Buffers of the problem: a row for each body that moves, in the order of slots, and one for all that
/// are held.
#[derive(Debug, Default)]
pub(super) struct Linearised {
    /// Slots of the bodies that move, ascending.
    slots: Vec<Slot>,
    /// Row of each slot; of use for those alone.
    row: Vec<u32>,
    inverse_mass: Vec<InverseMass>,
    /// Centres of mass, m: the solver lays bodies out by them.
    centres: Vec<DVec3>,
    rest: Vec<WorldTwist>,
    contacts: Vec<Contact>,
    lambda: Vec<DVec3>,
    displacement: Vec<WorldTwist>,
}

impl Linearised {
    /// Solves `0 ≤ g_N + ε + C Ŵ Cᵀ Λ ⊥ Λ ≥ 0` over the neighbourhood and moves its bodies by `Ŵ Cᵀ Λ`;
    /// `ε` is half of the `tolerance`.
    pub(super) fn correct(
        &mut self,
        near: &Neighbourhood,
        tolerance: f64,
        bodies: &mut Bodies,
        motion: &Motion,
        solver: &mut Nsgs,
    ) -> Result<(), ProblemError> {
        self.take(near, tolerance, bodies, motion);
        let problem = FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.rest,
            contacts: &self.contacts,
            interactions: &[],
            positions: &self.centres,
        };
        let goal = Goal::scaled(1e-3);
        let lambda = rows_of_mut(&mut self.lambda);
        solver.solve_factored(&problem, lambda, &mut self.displacement, &goal)?;
        let displacement = &self.displacement[..self.slots.len()];
        let poses = Slots::of(&self.slots, &mut bodies.pose[..]);
        chunks::for_each((poses, displacement), &move_bodies);
        Ok(())
    }

    fn take(&mut self, near: &Neighbourhood, tolerance: f64, bodies: &Bodies, motion: &Motion) {
        self.fit(near);
        self.slots.clear();
        self.slots.extend_from_slice(near.moving());
        let count = self.slots.len();
        self.row.resize(bodies.len(), 0);
        let rows = Slots::of(&self.slots, &mut self.row[..]);
        chunks::for_each((rows, 0..count as u32), &number);
        self.inverse_mass.resize(count + 1, InverseMass::FIXED);
        self.centres.resize(count + 1, DVec3::ZERO);
        self.inverse_mass[count] = InverseMass::FIXED;
        self.centres[count] = DVec3::ZERO;
        let columns = (&mut self.inverse_mass[..count], &mut self.centres[..count]);
        let copy = |(slots, (masses, centres)): (&[Slot], (&mut [InverseMass], &mut [DVec3]))| {
            for (slot, (mass, centre)) in slots.iter().zip(masses.iter_mut().zip(centres)) {
                *mass = motion.inverse_mass[*slot];
                *centre = bodies.pose[*slot].position;
            }
        };
        chunks::for_each((&self.slots[..], columns), &copy);
        self.rest.clear();
        self.rest.resize(count + 1, WorldTwist::default());
        let (row, held) = (&self.row, count as u32);
        let contact = |found: &Detected| {
            let inside = found.bodies.map(|slot| near.moves(slot));
            let [a, b] = found.bodies;
            // Whoever is held for being far off might give way: a shallow overlap with it may stay as it is.
            let pushable = bodies.is_awake_dynamic(a) && bodies.is_awake_dynamic(b);
            let may_stay = inside != [true, true] && pushable && found.gap >= -tolerance;
            let room = found.gap + LEFT * tolerance;
            let room = if may_stay { room.max(0.0) } else { room };
            Contact {
                bodies: [(a, inside[0]), (b, inside[1])]
                    .map(|(slot, inside)| if inside { row[slot] } else { held }),
                frame: contact_frame(found.normal),
                arms: [(a, -1.0), (b, 1.0)].map(|(slot, side)| {
                    found.arm(side, motion.balls[slot], bodies.pose[slot].position)
                }),
                offset: DVec3::new(room, 0.0, 0.0),
                friction: 0.0,
            }
        };
        self.contacts.resize(near.contacts.len(), NO_CONTACT);
        let columns = (&near.contacts[..], &mut self.contacts[..]);
        chunks::for_each(columns, &|(found, contacts): (&[_], &mut [_])| {
            for (found, own) in found.iter().zip(contacts) {
                *own = contact(found);
            }
        });
        self.lambda.clear();
        self.lambda.resize(self.contacts.len(), DVec3::ZERO);
    }

    /// A pile that falls is projected as a whole, one at rest at single places: large buffers are given back.
    fn fit(&mut self, near: &Neighbourhood) {
        let (bodies, contacts) = (near.moving().len() + 1, near.contacts.len());
        fit(&mut self.slots, bodies);
        fit(&mut self.inverse_mass, bodies);
        fit(&mut self.centres, bodies);
        fit(&mut self.rest, bodies);
        fit(&mut self.displacement, bodies);
        fit(&mut self.contacts, contacts);
        fit(&mut self.lambda, contacts);
    }
}

/// Slots whose poses are at hand.
type Poses<'a> = Slots<'a, &'a mut [Pose]>;

/// Moves bodies by their displacements.
fn move_bodies((bodies, displacement): (Poses, &[WorldTwist])) {
    let rows = bodies.each();
    for ((_, row), moved) in rows.zip(displacement) {
        let pose = &mut bodies.columns[row];
        pose.position += moved.linear;
        if moved.angular != DVec3::ZERO {
            pose.orientation =
                rotation::normalised(rotation::exp(moved.angular) * pose.orientation);
        }
    }
}

/// Writes the rows of slots.
fn number((slots, numbers): (Slots<'_, &mut [u32]>, Range<u32>)) {
    let rows = slots.each();
    for ((_, row), number) in rows.zip(numbers) {
        slots.columns[row] = number;
    }
}
