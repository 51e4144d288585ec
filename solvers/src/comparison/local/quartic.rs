//! One contact by the roots of a quartic [Bonnefon-Daviet11; docs/theory.md §8].
//!
//! A sliding contact has `u_N = 0`, `u_T = −α r_T`, `α > 0`. In the eigenbasis of `S` (see
//! [`crate::law::one_contact`]) the condition `‖r_T(α)‖ = μ r_N(α)`, squared, is a quartic in `α`. It is
//! formed in the unknown `y = (s_min + α)/s_max`, so that no large terms cancel, with
//! `δ = 1 − s_min/s_max` and `c = b/‖b‖`:
//!
//! ```text
//! A = −μ q_N s_max/(W_NN‖b‖) > 0,     B_i = μ w_i c_i/W_NN
//! I(y) = A y² + (A δ + B₁ + B₂) y + B_min δ                    ∝ μ r_N
//! Q(y) = I(y)² − [ c_min² (y + δ)² + c_max² y² ] = 0           ∝ (μ r_N)² − ‖r_T‖²
//! s_min/s_max < y ≤ (1 + μ‖w‖/W_NN)/A                         the slip bound
//! ```
//!
//! (`·_min` belongs to the smaller eigenvalue.) The real roots in that interval are isolated by the
//! roots of `Q‴`, `Q″`, `Q′` in turn: between two neighbouring roots of its derivative a polynomial
//! is monotone, so that Newton with bisection finds each root; this needs no complex numbers and
//! holds when leading coefficients vanish, as for an isotropic block (`δ = 0`, a double root
//! `y = 0`), where closed formulas divide zero by zero.
//!
//! Roots with `r_N ≥ 0` count; the one nearest to the previous `α` is taken, or the smallest. One
//! Newton step of the secular equation removes the error of squaring. If no root qualifies, or
//! rounding spoilt it, [`OneContact`](crate::OneContact) answers.
//!
//! **When to use it:** to see all solutions that a contact has, and to compare. **When not:** for
//! speed or precision: squaring loses half the digits near double roots. **Cost:** some five
//! times the exact solve.

use crate::comparison::local::{LocalProblem, tangential_norm};
use glam::DVec3;

/// `|‖r_T‖ − μ r_N|`, relative, that the polished root has to reach.
const ACCEPTED: f64 = 1e-12;
/// Newton and bisection steps for one root.
const MAX_STEPS: usize = 100;

/// Sticks, or slides by a root of the quartic. `alpha` is the slip multiplier of the last solve.
pub(crate) fn solve(problem: &LocalProblem, alpha: &mut f64) -> DVec3 {
    let secular = Secular::new(problem);
    let stick = secular.impulse(0.0);
    if tangential_norm(stick) <= problem.friction * stick.x {
        return stick;
    }
    match secular.slip(*alpha) {
        Some((root, r)) => {
            *alpha = root;
            r
        }
        None => problem
            .block
            .solve_principal_from(problem.q, problem.friction, alpha),
    }
}

/// The equation of the slip multiplier.
struct Secular<'a> {
    problem: &'a LocalProblem<'a>,
    s: [f64; 2],
    b: [f64; 2],
}

impl<'a> Secular<'a> {
    fn new(problem: &'a LocalProblem<'a>) -> Self {
        let (q, w) = (problem.q, problem.w);
        let slope = q.x / problem.w_nn;
        Self {
            problem,
            s: problem.schur_eigenvalues(),
            b: [q.y - w[0] * slope, q.z - w[1] * slope],
        }
    }

    /// `r(α)`.
    fn impulse(&self, alpha: f64) -> DVec3 {
        let LocalProblem { q, w, w_nn, .. } = self.problem;
        let r = [0, 1].map(|i| -self.b[i] / (self.s[i] + alpha));
        DVec3::new(-(q.x + w[0] * r[0] + w[1] * r[1]) / w_nn, r[0], r[1])
    }

    /// The multiplier and impulse of a qualifying root.
    fn slip(&self, previous: f64) -> Option<(f64, DVec3)> {
        let root = self.polished(self.nearest_root(previous)?);
        Some((root, self.on_cone(root)?))
    }

