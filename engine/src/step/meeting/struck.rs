//! Bodies that were struck beyond the reach of detection, and what they meet there.

use super::Meetings;
use crate::bodies::slot::Slot;
use crate::detection::Detection;
use crate::error::StepError;
use crate::step::exchange::Exchange;
use crate::step::impacts::Impacts;
use crate::step::solved::Solved;

impl Meetings {
    /// Lists the bodies that get farther than detection allowed for. True if there are any.
    pub(super) fn find_struck(
        &mut self,
        (solved, impacts): (&Solved, &Impacts),
        detection: &Detection,
    ) -> bool {
        let (h, ends) = (solved.settings.time_step, &solved.record.end);
        let mut surfaces = None;
        self.struck.clear();
        // As at bodies that turn: with planes that go or come in its island, the motion of a body is not the one to look at.
        let is_ready = |slot: Slot| self.awaits.get(slot.index()).is_none_or(|link| *link == 0);
        let is_dynamic = |slot: Slot| solved.bodies.constants[slot].is_dynamic();
        for slot in solved.bodies.moving.iter().copied() {
            let [passes, may_fly] = detection.goes_far(slot, &ends[slot], h);
            // What is worked out of every body comes first: there are many.
            if !(passes || may_fly) || !is_ready(slot) || !is_dynamic(slot) {
                continue;
            }
            // Of a surface detection finds what is near, which is not all that is ahead of a body at speed.
            let flies = may_fly && solved.flies(slot);
            if passes
                || flies
                    && (*surfaces.get_or_insert_with(|| solved.has_surfaces())
                        || solved.is_deflected(slot))
            {
                self.struck.push(slot);
            }
        }
        // Another way leads to others.
        let again = self.reached.iter().copied();
        let again = again.filter(|slot| is_ready(*slot) && is_dynamic(*slot));
        let known = self.struck.len();
        self.struck
            .extend(again.filter(|slot| impacts.meets_one(*slot)));
        if self.struck.len() > known {
            self.struck.sort_unstable();
            self.struck.dedup();
        }
        !self.struck.is_empty()
    }

    /// Pairs of struck bodies that meet, of which they have no contact yet, or not of all parts.
    pub(super) fn meet_struck(
        &mut self,
        (solved, impacts): (&Solved, &Impacts),
        detection: &mut Detection,
        exchange: &mut Exchange,
    ) -> Result<bool, StepError> {
        let ends = &solved.record.end;
        let struck = self.struck.iter().map(|slot| (*slot, ends[*slot]));
        let struck: Vec<_> = struck.collect();
        let pairs =
            detection.pairs_of_struck(&struck, solved.bodies, solved.motion, solved.settings)?;
        self.reached.extend(&self.struck);
        let mut changes = false;
        for pair in pairs {
            let passes = !solved.bodies.may_push(pair) || solved.edits.lets_pass(&pair);
            // What waits for one triangle of a surface, or one part, may meet another.
            let waits = impacts.awaits(pair) && !solved.may_meet_more(pair);
            let known = solved.is_known(pair) || self.changed.contains(&pair) || waits;
            if known || passes {
                continue;
            }
            let look = (solved, impacts);
            if let Some((path, time)) = self.meeting(pair, (true, None), look)
                && self.meet_at((&path, time), look, exchange)
            {
                self.changed.push(pair);
                changes = true;
            }
        }
        Ok(changes)
    }
}
