//! Who touches whom, who sees whom, and who sleeps: what began and ended in a step.
//!
//! Pairs are compared with those of the step before, in one pass over two lists in the same order. Pairs at rest, of which impulses move neither body, are kept
//! aside until the epoch of the bodies changes: a sleeping pile costs nothing.

use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::{BodyId, JointId, RigidBody};
use crate::detection::{Detection, path};
use crate::interactions::detected::first_row_from;
use crate::interactions::record::ContactRecord;
use crate::math::rotation::contact_frame;
use crate::results::events::{ContactEvent, Edge, SensorEvent, SleepEvent, StepEvents};
use bevy_ecs::entity::Entity;
use glam::DVec3;
use moreau_geometry::{Aabb, ContactPoint, contacts};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// What is so from step to step.
#[derive(Debug, Default)]
pub(crate) struct Touching {
    /// Pairs that touch, ascending: those that impulses may move …
    awake: Vec<[Slot; 2]>,
    /// … and those at rest.
    resting: Vec<[Slot; 2]>,
    /// Sensors and what they see, ascending.
    sensed: Vec<[Slot; 2]>,
    asleep: Vec<bool>,
    /// Of the bodies that the slots are of.
    ids: Vec<BodyId>,
    entities: Vec<Entity>,
    epoch: Option<u64>,
    now: Vec<[Slot; 2]>,
    points: Vec<ContactPoint>,
    pub(crate) events: StepEvents,
}

/// The same as it is kept, by ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TouchingMemory {
    touching: Vec<[BodyId; 2]>,
    /// Sensors first.
    sensed: Vec<[BodyId; 2]>,
    asleep: Vec<BodyId>,
}

/// The difference of two ascending lists: what is only in the first, only in the second.
fn differences(before: &[[Slot; 2]], now: &[[Slot; 2]], mut edge: impl FnMut(Edge, [Slot; 2])) {
    let (mut before, mut now) = (before.iter().peekable(), now.iter().peekable());
    loop {
        let order = match (before.peek(), now.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => a.cmp(b),
        };
        let ended = before.next_if(|_| order != Ordering::Greater);
        let begun = now.next_if(|_| order != Ordering::Less);
        match (ended, begun) {
            (Some(pair), None) => edge(Edge::Ends, *pair),
            (None, Some(pair)) => edge(Edge::Begins, *pair),
            _ => {}
        }
    }
}

