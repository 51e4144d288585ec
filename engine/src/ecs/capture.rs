//! A world between two steps, as an [`Image`]: components as they are now, with what the last step knows of them.
//!
//! What a user has changed since is in the components, and the next gather would see it. The image is that of the step state *after* this gather has read
//! them: bodies that were changed are disturbed in it, as there (`bodies/waking.rs`), and have left their places.

use super::install::check_installed;
use super::link::Link;
use super::machines;
use super::recapture::{self, describe, recapture};
use crate::bodies::Bodies;
use crate::bodies::check::check_body;
use crate::bodies::memory::SleepMemory;
use crate::bodies::slot::Slot;
use crate::bodies::user_forces::forces_of;
use crate::bodies::waking::Rest;
use crate::components::notices::Notices;
use crate::components::response::Response;
use crate::components::{
    BodyForces, BodyId, Collider, CollisionGroups, Coupler, Drag, GravityScale, Joint, JointId,
    KinematicTarget, Made, Mass, Material, MaterialPairs, PartMaterials, Pose, RigidBody, Sensor,
    Sleeping, Twist, Wrench,
};
use crate::error::{BodyError, StepError};
use crate::settings::Settings;
use crate::snapshot::error::SnapshotError;
use crate::snapshot::image::{self, Acting, Image};
use crate::snapshot::substance::{Collector, Substance};
use crate::step::StepState;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::name::Name;
use bevy_ecs::prelude::*;
use std::sync::Arc;

