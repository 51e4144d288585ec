//! What impulses an island has reason for: beyond that its bodies jam.

use super::VelocityGoal;
use crate::Law;
use crate::articulation::has_joints;
use crate::problem::{FactoredProblem, Interaction};
use glam::DVec3;

/// Impulse, over what its bodies and drives have reason for, beyond which an island that misses its goal jams.
pub(super) const OVERLOAD: f64 = 1e3;

/// The square of the largest impulse, but for multipliers of joints: those hold loads in themselves.
pub(super) fn largest(problem: &FactoredProblem, impulse: &[DVec3]) -> f64 {
    let square = |r: &DVec3| r.length_squared();
    if !has_joints(problem) {
        return impulse.iter().map(square).fold(0.0, f64::max);
    }
    let contacts = impulse[..problem.contacts.len()].iter().map(square);
    let others = problem.others().filter_map(|(range, other)| {
        let joint = matches!(other.law, Law::Equality(_));
        (!joint).then(|| impulse[range].iter().map(square).fold(0.0, f64::max))
    });
    contacts.chain(others).fold(0.0, f64::max)
}

/// What bounded rows, such as motors, may give in all (N·s, of couples N·m·s): loads that contacts are to carry.
pub(super) fn driven(problem: &FactoredProblem) -> f64 {
    let bound = |other: &Interaction| match other.law {
        Law::Interval(law) => law.high.max(-law.low),
        Law::Ball(law) => law.radius,
        _ => 0.0,
    };
    let bounds = problem.interactions.iter().map(bound);
    bounds.filter(|bound| bound.is_finite()).sum()
}

/// What soft equalities resist a push with, as masses: `n²/R` of a row `n` with the compliance `R`. Stiff forces of users are such rows.
pub(super) fn mass_of_springs(problem: &FactoredProblem) -> f64 {
    let soft = problem.interactions.iter();
    let soft = soft.filter(|other| matches!(other.law, Law::Equality(_)));
    let rows = soft.flat_map(|other| {
        (0..other.law.rows()).filter_map(move |k| {
            let lever = |side: usize| other.lever(k, side)[0].length_squared();
            let compliance = other.compliance[k];
            (compliance > 0.0).then(|| lever(0).max(lever(1)) / compliance)
        })
    });
    rows.sum()
}

/// The impulses that let rigid joints follow, row by row, what their bodies do on their own, and those that stop there what limits and ropes are to stop (N·s, of couples
/// N·m·s): a hand that moves at once takes along what it holds, and that strikes what is in its way, at speeds that no contact has before.
pub(super) fn asked_by_rows(problem: &FactoredProblem) -> f64 {
    let impulses = problem.interactions.iter().flat_map(|other| {
        let rows = match other.law {
            Law::Equality(_) => other.law.rows(),
            law if law.is_unilateral() => 1,
            _ => 0,
        };
        let stride = other.law.rows();
        let block = other.block(other.bodies.map(|j| &problem.inverse_mass[j as usize]));
        let velocity = other.velocity(&other.bodies.map(|j| problem.free_twist[j as usize]));
        (0..rows).filter_map(move |k| {
            let velocity = velocity[k / 3][k % 3];
            let asked = match other.law {
                Law::Equality(_) => velocity.abs(),
                _ => (-velocity).max(0.0),
            };
            let moved = block[k * stride + k];
            (other.compliance[k] == 0.0 && moved > 0.0).then(|| asked / moved)
        })
    });
    impulses.sum()
}

/// The largest free speed at which a limit or a rope closes, m/s or rad/s.
pub(super) fn closing(problem: &FactoredProblem) -> f64 {
    let stops = problem.interactions.iter();
    let stops = stops.filter(|other| other.law.is_unilateral());
    let speeds = stops.map(|other| {
        let velocity = other.velocity(&other.bodies.map(|j| problem.free_twist[j as usize]));
        -velocity[0].x
    });
    speeds.fold(0.0, f64::max)
}

/// Some impulse is beyond what stops the lightest body many times over: without one no island jams.
pub(super) fn may_jam(problem: &FactoredProblem, impulse: &[DVec3], goal: &VelocityGoal) -> bool {
    let largest = largest(problem, impulse);
    let lightest = problem
        .inverse_mass
        .iter()
        .map(|mass| mass.linear)
        .fold(0.0, f64::max);
    largest.sqrt() * lightest > OVERLOAD * goal.scale
}
