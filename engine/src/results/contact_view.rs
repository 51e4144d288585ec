//! The contacts of the last step, for reading.

use crate::bodies::slot::Slot;
use crate::components::{BodyId, Wrench};
use crate::interactions::record::LastContacts;
use crate::math::rotation::contact_frame;
use bevy_ecs::prelude::*;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Status of a contact under the exact law.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactStatus {
    /// No impulse.
    Open,
    /// An impulse inside the cone: no tangential velocity.
    Stick,
    /// An impulse on the boundary of the cone: free to slide, and opposite to the sliding velocity.
    /// A pressed frictionless contact is always of this kind.
    Slip,
}

/// One contact of `I₁` as the step left it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactView {
    /// Bodies A and B, `A < B`.
    pub bodies: [BodyId; 2],
    /// Their entities.
    pub entities: [Entity; 2],
    /// Contact point at `t_k`, inertial frame, m.
    pub point: DVec3,
    /// `C = [n t₁ t₂]`, `n` from B to A, inertial frame.
    pub frame: DMat3,
    /// `g_N` at `t_k`, m.
    pub gap: f64,
    /// `u_{k+1}`, relative velocity of A, contact frame, m/s.
    pub local_velocity: DVec3,
    /// `r`, impulse on A over the step, contact frame, N·s.
    pub impulse: DVec3,
    /// `a`, the impulse of the adhesion of its bodies that this contact takes: `r_N ≥ −a`, `‖r_T‖ ≤ μ (r_N + a)`, N·s. Zero without cohesion.
    pub adhesion: f64,
    /// Couple on A over the step, contact frame, N·m·s: against spinning about `n`, against rolling about `t₁` and `t₂`. Zero without such resistance.
    pub couple: DVec3,
    /// `μ` of the pair; of friction that differs by direction that in the direction of `impulse`.
    pub friction: f64,
    /// Open, stick or slip.
    pub status: ContactStatus,
}

impl ContactView {
    /// Impulse of the step on one of its bodies, inertial frame, N·s; zero on any other.
    #[must_use]
    pub fn impulse_on(&self, body: BodyId) -> DVec3 {
        let impulse = self.frame * self.impulse;
        match self.bodies {
            [a, _] if a == body => impulse,
            [_, b] if b == body => -impulse,
            _ => DVec3::ZERO,
        }
    }
}

/// The contacts of the last step, ordered by the ids of their bodies. Bodies that sleep have none: what
/// holds them up is not solved for. The impulses of their last step awake are in [`WarmStart::asleep`](crate::WarmStart::asleep).
///
/// ```
/// use bevy_ecs::prelude::*;
/// use moreau::prelude::*;
/// fn heaviest(contacts: Res<Contacts>) -> f64 {
///     contacts.0.iter().fold(0.0, |most, contact| most.max(contact.impulse.x))
/// }
/// ```
#[derive(Resource, Clone, Debug, Default)]
pub struct Contacts(pub ContactViews);

/// A slice of [`ContactView`], made when it is first read: a step whose contacts are not read does not
/// write them. Copies share one record, which the steps after the next do not touch.
#[derive(Clone, Debug, Default)]
pub struct ContactViews {
    last: Option<Arc<LastContacts>>,
    views: OnceLock<Vec<ContactView>>,
    /// Empty buffers, for a record that others hold.
    spare: Option<Arc<LastContacts>>,
}

/// Relative distance to the boundary of the cone within which a contact counts as slipping: the
/// solver puts slipping impulses on the boundary to rounding.
const ON_BOUNDARY: f64 = 1e-12;

fn status(impulse: DVec3, friction: f64) -> ContactStatus {
    let tangential = moreau_solvers::cone::tangential_norm(impulse);
    let bound = friction * impulse.x;
    if impulse.x <= 0.0 {
        ContactStatus::Open
    } else if tangential >= bound * (1.0 - ON_BOUNDARY) {
        ContactStatus::Slip
    } else {
        ContactStatus::Stick
    }
}

