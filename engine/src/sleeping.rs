//! Sleeping: islands at rest are left out of the steps until something wakes them.
//!
//! **Falling asleep**, at the end of a step. A body is quiet in a step if
//!
//! ```text
//! ‖v_g‖ ≤ linear,   ‖Ω‖ ≤ angular,   ‖Ω‖ radius ≤ linear,   no wrench,   e_scaled ≤ residual
//! ```
//!
//! An island ([`crate::islands`]) all of whose bodies were quiet for `time` in a row falls asleep:
//! their twists become exactly zero, which the ledger shows as `work_sleep`, and poses stay. The bodies
//! leave [`Bodies::moving`], and their entities move to the tables of bodies at rest: no phase
//! visits them.
//!
//! **A sleeping body never takes part in a solve.** Detection finds its contacts with bodies that are
//! awake as if it were static; if there is one, its island wakes, and the step goes on from the free
//! motion with it. So an island wakes in the step in which it is first met, before anything can be
//! struck or stopped by it, and impulses go through it as through any other. Two neighbours that
//! both sleep have no contact, and neither have a sleeping body and a kinematic one at rest. Only the
//! projection, which moves poses alone, may find a sleeper that detection did not: as a fixed body.
//!
//! **Waking between steps.** Whoever is changed from outside (state, wrench, material, shape, kind,
//! id, groups), comes or goes, is *disturbed*: its own island wakes, and all islands with a body whose
//! box meets that of the disturbed one, where it was and where it is. Any change of the settings
//! but for the number of threads wakes everybody.
//!
//! What is known of sleep is in [`Bodies`], carried along when bodies come and go; the component
//! [`Sleeping`] shows it, and hooks tell when somebody else puts it on or takes it off.
//!
//! The impulses within an island are kept, as the warm start of its first step awake.

use crate::assembly::ContactRecord;
use crate::bodies::{Bodies, BodyConstants};
use crate::detection::Candidate;
use crate::gather::Before;
use crate::islands::Islands;
use crate::settings::{Settings, SleepSettings};
use crate::{BodyId, Material, RigidBody, Twist, Wrench};
use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use glam::DVec3;
use moreau_geometry::Aabb;

/// Marks a dynamic body that sleeps: steps leave it where it is, at the cost of nothing.
///
/// Put on by the step, and taken off by the step that wakes the body. Whoever takes it off wakes the
/// body and its island at the beginning of the next step; see [`crate::Simulation::wake`]. Whoever puts it
/// on sends that body to sleep, alone, if it is dynamic, without a wrench, and sleeping is on
/// ([`crate::SleepSettings`]); otherwise the next step takes it off again. Its twist is then set to zero, which no
/// ledger shows: it is a change from outside, like any other.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use moreau::prelude::*;
/// fn awake(bodies: Query<&Pose, (With<RigidBody>, Without<Sleeping>)>) -> usize {
///     bodies.iter().count()
/// }
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[component(on_insert = touched, on_remove = touched)]
pub struct Sleeping;

fn touched(mut world: DeferredWorld, context: HookContext) {
    if let Some(mut bodies) = world.get_resource_mut::<Bodies>() {
        bodies.sleep.touched.push(context.entity);
    }
}

/// What is known of the rest of a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    /// Time for which it has been quiet, s; zero asleep.
    pub(crate) quiet: f64,
    /// The island that it sleeps with, named by the lowest id among its bodies.
    pub(crate) asleep: Option<BodyId>,
    /// It came, or was changed from outside, since the last gather that succeeded.
    disturbed: bool,
}

/// What is known of the rest of all bodies, and what has happened to them between steps.
#[derive(Debug, Default)]
pub(crate) struct Sleep {
    /// By slot.
    pub(crate) rest: Vec<Rest>,
    /// How many bodies sleep.
    pub(crate) count: usize,
    /// Bodies woke since the last step that succeeded.
    pub(crate) woke: bool,
    /// Entities on which [`Sleeping`] was put or from which it was taken, by anybody.
    touched: Vec<Entity>,
    /// Some [`Rest::disturbed`].
    any_disturbed: bool,
    /// Where disturbed bodies were.
    places: Vec<Aabb>,
    /// Islands to wake.
    to_wake: Vec<BodyId>,
    /// Of the last gather, without what changes no result.
    settings: Option<Settings>,
}

impl Bodies {
    pub(crate) fn is_asleep(&self, slot: usize) -> bool {
        self.sleep.rest[slot].asleep.is_some()
    }

    /// Impulses move the body in this step.
    #[inline]
    pub(crate) fn is_awake_dynamic(&self, slot: usize) -> bool {
        self.constants[slot].is_dynamic() && !self.is_asleep(slot)
    }

