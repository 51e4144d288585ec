//! One contact: its rows of `G` and its law.

use super::check::{check_friction, first_non_finite};
use super::{InverseMass, ProblemError, WorldTwist};
use glam::{DMat3, DVec3};

/// One contact of a factored problem: its block row of `G` and its law.
///
/// ```text
/// u = Cᵀ [ v_A + ω_A × ρ_A − v_B − ω_B × ρ_B ] + d,   C = [n t₁ t₂],  n from B to A
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Bodies A and B, indices into the problem's body arrays.
    pub bodies: [u32; 2],
    /// `C = [n t₁ t₂]`, orthonormal and right-handed, inertial frame.
    pub frame: DMat3,
    /// `ρ_A`, `ρ_B`: contact point from each centre of mass, inertial frame, m.
    pub arms: [DVec3; 2],
    /// `d`, m/s, contact frame: the term `s` of the normal law (restitution or gap).
    pub offset: DVec3,
    /// Coulomb coefficient `μ ≥ 0`; zero is the frictionless law.
    pub friction: f64,
}

impl Contact {
    /// Checks one contact of a problem of `count` bodies.
    #[inline]
    pub(crate) fn check(&self, index: usize, count: usize) -> Result<(), ProblemError> {
        let [a, b] = self.bodies.map(|body| body as usize);
        let sound = a != b && a.max(b) < count && self.friction >= 0.0;
        if sound && self.is_plainly_finite() {
            return Ok(());
        }
        self.find_fault(index, count)
    }

    /// What is wrong with a contact, if anything is.
    #[cold]
    fn find_fault(&self, index: usize, count: usize) -> Result<(), ProblemError> {
        let [a, b] = self.bodies;
        if a == b || a as usize >= count || b as usize >= count {
            return Err(ProblemError::Body {
                contact: index,
                bodies: self.bodies,
                count,
            });
        }
        check_friction(index, self.friction)?;
        let not_finite = |what, value| ProblemError::NotFinite { what, index, value };
        if !self.offset.is_finite() {
            let value = first_non_finite(self.offset, DVec3::ZERO);
            return Err(not_finite("offset", value));
        }
        let arms = self.arms[0].is_finite() && self.arms[1].is_finite();
        if arms && self.frame.is_finite() {
            Ok(())
        } else {
            Err(not_finite("geometry", f64::NAN))
        }
    }

    /// All numbers are finite, seen from the sum of their magnitudes: false also where that
    /// overflows.
    fn is_plainly_finite(&self) -> bool {
        let frame = &self.frame;
        let columns = frame.x_axis.abs() + frame.y_axis.abs() + frame.z_axis.abs();
        let arms = self.arms[0].abs() + self.arms[1].abs();
        let sum = (columns + arms + self.offset.abs()).element_sum();
        (sum + self.friction).is_finite()
    }

    /// Relative velocity `G v` at the contact, contact frame, m/s (without the offset `d`).
    #[inline]
    #[must_use]
    pub fn local_velocity(&self, a: &WorldTwist, b: &WorldTwist) -> DVec3 {
        self.frame.transpose() * (a.at(self.arms[0]) - b.at(self.arms[1]))
    }

    /// Local Delassus block `W_αα`, 1/kg, from the bodies' inverse masses:
    /// `Σ_j I/m + Lᵀ 𝕀⁻¹ L` with `L = [ρ × n, ρ × t₁, ρ × t₂]`.
    #[must_use]
    pub fn local_block(&self, a: &InverseMass, b: &InverseMass) -> DMat3 {
        let mut block = DMat3::from_diagonal(DVec3::splat(a.linear + b.linear));
        for (mass, arm) in [(a, self.arms[0]), (b, self.arms[1])] {
            let DMat3 {
                x_axis,
                y_axis,
                z_axis,
            } = self.frame;
            let (l0, l1, l2) = (arm.cross(x_axis), arm.cross(y_axis), arm.cross(z_axis));
            let (t0, t1, t2) = (mass.angular * l0, mass.angular * l1, mass.angular * l2);
            let (w01, w02, w12) = (l0.dot(t1), l0.dot(t2), l1.dot(t2));
            block.x_axis += DVec3::new(l0.dot(t0), w01, w02);
            block.y_axis += DVec3::new(w01, l1.dot(t1), w12);
            block.z_axis += DVec3::new(w02, w12, l2.dot(t2));
        }
        block
    }

    /// `G_α^j Ŵ_j G_β^jᵀ` for the body `mass` seen as side `side` of `self` and `other_side` of `other`.
    #[must_use]
    pub fn coupling(
        &self,
        side: usize,
        other: &Self,
        other_side: usize,
        mass: &InverseMass,
    ) -> DMat3 {
        let sign = if side == other_side { 1.0 } else { -1.0 };
        let column = |axis: DVec3| {
            let angular = mass.angular * other.arms[other_side].cross(axis);
            self.frame.transpose() * (axis * mass.linear + angular.cross(self.arms[side]))
        };
        DMat3::from_cols(
            column(other.frame.x_axis),
            column(other.frame.y_axis),
            column(other.frame.z_axis),
        ) * sign
    }
}
