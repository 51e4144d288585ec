//! Coulomb's law with two coefficients of friction, `D = diag(μ₁, μ₂)` in the frame of the surface:
//! `C = { ‖D⁻¹r_T‖ ≤ r_N }`, `σ(w) = ‖D w_T‖`; a coefficient of zero leaves its tangent frictionless.
//!
//! With `r = S ρ`, `v = S w`, `S = diag(1, μ₁, μ₂)` it is Coulomb's law for `ρ` and `v` with coefficient 1: the one-block solve is
//! that of the block `S W S`. Projections are not invariant, and need the root `α` of a secular equation. On the section `r_N = n`:
//!
//! ```text
//! p_i = x_i μ_i²/(μ_i² + α),     Σ (p_i/μ_i)² = n²                                   α ≥ 0
//! ```
//!
//! and on the set `p_N = x_N + ν`, `p_i = x_i μ_i²/(μ_i² + α)`, `ν = α p_N` (the multiplier `ν` of `‖D⁻¹p_T‖ ≤ p_N` with
//! the normal `(−1, D⁻²p_T/p_N)` there), so that `p_N = x_N/(1 − α)`, or `α = 1` where `x_N = 0`. Both functions of `α` are monotone:
//! Newton's method with bisection finds the root.

use super::complementarity::to_zero;
use super::linearised::{ConeMap, Linearised};
use super::{Defect, RowLaw, norm};
use glam::DVec3;

/// Coefficients of friction along the two tangents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EllipticCoulomb {
    /// `μ₁, μ₂ ≥ 0`.
    pub friction: [f64; 2],
}

/// Halvings exhaust the mantissa and the exponents that matter.
const MAX_ITERATIONS: usize = 200;

impl EllipticCoulomb {
    /// `(μ₁ x, μ₂ y)`.
    fn weigh(&self, x: [f64; 2]) -> [f64; 2] {
        [self.friction[0] * x[0], self.friction[1] * x[1]]
    }

    /// `x_i μ_i²/(μ_i² + α)`.
    fn shrink(&self, x: [f64; 2], alpha: f64) -> [f64; 2] {
        let part = |x: f64, mu: f64| {
            if mu > 0.0 {
                x * (mu * mu / (mu * mu + alpha))
            } else {
                0.0
            }
        };
        [part(x[0], self.friction[0]), part(x[1], self.friction[1])]
    }

    /// `‖D⁻¹p‖` for `p = shrink(x, α)`.
    fn gauge(&self, x: [f64; 2], alpha: f64) -> f64 {
        let part = |x: f64, mu: f64| {
            if mu > 0.0 {
                x * (mu / (mu * mu + alpha))
            } else {
                0.0
            }
        };
        norm([part(x[0], self.friction[0]), part(x[1], self.friction[1])])
    }

    /// `x` lies in the section of the normal impulse `n`.
    fn contains(&self, x: [f64; 2], n: f64) -> bool {
        let flat = |x: f64, mu: f64| mu > 0.0 || x == 0.0;
        flat(x[0], self.friction[0]) && flat(x[1], self.friction[1]) && self.gauge(x, 0.0) <= n
    }

    /// The `α` of the projection of `x` on the section of `n > 0`, if it lies outside.
    fn section_root(&self, x: [f64; 2], n: f64) -> f64 {
        if self.gauge(x, 0.0) <= n {
            return 0.0; // outside along a frictionless tangent only
        }
        // gauge ≤ ‖D x‖/α: the root is below ‖D x‖/n.
        bisect([0.0, norm(self.weigh(x)) / n], |alpha| {
            self.gauge(x, alpha) - n
        })
    }

    /// `P_C(x)`.
    fn on_set(&self, x: DVec3) -> DVec3 {
        let (n, t) = (x.x, [x.y, x.z]);
        if n >= 0.0 && self.contains(t, n) {
            return x;
        }
        // The polar cone: ‖D x_T‖ ≤ −x_N.
        if norm(self.weigh(t)) <= -n {
            return DVec3::ZERO;
        }
        // p_N = ‖D⁻¹ p_T‖ and p_N (1 − α) = x_N: f falls from gauge(x, 0) − x_N > 0 (or is zero) at α = 0.
        let f = |alpha: f64| (1.0 - alpha) * self.gauge(t, alpha) - n;
        let high = if n >= 0.0 {
            1.0
        } else {
            // (1 − α) gauge → −‖D x_T‖ as α → ∞, which is below x_N.
            let mut high = 2.0;
            while f(high) > 0.0 && high < f64::MAX / 4.0 {
                high *= 2.0;
            }
            high
        };
        let alpha = if f(0.0) <= 0.0 {
            0.0
        } else {
            bisect([0.0, high], f)
        };
        let [p, q] = self.shrink(t, alpha);
        DVec3::new(
            self.gauge(t, alpha).max(if alpha == 0.0 { n } else { 0.0 }),
            p,
            q,
        )
    }

