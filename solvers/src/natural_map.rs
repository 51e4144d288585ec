//! The judge: residuals of an impulse `r` recomputed from the definition [THEORY §7].
//!
//! ```text
//! F_α = r_α − P_K( r_α − ρ_α û_α ),   û = u + (μ‖u_T‖, 0, 0),   u = W r + q,   λ_α = trace(W_αα)/3
//!
//! e_scaled = √(Σ λ‖F‖²) / max( √(Σ λ‖r‖²), √(Σ ‖q‖²/λ) )      ρ_α = 1/λ_α
//! e_fclib  = √(Σ ‖F‖²) / ‖q‖                                    ρ_α = 1
//! ```
//!
//! A block of a joint has `K = ℝ³`, no shift and `F_α = ρ_α u_α`.
//!
//! A velocity is a difference of velocities and known to their rounding only. In the factored form
//! a contact whose `λ‖F‖` is below that rounding counts as solved: bodies that fly together have
//! `q` of 1e-16 of their speed, and no residual relative to it means anything.
//!
//! The natural map is blind to closing contacts of very large friction: one that is left to slide as
//! fast as it closes has a residual of `1/(√2 μ)` of it.
//!
//! Both vanish exactly at a solution. `e_scaled` is a ratio of energies: it does not change with
//! the units of mass, length or time. `e_fclib` is the field's published figure
//! [Acary-Bremond-Huber18]. Solvers share none of this code: `W r` is applied through the bodies'
//! twists from the problem's own frames and arms, and nothing is cached.

use crate::cone;
use crate::problem::{
    Contact, FactoredProblem, FrictionProblem, InverseMass, WorldTwist, is_shared,
};
use glam::DVec3;
use rayon::prelude::*;

/// What an impulse reaches on a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// `e_scaled`, dimensionless.
    pub scaled: f64,
    /// `e_fclib`, N·s per m/s: it depends on the units.
    pub fclib: f64,
    /// Largest `max(‖r_T‖ − μ r_N, −r_N, 0)`, N·s.
    pub cone_violation: f64,
    /// Largest closing velocity left, `max(−u_N, 0)`, m/s (offset included).
    pub approach: f64,
    /// The same without impulses, `max(−q_N, 0)`, m/s.
    pub free_approach: f64,
}

/// Rounding of a contact velocity, relative to the root of the squared speeds that it is made of:
/// about eight products and sums on each side, and √5 for the five speeds.
const ROUNDING: f64 = 36.0 * f64::EPSILON;

/// Contacts of a partial sum.
const CHUNK: usize = 1024;

/// Running sums of the two norms.
#[derive(Default)]
struct Sums {
    natural_scaled: f64,
    impulse_scaled: f64,
    free_scaled: f64,
    natural: f64,
    free: f64,
    residual: Residual,
}

impl Sums {
    /// One contact; `noise` is the square of the rounding of `u`, (m/s)².
    #[inline(always)]
    fn add(&mut self, lambda: f64, friction: f64, r: DVec3, [u, q]: [DVec3; 2], noise: f64) {
        let shifted = cone::shifted_velocity(friction, u);
        let unit = r - cone::project(friction, r - shifted);
        self.natural += unit.length_squared();
        self.free += q.length_squared();
        // NaN must reach the sums: an undefined contact is not a solved one.
        if lambda > 0.0 || lambda.is_nan() {
            let inverse = 1.0 / lambda;
            let scaled = r - cone::project(friction, r - shifted * inverse);
            let square = scaled.length_squared();
            let resolved = square * lambda * lambda <= noise;
            if !resolved {
                self.natural_scaled += lambda * square;
            }
            self.impulse_scaled += lambda * r.length_squared();
            self.free_scaled += q.length_squared() * inverse;
        }
        let worst = &mut self.residual;
        worst.cone_violation = worst.cone_violation.max(cone::violation(friction, r));
        worst.approach = worst.approach.max(-u.x);
        worst.free_approach = worst.free_approach.max(-q.x);
    }

    /// One block of a joint: `F = ρ u`, since its multiplier is free.
    fn add_joint(&mut self, lambda: f64, r: DVec3, [u, q]: [DVec3; 2]) {
        self.natural += u.length_squared();
        self.free += q.length_squared();
        if lambda > 0.0 || lambda.is_nan() {
            self.natural_scaled += u.length_squared() / lambda;
            self.impulse_scaled += lambda * r.length_squared();
            self.free_scaled += q.length_squared() / lambda;
        }
    }

