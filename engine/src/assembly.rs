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
use crate::bodies::Bodies;
use crate::chunks;
use crate::detection::Candidate;
use crate::index_set::Interaction;
use crate::motion::Motion;
use crate::rotation::contact_frame;
use crate::sleeping::{KeptContact, find_kept};
use bevy_ecs::prelude::*;
use glam::{DMat3, DVec3};
use moreau_solvers::{Contact, FactoredProblem};

/// What is kept of a contact beside its row of the problem.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ContactPlace {
    /// Contact point at `t_k`, inertial frame, m.
    pub(crate) point: DVec3,
    /// `g_N` at `t_k`, m.
    pub(crate) gap: f64,
    /// Names the point among those of its pair, from step to step.
    pub(crate) feature: u64,
    pub(crate) bodies: [u32; 2],
}

/// The friction-contact problem of the step and its solution.
#[derive(Resource, Clone, Debug, Default)]
pub(crate) struct ContactProblem {
    pub(crate) contacts: Vec<Contact>,
    pub(crate) places: Vec<ContactPlace>,
    /// `r`, N·s, contact frames: warm start before the solve, solution after it.
    pub(crate) impulse: Vec<DVec3>,
    /// The solution in the inertial frame, in which contact frames may turn: for the next step.
    pub(crate) carried: Vec<DVec3>,
}

/// Fills buffers before they are written.
const NO_CONTACT: Contact = Contact {
    bodies: [0, 0],
    frame: DMat3::ZERO,
    arms: [DVec3::ZERO, DVec3::ZERO],
    offset: DVec3::ZERO,
    friction: 0.0,
};

impl ContactProblem {
    /// Builds the contacts of `I₁`. Those that were in `last` start from their impulse then.
    pub(crate) fn assemble(
        &mut self,
        active: &[Interaction],
        candidates: &[Candidate],
        bodies: &Bodies,
        last: Option<WarmStart>,
    ) {
        self.contacts.resize(active.len(), NO_CONTACT);
        self.places.resize(active.len(), ContactPlace::default());
        self.impulse.resize(active.len(), DVec3::ZERO);
        let rows = (
            active,
            &mut self.contacts[..],
            &mut self.places[..],
            &mut self.impulse[..],
        );
        chunks::for_each(rows, &|(active, contacts, places, impulse)| {
            let mut cursor = Cursor { next: None };
            let results = contacts.iter_mut().zip(places).zip(impulse);
            for (interaction, ((contact, place), impulse)) in active.iter().zip(results) {
                let candidate = &candidates[interaction.candidate as usize];
                *contact = Contact {
                    bodies: candidate.bodies,
                    frame: contact_frame(candidate.normal),
                    arms: candidate
                        .bodies
                        .map(|slot| candidate.point - bodies.pose[slot as usize].position),
                    offset: DVec3::new(interaction.shift, 0.0, 0.0),
                    friction: interaction.friction,
                };
                *place = ContactPlace {
                    point: candidate.point,
                    gap: candidate.gap,
                    feature: candidate.feature,
                    bodies: candidate.bodies,
                };
                *impulse = last
                    .and_then(|last| {
                        let key = candidate.bodies.map(|slot| bodies.ids[slot as usize]);
                        let feature = candidate.feature;
                        let found = cursor.find(last, key, feature);
                        found.or_else(|| find_kept(last.kept, key, feature))
                    })
                    .map_or(DVec3::ZERO, |last| contact.frame.transpose() * last);
            }
        });
    }

    /// The problem over the bodies of `motion`.
    pub(crate) fn factored<'a>(&'a self, motion: &'a Motion) -> FactoredProblem<'a> {
        FactoredProblem {
            inverse_mass: &motion.inverse_mass,
            free_twist: &motion.free,
            contacts: &self.contacts,
            positions: &motion.position,
        }
    }
}

/// The solved problem of the last step, with the ids of its bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarmStart<'a> {
    pub(crate) problem: &'a ContactProblem,
    pub(crate) ids: &'a [BodyId],
    /// Contacts from before bodies fell asleep that are awake again.
    pub(crate) kept: &'a [KeptContact],
}

impl WarmStart<'_> {
    /// The bodies of a contact. Contacts are ordered by them.
    fn key(&self, place: &ContactPlace) -> [BodyId; 2] {
        place.bodies.map(|slot| self.ids[slot as usize])
    }
}

/// Place in the contacts of the last step. Contacts are matched by bodies and feature; both lists are
/// ordered by pair, so one pass suffices.
struct Cursor {
    /// The first contact that is not before the pair in question.
    next: Option<usize>,
}

impl Cursor {
    /// The impulse of a contact in the last step, inertial frame.
    fn find(&mut self, last: WarmStart, key: [BodyId; 2], feature: u64) -> Option<DVec3> {
        let places = &last.problem.places;
        let mut next = match self.next {
            Some(next) => next,
            None => places.partition_point(|place| last.key(place) < key),
        };
        while places.get(next).is_some_and(|place| last.key(place) < key) {
            next += 1;
        }
        self.next = Some(next);
        let of_pair = places[next..].iter().take_while(|p| last.key(p) == key);
        let (index, _) = (next..).zip(of_pair).find(|(_, p)| p.feature == feature)?;
        last.problem.carried.get(index).copied()
    }
}