    /// Slots of the dynamic bodies that move, ascending.
    pub(crate) fn awake_dynamic(&self) -> impl Iterator<Item = usize> {
        let moving = self.moving.iter().map(|slot| *slot as usize);
        moving.filter(|slot| self.constants[*slot].is_dynamic())
    }

    /// Where there are sleeping bodies: a contact of these two would be solved, or wakes one of them.
    #[inline]
    pub(crate) fn may_meet(&self, pair: [u32; 2]) -> bool {
        self.may_push(pair)
            || pair.iter().any(|slot| {
                let slot = *slot as usize;
                self.constants[slot].kind == RigidBody::Kinematic
                    && self.twist[slot] != Twist::default()
            })
    }

    /// An impulse between these two moves one of them.
    #[inline]
    pub(crate) fn may_push(&self, pair: [u32; 2]) -> bool {
        pair.iter()
            .any(|slot| self.is_awake_dynamic(*slot as usize))
    }

    fn bounds(&self, slot: usize) -> Option<Aabb> {
        let body = &self.constants[slot];
        let geometry = body.geometry.as_ref()?;
        Some(geometry.aabb(&body.shape_pose(&self.pose[slot])))
    }

    /// Something of the body was changed from outside. To be called before the change is taken over.
    pub(crate) fn disturb(&mut self, slot: usize) {
        let rest = self.sleep.rest[slot];
        if rest.disturbed {
            return;
        }
        self.sleep.rest[slot].disturbed = true;
        self.sleep.any_disturbed = true;
        self.leave_place(slot);
    }

    /// Remembers where a body is, and the island to wake with it.
    fn leave_place(&mut self, slot: usize) {
        if self.sleep.count > 0 {
            self.sleep.places.extend(self.bounds(slot));
            self.sleep.to_wake.extend(self.sleep.rest[slot].asleep);
        }
    }

    /// Before a rebuild: takes states and rest over to the new order, and sees who came, went or changed.
    pub(crate) fn carry_over(
        &mut self,
        order: &[(BodyId, Entity)],
        constants: &[BodyConstants],
        materials: &[Material],
    ) {
        let old: Vec<Option<usize>> = order.iter().map(|(_, body)| self.slot(*body)).collect();
        let mut stays = vec![false; self.len()];
        for (slot, old) in old.iter().enumerate() {
            let Some(old) = *old else { continue };
            stays[old] = true;
            let same = self.ids[old] == order[slot].0
                && self.materials[old] == materials[slot]
                && self.constants[old] == constants[slot];
            if !same {
                self.disturb(old);
            }
        }
        for gone in (0..self.len()).filter(|slot| !stays[*slot]) {
            self.leave_place(gone);
        }
        let newcomer = Rest {
            disturbed: true,
            ..Rest::default()
        };
        self.sleep.rest = carried(&self.sleep.rest, &old, newcomer);
        self.sleep.any_disturbed |= old.contains(&None);
        self.sleep.count_asleep();
        self.pose = carried(&self.pose, &old, crate::Pose::default());
        self.twist = carried(&self.twist, &old, Twist::default());
        self.wrench = carried(&self.wrench, &old, Wrench::default());
    }

    /// The last part of a gather: wakes whom something from outside wakes. `sleepers` carry the
    /// component.
    pub(crate) fn settle_sleep(
        &mut self,
        before: &mut Before,
        sleepers: &Query<(), With<Sleeping>>,
        settings: &Settings,
    ) {
        let relevant = Some(settings.without_threads());
        if self.sleep.settings != relevant {
            self.sleep.settings = relevant;
            let all = self.sleep.rest.iter().filter_map(|rest| rest.asleep);
            self.sleep.to_wake.extend(all);
        }
        self.see_disturbed(sleepers, settings);
        self.see_touched(before, sleepers, settings);
        self.wake(before);
    }

    fn see_disturbed(&mut self, sleepers: &Query<(), With<Sleeping>>, settings: &Settings) {
        if self.sleep.any_disturbed {
            self.sleep.any_disturbed = false;
            for slot in 0..self.len() {
                if !std::mem::take(&mut self.sleep.rest[slot].disturbed) {
                    continue;
                }
                if sleepers.contains(self.entities[slot]) {
                    self.sleep.touched.push(self.entities[slot]);
                }
                // Bodies that are awake wake others when detection finds a contact.
                if !self.is_awake_dynamic(slot) {
                    self.leave_place(slot);
                }
            }
        }
        if self.sleep.places.is_empty() {
            return;
        }
        let places = std::mem::take(&mut self.sleep.places);
        for slot in 0..self.len() {
            let Some(island) = self.sleep.rest[slot].asleep else {
                continue;
            };
            let slack = settings.margin * self.constants[slot].size + settings.projection.tolerance;
            let near = self.bounds(slot).is_some_and(|bounds| {
                let reach = bounds.inflated(2.0 * slack);
                places.iter().any(|place| place.intersects(&reach))
            });
            if near {
                self.sleep.to_wake.push(island);
            }
        }
    }

