//! Why a solve did not converge: a proof that no impulse keeps the bodies apart, or a finding that
//! the impulses grow without bound.
//!
//! **Certificate** (after Farkas). By De Saxcé's shift `û_α ∈ K*_α` says `u_αN ≥ 0` of a contact and nothing else,
//! since `û_N = u_N + μ‖u_T‖ ≥ μ‖u_T‖`; an equality says `u = 0`, and a row whose impulse is bounded on one side only that its velocity has one
//! sign. Let `y` have `y_α = (y_αN, 0, …)`, `y_αN ≥ 0` at contacts and complementarities, any value at equalities, the sign of
//! the bounds at intervals with one infinite end, zero at bounded ones, and let
//!
//! ```text
//! −(Wᵀy)_α ∈ (C∞_α)*  for the recession cone C∞ of every law,        qᵀy + Σ σ_α < 0
//! ```
//!
//! with `σ_α = sup (Wᵀy)_αᵀ b` over the bounded part of `C_α` (zero for cones). Then no `r ∈ C` has velocities of the right signs. Proof: such an `r` gives
//! `yᵀu ≥ 0`. But `yᵀu = (Wᵀy)ᵀr + qᵀy`, where `(Wᵀy)_αᵀ r_α ≤ σ_α`; so `yᵀu ≤ qᵀy + Σ σ < 0`. ∎ Friction does not enter but
//! through `r ∈ K`: the proof holds for every law of sliding.
//!
//! **In numbers** the first condition holds up to `v_α = ‖P_C∞((Wᵀy)_α)‖` (Moreau: the distance of
//! `−(Wᵀy)_α` to `(C∞_α)*`; `‖(Wᵀy)_α‖` at an equality). With `−qᵀy − Σ σ` for `−qᵀy`, the proof then reads `0 ≤ qᵀy + Σ v_α‖r_α‖`, and
//! with Cauchy–Schwarz every solution has
//!
//! ```text
//! √(Σ λ‖r‖²) ≥ −qᵀy / √(Σ v²/λ)
//! ```
//!
//! which is scale-free once divided by `√(Σ ‖q‖²/λ)`, the impulse that stops all contacts one by one.
//! The bounds of the rounding of `Wᵀy` and `qᵀy` are added to `v` and taken from `−qᵀy`: the inequality
//! is a theorem on the given numbers. A vector counts as a certificate if the bound is 10⁸ or more: with
//! such an impulse `W r` has a rounding of 10⁻⁸ of `q` and more, so that no solution can be told from
//! none.
//!
//! **Candidates.** For `W` symmetric and positive semi-definite `yᵀWy ≤ 0` makes `Wᵀy = 0`. The growth
//! of a diverging impulse tends to such a `y`, and so do the closing velocities `max(−u_N, 0)/λ` that a
//! solver cannot remove. Both are known to a few digits only, so they are projected on the null space
//! of `Wᵀ` within their support (conjugate gradients on the normal equations, scaled), the negative
//! part is cut off, and what is left is checked as above.

use crate::law::list::{rows_of, rows_of_mut};
use crate::problem::{Contact, FactoredProblem, Interaction, StoredProblem};
use crate::{Law, SolverReport, SolverStatus, natural_map};
use glam::DVec3;
use smallvec::SmallVec;

/// Impulse over `√(Σ ‖q‖²/λ)` beyond which nothing counts as a solution.
const UNBOUNDED: f64 = 1e8;
/// Entries of a candidate below this part of its largest do not belong to its support.
const SUPPORT: f64 = 1e-3;
/// Gain `−q̂ᵀŷ` over `‖q̂‖ ‖ŷ‖` without which no certificate is possible: rounding counts for at least
/// `10 ε` in `v`.
const LEAST_GAIN: f64 = 1e-8;
/// Projections with a shrinking support.
const ROUNDS: usize = 6;

/// A proof that a problem has no solution (see the [module](self)).
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// `y`, one entry a row: only normals at the contacts. Scaled to `Σ λ‖y‖² = 1`.
    pub direction: Vec<f64>,
    /// Every solution would have `√(Σ λ‖r‖²)` of at least this times `√(Σ ‖q‖²/λ)`.
    pub least_impulse: f64,
}

