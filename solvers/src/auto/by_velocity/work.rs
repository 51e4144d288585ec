//! Impulses of an island that was stopped do no work.

use super::ByVelocity;
use crate::articulation::is_equality;
use crate::law::list::rows_of;
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

/// `Σ r·(q + u)` over all interactions, twice the work of their impulses: never positive at a solution where nothing is driven.
pub(crate) fn gain(problem: &FactoredProblem, impulse: &[DVec3], twist: &[WorldTwist]) -> f64 {
    let contacts = problem.contacts.iter().zip(impulse);
    let of_contacts = contacts.map(|(contact, r)| {
        let sum = velocity(contact, problem.free_twist) + velocity(contact, twist);
        r.dot(sum)
    });
    let of_others = problem.others().map(|(range, other)| {
        let velocity =
            |twist: &[WorldTwist]| other.velocity(&other.bodies.map(|j| twist[j as usize]));
        let (q, u) = (velocity(problem.free_twist), velocity(twist));
        let rows = rows_of(&impulse[range]).iter();
        rows.zip(rows_of(&q).iter().zip(rows_of(&u)))
            .map(|(r, (q, u))| r * (q + u))
            .sum::<f64>()
    });
    of_contacts.sum::<f64>() + of_others.sum::<f64>()
}

impl ByVelocity {
    /// The impulses of an island do work, `Σ r·(q + u) > 0`, if it is one of contacts alone that only push; others [`Self::lower`] is to ask.
    pub(super) fn may_be_excessive(
        &self,
        problem: &FactoredProblem,
        island: usize,
        (impulse, twist): (&[DVec3], &[WorldTwist]),
    ) -> bool {
        if !problem.pull.is_empty() {
            return true;
        }
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

/// Leaves the impulses of what does not yield, which [`take_back`] counts as given, and those that are in the free motion with the other sign: adhesion.
pub(crate) fn keep_driven(problem: &FactoredProblem, impulse: &mut [DVec3]) {
    let contacts = problem.contacts.len();
    for (index, r) in impulse[..contacts].iter_mut().enumerate() {
        *r = DVec3::X * problem.pull_at(index);
    }
    for (index, (range, other)) in (contacts..).zip(problem.others()) {
        if yields(other) {
            let own = &mut impulse[range];
            own.fill(DVec3::ZERO);
            if let Some(first) = own.first_mut() {
                first.x = problem.pull_at(index);
            }
        }
    }
}

/// Takes impulses that do work back to the least energy along them, given the twists without and with those of what yields; of those that hold as well as push it counts `r`
/// without the adhesion. At a solution `r·w ≤ 0`, since `0 ∈ C`, so that
/// `r·q ≤ −rᵀWr`; sweeps that were stopped may be far beyond, `r·q + ½ rᵀWr > 0`, and throw bodies about. Along `r` the energy is
/// least at `−r·q/rᵀWr` of it, and sets that contain 0 are kept. True if they did work.
pub(crate) fn take_back(
    problem: &FactoredProblem,
    impulse: &mut [DVec3],
    (without, with): (&[WorldTwist], &[WorldTwist]),
) -> bool {
    let (mut free, mut square) = (0.0, 0.0);
    let contacts = problem.contacts.len();
    for (index, contact) in problem.contacts.iter().enumerate() {
        let r = impulse[index] - DVec3::X * problem.pull_at(index);
        let q = velocity(contact, without);
        free += r.dot(q);
        square += r.dot(velocity(contact, with) - q);
    }
    let yielding = || {
        let others = (contacts..).zip(problem.others());
        others.filter(|(_, (_, other))| yields(other))
    };
    for (index, (range, other)) in yielding() {
        let velocity =
            |twist: &[WorldTwist]| other.velocity(&other.bodies.map(|j| twist[j as usize]));
        let (q, w) = (velocity(without), velocity(with));
        let mut pull = problem.pull_at(index);
        for ((r, q), w) in rows_of(&impulse[range])
            .iter()
            .zip(rows_of(&q))
            .zip(rows_of(&w))
        {
            let r = r - std::mem::take(&mut pull);
            free += r * q;
            square += r * (w - q);
        }
    }
    let excessive = free + 0.5 * square > 0.0 && square > 0.0;
    if excessive {
        let part = (-free / square).max(0.0);
        let lower = |rows: &mut [DVec3], pull: f64| {
            let mut pull = DVec3::X * pull;
            for r in rows {
                *r = pull + part * (*r - pull);
                pull = DVec3::ZERO;
            }
        };
        for index in 0..contacts {
            lower(&mut impulse[index..=index], problem.pull_at(index));
        }
        for (index, (range, _)) in yielding() {
            lower(&mut impulse[range], problem.pull_at(index));
        }
    }
    excessive
}
