//! One contact, solved exactly: given a symmetric positive semi-definite 3×3 block `W` and `q`,
//! find `r` with `u = W r + q`, `K*_μ ∋ û ⊥ r ∈ K_μ`. No pyramid, no regularisation.
//!
//! | symbol | meaning, unit |
//! |---|---|
//! | `W_NN`, `w = W_TN`, `W_TT` | parts of the local Delassus block, 1/kg |
//! | `S = W_TT − w wᵀ/W_NN` | Schur complement, eigenvalues `s₁, s₂ ≥ 0`, 1/kg |
//! | `b = q_T − w q_N/W_NN` | tangential velocity once `u_N = 0`, m/s |
//! | `α` | slip multiplier, `u_T = −α r_T`, 1/kg |
//!
//! 1. Take-off: `q_N ≥ 0` gives `r = 0`.
//! 2. Stick: `r_T = −S⁻¹ b`, `r_N = −(q_N + w·r_T)/W_NN`, accepted if `‖r_T‖ ≤ μ r_N`.
//! 3. Slip: `u_N = 0`, `u_T = −α r_T` with `α > 0`, so that
//!
//! ```text
//! r_T(α) = −(S + αI)⁻¹ b,   r_N(α) = −(q_N + w·r_T(α))/W_NN,   f(α) = ‖r_T(α)‖ − μ r_N(α) = 0
//! ```
//!
//! `S` is kept above the rounding of `W`, so that the sticking impulse is finite.
//! `f(0) > 0` because sticking failed, and `f(∞) = μ q_N/W_NN < 0`: a root always exists. With
//! `‖r_T‖ ≤ ‖b‖/(s_min + α)` the bound `α_max = ‖b‖ (W_NN + μ‖w‖)/(−μ q_N) − s_min` brackets it.
//! We run Newton on `h(α) = 1/‖r_T‖ − 1/(μ r_N)`, which is linear for an isotropic contact (one
//! step is exact) and nearly so otherwise, as for trust-region secular equations, and bisect
//! whenever Newton leaves the bracket. In the eigenbasis of `S` one evaluation costs two divisions
//! and one square root. Strong normal–tangential coupling with large `μ` can give several roots
//! (Painlevé); the iteration starts from `α = 0`, or from the root of an earlier solve, and is
//! deterministic.
//!
//! References: [Bonnefon-Daviet11] for the equation (there squared to a quartic), docs/theory.md §8 for
//! this safeguarded form.

use glam::{DMat3, DVec3};

/// Relative size below which coupling and anisotropy are rounding errors of assembling `W`.
const ISOTROPIC: f64 = 1e-14;
/// Newton and bisection steps. Newton takes about 3; 60 halvings exhaust the mantissa.
const MAX_ITERATIONS: usize = 60;

/// A local Delassus block prepared for repeated exact solves, in the eigenbasis of `S`.
///
/// The tangent axes of this basis are `t₁' = c t₁ + s t₂`, `t₂' = −s t₁ + c t₂` with `(c, s)` =
/// [`OneContact::rotation`]. Methods named `*_principal` work in that basis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneContact {
    w_nn: f64,
    inv_w_nn: f64,
    w: [f64; 2],
    s: [f64; 2],
    inv_s: [f64; 2],
    rotation: [f64; 2],
    isotropic: bool,
}

impl OneContact {
    /// Prepares the symmetric part of `block` (1/kg, rows and columns `(n, t₁, t₂)`).
    ///
    /// `W_NN` must be positive; a block with `W_NN ≤ 0`, without a finite inverse, or with non-finite entries carries no
    /// impulse, and [`OneContact::solve`] then returns zero.
    #[must_use]
    pub fn new(block: &DMat3) -> Self {
        let inverse = |w: f64| Some(1.0 / w).filter(|inverse| w > 0.0 && inverse.is_finite());
        let usable = inverse(block.x_axis.x).is_some() && block.is_finite();
        let block = if usable { *block } else { DMat3::ZERO };
        let w_nn = block.x_axis.x;
        let w1 = 0.5 * (block.x_axis.y + block.y_axis.x);
        let w2 = 0.5 * (block.x_axis.z + block.z_axis.x);
        let inv_w_nn = inverse(w_nn).unwrap_or(0.0);
        let (a, d) = (
            block.y_axis.y - w1 * w1 * inv_w_nn,
            block.z_axis.z - w2 * w2 * inv_w_nn,
        );
        let off = 0.5 * (block.y_axis.z + block.z_axis.y) - w1 * w2 * inv_w_nn;
        let (c, s, t) = jacobi_rotation(a, off, d);
        let floor = f64::EPSILON * (w_nn + block.y_axis.y.abs() + block.z_axis.z.abs());
        let eigenvalues = [(a - t * off).max(floor), (d + t * off).max(floor)];
        let w = [c * w1 - s * w2, s * w1 + c * w2];
        // jacobi_rotation returns the rotation whose first axis is (c, −s).
        let rotation = [c, -s];
        let spread = (eigenvalues[0] - eigenvalues[1]).abs();
        let isotropic =
            w[0].abs().max(w[1].abs()) <= ISOTROPIC * w_nn && spread <= ISOTROPIC * eigenvalues[0];
        Self {
            w_nn,
            inv_w_nn,
            w,
            s: eigenvalues,
            inv_s: eigenvalues.map(|e| inverse(e).unwrap_or(0.0)),
            rotation,
            isotropic,
        }
    }

