//! The sums that a residual is made of.

use super::Residual;
use super::terms::Terms;
use crate::lanes::LANES;
use crate::{Law, cone};
use glam::DVec3;

/// Running sums of the two norms.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) natural_scaled: f64,
    pub(super) impulse_scaled: f64,
    pub(super) free_scaled: f64,
    natural: f64,
    free: f64,
    /// `Σ v_α²`, the largest term, and how many interactions are or should be closed.
    pub(super) velocity: f64,
    pub(super) fastest: f64,
    closed: f64,
    /// The three sums of `e_scaled` over equalities.
    pub(super) constraint: [f64; 3],
    residual: Residual,
}

impl Sums {
    /// One contact.
    pub(super) fn add(&mut self, lambda: f64, friction: f64, r: DVec3, [u, q]: [DVec3; 2]) {
        let shifted = cone::shifted_velocity(friction, u);
        let unit = r - cone::project(friction, r - shifted);
        self.natural += unit.length_squared();
        self.free += q.length_squared();
        // NaN must reach the sums: an undefined contact is not a solved one.
        let lambda = unless_negative(lambda);
        if lambda > 0.0 || lambda.is_nan() {
            let inverse = 1.0 / lambda;
            let scaled = r - cone::project(friction, r - shifted * inverse);
            let natural = lambda * scaled.length_squared();
            self.natural_scaled += natural;
            self.move_by(lambda * natural, r != DVec3::ZERO);
            self.free_scaled += q.length_squared() * inverse;
        }
        // Of a contact that no impulse moves, too: NaN is none.
        self.impulse_scaled += lambda * r.length_squared();
        self.see(cone::violation(friction, r), -u.x, -q.x);
    }

    /// The sums of many contacts, by lanes.
    pub(super) fn of(terms: &Terms) -> Self {
        let mut sums = Self {
            natural_scaled: terms.natural_scaled.sum(),
            impulse_scaled: terms.impulse_scaled.sum(),
            free_scaled: terms.free_scaled.sum(),
            natural: terms.natural.sum(),
            free: terms.free.sum(),
            velocity: terms.velocity.sum(),
            fastest: terms.fastest.0.iter().copied().fold(0.0, f64::max),
            closed: terms.closed.sum(),
            constraint: [0.0; 3],
            residual: Residual::default(),
        };
        for lane in 0..LANES {
            sums.see(
                terms.violation.0[lane],
                terms.approach.0[lane],
                terms.free_approach.0[lane],
            );
        }
        sums
    }

    /// Takes notice of a contact's violation of the cone, and how fast it closes with and without
    /// impulses.
    #[inline(always)]
    pub(super) fn see(&mut self, violation: f64, approach: f64, free_approach: f64) {
        let worst = &mut self.residual;
        worst.cone_violation = worst.cone_violation.max(violation);
        worst.approach = worst.approach.max(approach);
        worst.free_approach = worst.free_approach.max(free_approach);
    }

    /// Takes notice of the square of `v_α`.
    pub(super) fn move_by(&mut self, square: f64, pressed: bool) {
        self.velocity += square;
        self.fastest = self.fastest.max(square);
        self.closed += if pressed || square > 0.0 { 1.0 } else { 0.0 };
    }

    /// One interaction of any law, row by row.
    pub(super) fn add_rows(&mut self, lambda: f64, law: &Law, r: &[f64], [u, q]: [&[f64]; 2]) {
        let square = |z: &[f64]| z.iter().map(|z| z * z).sum::<f64>();
        let shift = law.shift(u);
        let natural = |rho: f64| {
            let mut z = [0.0; 6];
            let equality = matches!(law, Law::Equality(_));
            if equality {
                return rho * rho * square(u);
            }
            let z = &mut z[..r.len()];
            for (k, z) in z.iter_mut().enumerate() {
                let u = if k == 0 { u[0] + shift } else { u[k] };
                *z = r[k] - rho * u;
            }
            law.project(z);
            z.iter().zip(r).map(|(z, r)| (r - z) * (r - z)).sum()
        };
        self.natural += natural(1.0);
        self.free += square(q);
        // NaN must reach the sums: an undefined interaction is not a solved one.
        let lambda = unless_negative(lambda);
        if lambda > 0.0 || lambda.is_nan() {
            let inverse = 1.0 / lambda;
            let natural = lambda * natural(inverse);
            let own = [natural, lambda * square(r), square(q) * inverse];
            if let Law::Equality(_) = law {
                add(&mut self.constraint, &own);
            } else {
                self.natural_scaled += own[0];
                self.move_by(lambda * natural, r.iter().any(|r| *r != 0.0));
                self.impulse_scaled += own[1];
                self.free_scaled += own[2];
            }
        }
        let worst = &mut self.residual;
        worst.cone_violation = worst.cone_violation.max(law.violation(r));
        if law.is_unilateral() {
            worst.approach = worst.approach.max(-u[0]);
            worst.free_approach = worst.free_approach.max(-q[0]);
        }
        if let Law::Interval(_) | Law::Ball(_) = law {
            worst.box_violation = worst.box_violation.max(law.violation(r));
        }
        if let Law::Equality(_) = law {
            let left = u.iter().fold(0.0, |left: f64, u| left.max(u.abs()));
            worst.constraint_velocity = worst.constraint_velocity.max(left);
        }
    }

