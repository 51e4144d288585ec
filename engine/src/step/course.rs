//! The way of each body through a step of several stages [docs/theory.md §5].
//!
//! A body that changes its velocity from `v_{s−1}` to `v_s` at the time `t_s` gets by
//!
//! ```text
//! D = h v_S + O,      O = Σ_s t_s (v_{s−1} − v_s)
//! ```
//!
//! in the step. `t_s` is when it strikes. Contacts that are no impact act from the beginning on, like with θ = 1, and forces at the middle
//! of the step, as in free flight.

use super::bouncing::Bouncing;
use super::solved::{Pushed, Solved};
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::detection::path;
use crate::interactions::detected::{Detected, Late};
use crate::interactions::law::InteractionLaw;
use crate::settings::Theta;
use glam::DVec3;
use moreau_solvers::WorldTwist;

/// Looks at the planes that pushed: a body that one of them keeps may get into others. Those of a corner are three.
const PLANES: usize = 3;

/// `O` of each body.
#[derive(Debug, Default)]
pub(crate) struct Course {
    /// Of the stages that are over, by slot; empty in the first.
    before: Vec<WorldTwist>,
    /// With the one at hand, as solved.
    now: Vec<WorldTwist>,
    /// When each body struck last in the stages that are over, s.
    last: Vec<f64>,
    /// What the stage does to each body.
    changes: Vec<Change>,
    /// Bodies that were pushed after the first stage, …
    staged: Vec<bool>,
    /// … and those that strike them.
    follows: Vec<bool>,
    /// The stage is not the first.
    later: bool,
    /// By how much they depart from the rule of the scheme, 0 to 1.
    departs: Vec<f64>,
}

/// What a stage does to a body.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    pushed: bool,
    /// When it strikes, s.
    time: Option<f64>,
}

impl Course {
    /// A step begins.
    pub(crate) fn clear(&mut self) {
        self.before.clear();
        self.now.clear();
        self.last.clear();
        self.staged.clear();
    }

    /// Follows the motion as solved, of a stage that begins with these velocities.
    pub(crate) fn follow(&mut self, solved: &Solved, begin: Option<&[WorldTwist]>) {
        let (h, count) = (solved.settings.time_step, solved.bodies.len());
        self.later = begin.is_some();
        let v = begin.unwrap_or(&solved.motion.begin);
        self.last.resize(count, 0.0);
        self.before.resize(count, WorldTwist::default());
        self.find_changes(solved, v);
        self.now.clone_from(&self.before);
        for slot in solved.bodies.awake_dynamic() {
            let (from, to) = (&v[slot], &solved.record.end[slot]);
            let change = self.changes[slot];
            let time = match change.time {
                Some(time) => time,
                // The first stage has the forces in it.
                None if begin.is_none() && !change.pushed => 0.5 * h,
                None => continue,
            };
            let offset = &mut self.now[slot];
            offset.linear += (from.linear - to.linear) * time;
            offset.angular += (from.angular - to.angular) * time;
        }
    }