    /// `(c, s)` of the rotation from the given tangents to the eigenbasis of `S`.
    #[inline]
    #[must_use]
    pub fn rotation(&self) -> [f64; 2] {
        self.rotation
    }

    /// Components of a contact-frame vector in the eigenbasis.
    #[inline]
    #[must_use]
    pub fn to_principal(&self, z: DVec3) -> DVec3 {
        let [c, s] = self.rotation;
        DVec3::new(z.x, c * z.y + s * z.z, c * z.z - s * z.y)
    }

    /// Inverse of [`OneContact::to_principal`].
    #[inline]
    #[must_use]
    pub fn from_principal(&self, z: DVec3) -> DVec3 {
        let [c, s] = self.rotation;
        DVec3::new(z.x, c * z.y - s * z.z, c * z.z + s * z.y)
    }

    /// `W r` for `r` in the eigenbasis (symmetric part of the block).
    #[inline]
    #[must_use]
    pub fn apply_principal(&self, r: DVec3) -> DVec3 {
        let coupling = self.w[0] * r.y + self.w[1] * r.z;
        let normal = self.w_nn * r.x + coupling;
        // W_TT r_T + w r_N = S r_T + w (w·r_T/W_NN + r_N)
        let lift = coupling * self.inv_w_nn + r.x;
        DVec3::new(
            normal,
            self.s[0] * r.y + self.w[0] * lift,
            self.s[1] * r.z + self.w[1] * lift,
        )
    }

    /// The impulse of one contact, N·s in the contact frame, for the velocity `q` (m/s, contact
    /// frame) that it has when its own impulse is zero. `friction ≥ 0`.
    ///
    /// ```
    /// use glam::{DMat3, DVec3};
    /// use moreau_solvers::OneContact;
    /// // Unit mass pressed down at 1 m/s and dragged at 2 m/s, μ = 0.5: it slides.
    /// let r = OneContact::new(&DMat3::IDENTITY).solve(DVec3::new(-1.0, 2.0, 0.0), 0.5);
    /// assert!((r - DVec3::new(1.0, -0.5, 0.0)).length() < 1e-15);
    /// ```
    #[must_use]
    pub fn solve(&self, q: DVec3, friction: f64) -> DVec3 {
        self.from_principal(self.solve_principal(self.to_principal(q), friction))
    }

    /// [`OneContact::solve`] with `q` and the result in the eigenbasis.
    #[inline]
    #[must_use]
    pub fn solve_principal(&self, q: DVec3, friction: f64) -> DVec3 {
        self.solve_principal_from(q, friction, &mut 0.0)
    }

    /// [`OneContact::solve_principal`] with the slip multiplier `α` (1/kg) of an earlier solve of
    /// this contact as the first guess, 0 for none; receives the new one. In repeated sweeps this
    /// saves most of the iterations, and of several roots it takes the one near the previous.
    #[inline]
    #[must_use]
    pub fn solve_principal_from(&self, q: DVec3, friction: f64, alpha: &mut f64) -> DVec3 {
        if self.isotropic {
            return self.solve_isotropic(q, friction);
        }
        if q.x >= 0.0 || self.inv_w_nn == 0.0 {
            return DVec3::ZERO;
        }
        if friction == 0.0 {
            return DVec3::new(-q.x * self.inv_w_nn, 0.0, 0.0);
        }
        let slope = q.x * self.inv_w_nn;
        let b = [q.y - self.w[0] * slope, q.z - self.w[1] * slope];
        let stick = self.impulse_from_tangential(q.x, -b[0] * self.inv_s[0], -b[1] * self.inv_s[1]);
        if tangential_norm(stick) <= friction * stick.x {
            return stick;
        }
        let (r1, r2) = self.slip(q.x, b, friction, stick, alpha);
        let r = self.impulse_from_tangential(q.x, r1, r2);
        // The last rounding: put r on the cone exactly.
        let tangential = tangential_norm(r);
        if r.x <= 0.0 || tangential == 0.0 {
            return DVec3::new(r.x.max(0.0), 0.0, 0.0);
        }
        let scale = friction * r.x / tangential;
        DVec3::new(r.x, scale * r1, scale * r2)
    }

