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
use crate::detection::{Candidate, Centres};
use crate::index_set::{IndexSet, law};
use crate::motion::Motion;
use crate::rotation::contact_frame;
use crate::settings::Settings;
use crate::sleeping::{KeptContact, find_kept};
use bevy_ecs::prelude::*;
use glam::{DMat3, DVec3};
use moreau_solvers::{Contact, FactoredProblem};
use std::cmp::Ordering;

/// The friction-contact problem of the step and its solution.
#[derive(Resource, Debug, Default)]
pub(crate) struct ContactProblem {
    pub(crate) contacts: Vec<Contact>,
    /// Restitution acts in this step, by contact.
    pub(crate) impacts: Vec<bool>,
    pub(crate) record: ContactRecord,
}

/// What is kept of the contacts of a step until the next is finished: their rows can be made from it again.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactRecord {
    /// What detection found of each contact, at `t_k`.
    pub(crate) places: Vec<Candidate>,
    /// `μ`.
    pub(crate) friction: Vec<f64>,
    /// `r`, N·s, contact frames: warm start before the solve, solution after it.
    pub(crate) impulse: Vec<DVec3>,
    /// The solution in the inertial frame, in which contact frames may turn: for the next step.
    pub(crate) carried: Vec<DVec3>,
}

/// Fills buffers before they are written.
pub(crate) const NO_CONTACT: Contact = Contact {
    bodies: [0, 0],
    frame: DMat3::ZERO,
    arms: [DVec3::ZERO, DVec3::ZERO],
    offset: DVec3::ZERO,
    friction: 0.0,
};

/// What a contact is made from.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) bodies: &'a Bodies,
    pub(crate) motion: &'a Motion,
    pub(crate) settings: &'a Settings,
    /// Contacts that were in it start from their impulse then.
    pub(crate) last: Option<WarmStart<'a>>,
}

/// Rows of the problem.
type Rows<'a> = (&'a mut [Contact], Laws<'a>, &'a mut [DVec3]);
type Laws<'a> = (&'a mut [bool], &'a mut [f64]);

impl ContactProblem {
    /// Builds the contacts of `I₁`. Where that is all of `I₀` the candidates are taken over, in exchange for
    /// another buffer: nobody has to copy them.
    pub(crate) fn assemble(
        &mut self,
        index_set: &IndexSet,
        candidates: &mut Vec<Candidate>,
        parts: &Parts,
    ) {
        let count = index_set.len();
        let record = &mut self.record;
        if let Some(chosen) = index_set.chosen() {
            record.places.clear();
            let chosen = chosen.iter().map(|place| candidates[*place as usize]);
            record.places.extend(chosen);
        } else {
            std::mem::swap(&mut record.places, candidates);
        }
        self.contacts.resize(count, NO_CONTACT);
        self.impacts.resize(count, false);
        record.friction.resize(count, 0.0);
        record.impulse.resize(count, DVec3::ZERO);
        let laws = (&mut self.impacts[..], &mut record.friction[..]);
        let rows = (&mut self.contacts[..], laws, &mut record.impulse[..]);
        let work = |(places, rows): (&[_], Rows)| parts.rows(places, rows);
        chunks::for_each((&record.places[..], rows), &work);
    }

