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
        let mut report = StepReport::nothing(self.at.t);
        for count in counts {
            let (mut part, places) = self.take_part(*count, &mut blocks, &mut links);
            let mut own = StepReport::nothing(self.at.t);
            for k in 0..*count {
                if k > 0 {
                    part.go_on(self.at.t + f64::from(k) * part.at.h);
                }
                part.step_as_one(settings, solver)?;
                own.add_later(&part.report);
            }
            report.add_beside(&own);
            part.give_back(places, &mut blocks, &mut links);
        }
        self.blocks = blocks.into_iter().flatten().collect();
        self.links = links.into_iter().flatten().collect();
        self.is_noted = true;
        self.report = report;
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

    /// The end of a step is the start of the next one, at `t`, s.
    pub(crate) fn go_on(&mut self, t: f64) {
        self.at.t = t;
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
