//! Dense arrays of bodies, in the order of ids.
//!
//! Access to components by entity costs five times an array access, so the step works on slices.
//! The order is that of [`BodyId`]: results do not depend on how the ECS stores entities.
//!
//! What a body is (constants, laws, ids) is worked out when it changes; what it does (pose, twist,
//! wrench) is read by every step, for the bodies that the step moves alone.

pub(crate) mod abutting;
pub(crate) mod check;
pub(crate) mod constants;
pub(crate) mod described;
pub(crate) mod memory;
pub(crate) mod plain;
pub(crate) mod slot;
pub(crate) mod target;
pub(crate) mod user_forces;
pub(crate) mod waking;

use crate::components::{
    BodyForces, BodyId, Made, Material, PairTable, Pose, RigidBody, Twist, Wrench,
};
use crate::error::{BodyError, StepError};
use crate::interactions::law::Surface;
use crate::motion::overflow::{check_finite, overflows};
use abutting::Abutting;
use bevy_ecs::entity::Entity;
use constants::BodyConstants;
use described::LastDescribed;
use glam::DVec3;
use moreau_geometry::Aabb;
use moreau_solvers::WorldTwist;
use slot::Slot;
use target::Target;
use user_forces::{UserForces, forces_of};
use waking::{Rest, Sleep};

/// The bodies of a step, ordered by id.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    pub(crate) ids: Vec<BodyId>,
    /// Placeholders where there is no ECS.
    pub(crate) entities: Vec<Entity>,
    pub(crate) constants: Vec<BodyConstants>,
    /// Some body is a sensor.
    pub(crate) some_are_sensors: bool,
    /// Some body is put together from parts.
    pub(crate) some_have_parts: bool,
    pub(crate) materials: Vec<Material>,
    /// The same for the laws of contacts.
    pub(crate) surfaces: Vec<Surface>,
    /// Of the bodies that have them, ascending.
    pub(crate) part_materials: Vec<(Slot, Vec<Material>)>,
    /// What holds where two materials meet.
    pub(crate) pairs: PairTable,
    /// Some law does not follow from `surfaces` alone.
    pub(crate) some_materials_differ: bool,
    /// Some materials hold bodies together.
    pub(crate) some_cohere: bool,
    /// Contacts may restitute by what their bodies are made of.
    pub(crate) some_bounce: bool,
    /// Some have laws that are not Coulomb's.
    pub(crate) some_have_other_laws: bool,
    pub(crate) pose: Vec<Pose>,
    pub(crate) twist: Vec<Twist>,
    pub(crate) wrench: Vec<Wrench>,
    /// Forces of their state on some of them.
    pub(crate) user_forces: UserForces,
    /// State at `t_k`.
    pub(crate) before: States,
    /// Slots of the bodies that move ([`Bodies::moves`]), ascending.
    pub(crate) moving: Vec<Slot>,
    /// Kinematic bodies that are given the pose at the end of the step, ascending.
    pub(crate) targets: Vec<Target>,
    /// Kinematic bodies among those that move.
    pub(crate) kinematic: usize,
    /// Grows with every change of the structure, of constants, of the pose of a static body, or of
    /// the set of sleeping bodies: data derived from these stays valid while it is the same.
    pub(crate) epoch: u64,
    /// Ids, masses, or which bodies move and sleep are not what was last written to the world.
    pub(crate) unwritten: bool,
    /// Bodies that do not move against each other, and abut.
    pub(crate) abutting: Abutting,
    /// Pairs that joints hold, ascending.
    pub(crate) tied: Vec<[Slot; 2]>,
    /// Bodies that joints hold on what impulses do not move; that is [`Slot::NONE`] for the world.
    pub(crate) hung: Vec<[Slot; 2]>,
    /// Pairs that joints keep from colliding, ascending.
    pub(crate) apart: Vec<[Slot; 2]>,
    /// Sleeping bodies.
    pub(crate) sleep: Sleep,
    /// What they are, for images of the world.
    pub(crate) described: LastDescribed,
}

/// Poses and twists, by slot.
#[derive(Debug, Default)]
pub(crate) struct States {
    pub(crate) pose: Vec<Pose>,
    pub(crate) twist: Vec<Twist>,
}