    fn see_touched(
        &mut self,
        before: &mut Before,
        sleepers: &Query<(), With<Sleeping>>,
        settings: &Settings,
    ) {
        let mut fell_asleep = false;
        while let Some(entity) = self.sleep.touched.pop() {
            let Some(slot) = self.slot(entity) else {
                continue;
            };
            match (sleepers.contains(entity), self.sleep.rest[slot].asleep) {
                (false, Some(island)) => self.sleep.to_wake.push(island),
                (true, None) => {
                    let may = settings.sleeps()
                        && self.constants[slot].is_dynamic()
                        && self.wrench[slot] == Wrench::default();
                    if may {
                        self.lay_down(slot, self.ids[slot], before);
                    }
                    fell_asleep |= may;
                    // Otherwise the component goes again.
                    self.uncommitted = true;
                }
                _ => {}
            }
        }
        if fell_asleep {
            self.changed_rest();
        }
    }

    /// Wakes the islands to wake. False if nobody woke.
    fn wake(&mut self, before: &mut Before) -> bool {
        if self.sleep.to_wake.is_empty() {
            return false;
        }
        let mut islands = std::mem::take(&mut self.sleep.to_wake);
        islands.sort_unstable();
        islands.dedup();
        let mut woke = false;
        for slot in 0..self.len() {
            let rest = &mut self.sleep.rest[slot];
            let wakes = |island| islands.binary_search(&island).is_ok();
            if rest.asleep.is_some_and(wakes) {
                *rest = Rest::default();
                before.pose[slot] = self.pose[slot];
                before.twist[slot] = self.twist[slot];
                woke = true;
            }
        }
        islands.clear();
        self.sleep.to_wake = islands;
        if woke {
            self.sleep.woke = true;
            self.changed_rest();
        }
        woke
    }

    /// Wakes the islands that bodies which are awake meet. False if there are none.
    pub(crate) fn wake_met(&mut self, candidates: &[Candidate], before: &mut Before) -> bool {
        if self.sleep.count == 0 {
            return false;
        }
        for candidate in candidates {
            let [a, b] = candidate.bodies.map(|slot| self.sleep.rest[slot as usize]);
            if let (Some(island), None) | (None, Some(island)) = (a.asleep, b.asleep)
                && self.sleep.to_wake.last() != Some(&island)
            {
                self.sleep.to_wake.push(island);
            }
        }
        self.wake(before)
    }

    /// One body falls asleep with `island`.
    fn lay_down(&mut self, slot: usize, island: BodyId, before: &mut Before) {
        self.sleep.rest[slot] = Rest {
            asleep: Some(island),
            ..Rest::default()
        };
        self.twist[slot] = Twist::default();
        before.pose[slot] = self.pose[slot];
        before.twist[slot] = Twist::default();
    }

    /// After bodies fell asleep or woke.
    fn changed_rest(&mut self) {
        self.sleep.count_asleep();
        self.list_moving();
        self.epoch += 1;
        self.uncommitted = true;
    }

    /// The body at slot was quiet in the step that led to its present twist.
    fn is_quiet(&self, slot: usize, rule: &SleepSettings) -> bool {
        let Twist { linear, angular } = self.twist[slot];
        let spin = angular.length();
        linear.length() <= rule.linear
            && spin <= rule.angular
            && spin * self.constants[slot].radius <= rule.linear
            && self.wrench[slot] == Wrench::default()
    }
}

impl Sleep {
    fn count_asleep(&mut self) {
        let asleep = self.rest.iter().filter(|rest| rest.asleep.is_some());
        self.count = asleep.count();
    }
}

/// The rows of a column in a new order; `fill` where there was none.
fn carried<T: Copy>(column: &[T], old: &[Option<usize>], fill: T) -> Vec<T> {
    let rows = old.iter().map(|old| old.map_or(fill, |old| column[old]));
    rows.collect()
}

/// A contact of a sleeping body, as its last step left it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptContact {
    pub(crate) bodies: [BodyId; 2],
    pub(crate) feature: u64,
    /// Inertial frame, N·s.
    pub(crate) impulse: DVec3,
}

impl KeptContact {
    fn key(&self) -> ([BodyId; 2], u64) {
        (self.bodies, self.feature)
    }
}

/// Falling asleep, and what is kept for the waking.
#[derive(Resource, Debug, Default)]
pub(crate) struct Sleepers {
    islands: Islands,
    /// Contacts of sleeping bodies, ordered by bodies and feature.
    kept: Vec<KeptContact>,
}

