//! The start of islands that leave open how the points of a contact share its load.
//!
//! Faces that press on each other in several points, of bodies that cannot turn, take any shares of these points: `W` is
//! singular, and the shares decide what friction resists. Gauss–Seidel gives all of a new load to the point that it visits first;
//! as a solution of the step that is as good as any other, and no residual tells. Among the solutions the spread one is to be
//! taken. So these islands get their start from sweeps that treat the points of a pair alike,
//!
//! ```text
//! for each pair of bodies with n points:   q_α = u_α − n W_αα r_α,   r_α ← solve(n W_αα, q_α, μ_α) for all its points at once
//! ```
//!
//! as if each point had its own part of the bodies (mass splitting [Tonge12]): `n diag(W_αα) ≥ W` over the pair, so that each
//! visit is a descent, and what it adds is shared alike. They begin with the warm start: what was shared in the last step stays, what
//! came since, or was lost with a point that is gone, goes to all points. The solve that follows has little left to do.
//!
//! Where bodies turn, moments tell the shares apart, and such islands keep their start.

use crate::islands::{Extract, Islands};
use crate::law::one_contact::OneContact;
use crate::problem::{Contact, FactoredProblem, InverseMass, WorldTwist};
use glam::DVec3;
use std::ops::Range;

/// Part of a contact's inverse mass that turning adds, up to which a body counts as one that cannot turn.
pub(crate) const TURNS: f64 = 0.01;
/// Cosine of the angle between the normals of a face.
pub(crate) const LEVEL: f64 = 0.999;
/// Lever of a normal impulse, over its distance from the centre, up to which it is rounding.
const ASIDE: f64 = 1e-3;
/// Most sweeps …
pub(crate) const SWEEPS: usize = 50;
/// … and visits to contacts, but for one sweep, …
pub(crate) const VISITS: usize = 20_000;
/// … which end when impulses change by less than this part.
pub(crate) const SETTLED: f64 = 1e-3;

/// Buffers of the spread start.
#[derive(Debug, Default)]
pub(super) struct Spread {
    islands: Islands,
    extract: Extract,
    /// First points of the pairs that leave their shares open.
    open: Vec<u32>,
    squeezed: Vec<bool>,
    blocks: Vec<OneContact>,
    change: Vec<DVec3>,
    twist: Vec<WorldTwist>,
}

/// The points of the pair that begins with the contact `first`.
pub(crate) fn points(contacts: &[Contact], first: usize) -> Range<usize> {
    let others = contacts[first + 1..].iter();
    let same = others.take_while(|other| other.bodies == contacts[first].bodies);
    first..first + 1 + same.count()
}

/// Impulses at a contact move this body and hardly turn it, whatever their direction: by its inertia, and not because they pass near its
/// centre.
fn cannot_turn(contact: &Contact, side: usize, mass: &InverseMass) -> bool {
    let trace = mass.angular.x_axis.x + mass.angular.y_axis.y + mass.angular.z_axis.z;
    mass.linear > 0.0 && contact.arms[side].length_squared() * trace <= TURNS * mass.linear
}

/// The contact is not where the normal through the centre of the body meets its surface, as all points of a ball are.
fn is_aside(contact: &Contact, side: usize) -> bool {
    let (arm, normal) = (contact.arms[side], contact.frame.x_axis);
    arm.cross(normal).length() > ASIDE * arm.length()
}

/// Two faces press on each other in several points, and one is of a body that is free to move and cannot turn.
fn is_open(problem: &FactoredProblem, points: &[Contact]) -> bool {
    let [first, others @ ..] = points else {
        return false;
    };
    let level = |other: &Contact| first.frame.x_axis.dot(other.frame.x_axis) >= LEVEL;
    // Few bodies cannot turn.
    !others.is_empty()
        && (0..2).any(|side| {
            let mass = problem.inverse_mass.get(first.bodies[side] as usize);
            let bound = |mass| points.iter().all(|point| cannot_turn(point, side, mass));
            mass.is_some_and(bound) && points.iter().any(|point| is_aside(point, side))
        })
        && others.iter().all(level)
}

impl Spread {
    /// Makes `impulse` the start of a solve of `problem`. Most problems have no such island and keep theirs.
    pub(super) fn start(&mut self, problem: &FactoredProblem, impulse: &mut [DVec3]) {
        self.open.clear();
        let contacts = problem.contacts;
        let mut first = 0;
        while first < contacts.len() {
            let range = points(contacts, first);
            if range.len() > 1 && is_open(problem, &contacts[range.clone()]) {
                self.open.push(first as u32);
            }
            first = range.end;
        }
        if self.open.is_empty() {
            return;
        }
        let count = problem.inverse_mass.len();
        let sound = |(index, contact): (usize, &Contact)| contact.check(index, count).is_ok();
        if !contacts.iter().enumerate().all(sound) {
            return;
        }
        self.islands.find(problem);
        self.squeezed.clear();
        self.squeezed.resize(self.islands.count, false);
        for first in &self.open {
            self.squeezed[self.islands.of_contact[*first as usize] as usize] = true;
        }
        for island in 0..self.islands.count {
            if self.squeezed[island] {
                let (members, free) = (self.islands.members(island), problem.free_twist);
                self.extract.take(problem, members, free, impulse);
                let mut extract = std::mem::take(&mut self.extract);
                let most = (VISITS / extract.impulse.len().max(1)).clamp(1, SWEEPS);
                self.sweep(&mut extract, most);
                self.extract = extract;
                for (source, r) in self.extract.source.iter().zip(&self.extract.impulse) {
                    impulse[*source as usize] = *r;
                }
            }
        }
    }

