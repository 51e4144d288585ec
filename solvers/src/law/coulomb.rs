//! Signorini's condition and Coulomb's friction, `C = K_μ`, `σ(w) = μ‖w_T‖` [docs/theory.md §4].
//!
//! ```text
//! 0 ≤ w_N ⊥ r_N ≥ 0,    w_T = 0 and ‖r_T‖ ≤ μ r_N,   or   r_T = −μ r_N w_T/‖w_T‖
//! ```
//!
//! The cone itself is in [`crate::cone`], the exact solve of one contact in [`crate::OneContact`]. The two maps of Newton's
//! method, with `x = y − ρ w` (`AlartCurnier`) or `x = y − ρ (w + μ‖w_T‖ e_N)` (`Cone`):
//!
//! | map | `P(x)` |
//! |---|---|
//! | `AlartCurnier` | `p_N = x_N⁺`, `p_T` = projection of `x_T` on the disc of radius `μ p_N` |
//! | `Cone` | projection of `x` on `K_μ` |
//!
//! A fixed point `r = P(r − ρ …)` of either satisfies the exact law. The derivative with respect
//! to `w`, `−ρ C B`, has rank `k ≤ 3`: `C` is `3 × k`, `B` is `k × 3`. With `n = x_T/‖x_T‖`, `τ ⟂ n`:
//!
//! | state | `k` | `AlartCurnier` | `Cone`, `E = I + e_N (0, μ w_T/‖w_T‖)ᵀ` |
//! |---|---|---|---|
//! | open | 0 | | |
//! | stick | 3 | `C = B = I` | `C = I`, `B = E` |
//! | slip | 2 | `C = [(1, μn), √a (0, τ)]`, `B = [e_Nᵀ; √a (0, τ)ᵀ]`, `a = μ x_N/‖x_T‖` | `C = [(1, μn)/√(1+μ²), √a (0, τ)]`, `B = Cᵀ E`, `a = μ p_N/‖x_T‖` |
//!
//! Without friction slip has `k = 1`.

use super::complementarity::to_zero;
use super::linearised::{ConeMap, Linearised};
use super::{Defect, RowLaw, is_undefined, norm};
use crate::cone;
use glam::DVec3;

/// The coefficient `μ ≥ 0` of friction; zero is the frictionless law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coulomb {
    /// `μ`.
    pub friction: f64,
}

fn vector(z: &[f64]) -> DVec3 {
    DVec3::new(z[0], z[1], z[2])
}

impl RowLaw for Coulomb {
    fn rows(&self) -> usize {
        3
    }

    fn project(&self, z: &mut [f64]) {
        let projected = cone::project(self.friction, vector(z));
        z.copy_from_slice(&projected.to_array());
    }

    fn resolve(&self, z: &mut [f64]) {
        if is_undefined(z) {
            return z.fill(f64::NAN);
        }
        let resolved = self.nested(vector(z));
        z.copy_from_slice(&resolved.to_array());
    }

    fn shift(&self, w: &[f64]) -> f64 {
        self.friction * norm([w[1], w[2]])
    }

    fn violation(&self, r: &[f64]) -> f64 {
        cone::violation(self.friction, vector(r))
    }

    fn defect(&self) -> Option<Defect> {
        Defect::unless_coefficient("friction", self.friction)
    }

    fn linearise(&self, map: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        at[0] = self.linearise_one(map, y[0], w[0], rho);
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        let (r, d) = (r[0], d[0]);
        match at[0].rank {
            3 => out_of_cone(self.friction, [r.x, d.x], [[r.y, r.z], [d.y, d.z]]),
            rank => to_zero(rank > 0, r.x, d.x),
        }
    }
}

impl Coulomb {
    /// The normal part of `x`, and the tangential one capped at `μ` times it.
    #[inline]
    fn nested(&self, x: DVec3) -> DVec3 {
        let radius = self.friction * x.x.max(0.0);
        let tangential = norm([x.y, x.z]);
        if x.x <= 0.0 {
            DVec3::ZERO
        } else if tangential <= radius {
            x
        } else {
            let scale = radius / tangential;
            DVec3::new(x.x, scale * x.y, scale * x.z)
        }
    }

