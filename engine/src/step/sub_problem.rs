//! The problem of a step over the bodies that take part in it.
//!
//! The solver works on arrays over all bodies of its problem. Where most bodies of the world are static or
//! asleep, the problem is copied to one over those that move or have a contact, in the same order: then
//! those at rest cost nothing in the solve either.

use super::assembly::ContactProblem;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::motion::Motion;
use glam::DVec3;
use moreau_solvers::{Contact, FactoredProblem, InverseMass, WorldTwist};

/// Buffers of the copy.
#[derive(Debug, Default)]
pub(crate) struct SubProblem {
    /// Slots of its bodies, ascending.
    slots: Vec<Slot>,
    /// Place of each slot in them; `u32::MAX` where there is none.
    place: Vec<u32>,
    inverse_mass: Vec<InverseMass>,
    free_twist: Vec<WorldTwist>,
    positions: Vec<DVec3>,
    contacts: Vec<Contact>,
    /// `v_{k+1}` of its bodies.
    pub(crate) end: Vec<WorldTwist>,
}

impl SubProblem {
    /// So many bodies are at rest, static or asleep, that the copy is worth it.
    pub(crate) fn is_worth_it(bodies: &Bodies) -> bool {
        4 * bodies.moving.len() < bodies.len()
    }

    /// Copies the problem.
    pub(crate) fn take(&mut self, problem: &ContactProblem, bodies: &Bodies, motion: &Motion) {
        for slot in self.slots.drain(..) {
            self.place[slot] = u32::MAX;
        }
        self.place.resize(bodies.len(), u32::MAX);
        let of_contacts = problem.contacts.iter().flat_map(|contact| contact.bodies);
        for slot in bodies.moving.iter().copied().chain(of_contacts.map(Slot)) {
            if self.place[slot] == u32::MAX {
                self.place[slot] = 0;
                self.slots.push(slot);
            }
        }
        self.slots.sort_unstable();
        for (place, slot) in (0..).zip(&self.slots) {
            self.place[*slot] = place;
        }
        self.inverse_mass.clear();
        self.free_twist.clear();
        self.positions.clear();
        self.contacts.clear();
        for slot in self.slots.iter().copied() {
            self.inverse_mass.push(motion.inverse_mass[slot]);
            self.free_twist.push(motion.free[slot]);
            self.positions.push(motion.position[slot]);
        }
        let place = &self.place;
        self.contacts
            .extend(problem.contacts.iter().map(|contact| Contact {
                bodies: contact.bodies.map(|slot| place[slot as usize]),
                ..*contact
            }));
    }

    /// The copy, with the place for the twists that solve it.
    pub(crate) fn split(&mut self) -> (FactoredProblem<'_>, &mut Vec<WorldTwist>) {
        let problem = FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free_twist,
            contacts: &self.contacts,
            interactions: &[],
            positions: &self.positions,
        };
        (problem, &mut self.end)
    }

    /// Writes the twists of its bodies among those of all. Nobody reads the others.
    pub(crate) fn give_back(&self, end: &mut Vec<WorldTwist>, bodies: &Bodies) {
        end.resize(bodies.len(), WorldTwist::default());
        for (slot, twist) in self.slots.iter().zip(&self.end) {
            end[*slot] = *twist;
        }
    }
}