/// A new list of bodies, checked, in the order of ids.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) ids: Vec<BodyId>,
    pub(crate) entities: Vec<Entity>,
    pub(crate) constants: Vec<BodyConstants>,
    pub(crate) materials: Vec<Material>,
    /// Of the bodies that have them, ascending, by their places in this list.
    pub(crate) part_materials: Vec<(Slot, Vec<Material>)>,
    /// The forces of those that have some, the same way.
    pub(crate) forces: Vec<(Slot, BodyForces)>,
    /// Where each of them is in the present list.
    pub(crate) old: Vec<Option<Slot>>,
}

impl Listing {
    /// One body more.
    pub(crate) fn push(
        &mut self,
        (id, entity): (BodyId, Entity),
        constants: BodyConstants,
        (made, forces): (Made, Option<&BodyForces>),
        old: Option<Slot>,
    ) {
        let slot = Slot::new(self.ids.len());
        if let Some(forces) = forces.filter(|forces| !forces.0.is_empty()) {
            self.forces.push((slot, forces.clone()));
        }
        if !made.parts.is_empty() {
            self.part_materials.push((slot, made.parts.to_vec()));
        }
        self.ids.push(id);
        self.entities.push(entity);
        self.constants.push(constants);
        self.materials.push(*made.whole);
        self.old.push(old);
    }
}

impl Bodies {
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn slots(&self) -> impl DoubleEndedIterator<Item = Slot> + Clone + use<> {
        Slot::first(self.len())
    }

    /// The present state of a body is finite.
    pub(crate) fn check_finite(&self, slot: Slot) -> Result<(), StepError> {
        check_finite(self.ids[slot], self.state(slot))
    }

    /// The present state of a body overflows.
    pub(crate) fn overflows(&self, slot: Slot) -> bool {
        overflows(self.state(slot).map(|(_, vector)| vector))
    }

    fn state(&self, slot: Slot) -> [(&'static str, DVec3); 4] {
        let (pose, twist) = (&self.pose[slot], &self.twist[slot]);
        let p = pose.orientation;
        [
            ("position", pose.position),
            ("orientation", DVec3::new(p.x, p.y, p.z) + DVec3::splat(p.w)),
            ("linear velocity", twist.linear),
            ("angular velocity", twist.angular),
        ]
    }

    /// The slot of a body with this id.
    pub(crate) fn slot_of(&self, id: BodyId) -> Option<Slot> {
        self.ids.binary_search(&id).ok().map(Slot::new)
    }

    /// The step may change the state of the body: it is gathered, moved and scattered. All others
    /// keep their entries in the arrays of the step from one change of the epoch to the next.
    pub(crate) fn moves(&self, slot: Slot) -> bool {
        self.constants[slot].kind != RigidBody::Static && !self.is_asleep(slot)
    }

    pub(crate) fn is_asleep(&self, slot: Slot) -> bool {
        self.sleep.rest[slot].asleep.is_some()
    }

    /// What a body and its parts are made of.
    pub(crate) fn made_of(&self, slot: Slot) -> Made<'_> {
        Made {
            whole: &self.materials[slot],
            parts: self.parts_of(slot),
        }
    }

    fn parts_of(&self, slot: Slot) -> &[Material] {
        parts_of(&self.part_materials, slot)
    }

    /// Impulses move the body in this step.
    #[inline]
    pub(crate) fn is_awake_dynamic(&self, slot: Slot) -> bool {
        self.constants[slot].is_dynamic() && !self.is_asleep(slot)
    }

    /// Slots of the dynamic bodies that move, ascending.
    pub(crate) fn awake_dynamic(&self) -> impl Iterator<Item = Slot> {
        let moving = self.moving.iter().copied();
        moving.filter(|slot| self.constants[*slot].is_dynamic())
    }

    /// Where there are sleeping bodies: a contact of these two would be solved, or wakes one of them.
    #[inline]
    pub(crate) fn may_meet(&self, pair: [Slot; 2]) -> bool {
        self.may_push(pair)
            || pair.into_iter().any(|slot| {
                self.constants[slot].kind == RigidBody::Kinematic
                    && self.twist[slot] != Twist::default()
            })
    }

    /// The part of an angular velocity (rad/s, inertial frame) that leaves the surface of a body where it is: a surface of revolution turns in
    /// itself.
    #[inline]
    pub(crate) fn spin(&self, slot: Slot, angular: DVec3) -> DVec3 {
        let axis = self.constants[slot].axis_at(&self.pose[slot]);
        axis.map_or(DVec3::ZERO, |axis| axis * axis.dot(angular))
    }

