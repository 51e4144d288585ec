//! The factor of `A = J M⁻¹Jᵀ` for those who close joints outside of a contact problem: in places, say.

use super::factor::{Factor, Six};
use super::plan::{FIXED, Graph, Plan};
use crate::problem::InverseMass;
use glam::DVec3;

/// Rows between two bodies: at most six count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointBlock {
    /// Among the bodies of the factor; none for those that impulses do not move.
    pub bodies: [Option<u32>; 2],
    /// How many rows count.
    pub count: usize,
    /// The factors of `v_A, ω_A, v_B, ω_B`, inertial frame.
    pub rows: [[f64; 12]; 6],
    /// `C ≥ 0` of each row: zero is rigid.
    pub compliance: [f64; 6],
}

/// What the first row of a block, its only one, takes of one more body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointLink {
    /// The block; links are in the order of these.
    pub block: u32,
    /// Among the bodies of the factor, none of the block's other ones.
    pub body: u32,
    /// The factors of `v, ω`, inertial frame.
    pub row: [f64; 6],
}

/// `A = J M⁻¹Jᵀ + C + ε diag`, `ε = 1e-12`: redundant rows share their load, and two solves leave rounding.
///
/// ```
/// use moreau_solvers::{InverseMass, JointBlock, JointFactor};
/// let unit = InverseMass { linear: 0.5, angular: glam::DMat3::IDENTITY };
/// let mut hold = JointBlock { bodies: [None, Some(0)], count: 1, ..JointBlock::default() };
/// hold.rows[0][6] = 1.0; // along x
/// let mut factor = JointFactor::default();
/// assert!(factor.factorize(&[unit], &[hold]));
/// let mut x = [[3.0, 0.0, 0.0, 0.0, 0.0, 0.0]];
/// factor.solve(&mut x);
/// assert!((x[0][0] - 6.0).abs() < 1e-11);
/// ```
#[derive(Debug, Default)]
pub struct JointFactor {
    graph: Graph,
    plan: Plan,
    factor: Factor<6>,
    push: Vec<[[Six; 6]; 2]>,
}

impl JointFactor {
    /// Factorises for bodies with these inverse masses. False if that is too expensive; there is then nothing to solve with.
    pub fn factorize(&mut self, masses: &[InverseMass], blocks: &[JointBlock]) -> bool {
        self.factorize_linked(masses, blocks, &[])
    }

    /// [`Self::factorize`] with rows on more than two bodies.
    pub fn factorize_linked(
        &mut self,
        masses: &[InverseMass],
        blocks: &[JointBlock],
        links: &[JointLink],
    ) -> bool {
        self.graph.clear();
        let ends = blocks.iter().map(|block| block.bodies);
        self.graph
            .ends
            .extend(ends.map(|ends| ends.map(|body| body.unwrap_or(FIXED))));
        self.graph
            .more
            .extend(links.iter().map(|link| [link.block, link.body]));
        if !self.plan.is_of(&self.graph) || self.plan.len() != blocks.len() {
            match Plan::new(&self.graph, masses.len()) {
                Some(plan) => self.plan = plan,
                None => return false,
            }
        }
        self.push.clear();
        self.push
            .extend(blocks.iter().map(|block| pushes(block, masses)));
        self.factor.clear(&self.plan);
        for (index, block) in blocks.iter().enumerate() {
            let place = self.plan.place[index] as usize;
            let diagonal = &mut self.factor.diagonal[place];
            for side in (0..2).filter(|side| block.bodies[*side].is_some()) {
                couple(diagonal, &self.push[index], block, [side, side]);
            }
            for (row, compliance) in block.compliance[..block.count.min(6)].iter().enumerate() {
                diagonal[row][row] += compliance;
            }
        }
        self.link(masses, blocks, links);
        for [position, row, column] in &self.plan.entries {
            let (low, high) = (&blocks[*row as usize], &blocks[*column as usize]);
            let push = &self.push[*row as usize];
            let entry = &mut self.factor.below[*position as usize];
            for (side, body) in low.bodies.iter().enumerate() {
                for (other, its) in high.bodies.iter().enumerate() {
                    if body.is_some() && body == its {
                        couple(entry, push, high, [side, other]);
                    }
                }
            }
        }
        self.factor.factorize(&self.plan);
        true
    }