    /// `P(y − ρ …)` for centre `y` and velocity `w`, without derivatives.
    pub(crate) fn map(&self, map: ConeMap, y: DVec3, w: DVec3, rho: f64) -> DVec3 {
        match map {
            ConeMap::AlartCurnier => self.nested(y - w * rho),
            ConeMap::Cone => {
                let shift = self.friction * norm([w.y, w.z]);
                cone::project(self.friction, y - (w + DVec3::X * shift) * rho)
            }
        }
    }

    /// [`Self::map`] with the factors of its derivative.
    pub(crate) fn linearise_one(&self, map: ConeMap, y: DVec3, w: DVec3, rho: f64) -> Linearised {
        match map {
            ConeMap::AlartCurnier => alart_curnier(y - w * rho, self.friction),
            ConeMap::Cone => on_cone(y, w, rho, self.friction),
        }
    }
}

/// `x_T/‖x_T‖`, zero for no tangential part: then there is no friction either.
fn direction(x: DVec3, tangential: f64) -> [f64; 2] {
    if tangential > 0.0 {
        [x.y / tangential, x.z / tangential]
    } else {
        [0.0; 2]
    }
}

fn alart_curnier(x: DVec3, friction: f64) -> Linearised {
    if x.x <= 0.0 || x.is_nan() {
        return Linearised::default();
    }
    let tangential = norm([x.y, x.z]);
    if friction > 0.0 && tangential <= friction * x.x {
        return Linearised::free(x);
    }
    let [n1, n2] = direction(x, tangential);
    let root = (friction * x.x / tangential).sqrt();
    let tau = DVec3::new(0.0, -n2, n1) * root;
    Linearised {
        point: DVec3::new(x.x, friction * x.x * n1, friction * x.x * n2),
        rank: if friction > 0.0 { 2 } else { 1 },
        c: [
            DVec3::new(1.0, friction * n1, friction * n2),
            tau,
            DVec3::ZERO,
        ],
        b: [DVec3::X, tau, DVec3::ZERO],
        tail: DVec3::ZERO,
    }
}

fn on_cone(y: DVec3, w: DVec3, rho: f64, friction: f64) -> Linearised {
    let speed = norm([w.y, w.z]);
    let x = y - (w + DVec3::X * (friction * speed)) * rho;
    let tangential = norm([x.y, x.z]);
    if x.is_nan() || friction * tangential <= -x.x {
        return Linearised::default();
    }
    // E adds the derivative of the shift to the normal row: b ← b + b_N (0, μ w_T/‖w_T‖).
    let turn = if speed > 0.0 {
        DVec3::new(0.0, w.y, w.z) * (friction / speed)
    } else {
        DVec3::ZERO
    };
    let shifted = |b: DVec3| b + turn * b.x;
    if friction > 0.0 && tangential <= friction * x.x {
        return Linearised {
            b: Linearised::AXES.map(shifted),
            ..Linearised::free(x)
        };
    }
    let weight = 1.0 / (1.0 + friction * friction);
    let normal = (x.x + friction * tangential) * weight;
    let [n1, n2] = direction(x, tangential);
    let g = DVec3::new(1.0, friction * n1, friction * n2) * weight.sqrt();
    let tau = DVec3::new(0.0, -n2, n1) * (friction * normal / tangential).sqrt();
    Linearised {
        point: DVec3::new(normal, friction * normal * n1, friction * normal * n2),
        rank: if friction > 0.0 { 2 } else { 1 },
        c: [g, tau, DVec3::ZERO],
        b: [shifted(g), tau, DVec3::ZERO],
        tail: DVec3::ZERO,
    }
}

/// The smallest `t > 0` at which `r + t d` leaves the cone of the coefficient `friction`, from a point inside it; normal
/// parts `r, d`, then tangential ones.
pub(super) fn out_of_cone(friction: f64, [r_n, d_n]: [f64; 2], [r, d]: [[f64; 2]; 2]) -> f64 {
    // ‖r_T + t d_T‖² = μ² (r_N + t d_N)²
    let mu = friction * friction;
    let a = d[0] * d[0] + d[1] * d[1] - mu * d_n * d_n;
    let b = r[0] * d[0] + r[1] * d[1] - mu * r_n * d_n;
    let c = r[0] * r[0] + r[1] * r[1] - mu * r_n * r_n;
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    // c ≤ 0: the positive root nearest to zero, without cancellation.
    let root = discriminant.sqrt();
    let q = if b >= 0.0 { -(b + root) } else { root - b };
    let positive = |t: f64| if t > 0.0 { t } else { f64::INFINITY };
    positive(q / a).min(positive(c / q))
}