    /// An impulse between these two moves one of them.
    #[inline]
    pub(crate) fn may_push(&self, pair: [Slot; 2]) -> bool {
        pair.into_iter().any(|slot| self.is_awake_dynamic(slot))
    }

    /// The two do not touch wherever they are: a joint keeps them from colliding, or one of them is a sensor.
    #[inline]
    pub(crate) fn are_apart(&self, pair: &[Slot; 2]) -> bool {
        !self.apart.is_empty() && self.apart.binary_search(pair).is_ok() || self.are_sensed(pair)
    }

    /// The two touch where they meet: their groups do, and they are not apart.
    pub(crate) fn may_touch(&self, [a, b]: [Slot; 2]) -> bool {
        let groups = [a, b].map(|slot| self.constants[slot].groups);
        groups[0].meets(groups[1]) && !self.are_apart(&[a.min(b), a.max(b)])
    }

    /// One of the two is a sensor.
    #[inline]
    pub(crate) fn are_sensed(&self, pair: &[Slot; 2]) -> bool {
        self.some_are_sensors && pair.iter().any(|slot| self.constants[*slot].sensor)
    }

    /// Which bodies abut is up to date; with their twists in this step (inertial frame), and its length `h` (s).
    pub(crate) fn find_abutting(&mut self, twists: &[WorldTwist], h: f64) {
        let mut abutting = std::mem::take(&mut self.abutting);
        abutting.renew(self, (twists, h));
        self.abutting = abutting;
    }

    pub(crate) fn bounds(&self, slot: Slot) -> Option<Aabb> {
        let body = &self.constants[slot];
        let geometry = body.geometry.as_ref()?;
        Some(geometry.aabb(&body.shape_pose(&self.pose[slot])))
    }

    /// Takes over a new list of bodies; states and rest of those that stay go with them.
    pub(crate) fn replace(&mut self, listing: Listing) {
        self.carry_over(&listing);
        self.before.pose.resize(listing.ids.len(), Pose::default());
        self.before
            .twist
            .resize(listing.ids.len(), Twist::default());
        self.described.forget();
        self.ids = listing.ids;
        self.entities = listing.entities;
        self.constants = listing.constants;
        self.some_are_sensors = self.constants.iter().any(|body| body.sensor);
        self.some_have_parts = self.constants.iter().any(BodyConstants::has_parts);
        self.materials = listing.materials;
        self.part_materials = listing.part_materials;
        self.look_at_materials();
        self.user_forces.replace(listing.forces, self.ids.len());
        self.list_moving();
        self.epoch += 1;
        self.unwritten = true;
    }

    /// What laws of contacts are made from.
    fn look_at_materials(&mut self) {
        self.surfaces.clear();
        self.surfaces
            .extend(self.materials.iter().map(Surface::from));
        let known = !self.pairs.is_empty();
        let differs = |of: &Material| !of.is_plain() || known && of.name.is_some();
        self.some_materials_differ =
            !self.part_materials.is_empty() || self.materials.iter().any(differs);
        let parts = self.part_materials.iter().flat_map(|(_, parts)| parts);
        self.some_bounce = self.some_materials_differ || self.surfaces.iter().any(Surface::bounces);
        let coheres = |of: &Material| of.cohesion > 0.0;
        let mut all = self.materials.iter().chain(parts);
        self.some_cohere = self.pairs.cohere() || all.clone().any(coheres);
        self.some_have_other_laws =
            self.pairs.have_other_laws() || all.any(Material::has_other_law);
    }

    /// The table of pairs is this one, and was.
    pub(crate) fn recall_pairs(&mut self, pairs: PairTable) {
        self.pairs = pairs;
        self.look_at_materials();
    }

    /// Another table of pairs holds. Bodies of the materials in it may come apart: whoever has a name wakes.
    pub(crate) fn set_pairs(&mut self, pairs: PairTable) {
        if self.pairs == pairs {
            return;
        }
        self.recall_pairs(pairs);
        let named = |of: &Material| of.name.is_some();
        let slots = self.slots().filter(|slot| {
            let made = self.made_of(*slot);
            named(made.whole) || made.parts.iter().any(named)
        });
        for slot in slots.collect::<Vec<_>>() {
            self.disturb(slot);
        }
    }

