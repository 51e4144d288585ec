//! What is read anew of the world before a question.
//!
//! As in the gather of a step, columns of components are read as slices, and the tick of the last change of a column says whether to look at its
//! rows. Components whose removal no tick tells of are counted by their hooks.

use super::error::QueryError;
use super::index::{Item, QueryIndex};
use crate::bodies::check::{center_of_mass, check_body_state};
use crate::components::notices::Notices;
use crate::components::{
    BodyId, Collider, CollisionGroups, Mass, PartMaterials, Pose, RigidBody, Sensor, Sleeping,
    Twist, Wrench,
};
use crate::error::BodyError;
use bevy_ecs::change_detection::{ContiguousRef, Tick};
use bevy_ecs::prelude::*;
use bevy_ecs::query::ContiguousQueryData;
use bevy_ecs::system::SystemParam;
use glam::DVec3;
use moreau_geometry::Frame;

/// What is read of a body with a shape.
type ShapeQuery = (
    Entity,
    Ref<'static, RigidBody>,
    Ref<'static, BodyId>,
    Ref<'static, Collider>,
    Option<Ref<'static, PartMaterials>>,
    Ref<'static, Mass>,
    Ref<'static, CollisionGroups>,
    Option<Ref<'static, Sensor>>,
    Ref<'static, Pose>,
);

type Columns<'w> = <ShapeQuery as ContiguousQueryData>::Contiguous<'w, 'w>;

/// The bodies of the world.
#[derive(SystemParam)]
pub(super) struct Shapes<'w, 's> {
    bodies: Query<'w, 's, ShapeQuery>,
    with_shape: Query<'w, 's, Entity, (With<RigidBody>, With<Collider>)>,
    sleepers: Query<'w, 's, Entity, With<Sleeping>>,
}

/// A tick after which something counts as new.
#[derive(Clone, Copy)]
pub(super) struct Since {
    pub(super) known: Tick,
    pub(super) now: Tick,
}

impl Since {
    fn is_new(self, tick: Tick) -> bool {
        tick.is_newer_than(self.known, self.now)
    }

    /// A row of the column was written to.
    fn touched<T: Component + Clone>(self, column: &ContiguousRef<T>) -> bool {
        let (_, ticks) = ContiguousRef::split(ContiguousRef::clone(column));
        // The tick of the column is compared with the last run of the system: it tells if all up to there is known.
        let all_known = !self.is_new(ticks.last_run());
        if all_known && ticks.summary_tick_is_changed() == Some(false) {
            return false;
        }
        ticks.changed().iter().any(|tick| self.is_new(*tick))
    }
}

impl QueryIndex {
    /// Reads what has changed. What is new after it has the tick `up_to` at least.
    pub(super) fn refresh(
        &mut self,
        shapes: &Shapes,
        notices: &Notices,
        since: Since,
        up_to: Tick,
    ) -> Result<(), QueryError> {
        let everything = self.stale || self.seen_lost != notices.seen_lost;
        self.stale = true;
        self.read(shapes, everything, since)?;
        self.tree.settle();
        if everything || self.sleep_changes != notices.sleep_changes {
            for item in self.items.iter_mut().flatten() {
                item.asleep = shapes.sleepers.contains(item.entity);
            }
        }
        self.seen_lost = notices.seen_lost;
        self.sleep_changes = notices.sleep_changes;
        self.known = up_to;
        self.stale = false;
        Ok(())
    }

    fn read(&mut self, shapes: &Shapes, everything: bool, since: Since) -> Result<(), QueryError> {
        let mut count = 0;
        for columns in shapes.bodies.contiguous_iter().into_iter().flatten() {
            count += columns.0.len();
            if everything || constants_touched(&columns, since) {
                self.read_rows(&columns, everything, since, shapes)?;
            } else if since.touched(&columns.8) {
                self.read_poses(&columns, since)?;
            }
        }
        if count != shapes.with_shape.iter().len() {
            return Err(incomplete(shapes));
        }
        if count != self.len() {
            self.retain(|entity| shapes.bodies.contains(entity));
        }
        Ok(())
    }

