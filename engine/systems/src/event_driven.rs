//! Event-driven integration: smooth motion with adaptive steps between events, which are found as roots [docs/theory.md §12].
//!
//! ```text
//! smooth     Dormand–Prince, ÿ = 0 in the closed contacts I₂ and in equalities
//! events     y = 0 of an open contact;  λ = 0 of a closed one: roots on the dense output
//! impact     0 ≤ ẏ⁺ + e ẏ⁻ ⊥ p ≥ 0          in all contacts that touch, I₀: y = 0
//! closing    0 ≤ ÿ ⊥ λ ≥ 0                  in those that touch and rest, I₁: y = 0, ẏ = 0;  then I₂: λ > 0
//! ```
//!
//! It works on the components that time stepping works on, so that one description runs under both. Systems are Lagrangian, laws are Newton's of
//! impact, without friction, and equalities.
//!
//! **Accumulation.** A ball with `0 < e < 1` bounces infinitely often in finite time. An impact slower than [`EventSettings::resting_rate`] is taken
//! without restitution: the rest of the accumulation at once. What that leaves out is `2 v e/(g (1 − e))` of time at the rate `v`.
//!
//! After each step the closed rows are brought back to `y = 0` and `ẏ = 0`, which the integration of `ÿ = 0` leaves by its error.

mod contacts;
mod dormand_prince;
mod flow;

use crate::error::{FieldError, SystemsError, expect_range};
use crate::law::NonsmoothLaw;
use crate::relation::Seen;
use crate::solver_choice::AnySolver;
use crate::step::Plant;
use crate::step::link::Link;
use crate::step::scheme::Instant;
use crate::system::state::State;
use bevy_ecs::entity::Entity;
use contacts::{Contacts, Found};
use dormand_prince::Step;
use flow::Flow;

/// Choices of event-driven integration.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSettings {
    /// Error of a step relative to the state. Default 1e-10.
    pub relative: f64,
    /// Error of a step, in the units of the state. Default 1e-12.
    pub absolute: f64,
    /// Longest step, s: events are looked for at eight points of each. Default 0.1.
    pub largest_step: f64,
    /// Contacts with `y` up to this touch, m. Default 1e-10.
    pub gap: f64,
    /// Contacts that touch with `|ẏ|` up to this rest, m/s. Default 1e-10.
    pub rate: f64,
    /// Impacts slower than this are without restitution, m/s. Default 1e-6.
    pub resting_rate: f64,
    /// Events at most. Default 100 000.
    pub max_events: usize,
    /// Steps at most. Default 10 million.
    pub max_steps: usize,
}

impl Default for EventSettings {
    fn default() -> Self {
        Self {
            relative: 1e-10,
            absolute: 1e-12,
            largest_step: 0.1,
            gap: 1e-10,
            rate: 1e-10,
            resting_rate: 1e-6,
            max_events: 100_000,
            max_steps: 10_000_000,
        }
    }
}

impl EventSettings {
    fn check(&self) -> Result<(), FieldError> {
        let fields = [
            ("relative", self.relative),
            ("absolute", self.absolute),
            ("largest_step", self.largest_step),
            ("gap", self.gap),
            ("rate", self.rate),
            ("resting_rate", self.resting_rate),
        ];
        for (field, value) in fields {
            let holds = value.is_finite() && value > 0.0;
            expect_range(field, value, holds, "finite and > 0")?;
        }
        Ok(())
    }
}

/// What happened, in its order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// s.
    pub time: f64,
    /// The interaction.
    pub interaction: Entity,
    /// What it did.
    pub kind: EventKind,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventKind {
    /// It was struck: its rate before, m/s, and its impulse, N·s.
    Impact {
        /// `ẏ⁻`.
        rate: f64,
        /// `p`.
        impulse: f64,
    },
    /// It came to rest in contact: its force is positive from now on.
    Closed,
    /// Its force came to zero, and it opens.
    Opened,
}

/// Outcome of an event-driven advance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventReport {
    /// Time reached, s.
    pub time: f64,
    /// The end was reached, and every problem of an event was solved to the tolerance.
    pub converged: bool,
    /// Steps that were taken.
    pub steps: usize,
    /// Steps that were too long.
    pub rejected: usize,
    /// Impacts that were taken without restitution, as ends of accumulations.
    pub accumulations: usize,
    /// All events.
    pub events: Vec<Event>,
}

/// Where an advance is.
struct Motion<'a> {
    flow: Flow<'a>,
    settings: &'a EventSettings,
    t: f64,
    s: Vec<f64>,
    contacts: Contacts,
    report: EventReport,
}

/// Advances a plant from its start to `end`, s, and leaves it at the end as after a step.
pub(crate) fn advance(
    plant: &mut Plant,
    end: f64,
    settings: &EventSettings,
    (tolerance, solver): (f64, &mut AnySolver),
) -> Result<EventReport, SystemsError> {
    settings.check().map_err(SystemsError::Settings)?;
    let t = plant.at.t;
    expect_range(
        "end",
        end,
        end >= t && end.is_finite(),
        "finite and not in the past",
    )
    .map_err(SystemsError::Settings)?;
    check(plant)?;
    let flow = Flow::new(plant);
    let mut motion = Motion {
        t,
        s: flow.start(),
        contacts: Contacts::new(&flow, settings, tolerance),
        flow,
        settings,
        report: EventReport::default(),
    };
    motion.run(end, solver)?;
    let (lambda, closed) = motion.forces()?;
    let Motion {
        t, s, mut report, ..
    } = motion;
    report.time = t;
    plant.at = Instant { t, h: 0.0 };
    write(plant, &s);
    for ((index, row), lambda) in closed.into_iter().zip(lambda) {
        plant.links[index].active = true;
        plant.links[index].lambda[row] = lambda;
    }
    Ok(report)
}

