//! Clusters: the worst contacts of a pile and what is near them.
//!
//! Jammed contacts can drift along a self-stress for ten thousands of sweeps, while all others are solved. Newton on the
//! whole pile costs more than that; on a cluster, all other impulses being what they are, it costs little.

use crate::islands::Islands;
use crate::problem::FactoredProblem;

/// Contacts of a problem that belong to clusters.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    takes: Vec<bool>,
    near: Vec<bool>,
    nearer: Vec<bool>,
}

impl Clusters {
    /// No contact belongs to one.
    pub(super) fn clear(&mut self, problem: &FactoredProblem) {
        self.takes.clear();
        self.takes.resize(problem.len(), false);
    }

    /// Takes the contacts of an island that are within `reach ≥ 1` bodies of one that `is_bad`: those of its own two
    /// bodies are within 1. Bodies that impulses do not move do not connect clusters.
    pub(super) fn take(
        &mut self,
        problem: &FactoredProblem,
        islands: &Islands,
        island: usize,
        reach: usize,
        is_bad: impl Fn(usize) -> bool,
    ) {
        let free = |j: u32| !problem.inverse_mass[j as usize].is_fixed();
        let members = || islands.members(island).iter().map(|k| *k as usize);
        self.near.clear();
        self.near.resize(problem.inverse_mass.len(), false);
        for k in members().filter(|k| is_bad(*k)) {
            for j in problem.bodies_of(k) {
                self.near[j as usize] = free(j);
            }
        }
        for _ in 1..reach {
            self.nearer.clone_from(&self.near);
            for k in members() {
                let bodies = problem.bodies_of(k);
                if bodies.iter().any(|j| self.nearer[*j as usize]) {
                    for j in bodies {
                        self.near[j as usize] = free(j);
                    }
                }
            }
        }
        for k in members() {
            let bodies = problem.bodies_of(k);
            self.takes[k] = bodies.iter().any(|j| self.near[*j as usize]);
        }
    }

    /// Takes a whole island.
    pub(super) fn take_all(&mut self, islands: &Islands, island: usize) {
        for contact in islands.members(island) {
            self.takes[*contact as usize] = true;
        }
    }

    /// The contact belongs to a cluster.
    pub(super) fn has(&self, contact: usize) -> bool {
        self.takes[contact]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::InverseMass;
    use crate::random::OwnedProblem;

    /// Contact `k` joins the bodies `k` and `k + 1` of a ring, in which body 10 is fixed.
    #[test]
    fn clusters_reach_along_chains_but_not_through_fixed_bodies() {
        let mut owned = OwnedProblem::random(1, 11, 11);
        for (k, contact) in (0..).zip(&mut owned.contacts) {
            contact.bodies = [k, (k + 1) % 11];
        }
        owned.inverse_mass[10] = InverseMass::FIXED;
        owned.inverse_mass[0] = owned.inverse_mass[1];
        let problem = owned.view();
        let (mut islands, mut clusters) = (Islands::default(), Clusters::default());
        islands.find(&problem);
        assert_eq!(islands.count, 1);
        let mut taken = |bad: usize, reach: usize| {
            clusters.clear(&problem);
            clusters.take(&problem, &islands, 0, reach, |k| k == bad);
            (0..11).filter(|k| clusters.has(*k)).collect::<Vec<_>>()
        };
        assert_eq!(taken(5, 1), [4, 5, 6]);
        assert_eq!(taken(5, 2), [3, 4, 5, 6, 7]);
        assert_eq!(taken(9, 1), [8, 9]);
        assert_eq!(taken(10, 2), [0, 1, 10]);
        clusters.take_all(&islands, 0);
        assert!((0..11).all(|k| clusters.has(k)));
    }
}
