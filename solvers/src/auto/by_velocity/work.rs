//! Impulses of an island that was stopped do no work.

use super::ByVelocity;
use crate::problem::{Contact, FactoredProblem, WorldTwist};
use glam::DVec3;

/// `u` of a contact with its offset.
fn velocity(contact: &Contact, twist: &[WorldTwist]) -> DVec3 {
    let [a, b] = contact.bodies.map(|j| &twist[j as usize]);
    contact.local_velocity(a, b) + contact.offset
}

impl ByVelocity {
    /// The impulses of an island of contacts alone do work, `Σ r·(q + u) > 0`: see [`Self::lower`].
    pub(super) fn is_excessive(
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
            .is_some_and(|work| work > 0.0)
    }

    /// Takes the impulses of the island that was taken out back to where they do no work. At a solution `r·u ≤ 0`, so that
    /// `r·q ≤ −rᵀWr`; sweeps that were stopped may be far beyond, `r·q + ½ rᵀWr > 0`, and throw bodies about. Along `r` the energy is
    /// least at `−r·q/rᵀWr` of it, and cones are kept. True if there was something to take back.
    pub(super) fn lower(&mut self) -> bool {
        let Self { extract, twist, .. } = self;
        let mut impulse = std::mem::take(&mut extract.impulse);
        let view = extract.view();
        let is_plain = view.interactions.is_empty();
        let took = is_plain && {
            view.twist_under_triples(&impulse, twist);
            take_back(view.contacts, &mut impulse, (view.free_twist, twist))
        };
        extract.impulse = impulse;
        took
    }
}

/// Takes impulses that do work back to the least energy along them, given the twists without and with them. True if they did work.
pub(crate) fn take_back(
    contacts: &[Contact],
    impulse: &mut [DVec3],
    (without, with): (&[WorldTwist], &[WorldTwist]),
) -> bool {
    let (mut free, mut square) = (0.0, 0.0);
    for (contact, r) in contacts.iter().zip(&*impulse) {
        let q = velocity(contact, without);
        free += r.dot(q);
        square += r.dot(velocity(contact, with) - q);
    }
    let excessive = free + 0.5 * square > 0.0 && square > 0.0;
    if excessive {
        let part = (-free / square).max(0.0);
        let own = impulse.iter_mut().take(contacts.len());
        own.for_each(|r| *r *= part);
    }
    excessive
}
