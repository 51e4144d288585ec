//! A large problem cut into slabs, so that threads work on parts of their own.
//!
//! ```text
//!        slab 0      │      slab 1      │      slab 2        bodies, by position along the longest axis
//!     ● ●  ●   ● ────┼──● ●   ●  ●  ●───┼──●  ●  ● ●
//!      interior      └ between 0 and 1  └ between 1 and 2    units: groups of contacts
//! ```
//!
//! A *unit* is the contacts inside one slab, or between two. A [`Task`] is the inside of a slab and what
//! lies between it and the next one; tasks come in *rounds* in which no slab occurs twice, so that those of a
//! round can run at the same time:
//!
//! ```text
//! round 0:   [0, 0–1]   [2, 2–3]   [4, 4–5] …
//! round 1:       [1, 1–2]   [3, 3–4]   [5] …
//! round 2 …: what lies between slabs that are no neighbours, in large bodies and thin slabs
//! ```
//!
//! How many slabs there are follows from the number of contacts alone, never from the number of
//! threads, and one thread visits the same units in the same order.

use super::members::{Link, Members};
use super::rows::{FIRST_ROW, Place};
use crate::problem::FactoredProblem;
use glam::DVec3;

/// Least number of contacts of a slab on average.
const CONTACTS_PER_SLAB: usize = 750;
/// The same of pairs of bodies, from more than four slabs on: lanes hold pairs, and must be filled.
const PAIRS_PER_SLAB: usize = 300;
/// Slabs of a pile as wide as high, over the cubic root of its contacts: they stay thicker than a body,
/// so that not all contacts lie between slabs.
const SLABS_PER_EDGE: f64 = 0.6;
const MAX_SLABS: usize = 64;
/// Resolution of the cuts.
const BINS: usize = 2048;
const NONE: u32 = u32::MAX;

/// What one thread does at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Task {
    /// The slabs that it needs, the same twice if it needs one.
    pub(crate) slabs: [u32; 2],
    /// The slab whose inside it visits, if any. It is also the number of that unit.
    pub(crate) inside: Option<u32>,
    /// The unit between the two that it visits then.
    pub(crate) between: Option<u32>,
}

/// Where everything is.
#[derive(Debug, Default)]
pub(crate) struct Slabs {
    /// Slab of each body; [`NONE`] for bodies that impulses do not move.
    slab: Vec<u32>,
    /// Place of each body within its slab.
    place: Vec<Place>,
    /// Free bodies with contacts, by slab, in the order of their rows.
    pub(crate) bodies: Vec<Vec<u32>>,
    /// Moving bodies that impulses do not move: every slab has a row for each of them.
    pub(crate) driven: Vec<u32>,
    /// The two slabs of each unit, interiors first.
    pub(crate) units: Vec<[u32; 2]>,
    /// Tasks by rounds. Those of the first have every slab once.
    pub(crate) rounds: Vec<Vec<Task>>,
    /// Contacts of each body.
    degree: Vec<u32>,
    bin: Vec<u16>,
    occurs: Vec<bool>,
}

impl Slabs {
    /// Cuts the problem, whose contacts are `links`.
    pub(crate) fn cut(&mut self, problem: &FactoredProblem, links: &[Link]) {
        let pairs = links.chunk_by(|a, b| a.bodies == b.bodies).count();
        let count = number_of_slabs(links.len(), pairs);
        self.degree.clear();
        self.degree.resize(problem.inverse_mass.len(), 0);
        for link in links {
            for j in link.bodies {
                self.degree[j as usize] += 1;
            }
        }
        self.assign(problem, count);
        self.number_rows(problem, count);
    }

    /// Slab of a body that impulses move.
    #[cfg(test)]
    pub(crate) fn slab_of(&self, body: u32) -> u32 {
        self.slab[body as usize]
    }

    /// Slab and row of a body, if a contact moves it.
    pub(crate) fn slab_and_row(&self, body: u32) -> Option<(u32, u32)> {
        let place = self.place[body as usize];
        let row = place.slab_and_row().1 as u32;
        place.is_free().then(|| (self.slab[body as usize], row))
    }

    /// Number of slabs.
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Number of keys of units.
    pub(crate) fn keys(&self) -> usize {
        self.len() * self.len()
    }

    /// The key of the unit of a contact of two bodies, and their places in it. The first slab of a unit is
    /// the lesser one.
    pub(crate) fn place(&self, bodies: [u32; 2]) -> (u32, [Place; 2]) {
        let [j, k] = bodies;
        let (a, b) = (self.slab[j as usize], self.slab[k as usize]);
        let (low, high) = match (a, b) {
            (NONE, NONE) => (0, 0),
            (NONE, other) | (other, NONE) => (other, other),
            _ => (a.min(b), a.max(b)),
        };
        let in_unit = |slab: u32, place: Place| {
            if slab == high && high != low {
                place.in_second()
            } else {
                place
            }
        };
        let places = [
            in_unit(a, self.place[j as usize]),
            in_unit(b, self.place[k as usize]),
        ];
        (self.key([low, high]), places)
    }

    /// What a unit is called before it has a number.
    pub(crate) fn key(&self, [low, high]: [u32; 2]) -> u32 {
        low * self.len() as u32 + high
    }