    fn find_changes(&mut self, solved: &Solved, begin: &[WorldTwist]) {
        let h = solved.settings.time_step;
        self.changes.clear();
        self.changes.resize(solved.bodies.len(), Change::default());
        for (row, place) in solved.record.found.iter().enumerate() {
            if solved.record.impulse[row].x <= 0.0 {
                continue;
            }
            let pair = place.bodies;
            let closing = -solved.normal_velocity(row, &pair.map(|slot| begin[slot]));
            let strikes = solved.impacts[row] && closing > 0.0;
            let time = strikes.then(|| {
                let gap = self.gap_before(place, &solved.contacts[row].arms);
                (gap.max(0.0) / closing).min(h)
            });
            for slot in pair {
                let change = &mut self.changes[slot];
                change.pushed = true;
                change.time = match (change.time, time) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
        }
    }

    /// The stage is over.
    pub(crate) fn end_stage(&mut self, bodies: &Bodies) {
        std::mem::swap(&mut self.before, &mut self.now);
        for slot in bodies.awake_dynamic() {
            if let Some(time) = self.changes[slot].time {
                self.last[slot] = self.last[slot].max(time);
            }
        }
    }

    /// `g_N` (m) with which a contact begins a stage: as if its bodies had had the velocities of this stage all along.
    pub(crate) fn gap_before(&self, contact: &Detected, arms: &[DVec3; 2]) -> f64 {
        contact.gap + normal_way(&self.before, contact, arms)
    }

    /// The gap (m) of a contact with `u_N` in a stage, when its bodies last struck before it.
    pub(crate) fn gap_at_last(&self, contact: &Detected, arms: &[DVec3; 2], u: f64) -> f64 {
        let last = contact.bodies.map(|slot| self.last.get(slot.index()));
        let time = last.into_iter().flatten().fold(0.0, |a: f64, b| a.max(*b));
        self.gap_before(contact, arms) + time * u
    }

    /// The same for what comes after the stage as solved.
    pub(crate) fn gap_after(&self, contact: &Detected, arms: &[DVec3; 2]) -> f64 {
        contact.gap + normal_way(&self.now, contact, arms)
    }

    /// The mean velocities `D/h` of the bodies that have more than one stage, and of what they strike.
    pub(crate) fn means(
        &mut self,
        solved: &Solved,
        waiting: &[Late],
        means: &mut Vec<Option<WorldTwist>>,
    ) {
        self.find_followers(solved, waiting);
        self.find_departures(solved, waiting);
        means.clear();
        means.resize(solved.bodies.len(), None);
        for slot in solved.bodies.awake_dynamic() {
            if self.follows[slot] {
                let (rule, way) = (self.by_rule(slot, solved), self.way(slot, solved));
                let part = self.departs[slot];
                means[slot] = Some(WorldTwist {
                    linear: rule.linear.lerp(way.linear, part),
                    angular: rule.angular.lerp(way.angular, part),
                });
            }
        }
        self.keep_before(solved, means);
    }

    /// Impacts that were found in another order than that of their times may lead into what a body was pushed away from: it gets no farther than that.
    /// The centre of mass of two bodies keeps its way.
    fn keep_before(&self, solved: &Solved, means: &mut [Option<WorldTwist>]) {
        let h = solved.settings.time_step;
        for _ in 0..PLANES {
            let mut changes = false;
            for (row, place) in solved.record.found.iter().enumerate() {
                let pair = place.bodies;
                let has_pushed =
                    solved.record.impulse[row].x > 0.0 || solved.earlier(row).is_some();
                let is_known =
                    |slot: &Slot| means[*slot].is_some() || !solved.bodies.is_awake_dynamic(*slot);
                if !has_pushed || !pair.iter().all(is_known) {
                    continue;
                }
                let ways = pair.map(|slot| means[slot].unwrap_or_else(|| solved.end(slot)));
                let tolerance = path::tolerance(pair.map(|slot| &solved.bodies.constants[slot]));
                // What overlapped before is not pushed out here.
                let before = (place.gap + tolerance).min(0.0);
                let over = before - tolerance - solved.gap_after(row, &ways);
                let inverse = pair.map(|slot| {
                    let moves = means[slot].is_some();
                    let mass = solved.motion.inverse_mass[slot].linear;
                    if moves { mass } else { 0.0 }
                });
                let sum = inverse[0] + inverse[1];
                if over <= 0.0
                    || sum <= 0.0
                    || self.goes_on(place, solved.restitution(row), over, solved)
                {
                    continue;
                }
                changes = true;
                for (side, sign) in [(0, 1.0), (1, -1.0)] {
                    if let Some(mean) = &mut means[pair[side].index()] {
                        let part = sign * inverse[side] / sum;
                        mean.linear += place.normal * (over * part / h);
                    }
                }
            }
            if !changes {
                break;
            }
        }
    }

    /// Bodies that were pushed after the first stage or may yet strike, and what they strike.
    fn find_followers(&mut self, solved: &Solved, waiting: &[Late]) {
        let count = solved.bodies.len();
        self.staged.resize(count, false);
        let later = self.later;
        for (staged, change) in self.staged.iter_mut().zip(&self.changes) {
            *staged |= later && change.pushed;
        }
        self.follows.clone_from(&self.staged);
        for slot in waiting.iter().flat_map(|late| late.contact.bodies) {
            self.follows[slot] = true;
        }
        // Bodies that strike each other go by one rule: their centre of mass keeps its way.
        let dynamic = |slot: Slot| solved.bodies.is_awake_dynamic(slot);
        loop {
            let mut changes = false;
            for (row, place) in solved.record.found.iter().enumerate() {
                let strikes = solved.impacts[row] && solved.record.impulse[row].x > 0.0;
                let [a, b] = place.bodies;
                let follows = |slot: Slot| self.follows[slot] && dynamic(slot);
                let one = follows(a) && !self.follows[b] || follows(b) && !self.follows[a];
                if one && (strikes || solved.earlier(row).impact) {
                    (self.follows[a], self.follows[b]) = (true, true);
                    changes = true;
                }
            }
            if !changes {
                break;
            }
        }
    }

    /// By how much bodies depart from the rule of the scheme, in whose mean energy is kept, towards their way: just enough that none ends in
    /// what it strikes. Bodies that meet depart alike. What bounces and goes on does not depart, and what overlapped before is left to the projection.
    fn find_departures(&mut self, solved: &Solved, waiting: &[Late]) {
        let h = solved.settings.time_step;
        self.departs.clear();
        self.departs.resize(solved.bodies.len(), 0.0);
        let follows = |slot: Slot| self.follows[slot] && solved.bodies.is_awake_dynamic(slot);
        let found = solved.record.found.iter().zip(solved.contacts);
        let found = found
            .enumerate()
            .map(|(row, (place, contact))| (place, &contact.arms, solved.edits.law(row)));
        let waiting = waiting
            .iter()
            .map(|late| (&late.contact, &late.own.arms, late.law.as_ref()));
        let meets = |(place, ..): &(&Detected, _, _)| place.bodies.into_iter().any(follows);
        let rows: Vec<(&Detected, &[DVec3; 2], Option<&InteractionLaw>)> =
            found.chain(waiting).filter(meets).collect();
        for (place, arms, law) in &rows {
            let pair = place.bodies;
            let gap = |by: &dyn Fn(Slot) -> WorldTwist| {
                let [a, b] = [0, 1].map(|side| {
                    let slot: Slot = pair[side];
                    let twist = if follows(slot) {
                        by(slot)
                    } else {
                        solved.end(slot)
                    };
                    twist.at(arms[side])
                });
                place.gap + h * place.normal.dot(a - b)
            };
            let by_rule = gap(&|slot| self.by_rule(slot, solved));
            let way = gap(&|slot| self.way(slot, solved));
            let tolerance = path::tolerance(pair.map(|slot| &solved.bodies.constants[slot]));
            let before = (place.gap + tolerance).min(0.0);
            let (by_rule, way) = (by_rule - before, way - before);
            if by_rule < 0.0 && way > by_rule {
                let part = (by_rule / (by_rule - way)).min(1.0);
                let e = solved.law(place, *law).restitution;
                if self.goes_on(place, e, -by_rule, solved) {
                    continue;
                }
                for slot in pair {
                    self.departs[slot] = self.departs[slot].max(part);
                }
            }
        }
        let dynamic = |slot: Slot| solved.bodies.is_awake_dynamic(slot);
        loop {
            let mut changes = false;
            for (place, ..) in &rows {
                let [a, b] = place.bodies;
                let part = self.departs[a].max(self.departs[b]);
                if dynamic(a) && dynamic(b) && part > self.departs[a].min(self.departs[b]) {
                    (self.departs[a], self.departs[b]) = (part, part);
                    changes = true;
                }
            }
            if !changes {
                break;
            }
        }
    }

    /// A body that bounces, and goes on by more than it overlaps (m) by the rule in which energy is kept.
    fn goes_on(&self, contact: &Detected, e: f64, depth: f64, solved: &Solved) -> bool {
        let h = solved.settings.time_step;
        let state = |slot: Slot| {
            let way = self.by_rule(slot, solved).linear * h;
            (solved.bodies.pose[slot].position + way, solved.end(slot))
        };
        Bouncing::of(contact, e, (solved.bodies, solved.settings), state)
            .is_some_and(|body| body.way(solved.settings) > depth)
    }

    /// `v_{k+θ}`: ½ for what is struck.
    fn by_rule(&self, slot: Slot, solved: &Solved) -> WorldTwist {
        let end = solved.end(slot);
        let mean = solved.mean(slot, end, Pushed::Struck(0.5));
        turned_at_end(slot, mean, end, solved)
    }

    fn way(&self, slot: Slot, solved: &Solved) -> WorldTwist {
        let (end, offset) = (&solved.record.end[slot], &self.now[slot]);
        let h = solved.settings.time_step;
        let way = WorldTwist {
            linear: end.linear + offset.linear / h,
            angular: end.angular + offset.angular / h,
        };
        turned_at_end(slot, way, *end, solved)
    }
}

/// What offsets of two bodies do to a gap.
fn normal_way(offsets: &[WorldTwist], contact: &Detected, arms: &[DVec3; 2]) -> f64 {
    if offsets.is_empty() {
        return 0.0;
    }
    let [a, b] = [0, 1].map(|side| offsets[contact.bodies[side]].at(arms[side]));
    contact.normal.dot(a - b)
}

/// Of bodies whose principal moments are equal the mean velocity turns them, of all others that at the end: their energy would not be that of the solve.
fn turned_at_end(slot: Slot, mean: WorldTwist, end: WorldTwist, solved: &Solved) -> WorldTwist {
    let body = &solved.bodies.constants[slot];
    let is_auto = solved.settings.theta == Theta::Auto;
    WorldTwist {
        angular: if body.inertia.spherical || !body.is_dynamic() || !is_auto {
            mean.angular
        } else {
            end.angular
        },
        ..mean
    }
}
