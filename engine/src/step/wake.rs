//! Bodies asleep that others meet within the step, struck beyond their reach: they wake in mid-step.
//!
//! Detection wakes what is within reach before the solve. What is met only as solved wakes with its island when its contact comes in: the
//! island gets its free motion, and its contacts come in too.

use super::StepState;
use crate::bodies::slot::Slot;
use crate::error::StepError;
use crate::interactions::detected::Late;
use crate::interactions::record::{Earlier, OwnArms};
use crate::motion::scheme::Scheme;

impl StepState {
    /// Wakes the islands of sleepers that contacts which come in have met.
    pub(crate) fn wake_struck(&mut self, scheme: &impl Scheme) -> Result<(), StepError> {
        if self.bodies.sleep.count == 0 {
            return Ok(());
        }
        let slots = self.bodies.slots();
        let awake: Vec<bool> = slots.map(|slot| self.bodies.moves(slot)).collect();
        let met = self.exchange.late.iter().map(|late| late.contact.bodies);
        if !self.bodies.wake_met(met) {
            return Ok(());
        }
        let mut found = Vec::new();
        loop {
            self.move_freely(scheme)?;
            self.detection
                .detect(&self.bodies, &self.motion, &self.settings, &mut found)?;
            let pairs = found.iter().map(|contact| contact.bodies);
            if !self.bodies.wake_met(pairs) {
                break;
            }
        }
        let (bodies, late) = (&self.bodies, &mut self.exchange.late);
        let known = late.len();
        for contact in found {
            let pair = contact.bodies;
            let woke = |slot: Slot| !awake[slot] && bodies.moves(slot);
            let mut comes = late[..known].iter().map(|late| late.contact.bodies);
            if pair.into_iter().any(woke) && !comes.any(|of| of == pair) {
                late.push(Late {
                    contact,
                    own: OwnArms::as_found(contact.arms(self.motion.centres())),
                    law: None,
                    earlier: Earlier::default(),
                });
            }
        }
        for slot in bodies.slots().filter(|slot| !awake[*slot]) {
            if bodies.moves(slot) {
                self.record.end[slot] = self.motion.free[slot];
                self.impacts.wake(slot, &self.motion.free[slot]);
            }
        }
        Ok(())
    }
}
