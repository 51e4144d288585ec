//! The impulses that a step starts from, keyed by the ids of the bodies and the feature of the contact.
//!
//! One store serves the next step, bodies that wake, and snapshots. Its live form is the record of the last step, whose
//! contacts are ordered by pair, so that a step finds all of its impulses in one pass; beside it lie the impulses within islands
//! that sleep, and those of a snapshot that was put in.

use super::detected::Detected;
use super::record::LastContacts;
use crate::bodies::Bodies;
use crate::bodies::slot::Slot;
use crate::components::BodyId;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;

/// What an impulse, a couple or an arm is at most, in its unit: its square is finite.
pub(crate) const MOST: f64 = 1e150;

/// The impulse of an interaction, by the names that it keeps from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredImpulse {
    /// Bodies A and B, `A < B`.
    pub bodies: [BodyId; 2],
    /// Names the interaction among those of its pair.
    pub feature: u64,
    /// Its point from the two centres of mass, inertial frame, m: a contact whose feature changed is known by its
    /// place.
    pub arms: [DVec3; 2],
    /// On A, inertial frame, a row an axis, N·s.
    pub impulse: DVec3,
    /// The couple on A, inertial frame, N·m·s, of a law that has one.
    #[serde(default)]
    pub couple: Option<DVec3>,
}

impl StoredImpulse {
    fn key(&self) -> ([BodyId; 2], u64) {
        (self.bodies, self.feature)
    }

    /// The first number that no step leaves: those that are not finite, or whose squares are not.
    pub(crate) fn defect(&self) -> Option<(&'static str, f64)> {
        let [a, b] = self.arms;
        let couple = self.couple.unwrap_or_default();
        let vectors = [
            ("impulse", self.impulse),
            ("couple", couple),
            ("arm", a),
            ("arm", b),
        ];
        let numbers = vectors
            .into_iter()
            .flat_map(|(field, vector)| vector.to_array().map(|value| (field, value)));
        let mut wrong = numbers.filter(|(_, value)| value.is_nan() || value.abs() > MOST);
        wrong.next()
    }
}

/// All impulses that the next step starts from. Without them a step finds the same solution within its tolerance;
/// with them, the same bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmStart {
    /// Of the last step, ordered by bodies.
    pub contacts: Vec<StoredImpulse>,
    /// Within islands that sleep, as their last steps left them.
    pub asleep: Vec<StoredImpulse>,
}

/// What is stored beside the record of the last step.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// Contacts of sleeping bodies, ordered by bodies and feature.
    asleep: Arc<Vec<StoredImpulse>>,
    /// Contacts of a snapshot, ordered by bodies; they take the place of the last step.
    restored: Vec<StoredImpulse>,
}

impl Stored {
    /// The store as a whole.
    pub(crate) fn export(&self, last: &LastContacts) -> WarmStart {
        let contacts = match &self.restored[..] {
            [] => listed(last),
            restored => restored.to_vec(),
        };
        WarmStart {
            contacts,
            asleep: self.asleep.to_vec(),
        }
    }

    /// Those of a snapshot, as long as they take the place of the last step.
    pub(crate) fn restored(&self) -> &[StoredImpulse] {
        &self.restored
    }

    /// Those within islands that sleep, shared.
    pub(crate) fn asleep(&self) -> &Arc<Vec<StoredImpulse>> {
        &self.asleep
    }

    /// A store with these.
    pub(crate) fn of(contacts: Vec<StoredImpulse>, asleep: Arc<Vec<StoredImpulse>>) -> Self {
        let mut stored = Self {
            asleep,
            restored: contacts,
        };
        stored.sort();
        stored
    }

    /// Contacts of one pair keep their order.
    fn sort(&mut self) {
        if !self.restored.is_sorted_by_key(|contact| contact.bodies) {
            self.restored.sort_by_key(|contact| contact.bodies);
        }
        if !self.asleep.is_sorted_by_key(StoredImpulse::key) {
            Arc::make_mut(&mut self.asleep).sort_by_key(StoredImpulse::key);
        }
    }

