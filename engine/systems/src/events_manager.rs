//! Events to come and events that came, in one order: the driver of a simulation that goes from event to event, and steps through accumulations.
//!
//! | event | known | at the same time, in this order |
//! |---|---|---|
//! | nonsmooth: impacts, contacts that close and open, relays | found as roots | 1 |
//! | time discretisation: `t_0 + k T` | in advance | 2 |
//! | sampling: instants of sensors and actuators | in advance | 3, by their ids |
//! | of the user, by a number | in advance | 4, by their numbers |
//!
//! Events in advance that are no further apart than [`EventsManager::tolerance`] are one instant: the simulation stops there once, at the first of them.
//!
//! **Accumulations.** Where [`EventSettings::accumulation`] sees one, time stepping with the step of the simulation takes over, which goes through any number of
//! impacts; as soon as the contact that accumulated has carried a force for three steps in a row, slower than
//! [`EventSettings::resting_rate`], event-driven integration goes on. Both are said as
//! [`Occurred::HandedOver`]. Systems need an integrator that can do it, Moreau–Jean or D1-minus.

use crate::control::{Actuator, Sensor};
use crate::error::{FieldError, SystemsError, expect_range};
use crate::event_driven::{Accumulation, Event, EventKind, EventSettings};
use crate::integrator::Integrator;
use crate::interaction::SpawnId;
use crate::settings::Settings;
use crate::simulation::SystemsSimulation;
use bevy_ecs::entity::Entity;

/// Steps in a row with a force after which a contact is at rest.
const RESTS: usize = 3;

/// What happened at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Occurred {
    /// An impact, a contact that closed or opened, a relay that switched.
    Nonsmooth(Event),
    /// The `k`-th point of the time discretisation.
    TimeDiscretisation(u64),
    /// A sensor or an actuator works next.
    Sampling(Entity),
    /// An event of the user, by its number.
    User(u64),
    /// The other way of integration goes on from here.
    HandedOver(Way),
}

/// Ways of integration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// From event to event.
    #[default]
    Events,
    /// Steps of equal length.
    TimeStepping,
}

/// An instant and what happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occurrence {
    /// s.
    pub time: f64,
    /// What happened.
    pub what: Occurred,
}

/// Outcome of an advance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManagerReport {
    /// All of it, in its order.
    pub occurrences: Vec<Occurrence>,
    /// Every part and every step reached its tolerance.
    pub converged: bool,
    /// Steps of event-driven integration.
    pub adaptive_steps: usize,
    /// Steps of time stepping.
    pub steps: usize,
}

/// Points of a time discretisation.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Discretisation {
    start: f64,
    period: f64,
    /// The next `k`; none before the first advance.
    next: Option<u64>,
}

impl Discretisation {
    fn time(&self) -> f64 {
        self.start + self.next.unwrap_or(0) as f64 * self.period
    }

    /// Points before `t`, s, are over at the first advance.
    fn begin(&mut self, t: f64) {
        let over = ((t - self.start) / self.period).ceil().max(0.0) as u64;
        self.next = self.next.or(Some(over));
    }
}

/// Events to come, and the way of integration.
///
/// ```
/// use moreau_systems::*;
/// let mut simulation = SystemsSimulation::new(Settings::new(1e-3))?;
/// let state = State::lagrangian([0.0], [1.0]);
/// let system = LagrangianLinear::new(Matrix::identity(1));
/// simulation.spawn_system(system, state, Integrator::moreau_jean(0.5))?;
/// let mut events = EventsManager::new(EventSettings::default());
/// events.discretise(0.0, 0.5)?;
/// events.schedule(0.75, 7)?;
/// let report = events.advance(&mut simulation, 1.0)?;
/// let times: Vec<f64> = report.occurrences.iter().map(|occurrence| occurrence.time).collect();
/// assert_eq!(times, [0.0, 0.5, 0.75, 1.0]);
/// assert_eq!(report.occurrences[2].what, Occurred::User(7));
/// # Ok::<(), SystemsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventsManager {
    /// Of event-driven integration.
    pub settings: EventSettings,
    /// Events no further apart than this are one instant, s. Default 1e-12.
    pub tolerance: f64,
    discretisation: Option<Discretisation>,
    /// Time and number, sorted.
    user: Vec<(f64, u64)>,
    way: Way,
    /// The contact that accumulates, and the steps in a row in which it carried a force.
    accumulating: Option<(Entity, usize)>,
    /// Gap, m, and rate, m/s, at which time stepping leaves the contact: it touches and rests, although it may be above [`EventSettings::gap`].
    left_at: Option<[f64; 2]>,
    /// Impacts that an accumulation may begin with: contact and time, s.
    recent: Vec<(Entity, f64)>,
    /// Up to where sampling instants were handed out, s.
    sampled: Option<f64>,
}