/// Looks for a certificate near `direction` (one entry a row, any length): the growth of a
/// diverging impulse, or the impulse itself. The problem must be valid.
///
/// ```
/// use glam::{DMat3, DVec3};
/// use moreau_solvers::{Delassus, StoredProblem, infeasibility};
/// // A free ball between two walls that close in on it: n₁ = −n₂, t₁ the same.
/// let opposite = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, -1.0));
/// let rows = vec![
///     vec![(0, DMat3::IDENTITY), (1, opposite)],
///     vec![(0, opposite), (1, DMat3::IDENTITY)],
/// ];
/// let problem = StoredProblem::of_contacts(
///     Delassus::from_rows(rows),
///     vec![-DVec3::X; 2],
///     vec![0.3; 2],
/// );
/// let proof = infeasibility::certificate(&problem, &[1.0, 0.2, 0.0, 1.1, 0.0, 0.0]);
/// assert!(proof.is_some_and(|proof| proof.least_impulse > 1e8));
/// ```
#[must_use]
pub fn certificate(problem: &StoredProblem, direction: &[f64]) -> Option<Certificate> {
    if direction.len() != problem.rows() {
        return None;
    }
    let mut triples = Vec::new();
    problem.laws.pack(direction, &mut triples);
    let (y, least_impulse) = certificate_within(problem, &triples, STEPS)?;
    let mut direction = vec![0.0; problem.rows()];
    problem.laws.unpack(&y, &mut direction);
    Some(Certificate {
        direction,
        least_impulse,
    })
}

/// [`certificate`] in triples, with at most so many conjugate-gradient steps a projection: `y`, and the bound.
fn certificate_within(
    problem: &StoredProblem,
    direction: &[DVec3],
    steps: usize,
) -> Option<(Vec<DVec3>, f64)> {
    if direction.iter().any(|y| !y.is_finite()) {
        return None;
    }
    let mut lambda = Vec::new();
    scales(problem, &mut lambda);
    let mut y: Vec<DVec3> = direction
        .iter()
        .zip(&lambda)
        .map(|(y, lambda)| *y * lambda.sqrt())
        .collect();
    let operator = Operator::new(problem, &lambda);
    let stopping = reference(problem, &lambda);
    for round in 0..ROUNDS {
        operator.restrict(&mut y, if round == 0 { SUPPORT } else { 0.0 })?;
        let physical = operator.physical(&y);
        let bound = least_impulse(problem, &lambda, &physical);
        if bound >= UNBOUNDED {
            return Some((physical, bound));
        }
        operator.project(&mut y, steps);
        // Rounding alone keeps the bound below 10⁸ if less than this is gained, and shrinking the
        // support gains nothing more.
        if operator.gain(&y) <= LEAST_GAIN * stopping {
            return None;
        }
    }
    None
}

/// Sets the status that a solver ends with, given its last iterate (see [`classify`]) and the
/// report that its residuals alone would give. Statuses of limits stay.
///
/// A solve may reach its goal on a problem without solution: `e_scaled` is relative to the impulse,
/// and that grows. A closing row of zeros is not seen by it at all. So a proof overrules the
/// residual. A closing velocity that remains, as a part `c` of all of `q`, has
/// `e_scaled = c √(Σ ‖q‖²/λ)/√(Σ λ‖r‖²)`; a proof is looked for only if the impulse is large enough
/// for `c > 1 %`, and if bodies do close at such a part of their free speed. Otherwise the check
/// costs a pass over `q`.
pub(crate) fn conclude(problem: &StoredProblem, impulse: &[DVec3], report: &mut SolverReport) {
    match report.status {
        SolverStatus::Stopped => {
            if let Some(status) = classify(problem, impulse) {
                report.status = status;
            }
        }
        SolverStatus::Converged if !is_plainly_solved(problem, report) => {
            let scaled = report.residual.whole();
            if let Some(status) = refutation(problem, impulse, scaled, STEPS) {
                report.status = status;
            } else if !interactions_without_scale_hold(problem, impulse) {
                report.status = SolverStatus::Stopped;
            }
        }
        _ => {}
    }
}

/// [`conclude`] of a problem whose rows all have two bounds: a continuous map on a bounded box has a solution, whatever `W` is, and no impulse grows beyond it. Only
/// rows without scale are looked at.
pub(crate) fn conclude_bounded(
    problem: &StoredProblem,
    impulse: &[DVec3],
    report: &mut SolverReport,
) {
    if report.status == SolverStatus::Converged
        && !is_plainly_solved(problem, report)
        && !interactions_without_scale_hold(problem, impulse)
    {
        report.status = SolverStatus::Stopped;
    }
}

