//! Event-driven integration: smooth motion with adaptive steps between events, which are found as roots [docs/theory.md §12].
//!
//! ```text
//! smooth     Dormand–Prince, ÿ = 0 in the closed contacts I₂ and in equalities
//! events     y = 0 of an open contact;  λ = 0 of a closed one: roots on the dense output
//! impact     0 ≤ ẏ⁺ + e ẏ⁻ ⊥ p ≥ 0          in all contacts that touch, I₀: y = 0; or a wave through them: `multiple_impact.rs`
//! closing    0 ≤ ÿ ⊥ λ ≥ 0                  in those that touch and rest, I₁: y = 0, ẏ = 0;  then I₂: λ > 0
//! ```
//!
//! It works on the components that time stepping works on, so that one description runs under both. Systems are Lagrangian, bodies among them, with Newton's law of
//! impact, without friction, and equalities; or first-order systems with relays (`relays.rs`).
//!
//! **Accumulation.** A ball with `0 < e < 1` bounces infinitely often in finite time. An impact slower than [`EventSettings::resting_rate`] is taken
//! without restitution: the rest of the accumulation at once. What that leaves out is `2 v e/(g (1 − e))` of time at the rate `v`.
//!
//! After each step the closed rows are brought back to `y = 0` and `ẏ = 0`, which the integration of `ÿ = 0` leaves by its error.

mod contacts;
mod dormand_prince;
pub(crate) mod flow;
mod impacts;
mod multiple_impact;
pub(crate) mod problems;
mod relays;
mod roots;

use crate::error::{FieldError, SystemsError, expect_range};
use crate::law::NonsmoothLaw;
use crate::relation::Seen;
use crate::solver_choice::AnySolver;
use crate::step::Plant;
use crate::step::block::Block;
use crate::step::link::Link;
use crate::step::scheme::Instant;
use crate::system::state::State;
use bevy_ecs::entity::Entity;
use contacts::Contacts;
use dormand_prince::Step;
use flow::Flow;
use relays::Relays;

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
    /// Where an advance ends as an accumulation: [`EventReport::accumulating`]. Default: nowhere.
    pub accumulation: Option<Accumulation>,
    /// Events at most. Default 100 000.
    pub max_events: usize,
    /// Steps at most. Default 10 million.
    pub max_steps: usize,
}

/// An accumulation: so many impacts of one contact within so much time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accumulation {
    /// At least 2.
    pub impacts: usize,
    /// s.
    pub within: f64,
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
            accumulation: None,
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
        if let Some(Accumulation { impacts, within }) = self.accumulation {
            let field = "accumulation.impacts";
            expect_range(field, impacts as f64, impacts >= 2, "≥ 2")?;
            let holds = within.is_finite() && within > 0.0;
            expect_range("accumulation.within", within, holds, "finite and > 0")?;
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
    /// The output of a relay is zero and stays it.
    Sliding,
    /// A relay is at a bound from now on.
    Switched {
        /// `λ`: the bound.
        lambda: f64,
    },
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
    /// The advance ended before its end, at an impact of this contact, as [`EventSettings::accumulation`] asks.
    pub accumulating: Option<Entity>,
    /// All events.
    pub events: Vec<Event>,
}

/// What the driver needs of systems with events.
trait Hybrid {
    /// `ṡ` in the present mode.
    fn slope(&self, t: f64, s: &[f64]) -> Result<Vec<f64>, SystemsError>;

    /// The first event within a step.
    fn first_event(&self, step: &Step) -> Result<Option<Found>, SystemsError>;

    /// Takes the error of the integration out of what the mode keeps at zero; false if that contradicts itself.
    fn stabilise(&self, t: f64, s: &mut [f64]) -> Result<bool, SystemsError>;

    /// After a step without event.
    fn arm(&mut self, t: f64, s: &[f64]);

