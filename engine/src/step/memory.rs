//! What the next step depends on, out of a step state and into a new one.
//!
//! That is the clock, the bodies with what is known of their rest, the impulses of the last step and of islands that sleep, and the joints with
//! their turns. Everything else is a buffer, or follows from these: detection is a function of the state, and bodies and joints of their
//! descriptions.

use super::StepState;
use super::threads::Threads;
use super::touching::TouchingMemory;
use crate::bodies::Bodies;
use crate::components::{MaterialPairs, PairTable};
use crate::error::StepError;
use crate::interactions::record::LastContacts;
use crate::interactions::warm_start::{Stored, StoredImpulse, listed};
use crate::joints::memory::JointsMemory;
use crate::results::report::StepReport;
use bevy_ecs::entity::Entity;
use std::borrow::Cow;
use std::sync::Arc;

/// Steps made, and the time they have reached, s.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ClockMemory {
    pub(crate) step: u64,
    pub(crate) t: f64,
}

/// The impulses that a step starts from.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImpulseMemory {
    pub(crate) contacts: ContactMemory,
    pub(crate) asleep: Arc<Vec<StoredImpulse>>,
}

/// Those of the last step.
#[derive(Clone, Debug)]
pub(crate) enum ContactMemory {
    /// Its record, which the next step leaves alone.
    Record(Arc<LastContacts>),
    Listed(Vec<StoredImpulse>),
}

impl Default for ContactMemory {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl ContactMemory {
    pub(crate) fn list(&self) -> Cow<'_, [StoredImpulse]> {
        match self {
            Self::Record(last) => Cow::Owned(listed(last)),
            Self::Listed(list) => Cow::Borrowed(list),
        }
    }
}

impl StepState {
    /// A step has begun, and has neither ended nor failed.
    pub(crate) fn is_within_step(&self) -> bool {
        self.clock.runs
    }

    pub(crate) fn clock_memory(&self) -> ClockMemory {
        ClockMemory {
            step: self.clock.step,
            t: self.clock.t,
        }
    }

    pub(crate) fn impulse_memory(&self) -> ImpulseMemory {
        let restored = self.stored.restored();
        let last = self.contacts.lend().filter(|_| restored.is_empty());
        ImpulseMemory {
            contacts: last.map_or_else(
                || ContactMemory::Listed(restored.to_vec()),
                ContactMemory::Record,
            ),
            asleep: Arc::clone(self.stored.asleep()),
        }
    }

    pub(crate) fn touching_memory(&self) -> TouchingMemory {
        self.touching.memory()
    }

    /// The entities of all bodies, in their order: what ends in the next step names them.
    pub(crate) fn name_touching(&mut self, entities: &[Entity]) {
        self.touching.name((&self.bodies.ids, entities));
    }

    /// The buffers of a memory that nobody needs serve the next steps.
    pub(crate) fn reuse(&mut self, memory: ImpulseMemory) {
        if let ContactMemory::Record(last) = memory.contacts {
            self.contacts.reuse(last);
        }
    }

    /// `known` says that the bodies are those of the last gather.
    pub(crate) fn joints_memory(&self, known: bool) -> JointsMemory {
        let kept = &self.joint_rows.kept;
        let epoch = self.bodies.epoch;
        self.joints.memory((epoch, known), &self.bodies.ids, kept)
    }

    /// A step state that goes on from there.
    ///
    /// # Errors
    /// [`StepError::Joint`] names a joint that is wrong, [`StepError::Pairs`] a pair of materials.
    pub(crate) fn remembering(
        threads: Threads,
        (clock, pairs): (ClockMemory, &MaterialPairs),
        mut bodies: Bodies,
        (impulses, touching): (ImpulseMemory, &TouchingMemory),
        joints: &JointsMemory,
    ) -> Result<Self, StepError> {
        let mut state = Self::with_threads(threads);
        bodies.recall_pairs(PairTable::of(pairs)?);
        state.material_pairs = pairs.clone();
        state.joints = joints.joints(&mut bodies)?;
        state.joint_rows.kept = joints.kept().to_vec();
        state.stored = Stored::of(impulses.contacts.list().into_owned(), impulses.asleep);
        // Before the first step there is none.
        state.contacts.renew();
        (state.clock.step, state.clock.t) = (clock.step, clock.t);
        state.report = StepReport {
            step: clock.step,
            t: clock.t,
            bodies: bodies.len(),
            sleeping: bodies.sleep.count,
            joints: state.joints.list.len(),
            ..StepReport::default()
        };
        state.touching.recall(touching);
        state.bodies = bodies;
        Ok(state)
    }
}