/// Only laws of one sign, and none closes at a good part of the free speed: nothing to doubt.
fn is_plainly_solved(problem: &StoredProblem, report: &SolverReport) -> bool {
    let closing = problem
        .laws
        .iter()
        .map(|(range, _)| -problem.free_velocity[range.start].x);
    let fastest = closing.fold(0.0, f64::max);
    let signs = problem.laws().iter().all(Law::is_unilateral);
    signs && report.residual.approach <= CLOSING_PART * fastest
}

/// The law at the interactions whose trace is not positive, which `e_scaled` has no scale for: their
/// natural map with `ρ = 1` vanishes up to rounding.
fn interactions_without_scale_hold(problem: &StoredProblem, impulse: &[DVec3]) -> bool {
    let length = |z: &[f64]| z.iter().map(|z| z * z).sum::<f64>().sqrt();
    problem.laws.iter().all(|(range, law)| {
        if problem.scale(range.clone(), law.rows()) > 0.0 {
            return true;
        }
        let velocity: Vec<_> = range
            .clone()
            .map(|k| problem.velocity(k, impulse))
            .collect();
        let r = problem.rows_of(&impulse[range.clone()], law);
        let q = problem.rows_of(&problem.free_velocity[range], law);
        let u = problem.rows_of(&velocity, law);
        let mut z: Vec<f64> = r.iter().zip(u).map(|(r, u)| r - u).collect();
        z[0] -= law.shift(u);
        law.project(&mut z);
        let natural: Vec<f64> = r.iter().zip(&z).map(|(r, z)| r - z).collect();
        // An overflow is within no bound.
        let left = length(&natural);
        left.is_finite() && left <= 1e-12 * (length(r) + length(q))
    })
}

/// Impulse over `√(Σ ‖q‖²/λ)` up to which a converged solve is not doubted.
const HARMLESS: f64 = 10.0;
/// The smallest closing part of `q` that is looked for.
const CLOSING_PART: f64 = 1e-2;

/// The same for time steps: a pile or a stack carries its weight with impulses far beyond those that
/// stop its contacts one by one, and to a coarse tolerance its bodies close at some per cent of
/// their free speed. That is no sign of a problem without solution; half of the free speed is.
const CLOSING_PART_OF_STEPS: f64 = 0.5;

/// Overrules the residual of a time step that [`is_doubtful`], if a proof is found at about the cost
/// of the solve itself.
pub(crate) fn conclude_step(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    report: &mut SolverReport,
) {
    let steps = (report.iterations / ROUNDS).clamp(4, STEPS);
    let (stored, scaled) = (problem.assemble(), report.residual.whole());
    if let Some(status) = refutation(&stored, impulse, scaled, steps) {
        report.status = status;
    } else if !interactions_without_scale_hold(&stored, impulse) {
        report.status = SolverStatus::Stopped;
    }
}

/// Contacts up to which a proof costs nothing to speak of.
const FEW: usize = 64;
/// The closing part of `q` from which on a proof is looked for among so few.
const CLOSING_PART_OF_FEW: f64 = 0.1;

/// Why an island of a time step that misses its goal has no solution, if it has none. What is left is to be a good part of the
/// free velocities, or else only rows that nothing moves are looked at; beyond a few contacts a proof costs about as much as
/// `sweeps`. `tried`: work on the island was of no use.
pub(crate) fn of_island(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    scaled: f64,
    (sweeps, tried): (usize, bool),
) -> Option<SolverStatus> {
    let (part, steps) = if problem.len() <= FEW {
        (CLOSING_PART_OF_FEW, STEPS)
    } else {
        (CLOSING_PART_OF_STEPS, (sweeps / ROUNDS).clamp(4, STEPS))
    };
    if is_plainly_small(problem, impulse, scaled, part) {
        return None;
    }
    let stored = problem.assemble();
    if has_closing_row(&stored) {
        return Some(SolverStatus::Infeasible);
    }
    let mut lambda = Vec::new();
    scales(&stored, &mut lambda);
    let size = size(impulse, &lambda) / reference(&stored, &lambda);
    let left = size * scaled;
    if size <= HARMLESS || left <= part {
        return None;
    }
    let closing = || closing(&stored, impulse, &lambda);
    let proved = |direction: &[DVec3]| certificate_within(&stored, direction, steps).is_some();
    if proved(impulse) || proved(&closing()) {
        return Some(SolverStatus::Infeasible);
    }
    let jams = tried && left > CLOSING_PART_OF_STEPS;
    (jams || size > UNBOUNDED || size.is_nan()).then_some(SolverStatus::Unbounded)
}

