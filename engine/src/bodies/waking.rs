//! What is known of the rest of bodies, and which of them wake between steps.
//!
//! A body that is changed from outside (state, wrench, forces, material, shape, kind, id, groups), spawned or removed is
//! *disturbed*: its own island wakes, and all islands with a body whose box meets that of the disturbed one, where it was
//! and where it is. Any change of the settings but for the number of threads wakes all bodies.

use super::Bodies;
use super::slot::Slot;
use crate::components::{BodyId, RigidBody, Twist};
use crate::settings::{Settings, SleepSettings};
use bevy_ecs::entity::Entity;
use moreau_geometry::Aabb;
use serde::{Deserialize, Serialize};

/// What is known of the rest of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rest {
    /// Time for which it has been quiet, s; zero asleep.
    pub(crate) quiet: f64,
    /// Least speed of a point of it in that time, m/s.
    pub(crate) slowest: f64,
    /// The island that it sleeps with, named by the lowest id among its bodies.
    pub(crate) asleep: Option<BodyId>,
    /// It came, or was changed from outside, since the last gather that succeeded.
    pub(crate) disturbed: bool,
}

impl Rest {
    /// Of a body that was not there before.
    pub(crate) const NEWCOMER: Self = Self {
        quiet: 0.0,
        slowest: 0.0,
        asleep: None,
        disturbed: true,
    };
}

/// What is known of the rest of all bodies, and what has happened to them between steps.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    /// By slot.
    pub(crate) rest: Vec<Rest>,
    /// How many bodies sleep.
    pub(crate) count: usize,
    /// Bodies woke since the last step that succeeded.
    pub(crate) woke: bool,
    /// Bodies whose [`Sleeping`](crate::Sleeping) was inserted or removed since the last step.
    pub(crate) touched: Vec<Slot>,
    /// Some [`Rest::disturbed`].
    pub(crate) any_disturbed: bool,
    /// Where disturbed bodies were.
    pub(crate) places: Vec<Aabb>,
    /// Those of them that impulses do not move.
    pub(crate) hosts: Vec<Slot>,
    /// Islands to wake.
    pub(crate) to_wake: Vec<BodyId>,
    /// Of the last gather, without what changes no result.
    pub(crate) settings: Option<Settings>,
}

impl Bodies {
    /// Something of the body was changed from outside. To be called before the change is taken over.
    pub(crate) fn disturb(&mut self, slot: Slot) {
        let rest = self.sleep.rest[slot];
        if rest.disturbed {
            return;
        }
        self.sleep.rest[slot].disturbed = true;
        self.sleep.any_disturbed = true;
        self.leave_place(slot);
    }

    /// Remembers where a body is, and the island to wake with it.
    pub(super) fn leave_place(&mut self, slot: Slot) {
        if self.sleep.count > 0 {
            // What is no support, and no obstacle, wakes nobody.
            let solid = !self.constants[slot].sensor;
            self.sleep
                .places
                .extend(self.bounds(slot).filter(|_| solid));
            self.sleep.to_wake.extend(self.sleep.rest[slot].asleep);
        }
    }

    /// The last part of a gather: wakes whom something from outside wakes. `shown` tells which entities carry
    /// the component.
    pub(crate) fn settle_sleep(&mut self, shown: &dyn Fn(Entity) -> bool, settings: &Settings) {
        let relevant = Some(settings.without_threads());
        if self.sleep.settings != relevant {
            self.sleep.settings = relevant;
            let all = self.sleep.rest.iter().filter_map(|rest| rest.asleep);
            self.sleep.to_wake.extend(all);
        }
        self.see_disturbed(shown, settings);
        self.see_touched(shown, settings);
        self.wake();
    }

    fn see_disturbed(&mut self, shown: &dyn Fn(Entity) -> bool, settings: &Settings) {
        if self.sleep.any_disturbed {
            self.sleep.any_disturbed = false;
            for slot in self.slots() {
                if !std::mem::take(&mut self.sleep.rest[slot].disturbed) {
                    continue;
                }
                if shown(self.entities[slot]) {
                    self.sleep.touched.push(slot);
                }
                // Bodies that are awake wake others when detection finds a contact.
                if !self.is_awake_dynamic(slot) {
                    self.leave_place(slot);
                }
                if !self.constants[slot].is_dynamic() {
                    self.sleep.hosts.push(slot);
                }
            }
        }
        if self.sleep.places.is_empty() {
            return;
        }
        let places = std::mem::take(&mut self.sleep.places);
        for slot in self.slots() {
            let Some(island) = self.sleep.rest[slot].asleep else {
                continue;
            };
            let slack = settings.margin * self.constants[slot].size + settings.projection.tolerance;
            let near = self.bounds(slot).is_some_and(|bounds| {
                let reach = bounds.inflated(2.0 * slack);
                places.iter().any(|place| place.intersects(&reach))
            });
            if near {
                self.sleep.to_wake.push(island);
            }
        }
    }

