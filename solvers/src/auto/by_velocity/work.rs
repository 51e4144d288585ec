//! Impulses of an island that was stopped do no work.

use super::ByVelocity;
use crate::articulation::is_equality;
use crate::law::list::{rows_of, rows_of_mut};
use crate::problem::{Contact, FactoredProblem, Interaction, MAX_ROWS, WorldTwist};
use glam::DVec3;

/// `u` of a contact with its offset.
fn velocity(contact: &Contact, twist: &[WorldTwist]) -> DVec3 {
    let [a, b] = contact.bodies.map(|j| &twist[j as usize]);
    contact.local_velocity(a, b) + contact.offset
}

/// Any part of its impulse is allowed by its law, and nothing drives it: contacts, limits, friction of joints. Motors and springs have targets in their offsets.
fn yields(other: &Interaction) -> bool {
    let rows = other.law.rows().min(MAX_ROWS);
    let none = [0.0; MAX_ROWS];
    !is_equality(&other.law)
        && other.law.violation(&none[..rows]) == 0.0
        && (other.law.is_unilateral() || other.offset[..rows] == none[..rows])
}

impl ByVelocity {
    /// The impulses of an island do work, `Σ r·(q + u) > 0`, if it is one of contacts alone; others [`Self::lower`] is to ask.
    pub(super) fn may_be_excessive(
        &self,
        problem: &FactoredProblem,
        island: usize,
        (impulse, twist): (&[DVec3], &[WorldTwist]),
    ) -> bool {
        let work = |member: &u32| -> Option<f64> {
            let contact = problem.contacts.get(*member as usize)?;
            let sum = velocity(contact, problem.free_twist) + velocity(contact, twist);
            Some(impulse[*member as usize].dot(sum))
        };
        let members = self.islands.members(island).iter();
        members
            .map(work)
            .sum::<Option<f64>>()
            .is_none_or(|work| work > 0.0)
    }

    /// Takes the impulses of the island that was taken out back to where they do no work: [`take_back`].
    pub(super) fn lower(&mut self) -> bool {
        let Self {
            extract,
            twist,
            around,
            free,
            ..
        } = self;
        let mut impulse = std::mem::take(&mut extract.impulse);
        let view = extract.view();
        let took = !view
            .interactions
            .iter()
            .any(|other| is_equality(&other.law))
            && {
                view.twist_under_triples(&impulse, twist);
                around.clone_from(&impulse);
                keep_driven(&view, around);
                view.twist_under_triples(around, free);
                take_back(&view, &mut impulse, (free, twist))
            };
        extract.impulse = impulse;
        took
    }
}

/// Leaves the impulses of what does not yield, which [`take_back`] counts as given.
pub(crate) fn keep_driven(problem: &FactoredProblem, impulse: &mut [DVec3]) {
    impulse[..problem.contacts.len()].fill(DVec3::ZERO);
    for (range, other) in problem.others() {
        if yields(other) {
            impulse[range].fill(DVec3::ZERO);
        }
    }
}

/// Takes impulses that do work back to the least energy along them, given the twists without and with those of what yields. At a solution `r·w ≤ 0`, since `0 ∈ C`, so that
/// `r·q ≤ −rᵀWr`; sweeps that were stopped may be far beyond, `r·q + ½ rᵀWr > 0`, and throw bodies about. Along `r` the energy is
/// least at `−r·q/rᵀWr` of it, and sets that contain 0 are kept. True if they did work.
pub(crate) fn take_back(
    problem: &FactoredProblem,
    impulse: &mut [DVec3],
    (without, with): (&[WorldTwist], &[WorldTwist]),
) -> bool {
    let (mut free, mut square) = (0.0, 0.0);
    for (contact, r) in problem.contacts.iter().zip(&*impulse) {
        let q = velocity(contact, without);
        free += r.dot(q);
        square += r.dot(velocity(contact, with) - q);
    }
    let yielding = || problem.others().filter(|(_, other)| yields(other));
    for (range, other) in yielding() {
        let velocity =
            |twist: &[WorldTwist]| other.velocity(&other.bodies.map(|j| twist[j as usize]));
        let (q, w) = (velocity(without), velocity(with));
        for ((r, q), w) in rows_of(&impulse[range])
            .iter()
            .zip(rows_of(&q))
            .zip(rows_of(&w))
        {
            free += r * q;
            square += r * (w - q);
        }
    }
    let excessive = free + 0.5 * square > 0.0 && square > 0.0;
    if excessive {
        let part = (-free / square).max(0.0);
        let contacts = problem.contacts.len();
        impulse[..contacts].iter_mut().for_each(|r| *r *= part);
        for (range, _) in yielding() {
            rows_of_mut(&mut impulse[range])
                .iter_mut()
                .for_each(|r| *r *= part);
        }
    }
    excessive
}
