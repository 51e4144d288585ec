//! Index set `I₁`, contact frames, kinematic blocks and laws as a friction-contact problem, with the
//! impulses of the last step as its starting point.
//!
//! ```text
//! C = [n t₁ t₂],   G_A = Cᵀ[I, −[ρ_A]×],   G_B = −Cᵀ[I, −[ρ_B]×],   d = (s, 0, 0) − (0, w·t₁, w·t₂)
//! ```
//!
//! with the normal term `s` of the scheme and the velocity `w` at which the surfaces of the contact run. The problem stays in
//! factored form, `W = G Ŵ Gᵀ` with twists in the inertial frame; the stored form is one call away
//! ([`FactoredProblem::assemble`]).

use super::adhesion;
use super::impacts::Impacts;
use super::other_laws::OtherLaw;
use super::solved::normal_velocity;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::RigidBody;
use crate::interactions::detected::Detected;
use crate::interactions::edit::Edits;
use crate::interactions::graph::Graph;
use crate::interactions::law::{Coefficients, InteractionLaw, coefficients, of_materials};
use crate::interactions::record::{ContactRecord, GivenArms, own_arms};
use crate::interactions::warm_start::{Cursor, Source};
use crate::joints::JointRows;
use crate::math::chunks;
use crate::math::rotation::contact_frame;
use crate::motion::Motion;
use crate::motion::scheme::{Approach, NormalLaw, Scheme};
use crate::settings::Settings;
use glam::{DMat3, DVec3};
use moreau_solvers::{Contact, FactoredProblem, WorldTwist};
use std::ops::Range;

/// The friction-contact problem of the step.
#[derive(Debug, Default)]
pub(crate) struct ContactProblem {
    pub(crate) contacts: Vec<Contact>,
    /// Restitution acts in this step, by contact.
    pub(crate) impacts: Vec<bool>,
    /// Places of `I₁` in `I₀` where it is a part of it.
    chosen: Vec<u32>,
    /// Free twists with adhesion, by slot; empty without.
    pub(crate) pulled: Vec<WorldTwist>,
    /// Contacts of other laws than Coulomb's, by row, …
    pub(super) others: Vec<OtherLaw>,
    /// … and if there are some the rows of the others.
    pub(super) plain: Vec<u32>,
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
pub(crate) struct Parts<'a, S> {
    pub(crate) bodies: &'a Bodies,
    pub(crate) motion: &'a Motion,
    pub(crate) scheme: &'a S,
    pub(crate) edits: &'a Edits,
    pub(crate) settings: &'a Settings,
    /// The stages of the step.
    pub(crate) impacts: &'a Impacts,
    /// Some kinematic body turns.
    pub(crate) turntables: bool,
    /// Contacts that were in it start from their impulse then.
    pub(crate) last: Option<Source<'a>>,
}

/// Rows of the problem.
type Rows<'a> = (&'a mut [Contact], Laws<'a>, &'a mut [DVec3]);
type Laws<'a> = (&'a mut [bool], &'a mut [f64]);

impl ContactProblem {
    /// Chooses `I₁` from what was found, in its order.
    pub(crate) fn activate<S: Scheme>(&mut self, record: &mut ContactRecord, parts: &Parts<S>) {
        let centres = parts.motion.centres();
        record.given.clear();
        record
            .given
            .extend(parts.edits.added(&record.found, centres));
        if !parts.scheme.selects(parts.settings) {
            record.chosen = None;
            return;
        }
        let found = &record.found;
        self.chosen.clear();
        self.chosen
            .extend((0..).zip(found).filter_map(|(index, contact)| {
                let (law, ..) = parts.law(contact, index as usize, None);
                law.imposed.then_some(index)
            }));
        let chosen = record.chosen.get_or_insert_default();
        chosen.clear();
        chosen.extend(self.chosen.iter().map(|index| found[*index as usize]));
        let row = |index: &u32| self.chosen.binary_search(index).ok();
        let imposed = record.given.iter().filter_map(|given| {
            let row = row(&given.row)? as u32;
            Some(GivenArms { row, ..*given })
        });
        record.given = imposed.collect();
    }

