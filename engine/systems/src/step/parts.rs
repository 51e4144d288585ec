//! Systems with steps of their own: the plant in parts of one number of substeps each, every part stepped through the whole step by itself.
//!
//! No interaction joins two parts, so that their order does not matter to what comes out; it is that of the numbers of substeps.

use super::Plant;
use super::assemble::Assembly;
use super::block::Block;
use super::gather::Kept;
use super::link::Link;
use super::scheme::Instant;
use crate::error::SystemsError;
use crate::integrator::Integrator;
use crate::report::StepReport;
use crate::settings::Settings;
use crate::solver_choice::AnySolver;

/// What stands in the plant for what is in a part.
type Places = Vec<usize>;

impl Plant {
    /// The numbers of substeps that systems have, the smallest first; one number of an empty plant.
    pub(super) fn substeps(&self) -> Vec<u32> {
        let mut counts: Vec<u32> = self.blocks.iter().map(|block| block.substeps).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    }

    /// All phases but the first and the last, part by part.
    pub(super) fn step_in_parts(
        &mut self,
        counts: &[u32],
        settings: &Settings,
        solver: &mut AnySolver,
    ) -> Result<(), SystemsError> {
        let mut blocks: Vec<Option<Block>> = self.blocks.drain(..).map(Some).collect();
        let mut links: Vec<Option<Link>> = self.links.drain(..).map(Some).collect();
        let mut report: Option<StepReport> = None;
        for count in counts {
            let (mut part, places) = self.take_part(*count, &mut blocks, &mut links);
            for k in 0..*count {
                part.at.t = self.at.t + f64::from(k) * part.at.h;
                if k > 0 {
                    part.go_on();
                }
                part.step_as_one(settings, solver)?;
                report = Some(match report {
                    Some(before) => before.with(&part.report, k > 0),
                    None => part.report.clone(),
                });
            }
            part.give_back(places, &mut blocks, &mut links);
        }
        self.blocks = blocks.into_iter().flatten().collect();
        self.links = links.into_iter().flatten().collect();
        self.is_noted = true;
        self.report = report.unwrap_or_default();
        self.report.time = self.at.end();
        Ok(())
    }

    /// The systems with so many substeps, and their interactions.
    fn take_part(
        &self,
        count: u32,
        blocks: &mut [Option<Block>],
        links: &mut [Option<Link>],
    ) -> (Self, [Places; 2]) {
        let mut part = Self {
            at: Instant {
                t: self.at.t,
                h: self.at.h / f64::from(count),
            },
            blocks: Vec::new(),
            links: Vec::new(),
            report: StepReport::default(),
            assembly: Assembly::default(),
            beside: None,
            kept: Kept::default(),
            is_noted: self.is_noted,
        };
        let mut places = [Places::new(), Places::new()];
        for (place, slot) in blocks.iter_mut().enumerate() {
            if let Some(block) = slot.take_if(|block| block.substeps == count) {
                part.blocks.push(block);
                places[0].push(place);
            }
        }
        for (place, slot) in links.iter_mut().enumerate() {
            let known = &places[0];
            let is_own =
                |link: &mut Link| link.blocks.iter().all(|j| known.binary_search(j).is_ok());
            if let Some(mut link) = slot.take_if(is_own) {
                for j in &mut link.blocks {
                    *j = known.binary_search(j).unwrap_or_default();
                }
                part.links.push(link);
                places[1].push(place);
            }
        }
        (part, places)
    }

    /// Back to where they were.
    fn give_back(
        self,
        places: [Places; 2],
        blocks: &mut [Option<Block>],
        links: &mut [Option<Link>],
    ) {
        for (block, place) in self.blocks.into_iter().zip(&places[0]) {
            blocks[*place] = Some(block);
        }
        for (mut link, place) in self.links.into_iter().zip(&places[1]) {
            link.blocks.iter_mut().for_each(|j| *j = places[0][*j]);
            links[*place] = Some(link);
        }
    }

    /// The end of a part of a step is the start of the next one.
    fn go_on(&mut self) {
        self.report = StepReport::default();
        self.blocks.iter_mut().for_each(Block::go_on);
        self.links.iter_mut().for_each(Link::go_on);
    }
}

impl Block {
    fn go_on(&mut self) {
        self.is_edited = false;
        match self.integrator {
            Integrator::EulerMoreau(scheme) if scheme.remembers() => {
                self.reaction_before.copy_from_slice(&self.reaction);
            }
            Integrator::SchatzmanPaoli(_) => self.previous.copy_from_slice(self.start.q()),
            _ => {}
        }
        std::mem::swap(&mut self.start, &mut self.state);
    }
}

impl StepReport {
    /// This and another one: the worst of both. Interactions and rows add up over parts, not over the steps of one.
    fn with(mut self, other: &Self, is_later: bool) -> Self {
        self.newton_residual = self.newton_residual.max(other.newton_residual);
        self.newton_iterations += other.newton_iterations;
        self.projections += other.projections;
        if !is_later {
            self.active += other.active;
            self.rows += other.rows;
        }
        self.overlap = self.overlap.max(other.overlap);
        if self.converged || !other.converged && other.residual.scaled > self.residual.scaled {
            self.status = other.status;
        }
        if other.residual.scaled > self.residual.scaled {
            self.residual = other.residual;
        }
        self.converged &= other.converged;
        self
    }
}