/// What an image holds of a body: what it is, and its state.
type BodyQuery = (
    (Entity, &'static BodyId, Option<&'static Name>),
    (
        &'static RigidBody,
        Option<&'static Collider>,
        &'static Material,
        Option<&'static PartMaterials>,
        &'static Mass,
        &'static CollisionGroups,
        Has<Sensor>,
    ),
    (
        Option<&'static GravityScale>,
        Option<&'static Drag>,
        Option<&'static BodyForces>,
    ),
    (&'static Pose, &'static Twist, &'static Wrench),
    (Option<&'static KinematicTarget>, Has<Sleeping>),
);

type BodyItem<'w> = <BodyQuery as bevy_ecs::query::QueryData>::Item<'w, 'w>;

/// Bodies and joints that are out of the steps.
type DisabledBodies = (With<RigidBody>, With<Disabled>);
type DisabledJoints = (Or<(With<Joint>, With<Coupler>)>, With<Disabled>);

/// Makes their components known to the world, so that it can be read without being changed.
pub(super) fn register(world: &mut World) {
    world.query::<BodyQuery>();
    world.query_filtered::<&BodyId, DisabledBodies>();
    world.query_filtered::<&JointId, DisabledJoints>();
    machines::register(world);
    recapture::register(world);
}

/// The image of a world, into one whose buffers are used again.
pub(super) fn capture(world: &World, image: &mut Image) -> Result<(), SnapshotError> {
    check_installed(world)?;
    let missing = |what| StepError::NotInstalled { what };
    let settings = world
        .get_resource::<Settings>()
        .ok_or(missing("Settings"))?;
    let pairs = world.get_resource::<MaterialPairs>();
    let pairs = pairs.cloned().unwrap_or_default();
    let state = world
        .get_resource::<StepState>()
        .ok_or(missing("StepState"))?;
    if state.is_within_step() {
        return Err(SnapshotError::WithinStep);
    }
    let link = world.get_resource::<Link>().ok_or(missing("Link"))?;
    let notices = world.get_resource::<Notices>().ok_or(missing("Notices"))?;
    let bodies = &state.bodies;
    let known = if recapture(world, (bodies, link, notices), image) {
        true
    } else {
        *image = Image::default();
        let reader = Reader {
            world,
            link,
            bodies,
        };
        let captured = reader.bodies(image)?;
        touch(&mut image.sleep, (notices, state), &captured);
        if !captured.changed {
            describe(bodies, &image.matter, world.read_change_tick());
        }
        !captured.changed
    };
    image.settings = *settings;
    image.pairs = pairs;
    image.clock = state.clock_memory();
    image.next_ids = [notices.next_id, notices.next_joint_id];
    image.machines = machines::machines(world, notices)?;
    image.impulses = state.impulse_memory();
    image.touching = state.touching_memory();
    image.joints = state.joints_memory(known);
    read_disabled(world, &mut image.disabled);
    Ok(())
}

fn read_disabled(world: &World, disabled: &mut image::Disabled) {
    disabled.bodies.clear();
    disabled.joints.clear();
    if let Some(mut ids) = world.try_query_filtered::<&BodyId, DisabledBodies>() {
        disabled.bodies.extend(ids.iter(world));
        disabled.bodies.sort_unstable();
    }
    if let Some(mut ids) = world.try_query_filtered::<&JointId, DisabledJoints>() {
        disabled.joints.extend(ids.iter(world));
        disabled.joints.sort_unstable();
    }
    disabled.couplers = machines::resting_couplers(world);
}

/// The bodies of an image.
struct Captured {
    /// In the order of ids.
    entities: Vec<(BodyId, Entity)>,
    /// The next gather changes the list of bodies, or what they are.
    changed: bool,
}

impl Captured {
    fn slot(&self, entity: Entity) -> Option<Slot> {
        let found = self.entities.iter().position(|(_, own)| *own == entity);
        found.map(Slot::new)
    }
}

/// Reads the bodies of a world beside those of the last gather.
struct Reader<'a> {
    world: &'a World,
    link: &'a Link,
    bodies: &'a Bodies,
}

impl Reader<'_> {
    fn bodies(&self, image: &mut Image) -> Result<Captured, SnapshotError> {
        let missing = StepError::NotInstalled { what: "components" };
        let query = self.world.try_query::<BodyQuery>();
        let mut query = query.ok_or(missing)?;
        let mut items: Vec<BodyItem> = query.iter(self.world).collect();
        items.sort_unstable_by_key(|((entity, id, _), ..)| (**id, entity.index_u32()));
        self.check(&items)?;
        let known = &self.bodies.sleep;
        let sleep = &mut image.sleep;
        sleep.woke = known.woke;
        sleep.places.clone_from(&known.places);
        sleep.to_wake.clone_from(&known.to_wake);
        sleep.settings = known.settings;
        let mut captured = Captured {
            entities: Vec::with_capacity(items.len()),
            changed: items.len() != self.bodies.len(),
        };
        let mut stays = vec![false; self.bodies.len()];
        let mut collector = Collector::default();
        let mut acting = Acting::default();
        for (row, item) in items.iter().enumerate() {
            let ((entity, id, name), is, responds, (pose, twist, wrench), (target, marked)) = item;
            let slot = Slot::new(row);
            captured.entities.push((**id, *entity));
            let old = self.link.slot(*entity, self.bodies);
            let rest = match old {
                None => Rest::NEWCOMER,
                Some(old) => {
                    stays[old.index()] = true;
                    let differs = self.differs(old, **id, is, responds);
                    captured.changed |= differs || old != slot;
                    captured.changed |= *is.0 == RigidBody::Static && self.moved(old, item);
                    let disturbed = differs || self.is_disturbed(old, item);
                    if disturbed && !known.rest[old].disturbed {
                        self.bodies.leaves(old, sleep);
                    }
                    let rest = known.rest[old];
                    Rest {
                        disturbed: rest.disturbed || disturbed,
                        ..rest
                    }
                }
            };
            if *marked != rest.asleep.is_some() {
                acting.mismarked.push(slot);
            }
            sleep.rest.push(rest);
            image.pose.push(**pose);
            image.twist.push(**twist);
            if **wrench != Wrench::default() {
                acting.wrenches.push((slot, **wrench));
            }
            acting.targets.extend(target.map(|target| (slot, target.0)));
            collector.push(**id, substance(is, responds))?;
            if let Some(name) = name {
                collector.name(name.as_str());
            }
        }
        for gone in self.bodies.slots().filter(|slot| !stays[slot.index()]) {
            captured.changed = true;
            self.bodies.leaves(gone, sleep);
        }
        image.matter = Arc::new(collector.finish());
        image.acting = acting;
        Ok(captured)
    }

    /// Every body is whole, and has an id of its own.
    fn check(&self, items: &[BodyItem]) -> Result<(), SnapshotError> {
        let refused = |id: BodyId, entity: Entity, source| {
            SnapshotError::Refused(StepError::Body { id, entity, source })
        };
        let kinds = self.world.try_query::<(Entity, &RigidBody)>();
        let incomplete = kinds.and_then(|mut kinds| {
            let mut kinds = kinds.iter(self.world);
            let known = |entity| items.iter().any(|((own, ..), ..)| *own == entity);
            // Most worlds have none.
            if kinds.len() == items.len() {
                return None;
            }
            kinds.find(|(entity, _)| !known(*entity))
        });
        if let Some((entity, _)) = incomplete {
            let part = "one of those that RigidBody requires";
            let id = self.world.get::<BodyId>(entity).copied();
            return Err(refused(
                id.unwrap_or_default(),
                entity,
                BodyError::Missing { part },
            ));
        }
        for ((entity, id, _), ..) in items {
            if **id == BodyId::UNASSIGNED {
                let source = BodyError::Missing { part: "BodyId" };
                return Err(refused(**id, *entity, source));
            }
        }
        let mut pairs = items.windows(2);
        match pairs.find(|pair| pair[0].0.1 == pair[1].0.1) {
            Some(pair) => {
                let (entity, id, _) = pair[1].0;
                Err(refused(*id, entity, BodyError::DuplicateId))
            }
            None => Ok(()),
        }
    }

    /// It is not what the last gather took it for.
    fn differs(
        &self,
        old: Slot,
        id: BodyId,
        (kind, collider, material, parts, mass, groups, sensor): &<BodyQuery as Parts>::Is<'_>,
        (gravity, drag, forces): &<BodyQuery as Parts>::Responds<'_>,
    ) -> bool {
        let bodies = self.bodies;
        let body = &bodies.constants[old];
        let made = bodies.made_of(old);
        let geometry = collider.map(|collider| collider.geometry());
        let same_shape = match (geometry, &body.geometry) {
            (None, None) => true,
            (Some(Ok(now)), Some(then)) => now == *then,
            _ => false,
        };
        let no_forces = BodyForces::default();
        let known_forces = forces_of(&bodies.user_forces.laws, old).unwrap_or(&no_forces);
        // A mass that was put on anew, and comes to what it was.
        let weighs_the_same = || {
            let made = Made::of(material, *parts);
            let response = Response::new(*gravity, *drag);
            let groups = (**groups, *sensor);
            let built = check_body(**kind, *collider, made, mass, groups, response);
            built.is_ok_and(|built| built == *body)
        };
        let same = bodies.ids[old] == id
            && body.kind == **kind
            && same_shape
            && *made.whole == **material
            && made.parts == parts.map_or(&[][..], |parts| &parts.0)
            && (!body.is_dynamic() || mass.describes(&body.inertia) || weighs_the_same())
            && mass
                .center_of_mass()
                .is_none_or(|own| own == body.center_of_mass)
            && body.groups == **groups
            && body.sensor == *sensor
            && body.response == Response::new(*gravity, *drag)
            && known_forces == forces.unwrap_or(&no_forces);
        !same
    }

    fn moved(&self, old: Slot, (.., (pose, twist, _), _): &BodyItem) -> bool {
        self.bodies.pose[old] != **pose || self.bodies.twist[old] != **twist
    }

    /// The next gather disturbs it for its state: the rule of its columns.
    fn is_disturbed(&self, old: Slot, item: &BodyItem) -> bool {
        let (_, (kind, ..), _, (pose, _, wrench), _) = item;
        match kind {
            RigidBody::Static => self.moved(old, item),
            RigidBody::Kinematic => self.bodies.pose[old] != **pose,
            RigidBody::Dynamic => {
                let pushed = || self.bodies.wrench[old] != **wrench;
                self.bodies.is_asleep(old) && (self.moved(old, item) || pushed())
            }
        }
    }
}