    /// One row of a box: [`Self::add_rows`] of its law, number for number.
    #[inline]
    pub(super) fn add_box(&mut self, lambda: f64, [low, high]: [f64; 2], r: f64, [u, q]: [f64; 2]) {
        let is_free = low == f64::NEG_INFINITY && high == f64::INFINITY;
        let natural = |rho: f64| {
            let z = r - rho * u;
            // A NaN goes through: an undefined row is not a solved one.
            let z = if z < low {
                low
            } else if z > high {
                high
            } else {
                z
            };
            if is_free {
                rho * rho * (u * u)
            } else {
                (r - z) * (r - z)
            }
        };
        self.natural += natural(1.0);
        self.free += q * q;
        let lambda = unless_negative(lambda);
        if lambda > 0.0 || lambda.is_nan() {
            let inverse = 1.0 / lambda;
            let natural = lambda * natural(inverse);
            let own = [natural, lambda * (r * r), q * q * inverse];
            if is_free {
                add(&mut self.constraint, &own);
            } else {
                self.natural_scaled += own[0];
                self.move_by(lambda * natural, r != 0.0);
                self.impulse_scaled += own[1];
                self.free_scaled += own[2];
            }
        }
        let worst = &mut self.residual;
        if is_free {
            worst.constraint_velocity = worst.constraint_velocity.max(u.abs());
            return;
        }
        let violation = (low - r).max(r - high).max(0.0);
        worst.cone_violation = worst.cone_violation.max(violation);
        if low.total_cmp(&0.0).is_eq() && high == f64::INFINITY {
            worst.approach = worst.approach.max(-u);
            worst.free_approach = worst.free_approach.max(-q);
        } else {
            worst.box_violation = worst.box_violation.max(violation);
        }
    }

    /// Adds the sums of other contacts.
    pub(super) fn merge(mut self, other: Self) -> Self {
        self.natural_scaled += other.natural_scaled;
        self.impulse_scaled += other.impulse_scaled;
        self.free_scaled += other.free_scaled;
        self.natural += other.natural;
        self.free += other.free;
        self.velocity += other.velocity;
        self.fastest = self.fastest.max(other.fastest);
        self.closed += other.closed;
        add(&mut self.constraint, &other.constraint);
        let found = other.residual;
        let bound = &mut self.residual.box_violation;
        *bound = bound.max(found.box_violation);
        self.see(found.cone_violation, found.approach, found.free_approach);
        let left = &mut self.residual.constraint_velocity;
        *left = left.max(found.constraint_velocity);
        self
    }

    pub(super) fn finish(self) -> Residual {
        let reference = larger(self.impulse_scaled, self.free_scaled);
        let [natural, impulse, free] = self.constraint;
        let of_all = larger(self.impulse_scaled + impulse, self.free_scaled + free);
        Residual {
            scaled: ratio(self.natural_scaled, reference),
            constraint: ratio(natural, of_all),
            fclib: ratio(self.natural, self.free),
            velocity: ratio(self.velocity, self.closed),
            worst_velocity: self.fastest.sqrt(),
            ..self.residual
        }
    }
}

/// A matrix of negative trace has no energy to measure by: what cannot be judged is not solved.
fn unless_negative(lambda: f64) -> f64 {
    if lambda < 0.0 { f64::NAN } else { lambda }
}

pub(super) fn add(sum: &mut [f64; 3], other: &[f64; 3]) {
    for (sum, other) in sum.iter_mut().zip(other) {
        *sum += other;
    }
}

/// The larger one; undefined if one is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

/// `√(a/b)`, zero for 0/0; infinite once the sums overflow, so that nothing passes for solved.
fn ratio(numerator: f64, denominator: f64) -> f64 {
    if !denominator.is_finite() {
        f64::INFINITY
    } else if numerator == 0.0 {
        0.0
    } else {
        (numerator / denominator).sqrt()
    }
}