    /// Returns a buffer for the one that [`assemble`](Self::assemble) took.
    pub(crate) fn give_back(&mut self, candidates: &mut Vec<Candidate>) {
        std::mem::swap(&mut self.record.places, candidates);
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

impl Parts<'_> {
    fn rows(&self, places: &[Candidate], (contacts, (impacts, friction), impulse): Rows) {
        let Self {
            bodies,
            motion,
            settings,
            last,
        } = *self;
        let mut cursor = Cursor { next: None };
        let laws = impacts.iter_mut().zip(friction);
        let results = contacts.iter_mut().zip(laws).zip(impulse);
        for (candidate, ((contact, (impact, friction)), impulse)) in places.iter().zip(results) {
            let law = law(candidate, bodies, motion, settings);
            *contact = Contact {
                bodies: candidate.bodies,
                frame: contact_frame(candidate.normal),
                arms: candidate.arms(motion.centres()),
                offset: DVec3::new(law.shift, 0.0, 0.0),
                friction: law.friction,
            };
            (*impact, *friction) = (law.impact, law.friction);
            *impulse = last
                .and_then(|last| cursor.find(last, candidate, &contact.arms, &bodies.ids))
                .map_or(DVec3::ZERO, |last| contact.frame.transpose() * last);
        }
    }
}

/// The contacts of the last step, with the ids of its bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarmStart<'a> {
    pub(crate) record: &'a ContactRecord,
    pub(crate) centres: Centres<'a>,
    pub(crate) ids: &'a [BodyId],
    /// They are the bodies of this step in the same slots.
    pub(crate) same_slots: bool,
    /// Contacts from before bodies fell asleep that are awake again.
    pub(crate) kept: &'a [KeptContact],
}

impl WarmStart<'_> {
    /// The order of the bodies of `place`, a contact of the last step, and those of a pair of this one, which
    /// has these `ids`. Contacts are ordered by them.
    #[inline]
    fn order(&self, place: &Candidate, pair: [u32; 2], ids: &[BodyId]) -> Ordering {
        if self.same_slots {
            let one_number = |[a, b]: [u32; 2]| u64::from(a) << 32 | u64::from(b);
            return one_number(place.bodies).cmp(&one_number(pair));
        }
        let last = place.bodies.map(|slot| self.ids[slot as usize]);
        last.cmp(&pair.map(|slot| ids[slot as usize]))
    }

    /// The one of some contacts of a pair that is in the place of the contact with `arms`.
    fn nearest(&self, of_pair: impl Iterator<Item = usize>, arms: &[DVec3; 2]) -> Option<usize> {
        let away = |index: usize| {
            let last = self.record.places[index].arms(self.centres);
            arms[0].distance_squared(last[0]) + arms[1].distance_squared(last[1])
        };
        let found = of_pair
            .map(|index| (index, away(index)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let shorter = arms[0].length_squared().min(arms[1].length_squared());
        let near = SAME_PLACE * SAME_PLACE * shorter;
        found
            .filter(|(_, away)| *away <= near)
            .map(|(index, _)| index)
    }
}

/// Contacts of a pair are in the same place if they moved by less than this part of the shorter arm.
const SAME_PLACE: f64 = 0.1;

/// Place in the contacts of the last step. Contacts are matched by bodies and feature; both lists are
/// ordered by pair, so one pass suffices.
struct Cursor {
    /// The first contact that is not before the pair in question.
    next: Option<usize>,
}

impl Cursor {
    /// The impulse of a contact in the last step, inertial frame: of the one with its feature, else of the one
    /// in its place. `ids` are those of the bodies of this step.
    #[inline]
    fn find(
        &mut self,
        last: WarmStart,
        wanted: &Candidate,
        arms: &[DVec3; 2],
        ids: &[BodyId],
    ) -> Option<DVec3> {
        let places = &last.record.places[..];
        let order = |place: &Candidate| last.order(place, wanted.bodies, ids);
        let mut next = match self.next {
            Some(next) => next,
            None => places.partition_point(|place| order(place).is_lt()),
        };
        while places.get(next).is_some_and(|place| order(place).is_lt()) {
            next += 1;
        }
        self.next = Some(next);
        let of_pair = || (next..).zip(places[next..].iter().take_while(|p| order(p).is_eq()));
        let mut of_feature = of_pair().filter(|(_, p)| p.feature == wanted.feature);
        let found = of_feature.next().map(|(index, _)| index);
        match found.or_else(|| last.nearest(of_pair().map(|(index, _)| index), arms)) {
            Some(index) => last.record.carried.get(index).copied(),
            None if last.kept.is_empty() => None,
            None => {
                let key = wanted.bodies.map(|slot| ids[slot as usize]);
                find_kept(last.kept, key, wanted.feature)
            }
        }
    }
}
