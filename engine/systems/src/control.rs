//! Control: sensors and actuators at rates of their own, evaluated in a fixed order before each step.
//!
//! ```text
//! sensors      in the order of their ids, those with an instant:  y = C x(t_k)  or  h(t_k, state)
//! actuators    in the order of their ids, those with an instant:  u = controller(t_k, readings held)
//! step         B u held throughout: a force, or a part of the right side of a first-order system
//! ```
//!
//! A reading or a command stays until the next instant of its own [`Clock`], which says what becomes of instants within a step. Actuators see readings of the same
//! instant, sensors never what an actuator does in it. Under event-driven integration instants are met exactly.
//!
//! Results are components: [`Reading`] and [`Command`], written together with the states, so that an error leaves both as they were.
//!
//! ```
//! use moreau_systems::*;
//! // ẋ = x + u is held at zero by u = −3 x, read and given ten times a second.
//! let mut simulation = SystemsSimulation::new(Settings::new(0.02))?;
//! let unstable = FirstOrderLinear::new(Matrix::identity(1));
//! let system = simulation.spawn_system(unstable, State::first_order([1.0]), Integrator::euler_moreau(0.5))?;
//! let (clock, one) = (Clock::new(0.1), Matrix::identity(1));
//! let sensor = simulation.spawn_sensor(Sensor::linear(system, one.clone(), clock))?;
//! let law = LinearFeedback::new([one.scaled(3.0)]);
//! let actuator = simulation.spawn_actuator(Actuator::new(system, [sensor], one, law, clock))?;
//! for _ in 0..200 {
//!     simulation.step()?;
//! }
//! assert!(simulation.state(system).is_some_and(|state| state.x()[0].abs() < 1e-3));
//! assert!(simulation.command(actuator).is_some_and(|command| command.instant == Some(39)));
//! # Ok::<(), SystemsError>(())
//! ```
//!
//! A relay inside the step is sliding-mode control without chattering, continuous in the limit: a [`FirstOrderLinearRelation`](crate::FirstOrderLinearRelation) with
//! `σ = C x` under [`NonsmoothLaw::Relay`](crate::NonsmoothLaw::Relay). [`SlidingMode`] is the sampled one.

pub mod actuator;
pub mod clock;
mod events;
pub mod sensor;
pub mod sliding;

pub use actuator::{Actuator, Command, Controller, LinearFeedback, feedback};
pub use clock::Clock;
pub use sensor::{Reading, Reads, Sensor};
pub use sliding::{SlidingMode, zero_order_hold};

use crate::error::{FieldError, SystemsError, expect_finite};
use crate::interaction::SpawnId;
use crate::step::Plant;
use bevy_ecs::prelude::*;

pub(crate) use events::advance;

type OfSensor = (
    Entity,
    Option<&'static SpawnId>,
    &'static Sensor,
    Option<&'static Reading>,
);

type OfActuator = (
    Entity,
    Option<&'static SpawnId>,
    &'static Actuator,
    Option<&'static Command>,
);

/// The queries of a world, made once.
pub(crate) struct Instruments {
    sensors: QueryState<OfSensor>,
    actuators: QueryState<OfActuator>,
}

/// The instruments of a world and what they hold, beside a plant.
pub(crate) struct Control {
    sensors: Vec<Measuring>,
    actuators: Vec<Acting>,
}

struct Measuring {
    entity: Entity,
    sensor: Sensor,
    /// Place of the system in the plant.
    system: usize,
    reading: Reading,
    is_new: bool,
}

struct Acting {
    entity: Entity,
    actuator: Actuator,
    /// Place of the system in the plant.
    system: usize,
    /// Places of the sensors.
    sensors: Vec<usize>,
    command: Command,
    is_new: bool,
}

/// Where an entity is in a sorted list.
fn find(places: &[(Entity, usize)], entity: Entity) -> Option<usize> {
    let found = places.binary_search_by_key(&entity, |(entity, _)| *entity);
    found.ok().map(|k| places[k].1)
}

fn places(entities: impl Iterator<Item = Entity>) -> Vec<(Entity, usize)> {
    let mut places: Vec<_> = entities.zip(0..).collect();
    places.sort_unstable();
    places
}

impl Instruments {
    pub(crate) fn new(world: &mut World) -> Self {
        Self {
            sensors: world.query(),
            actuators: world.query(),
        }
    }

    /// The instruments of a world, checked; `h` is that of time stepping.
    pub(crate) fn control(
        &mut self,
        world: &World,
        plant: &Plant,
        h: Option<f64>,
    ) -> Result<Control, SystemsError> {
        self.sensors.update_archetypes(world);
        self.actuators.update_archetypes(world);
        if self.sensors.iter_manual(world).next().is_none()
            && self.actuators.iter_manual(world).next().is_none()
        {
            return Ok(Control {
                sensors: Vec::new(),
                actuators: Vec::new(),
            });
        }
        let mut sensors: Vec<_> = self.sensors.iter_manual(world).collect();
        let mut actuators: Vec<_> = self.actuators.iter_manual(world).collect();
        sensors.sort_by_key(|row| row.1);
        actuators.sort_by_key(|row| row.1);
        let systems = places(plant.blocks.iter().map(|block| block.entity));
        let sensors = sensors.into_iter().map(|(entity, id, sensor, reading)| {
            measuring(entity, id, sensor, reading, (plant, &systems), h)
                .map_err(|source| SystemsError::Sensor { entity, source })
        });
        let sensors = sensors.collect::<Result<Vec<_>, _>>()?;
        let known = places(sensors.iter().map(|sensor| sensor.entity));
        let actuators = actuators
            .into_iter()
            .map(|(entity, id, actuator, command)| {
                let command = (id, command);
                acting(
                    entity,
                    actuator,
                    command,
                    (plant, &systems),
                    (&sensors, &known),
                    h,
                )
                .map_err(|source| SystemsError::Actuator { entity, source })
            });
        let actuators = actuators.collect::<Result<Vec<_>, _>>()?;
        Ok(Control { sensors, actuators })
    }
}

