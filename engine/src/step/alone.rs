//! Impacts of two bodies that meet nothing else in the step [docs/theory.md §5]: their island has no third one.
//!
//! What acts on both is one impulse at the time `t` at which they meet, in one point. So their ways are known exactly:
//!
//! ```text
//! arms, normals and gaps of their contacts     at t, in a step of h − t
//! h v_{k+θ} = h (v_k + v_free)/2 + (h − t)(v_{k+1} − v_free)
//! ```
//!
//! The angular momentum of the two about any point is kept: the impulse has the same line on both sides. Their energy in uniform gravity is that
//! of θ = ½, since the centre of mass of both moves as it does freely. With other contacts in play no such time is common to all, and with impacts
//! that follow one another the ways are those of [`course`](super::course).

use super::exchange::Exchange;
use super::solved::Solved;
use crate::bodies::slot::Slot;
use crate::detection::path;
use crate::interactions::detected::Detected;
use crate::interactions::graph::Graph;
use crate::joints::Joints;
use crate::settings::{Settings, Theta};
use moreau_geometry::ContactPoint;
use moreau_solvers::WorldTwist;
use std::ops::Range;

/// The pairs that are alone.
#[derive(Debug, Default)]
pub(crate) struct Alone {
    /// Ascending.
    pairs: Vec<Pair>,
    /// Pairs that are not, or no more.
    others: Vec<[Slot; 2]>,
    /// By slot: what pushes it.
    pushers: Vec<Pusher>,
    /// By slot: when its pair meets.
    times: Vec<Option<f64>>,
    /// By slot: bodies of the island that it names.
    sizes: Vec<u32>,
    points: Vec<ContactPoint>,
    /// Pairs with a new row.
    new: Vec<[Slot; 2]>,
}

/// What a look changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    /// The ways of bodies, which may meet others on them.
    Ways,
    /// Contacts are to be exchanged.
    Contacts,
}

/// A pair that is alone.
#[derive(Clone, Copy, Debug)]
struct Pair {
    bodies: [Slot; 2],
    /// When they meet, s after `t_k`.
    time: f64,
    /// Gaps that are closed then, m.
    closed: f64,
}

/// What pushes a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pusher {
    #[default]
    Nothing,
    /// One body, by its pair.
    One([Slot; 2]),
    /// Several, or a joint, or a force of its own.
    Several,
}

impl Alone {
    /// No pair is alone.
    pub(crate) fn clear(&mut self) {
        self.pairs.clear();
        self.others.clear();
    }

    /// The pair meets within the step, and nothing else meets it.
    pub(crate) fn contains(&self, pair: [Slot; 2]) -> bool {
        self.place(pair).is_ok()
    }

    /// The gap (m) of a contact that a step of its own length closes with the velocity with which the rest of the step closes the gap left when its
    /// pair meets. `u` is `u_N` before, m/s.
    pub(crate) fn gap(&self, contact: &Detected, u: f64, settings: &Settings) -> f64 {
        let Ok(place) = self.place(contact.bodies) else {
            return contact.gap;
        };
        let (h, Pair { time, closed, .. }) = (settings.time_step, self.pairs[place]);
        if time == 0.0 {
            return contact.gap;
        }
        let left = contact.gap + time * u;
        if left <= closed {
            0.0
        } else {
            left * h / (h - time)
        }
    }

