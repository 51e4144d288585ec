//! The bodies that a projection moves: those near an overlap that is too deep.
//!
//! The bodies of the deep overlaps are joined by those a few ties of the step's [`Graph`] away, or by their whole islands. These
//! move; whatever else they meet is held, as a wall is. The neighbourhood is a pure function of the state.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::interactions::detected::Detected;
use crate::interactions::graph::Graph;

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
    /// The island has a deep overlap, by the slot that names it.
    concerned_islands: Vec<bool>,
    /// Bodies that move.
    moving: Vec<Slot>,
}

impl Neighbourhood {
    /// Becomes that of some `deep` contacts.
    pub(super) fn gather<'a>(
        &mut self,
        range: Range,
        deep: impl Iterator<Item = &'a Detected>,
        bodies: &Bodies,
        graph: &mut Graph,
    ) {
        for slot in self.moving.drain(..) {
            self.ring[slot] = 0;
        }
        self.ring.resize(bodies.len(), 0);
        for contact in deep {
            for slot in contact.bodies {
                let ring = &mut self.ring[slot];
                if *ring == 0 && bodies.is_awake_dynamic(slot) {
                    *ring = 1;
                    self.moving.push(slot);
                }
            }
        }
        match range {
            Range::Links(count) => (1..=count).for_each(|ring| self.spread(ring, graph)),
            Range::Islands => self.spread_over_islands(graph, bodies),
        }
        self.moving.sort_unstable();
    }

    /// Slots of the bodies that move, ascending.
    pub(super) fn moving(&self) -> &[Slot] {
        &self.moving
    }

    pub(super) fn moves(&self, slot: Slot) -> bool {
        self.ring[slot] > 0
    }

    /// Adds the bodies that are tied to those of a ring.
    fn spread(&mut self, ring: u8, graph: &Graph) {
        graph.each_way(|from, to| {
            if self.ring[from] == ring && self.ring[to] == 0 {
                self.ring[to] = ring + 1;
                self.moving.push(to);
            }
        });
    }

    /// Adds all bodies of the islands.
    fn spread_over_islands(&mut self, graph: &mut Graph, bodies: &Bodies) {
        self.concerned_islands.clear();
        self.concerned_islands.resize(bodies.len(), false);
        for slot in &self.moving {
            self.concerned_islands[graph.island(*slot)] = true;
        }
        for slot in bodies.awake_dynamic() {
            if self.ring[slot] == 0 && self.concerned_islands[graph.island(slot)] {
                self.ring[slot] = 1;
                self.moving.push(slot);
            }
        }
    }
}
