//! Islands: groups of interactions that are connected through bodies which impulses move.

use crate::FactoredProblem;
use crate::problem::{Contact, Interaction, InverseMass, WorldTwist};
use glam::DVec3;

/// The islands of a factored problem.
#[derive(Debug, Default)]
pub(crate) struct Islands {
    /// Island of each contact, or [`NONE`]; numbered by their first contact.
    pub(crate) of_contact: Vec<u32>,
    /// How many there are.
    pub(crate) count: usize,
    /// By body: impulses do not move it.
    fixed: Vec<bool>,
    /// Bodies of each interaction, contacts first: next to each other, for all passes over them.
    bodies: Vec<[u32; 2]>,
    /// The islands are those of all contacts with these bodies, and of nothing else.
    known: bool,
    parent: Vec<u32>,
    number: Vec<u32>,
    /// Contacts by islands, and where those of each end.
    members: Vec<u32>,
    ends: Vec<u32>,
}

/// Island of a contact that was left out.
const NONE: u32 = u32::MAX;

impl Islands {
    /// The islands of all contacts: those of before where these are of the same bodies, as at rest.
    pub(crate) fn find(&mut self, problem: &FactoredProblem) {
        let masses = problem.inverse_mass.iter();
        let is_known = self.known
            && problem.interactions.is_empty()
            && problem.contacts.len() == self.bodies.len()
            && problem.inverse_mass.len() == self.fixed.len()
            && problem
                .contacts
                .iter()
                .zip(&self.bodies)
                .all(|(contact, known)| contact.bodies == *known)
            && masses
                .zip(&self.fixed)
                .all(|(mass, fixed)| mass.is_fixed() == *fixed);
        if is_known {
            return;
        }
        self.find_among(problem, |_| true);
        self.known = problem.interactions.is_empty();
    }

