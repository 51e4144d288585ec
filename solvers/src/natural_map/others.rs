//! Interactions that are no contacts.

use super::{ROUNDING, Sums};
use crate::law::list::{rows_of, rows_of_mut};
use crate::problem::{FactoredProblem, Interaction, WorldTwist};
use glam::DVec3;
use std::ops::Range;

/// The sums of each interaction that is no contact.
pub(super) fn of_others(
    problem: &FactoredProblem,
    impulse: &[DVec3],
    twist: &[WorldTwist],
) -> impl Iterator<Item = Sums> {
    let others = problem.others().enumerate();
    others.map(move |(index, (range, _))| of_other(problem, (index, range), impulse, twist))
}

/// The sums of one of them, with its index and its triples. A residual below the rounding of its velocities counts as zero, as at contacts.
pub(super) fn of_other(
    problem: &FactoredProblem,
    (index, range): (usize, Range<usize>),
    impulse: &[DVec3],
    twist: &[WorldTwist],
) -> Sums {
    let other = &problem.interactions[index];
    if other.linked {
        // The first of them has the row.
        return Sums::default();
    }
    let tail = &problem.interactions[index + 1..];
    if tail.first().is_some_and(|next| next.linked) {
        return of_linked((problem, index), &impulse[range.start..], twist);
    }
    let m = other.law.rows();
    let masses = other.bodies.map(|j| &problem.inverse_mass[j as usize]);
    let block = other.block(masses);
    let trace: f64 = (0..m).map(|row| block[row * m + row]).sum();
    let ends = other.bodies.map(|j| twist[j as usize]);
    let free = other.bodies.map(|j| problem.free_twist[j as usize]);
    let r = &rows_of(&impulse[range])[..m];
    let (mut u, q) = (other.velocity(&ends), other.velocity(&free));
    for (row, (u, r)) in rows_of_mut(&mut u).iter_mut().zip(r).enumerate() {
        *u += other.compliance[row] * r;
    }
    let lambda = trace / m as f64;
    let mut sums = Sums::default();
    sums.add_rows(
        lambda,
        &other.law,
        r,
        [&rows_of(&u)[..m], &rows_of(&q)[..m]],
    );
    let speeds = |twists: &[WorldTwist; 2]| {
        other.square_of_speeds(twists) + square_of_turns(problem, other, twists)
    };
    let noise = ROUNDING * ROUNDING * (speeds(&ends) + speeds(&free));
    if sums.natural_scaled * lambda <= noise {
        sums.natural_scaled = 0.0;
        (sums.velocity, sums.fastest) = (0.0, 0.0);
    }
    if sums.constraint[0] * lambda <= noise {
        sums.constraint[0] = 0.0;
    }
    sums
}

/// The sums of a row that is made of linked interactions, the first of which is `index`. Impulses of the others that differ from its own are
/// errors as those of its velocity are.
fn of_linked(
    (problem, index): (&FactoredProblem, usize),
    impulse: &[DVec3],
    twist: &[WorldTwist],
) -> Sums {
    let all = &problem.interactions[index..];
    let count = 1 + all[1..].iter().take_while(|other| other.linked).count();
    let (mut u, mut q, mut lambda, mut noise) = (0.0, 0.0, 0.0, 0.0);
    let head = impulse[0].x;
    let mut apart: f64 = 0.0;
    for (other, r) in all[..count].iter().zip(impulse) {
        let ends = other.bodies.map(|j| twist[j as usize]);
        let free = other.bodies.map(|j| problem.free_twist[j as usize]);
        u += other.velocity(&ends)[0].x + other.compliance[0] * r.x;
        q += other.velocity(&free)[0].x;
        lambda += other.block(other.bodies.map(|j| &problem.inverse_mass[j as usize]))[0];
        for twists in [&ends, &free] {
            noise += other.square_of_speeds(twists) + square_of_turns(problem, other, twists);
        }
        apart = apart.max((r.x - head).abs());
    }
    let mut sums = Sums::default();
    u += (lambda * apart).copysign(u);
    sums.add_rows(lambda, &all[0].law, &[head], [&[u], &[q]]);
    if sums.constraint[0] * lambda <= ROUNDING * ROUNDING * noise {
        sums.constraint[0] = 0.0;
    }
    sums
}

/// What joints make of the rounding of linear velocities: rotations of as much energy, `v²/k²` with the radius of gyration `k`. Two bodies that fall on a joint do not turn, but for that.
fn square_of_turns(
    problem: &FactoredProblem,
    other: &Interaction,
    twists: &[WorldTwist; 2],
) -> f64 {
    let mut sum = 0.0;
    for (side, twist) in twists.iter().enumerate() {
        let mass = &problem.inverse_mass[other.bodies[side] as usize];
        if mass.linear == 0.0 {
            continue;
        }
        let moments = &mass.angular;
        let trace = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
        let turn = twist.linear.length_squared() * trace / (3.0 * mass.linear);
        for row in 0..other.law.rows() {
            sum += other.lever(row, side)[1].length_squared() * turn;
        }
    }
    sum
}