    /// Builds the contacts of `I₁`.
    pub(crate) fn assemble<S: Scheme>(&mut self, record: &mut ContactRecord, parts: &Parts<S>) {
        let count = record.places().len();
        self.contacts.resize(count, NO_CONTACT);
        self.impacts.resize(count, false);
        record.friction.resize(count, 0.0);
        record.impulse.resize(count, DVec3::ZERO);
        let chosen = record.chosen.is_some().then_some(&self.chosen[..]);
        let given = &record.given[..];
        let places = record.chosen.as_deref().unwrap_or(&record.found);
        let laws = (&mut self.impacts[..], &mut record.friction[..]);
        let rows = (&mut self.contacts[..], laws, &mut record.impulse[..]);
        let work = |(places, indices, rows): (&[_], Range<u32>, Rows)| {
            parts.rows(places, indices, (chosen, given), rows);
        };
        chunks::for_each((places, 0..count as u32, rows), &work);
        adhesion::find(record, chosen, parts);
        self.find_other_laws(record, parts);
    }

    /// Places of its rows in `I₀` where they are a part of it.
    pub(super) fn chosen_rows(&self, record: &ContactRecord) -> Option<&[u32]> {
        record.chosen.is_some().then_some(&self.chosen[..])
    }

    /// Contacts, limits and ropes that open while bodies of their island strike get the largest `e` of these impacts: with a smaller one
    /// energy could be gained where materials differ [docs/theory.md §5].
    pub(crate) fn open_by_impacts<S: Scheme>(
        &mut self,
        record: &ContactRecord,
        joints: &mut JointRows,
        graph: &mut Graph,
        parts: &Parts<S>,
    ) {
        let strikes = self.impacts.contains(&true) || joints.impacts().next().is_some();
        if record.chosen.is_some() || !strikes {
            return;
        }
        graph.tie(&record.found, parts.bodies);
        // By the island of a body.
        let mut island = |slot: Slot| graph.has(slot).then(|| graph.island(slot));
        let mut largest = vec![0.0_f64; parts.bodies.len()];
        let rows = || record.found.iter().enumerate();
        let of_contacts = rows()
            .filter(|(row, _)| self.impacts[*row])
            .flat_map(|(row, place)| {
                let e = parts.coefficients(place, row).restitution;
                place.bodies.map(|slot| (slot, e))
            });
        for (slot, e) in of_contacts.chain(joints.impacts()) {
            if let Some(island) = island(slot) {
                largest[island] = largest[island].max(e);
            }
        }
        let mut largest = |slot: Slot| island(slot).map_or(0.0, |island| largest[island]);
        let begin = parts.impacts.begin_of_stage();
        let begin = begin.unwrap_or(&parts.motion.begin);
        for (row, place) in rows() {
            let [a, b] = place.bodies.map(&mut largest);
            let law = parts.coefficients(place, row);
            let (e, own) = (a.max(b), law.restitution);
            let contact = &mut self.contacts[row];
            let twists = place.bodies.map(|slot| begin[slot]);
            if e <= own || normal_velocity(contact, &twists) <= 0.0 {
                continue;
            }
            let arms = contact.arms;
            let threshold = law.bounce_threshold;
            let [own, law] =
                [own, e].map(|e| parts.normal_law(place, row, (e, threshold), || arms));
            contact.offset.x += law.shift - own.shift;
            self.impacts[row] = law.impact;
        }
        joints.open_by_impacts(begin, largest);
    }

    /// The problem over the bodies of `motion`, of a stage that begins with `free`.
    pub(crate) fn factored<'a>(
        &'a self,
        motion: &'a Motion,
        free: &'a [WorldTwist],
    ) -> FactoredProblem<'a> {
        FactoredProblem {
            inverse_mass: &motion.inverse_mass,
            free_twist: free,
            contacts: &self.contacts,
            interactions: &[],
            positions: &motion.position,
            pull: &[],
        }
    }
}