    /// Numbers the units: all interiors, then those between slabs that have members.
    pub(crate) fn number_units(&mut self, members: &Members) {
        let count = self.len() as u32;
        self.occurs.clear();
        self.occurs.resize(self.keys(), false);
        for key in members.keys() {
            self.occurs[key as usize] = true;
        }
        self.units.clear();
        self.units.extend((0..count).map(|slab| [slab; 2]));
        let pairs = (0..count).flat_map(|low| (low + 1..count).map(move |high| [low, high]));
        for pair in pairs {
            if self.occurs[self.key(pair) as usize] {
                self.units.push(pair);
            }
        }
        self.make_rounds();
    }

    /// Puts the work into rounds; units between slabs that are no neighbours greedily in their order.
    fn make_rounds(&mut self) {
        for round in &mut self.rounds {
            round.clear();
        }
        let count = self.len() as u32;
        self.rounds.resize_with(self.rounds.len().max(2), Vec::new);
        for slab in 0..count {
            let next = slab + 1;
            self.rounds[slab as usize % 2].push(Task {
                slabs: [slab, next.min(count - 1)],
                inside: Some(slab),
                between: None,
            });
        }
        for (unit, slabs) in (0..).zip(&self.units).skip(count as usize) {
            let [a, b] = *slabs;
            if b == a + 1 {
                let task = &mut self.rounds[a as usize % 2][a as usize / 2];
                task.between = Some(unit);
                continue;
            }
            let task = Task {
                slabs: *slabs,
                inside: None,
                between: Some(unit),
            };
            let free = |round: &Vec<Task>| {
                let mut taken = round.iter().flat_map(|other| other.slabs);
                taken.all(|slab| slab != a && slab != b)
            };
            match self.rounds[2..].iter().position(free) {
                Some(round) => self.rounds[2 + round].push(task),
                None => self.rounds.push(vec![task]),
            }
        }
    }

    /// Gives every free body a slab: cuts across the longest axis into parts of equal numbers of
    /// contacts.
    fn assign(&mut self, problem: &FactoredProblem, count: usize) {
        let masses = problem.inverse_mass;
        self.slab.clear();
        self.slab.resize(masses.len(), NONE);
        if count == 1 {
            for (slab, mass) in self.slab.iter_mut().zip(masses) {
                if !mass.is_fixed() {
                    *slab = 0;
                }
            }
            return;
        }
        let place = place(problem);
        let free = || (0..masses.len()).filter(|j| !masses[*j].is_fixed());
        let (low, high) = free().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), j| {
            (low.min(place(j)), high.max(place(j)))
        });
        let scale = BINS as f64 / (high - low);
        self.bin.clear();
        // A cast of what is not a number gives the first bin.
        self.bin.extend(
            (0..masses.len()).map(|j| (((place(j) - low) * scale) as usize).min(BINS - 1) as u16),
        );
        let mut contacts = [0_u32; BINS];
        for j in free() {
            contacts[self.bin[j] as usize] += self.degree[j];
        }
        let total: u64 = contacts.iter().map(|n| u64::from(*n)).sum();
        let mut cut = [0_u32; BINS];
        let mut before = 0;
        for (slab, n) in cut.iter_mut().zip(&contacts) {
            let middle = before + u64::from(*n) / 2;
            *slab = ((middle * count as u64) / total.max(1)).min(count as u64 - 1) as u32;
            before += u64::from(*n);
        }
        for j in free() {
            self.slab[j] = cut[self.bin[j] as usize];
        }
    }

    /// Rows of the bodies that have contacts.
    fn number_rows(&mut self, problem: &FactoredProblem, count: usize) {
        self.bodies.iter_mut().for_each(Vec::clear);
        self.bodies.resize_with(count, Vec::new);
        self.driven.clear();
        self.place.clear();
        self.place.resize(self.degree.len(), Place::AT_REST);
        let touched = || (0..).zip(&self.degree).filter(|(_, degree)| **degree > 0);
        for (j, _) in touched().filter(|(j, _)| self.slab[*j] == NONE) {
            let twist = &problem.free_twist[j];
            if twist.linear != DVec3::ZERO || twist.angular != DVec3::ZERO {
                self.place[j] = Place::fixed(FIRST_ROW + self.driven.len() as u32);
                self.driven.push(j as u32);
            }
        }
        let first = FIRST_ROW + self.driven.len() as u32;
        for (j, _) in touched().filter(|(j, _)| self.slab[*j] != NONE) {
            let bodies = &mut self.bodies[self.slab[j] as usize];
            self.place[j] = Place::free(first + bodies.len() as u32);
            bodies.push(j as u32);
        }
    }
}

/// A multiple of four, so that two threads share each round evenly, or one.
fn number_of_slabs(contacts: usize, pairs: usize) -> usize {
    let thick = SLABS_PER_EDGE * libm::cbrt(contacts as f64);
    let filled = (contacts / CONTACTS_PER_SLAB).min((pairs / PAIRS_PER_SLAB).max(4));
    let most = filled.min(thick as usize);
    (most / 4 * 4).clamp(1, MAX_SLABS)
}

/// Position of a body along the axis of the cuts.
fn place<'a>(problem: &FactoredProblem<'a>) -> impl Fn(usize) -> f64 + use<'a> {
    let positions = problem.positions;
    let masses = problem.inverse_mass;
    let mut low = DVec3::INFINITY;
    let mut high = DVec3::NEG_INFINITY;
    for (position, mass) in positions.iter().zip(masses) {
        if !mass.is_fixed() {
            low = low.min(*position);
            high = high.max(*position);
        }
    }
    let extent = high - low;
    let longest = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
    move |j| positions.get(j).map_or(j as f64, |p| p[longest])
}