impl Motion<'_> {
    /// Steps and events in turn.
    fn run(&mut self, end: f64, solver: &mut AnySolver) -> Result<(), SystemsError> {
        self.report.converged = true;
        self.settle(None, solver)?;
        let mut h = self.settings.largest_step.min(1e-3 * (end - self.t));
        let tolerance = [self.settings.relative, self.settings.absolute];
        while self.t < end {
            let last = self.t + h >= end;
            let length = if last { end - self.t } else { h };
            let (flow, closed) = (&self.flow, self.contacts.closed());
            let slope = |t: f64, s: &[f64]| flow.slope(t, s, &closed).map(|(slope, _)| slope);
            let first = slope(self.t, &self.s)?;
            let step = Step::new((self.t, length), &self.s, &first, tolerance, slope)?;
            let too_short = length <= 1e-15 * self.t.abs().max(1e-3);
            let is_good = step.error <= 1.0;
            if !is_good && !too_short {
                self.report.rejected += 1;
                h = step.next_length();
                continue;
            }
            self.report.steps += 1;
            h = step.next_length().min(self.settings.largest_step);
            match self.contacts.first_event(&self.flow, &step)? {
                None => {
                    self.t = if last { end } else { self.t + length };
                    self.s.copy_from_slice(step.end());
                    self.stabilise()?;
                    self.contacts.arm(&self.flow, self.t, &self.s);
                }
                Some(found) => {
                    self.t += found.part * length;
                    self.s = step.at(found.part);
                    self.stabilise()?;
                    self.settle(Some(found), solver)?;
                }
            }
            let budget = self.report.steps < self.settings.max_steps
                && self.report.events.len() < self.settings.max_events;
            if !(budget && (is_good || !too_short)) {
                self.report.converged = false;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Impacts, and which contacts are closed after them.
    fn settle(&mut self, found: Option<Found>, solver: &mut AnySolver) -> Result<(), SystemsError> {
        let at = (self.t, &mut self.s);
        self.contacts
            .settle(&self.flow, at, found, &mut self.report, solver)
    }

    /// `y = 0` and `ẏ = 0` in the closed rows.
    fn stabilise(&mut self) -> Result<(), SystemsError> {
        let closed = self.contacts.closed();
        if closed.is_empty() {
            return Ok(());
        }
        let n = self.flow.n;
        for velocities in [false, true] {
            let masses = self.flow.masses(&self.s)?;
            let rows = self.flow.rows(&closed, self.t, &self.s, &masses);
            let missed = |(index, row): &(usize, usize)| {
                let link = &self.flow.plant.links[*index];
                let values = if velocities {
                    self.flow.rate(link, self.t, &self.s)
                } else {
                    self.flow.gap(link, self.t, &self.s)
                };
                -values[*row]
            };
            let mut change: Vec<f64> = closed.iter().map(missed).collect();
            self.flow.solve(&closed, &rows, &mut change)?;
            let part = if velocities { n..2 * n } else { 0..n };
            for (answer, change) in rows.answers.iter().zip(&change) {
                crate::algebra::add(&mut self.s[part.clone()], *change, answer);
            }
        }
        Ok(())
    }

    /// Forces of the closed rows now.
    fn forces(&self) -> Result<(Vec<f64>, Vec<flow::Row>), SystemsError> {
        let closed = self.contacts.closed();
        let (_, lambda) = self.flow.slope(self.t, &self.s, &closed)?;
        Ok((lambda, closed))
    }
}

/// The plant has what this integration can do.
fn check(plant: &Plant) -> Result<(), SystemsError> {
    for block in &plant.blocks {
        if let State::FirstOrder { .. } = block.start {
            let source = FieldError::Kind {
                field: "system",
                found: "FirstOrder",
                expected: "Lagrangian for event-driven integration",
            };
            return Err(block.named()(source));
        }
    }
    let fits = |link: &Link| {
        let rigid =
            matches!(link.relation.seen(), Seen::Lagrangian(relation) if !relation.is_compliant());
        let law = matches!(
            link.law,
            NonsmoothLaw::NewtonImpact { .. } | NonsmoothLaw::Equality { .. }
        );
        rigid && law
    };
    match plant.links.iter().find(|link| !fits(link)) {
        None => Ok(()),
        Some(link) => Err(link.named()(FieldError::Kind {
            field: "law",
            found: link.law.name(),
            expected: "NewtonImpact or Equality on a rigid Lagrangian relation for event-driven integration",
        })),
    }
}

/// Writes a state into the blocks; links are as of inactive interactions.
fn write(plant: &mut Plant, s: &[f64]) {
    let n = s.len() / 2;
    let mut begin = 0;
    for block in &mut plant.blocks {
        let own = begin..begin + block.size();
        begin = own.end;
        if let State::Lagrangian { q, v } = &mut block.state {
            q.copy_from_slice(&s[own.clone()]);
            v.copy_from_slice(&s[n..][own]);
        }
    }
    for link in &mut plant.links {
        link.active = false;
        link.lambda.fill(0.0);
    }
}
