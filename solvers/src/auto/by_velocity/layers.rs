//! How many bodies lie on top of each other in an island: what is left at its contacts adds up from layer to layer.

use crate::problem::FactoredProblem;
use glam::DVec3;

/// Contacts of an island from which its layers are counted: smaller ones are solved further where they slip slowly ([`super::figure::slips`]).
const MANY: usize = 64;
/// Bodies beyond which they are not: the work would be that of seconds.
const MOST_BODIES: usize = 2_000;
/// Layers of a tall island, over the bodies in each of them. A wall of 20 rows of 20 has one, a pyramid of 40 rows two.
const TALL: f64 = 3.0;

/// Part of the most that a body hands on to another one from which on what it leans on holds it against that, along the same direction: a cube in the midst of a
/// row that is pushed lies on the floor, and is held by the next cube all the same.
const HOLDS: f64 = 0.1;

const NONE: u32 = u32::MAX;

/// The layers of islands, counted from the bodies that impulses do not move, and that hold what leans on them, along contacts that press.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// Of each body: the first of its contacts in `links`, and the layer that it lies in, 0 where none was found.
    first: Vec<u32>,
    layer: Vec<u32>,
    /// Of each contact, from each of its bodies: the next one of that body, and the other body.
    links: Vec<[u32; 2]>,
    queue: Vec<u32>,
    /// Of each body: the most that it hands on to another one, N·s, inertial frame.
    through: Vec<DVec3>,
    /// Bodies that lean on something that impulses do not move, and how that pushes them, N·s.
    leaning: Vec<(u32, DVec3)>,
}

impl Layers {
    /// Forgets what was there.
    pub(super) fn reset(&mut self, bodies: usize) {
        self.first.clear();
        self.first.resize(bodies, NONE);
        self.layer.clear();
        self.layer.resize(bodies, 0);
        self.through.clear();
        self.through.resize(bodies, DVec3::ZERO);
    }

    /// How many times what is left at these contacts and interactions of an island may add up if it is tall, else one: as often as there are layers, and as they lean on a base that is so
    /// much narrower than the island is high. Every body is in one island of those after [`Self::reset`].
    pub(super) fn add_up(
        &mut self,
        problem: &FactoredProblem,
        impulse: &[DVec3],
        members: &[u32],
    ) -> f64 {
        if members.len() <= MANY {
            return 1.0;
        }
        self.links.clear();
        self.queue.clear();
        self.leaning.clear();
        let (mut last, mut linked, mut sum) = ([NONE; 2], 0, DVec3::ZERO);
        for member in members.iter().map(|member| *member as usize) {
            let (bodies, push) = match problem.contacts.get(member) {
                Some(contact) if impulse[member] != DVec3::ZERO => {
                    (contact.bodies, Some(contact.frame * impulse[member]))
                }
                Some(_) => continue,
                None => {
                    let joint = &problem.interactions[member - problem.contacts.len()];
                    (joint.bodies, None)
                }
            };
            // The points of a pair follow each other.
            let is_same = bodies == last;
            let own = push.unwrap_or_default();
            sum = if is_same { sum + own } else { own };
            last = bodies;
            let fixed = bodies.map(|body| problem.inverse_mass[body as usize].is_fixed());
            match (fixed, push) {
                ([false, false], _) => {
                    for body in bodies {
                        let through = &mut self.through[body as usize];
                        if sum.length_squared() > through.length_squared() {
                            *through = sum;
                        }
                    }
                    if !is_same {
                        linked += usize::from(self.link(bodies[0], bodies[1]));
                        linked += usize::from(self.link(bodies[1], bodies[0]));
                    }
                }
                ([true, false], Some(push)) => self.leaning.push((bodies[1], -push)),
                ([false, true], Some(push)) => self.leaning.push((bodies[0], push)),
                ([true, false], None) => self.holds(bodies[1]),
                ([false, true], None) => self.holds(bodies[0]),
                ([true, true], _) => {}
            }
            if linked > MOST_BODIES {
                return 1.0;
            }
        }
        self.find_held();
        let (mut deepest, mut next) = (0, 0);
        while let Some(body) = self.queue.get(next).copied() {
            next += 1;
            deepest = self.layer[body as usize];
            let mut link = self.first[body as usize];
            while let Some([following, other]) = self.links.get(link as usize).copied() {
                link = following;
                if self.layer[other as usize] == 0 {
                    self.layer[other as usize] = deepest + 1;
                    self.queue.push(other);
                }
            }
        }
        let (deep, bodies) = (f64::from(deepest), self.queue.len() as f64);
        if deep > 0.0 && deep * deep >= TALL * bodies {
            deep * deep / bodies.sqrt()
        } else {
            1.0
        }
    }

    /// True if it is the first of this body.
    fn link(&mut self, body: u32, other: u32) -> bool {
        let first = &mut self.first[body as usize];
        let new = *first == NONE;
        let link = self.links.len() as u32;
        self.links.push([*first, other]);
        *first = link;
        new
    }

    /// The bodies of the first layer, but for those that joints hold.
    fn find_held(&mut self) {
        let mut leaning = std::mem::take(&mut self.leaning);
        leaning.sort_unstable_by_key(|(body, _)| *body);
        for leaning in leaning.chunk_by(|one, other| one.0 == other.0) {
            let body = leaning[0].0;
            let push: DVec3 = leaning.iter().map(|(_, push)| *push).sum();
            let through = self.through[body as usize];
            if push.dot(through).abs() >= HOLDS * through.length_squared() {
                self.holds(body);
            }
        }
        self.leaning = leaning;
    }

    fn holds(&mut self, body: u32) {
        if self.layer[body as usize] == 0 {
            self.layer[body as usize] = 1;
            self.queue.push(body);
        }
    }
}
