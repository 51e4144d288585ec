//! What a sweep tells about itself, lane by lane; see [`SweepSums`].

use super::acceleration::SweepSums;
use super::lanes::{Lanes, Lanes3, dot, sub};

/// Running sums of the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneSums {
    uphill: Lanes,
    turn: Lanes,
    change: Lanes,
    size: Lanes,
}

impl LaneSums {
    /// Adds eight blocks: `x_prev`, the start `y` and the result `x`, in any orthonormal frame.
    #[inline(always)]
    pub(crate) fn add_change(
        &mut self,
        lambda: Lanes,
        before: Lanes3,
        start: Lanes3,
        solved: Lanes3,
    ) {
        let (change, step) = (sub(solved, start), sub(solved, before));
        self.turn = self.turn + lambda * dot(sub(start, before), step);
        self.uphill = self.uphill - lambda * dot(change, step);
        self.change = self.change + lambda * dot(change, change);
        self.size = self.size + lambda * dot(solved, solved);
    }

    /// The sums over the lanes.
    #[inline(always)]
    pub(crate) fn total(&self) -> SweepSums {
        SweepSums {
            uphill: self.uphill.sum(),
            turn: self.turn.sum(),
            change: self.change.sum(),
            size: self.size.sum(),
        }
    }
}