    /// Rows of which something has changed, or all of them.
    fn read_rows(
        &mut self,
        columns: &Columns,
        everything: bool,
        since: Since,
        shapes: &Shapes,
    ) -> Result<(), QueryError> {
        let (entities, kind, id, collider, parts, mass, groups, sensor, pose) = columns;
        for (row, entity) in entities.iter().enumerate() {
            let new = |ticks: &[Tick]| since.is_new(ticks[row]);
            let changed = everything
                || new(kind.changed_ticks_slice())
                || new(id.changed_ticks_slice())
                || new(collider.changed_ticks_slice())
                || parts
                    .as_ref()
                    .is_some_and(|parts| new(parts.changed_ticks_slice()))
                || new(mass.changed_ticks_slice())
                || new(groups.changed_ticks_slice())
                || sensor
                    .as_ref()
                    .is_some_and(|sensor| new(sensor.changed_ticks_slice()));
            if changed {
                let refused = |source: BodyError| QueryError::Body {
                    id: id[row],
                    entity: *entity,
                    source,
                };
                let geometry = collider[row]
                    .geometry()
                    .map_err(|error| refused(error.into()))?;
                let parts = parts.as_ref().map(|parts| &parts[row]);
                let center = center_of_mass(&geometry, &mass[row], parts).map_err(refused)?;
                self.put(Item {
                    entity: *entity,
                    id: id[row],
                    kind: kind[row],
                    groups: groups[row],
                    sensor: sensor.is_some(),
                    asleep: shapes.sleepers.contains(*entity),
                    geometry,
                    center,
                    pose: frame(&pose[row], center).map_err(refused)?,
                });
            } else if new(pose.changed_ticks_slice()) {
                self.read_pose(*entity, id[row], &pose[row])?;
            }
        }
        Ok(())
    }

    fn read_poses(&mut self, columns: &Columns, since: Since) -> Result<(), QueryError> {
        let (entities, _, id, .., pose) = columns;
        let rows = entities.iter().zip(id.iter()).zip(pose.iter());
        for (((entity, id), pose), tick) in rows.zip(pose.changed_ticks_slice()) {
            if since.is_new(*tick) {
                self.read_pose(*entity, *id, pose)?;
            }
        }
        Ok(())
    }

    fn read_pose(&mut self, entity: Entity, id: BodyId, pose: &Pose) -> Result<(), QueryError> {
        let Some(number) = self.number(entity) else {
            return Ok(());
        };
        let center = self.item(number).map_or(DVec3::ZERO, |item| item.center);
        let frame = frame(pose, center);
        let frame = frame.map_err(|source| QueryError::Body { id, entity, source })?;
        self.place(number, frame);
        Ok(())
    }
}

fn constants_touched(columns: &Columns, since: Since) -> bool {
    let (_, kind, id, collider, parts, mass, groups, sensor, _) = columns;
    since.touched(kind)
        || since.touched(id)
        || since.touched(collider)
        || parts.as_ref().is_some_and(|parts| since.touched(parts))
        || since.touched(mass)
        || since.touched(groups)
        || sensor.as_ref().is_some_and(|sensor| since.touched(sensor))
}

/// The first body that lacks a component.
fn incomplete(shapes: &Shapes) -> QueryError {
    let mut all = shapes.with_shape.iter();
    let entity = all.find(|entity| !shapes.bodies.contains(*entity));
    QueryError::Body {
        id: BodyId::UNASSIGNED,
        entity: entity.unwrap_or(Entity::PLACEHOLDER),
        source: BodyError::Missing {
            part: "Pose, BodyId, Mass or CollisionGroups",
        },
    }
}

/// The frame of the shape of a body.
pub(super) fn frame(pose: &Pose, center: DVec3) -> Result<Frame, BodyError> {
    check_body_state(pose, &Twist::default(), &Wrench::default())?;
    let length = pose.orientation.length();
    let mut pose = *pose;
    if (length - 1.0).abs() > 1e-14 {
        pose.orientation *= 1.0 / length;
    }
    Ok(pose.of_shape(center).into())
}
