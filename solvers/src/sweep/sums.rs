//! What a sweep tells about itself, lane by lane; see [`SweepSums`].

use super::acceleration::SweepSums;
use crate::lanes::{Lanes, Wide, Wide3, dot, sub};
use pulp::Simd;

/// Running sums of the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneSums {
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
        let (turn, step) = (self.turn.sum(), self.step.sum());
        SweepSums {
            // y − x = (y − x_prev) − (x − x_prev)
            uphill: turn - step,
            turn,
            change: self.change.sum(),
            step,
            size: self.size.sum(),
        }
    }
}
