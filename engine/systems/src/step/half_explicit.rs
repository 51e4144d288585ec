//! What comes before the impacts of a step of [`D1Minus`](crate::D1Minus), and after them: the letters and rules are those of its page.
//!
//! ```text
//! start    contacts that are closed, λ⁺ of them and of equalities
//! end      q_{k+1}; contacts that touch there; λ⁻
//! take     v⁻ into the systems, ẏ(v⁻) into the law of impacts; then Newton's loop, which finds p, or P, in one iteration
//! split    P into force and impulse; who stays closed
//! ```

use super::Plant;
use super::block::{Block, MassOf};
use super::link::Link;
use crate::algebra::{Row as Values, add, clear, copy, copy_all};
use crate::error::SystemsError;
use crate::event_driven::Row;
use crate::event_driven::flow::Flow;
use crate::event_driven::problems::{Forces, Numerics};
use crate::integrator::Integrator;
use crate::integrator::d1_minus::{D1Minus, Resting};
use crate::law::NonsmoothLaw;
use crate::report::StepReport;
use crate::settings::Settings;
use crate::solver_choice::AnySolver;
use crate::system::state::State;
use moreau_solvers::SolverReport;

/// An interaction of systems under D1-minus.
pub(crate) struct Half {
    pub(crate) scheme: D1Minus,
    /// `λ` of the problem of impacts is `P`.
    is_whole: bool,
    /// `λ⁻`, N.
    pub(crate) force: Values,
}

impl Half {
    pub(crate) fn new(scheme: D1Minus) -> Self {
        Self {
            scheme,
            is_whole: false,
            force: Values::new(),
        }
    }
}

/// What goes on beside Newton's loop.
pub(crate) struct Beside {
    /// Momentum of each system from the forces in `v⁻`, N·s.
    pushed: Vec<(usize, Vec<f64>)>,
    /// Reports of the problems of forces.
    reports: [SolverReport; 2],
}

/// A contact within the step.
struct Contact {
    link: usize,
    scheme: D1Minus,
    /// `y_k ≤ gap`, or it was closed.
    touched: bool,
    approaches: bool,
    is_closed: bool,
    /// At the end.
    touches: bool,
    is_struck: bool,
}

/// What is known when the velocities without impulses are.
struct Ends {
    /// `q_{k+1}` and then the velocities that go into the problem of impacts.
    s: Vec<f64>,
    pushed: Vec<f64>,
    links: Vec<EndOfLink>,
    reports: [SolverReport; 2],
}

struct EndOfLink {
    link: usize,
    active: bool,
    is_whole: bool,
    /// `ẏ` that restitution refers to; zero without.
    reference: f64,
    force: Vec<f64>,
}

impl Block {
    fn is_half_explicit(&self) -> bool {
        matches!(self.integrator, Integrator::D1Minus(_))
    }
}

impl Plant {
    /// All before the impacts.
    pub(super) fn half_explicit(
        &mut self,
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        self.beside = None;
        if !self.blocks.iter().any(Block::is_half_explicit) {
            return Ok(());
        }
        let flow = Flow::of(self, Block::is_half_explicit);
        let ends = ends(&flow, settings.tolerance, solver)?;
        let own = self.blocks.iter().enumerate();
        let own = own.filter(|(_, block)| block.is_half_explicit());
        let own: Vec<_> = own.map(|(j, _)| (j, flow.range(j))).collect();
        let n = flow.n;
        let mut pushed = Vec::with_capacity(own.len());
        for (j, range) in own {
            let block = &mut self.blocks[j];
            if let State::Lagrangian { q, .. } = &mut block.state {
                copy_all(q, &ends.s[range.clone()]);
            }
            block.take_free(&ends.s[n..][range.clone()]);
            pushed.push((j, ends.pushed[range].to_vec()));
        }
        for end in ends.links {
            let link = &mut self.links[end.link];
            link.active = end.active;
            link.reference.fill(0.0);
            if let Some(reference) = link.reference.first_mut() {
                *reference = end.reference;
            }
            if let Some(half) = &mut link.half {
                half.is_whole = end.is_whole;
                copy(&mut half.force, &end.force);
            }
        }
        let reports = ends.reports;
        self.beside = Some(Box::new(Beside { pushed, reports }));
        Ok(())
    }

    /// All after the impacts.
    pub(super) fn split(&mut self) {
        let Some(beside) = self.beside.take() else {
            return;
        };
        let half_step = 0.5 * self.at.h;
        for link in &mut self.links {
            link.split(half_step);
        }
        for (j, pushed) in &beside.pushed {
            add(&mut self.blocks[*j].reaction, 1.0, pushed);
        }
        for report in &beside.reports {
            self.report.take(report);
        }
    }
}

