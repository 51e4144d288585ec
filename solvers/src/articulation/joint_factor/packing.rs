//! Which rows share a dense block.

use super::{JointBlock, JointLink};
use crate::articulation::plan::{FIXED, Graph};
use std::ops::Range;

/// What depends on how many rows there are between which bodies, and on nothing else.
#[derive(Debug, Default)]
pub(super) struct Packing {
    /// What it was made of: bodies and counts of the blocks, and bodies of the links.
    blocks: Vec<([Option<u32>; 2], usize)>,
    links: Vec<[u32; 2]>,
    bodies: usize,
    /// No block has more than three rows.
    pub(super) small: bool,
    /// Of the dense blocks.
    pub(super) graph: Graph,
    /// Of each block.
    pub(super) seats: Vec<Seat>,
}

/// Where the rows of a block are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    pub(super) block: usize,
    /// Its rows there.
    pub(super) first: usize,
    pub(super) count: usize,
    /// The dense block names the two bodies the other way round.
    pub(super) turned: bool,
}

impl Seat {
    pub(super) fn rows(&self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

impl Packing {
    /// Packs these blocks, if they are others than before.
    pub(super) fn pack(&mut self, bodies: usize, blocks: &[JointBlock], links: &[JointLink]) {
        let shape = blocks.iter();
        let shape = shape.map(|block| (block.bodies, block.used().len()));
        let more = links.iter().map(|link| [link.block, link.body]);
        let same = self.bodies == bodies
            && self.blocks.iter().copied().eq(shape.clone())
            && self.links.iter().copied().eq(more.clone());
        if same {
            return;
        }
        self.bodies = bodies;
        self.blocks.clear();
        self.blocks.extend(shape);
        self.links.clear();
        self.links.extend(more);
        self.small = self.blocks.iter().all(|(_, count)| *count <= 3);
        self.seat();
    }

    fn seat(&mut self) {
        let most = if self.small { 3 } else { 6 };
        self.graph.clear();
        self.seats.clear();
        // Dense blocks of each body, with their rows.
        let mut of_body: Vec<Vec<usize>> = vec![Vec::new(); self.bodies];
        let mut used: Vec<usize> = Vec::new();
        let mut links = self.links.iter().peekable();
        for (index, (bodies, count)) in self.blocks.iter().enumerate() {
            let ends = bodies.map(|body| body.unwrap_or(FIXED));
            let turned = [ends[1], ends[0]];
            let is_linked = links.peek().is_some_and(|link| link[0] as usize == index);
            let own = bodies.iter().flatten().next();
            let own = own.filter(|_| !is_linked);
            let known = own.and_then(|body| {
                let mut list = of_body[*body as usize].iter();
                list.find(|block| {
                    let its = self.graph.ends[**block];
                    (its == ends || its == turned) && used[**block] + count <= most
                })
            });
            if let Some(block) = known.copied() {
                self.seats.push(Seat {
                    block,
                    first: used[block],
                    count: *count,
                    turned: self.graph.ends[block] != ends,
                });
                used[block] += count;
                continue;
            }
            let block = used.len();
            self.seats.push(Seat {
                block,
                first: 0,
                count: *count,
                turned: false,
            });
            self.graph.ends.push(ends);
            // Rows on more than two bodies are alone in their block.
            used.push(if is_linked { most } else { *count });
            while let Some([_, body]) = links.next_if(|link| link[0] as usize == index) {
                self.graph.more.push([block as u32, *body]);
            }
            for body in bodies.iter().flatten() {
                of_body[*body as usize].push(block);
            }
        }
    }
}
