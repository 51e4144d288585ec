//! What the next step depends on, out of a step state and into a new one.
//!
//! That is the clock, the bodies with what is known of their rest, the impulses of the last step and of islands that sleep, and the joints with
//! their turns. Everything else is a buffer, or follows from these: detection is a function of the state, and bodies and joints of their
//! descriptions.

use super::StepState;
use super::threads::Threads;
use crate::bodies::Bodies;
use crate::error::StepError;
use crate::interactions::warm_start::{Stored, StoredImpulse};
use crate::joints::memory::JointsMemory;
use crate::results::report::StepReport;
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
    pub(crate) contacts: Vec<StoredImpulse>,
    pub(crate) asleep: Arc<Vec<StoredImpulse>>,
}

impl StepState {
    pub(crate) fn clock_memory(&self) -> ClockMemory {
        ClockMemory {
            step: self.clock.step,
            t: self.clock.t,
        }
    }

    /// Into a buffer that is used again.
    pub(crate) fn impulse_memory(&self, into: &mut ImpulseMemory) {
        match self.contacts.last() {
            Some(last) => self.stored.export_contacts(last, &mut into.contacts),
            None => into.contacts.clear(),
        }
        into.asleep = Arc::clone(self.stored.asleep());
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
    /// [`StepError::Joint`] names a joint that is wrong.
    pub(crate) fn remembering(
        threads: Threads,
        clock: ClockMemory,
        mut bodies: Bodies,
        impulses: ImpulseMemory,
        joints: &JointsMemory,
    ) -> Result<Self, StepError> {
        let mut state = Self::with_threads(threads);
        state.joints = joints.joints(&mut bodies)?;
        state.joint_rows.kept = joints.kept().to_vec();
        state.stored = Stored::of(impulses.contacts, impulses.asleep);
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
        state.bodies = bodies;
        Ok(state)
    }
}