    /// The islands of some of the contacts, all others left out.
    pub(crate) fn find_among(&mut self, problem: &FactoredProblem, takes: impl Fn(usize) -> bool) {
        self.known = false;
        let mut bodies = std::mem::take(&mut self.bodies);
        bodies.clear();
        bodies.extend(problem.contacts.iter().map(|contact| contact.bodies));
        bodies.extend(problem.interactions.iter().map(|other| other.bodies));
        // Contacts ask for it in no order of the bodies.
        let mut is_fixed = std::mem::take(&mut self.fixed);
        is_fixed.clear();
        is_fixed.extend(problem.inverse_mass.iter().map(InverseMass::is_fixed));
        let fixed = |body: u32| is_fixed[body as usize];
        self.parent.clear();
        self.parent.extend(0..problem.inverse_mass.len() as u32);
        let mut last = None;
        for (index, [a, b]) in bodies.iter().copied().enumerate() {
            if takes(index) && !fixed(a) && !fixed(b) {
                self.join(a, b);
            }
            let free = [a, b].into_iter().find(|body| !fixed(*body));
            if !problem.is_linked(index) {
                last = free;
            } else if let (Some(a), Some(b)) = (last, free) {
                self.join(a, b);
            } else {
                last = last.or(free);
            }
        }
        self.number.clear();
        self.number.resize(self.parent.len(), u32::MAX);
        self.of_contact.clear();
        self.count = 0;
        for (index, [a, b]) in bodies.iter().copied().enumerate() {
            if !takes(index) {
                self.of_contact.push(NONE);
                continue;
            }
            // A contact of two fixed bodies is an island of its own.
            let island = if let (true, Some(known)) =
                (problem.is_linked(index), self.of_contact.last().copied())
            {
                known
            } else if fixed(a) && fixed(b) {
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
        (self.fixed, self.bodies) = (is_fixed, bodies);
        self.sort();
    }

    /// Sorts the contacts by islands, those of one in their order.
    fn sort(&mut self) {
        self.ends.clear();
        self.ends.resize(self.count, 0);
        let mut all = 0;
        for island in self.of_contact.iter().filter(|island| **island != NONE) {
            self.ends[*island as usize] += 1;
            all += 1;
        }
        let mut begin = 0;
        for end in &mut self.ends {
            begin += std::mem::replace(end, begin);
        }
        self.members.resize(all, 0);
        for (contact, island) in (0..).zip(&self.of_contact) {
            if *island != NONE {
                let end = &mut self.ends[*island as usize];
                self.members[*end as usize] = contact;
                *end += 1;
            }
        }
    }

    /// The contacts of an island, in their order.
    pub(crate) fn members(&self, island: usize) -> &[u32] {
        let begin = if island == 0 {
            0
        } else {
            self.ends[island - 1]
        };
        &self.members[begin as usize..self.ends[island] as usize]
    }

    /// The contact is in an island.
    pub(crate) fn has(&self, contact: usize) -> bool {
        self.of_contact[contact] != NONE
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
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
    interactions: Vec<Interaction>,
    pull: Vec<f64>,
    /// Triples in the problem that it was taken from.
    pub(crate) source: Vec<u32>,
    /// First triple there of each interaction that is no contact.
    first: Vec<u32>,
    pub(crate) impulse: Vec<DVec3>,
    /// Index here of each body there, if it is not stale.
    place: Vec<u32>,
    bodies: Vec<u32>,
}

impl Extract {
    /// Takes out some contacts of `problem`. `free` are the twists of the bodies without the impulses of these.
    pub(crate) fn take(
        &mut self,
        problem: &FactoredProblem,
        members: &[u32],
        free: &[WorldTwist],
        impulse: &[DVec3],
    ) {
        let mut first = std::mem::take(&mut self.first);
        first.clear();
        first.extend(problem.others().map(|(range, _)| range.start as u32));
        self.take_given(problem, members, (free, impulse), &first);
        self.first = first;
    }

    /// The same, given the first triple of each interaction that is no contact.
    pub(crate) fn take_given(
        &mut self,
        problem: &FactoredProblem,
        members: &[u32],
        (free, impulse): (&[WorldTwist], &[DVec3]),
        first_triples: &[u32],
    ) {
        for body in self.bodies.drain(..) {
            self.place[body as usize] = u32::MAX;
        }
        self.place.resize(problem.inverse_mass.len(), u32::MAX);
        self.inverse_mass.clear();
        self.free_twist.clear();
        self.contacts.clear();
        self.interactions.clear();
        self.pull.clear();
        self.source.clear();
        self.impulse.clear();
        // Members are in their order: contacts come first here too.
        for index in members {
            let index = *index as usize;
            let bodies = problem.bodies_of(index).map(|body| {
                let there = body as usize;
                if self.place[there] == u32::MAX {
                    self.place[there] = self.bodies.len() as u32;
                    self.bodies.push(body);
                    self.inverse_mass.push(problem.inverse_mass[there]);
                    self.free_twist.push(free[there]);
                }
                self.place[there]
            });
            if let Some(contact) = problem.contacts.get(index) {
                self.contacts.push(Contact { bodies, ..*contact });
                self.source.push(index as u32);
            } else {
                let other = index - problem.contacts.len();
                let (first, other) = (first_triples[other], &problem.interactions[other]);
                self.interactions.push(Interaction { bodies, ..*other });
                self.source.extend(first..first + other.triples() as u32);
            }
        }
        if !problem.pull.is_empty() {
            let own = members.iter().map(|index| problem.pull_at(*index as usize));
            self.pull.extend(own);
        }
        let own = self.source.iter().map(|triple| impulse[*triple as usize]);
        self.impulse.extend(own);
    }

    /// Its bodies in the problem that it was taken from.
    pub(crate) fn bodies(&self) -> &[u32] {
        &self.bodies
    }

    pub(crate) fn view(&self) -> FactoredProblem<'_> {
        FactoredProblem {
            inverse_mass: &self.inverse_mass,
            free_twist: &self.free_twist,
            contacts: &self.contacts,
            interactions: &self.interactions,
            positions: &[],
            pull: &self.pull,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::OwnedProblem;
    use crate::rows_of;

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

    /// Whatever was looked at before: the same problem, others, a part, or one in which another body is fixed.
    #[test]
    fn islands_do_not_depend_on_what_was_before() {
        let mut islands = Islands::default();
        for seed in [0, 0, 1, 0, 2, 2] {
            for part in [false, true, false] {
                let mut owned = OwnedProblem::random(seed, 40, 25);
                for fixed in [None, Some(3), Some(3), None] {
                    if let Some(body) = fixed {
                        owned.inverse_mass[body] = InverseMass::FIXED;
                    }
                    let problem = owned.view();
                    if part {
                        islands.find_among(&problem, |index| index % 2 == 0);
                    }
                    islands.find(&problem);
                    let mut new = Islands::default();
                    new.find(&problem);
                    assert_eq!(islands.of_contact, new.of_contact);
                    assert_eq!(islands.members, new.members);
                    assert_eq!(islands.count, new.count);
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
        owned.view().twist_under(rows_of(&impulse), &mut whole);
        for (every, bound) in [(1, 0.0), (2, 1e-12), (3, 1e-12)] {
            let (mut islands, mut extract) = (Islands::default(), Extract::default());
            islands.find_among(&owned.view(), |contact| contact % every == 0);
            let others: Vec<_> = (0..25)
                .map(|k| {
                    if islands.has(k) {
                        DVec3::ZERO
                    } else {
                        impulse[k]
                    }
                })
                .collect();
            let mut free = Vec::new();
            owned.view().twist_under(rows_of(&others), &mut free);
            let mut seen = 0;
            for island in 0..islands.count {
                let members = islands.members(island);
                assert!(members.is_sorted());
                let of = |k: &u32| islands.of_contact[*k as usize] as usize;
                assert!(members.iter().all(|k| of(k) == island));
                extract.take(&owned.view(), members, &free, &impulse);
                let mut twist = Vec::new();
                extract
                    .view()
                    .twist_under(rows_of(&extract.impulse), &mut twist);
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