    /// The body is of a pair that is alone.
    pub(crate) fn holds(&self, slot: Slot) -> bool {
        self.pairs.iter().any(|pair| pair.bodies.contains(&slot))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    fn place(&self, pair: [Slot; 2]) -> Result<usize, usize> {
        self.pairs.binary_search_by_key(&pair, |alone| alone.bodies)
    }

    /// Pairs that the motion as solved shows not to be alone have the law of all again.
    pub(crate) fn part(
        &mut self,
        solved: &Solved,
        joints: &Joints,
        exchange: &mut Exchange,
    ) -> Found {
        if self.pairs.is_empty() {
            return Found::Nothing;
        }
        self.find_pushers(solved, joints);
        self.find_crossed(solved);
        exchange.clear(solved.record.found.len());
        let before = self.pairs.len();
        let Self {
            pairs,
            others,
            pushers,
            ..
        } = self;
        pairs.retain(|pair| {
            let stays = pair
                .bodies
                .iter()
                .all(|slot| pushers[*slot] != Pusher::Several);
            if !stays {
                others.push(pair.bodies);
            }
            if !stays && pair.time > 0.0 {
                exchange.struck.push(pair.bodies);
            }
            stays
        });
        if !exchange.struck.is_empty() {
            Found::Contacts
        } else if self.pairs.len() < before {
            Found::Ways
        } else {
            Found::Nothing
        }
    }

    /// Finds pairs that are alone in the motion as solved, on their way before they meet: the contacts of that time take the place of those that they have.
    pub(crate) fn find(
        &mut self,
        solved: &Solved,
        (joints, graph): (&Joints, &mut Graph),
        exchange: &mut Exchange,
    ) -> Found {
        if solved.settings.theta != Theta::Auto {
            return Found::Nothing;
        }
        let mut new = std::mem::take(&mut self.new);
        self.list_new(solved, &mut new);
        if !new.is_empty() {
            self.find_pushers(solved, joints);
            new.retain(|pair| {
                pair.iter()
                    .all(|slot| self.pushers[*slot] == Pusher::One(*pair))
            });
        }
        // Islands are counted where it is left to them.
        if !new.is_empty() {
            self.count_islands(solved, graph);
        }
        exchange.clear(solved.record.found.len());
        let before = self.pairs.len();
        for pair in &new {
            let mut bodies = pair.iter();
            if bodies.all(|slot| graph.has(*slot) && self.sizes[graph.island(*slot)] == 2) {
                self.add(*pair, solved.rows_of(*pair), solved, exchange);
            }
        }
        self.new = new;
        if !exchange.late.is_empty() {
            Found::Contacts
        } else if self.pairs.len() > before {
            Found::Ways
        } else {
            Found::Nothing
        }
    }

    /// Counts the bodies of each island.
    fn count_islands(&mut self, solved: &Solved, graph: &mut Graph) {
        graph.tie(&solved.record.found, solved.bodies);
        self.sizes.clear();
        self.sizes.resize(solved.bodies.len(), 0);
        for slot in solved.bodies.awake_dynamic() {
            self.sizes[graph.island(slot)] += 1;
        }
    }

    /// Adds a pair with these rows.
    fn add(
        &mut self,
        pair: [Slot; 2],
        rows: Range<usize>,
        solved: &Solved,
        exchange: &mut Exchange,
    ) {
        let (h, record) = (solved.settings.time_step, solved.record);
        let touch = path::tolerance(pair.map(|slot| &solved.bodies.constants[slot]));
        let touches = |row: usize| record.found[row].gap <= touch && record.impulse[row].x > 0.0;
        let mut time = 0.0;
        if !rows.clone().any(touches) {
            let path = solved.path(pair, pair.map(|slot| solved.motion.begin[slot]));
            let Some(met) = path.first_touch(h, &mut self.points) else {
                self.others.push(pair);
                return;
            };
            path.contacts_at((met, false), h, &mut self.points, &mut exchange.late);
            exchange.stay[rows].fill(false);
            time = met;
        }
        let place = self.place(pair).unwrap_or_else(|place| place);
        let alone = Pair {
            bodies: pair,
            time,
            closed: 2.0 * touch,
        };
        self.pairs.insert(place, alone);
    }

    /// Lists the pairs with a new row, in their order.
    fn list_new(&self, solved: &Solved, new: &mut Vec<[Slot; 2]>) {
        let found = solved.record.found.iter().zip(solved.impacts);
        let rows = solved.record.impulse.iter().zip(found).enumerate();
        let across = rows
            .filter(|(_, (r, (place, is_impact)))| r.x > 0.0 && (**is_impact || place.gap > 0.0));
        new.clear();
        for (row, (_, (place, is_impact))) in across {
            if self.is_new(row, (place, *is_impact), solved) {
                new.push(place.bodies);
            }
        }
        new.dedup();
    }

    /// The row, which pushes in an impact or across a gap, does so with two bodies that are free to move, and its pair was not looked at yet.
    fn is_new(&self, row: usize, (place, is_impact): (&Detected, bool), solved: &Solved) -> bool {
        let pair = place.bodies;
        let centres = solved.motion.centres();
        let touch = || path::tolerance_of(pair, centres.balls, solved.bodies);
        // Awake and dynamic, by lists that lie closer together than the constants of the bodies.
        let is_free =
            |slot: &Slot| centres.inverse_mass[*slot] > 0.0 && !solved.bodies.is_asleep(*slot);
        (is_impact || place.gap > touch())
            && pair.iter().all(is_free)
            && !self.contains(pair)
            && !self.others.contains(&pair)
            && solved.edits.law(row).is_none()
    }

    fn find_pushers(&mut self, solved: &Solved, joints: &Joints) {
        self.pushers.clear();
        self.pushers.resize(solved.bodies.len(), Pusher::Nothing);
        for slot in joints.list.iter().flat_map(|joint| joint.slots()) {
            self.pushers[slot] = Pusher::Several;
        }
        for (slot, _) in &solved.bodies.user_forces.laws {
            self.pushers[*slot] = Pusher::Several;
        }
        for (row, place) in solved.record.found.iter().enumerate() {
            if solved.record.impulse[row].x <= 0.0 {
                continue;
            }
            for slot in place.bodies {
                let pusher = &mut self.pushers[slot];
                *pusher = match *pusher {
                    Pusher::Nothing => Pusher::One(place.bodies),
                    Pusher::One(pair) if pair == place.bodies => continue,
                    _ => Pusher::Several,
                };
            }
        }
    }

    /// On its way a body of a pair gets into another one, which had been pushed away from it at the end of the step: it is that one that it meets first.
    fn find_crossed(&mut self, solved: &Solved) {
        let h = solved.settings.time_step;
        self.times.clear();
        self.times.resize(solved.bodies.len(), None);
        for Pair { bodies, time, .. } in &self.pairs {
            for slot in bodies {
                self.times[*slot] = Some(*time);
            }
        }
        for (place, contact) in solved.record.found.iter().zip(solved.contacts) {
            let pair = place.bodies;
            let own = pair.map(|slot| self.times[slot]);
            if own == [None; 2] || self.contains(pair) {
                continue;
            }
            let way = |side: usize, until: f64| {
                let slot = pair[side];
                let [begin, end] = [solved.motion.begin[slot], solved.end(slot)];
                let [begin, end] = [begin, end].map(|twist| twist.at(contact.arms[side]));
                let change = own[side].unwrap_or(0.5 * until).min(until);
                begin * change + end * (until - change)
            };
            let touch = path::tolerance(pair.map(|slot| &solved.bodies.constants[slot]));
            let mut ends = own.into_iter().flatten().chain([h]);
            if ends
                .any(|until| place.gap + place.normal.dot(way(0, until) - way(1, until)) < -touch)
            {
                for slot in pair {
                    self.pushers[slot] = Pusher::Several;
                }
            }
        }
    }

    /// The mean velocities through the step, as solved.
    pub(crate) fn means(&self, solved: &Solved) -> impl Iterator<Item = (Slot, WorldTwist)> {
        let h = solved.settings.time_step;
        self.pairs.iter().flat_map(move |pair| {
            let part = 1.0 - pair.time / h;
            pair.bodies.map(|slot| {
                let [begin, free, end] = [
                    solved.motion.begin[slot],
                    solved.motion.free[slot],
                    solved.end(slot),
                ];
                let mean = WorldTwist {
                    linear: (begin.linear + free.linear) / 2.0 + (end.linear - free.linear) * part,
                    angular: (begin.angular + free.angular) / 2.0
                        + (end.angular - free.angular) * part,
                };
                (slot, mean)
            })
        })
    }
}
