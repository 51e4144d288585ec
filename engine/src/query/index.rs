//! The bodies that questions are about, and a tree of their boxes.

use crate::components::{BodyId, CollisionGroups, RigidBody};
use crate::step::threads::Threads;
use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::*;
use glam::DVec3;
use moreau_geometry::query::Tree;
use moreau_geometry::{Frame, Geometry};
use std::sync::OnceLock;

/// A body with a shape.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(super) entity: Entity,
    pub(super) id: BodyId,
    pub(super) kind: RigidBody,
    pub(super) groups: CollisionGroups,
    pub(super) sensor: bool,
    pub(super) asleep: bool,
    pub(super) geometry: Geometry,
    /// Centre of mass in the frame of the shape (m).
    pub(super) center: DVec3,
    /// Of the frame of the shape.
    pub(super) pose: Frame,
}

/// What is kept from one question to the next. In the world from the installation on.
///
/// Items keep their numbers; those of bodies that are gone are given to new ones. Answers do not depend on the numbers.
#[derive(Resource, Debug)]
pub(crate) struct QueryIndex {
    pub(super) items: Vec<Option<Item>>,
    pub(super) spare: Vec<u32>,
    /// Numbers of items by entity index.
    pub(super) numbers: Vec<u32>,
    pub(super) tree: Tree,
    /// Everything up to this tick is known.
    pub(super) known: Tick,
    /// Nothing is known: the first time, and after a failure.
    pub(super) stale: bool,
    /// Counts of [`Notices`](crate::components::notices::Notices) when they were last looked at.
    pub(super) seen_lost: u64,
    pub(super) sleep_changes: u64,
    /// Threads for batches, while the step has not started its own.
    pub(super) threads: OnceLock<Threads>,
}

/// No item.
pub(super) const NONE: u32 = u32::MAX;

impl Default for QueryIndex {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            spare: Vec::new(),
            numbers: Vec::new(),
            tree: Tree::default(),
            known: Tick::new(0),
            stale: true,
            seen_lost: 0,
            sleep_changes: 0,
            threads: OnceLock::new(),
        }
    }
}

impl QueryIndex {
    /// Number of bodies.
    pub(super) fn len(&self) -> usize {
        self.items.len() - self.spare.len()
    }

    #[inline]
    pub(super) fn item(&self, number: u32) -> Option<&Item> {
        self.items.get(number as usize)?.as_ref()
    }

    /// Number of the item of an entity.
    pub(super) fn number(&self, entity: Entity) -> Option<u32> {
        let number = *self.numbers.get(entity.index_u32() as usize)?;
        let item = self.item(number)?;
        (item.entity == entity).then_some(number)
    }

    /// Adds a body, or replaces what is known of it.
    pub(super) fn put(&mut self, item: Item) {
        let index = item.entity.index_u32() as usize;
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, NONE);
        }
        // An entity that is gone may have had the same index.
        let mut number = self.numbers[index];
        if number == NONE {
            number = self.spare.pop().unwrap_or(self.items.len() as u32);
            if number as usize == self.items.len() {
                self.items.push(None);
            }
            self.numbers[index] = number;
        }
        self.tree.set(number, &item.geometry.aabb(&item.pose));
        self.items[number as usize] = Some(item);
    }

    /// Moves a known body.
    pub(super) fn place(&mut self, number: u32, pose: Frame) {
        if let Some(item) = self.items.get_mut(number as usize).and_then(Option::as_mut)
            && item.pose != pose
        {
            item.pose = pose;
            let bounds = item.geometry.aabb(&pose);
            self.tree.set(number, &bounds);
        }
    }

    /// Takes out the bodies of which this is not true.
    pub(super) fn retain(&mut self, stays: impl Fn(Entity) -> bool) {
        for (number, place) in (0..).zip(&mut self.items) {
            let Some(item) = place.as_ref().filter(|item| !stays(item.entity)) else {
                continue;
            };
            let index = item.entity.index_u32() as usize;
            if self.numbers[index] == number {
                self.numbers[index] = NONE;
            }
            *place = None;
            self.spare.push(number);
            self.tree.remove(number);
        }
    }
}
