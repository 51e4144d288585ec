//! A part of the problem of a step: some bodies, and contacts of theirs.
//!
//! The solver works on arrays over all bodies of its problem. Where only some of the world's take part, their entries are
//! copied into arrays of their own, in the same order: the others then cost nothing in the solve.

use super::assembly::NO_CONTACT;
use crate::bodies::slot::{Slot, Slots};
use crate::math::chunks;
use glam::DVec3;
use moreau_solvers::{Contact, FactoredProblem, Interaction, InverseMass, WorldTwist};
use std::ops::Range;

/// Buffers of the copy: a row a body, in the order of slots, and a last one if something is held.
#[derive(Debug, Default)]
pub(crate) struct SubProblem {
    /// Slots of its bodies, ascending.
    slots: Vec<Slot>,
    /// Row of each slot; valid only for the slots above.
    row: Vec<u32>,
    inverse_mass: Vec<InverseMass>,
    free_twist: Vec<WorldTwist>,
    /// Centres of mass, m: the solver lays bodies out by them.
    positions: Vec<DVec3>,
    contacts: Vec<Contact>,
    /// Those that are no contacts.
    interactions: Vec<Interaction>,
    /// Adhesion of each of both; empty if there is none.
    pub(crate) pull: Vec<f64>,
    /// The twists of its bodies that solve it.
    pub(crate) end: Vec<WorldTwist>,
}

impl SubProblem {
    /// Becomes a problem over other bodies, ascending slots below `all`, which `holds` others or not; `copy` gives what the
    /// solver needs of each.
    pub(crate) fn take_bodies(
        &mut self,
        slots: impl Iterator<Item = Slot>,
        (all, holds): (usize, bool),
        copy: impl Fn(Slot) -> (InverseMass, WorldTwist, DVec3) + Sync,
    ) {
        self.slots.clear();
        self.slots.extend(slots);
        let count = self.slots.len();
        self.row.resize(all, 0);
        let rows = Slots::of(&self.slots, &mut self.row[..]);
        chunks::for_each((rows, 0..count as u32), &number);
        // All that is held, in one row.
        let rows = count + usize::from(holds);
        self.inverse_mass.truncate(count);
        self.free_twist.truncate(count);
        self.positions.truncate(count);
        self.inverse_mass.resize(rows, InverseMass::FIXED);
        self.free_twist.resize(rows, WorldTwist::default());
        self.positions.resize(rows, DVec3::ZERO);
        let columns = (
            &mut self.inverse_mass[..count],
            &mut self.free_twist[..count],
            &mut self.positions[..count],
        );
        let work = |(slots, columns): (&[Slot], Columns)| {
            let (masses, twists, positions) = columns;
            let states = masses.iter_mut().zip(twists).zip(positions);
            for (slot, ((mass, twist), position)) in slots.iter().zip(states) {
                (*mass, *twist, *position) = copy(*slot);
            }
        };
        chunks::for_each((&self.slots[..], columns), &work);
    }

    /// Makes a contact of each of `from`; `make` is given the rows of bodies.
    pub(crate) fn take_contacts<T: Sync>(
        &mut self,
        from: &[T],
        make: impl Fn(&T, Rows) -> Contact + Sync,
    ) {
        let (row, held) = (&self.row[..], self.slots.len() as u32);
        let rows = Rows { row, held };
        self.contacts.resize(from.len(), NO_CONTACT);
        let columns = (from, &mut self.contacts[..]);
        chunks::for_each(columns, &|(from, contacts): (&[T], &mut [_])| {
            for (from, contact) in from.iter().zip(contacts) {
                *contact = make(from, rows);
            }
        });
    }

    /// Takes over interactions whose bodies are slots: what is not among its bodies is held.
    pub(crate) fn take_interactions<'a>(&mut self, from: impl Iterator<Item = &'a Interaction>) {
        self.interactions.clear();
        let held = self.slots.len() as u32;
        let (slots, row) = (&self.slots, &self.row);
        let place = |slot: u32| match slots.binary_search(&Slot(slot)) {
            Ok(_) => row[Slot(slot)],
            Err(_) => held,
        };
        let rows = from.map(|interaction| Interaction {
            bodies: interaction.bodies.map(place),
            ..*interaction
        });
        self.interactions.extend(rows);
    }

    /// Some of its bodies are so many times as heavy as others.
    pub(crate) fn are_unequal(&self, times: f64) -> bool {
        let masses = self.inverse_mass.iter().map(|mass| mass.linear);
        let masses = masses.filter(|mass| *mass > 0.0);
        let none = (f64::INFINITY, 0.0_f64);
        let (least, most) = masses.fold(none, |(least, most), mass| {
            (least.min(mass), most.max(mass))
        });
        most > times * least
    }

    /// Where its bodies are.
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows {
            row: &self.row,
            held: self.slots.len() as u32,
        }
    }

    /// Slots of its bodies, ascending, with the twists that solve it.
    pub(crate) fn solution(&self) -> (&[Slot], &[WorldTwist]) {
        (&self.slots, &self.end)
    }

    /// The same, to be changed.
    pub(crate) fn solution_mut(&mut self) -> (&[Slot], &mut [WorldTwist]) {
        (&self.slots, &mut self.end)
    }

    /// The problem.
    pub(crate) fn problem(&self) -> FactoredProblem<'_> {
        FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free_twist,
            contacts: &self.contacts,
            interactions: &self.interactions,
            positions: &self.positions,
            pull: &self.pull,
        }
    }

    /// The problem, and the place for the twists that solve it.
    pub(crate) fn split(&mut self) -> (FactoredProblem<'_>, &mut Vec<WorldTwist>) {
        let problem = FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free_twist,
            contacts: &self.contacts,
            interactions: &self.interactions,
            positions: &self.positions,
            pull: &self.pull,
        };
        (problem, &mut self.end)
    }

    /// Gives back the memory of buffers that are far larger than what so many bodies and contacts need.
    pub(crate) fn fit(&mut self, bodies: usize, contacts: usize) {
        fit(&mut self.slots, bodies);
        fit(&mut self.inverse_mass, bodies + 1);
        fit(&mut self.free_twist, bodies + 1);
        fit(&mut self.positions, bodies + 1);
        fit(&mut self.end, bodies + 1);
        fit(&mut self.contacts, contacts);
        fit(&mut self.pull, contacts);
    }
}

type Columns<'a> = (&'a mut [InverseMass], &'a mut [WorldTwist], &'a mut [DVec3]);

/// Where bodies are in a [`SubProblem`].
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    row: &'a [u32],
    /// The row of whatever is held.
    pub(crate) held: u32,
}

impl Rows<'_> {
    /// The row of one of its bodies.
    #[inline]
    pub(crate) fn of(&self, slot: Slot) -> u32 {
        self.row[slot]
    }
}

/// Writes the rows of slots.
fn number((slots, numbers): (Slots<'_, &mut [u32]>, Range<u32>)) {
    let rows = slots.each();
    for ((_, row), number) in rows.zip(numbers) {
        slots.columns[row] = number;
    }
}

/// Empties a buffer and gives back its memory, if that is far larger than what `count` entries need.
pub(crate) fn fit<T>(buffer: &mut Vec<T>, count: usize) {
    if buffer.capacity() > FAR_LARGER * count + SMALL {
        buffer.clear();
        buffer.shrink_to(count);
    }
}

/// Capacity over need from which on memory is given back, …
const FAR_LARGER: usize = 8;
/// … and larger than this many entries.
const SMALL: usize = 100_000;
