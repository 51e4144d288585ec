//! The beginning of a step in an ECS: components to dense arrays.
//!
//! Columns of components are read as slices, one set of slices a table of the ECS. What may have
//! changed is asked of a column, not of its rows: every component of a body keeps the tick of the
//! last change of its column. Bodies at rest carry the mark [`Still`], which puts them in tables of
//! their own: such a table costs a few comparisons as long as it is not written to. Sleeping bodies are
//! among them.
//!
//! Every entity with the mark is in [`Bodies`]. So the
//! bodies are those that are known if no moving entity is unknown and their number is the same.

use super::incomplete::Incomplete;
use super::link::Link;
use crate::bodies::check::{check_body, check_body_state, is_sound};
use crate::bodies::slot::Slot;
use crate::bodies::user_forces::check_forces;
use crate::bodies::{Bodies, Listing};
use crate::components::notices::Notices;
use crate::components::response::Response;
use crate::components::{
    BodyForces, BodyId, Collider, CollisionGroups, Drag, GravityScale, KinematicTarget, Made, Mass,
    Material, PartMaterials, Pose, RigidBody, Sensor, Sleeping, Twist, Wrench,
};
use crate::error::{BodyError, StepError};
use crate::settings::Settings;
use bevy_ecs::change_detection::ContiguousRef;
use bevy_ecs::prelude::*;
use bevy_ecs::query::ContiguousQueryData;
use bevy_ecs::system::SystemParam;

/// Marks a body that the step does not move. Set and taken off by the last phase of a step.
#[derive(Component, Clone, Copy, Debug)]
pub(super) struct Still;

/// What the step reads of a body entity.
pub(crate) type BodyQuery = (
    Entity,
    Ref<'static, RigidBody>,
    Ref<'static, BodyId>,
    Option<Ref<'static, Collider>>,
    Ref<'static, Material>,
    Option<Ref<'static, PartMaterials>>,
    Ref<'static, Mass>,
    Ref<'static, CollisionGroups>,
    Option<Ref<'static, GravityScale>>,
    Option<Ref<'static, Drag>>,
    Option<Ref<'static, BodyForces>>,
    Option<Ref<'static, Sensor>>,
    Ref<'static, Pose>,
    Ref<'static, Twist>,
    Ref<'static, Wrench>,
);

/// The same of all bodies of a table.
type Columns<'w> = <BodyQuery as ContiguousQueryData>::Contiguous<'w, 'w>;