    /// The normal part of `x`, and the projection of the rest on its section; with the `α` of a slipping contact.
    fn nested(&self, x: DVec3) -> (DVec3, f64) {
        let t = [x.y, x.z];
        if x.x <= 0.0 {
            return (DVec3::ZERO, 0.0);
        }
        if self.contains(t, x.x) {
            return (x, 0.0);
        }
        let alpha = self.section_root(t, x.x);
        let [p, q] = self.shrink(t, alpha);
        (DVec3::new(x.x, p, q), alpha)
    }
}

/// The root of a falling function, positive at the lower end.
fn bisect([mut low, mut high]: [f64; 2], f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..MAX_ITERATIONS {
        let middle = if low > 0.0 && high > 4.0 * low {
            (low * high).sqrt()
        } else {
            0.5 * (low + high)
        };
        if middle <= low || middle >= high {
            break;
        }
        if f(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

impl RowLaw for EllipticCoulomb {
    fn rows(&self) -> usize {
        3
    }

    fn project(&self, z: &mut [f64]) {
        let projected = self.on_set(DVec3::new(z[0], z[1], z[2]));
        z.copy_from_slice(&projected.to_array());
    }

    fn resolve(&self, z: &mut [f64]) {
        let resolved = self.nested(DVec3::new(z[0], z[1], z[2])).0;
        z.copy_from_slice(&resolved.to_array());
    }

    fn shift(&self, w: &[f64]) -> f64 {
        norm(self.weigh([w[1], w[2]]))
    }

    fn violation(&self, r: &[f64]) -> f64 {
        let mut inside = [r[0], r[1], r[2]];
        self.project(&mut inside);
        let apart = [r[0] - inside[0], r[1] - inside[1], r[2] - inside[2]];
        norm([apart[0], norm([apart[1], apart[2]])])
    }

    fn defect(&self) -> Option<Defect> {
        let of = |mu| Defect::unless_coefficient("friction", mu);
        of(self.friction[0]).or_else(|| of(self.friction[1]))
    }

    /// The nested map, for both kinds. Slip, with `A = diag(μ_i²/(μ_i² + α))`, `v_i = p_i/(μ_i² + α)`, `S = Σ v_i²(μ_i² + α)/μ_i²`:
    /// `dp = (A − v vᵀ/S) dx + (n/S) v dn`, whose first term has rank one.
    fn linearise(&self, _: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        let x = y[0] - w[0] * rho;
        if x.x <= 0.0 || x.is_nan() {
            at[0] = Linearised::default();
            return;
        }
        if self.contains([x.y, x.z], x.x) && self.friction.iter().all(|mu| *mu > 0.0) {
            at[0] = Linearised::free(x);
            return;
        }
        let (point, alpha) = self.nested(x);
        let sums = self.friction.map(|mu| mu * mu + alpha);
        let a = [0, 1].map(|i| {
            if sums[i] > 0.0 {
                1.0 - alpha / sums[i]
            } else {
                0.0
            }
        });
        let on_edge = alpha > 0.0;
        let v = if on_edge {
            [point.y / sums[0], point.z / sums[1]]
        } else {
            [0.0; 2]
        };
        let share = |i: usize| {
            let mu = self.friction[i];
            if mu > 0.0 {
                v[i] * v[i] * (sums[i] / (mu * mu))
            } else {
                0.0
            }
        };
        let size = share(0) + share(1);
        let (normal, matrix) = if on_edge && size > 0.0 {
            let g = x.x / size;
            let off = -v[0] * v[1] / size;
            (
                [g * v[0], g * v[1]],
                [a[0] - v[0] * v[0] / size, off, a[1] - v[1] * v[1] / size],
            )
        } else {
            // Inside the section but for a frictionless tangent.
            ([0.0; 2], [a[0], 0.0, a[1]])
        };
        // Rank one: its larger column over the root of its diagonal entry.
        let tau = if matrix[0] >= matrix[2] {
            let root = matrix[0].max(0.0).sqrt();
            if root > 0.0 {
                [root, matrix[1] / root]
            } else {
                [0.0; 2]
            }
        } else {
            let root = matrix[2].max(0.0).sqrt();
            [matrix[1] / root, root]
        };
        let tau = DVec3::new(0.0, tau[0], tau[1]);
        at[0] = Linearised {
            point,
            rank: if tau == DVec3::ZERO { 1 } else { 2 },
            c: [DVec3::new(1.0, normal[0], normal[1]), tau, DVec3::ZERO],
            b: [DVec3::X, tau, DVec3::ZERO],
            tail: DVec3::ZERO,
        };
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        let over = |x: f64, mu: f64| if mu > 0.0 { x / mu } else { 0.0 };
        let round = |z: DVec3| [over(z.y, self.friction[0]), over(z.z, self.friction[1])];
        match at[0].rank {
            3 => super::coulomb::out_of_cone(1.0, [r[0].x, d[0].x], [round(r[0]), round(d[0])]),
            rank => to_zero(rank > 0, r[0].x, d[0].x),
        }
    }
}
