//! Islands: groups of contacts that are connected through bodies which impulses move.

use crate::FactoredProblem;
use crate::problem::{Contact, InverseMass, WorldTwist};
use glam::DVec3;

/// The islands of a factored problem.
#[derive(Debug, Default)]
pub(crate) struct Islands {
    /// Island of each contact; numbered by their first contact.
    pub(crate) of_contact: Vec<u32>,
    /// How many there are.
    pub(crate) count: usize,
    parent: Vec<u32>,
    number: Vec<u32>,
}

/// Island of a contact that was left out.
const NONE: u32 = u32::MAX;

impl Islands {
    pub(crate) fn find(&mut self, problem: &FactoredProblem) {
        self.find_among(problem, |_| true);
    }

    /// The islands of some of the contacts, all others left out.
    pub(crate) fn find_among(&mut self, problem: &FactoredProblem, takes: impl Fn(usize) -> bool) {
        let fixed = |body: u32| problem.inverse_mass[body as usize].is_fixed();
        self.parent.clear();
        self.parent.extend(0..problem.inverse_mass.len() as u32);
        for (index, contact) in problem.contacts.iter().enumerate() {
            let [a, b] = contact.bodies;
            if takes(index) && !fixed(a) && !fixed(b) {
                let (a, b) = (self.root(a), self.root(b));
                self.parent[a.max(b) as usize] = a.min(b);
            }
        }
        self.number.clear();
        self.number.resize(self.parent.len(), u32::MAX);
        self.of_contact.clear();
        self.count = 0;
        for (index, contact) in problem.contacts.iter().enumerate() {
            if !takes(index) {
                self.of_contact.push(NONE);
                continue;
            }
            let [a, b] = contact.bodies;
            // A contact of two fixed bodies is an island of its own.
            let island = if fixed(a) && fixed(b) {
                self.count += 1;
                self.count as u32 - 1
            } else {
                let root = self.root(if fixed(a) { b } else { a }) as usize;
                if self.number[root] == u32::MAX {
                    self.number[root] = self.count as u32;
                    self.count += 1;
                }
                self.number[root]
            };
            self.of_contact.push(island);
        }
    }

    /// Union by smallest index, halving paths.
    fn root(&mut self, mut body: u32) -> u32 {
        while self.parent[body as usize] != body {
            let up = self.parent[self.parent[body as usize] as usize];
            self.parent[body as usize] = up;
            body = up;
        }
        body
    }
}

/// One island as a problem of its own, all other impulses being what they are.
#[derive(Debug, Default)]
pub(crate) struct Extract {
    inverse_mass: Vec<InverseMass>,
    free_twist: Vec<WorldTwist>,
    contacts: Vec<Contact>,
    /// Contacts in the problem that it was taken from.
    pub(crate) source: Vec<u32>,
    pub(crate) impulse: Vec<DVec3>,
    /// Index here of each body there, if it is not stale.
    place: Vec<u32>,
    bodies: Vec<u32>,
}

impl Extract {
    pub(crate) fn take(
        &mut self,
        problem: &FactoredProblem,
        islands: &Islands,
        island: u32,
        impulse: &[DVec3],
    ) {
        for body in self.bodies.drain(..) {
            self.place[body as usize] = u32::MAX;
        }
        self.place.resize(problem.inverse_mass.len(), u32::MAX);
        self.inverse_mass.clear();
        self.free_twist.clear();
        self.contacts.clear();
        self.source.clear();
        self.impulse.clear();
        let members = islands.of_contact.iter().enumerate();
        for (index, _) in members.filter(|(_, of)| **of == island) {
            let mut contact = problem.contacts[index];
            for body in &mut contact.bodies {
                let there = *body as usize;
                if self.place[there] == u32::MAX {
                    self.place[there] = self.bodies.len() as u32;
                    self.bodies.push(*body);
                    self.inverse_mass.push(problem.inverse_mass[there]);
                    self.free_twist.push(problem.free_twist[there]);
                }
                *body = self.place[there];
            }
            self.contacts.push(contact);
            self.source.push(index as u32);
            self.impulse.push(impulse[index]);
        }
        self.add_others(problem, islands, island, impulse);
    }

    /// Adds the impulses of contacts that the island leaves out to the free twists of its bodies.
    fn add_others(
        &mut self,
        problem: &FactoredProblem,
        islands: &Islands,
        island: u32,
        impulse: &[DVec3],
    ) {
        let contacts = problem.contacts.iter().zip(impulse);
        for ((contact, r), of) in contacts.zip(&islands.of_contact) {
            if *of == island {
                continue;
            }
            let force = contact.frame * *r;
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let place = self.place[contact.bodies[side] as usize] as usize;
                let (Some(mass), Some(twist)) =
                    (self.inverse_mass.get(place), self.free_twist.get_mut(place))
                else {
                    continue;
                };
                twist.linear += force * (sign * mass.linear);
                twist.angular += mass.angular * contact.arms[side].cross(force * sign);
            }
        }
    }

    pub(crate) fn view(&self) -> FactoredProblem<'_> {
        FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free_twist,
            contacts: &self.contacts,
            positions: &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::OwnedProblem;

    /// Two contacts are in one island if and only if a chain of free bodies joins them.
    #[test]
    fn islands_are_the_connected_components() {
        for seed in 0..20 {
            let owned = OwnedProblem::random(seed, 40, 25);
            let problem = owned.view();
            let mut islands = Islands::default();
            islands.find(&problem);
            let share = |i: usize, j: usize| {
                let [a, b] = [i, j].map(|k| problem.contacts[k].bodies);
                a.iter().any(|body| *body != 0 && b.contains(body))
            };
            let mut label: Vec<usize> = (0..25).collect();
            for _ in 0..25 {
                for i in 0..25 {
                    for j in 0..25 {
                        if share(i, j) {
                            label[i] = label[i].min(label[j]);
                        }
                    }
                }
            }
            for i in 0..25 {
                for j in 0..25 {
                    let same = islands.of_contact[i] == islands.of_contact[j];
                    assert_eq!(same, label[i] == label[j]);
                }
            }
        }
    }

    /// Of an island to the last bit; of some of the contacts up to the rounding of some ten impulses of 40 N·s.
    #[test]
    fn an_extract_has_the_velocities_of_its_contacts() {
        let owned = OwnedProblem::random(4, 40, 25);
        let impulse: Vec<_> = (0..25).map(|k| DVec3::splat(f64::from(k))).collect();
        let mut whole = Vec::new();
        owned.view().twist_under(&impulse, &mut whole);
        for (every, bound) in [(1, 0.0), (2, 1e-12), (3, 1e-12)] {
            let (mut islands, mut extract) = (Islands::default(), Extract::default());
            islands.find_among(&owned.view(), |contact| contact % every == 0);
            let mut seen = 0;
            for island in 0..islands.count as u32 {
                extract.take(&owned.view(), &islands, island, &impulse);
                let mut twist = Vec::new();
                extract.view().twist_under(&extract.impulse, &mut twist);
                for (contact, source) in extract.contacts.iter().zip(&extract.source) {
                    let there = &owned.contacts[*source as usize];
                    for (here, there) in contact.bodies.iter().zip(there.bodies) {
                        let (here, there) = (&twist[*here as usize], &whole[there as usize]);
                        assert!((here.linear - there.linear).length() <= bound);
                        assert!((here.angular - there.angular).length() <= bound);
                    }
                    seen += 1;
                }
            }
            assert_eq!(seen, 25_usize.div_ceil(every));
        }
    }
}
