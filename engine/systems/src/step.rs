//! One step, from the components of a world to its next state. [`Plant::step`] is its table of contents.
//!
//! ```text
//! gather      systems and interactions in the order of their ids, checked
//! begin       what is known of the start: forces, ẏ_k, first iterates
//! forces      D1-minus alone: λ of closed contacts at both ends, v⁻, and who is struck     §12
//! activate    I₁: contacts that are forecast to be closed, and all other laws          theory §5
//! Newton      linearise   H, C, B, D at the iterate
//!             free        M̂ and z_free
//!             assemble    W = D + Σ output M̂⁻¹ input,  q,  laws                        §6
//!             solve       λ, judged by the natural map                                §7
//!             update      z, the state, what acts; ends on the residual of the dynamics
//! project     positions of contacts, velocities untouched; perhaps once more          §11
//! split       D1-minus alone: forces and impulses
//! commit      components, report
//! ```
//!
//! Components are written by the last phase alone: after an error the world is as it was.

pub(crate) mod assemble;
pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod commit;
pub(crate) mod gather;
mod global;
pub(crate) mod half_explicit;
pub(crate) mod levels;
pub(crate) mod link;
pub(crate) mod parts;
pub(crate) mod point;
pub(crate) mod project;
pub(crate) mod scheme;

use crate::algebra::{clear, copy, zero};
use crate::error::SystemsError;
use crate::report::StepReport;
use crate::settings::Settings;
use crate::solver_choice::AnySolver;
use assemble::Assembly;
use block::Block;
use gather::Kept;
use link::{Level, Link};
use moreau_solvers::SolverStatus;
use point::Point;
use scheme::Instant;

/// The systems and interactions of a world within a step; it stays from step to step, with all that was worked out and holds on.
pub(crate) struct Plant {
    pub(crate) at: Instant,
    pub(crate) blocks: Vec<Block>,
    pub(crate) links: Vec<Link>,
    pub(crate) report: StepReport,
    assembly: Assembly,
    /// What D1-minus has beside Newton's loop.
    beside: Option<Box<half_explicit::Beside>>,
    kept: Kept,
    /// Outputs and rates of the links are those of the end of the step.
    is_noted: bool,
}

impl Plant {
    /// All phases but the first and the last.
    pub(crate) fn step(
        &mut self,
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        if self.blocks.iter().all(|block| block.substeps == 1) {
            return self.step_as_one(settings, solver);
        }
        let counts = self.substeps();
        self.step_in_parts(&counts, settings, solver)
    }

    /// The same of systems that make one step, and the same.
    fn step_as_one(
        &mut self,
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        self.begin()?;
        self.half_explicit(settings, solver)?;
        self.activate();
        loop {
            self.newton(settings, solver)?;
            if !self.project(settings, solver)? {
                break;
            }
        }
        self.split();
        self.finish()
    }

    /// What is known of the start.
    fn begin(&mut self) -> Result<(), SystemsError> {
        let at = self.at;
        for block in &mut self.blocks {
            block.begin(at)?;
            block.predict(at)?;
        }
        let was_noted = std::mem::replace(&mut self.is_noted, false);
        for link in &mut self.links {
            link.begin(&self.blocks, at, was_noted)?;
        }
        Ok(())
    }

    /// `I₁`.
    fn activate(&mut self) {
        for link in self.links.iter_mut().filter(|link| link.half.is_none()) {
            link.active = link.is_forecast(&self.blocks, self.at.h);
        }
    }

    /// Newton's loop over all systems and active interactions.
    fn newton(&mut self, settings: &Settings, solver: &mut AnySolver) -> Result<(), SystemsError> {
        let newton = settings.newton;
        for _ in 0..newton.max_iterations {
            self.report.newton_iterations += 1;
            self.linearise()?;
            self.free()?;
            let h = self.at.h;
            self.assembly.assemble(&mut self.links, &self.blocks, h)?;
            self.solve(settings, solver)?;
            self.update();
            let (worst, within) = self.residual(settings);
            self.report.newton_residual = worst;
            if within {
                self.report.converged = self.report.status == SolverStatus::Converged;
                return Ok(());
            }
        }
        self.report.converged = false;
        Ok(())
    }

