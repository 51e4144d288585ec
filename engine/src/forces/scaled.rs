//! Coordinates of one body in which its mass is 1.

use crate::components::inertia::Inertia;
use crate::joints::Push;
use crate::math::six::{Matrix, Six, blocks, halves, product, six};
use glam::{DMat3, DQuat, DVec3};
use moreau_solvers::WorldTwist;

/// `v = L y`, `L = diag(l I₃, A diag(λ))`, with the principal axes `A` and the roots of the inverses of masses and moments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scaled {
    linear: f64,
    axes: DMat3,
    angular: DVec3,
}

impl Default for Scaled {
    fn default() -> Self {
        Self {
            linear: 1.0,
            axes: DMat3::IDENTITY,
            angular: DVec3::ONE,
        }
    }
}

impl Scaled {
    /// Of a body at an orientation, `heavier` by these factors.
    pub(super) fn new(inertia: &Inertia, orientation: DQuat, [linear, angular]: [f64; 2]) -> Self {
        let roots = (inertia.inverse_moments / angular).to_array();
        Self {
            linear: (inertia.inverse_mass / linear).sqrt(),
            axes: DMat3::from_quat(orientation * inertia.frame),
            angular: DVec3::from_array(roots.map(f64::sqrt)),
        }
    }

    /// `L y`.
    pub(super) fn twist(&self, y: &Six) -> WorldTwist {
        let [linear, angular] = halves(y);
        WorldTwist {
            linear: linear * self.linear,
            angular: self.axes * (angular * self.angular),
        }
    }

    /// `L⁻¹ v`.
    pub(super) fn coordinates(&self, v: &WorldTwist) -> Six {
        let angular = self.axes.transpose() * v.angular / self.angular;
        six(v.linear / self.linear, angular)
    }

    /// `L⁻ᵀ π`: also the row `L⁻ᵀ n` that `n·y` is.
    pub(super) fn impulse(&self, pi: &Six) -> Push {
        let [linear, angular] = halves(pi);
        Push {
            linear: linear / self.linear,
            angular: self.axes * (angular / self.angular),
        }
    }

    /// `Lᵀ p`.
    pub(super) fn of_impulse(&self, p: &Six) -> Six {
        let [linear, angular] = halves(p);
        six(
            linear * self.linear,
            (self.axes.transpose() * angular) * self.angular,
        )
    }

    /// `Lᵀ S L`.
    pub(super) fn of_matrix(&self, s: &Matrix) -> Matrix {
        let turn = DMat3::from_cols(
            self.axes.x_axis * self.angular.x,
            self.axes.y_axis * self.angular.y,
            self.axes.z_axis * self.angular.z,
        );
        let linear = DMat3::from_diagonal(DVec3::splat(self.linear));
        let l = blocks([[linear, DMat3::ZERO], [DMat3::ZERO, turn]]);
        let transposed = blocks([[linear, DMat3::ZERO], [DMat3::ZERO, turn.transpose()]]);
        product(&transposed, &product(s, &l))
    }
}