    /// The problems of an event, or of the start: the state and the mode after it.
    fn settle(
        &mut self,
        at: (f64, &mut Vec<f64>),
        found: Option<Found>,
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError>;

    /// Rows with multipliers, and these.
    fn multipliers(&self, t: f64, s: &[f64]) -> Result<(Vec<Row>, Vec<f64>), SystemsError>;
}

/// A root within a step.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// In [0, 1].
    part: f64,
    /// Which contact or relay, in the order of the ids.
    which: usize,
}

/// A row of an interaction.
pub(crate) type Row = (usize, usize);

/// Advances a plant from its start to `end`, s, and leaves it at the end as after a step. `earlier` are the events of the parts before, if it is one of several.
pub(crate) fn advance(
    plant: &mut Plant,
    end: f64,
    (settings, earlier): (&EventSettings, &[Event]),
    (tolerance, solver): (f64, &mut AnySolver),
) -> Result<EventReport, SystemsError> {
    settings.check().map_err(SystemsError::Settings)?;
    let t = plant.at.t;
    let holds = end >= t && end.is_finite();
    expect_range("end", end, holds, "finite and not in the past")
        .map_err(SystemsError::Settings)?;
    let mut span = Span {
        t,
        end,
        settings,
        earlier,
        report: EventReport::default(),
    };
    let first_order = |block: &Block| matches!(block.start, State::FirstOrder { .. });
    let (s, (rows, lambda)) = if plant.blocks.first().is_some_and(first_order) {
        let mut relays = Relays::new(plant, settings, tolerance)?;
        span.run(&mut relays, relays::start(plant), solver)?
    } else {
        check(plant)?;
        plant.blocks.iter_mut().for_each(Block::keep_factor_of_mass);
        let flow = Flow::new(plant);
        let s = flow.start();
        let mut contacts = Contacts::new(flow, settings, tolerance);
        span.run(&mut contacts, s, solver)?
    };
    let mut report = span.report;
    report.time = span.t;
    plant.at = Instant { t: span.t, h: 0.0 };
    write(plant, &s);
    for ((index, row), lambda) in rows.into_iter().zip(lambda) {
        plant.links[index].active = true;
        plant.links[index].lambda[row] = lambda;
    }
    Ok(report)
}

/// Events in a row after which an advance ends that do not bring it on: each less than [`STILL`] of the time after the one before.
const MOST_AT_ONCE: usize = 1_000;
const STILL: f64 = 1e-14;

/// Where an advance is.
struct Span<'a> {
    t: f64,
    end: f64,
    settings: &'a EventSettings,
    /// What happened in the parts before, of which an accumulation may have begun.
    earlier: &'a [Event],
    report: EventReport,
}