    /// Relations at the iterate.
    fn linearise(&mut self) -> Result<(), SystemsError> {
        let (at, blocks) = (self.at, &mut self.blocks);
        for block in blocks.iter_mut() {
            block.slope_of_input = None;
        }
        for link in self.links.iter_mut().filter(|link| link.active) {
            link.linearise(blocks, at)?;
        }
        Ok(())
    }

    /// `z_free − z^τ` of every system.
    fn free(&mut self) -> Result<(), SystemsError> {
        self.clear_applied();
        for link in self.links.iter().filter(|link| link.active) {
            for (j, known) in link.blocks.iter().zip(&link.known) {
                crate::algebra::add(&mut self.blocks[*j].applied, 1.0, known);
            }
        }
        for block in &mut self.blocks {
            block.factor(self.at)?;
            block.free_change(self.at)?;
        }
        Ok(())
    }

    fn clear_applied(&mut self) {
        for block in &mut self.blocks {
            zero(&mut block.applied);
            zero(&mut block.reaction);
        }
    }

    /// `λ`.
    fn solve(&mut self, settings: &Settings, solver: &mut AnySolver) -> Result<(), SystemsError> {
        let assembly = &mut self.assembly;
        let report = assembly.solve(&self.links, settings.tolerance, solver)?;
        self.report.status = report.status;
        self.report.residual = report.residual;
        self.report.rows = assembly.lambda().len();
        Ok(())
    }

    /// The next iterate.
    fn update(&mut self) {
        let at = self.at;
        self.assembly.respond(&mut self.links, &mut self.blocks);
        for block in &mut self.blocks {
            block.advance(at);
        }
        self.clear_applied();
        for link in self.links.iter_mut().filter(|link| link.active) {
            link.apply(&mut self.blocks, at);
        }
    }

    /// The largest relative residual, and whether all are within their bounds.
    fn residual(&mut self, settings: &Settings) -> (f64, bool) {
        let (newton, at) = (settings.newton, self.at);
        let (mut worst, mut within) = (0.0_f64, true);
        let mut judge = |[missed, terms]: [f64; 2]| {
            within &= missed <= newton.absolute.max(newton.relative * terms);
            if terms > 0.0 || missed.is_nan() {
                worst = worst.max(missed / terms);
            }
        };
        let mut is_sized = false;
        for j in 0..self.blocks.len() {
            let whole = self.blocks[j].residual(at);
            let fits =
                |[missed, terms]: [f64; 2]| missed <= newton.absolute.max(newton.relative * terms);
            // Rows of a nonlinear system by themselves, too: those of a large coordinate must not hide a small one.
            let by_rows = !self.blocks[j].system.is_linear();
            if fits(whole) && (!by_rows || self.blocks[j].residual_by_rows().all(fits)) {
                judge(whole);
                continue;
            }
            if !std::mem::replace(&mut is_sized, true) {
                self.size_actions();
            }
            let block = &mut self.blocks[j];
            let hidden = crate::algebra::norm(block.hidden_terms(at, newton.relative));
            judge([whole[0], whole[1] + hidden]);
            if by_rows {
                for ([missed, terms], hidden) in block.residual_by_rows().zip(&block.work) {
                    judge([missed, terms + hidden]);
                }
            }
        }
        for link in self.links.iter_mut().filter(|link| link.active) {
            if let Some(turned) = link.turned(&self.blocks, at) {
                judge(turned);
            }
        }
        let bends = |link: &Link| link.active && link.may_mismatch();
        if self.links.iter().any(bends) {
            self.assembly.velocity();
            let (assembly, blocks) = (&self.assembly, &self.blocks);
            for (link, rows) in assembly.active(&mut self.links) {
                if link.may_mismatch() {
                    judge(link.mismatch(blocks, at, &assembly.last_velocity()[rows]));
                }
            }
        }
        (worst, within)
    }