impl StepReport {
    /// A problem beside that of the step: the worst of both.
    fn take(&mut self, other: &SolverReport) {
        if self.converged && !other.converged() {
            (self.converged, self.status) = (false, other.status);
        }
        if other.residual.scaled > self.residual.scaled {
            self.residual = other.residual;
        }
    }
}

impl Block {
    /// The state of the iterate has its positions already: its velocities, and their momentum as what is known.
    fn take_free(&mut self, v: &[f64]) {
        copy(&mut self.z, v);
        if let State::Lagrangian { v: own, .. } = &mut self.state {
            copy_all(own, v);
        }
        self.moved();
        self.take_mass(MassOf::Iterate);
        clear(&mut self.known, v.len());
        self.mass.add_times(1.0, v, &mut self.known);
    }
}

impl Link {
    /// `P` of the problem of impacts as a force of the end and an impulse, neither negative in a contact.
    fn split(&mut self, half_step: f64) {
        let Some(half) = &mut self.half else { return };
        if !(self.active && half.is_whole) {
            return;
        }
        let is_contact = self.law.is_impact();
        self.closed = is_contact && self.lambda[0] > 0.0;
        for (force, lambda) in half.force.iter_mut().zip(&mut self.lambda) {
            if is_contact {
                *force = force.min(*lambda / half_step);
            }
            *lambda -= half_step * *force;
        }
    }

    /// It is where it was left, closed.
    fn stays_closed(&self, gap: f64) -> bool {
        let left = self.end_output.first().zip(self.output_at_start.first());
        self.was_closed && left.is_some_and(|(left, now)| (now - left).abs() <= gap)
    }
}

impl Contact {
    fn at_start(index: usize, link: &Link, scheme: D1Minus) -> Self {
        let y = link.output_at_start.first().copied().unwrap_or(0.0);
        let rate = link.reference.first().copied().unwrap_or(0.0);
        let touched = match scheme.resting {
            Resting::Closed => y <= scheme.gap || link.stays_closed(scheme.gap),
            Resting::Bouncing => y <= scheme.gap,
        };
        let approaches = rate < -scheme.rate;
        let rests = match scheme.resting {
            Resting::Closed => !approaches && rate <= scheme.rate,
            Resting::Bouncing => rate <= scheme.rate,
        };
        Self {
            link: index,
            scheme,
            touched,
            approaches,
            is_closed: touched && rests,
            touches: false,
            is_struck: false,
        }
    }

    fn is_sources(&self) -> bool {
        self.scheme.resting == Resting::Bouncing
    }

    /// Whether it touches at the end, and is struck.
    fn end(&mut self, y: f64) {
        self.touches = y <= self.scheme.gap;
        self.is_struck = self.touches && (!self.touched || self.approaches && !self.is_sources());
    }
}

/// The first value that a relation gives.
fn first(flow: &Flow, link: usize, values: &[f64]) -> Result<f64, SystemsError> {
    flow.expect_finite(link, "output", values)?;
    Ok(values.first().copied().unwrap_or(0.0))
}

/// The rows with forces at one end of the step, equalities first.
struct Side {
    list: Vec<Row>,
    found: Forces,
}

impl Side {
    fn new(
        flow: &Flow,
        (equalities, closed): (&[Row], Vec<Row>),
        at: (f64, &[f64]),
        numerics: Numerics,
    ) -> Result<Self, SystemsError> {
        let list: Vec<Row> = equalities.iter().copied().chain(closed).collect();
        let found = flow.forces((&list, equalities.len()), at, numerics)?;
        Ok(Self { list, found })
    }

    /// The force in a row, if it may have one.
    fn force(&self, row: Row) -> Option<f64> {
        let place = self.list.iter().position(|own| *own == row)?;
        Some(self.found.lambda[place])
    }

    /// Adds what the forces of some interactions give in a time to velocities and momentum.
    fn push(&self, time: f64, is_own: impl Fn(usize) -> bool, v: &mut [f64], momentum: &mut [f64]) {
        for (k, ((link, _), lambda)) in self.list.iter().zip(&self.found.lambda).enumerate() {
            if is_own(*link) {
                add(v, time * lambda, &self.found.rows.answers[k]);
                add(momentum, time * lambda, &self.found.rows.h[k]);
            }
        }
    }
}

