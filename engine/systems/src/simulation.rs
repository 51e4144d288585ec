//! A world of systems and interactions, and its steps.

use crate::control::{self, Actuator, Command, Instruments, Reading, Sensor};
use crate::error::{FieldError, SystemsError};
use crate::event_driven::{EventReport, EventSettings};
use crate::integrator::Integrator;
use crate::interaction::{Joins, Outcome, Previous, Reaction, SpawnId};
use crate::law::NonsmoothLaw;
use crate::relation::Relation;
use crate::report::StepReport;
use crate::settings::Settings;
use crate::solver_choice::{AnySolver, Judged, named};
use crate::step::Plant;
use crate::step::gather::Gather;
use crate::step::scheme::Instant;
use crate::substeps::Substeps;
use crate::system::System;
use crate::system::state::State;
use bevy_ecs::prelude::*;
use moreau_solvers::{GlobalProblem, Solver};

/// A world of systems and interactions, and its steps. All state is in components: [`State`], [`Outcome`], [`Reaction`], [`Previous`],
/// [`Reading`] and [`Command`].
///
/// Results depend on the order of spawning and on nothing else of how entities are stored.
pub struct SystemsSimulation {
    world: World,
    gather: Gather,
    instruments: Instruments,
    /// That of the last step, unless it failed.
    plant: Option<Box<Plant>>,
    #[cfg(feature = "rigid-bodies")]
    bodies: crate::rigid_bodies::Bodies,
    settings: Settings,
    solver: AnySolver,
    /// `t_0` and the steps since.
    start: f64,
    steps: u64,
    next_id: u64,
}

impl SystemsSimulation {
    /// An empty world at `t = 0` s.
    ///
    /// # Errors
    /// [`SystemsError::Settings`] names the setting that is out of range.
    pub fn new(settings: Settings) -> Result<Self, SystemsError> {
        settings.check().map_err(SystemsError::Settings)?;
        let mut world = World::new();
        let solver = named("auto").ok_or(SystemsError::Settings(FieldError::Missing {
            field: "solver",
        }))?;
        Ok(Self {
            gather: Gather::new(&mut world),
            #[cfg(feature = "rigid-bodies")]
            bodies: crate::rigid_bodies::Bodies::new(&mut world),
            instruments: Instruments::new(&mut world),
            plant: None,
            world,
            settings,
            solver,
            start: 0.0,
            steps: 0,
            next_id: 0,
        })
    }

    /// Spawns a system in a state, and checks it.
    ///
    /// # Errors
    /// [`SystemsError::System`] names the field at fault; the system is then not in the world.
    pub fn spawn_system(
        &mut self,
        system: impl Into<System>,
        state: State,
        integrator: Integrator,
    ) -> Result<Entity, SystemsError> {
        let entity = self.spawn((system.into(), state, integrator));
        self.settle(entity)
    }

    /// Spawns an interaction of one system or several, and checks it.
    ///
    /// # Errors
    /// [`SystemsError::Interaction`] names the field at fault; the interaction is then not in the world.
    pub fn spawn_interaction(
        &mut self,
        joins: Joins,
        relation: impl Into<Relation>,
        law: NonsmoothLaw,
    ) -> Result<Entity, SystemsError> {
        let entity = self.spawn((joins, relation.into(), law));
        self.settle(entity)
    }

    /// Spawns a sensor of a system, and checks it, but for its period beside `h`, which time stepping does: see [`control`].
    ///
    /// # Errors
    /// [`SystemsError::Sensor`] names the field at fault; the sensor is then not in the world.
    pub fn spawn_sensor(&mut self, sensor: Sensor) -> Result<Entity, SystemsError> {
        let entity = self.spawn(sensor);
        self.settle(entity)
    }

    /// Spawns an actuator of a system, and checks it, but for its period beside `h`, which time stepping does: see [`control`].
    ///
    /// # Errors
    /// [`SystemsError::Actuator`] names the field at fault; the actuator is then not in the world.
    pub fn spawn_actuator(&mut self, actuator: Actuator) -> Result<Entity, SystemsError> {
        let entity = self.spawn(actuator);
        self.settle(entity)
    }

    fn spawn(&mut self, bundle: impl Bundle) -> Entity {
        let id = SpawnId(self.next_id);
        self.next_id += 1;
        self.world.spawn((bundle, id)).id()
    }

