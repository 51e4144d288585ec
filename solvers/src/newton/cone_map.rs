//! The two projections whose fixed points are Coulomb's law, and their derivatives in factors.
//!
//! In scaled variables, with `x = y − ρ u` (`AlartCurnier`) or `x = y − ρ (u + μ‖u_T‖ e_N)` (`Cone`):
//!
//! | map | `P(x)` |
//! |---|---|
//! | `AlartCurnier` | `p_N = x_N⁺`, `p_T` = projection of `x_T` on the disc of radius `μ p_N` |
//! | `Cone` | projection of `x` on `K_μ` |
//!
//! A fixed point `r = P(r − ρ …)` of either satisfies the exact law. The derivative with respect
//! to `u`, `−ρ C B`, has rank `k ≤ 3`: `C` is `3 × k`, `B` is `k × 3`. With `n = x_T/‖x_T‖`, `τ ⟂ n`:
//!
//! | state | `k` | `AlartCurnier` | `Cone`, `E = I + e_N (0, μ u_T/‖u_T‖)ᵀ` |
//! |---|---|---|---|
//! | open | 0 | | |
//! | stick | 3 | `C = B = I` | `C = I`, `B = E` |
//! | slip | 2 | `C = [(1, μn), √a (0, τ)]`, `B = [e_Nᵀ; √a (0, τ)ᵀ]`, `a = μ x_N/‖x_T‖` | `C = [(1, μn)/√(1+μ²), √a (0, τ)]`, `B = Cᵀ E`, `a = μ p_N/‖x_T‖` |
//!
//! Without friction slip has `k = 1`. A block of a joint has `P = I`, `C = B = I`.

use glam::{DMat3, DVec3};

/// Which projection the Newton method works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConeMap {
    /// Alart and Curnier's: no shift anywhere [Alart-Curnier91]. The default.
    #[default]
    AlartCurnier,
    /// On the cone, with De Saxcé's shift inside the derivative.
    Cone,
}

/// `P(x)` and the factors of its derivative for one block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Linearised {
    /// `P(x)`.
    pub(crate) point: DVec3,
    /// `k`.
    pub(crate) rank: usize,
    /// The columns of `C`; the first `rank` count.
    pub(crate) c: [DVec3; 3],
    /// The rows of `B`.
    pub(crate) b: [DVec3; 3],
}

impl Linearised {
    const AXES: [DVec3; 3] = [DVec3::X, DVec3::Y, DVec3::Z];

    /// A block of a joint.
    pub(crate) fn joint(x: DVec3) -> Self {
        Self {
            point: x,
            rank: 3,
            c: Self::AXES,
            b: Self::AXES,
        }
    }

    /// `C B z`.
    pub(crate) fn apply(&self, z: DVec3) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for k in 0..self.rank {
            sum += self.c[k] * self.b[k].dot(z);
        }
        sum
    }

    /// `C B`.
    pub(crate) fn matrix(&self) -> DMat3 {
        let mut sum = DMat3::ZERO;
        for k in 0..self.rank {
            let (c, b) = (self.c[k], self.b[k]);
            sum += DMat3::from_cols(c * b.x, c * b.y, c * b.z);
        }
        sum
    }
}

impl ConeMap {
    /// `P(y − ρ …)` for centre `y` and velocity `u`, without derivatives.
    pub(crate) fn project(self, y: DVec3, u: DVec3, rho: f64, friction: f64) -> DVec3 {
        match self {
            Self::AlartCurnier => {
                let x = y - u * rho;
                let radius = friction * x.x.max(0.0);
                let tangential = norm(x.y, x.z);
                if x.x <= 0.0 {
                    DVec3::ZERO
                } else if tangential <= radius {
                    x
                } else {
                    let scale = radius / tangential;
                    DVec3::new(x.x, scale * x.y, scale * x.z)
                }
            }
            Self::Cone => {
                let shift = friction * norm(u.y, u.z);
                crate::cone::project(friction, y - (u + DVec3::X * shift) * rho)
            }
        }
    }

    /// [`Self::project`] with the factors of its derivative.
    pub(crate) fn linearise(self, y: DVec3, u: DVec3, rho: f64, friction: f64) -> Linearised {
        match self {
            Self::AlartCurnier => alart_curnier(y - u * rho, friction),
            Self::Cone => cone(y, u, rho, friction),
        }
    }
}

fn norm(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
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
    let tangential = norm(x.y, x.z);
    if friction > 0.0 && tangential <= friction * x.x {
        return Linearised::joint(x);
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
    }
}

fn cone(y: DVec3, u: DVec3, rho: f64, friction: f64) -> Linearised {
    let speed = norm(u.y, u.z);
    let x = y - (u + DVec3::X * (friction * speed)) * rho;
    let tangential = norm(x.y, x.z);
    if x.is_nan() || friction * tangential <= -x.x {
        return Linearised::default();
    }
    // E adds the derivative of the shift to the normal row: b ← b + b_N (0, μ u_T/‖u_T‖).
    let turn = if speed > 0.0 {
        DVec3::new(0.0, u.y, u.z) * (friction / speed)
    } else {
        DVec3::ZERO
    };
    let shifted = |b: DVec3| b + turn * b.x;
    if friction > 0.0 && tangential <= friction * x.x {
        return Linearised {
            b: Linearised::AXES.map(shifted),
            ..Linearised::joint(x)
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// `−ρ C B` against central differences of `P`; their error is O(δ²) away from the kinks, and
    /// points within 1e-3 of a kink are left out.
    #[test]
    fn factors_are_the_derivative_of_the_map() {
        let mut random = Random::new(3);
        let (delta, mut seen) = (1e-6, [0; 4]);
        for case in 0..4000 {
            let map = [ConeMap::AlartCurnier, ConeMap::Cone][case % 2];
            let friction = random.uniform(0.0, 1.5);
            let (y, u) = (random.vector(), random.vector());
            let rho = random.uniform(0.1, 2.0);
            let at = map.linearise(y, u, rho, friction);
            assert!((at.point - map.project(y, u, rho, friction)).length() < 1e-14);
            let probes = DMat3::IDENTITY.to_cols_array_2d().map(DVec3::from);
            let near = probes.iter().any(|axis| {
                [1e-3, -1e-3]
                    .iter()
                    .any(|step| map.linearise(y, u + *axis * *step, rho, friction).rank != at.rank)
            });
            if near || norm(u.y, u.z) < 1e-2 {
                continue;
            }
            seen[at.rank] += 1;
            for axis in probes {
                let p = |step: f64| map.project(y, u + axis * step, rho, friction);
                let difference = (p(delta) - p(-delta)) / (2.0 * delta);
                let exact = at.apply(axis) * -rho;
                assert!((difference - exact).length() < 1e-4, "{map:?} {at:?}");
                assert!((at.matrix() * axis - at.apply(axis)).length() < 1e-14);
            }
        }
        assert!(seen[0] > 100 && seen[2] > 100 && seen[3] > 100, "{seen:?}");
    }
}
