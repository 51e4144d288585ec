//! Which contacts are open, leaving or closed; the roots that end a step, and the problems of an event.

use super::dormand_prince::Step;
use super::flow::Flow;
use super::problems::solve_rows;
use super::{Event, EventKind, EventReport, EventSettings, Found, Hybrid, Row};
use crate::algebra::add;
use crate::error::SystemsError;
use crate::law::NonsmoothLaw;
use crate::solver_choice::AnySolver;

/// What a contact is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// `y > 0`.
    Open,
    /// It touches and is about to open: it counts as open once it has.
    Leaving,
    /// `y = 0`, `ẏ = 0`, `λ > 0`.
    Closed,
}

/// The contacts of a plant.
pub(super) struct Contacts<'a> {
    flow: Flow<'a>,
    /// Interactions with the law of impacts, and their status.
    contacts: Vec<(usize, Status)>,
    /// Rows of equalities: always closed.
    equalities: Vec<Row>,
    settings: EventSettings,
    tolerance: f64,
}

/// Points of a step at which events are looked for.
const SAMPLES: u32 = 8;

impl<'a> Contacts<'a> {
    pub(super) fn new(flow: Flow<'a>, settings: &EventSettings, tolerance: f64) -> Self {
        let (mut contacts, mut equalities) = (Vec::new(), Vec::new());
        for (index, link) in flow.plant.links.iter().enumerate() {
            match link.law {
                NonsmoothLaw::Equality { rows } => {
                    equalities.extend((0..rows).map(|row| (index, row)));
                }
                _ => contacts.push((index, Status::Open)),
            }
        }
        Self {
            flow,
            contacts,
            equalities,
            settings: settings.clone(),
            tolerance,
        }
    }

    /// The rows in which `ÿ = 0`.
    fn closed(&self) -> Vec<Row> {
        let is_closed = |(_, status): &&(usize, Status)| *status == Status::Closed;
        let contacts = self.contacts.iter().filter(is_closed);
        let contacts = contacts.map(|(link, _)| (*link, 0));
        self.equalities.iter().copied().chain(contacts).collect()
    }

    /// Where the force of a closed row comes to zero.
    fn opening(
        &self,
        step: &Step,
        closed: &[Row],
        place: usize,
    ) -> Result<Option<f64>, SystemsError> {
        let force = |part: f64| -> Result<f64, SystemsError> {
            let (_, lambda) = self
                .flow
                .slope(step.t + part * step.h, &step.at(part), closed)?;
            Ok(lambda[place])
        };
        let least = -1e-12 * (1.0 + force(0.0)?.abs());
        let mut before = 0.0;
        for sample in [0.5, 1.0] {
            if force(sample)? < least {
                let (mut low, mut high) = (before, sample);
                while high - low > 1e-15 * high.max(1e-3) {
                    let middle = 0.5 * (low + high);
                    if middle <= low || middle >= high {
                        break;
                    }
                    if force(middle)? < least {
                        high = middle;
                    } else {
                        low = middle;
                    }
                }
                return Ok(Some(high));
            }
            before = sample;
        }
        Ok(None)
    }

    /// `0 ≤ ẏ⁺ + e ẏ⁻ ⊥ p ≥ 0` in the contacts that touch, `ẏ⁺ = 0` in equalities.
    fn impact(
        &mut self,
        (t, s): (f64, &mut Vec<f64>),
        touching: &[usize],
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        let links = |contact: &usize| self.contacts[*contact].0;
        let mut list = self.equalities.clone();
        list.extend(touching.iter().map(|contact| (links(contact), 0)));
        let masses = self.flow.masses(s)?;
        let rows = self.flow.rows(&list, t, s, &masses)?;
        let rate = |(link, row): &Row| -> Result<f64, SystemsError> {
            let rates = self.flow.rate(&self.flow.plant.links[*link], t, s);
            self.flow.expect_finite(*link, "output", &rates)?;
            Ok(rates[*row])
        };
        let before = list.iter().map(rate).collect::<Result<Vec<f64>, _>>()?;
        let mut q = before.clone();
        for (q, (link, _)) in q.iter_mut().zip(&list).skip(self.equalities.len()) {
            let [e, _] = self.flow.plant.links[*link].law.restitution();
            if -*q > self.settings.resting_rate {
                *q *= 1.0 + e;
            } else if *q < -self.settings.rate && e > 0.0 {
                report.accumulations += 1;
            }
        }
        let numerics = (self.tolerance, solver);
        let (impulses, solved) = solve_rows(self.equalities.len(), &rows.w, &q, numerics)?;
        report.converged &= solved.converged();
        for (answer, impulse) in rows.answers.iter().zip(&impulses) {
            add(&mut s[self.flow.n..], *impulse, answer);
        }
        for (k, (link, _)) in list.iter().enumerate().skip(self.equalities.len()) {
            if impulses[k] > 0.0 {
                let (rate, impulse) = (before[k], impulses[k]);
                report.events.push(Event {
                    time: t,
                    interaction: self.flow.plant.links[*link].entity,
                    kind: EventKind::Impact { rate, impulse },
                });
            }
        }
        Ok(())
    }

