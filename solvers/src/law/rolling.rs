//! Coulomb's law with rolling and spinning resistance: rows `N, T₁, T₂, R₁, R₂` and, with spinning, `S`.
//!
//! ```text
//! C = { ‖r_T‖ ≤ μ r_N,  ‖m_R‖ ≤ μ_R r_N,  |m_S| ≤ μ_S r_N },     σ(w) = μ‖w_T‖ + μ_R‖w_R‖ + μ_S|w_S|
//! ```
//!
//! `μ_R` and `μ_S` are lengths: the couples `m` are in N·m·s, their velocities in rad/s. Friction, rolling and spinning have
//! each their own disc, so that `C` is no circular cone.
//!
//! Projection of `(n, t, m, s)`: the new normal part `N ≥ 0` is the root of the rising piecewise linear function
//! `N − n − Σ_i μ_i (‖z_i‖ − μ_i N)₊`, over the three groups `z_i`; each group is then shortened to `μ_i N` where it is longer.
//!
//! Reference: V. Acary, F. Bourrier, *Coulomb friction with rolling resistance as a cone complementarity problem*, 2021.

pub(crate) mod block;
mod bracket;
mod factors;
mod secular;

use super::coulomb::out_of_cone;
use super::linearised::{ConeMap, Linearised};
use super::{Defect, RowLaw, is_undefined, norm};
use glam::DVec3;

/// Friction and the resistances against rolling and spinning.
///
/// ```
/// use moreau_solvers::{Law, law::RollingCoulomb};
/// // A ball pressed down at 1 m/s, that turns at 0.5 rad/s: 0.1 m of resistance hold 0.1 N·m·s of couple.
/// let law = Law::Rolling(RollingCoulomb { friction: 0.5, rolling: 0.1, spinning: None });
/// let unit: Vec<f64> = (0..25).map(|k| if k % 6 == 0 { 1.0 } else { 0.0 }).collect();
/// let mut r = [0.0; 5];
/// law.solve_block(&unit, &[-1.0, 0.0, 0.0, 0.5, 0.0], &mut r);
/// assert!((r[0] - 1.0).abs() < 1e-15 && (r[3] + 0.1).abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RollingCoulomb {
    /// `μ ≥ 0`.
    pub friction: f64,
    /// `μ_R ≥ 0`, m.
    pub rolling: f64,
    /// `μ_S ≥ 0`, m; `None` leaves the sixth row out.
    pub spinning: Option<f64>,
}

impl RollingCoulomb {
    /// Coefficients of the three groups.
    pub(crate) fn coefficients(&self) -> [f64; 3] {
        [self.friction, self.rolling, self.spinning.unwrap_or(0.0)]
    }

    /// Norms of the three groups of `z`.
    fn norms(z: &[f64]) -> [f64; 3] {
        let spin = z.get(5).map_or(0.0, |s| s.abs());
        [norm([z[1], z[2]]), norm([z[3], z[4]]), spin]
    }

    /// Shortens the groups of `z` to `μ_i n` where they are longer, and sets the normal part.
    fn cap(&self, z: &mut [f64], n: f64) {
        let (norms, rows_of_law) = (Self::norms(z), z.len());
        z[0] = n;
        for ((mu, length), rows) in self
            .coefficients()
            .iter()
            .zip(norms)
            .zip([1..3, 3..5, 5..6])
        {
            if length > mu * n {
                for row in rows.filter(|row| *row < rows_of_law) {
                    z[row] *= mu * n / length;
                }
            }
        }
    }

    /// The six rows of two triples.
    fn six(z: &[DVec3]) -> [f64; 6] {
        [z[0].x, z[0].y, z[0].z, z[1].x, z[1].y, z[1].z]
    }
}

impl RowLaw for RollingCoulomb {
    fn rows(&self) -> usize {
        if self.spinning.is_some() { 6 } else { 5 }
    }

    fn project(&self, z: &mut [f64]) {
        if is_undefined(z) {
            return z.fill(f64::NAN);
        }
        let (mu, norms) = (self.coefficients(), Self::norms(z));
        // Pieces in the order in which the groups come inside: group i is longer than μ_i N up to N = norm_i/μ_i.
        let reach = |i: usize| if mu[i] > 0.0 { norms[i] / mu[i] } else { 0.0 };
        let mut order = [0, 1, 2];
        order.sort_by(|i, j| reach(*j).total_cmp(&reach(*i)));
        let (mut sum, mut weight) = (z[0], 1.0);
        let mut n = sum;
        for i in order {
            // With the groups before i outside their discs, N = sum/weight; group i is outside too if that is short of it.
            if n >= reach(i) {
                break;
            }
            sum += mu[i] * norms[i];
            weight += mu[i] * mu[i];
            n = sum / weight;
        }
        self.cap(z, n.max(0.0));
    }

