//! Pairs that were followed on their ways. As long as the ways of those that do not meet stay close to what they were, and those of the others are
//! just the same, nothing new is to be found.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use glam::DVec3;
use moreau_solvers::WorldTwist;

/// A pair that was followed. Most do not meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calm {
    pub(super) pair: [Slot; 2],
    /// Its ways then.
    pub(super) ways: [WorldTwist; 2],
    /// By how much more than was asked for planes hold the bodies apart on them, m; zero where something else told.
    pub(super) room: f64,
    /// The bodies were to keep apart, rather than not to sink into each other.
    pub(super) strict: bool,
    /// The last plane between them.
    pub(super) plane: Option<DVec3>,
    /// When the bodies meet on just these ways, s after `t_k`, if they do.
    pub(super) met: Option<f64>,
}

impl Calm {
    /// The bodies do not meet on these ways either.
    ///
    /// A point at `ρ` from its centre is at most `t (|Δv| + |Δω| |ρ|)` from where it was on the other way: rotations are as close as their
    /// vectors. What moves both bodies alike leaves them as far apart as they were.
    pub(super) fn covers(&self, ways: &[WorldTwist; 2], (bodies, h): (&Bodies, f64)) -> bool {
        if self.met.is_some() {
            return false;
        }
        if *ways == self.ways {
            return true;
        }
        let linear = |side: usize| ways[side].linear - self.ways[side].linear;
        let mut change = (linear(0) - linear(1)).length();
        for (side, slot) in self.pair.into_iter().enumerate() {
            let body = &bodies.constants[slot];
            let turn = ways[side].angular - self.ways[side].angular;
            if turn != DVec3::ZERO && body.ball_radius().is_none() {
                change += turn.length() * body.radius;
            }
        }
        h * change < self.room
    }
}

/// What the looks of a step found.
#[derive(Debug, Default)]
pub(super) struct CalmPairs {
    /// Before this look, ascending by their pairs.
    known: Vec<Calm>,
    /// In this look.
    found: Vec<Calm>,
}

impl CalmPairs {
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.found.clear();
    }

    pub(super) fn get(&self, pair: [Slot; 2]) -> Option<&Calm> {
        let place = self.known.binary_search_by_key(&pair, |calm| calm.pair);
        place.ok().map(|place| &self.known[place])
    }

    pub(super) fn push(&mut self, calm: Calm) {
        self.found.push(calm);
    }

    /// A look is over: what it found takes the place of what was known of the same pairs.
    pub(super) fn end_look(&mut self) {
        let Self { known, found } = self;
        found.sort_by_key(|calm| calm.pair);
        found.dedup_by_key(|calm| calm.pair);
        let before = known.len();
        for calm in found.drain(..) {
            let place = known[..before].binary_search_by_key(&calm.pair, |own| own.pair);
            match place {
                Ok(place) => known[place] = calm,
                Err(_) => known.push(calm),
            }
        }
        if known.len() > before {
            // Two lists in order.
            known.sort_by_key(|calm| calm.pair);
        }
    }
}
