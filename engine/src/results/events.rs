//! What began and ended in a step: contacts, bodies seen by sensors, sleep, joints that broke.

use crate::components::{BodyId, JointId};
use bevy_ecs::prelude::*;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// What begins, or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// It was not so after the step before.
    Begins,
    /// It was so after the step before.
    Ends,
}

/// Two bodies begin to touch, or end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactEvent {
    /// Begins or ends.
    pub edge: Edge,
    /// Bodies A and B, `A < B`.
    pub bodies: [BodyId; 2],
    /// Their entities; one of them may be gone where the contact ends.
    pub entities: [Entity; 2],
    /// Impulse of the step on A, inertial frame, N·s.
    pub impulse: DVec3,
    /// Sum of the normal impulses of their contacts in the step, ≥ 0, N·s.
    pub normal_impulse: f64,
}

/// A sensor begins to see a body, or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorEvent {
    /// Begins or ends.
    pub edge: Edge,
    /// The sensor, and what it sees.
    pub bodies: [BodyId; 2],
    /// Their entities; one of them may be gone where it ends.
    pub entities: [Entity; 2],
}

/// A body falls asleep (begins to sleep), or wakes (ends).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepEvent {
    /// Begins or ends.
    pub edge: Edge,
    /// The body.
    pub body: BodyId,
    /// Its entity.
    pub entity: Entity,
}

/// What began and ended in the last step that succeeded. Lists are in the order of ids.
///
/// Two bodies touch from the step on in which they push each other, until a step begins with a gap between them beyond rounding (1e-4 of the
/// half-thickness of the thinner one) and they do not push. A pile that falls asleep ends nothing: its bodies touch until they part awake, or are gone.
/// What goes on is in [`StepState::touching`](crate::StepState::touching), impulses and forces of it in [`Contacts`](crate::Contacts).
///
/// ```
/// use bevy_ecs::prelude::*;
/// use moreau::prelude::*;
/// fn loudest(events: Res<StepEvents>) -> f64 {
///     events.begun().fold(0.0, |most, contact| most.max(contact.normal_impulse))
/// }
/// ```
#[derive(Resource, Debug, Default, PartialEq)]
pub struct StepEvents {
    /// Contacts that began or ended.
    pub contacts: Vec<ContactEvent>,
    /// What sensors begin or end to see.
    pub sensors: Vec<SensorEvent>,
    /// Bodies that fell asleep or woke.
    pub sleep: Vec<SleepEvent>,
    /// Joints that broke.
    pub broken_joints: Vec<JointId>,
}

impl Clone for StepEvents {
    fn clone(&self) -> Self {
        let mut copy = Self::NONE;
        copy.clone_from(self);
        copy
    }

    /// Keeps the memory of its lists: a step with events allocates nothing.
    fn clone_from(&mut self, other: &Self) {
        let Self {
            contacts,
            sensors,
            sleep,
            broken_joints,
        } = self;
        contacts.clone_from(&other.contacts);
        sensors.clone_from(&other.sensors);
        sleep.clone_from(&other.sleep);
        broken_joints.clone_from(&other.broken_joints);
    }
}

impl StepEvents {
    pub(crate) const NONE: Self = Self {
        contacts: Vec::new(),
        sensors: Vec::new(),
        sleep: Vec::new(),
        broken_joints: Vec::new(),
    };

    /// Contacts that began.
    pub fn begun(&self) -> impl Iterator<Item = &ContactEvent> {
        let contacts = self.contacts.iter();
        contacts.filter(|contact| contact.edge == Edge::Begins)
    }

    /// Contacts that ended.
    pub fn ended(&self) -> impl Iterator<Item = &ContactEvent> {
        let contacts = self.contacts.iter();
        contacts.filter(|contact| contact.edge == Edge::Ends)
    }

    /// What entered sensors.
    pub fn entered(&self) -> impl Iterator<Item = &SensorEvent> {
        let sensors = self.sensors.iter();
        sensors.filter(|seen| seen.edge == Edge::Begins)
    }

    /// What left sensors.
    pub fn left(&self) -> impl Iterator<Item = &SensorEvent> {
        let sensors = self.sensors.iter();
        sensors.filter(|seen| seen.edge == Edge::Ends)
    }

    /// Bodies that fell asleep.
    pub fn fell_asleep(&self) -> impl Iterator<Item = &SleepEvent> {
        let sleep = self.sleep.iter();
        sleep.filter(|body| body.edge == Edge::Begins)
    }

    /// Bodies that woke.
    pub fn woke(&self) -> impl Iterator<Item = &SleepEvent> {
        let sleep = self.sleep.iter();
        sleep.filter(|body| body.edge == Edge::Ends)
    }

    pub(crate) fn clear(&mut self) {
        self.contacts.clear();
        self.sensors.clear();
        self.sleep.clear();
        self.broken_joints.clear();
    }
}
