//! Choice of the method that solves one contact inside a Gauss–Seidel sweep.
//!
//! All of them answer the same question with the symmetric part `W` of the local block [docs/theory.md §8]:
//!
//! ```text
//! find r:   u = W r + q,   û = u + (μ‖u_T‖, 0, 0),   K*_μ ∋ û ⊥ r ∈ K_μ
//! ```
//!
//! | method | one contact in a sweep | use it |
//! |---|---|---|
//! | [`LocalSolver::Exact`] | 0.2 µs | always |
//! | [`LocalSolver::AlartCurnier`] | 0.4 µs | to compare with the field's standard |
//! | [`LocalSolver::Quartic`] | 0.8 µs | to inspect all roots |
//! | [`LocalSolver::Projection`] | 2 µs | as the reference that takes no derivative |
//!
//! (Generic bodies, warm-started sweeps, one thread of the virtual machine of the other figures.)
//!
//! Take-off (`q_N ≥ 0`), the block without normal compliance and the frictionless contact have
//! closed answers, which all methods share; they differ in sticking and slipping only. Where
//! several impulses satisfy the law (strong coupling, large `μ`) they need not choose the same.
//!
//! Vectors are in the eigenbasis of the block ([`OneContact::to_principal`]); cones are round, so
//! that the law reads the same there.

pub mod alart_curnier;
pub mod projection;
pub mod quartic;

use crate::OneContact;
use alart_curnier::AlartCurnierSettings;
use glam::{DMat3, DVec3};
use projection::ProjectionSettings;

/// How one contact is solved while all others are frozen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum LocalSolver {
    /// The safeguarded secular equation of [`OneContact`]. The default.
    #[default]
    Exact,
    /// Fixed point of the projection on the cone: [`crate::comparison::local::projection`].
    Projection(ProjectionSettings),
    /// Damped Newton on the function of Alart and Curnier, with projection as its safeguard:
    /// [`crate::comparison::local::alart_curnier`].
    AlartCurnier(AlartCurnierSettings),
    /// Roots of the quartic: [`crate::comparison::local::quartic`].
    Quartic,
}

impl LocalSolver {
    /// The impulse (N·s) for the velocity `q` (m/s) without it; both, and `start`, in the
    /// eigenbasis of `block`. `start` is where an iteration begins.
    ///
    /// `memory` belongs to the contact and to the method: the slip multiplier `α` (1/kg) of
    /// [`LocalSolver::Exact`] and [`LocalSolver::Quartic`], the step `ρ` (kg) of the two others;
    /// 0 for none. It receives the value to hand over next time.
    ///
    /// ```
    /// use glam::{DMat3, DVec3};
    /// use moreau_solvers::{LocalSolver, OneContact};
    /// let block = OneContact::new(&DMat3::IDENTITY);
    /// let q = DVec3::new(-1.0, 2.0, 0.0);
    /// let r = LocalSolver::Quartic.solve_principal(&block, q, 0.5, DVec3::ZERO, &mut 0.0);
    /// assert!((r - DVec3::new(1.0, -0.5, 0.0)).length() < 1e-15); // it slides
    /// ```
    #[must_use]
    pub fn solve_principal(
        &self,
        block: &OneContact,
        q: DVec3,
        friction: f64,
        start: DVec3,
        memory: &mut f64,
    ) -> DVec3 {
        if matches!(self, Self::Exact) {
            return block.solve_principal_from(q, friction, memory);
        }
        let problem = LocalProblem::new(block, q, friction);
        if let Some(r) = problem.closed_answer() {
            return r;
        }
        match self {
            Self::Exact => block.solve_principal_from(q, friction, memory),
            Self::Projection(settings) => projection::solve(&problem, settings, start, memory),
            Self::AlartCurnier(settings) => alart_curnier::solve(&problem, settings, start, memory),
            Self::Quartic => quartic::solve(&problem, memory),
        }
    }
}

