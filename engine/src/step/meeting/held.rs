//! Bodies that meet after the last round. Those that would sink into each other come no closer than where they meet, and go on in the next step. So do bodies that turn so far that
//! they would pass through what their contacts were to keep them from.
//!
//! From then on they turn no more, and neither approaches the plane on which they meet: what moves both alike goes on, and so does what they slide by.
//! The centre of mass of both keeps its way. What impulses do not move carries that plane along as it turns.

use super::{LAST, Meetings, ROUNDS};
use crate::bodies::slot::Slot;
use crate::detection::Detection;
use crate::error::StepError;
use crate::math::rotation;
use crate::step::impacts::Impacts;
use crate::step::solved::Solved;
use glam::DVec3;
use moreau_solvers::WorldTwist;

/// Looks at the pairs: a body that is held by a plane may go on into others. Those of a corner are three.
const PLANES: usize = 3;

/// The bodies, and their mean velocities through the step.
#[derive(Debug, Default)]
pub(super) struct Held {
    bodies: Vec<Body>,
    ways: Vec<Stay>,
}

/// How a body that is held goes through the step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay {
    pub(crate) slot: Slot,
    /// Mean velocity.
    pub(crate) way: WorldTwist,
    /// Part of the step in which it turns by itself.
    pub(crate) part: f64,
}

#[derive(Clone, Copy, Debug)]
struct Body {
    slot: Slot,
    way: WorldTwist,
    /// Angular velocity of what it turns with, if impulses do not move that, rad/s.
    turn: DVec3,
    /// Part of the step until it meets another one.
    part: f64,
}

impl Body {
    fn way(&self) -> WorldTwist {
        WorldTwist {
            linear: self.way.linear,
            angular: self.turn + (self.way.angular - self.turn) * self.part,
        }
    }
}

/// Two bodies that meet.
struct Meeting {
    pair: [Slot; 2],
    ways: [WorldTwist; 2],
    /// From B to A.
    normal: DVec3,
    /// Part of the step.
    part: f64,
}

impl Held {
    pub(super) fn clear(&mut self) {
        self.bodies.clear();
        self.ways.clear();
    }

    /// A body each, ascending.
    pub(super) fn ways(&self) -> &[Stay] {
        &self.ways
    }

    fn add(&mut self, meeting: &Meeting, solved: &Solved) {
        let Meeting {
            pair,
            ways,
            normal,
            part,
        } = meeting;
        let bodies = solved.bodies;
        let moves = pair.map(|slot| bodies.is_awake_dynamic(slot));
        let places = [0, 1].map(|side| {
            moves[side].then(|| {
                let place = self.place(pair[side], &ways[side]);
                let body = &mut self.bodies[place];
                body.part = body.part.min(*part);
                if !moves[1 - side] {
                    body.turn = ways[1 - side].angular;
                }
                place
            })
        });
        let h = solved.settings.time_step;
        let now = [0, 1].map(|side| places[side].map_or(ways[side], |at| self.bodies[at].way));
        // What impulses do not move carries the plane along as it turns on.
        let carrier = (0..2).find(|side| !moves[*side]);
        let left = carrier.map_or(DVec3::ZERO, |side| ways[side].angular * (h * (1.0 - part)));
        let plane = if left == DVec3::ZERO {
            *normal
        } else {
            rotation::exp(left) * *normal
        };
        let [a, b] = pair.map(|slot| bodies.pose[slot].position);
        let closing =
            |normal: DVec3, ways: &[WorldTwist; 2]| -normal.dot(ways[0].linear - ways[1].linear);
        let met = part * closing(*normal, ways) - (*normal - plane).dot(a - b) / h;
        let excess = closing(plane, &now) - met;
        let inverse = pair.map(|slot| bodies.constants[slot].inertia.inverse_mass);
        let inverse = [0, 1].map(|side| if moves[side] { inverse[side] } else { 0.0 });
        let sum = inverse[0] + inverse[1];
        if excess > 0.0 && sum > 0.0 {
            for (side, sign) in [(0, 1.0), (1, -1.0)] {
                if let Some(place) = places[side] {
                    let change = sign * excess * inverse[side] / sum;
                    self.bodies[place].way.linear += plane * change;
                }
            }
        }
    }

    /// The place of a body that has this way by itself.
    fn place(&mut self, slot: Slot, way: &WorldTwist) -> usize {
        let place = self.bodies.iter().position(|body| body.slot == slot);
        place.unwrap_or_else(|| {
            self.bodies.push(Body {
                slot,
                way: *way,
                turn: DVec3::ZERO,
                part: 1.0,
            });
            self.bodies.len() - 1
        })
    }

    /// How a body goes on, if it meets another one.
    fn way(&self, slot: Slot) -> Option<WorldTwist> {
        let body = self.bodies.iter().find(|body| body.slot == slot)?;
        Some(body.way())
    }

    fn end(&mut self) {
        let ways = self.bodies.iter().map(|body| Stay {
            slot: body.slot,
            way: body.way(),
            part: body.part,
        });
        self.ways.extend(ways);
        self.ways.sort_by_key(|stay| stay.slot);
    }
}