    /// Takes an entity out again that the next step would refuse.
    fn settle(&mut self, entity: Entity) -> Result<Entity, SystemsError> {
        let (at, world) = (self.instant(), &self.world);
        let is_instrument =
            world.get::<Sensor>(entity).is_some() || world.get::<Actuator>(entity).is_some();
        let checked = if is_instrument {
            let plant = self.gather.plant(world, at);
            plant.and_then(|plant| self.instruments.control(world, &plant, None).map(drop))
        } else {
            self.gather.check(world, entity, at.h)
        };
        match checked {
            Err(
                SystemsError::System { entity: at, .. }
                | SystemsError::Interaction { entity: at, .. }
                | SystemsError::Sensor { entity: at, .. }
                | SystemsError::Actuator { entity: at, .. },
            ) if at != entity => Ok(entity),
            Err(error) => {
                self.world.despawn(entity);
                Err(error)
            }
            Ok(()) => Ok(entity),
        }
    }

    /// One step of length `h`.
    ///
    /// # Errors
    /// [`SystemsError`] names the entity and the field at fault; the world is then as it was. That a tolerance was not reached is said in the report.
    pub fn step(&mut self) -> Result<StepReport, SystemsError> {
        self.steps(1)
    }

    /// So many steps of length `h`, with the bits of as many calls of [`Self::step`] and the report of the worst of them. Components are read before the first and written after the
    /// last, which saves small systems a quarter to a half of the time.
    ///
    /// # Errors
    /// As [`Self::step`]; the world is then as it was before the first of them.
    pub fn steps(&mut self, count: u64) -> Result<StepReport, SystemsError> {
        #[cfg(feature = "rigid-bodies")]
        self.bodies.read(&mut self.world);
        let (at, old) = (self.instant(), self.plant.take());
        let mut plant = self.gather.again(&mut self.world, old, at)?;
        let h = self.settings.h;
        let mut control = self.instruments.control(&self.world, &plant, Some(h))?;
        let mut report = StepReport::nothing(at.t);
        for k in 0..count {
            if k > 0 {
                plant.go_on(self.time_after(k));
            }
            control.act(&mut plant, h)?;
            plant.step(&self.settings, &mut self.solver)?;
            report.add_later(&plant.report);
        }
        control.commit(&mut self.world);
        if count > 0 {
            self.gather.commit(&mut plant, &mut self.world);
            self.plant = Some(plant);
        }
        #[cfg(feature = "rigid-bodies")]
        self.bodies.write(&mut self.world);
        self.steps += count;
        Ok(report)
    }

    /// Advances to the time `end`, s, from event to event, with steps that follow the tolerance: see [`event_driven`](crate::event_driven). Time stepping may go on from
    /// there. Multipliers of closed contacts are then forces, N.
    ///
    /// # Errors
    /// As [`Self::step`]; and for systems, relations and laws that this integration does not have.
    pub fn advance_by_events(
        &mut self,
        end: f64,
        settings: &EventSettings,
    ) -> Result<EventReport, SystemsError> {
        #[cfg(feature = "rigid-bodies")]
        self.bodies.read(&mut self.world);
        self.plant = None;
        let mut plant = self.gather.plant(&self.world, self.instant())?;
        let mut control = self.instruments.control(&self.world, &plant, None)?;
        let numerics = (self.settings.tolerance, &mut self.solver);
        let report = control::advance(&mut control, &mut plant, end, settings, numerics)?;
        plant.commit(&mut self.world);
        control.commit(&mut self.world);
        #[cfg(feature = "rigid-bodies")]
        self.bodies.write(&mut self.world);
        self.begin_at(report.time);
        Ok(report)
    }

    /// Counts steps from here, and forgets what schemes of two steps remember.
    fn begin_at(&mut self, time: f64) {
        (self.start, self.steps) = (time, 0);
        let mut remembering = self.world.query_filtered::<Entity, With<Previous>>();
        let entities: Vec<Entity> = remembering.iter(&self.world).collect();
        for entity in entities {
            self.world.entity_mut(entity).remove::<Previous>();
        }
    }

    /// `q_{k−1} ← q_k − ratio (q_k − q_{k−1})` of all systems or of one: the same velocity over another step.
    fn stretch(&mut self, ratio: f64, only: Option<Entity>) {
        let mut remembering = self.world.query::<(Entity, &State, &mut Previous)>();
        for (entity, state, mut previous) in remembering.iter_mut(&mut self.world) {
            if only.is_none_or(|only| only == entity) {
                for (before, now) in previous.0.iter_mut().zip(state.q()) {
                    *before = now - ratio * (now - *before);
                }
            }
        }
    }

