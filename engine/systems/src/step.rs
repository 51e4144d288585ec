//! One step, from the components of a world to its next state. [`Plant::step`] is its table of contents.
//!
//! ```text
//! gather      systems and interactions in the order of their ids, checked
//! begin       what is known of the start: forces, ẏ_k, first iterates
//! activate    I₁: contacts that are forecast to be closed, and all other laws          theory §5
//! Newton      linearise   H, C, B, D at the iterate
//!             free        M̂ and z_free
//!             assemble    W = D + Σ output M̂⁻¹ input,  q,  laws                        §6
//!             solve       λ, judged by the natural map                                §7
//!             update      z, the state, what acts; ends on the residual of the dynamics
//! project     positions of contacts, velocities untouched; perhaps once more          §11
//! commit      components, report
//! ```
//!
//! Components are written by the last phase alone: after an error the world is as it was.

pub(crate) mod assemble;
pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod commit;
pub(crate) mod gather;
pub(crate) mod levels;
pub(crate) mod link;
pub(crate) mod point;
pub(crate) mod project;
pub(crate) mod scheme;

use crate::algebra::Row;
use crate::error::SystemsError;
use crate::integrator::Integrator;
use crate::report::StepReport;
use crate::settings::Settings;
use crate::solver_choice::AnySolver;
use assemble::Assembly;
use block::Block;
use link::{Level, Link};
use moreau_solvers::SolverStatus;
use point::Point;
use scheme::Instant;

/// The systems and interactions of a world within a step.
pub(crate) struct Plant {
    pub(crate) at: Instant,
    pub(crate) blocks: Vec<Block>,
    pub(crate) links: Vec<Link>,
    pub(crate) report: StepReport,
}

impl Plant {
    /// All phases but the first and the last.
    pub(crate) fn step(
        &mut self,
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        self.begin()?;
        self.activate();
        loop {
            self.newton(settings, solver)?;
            if !self.project(settings, solver)? {
                break;
            }
        }
        self.finish()
    }

    /// What is known of the start.
    fn begin(&mut self) -> Result<(), SystemsError> {
        let at = self.at;
        for block in &mut self.blocks {
            block.begin(at)?;
            block.predict(at)?;
        }
        for link in &mut self.links {
            link.begin(&self.blocks, at)?;
        }
        Ok(())
    }

    /// `I₁`.
    fn activate(&mut self) {
        let (at, blocks) = (self.at, &self.blocks);
        for link in &mut self.links {
            link.active = link.is_forecast(blocks, at);
        }
    }

