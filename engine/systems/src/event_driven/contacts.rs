//! Which contacts are open, leaving or closed; the roots that end a step, and the problems of an event.

use super::dormand_prince::Step;
use super::flow::{Flow, block_of};
use super::problems::solve_rows;
use super::roots::{closing, first_negative};
use super::{Event, EventKind, EventReport, EventSettings, Found, Hybrid, Row, STILL};
use crate::algebra::{Matrix, add, dot};
use crate::error::SystemsError;
use crate::law::NonsmoothLaw;
use crate::solver_choice::AnySolver;

/// What a contact is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// `y > 0`.
    Open,
    /// It touches and is about to open: it counts as open once it has.
    Leaving,
    /// `y = 0`, `ẏ = 0`, `λ > 0`.
    Closed,
}

/// The contacts of a plant.
pub(super) struct Contacts<'a> {
    pub(super) flow: Flow<'a>,
    /// Interactions with the law of impacts, and their status.
    pub(super) contacts: Vec<(usize, Status)>,
    /// Rows of equalities: always closed.
    pub(super) equalities: Vec<Row>,
    /// Contacts that opened at one time, s: others carry what they did.
    left_out: (f64, Vec<usize>),
    /// A wave did not come to its end at this event: what is left is for Newton's law.
    pub(super) has_unfinished_wave: bool,
    pub(super) settings: EventSettings,
    pub(super) tolerance: f64,
}

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
            left_out: (f64::NEG_INFINITY, Vec::new()),
            has_unfinished_wave: false,
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

    /// Where the force of a closed contact first comes to zero, and which of the closed contacts it is.
    fn opening(&self, step: &Step, closed: &[Row]) -> Result<Option<(f64, usize)>, SystemsError> {
        let begin = self.equalities.len();
        if closed.len() == begin {
            return Ok(None);
        }
        let forces = |part: f64| -> Result<Vec<f64>, SystemsError> {
            let t = step.t + part * step.h;
            let (_, mut lambda) = self.flow.slope(t, &step.at(part), closed)?;
            Ok(lambda.split_off(begin))
        };
        let least: Vec<f64> = forces(0.0)?
            .iter()
            .map(|lambda| -1e-12 * (1.0 + lambda.abs()))
            .collect();
        first_negative(|part| {
            let forces = forces(part)?;
            Ok(forces
                .iter()
                .zip(&least)
                .map(|(l, least)| l - least)
                .collect())
        })
    }

    /// `0 ≤ ÿ ⊥ λ ≥ 0` in the contacts that rest: those with a force are closed. Those whose force has come to zero are left out if the others hold without them: of contacts
    /// that imply each other many forces solve the problem.
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
            let masses = self.flow.masses(s)?;
            let rows = self.flow.rows(&list, t, s, &masses)?;
            let free = self.flow.free(t, s, &masses)?;
            let q = self.flow.second_rates(&list, &rows, &free, t, s)?;
            let others: Vec<usize> = (0..list.len())
                .filter(|row| {
                    let contact = row.checked_sub(self.equalities.len());
                    contact.is_none_or(|place| !self.left_out.1.contains(&resting[place]))
                })
                .collect();
            if others.len() < list.len() {
                forces = self.solve_some(&others, &rows.w, &q, report, solver)?;
            }
            if forces.is_empty() {
                forces = self.solve(&rows.w, q, report, solver)?;
            }
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

    /// The answer with nothing but in some rows, if `ÿ ≥ 0` in the others all the same, to what rounding leaves of its terms; else none.
    fn solve_some(
        &self,
        some: &[usize],
        w: &Matrix,
        q: &[f64],
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<Vec<f64>, SystemsError> {
        let part = some.iter().map(|row| q[*row]).collect();
        let was = std::mem::replace(&mut report.converged, true);
        let answer = self.solve(&block_of(w, some, some), part, report, solver)?;
        let is_solved = std::mem::replace(&mut report.converged, was);
        let mut forces = vec![0.0; q.len()];
        some.iter()
            .zip(answer)
            .for_each(|(row, force)| forces[*row] = force);
        let holds = |row: usize| {
            let (mut second, mut size) = (q[row], q[row].abs());
            for (w, force) in w.row(row).iter().zip(&forces) {
                second += w * force;
                size += (w * force).abs();
            }
            second >= -1e-9 * size
        };
        let others = (0..q.len()).filter(|row| !some.contains(row));
        let is_enough = is_solved && others.into_iter().all(holds);
        Ok(if is_enough { forces } else { Vec::new() })
    }

    /// Equalities first, then complementarity.
    pub(super) fn solve(
        &self,
        w: &Matrix,
        q: Vec<f64>,
        report: &mut EventReport,
        solver: &mut AnySolver,
    ) -> Result<Vec<f64>, SystemsError> {
        let numerics = (self.tolerance, solver);
        let (impulses, solved) = solve_rows(self.equalities.len(), w, &q, numerics)?;
        report.converged &= solved.converged();
        Ok(impulses)
    }
}