impl EventsManager {
    /// No events to come.
    #[must_use]
    pub fn new(settings: EventSettings) -> Self {
        Self {
            settings,
            tolerance: 1e-12,
            discretisation: None,
            user: Vec::new(),
            way: Way::default(),
            accumulating: None,
            left_at: None,
            recent: Vec::new(),
            sampled: None,
        }
    }

    /// A time discretisation `t_0 + k T`, s, in place of the one before; points before the time of the next advance are over. `T` must be above
    /// [`Self::tolerance`], and above a rounding of the time.
    ///
    /// # Errors
    /// [`SystemsError::Settings`] if a number is out of its range.
    pub fn discretise(&mut self, start: f64, period: f64) -> Result<(), SystemsError> {
        let positive = period.is_finite() && period > 0.0;
        expect_range("discretisation.start", start, start.is_finite(), "finite")
            .and_then(|()| {
                expect_range("discretisation.period", period, positive, "finite and > 0")
            })
            .map_err(SystemsError::Settings)?;
        self.discretisation = Some(Discretisation {
            start,
            period,
            next: None,
        });
        Ok(())
    }

    /// An event of the user at a time, s, with a number.
    ///
    /// # Errors
    /// [`SystemsError::Settings`] if the time is no finite number.
    pub fn schedule(&mut self, time: f64, number: u64) -> Result<(), SystemsError> {
        expect_range("event time", time, time.is_finite(), "finite")
            .map_err(SystemsError::Settings)?;
        self.user.push((time, number));
        self.user
            .sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Ok(())
    }

    /// The way of integration now.
    #[must_use]
    pub fn way(&self) -> Way {
        self.way
    }

    /// Advances a simulation to `end`, s, through all events up to there. Events that are scheduled before the present are handed out at once.
    ///
    /// # Errors
    /// As [`SystemsSimulation::advance_by_events`] and [`SystemsSimulation::step`]; what happened before stays.
    pub fn advance(
        &mut self,
        simulation: &mut SystemsSimulation,
        end: f64,
    ) -> Result<ManagerReport, SystemsError> {
        let holds = end.is_finite() && end >= simulation.time();
        expect_range("end", end, holds, "finite and not in the past")
            .map_err(SystemsError::Settings)?;
        let tolerance = self.tolerance;
        let bound = "finite and ≥ 0";
        let fits = tolerance.is_finite() && tolerance >= 0.0;
        expect_range("tolerance", tolerance, fits, bound).map_err(SystemsError::Settings)?;
        if self.settings.accumulation.is_some() {
            expect_one_step(simulation)?;
        }
        if let Some(discretisation) = &mut self.discretisation {
            let period = discretisation.period;
            let least = tolerance + 4.0 * f64::EPSILON * end.abs().max(discretisation.start.abs());
            let bound = "above the tolerance and a rounding of the time";
            expect_range("discretisation.period", period, period > least, bound)
                .map_err(SystemsError::Settings)?;
            discretisation.begin(simulation.time() - least);
        }
        let mut report = ManagerReport {
            converged: true,
            ..ManagerReport::default()
        };
        loop {
            self.hand_out(simulation, end, &mut report)?;
            let t = simulation.time();
            if t >= end || !report.converged {
                return Ok(report);
            }
            let next = self.next_time(simulation, [t, end])?.min(end);
            match self.way {
                Way::Events => self.by_events(simulation, next, &mut report)?,
                Way::TimeStepping => self.by_steps(simulation, next, &mut report)?,
            }
        }
    }