    fn resolve(&self, z: &mut [f64]) {
        if is_undefined(z) {
            return z.fill(f64::NAN);
        }
        self.cap(z, z[0].max(0.0));
    }

    fn shift(&self, w: &[f64]) -> f64 {
        let terms = self.coefficients().into_iter().zip(Self::norms(w));
        terms.map(|(mu, speed)| mu * speed).sum()
    }

    fn violation(&self, r: &[f64]) -> f64 {
        let groups = self.coefficients().into_iter().zip(Self::norms(r));
        groups
            .map(|(mu, length)| length - mu * r[0])
            .fold((-r[0]).max(0.0), f64::max)
    }

    fn defect(&self) -> Option<Defect> {
        Defect::unless_coefficient("friction", self.friction)
            .or_else(|| Defect::unless_coefficient("rolling resistance", self.rolling))
            .or_else(|| Defect::unless_coefficient("spinning resistance", self.spinning?))
    }

    /// The nested map, for both kinds: the normal part first, then each group on its disc.
    fn linearise(&self, _: ConeMap, y: &[DVec3], w: &[DVec3], rho: f64, at: &mut [Linearised]) {
        let x = [y[0] - w[0] * rho, y[1] - w[1] * rho];
        let n = x[0].x;
        if n <= 0.0 || x.iter().any(|x| x.is_nan()) {
            at[..2].fill(Linearised::default());
            return;
        }
        let mut point = Self::six(&x);
        self.cap(&mut point, n);
        let [mu, mu_r, mu_s] = self.coefficients();
        let friction = Disc::new([x[0].y, x[0].z], mu, n);
        let rolling = Disc::new([x[1].x, x[1].y], mu_r, n);
        let spin = Disc::new([x[1].z, 0.0], mu_s, n);
        let [g1, g2] = friction.growth;
        let mut first = Linearised {
            point: DVec3::from_slice(&point[..3]),
            tail: DVec3::new(rolling.growth[0], rolling.growth[1], spin.growth[0]),
            ..Linearised::default()
        };
        first.push(DVec3::new(1.0, g1, g2), DVec3::X);
        for [a, b] in friction.roots() {
            first.push_square(DVec3::new(0.0, a, b));
        }
        let mut second = Linearised {
            point: DVec3::from_slice(&point[3..]),
            ..Linearised::default()
        };
        for [a, b] in rolling.roots() {
            second.push_square(DVec3::new(a, b, 0.0));
        }
        if spin.inside {
            second.push_square(DVec3::Z);
        }
        [at[0], at[1]] = [first, second];
    }

    fn exit(&self, at: &[Linearised], r: &[DVec3], d: &[DVec3]) -> f64 {
        if at[0].rank == 0 {
            return f64::INFINITY;
        }
        let (r, d) = (Self::six(r), Self::six(d));
        let normal = [r[0], d[0]];
        let mut least = if d[0] < 0.0 {
            -r[0] / d[0]
        } else {
            f64::INFINITY
        };
        let groups = [
            [[r[1], r[2]], [d[1], d[2]]],
            [[r[3], r[4]], [d[3], d[4]]],
            [[r[5], 0.0], [d[5], 0.0]],
        ];
        for (mu, [r, d]) in self.coefficients().into_iter().zip(groups) {
            // A group that slides stays on its disc.
            if norm(r) < mu * normal[0] * (1.0 - 1e-12) {
                least = least.min(out_of_cone(mu, normal, [r, d]));
            }
        }
        least
    }
}

/// The projection of one group on the disc of radius `μ n`.
struct Disc {
    inside: bool,
    /// `∂p/∂n`.
    growth: [f64; 2],
    /// Direction across `x`, times the root of `μ n/‖x‖`.
    across: [f64; 2],
}

impl Disc {
    fn new(x: [f64; 2], mu: f64, n: f64) -> Self {
        let length = norm(x);
        if mu > 0.0 && length <= mu * n {
            return Self {
                inside: true,
                growth: [0.0; 2],
                across: [0.0; 2],
            };
        }
        let [n1, n2] = if length > 0.0 {
            [x[0] / length, x[1] / length]
        } else {
            [0.0; 2]
        };
        let root = if mu > 0.0 {
            (mu * n / length).sqrt()
        } else {
            0.0
        };
        Self {
            inside: false,
            growth: [mu * n1, mu * n2],
            across: [-n2 * root, n1 * root],
        }
    }

    /// The derivative with respect to `x` as a sum of squares.
    fn roots(&self) -> impl Iterator<Item = [f64; 2]> {
        let all = [[1.0, 0.0], [0.0, 1.0], self.across];
        let range = match (self.inside, norm(self.across) > 0.0) {
            (true, _) => 0..2,
            (false, true) => 2..3,
            (false, false) => 0..0,
        };
        range.map(move |k| all[k])
    }
}
