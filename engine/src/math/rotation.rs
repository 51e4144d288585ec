//! Rotations with portable elementary functions: the same bits on every platform.

use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::TAU;

/// Below this angle sine and cosine come from their series, which is then exact to rounding
/// (`x⁹/9!/x < 2⁻⁵³` for `x < 0.05`) and costs a few products.
const SERIES: f64 = 0.05;

/// `(sin x, cos x)`, portable. `x` in rad.
#[inline]
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
    if x.abs() < SERIES {
        let y = x * x;
        let sin = x * (1.0 - y / 6.0 * (1.0 - y / 20.0 * (1.0 - y / 42.0)));
        let cos = 1.0 - y / 2.0 * (1.0 - y / 12.0 * (1.0 - y / 30.0 * (1.0 - y / 56.0)));
        (sin, cos)
    } else {
        libm::sincos(x)
    }
}

/// `exp_ℍ1(φ) = (cos(θ/2), sin(θ/2) φ/θ)`, `θ = ‖φ‖`: the unit quaternion that turns by the
/// rotation vector `φ` (rad). A series near zero.
#[inline]
#[must_use]
pub fn exp(phi: DVec3) -> DQuat {
    let square = phi.length_squared();
    let y = 0.25 * square;
    if y < SERIES * SERIES {
        // No root and no division: they take longer than all the rest.
        let sinc = 0.5 - y * (1.0 / 12.0 - y * (1.0 / 240.0 - y * (1.0 / 10_080.0)));
        let cos = 1.0 - y * (0.5 - y * (1.0 / 24.0 - y * (1.0 / 720.0 - y * (1.0 / 40_320.0))));
        let v = phi * sinc;
        return DQuat::from_xyzw(v.x, v.y, v.z, cos);
    }
    let angle = square.sqrt();
    let (sin, cos) = libm::sincos(0.5 * angle);
    let v = phi * (sin / angle);
    DQuat::from_xyzw(v.x, v.y, v.z, cos)
}

/// `log_ℍ1(p)`: the rotation vector (rad) of the shortest turn, `‖φ‖ ≤ π`, so that `exp(φ) = ±p`. `p` of unit length.
#[inline]
#[must_use]
pub fn log(p: DQuat) -> DVec3 {
    let p = if p.w < 0.0 { -p } else { p };
    let v = DVec3::new(p.x, p.y, p.z);
    let sin = v.length();
    // Below, the angle is its sine to rounding, and the square of the sine may underflow.
    if sin < 1e-9 {
        v * 2.0
    } else {
        v * (2.0 * libm::atan2(sin, p.w) / sin)
    }
}

/// The constant angular velocity, rad/s, inertial frame, that turns `from` to `to` in the time `h`, s: of those that do, by any number of whole turns, the one closest to `near`.
#[must_use]
pub fn rate_between([from, to]: [DQuat; 2], h: f64, near: DVec3) -> DVec3 {
    let turn = log(to * from.conjugate());
    let angle = turn.length();
    if angle == 0.0 {
        return DVec3::ZERO;
    }
    let axis = turn / angle;
    let more = ((axis.dot(near) * h - angle) / TAU).round() * TAU;
    // Of whole turns rounding alone says about which axis.
    if more != 0.0 && angle < 1e-9 {
        return near;
    }
    axis * ((angle + more) / h)
}

/// `p / |p|`.
#[inline]
#[must_use]
pub fn normalised(p: DQuat) -> DQuat {
    let square = p.length_squared();
    let excess = square - 1.0;
    // What comes next in the series of `1/√(1 + excess)` is then below the rounding.
    if excess.abs() < 1e-8 {
        p * (1.0 - 0.5 * excess)
    } else {
        p * (1.0 / square.sqrt())
    }
}

/// The linear update `p + h ½ p ∘ (0, Ω)`, renormalised. `omega` in the body frame, rad/s.
#[inline]
#[must_use]
pub fn linear_update(p: DQuat, omega: DVec3, h: f64) -> DQuat {
    let spin = omega * (0.5 * h);
    normalised(p + p * DQuat::from_xyzw(spin.x, spin.y, spin.z, 0.0))
}

