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
    /// Depth of the deepest overlap that a body is moved out of, m, by slot; 0 for bodies that do not move.
    depth: Vec<f64>,
    /// The same one link nearer to the overlaps.
    nearer: Vec<f64>,
    /// The same of islands, by the slot that names each.
    depth_of_island: Vec<f64>,
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
        self.depth.clear();
        self.depth.resize(bodies.len(), 0.0);
        for contact in deep {
            for slot in contact.bodies {
                let ring = &mut self.ring[slot];
                if !bodies.is_awake_dynamic(slot) {
                    continue;
                }
                if *ring == 0 {
                    *ring = 1;
                    self.moving.push(slot);
                }
                self.depth[slot] = self.depth[slot].max(-contact.gap);
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

    /// No body of the pair is moved farther than about this, m: the deepest overlap that one of them is moved out of.
    pub(super) fn reach(&self, pair: [Slot; 2]) -> f64 {
        let [a, b] = pair.map(|slot| self.depth[slot]);
        a.max(b)
    }

    /// Adds the bodies that are tied to those of a ring.
    fn spread(&mut self, ring: u8, graph: &Graph) {
        self.nearer.clone_from(&self.depth);
        graph.each_way(|from, to| {
            if self.ring[from] == ring && self.ring[to] == 0 {
                self.ring[to] = ring + 1;
                self.moving.push(to);
            }
            if self.ring[to] > 0 {
                self.depth[to] = self.depth[to].max(self.nearer[from]);
            }
        });
    }

    /// Adds all bodies of the islands.
    fn spread_over_islands(&mut self, graph: &mut Graph, bodies: &Bodies) {
        self.depth_of_island.clear();
        self.depth_of_island.resize(bodies.len(), 0.0);
        for slot in &self.moving {
            let depth = &mut self.depth_of_island[graph.island(*slot)];
            *depth = depth.max(self.depth[*slot]);
        }
        for slot in bodies.awake_dynamic() {
            let depth = self.depth_of_island[graph.island(slot)];
            if depth <= 0.0 {
                continue;
            }
            if self.ring[slot] == 0 {
                self.ring[slot] = 1;
                self.moving.push(slot);
            }
            self.depth[slot] = depth;
        }
    }
}