    /// The coefficients of `Q`, lowest first, and the interval of `y`.
    fn quartic(&self) -> ([f64; 5], [f64; 2]) {
        let LocalProblem {
            q,
            w,
            w_nn,
            friction,
            ..
        } = self.problem;
        let small = usize::from(self.s[1] < self.s[0]);
        let (s_min, s_max) = (self.s[small], self.s[1 - small]);
        let length = norm(self.b);
        let delta = (s_max - s_min) / s_max;
        let a = -friction * q.x * s_max / (w_nn * length);
        let coupling = [0, 1].map(|i| friction * w[i] * self.b[i] / (length * w_nn));
        let inner = [
            coupling[small] * delta,
            a * delta + coupling[0] + coupling[1],
            a,
        ];
        let c = self.b[small] / length;
        let c_delta = c * delta;
        let coefficients = [
            (inner[0] - c_delta) * (inner[0] + c_delta),
            2.0 * (inner[1] * inner[0] - c * c_delta),
            inner[1] * inner[1] + 2.0 * inner[2] * inner[0] - 1.0,
            2.0 * inner[2] * inner[1],
            inner[2] * inner[2],
        ];
        // Twice the bound: an isotropic block attains it, and rounding must not push the root out.
        let high = 2.0 * (1.0 + friction * norm(*w) / w_nn) / a;
        (coefficients, [s_min / s_max, high])
    }

    /// Of the roots `α > 0` with `r_N ≥ 0` the one nearest to `previous`, or the smallest if that
    /// is 0.
    fn nearest_root(&self, previous: f64) -> Option<f64> {
        let (coefficients, [low, high]) = self.quartic();
        let (roots, count) = real_roots(&coefficients, low, high);
        let s_max = self.s[0].max(self.s[1]);
        let candidates = roots[..count].iter().map(|y| s_max * (y - low));
        candidates
            .filter(|alpha| *alpha > 0.0 && self.impulse(*alpha).x >= 0.0)
            .min_by(|a, b| (a - previous).abs().total_cmp(&(b - previous).abs()))
    }

    /// One Newton step on `1/‖r_T‖ − 1/(μ r_N)`, if it stays positive.
    fn polished(&self, alpha: f64) -> f64 {
        let LocalProblem {
            w, w_nn, friction, ..
        } = self.problem;
        let r = self.impulse(alpha);
        let (tangential, bound) = (tangential_norm(r), friction * r.x);
        let y = [r.y / (self.s[0] + alpha), r.z / (self.s[1] + alpha)];
        let t_dt = -(r.y * y[0] + r.z * y[1]);
        let db = friction * (w[0] * y[0] + w[1] * y[1]) / w_nn;
        let square = tangential * tangential;
        let slope = square * tangential * db - bound * bound * t_dt;
        let next = alpha + square * bound * (tangential - bound) / slope;
        if next > 0.0 && next.is_finite() {
            next
        } else {
            alpha
        }
    }

    /// The impulse of a root, put on the cone exactly; none if it is not there already but for
    /// rounding.
    fn on_cone(&self, alpha: f64) -> Option<DVec3> {
        let r = self.impulse(alpha);
        let (tangential, bound) = (tangential_norm(r), self.problem.friction * r.x);
        let good = (tangential - bound).abs() <= ACCEPTED * (tangential + bound);
        (good && tangential > 0.0).then(|| {
            let scale = bound / tangential;
            DVec3::new(r.x, scale * r.y, scale * r.z)
        })
    }
}

fn norm(z: [f64; 2]) -> f64 {
    (z[0] * z[0] + z[1] * z[1]).sqrt()
}

/// The real roots of `Σ c_k y^k` in `[low, high]` at which it changes its sign, ascending, and
/// their number.
fn real_roots(c: &[f64; 5], low: f64, high: f64) -> ([f64; 4], usize) {
    let (mut roots, mut count) = ([0.0; 4], 0);
    for degree in 1..=4 {
        let polynomial = derivative(c, 4 - degree);
        let ends = roots;
        let mut found = 0;
        let mut left = low;
        for right in ends[..count].iter().copied().chain([high]) {
            if let Some(root) = bracketed_root(&polynomial, left, right)
                && found < degree
            {
                roots[found] = root;
                found += 1;
            }
            left = right;
        }
        count = found;
    }
    (roots, count)
}

/// Coefficients of the `order`-th derivative.
fn derivative(c: &[f64; 5], order: usize) -> [f64; 5] {
    let mut result = *c;
    for _ in 0..order {
        for k in 1..5 {
            result[k - 1] = k as f64 * result[k];
        }
        result[4] = 0.0;
    }
    result
}