/// The impulses of contacts, or what they leave, are too small for a doubt: seen without `W`, to its rounding.
fn is_plainly_small(problem: &FactoredProblem, impulse: &[DVec3], scaled: f64, part: f64) -> bool {
    let mass = |j: u32| problem.inverse_mass[j as usize].linear;
    let moves = |contact: &Contact| contact.bodies.iter().any(|j| mass(*j) > 0.0);
    if !problem.interactions.is_empty() || !problem.contacts.iter().all(moves) {
        return false;
    }
    let size = size_of_step(problem, impulse);
    size <= (1.0 - ROUNDING) * HARMLESS || size * scaled <= (1.0 - ROUNDING) * part
}

/// Rounding of such a size.
const ROUNDING: f64 = 1e-9;

/// `√(Σ λ‖r‖²)` over `√(Σ ‖q‖²/λ)`.
fn size_of_step(problem: &FactoredProblem, impulse: &[DVec3]) -> f64 {
    let mut norms = [[0.0; 3]];
    let one_group = vec![0; problem.len()];
    natural_map::factored_by_group(problem, impulse, &one_group, &mut norms, &mut Vec::new());
    (norms[0][1] / norms[0][2]).sqrt()
}

/// A converged solve of a factored problem that [`conclude_step`] has to look at: bodies still close on
/// each other at a good part of their free speed, under impulses far beyond those that stop them. What velocities equalities and
/// intervals leave is in no closing velocity: there the residual and the size of the impulse alone tell.
pub(crate) fn is_doubtful(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    report: &SolverReport,
) -> bool {
    let residual = &report.residual;
    let others = problem.interactions.iter();
    let two_sided = others.clone().any(|other| !other.law.is_unilateral());
    if !two_sided && residual.approach <= CLOSING_PART_OF_STEPS * residual.free_approach {
        return false;
    }
    let part = if two_sided {
        CLOSING_PART
    } else {
        CLOSING_PART_OF_STEPS
    };
    let closing = |contact: &Contact| {
        let [v, w] = contact.bodies.map(|j| &problem.free_twist[j as usize]);
        -(contact.local_velocity(v, w) + contact.offset).x
    };
    let fixed = |j: u32| problem.inverse_mass[j as usize].is_fixed();
    let dead =
        |contact: &Contact| contact.bodies.iter().all(|j| fixed(*j)) && closing(contact) > 0.0;
    let size = size_of_step(problem, impulse);
    size > HARMLESS && size * report.residual.whole() > part
        || problem.contacts.iter().any(dead)
        || has_dead_row(problem)
}

/// An interaction that is no contact has a row that no impulse moves, with a velocity that its law does not allow.
pub(crate) fn has_dead_row(problem: &FactoredProblem) -> bool {
    let all = &problem.interactions;
    (0..all.len()).any(|index| {
        // Of linked ones another may move.
        let is_linked = |k: usize| all.get(k).is_some_and(|other| other.linked);
        !is_linked(index) && !is_linked(index + 1) && is_dead(problem, &all[index])
    })
}

/// A row that no impulse moves, with a velocity, beyond its rounding, that the law does not allow.
fn is_dead(problem: &FactoredProblem, other: &Interaction) -> bool {
    let m = other.law.rows();
    let block = other.block(other.bodies.map(|j| &problem.inverse_mass[j as usize]));
    let free = other.bodies.map(|j| problem.free_twist[j as usize]);
    let noise = natural_map::ROUNDING * other.square_of_speeds(&free).sqrt();
    let velocity = other.velocity(&free);
    let rows = rows_of(&velocity)[..m].iter().enumerate();
    rows.into_iter().any(|(row, w)| {
        block[row * m + row] == 0.0 && w.abs() > noise && forbids(&other.law, row, *w)
    })
}

