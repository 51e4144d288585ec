//! An interaction of any law between two bodies: its rows of `G`, its offset and its compliance.

use super::{InverseMass, ProblemError, WorldTwist};
use crate::Law;
use crate::law::list::check;
use glam::DVec3;

/// Rows of an interaction at most.
pub const MAX_ROWS: usize = 6;

/// One interaction of a factored problem: at most six rows between two bodies.
///
/// ```text
/// u_k = Σ_j row_k,j · (v_j, ω_j) + d_k,    w = u + R r,    −( w + s(w) ) ∈ N_C(r)
/// ```
///
/// Twists are those of the inertial frame ([`WorldTwist`]), so that a row is twelve numbers.
///
/// ```
/// use moreau_solvers::{Interaction, Law};
/// // A motor that turns body 0 against body 1 about z at 3 rad/s, with at most 0.1 N·m·s.
/// let mut motor = Interaction::new([0, 1], Law::interval(-0.1, 0.1));
/// motor.rows[0] = [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0];
/// motor.offset[0] = -3.0;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interaction {
    /// Bodies A and B, indices into the problem's body arrays.
    pub bodies: [u32; 2],
    /// The law, of at most [`MAX_ROWS`] rows.
    pub law: Law,
    /// Rows of `G`: the factors of `v_A, ω_A, v_B, ω_B`, inertial frame, signs included. As many count as the law has rows.
    pub rows: [[f64; 12]; MAX_ROWS],
    /// `d`, m/s or rad/s.
    pub offset: [f64; MAX_ROWS],
    /// `R ≥ 0`, 1/kg: zero is rigid.
    pub compliance: [f64; MAX_ROWS],
    /// Its row is a part of that of the interaction before it: `u` is the sum of both (offsets and compliances included), and both have one
    /// impulse. So a coupler acts on more than two bodies. Both laws are [`Law::equality`] of one row; [`Auto`](crate::Auto) solves such
    /// interactions in factored form; sweeps do not.
    pub linked: bool,
}

impl Interaction {
    /// Without rows yet, rigid.
    #[must_use]
    pub fn new(bodies: [u32; 2], law: Law) -> Self {
        Self {
            bodies,
            law,
            rows: [[0.0; 12]; MAX_ROWS],
            offset: [0.0; MAX_ROWS],
            compliance: [0.0; MAX_ROWS],
            linked: false,
        }
    }

    /// Triples that its rows take.
    pub(crate) fn triples(&self) -> usize {
        self.law.rows().div_ceil(3)
    }

    /// What a row takes of the twist of a body: linear and angular factors.
    #[inline]
    pub(crate) fn lever(&self, row: usize, side: usize) -> [DVec3; 2] {
        let of = |k: usize| DVec3::from_slice(&self.rows[row][k..k + 3]);
        [of(6 * side), of(6 * side + 3)]
    }

    /// `G v + d` for the twists of the two bodies, two triples; spare rows zero.
    pub(crate) fn velocity(&self, twists: &[WorldTwist; 2]) -> [DVec3; 2] {
        let mut u = [DVec3::ZERO; 2];
        for row in 0..self.law.rows().min(MAX_ROWS) {
            let mut sum = self.offset[row];
            for (side, twist) in twists.iter().enumerate() {
                let [linear, angular] = self.lever(row, side);
                sum += linear.dot(twist.linear) + angular.dot(twist.angular);
            }
            u[row / 3][row % 3] = sum;
        }
        u
    }

    /// Sum of the squares of the speeds that its velocities are made of: of products that may cancel, since these round. A body that moves across a
    /// row has no velocity along it but their rounding.
    pub(crate) fn square_of_speeds(&self, twists: &[WorldTwist; 2]) -> f64 {
        let mut sum = 0.0;
        for row in 0..self.law.rows().min(MAX_ROWS) {
            sum += self.offset[row] * self.offset[row];
            for (side, twist) in twists.iter().enumerate() {
                let [linear, angular] = self.lever(row, side);
                let speed =
                    linear.abs().dot(twist.linear.abs()) + angular.abs().dot(twist.angular.abs());
                sum += speed * speed;
            }
        }
        sum
    }

    /// What the impulse `r` changes in the twist of the body on one side.
    pub(crate) fn twist_change(&self, side: usize, r: &[f64], mass: &InverseMass) -> WorldTwist {
        let mut impulse = [DVec3::ZERO; 2];
        if !mass.is_fixed() {
            for (row, r) in r.iter().take(self.law.rows()).enumerate() {
                let [linear, angular] = self.lever(row, side);
                impulse[0] += linear * *r;
                impulse[1] += angular * *r;
            }
        }
        WorldTwist {
            linear: impulse[0] * mass.linear,
            angular: mass.angular * impulse[1],
        }
    }

    /// `W_αα + R`, `m × m`, row by row, from the bodies' inverse masses.
    pub(crate) fn block(&self, masses: [&InverseMass; 2]) -> [f64; MAX_ROWS * MAX_ROWS] {
        let m = self.law.rows().min(MAX_ROWS);
        let mut block = [0.0; MAX_ROWS * MAX_ROWS];
        for (side, mass) in masses.into_iter().enumerate() {
            for i in 0..m {
                let [linear, angular] = self.lever(i, side);
                let (pushed, turned) = (linear * mass.linear, mass.angular * angular);
                for j in 0..m {
                    let [linear, angular] = self.lever(j, side);
                    block[i * m + j] += linear.dot(pushed) + angular.dot(turned);
                }
            }
        }
        for row in 0..m {
            block[row * m + row] += self.compliance[row];
        }
        block
    }

    /// Checks one interaction of a problem of `count` bodies.
    pub(super) fn check(&self, index: usize, count: usize) -> Result<(), ProblemError> {
        let [a, b] = self.bodies;
        if a == b || a as usize >= count || b as usize >= count {
            return Err(ProblemError::Body {
                contact: index,
                bodies: self.bodies,
                count,
            });
        }
        check(index, &self.law)?;
        let out_of_range = |what, value, bound| ProblemError::Law {
            interaction: index,
            what,
            value,
            bound,
        };
        let rows = self.law.rows();
        if rows > MAX_ROWS {
            return Err(out_of_range("number of rows", rows as f64, "at most 6"));
        }
        let stiff = |r: &f64| r.is_finite() && *r >= 0.0;
        if let Some(r) = self.compliance[..rows].iter().find(|r| !stiff(r)) {
            return Err(out_of_range("compliance", *r, "finite and ≥ 0"));
        }
        let numbers = self.rows[..rows]
            .iter()
            .flatten()
            .chain(&self.offset[..rows]);
        match numbers.into_iter().find(|x| !x.is_finite()) {
            None => Ok(()),
            Some(value) => Err(ProblemError::NotFinite {
                what: "row or offset",
                index,
                value: *value,
            }),
        }
    }
}
