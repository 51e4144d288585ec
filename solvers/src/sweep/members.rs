//! Which contacts are visited together, and the unit that each of them belongs to.
//!
//! ```text
//! contacts ──read──▶ links ──cut──▶ slabs of the bodies ──sort──▶ members by unit
//! ```
//!
//! A *member* is a contact of balls, up to four contacts of one pair of bodies that follow each
//! other, or an interaction of another law. Contacts are read once, in chunks that threads share; everything else works on the narrow
//! links. Chunks begin where a pair of bodies begins, so that members do not depend on them.

use super::ball_lanes::{BallMass, is_of_balls};
use super::manifold_lanes::MAX_POINTS;
use super::rows::Place;
use super::slabs::Slabs;
use crate::problem::{FactoredProblem, ProblemError};
use rayon::prelude::*;

/// The kind of members that are no contacts.
pub(crate) const GENERAL: usize = MAX_POINTS + 1;

/// Contacts that one thread takes at a time.
const CHUNK: usize = 1024;

/// What the layout needs of a contact.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Link {
    pub(crate) bodies: [u32; 2],
    /// A contact of balls.
    ball: bool,
    /// No contact but an interaction of another law.
    general: bool,
}

/// Contacts that are visited together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// The first of them, or the interaction.
    pub(crate) contact: u32,
    /// How many there are, all of the same two bodies.
    pub(crate) points: u8,
    /// A contact of balls.
    pub(crate) ball: bool,
    /// An interaction of another law.
    pub(crate) general: bool,
    pub(crate) colour: u8,
    pub(crate) places: [Place; 2],
}

impl Member {
    /// Members of one kind fill lanes together: 0 for balls, else the number of points. [`GENERAL`] ones have no lanes.
    pub(crate) fn kind(&self) -> usize {
        match (self.general, self.ball) {
            (true, _) => GENERAL,
            (_, true) => 0,
            _ => self.points as usize,
        }
    }
}

/// Members of a chunk, sorted by unit.
#[derive(Debug, Default)]
struct Part {
    found: Vec<(u32, Member)>,
    sorted: Vec<Member>,
    /// Key of each unit in the part and the end of its members, by ascending keys.
    runs: Vec<(u32, u32)>,
    counts: Vec<u32>,
}

/// All members of a problem.
#[derive(Debug, Default)]
pub(crate) struct Members {
    links: Vec<Link>,
    parts: Vec<Part>,
}

impl Members {
    /// Reads and checks all contacts. `masses` has one entry a body.
    pub(crate) fn read(
        &mut self,
        problem: &FactoredProblem,
        masses: &[BallMass],
        shared: bool,
    ) -> Result<(), ProblemError> {
        let contacts = problem.contacts;
        self.links.resize(problem.len(), Link::default());
        let read = |chunk: usize, links: &mut [Link]| -> Option<ProblemError> {
            let first = chunk * CHUNK;
            let (of_contacts, others) =
                links.split_at_mut(contacts.len().saturating_sub(first).min(links.len()));
            let skipped = (first + of_contacts.len()).saturating_sub(contacts.len());
            let own = contacts.get(first..).unwrap_or_default();
            for (other, link) in problem.interactions[skipped..].iter().zip(others) {
                *link = Link {
                    bodies: other.bodies,
                    ball: false,
                    general: true,
                };
            }
            for ((index, contact), link) in (first..).zip(own).zip(of_contacts) {
                if let Err(error) = contact.check(index, masses.len()) {
                    return Some(error);
                }
                let masses = contact.bodies.map(|j| masses[j as usize]);
                *link = Link {
                    bodies: contact.bodies,
                    ball: is_of_balls(contact, masses),
                    general: false,
                };
            }
            None
        };
        let found = if shared {
            let chunks = self.links.par_chunks_mut(CHUNK).enumerate();
            chunks.find_map_first(|(chunk, links)| read(chunk, links))
        } else {
            let mut chunks = self.links.chunks_mut(CHUNK).enumerate();
            chunks.find_map(|(chunk, links)| read(chunk, links))
        };
        found.map_or(Ok(()), Err)
    }

    pub(crate) fn links(&self) -> &[Link] {
        &self.links
    }

    /// Makes the members and sorts them by unit.
    pub(crate) fn sort(&mut self, cut: &Slabs, shared: bool) {
        let links = &self.links[..];
        let count = links.len().div_ceil(CHUNK);
        self.parts.resize_with(count, Part::default);
        let sort = |(chunk, part): (usize, &mut Part)| {
            let range = begin(links, chunk * CHUNK)..begin(links, (chunk + 1) * CHUNK);
            part.find(links, range, cut);
            part.sort(cut.keys());
        };
        if shared {
            let parts = self.parts.par_iter_mut().with_max_len(1);
            parts.enumerate().for_each(sort);
        } else {
            self.parts.iter_mut().enumerate().for_each(sort);
        }
    }

    /// Keys of units, those that occur several times included.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u32> {
        self.parts
            .iter()
            .flat_map(|part| &part.runs)
            .map(|run| run.0)
    }

    /// The members of one unit, in the order of contacts.
    pub(crate) fn collect(&self, key: u32, members: &mut Vec<Member>) {
        members.clear();
        for part in &self.parts {
            let Ok(run) = part.runs.binary_search_by_key(&key, |run| run.0) else {
                continue;
            };
            let begin = if run == 0 { 0 } else { part.runs[run - 1].1 };
            let range = begin as usize..part.runs[run].1 as usize;
            members.extend_from_slice(&part.sorted[range]);
        }
    }
}

/// The first place from `at` on where a pair begins.
fn begin(links: &[Link], at: usize) -> usize {
    let Some(last) = at.checked_sub(1).and_then(|last| links.get(last)) else {
        return at.min(links.len());
    };
    let same = links[at..].iter().take_while(|l| l.bodies == last.bodies);
    at + same.count()
}

impl Part {
    /// Makes the members of a range of contacts.
    fn find(&mut self, links: &[Link], range: std::ops::Range<usize>, cut: &Slabs) {
        self.found.clear();
        let mut bodies = None;
        for index in range {
            let link = links[index];
            if bodies == Some(link.bodies)
                && !link.general
                && let Some((_, member)) = self.found.last_mut()
                && (member.points as usize) < MAX_POINTS
            {
                member.points += 1;
                member.ball = false;
                continue;
            }
            bodies = (!link.general).then_some(link.bodies);
            let (key, places) = cut.place(link.bodies);
            let member = Member {
                contact: index as u32,
                points: 1,
                ball: link.ball,
                general: link.general,
                colour: 0,
                places,
            };
            self.found.push((key, member));
        }
    }

    /// Sorts them by unit, those of one unit in their order.
    fn sort(&mut self, keys: usize) {
        let Self {
            found,
            sorted,
            runs,
            counts,
        } = self;
        runs.clear();
        counts.clear();
        counts.resize(keys, 0);
        for (key, _) in &*found {
            counts[*key as usize] += 1;
        }
        let mut end = 0;
        for (key, count) in (0..).zip(counts) {
            let begin = end;
            if *count > 0 {
                end += *count;
                runs.push((key, end));
            }
            *count = begin;
        }
        if let Some((_, first)) = found.first() {
            sorted.clear();
            sorted.resize(found.len(), *first);
        }
        for (key, member) in &*found {
            let place = &mut self.counts[*key as usize];
            sorted[*place as usize] = *member;
            *place += 1;
        }
    }
}