/// No impulse of the law goes with this velocity of a row.
fn forbids(law: &Law, row: usize, w: f64) -> bool {
    match law {
        Law::Equality(_) => w != 0.0,
        Law::Interval(law) => {
            w < 0.0 && law.high == f64::INFINITY || w > 0.0 && law.low == f64::NEG_INFINITY
        }
        Law::Ball(law) => w != 0.0 && law.radius == f64::INFINITY,
        _ => row == 0 && w < 0.0,
    }
}

/// What a proof, or the size of the impulse, says against a solve that its residual calls converged.
fn refutation(
    problem: &StoredProblem,
    impulse: &[DVec3],
    scaled: f64,
    steps: usize,
) -> Option<SolverStatus> {
    if has_closing_row(problem) {
        return Some(SolverStatus::Infeasible);
    }
    let mut lambda = Vec::new();
    scales(problem, &mut lambda);
    let size = size(impulse, &lambda) / reference(problem, &lambda);
    if size <= HARMLESS || size * scaled <= CLOSING_PART {
        return None;
    }
    if certificate_within(problem, impulse, steps).is_some() {
        return Some(SolverStatus::Infeasible);
    }
    // An extrapolated impulse of an equality may have the wrong sign.
    let signs = problem.laws().iter().all(Law::is_unilateral);
    let closing = || closing(problem, impulse, &lambda);
    if !signs && certificate_within(problem, &closing(), steps).is_some() {
        return Some(SolverStatus::Infeasible);
    }
    // Velocities as large as those of free flight remain: small only beside the impulse.
    (size * scaled > 1.0).then_some(SolverStatus::Unbounded)
}

/// Why a solve ended at `impulse` without reaching its goal: [`SolverStatus::Infeasible`] with a
/// certificate, [`SolverStatus::Unbounded`] if the impulse is not finite or is beyond 10⁸ times the one
/// that stops the contacts one by one, else `None`: it may just need more iterations. Give it the
/// last iterate of a method that diverges, else the best one. Costs some hundred products with `W`.
pub(crate) fn classify(problem: &StoredProblem, impulse: &[DVec3]) -> Option<SolverStatus> {
    if has_closing_row(problem) {
        return Some(SolverStatus::Infeasible);
    }
    let mut lambda = Vec::new();
    scales(problem, &mut lambda);
    if certificate_within(problem, impulse, STEPS).is_some()
        || certificate_within(problem, &closing(problem, impulse, &lambda), STEPS).is_some()
    {
        return Some(SolverStatus::Infeasible);
    }
    let bounded = size(impulse, &lambda) <= UNBOUNDED * reference(problem, &lambda);
    (!bounded).then_some(SolverStatus::Unbounded)
}

/// A row with a velocity that no impulse changes and that its law does not allow, as a contact that closes: `y` is its unit
/// vector.
fn has_closing_row(problem: &StoredProblem) -> bool {
    problem.laws.iter().any(|(range, law)| {
        (0..law.rows()).any(|row| {
            let (triple, axis) = (range.start + row / 3, row % 3);
            let mut blocks = problem.delassus.row(triple);
            forbids(law, row, problem.free_velocity[triple][axis])
                && blocks.all(|(_, block)| block.row(axis) == DVec3::ZERO)
        })
    })
}

/// `max(−u_N, 0)/λ` at the contacts, `P_C∞(−u)/λ` elsewhere.
fn closing(problem: &StoredProblem, impulse: &[DVec3], lambda: &[f64]) -> Vec<DVec3> {
    let mut y = vec![DVec3::ZERO; problem.triples()];
    for (range, law) in problem.laws.iter() {
        for triple in range.clone() {
            y[triple] = -problem.velocity(triple, impulse) / lambda[triple];
        }
        if law.has_friction() {
            let normal = y[range.start].x.max(0.0);
            y[range.clone()].fill(DVec3::ZERO);
            y[range.start].x = normal;
        } else {
            law.project_recession(&mut rows_of_mut(&mut y[range])[..law.rows()]);
        }
    }
    y
}

/// `λ_α = trace(W_αα)/m` of each triple, the largest one where it is not positive, and 1 if none is.
pub(crate) fn scales(problem: &StoredProblem, lambda: &mut Vec<f64>) {
    problem.scales(lambda);
    let largest = lambda.iter().copied().fold(0.0, f64::max);
    let fallback = if largest > 0.0 && largest.is_finite() {
        largest
    } else {
        1.0
    };
    for value in lambda.iter_mut() {
        if !(value.is_finite() && *value > f64::MIN_POSITIVE) {
            *value = fallback;
        }
    }
}

