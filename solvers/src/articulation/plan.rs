//! The symbolic part of a factorisation: which blocks exist, in which order they go.
//!
//! Two blocks of joint rows are coupled if they share a body that impulses move. Minimum degree on that graph eliminates
//! a tree from its leaves and fills in nothing; loops fill in a little. What is found depends on the graph alone and
//! is kept while it is the same.
//!
//! ```text
//! column k of L:  rows i > k in the order of elimination         update:  A_ij −= L_ik L_jkᵀ  for i ≥ j > k, both in column k
//! ```

use crate::algebra::block_lu::{Pattern, minimum_degree};

/// A side without a body that impulses move.
pub(super) const FIXED: u32 = u32::MAX;

/// Which bodies the blocks of rows act on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Graph {
    /// Two of every block, [`FIXED`] where impulses move none.
    pub(super) ends: Vec<[u32; 2]>,
    /// Blocks that act on more, by blocks, with those bodies. They are the sides 2, 3, … of their block.
    pub(super) more: Vec<[u32; 2]>,
}

impl Graph {
    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.more.clear();
    }

    /// Blocks with their sides and bodies, those last that act on more than two.
    fn sides(&self) -> impl Iterator<Item = (u32, u8, usize)> {
        let ends = self.ends.iter().enumerate().flat_map(|(block, ends)| {
            let ends = ends.iter().enumerate();
            ends.filter(|(_, body)| **body != FIXED)
                .map(move |(side, body)| (block as u32, side as u8, *body as usize))
        });
        let groups = self.more.chunk_by(|a, b| a[0] == b[0]);
        ends.chain(groups.flat_map(|group| {
            let sides = (2..).zip(group);
            sides.map(|(side, [block, body])| (*block, side, *body as usize))
        }))
    }
}

/// Order, fill and targets of a block Cholesky factorisation.
#[derive(Debug, Default)]
pub(super) struct Plan {
    graph: Graph,
    /// Block of each place in the order of elimination, and the place of each block.
    pub(super) order: Vec<u32>,
    pub(super) place: Vec<u32>,
    /// Places of the blocks below the diagonal of each column, ascending.
    pub(super) start: Vec<u32>,
    pub(super) rows: Vec<u32>,
    /// For every column and every pair `j < i` of its rows, the position of block `(i, j)`: column by column, `j` by `j`.
    pub(super) targets: Vec<u32>,
    /// Coupled blocks: position below the diagonal, row block, column block.
    pub(super) entries: Vec<[u32; 3]>,
    /// Blocks of each body: `of_body[body_start[b]..body_start[b + 1]]`, each with its side.
    pub(super) body_start: Vec<u32>,
    pub(super) of_body: Vec<(u32, u8)>,
    /// A number that blocks have in common if and only if joints connect them; of each body, too.
    pub(super) component: Vec<u32>,
}

/// Block products of a factorisation that would take longer, and more memory, than all sweeps.
const MOST_PRODUCTS: usize = 20_000_000;
/// Couplings before fill-in beyond which no order is looked for.
const MOST_COUPLINGS: usize = 2_000_000;

impl Plan {
    /// The plan of a graph of `bodies` bodies; `None` if its factorisation is too expensive.
    pub(super) fn new(graph: &Graph, bodies: usize) -> Option<Self> {
        let mut plan = Self {
            graph: graph.clone(),
            ..Self::default()
        };
        plan.list_bodies(bodies);
        let mut pairs = Vec::new();
        for body in 0..bodies {
            let own = plan.blocks_of(body);
            if pairs.len() + own.len() * own.len() / 2 > MOST_COUPLINGS {
                return None;
            }
            for (k, (first, _)) in own.iter().enumerate() {
                pairs.extend(own[k + 1..].iter().map(|(second, _)| (*first, *second)));
            }
        }
        pairs.retain(|(a, b)| a != b);
        let n = graph.ends.len();
        let mut pattern = Pattern::default();
        pattern.set(n, pairs.iter().copied());
        plan.order = minimum_degree(&pattern);
        plan.place = vec![0; n];
        for (place, block) in plan.order.iter().enumerate() {
            plan.place[*block as usize] = place as u32;
        }
        plan.eliminate(&pattern)?;
        plan.find_targets();
        plan.find_entries(&pattern);
        plan.find_components();
        Some(plan)
    }