impl Span<'_> {
    /// The contact that was struck last, if that was one impact too many.
    fn accumulates(&self) -> Option<Entity> {
        let Accumulation { impacts, within } = self.settings.accumulation?;
        let is_impact = |event: &&Event| matches!(event.kind, EventKind::Impact { .. });
        let last = self.report.events.iter().rev().find(is_impact)?;
        if last.time < self.t {
            return None;
        }
        let own = |event: &&Event| is_impact(event) && event.interaction == last.interaction;
        let all = self.earlier.iter().chain(&self.report.events);
        let first = all.rev().filter(own).nth(impacts - 1)?;
        (last.time - first.time <= within).then_some(last.interaction)
    }

    /// Steps and events in turn: the state and the multipliers at the end.
    #[expect(
        clippy::type_complexity,
        reason = "rows and their multipliers beside the state"
    )]
    fn run(
        &mut self,
        hybrid: &mut impl Hybrid,
        mut s: Vec<f64>,
        solver: &mut AnySolver,
    ) -> Result<(Vec<f64>, (Vec<Row>, Vec<f64>)), SystemsError> {
        self.report.converged = true;
        hybrid.settle((self.t, &mut s), None, &mut self.report, solver)?;
        let mut h = self.settings.largest_step.min(1e-3 * (self.end - self.t));
        let tolerance = [self.settings.relative, self.settings.absolute];
        let mut stalled = 0;
        while self.t < self.end {
            let last = self.t + h >= self.end;
            let length = if last { self.end - self.t } else { h };
            let slope = |t: f64, s: &[f64]| hybrid.slope(t, s);
            let first = slope(self.t, &s)?;
            let step = Step::new((self.t, length), &s, &first, tolerance, slope)?;
            let too_short = length <= 1e-15 * self.t.abs().max(1e-3);
            let is_good = step.error <= 1.0;
            if !is_good && !too_short {
                self.report.rejected += 1;
                h = step.next_length();
                continue;
            }
            if step.error.is_nan() {
                // There is no state to go on from.
                self.report.converged = false;
                break;
            }
            self.report.steps += 1;
            h = step.next_length().min(self.settings.largest_step);
            match hybrid.first_event(&step)? {
                None => {
                    self.t = if last { self.end } else { self.t + length };
                    s.copy_from_slice(step.end());
                    self.report.converged &= hybrid.stabilise(self.t, &mut s)?;
                    hybrid.arm(self.t, &s);
                    stalled = 0;
                }
                Some(found) => {
                    let before = self.t;
                    self.t += found.part * length;
                    s = step.at(found.part);
                    self.report.converged &= hybrid.stabilise(self.t, &mut s)?;
                    let moves = self.t - before > STILL * self.t.abs().max(1e-3);
                    stalled = if moves { 0 } else { stalled + 1 };
                    hybrid.settle((self.t, &mut s), Some(found), &mut self.report, solver)?;
                }
            }
            let budget = self.report.steps < self.settings.max_steps
                && self.report.events.len() < self.settings.max_events;
            self.report.accumulating = self.accumulates();
            if self.report.accumulating.is_some() {
                break;
            }
            if !(budget && stalled < MOST_AT_ONCE && (is_good || !too_short)) {
                self.report.converged = false;
                break;
            }
        }
        let multipliers = hybrid.multipliers(self.t, &s)?;
        Ok((s, multipliers))
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
            NonsmoothLaw::NewtonImpact { .. }
                | NonsmoothLaw::MultipleImpact { .. }
                | NonsmoothLaw::Equality { .. }
        );
        rigid && law
    };
    let refused = |link: &Link, expected| {
        let (field, found) = ("law", link.law.name());
        Err(link.named()(FieldError::Kind {
            field,
            found,
            expected,
        }))
    };
    if let Some(link) = plant.links.iter().find(|link| !fits(link)) {
        return refused(
            link,
            "NewtonImpact, MultipleImpact or Equality on a rigid Lagrangian relation for event-driven integration",
        );
    }
    // What leaves an impact must be one law's.
    let mut impacts = plant.links.iter().filter(|link| link.law.is_impact());
    let first = impacts.next().map(|link| link.law.name());
    match impacts.find(|link| Some(link.law.name()) != first) {
        None => Ok(()),
        Some(link) => refused(
            link,
            "NewtonImpact of all contacts, or MultipleImpact of all, for event-driven integration",
        ),
    }
}

/// Writes a state into the blocks; links are as of inactive interactions.
fn write(plant: &mut Plant, s: &[f64]) {
    // All q or x, then all v.
    let of_place = |block: &Block| block.state.q().len() + block.state.x().len();
    let (mut places, mut rates) = s.split_at(plant.blocks.iter().map(of_place).sum());
    let take = |from: &mut &[f64], to: &mut [f64]| {
        let (own, rest) = from.split_at(to.len());
        to.copy_from_slice(own);
        *from = rest;
    };
    for block in &mut plant.blocks {
        match &mut block.state {
            State::Lagrangian { q, v } => {
                take(&mut places, q);
                take(&mut rates, v);
            }
            State::FirstOrder { x } => take(&mut places, x),
        }
    }
    for link in &mut plant.links {
        link.active = false;
        link.lambda.fill(0.0);
    }
}
