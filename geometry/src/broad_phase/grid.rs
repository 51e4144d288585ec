//! Uniform grid of cubic cells, hashed: memory grows with the bodies, not with the space.
//!
//! A body is kept in the cell of its middle. None is wider than a cell, so a box reaches bodies in
//! cells at most half a cell away. The bodies of a cell lie in buckets of eight with their boxes, which
//! are compared side by side. Which list of buckets a cell has depends on its three numbers alone;
//! neighbours along x are neighbours in memory.

use super::bucket::{Around, Bucket, WIDTH};
use crate::Aabb;
use glam::DVec3;

#[derive(Default)]
pub(super) struct Grid {
    /// Length of a cell's edge (m).
    cell: f64,
    /// First bucket of each list; a power of two of them.
    heads: Vec<u32>,
    buckets: Vec<Bucket>,
    /// Buckets without bodies.
    spare: Vec<u32>,
    /// Where each body is.
    places: Vec<Place>,
}

/// A lane of a bucket.
#[derive(Clone, Copy)]
struct Place {
    bucket: u32,
    lane: u32,
}

const NONE: u32 = u32::MAX;
const NOWHERE: Place = Place {
    bucket: NONE,
    lane: 0,
};

/// Beyond this many cells it is quicker to look at all bodies.
const MOST_CELLS: i64 = 4096;

/// The cells that a box concerns.
pub(super) enum Cells {
    /// From the first to the second, included.
    Few([[i32; 3]; 2]),
    Many,
}

impl Grid {
    /// Empty, with cells of this size (m) for so many bodies.
    pub(super) fn reset(&mut self, cell: f64, bodies: usize) {
        self.cell = cell;
        let room = (2 * bodies).next_power_of_two();
        self.heads.clear();
        self.heads.resize(room, NONE);
        self.buckets.clear();
        self.spare.clear();
        self.places.clear();
        self.places.resize(room, NOWHERE);
    }

    pub(super) fn has_room_for(&self, bodies: usize) -> bool {
        bodies <= self.places.len()
    }

    pub(super) fn cell(&self) -> f64 {
        self.cell
    }

    fn cell_of(&self, point: DVec3) -> [i32; 3] {
        // Saturates, far beyond any cell: bodies there share one.
        (point / self.cell).to_array().map(|x| x.floor() as i32)
    }

    fn list_of(&self, [x, y, z]: [i32; 3]) -> usize {
        let number = (x as u32)
            .wrapping_add((y as u32).wrapping_mul(0x9e37_79b1))
            .wrapping_add((z as u32).wrapping_mul(0x85eb_ca77));
        number as usize & (self.heads.len() - 1)
    }

    /// Puts a body with its box in the cell of the middle, wherever it was before.
    pub(super) fn put(&mut self, slot: usize, aabb: &Aabb) {
        let cell = self.cell_of(0.5 * (aabb.min + aabb.max));
        let around = Around::of(aabb);
        let Place { bucket, lane } = self.places[slot];
        if let Some(bucket) = self.buckets.get_mut(bucket as usize) {
            if bucket.cell == cell {
                bucket.set(lane as usize, &around);
                return;
            }
            self.remove(slot);
        }
        let bucket = self.open_bucket(cell);
        let lane = self.buckets[bucket as usize].push(slot as u32, &around) as u32;
        self.places[slot] = Place { bucket, lane };
    }

    /// A bucket of the cell with room for one more.
    fn open_bucket(&mut self, cell: [i32; 3]) -> u32 {
        let list = self.list_of(cell);
        let mut bucket = self.heads[list];
        while let Some(known) = self.buckets.get(bucket as usize) {
            if known.cell == cell && known.len() < WIDTH {
                return bucket;
            }
            bucket = known.next;
        }
        let new = Bucket::new(cell, self.heads[list]);
        let bucket = if let Some(spare) = self.spare.pop() {
            self.buckets[spare as usize] = new;
            spare
        } else {
            self.buckets.push(new);
            (self.buckets.len() - 1) as u32
        };
        self.heads[list] = bucket;
        bucket
    }

    /// Takes a body out, if it is there.
    pub(super) fn remove(&mut self, slot: usize) {
        let Place { bucket, lane } = std::mem::replace(&mut self.places[slot], NOWHERE);
        let Some(own) = self.buckets.get_mut(bucket as usize) else {
            return;
        };
        if let Some(moved) = own.swap_remove(lane as usize) {
            self.places[moved as usize].lane = lane;
        }
        if own.len() > 0 {
            return;
        }
        let (cell, next) = (own.cell, own.next);
        let list = self.list_of(cell);
        if self.heads[list] == bucket {
            self.heads[list] = next;
        } else {
            let mut before = self.heads[list] as usize;
            while self.buckets[before].next != bucket {
                before = self.buckets[before].next as usize;
            }
            self.buckets[before].next = next;
        }
        self.spare.push(bucket);
    }

    /// The cells whose bodies may meet the box.
    pub(super) fn cells_near(&self, region: &Aabb) -> Cells {
        let far = region.inflated(0.500_001 * self.cell);
        let (first, last) = (self.cell_of(far.min), self.cell_of(far.max));
        let count = |axis: usize| (i64::from(last[axis]) - i64::from(first[axis])).max(0) + 1;
        let few = (0..3).all(|axis| count(axis) <= MOST_CELLS)
            && count(0) * count(1) * count(2) <= MOST_CELLS;
        if few {
            Cells::Few([first, last])
        } else {
            Cells::Many
        }
    }

    /// Visits the bodies of these cells that may meet `region`.
    pub(super) fn visit(
        &self,
        [first, last]: [[i32; 3]; 2],
        region: &Aabb,
        mut visit: impl FnMut(u32),
    ) {
        if self.heads.is_empty() {
            return;
        }
        let region = Around::of(region);
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                for x in first[0]..=last[0] {
                    let mut bucket = self.heads[self.list_of([x, y, z])];
                    while let Some(known) = self.buckets.get(bucket as usize) {
                        // Other cells may have the same list.
                        if known.cell == [x, y, z] {
                            known.visit(&region, &mut visit);
                        }
                        bucket = known.next;
                    }
                }
            }
        }
    }
}
