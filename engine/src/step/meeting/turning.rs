//! Pairs of bodies that turn far within the step: whatever pushed them before, they are looked at on their way as solved.

use super::Meetings;
use crate::bodies::slot::Slot;
use crate::detection::Detection;
use crate::step::exchange::Exchange;
use crate::step::impacts::Impacts;
use crate::step::solved::Solved;

impl Meetings {
    /// Pairs of which a body turns so far that the planes of their contacts are not theirs to the end, and that meet on their way.
    pub(super) fn find_turned(
        &mut self,
        (solved, impacts): (&Solved, &Impacts),
        detection: &Detection,
        exchange: &mut Exchange,
    ) -> bool {
        let h = solved.settings.time_step;
        let mut turning = solved.turning();
        turning.retain(|slot| self.awaits[*slot] == 0);
        let swings = &detection.swings;
        let before = exchange.late.len();
        for pair in self.pairs_that_turn(&turning, solved, detection) {
            let passes = !solved.bodies.may_push(pair) || solved.edits.lets_pass(&pair);
            let known = self.awaits(pair) || self.changed.contains(&pair);
            // What waits may not strike on a way that an impact has changed: the surface that it is of turned elsewhere.
            if passes || known || impacts.awaits_strike(pair, solved) || solved.has_given(pair) {
                continue;
            }
            let far = pair
                .into_iter()
                .any(|slot| turning.binary_search(&slot).is_ok());
            let nearest = swings.binary_search_by_key(&pair, |nearest| nearest.bodies);
            let plane = nearest.ok().map(|place| swings[place].normal);
            if let Some((path, time)) = self.meeting(pair, (far, plane), (solved, impacts)) {
                path.contacts_at((time, false), h, &mut self.points, &mut exchange.late);
                self.changed.push(pair);
            }
        }
        self.late_contacts += exchange.late.len() - before;
        exchange.late.len() > before
    }

    /// Pairs of bodies that turn far, and of those that turn less, pairs that have contacts or may get some, in their order.
    pub(super) fn pairs_that_turn(
        &self,
        turning: &[Slot],
        solved: &Solved,
        detection: &Detection,
    ) -> Vec<[Slot; 2]> {
        let mut pairs = detection.pairs_of(turning.iter().copied(), solved.bodies);
        let nearest = detection.swings.iter().map(|nearest| nearest.bodies);
        pairs.extend(nearest.filter(|pair| !self.awaits(*pair)));
        let found = solved.record.found.chunk_by(|a, b| a.bodies == b.bodies);
        let swings = |pair: &[Slot; 2]| pair.iter().any(|slot| solved.swings(*slot));
        let found = found.map(|rows| rows[0].bodies);
        pairs.extend(found.filter(|pair| !self.awaits(*pair) && swings(pair)));
        // Three lists in order.
        pairs.sort();
        pairs.dedup();
        pairs
    }
}
