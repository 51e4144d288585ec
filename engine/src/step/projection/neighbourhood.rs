//! The bodies that a projection moves: those near an overlap that is too deep.
//!
//! Two bodies that impulses move are linked if they have a contact in `I₀`; the ground and sleepers link
//! nobody. The bodies of the deep overlaps are joined by those a few links away, or by all that links lead
//! to. These move; whatever else they meet is held, as a wall is.
//!
//! Which bodies are within some number of links does not depend on the order of the links: the
//! neighbourhood is a pure function of the state.

use super::fit;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::detection::{Detection, Pair};
use crate::interactions::detected::Detected;
use crate::interactions::edit::Edits;
use crate::math::chunks;

/// How far a neighbourhood goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Range {
    /// So many links.
    Links(u8),
    /// Whole islands.
    Islands,
}

/// Buffers of a neighbourhood.
#[derive(Debug, Default)]
pub(super) struct Neighbourhood {
    /// 1 + links from a deep overlap, by slot; 0 for bodies that do not move.
    ring: Vec<u8>,
    /// Impulses move the body, by slot.
    free: Vec<bool>,
    /// Of the bodies, when that was written.
    epoch: Option<u64>,
    /// Bodies that move.
    moving: Vec<Slot>,
    /// Linked bodies.
    links: Vec<[Slot; 2]>,
    /// Pairs with a body that moves, and whether each of the step is one.
    pairs: Vec<Pair>,
    concerned: Vec<bool>,
    /// Their contacts, or those of the pairs looked at last.
    pub(super) contacts: Vec<Detected>,
}

impl Neighbourhood {
    /// Finds the contacts of `pairs` at the present poses. Returns the deepest overlap, m, ≥ 0.
    pub(super) fn look_at(
        &mut self,
        pairs: &[Pair],
        bodies: &Bodies,
        detection: &mut Detection,
    ) -> f64 {
        detection.measure(pairs, bodies, &mut self.contacts)
    }

    /// Finds the contacts of the neighbourhood again. Returns the deepest overlap, m, ≥ 0.
    pub(super) fn measure(&mut self, bodies: &Bodies, detection: &mut Detection) -> f64 {
        fit(&mut self.contacts, self.pairs.len());
        detection.measure(&self.pairs, bodies, &mut self.contacts)
    }

    /// Takes the links of a step.
    pub(super) fn link(&mut self, candidates: &[Detected], bodies: &Bodies) {
        if self.epoch != Some(bodies.epoch) {
            self.epoch = Some(bodies.epoch);
            self.free.clear();
            let free = bodies.slots().map(|slot| bodies.is_awake_dynamic(slot));
            self.free.extend(free);
        }
        let links = candidates.iter().map(|found| found.bodies);
        let linked = |pair: &[Slot; 2]| pair.iter().all(|slot| self.free[*slot]);
        self.links.clear();
        self.links.extend(links.filter(linked));
        self.links.dedup();
    }

    /// Becomes that of those of its contacts that are deeper than `tolerance`, m.
    pub(super) fn gather(
        &mut self,
        range: Range,
        tolerance: f64,
        bodies: &Bodies,
        (detection, edits): (&mut Detection, &Edits),
    ) {
        for slot in self.moving.drain(..) {
            self.ring[slot] = 0;
        }
        self.ring.resize(bodies.len(), 0);
        for contact in self.contacts.iter().filter(|c| c.gap < -tolerance) {
            for slot in contact.bodies {
                let ring = &mut self.ring[slot];
                if *ring == 0 && self.free[slot] {
                    *ring = 1;
                    self.moving.push(slot);
                }
            }
        }
        match range {
            Range::Links(count) => (1..=count).for_each(|ring| self.spread(ring)),
            Range::Islands => self.spread_over_islands(),
        }
        self.moving.sort_unstable();
        let ring = &self.ring;
        let moves = |pair: &Pair| pair.iter().any(|slot| ring[*slot as usize] > 0);
        let pairs = detection.pairs();
        chunks::mark(pairs, &moves, &mut self.concerned);
        let concerned = pairs.iter().zip(&self.concerned).filter(|(_, mark)| **mark);
        self.pairs.clear();
        self.pairs.extend(concerned.map(|(pair, _)| *pair));
        if edits.drops() {
            self.pairs.retain(|pair| !edits.lets_pass(&pair.map(Slot)));
        }
        self.measure(bodies, detection);
    }

    /// Slots of the bodies that move, ascending.
    pub(super) fn moving(&self) -> &[Slot] {
        &self.moving
    }

    pub(super) fn moves(&self, slot: Slot) -> bool {
        self.ring[slot] > 0
    }

    /// Adds the bodies that a link joins to those of a ring.
    fn spread(&mut self, ring: u8) {
        for [a, b] in &self.links {
            for (from, to) in [(*a, *b), (*b, *a)] {
                if self.ring[from] == ring && self.ring[to] == 0 {
                    self.ring[to] = ring + 1;
                    self.moving.push(to);
                }
            }
        }
    }

    /// Adds all bodies that links lead to: forwards and backwards over the links until nobody is added.
    fn spread_over_islands(&mut self) {
        let Self {
            ring,
            moving,
            links,
            ..
        } = self;
        let mut follow = |[a, b]: &[Slot; 2]| {
            let to = match [a, b].map(|slot| ring[*slot] > 0) {
                [true, false] => *b,
                [false, true] => *a,
                _ => return false,
            };
            ring[to] = 1;
            moving.push(to);
            true
        };
        let mut grows = true;
        while grows {
            grows = false;
            links.iter().for_each(|link| grows |= follow(link));
            links.iter().rev().for_each(|link| grows |= follow(link));
        }
    }
}