    /// `0 ≤ ÿ ⊥ λ ≥ 0` in the contacts that rest: those with a force are closed.
    fn close(
        &mut self,
        (t, s): (f64, &mut Vec<f64>),
        touching: &[usize],
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        let rests = |contact: &&usize| {
            rate(&self.flow, self.contacts[**contact].0, t, s).abs() <= self.settings.rate
        };
        let resting: Vec<usize> = touching.iter().filter(rests).copied().collect();
        let mut list = self.equalities.clone();
        list.extend(resting.iter().map(|contact| (self.contacts[*contact].0, 0)));
        let mut forces = Vec::new();
        if !resting.is_empty() {
            let list = (&list[..], self.equalities.len());
            let found = self.flow.forces(list, (t, s), (self.tolerance, solver))?;
            report.converged &= found.report.converged();
            forces = found.lambda;
        }
        for contact in touching {
            let place = resting.iter().position(|resting| resting == contact);
            let force = place.map_or(0.0, |place| forces[self.equalities.len() + place]);
            let (link, status) = &mut self.contacts[*contact];
            let next = if force > 0.0 {
                Status::Closed
            } else {
                Status::Leaving
            };
            let kind = match (*status, next) {
                (Status::Closed, Status::Leaving) => Some(EventKind::Opened),
                (Status::Open | Status::Leaving, Status::Closed) => Some(EventKind::Closed),
                _ => None,
            };
            *status = next;
            report.events.extend(kind.map(|kind| Event {
                time: t,
                interaction: self.flow.plant.links[*link].entity,
                kind,
            }));
        }
        Ok(())
    }
}

