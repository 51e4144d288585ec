//! The factored form, `W = G Ŵ Gᵀ`.

use super::check::{check_warm_start, expect_length, first_non_finite, first_wrong, is_shared};
use super::{Contact, Interaction, InverseMass, ProblemError, StoredProblem, WorldTwist};
use crate::law::list::{Laws, rows_of, rows_of_mut};
use crate::{Delassus, Law, SolverReport};
use glam::DVec3;
use rayon::prelude::*;
use std::ops::Range;

/// A problem in factored form: `W = G Ŵ Gᵀ` is never formed. Its interactions are the contacts and, after them, the
/// others; an impulse has three entries for each contact, then those of the others.
#[derive(Clone, Copy, Debug)]
pub struct FactoredProblem<'a> {
    /// `Ŵ`, one block a body.
    pub inverse_mass: &'a [InverseMass],
    /// `v_free`, one twist a body, inertial frame.
    pub free_twist: &'a [WorldTwist],
    /// Contacts in space with Coulomb's law: `G`, `d` and `μ`.
    pub contacts: &'a [Contact],
    /// Interactions of any law, with their rows of `G`.
    pub interactions: &'a [Interaction],
    /// Centres of mass, m, for the layout in memory alone: bodies that lie together are kept together.
    /// Or empty: bodies are then taken to lie in their order.
    pub positions: &'a [DVec3],
    /// Forces of adhesion, one impulse `a` for each interaction, N·s, or empty if there are none: `v_free` has `(−a, 0, 0)` at its first rows, so that its impulse is `r + (a, 0, 0)`.
    /// The solution does not depend on it: solvers that stop before use it to keep `r` from doing work.
    pub pull: &'a [f64],
}