impl<S: Scheme> Parts<'_, S> {
    fn rows(
        &self,
        places: &[Detected],
        indices: Range<u32>,
        (chosen, given): (Option<&[u32]>, &[GivenArms]),
        (contacts, (impacts, friction), impulse): Rows,
    ) {
        let mut cursor = Cursor::default();
        let laws = impacts.iter_mut().zip(friction);
        let results = contacts.iter_mut().zip(laws).zip(impulse);
        for ((place, row), results) in places.iter().zip(indices).zip(results) {
            let ((contact, (impact, friction)), impulse) = results;
            let row = row as usize;
            let index = chosen.map_or(row, |chosen| chosen[row] as usize);
            let own = own_arms(row, given);
            let arms = own.map(|own| own.arms);
            let (law, mu, surface) = self.law(place, index, arms);
            let arms = arms.unwrap_or_else(|| place.acting_arms(self.motion.centres()));
            let frame = contact_frame(place.normal);
            let mut offset = match surface {
                None => DVec3::new(law.shift, 0.0, 0.0),
                Some(w) => DVec3::new(law.shift, -w.dot(frame.y_axis), -w.dot(frame.z_axis)),
            };
            if self.turntables && !own.is_some_and(|own| own.meets) {
                let [a, b] = place.bodies;
                let between = arms[0] - arms[1];
                offset += frame.transpose() * (self.bend(a, between) - self.bend(b, -between));
            }
            *contact = Contact {
                bodies: place.bodies.map(|slot| slot.0),
                frame,
                arms,
                offset,
                friction: mu,
            };
            (*impact, *friction) = (law.impact, mu);
            *impulse = self
                .last
                .as_ref()
                .and_then(|last| cursor.find(last, place, &contact.arms))
                .map_or(DVec3::ZERO, |last| contact.frame.transpose() * last);
        }
    }

    /// What a kinematic body adds to its velocity `ω × d` where it carries a body whose centre is at `d` from its own: the way of
    /// that point through the step is the chord `Q d − d` of its rotation `Q`, and not the tangent. What is carried stays on its
    /// circle.
    fn bend(&self, slot: Slot, d: DVec3) -> DVec3 {
        if self.bodies.constants[slot].kind != RigidBody::Kinematic {
            return DVec3::ZERO;
        }
        let before = self.bodies.pose[slot].orientation;
        let turned = self.motion.drift[slot].orientation * (before.conjugate() * d);
        (turned - d) / self.settings.time_step - self.motion.free[slot].angular.cross(d)
    }

    /// The normal law of a contact at its place in `I₀`, its `μ`, and the velocity at which its surfaces run, if they do.
    #[inline]
    fn law(
        &self,
        contact: &Detected,
        index: usize,
        arms: Option<[DVec3; 2]>,
    ) -> (NormalLaw, f64, Option<DVec3>) {
        let surface = self.edits.law(index).map(|law| law.surface_velocity);
        let law = self.coefficients(contact, index);
        let arms = || arms.unwrap_or_else(|| contact.arms_to_point(self.motion.centres()));
        let bounce = (law.restitution, law.bounce_threshold);
        let normal = self.normal_law(contact, index, bounce, arms);
        (normal, law.friction, surface)
    }

    #[inline]
    fn coefficients(&self, contact: &Detected, index: usize) -> Coefficients {
        match self.edits.law(index) {
            Some(law) => law.into(),
            None => coefficients(contact, self.bodies, self.settings),
        }
    }

    /// The whole law of a contact at its place in `I₀`.
    pub(super) fn material(&self, contact: &Detected, index: usize) -> InteractionLaw {
        match self.edits.law(index) {
            Some(law) => *law,
            None => of_materials(contact, self.bodies, self.settings),
        }
    }

    /// The normal law with this `e`, and with this bounce threshold if there is one.
    #[inline]
    fn normal_law(
        &self,
        contact: &Detected,
        index: usize,
        (e, threshold): (f64, Option<f64>),
        arms: impl Fn() -> [DVec3; 2],
    ) -> NormalLaw {
        let own;
        let settings = if threshold.is_none() {
            self.settings
        } else {
            own = Settings {
                restitution_threshold: threshold,
                ..*self.settings
            };
            &own
        };
        let normal = |twists: &[WorldTwist]| {
            let ([a, b], [arm_a, arm_b]) = (contact.bodies, arms());
            contact
                .normal
                .dot(twists[a].at(arm_a) - twists[b].at(arm_b))
        };
        let e = if self.impacts.stops(index) { 0.0 } else { e };
        match self.impacts.begin_of_stage() {
            None => {
                let approach = || Approach {
                    begin: normal(&self.motion.begin),
                    free: normal(&self.motion.free),
                };
                let begin = || normal(&self.motion.begin);
                let gap = self.impacts.gap_at_first(contact, begin, settings);
                self.scheme.normal_law(gap, e, approach, settings)
            }
            Some(stage) => {
                let (pair, arms) = (contact.bodies, arms());
                let of_row = (self.impacts.gap(contact, &arms), e, normal(stage));
                let driven = |held| self.motion.driven(pair, contact.normal, &arms, held);
                self.impacts
                    .law((index, pair), of_row, driven, self.scheme, settings)
            }
        }
    }
}
