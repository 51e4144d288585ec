//! Up to eight bodies of one cell of the grid, and their boxes in single precision.
//!
//! Nine of ten bodies that a box comes across do not meet it. They are told apart here, eight at a time and
//! without a look elsewhere. Rounding keeps the order of numbers: boxes that meet still do.

use crate::Aabb;

/// Bodies of a bucket at most.
pub(super) const WIDTH: usize = 8;

/// A box in single precision.
#[derive(Clone, Copy)]
pub(super) struct Around {
    min: [f32; 3],
    max: [f32; 3],
}

impl Around {
    pub(super) fn of(aabb: &Aabb) -> Self {
        let [min, max] = [aabb.min, aabb.max].map(|corner| corner.to_array());
        Self {
            min: min.map(|x| x as f32),
            max: max.map(|x| x as f32),
        }
    }
}

/// Bodies of one cell.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Bucket {
    min: [[f32; WIDTH]; 3],
    max: [[f32; WIDTH]; 3],
    slots: [u32; WIDTH],
    pub(super) cell: [i32; 3],
    /// The next one of the list.
    pub(super) next: u32,
    len: u32,
}

impl Bucket {
    /// Empty, before `next` in its list.
    pub(super) fn new(cell: [i32; 3], next: u32) -> Self {
        Self {
            min: [[0.0; WIDTH]; 3],
            max: [[0.0; WIDTH]; 3],
            slots: [0; WIDTH],
            cell,
            next,
            len: 0,
        }
    }

    /// Number of bodies.
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Adds a body where there is room for it; its lane.
    pub(super) fn push(&mut self, slot: u32, around: &Around) -> usize {
        let lane = self.len();
        self.slots[lane] = slot;
        self.set(lane, around);
        self.len += 1;
        lane
    }

    /// Gives the body of a lane another box.
    pub(super) fn set(&mut self, lane: usize, around: &Around) {
        for axis in 0..3 {
            self.min[axis][lane] = around.min[axis];
            self.max[axis][lane] = around.max[axis];
        }
    }

    /// Takes out the body of a lane. Returns the one that has the lane now, if any.
    pub(super) fn swap_remove(&mut self, lane: usize) -> Option<u32> {
        self.len -= 1;
        let last = self.len();
        let moved = self.slots[last];
        for axis in 0..3 {
            self.min[axis][lane] = self.min[axis][last];
            self.max[axis][lane] = self.max[axis][last];
        }
        self.slots[lane] = moved;
        (lane != last).then_some(moved)
    }

    /// Visits the bodies whose boxes meet `region`.
    #[inline]
    pub(super) fn visit(&self, region: &Around, visit: &mut impl FnMut(u32)) {
        // All comparisons are made: they cost less than wrong guesses of their outcome.
        let mut met: [u32; WIDTH] = std::array::from_fn(|lane| 1 << lane);
        for axis in 0..3 {
            let (low, high) = (region.min[axis], region.max[axis]);
            let sides = self.min[axis].iter().zip(&self.max[axis]);
            for (met, (min, max)) in met.iter_mut().zip(sides) {
                let meets = (*min <= high) & (low <= *max);
                *met &= u32::from(meets).wrapping_neg();
            }
        }
        let known = (1 << self.len) - 1;
        let mut left = met.iter().fold(0, |all, lane| all | lane) & known;
        while left != 0 {
            visit(self.slots[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }
}