    /// The first instant after `t` that is known in advance, s; infinity if there is none.
    fn next_time(
        &self,
        simulation: &mut SystemsSimulation,
        [t, end]: [f64; 2],
    ) -> Result<f64, SystemsError> {
        let discrete = self.discretisation.iter().map(Discretisation::time);
        let user = self.user.first().map(|(time, _)| *time);
        let mut next = discrete.chain(user).fold(f64::INFINITY, f64::min);
        for (time, _) in sampling(simulation, t, end)? {
            next = next.min(time);
        }
        Ok(next)
    }

    /// What is due now.
    fn hand_out(
        &mut self,
        simulation: &mut SystemsSimulation,
        end: f64,
        report: &mut ManagerReport,
    ) -> Result<(), SystemsError> {
        let time = simulation.time();
        let due = time + self.tolerance + 4.0 * f64::EPSILON * time.abs();
        let mut push = |what| report.occurrences.push(Occurrence { time, what });
        while let Some(discretisation) = &mut self.discretisation
            && discretisation.time() <= due
        {
            let k = discretisation.next.unwrap_or(0);
            push(Occurred::TimeDiscretisation(k));
            discretisation.next = Some(k + 1);
        }
        // The first instant after just before now.
        let before = self.sampled.unwrap_or(f64::NEG_INFINITY);
        let just_before = time - (due - time);
        for (instant, entity) in sampling(simulation, just_before, end)? {
            if instant <= due && instant > before {
                push(Occurred::Sampling(entity));
            }
        }
        self.sampled = Some(due);
        let count = self.user.iter().take_while(|(at, _)| *at <= due).count();
        let mut numbers: Vec<u64> = self.user.drain(..count).map(|(_, number)| number).collect();
        numbers.sort_unstable();
        numbers
            .into_iter()
            .for_each(|number| push(Occurred::User(number)));
        Ok(())
    }

    fn by_events(
        &mut self,
        simulation: &mut SystemsSimulation,
        next: f64,
        report: &mut ManagerReport,
    ) -> Result<(), SystemsError> {
        // The first part after time stepping is a step long: it brings the contact to `y = 0`.
        let part = match self.left_at.take() {
            Some([gap, rate]) => {
                let end = next.min(simulation.time() + simulation.settings().h);
                let settings = EventSettings {
                    gap: self.settings.gap.max(gap),
                    rate: self.settings.rate.max(rate),
                    ..self.settings.clone()
                };
                simulation.advance_by_events(end, &settings)?
            }
            None => simulation.advance_by_events(next, &self.settings)?,
        };
        report.converged &= part.converged;
        report.adaptive_steps += part.steps;
        let occurrences = part.events.iter().map(|event| Occurrence {
            time: event.time,
            what: Occurred::Nonsmooth(*event),
        });
        report.occurrences.extend(occurrences);
        let contact = self.accumulates(&part.events, simulation.time());
        if let Some(entity) = part.accumulating.or(contact) {
            self.recent.clear();
            self.accumulating = Some((entity, 0));
            self.hand_over(Way::TimeStepping, simulation.time(), report);
        }
        Ok(())
    }

    /// The rule of accumulations over the impacts of several parts: the contact that was struck last, if that was one impact too many.
    fn accumulates(&mut self, events: &[Event], now: f64) -> Option<Entity> {
        let Accumulation { impacts, within } = self.settings.accumulation?;
        for event in events {
            if let EventKind::Impact { .. } = event.kind {
                self.recent.push((event.interaction, event.time));
            }
        }
        self.recent.retain(|(_, time)| now - time <= within);
        let (last, _) = *self.recent.last()?;
        let count = self.recent.iter().filter(|(own, _)| *own == last).count();
        (count >= impacts).then_some(last)
    }