/// What fell asleep at the end of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FellAsleep {
    /// Kinetic energy that went, J.
    pub(crate) kinetic: f64,
    /// Islands of bodies that stay awake.
    pub(crate) islands: usize,
}

impl Sleepers {
    /// Impulses for contacts of bodies that woke in this step.
    pub(crate) fn warm_start(&self, bodies: &Bodies) -> &[KeptContact] {
        if bodies.sleep.woke { &self.kept } else { &[] }
    }

    /// Counts the time for which bodies were quiet, and lets the islands at rest fall asleep. `solved` are
    /// the contacts of the finished step, `residual` is its `e_scaled`.
    pub(crate) fn fall_asleep(
        &mut self,
        bodies: &mut Bodies,
        before: &mut Before,
        solved: &ContactRecord,
        residual: f64,
        settings: &Settings,
    ) -> FellAsleep {
        if std::mem::take(&mut bodies.sleep.woke) {
            let asleep = |id| {
                let slot = bodies.ids.binary_search(&id);
                slot.is_ok_and(|slot| bodies.is_asleep(slot))
            };
            self.kept
                .retain(|contact| contact.bodies.into_iter().any(asleep));
        }
        if !settings.sleeps() {
            return FellAsleep::default();
        }
        let ripe = self.watch(bodies, residual, settings);
        // Half a step of slack: times are multiples of h up to rounding.
        let time = settings.sleeping.time - 0.5 * settings.time_step;
        self.islands
            .find(bodies, &solved.places, &solved.impulse, time);
        let islands = self.islands.count;
        if !ripe {
            return FellAsleep {
                islands,
                kinetic: 0.0,
            };
        }
        self.lay_down(bodies, before, solved, islands)
    }

    /// Counts the time for which bodies were quiet. True if it is enough for one of them.
    fn watch(&self, bodies: &mut Bodies, residual: f64, settings: &Settings) -> bool {
        let rule = &settings.sleeping;
        let solved = residual <= rule.residual.unwrap_or_else(|| settings.tolerance());
        let mut longest: f64 = 0.0;
        for at in 0..bodies.moving.len() {
            let slot = bodies.moving[at] as usize;
            if bodies.constants[slot].is_dynamic() {
                let quiet = solved && bodies.is_quiet(slot, rule);
                let rest = &mut bodies.sleep.rest[slot];
                rest.quiet = if quiet {
                    rest.quiet + settings.time_step
                } else {
                    0.0
                };
                longest = longest.max(rest.quiet);
            }
        }
        longest >= rule.time - 0.5 * settings.time_step
    }

    fn lay_down(
        &mut self,
        bodies: &mut Bodies,
        before: &mut Before,
        solved: &ContactRecord,
        islands: usize,
    ) -> FellAsleep {
        let mut fell = FellAsleep {
            kinetic: 0.0,
            islands,
        };
        let awake = bodies.sleep.count;
        let mut slept = 0;
        for at in 0..bodies.moving.len() {
            let slot = bodies.moving[at] as usize;
            if !bodies.constants[slot].is_dynamic() {
                continue;
            }
            let Some(root) = self.islands.resting(slot) else {
                continue;
            };
            fell.islands -= usize::from(root == slot);
            let (twist, inertia) = (bodies.twist[slot], &bodies.constants[slot].inertia);
            fell.kinetic += 0.5 * inertia.mass * twist.linear.length_squared()
                + inertia.rotational_energy(twist.angular);
            bodies.lay_down(slot, bodies.ids[root], before);
            slept += 1;
        }
        if slept == 0 {
            return fell;
        }
        let contacts = solved.places.iter().zip(&solved.carried);
        self.kept.extend(contacts.filter_map(|(place, impulse)| {
            let slots = place.bodies.map(|slot| slot as usize);
            let asleep = slots.iter().any(|slot| bodies.is_asleep(*slot));
            asleep.then(|| KeptContact {
                bodies: slots.map(|slot| bodies.ids[slot]),
                feature: place.feature,
                impulse: *impulse,
            })
        }));
        self.kept.sort_unstable_by_key(KeptContact::key);
        bodies.changed_rest();
        debug_assert_eq!(
            bodies.sleep.count,
            awake + slept,
            "who sleeps is counted once"
        );
        fell
    }
}

/// The impulse of a contact among those that were kept, inertial frame.
pub(crate) fn find_kept(kept: &[KeptContact], bodies: [BodyId; 2], feature: u64) -> Option<DVec3> {
    let at = kept.binary_search_by_key(&(bodies, feature), KeptContact::key);
    kept.get(at.ok()?).map(|contact| contact.impulse)
}
