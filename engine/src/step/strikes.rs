//! Impacts to come in a step, and which of them comes first.

use super::impacts::has_order;
use super::solved::Solved;
use crate::bodies::slot::Slot;
use crate::interactions::detected::Late;

/// Contacts between a body and those whose impacts come before its own: what is farther away would have to strike all between first.
const LINKS: usize = 3;
/// Times of impacts that are one, as a part of the step.
const TOGETHER: f64 = 1e-6;
/// An impact to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strike {
    pub(super) pair: [Slot; 2],
    /// When the first contact of its pair closes, s.
    pub(super) time: f64,
    /// Faster than the bounce threshold.
    pub(super) fast: bool,
    pub(super) from: From,
}

/// Where the contact of an impact is.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    Waiting(usize),
    Row(usize),
}

/// What the motion as solved closes.
#[derive(Debug, Default)]
pub(super) struct Strikes {
    pub(super) list: Vec<Strike>,
    /// When each body strikes next, or one near it, s.
    next: Vec<f64>,
}

impl Strikes {
    /// Contacts of a pair strike together; when each body, or one near it, strikes first: until then its motion is known.
    pub(super) fn time(&mut self, solved: &Solved, waiting: &[Late]) {
        self.list.sort_by_key(|strike| strike.pair);
        for pair in self.list.chunk_by_mut(|a, b| a.pair == b.pair) {
            let fast = pair.iter().filter(|strike| strike.fast);
            let first = fast.map(|strike| strike.time).fold(f64::INFINITY, f64::min);
            for strike in pair.iter_mut().filter(|strike| strike.fast) {
                strike.time = first;
            }
        }
        self.next.clear();
        self.next.resize(solved.bodies.len(), f64::INFINITY);
        for strike in self.list.iter().filter(|strike| strike.fast) {
            for slot in strike.pair {
                self.next[slot] = self.next[slot].min(strike.time);
            }
        }
        let waiting = waiting.iter().map(|late| late.contact.bodies);
        let found = solved.record.found.iter().map(|place| place.bodies);
        let dynamic = |slot: &Slot| solved.bodies.is_awake_dynamic(*slot);
        let mut pairs: Vec<[Slot; 2]> = found.chain(waiting).collect();
        pairs.retain(|pair| pair.iter().all(dynamic));
        pairs.dedup();
        let contacts = solved.record.found.len();
        let links = if has_order(contacts) { LINKS } else { 0 };
        for _ in 0..links {
            let near = self.next.clone();
            for [a, b] in &pairs {
                self.next[*a] = self.next[*a].min(near[*b]);
                self.next[*b] = self.next[*b].min(near[*a]);
            }
        }
    }

    /// Nothing strikes one of its dynamic bodies before, nor what is near them.
    pub(super) fn is_earliest(&self, strike: &Strike, solved: &Solved) -> bool {
        let together = TOGETHER * solved.settings.time_step;
        strike.pair.into_iter().all(|slot| {
            !solved.bodies.is_awake_dynamic(slot) || strike.time <= self.next[slot] + together
        })
    }
}
