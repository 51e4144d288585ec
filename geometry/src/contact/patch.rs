//! Contacts of one convex pair, before they are placed in the inertial frame.

use glam::DVec3;
use smallvec::SmallVec;

/// A contact in the frame of the frame shape; the normal points from it to the other shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LocalContact {
    /// Midpoint between the surfaces (m).
    pub(crate) point: DVec3,
    /// Unit normal, away from the frame shape.
    pub(crate) normal: DVec3,
    /// Signed distance (m).
    pub(crate) gap: f64,
    /// Number of the point on this pair.
    pub(crate) feature: u64,
}

/// Contacts of one convex pair; on the stack unless there are very many.
pub(crate) type Patch = SmallVec<[LocalContact; 12]>;

/// Mixes two numbers into one that is unlikely to collide (the finaliser of splitmix64).
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut x = a
        .rotate_left(23)
        .wrapping_add(b)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
