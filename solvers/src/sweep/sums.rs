//! What a sweep tells about itself, lane by lane; see [`SweepSums`].

use super::acceleration::SweepSums;
use crate::lanes::{Lanes, Wide, Wide3, dot, sub};
use pulp::Simd;

/// Running sums of the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneSums {
    uphill: Lanes,
    turn: Lanes,
    change: Lanes,
    step: Lanes,
    size: Lanes,
}

impl LaneSums {
    /// Adds blocks: `x_prev`, the start `y` and the result `x`, in any orthonormal frame.
    #[inline(always)]
    pub(crate) fn add_change<S: Simd>(
        &mut self,
        (simd, part): (S, usize),
        lambda: Wide<S>,
        [before, start, solved]: [Wide3<S>; 3],
    ) {
        let (change, step) = (sub(solved, start), sub(solved, before));
        let terms = [
            (&mut self.turn, dot(sub(start, before), step)),
            (&mut self.uphill, -dot(change, step)),
            (&mut self.change, dot(change, change)),
            (&mut self.step, dot(step, step)),
            (&mut self.size, dot(solved, solved)),
        ];
        for (sum, term) in terms {
            let so_far = sum.load(simd, part);
            sum.store(part, so_far + lambda * term);
        }
    }

    /// The sums over the lanes.
    pub(crate) fn total(&self) -> SweepSums {
        SweepSums {
            uphill: self.uphill.sum(),
            turn: self.turn.sum(),
            change: self.change.sum(),
            step: self.step.sum(),
            size: self.size.sum(),
        }
    }
}