/// The bodies of the world: all of them, those that are marked, and the others.
#[derive(SystemParam)]
pub(crate) struct BodyQueries<'w, 's> {
    all: Query<'w, 's, BodyQuery>,
    still: Query<'w, 's, BodyQuery, With<Still>>,
    others: Query<'w, 's, BodyQuery, Without<Still>>,
    sleepers: Query<'w, 's, (), With<Sleeping>>,
    targets: Query<'w, 's, (Entity, &'static KinematicTarget)>,
    incomplete: Incomplete<'w, 's>,
}

/// What a look at the columns found.
enum Found {
    /// The constants describe the world. The lowest slot of a body whose state is wrong, if any.
    Known(Option<Slot>),
    /// Bodies came, went or changed.
    Changed,
}

/// Reads the world. Constants are rebuilt, and bodies checked, when something other than
/// the state has changed. Wakes whom a change wakes.
pub(super) fn gather(
    bodies: &mut Bodies,
    link: &mut Link,
    notices: &mut Notices,
    world: &BodyQueries,
    settings: &Settings,
) -> Result<(), StepError> {
    link.stale |= std::mem::take(&mut notices.part_lost);
    let gathered = read_or_rebuild(bodies, link, notices, world);
    // Ticks tell of a change once: after a failure nothing is taken as known.
    link.stale = gathered.is_err();
    gathered?;
    read_targets(bodies, link, world)?;
    let touched = notices.sleep_touched.drain(..);
    let touched = touched.filter_map(|entity| link.slot(entity, bodies));
    let touched: Vec<Slot> = touched.collect();
    bodies.sleep.touched.extend(touched);
    bodies.settle_sleep(&|entity| world.sleepers.contains(entity), settings);
    Ok(())
}

/// Reads the targets of the step. The lowest slot of a wrong one is named.
fn read_targets(bodies: &mut Bodies, link: &Link, world: &BodyQueries) -> Result<(), StepError> {
    bodies.targets.clear();
    let mut wrong: Option<(Slot, BodyError)> = None;
    for (entity, target) in &world.targets {
        let Some(slot) = link.slot(entity, bodies) else {
            continue;
        };
        if let Err(source) = bodies.set_target(slot, &target.0)
            && wrong.as_ref().is_none_or(|(lowest, _)| slot < *lowest)
        {
            wrong = Some((slot, source));
        }
    }
    wrong.map_or(Ok(()), |(slot, source)| Err(bodies.refused(slot, source)))
}

fn read_or_rebuild(
    bodies: &mut Bodies,
    link: &mut Link,
    notices: &Notices,
    world: &BodyQueries,
) -> Result<(), StepError> {
    world.incomplete.check(world.all.iter().len())?;
    let mut found = Found::Changed;
    if !link.stale {
        found = Reader { bodies, link }.read(world, false);
    }
    if let Found::Changed = found {
        rebuild(bodies, link, notices, world)?;
        found = Reader { bodies, link }.read(world, true);
    }
    let Found::Known(Some(slot)) = found else {
        return Ok(());
    };
    let state = (
        &bodies.pose[slot],
        &bodies.twist[slot],
        &bodies.wrench[slot],
    );
    check_body_state(state.0, state.1, state.2).map_err(|source| bodies.refused(slot, source))
}

/// Checks all bodies and works out ids and constants.
fn rebuild(
    bodies: &mut Bodies,
    link: &mut Link,
    notices: &Notices,
    world: &BodyQueries,
) -> Result<(), StepError> {
    let query = &world.all;
    let order = query.iter().map(|(entity, _, id, ..)| (*id, entity));
    let order = ordered_by_id(order.collect(), notices.next_id)?;
    let mut listing = Listing::default();
    for (id, entity) in &order {
        let Ok((
            _,
            kind,
            _,
            collider,
            material,
            parts,
            mass,
            groups,
            gravity,
            drag,
            forces,
            sensor,
            ..,
        )) = query.get(*entity)
        else {
            continue;
        };
        let response = Response::new(gravity.as_deref(), drag.as_deref());
        let shape = collider.as_deref();
        let made = Made::of(&material, parts.as_deref());
        let built = check_body(
            *kind,
            shape,
            made,
            &mass,
            (*groups, sensor.is_some()),
            response,
        );
        let forces = forces.as_deref();
        let built = built.and_then(|built| check_forces(forces).map(|()| built));
        let constants = built.map_err(|source| StepError::Body {
            id: *id,
            entity: *entity,
            source,
        })?;
        let old = link.slot(*entity, bodies);
        listing.push((*id, *entity), constants, (made, forces), old);
    }
    link.replace(&listing.entities, bodies);
    if bodies.are(&listing) {
        // Ids, masses and marks are written all the same.
        bodies.unwritten = true;
        bodies.described.forget();
    } else {
        bodies.replace(listing);
    }
    Ok(())
}

/// Bodies by id. Those without one come last, in order of entity, with ids from `next_id` on, above all that
/// were ever in use.
fn ordered_by_id(
    mut order: Vec<(BodyId, Entity)>,
    next_id: u64,
) -> Result<Vec<(BodyId, Entity)>, StepError> {
    order.sort_unstable_by_key(|(id, entity)| (*id, entity.index_u32()));
    let first_unassigned = order.partition_point(|(id, _)| *id != BodyId::UNASSIGNED);
    let refused = |(id, entity): (BodyId, Entity), source| StepError::Body { id, entity, source };
    let (assigned, unassigned) = order.split_at_mut(first_unassigned);
    if let Some(pair) = assigned.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(refused(pair[1], BodyError::DuplicateId));
    }
    let in_use = assigned.last().map_or(0, |(id, _)| id.0 + 1);
    for (body, next) in unassigned
        .iter_mut()
        .zip(next_id.max(in_use)..=BodyId::UNASSIGNED.0)
    {
        if next == BodyId::UNASSIGNED.0 {
            return Err(refused(*body, BodyError::NoIdLeft));
        }
        body.0 = BodyId(next);
    }
    Ok(order)
}

/// A look at the columns.
struct Reader<'a> {
    bodies: &'a mut Bodies,
    link: &'a Link,
}

