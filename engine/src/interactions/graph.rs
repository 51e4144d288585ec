//! The interaction graph: dynamic bodies that are awake, joined by the contacts of a step.
//!
//! Static, kinematic and sleeping bodies do not connect others. Islands are found by union-find over the contacts in their order, the
//! lower slot becoming the root: an island is named by its lowest slot, whatever the order of contacts. Which bodies are
//! within some number of ties does not depend on that order either.

use super::detected::Detected;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;

/// The graph of a step.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Pairs of bodies that are tied, in their order.
    ties: Vec<[Slot; 2]>,
    /// On the way to the root of each body's island; none for bodies that are not awake and dynamic.
    parent: Vec<Slot>,
    /// Of the bodies, when those were written.
    epoch: Option<u64>,
    /// It is that of the contacts of this step.
    known: bool,
}

impl Graph {
    /// The contacts are others from now on.
    pub(crate) fn forget(&mut self) {
        self.known = false;
    }

    /// Becomes that of some `contacts`, unless it is already.
    pub(crate) fn tie(&mut self, contacts: &[Detected], bodies: &Bodies) {
        if std::mem::replace(&mut self.known, true) {
            return;
        }
        if self.epoch != Some(bodies.epoch) {
            self.epoch = Some(bodies.epoch);
            self.parent.clear();
            self.parent.resize(bodies.len(), Slot::NONE);
        }
        for slot in bodies.awake_dynamic() {
            self.parent[slot] = slot;
        }
        let pairs = contacts.iter().map(|contact| contact.bodies);
        let parent = &self.parent;
        let tied = |pair: &[Slot; 2]| pair.iter().all(|slot| parent[*slot] != Slot::NONE);
        self.ties.clear();
        self.ties
            .extend(pairs.chain(bodies.tied.iter().copied()).filter(tied));
        self.ties.dedup();
        for row in 0..self.ties.len() {
            let [a, b] = self.ties[row].map(|slot| self.island(slot));
            self.parent[a.max(b)] = a.min(b);
        }
    }

    /// The body is awake and dynamic: it has an island.
    #[inline]
    pub(crate) fn has(&self, slot: Slot) -> bool {
        self.parent[slot] != Slot::NONE
    }

    /// The island of a body, named by its lowest slot.
    #[inline]
    pub(crate) fn island(&mut self, mut slot: Slot) -> Slot {
        while self.parent[slot] != slot {
            // Halving paths.
            let up = self.parent[self.parent[slot]];
            self.parent[slot] = up;
            slot = up;
        }
        slot
    }

    /// Calls `reach` with every two bodies that are tied, both ways; it tells who is reached from whom.
    pub(crate) fn each_way(&self, mut reach: impl FnMut(Slot, Slot)) {
        for [a, b] in &self.ties {
            reach(*a, *b);
            reach(*b, *a);
        }
    }
}