/// Value and slope.
fn evaluate(c: &[f64; 5], y: f64) -> (f64, f64) {
    let step = |(value, slope): (f64, f64), c: &f64| (value * y + c, slope * y + value);
    c.iter().rev().fold((0.0, 0.0), step)
}

/// The root of a polynomial that is monotone on `[low, high]`, if it changes its sign there.
fn bracketed_root(c: &[f64; 5], mut low: f64, mut high: f64) -> Option<f64> {
    let (at_low, at_high) = (evaluate(c, low).0, evaluate(c, high).0);
    if at_high == 0.0 {
        return Some(high);
    }
    // A root at the lower end belongs to the interval before.
    if at_low == 0.0 || (at_low > 0.0) == (at_high > 0.0) {
        return None;
    }
    let mut y = 0.5 * (low + high);
    for _ in 0..MAX_STEPS {
        let (value, slope) = evaluate(c, y);
        if value == 0.0 {
            break;
        }
        if (value > 0.0) == (at_high > 0.0) {
            high = y;
        } else {
            low = y;
        }
        let newton = y - value / slope;
        let next = if newton > low && newton < high {
            newton
        } else {
            0.5 * (low + high)
        };
        if (next - y).abs() <= f64::EPSILON * y.abs() {
            break;
        }
        y = next;
    }
    Some(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OneContact;
    use crate::random::Random;
    use glam::DMat3;

    /// `(y − 1)(y − 2)(y − 3)(y + 4)`: simple roots of condition about 100.
    #[test]
    fn the_roots_of_a_known_quartic_are_found_in_order() {
        let c = [-24.0, 38.0, -13.0, -2.0, 1.0];
        let (roots, count) = real_roots(&c, 0.0, 10.0);
        assert_eq!(count, 3);
        for (root, exact) in roots.iter().zip([1.0, 2.0, 3.0]) {
            assert!(
                (root - exact).abs() <= 100.0 * f64::EPSILON * exact,
                "{root}"
            );
        }
    }

    /// Leading coefficients of zero leave a quadratic.
    #[test]
    fn a_degenerate_quartic_keeps_its_roots() {
        let (roots, count) = real_roots(&[2.0, -3.0, 1.0, 0.0, 0.0], 0.0, 10.0);
        assert_eq!(count, 2);
        assert!((roots[0] - 1.0).abs() + (roots[1] - 2.0).abs() <= 1e-14);
    }

    /// Equal tangential entries, no coupling: the sticking impulse capped, in closed form.
    #[test]
    fn an_isotropic_block_slides_by_the_closed_form() {
        let mut random = Random::new(1);
        for _ in 0..2_000 {
            let (normal, tangential) = (random.uniform(0.1, 3.0), random.uniform(0.1, 3.0));
            let matrix = DMat3::from_diagonal(DVec3::new(normal, tangential, tangential));
            let block = OneContact::new(&matrix);
            let q = random.vector() - DVec3::X * 1.01;
            let friction = random.uniform(0.01, 1.0);
            let problem = LocalProblem::new(&block, q, friction);
            let r = solve(&problem, &mut 0.0);
            let cap = friction * -q.x / normal / tangential_norm(q);
            let scale = cap.min(1.0 / tangential);
            let exact = DVec3::new(-q.x / normal, -scale * q.y, -scale * q.z);
            assert!((r - exact).length() <= 8.0 * f64::EPSILON * exact.length());
            if cap < 1.0 / tangential {
                // The quartic itself has the root: no fallback.
                assert!(Secular::new(&problem).nearest_root(0.0).is_some());
            }
        }
    }

    /// In blocks of condition up to 10 the quartic answers itself, but for nearly double roots.
    #[test]
    fn the_fallback_is_rare() {
        let mut random = Random::new(2);
        let (mut slips, mut fallbacks) = (0, 0);
        for _ in 0..20_000 {
            let d = DVec3::from([(); 3].map(|()| random.power_of_ten(-1.0, 0.0)));
            let block = OneContact::new(&random.symmetric(d));
            let q = random.vector() - DVec3::X;
            let problem = LocalProblem::new(&block, q, random.uniform(0.01, 1.0));
            let secular = Secular::new(&problem);
            let stick = secular.impulse(0.0);
            if q.x < 0.0 && tangential_norm(stick) > problem.friction * stick.x {
                slips += 1;
                fallbacks += usize::from(secular.slip(0.0).is_none());
            }
        }
        assert!(
            slips > 2_000 && 1_000 * fallbacks < slips,
            "{fallbacks} of {slips}"
        );
    }
}
