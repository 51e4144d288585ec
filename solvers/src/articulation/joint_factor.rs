//! The factor of `A = J M⁻¹Jᵀ` for those who close joints outside of a contact problem: in places, say.
//!
//! Blocks between the same two bodies share a dense block as long as there is room: a motor is the sixth row of its hinge. Dense blocks are of three rows where no
//! joint has more, and of six otherwise.

mod packed;
mod packing;

use super::plan::Plan;
use crate::problem::InverseMass;
use packed::Packed;
use packing::Packing;

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

impl JointBlock {
    /// The rows that count.
    fn used(&self) -> &[[f64; 12]] {
        &self.rows[..self.count.min(6)]
    }
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
    packing: Packing,
    plan: Plan,
    three: Packed<3>,
    six: Packed<6>,
    /// What was factorised last, if that was possible.
    last: Option<Given>,
}

/// What a factor is of.
#[derive(Debug, Default)]
struct Given {
    masses: Vec<InverseMass>,
    blocks: Vec<JointBlock>,
    links: Vec<JointLink>,
}

impl Given {
    /// The same bits.
    fn is(&self, (masses, blocks, links): (&[InverseMass], &[JointBlock], &[JointLink])) -> bool {
        let mass = |mass: &InverseMass| {
            let angular = mass.angular.to_cols_array().map(f64::to_bits);
            (mass.linear.to_bits(), angular)
        };
        let block = |block: &JointBlock| {
            let compliance = block.compliance.map(f64::to_bits);
            let rows = block.rows.map(|row| row.map(f64::to_bits));
            (block.bodies, block.count, compliance, rows)
        };
        let link = |link: &JointLink| (link.block, link.body, link.row.map(f64::to_bits));
        self.masses.iter().map(mass).eq(masses.iter().map(mass))
            && self.blocks.iter().map(block).eq(blocks.iter().map(block))
            && self.links.iter().map(link).eq(links.iter().map(link))
    }
}

impl JointFactor {
    /// Factorises for bodies with these inverse masses; does nothing if these and the rows are the last ones. False if that is too expensive; there is then nothing to solve with.
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
        let of = (masses, blocks, links);
        if self.last.as_ref().is_some_and(|last| last.is(of)) {
            return true;
        }
        let mut last = self.last.take().unwrap_or_default();
        self.packing.pack(masses.len(), blocks, links);
        if !self.plan.is_of(&self.packing.graph) {
            match Plan::new(&self.packing.graph, masses.len()) {
                Some(plan) => self.plan = plan,
                None => return false,
            }
        }
        if self.packing.small {
            self.three.factorize(&self.packing, &self.plan, of);
        } else {
            self.six.factorize(&self.packing, &self.plan, of);
        }
        last.masses.clear();
        last.masses.extend_from_slice(masses);
        last.blocks.clear();
        last.blocks.extend_from_slice(blocks);
        last.links.clear();
        last.links.extend_from_slice(links);
        self.last = Some(last);
        true
    }

    /// `x ← A⁻¹ x`, a block of `x` for each of the blocks; entries of rows that do not count are to be zero.
    pub fn solve(&mut self, x: &mut [[f64; 6]]) {
        if self.packing.small {
            self.three.solve(&self.packing, &self.plan, x);
        } else {
            self.six.solve(&self.packing, &self.plan, x);
        }
    }
}

#[cfg(test)]
mod tests;