impl Touching {
    /// Pairs that touch, ascending by ids.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [BodyId; 2]> + '_ {
        let mut lists = [self.awake.iter().peekable(), self.resting.iter().peekable()];
        std::iter::from_fn(move || {
            let [awake, resting] = &mut lists;
            let first = match (awake.peek(), resting.peek()) {
                (Some(a), Some(b)) if b < a => resting,
                (None, _) => resting,
                _ => awake,
            };
            first.next().map(|pair| self.named(*pair).0)
        })
    }

    /// The pair touches.
    pub(crate) fn holds(&self, bodies: [BodyId; 2]) -> bool {
        let slots = bodies.map(|id| self.ids.binary_search(&id).ok().map(Slot::new));
        let [Some(a), Some(b)] = slots else {
            return false;
        };
        let pair = [a.min(b), a.max(b)];
        self.awake.binary_search(&pair).is_ok() || self.resting.binary_search(&pair).is_ok()
    }

    /// Sensors and what they see, ascending by the ids of both.
    pub(crate) fn sensed(&self) -> impl Iterator<Item = [BodyId; 2]> + '_ {
        self.sensed.iter().map(|pair| self.named(*pair).0)
    }

    pub(crate) fn memory(&self) -> TouchingMemory {
        let asleep = self.ids.iter().zip(&self.asleep);
        TouchingMemory {
            touching: self.pairs().collect(),
            sensed: self.sensed().collect(),
            asleep: asleep
                .filter_map(|(id, asleep)| asleep.then_some(*id))
                .collect(),
        }
    }

    /// Goes on from there; the bodies are looked at in the next step.
    pub(crate) fn recall(&mut self, memory: &TouchingMemory) {
        let TouchingMemory {
            touching,
            sensed,
            asleep,
        } = memory;
        let pairs = touching.iter().chain(sensed);
        let mut ids: Vec<_> = pairs.flatten().chain(asleep).copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let slot = |id: &BodyId| Slot::new(ids.partition_point(|own| own < id));
        let slots = |pairs: &[[BodyId; 2]]| {
            let mut pairs: Vec<_> = pairs.iter().map(|[a, b]| [slot(a), slot(b)]).collect();
            pairs.sort_unstable();
            pairs
        };
        *self = Self {
            awake: slots(touching),
            sensed: slots(sensed),
            asleep: ids
                .iter()
                .map(|id| asleep.binary_search(id).is_ok())
                .collect(),
            entities: vec![Entity::PLACEHOLDER; ids.len()],
            ids,
            ..Self::default()
        };
    }

    /// What is recalled has these entities. `ids`: of all bodies, ascending.
    pub(crate) fn name(&mut self, (ids, entities): (&[BodyId], &[Entity])) {
        for (own, entity) in self.ids.iter().zip(&mut self.entities) {
            if let Some(known) = ids.binary_search(own).ok().and_then(|at| entities.get(at)) {
                *entity = *known;
            }
        }
    }

    /// The step is over, with these contacts.
    pub(crate) fn follow(
        &mut self,
        (bodies, balls): (&Bodies, &[f64]),
        record: &ContactRecord,
        detection: &Detection,
        broken: &[JointId],
    ) {
        self.events.clear();
        self.events.broken_joints.extend(broken);
        let same = self.epoch == Some(bodies.epoch) && self.ids.len() == bodies.len();
        if !same {
            self.renumber(bodies);
        }
        self.compare_contacts(bodies, balls, record);
        self.compare_sensed(bodies, detection, same);
        self.events.contacts.sort_by_key(|event| event.bodies);
        self.events.sensors.sort_by_key(|event| event.bodies);
        self.events.sleep.sort_by_key(|event| event.body);
    }

    /// Bodies came, went, fell asleep or woke: all pairs are looked at.
    fn renumber(&mut self, bodies: &Bodies) {
        self.awake.append(&mut self.resting);
        self.awake.sort_unstable();
        let renamed: Vec<_> = self.ids.iter().map(|id| bodies.slot_of(*id)).collect();
        let renamed = |slot: Slot| renamed[slot.index()];
        let mut contacts = std::mem::take(&mut self.events.contacts);
        let mut sensors = std::mem::take(&mut self.events.sensors);
        let mut awake = std::mem::take(&mut self.awake);
        // Ids and slots have one order: what stays is ascending.
        let may_touch = |pair: [Slot; 2]| {
            let moves = pair.map(|slot| bodies.constants[slot].is_dynamic());
            moves.contains(&true) && bodies.may_touch(pair)
        };
        retain_renamed(&mut awake, (renamed, may_touch), |pair| {
            let (bodies, entities) = self.named(pair);
            contacts.push(ContactEvent {
                edge: Edge::Ends,
                bodies,
                entities,
                impulse: DVec3::ZERO,
                normal_impulse: 0.0,
            });
        });
        let mut sensed = std::mem::take(&mut self.sensed);
        retain_renamed(&mut sensed, (renamed, |_| true), |pair| {
            let (bodies, entities) = self.named(pair);
            let edge = Edge::Ends;
            sensors.push(SensorEvent {
                edge,
                bodies,
                entities,
            });
        });
        let mut asleep = vec![false; bodies.len()];
        for (old, was) in self.asleep.iter().enumerate() {
            match renamed(Slot::new(old)) {
                Some(slot) => asleep[slot.index()] = *was,
                None if *was => self.events.sleep.push(SleepEvent {
                    edge: Edge::Ends,
                    body: self.ids[old],
                    entity: self.entities[old],
                }),
                None => {}
            }
        }
        for slot in bodies.slots() {
            let now = bodies.is_asleep(slot);
            if std::mem::replace(&mut asleep[slot.index()], now) != now {
                self.events.sleep.push(SleepEvent {
                    edge: if now { Edge::Begins } else { Edge::Ends },
                    body: bodies.ids[slot],
                    entity: bodies.entities[slot],
                });
            }
        }
        (self.awake, self.sensed, self.asleep) = (awake, sensed, asleep);
        (self.events.contacts, self.events.sensors) = (contacts, sensors);
        self.ids.clone_from(&bodies.ids);
        self.entities.clone_from(&bodies.entities);
        self.epoch = Some(bodies.epoch);
    }

    fn compare_contacts(&mut self, bodies: &Bodies, balls: &[f64], record: &ContactRecord) {
        self.now.clear();
        let places = record.places();
        let mut row = 0;
        let mut before = self.awake.iter().peekable();
        while let Some(place) = places.get(row) {
            let pair = place.bodies;
            let rows = places[row..]
                .iter()
                .take_while(|other| other.bodies == pair);
            let end = row + rows.count();
            while before.next_if(|touched| **touched < pair).is_some() {}
            let touched = before.next_if_eq(&&pair).is_some();
            let near = || {
                let tolerance = path::tolerance_of(pair, balls, bodies);
                places[row..end].iter().any(|place| place.gap <= tolerance)
            };
            let pushes = record.impulse[row..end].iter().any(|r| r.x > 0.0);
            if pushes || touched && near() {
                self.now.push(pair);
            }
            row = end;
        }
        // What was laid to rest has no contacts.
        let at_rest = |pair: &&[Slot; 2]| !bodies.may_push(**pair);
        let rest = self.awake.iter().filter(at_rest);
        let resting = self.resting.len();
        self.resting
            .extend(rest.chain(self.now.iter().filter(at_rest)));
        if self.resting.len() > resting {
            self.resting.sort_unstable();
            self.resting.dedup();
        }
        let (contacts, resting) = (&mut self.events.contacts, &self.resting);
        let mut begin = 0;
        differences(&self.awake, &self.now, |edge, pair| {
            if edge == Edge::Ends && resting.binary_search(&pair).is_ok() {
                return;
            }
            let (mut impulse, mut normal_impulse) = (DVec3::ZERO, 0.0);
            begin = first_row_from(places, begin, pair);
            let rows = places.iter().enumerate().skip(begin);
            for (row, place) in rows.take_while(|(_, place)| place.bodies == pair) {
                let r = record.true_impulse(row);
                impulse += contact_frame(place.normal) * r;
                normal_impulse += r.x;
            }
            contacts.push(ContactEvent {
                edge,
                bodies: pair.map(|slot| bodies.ids[slot]),
                entities: pair.map(|slot| bodies.entities[slot]),
                impulse,
                normal_impulse,
            });
        });
        self.now.retain(|pair| bodies.may_push(*pair));
        std::mem::swap(&mut self.awake, &mut self.now);
    }

    fn compare_sensed(&mut self, bodies: &Bodies, detection: &Detection, same: bool) {
        if !bodies.some_are_sensors && self.sensed.is_empty() {
            return;
        }
        self.now.clear();
        if bodies.some_are_sensors {
            let at_rest = if same {
                Vec::new()
            } else {
                Self::pairs_at_rest(bodies)
            };
            let pairs = detection.pairs().iter().map(|pair| pair.map(Slot));
            let moves = |pair: &[Slot; 2]| pair.iter().any(|slot| bodies.moves(*slot));
            let pairs = pairs.filter(|pair| bodies.are_sensed(pair) && moves(pair));
            let pairs = pairs.map(|pair| sensor_first(pair, bodies));
            let is_pair = |pair: &[Slot; 2]| {
                let [sensor, other] = pair.map(|slot| &bodies.constants[slot]);
                let stand = [sensor, other].map(|body| body.kind == RigidBody::Static);
                sensor.sensor
                    && !other.sensor
                    && stand != [true, true]
                    && sensor.groups.meets(other.groups)
            };
            // A body that woke in the midst of the step was not looked at by detection.
            let known = self.sensed.iter().copied().chain(at_rest).filter(is_pair);
            self.now.extend(pairs.chain(known));
            self.now.sort_unstable();
            self.now.dedup();
            let (before, points) = (&self.sensed, &mut self.points);
            self.now.retain(|pair| {
                let stays = same && !moves(pair) && before.binary_search(pair).is_ok();
                stays || overlap(*pair, bodies, points)
            });
        }
        let sensors = &mut self.events.sensors;
        differences(&self.sensed, &self.now, |edge, pair| {
            sensors.push(SensorEvent {
                edge,
                bodies: pair.map(|slot| bodies.ids[slot]),
                entities: pair.map(|slot| bodies.entities[slot]),
            });
        });
        std::mem::swap(&mut self.sensed, &mut self.now);
    }

    /// Pairs of a sensor and another body that both stand still, and not for good: detection looks at what moves.
    fn pairs_at_rest(bodies: &Bodies) -> Vec<[Slot; 2]> {
        let still = bodies.slots().filter(|slot| !bodies.moves(*slot));
        let still = still.filter_map(|slot| Some((slot, bodies.bounds(slot)?)));
        let still: Vec<(Slot, Aabb)> = still.collect();
        let mut pairs = Vec::new();
        for (sensor, zone) in &still {
            if !bodies.constants[*sensor].sensor {
                continue;
            }
            let near = still.iter().filter(|(other, bounds)| {
                let sleeps = bodies.is_asleep(*sensor) || bodies.is_asleep(*other);
                sleeps && bounds.intersects(zone)
            });
            pairs.extend(near.map(|(other, _)| [*sensor, *other]));
        }
        pairs
    }

    fn named(&self, pair: [Slot; 2]) -> ([BodyId; 2], [Entity; 2]) {
        let ids = pair.map(|slot| self.ids[slot]);
        (ids, pair.map(|slot| self.entities[slot]))
    }
}