/// One contact with all others frozen, in the eigenbasis of its block.
pub(crate) struct LocalProblem<'a> {
    pub(crate) block: &'a OneContact,
    pub(crate) q: DVec3,
    pub(crate) friction: f64,
    /// `W_NN`.
    pub(crate) w_nn: f64,
    /// `w = W_TN`.
    pub(crate) w: [f64; 2],
}

impl<'a> LocalProblem<'a> {
    pub(crate) fn new(block: &'a OneContact, q: DVec3, friction: f64) -> Self {
        let column = block.apply_principal(DVec3::X);
        Self {
            block,
            q,
            friction,
            w_nn: column.x,
            w: [column.y, column.z],
        }
    }

    /// Take-off, no normal compliance, no friction.
    fn closed_answer(&self) -> Option<DVec3> {
        if self.q.x >= 0.0 || self.w_nn <= 0.0 {
            Some(DVec3::ZERO)
        } else if self.friction == 0.0 {
            Some(DVec3::new(-self.q.x / self.w_nn, 0.0, 0.0))
        } else {
            None
        }
    }

    /// `W`.
    pub(crate) fn matrix(&self) -> DMat3 {
        let column = |axis| self.block.apply_principal(axis);
        DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z))
    }

    /// `s₁, s₂`, the eigenvalues of `S`: `W` applied to `(−w_i/W_NN, e_i)`, which has `u_N = 0`.
    pub(crate) fn schur_eigenvalues(&self) -> [f64; 2] {
        let inverse = 1.0 / self.w_nn;
        let first = DVec3::new(-(self.w[0] * inverse), 1.0, 0.0);
        let second = DVec3::new(-(self.w[1] * inverse), 0.0, 1.0);
        [
            self.block.apply_principal(first).y,
            self.block.apply_principal(second).z,
        ]
    }

    /// `u = W r + q`.
    pub(crate) fn velocity(&self, r: DVec3) -> DVec3 {
        self.block.apply_principal(r) + self.q
    }

    /// `û`.
    pub(crate) fn shifted_velocity(&self, r: DVec3) -> DVec3 {
        let u = self.velocity(r);
        DVec3::new(u.x + self.friction * tangential_norm(u), u.y, u.z)
    }

    /// `λ = trace(W)/3`.
    pub(crate) fn lambda(&self) -> f64 {
        let w = self.matrix();
        (w.x_axis.x + w.y_axis.y + w.z_axis.z) / 3.0
    }

    /// What an error of the impulse is relative to: `max(‖r‖, ‖q‖/λ)`.
    pub(crate) fn scale(&self, lambda: f64, r: DVec3) -> f64 {
        r.length().max(self.q.length() / lambda)
    }

    /// Natural map of `r` with `ρ = 1/λ`, relative to [`LocalProblem::scale`].
    pub(crate) fn error(&self, lambda: f64, r: DVec3) -> f64 {
        let forward = r - self.shifted_velocity(r) / lambda;
        (r - onto_cone(self.friction, forward)).length() / self.scale(lambda, r)
    }
}

/// `‖z_T‖`. The solvers' own: the judge's code stays apart from it.
#[inline]
pub(crate) fn tangential_norm(z: DVec3) -> f64 {
    (z.y * z.y + z.z * z.z).sqrt()
}

/// `P_K(z)`. The solvers' own as well.
#[inline]
pub(crate) fn onto_cone(friction: f64, z: DVec3) -> DVec3 {
    let tangential = tangential_norm(z);
    if z.x >= 0.0 && tangential <= friction * z.x {
        return z;
    }
    let along = z.x + friction * tangential;
    if along <= 0.0 {
        return DVec3::ZERO;
    }
    let normal = along / (1.0 + friction * friction);
    let scale = if tangential > 0.0 {
        friction * normal / tangential
    } else {
        0.0
    };
    DVec3::new(normal, scale * z.y, scale * z.z)
}

#[cfg(test)]
mod tests;
