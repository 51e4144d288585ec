//! The two ends of a step in an ECS: components to dense arrays, and back.
//!
//! Columns of components are read as slices, one set of slices a table of the ECS. What may have
//! changed is asked of a column, not of its rows: every component of a body keeps the tick of the
//! last change of its column. Bodies at rest carry the mark [`Still`], which puts them in tables of
//! their own: such a table costs a few comparisons as long as nobody writes to it. Sleeping bodies are
//! among them.
//!
//! Whoever carries the mark is known to [`Bodies`], and no entity that is unknown carries it. So the
//! bodies are those that are known if no moving entity is unknown and their number is the same.
//!
//! A pose or a twist that somebody else writes between the two stays as it was written: the next step starts from it, whatever
//! this one made of the body. Other components are not written by a step that leaves the list of bodies as it is.

use super::link::Link;
use crate::bodies::check::{check_body, check_body_state, is_sound};
use crate::bodies::slot::Slot;
use crate::bodies::{Bodies, Listing};
use crate::components::notices::Notices;
use crate::components::{
    BodyId, Collider, CollisionGroups, Mass, Material, Pose, RigidBody, Sleeping, Twist, Wrench,
};
use crate::error::{BodyError, StepError};
use crate::math::chunks;
use crate::settings::Settings;
use bevy_ecs::change_detection::{ContiguousComponentTicksRef, ContiguousMut, ContiguousRef, Tick};
use bevy_ecs::prelude::*;
use bevy_ecs::query::ContiguousQueryData;
use bevy_ecs::system::{SystemChangeTick, SystemParam};

/// Marks a body that the step does not move. Set and taken off by the last phase of a step.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Still;

/// What the step reads of a body entity.
pub(crate) type BodyQuery = (
    Entity,
    Ref<'static, RigidBody>,
    Ref<'static, BodyId>,
    Option<Ref<'static, Collider>>,
    Ref<'static, Material>,
    Ref<'static, Mass>,
    Ref<'static, CollisionGroups>,
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
    incomplete: Incomplete<'w, 's>,
}

/// Parts of bodies that are not whole ones.
#[derive(SystemParam)]
struct Incomplete<'w, 's> {
    kinds: Query<'w, 's, (), With<RigidBody>>,
    parts: Query<'w, 's, (MaybeNamed, Parts), With<RigidBody>>,
    shapes: Query<'w, 's, MaybeNamed, (With<Collider>, Without<RigidBody>)>,
}

