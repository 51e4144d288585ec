//! Phases 0 and 8: components to dense arrays, and back.
//!
//! Columns of components are read as slices, one set of slices a table of the ECS. What may have
//! changed is asked of a column, not of its rows: every component of a body keeps the tick of the
//! last change of its column. Bodies at rest carry the mark [`Still`], which puts them in tables of
//! their own: such a table costs a few comparisons as long as nobody writes to it. Sleeping bodies are
//! among them.
//!
//! Whoever carries the mark is known to [`Bodies`], and no entity that is unknown carries it. So the
//! bodies are those that are known if no moving entity is unknown and their number is the same.

use crate::bodies::Bodies;
use crate::body_check::{check_body_state, is_sound};
use crate::chunks;
use crate::error::StepError;
use crate::settings::Settings;
use crate::sleeping::Sleeping;
use crate::{BodyId, Collider, CollisionGroups, Mass, Material, Pose, RigidBody, Twist, Wrench};
use bevy_ecs::change_detection::ContiguousRef;
use bevy_ecs::prelude::*;
use bevy_ecs::query::ContiguousQueryData;
use bevy_ecs::system::SystemParam;

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
}

/// State at `t_k`, for the projection and the ledger.
#[derive(Resource, Debug, Default)]
pub(crate) struct Before {
    pub(crate) pose: Vec<Pose>,
    pub(crate) twist: Vec<Twist>,
}

/// What a look at the columns found.
enum Found {
    /// The constants describe the world. The lowest slot of a body whose state is wrong, if any.
    Known(Option<usize>),
    /// Bodies came, went or changed.
    Changed,
}

impl Bodies {
    /// Reads the world. Constants are rebuilt, and bodies checked, when something other than
    /// the state has changed. Wakes whom a change wakes.
    pub(crate) fn gather(
        &mut self,
        before: &mut Before,
        world: &BodyQueries,
        settings: &Settings,
    ) -> Result<(), StepError> {
        let gathered = self.read_or_rebuild(before, world);
        // Ticks tell of a change once: after a failure nothing is taken as known.
        self.stale = gathered.is_err();
        gathered?;
        self.settle_sleep(before, &world.sleepers, settings);
        Ok(())
    }

    fn read_or_rebuild(
        &mut self,
        before: &mut Before,
        world: &BodyQueries,
    ) -> Result<(), StepError> {
        let mut found = Found::Changed;
        if !self.stale {
            found = self.read(before, world, false);
        }
        if let Found::Changed = found {
            self.rebuild(&world.all)?;
            before.pose.resize(self.len(), Pose::default());
            before.twist.resize(self.len(), Twist::default());
            found = self.read(before, world, true);
        }
        let Found::Known(Some(slot)) = found else {
            return Ok(());
        };
        check_body_state(&self.pose[slot], &self.twist[slot], &self.wrench[slot]).map_err(
            |source| StepError::Body {
                id: self.ids[slot],
                entity: self.entities[slot],
                source,
            },
        )
    }

    /// Reads the states: of the moving bodies, and of others where their columns have changed or
    /// `everything` is asked for, after a rebuild.
    fn read(&mut self, before: &mut Before, world: &BodyQueries, everything: bool) -> Found {
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
            if at_rest && !everything && !self.uncommitted && !state_changed(&columns) {
                continue;
            }
            let Some(found) = self.read_columns(before, &columns, everything, at_rest) else {
                return Found::Changed;
            };
            wrong = [wrong, found].into_iter().flatten().min();
        }
        if count == self.len() {
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
            self.slot(*entity).is_none_or(|slot| {
                let body = &self.constants[slot];
                self.ids[slot] != *id || body.is_dynamic() && !mass.describes(&body.inertia)
            })
        })
    }

    /// Reads the states of a table's bodies; the lowest slot of a wrong one. `None` if one of the
    /// entities is unknown.
    fn read_columns(
        &mut self,
        before: &mut Before,
        columns: &Columns,
        everything: bool,
        at_rest: bool,
    ) -> Option<Option<usize>> {
        let (entities, kind, .., pose, twist, wrench) = columns;
        let pushed = everything || changed(wrench);
        let marked = at_rest || self.uncommitted || everything;
        let mut wrong = None;
        let states = pose.iter().zip(twist.iter()).zip(wrench.iter());
        let bodies = entities.iter().zip(kind.iter());
        for ((entity, kind), ((pose, twist), wrench)) in bodies.zip(states) {
            let slot = self.slot(*entity)?;
            if !marked && !self.moves(slot) {
                // Its mark was taken from it.
                return None;
            }
            let moved = || self.pose[slot] != *pose;
            let turned = || self.twist[slot] != *twist;
            match kind {
                RigidBody::Static if moved() || turned() => {
                    self.epoch += 1;
                    self.disturb(slot);
                }
                RigidBody::Kinematic if moved() => self.disturb(slot),
                RigidBody::Dynamic
                    if self.is_asleep(slot)
                        && (moved() || turned() || self.wrench[slot] != *wrench) =>
                {
                    self.disturb(slot);
                }
                _ => {}
            }
            let mut sound = is_sound(pose, twist);
            if pushed {
                sound &= wrench.is_finite();
                self.wrench[slot] = *wrench;
            }
            if !sound {
                wrong = Some(wrong.map_or(slot, |lowest: usize| lowest.min(slot)));
            }
            self.pose[slot] = *pose;
            self.twist[slot] = *twist;
            before.pose[slot] = *pose;
            before.twist[slot] = *twist;
        }
        Some(wrong)
    }

    /// Writes the new poses and twists to the world; after a rebuild also ids, masses and marks.
    pub(crate) fn scatter(&mut self, world: &mut StateQueries) {
        if self.uncommitted {
            self.commit_rebuild(world);
            return;
        }
        let tables = world.others.contiguous_iter_mut().into_iter().flatten();
        for (entities, mut pose, mut twist, ..) in tables {
            let rows = (entities, &mut pose[..], &mut twist[..]);
            chunks::for_each(rows, &|(entities, pose, twist)| {
                let states = pose.iter_mut().zip(twist);
                for (entity, (pose, twist)) in entities.iter().zip(states) {
                    if let Some(slot) = self.slot(*entity) {
                        *pose = self.pose[slot];
                        *twist = self.twist[slot];
                    }
                }
            });
        }
    }

    fn commit_rebuild(&mut self, world: &mut StateQueries) {
        let (mut stopped, mut asleep) = (Vec::new(), Vec::new());
        let (mut freed, mut awake) = (Vec::new(), Vec::new());
        let others = world.others.iter_mut().map(|body| (false, body));
        let still = world.still.iter_mut().map(|body| (true, body));
        for (marked, (entity, mut pose, mut twist, mut id, mut mass)) in others.chain(still) {
            let Some(slot) = self.slot(entity) else {
                continue;
            };
            let (moves, sleeps) = (self.moves(slot), self.is_asleep(slot));
            if moves || sleeps {
                pose.set_if_neq(self.pose[slot]);
                twist.set_if_neq(self.twist[slot]);
            }
            id.set_if_neq(self.ids[slot]);
            let complete = mass.completed(&self.constants[slot].inertia);
            mass.set_if_neq(complete);
            self.next_id = self.next_id.max(id.0 + 1);
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
        let left = std::mem::take(&mut self.left).into_iter();
        freed.extend(left.filter(|entity| self.slot(*entity).is_none()));
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
        self.uncommitted = false;
    }
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
