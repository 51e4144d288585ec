//! Phase 4: contact frames, kinematic blocks and laws as a friction-contact problem, with the
//! impulses of the last step as its starting point.
//!
//! ```text
//! C = [n t₁ t₂],   G_A = Cᵀ[I, −[ρ_A]×],   G_B = −Cᵀ[I, −[ρ_B]×],   d = (s, 0, 0)
//! ```
//!
//! The problem stays in factored form, `W = G Ŵ Gᵀ` with twists in the inertial frame; the stored
//! form is one call away ([`FactoredProblem::assemble`]).

use crate::BodyId;
use crate::index_set::Interaction;
use crate::motion::Motion;
use crate::rotation::contact_frame;
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_solvers::{Contact, FactoredProblem};

/// The friction-contact problem of the step and its solution.
#[derive(Resource, Debug, Default)]
pub(crate) struct ContactProblem {
    pub(crate) contacts: Vec<Contact>,
    /// `r`, N·s, contact frames: warm start before the solve, solution after it.
    pub(crate) impulse: Vec<DVec3>,
}

impl ContactProblem {
    /// Builds the contacts of `I₁`.
    pub(crate) fn assemble(&mut self, active: &[Interaction]) {
        self.contacts.clear();
        self.contacts
            .extend(active.iter().map(|interaction| Contact {
                bodies: interaction.candidate.bodies,
                frame: contact_frame(interaction.candidate.normal),
                arms: interaction.arms,
                offset: DVec3::new(interaction.shift, 0.0, 0.0),
                friction: interaction.friction,
            }));
        self.impulse.clear();
        self.impulse.resize(self.contacts.len(), DVec3::ZERO);
    }

    /// The problem over the bodies of `motion`.
    pub(crate) fn factored<'a>(&'a self, motion: &'a Motion) -> FactoredProblem<'a> {
        FactoredProblem {
            inverse_mass: &motion.inverse_mass,
            free_twist: &motion.free,
            contacts: &self.contacts,
            positions: &[],
        }
    }
}

/// An impulse of the last step, in the inertial frame so that frames may turn.
#[derive(Clone, Copy, Debug)]
struct StoredImpulse {
    bodies: [BodyId; 2],
    feature: u64,
    impulse: DVec3,
}

/// Impulses of the last step, ordered by pair: the warm start of the next one.
#[derive(Resource, Debug, Default)]
pub(crate) struct WarmStart {
    stored: Vec<StoredImpulse>,
}

impl WarmStart {
    /// Starts every contact that existed in the last step from its impulse. Contacts are matched
    /// by bodies and feature; both lists are ordered by pair, so one pass suffices.
    pub(crate) fn apply(
        &self,
        active: &[Interaction],
        ids: &[BodyId],
        problem: &mut ContactProblem,
    ) {
        let mut begin = 0;
        for (index, interaction) in active.iter().enumerate() {
            let key = interaction.candidate.bodies.map(|slot| ids[slot as usize]);
            while begin < self.stored.len() && self.stored[begin].bodies < key {
                begin += 1;
            }
            let of_pair = self.stored[begin..].iter().take_while(|s| s.bodies == key);
            let same = of_pair
                .into_iter()
                .find(|s| s.feature == interaction.candidate.feature);
            if let Some(stored) = same {
                problem.impulse[index] = problem.contacts[index].frame.transpose() * stored.impulse;
            }
        }
    }

    /// Keeps the impulses of this step.
    pub(crate) fn store(
        &mut self,
        active: &[Interaction],
        ids: &[BodyId],
        problem: &ContactProblem,
    ) {
        self.stored.clear();
        for ((interaction, contact), r) in
            active.iter().zip(&problem.contacts).zip(&problem.impulse)
        {
            self.stored.push(StoredImpulse {
                bodies: interaction.candidate.bodies.map(|slot| ids[slot as usize]),
                feature: interaction.candidate.feature,
                impulse: contact.frame * *r,
            });
        }
    }
}
