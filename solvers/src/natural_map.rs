//! The judge: residuals of an impulse `r` recomputed from the definition [docs/theory.md §7].
//!
//! ```text
//! F_α = r_α − P_C( r_α − ρ_α (u_α + s(u_α)) ),   u = W r + q,   λ_α = trace(W_αα)/m
//!
//! e_scaled = √(Σ λ‖F‖²) / max( √(Σ λ‖r‖²), √(Σ ‖q‖²/λ) )      ρ_α = 1/λ_α
//! e_fclib  = √(Σ ‖F‖²) / ‖q‖                                    ρ_α = 1
//! ```
//!
//! The set `C` and the shift `s` are those of the interaction's [`Law`]; a contact has the Coulomb cone and `s = (μ‖u_T‖, 0, 0)`, an
//! equality no bounds at all and `F_α = ρ_α u_α`.
//!
//! Equalities have figures of their own, so that neither hides behind the other: `e_scaled` is over all other rows, numerator and
//! denominator, and [`Residual::constraint`] is the same numerator over the equalities, relative to all rows. The largest velocity left in
//! one of their rows is [`Residual::constraint_velocity`].
//!
//! A velocity is a difference of velocities and known to their rounding only. In the factored form
//! a contact whose `λ‖F‖` is below that rounding counts as solved: bodies that fly together have
//! `q` of 1e-16 of their speed, and no residual relative to it means anything.
//!
//! A row of a box (complementarity, interval, equality) whose trace is no scale, since it is zero, negative or the rounding of zero, has
//! the one that `problem/weak_rows.rs` derives from the entries that couple it, found when the problem is made ([`StoredProblem::new`]).
//!
//! The natural map is blind to closing contacts of very large friction: one that is left to slide as
//! fast as it closes has a residual of `1/(√2 μ)` of it.
//!
//! Both vanish exactly at a solution. `e_scaled` is a ratio of energies: it does not change with
//! the units of mass, length or time. `e_fclib` is the field's published figure
//! [Acary-Bremond-Huber18]. In the factored form, that of time steps, `W r` is applied through the bodies'
//! twists from the problem's own frames and arms, nothing is cached, and sweeps share none of this code but the vectors of `lanes.rs`. The
//! stored form has its products with `W` in common with the solvers. Laws other than Coulomb's are judged by their projection and
//! shift, their definition, which solvers use too.

mod others;
mod sums;
mod terms;

use crate::Law;
use crate::complementarity::SparseBoxProblem;
use crate::complementarity::box_problem::{BoxProblem, dot};
use crate::lanes::LANES;
use crate::law::list::rows_of;
use crate::problem::{Contact, FactoredProblem, StoredProblem, WorldTwist, is_shared};
use glam::DVec3;
use others::{of_other, of_others};
use rayon::prelude::*;
use smallvec::SmallVec;
use sums::{Sums, add};
use terms::{Terms, for_each_eight};

/// What an impulse reaches on a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// `e_scaled` over all interactions but equalities, dimensionless.
    pub scaled: f64,
    /// The part of the equalities: their `√(Σ λ‖F‖²)` over the denominator of all rows, dimensionless.
    pub constraint: f64,
    /// `e_fclib`, N·s per m/s: it depends on the units.
    pub fclib: f64,
    /// Largest [`Law::violation`], N·s: `max(‖r_T‖ − μ r_N, −r_N, 0)` of a contact.
    pub cone_violation: f64,
    /// The same of intervals and balls alone: bounded motors, joint friction, N·s or N·m·s.
    pub box_violation: f64,
    /// Largest closing velocity left, `max(−u_N, 0)`, m/s (offset included), at laws whose first row must not close.
    pub approach: f64,
    /// The same without impulses, `max(−q_N, 0)`, m/s.
    pub free_approach: f64,
    /// Largest velocity left in a row of an equality, m/s or rad/s.
    pub constraint_velocity: f64,
    /// Root mean square of `v_α = λ_α‖F_α‖` over the interactions, but equalities, that are closed (`r ≠ 0`) or should be (`F ≠ 0`), m/s.
    pub velocity: f64,
    /// The largest `v_α`, m/s.
    pub worst_velocity: f64,
}

