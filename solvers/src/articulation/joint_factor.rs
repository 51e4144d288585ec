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
}

/// `A = J M⁻¹Jᵀ + ε diag`, `ε = 1e-12`: redundant rows share their load, and two solves leave rounding.
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
        self.graph.clear();
        let ends = blocks.iter().map(|block| block.bodies);
        self.graph
            .extend(ends.map(|ends| ends.map(|body| body.unwrap_or(FIXED))));
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
        }
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