/// `√(Σ λ‖r‖²)`.
fn size(impulse: &[DVec3], lambda: &[f64]) -> f64 {
    let square = |(r, lambda): (&DVec3, &f64)| lambda * r.length_squared();
    let pairs = impulse.iter().zip(lambda);
    pairs.map(square).sum::<f64>().sqrt()
}

/// `√(Σ ‖q‖²/λ)`.
fn reference(problem: &StoredProblem, lambda: &[f64]) -> f64 {
    let square = |(q, lambda): (&DVec3, &f64)| q.length_squared() / lambda;
    let pairs = problem.free_velocity.iter().zip(lambda);
    pairs.map(square).sum::<f64>().sqrt()
}

/// The lower bound of the module doc over `√(Σ ‖q‖²/λ)`, rounding counted against it; zero if
/// `qᵀy` is not negative.
fn least_impulse(problem: &StoredProblem, lambda: &[f64], y: &[DVec3]) -> f64 {
    let n = problem.triples();
    let mut product = vec![(DVec3::ZERO, 0.0, 0.0); n];
    let (mut gain, mut noise) = (0.0, 0.0);
    for (row, y) in y.iter().enumerate() {
        let q = problem.free_velocity[row];
        gain -= q.dot(*y);
        noise += q.length() * y.length();
        for (column, block) in problem.delassus.row(row) {
            let (sum, size, terms) = &mut product[column];
            *sum += block.transpose() * *y;
            let square: f64 = block.to_cols_array().iter().map(|e| e * e).sum();
            *size += square.sqrt() * y.length();
            *terms += 3.0;
        }
    }
    gain -= (3.0 * n as f64 + 4.0) * f64::EPSILON * noise;
    let mut square = 0.0;
    for (range, law) in problem.laws.iter() {
        let mut sums: SmallVec<[DVec3; 2]> = product[range.clone()].iter().map(|p| p.0).collect();
        let mut rounding = 0.0;
        for (_, size, terms) in &product[range.clone()] {
            rounding += (terms + 8.0) * f64::EPSILON * size;
        }
        let (support, extent) = law.support_of_bounded_part(&rows_of(&sums)[..law.rows()]);
        gain -= support + extent * rounding;
        let rows = &mut rows_of_mut(&mut sums)[..law.rows()];
        law.project_recession(rows);
        let distance = rows.iter().map(|z| z * z).sum::<f64>().sqrt();
        let v = distance + rounding;
        square += v * v / lambda[range.start];
    }
    let bound = gain / (square.sqrt() * reference(problem, lambda));
    if gain > 0.0 && !bound.is_nan() {
        bound
    } else {
        0.0
    }
}

/// Conjugate-gradient steps of one projection.
const STEPS: usize = 500;

/// What a candidate may have at a triple of rows.
#[derive(Clone, Copy, PartialEq)]
enum Rows {
    /// Anything.
    Free,
    /// A first entry of this sign.
    First(f64),
    Nothing,
}

/// The rows of every triple.
fn rows_of_candidates(problem: &StoredProblem) -> Vec<Rows> {
    let mut rows = vec![Rows::Nothing; problem.triples()];
    for (range, law) in problem.laws.iter() {
        match law {
            Law::Equality(_) => rows[range].fill(Rows::Free),
            Law::Ball(law) if law.radius == f64::INFINITY => rows[range].fill(Rows::Free),
            Law::Ball(_) => {}
            Law::Interval(law) => {
                rows[range.start] = match (law.low.is_finite(), law.high.is_finite()) {
                    (true, true) => Rows::Nothing,
                    (true, false) => Rows::First(1.0),
                    (false, true) => Rows::First(-1.0),
                    (false, false) => Rows::Free,
                }
            }
            _ => rows[range.start] = Rows::First(1.0),
        }
    }
    rows
}

/// `B = (Ŵᵀ)` on the support of a candidate, `Ŵ_αβ = W_αβ/√(λ_α λ_β)`.
struct Operator<'a> {
    problem: &'a StoredProblem,
    root: Vec<f64>,
    rows: Vec<Rows>,
}