impl Reader<'_> {
    /// Reads the states: of the moving bodies, and of others where their columns have changed or
    /// `everything` is asked for, after a rebuild.
    fn read(&mut self, world: &BodyQueries, everything: bool) -> Found {
        let (mut count, mut wrong) = (0, None);
        let others = world.others.contiguous_iter().into_iter().flatten();
        let still = world.still.contiguous_iter().into_iter().flatten();
        let tables = others.map(|columns| (false, columns));
        for (at_rest, columns) in tables.chain(still.map(|columns| (true, columns))) {
            count += columns.0.len();
            if !everything && self.constants_changed(&columns) {
                return Found::Changed;
            }
            // After a step that failed, bodies that it woke are in these tables too.
            if at_rest && !everything && !self.bodies.unwritten && !state_changed(&columns) {
                continue;
            }
            let Some(found) = self.read_columns(&columns, everything, at_rest) else {
                return Found::Changed;
            };
            wrong = [wrong, found].into_iter().flatten().min();
        }
        if count == self.bodies.len() {
            Found::Known(wrong)
        } else {
            Found::Changed
        }
    }

    /// Something other than the state of these bodies is not what it was. Ids and masses are also
    /// written by the step itself: their values tell.
    fn constants_changed(&self, columns: &Columns) -> bool {
        let (
            entities,
            kind,
            id,
            collider,
            material,
            parts,
            mass,
            groups,
            gravity,
            drag,
            forces,
            sensor,
            ..,
        ) = columns;
        if changed(kind) || collider.as_ref().is_some_and(changed) {
            return true;
        }
        if changed(material) || parts.as_ref().is_some_and(changed) || changed(groups) {
            return true;
        }
        if gravity.as_ref().is_some_and(changed) || drag.as_ref().is_some_and(changed) {
            return true;
        }
        if forces.as_ref().is_some_and(changed) || sensor.as_ref().is_some_and(changed) {
            return true;
        }
        if !(changed(id) || changed(mass)) {
            return false;
        }
        let mut rows = entities.iter().zip(id.iter().zip(mass.iter()));
        rows.any(|(entity, (id, mass))| {
            self.link.slot(*entity, self.bodies).is_none_or(|slot| {
                let body = &self.bodies.constants[slot];
                let same = self.bodies.ids[slot] == *id;
                !same || body.is_dynamic() && !mass.describes(&body.inertia)
            })
        })
    }

    /// Reads the states of a table's bodies; the lowest slot of a wrong one. `None` if one of the
    /// entities is unknown.
    fn read_columns(
        &mut self,
        columns: &Columns,
        everything: bool,
        at_rest: bool,
    ) -> Option<Option<Slot>> {
        let (entities, kind, .., pose, twist, wrench) = columns;
        let bodies = &mut *self.bodies;
        let pushed = everything || changed(wrench);
        let marked = at_rest || bodies.unwritten || everything;
        let mut wrong = None;
        let states = pose.iter().zip(twist.iter()).zip(wrench.iter());
        let rows = entities.iter().zip(kind.iter());
        for ((entity, kind), ((pose, twist), wrench)) in rows.zip(states) {
            let slot = self.link.slot(*entity, bodies)?;
            if !marked && !bodies.moves(slot) {
                // Its mark was taken from it.
                return None;
            }
            let moved = || bodies.pose[slot] != *pose;
            let turned = || bodies.twist[slot] != *twist;
            match kind {
                RigidBody::Static if moved() || turned() => {
                    bodies.epoch += 1;
                    bodies.disturb(slot);
                }
                RigidBody::Kinematic if moved() => bodies.disturb(slot),
                RigidBody::Dynamic
                    if bodies.is_asleep(slot)
                        && (moved() || turned() || bodies.wrench[slot] != *wrench) =>
                {
                    bodies.disturb(slot);
                }
                _ => {}
            }
            let mut sound = is_sound(pose, twist);
            if pushed {
                sound &= wrench.is_finite();
                bodies.wrench[slot] = *wrench;
            }
            if !sound {
                wrong = Some(wrong.map_or(slot, |lowest: Slot| lowest.min(slot)));
            }
            bodies.set_state(slot, pose, twist);
        }
        Some(wrong)
    }
}

/// True if the column was written to since the last gather. Where rows only came from another table, as
/// those of bodies that fall asleep, the ticks of the rows tell.
fn changed<T: Component + Clone>(column: &ContiguousRef<T>) -> bool {
    let (_, ticks) = ContiguousRef::split(ContiguousRef::clone(column));
    ticks.summary_tick_is_changed() != Some(false) && ticks.is_changed_iter().any(|row| row)
}

/// True if the state of the bodies of a table was written to since the last gather.
fn state_changed(columns: &Columns) -> bool {
    let (.., pose, twist, wrench) = columns;
    changed(pose) || changed(twist) || changed(wrench)
}
