//! The contacts of the last step, for reading.

use crate::BodyId;
use crate::assembly::ContactProblem;
use crate::bodies::Bodies;
use crate::index_set::Interaction;
use crate::motion::Motion;
use bevy_ecs::prelude::*;
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

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

/// The contacts of the last step, ordered by the ids of their bodies.
#[derive(Resource, Clone, Debug, Default)]
pub struct Contacts(pub Vec<ContactView>);

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

impl Contacts {
    /// Takes over the contacts of a solved step.
    pub(crate) fn collect(
        &mut self,
        active: &[Interaction],
        problem: &ContactProblem,
        bodies: &Bodies,
        motion: &Motion,
    ) {
        self.0.clear();
        let solved = problem.contacts.iter().zip(&problem.impulse);
        for (interaction, (contact, r)) in active.iter().zip(solved) {
            let [a, b] = contact.bodies.map(|slot| slot as usize);
            self.0.push(ContactView {
                bodies: [bodies.ids[a], bodies.ids[b]],
                entities: [bodies.entities[a], bodies.entities[b]],
                point: interaction.candidate.point,
                frame: contact.frame,
                gap: interaction.candidate.gap,
                local_velocity: contact.local_velocity(&motion.end[a], &motion.end[b]),
                impulse: *r,
                friction: contact.friction,
                status: status(*r, contact.friction),
            });
        }
    }
}
