//! Which bodies a question is about.

use super::index::Item;
use crate::components::{CollisionGroups, RigidBody};
use bevy_ecs::entity::Entity;

/// Which bodies count. By default all do.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// let gun = simulation.spawn((RigidBody::Kinematic, Collider::sphere(0.5)))?;
/// let crate_ = simulation.spawn((RigidBody::Dynamic, Collider::cuboid(0.5, 0.5, 0.5), Pose::at(3.0, 0.0, 0.0)))?;
/// let ray = Ray::new(DVec3::ZERO, DVec3::X)?;
/// let own = [gun];
/// let filter = QueryFilter::new().without(&own).only(&[RigidBody::Dynamic]);
/// let hit = simulation.queries()?.ray(&ray, &filter);
/// assert!(hit.is_some_and(|hit| hit.entity == crate_ && hit.at.distance == 2.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct QueryFilter<'a> {
    groups: Option<CollisionGroups>,
    without: &'a [Entity],
    /// By kind: the bodies of this kind do not count.
    left_out: [bool; 3],
    asleep: Option<bool>,
    sensors: Option<bool>,
    predicate: Option<&'a (dyn Fn(Entity) -> bool + Sync)>,
}

impl std::fmt::Debug for QueryFilter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryFilter")
            .field("groups", &self.groups)
            .field("without", &self.without)
            .field("left_out", &self.left_out)
            .field("asleep", &self.asleep)
            .field("sensors", &self.sensors)
            .field("predicate", &self.predicate.is_some())
            .finish()
    }
}

fn number(kind: RigidBody) -> usize {
    match kind {
        RigidBody::Dynamic => 0,
        RigidBody::Kinematic => 1,
        RigidBody::Static => 2,
    }
}

impl<'a> QueryFilter<'a> {
    /// All bodies.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Of these, those that a body with these groups meets.
    #[must_use]
    pub fn groups(self, groups: CollisionGroups) -> Self {
        let groups = Some(groups);
        Self { groups, ..self }
    }

    /// Of these, all but some. Best for a few: the list is gone through for every body in question.
    #[must_use]
    pub fn without(self, without: &'a [Entity]) -> Self {
        Self { without, ..self }
    }

    /// Of these, those of some kinds.
    #[must_use]
    pub fn only(self, kinds: &[RigidBody]) -> Self {
        let mut left_out = [true; 3];
        for kind in kinds {
            left_out[number(*kind)] = self.left_out[number(*kind)];
        }
        Self { left_out, ..self }
    }

    /// Of these, those that do not sleep.
    #[must_use]
    pub fn awake(self) -> Self {
        let asleep = Some(false);
        Self { asleep, ..self }
    }

    /// Of these, those that sleep.
    #[must_use]
    pub fn sleeping(self) -> Self {
        let asleep = Some(true);
        Self { asleep, ..self }
    }

    /// Of these, those that are no [`Sensor`](crate::Sensor).
    #[must_use]
    pub fn solid(self) -> Self {
        let sensors = Some(false);
        Self { sensors, ..self }
    }

    /// Of these, the sensors.
    #[must_use]
    pub fn sensors(self) -> Self {
        let sensors = Some(true);
        Self { sensors, ..self }
    }

    /// Of these, those of which this is true. It is asked last, about bodies whose boxes are met, in any order and perhaps on several threads: its
    /// answers must depend on the entity alone.
    #[must_use]
    pub fn filter(self, predicate: &'a (dyn Fn(Entity) -> bool + Sync)) -> Self {
        let predicate = Some(predicate);
        Self { predicate, ..self }
    }

    #[inline]
    pub(super) fn accepts(&self, item: &Item) -> bool {
        !self.left_out[number(item.kind)]
            && self.groups.is_none_or(|groups| groups.meets(item.groups))
            && self.asleep.is_none_or(|asleep| asleep == item.asleep)
            && self.sensors.is_none_or(|sensors| sensors == item.sensor)
            && !self.without.contains(&item.entity)
            && self
                .predicate
                .is_none_or(|predicate| predicate(item.entity))
    }
}
