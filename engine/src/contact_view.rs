//! The contacts of the last step, for reading.

use crate::BodyId;
use crate::assembly::{ContactRecord, WarmStart};
use crate::bodies::Bodies;
use crate::detection::Centres;
use crate::motion::Motion;
use crate::rotation::contact_frame;
use crate::sleeping::KeptContact;
use bevy_ecs::prelude::*;
use glam::{DMat3, DVec3};
use moreau_solvers::WorldTwist;
use serde::{Deserialize, Serialize};
use std::ops::Deref;
use std::sync::OnceLock;

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
    /// `μ` of the pair.
    pub friction: f64,
    /// Open, stick or slip.
    pub status: ContactStatus,
}

/// The contacts of the last step, ordered by the ids of their bodies. Bodies that sleep have none: what
/// holds them up is not solved for.
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

/// A slice of [`ContactView`], made when it is first read: a step whose contacts nobody looks at does not
/// write them.
#[derive(Clone, Debug, Default)]
pub struct ContactViews {
    record: ContactRecord,
    /// `v_{k+1}`, inertial frame.
    end: Vec<WorldTwist>,
    /// Centres of mass at `t_k`, m.
    position: Vec<DVec3>,
    /// Radii of balls, m.
    balls: Vec<f64>,
    ids: Vec<BodyId>,
    entities: Vec<Entity>,
    /// Of the bodies, when ids and entities were taken.
    epoch: u64,
    views: OnceLock<Vec<ContactView>>,
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
        self.record.places.len()
    }

    /// True without contacts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes over the contacts of a finished step, in exchange for the buffers of the one before.
    pub(crate) fn keep(
        &mut self,
        record: &mut ContactRecord,
        motion: &mut Motion,
        bodies: &Bodies,
    ) {
        std::mem::swap(&mut self.record, record);
        std::mem::swap(&mut self.end, &mut motion.end);
        if self.epoch == bodies.epoch && self.ids.len() == bodies.len() {
            for slot in bodies.moving.iter().map(|slot| *slot as usize) {
                self.position[slot] = motion.position[slot];
            }
        } else {
            self.epoch = bodies.epoch;
            self.position.clone_from(&motion.position);
            self.balls.clone_from(&motion.balls);
            self.ids.clone_from(&bodies.ids);
            self.entities.clone_from(&bodies.entities);
        }
        self.views = OnceLock::new();
    }

    pub(crate) fn record(&self) -> &ContactRecord {
        &self.record
    }

    /// The impulses for the next step to start from, with those of bodies that woke.
    pub(crate) fn warm_start<'a>(
        &'a self,
        kept: &'a [KeptContact],
        bodies: &Bodies,
    ) -> WarmStart<'a> {
        WarmStart {
            record: &self.record,
            centres: self.centres(),
            ids: &self.ids,
            same_slots: self.epoch == bodies.epoch,
            kept,
        }
    }

    fn centres(&self) -> Centres<'_> {
        Centres {
            positions: &self.position,
            balls: &self.balls,
        }
    }

    fn view(&self, index: usize) -> ContactView {
        let (place, impulse) = (&self.record.places[index], self.record.impulse[index]);
        let [a, b] = place.bodies.map(|slot| slot as usize);
        let arms = place.arms(self.centres());
        let velocity = self.end[a].at(arms[0]) - self.end[b].at(arms[1]);
        let (frame, friction) = (contact_frame(place.normal), self.record.friction[index]);
        ContactView {
            bodies: [self.ids[a], self.ids[b]],
            entities: [self.entities[a], self.entities[b]],
            point: place.point,
            frame,
            gap: place.gap,
            local_velocity: frame.transpose() * velocity,
            impulse,
            friction,
            status: status(impulse, friction),
        }
    }
}

impl Deref for ContactViews {
    type Target = [ContactView];

    fn deref(&self) -> &[ContactView] {
        let views = || (0..self.len()).map(|index| self.view(index)).collect();
        self.views.get_or_init(views)
    }
}

impl<'a> IntoIterator for &'a ContactViews {
    type Item = &'a ContactView;
    type IntoIter = std::slice::Iter<'a, ContactView>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