fn system_of(
    system: Entity,
    systems: &[(Entity, usize)],
    id: Option<&SpawnId>,
) -> Result<usize, FieldError> {
    let missing = |field| FieldError::Missing { field };
    id.ok_or(missing("spawn id"))?;
    find(systems, system).ok_or(missing("system"))
}

fn measuring(
    entity: Entity,
    id: Option<&SpawnId>,
    sensor: &Sensor,
    reading: Option<&Reading>,
    (plant, systems): (&Plant, &[(Entity, usize)]),
    h: Option<f64>,
) -> Result<Measuring, FieldError> {
    let system = system_of(sensor.system, systems, id)?;
    sensor.check(&plant.blocks[system].start, h)?;
    let mut reading = reading.cloned().unwrap_or_default();
    reading.values.resize(sensor.size(), 0.0);
    Ok(Measuring {
        entity,
        sensor: sensor.clone(),
        system,
        reading,
        is_new: false,
    })
}

fn acting(
    entity: Entity,
    actuator: &Actuator,
    (id, command): (Option<&SpawnId>, Option<&Command>),
    (plant, systems): (&Plant, &[(Entity, usize)]),
    (sensors, known): (&[Measuring], &[(Entity, usize)]),
    h: Option<f64>,
) -> Result<Acting, FieldError> {
    let system = system_of(actuator.system, systems, id)?;
    let field = "a sensor that it knows";
    let seen = |sensor: &Entity| find(known, *sensor).ok_or(FieldError::Missing { field });
    let seen = actuator.sensors.iter().map(seen);
    let seen = seen.collect::<Result<Vec<usize>, _>>()?;
    let sizes: Vec<usize> = seen.iter().map(|k| sensors[*k].sensor.size()).collect();
    actuator.check(plant.blocks[system].size(), &sizes, h)?;
    let mut command = command.cloned().unwrap_or_default();
    command.values.resize(actuator.controller.size(), 0.0);
    Ok(Acting {
        entity,
        actuator: actuator.clone(),
        system,
        sensors: seen,
        command,
        is_new: false,
    })
}

impl Control {
    /// Reads and commands what has an instant at the start of the plant, and holds the commands in it; `h` is how far steps reach, s.
    pub(crate) fn act(&mut self, plant: &mut Plant, h: f64) -> Result<(), SystemsError> {
        let t = plant.at.t;
        for own in &mut self.sensors {
            let instant = own.sensor.clock.last_instant(t, h);
            if instant.is_none() || instant == own.reading.instant {
                continue;
            }
            let values = own.sensor.read(t, &plant.blocks[own.system].start);
            let entity = own.entity;
            expect_finite("reading", &values)
                .map_err(|source| SystemsError::Sensor { entity, source })?;
            own.reading = Reading {
                values,
                time: t,
                instant,
            };
            own.is_new = true;
        }
        for own in &mut self.actuators {
            let instant = own.actuator.clock.last_instant(t, h);
            if instant.is_none() || instant == own.command.instant {
                continue;
            }
            let seen = own.sensors.iter().map(|k| &self.sensors[*k]);
            let readings: Vec<&[f64]> = seen.map(|sensor| &sensor.reading.values[..]).collect();
            let values = &mut own.command.values;
            own.actuator.controller.command(t, &readings, values);
            let entity = own.entity;
            expect_finite("command", values)
                .map_err(|source| SystemsError::Actuator { entity, source })?;
            (own.command.time, own.command.instant, own.is_new) = (t, instant, true);
        }
        self.hold(plant);
        Ok(())
    }

    /// `Σ B u` of every system.
    fn hold(&self, plant: &mut Plant) {
        for block in &mut plant.blocks {
            block.held.clear();
        }
        for own in &self.actuators {
            let block = &mut plant.blocks[own.system];
            block.held.resize(block.size(), 0.0);
            let input = &own.actuator.input;
            input.add_times(1.0, &own.command.values, &mut block.held);
        }
    }

    /// The first instant after `t`, s, on the way to `end`, s, if there are instruments.
    fn next_after(&self, t: f64, end: f64) -> Result<Option<f64>, SystemsError> {
        let mut first: Option<f64> = None;
        let mut take = |next: f64| first = Some(first.map_or(next, |first| first.min(next)));
        for own in &self.sensors {
            let entity = own.entity;
            let next = own.sensor.clock.next_after(t, end);
            take(next.map_err(|source| SystemsError::Sensor { entity, source })?);
        }
        for own in &self.actuators {
            let entity = own.entity;
            let next = own.actuator.clock.next_after(t, end);
            take(next.map_err(|source| SystemsError::Actuator { entity, source })?);
        }
        Ok(first)
    }

    /// Writes what was read and commanded.
    pub(crate) fn commit(self, world: &mut World) {
        if self.sensors.is_empty() && self.actuators.is_empty() {
            return;
        }
        for own in self.sensors.into_iter().filter(|own| own.is_new) {
            world.entity_mut(own.entity).insert(own.reading);
        }
        for own in self.actuators.into_iter().filter(|own| own.is_new) {
            world.entity_mut(own.entity).insert(own.command);
        }
    }
}
