//! The Coulomb cone `K_μ = { r : ‖r_T‖ ≤ μ r_N }` and its Euclidean projection.
//!
//! Vectors are `(r_N, r_T1, r_T2)`, normal first. `μ ≥ 0`; for `μ = 0` the cone is the ray of
//! normal impulses and its dual `K*_μ = { z : z_N ≥ μ ‖z_T‖ }` the half-space `z_N ≥ 0`.

use glam::DVec3;

/// Length of the tangential part of `z`, same unit as `z`.
#[inline]
#[must_use]
pub fn tangential_norm(z: DVec3) -> f64 {
    (z.y * z.y + z.z * z.z).sqrt()
}

/// Projection of `z` on `K_μ` (Euclidean, any unit), `μ ≥ 0`.
///
/// ```text
/// z                         if ‖z_T‖ ≤ μ z_N      (inside the cone)
/// 0                         if μ ‖z_T‖ ≤ −z_N     (inside the polar cone)
/// (s, μ s z_T/‖z_T‖)        otherwise, s = (z_N + μ‖z_T‖)/(1 + μ²)
/// ```
///
/// ```
/// use glam::DVec3;
/// use moreau_solvers::cone::project;
/// assert_eq!(project(0.5, DVec3::new(1.0, 0.25, 0.0)), DVec3::new(1.0, 0.25, 0.0));
/// assert_eq!(project(0.5, DVec3::new(-1.0, 0.0, 0.0)), DVec3::ZERO);
/// ```
#[inline]
#[must_use]
pub fn project(friction: f64, z: DVec3) -> DVec3 {
    let tangential = tangential_norm(z);
    if z.x >= 0.0 && tangential <= friction * z.x {
        return z;
    }
    if friction * tangential <= -z.x {
        return DVec3::ZERO;
    }
    let normal = (z.x + friction * tangential) / (1.0 + friction * friction);
    if tangential > 0.0 {
        let scale = friction * normal / tangential;
        DVec3::new(normal, scale * z.y, scale * z.z)
    } else {
        DVec3::new(normal, 0.0, 0.0)
    }
}

/// How far `r` lies outside `K_μ`: `max(‖r_T‖ − μ r_N, −r_N, 0)`, unit of `r`.
#[inline]
#[must_use]
pub fn violation(friction: f64, r: DVec3) -> f64 {
    (tangential_norm(r) - friction * r.x).max(-r.x).max(0.0)
}

/// De Saxcé's shift: `û = u + (μ‖u_T‖, 0, 0)`, with which the Coulomb law reads `K* ∋ û ⊥ r ∈ K`.
#[inline]
#[must_use]
pub fn shifted_velocity(friction: f64, u: DVec3) -> DVec3 {
    DVec3::new(u.x + friction * tangential_norm(u), u.y, u.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = DVec3> {
        (-10.0..10.0, -10.0..10.0, -10.0..10.0).prop_map(|(x, y, z)| DVec3::new(x, y, z))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        // P∘P = P up to the rounding of one evaluation.
        #[test]
        fn projection_is_idempotent(z in vector(), mu in 0.0..3.0) {
            let p = project(mu, z);
            prop_assert!((project(mu, p) - p).length() <= 1e-14 * (1.0 + z.length()));
        }

        // ‖P(a) − P(b)‖ ≤ ‖a − b‖: the projection on a convex set.
        #[test]
        fn projection_is_non_expansive(a in vector(), b in vector(), mu in 0.0..3.0) {
            let moved = (project(mu, a) - project(mu, b)).length();
            prop_assert!(moved <= (a - b).length() * (1.0 + 1e-14) + 1e-14);
        }

        // Moreau's decomposition: z = P_K(z) + P_K°(z) with orthogonal parts, K° = −K*.
        #[test]
        fn projection_decomposes_after_moreau(z in vector(), mu in 0.0..3.0) {
            let p = project(mu, z);
            let polar = z - p;
            let scale = 1.0 + z.length();
            prop_assert!(violation(mu, p) <= 1e-14 * scale);
            prop_assert!(mu * tangential_norm(polar) <= -polar.x + 1e-13 * scale);
            prop_assert!(p.dot(polar).abs() <= 1e-13 * scale * scale);
        }
    }
}