    /// Puts a snapshot in the place of what is stored. What no step leaves is left out: it would be no help.
    pub(crate) fn restore(&mut self, mut from: WarmStart, last: &mut LastContacts) {
        from.contacts.retain(|of| of.defect().is_none());
        from.asleep.retain(|of| of.defect().is_none());
        *last = LastContacts::default();
        *self = Self::of(from.contacts, Arc::new(from.asleep));
    }

    /// Keeps the contacts of the last step with a body that `sleeps`.
    pub(crate) fn keep(&mut self, last: &LastContacts, sleeps: impl Fn(Slot) -> bool) {
        let record = &last.record;
        let solved = record.places().iter().zip(&record.carried).enumerate();
        let kept = solved.filter(|(_, (place, _))| place.bodies.into_iter().any(&sleeps));
        let asleep = Arc::make_mut(&mut self.asleep);
        asleep.extend(kept.map(|(row, _)| stored(row, last)));
        asleep.sort_unstable_by_key(StoredImpulse::key);
    }

    /// Forgets the contacts without a body that sleeps.
    pub(crate) fn forget_awake(&mut self, bodies: &Bodies) {
        let asleep = |id| {
            bodies
                .slot_of(id)
                .is_some_and(|slot| bodies.is_asleep(slot))
        };
        let sleeps = |contact: &StoredImpulse| contact.bodies.into_iter().any(asleep);
        Arc::make_mut(&mut self.asleep).retain(sleeps);
    }

    /// A step has been made from what was restored.
    pub(crate) fn forget_restored(&mut self) {
        self.restored.clear();
    }

    /// The impulses for a step with these bodies.
    pub(crate) fn source<'a>(&'a self, last: &'a LastContacts, bodies: &'a Bodies) -> Source<'a> {
        let woke = bodies.sleep.woke;
        Source {
            last,
            same_slots: last.epoch == bodies.epoch,
            restored: &self.restored,
            asleep: if woke { &self.asleep } else { &[] },
            ids: &bodies.ids,
        }
    }
}

/// The impulses of the last step.
pub(crate) fn listed(last: &LastContacts) -> Vec<StoredImpulse> {
    let record = &last.record;
    let rows = 0..record.places().len().min(record.carried.len());
    rows.map(|row| stored(row, last)).collect()
}

fn stored(row: usize, last: &LastContacts) -> StoredImpulse {
    let place = &last.record.places()[row];
    StoredImpulse {
        bodies: place.bodies.map(|slot| last.ids[slot]),
        feature: place.feature,
        arms: last.record.arms(row, last.centres()),
        impulse: last.record.carried[row],
        couple: last.record.carried_couples.get(row).copied(),
    }
}

/// The store, for the contacts of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    last: &'a LastContacts,
    /// The bodies of the last step are those of this one in the same slots.
    same_slots: bool,
    restored: &'a [StoredImpulse],
    /// Contacts from before bodies fell asleep that are awake again.
    asleep: &'a [StoredImpulse],
    /// Of the bodies of this step.
    ids: &'a [BodyId],
}