    /// One step, cut where the next instant is.
    fn by_steps(
        &mut self,
        simulation: &mut SystemsSimulation,
        next: f64,
        report: &mut ManagerReport,
    ) -> Result<(), SystemsError> {
        let settings = simulation.settings().clone();
        let left = next - simulation.time();
        let is_cut = left < settings.h * (1.0 - 1e-9);
        if is_cut {
            let h = left;
            simulation.set_settings(Settings {
                h,
                ..settings.clone()
            })?;
        }
        let step = simulation.step();
        if is_cut {
            simulation.set_settings(settings)?;
        }
        let step = step?;
        report.converged &= step.converged;
        report.steps += 1;
        let mut is_at_rest = true;
        if let Some((entity, rests)) = &mut self.accumulating {
            let outcome = simulation.outcome(*entity);
            let slow = self.settings.resting_rate;
            let pushes = outcome.is_some_and(|outcome| {
                let mut acts = outcome
                    .lambda
                    .first()
                    .into_iter()
                    .chain(outcome.force.first());
                let pushed = acts.any(|acts| *acts > 0.0);
                let is_slow = outcome.rate.first().is_some_and(|rate| rate.abs() <= slow);
                outcome.active && pushed && is_slow
            });
            *rests = if pushes { *rests + 1 } else { 0 };
            is_at_rest = *rests >= RESTS;
            self.left_at = outcome.and_then(|outcome| {
                let (y, rate) = (outcome.output.first()?, outcome.rate.first()?);
                Some([1.001 * y, 1.001 * rate.abs()])
            });
        }
        if is_at_rest {
            self.accumulating = None;
            self.hand_over(Way::Events, simulation.time(), report);
        }
        Ok(())
    }

    fn hand_over(&mut self, way: Way, time: f64, report: &mut ManagerReport) {
        self.way = way;
        report.occurrences.push(Occurrence {
            time,
            what: Occurred::HandedOver(way),
        });
    }
}

/// Steps are cut where events are, which a scheme of two steps does not bear: over a shorter step the same positions of an impact are another velocity.
fn expect_one_step(simulation: &mut SystemsSimulation) -> Result<(), SystemsError> {
    let world = simulation.world_mut();
    let mut systems = world.query::<(Entity, &SpawnId, &Integrator)>();
    let two = systems
        .iter(world)
        .filter(|(.., integrator)| matches!(integrator, Integrator::SchatzmanPaoli(_)));
    match two.min_by_key(|(_, id, _)| **id) {
        None => Ok(()),
        Some((entity, ..)) => {
            let source = FieldError::Kind {
                field: "integrator",
                found: "SchatzmanPaoli",
                expected: "a scheme of one step, where accumulations are handed to time stepping",
            };
            Err(SystemsError::System { entity, source })
        }
    }
}

/// The next instant of each sensor and actuator after `t`, s, on the way to `end`, s, in the order of their ids.
fn sampling(
    simulation: &mut SystemsSimulation,
    t: f64,
    end: f64,
) -> Result<Vec<(f64, Entity)>, SystemsError> {
    let world = simulation.world_mut();
    let mut instruments = Vec::new();
    let mut sensors = world.query::<(Entity, &SpawnId, &Sensor)>();
    instruments.extend(sensors.iter(world).map(|(entity, id, own)| {
        let next = own.clock.next_after(t, end);
        let named = next.map_err(|source| SystemsError::Sensor { entity, source });
        (*id, entity, named)
    }));
    let mut actuators = world.query::<(Entity, &SpawnId, &Actuator)>();
    instruments.extend(actuators.iter(world).map(|(entity, id, own)| {
        let next = own.clock.next_after(t, end);
        let named = next.map_err(|source| SystemsError::Actuator { entity, source });
        (*id, entity, named)
    }));
    instruments.sort_unstable_by_key(|(id, ..)| *id);
    let mut instants = Vec::with_capacity(instruments.len());
    for (_, entity, next) in instruments {
        instants.push((next?, entity));
    }
    Ok(instants)
}