impl ContactViews {
    /// Number of contacts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.last().map_or(0, |last| last.record.places().len())
    }

    /// True without contacts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The record behind the views, from the first step on.
    pub(crate) fn last(&self) -> Option<&LastContacts> {
        self.last.as_deref()
    }

    /// Forgets the views, and gives the record out to be written as a whole; others who have it keep it, and another one is written.
    pub(crate) fn renew(&mut self) -> &mut LastContacts {
        self.views = OnceLock::new();
        let last = self.last.get_or_insert_default();
        if Arc::get_mut(last).is_none() {
            let spare = self
                .spare
                .take()
                .filter(|spare| Arc::strong_count(spare) == 1);
            *last = spare.unwrap_or_default();
        }
        Arc::make_mut(last)
    }

    /// The record behind the views, to be held on to.
    pub(crate) fn lend(&self) -> Option<Arc<LastContacts>> {
        self.last.clone()
    }

    /// Takes the buffers of a record that nobody needs.
    pub(crate) fn reuse(&mut self, mut record: Arc<LastContacts>) {
        if let Some(own) = Arc::get_mut(&mut record) {
            own.clear();
            self.spare = Some(record);
        }
    }

    /// The same contacts, without their views.
    pub(crate) fn share(&self) -> Self {
        Self {
            last: self.last.clone(),
            views: OnceLock::new(),
            spare: None,
        }
    }

    /// Nothing is seen any more.
    pub(crate) fn release(&mut self) {
        self.last = None;
        self.views = OnceLock::new();
    }

    /// The contacts of a body.
    pub fn of(&self, body: BodyId) -> impl Iterator<Item = &ContactView> {
        self.iter()
            .filter(move |contact| contact.bodies.contains(&body))
    }

    /// The contacts of two bodies, in either order.
    pub fn between(&self, [a, b]: [BodyId; 2]) -> &[ContactView] {
        let pair = [a.min(b), a.max(b)];
        let begin = self.partition_point(|contact| contact.bodies < pair);
        let rows = &self[begin..];
        &rows[..rows.partition_point(|contact| contact.bodies == pair)]
    }

    /// What the contacts of the last step did to a body: their mean force (N) over the step, and its moment (N·m) about its centre of mass at `t_k`, both in
    /// the inertial frame. Of a body that sleeps nothing is known: zero.
    #[must_use]
    pub fn wrench_on(&self, body: BodyId) -> Wrench {
        let Some(last) = self.last() else {
            return Wrench::default();
        };
        let Ok(slot) = last.ids.binary_search(&body) else {
            return Wrench::default();
        };
        let (slot, record) = (Slot::new(slot), &last.record);
        let mut sum = Wrench::default();
        for (row, place) in record.places().iter().enumerate() {
            let Some(side) = place.bodies.iter().position(|own| *own == slot) else {
                continue;
            };
            let sign = if side == 0 { 1.0 } else { -1.0 };
            let impulse = contact_frame(place.normal) * record.true_impulse(row);
            let force = impulse * (sign / last.time_step);
            let arm = record.arms(row, last.centres())[side];
            let couple = record.couple(row, &contact_frame(place.normal));
            sum.force += force;
            sum.moment += arm.cross(force) + couple * (sign / last.time_step);
        }
        sum
    }

    fn view(index: usize, last: &LastContacts) -> ContactView {
        let LastContacts {
            record,
            ids,
            entities,
            ..
        } = last;
        let (place, impulse) = (&record.places()[index], record.impulse[index]);
        let [a, b] = place.bodies;
        let arms = record.arms(index, last.centres());
        let velocity = record.end[a].at(arms[0]) - record.end[b].at(arms[1]);
        let (frame, friction) = (contact_frame(place.normal), record.friction[index]);
        ContactView {
            bodies: [ids[a], ids[b]],
            entities: [entities[a], entities[b]],
            point: place.point,
            frame,
            gap: place.gap,
            local_velocity: frame.transpose() * velocity,
            impulse: record.true_impulse(index),
            adhesion: record.adhesion(index),
            couple: record.couples.get(index).copied().unwrap_or_default(),
            friction,
            status: status(impulse, friction),
        }
    }
}

impl Deref for ContactViews {
    type Target = [ContactView];

    fn deref(&self) -> &[ContactView] {
        self.views.get_or_init(|| {
            let last = self.last().into_iter();
            let each = |last| (0..self.len()).map(move |index| Self::view(index, last));
            last.flat_map(each).collect()
        })
    }
}

impl<'a> IntoIterator for &'a ContactViews {
    type Item = &'a ContactView;
    type IntoIter = std::slice::Iter<'a, ContactView>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
