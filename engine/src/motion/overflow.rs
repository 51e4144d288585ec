//! Overflow is found in the phase that makes it.

use crate::components::BodyId;
use crate::error::StepError;
use glam::DVec3;

/// Some square is not finite: a later norm would overflow even where the vector did not.
#[inline]
pub(crate) fn overflows<const N: usize>(vectors: [DVec3; N]) -> bool {
    let finite = vectors.map(|vector| vector.length_squared().is_finite());
    finite.contains(&false)
}

/// Names the quantity that overflows.
pub(crate) fn check_finite<const N: usize>(
    id: BodyId,
    quantities: [(&'static str, DVec3); N],
) -> Result<(), StepError> {
    for (field, vector) in quantities {
        let value = vector.length_squared();
        if !value.is_finite() {
            return Err(StepError::NonFinite { id, field, value });
        }
    }
    Ok(())
}