/// The parts of [`BodyQuery`].
trait Parts {
    type Is<'w>;
    type Responds<'w>;
}

impl Parts for BodyQuery {
    type Is<'w> = (
        &'w RigidBody,
        Option<&'w Collider>,
        &'w Material,
        Option<&'w PartMaterials>,
        &'w Mass,
        &'w CollisionGroups,
        bool,
    );
    type Responds<'w> = (
        Option<&'w GravityScale>,
        Option<&'w Drag>,
        Option<&'w BodyForces>,
    );
}

fn substance(
    (kind, collider, material, parts, mass, groups, sensor): &<BodyQuery as Parts>::Is<'_>,
    (gravity, drag, forces): &<BodyQuery as Parts>::Responds<'_>,
) -> Substance {
    let substance = Substance {
        collider: collider.cloned(),
        parts: parts.cloned(),
        sensor: *sensor,
        gravity: gravity.copied(),
        drag: drag.copied(),
        ..Substance::of(**kind, **material, mass, **groups)
    };
    substance.with_forces(*forces)
}

/// Bodies whose mark of a sleeper was put on or taken off since the last step.
fn touch(sleep: &mut SleepMemory, (notices, state): (&Notices, &StepState), bodies: &Captured) {
    let known = &state.bodies;
    let entity = |slot: &Slot| known.entities.get(slot.index()).copied();
    let of = |slots: &[Slot]| -> Vec<Slot> {
        let entities = slots.iter().filter_map(entity);
        entities.filter_map(|entity| bodies.slot(entity)).collect()
    };
    sleep.touched = of(&known.sleep.touched);
    sleep.hosts = of(&known.sleep.hosts);
    let touched = notices.sleep_touched.iter();
    sleep
        .touched
        .extend(touched.filter_map(|entity| bodies.slot(*entity)));
}