impl Source<'_> {
    /// The order of the bodies of `place`, a contact of the last step, and those of a pair of this one. Contacts are
    /// ordered by them.
    #[inline]
    fn order(&self, place: &Detected, pair: [Slot; 2]) -> Ordering {
        if self.same_slots {
            let one_number = |[a, b]: [Slot; 2]| u64::from(a.0) << 32 | u64::from(b.0);
            return one_number(place.bodies).cmp(&one_number(pair));
        }
        let last = place.bodies.map(|slot| self.last.ids[slot]);
        last.cmp(&pair.map(|slot| self.ids[slot]))
    }

    /// The impulse of a contact in a snapshot.
    fn find_restored(&self, wanted: &Detected, arms: &[DVec3; 2]) -> Option<DVec3> {
        let pair = wanted.bodies.map(|slot| self.ids[slot]);
        let begin = self.restored.partition_point(|c| c.bodies < pair);
        let end = self.restored.partition_point(|c| c.bodies <= pair);
        let of_pair = &self.restored[begin..end];
        let of_feature = of_pair.iter().position(|c| c.feature == wanted.feature);
        let at = |index: usize| of_pair[index].arms;
        let found = of_feature.or_else(|| nearest(0..of_pair.len(), at, arms));
        found.map(|index| of_pair[index].impulse)
    }

    /// The couple of a contact of another law than Coulomb's, inertial frame, N·m·s: of the one with its feature.
    pub(crate) fn couple(&self, wanted: &Detected) -> Option<DVec3> {
        let record = &self.last.record;
        let places = record.places();
        let begin = places.partition_point(|place| self.order(place, wanted.bodies).is_lt());
        let of_pair = places[begin..].iter();
        let mut of_pair = of_pair.take_while(|place| self.order(place, wanted.bodies).is_eq());
        if let Some(place) = of_pair.position(|place| place.feature == wanted.feature) {
            return record.carried_couples.get(begin + place).copied();
        }
        let key = (wanted.bodies.map(|slot| self.ids[slot]), wanted.feature);
        let restored = self.restored.iter().find(|of| of.key() == key);
        let asleep = || {
            let at = self.asleep.binary_search_by_key(&key, StoredImpulse::key);
            at.ok().map(|at| &self.asleep[at])
        };
        restored.or_else(asleep)?.couple
    }

    /// The impulse of a contact from before its bodies fell asleep.
    fn find_asleep(&self, wanted: &Detected) -> Option<DVec3> {
        let key = (wanted.bodies.map(|slot| self.ids[slot]), wanted.feature);
        let at = self.asleep.binary_search_by_key(&key, StoredImpulse::key);
        Some(self.asleep[at.ok()?].impulse)
    }
}

/// The one of some contacts of a pair that is in the place of the contact with `arms`.
#[inline]
fn nearest(
    of_pair: impl Iterator<Item = usize>,
    arms_of: impl Fn(usize) -> [DVec3; 2],
    arms: &[DVec3; 2],
) -> Option<usize> {
    let away = |index: usize| {
        let last = arms_of(index);
        arms[0].distance_squared(last[0]) + arms[1].distance_squared(last[1])
    };
    let found = of_pair
        .map(|index| (index, away(index)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let shorter = arms[0].length_squared().min(arms[1].length_squared());
    let near = SAME_PLACE * SAME_PLACE * shorter;
    found
        .filter(|(_, away)| *away <= near)
        .map(|(index, _)| index)
}

/// Contacts of a pair are in the same place if they moved by less than this part of the shorter arm.
const SAME_PLACE: f64 = 0.1;

/// Place in the contacts of the last step. Contacts are matched by bodies and feature; both lists are
/// ordered by pair, so one pass suffices.
#[derive(Default)]
pub(crate) struct Cursor {
    /// The first contact that is not before the pair in question.
    next: Option<usize>,
}

impl Cursor {
    /// The impulse of a contact in the last step, inertial frame: of the one with its feature, else of the one
    /// in its place.
    #[inline]
    pub(crate) fn find(
        &mut self,
        source: &Source,
        wanted: &Detected,
        arms: &[DVec3; 2],
    ) -> Option<DVec3> {
        let record = &source.last.record;
        let places = record.places();
        let order = |place: &Detected| source.order(place, wanted.bodies);
        let mut next = match self.next {
            Some(next) => next,
            None => places.partition_point(|place| order(place).is_lt()),
        };
        while places.get(next).is_some_and(|place| order(place).is_lt()) {
            next += 1;
        }
        self.next = Some(next);
        let of_pair = || (next..).zip(places[next..].iter().take_while(|p| order(p).is_eq()));
        let mut of_feature = of_pair().filter(|(_, p)| p.feature == wanted.feature);
        let found = of_feature.next().map(|(index, _)| index);
        let arms_of = |index: usize| record.arms(index, source.last.centres());
        match found.or_else(|| nearest(of_pair().map(|(index, _)| index), arms_of, arms)) {
            Some(index) => record.carried.get(index).copied(),
            None if !source.restored.is_empty() => source
                .find_restored(wanted, arms)
                .or_else(|| source.find_asleep(wanted)),
            None if source.asleep.is_empty() => None,
            None => source.find_asleep(wanted),
        }
    }
}
