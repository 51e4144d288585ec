//! Pairs whose contacts were exchanged in a step: their order, and whether a pair is among them.

use crate::bodies::slot::Slot;
use std::collections::BTreeSet;

/// Each pair once.
#[derive(Debug, Default)]
pub(super) struct ChangedPairs {
    /// In the order in which they came.
    list: Vec<[Slot; 2]>,
    known: BTreeSet<[Slot; 2]>,
}

impl ChangedPairs {
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.known.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn contains(&self, pair: &[Slot; 2]) -> bool {
        self.known.contains(pair)
    }

    /// Adds a pair, unless it is there.
    pub(super) fn push(&mut self, pair: [Slot; 2]) {
        if self.known.insert(pair) {
            self.list.push(pair);
        }
    }

    /// In the order in which they came.
    pub(super) fn list(&self) -> &[[Slot; 2]] {
        &self.list
    }
}
