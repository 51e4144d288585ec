//! Contacts that go and come between two solves of a step.

use crate::bodies::slot::Slot;
use crate::interactions::detected::{Detected, Late};
use crate::interactions::edit::Edits;
use crate::interactions::record::{ContactRecord, Earlier};
use glam::DVec3;

/// What goes, what comes, and from where the rows that stay go on.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// Which rows stay in `I₀`.
    pub(crate) stay: Vec<bool>,
    /// What comes in, ordered by pair once it is complete.
    pub(crate) late: Vec<Late>,
    /// Pairs of rows that stay, with another law.
    pub(crate) struck: Vec<[Slot; 2]>,
    /// Where rows were before it.
    pub(crate) origin: Vec<Option<u32>>,
    /// Impulses before it.
    impulse: Vec<DVec3>,
    /// Couples, the same.
    couples: Vec<DVec3>,
    /// Bodies whose contacts it changes, ascending.
    pub(crate) bodies: Vec<Slot>,
}

impl Exchange {
    /// Of so many rows all stay, and none comes in.
    pub(crate) fn clear(&mut self, rows: usize) {
        self.late.clear();
        self.struck.clear();
        self.stay.clear();
        self.stay.resize(rows, true);
    }

    /// Exchanges the rows of `record`, and keeps the impulses of those that stay.
    pub(crate) fn apply(&mut self, record: &mut ContactRecord, edits: &mut Edits) {
        self.late.sort_by_key(|late| late.contact.bodies);
        self.list_bodies(&record.found);
        self.impulse.clone_from(&record.impulse);
        self.couples.clone_from(&record.couples);
        edits.exchange(&mut record.found, &self.stay, &self.late, &mut self.origin);
        let earlier = self.late.iter().any(|late| late.earlier.says_something());
        if earlier || !record.earlier.is_empty() {
            record.earlier.resize(self.stay.len(), Earlier::default());
            self.carry(&mut record.earlier, Earlier::default());
            for (row, late) in self.come().zip(&self.late) {
                record.earlier[row] = late.earlier;
            }
        }
    }

    /// The rows that came in, in the order of `late`.
    fn come(&self) -> impl Iterator<Item = usize> {
        let rows = self.origin.iter().enumerate();
        rows.filter_map(|(row, from)| from.is_none().then_some(row))
    }

    /// Rows that stayed go on from their impulses; in later stages others begin from none.
    pub(crate) fn go_on(&self, record: &mut ContactRecord) {
        let staged = !record.earlier.is_empty();
        for (impulse, origin) in record.impulse.iter_mut().zip(&self.origin) {
            match origin {
                Some(row) => *impulse = self.impulse[*row as usize],
                None if staged => *impulse = DVec3::ZERO,
                None => {}
            }
        }
        for (couple, origin) in record.couples.iter_mut().zip(&self.origin) {
            match origin {
                Some(row) => *couple = self.couples.get(*row as usize).copied().unwrap_or_default(),
                None if staged => *couple = DVec3::ZERO,
                None => {}
            }
        }
    }

    /// A column over the rows, with `new` for those that came in.
    pub(crate) fn carry<T: Copy>(&self, column: &mut Vec<T>, new: T) {
        let before = std::mem::take(column);
        let from = |row: &Option<u32>| row.map_or(new, |row| before[row as usize]);
        column.extend(self.origin.iter().map(from));
    }

    fn list_bodies(&mut self, found: &[Detected]) {
        let gone = found.iter().zip(&self.stay).filter(|(_, stay)| !**stay);
        let gone = gone.map(|(place, _)| place.bodies);
        let late = self.late.iter().map(|late| late.contact.bodies);
        self.bodies.clear();
        let struck = self.struck.iter().copied();
        self.bodies.extend(gone.chain(late).chain(struck).flatten());
        self.bodies.sort_unstable();
        self.bodies.dedup();
    }
}
