//! An interaction of any law in a sweep on twists: its rows as they are, one interaction at a time.
//!
//! ```text
//! w = G v + d + R y,   x = solve(W_αα + R, w − (W_αα + R) y),   v += Ŵ Gᵀ (x − y)         y = x + β (x − x_prev)
//! ```

use super::acceleration::{Stride, SweepSums};
use super::rows::{Place, Rows};
use crate::law::list::rows_of;
use crate::law::one_block::OneBlock;
use crate::problem::{Interaction, InverseMass, MAX_ROWS};
use glam::DVec3;

/// Factors of a row for one body: linear, angular.
type Row = [f64; 6];

/// A packed interaction with its impulses.
#[derive(Clone, Debug)]
pub(crate) struct General {
    /// Its first triple in the problem.
    pub(crate) triple: u32,
    rows: usize,
    /// `G`, side by side.
    levers: [[Row; 2]; MAX_ROWS],
    /// `Ŵ Gᵀ`.
    pushes: [[Row; 2]; MAX_ROWS],
    offset: [f64; MAX_ROWS],
    compliance: [f64; MAX_ROWS],
    block: OneBlock,
    memory: f64,
    lambda: f64,
    now: [f64; MAX_ROWS],
    before: [f64; MAX_ROWS],
}

fn six([a, b]: [DVec3; 2]) -> Row {
    [a.x, a.y, a.z, b.x, b.y, b.z]
}

impl General {
    /// Packs an interaction; at rest without impulse.
    pub(crate) fn new(triple: u32, interaction: &Interaction, masses: [&InverseMass; 2]) -> Self {
        let m = interaction.law.rows().min(MAX_ROWS);
        let block = interaction.block(masses);
        let trace: f64 = (0..m).map(|row| block[row * m + row]).sum();
        let mut levers = [[[0.0; 6]; 2]; MAX_ROWS];
        let mut pushes = levers;
        for row in 0..m {
            for (side, mass) in masses.iter().enumerate() {
                let [linear, angular] = interaction.lever(row, side);
                levers[row][side] = six([linear, angular]);
                pushes[row][side] = six([linear * mass.linear, mass.angular * angular]);
            }
        }
        Self {
            triple,
            rows: m,
            levers,
            pushes,
            offset: interaction.offset,
            compliance: interaction.compliance,
            block: OneBlock::new(&interaction.law, &block[..m * m]),
            memory: 0.0,
            lambda: trace / m as f64,
            now: [0.0; MAX_ROWS],
            before: [0.0; MAX_ROWS],
        }
    }

    /// Starts from the impulse in `triples` of the problem, at rest.
    pub(crate) fn restart(&mut self, triples: &[DVec3]) {
        let own = rows_of(&triples[self.triple as usize..]);
        self.now[..self.rows].copy_from_slice(&own[..self.rows]);
        self.before = self.now;
        self.memory = 0.0;
    }

    /// The present impulse, triple by triple with their places in the problem.
    pub(crate) fn impulse(&self) -> impl Iterator<Item = (u32, DVec3)> {
        let triples = self.now.as_chunks().0.iter().map(|r| DVec3::from_array(*r));
        (self.triple..).zip(triples).take(self.rows.div_ceil(3))
    }

    /// What the impulses `r` change in the twists of the two bodies.
    fn push(&self, r: &[f64; MAX_ROWS]) -> [Row; 2] {
        let mut change = [[0.0; 6]; 2];
        for (push, r) in self.pushes[..self.rows].iter().zip(r) {
            for (change, push) in change.iter_mut().zip(push) {
                for (change, push) in change.iter_mut().zip(push) {
                    *change += push * r;
                }
            }
        }
        change
    }

    /// What the present impulse adds to the twists of the two bodies.
    pub(crate) fn push_all(&self) -> [Row; 2] {
        self.push(&self.now)
    }

    /// Solves the interaction with all others frozen, given the twists of its bodies at the point `y`; the change of these twists.
    pub(crate) fn relax(
        &mut self,
        twists: [&[f64]; 2],
        stride: Stride,
        sums: &mut SweepSums,
    ) -> [Row; 2] {
        let m = self.rows;
        let (mut start, mut w) = ([0.0; MAX_ROWS], [0.0; MAX_ROWS]);
        for row in 0..m {
            start[row] = self.now[row] + stride.beta * (self.now[row] - self.before[row]);
            let mut sum = self.offset[row] + self.compliance[row] * start[row];
            for (lever, twist) in self.levers[row].iter().zip(twists) {
                sum += lever.iter().zip(twist).map(|(g, v)| g * v).sum::<f64>();
            }
            w[row] = sum;
        }
        let mut solved = start;
        let memory = &mut self.memory;
        self.block
            .relax(&w[..m], &mut solved[..m], stride.normal, memory);
        let triple = |z: &[f64; MAX_ROWS], k: usize| DVec3::from_slice(&z[3 * k..3 * k + 3]);
        for k in 0..m.div_ceil(3) {
            let states = [triple(&self.now, k), triple(&start, k), triple(&solved, k)];
            sums.add_change(self.lambda, states);
        }
        self.before = self.now;
        self.now = solved;
        let mut change = solved;
        for (change, start) in change.iter_mut().zip(&start) {
            *change -= start;
        }
        self.push(&change)
    }
}

/// Interactions of a unit, with the places of their bodies.
#[derive(Debug, Default)]
pub(super) struct Generals(Vec<(General, [Place; 2])>);

impl Generals {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn add(&mut self, general: General, places: [Place; 2]) {
        self.0.push((general, places));
    }

    pub(super) fn restart(&mut self, triples: &[DVec3]) {
        for (general, _) in &mut self.0 {
            general.restart(triples);
        }
    }

    pub(super) fn impulses(&self) -> impl Iterator<Item = (u32, DVec3)> {
        self.0.iter().flat_map(|(general, _)| general.impulse())
    }

    /// One sweep over them.
    pub(super) fn sweep(&mut self, rows: &mut impl Rows, stride: Stride) -> SweepSums {
        let mut sums = SweepSums::default();
        for (general, places) in &mut self.0 {
            let twists = places.map(|place| rows.row(place.source()).0);
            let changes = general.relax([&twists[0], &twists[1]], stride, &mut sums);
            write(rows, places, &changes);
        }
        sums
    }

    /// Adds the present impulses to the twists of the bodies.
    pub(super) fn push(&self, rows: &mut impl Rows) {
        for (general, places) in &self.0 {
            write(rows, places, &general.push_all());
        }
    }
}

fn write(rows: &mut impl Rows, places: &[Place; 2], changes: &[Row; 2]) {
    for (place, change) in places.iter().zip(changes) {
        let row = rows.row_mut(place.target());
        for (v, change) in row.0.iter_mut().zip(change) {
            *v += change;
        }
    }
}