/// Both ends of the step.
fn ends(flow: &Flow, tolerance: f64, solver: &mut AnySolver) -> Result<Ends, SystemsError> {
    let (at, n) = (flow.plant.at, flow.n);
    let (mut equalities, mut contacts): (Vec<Row>, Vec<Contact>) = (Vec::new(), Vec::new());
    for (index, link) in flow.plant.links.iter().enumerate() {
        match (&link.half, &link.law) {
            (None, _) => {}
            (Some(_), NonsmoothLaw::Equality { rows }) => {
                equalities.extend((0..*rows).map(|row| (index, row)));
            }
            (Some(half), _) => contacts.push(Contact::at_start(index, link, half.scheme)),
        }
    }
    let start = flow.start();
    let closed = contacts.iter().filter(|contact| contact.is_closed);
    let closed = closed.map(|contact| (contact.link, 0)).collect();
    let numerics = (tolerance, &mut *solver);
    let left = Side::new(flow, (&equalities, closed), (at.t, &start), numerics)?;
    let s = predicted(&start, &left.found.accelerations(), n, at.h);

    for contact in &mut contacts {
        let link = &flow.plant.links[contact.link];
        contact.end(first(flow, contact.link, &flow.gap(link, at.end(), &s))?);
    }
    // The sources take no force of contacts in a step with an impact, whichever the contact.
    let is_struck = contacts.iter().any(|c| c.is_struck && c.is_sources());
    let mut closed = Vec::new();
    for contact in &contacts {
        let row = (contact.link, 0);
        let is_closed = if contact.is_sources() {
            let rates = flow.rate(&flow.plant.links[contact.link], at.end(), &s);
            let rate = first(flow, contact.link, &rates)?;
            contact.touches && rate <= contact.scheme.rate && !is_struck
        } else {
            let had_force = left.force(row).is_some_and(|lambda| lambda > 0.0);
            contact.is_closed && (contact.touches || had_force)
        };
        if is_closed {
            closed.push(row);
        }
    }
    let right = (&equalities[..], closed);
    let right = Side::new(flow, right, (at.end(), &s), (tolerance, solver))?;
    join(flow, (&start, s), [left, right], (&contacts, is_struck))
}

/// `q_k + ½h (v_k + v*)` and `v* = v_k + h a_k`.
fn predicted(start: &[f64], a: &[f64], n: usize, h: f64) -> Vec<f64> {
    let mut s = start.to_vec();
    let (q, v) = s.split_at_mut(n);
    add(v, h, a);
    for ((q, before), v) in q.iter_mut().zip(&start[n..]).zip(v) {
        *q += 0.5 * h * (before + *v);
    }
    s
}

/// The velocities from the forces of both ends, and what the interactions take into the problem of impacts.
fn join(
    flow: &Flow,
    (start, mut s): (&[f64], Vec<f64>),
    [left, right]: [Side; 2],
    (contacts, is_struck): (&[Contact], bool),
) -> Result<Ends, SystemsError> {
    let (at, n) = (flow.plant.at, flow.n);
    let half_step = 0.5 * at.h;
    let is_sources = |link: usize| {
        let half = flow.plant.links[link].half.as_ref();
        half.is_some_and(|half| half.scheme.resting == Resting::Bouncing)
    };
    let mut pushed = vec![0.0; n];
    let v = &mut s[n..];
    v.copy_from_slice(&start[n..]);
    add(v, half_step, &left.found.free);
    add(v, half_step, &right.found.free);
    let counts = |link: usize| !(is_struck && is_sources(link));
    left.push(half_step, counts, v, &mut pushed);
    let counts = |link: usize| !is_struck && is_sources(link);
    right.push(half_step, counts, v, &mut pushed);
    // The other forces are to be found again as parts of P, but they count in the rates before the impacts.
    let mut before = s.clone();
    let counts = |link: usize| !is_sources(link);
    right.push(half_step, counts, &mut before[n..], &mut vec![0.0; n]);

    let mut links = Vec::new();
    for (index, link) in flow.plant.links.iter().enumerate() {
        if link.half.is_none() {
            continue;
        }
        let forces = (0..link.rows()).map(|row| right.force((index, row)));
        let mut end = EndOfLink {
            link: index,
            active: true,
            is_whole: right.force((index, 0)).is_some() && !is_sources(index),
            reference: 0.0,
            force: forces.map(|force| force.unwrap_or(0.0)).collect(),
        };
        if let Some(contact) = contacts.iter().find(|contact| contact.link == index) {
            end.active = contact.touches || end.is_whole;
            if end.active && !end.is_whole {
                let rate = first(flow, index, &flow.rate(link, at.end(), &before))?;
                // Restitution of what parts adds no energy, its lack may.
                let bounces = contact.is_struck || contact.is_sources();
                end.reference = if bounces { rate } else { rate.max(0.0) };
            }
        }
        links.push(end);
    }
    Ok(Ends {
        s,
        pushed,
        links,
        reports: [left.found.report, right.found.report],
    })
}