    /// How large what interactions do is, term by term, in every row of the systems.
    fn size_actions(&mut self) {
        for block in &mut self.blocks {
            let n = block.size();
            clear(&mut block.acts, n);
        }
        for link in self.links.iter().filter(|link| link.active) {
            link.size_actions(&mut self.blocks);
        }
    }

    /// Outputs and rates at the end of the step.
    fn note_ends(&mut self) {
        for link in &mut self.links {
            link.note_end(&self.blocks, self.at);
        }
        self.is_noted = true;
    }

    /// The report is complete, the state finite.
    fn finish(&mut self) -> Result<(), SystemsError> {
        self.report.time = self.at.end();
        self.report.active = self.links.iter().filter(|link| link.active).count();
        self.note_ends();
        let contacts = self.links.iter().filter(|link| link.law.is_impact());
        let overlap = contacts.map(|link| -link.end_output[0]);
        self.report.overlap = overlap.fold(0.0, f64::max);
        for block in &self.blocks {
            for part in [block.state.q(), block.state.v(), block.state.x()] {
                crate::error::expect_finite("state after the step", part).map_err(block.named())?;
            }
        }
        Ok(())
    }
}

impl Link {
    /// Outputs at the start: those of the end of the step before where they are still the same.
    fn begin(
        &mut self,
        blocks: &[Block],
        at: Instant,
        was_noted: bool,
    ) -> Result<(), SystemsError> {
        if matches!(self.level, Level::Value { .. }) {
            return Ok(());
        }
        let is_as_left = |j: &usize| !blocks[*j].is_edited;
        let goes_on = was_noted && self.relation.is_linear() && self.blocks.iter().all(is_as_left);
        if goes_on {
            copy(&mut self.output_at_start, &self.end_output);
            copy(&mut self.reference, &self.end_rate);
        } else {
            let start = self.start_point(blocks, at);
            let mut y = std::mem::take(&mut self.output_at_start);
            self.gap_into(&start, &mut y);
            self.output_at_start = y;
            let mut reference = std::mem::take(&mut self.reference);
            self.rate_into(&start, |j| blocks[j].start.v(), &mut reference);
            self.reference = reference;
        }
        if self.level == Level::Position {
            let previous = Point::of(at.t - at.h, blocks, &self.blocks, |block| &block.previous);
            let mut reference = std::mem::take(&mut self.reference);
            self.gap_into(&previous, &mut reference);
            self.reference = reference;
        }
        crate::error::expect_finite("output", &self.output_at_start).map_err(self.named())?;
        crate::error::expect_finite("output", &self.reference).map_err(self.named())
    }

    /// True if it takes part in the step: see [`crate::Activation`]. What rests does not drop out because rounding seems to leave it above: what moves in the step by less, and is above by
    /// less, than eight roundings of the coordinates, and a billionth of what the contact has held up in the step before.
    fn is_forecast(&self, blocks: &[Block], h: f64) -> bool {
        let (y, rate) = (self.output_at_start.first(), self.reference.first());
        let (Some(rule), Some(y), Some(rate)) = (self.activation, y, rate) else {
            return true;
        };
        if rule.is_active(h, [*y, *rate], 0.0, self.was_closed) {
            return true;
        }
        let coordinates = self.blocks.iter().flat_map(|j| blocks[*j].start.q());
        let size = coordinates.fold(y.abs(), |most, q| most.max(q.abs()));
        let slack = 8.0 * f64::EPSILON * size + 1e-9 * h * self.held_up();
        let rests = (h * rate).abs() <= slack;
        rests && rule.is_active(h, [*y, *rate], slack, self.was_closed)
    }

    /// `W λ` of the normal in the step before: the rate that it has taken from its systems, m/s.
    fn held_up(&self) -> f64 {
        let sides = self.responses.iter().enumerate();
        let rows = sides.filter(|(_, response)| response.rows() > 0);
        let weight: f64 = rows
            .map(|(side, response)| self.output_dot(side, 0, response.row(0)))
            .sum();
        weight * self.lambda.first().copied().unwrap_or(0.0)
    }
}
