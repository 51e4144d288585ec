//! The image of a world in which only states have changed since the last image: what the bodies are is shared with that one.
//!
//! Columns of components keep the tick of every change: if none of those that say what bodies are is newer than the last image, nor was the list of bodies
//! made anew since, the bodies are what they were. States are read from the columns, as gather does.

use super::link::Link;
use crate::bodies::Bodies;
use crate::bodies::described::Described;
use crate::bodies::slot::Slot;
use crate::components::notices::Notices;
use crate::components::{
    BodyForces, BodyId, Collider, CollisionGroups, Drag, GravityScale, KinematicTarget, Mass,
    Material, PartMaterials, Pose, RigidBody, Sensor, Twist, Wrench,
};
use crate::snapshot::image::Image;
use crate::snapshot::substance::Matter;
use bevy_ecs::change_detection::{ContiguousRef, Tick};
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use std::sync::Arc;

/// What a body is, and its state.
type Columns = (
    Entity,
    (
        Ref<'static, RigidBody>,
        Ref<'static, BodyId>,
        Option<Ref<'static, Collider>>,
        Ref<'static, Material>,
        Option<Ref<'static, PartMaterials>>,
        Ref<'static, Mass>,
        Ref<'static, CollisionGroups>,
        Option<Ref<'static, Sensor>>,
    ),
    (
        Option<Ref<'static, GravityScale>>,
        Option<Ref<'static, Drag>>,
        Option<Ref<'static, BodyForces>>,
        Option<Ref<'static, Name>>,
    ),
    (&'static Pose, &'static Twist, &'static Wrench),
);

/// Makes the components known to the world.
pub(super) fn register(world: &mut World) {
    world.query::<Columns>();
    world.query::<&KinematicTarget>();
}

/// Reads the bodies of a world into an image, whose buffers are used again. False, and the image is to be made as a whole, if more than their states has
/// changed, or something wakes a body.
pub(super) fn recapture(
    world: &World,
    (bodies, link, notices): (&Bodies, &Link, &Notices),
    image: &mut Image,
) -> bool {
    let eventless = !link.stale
        && !bodies.unwritten
        && !notices.part_lost
        && notices.sleep_touched.is_empty()
        && notices.bodies_gone.is_empty()
        && bodies.sleep.touched.is_empty()
        && bodies.sleep.hosts.is_empty();
    let known = bodies.described.get();
    let query = world.try_query::<Columns>();
    let (true, Some(Described { since, matter }), Some(mut query)) = (eventless, known, query)
    else {
        return false;
    };
    let now = Now {
        since,
        tick: world.read_change_tick(),
    };
    let Ok(tables) = query.query(world).contiguous_iter_inner() else {
        return false;
    };
    image.pose.resize(bodies.len(), Pose::default());
    image.twist.resize(bodies.len(), Twist::default());
    image.acting.wrenches.clear();
    let (mut rows, mut names) = (0, 0);
    for (entities, is, responds, (pose, twist, wrench)) in tables {
        rows += entities.len();
        let (kind, id, shape, material, parts, mass, groups, sensor) = &is;
        let (gravity, drag, forces, name) = &responds;
        names += name.as_ref().map_or(0, |_| entities.len());
        let same = now.same(kind)
            && now.same(id)
            && now.all_same(shape)
            && now.same(material)
            && now.all_same(parts)
            && now.same(mass)
            && now.same(groups)
            && now.all_same(sensor)
            && now.all_same(gravity)
            && now.all_same(drag)
            && now.all_same(forces)
            && now.all_same(name);
        if !same {
            return false;
        }
        let states = pose.iter().zip(twist).zip(wrench);
        for ((entity, kind), ((pose, twist), wrench)) in entities.iter().zip(&kind[..]).zip(states)
        {
            let Some(slot) = link.slot(*entity, bodies) else {
                return false;
            };
            let rests = match kind {
                RigidBody::Static => bodies.pose[slot] == *pose && bodies.twist[slot] == *twist,
                RigidBody::Kinematic => bodies.pose[slot] == *pose,
                RigidBody::Dynamic => {
                    !bodies.is_asleep(slot)
                        || bodies.pose[slot] == *pose
                            && bodies.twist[slot] == *twist
                            && bodies.wrench[slot] == *wrench
                }
            };
            if !rests {
                return false;
            }
            image.pose[slot] = *pose;
            image.twist[slot] = *twist;
            if *wrench != Wrench::default() {
                image.acting.wrenches.push((slot, *wrench));
            }
        }
    }
    // A body that lost a component, or never had it, is in no table of these.
    let kinds = world.try_query::<&RigidBody>();
    let whole = kinds.is_some_and(|mut kinds| kinds.iter(world).len() == rows);
    if !whole || rows != bodies.len() || names != matter.names.len() {
        return false;
    }
    image
        .acting
        .wrenches
        .sort_unstable_by_key(|(slot, _)| *slot);
    image.acting.mismarked.clear();
    read_targets(world, (bodies, link), &mut image.acting.targets);
    recall_rest(bodies, image);
    image.matter = matter;
    true
}

fn read_targets(world: &World, (bodies, link): (&Bodies, &Link), targets: &mut Vec<(Slot, Pose)>) {
    targets.clear();
    if let Some(mut query) = world.try_query::<(Entity, &KinematicTarget)>() {
        let found = query.iter(world);
        targets.extend(found.filter_map(|(entity, target)| {
            let slot = link.slot(entity, bodies)?;
            Some((slot, target.0))
        }));
        targets.sort_unstable_by_key(|(slot, _)| *slot);
    }
}

fn recall_rest(bodies: &Bodies, image: &mut Image) {
    let (known, sleep) = (&bodies.sleep, &mut image.sleep);
    sleep.rest.clone_from(&known.rest);
    sleep.woke = known.woke;
    sleep.touched.clear();
    sleep.hosts.clear();
    sleep.places.clone_from(&known.places);
    sleep.to_wake.clone_from(&known.to_wake);
    sleep.settings = known.settings;
}

/// What the bodies of `matter` are is in the world at this tick. Without a step what is changed from now on has it, too, so that it counts as changed.
pub(super) fn describe(bodies: &Bodies, matter: &Arc<Matter>, now: Tick) {
    bodies.described.set(Described {
        since: Tick::new(now.get().wrapping_sub(1)),
        matter: Arc::clone(matter),
    });
}

/// A look at columns.
struct Now {
    since: Tick,
    tick: Tick,
}

impl Now {
    fn same<T>(&self, column: &ContiguousRef<T>) -> bool {
        let mut ticks = column.changed_ticks_slice().iter();
        !ticks.any(|tick| tick.is_newer_than(self.since, self.tick))
    }

    fn all_same<T>(&self, column: &Option<ContiguousRef<T>>) -> bool {
        column.as_ref().is_none_or(|column| self.same(column))
    }
}
