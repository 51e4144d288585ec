//! Where the Newton matrix is built and factorised: in the space of the contacts or of the bodies.

use super::cone_map::Linearised;
use crate::algebra::block_lu::Singular;
use glam::DVec3;

/// Newton steps that a successful call takes near the solution: for estimates of cost.
pub(crate) const NEWTON_STEPS: f64 = 10.0;

/// A problem in scaled variables, as the proximal Newton method sees it.
pub(crate) trait NewtonSpace {
    /// `√λ` of each block.
    fn root(&self) -> &[f64];
    /// `q̂`.
    fn free_velocity(&self) -> &[DVec3];
    /// `μ` of each contact; further blocks belong to joints.
    fn friction(&self) -> &[f64];
    /// `out ← Ŵ z`.
    fn times(&mut self, z: &[DVec3], out: &mut [DVec3]);
    /// Prepares the solution of `(I + ρ C B Ŵ) x = b`.
    fn factorize(&mut self, rho: f64, at: &[Linearised]) -> Result<(), Singular>;
    /// `x ← (I + ρ C B Ŵ)⁻¹ x` with the last factors.
    fn solve(&mut self, rho: f64, at: &[Linearised], x: &mut [DVec3]);
}