impl Residual {
    /// Of an impulse that does not fit its problem.
    const UNDEFINED: Self = Self {
        scaled: f64::NAN,
        constraint: f64::NAN,
        fclib: f64::NAN,
        cone_violation: f64::NAN,
        box_violation: f64::NAN,
        approach: f64::NAN,
        free_approach: f64::NAN,
        constraint_velocity: f64::NAN,
        velocity: f64::NAN,
        worst_velocity: f64::NAN,
    };

    /// The larger of the parts of equalities and of all other interactions.
    pub(crate) fn whole(&self) -> f64 {
        if self.constraint <= self.scaled || self.scaled.is_nan() {
            self.scaled
        } else {
            self.constraint
        }
    }
}

/// Rounding of a contact velocity, relative to the root of the squared speeds that it is made of:
/// about eight products and sums on each side, and √5 for the five speeds.
pub(crate) const ROUNDING: f64 = 36.0 * f64::EPSILON;

/// Contacts of a partial sum.
const CHUNK: usize = 1024;

/// Residual of `impulse` (one entry a row) on a stored problem that [`StoredProblem::validate`] accepts; not a number if
/// there are more or fewer entries.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use moreau_solvers::{Delassus, StoredProblem, natural_map};
/// let problem = StoredProblem::of_contacts(
///     Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]]),
///     vec![DVec3::new(-1.0, 0.0, 0.0)],
///     vec![0.5],
/// );
/// assert_eq!(natural_map::stored(&problem, &[1.0, 0.0, 0.0]).scaled, 0.0);
/// assert!(natural_map::stored(&problem, &[0.0; 3]).scaled > 0.9);
/// ```
#[must_use]
pub fn stored(problem: &StoredProblem, impulse: &[f64]) -> Residual {
    if impulse.len() != problem.rows() {
        return Residual::UNDEFINED;
    }
    let mut triples = Vec::new();
    problem.laws.pack(impulse, &mut triples);
    stored_triples(problem, &triples)
}

/// Residual of `z` on a dense problem of boxes, row by row, as [`stored`] has it for the same laws; not a number if there are
/// more or fewer entries.
#[must_use]
pub fn boxes(problem: &BoxProblem, z: &[f64]) -> Residual {
    if z.len() != problem.len() {
        return Residual::UNDEFINED;
    }
    let mut sums = Sums::default();
    for (row, lambda) in problem.scales().iter().enumerate() {
        let q = problem.q()[row];
        let w = dot(problem.row(row), z) + q;
        let bounds = [problem.low()[row], problem.high()[row]];
        sums.add_box(*lambda, bounds, z[row], [w, q]);
    }
    sums.finish()
}

/// [`boxes`] of a sparse problem.
#[must_use]
pub fn sparse_boxes(problem: &SparseBoxProblem, z: &[f64]) -> Residual {
    if z.len() != problem.len() {
        return Residual::UNDEFINED;
    }
    let mut sums = Sums::default();
    for (row, lambda) in problem.scales().iter().enumerate() {
        let (w, q) = (problem.image(row, z), problem.q()[row]);
        let bounds = [problem.low()[row], problem.high()[row]];
        sums.add_box(*lambda, bounds, z[row], [w, q]);
    }
    sums.finish()
}