    /// The present time, s: `t_0 + k h`.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time_after(0)
    }

    /// Another present time, s, from which steps are counted: signals and rheonomous relations see it. States stay.
    ///
    /// # Errors
    /// [`SystemsError::Settings`] if it is no finite number.
    pub fn set_time(&mut self, time: f64) -> Result<(), SystemsError> {
        crate::error::expect_range("time", time, time.is_finite(), "finite")
            .map_err(SystemsError::Settings)?;
        (self.start, self.steps) = (time, 0);
        Ok(())
    }

    /// That after so many more steps.
    fn time_after(&self, steps: u64) -> f64 {
        self.start + (self.steps + steps) as f64 * self.settings.h
    }

    fn instant(&self) -> Instant {
        Instant {
            t: self.time(),
            h: self.settings.h,
        }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Other settings from the next step on. What schemes of two steps remember belongs to the old `h`: if that changes, they keep the velocity of the last step. (Not so near an
    /// impact: there Schatzman–Paoli does not bear another `h`.)
    ///
    /// # Errors
    /// [`SystemsError::Settings`] names the setting that is out of range; the old ones then stay.
    pub fn set_settings(&mut self, settings: Settings) -> Result<(), SystemsError> {
        settings.check().map_err(SystemsError::Settings)?;
        if settings.h.to_bits() != self.settings.h.to_bits() {
            let time = self.time();
            (self.start, self.steps) = (time, 0);
            self.stretch(settings.h / self.settings.h, None);
        }
        self.settings = settings;
        Ok(())
    }

    /// Other [`Substeps`] of a system from the next step on; if they change, a scheme of two steps keeps the velocity of the last. Interactions are checked by the
    /// next step, so that the systems that one joins may be changed in turn.
    ///
    /// # Errors
    /// [`SystemsError::System`] if there are none, or the entity is no system; the old ones then stay.
    pub fn set_substeps(&mut self, system: Entity, substeps: Substeps) -> Result<(), SystemsError> {
        let named = |source| SystemsError::System {
            entity: system,
            source,
        };
        substeps.check().map_err(named)?;
        if self.world.get::<System>(system).is_none() {
            return Err(named(FieldError::Missing { field: "system" }));
        }
        let old = self.world.get::<Substeps>(system).copied();
        let old = old.unwrap_or_default();
        if old != substeps {
            self.world.entity_mut(system).insert(substeps);
            let ratio = f64::from(old.0) / f64::from(substeps.0);
            self.stretch(ratio, Some(system));
        }
        Ok(())
    }

    /// Another solver for the problems of the steps, see [`solver_choice`](crate::solver_choice). What it says of its answers is not believed: they are judged here.
    pub fn set_solver(&mut self, solver: impl Solver + Send + Sync + 'static) {
        self.solver = Box::new(Judged(solver));
    }

    /// Another solver by its name; false if there is none of that name.
    pub fn set_solver_named(&mut self, name: &str) -> bool {
        let solver = named(name);
        let found = solver.is_some();
        if let Some(solver) = solver {
            self.solver = solver;
        }
        found
    }

    /// The state of a system.
    #[must_use]
    pub fn state(&self, system: Entity) -> Option<&State> {
        self.world.get(system)
    }

    /// What an interaction did in the last step.
    #[must_use]
    pub fn outcome(&self, interaction: Entity) -> Option<&Outcome> {
        self.world.get(interaction)
    }

    /// What the interactions of a system did to it in the last step; `None` before the first.
    #[must_use]
    pub fn reaction(&self, system: Entity) -> Option<&[f64]> {
        self.world
            .get::<Reaction>(system)
            .map(|reaction| &reaction.0[..])
    }

    /// What a sensor holds, as it was read at its last instant; no values before the first.
    #[must_use]
    pub fn reading(&self, sensor: Entity) -> Option<&Reading> {
        self.world.get(sensor)
    }

    /// What an actuator holds, as it was commanded at its last instant; no values before the first.
    #[must_use]
    pub fn command(&self, actuator: Entity) -> Option<&Command> {
        self.world.get(actuator)
    }

    /// The problem of the last step, of its last Newton iteration, in global form: velocities (under Schatzman–Paoli positions) of all systems in the order of their ids, and impulses of
    /// the interactions that took part. What solves it solves the step; [`GlobalProblem::condense`] is its local form. `None` before the first step, and after events.
    ///
    /// # Errors
    /// [`SystemsError::Interaction`] of compliant and first-order relations, whose multipliers do not act as they are seen.
    pub fn global_problem(&self) -> Result<Option<GlobalProblem>, SystemsError> {
        self.plant.as_deref().map(Plant::global_problem).transpose()
    }

    /// The world, to read.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to change components between steps. Entities that are spawned in it directly need a [`SpawnId`] of their own.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }
}
