//! The spread start of [`crate::auto::spread`] for the condensed problem of an island.
//!
//! What joints keep from turning leaves open how the points of a contact share its load, as what its inertia keeps from turning does: a
//! jaw on a slide. A body does not tell the points `i` and `j` of a pair apart if their normal impulses move it alike,
//!
//! ```text
//! (g_i − g_j)ᵀ M̂⁻¹ (g_i − g_j) ≤ part of g_iᵀ M̂⁻¹ g_i           g = (n, ρ × n)
//! ```
//!
//! and then their impulses start alike, and the sweeps of [`crate::auto::spread`] are made with the blocks of `Ŵ`. Shares of the last step are not kept: what once came to
//! lie on one point, as a part was taken up from the ground, would stay there, and one point does not keep what it holds from turning.

use super::condensed::Condensed;
use super::factor::Six;
use super::joints::dot;
use crate::StoredProblem;
use crate::auto::spread::{LEVEL, SETTLED, SWEEPS, TURNS, VISITS, points};
use crate::law::list::{rows_of, rows_of_mut};
use crate::law::one_block::OneBlock;
use crate::problem::{Contact, FactoredProblem};
use glam::DVec3;
use std::ops::Range;

/// Buffers of the start.
#[derive(Debug, Default)]
pub(super) struct Shares {
    /// One an interaction.
    local: Vec<OneBlock>,
    block: Vec<f64>,
    velocity: Vec<DVec3>,
    solved: Vec<DVec3>,
}

impl Shares {
    /// Makes `impulse`, that of the columns, the start of a solve of the condensed problem. Most have no such pair and keep theirs.
    pub(super) fn start<const N: usize>(
        &mut self,
        condensed: &Condensed<N>,
        problem: &FactoredProblem,
        impulse: &mut [DVec3],
    ) {
        let mut first = 0;
        let mut any = false;
        while first < problem.contacts.len() {
            let range = points(problem.contacts, first);
            first = range.end;
            if range.len() > 1 && is_open(condensed, problem, range.clone()) {
                any = true;
                level(&problem.contacts[range.clone()], &mut impulse[range]);
            }
        }
        if any {
            let n = impulse.len();
            let most = (VISITS / (n * n).max(1)).clamp(1, SWEEPS);
            self.sweep(&condensed.stored, problem, impulse, most);
        }
    }

    /// At most so many sweeps, the points of a pair alike.
    fn sweep(
        &mut self,
        stored: &StoredProblem,
        problem: &FactoredProblem,
        impulse: &mut [DVec3],
        most: usize,
    ) {
        self.local.clear();
        let mut pair = 0..0;
        for (interaction, (range, law)) in stored.laws.iter().enumerate() {
            if interaction >= pair.end && interaction < problem.contacts.len() {
                pair = points(problem.contacts, interaction);
            }
            stored.block(range, law.rows(), &mut self.block);
            if pair.contains(&interaction) {
                let parts = pair.len() as f64;
                self.block.iter_mut().for_each(|entry| *entry *= parts);
            }
            self.local.push(OneBlock::new(law, &self.block));
        }
        for _ in 0..most {
            let (mut change, mut size) = (0.0, 0.0);
            let mut first = 0;
            while first < stored.len() {
                let pair = if first < problem.contacts.len() {
                    points(problem.contacts, first)
                } else {
                    first..first + 1
                };
                first = pair.end;
                let triples =
                    stored.laws.range(pair.start).start..stored.laws.range(pair.end - 1).end;
                self.solved.clear();
                self.solved.extend_from_slice(&impulse[triples.clone()]);
                for interaction in pair {
                    let range = stored.laws.range(interaction);
                    self.velocity.clear();
                    let velocity = range.clone().map(|triple| stored.velocity(triple, impulse));
                    self.velocity.extend(velocity);
                    let m = stored.laws.law(interaction).rows();
                    let own = range.start - triples.start..range.end - triples.start;
                    let (w, r) = (&rows_of(&self.velocity)[..m], &mut self.solved[own]);
                    self.local[interaction].relax(w, &mut rows_of_mut(r)[..m], 1.0, &mut 0.0);
                }
                for (r, solved) in impulse[triples].iter_mut().zip(&self.solved) {
                    change += (*solved - *r).length_squared();
                    size += solved.length_squared();
                    *r = *solved;
                }
            }
            if change <= SETTLED * SETTLED * size {
                break;
            }
        }
    }
}

/// The same impulse at all points, whose sum is that of before.
fn level(contacts: &[Contact], impulse: &mut [DVec3]) {
    let pushes = contacts.iter().zip(&*impulse);
    let sum: DVec3 = pushes.map(|(contact, own)| contact.frame * *own).sum();
    let mean = sum / impulse.len() as f64;
    for (contact, own) in contacts.iter().zip(impulse) {
        *own = contact.frame.transpose() * mean;
    }
}

/// Faces press on each other in several points: how these share the load may be open.
pub(super) fn may_share(problem: &FactoredProblem) -> bool {
    let pairs = problem.contacts.windows(2);
    let is_level = |pair: &[Contact]| {
        pair[0].bodies == pair[1].bodies && pair[0].frame.x_axis.dot(pair[1].frame.x_axis) >= LEVEL
    };
    pairs.into_iter().any(is_level)
}

/// One body of the pair is moved alike by normal impulses at all of its points.
fn is_open<const N: usize>(
    condensed: &Condensed<N>,
    problem: &FactoredProblem,
    pair: Range<usize>,
) -> bool {
    let contacts = &problem.contacts[pair.clone()];
    let [first, others @ ..] = contacts else {
        return false;
    };
    let level = |other: &Contact| first.frame.x_axis.dot(other.frame.x_axis) >= LEVEL;
    others.iter().all(level)
        && first.bodies.iter().any(|body| {
            let Some(response) = condensed.response_of(*body) else {
                return false;
            };
            let of = |g: &Six| -> f64 { (0..6).map(|k| g[k] * dot(g, &response[k])).sum() };
            let lever = |triple: usize| condensed.normal_lever(*body, triple);
            let Some(start) = lever(pair.start) else {
                return false;
            };
            let moved = of(&start);
            moved > 0.0
                && pair.clone().skip(1).all(|triple| {
                    lever(triple).is_some_and(|other| {
                        let apart = std::array::from_fn(|k| other[k] - start[k]);
                        of(&apart) <= TURNS * moved
                    })
                })
        })
}