/// [`stored`] for an impulse in triples.
pub(crate) fn stored_triples(problem: &StoredProblem, impulse: &[DVec3]) -> Residual {
    let mut sums = Sums::default();
    let mut velocity: SmallVec<[DVec3; 4]> = SmallVec::new();
    for (range, law) in problem.laws.iter() {
        if let Law::Coulomb(law) = law {
            let contact = range.start;
            let q = problem.free_velocity[contact];
            let block = problem.delassus.diagonal(contact);
            let lambda = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
            let u = problem.delassus.row_times(contact, impulse) + q;
            sums.add(lambda, law.friction, impulse[contact], [u, q]);
            continue;
        }
        if let Law::PlanarCoulomb(law) = law {
            // The cone of the plane is that of space at `t₂ = 0`.
            let contact = range.start;
            let q = problem.free_velocity[contact];
            let u = problem.delassus.row_times(contact, impulse) + q;
            let block = problem.delassus.diagonal(contact);
            let lambda = 0.5 * (block.x_axis.x + block.y_axis.y);
            sums.add(lambda, law.friction, impulse[contact], [u, q]);
            continue;
        }
        velocity.clear();
        velocity.extend(
            range
                .clone()
                .map(|triple| problem.velocity(triple, impulse)),
        );
        let rows = |triples| problem.rows_of(triples, law);
        sums.add_rows(
            problem.scale(range.clone(), law.rows()),
            law,
            rows(&impulse[range.clone()]),
            [rows(&velocity), rows(&problem.free_velocity[range])],
        );
    }
    sums.finish()
}

/// Residual of `impulse` (one entry a row) on a factored problem that
/// [`FactoredProblem::validate`] accepts; not a number if there are more or fewer entries. `twist` is scratch space and holds
/// `v_free + Ŵ Gᵀ r` afterwards.
#[must_use]
pub fn factored(
    problem: &FactoredProblem,
    impulse: &[f64],
    twist: &mut Vec<WorldTwist>,
) -> Residual {
    if impulse.len() != problem.rows() {
        return Residual::UNDEFINED;
    }
    problem.pack(impulse, |impulse| factored_triples(problem, impulse, twist))
}

/// [`factored`] for an impulse in triples.
pub(crate) fn factored_triples(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    twist: &mut Vec<WorldTwist>,
) -> Residual {
    of_chunks(problem, impulse, twist, &mut [])
}

/// The same, and the square of `v_α = λ_α‖F_α‖` of each contact, m²/s².
pub(crate) fn factored_with_squares(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    squares: &mut Vec<f64>,
    twist: &mut Vec<WorldTwist>,
) -> Residual {
    squares.resize(problem.contacts.len(), 0.0);
    of_chunks(problem, impulse, twist, squares)
}

/// The residual; writes the squares if there is room for them.
fn of_chunks(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    twist: &mut Vec<WorldTwist>,
    squares: &mut [f64],
) -> Residual {
    let threads = if is_shared(problem.contacts.len()) {
        rayon::current_num_threads()
    } else {
        1
    };
    twist_of(problem, impulse, twist, threads);
    let of_chunk = |(contacts, impulse): (&[Contact], &[DVec3]), squares: &mut [f64]| {
        let mut sums = Terms::default();
        let mut eights = squares.chunks_mut(LANES);
        for_each_eight(problem, contacts, impulse, twist, |terms| {
            sums.gain(terms);
            if let Some(squares) = eights.next() {
                squares.copy_from_slice(&terms.velocity.0[..squares.len()]);
            }
        });
        Sums::of(&sums)
    };
    // Sums are formed chunk by chunk on any number of threads: they have one order.
    let sums = if threads > 1 {
        let chunks = problem.contacts.par_chunks(CHUNK);
        let chunks = chunks.zip(impulse.par_chunks(CHUNK));
        let sums: Vec<Sums> = if squares.is_empty() {
            chunks.map(|chunk| of_chunk(chunk, &mut [])).collect()
        } else {
            let squares = squares.par_chunks_mut(CHUNK);
            let chunks = chunks.zip(squares);
            chunks.map(|(chunk, own)| of_chunk(chunk, own)).collect()
        };
        sums.into_iter().fold(Sums::default(), Sums::merge)
    } else {
        let chunks = problem.contacts.chunks(CHUNK);
        let mut squares = squares.chunks_mut(CHUNK);
        let sums = chunks.zip(impulse.chunks(CHUNK)).map(|chunk| {
            let own = squares.next().unwrap_or_default();
            of_chunk(chunk, own)
        });
        sums.fold(Sums::default(), Sums::merge)
    };
    let others = of_others(problem, impulse, twist);
    others.fold(sums, Sums::merge).finish()
}