impl Meetings {
    /// The step is solved. Pairs that meet after the last round, which would sink into each other, those that wait for an impact that is made no more, and those that would pass through each other as they turn: they come no closer.
    /// What that moves out of its way may meet others, but passes nothing that does not move.
    ///
    /// # Errors
    /// [`StepError::Crowd`].
    pub(crate) fn hold(
        &mut self,
        look: (&Solved, &Impacts),
        detection: &mut Detection,
    ) -> Result<(), StepError> {
        let (solved, impacts) = look;
        let h = solved.settings.time_step;
        self.held.clear();
        let mut met = std::mem::take(&mut self.unmet);
        met.dedup_by_key(|(pair, _)| *pair);
        let known = met.len();
        for pair in impacts.missed() {
            if met.iter().all(|(of, _)| *of != pair) {
                met.push((pair, DVec3::ZERO));
            }
        }
        if self.turns {
            for pair in self.pairs_that_turn(&solved.turning(), solved, detection) {
                let lets_pass = !solved.bodies.may_push(pair) || solved.edits.lets_pass(&pair);
                let known = impacts.is_alone(pair) || met.iter().any(|(of, _)| *of == pair);
                if lets_pass || known || solved.is_unbounded(pair) {
                    continue;
                }
                let ways = pair.map(|slot| self.way(slot, look));
                let path = solved.path(pair, ways);
                // What is apart, or sinks in by less than that, does not pass, as far as looks tell.
                let known = self.calm.get(pair);
                let is_calm = known.is_some_and(|calm| calm.covers(&ways, (solved.bodies, h)));
                let sinks = !is_calm && path.sinks_through(h, &mut self.points);
                if sinks || path.entry(h).is_some() {
                    met.push((pair, DVec3::ZERO));
                }
            }
        }
        self.hold_pairs(&met, known, look);
        let ended = self.rounds + self.rounds_left_out >= ROUNDS + LAST;
        if ended || !self.held.bodies.is_empty() {
            let walls = self.walls_ahead(ended, look, detection)?;
            let walls: Vec<_> = walls.into_iter().map(|pair| (pair, DVec3::ZERO)).collect();
            self.hold_pairs(&walls, 0, look);
        }
        self.held.end();
        met.truncate(known);
        self.unmet = met;
        Ok(())
    }

    /// Holds these pairs, with a plane of each in case that none is found, where they meet. Those before `known` were counted as last resorts when their contacts did not come.
    fn hold_pairs(
        &mut self,
        pairs: &[([Slot; 2], DVec3)],
        known: usize,
        look: (&Solved, &Impacts),
    ) {
        for round in 0..PLANES {
            let mut meets = false;
            for (at, pair) in pairs.iter().enumerate() {
                let comes = self.hold_pair(*pair, look);
                self.last_resorts += usize::from(comes && round == 0 && at >= known);
                meets |= comes;
            }
            if !meets {
                break;
            }
        }
    }

    /// Holds a pair that meets on its way. True if it does.
    fn hold_pair(&mut self, (pair, plane): ([Slot; 2], DVec3), look: (&Solved, &Impacts)) -> bool {
        let (solved, h) = (look.0, look.0.settings.time_step);
        let ways = pair.map(|slot| {
            let own = || self.way(slot, look);
            self.held.way(slot).unwrap_or_else(own)
        });
        let path = solved.path(pair, ways);
        let entry = path.entry(h);
        let sunk = path.sampled(h, &mut self.points);
        if sunk.is_none() && entry.is_none() {
            return false;
        }
        let first = path.meeting(h, &mut self.points);
        let Some(met) = first.into_iter().chain(sunk).reduce(f64::min) else {
            return false;
        };
        let deepest = path.deepest_at(met, &mut self.points).1;
        let normal = match entry {
            // On this side it was.
            Some(entry) => entry.normal,
            None if deepest == DVec3::ZERO => plane,
            None => deepest,
        };
        let part = met / h;
        let meeting = Meeting {
            pair,
            ways,
            normal,
            part,
        };
        self.held.add(&meeting, solved);
        true
    }

    /// Pairs of a held body, on its way, with one that impulses do not move; if the rounds have ended, also of those that were struck beyond their reach.
    fn walls_ahead(
        &self,
        ended: bool,
        look: (&Solved, &Impacts),
        detection: &mut Detection,
    ) -> Result<Vec<[Slot; 2]>, StepError> {
        let Solved {
            bodies,
            motion,
            edits,
            settings,
            ..
        } = look.0;
        let held = self.held.bodies.iter();
        let mut ways: Vec<_> = held.map(|body| (body.slot, body.way())).collect();
        if ended {
            let mut reached = self.reached.clone();
            reached.sort_unstable();
            let far = bodies
                .awake_dynamic()
                .map(|slot| (slot, self.way(slot, look)));
            let is_far = |(slot, way): &(Slot, WorldTwist)| {
                detection.goes_far(*slot, way, settings.time_step)[0]
                    || reached.binary_search(slot).is_ok()
            };
            ways.extend(far.filter(is_far));
        }
        // What is held comes first of its slot.
        ways.sort_by_key(|(slot, _)| *slot);
        ways.dedup_by_key(|(slot, _)| *slot);
        let mut pairs = detection.pairs_of_struck(&ways, bodies, motion, settings)?;
        pairs.retain(|pair| {
            let stands = pair.iter().any(|slot| !bodies.is_awake_dynamic(*slot));
            stands && bodies.may_push(*pair) && !edits.lets_pass(pair)
        });
        Ok(pairs)
    }
}