    /// At most so many sweeps over an island, from its impulses.
    pub(super) fn sweep(&mut self, island: &mut Extract, most: usize) {
        let mut impulse = std::mem::take(&mut island.impulse);
        let view = island.view();
        let contacts = view.contacts;
        let masses = |contact: &Contact| contact.bodies.map(|j| &view.inverse_mass[j as usize]);
        self.blocks.clear();
        while self.blocks.len() < contacts.len() {
            let range = points(contacts, self.blocks.len());
            let parts = range.len() as f64;
            self.blocks.extend(contacts[range].iter().map(|contact| {
                let [a, b] = masses(contact);
                OneContact::new(&(contact.local_block(a, b) * parts))
            }));
        }
        view.twist_under_triples(&impulse, &mut self.twist);
        for _ in 0..most {
            let (mut change, mut size) = (0.0, 0.0);
            let mut first = 0;
            while first < contacts.len() {
                let range = points(contacts, first);
                first = range.end;
                self.change.clear();
                for index in range.clone() {
                    let (contact, block) = (&contacts[index], &self.blocks[index]);
                    let [a, b] = contact.bodies.map(|j| &self.twist[j as usize]);
                    let r = block.to_principal(impulse[index]);
                    let u = contact.local_velocity(a, b) + contact.offset;
                    let q = block.to_principal(u) - block.apply_principal(r);
                    let solved = block.solve_principal(q, contact.friction);
                    self.change.push(block.from_principal(solved - r));
                }
                for (index, moved) in range.zip(&self.change) {
                    impulse[index] += *moved;
                    change += moved.length_squared();
                    size += impulse[index].length_squared();
                    push(&view, &contacts[index], *moved, &mut self.twist);
                }
            }
            if change <= SETTLED * SETTLED * size {
                break;
            }
        }
        island.impulse = impulse;
    }
}

/// Adds an impulse at a contact to the twists of its bodies.
fn push(problem: &FactoredProblem, contact: &Contact, r: DVec3, twist: &mut [WorldTwist]) {
    let p = contact.frame * r;
    for (side, p) in [(0, p), (1, -p)] {
        let body = contact.bodies[side] as usize;
        let mass = &problem.inverse_mass[body];
        twist[body].linear += p * mass.linear;
        twist[body].angular += mass.angular * contact.arms[side].cross(p);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    /// A body that cannot turn is pushed onto four points of the ground at 1 m/s.
    fn pushed(impulse: &mut [DVec3], angular: DMat3) {
        let corner = |x: f64, y: f64| Contact {
            bodies: [1, 0],
            frame: DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y),
            arms: [DVec3::new(x, y, -1.0), DVec3::new(x, y, 0.0)],
            offset: DVec3::ZERO,
            friction: 0.5,
        };
        let contacts =
            [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(x, y)| corner(x, y));
        let linear = 1.0;
        let problem = FactoredProblem {
            inverse_mass: &[InverseMass::FIXED, InverseMass { linear, angular }],
            free_twist: &[
                WorldTwist::default(),
                WorldTwist {
                    linear: -DVec3::Z,
                    angular: DVec3::ZERO,
                },
            ],
            contacts: &contacts,
            interactions: &[],
            positions: &[],
            pull: &[],
        };
        Spread::default().start(&problem, impulse);
    }

    /// To the rounding of a few sums, since one visit solves the pair.
    #[test]
    fn a_load_is_shared_alike() {
        let mut impulse = [DVec3::ZERO; 4];
        pushed(&mut impulse, DMat3::ZERO);
        for r in impulse {
            assert!((r - 0.25 * DVec3::X).length() < 1e-14, "{impulse:?}");
        }
    }

    /// Half of the load is there, unevenly: the other half comes to an eighth each.
    #[test]
    fn what_is_new_is_shared_alike() {
        let start = [0.5, 0.0, 0.0, 0.0];
        let mut impulse = start.map(|r| DVec3::new(r, 0.0, 0.0));
        pushed(&mut impulse, DMat3::ZERO);
        for (r, start) in impulse.iter().zip(start) {
            let expected = DVec3::new(start + 0.125, 0.0, 0.0);
            assert!((*r - expected).length() < 1e-14, "{impulse:?}");
        }
    }

    #[test]
    fn bodies_that_turn_keep_their_start() {
        let mut impulse = [DVec3::ZERO; 4];
        pushed(&mut impulse, DMat3::IDENTITY);
        assert!(impulse.iter().all(|r| *r == DVec3::ZERO), "{impulse:?}");
    }
}
