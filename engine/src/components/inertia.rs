//! Mass and inertia in the form that the step computes with.

use glam::{DQuat, DVec3};

/// Mass and inertia as the step needs them; zero inverse for bodies that impulses do not move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inertia {
    pub(crate) mass: f64,
    pub(crate) inverse_mass: f64,
    /// Principal moments, kg·m².
    pub(crate) moments: DVec3,
    /// `1/moments`, or zero.
    pub(crate) inverse_moments: DVec3,
    /// Principal axes to body frame.
    pub(crate) frame: DQuat,
    /// All principal moments are equal: any frame is principal.
    pub(crate) spherical: bool,
    /// The principal axis about which the other two moments are equal, if there is one.
    pub(crate) symmetry: Option<u8>,
    /// The principal axes are those of the body: `frame` turns nothing.
    aligned: bool,
}

impl Inertia {
    pub(crate) const FIXED: Self = Self {
        mass: 0.0,
        inverse_mass: 0.0,
        moments: DVec3::ZERO,
        inverse_moments: DVec3::ZERO,
        frame: DQuat::IDENTITY,
        spherical: true,
        symmetry: None,
        aligned: true,
    };

    pub(crate) fn new(mass: f64, moments: DVec3, frame: DQuat) -> Self {
        let rounding = 1e-15 * moments.max_element();
        let spread = moments.max_element() - moments.min_element();
        let is_symmetric = |axis: &u8| {
            let axis = usize::from(*axis);
            (moments[(axis + 1) % 3] - moments[(axis + 2) % 3]).abs() <= rounding
        };
        Self {
            mass,
            inverse_mass: 1.0 / mass,
            moments,
            inverse_moments: moments.recip(),
            frame,
            spherical: spread <= rounding,
            symmetry: (0..3).find(is_symmetric),
            aligned: frame == DQuat::IDENTITY,
        }
    }

    /// `𝕀⁻¹ m`, body frame.
    #[inline]
    pub(crate) fn inverse_times(&self, moment: DVec3) -> DVec3 {
        self.along_axes(moment, self.inverse_moments)
    }

    /// `𝕀 Ω`, body frame.
    #[inline]
    pub(crate) fn times(&self, angular: DVec3) -> DVec3 {
        self.along_axes(angular, self.moments)
    }

    /// `Φ diag(d) Φᵀ v` with the principal axes `Φ`.
    #[inline]
    fn along_axes(&self, v: DVec3, d: DVec3) -> DVec3 {
        if self.aligned {
            v * d
        } else {
            self.frame * ((self.frame.conjugate() * v) * d)
        }
    }

    /// `½ Ω·𝕀Ω`, J.
    #[inline]
    pub(crate) fn rotational_energy(&self, angular: DVec3) -> f64 {
        let omega = if self.aligned {
            angular
        } else {
            self.frame.conjugate() * angular
        };
        0.5 * omega.dot(self.moments * omega)
    }
}