/// Squares of the norms in `e_scaled`, summed by group into `norms`: `Σ λ‖F‖²` and the two of its
/// denominator, `Σ λ‖r‖²` and `Σ ‖q‖²/λ`. `group` names the group of each interaction, contacts first.
pub(crate) fn factored_by_group(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    group: &[u32],
    norms: &mut [[f64; 3]],
    twist: &mut Vec<WorldTwist>,
) {
    twist_of(problem, impulse, twist, 1);
    norms.fill([0.0; 3]);
    let mut groups = group.chunks(LANES);
    for_each_eight(problem, problem.contacts, impulse, twist, |terms| {
        for (lane, group) in groups.next().unwrap_or_default().iter().enumerate() {
            let norm = &mut norms[*group as usize];
            norm[0] += terms.natural_scaled.0[lane];
            norm[1] += terms.impulse_scaled.0[lane];
            norm[2] += terms.free_scaled.0[lane];
        }
    });
    let groups = group.iter().skip(problem.contacts.len());
    for (sums, group) in of_others(problem, impulse, twist).zip(groups) {
        let norm = &mut norms[*group as usize];
        norm[0] += sums.natural_scaled;
        norm[1] += sums.impulse_scaled;
        norm[2] += sums.free_scaled;
        add(norm, &sums.constraint);
    }
}

/// The square of `v_α = λ_α‖F_α‖` of each contact of a problem under `impulse`, m²/s². `twist` holds `v_free + Ŵ Gᵀ r`
/// afterwards.
pub(crate) fn squares_of_velocity(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    squares: &mut Vec<f64>,
    twist: &mut Vec<WorldTwist>,
) {
    twist_of(problem, impulse, twist, 1);
    squares.clear();
    for_each_eight(problem, problem.contacts, impulse, twist, |terms| {
        squares.extend_from_slice(&terms.velocity.0);
    });
    squares.truncate(problem.contacts.len());
}

/// The same of one interaction that is no contact of Coulomb's law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SquareOfOther {
    /// Its place among the interactions.
    pub(crate) index: usize,
    pub(crate) square: f64,
    /// It has an impulse.
    pub(crate) pressed: bool,
    /// A contact of another law; all else are rigid rows with bounds, such as motors that hold a rate.
    pub(crate) is_contact: bool,
    /// The square of the speeds that its free velocity is made of, m²/s².
    pub(crate) free: f64,
}

/// The squares of contacts of other laws and of rigid rows with bounds, under the impulse that gives the twists `twist`.
pub(crate) fn squares_of_others<'a>(
    problem: &'a FactoredProblem<'a>,
    impulse: &'a [DVec3],
    twist: &'a [WorldTwist],
) -> impl Iterator<Item = SquareOfOther> + 'a {
    let others = problem.others().enumerate();
    others.filter_map(move |(index, (range, other))| {
        let is_contact = other.law.has_friction();
        let rigid = other.compliance[..other.law.rows()].contains(&0.0);
        let is_bounded = match &other.law {
            Law::Interval(law) => rigid && law.low < law.high,
            Law::Ball(_) => rigid,
            _ => false,
        };
        if !is_contact && !is_bounded {
            return None;
        }
        let sums = of_other(problem, (index, range.clone()), impulse, twist);
        Some(SquareOfOther {
            index,
            square: sums.velocity,
            pressed: impulse[range].iter().any(|r| *r != DVec3::ZERO),
            is_contact,
            free: other.square_of_speeds(&other.bodies.map(|j| problem.free_twist[j as usize])),
        })
    })
}

