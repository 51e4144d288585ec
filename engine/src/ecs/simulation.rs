//! A headless simulation: a world with the step installed, and plain functions around it.

use super::check::check_entity;
use super::install::{StepOutcome, check_installed, install_with};
use super::push;
use super::state_hash::StateHash;
use crate::bodies::check::check_target;
use crate::components::notices::Notices;
use crate::components::{
    BodyId, BreakLimit, Collider, Coupler, Joint, JointForces, JointId, KinematicTarget, Mass,
    MaterialPairs, PartMaterials, Pose, RigidBody, Sleeping, Twist,
};
use crate::error::{BodyError, JointError, StepError};
use crate::joints::check::check_joint;
use crate::joints::{CouplerSpec, JointReaction, JointSpec, coupled};
use crate::query::{Asking, Queries, QueryError};
use crate::results::contact_view::{ContactView, Contacts};
use crate::results::events::StepEvents;
use crate::results::report::StepReport;
use crate::settings::Settings;
use crate::step::StepState;
use crate::step::moreau_jean::MoreauJean;
use crate::step::threads::Threads;
use bevy_ecs::bundle::NoBundleEffect;
use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{LogLevel, ScheduleBuildSettings, SingleThreadedExecutor};
use glam::DVec3;
use moreau_solvers::FactoredProblem;

/// A world of bodies and its steps.
///
/// The state that the next step starts from is the components and the impulses of the last step's
/// contacts and joints, its warm start; the turns that joints have counted; with sleeping on also the sleeping islands, and for how long the other bodies
/// have been at rest. [`Simulation::snapshot`] holds all of it: a simulation that is restored from one repeats the bits of the first.
///
/// ```
/// use moreau::prelude::*;
/// let mut simulation = Simulation::new(Settings::default())?;
/// simulation.spawn((RigidBody::Static, Collider::half_space(glam::DVec3::Z)))?;
/// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5), Pose::at(0.0, 0.0, 2.0)))?;
/// for _ in 0..400 {
///     let report = simulation.step()?;
///     assert!(report.e_scaled <= 1e-4);
/// }
/// let height = simulation.pose(ball).map(|pose| pose.position.z);
/// assert!(height.is_some_and(|z| (z - 0.5).abs() < 1e-4));
/// # Ok::<(), StepError>(())
/// ```
pub struct Simulation {
    world: World,
    schedule: Schedule,
    /// What questions read of the world, once one was asked.
    asking: Option<Asking>,
}

impl Simulation {
    /// An empty world.
    ///
    /// # Errors
    /// [`StepError::Settings`] if a setting is out of range.
    pub fn new(settings: Settings) -> Result<Self, StepError> {
        Self::with_threads(settings, Threads::own())
    }

