//! Places of bodies in the arrays of the step.

use crate::math::chunks::Part;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// Place of a body in the arrays of the step, in the order of ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Slot(pub(crate) u32);

impl Slot {
    /// Fills buffers that are written before they are read, and marks unused places.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// The slot of a row.
    #[inline]
    pub(crate) fn new(row: usize) -> Self {
        Self(row as u32)
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// The first `count` slots.
    pub(crate) fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..count as u32).map(Self)
    }
}

impl<T> Index<Slot> for [T] {
    type Output = T;

    #[inline]
    fn index(&self, slot: Slot) -> &T {
        &self[slot.index()]
    }
}

impl<T> IndexMut<Slot> for [T] {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut T {
        &mut self[slot.index()]
    }
}

impl<T> Index<Slot> for Vec<T> {
    type Output = T;

    #[inline]
    fn index(&self, slot: Slot) -> &T {
        &self.as_slice()[slot.index()]
    }
}

impl<T> IndexMut<Slot> for Vec<T> {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut T {
        &mut self.as_mut_slice()[slot.index()]
    }
}

/// Some rows of columns: those of `slots`, ascending, in columns that begin at slot `first`.
pub(crate) struct Slots<'a, C> {
    slots: &'a [Slot],
    first: usize,
    /// Row `slot − first` of each column belongs to `slot`.
    pub(crate) columns: C,
}

impl<'a, C> Slots<'a, C> {
    /// The rows `slots` of whole columns.
    pub(crate) fn of(slots: &'a [Slot], columns: C) -> Self {
        Self {
            slots,
            first: 0,
            columns,
        }
    }

    /// Slots and their rows in the columns.
    pub(crate) fn each(&self) -> impl Iterator<Item = (Slot, usize)> + use<'a, C> {
        let first = self.first;
        let slots = self.slots.iter();
        slots.map(move |slot| (*slot, slot.index() - first))
    }
}

impl<C: Part> Part for Slots<'_, C> {
    fn rows(&self) -> usize {
        self.slots.len()
    }

    fn cut(self, at: usize) -> (Self, Self) {
        let (slots, others) = self.slots.split_at(at);
        let end = self.first + self.columns.rows();
        let first = others.first().map_or(end, |slot| slot.index());
        let (columns, rest) = self.columns.cut(first - self.first);
        let part = |slots, first, columns| Self {
            slots,
            first,
            columns,
        };
        (part(slots, self.first, columns), part(others, first, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::chunks::for_each;

    #[test]
    fn every_slot_is_met_once_with_its_own_row() {
        let slots: Vec<Slot> = (0..10_000).filter(|slot| slot % 7 != 3).map(Slot).collect();
        let mut column: Vec<u32> = vec![0; 10_000];
        let visit = |part: Slots<'_, (&mut [u32], &mut [u32])>| {
            let rows = part.each();
            let (column, _) = part.columns;
            rows.for_each(|(slot, row)| column[row] += slot.0);
        };
        let mut other = column.clone();
        for_each(Slots::of(&slots, (&mut column[..], &mut other[..])), &visit);
        for slot in 0..10_000 {
            let expected = if slot % 7 == 3 { 0 } else { slot };
            assert_eq!(column[slot as usize], expected);
        }
    }
}