    /// Adds the sums of other contacts.
    fn merge(mut self, other: Self) -> Self {
        self.natural_scaled += other.natural_scaled;
        self.impulse_scaled += other.impulse_scaled;
        self.free_scaled += other.free_scaled;
        self.natural += other.natural;
        self.free += other.free;
        let (worst, found) = (&mut self.residual, other.residual);
        worst.cone_violation = worst.cone_violation.max(found.cone_violation);
        worst.approach = worst.approach.max(found.approach);
        worst.free_approach = worst.free_approach.max(found.free_approach);
        self
    }

    fn finish(self) -> Residual {
        let reference = self.impulse_scaled.max(self.free_scaled);
        Residual {
            scaled: ratio(self.natural_scaled, reference),
            fclib: ratio(self.natural, self.free),
            ..self.residual
        }
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

/// Residual of `impulse` (N·s, contact frames) on a stored problem that
/// [`FrictionProblem::validate`] accepts, one impulse a block.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use moreau_solvers::{Delassus, FrictionProblem, natural_map};
/// let problem = FrictionProblem {
///     delassus: Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
///     free_velocity: vec![DVec3::new(-1.0, 0.0, 0.0)],
///     friction: vec![0.5],
///     joints: Vec::new(),
/// };
/// assert_eq!(natural_map::stored(&problem, &[DVec3::new(1.0, 0.0, 0.0)]).scaled, 0.0);
/// assert!(natural_map::stored(&problem, &[DVec3::ZERO]).scaled > 0.9);
/// ```
#[must_use]
pub fn stored(problem: &FrictionProblem, impulse: &[DVec3]) -> Residual {
    let mut sums = Sums::default();
    for (contact, r) in impulse.iter().enumerate() {
        let q = problem.free_velocity[contact];
        let block = problem.delassus.diagonal(contact);
        let lambda = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
        let u = problem.delassus.row_times(contact, impulse) + q;
        match problem.friction.get(contact) {
            Some(friction) => sums.add(lambda, *friction, *r, [u, q], 0.0),
            None => sums.add_joint(lambda, *r, [u, q]),
        }
    }
    sums.finish()
}

/// Residual of `impulse` (N·s, contact frames) on a factored problem that
/// [`FactoredProblem::validate`] accepts, one impulse a contact; `twist` is scratch space and holds `v_free + Ŵ Gᵀ r` afterwards.
#[must_use]
pub fn factored(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    twist: &mut Vec<WorldTwist>,
) -> Residual {
    let threads = if is_shared(problem.contacts.len()) {
        rayon::current_num_threads()
    } else {
        1
    };
    twist_of(problem, impulse, twist, threads);
    let of_chunk = |(contacts, impulse): (&[Contact], &[DVec3])| {
        let mut sums = Sums::default();
        for (contact, r) in contacts.iter().zip(impulse) {
            add_contact(&mut sums, problem, contact, *r, twist);
        }
        sums
    };
    // Sums are formed chunk by chunk on any number of threads: they have one order.
    let sums = if threads > 1 {
        let contacts = problem.contacts.par_chunks(CHUNK);
        let sums: Vec<Sums> = contacts
            .zip(impulse.par_chunks(CHUNK))
            .map(of_chunk)
            .collect();
        sums.into_iter().fold(Sums::default(), Sums::merge)
    } else {
        let contacts = problem.contacts.chunks(CHUNK);
        let sums = contacts.zip(impulse.chunks(CHUNK)).map(of_chunk);
        sums.fold(Sums::default(), Sums::merge)
    };
    sums.finish()
}

/// Squares of the norms in `e_scaled`, summed by group into `norms`: `Σ λ‖F‖²` and the two of its
/// denominator, `Σ λ‖r‖²` and `Σ ‖q‖²/λ`. `group` names the group of each contact.
pub(crate) fn factored_by_group(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    group: &[u32],
    norms: &mut [[f64; 3]],
    twist: &mut Vec<WorldTwist>,
) {
    twist_of(problem, impulse, twist, 1);
    norms.fill([0.0; 3]);
    for ((contact, r), group) in problem.contacts.iter().zip(impulse).zip(group) {
        let mut sums = Sums::default();
        add_contact(&mut sums, problem, contact, *r, twist);
        let parts = [sums.natural_scaled, sums.impulse_scaled, sums.free_scaled];
        for (norm, part) in norms[*group as usize].iter_mut().zip(parts) {
            *norm += part;
        }
    }
}

/// The relative velocity in the contact frame, offset included, and the sum of the squares of the two
/// velocities that it is the difference of.
#[inline(always)]
fn relative(contact: &Contact, a: &WorldTwist, b: &WorldTwist) -> (DVec3, f64) {
    let point_a = a.linear + a.angular.cross(contact.arms[0]);
    let point_b = b.linear + b.angular.cross(contact.arms[1]);
    let (frame, w) = (&contact.frame, point_a - point_b);
    let u = DVec3::new(
        frame.x_axis.dot(w),
        frame.y_axis.dot(w),
        frame.z_axis.dot(w),
    );
    let squares = point_a.length_squared() + point_b.length_squared();
    (u + contact.offset, squares)
}

/// Adds one contact, given the twists under the impulse.
#[inline(always)]
fn add_contact(
    sums: &mut Sums,
    problem: &FactoredProblem,
    contact: &Contact,
    r: DVec3,
    twist: &[WorldTwist],
) {
    let [a, b] = contact.bodies;
    let (a, b) = (a as usize, b as usize);
    // The trace of Cᵀ(I/m + [ρ]×ᵀ 𝕀⁻¹ [ρ]×)C does not depend on the orthonormal C:
    // 3/m + ‖ρ‖² tr 𝕀⁻¹ − ρᵀ𝕀⁻¹ρ for each body.
    let part = |body: usize, arm: DVec3| {
        let InverseMass { linear, angular } = &problem.inverse_mass[body];
        let diagonal = angular.x_axis.x + angular.y_axis.y + angular.z_axis.z;
        3.0 * linear + arm.length_squared() * diagonal - arm.dot(*angular * arm)
    };
    let trace = part(a, contact.arms[0]) + part(b, contact.arms[1]);
    let (u, at_end) = relative(contact, &twist[a], &twist[b]);
    let (q, free) = relative(contact, &problem.free_twist[a], &problem.free_twist[b]);
    let speeds = at_end + free + contact.offset.length_squared();
    let noise = ROUNDING * ROUNDING * speeds;
    sums.add(trace / 3.0, contact.friction, r, [u, q], noise);
}

/// `v_free + Ŵ Gᵀ r` from the definition, the bodies in so many ranges side by side. Every body gets
/// its contacts in their order, whatever the ranges.
fn twist_of(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    twist: &mut Vec<WorldTwist>,
    ranges: usize,
) {
    twist.clear();
    twist.extend_from_slice(problem.free_twist);
    if ranges <= 1 {
        push(problem, impulse, 0, twist);
        return;
    }
    let length = twist.len().div_ceil(ranges);
    twist
        .par_chunks_mut(length)
        .enumerate()
        .for_each(|(range, twist)| push(problem, impulse, range * length, twist));
}

/// Adds the impulses to the twists of the bodies from `first` on.
fn push(problem: &FactoredProblem, impulse: &[DVec3], first: usize, twist: &mut [WorldTwist]) {
    for (contact, r) in problem.contacts.iter().zip(impulse) {
        for side in 0..2 {
            let body = contact.bodies[side] as usize;
            let mass = &problem.inverse_mass[body];
            let Some(twist) = twist.get_mut(body.wrapping_sub(first)) else {
                continue;
            };
            if mass.is_fixed() {
                continue;
            }
            let frame = &contact.frame;
            let force = frame.x_axis * r.x + frame.y_axis * r.y + frame.z_axis * r.z;
            let change = mass.linear * force;
            let turn = mass.angular * contact.arms[side].cross(force);
            if side == 0 {
                twist.linear += change;
                twist.angular += turn;
            } else {
                twist.linear -= change;
                twist.angular -= turn;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delassus;
    use glam::DMat3;

    /// A diverging solver once passed with 0 = finite/∞.
    #[test]
    fn an_impulse_whose_square_overflows_is_not_a_solution() {
        let problem = FrictionProblem {
            delassus: Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]; 2]),
            free_velocity: vec![-DVec3::X; 2],
            friction: vec![0.5; 2],
            joints: Vec::new(),
        };
        let residual = stored(&problem, &[DVec3::X * 1e160, DVec3::X]);
        assert!(residual.scaled.is_infinite());
    }

    #[test]
    fn an_undefined_contact_makes_the_residual_undefined() {
        let rows = vec![
            vec![(0, DMat3::IDENTITY)],
            vec![(1, DMat3::from_diagonal(DVec3::NAN))],
        ];
        let problem = FrictionProblem {
            delassus: Delassus::from_rows(rows),
            free_velocity: vec![-DVec3::X; 2],
            friction: vec![0.5; 2],
            joints: Vec::new(),
        };
        let residual = stored(&problem, &[DVec3::X, DVec3::ZERO]);
        assert!(!residual.scaled.is_finite());
    }
}