    /// The list is that of these bodies, and each of them is what it was.
    pub(crate) fn are(&self, listing: &Listing) -> bool {
        self.ids == listing.ids
            && self.entities == listing.entities
            && self.materials == listing.materials
            && self.part_materials == listing.part_materials
            && self.user_forces.laws == listing.forces
            && self.constants == listing.constants
    }

    /// Takes states and rest over to the new order, and finds bodies that were added, removed or changed.
    fn carry_over(&mut self, new: &Listing) {
        let mut stays = vec![false; self.len()];
        for (row, old) in new.old.iter().enumerate() {
            let Some(old) = *old else { continue };
            stays[old] = true;
            let same = self.ids[old] == new.ids[row]
                && self.materials[old] == new.materials[row]
                && self.forces_of(old) == forces_of(&new.forces, Slot::new(row))
                && self.parts_of(old) == parts_of(&new.part_materials, Slot::new(row))
                && self.constants[old] == new.constants[row];
            if !same {
                self.disturb(old);
            }
        }
        for gone in self.slots().filter(|slot| !stays[*slot]) {
            self.leave_place(gone);
        }
        // A restored world lists them by its old slots; in a running one they are listed after this.
        let sleep = &mut self.sleep;
        for list in [&mut sleep.touched, &mut sleep.hosts] {
            if !list.is_empty() {
                let stays =
                    |(_, old): &(usize, &Option<Slot>)| old.is_some_and(|old| list.contains(&old));
                let rows = new.old.iter().enumerate().filter(stays);
                *list = rows.map(|(row, _)| Slot::new(row)).collect();
            }
        }
        self.sleep.rest = carried(&self.sleep.rest, &new.old, Rest::NEWCOMER);
        self.sleep.any_disturbed |= new.old.contains(&None);
        self.sleep.count_asleep();
        self.pose = carried(&self.pose, &new.old, Pose::default());
        self.twist = carried(&self.twist, &new.old, Twist::default());
        self.wrench = carried(&self.wrench, &new.old, Wrench::default());
    }

    /// Lists the bodies that move.
    pub(crate) fn list_moving(&mut self) {
        let mut moving = std::mem::take(&mut self.moving);
        moving.clear();
        moving.extend(self.slots().filter(|slot| self.moves(*slot)));
        let kinematic = |slot: &&Slot| self.constants[**slot].kind == RigidBody::Kinematic;
        self.kinematic = moving.iter().filter(kinematic).count();
        self.moving = moving;
    }

    /// Takes over the state of a body at `t_k`, as it is given from outside.
    #[inline]
    pub(crate) fn set_state(&mut self, slot: Slot, pose: &Pose, twist: &Twist) {
        self.pose[slot] = *pose;
        self.twist[slot] = *twist;
        self.before.pose[slot] = *pose;
        self.before.twist[slot] = *twist;
    }

    /// The present state is that at `t_k`, where it is not gathered.
    pub(crate) fn begin(&mut self) {
        for slot in &self.moving {
            self.before.pose[*slot] = self.pose[*slot];
            self.before.twist[*slot] = self.twist[*slot];
        }
    }

    /// The bodies that move are where they were at `t_k`, after a step that failed.
    pub(crate) fn put_back(&mut self) {
        for slot in &self.moving {
            self.pose[*slot] = self.before.pose[*slot];
            self.twist[*slot] = self.before.twist[*slot];
        }
    }

    /// What is wrong with a body, with its names.
    pub(crate) fn refused(&self, slot: Slot, source: BodyError) -> StepError {
        StepError::Body {
            id: self.ids[slot],
            entity: self.entities[slot],
            source,
        }
    }
}

/// The materials of the parts of a body, in a list that is ascending; none if it has none of its own.
fn parts_of(list: &[(Slot, Vec<Material>)], slot: Slot) -> &[Material] {
    let found = list.binary_search_by_key(&slot, |(own, _)| *own);
    found.map_or(&[], |place| &list[place].1)
}

/// The rows of a column in a new order; `fill` where there was none.
fn carried<T: Copy>(column: &[T], old: &[Option<Slot>], fill: T) -> Vec<T> {
    let rows = old.iter().map(|old| old.map_or(fill, |old| column[old]));
    rows.collect()
}