    /// Newton's loop over all systems and active interactions.
    fn newton(&mut self, settings: &Settings, solver: &mut AnySolver) -> Result<(), SystemsError> {
        let newton = settings.newton;
        for _ in 0..newton.max_iterations {
            self.report.newton_iterations += 1;
            self.linearise()?;
            let changes = self.free()?;
            let assembly = Assembly::new(self, &changes)?;
            let lambda = self.solve(&assembly, settings, solver)?;
            self.update(&assembly, changes, &lambda);
            let (worst, within) = self.residual(settings, &assembly, &lambda);
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
        blocks
            .iter_mut()
            .for_each(|block| block.slope_of_input = None);
        for link in self.links.iter_mut().filter(|link| link.active) {
            link.linearise(blocks, at)?;
        }
        Ok(())
    }

    /// `z_free − z^τ` of every system.
    fn free(&mut self) -> Result<Vec<Row>, SystemsError> {
        self.clear_applied();
        for link in self.links.iter().filter(|link| link.active) {
            for (j, known) in link.blocks.iter().zip(&link.known) {
                crate::algebra::add(&mut self.blocks[*j].applied, 1.0, known);
            }
        }
        let at = self.at;
        let change = |block: &mut Block| {
            block.factor(at)?;
            block.free_change(at)
        };
        self.blocks.iter_mut().map(change).collect()
    }

    fn clear_applied(&mut self) {
        for block in &mut self.blocks {
            block.applied.fill(0.0);
            block.reaction.fill(0.0);
        }
    }

    /// `λ`.
    fn solve(
        &mut self,
        assembly: &Assembly,
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<Vec<f64>, SystemsError> {
        let (lambda, report) = assembly.solve(&self.links, settings.tolerance, solver)?;
        self.report.status = report.status;
        self.report.residual = report.residual;
        self.report.rows = lambda.len();
        Ok(lambda)
    }

    /// The next iterate.
    fn update(&mut self, assembly: &Assembly, changes: Vec<Row>, lambda: &[f64]) {
        let at = self.at;
        let responses = assembly.responses(self, lambda);
        let parts = changes.into_iter().zip(responses);
        for (block, (mut z, response)) in self.blocks.iter_mut().zip(parts) {
            crate::algebra::add(&mut z, 1.0, &block.z);
            crate::algebra::add(&mut z, 1.0, &response);
            block.move_to(z, at);
        }
        for (link, rows) in assembly.active(&mut self.links) {
            link.lambda.copy_from_slice(&lambda[rows]);
        }
        self.clear_applied();
        for link in self.links.iter().filter(|link| link.active) {
            link.apply(&mut self.blocks, at);
        }
    }

    /// The largest relative residual, and whether all are within their bounds.
    fn residual(
        &mut self,
        settings: &Settings,
        assembly: &Assembly,
        lambda: &[f64],
    ) -> (f64, bool) {
        let (newton, at) = (settings.newton, self.at);
        let (mut worst, mut within) = (0.0_f64, true);
        let mut judge = |[missed, terms]: [f64; 2]| {
            within &= missed <= newton.absolute.max(newton.relative * terms);
            if terms > 0.0 || missed.is_nan() {
                worst = worst.max(missed / terms);
            }
        };
        for block in &self.blocks {
            judge(block.residual(at));
        }
        let w = assembly.velocity_under(lambda);
        let blocks = &self.blocks;
        for (link, rows) in assembly.active(&mut self.links) {
            judge(link.mismatch(blocks, at, &w[rows]));
        }
        (worst, within)
    }

    /// The report is complete, the state finite.
    fn finish(&mut self) -> Result<(), SystemsError> {
        self.report.time = self.at.end();
        self.report.active = self.links.iter().filter(|link| link.active).count();
        self.report.overlap = self.overlap();
        for block in &self.blocks {
            for part in [block.state.q(), block.state.v(), block.state.x()] {
                crate::error::expect_finite("state after the step", part).map_err(block.named())?;
            }
        }
        Ok(())
    }
}

impl Link {
    /// Outputs at the start.
    fn begin(&mut self, blocks: &[Block], at: Instant) -> Result<(), SystemsError> {
        if matches!(self.level, Level::Value { .. }) {
            return Ok(());
        }
        let start = self.start_point(blocks, at);
        self.output_at_start = self.gap(&start);
        self.reference = if self.level == Level::Position {
            let before = at.t - at.h;
            self.gap(&Point::of(before, blocks, &self.blocks, |block| {
                &block.previous
            }))
        } else {
            self.rate(&start, self.blocks.iter().map(|j| blocks[*j].start.v()))
        };
        crate::error::expect_finite("output", &self.output_at_start).map_err(self.named())?;
        crate::error::expect_finite("output", &self.reference).map_err(self.named())
    }

    /// True if it takes part in the step: see [`crate::Activation`].
    fn is_forecast(&self, blocks: &[Block], at: Instant) -> bool {
        let activation = self
            .blocks
            .iter()
            .find_map(|j| match blocks[*j].integrator {
                Integrator::MoreauJean(scheme) => Some(scheme.activation),
                _ => None,
            });
        match activation {
            Some(rule) if self.law.is_impact() => {
                let (y, rate) = (self.output_at_start[0], self.reference[0]);
                rule.is_active(at.h, y, rate, self.was_closed)
            }
            _ => true,
        }
    }
}