    /// Adds what links contribute to `A`.
    fn link(&mut self, masses: &[InverseMass], blocks: &[JointBlock], links: &[JointLink]) {
        if links.is_empty() {
            return;
        }
        let mass = |link: &JointLink| &masses[link.body as usize];
        for link in links {
            let place = self.plan.place[link.block as usize] as usize;
            self.factor.diagonal[place][0][0] += product(&link.row, mass(link), &link.row);
        }
        let of = |block: u32| {
            let begin = links.partition_point(|link| link.block < block);
            let own = &links[begin..];
            &own[..own.partition_point(|link| link.block == block)]
        };
        for [position, low, high] in &self.plan.entries {
            let entry = &mut self.factor.below[*position as usize];
            let (rows, columns) = (&blocks[*low as usize], &blocks[*high as usize]);
            for link in of(*high) {
                for side in (0..2).filter(|side| rows.bodies[*side] == Some(link.body)) {
                    for (entry, row) in entry.iter_mut().zip(&rows.rows[..rows.count.min(6)]) {
                        let row = &row[6 * side..6 * side + 6];
                        entry[0] += product(row, mass(link), &link.row);
                    }
                }
            }
            for link in of(*low) {
                for side in (0..2).filter(|side| columns.bodies[*side] == Some(link.body)) {
                    let rows = &columns.rows[..columns.count.min(6)];
                    for (entry, row) in entry[0].iter_mut().zip(rows) {
                        let row = &row[6 * side..6 * side + 6];
                        *entry += product(row, mass(link), &link.row);
                    }
                }
                for other in of(*high).iter().filter(|other| other.body == link.body) {
                    entry[0][0] += product(&other.row, mass(link), &link.row);
                }
            }
        }
    }

    /// `x ← A⁻¹ x`, a block of `x` for each of the rows; entries of rows that do not count are to be zero.
    pub fn solve(&mut self, x: &mut [[f64; 6]]) {
        self.factor.solve(&self.plan, x);
    }
}

/// `J M⁻¹` of a block, side by side; zero for rows that do not count.
fn pushes(block: &JointBlock, masses: &[InverseMass]) -> [[Six; 6]; 2] {
    let mut push = [[[0.0; 6]; 6]; 2];
    for (side, push) in push.iter_mut().enumerate() {
        let Some(body) = block.bodies[side] else {
            continue;
        };
        let mass = &masses[body as usize];
        for (push, row) in push.iter_mut().zip(&block.rows[..block.count.min(6)]) {
            let of = |k: usize| DVec3::from_slice(&row[6 * side + k..6 * side + k + 3]);
            (of(0) * mass.linear).write_to_slice(&mut push[..3]);
            (mass.angular * of(3)).write_to_slice(&mut push[3..]);
        }
    }
    push
}

/// `a M⁻¹ bᵀ` of rows on one body.
fn product(a: &[f64], mass: &InverseMass, b: &[f64; 6]) -> f64 {
    let part = |row: &[f64], k: usize| DVec3::from_slice(&row[k..k + 3]);
    part(a, 0).dot(part(b, 0)) * mass.linear + part(a, 3).dot(mass.angular * part(b, 3))
}

/// Adds `J M⁻¹Jᵀ` over the body that two blocks share.
fn couple(entry: &mut [[f64; 6]; 6], push: &[[Six; 6]; 2], of: &JointBlock, sides: [usize; 2]) {
    let [side, other] = sides;
    for (entry, push) in entry.iter_mut().zip(&push[side]) {
        for (entry, row) in entry.iter_mut().zip(&of.rows[..of.count.min(6)]) {
            let lever = &row[6 * other..6 * other + 6];
            *entry += push.iter().zip(lever).map(|(a, b)| a * b).sum::<f64>();
        }
    }
}