    pub(super) fn is_of(&self, graph: &Graph) -> bool {
        self.graph == *graph
    }

    /// Number of blocks of rows.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Positions of a column below the diagonal.
    #[inline]
    pub(super) fn column(&self, k: usize) -> std::ops::Range<usize> {
        self.start[k] as usize..self.start[k + 1] as usize
    }

    /// Blocks of a body, with their sides.
    pub(super) fn blocks_of(&self, body: usize) -> &[(u32, u8)] {
        &self.of_body[self.body_start[body] as usize..self.body_start[body + 1] as usize]
    }

    fn list_bodies(&mut self, bodies: usize) {
        self.body_start = vec![0; bodies + 1];
        let sides = || self.graph.sides();
        let mut count = vec![0_u32; bodies];
        sides().for_each(|(.., body)| count[body] += 1);
        for (body, count) in count.iter().enumerate() {
            self.body_start[body + 1] = self.body_start[body] + count;
        }
        let mut next = self.body_start.clone();
        let mut of_body = vec![(0, 0); self.body_start[bodies] as usize];
        for (block, side, body) in sides() {
            of_body[next[body] as usize] = (block, side);
            next[body] += 1;
        }
        self.of_body = of_body;
    }

    /// The rows of every column: its own, and those that its children in the elimination tree pass on.
    fn eliminate(&mut self, pattern: &Pattern) -> Option<()> {
        let n = self.order.len();
        let mut inherited: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut products = 0;
        self.start.push(0);
        for k in 0..n {
            let own = pattern.row(self.order[k] as usize).iter();
            let mut rows: Vec<u32> = own.map(|block| self.place[*block as usize]).collect();
            for child in &inherited[k] {
                rows.extend_from_slice(&self.rows[self.column(*child as usize)]);
            }
            rows.sort_unstable();
            rows.dedup();
            rows.retain(|row| *row as usize > k);
            products += rows.len() * (rows.len() + 1) / 2;
            if products > MOST_PRODUCTS {
                return None;
            }
            if let Some(parent) = rows.first() {
                inherited[*parent as usize].push(k as u32);
            }
            self.rows.extend_from_slice(&rows);
            self.start.push(self.rows.len() as u32);
        }
        Some(())
    }

    /// Position of block `(row, column)` below the diagonal, places given.
    fn position(&self, row: u32, column: u32) -> u32 {
        let range = self.column(column as usize);
        let rows = &self.rows[range.clone()];
        (range.start + rows.partition_point(|other| *other < row)) as u32
    }

    fn find_targets(&mut self) {
        let mut targets = Vec::new();
        for k in 0..self.len() {
            let rows = &self.rows[self.column(k)];
            for (a, column) in rows.iter().enumerate() {
                targets.extend(rows[a + 1..].iter().map(|row| self.position(*row, *column)));
            }
        }
        self.targets = targets;
    }

    fn find_entries(&mut self, pattern: &Pattern) {
        for k in 0..self.len() {
            let column = self.order[k];
            for row in pattern.row(column as usize) {
                let place = self.place[*row as usize];
                if place as usize > k {
                    let position = self.position(place, k as u32);
                    self.entries.push([position, *row, column]);
                }
            }
        }
    }

    /// The roots of the elimination tree number the components.
    fn find_components(&mut self) {
        let n = self.len();
        let mut root: Vec<u32> = (0..n as u32).collect();
        for k in (0..n).rev() {
            if let Some(parent) = self.rows[self.column(k)].first() {
                root[k] = root[*parent as usize];
            }
        }
        let bodies = self.body_start.len() - 1;
        self.component = (0..bodies)
            .map(|body| {
                let first = self.blocks_of(body).first();
                first.map_or(FIXED, |(block, _)| {
                    root[self.place[*block as usize] as usize]
                })
            })
            .collect();
    }
}
