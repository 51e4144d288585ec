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
//! the normal `(−1, D⁻²p_T/p_N)` there), so that `p_N = x_N/(1 − α)`, or `α = 1` where `x_N = 0`. Both functions of `α` fall: bisection
//! finds the root to the last bit.

use super::complementarity::to_zero;
use super::linearised::{ConeMap, Linearised};
use super::{Defect, RowLaw, norm};
use glam::DVec3;

/// Coefficients of friction along the two tangents; any ratio, zeros included.
///
/// ```
/// use moreau_solvers::{Law, law::EllipticCoulomb};
/// let law = Law::EllipticCoulomb(EllipticCoulomb { friction: [0.5, 0.0] });
/// let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let mut r = [0.0; 3];
/// law.solve_block(&unit, &[-1.0, 0.3, 0.3], &mut r); // held along the first tangent, free along the second
/// assert!((r[1] + 0.3).abs() < 1e-15 && r[2] == 0.0);
/// ```
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
        if x.is_nan() {
            return DVec3::NAN;
        }
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
        if x.is_nan() {
            return (DVec3::NAN, 0.0);
        }
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

impl EllipticCoulomb {
    /// `(n/S) v` and `τ` at the point `p` of the edge, with its multiplier.
    fn edge(&self, p: [f64; 2], n: f64, alpha: f64) -> ([f64; 2], [f64; 2]) {
        // v_i, a_i and v_i/a_i = p_i/μ_i²
        let part = |i: usize| {
            let square = self.friction[i] * self.friction[i];
            if square > 0.0 {
                [
                    p[i] / (square + alpha),
                    square / (square + alpha),
                    p[i] / square,
                ]
            } else {
                [0.0; 3]
            }
        };
        let ([v1, a1, over1], [v2, a2, over2]) = (part(0), part(1));
        let size = v1 * over1 + v2 * over2;
        if size <= 0.0 {
            return ([0.0; 2], [0.0; 2]);
        }
        let root = (a1 * a2 / size).sqrt();
        (
            [n * v1 / size, n * v2 / size],
            [-root * over2, root * over1],
        )
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

    /// The nested map, for both kinds. On the edge, with `a_i = μ_i²/(μ_i² + α)`, `v_i = p_i/(μ_i² + α)`, `S = Σ v_i²/a_i`:
    ///
    /// ```text
    /// dp = (diag(a) − v vᵀ/S) dx + (n/S) v dn,      diag(a) − v vᵀ/S = τ τᵀ,   τ = √(a₁a₂/S) (−v₂/a₂, v₁/a₁)
    /// ```
    ///
    /// A frictionless tangent has `p_i = a_i = 0`, and `τ = 0` on the edge.
    fn linearise(&self, _: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        let x = y[0] - w[0] * rho;
        if x.x <= 0.0 || x.is_nan() {
            at[0] = Linearised::default();
            return;
        }
        let [rough, other] = self.friction.map(|mu| mu > 0.0);
        if rough && other && self.contains([x.y, x.z], x.x) {
            at[0] = Linearised::free(x);
            return;
        }
        let (point, alpha) = self.nested(x);
        let (growth, tau) = if alpha > 0.0 {
            self.edge([point.y, point.z], x.x, alpha)
        } else {
            (
                [0.0; 2],
                [rough, other].map(|held| f64::from(u8::from(held))),
            )
        };
        at[0] = Linearised {
            point,
            ..Linearised::default()
        };
        at[0].push(DVec3::new(1.0, growth[0], growth[1]), DVec3::X);
        let tau = DVec3::new(0.0, tau[0], tau[1]);
        if tau != DVec3::ZERO {
            at[0].push_square(tau);
        }
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        let over = |x: f64, mu: f64| if mu > 0.0 { x / mu } else { 0.0 };
        let round = |z: DVec3| [over(z.y, self.friction[0]), over(z.z, self.friction[1])];
        // A contact with one frictionless tangent that is held along the other has rank 2.
        let held = 1 + self.friction.iter().filter(|mu| **mu > 0.0).count();
        if held > 1 && at[0].rank == held {
            super::coulomb::out_of_cone(1.0, [r[0].x, d[0].x], [round(r[0]), round(d[0])])
        } else {
            to_zero(at[0].rank > 0, r[0].x, d[0].x)
        }
    }
}