    /// An empty world whose steps run on given threads, which other simulations may share.
    ///
    /// # Errors
    /// [`StepError::Settings`] if a setting is out of range.
    pub fn with_threads(settings: Settings, threads: Threads) -> Result<Self, StepError> {
        let (mut world, mut schedule) = (World::new(), Schedule::default());
        // One thread for the systems, whose work is parallel inside; ambiguities are errors.
        schedule.set_executor(SingleThreadedExecutor::new());
        schedule.set_build_settings(ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            ..ScheduleBuildSettings::default()
        });
        install_with(&mut world, &mut schedule, settings, threads, MoreauJean)?;
        Ok(Self {
            world,
            schedule,
            asking: None,
        })
    }

    /// The schedule of the step, for systems of the user's own: see [`StepPhase`](crate::StepPhase).
    pub fn schedule_mut(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    /// Spawns a body and checks it as the next step would, so that an error points at the call that
    /// made it. A body without [`BodyId`] has
    /// taken the next one.
    ///
    /// # Errors
    /// [`StepError::Body`] names the field at fault; the body is then not in the world. Whether an
    /// explicit id is free is seen by the next step.
    pub fn spawn(&mut self, bundle: impl Bundle) -> Result<Entity, StepError> {
        let next_id = self.next_id();
        let entity = self.world.spawn(bundle).id();
        self.settle(&[entity], next_id)?;
        Ok(entity)
    }

    /// Spawns many bodies of one kind of bundle, checked as by [`Simulation::spawn`]: all of them, with
    /// ids in their order, or none. Bodies at random places: see [`spatial_order`](crate::spatial_order).
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings::default())?;
    /// let ball = Collider::sphere(0.1); // its clones share the shape
    /// let at = |i| Pose::at(f64::from(i), 0.0, 1.0);
    /// let row = (0..100).map(|i| (RigidBody::Dynamic, ball.clone(), at(i)));
    /// assert_eq!(simulation.spawn_batch(row)?.len(), 100);
    /// # Ok::<(), StepError>(())
    /// ```
    ///
    /// # Errors
    /// [`StepError::Body`] names the first body at fault and its field; no body is then in the world.
    pub fn spawn_batch<B>(
        &mut self,
        bundles: impl IntoIterator<Item = B>,
    ) -> Result<Vec<Entity>, StepError>
    where
        B: Bundle<Effect: NoBundleEffect>,
    {
        let next_id = self.next_id();
        let entities: Vec<Entity> = self.world.spawn_batch(bundles).collect();
        self.settle(&entities, next_id)?;
        Ok(entities)
    }

    /// Spawns a joint, with siblings of [`Joint`] as [`JointForces`](crate::JointForces), and checks it as the next step would.
    ///
    /// # Errors
    /// [`StepError::Joint`] names the field at fault; the joint is then not in the world.
    pub fn spawn_joint(
        &mut self,
        joint: Joint,
        siblings: impl Bundle,
    ) -> Result<Entity, StepError> {
        let next_id = self.next_joint_id();
        let entity = self.world.spawn((joint, siblings)).id();
        match self.check_joint(entity, &joint) {
            Ok(()) => Ok(entity),
            Err(source) => Err(self.refuse_joint(entity, next_id, source)),
        }
    }

    /// Spawns a coupler of joints, and checks it as the next step would.
    ///
    /// # Errors
    /// [`StepError::Joint`] names the field at fault; the coupler is then not in the world.
    pub fn spawn_coupler(&mut self, coupler: Coupler) -> Result<Entity, StepError> {
        let next_id = self.next_joint_id();
        let entity = self.world.spawn(coupler.clone()).id();
        match self.check_coupler(entity, &coupler) {
            Ok(()) => Ok(entity),
            Err(source) => Err(self.refuse_joint(entity, next_id, source)),
        }
    }

    fn check_coupler(&self, entity: Entity, coupler: &Coupler) -> Result<(), JointError> {
        let mut spec = CouplerSpec {
            id: self.joint_id(entity),
            offset: coupler.offset,
            ..CouplerSpec::default()
        };
        let mut locked = Vec::new();
        for term in &coupler.terms {
            let entity = term.joint;
            let joint = self.world.get::<Joint>(entity);
            let joint = joint.ok_or(JointError::NoJoint { entity })?;
            let id = self.joint_id(entity);
            spec.terms.push((id, term.axis, term.ratio));
            locked.push((id, joint.kind.locked()));
        }
        coupled::check(&spec, |id| {
            let found = locked.iter().find(|(own, _)| *own == id);
            found.map(|(_, locked)| *locked)
        })
    }

    fn joint_id(&self, entity: Entity) -> JointId {
        let id = self.world.get::<JointId>(entity).copied();
        id.unwrap_or_default()
    }

    fn next_joint_id(&self) -> Option<u64> {
        let notices = self.world.get_resource::<Notices>();
        notices.map(|notices| notices.next_joint_id)
    }

    /// Takes a joint or a coupler out again.
    fn refuse_joint(
        &mut self,
        entity: Entity,
        next_id: Option<u64>,
        source: JointError,
    ) -> StepError {
        let id = self.world.get::<JointId>(entity).copied();
        self.world.despawn(entity);
        let notices = self.world.get_resource_mut::<Notices>();
        if let (Some(mut notices), Some(next_id)) = (notices, next_id) {
            notices.next_joint_id = next_id;
        }
        StepError::Joint {
            id: id.unwrap_or_default(),
            source,
        }
    }

    fn check_joint(&self, entity: Entity, joint: &Joint) -> Result<(), JointError> {
        let mut kinds = [None; 2];
        for (kind, body) in kinds.iter_mut().zip(joint.bodies) {
            let Some(body) = body else { continue };
            let found = self.world.get::<RigidBody>(body).copied();
            *kind = Some(found.ok_or(JointError::NoBody { entity: body })?);
        }
        if joint.bodies[0] == joint.bodies[1] && joint.bodies[0].is_some() {
            return Err(JointError::ItsOwn);
        }
        let forces = self.world.get::<JointForces>(entity);
        let spec = JointSpec {
            id: self
                .world
                .get::<JointId>(entity)
                .copied()
                .unwrap_or_default(),
            frames: joint.frames,
            kind: joint.kind,
            forces: forces.map_or_else(Vec::new, |forces| forces.0.clone()),
            break_limit: self.world.get::<BreakLimit>(entity).copied(),
            ..JointSpec::default()
        };
        check_joint(&spec, kinds)
    }

    /// What a joint bore in the last step; asleep, in the last one awake.
    #[must_use]
    pub fn joint_reaction(&self, joint: Entity) -> Option<JointReaction> {
        let id = self.world.get::<JointId>(joint)?;
        self.state()?.joint_reaction(*id)
    }

    /// The mean force or torque of each of the [`JointForces`] of a joint over the last step, in their order, N or N·m along its coordinate, of [`JointForce::BallFriction`](crate::JointForce) the norm. Asleep, those of the last step
    /// awake.
    #[must_use]
    pub fn joint_efforts(&self, joint: Entity) -> Option<Vec<f64>> {
        let id = self.world.get::<JointId>(joint)?;
        self.state()?.joint_efforts(*id)
    }

    /// The mean force `f` of a coupler over the last step: `ratio·f` acts along each of its coordinates. Asleep, that of the last step awake.
    #[must_use]
    pub fn coupler_force(&self, coupler: Entity) -> Option<f64> {
        let id = self.world.get::<JointId>(coupler)?;
        self.state()?.coupler_force(*id)
    }

    /// The joints that broke in the last step, in the order of their ids.
    #[must_use]
    pub fn broken_joints(&mut self) -> Vec<Entity> {
        let broken = self.state().map(|state| state.broken_joints().to_vec());
        let broken = broken.unwrap_or_default();
        let mut query = self
            .world
            .query_filtered::<(Entity, &JointId), bevy_ecs::prelude::With<Joint>>();
        let mut found: Vec<(JointId, Entity)> = query
            .iter(&self.world)
            .filter(|(_, id)| broken.binary_search(id).is_ok())
            .map(|(entity, id)| (*id, entity))
            .collect();
        found.sort_unstable_by_key(|(id, _)| *id);
        found.into_iter().map(|(_, entity)| entity).collect()
    }

    fn next_id(&self) -> Option<u64> {
        let notices = self.world.get_resource::<Notices>();
        notices.map(|notices| notices.next_id)
    }

    /// Checks new entities and completes their masses. If one is refused, none stays, nor the ids that
    /// they took beyond `next_id`.
    fn settle(&mut self, entities: &[Entity], next_id: Option<u64>) -> Result<(), StepError> {
        let refused = entities.iter().find_map(|entity| {
            let error = self.settle_one(*entity).err();
            error.map(|source| (*entity, source))
        });
        let Some((entity, source)) = refused else {
            return Ok(());
        };
        let id = self.world.get::<BodyId>(entity).copied();
        for entity in entities {
            self.world.despawn(*entity);
        }
        let notices = self.world.get_resource_mut::<Notices>();
        if let (Some(mut notices), Some(next_id)) = (notices, next_id) {
            notices.next_id = next_id;
        }
        Err(StepError::Body {
            id: id.unwrap_or_default(),
            entity,
            source,
        })
    }

    fn settle_one(&mut self, entity: Entity) -> Result<(), BodyError> {
        let spawned = self.world.entity(entity);
        if !spawned.contains::<RigidBody>() && !spawned.contains::<Collider>() {
            return Ok(());
        }
        let complete = check_entity(&self.world, entity)?;
        let id = self.world.get::<BodyId>(entity).copied();
        if id.is_none_or(|id| id == BodyId::UNASSIGNED) {
            return Err(BodyError::NoIdLeft);
        }
        if let Some(mut mass) = self.world.get_mut::<Mass>(entity) {
            mass.set_if_neq(complete);
        }
        Ok(())
    }

    /// Removes a body; false if it was not there. Its contacts are gone at the next step.
    pub fn despawn(&mut self, entity: Entity) -> bool {
        self.world.despawn(entity)
    }

    /// Makes one step and returns its certificate.
    ///
    /// # Errors
    /// [`StepError`]; the bodies are then as they were before the call. Not converging is not an
    /// error: see [`StepReport::converged`].
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        check_installed(&self.world)?;
        let Self {
            world, schedule, ..
        } = self;
        let state = world.resource::<StepState>();
        let (threads, large) = (state.threads.clone(), state.is_large());
        threads.run_awake(large, || schedule.run(world));
        match self.resource::<StepOutcome>("StepOutcome")?.error() {
            Some(error) => Err(error.clone()),
            None => self.resource::<StepReport>("StepReport").copied(),
        }
    }

    fn resource<R: Resource>(&self, what: &'static str) -> Result<&R, StepError> {
        self.world
            .get_resource::<R>()
            .ok_or(StepError::NotInstalled { what })
    }

    /// Time, s.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.state().map_or(0.0, StepState::time)
    }

    /// What the steps work on: the problem and its solution, interactions, warm starts.
    #[must_use]
    pub fn state(&self) -> Option<&StepState> {
        self.world.get_resource::<StepState>()
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.world
            .get_resource::<Settings>()
            .copied()
            .unwrap_or_default()
    }

    /// Replaces the settings, from the next step on.
    ///
    /// # Errors
    /// [`StepError::Settings`] if a setting is out of range; the old ones then stay.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), StepError> {
        settings.validate()?;
        self.world.insert_resource(settings);
        Ok(())
    }

    /// The table of pairs of materials.
    #[must_use]
    pub fn material_pairs(&self) -> MaterialPairs {
        let pairs = self.world.get_resource::<MaterialPairs>();
        pairs.cloned().unwrap_or_default()
    }

    /// Replaces the table of pairs of materials, from the next step on; bodies whose materials have names wake.
    ///
    /// # Errors
    /// [`StepError::Pairs`] names the first pair at fault; the old table then stays.
    pub fn set_material_pairs(&mut self, pairs: MaterialPairs) -> Result<(), StepError> {
        pairs.validate()?;
        self.world.insert_resource(pairs);
        Ok(())
    }

    /// The entity of the body with this id. Of a body that the steps know it takes a search among the ids, of one that was spawned since the last step
    /// a look at all bodies.
    #[must_use]
    pub fn body(&self, id: BodyId) -> Option<Entity> {
        let known = self.state().and_then(|state| state.entity(id));
        let own = |entity: &Entity| self.world.get::<BodyId>(*entity) == Some(&id);
        known.filter(own).or_else(|| {
            let mut bodies = self.world.try_query::<(Entity, &BodyId)>()?;
            let mut bodies = bodies.iter(&self.world);
            bodies.find_map(|(entity, own)| (*own == id).then_some(entity))
        })
    }

    /// Pose of a body.
    #[must_use]
    pub fn pose(&self, body: Entity) -> Option<Pose> {
        self.world.get::<Pose>(body).copied()
    }

    /// Pose of the frame in which a body's shape is given: not that of [`Simulation::pose`] where the shape's origin is
    /// not its centre of mass.
    #[must_use]
    pub fn shape_pose(&self, body: Entity) -> Option<Pose> {
        let shape = self.world.get::<Collider>(body)?;
        let (mass, parts) = (self.world.get(body)?, self.world.get::<PartMaterials>(body));
        let center = shape.center_of_body(mass, parts).ok()?;
        Some(self.pose(body)?.of_shape(center))
    }

    /// Twist of a body.
    #[must_use]
    pub fn twist(&self, body: Entity) -> Option<Twist> {
        self.world.get::<Twist>(body).copied()
    }

    /// Replaces a component of a body (pose, twist, wrench, material, …); false without the body.
    pub fn set(&mut self, body: Entity, component: impl Bundle) -> bool {
        self.world.get_entity_mut(body).is_ok_and(|mut entity| {
            entity.insert(component);
            true
        })
    }

    /// Adds a force (N) at a point (m), both in the inertial frame, to the [`Wrench`](crate::Wrench) of a body, which acts until it is changed; the moment of the force stays that of
    /// now. False without the body.
    ///
    /// # Errors
    /// [`StepError::Body`] if force, point or what they give is not finite; nothing then changes.
    pub fn add_force_at(
        &mut self,
        body: Entity,
        force: DVec3,
        point: DVec3,
    ) -> Result<bool, StepError> {
        push::add_force_at(&mut self.world, body, force, point)
    }

    /// Changes the twist of a dynamic body at once by an impulse (N·s) at a point (m), both in the inertial frame. False without the body, or where no impulse
    /// moves it. What is on joints shares it when the next step begins; a machine with rotors ([`Armature`](crate::JointForce::Armature)) does so at once.
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings::default())?;
    /// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5), Mass::scaled_to(2.0)))?;
    /// simulation.apply_impulse(ball, DVec3::X, DVec3::new(0.0, 0.5, 0.0))?;
    /// let twist = simulation.twist(ball).unwrap_or_default();
    /// assert_eq!(twist.linear, DVec3::new(0.5, 0.0, 0.0));
    /// assert!((twist.angular.z + 0.5 / (0.4 * 2.0 * 0.25)).abs() < 1e-12);
    /// # Ok::<(), StepError>(())
    /// ```
    ///
    /// # Errors
    /// [`StepError::Body`] if impulse, point or what they give is not finite; nothing then changes.
    pub fn apply_impulse(
        &mut self,
        body: Entity,
        impulse: DVec3,
        point: DVec3,
    ) -> Result<bool, StepError> {
        push::apply_impulse(&mut self.world, body, impulse, point)
    }

    /// Gives a kinematic body the pose that it has at the end of the next step, see [`KinematicTarget`]; false without the
    /// body.
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings::default())?;
    /// let table = simulation.spawn((RigidBody::Kinematic, Collider::cuboid(1.0, 1.0, 0.1)))?;
    /// for step in 1..=100 {
    ///     let turn = DQuat::from_rotation_z(0.01 * f64::from(step));
    ///     simulation.move_to(table, Pose::default().with_orientation(turn))?;
    ///     simulation.step()?;
    /// }
    /// # Ok::<(), StepError>(())
    /// ```
    ///
    /// # Errors
    /// [`StepError::Body`] if the body is not kinematic, or the pose not finite or no rotation; nothing then changes.
    pub fn move_to(&mut self, body: Entity, target: Pose) -> Result<bool, StepError> {
        let Some(kind) = self.world.get::<RigidBody>(body).copied() else {
            return Ok(false);
        };
        check_target(kind, &target).map_err(|source| StepError::Body {
            id: self.world.get::<BodyId>(body).copied().unwrap_or_default(),
            entity: body,
            source,
        })?;
        Ok(self.set(body, KinematicTarget(target)))
    }

    /// Wakes a sleeping body; false if it does not sleep. The rest of its island wakes at the beginning of the
    /// next step.
    pub fn wake(&mut self, body: Entity) -> bool {
        let entity = self.world.get_entity_mut(body);
        entity.is_ok_and(|mut entity| entity.take::<Sleeping>().is_some())
    }

    /// The body sleeps: see [`Sleeping`].
    #[must_use]
    pub fn is_sleeping(&self, body: Entity) -> bool {
        self.world.get::<Sleeping>(body).is_some()
    }

    /// The bodies where they are now, to be asked about: rays, overlaps and more, see [`Queries`]. Changes since the last call are read first, by whomever
    /// they were made: the call costs a look at a few columns if there are none, about 100 ns for each body that moved, and some microseconds for one
    /// that is new.
    ///
    /// ```
    /// use moreau::prelude::*;
    /// let mut simulation = Simulation::new(Settings::default())?;
    /// let ball = simulation.spawn((RigidBody::Dynamic, Collider::sphere(0.5), Pose::at(3.0, 0.0, 0.0)))?;
    /// let ray = Ray::new(DVec3::ZERO, DVec3::X)?;
    /// let hit = simulation.queries()?.ray(&ray, &QueryFilter::new());
    /// assert!(hit.is_some_and(|hit| hit.entity == ball && hit.at.distance == 2.5));
    /// // Moved by hand: seen without a step.
    /// simulation.set(ball, Pose::at(3.0, 2.0, 0.0));
    /// assert!(simulation.queries()?.ray(&ray, &QueryFilter::new()).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`QueryError::Body`] names a body that the next step would refuse, for its shape or its pose; [`QueryError::NotInstalled`] if resources of the step were
    /// taken out of the world.
    pub fn queries(&mut self) -> Result<Queries<'_>, QueryError> {
        Asking::of(&mut self.asking, &mut self.world)
    }

    /// Contacts of the last step, ordered by the ids of their bodies. The views of a step are made when
    /// they are first asked for.
    #[must_use]
    pub fn contacts(&self) -> &[ContactView] {
        self.world
            .get_resource::<Contacts>()
            .map_or(&[], |contacts| &contacts.0)
    }

    /// What began and ended in the last step: contacts, bodies seen by sensors, sleep, joints that broke.
    #[must_use]
    pub fn events(&self) -> &StepEvents {
        static NONE: StepEvents = StepEvents::NONE;
        self.state().map_or(&NONE, StepState::events)
    }

    /// The friction-contact problem of the last step, in factored form, over the bodies in the
    /// order of their ids. [`FactoredProblem::assemble`] gives the stored form with the full
    /// Delassus operator. `None` before the first step and after a failed one.
    #[must_use]
    pub fn problem(&self) -> Option<FactoredProblem<'_>> {
        self.state()?.problem()
    }

    /// Solution of [`Simulation::problem`]: impulses, N·s, contact frames.
    #[must_use]
    pub fn impulses(&self) -> &[DVec3] {
        self.state().map_or(&[], StepState::impulses)
    }

    /// Hash of all poses and twists, bit by bit, in the order of ids.
    #[must_use]
    pub fn state_hash(&mut self) -> u64 {
        let mut query = self.world.query::<(&BodyId, &Pose, &Twist)>();
        let mut bodies: Vec<_> = query.iter(&self.world).collect();
        bodies.sort_unstable_by_key(|(id, ..)| **id);
        let mut hash = StateHash::new();
        for (id, pose, twist) in bodies {
            hash.body(*id, pose, twist);
        }
        hash.finish()
    }

    /// The world: entities, components, resources.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to be changed between steps.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }
}