type MaybeNamed = (Entity, Option<&'static BodyId>);

/// The components that every body has, beside its kind.
type Parts = (
    Has<BodyId>,
    Has<Pose>,
    Has<Twist>,
    Has<Material>,
    Has<Mass>,
    Has<Wrench>,
    Has<CollisionGroups>,
);

impl Incomplete<'_, '_> {
    /// Every body has all of its components, and every collider a body. `bodies` are whole ones.
    fn check(&self, bodies: usize) -> Result<(), StepError> {
        let missing = |(entity, id): (Entity, Option<&BodyId>), part| StepError::Body {
            id: id.copied().unwrap_or_default(),
            entity,
            source: BodyError::Missing { part },
        };
        if let Some(shape) = self.shapes.iter().next() {
            return Err(missing(shape, "RigidBody"));
        }
        if self.kinds.iter().len() == bodies {
            return Ok(());
        }
        for (body, parts) in &self.parts {
            let parts = [
                ("BodyId", parts.0),
                ("Pose", parts.1),
                ("Twist", parts.2),
                ("Material", parts.3),
                ("Mass", parts.4),
                ("Wrench", parts.5),
                ("CollisionGroups", parts.6),
            ];
            if let Some((part, _)) = parts.into_iter().find(|(_, present)| !present) {
                return Err(missing(body, part));
            }
        }
        Ok(())
    }
}

/// What the step writes of a body entity: its state, and once what it left open.
type StateQuery = (
    Entity,
    &'static mut Pose,
    &'static mut Twist,
    &'static mut BodyId,
    &'static mut Mass,
);

/// The bodies of the world, to be written.
#[derive(SystemParam)]
pub(crate) struct StateQueries<'w, 's> {
    still: Query<'w, 's, StateQuery, With<Still>>,
    others: Query<'w, 's, StateQuery, Without<Still>>,
    sleepers: Query<'w, 's, (), With<Sleeping>>,
    commands: Commands<'w, 's>,
    ticks: SystemChangeTick,
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
    link.stale |= std::mem::take(&mut notices.shape_lost);
    let gathered = read_or_rebuild(bodies, link, notices, world);
    // Ticks tell of a change once: after a failure nothing is taken as known.
    link.stale = gathered.is_err();
    gathered?;
    let touched = notices.sleep_touched.drain(..);
    let touched = touched.filter_map(|entity| link.slot(entity, bodies));
    let touched: Vec<Slot> = touched.collect();
    bodies.sleep.touched.extend(touched);
    bodies.settle_sleep(&|entity| world.sleepers.contains(entity), settings);
    Ok(())
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
        let Ok((_, kind, _, collider, material, mass, groups, ..)) = query.get(*entity) else {
            continue;
        };
        let built = check_body(*kind, collider.as_deref(), &material, &mass, *groups);
        listing
            .constants
            .push(built.map_err(|source| StepError::Body {
                id: *id,
                entity: *entity,
                source,
            })?);
        listing.materials.push(*material);
        listing.ids.push(*id);
        listing.entities.push(*entity);
        listing.old.push(link.slot(*entity, bodies));
    }
    link.replace(&listing.entities, bodies);
    bodies.replace(listing);
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
        let (entities, kind, id, collider, material, mass, groups, ..) = columns;
        if changed(kind) || collider.as_ref().is_some_and(changed) {
            return true;
        }
        if changed(material) || changed(groups) {
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

/// Writes the new poses and twists to the world; after a rebuild also ids, masses and marks.
pub(super) fn scatter(
    bodies: &mut Bodies,
    link: &mut Link,
    notices: &mut Notices,
    world: &mut StateQueries,
) {
    if bodies.unwritten {
        write_rebuilt(bodies, link, notices, world);
        return;
    }
    let tables = world.others.contiguous_iter_mut().into_iter().flatten();
    for (entities, mut pose, mut twist, ..) in tables {
        let written = [
            written_since(link.gathered, &mut pose),
            written_since(link.gathered, &mut twist),
        ];
        if written.contains(&true) {
            write_around(bodies, link, entities, &mut pose, &mut twist);
            continue;
        }
        let (bodies, link) = (&*bodies, &*link);
        let rows = (entities, &mut pose[..], &mut twist[..]);
        chunks::for_each(rows, &|(entities, pose, twist)| {
            let states = pose.iter_mut().zip(twist);
            for (entity, (pose, twist)) in entities.iter().zip(states) {
                if let Some(slot) = link.slot(*entity, bodies) {
                    *pose = bodies.pose[slot];
                    *twist = bodies.twist[slot];
                }
            }
        });
    }
}

/// Writes the rows of a table but for those that somebody else wrote since the gather.
fn write_around(
    bodies: &Bodies,
    link: &Link,
    entities: &[Entity],
    pose: &mut ContiguousMut<Pose>,
    twist: &mut ContiguousMut<Twist>,
) {
    let since = link.gathered;
    let now = pose.this_run_tick();
    for (row, entity) in entities.iter().enumerate() {
        let Some(slot) = link.slot(*entity, bodies) else {
            continue;
        };
        if !pose.changed_ticks_slice()[row].is_newer_than(since, now) {
            pose.bypass_change_detection()[row] = bodies.pose[slot];
        }
        if !twist.changed_ticks_slice()[row].is_newer_than(since, now) {
            twist.bypass_change_detection()[row] = bodies.twist[slot];
        }
    }
    pose.mark_all_as_changed();
    twist.mark_all_as_changed();
}

fn write_rebuilt(
    bodies: &mut Bodies,
    link: &mut Link,
    notices: &mut Notices,
    world: &mut StateQueries,
) {
    let (mut stopped, mut asleep) = (Vec::new(), Vec::new());
    let (mut freed, mut awake) = (Vec::new(), Vec::new());
    let now = world.ticks.this_run();
    let kept = |tick: Tick| tick.is_newer_than(link.gathered, now);
    let others = world.others.iter_mut().map(|body| (false, body));
    let still = world.still.iter_mut().map(|body| (true, body));
    for (marked, (entity, mut pose, mut twist, mut id, mut mass)) in others.chain(still) {
        let Some(slot) = link.slot(entity, bodies) else {
            continue;
        };
        let (moves, sleeps) = (bodies.moves(slot), bodies.is_asleep(slot));
        if (moves || sleeps) && !kept(pose.last_changed()) {
            pose.set_if_neq(bodies.pose[slot]);
        }
        if (moves || sleeps) && !kept(twist.last_changed()) {
            twist.set_if_neq(bodies.twist[slot]);
        }
        if !kept(id.last_changed()) {
            id.set_if_neq(bodies.ids[slot]);
        }
        if !kept(mass.last_changed()) {
            let complete = mass.completed(&bodies.constants[slot].inertia);
            mass.set_if_neq(complete);
        }
        notices.next_id = notices.next_id.max(id.0.saturating_add(1));
        let shown = world.sleepers.contains(entity);
        match (marked, moves) {
            (_, false) if sleeps && !(marked && shown) => {
                asleep.push((entity, (Still, Sleeping)));
            }
            (false, false) if !sleeps => stopped.push((entity, Still)),
            (true, true) => freed.push(entity),
            _ => {}
        }
        if shown && !sleeps {
            awake.push(entity);
        }
    }
    let left = std::mem::take(&mut link.left).into_iter();
    freed.extend(left.filter(|entity| link.slot(*entity, bodies).is_none()));
    for entity in freed {
        // It may be gone.
        if let Ok(mut entity) = world.commands.get_entity(entity) {
            entity.try_remove::<(Still, Sleeping)>();
        }
    }
    for entity in awake {
        world.commands.entity(entity).try_remove::<Sleeping>();
    }
    if !stopped.is_empty() {
        world.commands.try_insert_batch(stopped);
    }
    if !asleep.is_empty() {
        world.commands.try_insert_batch(asleep);
    }
    bodies.unwritten = false;
}

/// Somebody wrote to rows of the column since the gather of this step.
fn written_since<T: Component>(gathered: Tick, column: &mut ContiguousMut<T>) -> bool {
    let now = column.this_run_tick();
    let (_, ticks) = ContiguousMut::bypass_change_detection_split(column.reborrow());
    if ContiguousComponentTicksRef::from(ticks).summary_tick_is_changed() == Some(false) {
        return false;
    }
    let mut ticks = column.changed_ticks_slice().iter();
    ticks.any(|tick| tick.is_newer_than(gathered, now))
}

/// Somebody wrote to the column since the last gather. Where rows only came from another table, as
/// those of bodies that fall asleep, the ticks of the rows tell.
fn changed<T: Component + Clone>(column: &ContiguousRef<T>) -> bool {
    let (_, ticks) = ContiguousRef::split(ContiguousRef::clone(column));
    ticks.summary_tick_is_changed() != Some(false) && ticks.is_changed_iter().any(|row| row)
}

/// Somebody wrote to the state of the bodies of a table since the last gather.
fn state_changed(columns: &Columns) -> bool {
    let (.., pose, twist, wrench) = columns;
    changed(pose) || changed(twist) || changed(wrench)
}