impl Hybrid for Contacts<'_> {
    fn slope(&self, t: f64, s: &[f64]) -> Result<Vec<f64>, SystemsError> {
        let (slope, _) = self.flow.slope(t, s, &self.closed())?;
        Ok(slope)
    }

    /// The first root of an open contact's `y`, or of a closed one's `λ`.
    fn first_event(&self, step: &Step) -> Result<Option<Found>, SystemsError> {
        let closed = self.closed();
        let mut first = None;
        if let Some((part, place)) = self.opening(step, &closed)? {
            let (link, _) = closed[self.equalities.len() + place];
            let which = self.contacts.iter().position(|(own, _)| *own == link);
            first = which.map(|which| Found { part, which });
        }
        for (which, (index, status)) in self.contacts.iter().enumerate() {
            let link = &self.flow.plant.links[*index];
            let end = self.flow.gap(link, step.t + step.h, step.end());
            self.flow.expect_finite(*index, "output", &end)?;
            let y = |part: f64| gap(&self.flow, *index, step.t + part * step.h, &step.at(part));
            let part = match *status {
                Status::Closed => None,
                Status::Open => closing(y, 0.0),
                // What is leaving may still overlap: it meets again when it gets deeper than it is.
                Status::Leaving => closing(y, y(0.0).min(0.0) - self.settings.gap),
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
    fn stabilise(&self, t: f64, s: &mut [f64]) -> Result<bool, SystemsError> {
        let (closed, flow) = (self.closed(), &self.flow);
        let mut holds = true;
        flow.displace(s, &vec![0.0; flow.n]);
        if closed.is_empty() {
            return Ok(holds);
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
            let missed = closed.iter().map(missed).collect::<Result<Vec<f64>, _>>()?;
            let mut change = missed.clone();
            flow.solve(&closed, &rows, &mut change)?;
            let size = s.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
            let bound = self.settings.gap.max(self.settings.rate).max(1e-12 * size);
            let left = |(row, missed): (usize, &f64)| {
                (dot(rows.w.row(row), &change) - missed).abs() <= 100.0 * bound
            };
            holds &= missed.iter().enumerate().all(left);
            let mut all = vec![0.0; flow.n];
            for (answer, change) in rows.answers.iter().zip(&change) {
                add(&mut all, *change, answer);
            }
            if velocities {
                add(&mut s[flow.coordinates..], 1.0, &all);
            } else {
                flow.displace(s, &all);
            }
        }
        Ok(holds)
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
        self.has_unfinished_wave = false;
        for _ in 0..100 {
            let approaching = touching.iter().any(|contact| {
                rate(&self.flow, self.contacts[*contact].0, t, s) < -self.settings.rate
            });
            if !approaching {
                break;
            }
            self.impact((t, s), &touching, report, solver)?;
        }
        let (since, contacts) = &mut self.left_out;
        if (t - *since).abs() > STILL * t.abs().max(1e-3) {
            contacts.clear();
        }
        *since = t;
        contacts.extend(struck.filter(|which| self.contacts[*which].1 == Status::Closed));
        self.close((t, s), &touching, report, solver)
    }

    fn multipliers(&self, t: f64, s: &[f64]) -> Result<(Vec<Row>, Vec<f64>), SystemsError> {
        let closed = self.closed();
        let (_, lambda) = self.flow.slope(t, s, &closed)?;
        Ok((closed, lambda))
    }
}

pub(super) fn gap(flow: &Flow, link: usize, t: f64, s: &[f64]) -> f64 {
    flow.gap(&flow.plant.links[link], t, s)[0]
}

fn rate(flow: &Flow, link: usize, t: f64, s: &[f64]) -> f64 {
    flow.rate(&flow.plant.links[link], t, s)[0]
}
