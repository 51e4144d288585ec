//! The bodies that a projection moves: those near an overlap that is too deep.
//!
//! The bodies of the deep overlaps are joined by those a few ties of the step's [`Graph`] away, or by their whole islands. These
//! move; whatever else they meet is held, as a wall is. The neighbourhood is a pure function of the state.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::detection::{Detection, Pair};
use crate::interactions::detected::Detected;
use crate::interactions::edit::Edits;
use crate::interactions::graph::Graph;
use crate::math::chunks;
use crate::step::sub_problem::fit;

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

    /// Becomes that of those of its contacts that are deeper than `tolerance`, m.
    pub(super) fn gather(
        &mut self,
        range: Range,
        tolerance: f64,
        bodies: &Bodies,
        (detection, edits): (&mut Detection, &Edits),
        graph: &mut Graph,
    ) {
        for slot in self.moving.drain(..) {
            self.ring[slot] = 0;
        }
        self.ring.resize(bodies.len(), 0);
        for contact in self.contacts.iter().filter(|c| c.gap < -tolerance) {
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
