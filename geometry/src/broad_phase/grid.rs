//! Uniform grid of cubic cells, hashed: memory grows with the bodies, not with the space.
//!
//! A body is kept in the cell of its middle, in a list linked through arrays. None is wider than a
//! cell, so a box reaches bodies in cells at most half a cell away. Which of the lists a
//! cell has depends on its three numbers alone; neighbours along x are neighbours in memory.

use crate::Aabb;
use glam::DVec3;

#[derive(Default)]
pub(super) struct Grid {
    /// Length of a cell's edge (m).
    cell: f64,
    /// First body of each list; a power of two of them.
    heads: Vec<u32>,
    links: Vec<Link>,
}

#[derive(Clone, Copy)]
struct Link {
    next: u32,
    /// The cell of this body, `NO_CELL` if it is not in the grid.
    cell: [i32; 3],
}

const NONE: u32 = u32::MAX;
const NO_CELL: [i32; 3] = [i32::MIN; 3];

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
        self.links.clear();
        self.links.resize(
            room,
            Link {
                next: NONE,
                cell: NO_CELL,
            },
        );
    }

    pub(super) fn has_room_for(&self, bodies: usize) -> bool {
        bodies <= self.links.len()
    }

    pub(super) fn cell(&self) -> f64 {
        self.cell
    }

    fn cell_of(&self, point: DVec3) -> [i32; 3] {
        // Saturates, far beyond any cell: bodies there share one.
        (point / self.cell)
            .to_array()
            .map(|x| (x.floor() as i32).max(i32::MIN + 1))
    }

    fn list_of(&self, [x, y, z]: [i32; 3]) -> usize {
        let number = (x as u32)
            .wrapping_add((y as u32).wrapping_mul(0x9e37_79b1))
            .wrapping_add((z as u32).wrapping_mul(0x85eb_ca77));
        number as usize & (self.heads.len() - 1)
    }

    /// Puts a body in the cell of `middle`, wherever it was before.
    pub(super) fn put(&mut self, slot: usize, middle: DVec3) {
        let cell = self.cell_of(middle);
        if self.links[slot].cell == cell {
            return;
        }
        self.remove(slot);
        let list = self.list_of(cell);
        self.links[slot] = Link {
            next: self.heads[list],
            cell,
        };
        self.heads[list] = slot as u32;
    }

    /// Takes a body out, if it is there.
    pub(super) fn remove(&mut self, slot: usize) {
        let Link { next, cell } = self.links[slot];
        if cell == NO_CELL {
            return;
        }
        let list = self.list_of(cell);
        if self.heads[list] == slot as u32 {
            self.heads[list] = next;
        } else {
            let mut before = self.heads[list] as usize;
            while self.links[before].next != slot as u32 {
                before = self.links[before].next as usize;
            }
            self.links[before].next = next;
        }
        self.links[slot].cell = NO_CELL;
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

    pub(super) fn visit(&self, [first, last]: [[i32; 3]; 2], mut visit: impl FnMut(u32)) {
        if self.heads.is_empty() {
            return;
        }
        for z in first[2]..=last[2] {
            for y in first[1]..=last[1] {
                for x in first[0]..=last[0] {
                    let mut slot = self.heads[self.list_of([x, y, z])];
                    while slot != NONE {
                        let link = &self.links[slot as usize];
                        // Other cells may have the same list.
                        if link.cell == [x, y, z] {
                            visit(slot);
                        }
                        slot = link.next;
                    }
                }
            }
        }
    }
}