/// Pairs in new slots; `lost` is told of those that are no more, or do not stay, in old ones.
fn retain_renamed(
    pairs: &mut Vec<[Slot; 2]>,
    (renamed, stays): (impl Fn(Slot) -> Option<Slot>, impl Fn([Slot; 2]) -> bool),
    mut lost: impl FnMut([Slot; 2]),
) {
    pairs.retain_mut(|pair| match pair.map(&renamed) {
        [Some(a), Some(b)] if stays([a, b]) => {
            *pair = [a, b];
            true
        }
        _ => {
            lost(*pair);
            false
        }
    });
}

fn sensor_first([a, b]: [Slot; 2], bodies: &Bodies) -> [Slot; 2] {
    if bodies.constants[b].sensor {
        [b, a]
    } else {
        [a, b]
    }
}

/// The two overlap where they are now. `points` is scratch space.
fn overlap(pair: [Slot; 2], bodies: &Bodies, points: &mut Vec<ContactPoint>) -> bool {
    let [a, b] = pair.map(|slot| (&bodies.constants[slot], &bodies.pose[slot]));
    let (Some(shape_a), Some(shape_b)) = (&a.0.geometry, &b.0.geometry) else {
        return false;
    };
    points.clear();
    let (pose_a, pose_b) = (a.0.shape_pose(a.1), b.0.shape_pose(b.1));
    contacts(shape_a, &pose_a, shape_b, &pose_b, 0.0, points);
    points.iter().any(|point| point.gap <= 0.0)
}