/// `R diag(d) Rᵀ`.
#[inline]
#[must_use]
pub fn conjugate_diagonal(r: &DMat3, d: DVec3) -> DMat3 {
    DMat3::from_cols(r.x_axis * d.x, r.y_axis * d.y, r.z_axis * d.z) * r.transpose()
}

/// Right-handed tangents `(t₁, t₂)` of the unit vector `n`, a function of `n` alone
/// [Duff17, without branches on the octant].
#[inline]
#[must_use]
pub fn contact_frame(n: DVec3) -> DMat3 {
    let sign = if n.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let t1 = DVec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    let t2 = DVec3::new(b, sign + n.y * n.y * a, -n.y);
    DMat3::from_cols(n, t1, t2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_meets_the_library_functions() {
        for i in 0..1000 {
            let x = (f64::from(i) - 500.0) * 1e-4;
            let (s, c) = sin_cos(x);
            let (ls, lc) = libm::sincos(x);
            assert!((s - ls).abs() <= 2.0 * f64::EPSILON * ls.abs(), "sin {x}");
            assert!((c - lc).abs() <= 2.0 * f64::EPSILON, "cos {x}");
        }
    }

    #[test]
    fn a_rate_turns_one_orientation_to_another_with_the_turns_of_a_similar_one() {
        let from = exp(DVec3::new(0.7, -1.2, 0.4));
        for k in 1..60 {
            let phi = DVec3::new(0.48, -0.6, 0.64) * (0.2 * f64::from(k));
            let (h, near) = (0.01, phi + DVec3::new(0.03, 0.1, -0.05));
            let to = normalised(exp(phi) * from);
            let rate = rate_between([from, to], h, near / h);
            assert!((rate * h - phi).length() < 1e-13, "{k}: {rate} {phi}");
        }
        // Rounding of the turn, over the time.
        let none = rate_between([from, from], 0.01, DVec3::X);
        assert!(none.length() < 1e-13, "{none}");
    }

    #[test]
    fn exponential_turns_by_its_vector() {
        // R = I + sin θ/θ φ̃ + (1 − cos θ)/θ² φ̃²: the corrected sign of docs/theory.md §13.
        for phi in [
            DVec3::new(0.3, -0.2, 0.9),
            DVec3::new(1e-3, 2e-3, -1e-3),
            DVec3::new(2.0, 1.0, -2.0),
        ] {
            let v = DVec3::new(0.4, 1.1, -0.7);
            let (s, c) = libm::sincos(phi.length());
            let t = phi.length();
            let rodrigues =
                v + phi.cross(v) * (s / t) + phi.cross(phi.cross(v)) * ((1.0 - c) / (t * t));
            assert!((exp(phi) * v - rodrigues).length() < 1e-14);
        }
    }

    #[test]
    fn logarithm_undoes_the_exponential() {
        for angle in [0.0, 1e-200, 1e-12, 1e-9, 1e-3, 0.1, 1.0, 2.0, 3.1] {
            let phi = DVec3::new(0.48, -0.6, 0.64) * angle;
            let p = exp(phi);
            // The angle of a quaternion near the half turn is as good as its entries.
            for q in [p, -p] {
                let off = (log(q) - phi).length();
                assert!(
                    off <= 4.0 * f64::EPSILON * (1.0 + angle),
                    "{angle}: {off:e}"
                );
            }
        }
        // The shortest turn: 350° one way are 10° the other.
        let degree = std::f64::consts::PI / 180.0;
        let back = log(exp(DVec3::Z * (350.0 * degree)));
        assert!((back + DVec3::Z * (10.0 * degree)).length() < 1e-14);
    }

    #[test]
    fn contact_frames_are_right_handed() {
        for n in [
            DVec3::Z,
            -DVec3::Z,
            DVec3::X,
            DVec3::new(0.6, -0.64, 0.48),
            DVec3::new(0.0, 0.6, -0.8),
        ] {
            let c = contact_frame(n);
            assert!((c.transpose() * c - DMat3::IDENTITY).abs_diff_eq(DMat3::ZERO, 1e-15));
            assert!((c.determinant() - 1.0).abs() < 1e-15);
        }
    }
}