impl<'a> Operator<'a> {
    fn new(problem: &'a StoredProblem, lambda: &[f64]) -> Self {
        Self {
            problem,
            root: lambda.iter().map(|lambda| lambda.sqrt()).collect(),
            rows: rows_of_candidates(problem),
        }
    }

    /// Cuts off tangents, entries of the wrong sign and what is below `threshold` of the largest normal, and
    /// scales to length 1. None if nothing is left.
    fn restrict(&self, y: &mut [DVec3], threshold: f64) -> Option<()> {
        let normal = |rows: &Rows, y: &DVec3| match rows {
            Rows::First(sign) => sign * y.x,
            _ => 0.0,
        };
        let normals = self.rows.iter().zip(&*y).map(|(rows, y)| normal(rows, y));
        let largest = normals.fold(0.0, f64::max);
        for (rows, y) in self.rows.iter().zip(&mut *y) {
            match rows {
                Rows::Free => {}
                Rows::First(sign) => {
                    let kept = sign * y.x > threshold * largest;
                    *y = DVec3::X * if kept { y.x } else { 0.0 };
                }
                Rows::Nothing => *y = DVec3::ZERO,
            }
        }
        let length = square(y).sqrt();
        if !(length.is_finite() && length > 0.0) {
            return None;
        }
        y.iter_mut().for_each(|y| *y /= length);
        Some(())
    }

    fn physical(&self, y: &[DVec3]) -> Vec<DVec3> {
        y.iter()
            .zip(&self.root)
            .map(|(y, root)| *y / *root)
            .collect()
    }

    /// `−q̂ᵀy` over `‖y‖`; zero for `y = 0`.
    fn gain(&self, y: &[DVec3]) -> f64 {
        let q = self.problem.free_velocity.iter();
        let pairs = q.zip(y).zip(&self.root);
        let sum: f64 = pairs.map(|((q, y), root)| -q.dot(*y) / root).sum();
        let gain = sum / square(y).sqrt();
        if gain.is_nan() { 0.0 } else { gain }
    }

    /// `Ŵᵀ y`.
    fn transposed(&self, y: &[DVec3]) -> Vec<DVec3> {
        let mut sum = vec![DVec3::ZERO; y.len()];
        for (row, y) in self.physical(y).into_iter().enumerate() {
            for (column, block) in self.problem.delassus.row(row) {
                sum[column] += block.transpose() * y;
            }
        }
        self.physical(&sum)
    }

    /// `Ŵ t`, restricted to the support: the first rows where `inside`, and the free ones.
    fn restricted(&self, t: &[DVec3], inside: &[bool]) -> Vec<DVec3> {
        let t = self.physical(t);
        let mut out = vec![DVec3::ZERO; t.len()];
        for (row, out) in out.iter_mut().enumerate() {
            if inside[row] {
                let sum = self.problem.delassus.row_times(row, &t) / self.root[row];
                let first = matches!(self.rows[row], Rows::First(_));
                *out = if first { DVec3::X * sum.x } else { sum };
            }
        }
        out
    }

    /// Removes from `y` what `B` sees of it, within its support.
    fn project(&self, y: &mut [DVec3], steps: usize) {
        let inside: Vec<bool> = (self.rows.iter().zip(&*y))
            .map(|(rows, y)| match rows {
                Rows::Free => true,
                Rows::First(sign) => sign * y.x > 0.0,
                Rows::Nothing => false,
            })
            .collect();
        let mut left = self.transposed(y);
        let mut gradient = self.restricted(&left, &inside);
        let mut step = gradient.clone();
        let mut size = square(&gradient);
        for _ in 0..steps.min(6 * y.len() + 10) {
            let image = self.transposed(&step);
            let length = size / square(&image);
            if size == 0.0 || !length.is_finite() {
                return;
            }
            for (y, step) in y.iter_mut().zip(&step) {
                *y -= *step * length;
            }
            for (left, image) in left.iter_mut().zip(&image) {
                *left -= *image * length;
            }
            gradient = self.restricted(&left, &inside);
            let next = square(&gradient);
            for (step, gradient) in step.iter_mut().zip(&gradient) {
                *step = *gradient + *step * (next / size);
            }
            size = next;
            if size.sqrt() <= f64::EPSILON * square(y).sqrt() {
                return;
            }
        }
    }
}

fn square(y: &[DVec3]) -> f64 {
    y.iter().map(|y| y.length_squared()).sum()
}

#[cfg(test)]
mod tests;