impl Hybrid for Contacts<'_> {
    fn slope(&self, t: f64, s: &[f64]) -> Result<Vec<f64>, SystemsError> {
        let (slope, _) = self.flow.slope(t, s, &self.closed())?;
        Ok(slope)
    }

    /// The first root of an open contact's `y`, or of a closed one's `λ`.
    fn first_event(&self, step: &Step) -> Result<Option<Found>, SystemsError> {
        let mut first: Option<Found> = None;
        let closed = self.closed();
        for (which, (index, status)) in self.contacts.iter().enumerate() {
            let link = &self.flow.plant.links[*index];
            let end = self.flow.gap(link, step.t + step.h, step.end());
            self.flow.expect_finite(*index, "output", &end)?;
            let part = if *status == Status::Closed {
                let place = closed.iter().position(|(link, _)| link == index);
                self.opening(step, &closed, place.unwrap_or(0))?
            } else {
                let at = |part: f64| (step.t + part * step.h, step.at(part));
                let y = |part: f64| {
                    let (t, s) = at(part);
                    gap(&self.flow, *index, t, &s)
                };
                // What is leaving may still overlap: it meets again when it gets deeper than it is.
                let least = match *status {
                    Status::Open => 0.0,
                    _ => y(0.0).min(0.0) - self.settings.gap,
                };
                closing(y, least)
            };
            if let Some(part) = part
                && first.is_none_or(|found| part < found.part)
            {
                first = Some(Found { part, which });
            }
        }
        Ok(first)
    }

    /// `y = 0` and `ẏ = 0` in the closed rows.
    fn stabilise(&self, t: f64, s: &mut [f64]) -> Result<(), SystemsError> {
        let (closed, flow) = (self.closed(), &self.flow);
        if closed.is_empty() {
            return Ok(());
        }
        for velocities in [false, true] {
            let masses = flow.masses(s)?;
            let rows = flow.rows(&closed, t, s, &masses)?;
            let missed = |(index, row): &Row| -> Result<f64, SystemsError> {
                let link = &flow.plant.links[*index];
                let values = if velocities {
                    flow.rate(link, t, s)
                } else {
                    flow.gap(link, t, s)
                };
                flow.expect_finite(*index, "output", &values)?;
                Ok(-values[*row])
            };
            let mut change = closed.iter().map(missed).collect::<Result<Vec<f64>, _>>()?;
            flow.solve(&closed, &rows, &mut change)?;
            let begin = if velocities { flow.n } else { 0 };
            for (answer, change) in rows.answers.iter().zip(&change) {
                add(&mut s[begin..begin + flow.n], *change, answer);
            }
        }
        Ok(())
    }

    /// Contacts that have left are open.
    fn arm(&mut self, t: f64, s: &[f64]) {
        for (index, status) in &mut self.contacts {
            let is_clear = gap(&self.flow, *index, t, s) > self.settings.gap;
            if *status == Status::Leaving && is_clear {
                *status = Status::Open;
            }
        }
    }

    /// Impacts until nothing approaches, then the closing of what rests.
    fn settle(
        &mut self,
        (t, s): (f64, &mut Vec<f64>),
        found: Option<Found>,
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        for (link, _) in &self.contacts {
            let owner = &self.flow.plant.links[*link];
            let (y, rates) = (self.flow.gap(owner, t, s), self.flow.rate(owner, t, s));
            self.flow.expect_finite(*link, "output", &y)?;
            self.flow.expect_finite(*link, "output", &rates)?;
        }
        let struck = found.map(|found| found.which);
        let touches = |contact: &usize| {
            let y = gap(&self.flow, self.contacts[*contact].0, t, s);
            struck == Some(*contact) || y <= self.settings.gap
        };
        let touching: Vec<usize> = (0..self.contacts.len()).filter(touches).collect();
        for _ in 0..100 {
            let approaching = touching.iter().any(|contact| {
                rate(&self.flow, self.contacts[*contact].0, t, s) < -self.settings.rate
            });
            if !approaching {
                break;
            }
            self.impact((t, s), &touching, report, solver)?;
        }
        self.close((t, s), &touching, report, solver)
    }

    fn multipliers(&self, t: f64, s: &[f64]) -> Result<(Vec<Row>, Vec<f64>), SystemsError> {
        let closed = self.closed();
        let (_, lambda) = self.flow.slope(t, s, &closed)?;
        Ok((closed, lambda))
    }
}

fn gap(flow: &Flow, link: usize, t: f64, s: &[f64]) -> f64 {
    flow.gap(&flow.plant.links[link], t, s)[0]
}

fn rate(flow: &Flow, link: usize, t: f64, s: &[f64]) -> f64 {
    flow.rate(&flow.plant.links[link], t, s)[0]
}

/// Where `y` comes to zero from above, the first time at which a sample is below `least`; to `least`, if it was not above zero before.
pub(super) fn closing(y: impl Fn(f64) -> f64, least: f64) -> Option<f64> {
    let mut before = 0.0;
    let mut was_open = y(0.0) > 0.0 && least >= 0.0;
    for k in 1..=SAMPLES {
        let sample = f64::from(k) / f64::from(SAMPLES);
        let value = y(sample);
        if value < least {
            if !was_open {
                // It left and came back between two samples: where it was open is found by halving.
                let halves = (1..=60).scan(sample, |part, _| {
                    *part *= 0.5;
                    Some(*part)
                });
                let Some(open) = halves.into_iter().find(|part| y(*part) > 0.0) else {
                    let last = f64::from(k - 1) / f64::from(SAMPLES);
                    return Some(root(|part| y(part) - least, last, sample));
                };
                before = open;
            }
            return Some(root(y, before, sample));
        }
        if value > 0.0 {
            (before, was_open) = (sample, true);
        }
    }
    None
}

/// The root of a function that is positive at `low` and negative at `high`, by bisection: the last point at which it is not negative.
fn root(y: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return low;
        }
        if y(middle) < 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
}
