//! The end of a step in an ECS: dense arrays to components.
//!
//! A pose or a twist that another system wrote since the gather stays as it was written: the next step starts from it, whatever
//! this one made of the body. Other components are not written by a step that leaves the list of bodies as it is.

use super::gather::Still;
use super::link::Link;
use crate::bodies::Bodies;
use crate::components::notices::Notices;
use crate::components::{BodyId, KinematicTarget, Mass, Pose, Sleeping, Twist};
use crate::math::chunks;
use bevy_ecs::change_detection::{ContiguousComponentTicksRef, ContiguousMut, Tick};
use bevy_ecs::prelude::*;
use bevy_ecs::system::{SystemChangeTick, SystemParam};

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
    targets: Query<'w, 's, (Entity, Ref<'static, KinematicTarget>)>,
    commands: Commands<'w, 's>,
    ticks: SystemChangeTick,
}

/// Writes the new poses and twists to the world; after a rebuild also ids, masses and marks.
pub(super) fn scatter(
    bodies: &mut Bodies,
    link: &mut Link,
    notices: &mut Notices,
    world: &mut StateQueries,
) {
    take_targets(link, world);
    notices.bodies_gone.clear();
    notices.joints_lost.clear();
    for joint in notices.joints_gone.drain(..) {
        world.commands.entity(joint).try_despawn();
    }
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

/// Takes off the targets that the step has used up: one that another system wrote since the gather is for the next step.
fn take_targets(link: &Link, world: &mut StateQueries) {
    let now = world.ticks.this_run();
    for (entity, target) in &world.targets {
        if !target.last_changed().is_newer_than(link.gathered, now) {
            world
                .commands
                .entity(entity)
                .try_remove::<KinematicTarget>();
        }
    }
}

/// Writes the rows of a table but for those that another system wrote since the gather.
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
        let (at, by) = (&bodies.pose[slot], &bodies.twist[slot]);
        if (moves || sleeps)
            && !kept(pose.last_changed())
            && bits_of_pose(&pose) != bits_of_pose(at)
        {
            *pose = *at;
        }
        if (moves || sleeps)
            && !kept(twist.last_changed())
            && bits_of_twist(&twist) != bits_of_twist(by)
        {
            *twist = *by;
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

/// Zeros of either sign are alike, and not the same bits.
fn bits_of_pose(pose: &Pose) -> ([u64; 3], [u64; 4]) {
    let turn = pose.orientation.to_array().map(f64::to_bits);
    (pose.position.to_array().map(f64::to_bits), turn)
}

fn bits_of_twist(twist: &Twist) -> [[u64; 3]; 2] {
    [twist.linear, twist.angular].map(|part| part.to_array().map(f64::to_bits))
}

/// True if rows of the column were written to since the gather of this step.
fn written_since<T: Component>(gathered: Tick, column: &mut ContiguousMut<T>) -> bool {
    let now = column.this_run_tick();
    let (_, ticks) = ContiguousMut::bypass_change_detection_split(column.reborrow());
    if ContiguousComponentTicksRef::from(ticks).summary_tick_is_changed() == Some(false) {
        return false;
    }
    let mut ticks = column.changed_ticks_slice().iter();
    ticks.any(|tick| tick.is_newer_than(gathered, now))
}
