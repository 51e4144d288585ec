//! What pushes each body as solved, and its way through the step with it, or without a part of it.

use super::Meetings;
use crate::bodies::slot::Slot;
use crate::step::impacts::Impacts;
use crate::step::solved::{Pushed, Solved};
use moreau_solvers::WorldTwist;

/// Contacts that push a body.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Push {
    pushed: Pushed,
    /// What those do that pushed it in the last step too.
    old: Pushed,
    /// A contact touches, or pushed in the last step, also where it does not push.
    leans: bool,
    /// What the others change of its velocity.
    fresh: WorldTwist,
    /// One more contact that pushed before, and is no impact, changes nothing.
    held: bool,
}

impl Push {
    fn is_held(&self) -> bool {
        let none = |pushed: Pushed| matches!(pushed, Pushed::Not);
        self.leans && !none(self.pushed) && !none(self.old)
    }
}

impl Meetings {
    /// Counts what pushes each body in the step.
    pub(super) fn count_pushes(&mut self, solved: &Solved) {
        self.pushes.clear();
        self.pushes.resize(solved.bodies.len(), Push::default());
        let mut fresh = self.fresh.iter().copied();
        let mut next_fresh = fresh.next();
        let staged = !solved.record.earlier.is_empty();
        let places = solved.record.found.iter().zip(solved.impacts);
        for (row, (place, is_impact)) in places.enumerate() {
            let is_first = next_fresh == Some(row);
            let [a, b] = place.bodies;
            let held = || self.pushes[a].held && self.pushes[b].held;
            if !is_first && !*is_impact && !staged && held() {
                continue;
            }
            if is_first {
                next_fresh = fresh.next();
            }
            let (r, earlier) = (solved.record.impulse[row], solved.earlier(row));
            let lean = place.bodies.map(|slot| self.pushes[slot].leans) == [true; 2];
            let pushed = || self.carried[row] > 0.0 || self.judged[row];
            if !lean && (pushed() || !solved.is_ahead(row)) {
                for slot in place.bodies {
                    let push = &mut self.pushes[slot];
                    push.leans = true;
                    push.held = push.is_held();
                }
            }
            if r.x <= 0.0 && earlier.impulse.x <= 0.0 {
                continue;
            }
            let is_fresh = is_first && solved.is_in_doubt(row);
            let is_impact = solved.impacts[row] && r.x > 0.0 || earlier.impact;
            let impact = is_impact.then(|| solved.theta_of_impact(row));
            for slot in place.bodies {
                let push = &mut self.pushes[slot];
                push.pushed = push.pushed.by(impact);
                if !is_fresh {
                    push.old = push.old.by(impact);
                } else {
                    let change = solved.change(row, slot);
                    push.fresh.linear += change.linear;
                    push.fresh.angular += change.angular;
                }
                push.held = push.is_held();
            }
        }
        self.turns_by.clear();
        if self.turns {
            self.turns_by.resize(solved.bodies.len(), None);
            for slot in solved.turning() {
                let (end, pushed) = (solved.end(slot).angular, self.pushes[slot].pushed);
                self.turns_by[slot.index()] = solved.turn(slot, end, pushed);
            }
        }
    }

    /// One of the bodies touches something, or was pushed by it.
    pub(super) fn leans(&self, pair: [Slot; 2]) -> bool {
        pair.into_iter().any(|slot| self.pushes[slot].leans)
    }

    /// Something pushes one of the bodies that is not in doubt.
    pub(super) fn are_pushed_besides(&self, pair: [Slot; 2]) -> bool {
        let old = |slot: Slot| self.pushes[slot].old;
        pair.into_iter()
            .any(|slot| !matches!(old(slot), Pushed::Not))
    }

    /// The mean velocity of a body through the step as solved; its angular part turns it to where it ends.
    pub(super) fn way(&self, slot: Slot, (solved, impacts): (&Solved, &Impacts)) -> WorldTwist {
        let by_rule = || solved.mean(slot, solved.end(slot), self.pushes[slot].pushed);
        let mean = impacts.mean(slot).copied().unwrap_or_else(by_rule);
        let turn = self.turns_by.get(slot.index()).copied().flatten();
        WorldTwist {
            angular: turn.unwrap_or(mean.angular),
            ..mean
        }
    }

    /// The mean velocity of a body without what pushes it for the first time.
    pub(super) fn way_before(&self, slot: Slot, solved: &Solved) -> WorldTwist {
        let mut end = solved.end(slot);
        let push = &self.pushes[slot];
        end.linear -= push.fresh.linear;
        end.angular -= push.fresh.angular;
        solved.way(slot, end, push.old)
    }

    /// The mean velocity of a body without what these rows do.
    pub(super) fn way_without(&self, slot: Slot, rows: &[usize], solved: &Solved) -> WorldTwist {
        let mut end = solved.end(slot);
        for row in rows {
            let change = solved.change(*row, slot);
            end.linear -= change.linear;
            end.angular -= change.angular;
        }
        solved.way(slot, end, self.pushes[slot].pushed)
    }
}