    /// Diagonal block with equal tangential entries: the cap of the sticking impulse is exact,
    /// because `u_T = −α r_T` keeps `r_T` parallel to `b = q_T`. All three regimes without a branch:
    /// in a pile they alternate at random. (`min` takes the number when `0/0` is none.)
    #[inline]
    fn solve_isotropic(&self, q: DVec3, friction: f64) -> DVec3 {
        let normal = (-q.x * self.inv_w_nn).max(0.0);
        let scale = self.inv_s[0].min(friction * normal / tangential_norm(q));
        DVec3::new(normal, -scale * q.y, -scale * q.z)
    }

    /// `α_max`: at and beyond it `‖r_T‖ ≤ μ r_N`.
    #[cold]
    fn slip_bound(&self, q_n: f64, b: [f64; 2], friction: f64) -> f64 {
        let b_norm = (b[0] * b[0] + b[1] * b[1]).sqrt();
        let w_norm = (self.w[0] * self.w[0] + self.w[1] * self.w[1]).sqrt();
        let s_min = self.s[0].min(self.s[1]);
        (b_norm * (self.w_nn + friction * w_norm) / (-friction * q_n) - s_min).max(0.0)
    }

    #[inline]
    fn impulse_from_tangential(&self, q_n: f64, r1: f64, r2: f64) -> DVec3 {
        let normal = -(q_n + self.w[0] * r1 + self.w[1] * r2) * self.inv_w_nn;
        DVec3::new(normal, r1, r2)
    }

    /// Case 3 of the module doc: the root of `f` on `(0, α_max]`, from the guess `first` or, if that
    /// is 0, from the sticking impulse. Needs `q_n < 0`, `friction > 0`. Returns
    /// `r_T`, which fits in registers.
    fn slip(
        &self,
        q_n: f64,
        b: [f64; 2],
        friction: f64,
        stick: DVec3,
        first: &mut f64,
    ) -> (f64, f64) {
        let at = |alpha: f64| {
            let inv = [1.0 / (self.s[0] + alpha), 1.0 / (self.s[1] + alpha)];
            let r = self.impulse_from_tangential(q_n, -b[0] * inv[0], -b[1] * inv[1]);
            (inv, r)
        };
        let mut alpha = *first;
        let (mut inv, mut r) = if alpha > 0.0 {
            at(alpha)
        } else {
            (self.inv_s, stick)
        };
        let (mut low, mut high) = (0.0, f64::MAX);
        for _ in 0..MAX_ITERATIONS {
            let tangential = tangential_norm(r);
            let bound = friction * r.x;
            let excess = tangential - bound;
            if excess.abs() <= 2.0 * f64::EPSILON * (tangential + bound.abs()) {
                break;
            }
            if excess > 0.0 {
                low = alpha;
            } else {
                high = alpha;
            }
            if high - low <= 2.0 * f64::EPSILON * high {
                break;
            }
            // With T = ‖r_T‖, B = μ r_N: T dT/dα = −Σ r²/(s+α), dB/dα = μ Σ w r/(s+α)/W_NN, and
            // Newton on 1/T − 1/B steps by −h/h' = T² B (T − B) / (T³ dB/dα − B² T dT/dα).
            let (y1, y2) = (r.y * inv[0], r.z * inv[1]);
            let t_dt = -(r.y * y1 + r.z * y2);
            let db = friction * self.inv_w_nn * (self.w[0] * y1 + self.w[1] * y2);
            let square = tangential * tangential;
            let slope = square * tangential * db - bound * bound * t_dt;
            let newton = alpha + square * bound * excess / slope;
            alpha = if bound > 0.0 && newton > low && newton < high {
                newton
            } else {
                high = high.min(self.slip_bound(q_n, b, friction));
                if low > 0.0 {
                    (low * high).sqrt()
                } else {
                    0.1 * high
                }
            };
            (inv, r) = at(alpha);
        }
        *first = alpha;
        (r.y, r.z)
    }
}

/// Jacobi rotation `(c, s, t = s/c)` that diagonalises `[[a, o], [o, d]]`:
/// eigenvalues `a − t o` for the axis `(c, −s)` and `d + t o` for `(s, c)`.
pub(super) fn jacobi_rotation(a: f64, o: f64, d: f64) -> (f64, f64, f64) {
    if o.abs() <= f64::EPSILON * (a.abs() + d.abs()) {
        return (1.0, 0.0, 0.0);
    }
    let tau = (d - a) / (2.0 * o);
    let t = tau.signum() / (tau.abs() + (1.0 + tau * tau).sqrt());
    let c = 1.0 / (1.0 + t * t).sqrt();
    (c, t * c, t)
}

/// `‖r_T‖`. The solver's own: the judge's code stays apart from it.
#[inline]
fn tangential_norm(r: DVec3) -> f64 {
    (r.y * r.y + r.z * r.z).sqrt()
}

#[cfg(test)]
mod tests;