/// `v_free + Ŵ Gᵀ r` from the definition, the bodies in so many ranges side by side. Every body gets
/// its contacts in their order, whatever the ranges.
fn twist_of(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    twist: &mut Vec<WorldTwist>,
    ranges: usize,
) {
    let free = problem.free_twist;
    twist.resize(free.len(), WorldTwist::default());
    let work = |first: usize, twist: &mut [WorldTwist]| {
        twist.copy_from_slice(&free[first..][..twist.len()]);
        push(problem, impulse, first, twist);
    };
    if ranges <= 1 {
        work(0, twist);
        return;
    }
    let length = free.len().div_ceil(ranges);
    let ranges = twist.par_chunks_mut(length).enumerate();
    ranges.for_each(|(range, twist)| work(range * length, twist));
}

/// Adds the impulses to the twists of the bodies from `first` on.
fn push(problem: &FactoredProblem, impulse: &[DVec3], first: usize, twist: &mut [WorldTwist]) {
    for (contact, r) in problem.contacts.iter().zip(impulse) {
        let bodies = contact.bodies.map(|body| body as usize);
        let moves = bodies.map(|body| {
            let moving = body.wrapping_sub(first) < twist.len();
            moving && !problem.inverse_mass[body].is_fixed()
        });
        if moves == [false; 2] {
            continue;
        }
        let frame = &contact.frame;
        let force = frame.x_axis * r.x + frame.y_axis * r.y + frame.z_axis * r.z;
        for side in 0..2 {
            if !moves[side] {
                continue;
            }
            let (mass, twist) = (
                &problem.inverse_mass[bodies[side]],
                &mut twist[bodies[side] - first],
            );
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
    for (range, other) in problem.others() {
        for side in 0..2 {
            let body = other.bodies[side] as usize;
            let Some(twist) = twist.get_mut(body.wrapping_sub(first)) else {
                continue;
            };
            let r = rows_of(&impulse[range.clone()]);
            let change = other.twist_change(side, r, &problem.inverse_mass[body]);
            twist.linear += change.linear;
            twist.angular += change.angular;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Delassus;
    use crate::random::{OwnedProblem, Random};
    use crate::rows_of;
    use glam::DMat3;

    /// A diverging solver once passed with 0 = finite/∞.
    #[test]
    fn an_impulse_whose_square_overflows_is_not_a_solution() {
        let problem = StoredProblem::of_contacts(
            Delassus::from_rows(vec![vec![(0, DMat3::IDENTITY)]; 2]),
            vec![-DVec3::X; 2],
            vec![0.5; 2],
        );
        let residual = stored(&problem, rows_of(&[DVec3::X * 1e160, DVec3::X]));
        assert!(residual.scaled.is_infinite());
    }

    #[test]
    fn an_undefined_contact_makes_the_residual_undefined() {
        let rows = vec![
            vec![(0, DMat3::IDENTITY)],
            vec![(1, DMat3::from_diagonal(DVec3::NAN))],
        ];
        let problem =
            StoredProblem::of_contacts(Delassus::from_rows(rows), vec![-DVec3::X; 2], vec![0.5; 2]);
        let residual = stored(&problem, rows_of(&[DVec3::X, DVec3::ZERO]));
        assert!(!residual.scaled.is_finite());
    }

    /// A block of denormal numbers has no finite inverse: it carries no impulse, and an impulse that is none passes nowhere.
    #[test]
    fn an_impulse_that_is_no_number_passes_at_no_contact() {
        let dead = DMat3::from_diagonal(DVec3::new(5e-324, 0.0, 0.0));
        let rows = vec![vec![(0, dead)], vec![(1, DMat3::IDENTITY)]];
        let velocity = vec![DVec3::Z * 1e-308, DVec3::NEG_X];
        let problem = StoredProblem::of_contacts(Delassus::from_rows(rows), velocity, vec![0.5; 2]);
        let undefined = stored(&problem, rows_of(&[DVec3::NAN, DVec3::X]));
        assert!(!undefined.scaled.is_finite(), "{undefined:?}");
        let mut impulse = [0.0; 6];
        let mut solver = crate::Nsgs::default();
        let solved = crate::Solver::solve(
            &mut solver,
            &problem,
            &mut impulse,
            &crate::Goal::scaled(1e-8),
        );
        assert!(
            solved.is_ok() && impulse.iter().all(|r| r.is_finite()),
            "{impulse:?}"
        );
    }

    /// The point at which a ball rolls is the difference of two speeds that cancel: what is left is their rounding.
    /// Left out, the second block would leave a solution of the first.
    #[test]
    fn a_block_of_negative_trace_leaves_no_residual_that_passes() {
        let block = |diagonal: f64| glam::DMat3::from_diagonal(DVec3::splat(diagonal));
        let rows = vec![vec![(0, block(0.01))], vec![(1, block(-1.0))]];
        let delassus = crate::Delassus::from_rows(rows);
        let problem = StoredProblem::of_contacts(delassus, vec![DVec3::NEG_X; 2], vec![0.3; 2]);
        let residual = stored(&problem, &[100.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert!(!residual.scaled.is_finite(), "{residual:?}");
    }

    #[test]
    fn a_ball_that_rolls_and_closes_by_a_rounding_is_solved() {
        let (mass, radius, speed) = (322.57, 0.4, 0.245);
        let spin = speed / radius * (1.0 + 1e-15);
        let contact = Contact {
            bodies: [0, 1],
            frame: DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y),
            arms: [-radius * DVec3::Z, DVec3::ZERO],
            offset: DVec3::ZERO,
            friction: 0.5,
        };
        let ball = crate::InverseMass {
            linear: 1.0 / mass,
            angular: DMat3::from_diagonal(DVec3::splat(2.5 / (mass * radius * radius))),
        };
        let rolls = WorldTwist {
            linear: DVec3::new(speed, 0.0, -f64::EPSILON),
            angular: DVec3::Y * spin,
        };
        let problem = FactoredProblem {
            contacts: &[contact],
            free_twist: &[rolls, WorldTwist::default()],
            inverse_mass: &[ball, crate::InverseMass::FIXED],
            interactions: &[],
            positions: &[],
            pull: &[],
        };
        let residual = factored(&problem, &[0.0; 3], &mut Vec::new());
        assert_eq!((residual.scaled, residual.velocity), (0.0, 0.0));
    }

    /// Two ways to the same figures: `W` formed or not, one contact at a time or eight. They differ by the rounding
    /// of sums of some dozens of terms.
    #[test]
    fn both_forms_of_a_problem_are_judged_alike() {
        for seed in 0..40 {
            let contacts = 1 + seed as usize;
            let owned = OwnedProblem::random(seed, 6, contacts);
            let mut random = Random::new(seed + 7);
            let impulse: Vec<DVec3> = (0..contacts)
                .map(|k| {
                    let mut number = || random.uniform(-1.0, 1.0);
                    let r = DVec3::new(2.0 * number(), number(), number());
                    if k % 3 == 0 { DVec3::ZERO } else { r }
                })
                .collect();
            let factored = factored(&owned.view(), rows_of(&impulse), &mut Vec::new());
            let stored = stored(&owned.view().assemble(), rows_of(&impulse));
            let pairs = [
                (factored.scaled, stored.scaled),
                (factored.fclib, stored.fclib),
                (factored.cone_violation, stored.cone_violation),
                (factored.approach, stored.approach),
                (factored.free_approach, stored.free_approach),
            ];
            for (a, b) in pairs {
                assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{seed}: {a} {b}");
            }
        }
    }
}
