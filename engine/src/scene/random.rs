//! Reproducible random numbers for scenes.

use glam::{DQuat, DVec3};

/// The 64-bit linear congruential generator in which the benchmark scenes are specified:
/// `x ← 6364136223846793005 x + 1442695040888963407`, uniform number `(x >> 11)/2⁵³`.
#[derive(Clone, Copy, Debug)]
pub struct Lcg(u64);

impl Lcg {
    /// Starts from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// What the next numbers follow from.
    pub(super) fn state(self) -> u64 {
        self.0
    }

    /// The reverse of [`Self::state`].
    pub(super) fn of_state(state: u64) -> Self {
        Self(state)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        2.0 * self.uniform() - 1.0
    }

    /// Uniform in the cube [−1, 1)³, drawn x first.
    pub fn symmetric_vector(&mut self) -> DVec3 {
        let x = self.symmetric();
        let y = self.symmetric();
        DVec3::new(x, y, self.symmetric())
    }

    /// A uniformly distributed rotation: a point of the 4-ball by rejection, normalised.
    pub fn rotation(&mut self) -> DQuat {
        loop {
            let v = self.symmetric_vector();
            let q = DQuat::from_xyzw(v.x, v.y, v.z, self.symmetric());
            let norm = q.length_squared();
            if (0.01..=1.0).contains(&norm) {
                return crate::math::rotation::normalised(q);
            }
        }
    }
}