    fn see_touched(&mut self, shown: &dyn Fn(Entity) -> bool, settings: &Settings) {
        let mut fell_asleep = false;
        while let Some(slot) = self.sleep.touched.pop() {
            match (shown(self.entities[slot]), self.sleep.rest[slot].asleep) {
                (false, Some(island)) => self.sleep.to_wake.push(island),
                (true, None) => {
                    let may = settings.sleeps()
                        && self.constants[slot].is_dynamic()
                        && self.is_left_alone(slot);
                    if may {
                        self.lay_down(slot, self.ids[slot]);
                    }
                    fell_asleep |= may;
                    // Otherwise the component goes again.
                    self.unwritten = true;
                }
                _ => {}
            }
        }
        if fell_asleep {
            self.changed_rest();
        }
    }

    /// Wakes the islands marked for it. False if there were none.
    fn wake(&mut self) -> bool {
        if self.sleep.to_wake.is_empty() {
            return false;
        }
        let mut islands = std::mem::take(&mut self.sleep.to_wake);
        islands.sort_unstable();
        islands.dedup();
        let mut woke = false;
        for slot in self.slots() {
            let rest = &mut self.sleep.rest[slot];
            let wakes = |island| islands.binary_search(&island).is_ok();
            if rest.asleep.is_some_and(wakes) {
                *rest = Rest::default();
                self.before.pose[slot] = self.pose[slot];
                self.before.twist[slot] = self.twist[slot];
                woke = true;
            }
        }
        islands.clear();
        self.sleep.to_wake = islands;
        if woke {
            self.sleep.woke = true;
            self.changed_rest();
        }
        woke
    }

    /// Wakes what hangs on joints of bodies that are in motion by themselves, were changed, or are awake.
    pub(crate) fn wake_hung(&mut self) {
        let hosts = std::mem::take(&mut self.sleep.hosts);
        for [slot, on] in &self.hung {
            let Some(island) = self.sleep.rest[*slot].asleep.filter(|_| *on != Slot::NONE) else {
                continue;
            };
            if self.carries(*on) || hosts.contains(on) {
                self.sleep.to_wake.push(island);
            }
        }
        self.wake();
        self.wake_tied();
    }

    /// Wakes what joints tie to dynamic bodies that are awake, as contacts with them do. Most joints are within islands, which sleep and wake as a whole; not
    /// those of a body that was static, or that was put to sleep by hand.
    fn wake_tied(&mut self) {
        while self.sleep.count > 0 {
            for [a, b] in &self.tied {
                for [slot, other] in [[*a, *b], [*b, *a]] {
                    let island = self.sleep.rest[slot].asleep;
                    let awake = self.is_awake_dynamic(other);
                    self.sleep.to_wake.extend(island.filter(|_| awake));
                }
            }
            if !self.wake() {
                break;
            }
        }
    }

    /// A kinematic body in motion.
    pub(crate) fn carries(&self, slot: Slot) -> bool {
        self.constants[slot].kind == RigidBody::Kinematic && self.twist[slot] != Twist::default()
    }

    /// Wakes the islands that bodies which are awake meet, given the pairs of all contacts. False if there are
    /// none.
    pub(crate) fn wake_met(&mut self, pairs: impl Iterator<Item = [Slot; 2]>) -> bool {
        if self.sleep.count == 0 {
            return false;
        }
        for pair in pairs {
            let [a, b] = pair.map(|slot| self.sleep.rest[slot]);
            if let (Some(island), None) | (None, Some(island)) = (a.asleep, b.asleep)
                && self.sleep.to_wake.last() != Some(&island)
            {
                self.sleep.to_wake.push(island);
            }
        }
        let woke = self.wake();
        if woke {
            self.wake_tied();
        }
        woke
    }

    /// The island of a body wakes at the beginning of the next step. False if it does not sleep.
    pub(crate) fn ask_to_wake(&mut self, slot: Slot) -> bool {
        let island = self.sleep.rest[slot].asleep;
        self.sleep.to_wake.extend(island);
        island.is_some()
    }

    /// One body falls asleep with `island`.
    pub(crate) fn lay_down(&mut self, slot: Slot, island: BodyId) {
        self.sleep.rest[slot] = Rest {
            asleep: Some(island),
            ..Rest::default()
        };
        self.twist[slot] = Twist::default();
        self.before.pose[slot] = self.pose[slot];
        self.before.twist[slot] = Twist::default();
    }

    /// After bodies fell asleep or woke.
    pub(crate) fn changed_rest(&mut self) {
        self.sleep.count_asleep();
        self.list_moving();
        self.epoch += 1;
        self.unwritten = true;
    }

    /// Speed of the farthest point of a body that was quiet in the step that led to its present twist, m/s.
    pub(crate) fn quiet_speed(&self, slot: Slot, rule: &SleepSettings) -> Option<f64> {
        let Twist { linear, angular } = self.twist[slot];
        let spin = angular.length();
        let speed = linear.length().max(spin * self.constants[slot].radius);
        let quiet = speed <= rule.linear && spin <= rule.angular;
        (quiet && self.is_left_alone(slot)).then_some(speed)
    }
}

impl Sleep {
    pub(crate) fn count_asleep(&mut self) {
        let asleep = self.rest.iter().filter(|rest| rest.asleep.is_some());
        self.count = asleep.count();
    }
}