impl FactoredProblem<'_> {
    /// `a` of an interaction.
    #[inline]
    pub(crate) fn pull_at(&self, index: usize) -> f64 {
        self.pull.get(index).copied().unwrap_or_default()
    }

    /// Checks lengths, indices, finiteness and `μ ≥ 0`.
    ///
    /// # Errors
    /// [`ProblemError`] names the first array, index and value at fault.
    pub fn validate(&self) -> Result<(), ProblemError> {
        self.validate_bodies()?;
        self.validate_contacts()
    }

    /// The contacts alone.
    pub(crate) fn validate_contacts(&self) -> Result<(), ProblemError> {
        let count = self.inverse_mass.len();
        let check = |(index, contact): (usize, &Contact)| contact.check(index, count).err();
        let first = if is_shared(self.contacts.len()) {
            let contacts = self.contacts.par_iter().with_min_len(1024);
            contacts.enumerate().find_map_first(check)
        } else {
            self.contacts.iter().enumerate().find_map(check)
        };
        first.map_or(Ok(()), Err)
    }

    /// [`Self::validate`] but for the contacts.
    pub(crate) fn validate_bodies(&self) -> Result<(), ProblemError> {
        let count = self.inverse_mass.len();
        expect_length("free_twist", self.free_twist.len(), count)?;
        if !self.positions.is_empty() {
            expect_length("positions", self.positions.len(), count)?;
        }
        if let Some(index) = first_wrong(self.free_twist, WorldTwist::is_finite) {
            let twist = &self.free_twist[index];
            let value = first_non_finite(twist.linear, twist.angular);
            return Err(ProblemError::NotFinite {
                what: "free twist",
                index,
                value,
            });
        }
        let finite = |mass: &InverseMass| mass.linear.is_finite() && mass.angular.is_finite();
        if let Some(index) = first_wrong(self.inverse_mass, finite) {
            return Err(ProblemError::NotFinite {
                what: "inverse mass",
                index,
                value: f64::NAN,
            });
        }
        let others = (self.contacts.len()..).zip(self.interactions);
        others
            .into_iter()
            .try_for_each(|(index, other)| other.check(index, count))?;
        self.validate_links()
    }

    /// Linked interactions have one row, and so have those before them.
    fn validate_links(&self) -> Result<(), ProblemError> {
        let mut before = 0;
        for (index, other) in self.interactions.iter().enumerate() {
            let own = match other.law {
                Law::Equality(_) => other.law.rows(),
                _ => 0,
            };
            if other.linked && [before, own] != [1, 1] {
                return Err(ProblemError::Law {
                    interaction: self.contacts.len() + index,
                    what: "number of equality rows that are linked",
                    value: before.min(own) as f64,
                    bound: "1",
                });
            }
            before = own;
        }
        Ok(())
    }

    /// Gives linked interactions the impulse (one entry a row) of those that they are linked to: in stored form these stand for all.
    pub fn spread_links(&self, impulse: &mut [f64]) {
        let mut begin = 3 * self.contacts.len();
        for other in self.interactions {
            if other.linked && begin > 0 && begin < impulse.len() {
                impulse[begin] = impulse[begin - 1];
            }
            begin += other.law.rows();
        }
    }

    /// For methods that do not know linked interactions.
    pub(crate) fn refuse_links(&self, method: &'static str) -> Result<(), ProblemError> {
        match self.interactions.iter().position(|other| other.linked) {
            Some(index) => Err(ProblemError::Unsupported {
                interaction: self.contacts.len() + index,
                method,
            }),
            None => Ok(()),
        }
    }

    /// The interaction, contacts first, is linked to the one before it.
    #[inline]
    pub(crate) fn is_linked(&self, interaction: usize) -> bool {
        let other = interaction.checked_sub(self.contacts.len());
        let other = other.and_then(|other| self.interactions.get(other));
        other.is_some_and(|other| other.linked)
    }

    /// Twists `v = v_free + Ŵ Gᵀ r` of a valid problem under the impulse `r` (one entry a row), into `twist`.
    ///
    /// Interactions are added in their order: the result is a pure function of the problem and `r`. Entries that are missing count
    /// as zero.
    pub fn twist_under(&self, impulse: &[f64], twist: &mut Vec<WorldTwist>) {
        self.pack(impulse, |r| self.twist_under_triples(r, twist));
    }

    /// [`Self::twist_under`] in triples.
    pub(crate) fn twist_under_triples(&self, impulse: &[DVec3], twist: &mut Vec<WorldTwist>) {
        twist.clear();
        twist.extend_from_slice(self.free_twist);
        for (contact, r) in self.contacts.iter().zip(impulse) {
            let p = contact.frame * *r;
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                let body = contact.bodies[side] as usize;
                let mass = &self.inverse_mass[body];
                if !mass.is_fixed() {
                    twist[body].linear += p * (sign * mass.linear);
                    twist[body].angular += mass.angular * contact.arms[side].cross(p * sign);
                }
            }
        }
        for (range, interaction) in self.others() {
            let Some(r) = impulse.get(range) else {
                break;
            };
            for side in 0..2 {
                let body = interaction.bodies[side] as usize;
                let change = interaction.twist_change(side, rows_of(r), &self.inverse_mass[body]);
                twist[body].linear += change.linear;
                twist[body].angular += change.angular;
            }
        }
    }

    /// Number of rows: entries of an impulse.
    #[must_use]
    pub fn rows(&self) -> usize {
        let others = self.interactions.iter().map(|other| other.law.rows());
        others.fold(3 * self.contacts.len(), usize::saturating_add)
    }

    /// Number of interactions, contacts included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.contacts.len() + self.interactions.len()
    }

    /// True without interactions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of triples of rows: one a contact, then those of the others.
    pub(crate) fn triples(&self) -> usize {
        self.others()
            .last()
            .map_or(self.contacts.len(), |(range, _)| range.end)
    }

    /// The interactions that are no contacts, with their triples.
    pub(crate) fn others(&self) -> impl Iterator<Item = (Range<usize>, &Interaction)> {
        let mut end = self.contacts.len();
        self.interactions.iter().map(move |other| {
            let begin = end;
            end += other.triples();
            (begin..end, other)
        })
    }

    /// The two bodies of an interaction, contacts first.
    #[inline]
    pub(crate) fn bodies_of(&self, interaction: usize) -> [u32; 2] {
        match self.contacts.get(interaction) {
            Some(contact) => contact.bodies,
            None => self.interactions[interaction - self.contacts.len()].bodies,
        }
    }

    /// The laws, contacts first.
    pub(crate) fn laws(&self) -> Laws {
        let mut laws = Laws::default();
        for contact in self.contacts {
            laws.push(Law::coulomb(contact.friction));
        }
        self.interactions
            .iter()
            .for_each(|other| laws.push(other.law));
        laws
    }

    /// Calls `of` with the impulse in triples.
    pub(crate) fn pack<R>(&self, impulse: &[f64], of: impl FnOnce(&[DVec3]) -> R) -> R {
        if self.interactions.is_empty() {
            let whole = impulse.len() / 3 * 3;
            return of(bytemuck::cast_slice(&impulse[..whole]));
        }
        let mut triples = Vec::new();
        self.fill(impulse, &mut triples);
        of(&triples)
    }

    /// Writes the impulse in triples.
    fn fill(&self, impulse: &[f64], triples: &mut Vec<DVec3>) {
        triples.clear();
        triples.resize(self.triples(), DVec3::ZERO);
        self.transfer(triples, |own, begin| {
            let end = impulse.len().min(begin + own.len());
            if begin < end {
                own[..end - begin].copy_from_slice(&impulse[begin..end]);
            }
        });
    }

    /// Calls `each` with the rows of every interaction in `triples`, and where they begin among all rows.
    fn transfer(&self, triples: &mut [DVec3], mut each: impl FnMut(&mut [f64], usize)) {
        let contacts = 3 * self.contacts.len();
        each(rows_of_mut(&mut triples[..self.contacts.len()]), 0);
        let mut begin = contacts;
        for (range, other) in self.others() {
            let rows = other.law.rows();
            each(&mut rows_of_mut(&mut triples[range])[..rows], begin);
            begin += rows;
        }
    }

    /// Checks the warm start, lets `solve` work on it in triples, and takes the answer back. `triples` is a buffer.
    pub(crate) fn in_triples(
        &self,
        impulse: &mut [f64],
        triples: &mut Vec<DVec3>,
        solve: impl FnOnce(&mut [DVec3]) -> Result<SolverReport, ProblemError>,
    ) -> Result<SolverReport, ProblemError> {
        expect_length("impulse", impulse.len(), self.rows())?;
        self.in_checked_triples(impulse, triples, |triples| {
            check_warm_start(triples, triples.len())?;
            solve(triples)
        })
    }

    /// The same for a finite start of the right length.
    pub(crate) fn in_checked_triples(
        &self,
        impulse: &mut [f64],
        triples: &mut Vec<DVec3>,
        solve: impl FnOnce(&mut [DVec3]) -> Result<SolverReport, ProblemError>,
    ) -> Result<SolverReport, ProblemError> {
        if self.interactions.is_empty() {
            return solve(bytemuck::cast_slice_mut(impulse));
        }
        self.fill(impulse, triples);
        let report = solve(triples)?;
        self.transfer(triples, |own, begin| {
            impulse[begin..begin + own.len()].copy_from_slice(own);
        });
        Ok(report)
    }

    /// The stored form of a valid problem: assembles the block-sparse `W` and `q = G v_free + d`. Of interactions that are linked the first has the
    /// whole row, and the others have none.
    #[must_use]
    pub fn assemble(&self) -> StoredProblem {
        let of_contact = |c: &Contact| {
            let [a, b] = c.bodies.map(|j| &self.free_twist[j as usize]);
            c.local_velocity(a, b) + c.offset
        };
        let mut free_velocity: Vec<DVec3> = self.contacts.iter().map(of_contact).collect();
        let mut head = None;
        for other in self.interactions {
            let twists = other.bodies.map(|j| self.free_twist[j as usize]);
            let q = other.velocity(&twists);
            if let (true, Some(head)) = (other.linked, head) {
                free_velocity[head] += q[0];
                free_velocity.push(DVec3::ZERO);
                continue;
            }
            head = Some(free_velocity.len());
            free_velocity.extend_from_slice(&q[..other.triples()]);
        }
        StoredProblem {
            laws: self.laws(),
            delassus: Delassus::assemble(self),
            free_velocity,
            weak_scales: Vec::new(),
        }
    }
}
